"""Records the demo of the first page: ``python docs/record.py``.

It runs the commands of `COMMANDS` with the installed ready models on a terminal of `COLUMNS` columns, keeps what they
print in ``demo.json``, and draws commands and output as one animated SVG, ``demo.svg``. The animation is CSS: it plays
once, ends within five seconds (WCAG 2.2, 2.2.2) with all of the text shown, and is left out for readers who prefer
reduced motion. Tests draw the record again, and run the commands again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import SubElement

from spanloom.view import svg
from spanloom.view.cells import cells
from spanloom.view.style import DARK, EDGE, LIGHT
from spanloom.view.svg import CELL, number
from spanloom.view.terminal import _PALETTE

DOCS = Path(__file__).resolve().parent
RECORD, PICTURE = DOCS / "demo.json", DOCS / "demo.svg"
COLUMNS = 60
TEXTS = {
    "genia": "NF-kappa B activates the IL-2 promoter in T cells",
    "biomedical": "Breast cancer cells need the BRCA1 gene.",
    "clinical": "No left or right atrial enlargement.",
    "craft": "The Pax6 gene is expressed in the mouse retina.",
}
COMMANDS = [f'echo "{text}" |\n    spanloom predict {model} -' for model, text in TEXTS.items()]
SECONDS = 4.8  # of the animation
_TYPED = 0.6  # share of a command's time in which it is typed; then its output appears
_ROW, _BASE, _LEFT = 18.0, 13.0, 12.0
_STYLE = """
.spanloom text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; text-anchor: start; }
.spanloom .mark { stroke: currentColor; stroke-width: 2; }
.spanloom .gap { stroke-width: 1.4; stroke-dasharray: 3 3; }
.spanloom .typed text { font-weight: 600; }
.spanloom .cover { opacity: 0; stroke: none; transform-box: fill-box; transform-origin: 100% 0; }
"""


def _colors(scheme: str, kinds: tuple[str, ...]) -> str:
    rules = [f".t{i} {{ color: {color}; }}" for i, color in enumerate(kinds)]
    rules += [f".frame {{ stroke: {EDGE[scheme]}; }}"]
    return "".join(f".spanloom {rule}\n" for rule in rules)


_COLORS = f"{_colors('light', LIGHT)}@media screen and (prefers-color-scheme: dark) {{\n{_colors('dark', DARK)}}}\n"
# a line is covered, and the cover becomes shorter by a column for each character
_MOTION = """\
@media screen and (prefers-reduced-motion: no-preference) {{
@keyframes type {{ from {{ opacity: 1; }} to {{ opacity: 1; transform: scaleX(0); }} }}
@keyframes show {{ from {{ opacity: 0; }} }}
{rules}
}}
"""


class Run(NamedTuple):
    """Neighbouring characters of a row of one kind: a word, or a part of a line below words.

    Args:
        text: the characters.
        column: where they begin.
        kind: the number of the colour; -1 is that of the text.
    """

    text: str
    column: int
    kind: int


def record() -> dict[str, str]:
    """What the commands write to a terminal, by command."""
    # the command of this checkout, whatever is on the path
    before = f'spanloom() {{ "{sys.executable}" -m spanloom.cli "$@"; }}\n'
    return {command: _on_terminal(before + command) for command in COMMANDS}


def _on_terminal(command: str) -> str:
    ours, theirs = os.openpty()
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    variables |= {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    parts = []
    with subprocess.Popen(["sh", "-c", command], stdout=theirs, stderr=subprocess.PIPE, env=variables) as process:
        os.close(theirs)
        try:
            while part := os.read(ours, 4096):
                parts.append(part)
        except OSError:  # Linux: the other side is closed
            pass
        os.close(ours)
        assert process.stderr is not None
        problems = process.stderr.read().decode()
    if process.returncode:
        raise SystemExit(f"{command}: {problems}")
    return b"".join(parts).decode().replace("\r\n", "\n")


def runs(row: str) -> Iterator[Run]:
    """Split a row of terminal output into words and parts of lines, with columns and colours.

    >>> [run.text for run in runs("\\x1b[38;5;214m  └──┘┄┄└┘ problem 9%\\x1b[0m")]
    ['└──┘', '┄┄', '└┘', 'problem', '9%']
    """
    column, kind = 0, -1
    for color, mark, gap, blank, word in re.findall(
        r"\x1b\[(?:0|38;5;(\d+))m|([└─┘╵]+)|(┄+)|(\s+)|([^\s\x1b└─┘╵┄]+)", row
    ):
        text = mark or gap or blank or word
        if not text:
            kind = _PALETTE.index(int(color)) if color else -1
        elif not blank:
            yield Run(text, column, kind)
        column += cells(text)


def draw(recorded: dict[str, str]) -> str:
    """Draw commands and what they printed."""
    wide, top = COLUMNS * CELL + 2 * _LEFT, _ROW
    root = svg.canvas(wide, 0, "Spanloom in a terminal", describe(recorded), "")
    frame = SubElement(root, "rect", {"class": "frame", "x": "0.5", "y": "0.5", "rx": "6", "width": number(wide - 1)})
    rules = []  # of the animation
    for i, (command, printed) in enumerate(recorded.items()):
        begin, each = SECONDS * i / len(recorded), SECONDS / len(recorded)
        typed = [f"{prompt} {line.strip()}" for prompt, line in zip("$>", command.split("\n"), strict=True)]
        for line in typed:
            group = SubElement(root, "g", {"class": "typed"})
            _row(group, runs(line), top)
            place = {"x": number(_LEFT), "y": number(top), "width": number(len(line) * CELL), "height": number(_ROW)}
            SubElement(group, "rect", {"class": f"cover c{len(rules)}", **place})
            long = _TYPED * each * len(line) / sum(map(len, typed))
            timing = f"{long:.2f}s steps({len(line)}) {begin:.2f}s backwards"
            rules.append(f".c{len(rules)} {{ animation: type {timing}; }}")
            begin, top = begin + long, top + _ROW
        group = SubElement(root, "g", {"class": f"o{len(rules)}"})
        rules.append(f".o{len(rules)} {{ animation: show .1s {begin + 0.1:.2f}s backwards; }}")
        for row in printed.rstrip("\n").split("\n"):
            _row(group, runs(row), top)
            top += _ROW
        top += _ROW / 2
    style = root.find("style")
    assert style is not None and style.text is not None
    style.text += (
        _STYLE.strip() + "\n" + _COLORS + _MOTION.format(rules="\n".join(f".spanloom {rule}" for rule in rules))
    )
    frame.set("height", number(top - 1))
    root.set("height", number(top))
    root.set("viewBox", f"0 0 {number(wide)} {number(top)}")
    return svg.render(root)


def describe(recorded: dict[str, str]) -> str:
    """The demo in words: each command, and what it found."""
    found = []
    for command, printed in recorded.items():
        pieces = [piece.split() for piece in re.split("\n|[└─┘╵┄]+|\x1b[^m]*m", printed.partition("\n")[2])]
        names = ", ".join(" ".join(piece) for piece in pieces if piece)
        found.append(f"{' '.join(command.split())} finds {names}.")
    return " ".join(found)


def _row(group: svg.Element, found: Iterable[Run], top: float) -> None:
    for text, column, kind in found:
        color = {"class": f"t{kind}"} if kind >= 0 else {}
        x, end, y = _LEFT + column * CELL, _LEFT + (column + cells(text)) * CELL, top + _BASE
        if text[0] not in "└─┘╵┄":
            place = {"x": number(x), "y": number(y), "textLength": number(end - x)}
            svg.write(group, "text", text, **place, **color)
            continue
        way = f"M {number(x)} {number(y - 5)} H {number(end)}"
        for at, char in enumerate(text):
            edges = [edge for edge, ends in ((0, "└╵"), (1, "┘╵")) if char in ends]
            way += "".join(f" M {number(x + (at + edge) * CELL)} {number(y - 10)} v 6" for edge in edges)
        names = ["mark", *(["gap"] if text[0] == "┄" else []), *color.values()]
        SubElement(group, "path", {"d": way, "class": " ".join(names)})


if __name__ == "__main__":
    RECORD.write_text(json.dumps(record(), ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n")
    PICTURE.write_text(draw(json.loads(RECORD.read_text("utf-8"))), "utf-8", newline="\n")
