"""Column files: layouts, comments, documents, and what they cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, validate, write


def documents(folder: Path, content: str, **options: object) -> list[Document]:
    (folder / "a.conll").write_bytes(content.encode())
    return list(read(folder / "a.conll", **options))


def surfaces(document: Document) -> list[tuple[str, str]]:
    return [(mention.type, mention.text(document.text)) for mention in document.mentions]


def test_sentences_without_a_document_line_are_documents(tmp_path: Path) -> None:
    found = documents(tmp_path, "mild B-p\npain I-p\n\n\nfever B-p\n\n")
    assert [document.text for document in found] == ["mild pain", "fever"]
    assert [surfaces(document) for document in found] == [[("p", "mild pain")], [("p", "fever")]]


def test_document_lines(tmp_path: Path) -> None:
    found = documents(tmp_path, "-DOCSTART- -X- O\n\na X O\n\nb X O\n\n-DOCSTART- (two)\n\nc X O\n\n# newdoc id = d\n")
    assert [(document.id, document.text) for document in found] == [("", "a\nb"), ("two", "c"), ("d", "")]
    found = documents(tmp_path, "# newdoc id = one\na\tO\n\n# newdoc\n# sent_id = 7\nb\tO\n")
    assert [(document.id, document.text, document.meta) for document in found] == [
        ("one", "a", {}),
        ("", "b", {"comments": [["# sent_id = 7"]]}),
    ]


def test_named_columns(tmp_path: Path) -> None:
    content = "EU NNP I-NP B-ORG\n"
    (document,) = documents(tmp_path, content, columns=["word", "pos", "chunk", "tag"])
    assert (document.columns, surfaces(document)) == ({"pos": ["NNP"], "chunk": ["I-NP"]}, [("ORG", "EU")])
    (document,) = documents(tmp_path, content, columns=["word", "_", "tag", "tag"])
    assert (document.columns, surfaces(document)) == ({}, [("NP", "EU"), ("ORG", "EU")])
    (document,) = documents(tmp_path, "# global.columns = tag word\nB-x EU\n")
    assert surfaces(document) == [("x", "EU")]
    for columns in (["pos", "tag"], ["word", "pos", "pos"]):
        with pytest.raises(UsageError):
            documents(tmp_path, content, columns=columns)


def test_numbered_tokens_and_text(tmp_path: Path) -> None:
    content = "# newdoc id = d\n# text = 同样,施力\n1\t同样\tB-X\t-\n2\t,\tO\t-\n3\t施力\tO\t-\n"
    (document,) = documents(tmp_path, content)
    assert (document.text, document.words, surfaces(document)) == ("同样,施力", ["同样", ",", "施力"], [("X", "同样")])
    assert document.columns == {"column4": ["-", "-", "-"]}


def test_text_in_which_the_tokens_do_not_stand(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "# text = ab\na\tO\nc\tO\n")
    assert document.text == "a c"
    (problem,) = validate(tmp_path / "a.conll")
    assert (problem.severity, problem.line) == ("warning", 1)


def test_hash_is_a_token_where_it_has_fields(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "# a comment\n# O\n#tag B-x\n# O\n")
    assert (document.words, document.meta) == (["#", "#tag", "#"], {"comments": [["# a comment"]]})


def test_words_only_and_tags_without_type(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "mild\npain\n")
    assert (document.words, document.mentions) == (["mild", "pain"], [])
    (document,) = documents(tmp_path, "mild\tB\npain\tI\n")
    assert surfaces(document) == [("mention", "mild pain")]


def test_crlf_and_byte_order_mark(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "\ufeffpain\tB-x\r\n\r\n")
    assert (document.text, surfaces(document)) == ("pain", [("x", "pain")])


def test_losses_are_counted(tmp_path: Path) -> None:
    document = Document("a b c d", tokens=[[0, 1], [2, 3], [4, 5], [6, 7]], sentences=[[0, 2], [2, 4]])  # type: ignore[arg-type]
    document.mentions = [
        Mention("x", [(0, 1), (4, 5)]),
        Mention("x", [(2, 5)]),
        Mention("x", [(1, 3)]),
        Mention("x", [(0, 3)], "T1", (2, 3), ("C",), 0.5),
    ]
    losses = write([document], tmp_path / "a.conll")
    assert losses.counts == {
        "discontiguous mentions": 1,
        "mentions across sentences": 1,
        "mentions that cut a token": 1,
        "heads": 1,
        "concepts": 1,
        "scores": 1,
        "mention identifiers": 1,
        "texts that differ outside the tokens": 1,
    }


def test_what_a_column_file_cannot_hold(tmp_path: Path) -> None:
    for document, message in (
        (Document("a"), "no tokens"),
        (Document("a\nb", tokens=[[0, 3]]), "cannot hold"),  # type: ignore[arg-type]
        (Document("a", tokens=[[0, 1]], columns={"pos": [""]}), "cannot hold"),  # type: ignore[arg-type]
        (Document("a", tokens=[[0, 1]], columns={"a b": ["x"]}), "cannot hold"),  # type: ignore[arg-type]
    ):
        with pytest.raises(DataError, match=message):
            write([document], tmp_path / "a.conll")
    with pytest.raises(UsageError, match="scheme"):
        write([], tmp_path / "a.conll", scheme="iobes")
    assert list(tmp_path.iterdir()) == []


WORDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=4)


@st.composite
def tokenized(draw: st.DrawFn) -> Document:
    sentences, tokens, text, mentions = [], [], "", []
    for _ in range(draw(st.integers(1, 3))):
        text += "\n" if text else ""
        first = len(tokens)
        for i, word in enumerate(draw(st.lists(WORDS, min_size=1, max_size=5))):
            text += draw(st.sampled_from(["", " ", "  "])) if i else ""
            tokens.append((len(text), len(text) + len(word)))
            text += word
        sentences.append((first, len(tokens)))
        for _ in range(draw(st.integers(0, 4))):
            one, other = draw(st.integers(first, len(tokens) - 1)), draw(st.integers(first, len(tokens) - 1))
            span = (tokens[min(one, other)][0], tokens[max(one, other)][1])
            mentions.append(Mention(draw(st.sampled_from(["x", "a-b c", "O"])), [span]))
    tags = draw(st.lists(WORDS, min_size=len(tokens), max_size=len(tokens)))
    name = draw(st.sampled_from(["", "n", "n 1"]))
    return Document(text, name, tokens, sentences, {"pos": tags}, mentions)  # type: ignore[arg-type]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.lists(tokenized(), min_size=1, max_size=3), st.sampled_from(["bio", "bilou"]))
def test_any_tokenized_document_comes_back(tmp_path: Path, given: list[Document], scheme: str) -> None:
    assert not write(given, tmp_path / "a.conll", force=True, scheme=scheme)
    found = list(read(tmp_path / "a.conll"))
    for one, other in zip(given, found, strict=True):
        assert (one.id, one.text, one.words, one.columns) == (other.id, other.text, other.words, other.columns)
        assert sorted(mention.key for mention in one.mentions) == sorted(mention.key for mention in other.mentions)
        assert one.sentences is not None and other.sentences is not None
        assert one.sentences.tolist() == other.sentences.tolist()
