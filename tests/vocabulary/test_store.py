"""The store: numbers, names, identifiers; what is merged, noted or refused; the same after saving and opening."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.data import clinical
from spanloom.errors import DataError, ModelError, UsageError
from spanloom.vocabulary import Concept, Vocabulary, read_concepts, read_vocabulary

HEART = Concept("x:1", "heart", ("cor", "Herz"), ("MIM:1",), ("x:2",), "A pump.", "organ")
ORGAN = Concept("x:2", "organ")


def notes(*concepts: Concept) -> dict[str, tuple[int, tuple[str, ...]]]:
    return {note.kind: (note.count, note.examples) for note in Vocabulary.build(concepts).notes}


def test_numbers_and_names() -> None:
    vocabulary = Vocabulary.build([HEART, ORGAN])
    assert (len(vocabulary), vocabulary.concepts[1], vocabulary[-1], vocabulary[:1]) == (
        2,
        ORGAN,
        ORGAN,
        [vocabulary[0]],
    )
    assert vocabulary[0] == Concept("x:1", "heart", ("cor", "Herz"), ("OMIM:1",), ("x:2",), "A pump.", "organ")
    assert vocabulary.names == ["heart", "cor", "Herz", "organ"]
    assert (vocabulary.name_concept.tolist(), vocabulary.name_concept.dtype) == ([0, 0, 0, 1], np.int32)
    assert (vocabulary.name_ends.tolist(), vocabulary.notes) == ([3, 4], ())
    with pytest.raises(IndexError):
        vocabulary[2]


def test_identifiers_are_found_in_any_form() -> None:
    vocabulary = Vocabulary.build([Concept("d003920", "diabetes", (), ("mim:1",)), Concept("MESH:D000001", "b")])
    assert [vocabulary.find(text) for text in ("MESH:D003920", "D003920", "mesh:d003920", "OMIM:1")] == [0, 0, 0, 0]
    assert [vocabulary.find(text) for text in ("D000001", "D000002", "-1", "")] == [1, -1, -1, -1]


def test_cleaning() -> None:
    concept = Concept(
        " x:1 ", " left\t heart\n", ("left heart", "", "a  b", "a b"), ("x:1", "y:1", "y:1", " "), ("", "z")
    )
    assert Vocabulary.build([concept])[0] == Concept("x:1", "left heart", ("a b",), ("y:1",), ("z",))


def test_the_same_concept_twice_is_kept_once() -> None:
    first, again = Concept("D000001", "a", ("b",)), Concept("MESH:D000001", "a", (" b",))
    assert len(Vocabulary.build([first, ORGAN, again])) == 2
    assert notes(first, ORGAN, again) == {
        "concepts that occur twice with the same content, kept once": (1, ("MESH:D000001",))
    }


@pytest.mark.parametrize(
    ("concepts", "message"),
    [
        ([], "found no concept, expected at least one"),
        ([Concept("", "heart")], r"found a concept without an id \('heart'\)"),
        (
            [Concept("D000001", "a"), Concept("MESH:D000001", "b")],
            "found the id 'MESH:D000001' twice, with different valu",
        ),
        ([HEART, Concept("x:1", "heart")], "different values of synonyms"),
        ([Concept("x:1", "a\0b")], "found a NUL character in the concept 'x:1'"),
        ([Concept("x:1", "a", ("\ud800",))], "found half of a surrogate pair in the concept 'x:1'"),
    ],
)
def test_what_is_refused(concepts, message) -> None:
    with pytest.raises(DataError, match=message) as caught:
        Vocabulary.build(concepts)
    assert "\n" not in str(caught.value)


def test_a_name_of_several_concepts() -> None:
    concepts = [Concept("1", "cold", ("C",)), Concept("2", "common cold", ("cold",)), Concept("3", "cold")]
    assert notes(*concepts) == {"names of several concepts": (1, ("'cold'",))}
    vocabulary = Vocabulary.build(concepts)
    found = [number for name, number in zip(vocabulary.names, vocabulary.name_concept, strict=True) if name == "cold"]
    assert found == [0, 1, 2]


def test_an_alternative_that_is_another_concepts_own() -> None:
    concepts = Concept("1", "a", (), ("2",)), Concept("2", "b")
    assert notes(*concepts) == {"alternative identifiers that are another concept's own, which they mean": (1, ("2",))}
    assert Vocabulary.build(concepts).find("2") == 1


def test_an_alternative_of_several_concepts() -> None:
    concepts = Concept("1", "a", (), ("x",)), Concept("2", "b", (), ("y", "x")), Concept("3", "c", (), ("y",))
    expected = {"alternative identifiers of several concepts, which mean the first": (2, ("x", "y"))}
    assert notes(*concepts) == expected
    assert [Vocabulary.build(concepts).find(text) for text in "xy"] == [0, 1]


def test_parents_that_are_missing_or_go_round() -> None:
    missing, circle = "parents that are not in the vocabulary", "parents that close a circle"
    assert notes(Concept("1", "a", parents=("9",))) == {missing: (1, ("9",))}
    assert notes(Concept("1", "a", parents=("1",))) == {circle: (1, ("1",))}
    a, b, c = Concept("1", "a", parents=("2",)), Concept("2", "b", parents=("3",)), Concept("3", "c", parents=("1",))
    assert notes(a, b, c, Concept("4", "d", parents=("1",))) == {circle: (1, ("3",))}
    # two ways to the same parent are no circle
    assert notes(Concept("1", "a", parents=("2", "3")), Concept("2", "b", parents=("3",)), Concept("3", "c")) == {}


def test_a_very_long_chain_of_parents() -> None:
    chain = [Concept(f"x:{n}", f"n{n}", parents=(f"x:{n + 1}",)) for n in range(20_000)]
    assert set(notes(*chain)) == {"parents that are not in the vocabulary"}


@given(st.lists(st.lists(st.integers(0, 6), max_size=3), min_size=1, max_size=7))
def test_without_the_closing_links_no_walk_is_endless(parents) -> None:
    concepts = [Concept(f"x:{n}", "a", parents=tuple(f"x:{p}" for p in several)) for n, several in enumerate(parents)]
    numbers = [{p for p in several if p < len(parents)} for several in parents]
    above: list[set[int]] = [set(several) for several in numbers]
    for _ in parents:
        above = [several.union(*(above[p] for p in several)) for several in above]
    circles = any(n in above[n] for n in range(len(parents)))
    assert ("parents that close a circle" in notes(*concepts)) == circles


TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=6)
CONCEPTS = st.lists(
    st.builds(
        Concept, st.just(""), TEXT.filter(str.strip), *[st.lists(TEXT, max_size=3).map(tuple)] * 3, TEXT, TEXT
    ),
    min_size=1,
    max_size=5,
).map(lambda concepts: [
    Concept(f"x:{n}", c.name, c.synonyms, c.alternatives, c.parents, c.definition, c.category)
    for n, c in enumerate(concepts)
])  # fmt: skip


@given(CONCEPTS)
def test_arrays_there_and_back(concepts) -> None:
    vocabulary = Vocabulary.build(concepts)
    again = Vocabulary.from_arrays(vocabulary.arrays(), vocabulary.notes)
    assert (list(again), again.names, again.notes) == (list(vocabulary), vocabulary.names, vocabulary.notes)
    assert again.name_concept.tolist() == [n for n, c in enumerate(vocabulary) for _ in c.names]
    names = [name for concept in vocabulary for name in concept.names]
    assert again.names == names
    for concept in concepts:
        assert again[again.find(concept.id)].id == concept.id


def test_save_and_open(tmp_path) -> None:
    vocabulary = read_vocabulary(clinical() / "vocabulary.tsv")
    vocabulary.save(tmp_path / "index")
    opened = Vocabulary.open(tmp_path / "index")
    assert (list(opened), opened.notes, opened.counts()) == (list(vocabulary), vocabulary.notes, vocabulary.counts())
    assert list(opened) == read_concepts(clinical() / "vocabulary.tsv")
    assert list(read_vocabulary(tmp_path / "index")) == list(vocabulary)
    opened.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "index" / name).read_bytes()
    with pytest.raises(UsageError, match="is there already"):
        vocabulary.save(tmp_path / "index")
    Vocabulary.build([ORGAN]).save(tmp_path / "index", force=True)
    assert list(Vocabulary.open(tmp_path / "index")) == [ORGAN]


def test_a_large_vocabulary_opens_faster_than_it_is_built(tmp_path) -> None:
    names = 7
    concepts = [
        Concept(f"MESH:D{n:06}", f"disease {n}", tuple(f"other name {k} of the disease {n}" for k in range(names - 1)))
        for n in range(12_000)
    ]
    began = process_time()
    Vocabulary.build(concepts).save(tmp_path / "index")
    built = process_time()
    vocabulary = Vocabulary.open(tmp_path / "index")
    assert 3 * (process_time() - built) < built - began
    assert len(vocabulary.names) == 12_000 * names


def test_the_index_of_something_else(model) -> None:
    with pytest.raises(ModelError, match="of kind 'recognizer', expected a vocabulary"):
        Vocabulary.open(model)
