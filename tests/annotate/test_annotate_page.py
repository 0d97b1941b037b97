"""The page in Chromium, by mouse and by keys alone, against the real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from annotate_helpers import Running, running
from page_helpers import RECT, drag, marked, press, settle, turn_to, until
from playwright.sync_api import Page, Route

from spanloom import Document, Mention, Recognizer, read, write
from spanloom.data import clinical
from spanloom.errors import UsageError
from spanloom.formats.store import Store

TEXT = "The left ventricle is mildly dilated. No chest pain, or fever.\nMitral regurgitation\nwas moderate."
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script> pain &amp; <b>bold</b>."
ARABIC = "لا يوجد ألم في الصدر اليوم."
CHINESE = "患者无发热，右侧胸腔少量积液。"
DENSE = Document(
    " ".join(f"word{i:03}" for i in range(500)), "dense",
    mentions=[Mention("finding", [(56 * i, 56 * i + 7), (56 * i + 16, 56 * i + 31)]) for i in range(70)],
)  # fmt: skip
MANY = Document(
    ("word " * 100 + ".\n\n") * 110, "many", meta={"annotator": "dan"},
    mentions=[Mention("finding", [(503 * i + 5 * j, 503 * i + 5 * j + 4)]) for i in range(110) for j in range(100)],
)  # fmt: skip
TAG = "<script>alert(3)</script>"
_THRESHOLD = """value => {
    const slider = document.getElementById("threshold");
    slider.value = value;
    slider.dispatchEvent(new Event("input"));
}"""
_COVERED = """() => {
    const { top, bottom } = document.getElementById("problem").getBoundingClientRect();
    const boxes = [...document.querySelectorAll(".top *")].map((one) => one.getBoundingClientRect());
    return boxes.filter((one) => one.height && one.top < bottom && one.bottom > top).length;
}"""
_PASTE = """text => {
    document.getElementById("concept").value = text;
    document.getElementById("concept").dispatchEvent(new Event("input"));
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def server(folder: Path, trained: Recognizer) -> Iterator[Running]:
    trained.save(folder / "model")
    note = (clinical() / "sample.txt").read_text(encoding="utf-8")
    documents = [
        Document(TEXT, "a"), Document(note, "note"), Document(HOSTILE, TAG, mentions=[Mention(TAG, [(0, 4)])]),
        Document(ARABIC, "arabic"), Document(CHINESE, "chinese"), Document("\n\n".join([note] * 900), "long"),
        Document(TEXT, "pair"), DENSE, Document(TEXT, "twin"), Document(TEXT, "both"), Document(TEXT, "disputed"), MANY,
    ]  # fmt: skip
    write(documents, folder / "notes.jsonl")
    (folder / "names.tsv").write_text(f"id\tname\nD1\tchest pain\nD2\tfever\n{TAG}\t<i>markup</i>\n")
    with running(
        folder / "notes.jsonl", output=str(folder / "a.store"), types=["problem", "finding", "drug"],
        model=str(folder / "model"), vocabulary=str(folder / "names.tsv"),
    ) as found:  # fmt: skip
        yield found


def test_a_session_by_mouse(opened: Callable[..., Page], folder: Path, tmp_path: Path) -> None:
    page = opened("mouse")
    drag(page, "left", "ventricle")
    assert marked(folder, "mouse") == [("problem", "left ventricle")]
    drag(page, "dilated", "dilated", "Control")  # a part across a gap
    assert marked(folder, "mouse") == [("problem", "left ventricle|dilated")]
    drag(page, "ventricle", "mildly")  # crosses it
    page.click("#types button:has-text('finding')")
    settle(page)
    drag(page, "ventricle", "ventricle")  # nested in both
    drag(page, "Mitral", "moderate")  # over two line ends, which are no gaps
    assert marked(folder, "mouse") == [
        ("finding", "Mitral regurgitation\nwas moderate"), ("finding", "ventricle"), ("finding", "ventricle is mildly"),
        ("problem", "left ventricle|dilated"),
    ]  # fmt: skip
    drag(page, "chest", "pain", beyond=5)  # the comma is not taken along
    assert ("finding", "chest pain") in marked(folder, "mouse")
    grip = page.locator(".grip.end").last.bounding_box()
    assert grip is not None
    page.mouse.move(grip["x"] + 1, grip["y"] + 5)
    page.mouse.down()
    _, right, middle = page.evaluate(RECT, ["fever", 1])
    page.mouse.move(right - 1, middle, steps=4)
    page.mouse.up()
    settle(page)
    assert ("finding", "chest pain, or fever") in marked(folder, "mouse")
    page.click("#undo")
    settle(page)
    assert ("finding", "chest pain") in marked(folder, "mouse")
    assert page.locator("#text .b button[data-l^='problem']").count() >= 1  # labels are text
    assert page.locator("#text").text_content() == TEXT.replace(". No", ".No").replace(".\nMitral", ".Mitral")
    [document] = [one for one in read(folder / "a.store", layer="mouse") if one.id == "a"]
    write([document.copy(meta={})], tmp_path / "brat", format="brat")
    [again] = read(tmp_path / "brat")
    assert {one.key for one in again.mentions} == {one.key for one in document.mentions}


def test_a_session_by_keys_alone(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("keys")
    page.evaluate(_THRESHOLD, 100)  # no suggestions
    press(page, "ArrowRight", "Shift+ArrowRight", "1")  # left ventricle
    assert marked(folder, "keys") == [("problem", "left ventricle")]
    press(page, *["ArrowRight"] * 3, "p")  # dilated, as a part
    assert marked(folder, "keys") == [("problem", "left ventricle|dilated")]
    press(page, "Escape", *["ArrowLeft"] * 3, "Shift+ArrowRight", "Shift+ArrowRight", "2")  # ventricle is mildly
    press(page, "Escape", "ArrowLeft", "ArrowLeft", "3")  # ventricle, nested in both
    expected = [("drug", "ventricle"), ("finding", "ventricle is mildly"), ("problem", "left ventricle|dilated")]
    assert marked(folder, "keys") == expected
    press(page, "Escape")
    seen = []
    for _ in range(4):  # one key goes through all that lie on top of each other
        press(page, "m")
        seen.append(page.inner_text("#detail dd >> nth=0"))
    assert seen == ["drug", "finding", "problem", "drug"]
    press(page, "]", "]", "}")
    assert ("drug", "ventricle is") in marked(folder, "keys")
    press(page, "[", "{", "u", "u", "u", "u", "u")
    assert marked(folder, "keys") == expected
    press(page, *"uuuuuuuu")
    assert marked(folder, "keys") == [] and page.is_disabled("#undo")
    press(page, *"yyyy")
    assert marked(folder, "keys") == expected
    press(page, "Escape", "m", "t")
    page.keyboard.type("device")
    press(page, "Enter")
    assert ("device", "ventricle") in marked(folder, "keys")
    press(page, "e")
    page.keyboard.type("yes")
    press(page, "Tab", "Escape", "n")
    for typed in ("a ", "note"):  # saved, and the field keeps its place, while it is not left
        with page.expect_response("**/act"):
            page.keyboard.type(typed)
    [document] = [one for one in read(folder / "a.store", layer="keys") if one.id == "a"]
    assert document.meta["notes"][0]["note"] == "a note"
    press(page, "Tab", "Escape", "c")
    page.keyboard.type("fever")
    page.wait_for_selector(".found button:has-text('D2')")
    press(page, "Enter", "Escape")
    [document] = [one for one in read(folder / "a.store", layer="keys") if one.id == "a"]
    [device] = [one for one in document.mentions if one.type == "device"]
    assert device.attributes == {"negated": True} and device.concepts == ("D2",)
    assert document.meta["notes"][0]["note"] == "a note"
    press(page, "x")
    assert "device" not in dict(marked(folder, "keys"))
    press(page, "f", "s", "f")  # the skipped sentence returns
    assert "here" in (page.locator("#text section").nth(1).get_attribute("class") or "")
    assert "chest" not in page.inner_text("#problem")
    press(page, "f", "F")
    page.wait_for_function("document.getElementById('documents').value === '2'")
    [document] = [one for one in read(folder / "a.store", layer="keys") if one.id == "a"]
    assert document.meta["annotation"] == "complete"
    press(page, "?")
    assert "choose the next mention at this word" in page.inner_text("#help")


def test_suggestions_are_shaded_accepted_rejected_and_explained(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("sue", "note")
    page.wait_for_selector("#text .b.o button", timeout=60_000)
    assert page.locator("#text .b.o button").first.get_attribute("data-l", timeout=5000).startswith("? ")  # type: ignore[union-attr]
    bars = "[...document.querySelectorAll('#text .b.o')].map((one) => getComputedStyle(one))"
    assert len(set(page.evaluate(f"{bars}.map(({{ color }}) => color)"))) > 3  # more than types, as each fades
    # each bar covers the name that the next one has for the beginning of a line, which opacity would prevent
    assert set(page.evaluate(f"{bars}.map(({{ opacity }}) => opacity)")) == {"1"}
    press(page, "g")
    percent = page.inner_text("#detail dd >> nth=2")
    press(page, "w")
    page.wait_for_selector(".why table tr", timeout=60_000)
    press(page, "a")
    with Store(folder / "a.store") as store:
        [accepted] = store.state(2, "sue").values.values()
        assert f"{100 * accepted['score']:.0f} %" == percent
        press(page, "d")
        denied = [value for key, value in store.state(2, "sue").values.items() if key[0] == "r"]
        assert len(denied) == 1 and denied[0]["score"] >= 0.5
        page.evaluate(_THRESHOLD, 80)
        press(page, "A")
        page.wait_for_selector("#status:has-text('accepted; u takes all of them back')")
        kept = [value for key, value in store.state(2, "sue").values.items() if key[0] == "m"][1:]
        assert len(kept) > 3 and all(value["score"] >= 0.8 for value in kept)
        press(page, "u")
        assert len(store.state(2, "sue").values) == 2
    [document] = [one for one in read(folder / "a.store", layer="sue") if one.id == "note"]
    assert document.meta["annotation"]["not"][0]["types"] == [denied[0]["type"]]


def test_two_tabs_on_one_document(opened: Callable[..., Page], folder: Path) -> None:
    one, other = opened("tab"), opened("tab")
    press(one, "1")
    press(other, "ArrowRight", "2")
    assert "changed in another tab" in other.inner_text("#problem")
    assert marked(folder, "tab") == [("problem", "The")]
    press(other, "ArrowRight", "Escape", "ArrowLeft", "ArrowRight", "2")
    assert len(marked(folder, "tab")) == 2 and other.inner_text("#problem") == ""


def test_what_is_typed_survives_changes_elsewhere(opened: Callable[..., Page], folder: Path) -> None:
    one, other = opened("typed"), opened("typed")
    for page in (one, other):
        page.evaluate(_THRESHOLD, 100)  # no suggestions
    press(one, "1", "n")
    turn_to(other, "a")
    one.keyboard.type("fi")
    settle(one)
    press(other, "ArrowRight", "2")
    one.keyboard.type("xed?")  # its letters are keys of commands elsewhere on the page
    one.wait_for_selector("#problem:has-text('changed elsewhere; it is shown as it is now, with what you typed')")
    assert one.evaluate("document.activeElement.id") == "note" and one.input_value("#note") == "fixed?"
    assert notes(folder, "typed") == ["fixed?"] and len(marked(folder, "typed")) == 2

    turn_to(other, "a")
    press(other, "m", "n")
    other.keyboard.type(" or not")
    press(other, "Tab")
    one.keyboard.type(" no")
    one.wait_for_selector("#problem:has-text('this note was changed elsewhere, to “fixed? or not”')")
    assert one.input_value("#note") == "fixed? no" and notes(folder, "typed") == ["fixed? or not"]
    press(one, "Tab")
    assert notes(folder, "typed") == ["fixed? no"]

    turn_to(other, "a")
    press(one, "Escape", "e")
    one.keyboard.type("ye")
    press(other, "m", "x")
    one.keyboard.type("s")
    press(one, "Shift+Tab")
    assert "removed elsewhere; restore it from the history (h)" in one.inner_text("#problem")
    press(other, "u")
    turn_to(one, "a")
    press(one, "Escape", "m", "n")
    other.bring_to_front()
    press(other, "m", "x")
    one.bring_to_front()
    one.keyboard.type(" xx")
    one.wait_for_selector("#problem:has-text('removed elsewhere')")
    assert one.input_value("#note") == "fixed? no xx" and one.evaluate("document.activeElement.id") == "note"
    press(one, "Escape", "h")
    one.click("#history-rows button[aria-label='restore problem: The']")
    settle(one)
    assert one.input_value("#note") == "fixed? no xx"  # is offered again
    press(one, "n", "Escape")
    assert notes(folder, "typed") == ["fixed? no xx"]


def notes(folder: Path, layer: str) -> list[str]:
    [document] = [one for one in read(folder / "a.store", layer=layer) if one.id == "a"]
    return [one["note"] for one in document.meta.get("notes", [])]


def test_the_position_and_a_note_are_saved_in_time(opened: Callable[..., Page], folder: Path) -> None:
    page, sent = opened("steady", "note"), list[str]()
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/position") else None)
    for _ in range(1000):  # while keys follow one another without a pause
        page.keyboard.press("ArrowRight")
        if len(sent) > 1:
            break
    assert len(sent) > 1
    turn_to(page, "a")
    press(page, "1", "ArrowRight", "ArrowRight", "n")
    page.keyboard.type("in haste")
    page.reload()
    page.wait_for_selector("body[data-ready] #text .cur")
    assert page.inner_text("#text .cur") == "ventricle" and notes(folder, "steady") == ["in haste"]


def test_markup_is_never_interpreted(opened: Callable[..., Page], folder: Path) -> None:
    layer = "<script>alert(4)</script>"
    page = opened(quote(layer), TAG)
    assert page.locator("#text").text_content() == HOSTILE
    press(page, "m", "n")
    page.keyboard.type("<img src=x onerror=alert(5)>")
    press(page, "Tab", "Escape", "e")
    page.keyboard.type("<svg onload=alert(6)>")
    press(page, "Escape")
    page.fill("#attribute-name", "<s>name</s>")
    press(page, "Tab", "Escape", "c")
    page.keyboard.type("<i>markup</i>")
    page.wait_for_selector(".found button:has-text('<i>markup</i>')")
    press(page, "Enter", "Escape", "t")
    page.keyboard.type("<b>type</b>")
    press(page, "Enter")
    assert "<b>type</b>" in page.inner_text("#types")
    assert page.get_attribute("#text .first button", "data-l").startswith("<b>type</b> · negated <svg onload")  # type: ignore[union-attr]
    [document] = [one for one in read(folder / "a.store", layer=layer) if one.id == TAG]
    [only] = document.mentions
    assert only.type == "<b>type</b>"
    assert only.attributes == {"negated": "<svg onload=alert(6)>", "<s>name</s>": True} and only.concepts == (TAG,)
    assert [note["note"] for note in document.meta["notes"]] == ["<img src=x onerror=alert(5)>"]
    press(page, "h")
    page.wait_for_selector("#history-note:has-text('5 of 5 changes')")
    no_elements(page)
    press(opened("<p>other</p>", TAG), "1")
    page = opened("adjudicated", TAG)
    page.wait_for_selector(f"#agreement:has-text('{layer}')")
    press(page, "g")
    assert f"Marked by\n{layer}" in page.inner_text("#detail")
    no_elements(page)


def no_elements(page: Page) -> None:
    assert (
        page.locator("#text, #panel, .top, #history").locator("img, script, svg, style, s, i i, b > b > b").count() == 0
    )


def test_a_document_that_changed_on_disk_is_named(pages: Callable[..., Page], tmp_path: Path) -> None:
    place, store = tmp_path / "a.jsonl", str(tmp_path / "<u>a.store")
    write([Document(TEXT, "a"), Document(TEXT, "b")], place)
    with running(place, output=store):
        pass
    write([Document("Other.", "a"), Document(TEXT, "b")], place, force=True)
    with running(store) as server:
        page = pages(server.url)
        page.wait_for_selector(
            "#problem:has-text('changed on disk since it was imported; what is shown and annotated')"
        )
        assert page.inner_text("h1") == "<u>a.store" and page.inner_text("#text").startswith("The left")
        turn_to(page, "b")
        assert page.inner_text("#problem") == ""


def test_a_full_disk_loses_nothing_that_is_typed(opened: Callable[..., Page], folder: Path) -> None:
    page, full = opened("full"), "the store cannot be used: database or disk is full; free some space, and repeat"
    press(page, "1", "n")
    page.route("**/api/act", lambda route: route.fulfill(status=507, json={"error": full}))
    page.keyboard.type("unsure")
    page.wait_for_selector(f"#problem:has-text('{full}')")
    press(page, "Escape", "ArrowRight", "m", "Escape", "2")
    assert full in page.inner_text("#problem") and marked(folder, "full") == [("problem", "The")]
    page.unroute("**/api/act")
    press(page, "2", "Escape", "ArrowLeft", "m", "n")
    assert page.input_value("#note") == "unsure"  # is offered again
    press(page, "Escape")
    assert notes(folder, "full") == ["unsure"] and len(marked(folder, "full")) == 2


def test_right_to_left_and_chinese(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("far", "arabic")
    press(page, "ArrowLeft", "ArrowLeft", "1")  # forward is to the left
    assert marked(folder, "far", "arabic") == [("problem", ARABIC.split()[2])]
    turn_to(page, "chinese")
    drag(page, "发", "热")
    assert marked(folder, "far", "chinese") == [("problem", "发热")]


def test_suggestions_go_with_what_is_marked_and_rejected(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("live", "note")
    page.wait_for_selector("#text .b.o button", timeout=60_000)
    press(page, "g")
    with page.expect_response("**/api/suggestions?*") as answer:
        press(page, "d")
    [document] = [one for one in read(folder / "a.store", layer="live") if one.id == "note"]
    [claim] = document.meta["annotation"]["not"]
    found = answer.value.json()
    spans = [[mention["type"], mention["spans"]] for mention in found["mentions"]]
    assert found["problem"] == "" and [claim["types"][0], claim["spans"]] not in spans
    with page.expect_response("**/api/suggestions?*") as answer:
        press(page, "u")
    again = [[mention["type"], mention["spans"]] for mention in answer.value.json()["mentions"]]
    assert len(again) > 5 and again != spans


def test_suggestions_that_come_during_a_drag_leave_it_alone(opened: Callable[..., Page], folder: Path) -> None:
    page, held = opened("slow"), list[Route]()
    page.route("**/api/suggestions?*", lambda route: held.append(route))
    turn_to(page, "pair")
    until(page, lambda: bool(held))
    left, _, middle = page.evaluate(RECT, ["chest", 1])
    right = page.evaluate(RECT, ["pain", 1])[1]
    page.mouse.move(left + 1, middle)
    page.mouse.down()
    page.mouse.move(left + 9, middle)
    with page.expect_response("**/api/suggestions?*") as answer:
        held[0].continue_()
    assert answer.value.json() and page.locator("#text .b.o").count() == 0
    page.mouse.move(right - 1, middle, steps=2)
    page.mouse.up()
    settle(page)
    assert marked(folder, "slow", "pair") == [("problem", "chest pain")]


def test_a_document_opens_when_all_before_is_saved(opened: Callable[..., Page], folder: Path) -> None:
    page, held = opened("swift"), list[Route]()
    page.route("**/api/act", lambda route: held.append(route))
    for key in ("1", "Escape", "ArrowRight", "2"):
        page.keyboard.press(key)
    [number] = page.select_option("#documents", label="pair")
    for _ in range(2):
        until(page, lambda: bool(held))
        held.pop().continue_()
    page.wait_for_selector(f"body[data-shown='{number}'] #text .cur", state="attached")
    settle(page)
    assert (marked(folder, "swift"), marked(folder, "swift", "pair")) == (
        [("finding", "left"), ("problem", "The")], [],
    )  # fmt: skip


def test_a_save_that_ends_during_a_drag_leaves_it_alone(opened: Callable[..., Page], folder: Path) -> None:
    page, held = opened("dragging"), list[Route]()
    page.route("**/api/act", lambda route: held.append(route))
    for first, last, at_rest in (("left", "left", False), ("mildly", "dilated", True)):
        left, _, top = page.evaluate(RECT, [first, 1])
        page.mouse.move(left + 1, top)
        page.mouse.down()
        page.mouse.move(left + 5, top)
        if at_rest:
            held.pop().continue_()
            page.wait_for_timeout(300)
        page.mouse.move(page.evaluate(RECT, [last, 1])[1] - 0.5, top, steps=2)
        page.mouse.up()
        until(page, lambda: bool(held))
    held.pop().continue_()
    settle(page)
    assert marked(folder, "dragging") == [("problem", "left"), ("problem", "mildly dilated")]


def test_all_suggestions_are_accepted_where_the_key_was_pressed(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("all", "note")
    for key in "AF":
        page.keyboard.press(key)
    page.wait_for_selector("body:not([data-shown='2'])")
    settle(page)
    with Store(folder / "a.store") as store:
        note, other = (store.state(number, "all").values for number in (2, 3))
    assert note["d"] == "finished" and sum(key[0] == "m" for key in note) > 3
    assert set(other) == {"m:b0"}  # which was imported


def test_what_is_not_saved_moves_nothing(opened: Callable[..., Page]) -> None:
    page = opened("broken", "note")
    page.wait_for_selector("#text .b.o button", timeout=60_000)
    press(page, "g")
    page.route("**/api/act", lambda route: route.abort())
    place = (
        "[document.body.dataset.shown, ...[...document.querySelectorAll('#text .cur')].map((one) => one.offsetLeft)]"
    )
    before = page.evaluate(place)
    for key in "adfsADFS1u":
        press(page, key)
        assert "the server does not answer" in page.inner_text("#problem"), key
        assert page.evaluate(place) == before, key


def test_a_document_of_many_pages_is_resumed_where_it_was_left(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("long", "long")
    page.wait_for_selector("#text section >> nth=5000", state="attached", timeout=60_000)
    assert (
        page.evaluate(
            "document.querySelectorAll('#text *').length - 3 * document.querySelectorAll('#text section').length"
        )
        < 8000
    )
    page.locator("#text section").nth(5000).scroll_into_view_if_needed()
    page.locator("#text section").nth(5000).click(position={"x": 30, "y": 10})
    press(page, "3")
    page.wait_for_selector("#text .b button[data-l='drug']")

    def saved() -> int:
        with Store(folder / "a.store") as store:
            row = store.connection.execute("SELECT start FROM positions WHERE layer = 'long'").fetchone()
        return row[0] if row else 0

    until(page, lambda: saved() > 100_000)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.wait_for_function("scrollY > 10000")


def test_the_history_restores_what_was_removed(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("past")
    press(page, "1", "2", "n")
    page.keyboard.type("<b>sure?</b>")
    press(page, "Tab", "Escape", "x", "ArrowRight", "3")
    press(page, "h")  # of the mention that is chosen
    page.wait_for_selector("#history-note:has-text('1 of 5 changes, of the chosen mention')")
    page.click("#history-whole")
    rows = [row.split("\t")[1:5] for row in page.locator("#history-rows tr").all_inner_texts()[1:]]
    assert rows == [
        ["past", "add", "marked drug", "left"], ["past", "remove", "removed finding", "The"],
        ["past", "change", "note: <b>sure?</b>", "The"], ["past", "change", "type problem → finding", "The"],
        ["past", "add", "marked problem", "The"],
    ]  # fmt: skip
    assert page.locator("#history b").count() == 0
    page.fill("#history-filter", "FINDING remove")
    assert page.locator("#history-rows tr").count() == 2
    press(page, "Escape", "Escape", "h")
    page.wait_for_selector("#history-rows button:focus")  # the last one that can be restored
    assert page.evaluate("document.activeElement.ariaLabel") == "restore finding: The"
    press(page, "ArrowDown", "ArrowUp", "Enter")
    assert marked(folder, "past") == [("drug", "left"), ("finding", "The")]
    assert page.inner_text("#detail h2 >> nth=0") == "The" and page.input_value("#note") == "<b>sure?</b>"
    press(page, "u")
    assert marked(folder, "past") == [("drug", "left")]


def test_each_problem_is_one_message_and_loses_nothing(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("trouble")
    page.route("**/api/act", lambda route: route.abort())
    press(page, "1")
    assert "the server does not answer" in page.inner_text("#problem")
    with pytest.raises(UsageError, match="layer is 'trouble'"):
        marked(folder, "trouble")
    page.unroute("**/api/act")
    press(page, "1")
    assert page.inner_text("#problem") == "" and marked(folder, "trouble") == [("problem", "The")]
    press(page, "n")
    page.route("**/api/act", lambda route: route.abort())
    page.keyboard.type("unsure")
    page.wait_for_selector("#problem:has-text('the server does not answer')")
    page.unroute("**/api/act")
    with page.expect_response("**/act"):  # the note is sent again when the field is left
        press(page, "Tab")
    press(page, "Escape")
    [document] = [one for one in read(folder / "a.store", layer="trouble") if one.id == "a"]
    assert document.meta["notes"][0]["note"] == "unsure" and page.inner_text("#problem") == ""
    press(page, "c")
    page.evaluate(_PASTE, "chest pain\n" * 400_000)
    page.wait_for_selector("#problem:has-text('the search has 4,000,000 characters, at most 200 are looked up')")
    assert page.locator(".found button").count() == 0
    page.fill("#concept", "fever")
    page.wait_for_selector(".found button:has-text('D2')")
    page.fill("#concept", "left ventricle")  # Enter before the answer would take what was found for "fever"
    assert page.locator(".found button").count() == 0


def test_the_mention_that_is_meant_is_chosen_by_clicks(opened: Callable[..., Page]) -> None:
    page = opened("clicks", "twin")
    page.evaluate(_THRESHOLD, 100)
    press(page, "ArrowRight", "ArrowRight", "1")  # ventricle
    press(page, "Escape", "ArrowLeft", "Shift+ArrowRight", "2")  # left ventricle
    press(page, "Escape", "ArrowLeft", "ArrowLeft", *["Shift+ArrowRight"] * 2, "3")  # The left ventricle
    press(page, "Escape", *["ArrowRight"] * 3, "p", "Escape")  # nothing is chosen that a part could be added to
    assert "no mention is chosen" in page.inner_text("#problem")
    left, right, middle = page.evaluate(RECT, ["ventricle", 1])
    seen = []
    for _ in range(4):
        page.mouse.click((left + right) / 2, middle)
        seen.append((page.inner_text("#detail dd >> nth=0"), page.inner_text("#detail h2 >> nth=0")))
    names = {"problem": "ventricle", "finding": "left ventricle", "drug": "The left ventricle"}
    assert seen == [*names.items(), seen[0]]
    press(page, *["ArrowRight"] * 3, "p")
    assert page.inner_text("#detail h2 >> nth=0") == "ventricle … dilated"  # parts are not run together


def test_parts_are_added_one_after_another(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("parts")
    drag(page, "left", "left")
    for word in ("mildly", "chest", "fever"):
        drag(page, word, word, "Control")
    [(_, text)] = marked(folder, "parts")
    assert text == "left|mildly|chest|fever"


def test_drags_begin_at_any_letter_and_end_anywhere(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("quick")
    page.evaluate(_THRESHOLD, 100)
    words = TEXT.split()[:5]
    for word in words:  # beside the handles of the word before, without waiting
        left, right, middle = page.evaluate(RECT, [word, 1])
        page.mouse.move(left + 0.3, middle)
        page.mouse.down()
        page.mouse.move(right - 0.3, middle)
        page.mouse.up()
    settle(page)
    assert marked(folder, "quick") == sorted(("problem", word) for word in words)
    left, _, middle = page.evaluate(RECT, ["fever", 1])
    page.mouse.move(left, middle)
    page.mouse.down()
    page.mouse.move(1100, middle)  # above the panel
    page.mouse.up()
    settle(page)
    assert ("problem", "fever") in marked(folder, "quick")


def test_a_type_is_chosen_before_or_after_marking(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("first", "twin")
    page.evaluate(_THRESHOLD, 100)
    page.click("#types button:has-text('finding')")  # marks nothing, as nobody was at a word yet
    drag(page, "left", "left")
    assert marked(folder, "first", "twin") == [("finding", "left")]
    left, right, middle = page.evaluate(RECT, ["mildly", 1])
    box = page.locator("#types button:has-text('drug')").bounding_box()
    assert box is not None
    page.mouse.move(left, middle)
    page.mouse.down()
    page.mouse.move(right, middle)
    held = list[Route]()
    page.route("**/api/act", lambda route: held.append(route))
    page.mouse.up()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    until(page, lambda: bool(held))
    with page.expect_response("**/api/act"):  # while the button is pressed
        held.pop().continue_()
    page.unroute("**/api/act")
    page.mouse.up()
    settle(page)
    assert marked(folder, "first", "twin") == [("drug", "mildly"), ("finding", "left")]


def test_a_message_does_not_move_the_text(opened: Callable[..., Page]) -> None:
    for width in (1200, 360):
        page = opened("still", viewport={"width": width, "height": 800})
        top = "document.getElementById('text').getBoundingClientRect().top"
        place = page.evaluate(top)
        press(page, "x")
        assert page.is_visible("#problem") and page.evaluate(top) == place
        assert page.evaluate(_COVERED) == 0
        page.evaluate(_THRESHOLD, 100)
        press(page, "g")
        assert page.is_visible("#status") and page.evaluate(top) == place


def test_each_of_many_mentions_has_its_label(opened: Callable[..., Page]) -> None:
    page = opened("dense", "dense")
    page.evaluate(_THRESHOLD, 100)
    assert page.locator("#text .b button[data-l='finding']").count() == 70
    labels = page.evaluate(
        """() => [...document.querySelectorAll("#text .b button[data-l='finding']")].map((one) => {
            const box = one.getBoundingClientRect();
            return [box.left, box.top];
        })"""
    )
    assert len({(round(left), round(top)) for left, top in labels}) == 70


def test_keys_of_your_own_and_other_keyboards(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("own", "twin")
    page.evaluate(_THRESHOLD, 100)

    def give(key: str, to: str) -> None:
        press(page, "?")
        page.click(f"#key-table tr:has-text('{to}') button")
        page.keyboard.press(key)
        press(page, "Escape")

    give("k", "remove the mention")
    give("u", "redo; also")  # that of undo, which gets y
    assert page.inner_text("#undo kbd") == "y" and page.inner_text("#redo kbd") == "u"
    page.reload()
    page.wait_for_selector("body[data-ready]")
    turn_to(page, "twin")
    press(page, "1", "x")
    assert marked(folder, "own", "twin") == [("problem", "The")]
    press(page, "k")
    assert marked(folder, "own", "twin") == []
    press(page, "y")
    assert marked(folder, "own", "twin") == [("problem", "The")]
    press(page, "m")
    # brackets are written with AltGr (Control and Alt) on German keyboards, with Option on those of Macs
    for modifiers in ("ctrlKey: true, altKey: true", "altKey: true"):
        page.evaluate(
            f"document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: ']', bubbles: true, {modifiers}}}))"
        )
        settle(page)
    assert marked(folder, "own", "twin") == [("problem", "The left ventricle")]


def test_suggestions_of_one_type(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("only", "note")
    page.evaluate(_THRESHOLD, 0)
    page.wait_for_selector("#text .b.o button", timeout=60_000)
    labels = "[...document.querySelectorAll('#text .b.o button[data-l]')].map((one) => one.dataset.l.split(' ')[1])"
    [name, other, *_] = sorted(set(page.evaluate(labels)))
    page.select_option("#only", name)
    assert set(page.evaluate(labels)) == {name} and name in page.inner_text("#least-all")
    press(page, "A")
    page.wait_for_selector("#status:has-text('accepted; u takes all of them back')")
    assert {kind for kind, _ in marked(folder, "only", "note")} == {name}
    page.select_option("#only", other)
    press(page, "D")
    page.wait_for_selector("#status:has-text('rejected; u takes all of them back')")
    page.select_option("#only", "")
    assert page.evaluate(labels) and other not in page.evaluate(labels)
    [document] = [one for one in read(folder / "a.store", layer="only") if one.id == "note"]
    assert {kind for claim in document.meta["annotation"]["not"] for kind in claim["types"]} == {other}


def test_one_key_goes_through_all_suggestions(opened: Callable[..., Page]) -> None:
    page = opened("through", "a")
    page.evaluate(_THRESHOLD, 0)
    page.wait_for_selector("#text .b.o button", timeout=60_000)
    count = page.locator("#text .b.o button[data-l]").count()
    seen = []
    for _ in range(count + 1):
        press(page, "g")
        seen.append(page.inner_text("#detail"))
    assert len({*seen}) == count > 2 and seen[-1] == seen[0]
    press(page, "G")
    assert page.inner_text("#detail") == seen[-2]


def test_phones_dark_mode_print_and_screen_readers(opened: Callable[..., Page]) -> None:
    page = opened("phone", "note", viewport={"width": 360, "height": 700}, has_touch=True, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    press(page, "1")
    assert "in problem" in page.inner_text("#status") or page.locator("#text .b").count() > 0
    names = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea")]
            .filter((one) => !(one.innerText.trim() || one.ariaLabel || one.labels?.length || one.closest("dialog")))
            .map((one) => one.outerHTML)"""
    )
    assert names == []
    assert page.get_attribute("#text", "role") == "application" and page.get_attribute("#status", "role") == "status"
    page.emulate_media(media="print")
    assert page.is_visible("#text") and not page.is_visible("#panel")


def test_adjudication_takes_what_annotators_marked(opened: Callable[..., Page], folder: Path) -> None:
    one, other = opened("ann", "both"), opened("bea", "both")
    press(one, "1", "ArrowRight", "Escape", "ArrowRight", "2")
    press(other, "1")
    page = opened("adjudicated", "both")
    page.wait_for_selector("#text .b.o button")
    press(page, "g")
    assert "Marked by" in page.inner_text("#detail")
    page.evaluate(_THRESHOLD, 60)
    press(page, "A")
    page.wait_for_selector("#agreement:has-text('ann, bea')")
    assert page.inner_text("#problem") == ""
    assert marked(folder, "adjudicated", "both") == [("problem", "The")]
    page.evaluate(_THRESHOLD, 0)
    assert page.locator("#disagreements td").all_inner_texts() == ["ventricle: finding", "✓", "–"]
    page.click("#disagreements button")
    assert "Marked by\nann\nNot by\nbea" in page.inner_text("#detail")
    press(page, "d")
    assert page.locator("#disagreements td").count() == 0


def test_disputes_on_attributes_concepts_and_notes_are_listed(
    opened: Callable[..., Page], server: Running, folder: Path
) -> None:
    [number] = [one["number"] for one in server.client.get("api/store").json()["documents"] if one["id"] == "disputed"]
    pain = {"type": "problem", "spans": [[41, 51]]}
    for name, more in [
        ("ann", {"attributes": {"negated": True}, "concepts": ["D1"]}), ("bea", {"attributes": {"negated": True}}),
        ("cy", {"attributes": {"uncertain": "high"}, "note": "the chest?"}),
    ]:  # fmt: skip
        assert server.act(number, 0, "add", name, changes={"m:#": pain | more}).status_code == 200
    page = opened("adjudicated", "disputed")
    page.wait_for_selector("#disagreements td")
    rows = page.locator("#disagreements tr").all_inner_texts()
    assert rows == [
        "not decided\tann\tbea\tcy", "chest pain: problem, concepts\tD1\tnone\tnone",
        "chest pain: problem, negated\tyes\tyes\tnone", "chest pain: problem, note\tnone\tnone\tthe chest?",
        "chest pain: problem, uncertain\tnone\tnone\thigh",
    ]  # fmt: skip
    page.click("#disagreements button >> nth=1")
    assert "negated\nann: yes; bea: yes; cy: none" in page.inner_text("#detail")
    press(page, "a")
    assert page.locator("#disagreements td").count() == 0
    [document] = [one for one in read(folder / "a.store", layer="adjudicated") if one.id == "disputed"]
    assert [one.attributes for one in document.mentions] == [{"negated": True}]


def test_keys_work_while_a_slider_or_a_checkbox_has_the_focus(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("focus")
    page.focus("#threshold")
    press(page, "ArrowRight")  # moves the slider
    assert page.input_value("#threshold") == "51"
    press(page, "1")
    page.focus("#whole")
    press(page, "2", "Space")
    assert marked(folder, "focus") == [("finding", "The")]
    assert not page.is_checked("#whole")


def test_a_type_is_typed_before_anything_is_selected(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("fresh")
    page.fill("#type", "device")
    page.click("#typing button")
    settle(page)
    assert page.inner_text("#status") == "nothing is selected; device is the type of what you mark next"
    assert page.locator("#types button:has-text('device 0')").count() == 1
    drag(page, "left", "ventricle")
    assert marked(folder, "fresh") == [("device", "left ventricle")]


def test_an_end_within_a_word_moves_to_the_end_of_that_word(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("part")
    page.uncheck("#whole")
    drag(page, "entri", "entri")
    page.check("#whole")
    page.focus("#text")
    for key, words in zip(
        "]][[}{",
        ("entricle", "entricle is", "ventricle is", "left ventricle is", "left ventricle", "ventricle"),
        strict=True,
    ):
        press(page, key)
        assert marked(folder, "part") == [("problem", words)]


@pytest.mark.parametrize("kept", ["{", "null", "[1]", '{"x": 1}', '{"x": "word"}', '{"no command": "q"}'])
def test_invalid_keys_that_a_browser_keeps_are_reported(
    pages: Callable[..., Page], server: Running, folder: Path, kept: str
) -> None:
    page = pages(f"{server.url}?layer=broken")
    page.evaluate("kept => localStorage.setItem('spanloom-annotate-keys', kept)", kept)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert "keys of your own that this browser keeps cannot be read" in page.inner_text("#problem")
    press(page, "?")
    assert page.locator("#key-table th button[aria-label^='x: another key']").count() == 1


def test_more_suggestions_than_one_request_takes(opened: Callable[..., Page], folder: Path) -> None:
    page = opened("adjudicated", "many")
    page.wait_for_selector("#text .b.o button")
    press(page, "A")
    until(page, lambda: "11000 accepted; u takes them back in 3 steps" in page.inner_text("#status"))
    assert len(marked(folder, "adjudicated", "many")) == 11_000
    press(page, "u", "u", "u")
    assert marked(folder, "adjudicated", "many") == []


def test_axe_finds_no_violation(opened: Callable[..., Page], violations: Callable[[Page], list[str]]) -> None:
    for size in ({"width": 1200, "height": 900}, {"width": 360, "height": 700}):
        page = opened(f"axe{size['width']}", "note", viewport=size)
        press(page, "1", "ArrowRight", "2")
        page.wait_for_selector("#suggesting:not([hidden])")
        found = violations(page)
        press(page, "g", "w")
        found += violations(page)
        for key in ("h", "?"):
            press(page, key)
            page.wait_for_selector("dialog[open]")
            found += violations(page)
            press(page, "Escape")
        assert found == []
    page = opened("adjudicated", "pair")
    assert violations(page) == []
