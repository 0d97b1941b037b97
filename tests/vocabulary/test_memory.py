"""The memory of training mentions: what is counted, what is found, and that it is saved whole."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.errors import ModelError
from spanloom.vocabulary import Concept, Vocabulary
from spanloom.vocabulary.memory import Memory

VOCABULARY = Vocabulary.build(
    [
        Concept("MESH:D006333", "Heart Failure"),
        Concept("MESH:D009203", "Myocardial Infarction", alternatives=("OMIM:1",)),
        Concept("MESH:D006973", "Hypertension"),
    ]
)


def document(text: str, *mentions: tuple[str, str, tuple[str, ...]]) -> Document:
    found = [
        Mention(type, [(text.index(words), text.index(words) + len(words))], concepts=concepts)
        for words, type, concepts in mentions
    ]
    return Document(text, mentions=found)


def memory() -> Memory:
    documents = [
        document(
            "Congestive  heart failure (CHF) and heart attack; CHF again.",
            ("Congestive  heart failure", "Disease", ("MESH:D006333",)),
            ("CHF)", "Disease", ()),
            ("heart attack", "Disease", ("OMIM:1",)),
        ),
        document("Heart Attack and fits", ("Heart Attack", "Disease", ("D009203", "MESH:D006333")),
                 ("fits", "Disease", ("MESH:X1",))),
        document("Severe MI", ("MI", "Gene", ("MESH:D009203",))),
    ]  # fmt: skip
    return Memory.build(documents, VOCABULARY, types={"Disease"})


def test_what_is_counted() -> None:
    found = memory()
    assert found.counts == {
        "Congestive heart failure": {(0,): 1},
        "heart attack": {(1,): 1},
        "Heart Attack": {(0, 1): 1},
    }
    assert found.unknown == {"MESH:X1": 1}
    assert found.readings("HEART  attack") == [((0, 1), 1), ((1,), 1)]
    assert found.readings("fits") == []
    assert found.rows.texts == ["Congestive heart failure", "Heart Attack", "Heart Attack", "heart attack"]
    assert found.rows.concept.tolist() == [0, 0, 1, 1]


def test_abbreviations_are_remembered_in_both_forms() -> None:
    one = document("CHF, that is congestive heart failure (CHF).", ("CHF", "Disease", ("MESH:D006333",)))
    assert Memory.build([one], VOCABULARY).counts == {"CHF": {(0,): 1}, "congestive heart failure": {(0,): 1}}


def test_all_types_unless_told() -> None:
    assert len(Memory.build([document("Severe MI", ("MI", "Gene", ("MESH:D009203",)))], VOCABULARY)) == 1


def test_synonyms_share_a_concept_and_differ() -> None:
    assert memory().synonyms("heart attack") == ["Congestive heart failure"]


def test_saved_whole() -> None:
    found = memory()
    again = Memory.from_arrays(found.arrays(), len(VOCABULARY))
    assert (again.counts, again.unknown) == (found.counts, found.unknown)
    empty = Memory.from_arrays(Memory({}).arrays(), 0)
    assert (len(empty), empty.rows.texts, empty.readings("x")) == (0, [], [])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("text", lambda a: a + 9),
        ("concepts", lambda a: a - 1),
        ("ptr", lambda a: a[:-1]),
        ("ptr", lambda a: a[::-1].copy()),
        ("ptr", lambda a: a * 0),
        ("counts", lambda a: a * 0),
        ("counts", lambda a: a[:-1]),
        ("counts", lambda a: a.astype(np.float32)),
        ("unknown.counts", lambda a: a[:0]),
        ("texts.text", lambda a: a + np.uint8(128)),
    ],
)
def test_damage_is_refused(name: str, change) -> None:
    arrays = memory().arrays()
    with pytest.raises(ModelError, match=name.split(".")[0]):
        Memory.from_arrays({**arrays, name: change(arrays[name])}, len(VOCABULARY))
    del arrays[name]
    with pytest.raises(ModelError, match=name):
        Memory.from_arrays(arrays, len(VOCABULARY))


def test_concepts_of_a_larger_vocabulary_are_refused() -> None:
    with pytest.raises(ModelError, match="concepts"):
        Memory.from_arrays(memory().arrays(), 1)
