"""Base of all SVG drawings: a canvas in light and dark, escaped text, widths of text, and rendering.

A drawing is one SVG element: no script, no font of its own, nothing that is loaded. Lines and text have the colour of
the page; one more colour, with enough contrast on both, sets lines off from boxes, and nothing depends on it.
"""

from __future__ import annotations

from xml.etree import ElementTree

from spanloom.view.cells import cells, shorten, visible

Element = ElementTree.Element

CELL = 8.0  # the width that a cell of text is given, for a font of 13 pixels
LONGEST = 32  # cells of a word; of a longer one the beginning is shown, and all of it where the pointer rests

_STYLE = """
{plain}
@media (prefers-color-scheme: dark) {{
{dark}
}}
@media print {{
{print}
}}
.spanloom text {{ font: 13px system-ui, sans-serif; fill: currentColor; text-anchor: middle; }}
{style}
"""
# In each medium in full, and not as variables, which many programs that show SVG do not know.
_COLORS = """\
.spanloom {{ color: {ink}; background: {paper}; }}
.spanloom rect {{ fill: {paper}; stroke: {ink}; }}
.spanloom path {{ fill: none; stroke: {line}; }}
.spanloom circle {{ fill: {line}; }}"""
_MEDIA = {
    "plain": _COLORS.format(ink="#1a1a1a", paper="#ffffff", line="#0067a5"),
    "dark": _COLORS.format(ink="#e8e8e8", paper="#16181c", line="#6cb8ee"),
    "print": _COLORS.format(ink="#000000", paper="#ffffff", line="#00507f"),
}


def canvas(width: float, height: float, title: str, description: str, style: str) -> Element:
    """Return an empty drawing.

    Args:
        width: in pixels.
        height: in pixels.
        title: its content, in a few words.
        description: the same as the drawing, in words, for those who cannot see it.
        style: CSS of its own; each selector begins with ``.spanloom``.
    """
    size = {"width": number(width), "height": number(height), "viewBox": f"0 0 {number(width)} {number(height)}"}
    root = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "class": "spanloom", "role": "img"})
    write(root, "title", title)
    write(root, "desc", description)
    write(root, "style", _STYLE.format(**_MEDIA, style=style.strip()))
    return root


def write(parent: Element, tag: str, text: str = "", **attributes: str | float) -> Element:
    """Add a child element with text; characters that XML does not allow are replaced.

    Args:
        parent: of the element.
        tag: of the element.
        text: of the element.
        attributes: of the element; ``class_`` stands for ``class``, and ``_`` for ``-``.
    """
    given = {name.rstrip("_").replace("_", "-"): _attribute(value) for name, value in attributes.items()}
    element = ElementTree.SubElement(parent, tag, given)
    element.text = text if tag == "style" else clean(text)
    return element


def path(parent: Element, *way: str | float, **attributes: str) -> None:
    """Add a path: its commands and their coordinates."""
    write(parent, "path", d=" ".join(map(_attribute, way)), **attributes)


def _attribute(value: str | float) -> str:
    return value if isinstance(value, str) else number(value)


def clean(text: str) -> str:
    """Clean text for XML: control characters become pictures, and noncharacters ``�``.

    >>> clean("a\\x00b\\ufffe")
    'a␀b�'
    """
    return "".join("�" if char in "\ufffe\uffff" else visible(char) for char in text)


def word(parent: Element, text: str, x: float, y: float, **attributes: str) -> None:
    """Write a word at a place, shortened if it is very long."""
    group, shown = write(parent, "g", **attributes), shorten(text, LONGEST)
    if shown != text:
        write(group, "title", text)
    write(group, "text", shown, x=x, y=y)


def width(text: str) -> float:
    """Return the width of a word, in pixels.

    >>> width("pain"), width("疼痛")
    (32.0, 32.0)
    """
    return CELL * cells(shorten(text, LONGEST))


def number(value: float) -> str:
    """Format a coordinate, with one decimal at most.

    >>> number(12.0), number(0.25)
    ('12', '0.2')
    """
    return f"{value:.1f}".removesuffix(".0")


def render(root: Element, height: float | None = None) -> str:
    """Return the drawing as text, with another height if one is given; the same drawing is always the same text."""
    if height is not None:
        root.set("height", number(height))
        root.set("viewBox", f"0 0 {root.get('width')} {number(height)}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"
