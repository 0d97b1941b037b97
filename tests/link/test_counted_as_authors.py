"""What the record of linking counts as the program of Lou et al. (2017) does, and its table of all answers."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np

from spanloom import Document, Mention
from spanloom.link.proposals import Proposer
from spanloom.text import prepare
from spanloom.vocabulary import Concept, Vocabulary

PLACE = Path(__file__).parents[2] / "benchmarks" / "linking_tables.py"
SPEC = importlib.util.spec_from_file_location("linking_tables", PLACE)
assert SPEC is not None and SPEC.loader is not None
tables = sys.modules["linking_tables"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tables)
VOCABULARY = Vocabulary.build(
    [Concept("D:1", "fever"), Concept("D:2", "pain", ("ache",)), Concept("D:3", "chest pain")]
)
TEXT = "Fever and chest pain. The fever was worse. No ache."


def marked(*mentions: tuple[str, int, str]) -> Document:
    """The text with mentions: words, which occurrence of them, concept."""
    found = []
    for words, which, concept in mentions:
        start = -1
        for _ in range(which):
            start = TEXT.index(words, start + 1)
        concepts = (concept,) if concept else ()
        found.append(Mention("Disease", [(start, start + len(words))], concepts=concepts))
    return prepare(Document(TEXT, mentions=found))


GOLD = marked(("Fever", 1, "D:1"), ("chest pain", 1, "D:3"), ("fever", 1, "D:1"), ("ache", 1, "D:2"))


def test_a_string_and_a_concept_count_once_their_sentence_has_them() -> None:
    found = marked(
        ("Fever", 1, "D:3"),  # its string is there, and the concept, of another mention of the sentence
        ("pain", 1, "D:3"),  # other boundaries: the string is not there, the concept is
        ("fever", 1, "D:2"),  # the concept is that of another sentence
        ("ache", 1, ""),  # no concept
        ("worse", 1, "D:1"),  # the concept of another mention of its sentence
    )
    assert [*tables.right(found, GOLD, VOCABULARY)] == [
        (True, True), (False, True), (True, False), (True, False), (False, True),
    ]  # fmt: skip
    # 3 and 3 of 5 predicted, of 4 gold mentions
    assert tables.as_authors([GOLD], [found], VOCABULARY) == ["60.0", "75.0", "66.7", "60.0", "75.0", "66.7"]


def test_nothing_found_and_nothing_to_find() -> None:
    assert tables.as_authors([GOLD], [marked()], VOCABULARY) == ["0.0"] * 6
    assert tables.as_authors([marked()], [marked()], VOCABULARY) == ["0.0"] * 6


def test_candidates_of_the_table_are_those_of_just_this_string() -> None:
    before = Proposer._found
    gold = [GOLD, marked(("chest pain", 1, "D:2"))]
    proposer = Proposer.__new__(Proposer)
    object.__setattr__(proposer, "most", 10)
    with tables.oracle(gold, VOCABULARY):
        texts = ["chest pain", "Chest pain", "pain", "fever", "Fever", "pain"]
        found, which = proposer._found(texts, None, None, None, None)  # type: ignore[arg-type]
    assert Proposer._found is before
    concepts = [[VOCABULARY[number].id for number in found[at].concept] for at in which]
    assert concepts == [["D:3", "D:2"], [], ["D:2"], ["D:1"], ["D:1"], ["D:2"]]
    assert all(np.array_equal(entry.similarity, np.ones(len(entry.concept))) for entry in found)


def test_precision_by_the_words_of_a_mention() -> None:
    pipeline = marked(("Fever", 1, ""), ("pain", 1, ""), ("fever was worse. No ache", 1, ""))
    joint = marked(("fever", 1, ""), ("chest pain", 1, ""))
    assert tables.by_length([GOLD], [[pipeline], [joint]]) == [
        ["1", "2", "50.0", "1", "100.0"],
        ["2", "0", "0.0", "1", "100.0"],
        ["5 and more", "1", "0.0", "0", "0.0"],
    ]
