"""The page on formats says what each holds: the table is made here, from what comes back and from what is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import SpanloomError
from spanloom.formats import FORMATS, read, write

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
TOKENS = [(0, 4), (5, 7), (8, 14), (15, 19), (19, 20), (21, 23), (24, 29), (29, 30)]
PLAIN = Document("Mild or severe pain. No fever.", id="n1", tokens=TOKENS, sentences=[[0, 5], [5, 8]])
NESTED = [Mention("x", [(8, 19)]), Mention("y", [(15, 19)])]


def with_mention(**changes: object) -> Document:
    return PLAIN.copy(mentions=[Mention("x", [(8, 19)], **changes)])  # type: ignore[arg-type]


def mentions(document: Document) -> object:
    return [mention.key for mention in document.mentions]


def concepts(document: Document) -> object:
    return [mention.concepts for mention in document.mentions]


# what is held -> a document that has it, and what must come back
PROBES = {
    "nested": (PLAIN.copy(mentions=NESTED), mentions),
    "gaps": (PLAIN.copy(mentions=[Mention("x", [(0, 4), (15, 19)])]), mentions),
    "concept": (with_mention(concepts=["C:1"]), lambda one: [mention.concepts for mention in one.mentions]),
    "several concepts": (
        with_mention(concepts=["C:1", "C:2"]),
        lambda one: [mention.concepts for mention in one.mentions],
    ),
    "score": (with_mention(score=0.25), lambda one: [mention.score for mention in one.mentions]),
    "head": (with_mention(head=(15, 19)), lambda one: [mention.head for mention in one.mentions]),
    "attributes": (
        with_mention(attributes={"negated": True, "certainty": "high"}),
        lambda one: [mention.attributes for mention in one.mentions],
    ),
    "attribute scores": (
        with_mention(attributes={"negated": True}, attribute_scores={"negated": 0.75}),
        lambda one: [mention.attribute_scores for mention in one.mentions],
    ),
    "mention id": (with_mention(id="T1"), lambda one: [mention.id for mention in one.mentions]),
    "document id": (PLAIN, lambda one: one.id),
    "tokens": (PLAIN, lambda one: None if one.tokens is None else one.tokens.tolist()),
    "sentences": (PLAIN, lambda one: None if one.sentences is None else one.sentences.tolist()),
    "pos": (PLAIN.copy(columns={"pos": [*"abcdefgh"]}), lambda one: one.columns.get("pos")),
    "other columns": (PLAIN.copy(columns={"my": [*"abcdefgh"]}), lambda one: one.columns.get("my")),
    "sections": (PLAIN.copy(sections=[("plan", (0, 20))]), lambda one: one.sections),
    "meta": (PLAIN.copy(meta={"ward": "A"}), lambda one: one.meta.get("ward")),
}


def holds(folder: Path, name: str, probe: str) -> bool:
    """Return whether something comes back from a format; what does not must have been counted."""
    document, look = PROBES[probe]
    kind = FORMATS[name]
    path = folder / f"{probe}{'' if kind.folders else kind.suffixes[0]}"
    options = {"texts": folder / "texts.jsonl"} if kind.texts_beside else {}
    if options:
        write([PLAIN.copy(tokens=None, sentences=None)], options["texts"], force=True)
    try:
        losses = write([document], path, format=name)
        [found] = read(path, format=name, notice=lambda _: None, **options)
    except SpanloomError:
        return False
    same = look(found) == look(document)
    counted = bool(losses.counts) or probe == "document id"  # a text's name is that of its file
    assert same or counted, f"{name} loses {probe} without a word"
    return same


def rows(folder: Path) -> list[str]:
    held = {name: [probe for probe in PROBES if holds(folder / name, name, probe)] for name in made(folder)}
    whole = [name for name, probes in held.items() if len(probes) == len(PROBES)]
    some = {probe: [name for name in held if probe in held[name] and name not in whole] for probe in PROBES}
    some["`.gz`"] = [name for name, kind in FORMATS.items() if kind.packs]
    shown = [f"{', '.join(f'`{name}`' for name in whole)} hold everything.", "", "| what | also held by |", "|---|---|"]
    return shown + [f"| {what} | {' '.join(f'`{name}`' for name in names) or 'none'} |" for what, names in some.items()]


def made(folder: Path) -> list[str]:
    for name in FORMATS:
        (folder / name).mkdir()
    return [*FORMATS]


def test_the_page_says_what_each_format_holds(tmp_path: Path) -> None:
    table = "\n".join(rows(tmp_path))
    assert table in PAGE.read_text(encoding="utf-8"), f"the table should be\n{table}"


@pytest.mark.parametrize("name", FORMATS)
def test_the_page_names_each_format_and_its_endings(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("| name |") :].partition("\n\n")[0]
    [row] = [row for row in table.splitlines() if f"`{name}`" in row.split("|")[1]]
    assert all(f"`{suffix}`" in row for suffix in FORMATS[name].suffixes)
