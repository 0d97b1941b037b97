"""Division of documents: each is in one part, and what belongs together stays together."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document
from spanloom.document.parts import split
from spanloom.errors import DataError, DataWarning, UsageError

PARTS = {"train": 8.0, "dev": 1.0, "test": 1.0}
DOCUMENTS = st.lists(
    st.tuples(st.sampled_from("abcdefghijklmnopqrst"), st.integers(0, 8)).map(
        lambda pair: Document(pair[0], id=pair[0], meta={"patient": pair[1]})
    ),
    max_size=60,
)


def test_the_sizes_are_those_that_were_asked_for() -> None:
    documents = [Document(f"note {number}") for number in range(1000)]
    assert [len(part) for part in split(documents, PARTS).values()] == [800, 100, 100]
    thirds = split(documents, {"a": 1, "b": 1, "c": 1})
    assert sorted(len(part) for part in thirds.values()) == [333, 333, 334]
    assert [len(part) for part in split(documents[:3], PARTS).values()] == [1, 1, 1]


def test_seeds_differ_and_order_does_not_matter() -> None:
    documents = [Document(f"note {number}", id=str(number)) for number in range(200)]
    one, other = split(documents, PARTS), split(documents[::-1], PARTS)
    assert one == split(documents, PARTS)
    assert {name: {each.id for each in part} for name, part in one.items()} == {
        name: {each.id for each in part} for name, part in other.items()
    }
    assert one != split(documents, PARTS, seed=1)
    assert [each.id for each in one["train"]] == sorted((each.id for each in one["train"]), key=int)


@given(DOCUMENTS, st.integers(-5, 2**70), st.booleans())
def test_every_document_is_in_one_part(documents: list[Document], seed: int, grouped: bool) -> None:
    by = "patient" if grouped else None
    try:
        found = split(documents, PARTS, seed, by)
    except DataError:
        return
    assert all(found.values())
    assert Counter(map(id, documents)) == Counter(id(each) for part in found.values() for each in part)
    for field in ("text", "patient") if grouped else ("text",):
        values = [{each.text if field == "text" else each.meta["patient"] for each in part} for part in found.values()]
        assert sum(map(len, values)) == len(set().union(*values))


def test_large_groups_leave_room_for_the_shares() -> None:
    documents = [
        Document(f"{number}", meta={"patient": number % 5 if number < 50 else number}) for number in range(100)
    ]
    found = split(documents, {"train": 8, "test": 2}, by="patient")
    assert [len(part) for part in found.values()] == [80, 20]


@pytest.mark.parametrize(
    ("parts", "by", "message"),
    [
        ({}, None, "found no parts, expected some"),
        ({"a": 0}, None, "the share of 'a' is 0, expected a positive number"),
        ({"a": float("nan")}, None, "the share of 'a' is nan"),
        ({"a": float("inf")}, None, "the share of 'a' is inf"),
        ({"a": 1, "b": 1, "c": 1}, None, "found 2 documents with texts of their own, expected one for each of 3 parts"),
        ({"a": 1, "b": 1}, "ward", "found 1 values of 'ward', expected one for each of 2 parts"),
        (
            {"a": 1},
            "patient",
            "document number 1, 'n1': it has no field 'patient', expected a word or a number; fields of meta",
        ),
        ({"a": 1}, "list", "document number 1, 'n1': its 'list' is '[1]', expected a word or a number"),
    ],
)
def test_wrong_requests(parts: dict[str, float], by: str | None, message: str) -> None:
    documents = [Document(text, id="n1", meta={"ward": 1, "list": [1]}) for text in "aab"]
    with pytest.raises((UsageError, DataError)) as caught:
        split(documents, parts, by=by)
    assert message in str(caught.value)


def test_documents_of_one_identifier_that_are_separated_are_told(recwarn: pytest.WarningsRecorder) -> None:
    documents = [Document(text, id="n1", meta={"patient": 7}) for text in "ab"]
    with pytest.warns(DataWarning, match="1 identifier in several parts, with different texts, the first is 'n1'"):
        split(documents, {"a": 1, "b": 1})
    recwarn.clear()
    split([*documents, Document("c", id="n2", meta={"patient": 8})], {"a": 1, "b": 1}, by="patient")
    assert not recwarn.list
