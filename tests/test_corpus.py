"""The bundled corpus is what its guidelines say: read here line by line, without any reader of the package."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from spanloom.data import clinical

TYPES = {"anatomy", "drug", "problem", "test", "treatment"}
SPLITS = ("train", "dev", "test")
ATTRIBUTES = (["negated"], ["uncertain"], ["historical"], ["experiencer", "family"])
Span = tuple[int, int]
SENTENCES = {"train": 299, "dev": 65, "test": 78}
SHAPES = {  # mentions by number of spans, and pairs of overlapping mentions
    "train": {
        "1 spans": 703,
        "2 spans": 182,
        "3 spans": 9,
        "crossing other": 52,
        "crossing same": 131,
        "nested other": 272,
        "nested same": 20,
    },
    "dev": {
        "1 spans": 147,
        "2 spans": 51,
        "3 spans": 1,
        "crossing other": 18,
        "crossing same": 34,
        "nested other": 64,
        "nested same": 3,
    },
    "test": {
        "1 spans": 190,
        "2 spans": 63,
        "3 spans": 4,
        "crossing other": 22,
        "crossing same": 48,
        "nested other": 90,
        "nested same": 7,
    },
}


class Gold(NamedTuple):
    note: Path
    text: str
    type: str
    spans: tuple[Span, ...]
    surface: str
    head: Span
    concept: tuple[str, str] | None

    @property
    def characters(self) -> frozenset[int]:
        return frozenset(i for start, end in self.spans for i in range(start, end) if not self.text[i].isspace())


def notes(split: str) -> list[Path]:
    return sorted((clinical() / split).glob("*.txt"))


def gold(note: Path) -> Iterator[Gold]:
    text = note.read_bytes().decode("utf-8")
    mentions: dict[str, tuple[str, tuple[Span, ...], str]] = {}
    heads: dict[str, Span] = {}
    concepts: dict[str, tuple[str, str]] = {}
    attributes: list[str] = []
    for line in note.with_suffix(".ann").read_bytes().decode("utf-8").splitlines():
        if line[0] == "A":
            _, attribute = line.split("\t")
            attributes.append(attribute)
            continue
        name, middle, last = line.split("\t")
        fields = middle.split(" ", 1)
        if name[0] == "T":
            spans = tuple((int(a), int(b)) for a, b in (part.split(" ") for part in fields[1].split(";")))
            mentions[name] = (fields[0], spans, last)
        elif name[0] == "#":
            assert fields[0] == "Head"
            start, end = last.split(" ")
            heads[fields[1]] = (int(start), int(end))
        else:
            assert name[0] == "N"
            kind, target, concept = middle.split(" ")
            assert kind == "Reference"
            concepts[target] = (concept, last)
    assert set(heads) == set(mentions)
    assert set(concepts) <= set(mentions)
    assert len(set(attributes)) == len(attributes)
    for attribute in attributes:
        kind, target, *value = attribute.split(" ")
        assert target in mentions
        assert [kind, *value] in ATTRIBUTES
    for name, (kind, spans, surface) in mentions.items():
        yield Gold(note, text, kind, spans, surface, heads[name], concepts.get(name))


def sentences(note: Path) -> list[str]:
    found = []
    for line in note.read_text(encoding="utf-8").splitlines():
        if line and not line.endswith(":"):
            found += re.split(r"(?<=[.!?]) (?=[A-Z])", re.sub(r"^\d\. |(?<=Dr|Mr|Ms)\.|(?<=Mrs)\.", "", line))
    return found


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[Gold]]:
    return {split: [mention for note in notes(split) for mention in gold(note)] for split in SPLITS}


@pytest.fixture(scope="module")
def vocabulary() -> dict[str, list[str]]:
    lines = (clinical() / "vocabulary.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "id\tname\tsynonyms\tparents\tcategory"
    return {row[0]: row[1:] for row in (line.split("\t") for line in lines[1:])}


def test_counts() -> None:
    counts = {split: len(notes(split)) for split in SPLITS}
    assert counts == {"train": 25, "dev": 5, "test": 6}
    assert {split: sum(len(sentences(note)) for note in notes(split)) for split in SPLITS} == SENTENCES
    words = sum(len(re.findall(r"\w+|[^\w\s]", n.read_text(encoding="utf-8"))) for s in SPLITS for n in notes(s))
    assert 4500 <= words <= 6500


def test_each_split_has_every_note_type_and_mention_type(corpus: dict[str, list[Gold]]) -> None:
    for split in SPLITS:
        assert {note.stem.rsplit("-")[0] for note in notes(split)} == {"discharge", "ecg", "echo", "radiology"}
        assert {mention.type for mention in corpus[split]} == TYPES


def test_notes_are_in_one_split_and_share_no_sentence() -> None:
    files = [note for split in SPLITS for note in notes(split)]
    assert len({note.name for note in files}) == len(files)
    owners: dict[str, set[str]] = {}
    for note in files:
        for sentence in sentences(note):
            owners.setdefault(sentence.lower(), set()).add(note.stem)
    for sentence in sentences(clinical() / "sample.txt"):
        owners.setdefault(sentence.lower(), set()).add("sample")
    assert {sentence: names for sentence, names in owners.items() if len(names) > 1} == {}


def test_files_are_utf8_with_line_feeds_and_an_end() -> None:
    files = [path for path in clinical().rglob("*") if path.is_file()]
    for path in files:
        content = path.read_bytes()
        assert content.endswith(b"\n"), path
        assert not re.search(rb"\r|\x00|^\xef\xbb\xbf|\n\n\n| \n", content), path
    text = "".join(note.read_text(encoding="utf-8") for split in SPLITS for note in notes(split))
    assert set("µ°±é×²") <= set(text)


def test_spans_say_what_they_cover_and_cut_no_word(corpus: dict[str, list[Gold]]) -> None:
    for mention in [mention for mentions in corpus.values() for mention in mentions]:
        text, spans = mention.text, mention.spans
        where = f"{mention.note.name}: {mention.surface}"
        assert " ".join(text[start:end] for start, end in spans) == mention.surface, where
        assert all(start < end and text[start:end] == text[start:end].strip() for start, end in spans), where
        assert "\n" not in mention.surface, where
        for (_, end), (start, _) in pairwise(spans):
            assert end < start, where
            assert text[end:start].strip(), where
        for start, end in (*spans, mention.head):
            assert not re.fullmatch(r"\w\w", text[max(start - 1, 0) : start + 1]), where
            assert not re.fullmatch(r"\w\w", text[end - 1 : end + 1]), where


def test_a_head_is_one_word_inside_its_mention(corpus: dict[str, list[Gold]]) -> None:
    for mention in [mention for mentions in corpus.values() for mention in mentions]:
        start, end = mention.head
        assert any(first <= start < end <= last for first, last in mention.spans), mention
        assert re.fullmatch(r"\w+'?", mention.text[start:end]), mention


def test_no_mention_stands_twice(corpus: dict[str, list[Gold]]) -> None:
    counts = Counter((m.note, m.type, m.spans) for mentions in corpus.values() for m in mentions)
    assert max(counts.values()) == 1


def test_a_mention_lies_within_a_line(corpus: dict[str, list[Gold]]) -> None:
    for mention in [mention for mentions in corpus.values() for mention in mentions]:
        assert "\n" not in mention.text[mention.spans[0][0] : mention.spans[-1][1]], mention


def test_discontiguous_nested_and_crossing_mentions(corpus: dict[str, list[Gold]]) -> None:
    shapes: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
    for split, mentions in corpus.items():
        count = shapes[split]
        count.update(f"{len(mention.spans)} spans" for mention in mentions)
        by_note: dict[Path, list[Gold]] = {}
        for mention in mentions:
            by_note.setdefault(mention.note, []).append(mention)
        for together in by_note.values():
            for one, other in combinations(together, 2):
                a, b = one.characters, other.characters
                if a & b:
                    same = "same" if one.type == other.type else "other"
                    count[f"{'nested' if a <= b or b <= a else 'crossing'} {same}"] += 1
    assert {split: dict(sorted(count.items())) for split, count in shapes.items()} == SHAPES


def test_vocabulary_is_named_and_without_cycles(vocabulary: dict[str, list[str]]) -> None:
    assert list(vocabulary) == [f"SPL:{i:04d}" for i in range(1, len(vocabulary) + 1)]
    names = [(category, name) for name, _, _, category in vocabulary.values()]
    assert len(set(names)) == len(names)
    assert {category for category, _ in names} == {"anatomy", "problem", "treatment"}
    parents = {concept: [p for p in row[2].split("|") if p] for concept, row in vocabulary.items()}
    for concept, (name, synonyms, _, category) in vocabulary.items():
        terms = [term.lower() for term in (name, *synonyms.split("|"))]
        assert len(set(terms)) == len(terms), concept
        assert all(vocabulary[parent][3] == category for parent in parents[concept]), concept
    list(TopologicalSorter(parents).static_order())  # raises where a concept is above itself


def test_concepts_are_in_the_vocabulary_under_their_name(
    corpus: dict[str, list[Gold]], vocabulary: dict[str, list[str]]
) -> None:
    linkable = [m for mentions in corpus.values() for m in mentions if m.type not in {"drug", "test"}]
    linked = [mention for mention in linkable if mention.concept]
    assert len(linked) > 0.9 * len(linkable)
    for mention in linked:
        assert mention.concept is not None
        concept, name = mention.concept
        assert vocabulary[concept][0] == name
        assert vocabulary[concept][3] == mention.type, mention
