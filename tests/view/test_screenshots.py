"""The pages in a browser: they load nothing, they read without a script, and their pictures are of today's pages."""

from __future__ import annotations

import json
import os
import runpy
import struct
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

DOCS = Path(__file__).parents[2] / "docs" / "screenshots"
MAKE = runpy.run_path(str(DOCS / "make.py"))
SHOTS = MAKE["shots"]()
LARGEST = 150_000  # bytes of a picture
OF_MODELS = {"curves.png", "serve.png"}  # whose pages differ with the machine that trained the model
DARK, LIGHT = "rgb(22, 24, 28)", "rgb(255, 255, 255)"


@pytest.fixture(scope="module")
def chromium():
    if MAKE["executable"]() is None:
        if os.environ.get("SPANLOOM_BROWSER") == "required":
            pytest.fail("no Chromium on the path, and SPANLOOM_BROWSER is 'required'")
        pytest.skip("no Chromium on the path; set SPANLOOM_BROWSER=required to fail instead")
    with MAKE["browser"]() as started:
        yield started


@pytest.fixture
def tab(chromium, request):
    options = getattr(request, "param", {})
    opened = chromium.new_page(viewport={"width": MAKE["WIDTH"], "height": 1000}, **options)
    opened.asked, opened.said = [], []
    opened.on("request", lambda asked: opened.asked.append(asked.url))
    opened.on("console", lambda message: opened.said.append(message.text))
    opened.on("pageerror", lambda error: opened.said.append(str(error)))
    yield opened
    opened.close()


def size(picture: bytes) -> tuple[int, int]:
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", picture[16:24])


@pytest.mark.parametrize("name", SHOTS)
def test_a_picture_is_taken(chromium, tmp_path, name):
    MAKE["take"](chromium, SHOTS[name], tmp_path / name)
    taken = (tmp_path / name).read_bytes()
    assert size(taken) == size((DOCS / name).read_bytes()) == (MAKE["WIDTH"], SHOTS[name].height)
    blank = MAKE["Shot"]("<!DOCTYPE html><p></p>", SHOTS[name].height)
    MAKE["take"](chromium, blank, tmp_path / "blank.png")
    assert len(taken) > 3 * (tmp_path / "blank.png").stat().st_size


def test_pictures_are_of_these_pages():
    kept = json.loads((DOCS / "sources.json").read_text(encoding="utf-8"))
    assert kept == {name: MAKE["source"](shot) for name, shot in SHOTS.items()}, "run: python docs/screenshots/make.py"
    pictures = {path.name: path.stat().st_size for path in DOCS.glob("*.png")}
    assert pictures.keys() == SHOTS.keys() | OF_MODELS
    assert max(pictures.values()) < LARGEST


def test_every_picture_is_shown():
    pages = "".join(path.read_text(encoding="utf-8") for path in DOCS.parent.rglob("*.md"))
    assert [path.name for path in DOCS.glob("*.png") if f"screenshots/{path.name})" not in pages] == []


@pytest.mark.parametrize("name", SHOTS)
def test_nothing_is_loaded_and_nothing_goes_wrong(tab, tmp_path, name):
    (tmp_path / "page.html").write_text(SHOTS[name].html, encoding="utf-8")
    tab.goto((tmp_path / "page.html").as_uri())
    assert tab.asked == [(tmp_path / "page.html").as_uri()]
    assert tab.said == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= MAKE["WIDTH"]


@pytest.mark.parametrize("tab", [{"color_scheme": "dark"}, {"color_scheme": "light"}], indirect=True)
def test_dark_and_light(tab):
    tab.set_content(SHOTS["view-light.png"].html)
    color = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = tab.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert color == (DARK if dark else LIGHT)
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == LIGHT


@pytest.mark.parametrize("tab", [{"java_script_enabled": False}], indirect=True)
@pytest.mark.parametrize("name", SHOTS)
def test_without_scripts(tab, name):
    tab.set_content(SHOTS[name].html)
    shown = tab.locator(".t").all()
    assert len(shown) >= 4
    assert all(paragraph.is_visible() for paragraph in shown)


def test_bars_of_different_mentions_do_not_meet(tab):
    """Each mention has a track of its own: bars side by side on one line belong together or do not touch."""
    tab.set_content(SHOTS["view-light.png"].html)
    boxes = tab.evaluate(
        "[...document.querySelectorAll('.t')].map(t => [...t.querySelectorAll('.b')].map(b => {"
        " const r = b.getBoundingClientRect(), p = getComputedStyle(b).getPropertyValue('--r');"
        " return [p, r.left, r.right, r.top, b.className] }))"
    )
    assert len(boxes) == 4
    for bars in boxes:
        middle = {}
        for row, left, right, top, _ in bars:
            assert right > left
            middle.setdefault(row, set()).add(round(top / 6))
        rows = sorted(middle, key=int)
        lows = [min(middle[row]) for row in rows]
        assert lows == sorted(set(lows))


def test_errors_can_be_chosen_and_ordered(tab):
    tab.set_content(SHOTS["errors.png"].html)
    tab.select_option("select[name=kind]", "gap missed")
    visible = [item.get_attribute("data-kind") for item in tab.locator("article").all() if item.is_visible()]
    assert visible == ["gap missed"]
    tab.select_option("select[name=kind]", "")
    tab.select_option("select[name=order]", "low")
    scores = [item.get_attribute("data-score") for item in tab.locator("article").all()]
    given = [float(score) for score in scores if score is not None]
    assert given == sorted(given)
    assert tab.said == []
