"""Column files: layouts, comments, documents, and what they cannot hold."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import evaluate
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
    assert [(document.id, document.text) for document in found] == [("document-1", "a\nb"), ("two", "c"), ("d", "")]
    found = documents(tmp_path, "# newdoc id = one\na\tO\n\n# newdoc\n# sent_id = 7\nb\tO\n")
    assert [(document.id, document.text, document.meta) for document in found] == [
        ("one", "a", {}),
        ("", "b", {"comments": [["# sent_id = 7"]]}),
    ]


# as published: IOB1, so that B- only parts two mentions of a type
CONLL_2003 = """-DOCSTART- -X- O O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
German JJ I-NP I-MISC
call NN I-NP O
. . O O

Peter NNP I-NP I-PER
Paris NNP B-NP B-PER

-DOCSTART- -X- O O

in IN I-PP O
Rome NNP I-NP I-LOC
"""


def test_the_columns_of_conll_2003(tmp_path: Path) -> None:
    told: list[str] = []
    one, two = documents(tmp_path, CONLL_2003, notice=told.append)
    assert (one.id, two.id) == ("document-1", "document-2")
    assert surfaces(one) == [("ORG", "EU"), ("MISC", "German"), ("PER", "Peter"), ("PER", "Paris")]
    assert surfaces(two) == [("LOC", "Rome")]
    assert list(one.columns) == ["pos", "chunk"]
    assert one.columns["chunk"][:2] == ["I-NP", "I-VP"]
    assert told == [
        f"{tmp_path}/a.conll:3: column 3 holds chunks such as NP, which are no mentions; the columns are read as "
        "word pos chunk tag, and can be named otherwise (--columns, columns=)"
    ]
    told.clear()
    named = documents(tmp_path, CONLL_2003, columns=["word", "pos", "tag", "tag"], notice=told.append)
    assert (surfaces(named[1]), told) == ([("PP", "in"), ("NP", "Rome"), ("LOC", "Rome")], [])


def test_chunks_after_lemmas_and_chunks_alone(tmp_path: Path) -> None:
    [german] = documents(tmp_path, "Am am APPRART I-PC O\nMontag Montag NN I-NC I-LOC\n", notice=str)
    assert (list(german.columns), surfaces(german)) == (["lemma", "pos", "chunk"], [("LOC", "Montag")])
    [bare] = documents(tmp_path, "No B-NP O\nchest I-NP B-problem\n", notice=str)
    assert (list(bare.columns), surfaces(bare)) == (["chunk"], [("problem", "chest")])
    [alone] = documents(tmp_path, "No DT B-NP\nchest NN I-NP\n")  # of CoNLL-2000: there is nothing else to find
    assert surfaces(alone) == [("NP", "No chest")]
    [nested] = documents(tmp_path, "No DT B-NP O\nchest NN I-body B-problem\n")
    assert surfaces(nested) == [("NP", "No"), ("body", "chest"), ("problem", "chest")]


def test_predictions_in_another_file_are_matched(tmp_path: Path) -> None:
    (tmp_path / "gold.conll").write_text(CONLL_2003)
    (tmp_path / "found.conll").write_text(CONLL_2003.replace("I-LOC", "O"))
    gold, found = ([*read(tmp_path / name, notice=str)] for name in ("gold.conll", "found.conll"))
    assert [document.id for document in found] == ["document-1", "document-2"]
    assert [document.id for document in read(tmp_path, notice=str)] == ["found-1", "found-2", "gold-1", "gold-2"]
    assert evaluate(gold, found).overall.recall == 0.8


def test_levels_without_end(tmp_path: Path) -> None:
    for lines, count in (("a\tX\tB-x\tB-y\n", 2), ("a\tX\tB-x\n", 1), ("a\tX\tB-x\tB-y\tB-z\n", 3)):
        [document] = documents(tmp_path, lines, columns=["word", "pos", "tag*"])
        assert (len(document.mentions), document.columns) == (count, {"pos": ["X"]})
    with pytest.raises(DataError, match=r"found 2 columns, expected 3 or more \(word pos tag\)"):
        documents(tmp_path, "a\tX\n", columns=["word", "pos", "tag*"])


def test_folders_of_column_files_of_another_ending_and_of_different_depth(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Notes")
    (tmp_path / "one.tsv").write_text("a\tB-x\tB-y\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "two.tsv").write_text("-DOCSTART-\n\nb\tB-x\n")
    found = list(read(tmp_path, format="conll"))
    assert [(document.id, len(document.mentions)) for document in found] == [("", 2), ("sub/two-1", 1)]
    found = list(read(tmp_path, format="conll", columns="word, tag*"))
    assert [len(document.mentions) for document in found] == [2, 1]
    (tmp_path / "sub" / "two.tsv").write_text("b\tc\n")
    with pytest.raises(UsageError, match="holds no file that ends in one of"):
        list(read(tmp_path))
    (tmp_path / "three.csv").write_text("a,b")
    with pytest.raises(UsageError, match=r"files that end in \.csv, \.tsv, and none in \.conll, "):
        list(read(tmp_path, format="conll"))


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
    (document,) = documents(tmp_path, "# text = ab\na\tO\nc\tO\n", notice=str)
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


@pytest.mark.parametrize("kind", ["x ", " ", "x  ", "a\tb", "a\0b", " x", "x y", "x\u3000"])
def test_a_type_comes_back_or_is_a_loss(tmp_path: Path, kind: str) -> None:
    document = Document("pain", tokens=[[0, 4]], mentions=[Mention(kind, [(0, 4)])])  # type: ignore[arg-type]
    losses = write([document], tmp_path / "a.conll").counts
    lost = losses["mentions whose type cannot be written"]
    found = [mention.type for one in read(tmp_path / "a.conll", columns="word,tag") for mention in one.mentions]
    assert found == [kind] * (1 - lost)
    assert lost == (kind.endswith(" ") or kind in {"a\tb", "a\0b"})


def test_swapped_arguments_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="documents is of type str, expected a list of documents"):
        write(str(tmp_path / "a.conll"), [Document("pain")])  # type: ignore[arg-type]


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


ODD = st.sampled_from(
    ["O", "B-x", "#", "##", "#doc", "###7", "1", "2", "B_x", "_x", "<doc>", "token", "a,b", "/", '"', "(a*", "*)"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(
    st.lists(st.lists(ODD, min_size=1, max_size=4), min_size=1, max_size=3),
    st.sampled_from(["x", "x_B", "NP", "a|B-b"]),
    st.data(),
)
def test_no_word_is_taken_for_something_else(
    tmp_path: Path, lists: list[list[str]], kind: str, data: st.DataObject
) -> None:
    given = []
    lists[0].append("and")  # a file whose words are all tags is refused
    for words in lists:
        ends = list(accumulate(len(word) + 1 for word in words))
        tokens = [(end - len(word) - 1, end - 1) for word, end in zip(words, ends, strict=True)]
        first = data.draw(st.integers(0, len(tokens) - 1))
        mention = Mention(kind, [(tokens[first][0], tokens[-1][1])])
        given.append(Document(" ".join(words), "", tokens, [(0, len(words))], mentions=[mention]))  # type: ignore[arg-type]
    assert not write(given, tmp_path / "a.conll", force=True)
    assert [(one.words, one.mentions) for one in read(tmp_path / "a.conll", notice=str)] == [
        (one.words, one.mentions) for one in given
    ]
