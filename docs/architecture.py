"""Draws docs/architecture.svg: the folders of CONTRIBUTING.md, and through them the walks of docs/architecture.md.

python docs/architecture.py
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PICTURE: Final = ROOT / "docs" / "architecture.svg"
_ROW, _STEP, _LEFT, _TOP, _BETWEEN = 17, 34, 100, 40, 46
_COLORS: Final = ("#2a6fb0", "#b0542a", "#3c8a4a", "#8a4fa0")
_STYLE: Final = "line{stroke:#7a7f87;stroke-width:.5}text{fill:#50555c}polyline{fill:none;stroke-width:2}"


def folders() -> list[str]:
    """Return the folders in the order in which they may import."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.findall(r"^```text\n(document .*)\n```$", text, re.MULTILINE)[0].split()


def walks() -> dict[str, list[str]]:
    """Return the folders through which each walk goes."""
    page, known = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"), folders()
    found = {}
    for name, table in re.findall(r"^## The walk of (.+)\n((?:(?!## ).*\n)+)", page, re.MULTILINE):
        places = re.findall(r"`spanloom\.(\w+)[\w.]*:", table)
        found[name] = [place for place, _ in groupby(place for place in places if place in known)]
    return found


def drawn() -> str:
    """Return the picture: a line for each folder, and the steps of each walk on the lines of their folders."""
    known, through = folders(), walks()
    starts, width = [], _LEFT
    for stops in through.values():
        starts.append(width + _STEP // 2)
        width += _STEP * (len(stops) - 1) + _BETWEEN
    height = _TOP + _ROW * len(known)
    label = f"The folders of Spanloom, and the walks of {', '.join(through)}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{label}" font-family="sans-serif" font-size="12">',
        f"<style>{_STYLE}</style>",
    ]
    row = {name: _TOP + _ROW * n for n, name in enumerate(known)}
    for name, y in row.items():
        parts.append(f'<text x="8" y="{y + 4}">{name}</text><line x1="{_LEFT}" y1="{y}" x2="{width - 8}" y2="{y}"/>')
    for color, start, (name, stops) in zip(_COLORS, starts, through.items(), strict=True):
        points = [(start + _STEP * n, row[stop]) for n, stop in enumerate(stops)]
        parts.append(f'<text x="{start - 4}" y="20" style="fill:{color}">{name}</text>')
        parts.append(f'<polyline stroke="{color}" points="{" ".join(f"{x},{y}" for x, y in points)}"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="4" fill="{color}"/>' for x, y in points]
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
