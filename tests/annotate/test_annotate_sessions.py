"""Thirty notes annotated on the page, once by mouse and once by keys, corrected, exported to brat, and read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest
from annotate_helpers import Running, running
from page_helpers import press, settle
from playwright.sync_api import Page

from spanloom import Document, Mention, read, write
from spanloom.annotate.history import events
from spanloom.attributes import ATTRIBUTES
from spanloom.cli import annotate
from spanloom.cli.data_verbs import Annotate
from spanloom.data import clinical
from spanloom.formats.store import Store
from spanloom.text import prepare

TYPES = ("problem", "anatomy", "test", "treatment", "drug")
COUNT = 30
Range = tuple[int, int]
# the middle of the first and of the last character of a range, and their outer edges
_ENDS = """async ([start, end]) => {
    const { state } = await import("/static/drawing.js");
    const box = (place) => {
        const { low, paragraph } = state.blocks.find((one) => one.low <= place && place < one.high);
        const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
        let from = low;
        for (let node = walker.nextNode(); node; from += node.data.length, node = walker.nextNode()) {
            if (place >= from + node.data.length) continue;
            const range = document.createRange();
            range.setStart(node, place - from);
            range.setEnd(node, place - from + 1);
            return range.getBoundingClientRect();
        }
    };
    const [first, last] = [box(start), box(end - 1)];
    return [first.left, (first.top + first.bottom) / 2, last.right, (last.top + last.bottom) / 2];
}"""


class Part(NamedTuple):
    """A sentence of a note, and the mentions in it."""

    document: Document
    tokens: list[Range]

    def words(self, span: Range) -> tuple[int, int]:
        """The first and the last token of a span."""
        return [start for start, _ in self.tokens].index(span[0]), [end for _, end in self.tokens].index(span[1])


def part_of(note: Document) -> Part:
    """The sentence that shows the most kinds of mentions, and of these the one with the fewest."""
    whole = prepare(note)
    assert whole.tokens is not None and whole.sentences is not None
    tokens, sentences = whole.tokens.tolist(), whole.sentences.tolist()
    edges = {*chain.from_iterable(tokens)}
    parts = []
    for first, last in sentences:
        low, high = tokens[first][0], tokens[last - 1][1]
        inside = [one for one in whole.mentions if low <= one.start and one.end <= high]
        if any(place not in edges for one in inside for span in one.spans for place in span):
            continue  # keys go by words
        pairs = list(combinations(inside, 2))
        gap = any(len(one.spans) > 1 for one in inside)
        nested = any(one.start <= other.start and other.end <= one.end for one, other in pairs)
        crossing = any(one.start < other.start < one.end < other.end for one, other in pairs)
        given = any(one.attributes for one in inside)
        parts.append((gap + nested + crossing + given, -len(inside), low, high, inside))
    _, _, low, high, inside = max(parts, key=lambda one: one[:2])
    moved = [
        Mention(one.type, [(start - low, end - low) for start, end in one.spans], attributes=one.attributes)
        for one in sorted(inside, key=lambda one: (one.start, -one.end, one.type))
    ]
    cut = prepare(Document(note.text[low:high], note.id, mentions=moved))
    assert cut.tokens is not None
    return Part(cut, [(start, end) for start, end in cut.tokens.tolist()])


@pytest.fixture(scope="module")
def parts() -> list[Part]:
    notes = chain.from_iterable(read(clinical() / name) for name in ("train", "dev", "test"))
    found = [part_of(note) for note, _ in zip(notes, range(COUNT), strict=False)]
    mentions = [one.document.mentions for one in found]
    pairs = [pair for one in mentions for pair in combinations(one, 2)]
    assert sum(len(one.spans) > 1 for one in chain(*mentions)) > 40
    assert sum(one.start < other.start < one.end < other.end for one, other in pairs) > 10
    assert sum(bool(one.attributes) for one in chain(*mentions)) > 20
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions")


@pytest.fixture(scope="module")
def server(folder: Path, parts: list[Part]) -> Iterator[Running]:
    write([Document(one.document.text, one.document.id) for one in parts], folder / "notes.jsonl")
    with running(folder / "notes.jsonl", output=str(folder / "a.store"), types=list(TYPES)) as found:
        yield found


class Hand(Protocol):
    """Somebody at the page, by mouse or by keys; spans are those of words."""

    def mark(self, part: Part, type: str, span: Range) -> list[str]: ...  # the actions that it takes
    def add(self, part: Part, span: Range) -> None: ...
    def grow(self, part: Part, number: int, span: Range) -> None: ...  # the last part of some, by a word
    def shrink(self, part: Part, number: int, span: Range) -> None: ...  # away
    def retype(self, type: str) -> None: ...
    def do(self, name: str) -> None: ...  # remove, undo, redo
    def field(self, place: int, text: str) -> None: ...  # an attribute; -1 for the note
    def finish(self) -> None: ...


class Mouse:
    def __init__(self, page: Page) -> None:
        self.page, self.mouse = page, page.mouse

    def _drag(self, span: Range, key: str = "") -> None:
        left, top, right, bottom = self.page.evaluate(_ENDS, span)
        if key:
            self.page.keyboard.down(key)
        self._move((left + 0.4, top), (right - 0.4, bottom))
        if key:
            self.page.keyboard.up(key)
        settle(self.page)

    def _move(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        self.mouse.move(*begin)
        self.mouse.down()
        self.mouse.move(*end)
        self.mouse.up()

    def _click(self, where: str) -> None:
        self.page.click(where)
        settle(self.page)

    def mark(self, part: Part, type: str, span: Range) -> list[str]:
        self._drag(span)
        if self.page.inner_text("#detail dd >> nth=0") == type:
            return ["add"]
        self.retype(type)
        return ["add", "change"]

    def add(self, part: Part, span: Range) -> None:
        self._drag(span, "Control")

    def _handle(self, number: int, side: int, to: tuple[float, float]) -> None:
        box = self.page.locator(f".grip[data-part='{number}'][data-side='{side}']").bounding_box()
        assert box is not None
        self._move((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2), to)
        settle(self.page)

    def grow(self, part: Part, number: int, span: Range) -> None:
        _, _, right, bottom = self.page.evaluate(_ENDS, span)
        self._handle(number, 1, (right - 0.4, bottom))

    def shrink(self, part: Part, number: int, span: Range) -> None:
        left, top, _, _ = self.page.evaluate(_ENDS, span)
        self._handle(number, 1, (left - 2, top))

    def retype(self, type: str) -> None:
        self._click(f"#types button:has-text('{type}')")

    def do(self, name: str) -> None:
        self._click(f"#{name}")

    def field(self, place: int, text: str) -> None:
        field = f"#attribute{place or ''}" if place >= 0 else "#note"
        self.page.click(field)
        self.page.keyboard.type(text)
        with self.page.expect_response("**/api/act"):
            self.page.click("#detail h2 >> nth=0")  # leaves the field
        settle(self.page)

    def finish(self) -> None:
        self._click("#finish")
        self.page.click("#finish-all")


class Keys:
    def __init__(self, page: Page) -> None:
        self.page, self.token = page, 0

    def _go(self, token: int, shift: bool = False) -> None:
        way = "ArrowRight" if token > self.token else "ArrowLeft"
        for _ in range(abs(token - self.token)):
            self.page.keyboard.press(f"Shift+{way}" if shift else way)
        self.token = token

    def _select(self, part: Part, span: Range) -> None:
        first, last = part.words(span)
        self._go(first)
        self._go(last, shift=True)

    def mark(self, part: Part, type: str, span: Range) -> list[str]:
        press(self.page, "Escape")
        self._select(part, span)
        press(self.page, str(TYPES.index(type) + 1))
        return ["add"]

    def add(self, part: Part, span: Range) -> None:
        self._select(part, span)
        press(self.page, "p")

    def grow(self, part: Part, number: int, span: Range) -> None:
        self._go(part.words(span)[1] - 1)
        press(self.page, "]")

    def shrink(self, part: Part, number: int, span: Range) -> None:
        self._go(part.words(span)[1])
        press(self.page, "}")

    def retype(self, type: str) -> None:
        press(self.page, str(TYPES.index(type) + 1))

    def do(self, name: str) -> None:
        press(self.page, {"remove": "x", "undo": "u", "redo": "y"}[name])

    def field(self, place: int, text: str) -> None:
        press(self.page, *(["e", *["Tab"] * place] if place >= 0 else ["n"]))
        self.page.keyboard.type(text)
        press(self.page, "Escape")

    def finish(self) -> None:
        press(self.page, "f", "F")
        self.token = 0


def annotate_part(hand: Hand, part: Part, before: int) -> list[str]:
    """Mark what is meant, with detours; return the kinds of the actions."""
    done: list[str] = []
    for count, one in enumerate(part.document.mentions, before):
        spans = [(start, end) for start, end in one.spans]
        first, last = part.words(spans[-1])
        short = count % 3 == 0 and first < last  # the last word is added later
        begun = [*spans[:-1], (spans[-1][0], part.tokens[last - 1][1])] if short else spans
        wrong = TYPES[(TYPES.index(one.type) + 1) % len(TYPES)] if count % 5 == 0 else one.type
        done += hand.mark(part, wrong, begun[0])
        for span in begun[1:]:
            hand.add(part, span)
            done.append("change")
        if short:
            hand.grow(part, len(spans) - 1, spans[-1])
            done.append("change")
        if wrong != one.type:
            hand.retype(one.type)
            done.append("change")
        if count % 4 == 1 and last + 2 < len(part.tokens):  # a part too many
            extra = part.tokens[last + 2]
            hand.add(part, extra)
            hand.shrink(part, len(spans), extra)
            done += ["change", "change"]
        for name, value in sorted(one.attributes.items()):
            hand.field(list(ATTRIBUTES).index(name), "yes" if value is True else str(value))
            done.append("change")
        if count % 6 == 0:
            hand.field(-1, f"<b>{one.type}</b>; sure?")
            done.append("change")
        if count % 7 == 3:
            for name in ("remove", "undo", "redo", "undo"):
                hand.do(name)
                done.append(name)
    return done


def by_sets(mentions: list[Mention]) -> set[tuple[object, ...]]:
    return {(one.key, *sorted(one.attributes.items())) for one in mentions}


@pytest.mark.parametrize("kind", [Mouse, Keys])
def test_thirty_notes(
    kind: Callable[[Page], Hand], opened: Callable[..., Page], folder: Path, parts: list[Part]
) -> None:
    layer = kind.__name__
    page = opened(layer, parts[0].document.id)
    hand, count, done = kind(page), 0, list[list[str]]()
    for number, part in enumerate(parts, 1):
        page.wait_for_selector(f"body[data-shown='{number}'] #text .cur")
        settle(page)
        done.append([*annotate_part(hand, part, count), "finish", "finish"])
        count += len(part.document.mentions)
        hand.finish()
    page.wait_for_selector("#status:has-text('all documents are finished')")
    assert page.inner_text("#progress").startswith("30 of 30 documents")

    annotate.run(
        Annotate(
            data=str(folder / "a.store"), export=str(folder / layer), output_format="brat", layer=layer, quiet=True
        )
    )
    back = {one.id: one for one in read(folder / layer)}
    assert list(back) == sorted(one.document.id for one in parts)
    for part in parts:
        found = back[part.document.id]
        assert found.text == part.document.text
        assert len(found.mentions) == len(part.document.mentions)
        assert by_sets(found.mentions) == by_sets(part.document.mentions)

    stored = {one.id: one for one in read(folder / "a.store", layer=layer)}
    assert all(one.meta["annotation"] == "complete" for one in stored.values())
    notes = [note["note"] for one in stored.values() for note in one.meta.get("notes", [])]
    assert len(notes) == len(range(0, count, 6)) and all(note.startswith("<b>") for note in notes)
    with Store(folder / "a.store") as store:
        for number, expected in enumerate(done, 1):
            assert [one.kind for one in store.actions(number, layer)] == expected
        history = list(events(store, layer=layer))
        assert {one.author for one in history} == {layer} and len({one.number for one in history}) == sum(
            map(len, done)
        )
