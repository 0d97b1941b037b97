"""Style of all pages: the colours and patterns of types, the style sheet, and the frame of a page.

A page is one file: nothing is loaded, and a policy in its head forbids the browser to load anything, or to run a
script that is not ours, whatever the text is.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

# Colours that people with any colour vision tell apart (after Okabe and Ito 2008), with a contrast of 3 and more on
# their page. A pattern, which changes at another rate, and the name of the type tell types apart without colours.
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
_TEXT = """\
.s { content-visibility: auto; contain-intrinsic-size: auto 5rem; border-top: 1px solid var(--line); padding: .2rem 0; }
.s > summary { font-size: .75rem; color: var(--faint); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.s[open] > summary .peek { display: none; }
.peek { font-size: 1rem; color: var(--ink); }
.t { margin: .1rem 0 .4rem; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.6;
  padding-inline-end: calc(var(--l, 0) * .4em); }
.w { white-space: pre; overflow-wrap: normal; }
.w::before { content: ""; display: inline-block; width: 0; height: calc(1.3em + var(--n) * 1.5em);
  vertical-align: text-top; }
.p { position: relative; }
.b { position: absolute; left: 0; right: 0; top: calc(100% + .1em + var(--r) * 1.5em); height: 5px; font-style: normal;
  background: var(--p); color: var(--c); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.b.g { height: 3px; background: none; border-bottom: 2px dashed currentColor; }
.b.h { height: 9px; margin-top: -2px; outline: 1px solid currentColor; outline-offset: -1px; }
.b.s1::before, .b.e1::after { content: ""; position: absolute; top: -3px; bottom: 0; width: 2px;
  background: currentColor; }
.b.s1::before, .b.r.e1::after { left: 0; right: auto; }
.b.e1::after, .b.r.s1::before { right: 0; left: auto; }
.b b { position: absolute; left: 0; top: calc(100% + 1px); font: 600 .68em/1.2 system-ui, sans-serif; white-space: pre;
  color: var(--ink); direction: ltr; unicode-bidi: isolate; pointer-events: none; }
.b.r b { left: auto; right: 0; }
.b b::after { content: attr(data-l); content: attr(data-l) / ""; }
.m { font-size: .85rem; margin: 0 0 .4rem; }
.m ol { margin: .2rem 0; padding-inline-start: 2.5rem; }
.m li { overflow-wrap: anywhere; }
"""

_PRINT = """\
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, .script { display: none; }
  .s { content-visibility: visible; break-inside: avoid; }
  .s::details-content { content-visibility: visible; }
  @supports selector(::details-content) { .s .peek { display: none; } }
}
@media (forced-colors: active) { .b, .k { forced-color-adjust: none; } }
"""


def page(title: str, body: str, *, kinds: int, style: str = "", script: str = "", fetches: bool = False) -> str:
    """Return a page in one file.

    Args:
        title: in plain text.
        body: HTML.
        kinds: the number of types.
        style: CSS of its own.
        script: JavaScript of the page; the body must be complete without it.
        fetches: whether the script may ask the server that the page came from; it may load nothing else.
    """
    css = f"{_colors()}{_BASE}{_TEXT}{style}{_kinds(kinds)}{_PRINT}"
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
    if fetches:
        policy += "; connect-src 'self'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{css}</style>\n</head>\n<body>\n{body}"
        f"{f'<script>{script}</script>' if script else ''}</body>\n</html>\n"
    )


def kind_class(kind: int) -> str:
    """Return the class of a type's colour and pattern.

    >>> kind_class(3), kind_class(KINDS + 3)
    ('t3', 't3')
    """
    return f"t{kind % KINDS}"


def _colors() -> str:
    light, dark = (
        f":root {{ --paper: {PAPER[name]}; --ink: {INK[name]}; --faint: {FAINT[name]}; --line: {EDGE[name]}; "
        + " ".join(f"--c{i}: {color};" for i, color in enumerate(colors))
        + " }\n"
        for name, colors in (("light", LIGHT), ("dark", DARK))
    )
    return f":root {{ color-scheme: light dark; }}\n{light}@media screen and (prefers-color-scheme: dark) {{ {dark}}}\n"


def _kinds(count: int) -> str:
    return "".join(
        f".t{i} {{ --c: var(--c{i % len(LIGHT)}); --p: {_PATTERNS[i % len(_PATTERNS)]}; }}\n"
        for i in range(min(count, KINDS))
    )
