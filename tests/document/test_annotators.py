"""Several annotators' versions of documents as one document each, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.document.annotators import check_one_voice, key_of, merged, repeated, several, versions_of, voted
from spanloom.errors import DataError, UsageError

TEXT = "no chest pain"
PAIN, CHEST = Mention("problem", [(3, 13)], id="T1"), Mention("anatomy", [(3, 8)])


def by(name: Any, *mentions: Mention, id: str = "1", text: str = TEXT, **more: Any) -> Document:
    return Document(text, id=id, mentions=list(mentions), meta={"annotator": name}, **more)


def claiming(document: Document) -> Document:
    return document.copy(meta={**document.meta, "annotation": {"not": []}})


def test_versions() -> None:
    ada = by("Ada", PAIN)
    ada.meta |= {"annotation": "at-least", "source": "ward"}
    [both] = merged([ada, by("Eve", PAIN.replace(id="other"), CHEST)])
    assert both.mentions == [PAIN.replace(id="other"), CHEST]
    versions = versions_of(both)
    assert versions["Ada"].mentions == {key_of(PAIN)}
    assert versions["Ada"].annotation == "at-least"
    assert versions["Eve"] == (frozenset({key_of(PAIN), key_of(CHEST)}), None)
    assert both.meta["source"] == "ward"
    assert not {"annotator", "annotation"} & both.meta.keys()


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (
            [by("Ada"), by(None)],
            "1 training document with the identifier or the text of an earlier one, the first is document '1'",
        ),
        ([by("Ada", id=""), by(None, id="")], f"the first is text '{TEXT}'"),
        ([by(None), by(None), by(None, text="other")], "2 training documents"),
    ],
)
def test_training_documents_that_stand_twice_are_told(documents: list[Document], message: str) -> None:
    told = repeated(documents)
    assert told is not None and message in told


def test_short_texts_may_be_equal() -> None:
    assert repeated([by(None, id=""), by(None, id=""), by("Ada", id="2"), by("Eve", id="3")]) is None


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 4), st.sets(st.sampled_from([PAIN, CHEST])))))
def test_every_version_is_kept(drawn: list[tuple[str, int, set[Mention]]]) -> None:
    given = {(name, number): marks for name, number, marks in drawn}
    given |= {(name, 9): {PAIN} for name in "ABC"}  # so that all share a text
    found = merged([by(name, *marks, id=str(number)) for (name, number), marks in given.items()])
    assert [one.id for one in found] == list(dict.fromkeys(str(number) for _, number in given))
    told = {(name, int(one.id)): own.mentions for one in found for name, own in versions_of(one).items()}
    assert told == {place: {key_of(mark) for mark in marks} for place, marks in given.items()}
    for one in found:
        assert {key_of(mark) for mark in one.mentions} == set().union(*(v.mentions for v in versions_of(one).values()))


@given(
    st.permutations([by("Ada", PAIN), by("Eve"), by(None, id="2"), by(None, CHEST, id="3"), by(None, id="", text="x")])
)
def test_what_nobody_has_begun_is_left_out(documents: list[Document]) -> None:
    [both] = merged(documents)
    assert versions_of(both).keys() == {"Ada", "Eve"}
    assert both.mentions == [PAIN]


def test_texts_without_ids_are_known_by_themselves() -> None:
    given = [by("Ada", PAIN, id=""), by("Eve", id=""), by("Eve", id="", text="fever")]
    assert several(given)
    assert [one.text for one in merged(given)] == [TEXT, "fever"]


def test_one_voice() -> None:
    assert not several([by("Ada"), by("Eve", id="2"), Document(TEXT, id="1")])
    check_one_voice([by("Ada"), by("Eve", id="2")], "a linker")
    with pytest.raises(UsageError, match=r"several annotators .* a linker takes one annotation of each"):
        check_one_voice([by("Ada"), by("Eve")], "a linker")


def test_votes_of_half() -> None:
    [both] = merged([by("Ada", PAIN), by("Eve", PAIN, CHEST), by("Max", CHEST.replace(type="sign"))])
    assert voted(both).mentions == [PAIN]
    assert voted(both).meta == {"annotation": "at-least"}
    assert voted(by("Ada", PAIN)) == by("Ada", PAIN)


@pytest.mark.parametrize(
    ("documents", "told"),
    [
        ([by("Ada"), by("Eve", text="no pain")], "document '1': the texts of annotators 'Ada' and 'Eve' differ"),
        ([by("Ada"), by("Eve"), by("Ada")], "document '1': there are two by annotator 'Ada'"),
        ([by("Ada", id=""), by("Eve", id=""), by("Ada", id="")], f"text '{TEXT}': there are two by annotator"),
        ([by("Ada"), by("Eve"), by("Max", id="2")], "annotator 'Max' has no document in common with any other"),
        ([by("Ada"), by("Eve"), Document("fever", id="2")], "document '2' does not name its annotator"),
        ([by("Ada", tokens=[(0, 2)]), by("Eve")], "the tokens of annotators 'Ada' and 'Eve' differ"),
        ([by("Ada", tokens=[(0, 2)]), by("Eve", tokens=[(0, 3)])], "the tokens of annotators"),
        ([by("Ada"), by(7)], "meta.annotator is 7, expected a name"),
        ([by("Ada"), claiming(by("Eve"))], "of annotator 'Eve' has claims (not), which"),
        ([by("Ada"), by(" ")], "meta.annotator is ' ', expected a name"),
    ],
)
def test_what_is_refused(documents: list[Document], told: str) -> None:
    with pytest.raises(DataError) as error:
        merged(documents)
    assert told.replace("'", "") in str(error.value).replace("'", "")
    assert "\n" not in str(error.value)
