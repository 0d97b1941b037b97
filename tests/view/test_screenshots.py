"""The pages in a browser: they load nothing, they read without a script, and their pictures are of today's pages."""

from __future__ import annotations

import json
import runpy
import struct
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytest.importorskip("markdown_it", reason="the extra docs is not installed")

DOCS = Path(__file__).parents[2] / "docs" / "screenshots"
MAKE = runpy.run_path(str(DOCS / "make.py"))
SHOTS = MAKE["shots"]()
LARGEST = 150_000  # bytes of a picture
OF_MODELS = {"curves.png", "serve.png"}  # whose pages differ with the machine that trained the model
OF_SITE = {*MAKE["SITE"], MAKE["README"], MAKE["NOTEBOOK"]}  # whose text changes often
DARK, LIGHT = "rgb(22, 24, 28)", "rgb(255, 255, 255)"


@pytest.fixture
def tab(chromium, request):
    options = getattr(request, "param", {})
    opened = chromium.new_page(viewport={"width": 1000, "height": 1000}, **options)
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
    assert size(taken) == size((DOCS / name).read_bytes()) == (SHOTS[name].width, SHOTS[name].height)
    blank = MAKE["Shot"]("<!DOCTYPE html><p></p>", SHOTS[name].height)
    MAKE["take"](chromium, blank, tmp_path / "blank.png")
    assert len(taken) > 3 * (tmp_path / "blank.png").stat().st_size


def test_pictures_are_of_these_pages():
    kept = json.loads((DOCS / "sources.json").read_text(encoding="utf-8"))
    assert kept == {name: MAKE["source"](shot) for name, shot in SHOTS.items()}, "run: python docs/screenshots/make.py"
    pictures = {path.relative_to(DOCS).as_posix(): path.stat().st_size for path in DOCS.rglob("*.png")}
    assert pictures.keys() == SHOTS.keys() | OF_MODELS | OF_SITE
    assert max(pictures.values()) < LARGEST and sum(pictures.values()) < 10 * LARGEST


def test_every_picture_is_shown():
    pages = "".join(path.read_text(encoding="utf-8") for path in DOCS.parent.rglob("*.md"))
    names = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.png")]
    assert [name for name in names if f"screenshots/{name})" not in pages] == []


@pytest.mark.parametrize("name", SHOTS)
def test_nothing_is_loaded_and_nothing_goes_wrong(tab, tmp_path, name):
    (tmp_path / "page.html").write_text(SHOTS[name].html, encoding="utf-8")
    tab.goto((tmp_path / "page.html").as_uri())
    assert tab.asked == [(tmp_path / "page.html").as_uri()]
    assert tab.said == []
    for width in (1000, MAKE["PHONE"]) if name.startswith("errors") else (1000,):
        tab.set_viewport_size({"width": width, "height": 1000})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


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
        "[...document.querySelectorAll('.t')].map(t => [...t.querySelectorAll('i')].map(b => {"
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


def test_a_mention_has_its_type_where_it_goes_on_in_the_next_line(tab):
    """Each bar covers the name behind the next one, so that a name shows only at the beginning of a line."""
    tab.set_viewport_size({"width": MAKE["PHONE"], "height": 1000})
    tab.set_content(SHOTS["view-light.png"].html)
    bars = tab.evaluate(
        "[...document.querySelectorAll('.t i:not(.f)')].map(b => ["
        " getComputedStyle(b, '::after').content, Number(getComputedStyle(b, '::after').zIndex),"
        " Number(getComputedStyle(b, '::before').zIndex), b.className.match(/z(\\d+)/)[1]])"
    )
    assert bars
    for name, behind, cover, number in bars:
        assert name.split('"')[1] in ("anatomy", "disorder")
        assert (behind, cover) == (-2 * int(number), -2 * int(number) - 1)


@pytest.mark.parametrize("tab", [{"java_script_enabled": False}], indirect=True)
def test_errors_can_be_chosen_and_ordered_without_a_script(tab):
    tab.set_content(SHOTS["errors.png"].html)
    articles = tab.locator("article").all()
    tab.select_option("select[name=kind]", "kind-gap-missed")
    assert [item.get_attribute("data-kind") for item in articles if item.is_visible()] == ["gap missed"]
    tab.select_option("select[name=kind]", "")
    tab.select_option("select[name=type]", label="anatomy")
    assert [item.get_attribute("data-kind") for item in articles if item.is_visible()] == ["type"]
    tab.select_option("select[name=type]", "")
    tab.select_option("select[name=order]", "low")
    below = sorted(articles, key=lambda item: item.bounding_box()["y"])
    scores = [item.get_attribute("data-score") for item in below]
    assert scores[-1] is None and scores[:-1] == sorted(scores[:-1])
    assert not any(head.is_visible() for head in tab.locator("#errors > h3").all())


def test_both_sides_of_an_error_stand_on_the_same_lines(tab):
    tab.set_viewport_size({"width": MAKE["PHONE"], "height": 1000})
    tab.set_content(SHOTS["errors.png"].html)
    pieces = tab.locator("article .t b:has(> i.a:not(.d)):has(> i:not(.a):not(.d))").all()
    assert pieces
    for piece in pieces:
        text = piece.bounding_box()
        above, below = (piece.locator(bar).first.bounding_box() for bar in ("i.a:not(.d)", "i:not(.a):not(.d)"))
        assert above["y"] + above["height"] <= text["y"] + 2 and below["y"] >= text["y"] + text["height"] - 2


@pytest.mark.parametrize("name", SHOTS)
def test_axe_finds_no_violation(tab, violations, name):
    tab.set_content(SHOTS[name].html)
    found = violations(tab)
    tab.set_viewport_size({"width": MAKE["PHONE"], "height": 1000})
    assert found + violations(tab) == []
