"""Style of all pages: the colours and patterns of types, the style sheet, and the frame of a page.

A page is one file: nothing is loaded, and a policy in its head forbids the browser to load anything, or to run a
script that is not ours, whatever the text is.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

# Colours that people with any colour vision distinguish (after Okabe and Ito 2008), with a contrast of 3 and more on
# their page. A pattern, which changes at another rate, and the name of the type distinguish types without colours.
LIGHT = ("#0072b2", "#b35900", "#007a5a", "#b0407f", "#5b5bd6", "#8a6d00", "#444444")
DARK = ("#56b4e9", "#e69f00", "#2ec99b", "#e78ac3", "#a5a5ff", "#f0e442", "#c8c8c8")
PAPER = {"light": "#ffffff", "dark": "#16181c"}
INK = {"light": "#1a1a1a", "dark": "#e8e8e8"}
FAINT = {"light": "#595959", "dark": "#a6a6a6"}
EDGE = {"light": "#d0d0d0", "dark": "#43474e"}
_PATTERNS = (
    "linear-gradient(currentColor 0 0)",
    "repeating-linear-gradient(90deg, currentColor 0 7px, transparent 7px 9px)",
    "linear-gradient(currentColor 0 35%, transparent 35% 65%, currentColor 65%)",
    "repeating-linear-gradient(45deg, currentColor 0 3px, transparent 3px 5px)",
    "repeating-linear-gradient(90deg, currentColor 0 3px, transparent 3px 5px)",
)
KINDS = len(LIGHT) * len(_PATTERNS)  # types that look different
MOST_ROWS: Final = 40  # tracks below one another; what has no place is in the list

_BASE = """\
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1.25rem 4rem; max-width: 62rem; font: 16px/1.5 system-ui, sans-serif;
  background: var(--paper); color: var(--ink); }
h1 { font-size: 1.35rem; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
a { color: inherit; }
summary { cursor: pointer; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .8rem .15rem 0; text-align: start; vertical-align: top; }
.faint { color: var(--faint); }
.kinds { display: flex; flex-wrap: wrap; gap: .25rem 1.2rem; padding: 0; margin: .5rem 0; list-style: none; }
.kinds li { overflow-wrap: anywhere; }
.k { display: inline-block; width: 1.6em; height: 5px; vertical-align: middle; background: var(--p); color: var(--c); }
"""

# A piece of text is a box that its bars hang below; a strut at the start of each unit makes the line that much higher.
# Bars end in ticks, which are drawn with them. The first bar of a mention has its label (`f`). Each other one has the
# name of its type, and each bar covers that of the next one on its line, which lies behind it (`z`): so the name shows
# only where a bar begins a line.
_TEXT = """\
.s { content-visibility: auto; contain-intrinsic-size: auto 5rem; }
.t { margin: .1rem 0 .9rem; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.6; overflow-x: clip;
  isolation: isolate; padding-inline-end: min(calc(var(--l, 0) * .4em), 25%); }
.t b { position: relative; font-weight: inherit; }
.t > [class^=n] { white-space: pre; overflow-wrap: normal; }
.t > [class^=n]::before { content: ""; display: inline-block; width: 0; height: calc(1.3rem + var(--n) * 1.5rem);
  vertical-align: text-top; }
.t i { --h: 5px; --s: 0px; --e: 0px; position: absolute; left: 0; right: 0; height: 9px;
  top: calc(100% + .05rem + var(--r) * 1.5rem); font: 600 .68rem/1.2 system-ui, sans-serif; color: var(--c);
  background: linear-gradient(currentColor 0 0) 0 1px / var(--s) 7px no-repeat,
    linear-gradient(currentColor 0 0) 100% 1px / var(--e) 7px no-repeat, var(--p) 0 50% / 100% var(--h) no-repeat;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.t .g { --p: repeating-linear-gradient(90deg, currentColor 0 4px, transparent 4px 7px); --h: 2px; }
.t .h { --h: 9px; }
.t .s1 { --s: 2px; }
.t .e1 { --e: 2px; }
.t .r.s1:not(.e1) { --s: 0px; --e: 2px; }
.t .r.e1:not(.s1) { --s: 2px; --e: 0px; }
.t i::after, .t i::before { position: absolute; left: 0; top: 9px; white-space: pre; direction: ltr;
  unicode-bidi: isolate; pointer-events: none; content: var(--q); content: var(--q) / ""; }
.t i::after { color: var(--ink); z-index: calc(-2 * var(--k)); font-weight: 400; }
.t i::before { color: transparent; left: 100%; z-index: calc(-2 * var(--k, 0) - 1); background: var(--paper); }
.t .f::after { z-index: auto; font-weight: 600; content: var(--m, var(--q)); content: var(--m, var(--q)) / ""; }
.t [data-l]::after { content: attr(data-l); content: attr(data-l) / ""; }
.t .r::after { left: auto; right: 0; }
.t .r::before { left: auto; right: 100%; }
.m { font-size: .85rem; margin: 0 0 .4rem; }
.m ol { margin: .2rem 0; padding-inline-start: 2.5rem; }
.m li { overflow-wrap: anywhere; }
.m li::before { content: ""; display: inline-block; width: 1.6em; height: 5px; margin-inline-end: .5em;
  vertical-align: middle; background: var(--p); color: var(--c); }
.m b { unicode-bidi: isolate; }
.m small { color: var(--faint); font-size: inherit; }
"""

_PRINT = """\
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, .script { display: none; }
  .s { content-visibility: visible; break-inside: avoid; }
}
@media (forced-colors: active) { .t i, .k { forced-color-adjust: none; } }
"""


def page(
    title: str,
    body: str,
    *,
    types: Sequence[str],
    style: str = "",
    module: str = "",
) -> str:
    """Return a page in one file.

    Args:
        title: in plain text.
        body: HTML.
        types: their names, in the order of their colours.
        style: CSS of its own.
        module: address, on the server that the page came from, of a script that is loaded with what it imports; the
            script may ask that server.
    """
    css = f"{_colors()}{_BASE}{_TEXT}{style}{_kinds(types)}{_ROWS}\n{_PRINT}"
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    if module:
        policy += "; script-src 'self'; connect-src 'self'"
    loaded = f'<script type="module" src="{escape(module)}"></script>' if module else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{css}</style>\n</head>\n<body>\n{body}"
        f"{loaded}</body>\n</html>\n"
    )


# of a bar, below and above a box; and of the numbers of a mention's bars
_ROWS = "".join(f".r{i}{{--r:{i}}}.n{i}{{--n:{i}}}.u{i}{{--u:{i}}}.z{i}{{--k:{i}}}" for i in range(MOST_ROWS + 1))


def kind_class(kind: int) -> str:
    """Return the class of a type's colour, pattern and name.

    >>> kind_class(3)
    't3'
    """
    return f"t{kind}"


def _colors() -> str:
    light, dark = (
        f":root {{ --paper: {PAPER[name]}; --ink: {INK[name]}; --faint: {FAINT[name]}; --line: {EDGE[name]}; "
        + " ".join(f"--c{i}: {color};" for i, color in enumerate(colors))
        + " }\n"
        for name, colors in (("light", LIGHT), ("dark", DARK))
    )
    return f":root {{ color-scheme: light dark; }}\n{light}@media screen and (prefers-color-scheme: dark) {{ {dark}}}\n"


def _kinds(types: Sequence[str]) -> str:
    return "".join(
        f".t{i} {{ --c: var(--c{i % len(LIGHT)}); --p: {_PATTERNS[i % len(_PATTERNS)]}; --q: {css_string(name)}; }}\n"
        for i, name in enumerate(types)
    )


def css_string(text: str) -> str:
    """Return a text as a string of CSS.

    >>> css_string('a"</style>')
    '"a\\\\22 \\\\3c \\\\2f style\\\\3e "'
    """
    return '"' + "".join(char if char.isalnum() or char in " _-." else f"\\{ord(char):x} " for char in text) + '"'
