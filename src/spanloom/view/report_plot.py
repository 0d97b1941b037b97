"""Figure of a report: a bar for F1 of each row, with its interval, and precision and recall as circles."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

from spanloom.document.markup import Figure
from spanloom.evaluate import Report, Score
from spanloom.view import svg
from spanloom.view.cells import shorten
from spanloom.view.svg import Element, number

_LABEL, _LEFT, _BAR, _WIDTH = 24, 210.0, 320.0, 700.0  # cells of a name; where bars begin, how long they are; pixels
_ROW = 24.0
_NOTE = "bar: F1; line: its 95 % interval; filled circle: recall; open circle: precision"
_STYLE = """
.spanloom text { text-anchor: start; }
.spanloom .name { text-anchor: end; }
.spanloom .title { font-weight: bold; }
.spanloom .f1 { stroke-width: 12; opacity: .45; }
.spanloom .interval { stroke: currentColor; stroke-width: 2; }
.spanloom .precision { fill: none; stroke: currentColor; stroke-width: 1.5; }
.spanloom .scale { stroke: currentColor; stroke-width: 1; opacity: .25; }
"""


def plot(report: Report) -> Figure:
    """Draw a report.

    Args:
        report: rows without a gold and a predicted mention are left out.

    >>> from spanloom.document import Document, Mention
    >>> from spanloom.evaluate import evaluate
    >>> note = Document("chest pain", mentions=[Mention("problem", [(0, 10)])])
    >>> figure = plot(evaluate([note], [note], bootstrap=0))
    >>> figure.svg.startswith("<svg "), "F1 100.0" in figure.svg
    (True, True)
    """
    title = f"F1 {100 * report.overall.f1:.1f} on {report.documents:,} document(s)"
    root = svg.canvas(_WIDTH, 0, title, "", _STYLE)
    at = _ROW
    for name, rows in report.groups().items():
        at = _group(root, name, rows, at)
    svg.write(root, "text", _NOTE, x=number(_LEFT), y=number(at))
    height = number(at + _ROW)
    root.set("height", height)
    root.set("viewBox", f"0 0 {number(_WIDTH)} {height}")
    return Figure(svg.render(root))


def _group(root: Element, title: str, rows: Mapping[str, Score], at: float) -> float:
    """Draw some rows from a height on; return where they end."""
    shown = {name: score for name, score in rows.items() if score.gold or score.predicted}
    if title and shown:
        svg.write(root, "text", title, **_place(_LEFT - 10, at), **{"class": "name title"})
        at += _ROW
    for tenth in range(0, 11, 2) if shown else ():
        _line(root, "scale", tenth / 10, tenth / 10, at - _ROW * 0.7, at + _ROW * (len(shown) - 1))
    for name, score in shown.items():
        _row(root, name, score, at)
        at += _ROW
    return at + _ROW / 2 if shown else at


def _row(root: Element, name: str, score: Score, at: float) -> None:
    middle = at - 4
    svg.write(root, "text", shorten(svg.clean(name), _LABEL), **_place(_LEFT - 10, at), **{"class": "name"})
    _line(root, "f1", 0.0, score.f1, middle)
    text = f"F1 {100 * score.f1:.1f}"
    if score.intervals is not None:
        low, high = score.intervals.f1
        _line(root, "interval", low, high, middle)
        text += f" ({100 * low:.1f} to {100 * high:.1f})"
    for kind, value in (("precision", score.precision), ("recall", score.recall)):
        center = {"cx": number(_x(value)), "cy": number(middle), "r": "4", "class": kind}
        svg.write(ElementTree.SubElement(root, "circle", center), "title", f"{name}: {kind} {100 * value:.1f}")
    svg.write(root, "text", text, **_place(_LEFT + _BAR + 12, at))


def _line(root: Element, kind: str, low: float, high: float, y: float, to: float | None = None) -> None:
    """Draw a line from one fraction to another, or from one height to another."""
    way = f"H {number(_x(high))}" if to is None else f"V {number(to)}"
    ElementTree.SubElement(root, "path", {"d": f"M {number(_x(low))} {number(y)} {way}", "class": kind})


def _x(fraction: float) -> float:
    return _LEFT + _BAR * fraction


def _place(x: float, y: float) -> dict[str, str]:
    return {"x": number(x), "y": number(y)}
