"""The demo of the first page: it shows what the commands print today, to everybody, and stops within five seconds."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spanloom.models import installed
from spanloom.view.style import DARK, LIGHT, PAPER

DOCS = Path(__file__).parents[2] / "docs"
MADE = runpy.run_path(str(DOCS / "record.py"))
RECORDED = json.loads((DOCS / "demo.json").read_text(encoding="utf-8"))
PICTURE = (DOCS / "demo.svg").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_drawn_of_the_record() -> None:
    assert list(RECORDED) == MADE["COMMANDS"], "run: python docs/record.py"
    assert MADE["draw"](RECORDED) == PICTURE, "run: python docs/record.py"


def test_the_words_of_the_picture_are_those_of_the_record_row_by_row() -> None:
    rows: dict[float, list[str]] = {}
    for text in ElementTree.fromstring(PICTURE).iter(f"{SVG}text"):
        rows.setdefault(float(text.get("y", "")), []).append(text.text or "")
    expected = []
    for command, printed in RECORDED.items():
        first, second = command.split("\n")
        lines = [f"$ {first}", f"> {second}", *re.sub("\x1b[^m]*m|[└─┘╵┄]", " ", printed).splitlines()]
        expected += [line.split() for line in lines]
    assert [rows[y] for y in sorted(rows)] == expected


def test_each_line_below_words_has_its_ends_below_theirs() -> None:
    found = [*MADE["runs"]("\x1b[38;5;214m  └──┘┄┄└┘ a 9%\x1b[0m")]
    assert [(run.text, run.column, run.kind) for run in found] == [
        ("└──┘", 2, 1), ("┄┄", 6, 1), ("└┘", 8, 1), ("a", 11, 1), ("9%", 13, 1),
    ]  # fmt: skip
    svg = ElementTree.fromstring(MADE["draw"]({"a |\nb": "  pain\n\x1b[38;5;32m  └──┘\x1b[0m\n"}))
    [pain] = [text for text in svg.iter(f"{SVG}text") if text.text == "pain"]
    [mark] = list(svg.iter(f"{SVG}path"))
    start, width = float(pain.get("x", "")), float(pain.get("textLength", ""))
    assert f"H {start + width:.0f}" in mark.get("d", "") and mark.get("d", "").startswith(f"M {start:.0f} ")


def test_the_picture_is_small_self_contained_and_described() -> None:
    assert len(PICTURE.encode()) < 60_000
    assert not re.search(r"<script|<foreignObject|\bon\w+=|href|url\(|@import|infinite", PICTURE)
    root = ElementTree.fromstring(PICTURE)
    assert root.get("role") == "img" and root[0].tag == f"{SVG}title"
    for name in ("genia", "disease 91%", "problem · negated 95%", "UBERON:0000966"):
        assert name in (root.findtext(f"{SVG}desc") or "")
    outside, moving = PICTURE.split("@media screen and (prefers-reduced-motion: no-preference)")
    assert "animation" not in outside and "prefers-color-scheme: dark" in outside
    ends = [float(span) + float(delay) for span, delay in re.findall(r"([\d.]+)s (?:steps\(\d+\) )?([\d.]+)s", moving)]
    assert len(ends) == 3 * len(RECORDED) and max(ends) < 5  # WCAG 2.2, 2.2.2


def test_words_have_enough_contrast() -> None:
    """WCAG 2.2, 1.4.3: 4.5 and more."""

    def luminance(color: str) -> float:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for colors, paper in ((LIGHT, PAPER["light"]), (DARK, PAPER["dark"])):
        for color in colors:
            low, high = sorted((luminance(color), luminance(paper)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, color


@pytest.mark.skipif(bool(set(MADE["TEXTS"]) - {*installed()}), reason="the ready models are not installed")
def test_the_commands_print_what_was_recorded() -> None:
    pytest.importorskip("pty")  # terminals of Unix
    assert MADE["record"]() == RECORDED, "run: python docs/record.py"


@pytest.mark.parametrize("reduced", [True, False])
def test_all_is_shown_at_once_where_motion_is_not_wanted_and_later_elsewhere(tmp_path: Path, reduced: bool) -> None:
    pytest.importorskip("playwright.sync_api")
    image = pytest.importorskip("PIL.Image")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no Chromium on the path")
    make = runpy.run_path(str(DOCS / "screenshots" / "make.py"))
    (tmp_path / "page.html").write_text(f'<img src="{(DOCS / "demo.svg").as_uri()}">', encoding="utf-8")
    # the setting of the system: that of the developer tools does not reach pictures
    flags = [*make["ARGUMENTS"], *["--force-prefers-reduced-motion"] * reduced]
    shown = []
    with make["sync_playwright"]() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        tab = browser.new_page(viewport={"width": 600, "height": 600})
        tab.goto((tmp_path / "page.html").as_uri())
        for wait in (0, 6000):
            tab.wait_for_timeout(wait)
            tab.screenshot(path=tmp_path / "shot.png")
            shown.append(sum(image.open(tmp_path / "shot.png").convert("L").histogram()[:128]))
        browser.close()
    assert shown[1] > 5000 and (shown[0] == shown[1] if reduced else shown[0] < shown[1] / 2)
