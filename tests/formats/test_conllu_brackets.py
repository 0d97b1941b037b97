"""Mentions in brackets of CoNLL-U's column MISC, as GUM and CorefUD have them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document
from spanloom.formats import read, validate, write
from spanloom.formats.conllu import read_brackets

GUM = """# newdoc id = d1
# global.Entity = GRP-etype-infstat-minspan-link-identity
# sent_id = d1-1
# text = Ada's son has back pain.
1-2\tAda's\t_\t_\t_\t_\t_\t_\t_\t_
1\tAda\tAda\tPROPN\tNNP\t_\t3\tposs\t_\tEntity=(2-person-new-2-coref(1-person-new-1-coref-Ada_Lovelace%28x%29)
2\t's\t's\tPART\tPOS\t_\t1\tcase\t_\t_
3\tson\tson\tNOUN\tNN\t_\t4\tnsubj\t_\tEntity=2)
4\thas\thave\tVERB\tVBZ\t_\t0\troot\t_\t_
5\tback\tback\tNOUN\tNN\t_\t6\tcompound\t_\tEntity=(3-abstract-new-2-sgl(4-object-new-1-sgl)
6\tpain\tpain\tNOUN\tNN\t_\t4\tobj\t_\tBridge=3<4|Entity=3)|SpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

# newdoc id = d2
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\tEntity=(5-person-new-1-sgl)

"""


def put(folder: Path, text: str) -> Path:
    path = folder / "a.conllu"
    path.write_bytes(text.encode())
    return path


def rows(*words: str, fields: str = "eid-etype-head-other") -> str:
    """Lines of CoNLL-U: "1 du (e1-x-1)" is an ID, a form and brackets."""
    lines = [f"# global.Entity = {fields}"] if fields else []
    for word in words:
        number, form, *value = word.split(" ")
        lines.append("\t".join([number, form, *"_______", f"Entity={value[0]}" if value else "_"]))
    return "\n".join(lines) + "\n"


def found(document: Document) -> list[tuple[str, str]]:
    return [(mention.type, mention.text(document.text)) for mention in document.mentions]


def test_a_release_of_gum(tmp_path: Path) -> None:
    told: list[str] = []
    one, two = read(put(tmp_path, GUM), notice=told.append)
    assert (one.id, one.text, one.words) == (
        "d1",
        "Ada's son has back pain.",
        ["Ada's", "son", "has", "back", "pain", "."],
    )
    expected = [("person", "Ada's son"), ("person", "Ada's"), ("abstract", "back pain"), ("object", "back")]
    assert found(one) == expected
    assert [mention.concepts for mention in one.mentions] == [(), ("Ada_Lovelace(x)",), (), ()]
    assert found(two) == [("person", "Yes")]
    assert one.columns["misc"] == ["_", "_", "_", "_", "Bridge=3<4", "_"]
    assert len(told) == 2
    assert "brackets of Entity= also hold infstat, link, which are not read" in told[0] + told[1]
    assert "the mention of type 'person' begins or ends within \"Ada's\"" in told[0] + told[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (rows("1 a (e1-x-1", "2 b (e2-y-1", "3 c e1)", "4 d e2)"), [("x", "a b c"), ("y", "b c d")]),
        (rows("1 a (e1[1/2]-x-2)", "2 b", "3 c (e1[2/2]-x-2)"), [("x", "a c")]),
        (rows("1 a (e1[1/2]-x-1", "2 b e1[1/2])", "3 c (e1[2/2]-x-1)"), [("x", "a b c")]),
        (rows("1 a (e1-x-1(e1-y-1)", "2 b e1)(e3-z-1)"), [("x", "a b"), ("y", "a"), ("z", "b")]),
        (rows("1 a (e1-x-1", "1.1 _", "2 b e1)"), [("x", "a b")]),
        (rows("1 a", "1.1 _ (e1-x-1", "2 b e1)"), [("x", "b")]),
        (rows("1 a (e1--1)"), [("mention", "a")]),
        (rows("1 a (e1-first%2Dname-1)"), [("first-name", "a")]),
        (rows("1 a (x-1-new", "2 b x-1)", fields="entity-GRP-infstat"), [("x", "a b")]),
        (rows("1 a (x-1-new", "2 b x-1)", fields=""), [("x", "a b")]),
        (rows("1 a (e1-x-1", "2 b e1)", fields=""), [("x", "a b")]),
        (rows("1 a (x", "2 b x)", fields=""), [("x", "a b")]),
        (rows("1-2 du", "1 de (e1-x-1)", "2 le (e2-y-1)", "3 bon"), [("x", "du"), ("y", "du")]),
    ],
)
def test_brackets(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    [document] = read(put(tmp_path, text), notice=str)
    assert [(kind, surface.replace(" ... ", " ")) for kind, surface in found(document)] == expected


def test_parts_and_heads(tmp_path: Path) -> None:
    text = rows("1 old (e1[1/2]-x-2)", "2 and", "3 men (e1[2/2]-x-2)(e2-y-7)(e3-z-1)")
    [document] = read(put(tmp_path, text))
    assert [(mention.type, mention.spans, mention.head) for mention in document.mentions] == [
        ("x", ((0, 3), (8, 11)), (8, 11)),
        ("y", ((8, 11),), None),
        ("z", ((8, 11),), (8, 11)),
    ]
    losses = write([document], tmp_path / "b.conllu")
    assert losses.counts["discontiguous mentions"] == 1


DAMAGED = [
    (rows("1 a (e1-x-1", "2 b (e2-y-1)"), "found '(e1-x-1', which is not closed", 2),
    (rows("1 a e1)", "2 b (e2-y-1)"), "found 'e1)', which closes no bracket", 2),
    (rows("1 a (e1[2/2]-x-1)", "2 b (e2-y-1)"), "found part 2 of 2 of 'e1', expected 1", 2),
    (rows("1 a (e1[1/2]-x-1)", "2 b (e2-y-1)"), "found 'e1' without all of its parts", 2),
    (rows("1 a x(", "2 b (e2-y-1)"), "which closes no bracket", 2),
    (
        rows("1 a", "1.1 _ (e1-x-1)", "2 b (e2-y-1)"),
        "the mention of type 'x' is at '_', which the text does not",
        3,
    ),
]


@pytest.mark.parametrize(("text", "message", "line"), DAMAGED)
def test_damaged_brackets_are_left_out_with_a_warning(tmp_path: Path, text: str, message: str, line: int) -> None:
    [document] = read(put(tmp_path, text), notice=str)
    assert (document.text, found(document)) == ("a b", [("y", "b")])
    problem = next(problem for problem in validate(tmp_path / "a.conllu") if message in problem.message)
    assert (problem.severity, problem.line, problem.altered) == ("warning", line, True)
    told: list[str] = []
    [text_alone] = read(tmp_path / "a.conllu", mentions=False, notice=told.append)
    assert (text_alone.words, text_alone.mentions, told) == (["a", "b"], [], [])


def test_text_alone_needs_no_valid_tags(tmp_path: Path) -> None:
    [document] = read(put(tmp_path, rows("1 a nonsense", fields="")), mentions=False)
    assert (document.text, document.mentions) == ("a", [])


@pytest.mark.parametrize("name", ["NER", "ner", "NE", "name", "NamedEntity"])
def test_tags_in_misc_by_other_names(tmp_path: Path, name: str) -> None:
    text = rows("1 Mild B-x", "2 pain I-x", "3 now O", fields="").replace("Entity=", f"Gloss=g|{name}=")
    [document] = read(put(tmp_path, text))
    assert found(document) == [("x", "Mild pain")]
    if name not in ("NER", "NamedEntity"):
        [document] = read(put(tmp_path, rows("1 Mild Yes", fields="").replace("Entity", name)))
        assert (document.mentions, document.columns["misc"]) == ([], [f"{name}=Yes"])


PIECES = ["(e1-x-1", "e1)", "(e2[1/2]-y", "e2[1/2])", "(e2[2/2]-y)", ")", "(", "q"]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=4), max_size=5))
def test_whatever_brackets_there_are(values: list[list[str]]) -> None:
    mentions, wrong = read_brackets(["".join(value) for value in values], [])
    for mention in mentions:
        assert all(0 <= first < end <= len(values) for first, end in mention.ranges)
        assert mention.head is None or any(first <= mention.head < end for first, end in mention.ranges)
    assert all(0 <= place < len(values) for place, _ in wrong)


def test_a_type_without_a_letter_in_misc_is_reported(tmp_path: Path) -> None:
    told: list[str] = []
    [document] = read(put(tmp_path, rows("1 Ada PER", fields="").replace("Entity", "NE")), notice=told.append)
    assert document.mentions == []
    assert told == [f"{tmp_path}/a.conllu:1: 'NE=PER' of MISC is no tag such as B-PER, and is not read"]
