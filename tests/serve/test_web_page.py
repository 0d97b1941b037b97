"""The page, driven in Chromium against the real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page
from serve_helpers import Server

from spanloom import read

TEXT = "The left ventricle is mildly dilated. No chest pain."
_STATE = "import('/static/drawing.js').then(({ state }) => state)"
_SLIDE = """value => {
    const slider = document.getElementById("threshold");
    slider.value = value;
    slider.dispatchEvent(new Event("input"));
}"""
_PASTE = """text => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    document.getElementById("text").dispatchEvent(paste);
}"""
_DROP = """([name, text]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""

_COLOURS = """() => ["body", "#text", "#marked .b"].map((place) => {
    const style = getComputedStyle(document.querySelector(place));
    return [style.color, style.backgroundColor].join();
})"""
_COPIED = """() => {
    getSelection().selectAllChildren(document.querySelector("#marked p.t"));
    return getSelection().toString();
}"""


@pytest.fixture
def page(pages: Callable[..., Page], server: Server) -> Page:
    found = pages(server.url)
    found.wait_for_selector("#model option", state="attached")
    return found


def mark_up(page: Page, text: str) -> None:
    page.fill("#text", text)
    page.wait_for_selector("#status:text-matches('[0-9]+ mention')")
    page.wait_for_selector("#marked[aria-busy=false]")


def names(page: Page) -> list[str]:
    """What stands beside the bars."""
    return [one.get_attribute("data-l") or "" for one in page.query_selector_all("#marked [data-m] button")]


def test_mentions_are_drawn_below_the_text(page: Page) -> None:
    mark_up(page, TEXT)
    assert any(name.startswith("problem ") for name in names(page))
    assert page.locator("#marked p.t").all_text_contents() == [
        "The left ventricle is mildly dilated.",
        "No chest pain.",
    ]
    assert page.locator("#marked .b.g").count() > 0  # the gap of "left ventricle ... dilated"
    assert page.locator("#kinds li").count() == 5


def test_what_is_copied_is_the_text(page: Page) -> None:
    mark_up(page, TEXT)
    page.wait_for_selector("#marked [data-m] button")
    assert page.evaluate(_COPIED) == "The left ventricle is mildly dilated."


def test_an_example_is_marked_up(page: Page) -> None:
    page.click("#example")
    page.wait_for_selector("#status:text-matches('[1-9][0-9]* mention')")
    assert "dyspnea" in page.input_value("#text")


def test_what_is_shown_can_be_taken_along(page: Page) -> None:
    assert page.is_hidden("#save")
    mark_up(page, TEXT)
    scores = sorted(page.evaluate(f"{_STATE}.then((state) => state.mentions.map((mention) => mention.score))"))
    page.evaluate(_SLIDE, (scores[0] + scores[-1]) / 2)
    page.wait_for_selector("#status:text-matches('of [0-9]+ mentions')")
    least = float(page.input_value("#threshold"))
    with page.expect_download() as waiting:
        page.click("#save")
    assert waiting.value.suggested_filename == "text.jsonl"
    path = Path(waiting.value.path())
    [document] = read(path.rename(path.with_suffix(".jsonl")))
    assert document.text == TEXT and document.tokens is not None
    found = sorted(mention.score for mention in document.mentions if mention.score is not None)
    assert found == [score for score in scores if score >= least] != scores
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy")
    page.wait_for_selector("#status:text-is('Copied.')")
    assert page.evaluate("navigator.clipboard.readText()") == path.with_suffix(".jsonl").read_text(encoding="utf-8")
    page.fill("#text", "")
    page.wait_for_selector("#save", state="hidden")


def test_mentions_fade_with_their_probability(page: Page) -> None:
    mark_up(page, TEXT)
    pairs = page.evaluate(
        f"""() => {_STATE}.then((state) => [...document.querySelectorAll("#marked .b")].map((bar) => [
            state.mentions[bar.dataset.m].score, Number(getComputedStyle(bar).getPropertyValue("--chance")),
            getComputedStyle(bar).backgroundImage]))"""
    )
    assert pairs and all(chance == pytest.approx(score, abs=0.01) for score, chance, _ in pairs)
    colors = page.evaluate(
        """() => [0, 1].map((chance) => {
            const bar = document.querySelector("#marked .b");
            bar.style.setProperty("--chance", chance);
            return getComputedStyle(bar).color; })"""
    )
    assert len(set(colors)) == 2
    assert any("gradient" in pattern for _, _, pattern in pairs)  # and are still drawn as their types are


def test_what_is_printed_is_the_text(page: Page) -> None:
    mark_up(page, TEXT)
    page.emulate_media(media="print")
    assert page.is_visible("#marked") and page.is_visible("#kinds")
    assert not any(page.is_visible(name) for name in ("#form", ".top", "#out", "#detail"))
    page.click("#marked .b button >> nth=0", force=True)
    page.wait_for_selector("#detail h2")
    assert page.is_visible("#detail")


def test_the_threshold_makes_them_come_and_go(page: Page) -> None:
    mark_up(page, TEXT)
    before = names(page)
    page.evaluate(_SLIDE, 1)
    page.wait_for_selector("#least:text-is('100 %')")
    assert names(page) == []
    assert f"0 of {len(before)} mentions" in page.inner_text("#status")
    scores = sorted(int(name.split()[-1].rstrip("%")) for name in before)
    page.evaluate(_SLIDE, (scores[0] + 1) / 100)
    page.wait_for_selector(f"#status:text-matches('^[1-9][0-9]* of {len(scores)} mentions')")
    assert 0 < len(names(page)) < len(before)
    page.evaluate(_SLIDE, 0)
    page.wait_for_selector(f"#status:text-matches('^{len(before)} mentions')")
    assert names(page) == before


def test_others_can_be_shown(page: Page) -> None:
    mark_up(page, "Left ventricle mildly dilated, moderate mitral regurgitation. No chest pain or tenderness.")
    before = len(names(page))
    page.check("#others")
    page.wait_for_selector("#marked .b.o button")
    assert len(names(page)) > before
    page.uncheck("#others")
    page.wait_for_selector("#marked .b.o button", state="detached")
    page.wait_for_selector(f"#status:text-matches('^{before} mentions')")
    assert len(names(page)) == before


def test_a_record_may_have_others_of_its_own(page: Page) -> None:
    record = {"id": "a/b", "text": TEXT, "meta": {"others": "Smith, Jones"}}
    page.evaluate(_DROP, ["notes.jsonl", json.dumps(record)])
    page.wait_for_selector("#marked [data-m] button")
    assert page.inner_text("#problem") == ""
    with page.expect_download() as waiting:
        page.click("#save")
    assert waiting.value.suggested_filename == "a_b.jsonl"
    assert json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))["meta"] == record["meta"]


def test_a_mention_shows_its_probability_and_its_features(page: Page) -> None:
    mark_up(page, TEXT)
    page.click("#marked [data-m] button >> nth=0")
    detail = page.locator("#detail")
    detail.locator("details").first.wait_for()
    said = detail.inner_text()
    assert "Probability" in said
    assert "%" in said
    assert "low" in detail.locator("table").first.inner_text() or "w[" in said
    assert page.locator("#marked .on").count() > 0


def test_the_keyboard_is_enough(page: Page) -> None:
    page.focus("#text")
    page.keyboard.insert_text(TEXT)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#marked [data-m] button")
    page.focus("#threshold")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#least:text-is('1 %')")
    for _ in range(5):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('[data-m] button')"):
            break
    assert "problem" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail h2")


def test_a_linker_shows_its_candidates(page: Page) -> None:
    page.select_option("#model", "linker")
    assert page.is_enabled("#threshold")
    mark_up(page, "Worsening chest pain and dyspnea on exertion. Mitral regurgitation.")
    page.click("#marked [data-m] button >> nth=0")
    page.wait_for_selector("#detail h3:text-is('Candidate concepts')")
    assert "SPL:" in page.inner_text("#detail table >> nth=0")


def test_models_can_be_switched(page: Page) -> None:
    mark_up(page, "患者无关节疼痛。")
    page.select_option("#model", "segmenter")
    page.wait_for_selector("#about:text-is('segmenter')")
    page.wait_for_selector("#marked .word")
    assert page.is_enabled("#threshold")
    assert page.is_visible("#with-others")
    assert page.locator("#marked p.t").first.text_content() == "患者无关节疼痛。"


def test_html_in_a_text_is_text(page: Page) -> None:
    hostile = (
        "<img src=x onerror=alert(1)><script>alert(2)</script> chest pain </p></section><b>bold</b> &amp; "
        "<svg onload=alert(3)> \u202eleft\u202c <style>*{display:none}</style>"
    )
    mark_up(page, hostile)
    assert page.locator("#marked").evaluate("e => e.textContent") == hostile
    assert page.locator("#marked").locator("img, script, svg, style").count() == 0
    button = page.locator("#marked [data-m] button").first
    button.wait_for()
    button.click()
    page.wait_for_selector("#detail h2")
    assert page.locator("#detail").locator("img, script, svg, style").count() == 0


def test_offsets_are_characters_and_not_utf_16_units(page: Page, server: Server) -> None:
    mark_up(page, "😀😀 No chest pain 😀.")
    button = page.locator("#marked button[aria-label*='chest pain']").first
    assert button.get_attribute("aria-label", timeout=5000)


@pytest.mark.parametrize("text", ["a\ud800b", "a\0b"])
def test_what_the_server_refuses_is_said(page: Page, text: str) -> None:
    escaped = json.dumps(text)
    page.evaluate(f"() => {{ document.getElementById('text').value = {escaped}; }}")
    page.click("text=Mark up")
    page.wait_for_selector("#problem:text-matches('surrogate|NUL')")
    mark_up(page, TEXT)
    assert page.inner_text("#problem") == ""


def test_files_can_be_dropped(page: Page, tmp_path: Path) -> None:
    page.evaluate(_DROP, ["note.txt", TEXT])
    page.wait_for_selector("#marked [data-m] button")
    assert page.input_value("#text") == TEXT
    assert page.is_hidden("#picker")
    records = [{"id": "one", "text": "No chest pain."}, {"id": "two", "text": "Mitral stenosis.", "tokens": [[0, 16]]}]
    page.evaluate(_DROP, ["notes.jsonl", "\n".join(map(json.dumps, records))])
    page.wait_for_selector("#picker")
    assert page.locator("#document-of option").all_inner_texts() == ["one", "two"]
    page.select_option("#document-of", "two")
    page.wait_for_selector("#marked p.t:text-is('Mitral stenosis.')")
    path = tmp_path / "latin.txt"
    path.write_bytes("Ménière".encode("latin-1"))
    page.set_input_files("#file", path)
    page.wait_for_selector("#problem:text-matches('not UTF-8')")
    page.evaluate(_DROP, ["notes.jsonl", '{"text": "a"}\n{'])
    page.wait_for_selector("#problem:text-matches('line 2: not JSON')")
    page.evaluate(_DROP, ["huge.txt", "a" * 5_000_000])
    page.wait_for_selector("#problem:text-matches('at most')")


def test_dark_and_light(page: Page) -> None:
    mark_up(page, TEXT)
    page.wait_for_selector("#marked .b")
    colours = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        colours.append(page.evaluate(_COLOURS))
    assert colours[0][0] != colours[1][0]
    assert colours[0][1] != colours[1][1]
    assert colours[0][2] != colours[1][2]


def test_a_narrow_window_needs_no_scrolling_aside(page: Page, sample: str) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    mark_up(page, sample)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_hundred_pages(page: Page, sample: str) -> None:
    long = "\n\n".join([sample] * (300_000 // len(sample)))
    page.evaluate(_PASTE, long)
    page.wait_for_selector("#marked section >> nth=1000", state="attached", timeout=120_000)
    sentences = page.locator("#marked section").count()
    assert sentences > 4000
    assert page.evaluate("document.getElementById('marked').textContent.length") > 250_000
    nodes = "document.querySelectorAll('*').length - 2 * document.querySelectorAll('#marked section').length"
    assert page.evaluate(nodes) < 3000  # bars near the window only
    page.evaluate(_SLIDE, 0.9)
    page.wait_for_selector("#least:text-is('90 %')")
    page.wait_for_selector("#status:text-matches(' of ')")
    last = page.locator("#marked section").last
    page.evaluate(_SLIDE, 0)
    page.wait_for_selector("#least:text-is('0 %')")
    for _ in range(300):  # what is drawn above it moves it away from the window
        last.scroll_into_view_if_needed()
        if last.locator("[data-m]").count():
            break
        page.wait_for_timeout(100)
    else:
        pytest.fail("the last sentence is not drawn")
    assert page.evaluate(nodes) < 3000


def test_the_first_mention_is_seen_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    page.reload()
    page.wait_for_selector("#model option", state="attached")
    mark_up(page, TEXT)
    bar = page.locator("#marked .b").first.bounding_box()
    assert bar is not None and bar["y"] + bar["height"] < 640
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not page.evaluate("document.getElementById('options').open")


def test_words_of_mentions_are_tinted_and_lines_begin_with_words(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    mark_up(page, "No fever. " + TEXT * 3)
    page.wait_for_selector("#marked .tint")
    tints = page.evaluate("[...document.querySelectorAll('.tint')].map((one) => getComputedStyle(one).backgroundColor)")
    assert tints and all(not color.endswith(", 0)") and color != "transparent" for color in tints)
    lefts = page.evaluate(
        """() => [...document.querySelectorAll("#marked .t > [class^=n]")].map((box) => {
            const first = box.getBoundingClientRect(), line = box.parentNode.getBoundingClientRect();
            return [box.textContent, first.left - line.left]; })"""
    )
    assert lefts and not [text for text, left in lefts if left < 1 and text[0].isspace()]


@pytest.mark.parametrize("width", [1200, 360])
def test_axe_finds_no_violation(page: Page, violations: Callable[[Page], list[str]], width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    found = violations(page)
    mark_up(page, TEXT)
    page.click("#marked [data-m] button")
    found += violations(page)
    page.evaluate(_DROP, ["notes.jsonl", '{"text": "a"}\n{'])
    page.wait_for_selector("#problem:text-matches('not JSON')")
    assert found + violations(page) == []
