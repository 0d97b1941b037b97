"""Tables of concepts: what is read, and one clear line for what cannot be."""

from __future__ import annotations

import pytest

from spanloom.data import clinical
from spanloom.errors import DataError
from spanloom.vocabulary import Concept, read_concepts

HEAD = "id\tname\tsynonyms\tparents\tcategory\n"


@pytest.fixture
def table(tmp_path):
    def write(text: str | bytes) -> str:
        path = tmp_path / "names.tsv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_all_columns(table) -> None:
    path = table(f"\ufeff{HEAD}a:1\theart\tcor| |  Herz\t\torgan\r\n\n a:2 \tleft heart\t\ta:1|x:9\t\n")
    assert read_concepts(path) == [
        Concept("a:1", "heart", ("cor", "Herz"), category="organ"),
        Concept("a:2", "left heart", parents=("a:1", "x:9")),
    ]


def test_other_orders_and_fewer_columns(table) -> None:
    assert read_concepts(table("source\tname\tid\nX\theart\t1\n")) == [Concept("1", "heart")]


def test_columns_that_a_vocabulary_has_beside_these(table) -> None:
    path = table("id\tname\talternatives\tdefinition\n1\theart\tOMIM:1|x:2\tA pump.\n")
    assert read_concepts(path) == [Concept("1", "heart", alternatives=("OMIM:1", "x:2"), definition="A pump.")]


def test_names_stand_once() -> None:
    assert Concept("1", "a", ("b", "a", "b")).names == ("a", "b")


def test_the_bundled_vocabulary() -> None:
    concepts = read_concepts(clinical() / "vocabulary.tsv")
    assert {concept.category for concept in concepts} == {"anatomy", "problem", "treatment"}
    ids = {concept.id for concept in concepts}
    assert all(parent in ids for concept in concepts for parent in concept.parents)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "found no concept, expected a line of column names"),
        (HEAD, None, "found no concept"),
        ("name\tcategory\n", 1, "found the columns name, category, expected id, name and perhaps synonyms"),
        ("x" * 900, 1, "found the columns x"),
        ("id\tname\tid\n", 1, "found the column 'id' twice"),
        (f"{HEAD}1\theart\n", 2, "found 2 columns, expected 5 as in the first line"),
        (f"{HEAD}\n1\ta\t\t\t\t\n", 3, "found 6 columns"),
        (f"{HEAD}\ta\t\t\tx\n", 2, "found an empty id"),
        (f"{HEAD}1\t \tb\t\tx\n", 2, "found an empty name"),
        (f"{HEAD}1\ta\t\t\t\n2\tb\t\t\t\n1\tc\t\t\t\n", 4, "found the id '1' twice"),
        (b"id\tname\n1\t\xff\n", 2, "byte 3 of the line is 0xFF, which is not UTF-8"),
    ],
)
def test_errors_name_file_and_line(table, text, line, message) -> None:
    path = table(text)
    with pytest.raises(DataError, match=message) as caught:
        read_concepts(path)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)
