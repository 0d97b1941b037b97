"""Files of words: CoNLL-U with entities, character columns, one sentence a line. Literal bytes, and there and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.formats import FORMATS, read, validate, write

CHARS = """# newdoc id = note-1
# text = 无 胸痛
无\tS\tO
胸\tB\tB-problem
痛\tE\tI-problem

查\tB\tO
体\tM\tO
时\tE\tO

# newdoc
好\tS\tO

"""
CONLLU = """# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC NER
# newdoc id = note-1
# sent_id = 1
# text = 无胸痛 。
1\t无\t无\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\tO
2\t胸痛\t胸痛\tNOUN\t_\t_\t1\tobj\t_\tGloss=pain\tB-problem
3\t。\t。\tPUNCT\t_\t_\t1\tpunct\t_\t_\tO

"""
MISC = """1\tdo\tdo\tAUX\t_\t_\t0\troot\t_\tEntity=O
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tcan\tcan\tAUX\t_\t_\t1\taux\t_\tEntity=S-x
3\tn't\tnot\tPART\t_\t_\t1\tadv\t_\t_
3.1\tnothing\t_\t_\t_\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def triples(document: Document) -> list[tuple[str, str]]:
    return [(mention.type, mention.text(document.text)) for mention in document.mentions]


def test_characters(tmp_path):
    one, two = read(put(tmp_path, "a.chars", CHARS))
    assert (one.id, one.text, one.words) == ("note-1", "无 胸痛\n查体时", ["无", "胸痛", "查体时"])
    assert one.sentences.tolist() == [[0, 2], [2, 3]]
    assert triples(one) == [("problem", "胸痛")]
    assert (two.text, two.words) == ("好", ["好"])
    assert not write([one, two], tmp_path / "b.chars")
    assert (tmp_path / "b.chars").read_text(encoding="utf-8") == CHARS.replace("\tM\t", "\tI\t")


def test_characters_without_marks_are_one_document(tmp_path):
    [document] = read(put(tmp_path, "a.chars", "无\tS\n\n痛\tS\n"))
    assert (document.text, document.mentions) == ("无\n痛", [])


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("无\tS\tO\n胸\tE\tO\n", 2, "found the place 'E' after 'S'"),
        ("胸\tB\tO\n\n痛\tE\tO\n", 1, "the sentence ends inside a word, at the place 'B'"),
        ("胸痛\tS\tO\n", 1, "expected a character, its place in a word"),
        ("胸\tS\tO\n痛\tS\n", 2, "expected a character, its place in a word"),
        ("胸\tX\tO\n", 1, "found the place 'X'"),
        ("胸\tS\tproblem\n", 1, "found the tag 'problem'"),
        ("# text = 头痛\n胸\tB\n痛\tE\n", 2, "the characters are not in '# text = 头痛'"),
        ("", None, "the file holds no document"),
    ],
)
def test_wrong_characters(tmp_path, text, line, words):
    problem = next(validate(put(tmp_path, "a.chars", text)))
    assert words in problem.message
    assert problem.line == line
    with pytest.raises(DataError):
        list(read(tmp_path / "a.chars"))


def test_conllu(tmp_path):
    [document] = read(put(tmp_path, "a.conllu", CONLLU))
    assert (document.text, document.words) == ("无胸痛 。", ["无", "胸痛", "。"])
    assert triples(document) == [("problem", "胸痛")]
    assert document.columns["pos"] == ["VERB", "NOUN", "PUNCT"]
    assert document.columns["misc"] == ["_", "Gloss=pain", "_"]
    assert "xpos" not in document.columns
    assert document.meta == {"comments": [["# sent_id = 1"]]}
    assert not write([document], tmp_path / "b.conllu")
    assert (tmp_path / "b.conllu").read_text(encoding="utf-8") == CONLLU


def test_conllu_with_entities_in_misc_and_tokens_of_several_words(tmp_path):
    [document] = read(put(tmp_path, "a.conllu", MISC), notice=str)
    assert (document.text, document.words) == ("do can't.", ["do", "can't", "."])
    assert triples(document) == [("x", "can't")]
    assert document.columns["lemma"] == ["do", "_", "."]


def rows(*words: str) -> str:
    """Lines of CoNLL-U: "1-2 du B-x" is an ID, a form and a tag."""
    split = (word.split() for word in words)
    return "".join("\t".join((number, form, *"_" * 8, tag)) + "\n" for number, form, tag in split) + "\n"


@pytest.mark.parametrize(
    ("text", "mentions", "told"),
    [
        (rows("1-2 du _", "1 de O", "2 le B-x", "3 bon I-x"), [("x", "du bon")], "2 or"),
        (rows("1 bon B-x", "2-3 du _", "2 de I-x", "3 le O"), [("x", "bon du")], "1 or"),
        (rows("1-2 du _", "1 de O", "2 le B-x", "3 bon O"), [("x", "du")], "2 or"),
        (rows("1-2 du _", "1 de B-y", "2 le B-x", "3 bon O"), [("y", "du"), ("x", "du")], "2 such"),
        (rows("1-2 du _", "1 de B-x", "2 le I-x", "3 bon O"), [("x", "du")], ""),
        (rows("1-2 du B-x", "1 de O", "2 le _", "3 bon I-x"), [("x", "du bon")], ""),
        (rows("1-2 du B-x", "1 de B-x", "2 le I-x", "3 bon O"), [("x", "du")], ""),
        (rows("1 du O", "1.1 pain B-x", "2 bon O"), [], "is at 'pain', which the text does not show"),
    ],
)
def test_conllu_with_mentions_of_parts_of_tokens(tmp_path, text, mentions, told):
    lines: list[str] = []
    [document] = read(put(tmp_path, "a.conllu", text), notice=lines.append)
    assert triples(document) == mentions
    assert len(lines) == bool(told)
    if told.endswith("or"):
        number = 1 + text.splitlines().index(next(line for line in text.splitlines() if "\tB-" in line))
        assert lines[0].startswith(f"{tmp_path}/a.conllu:{number}: the mention of type 'x' begins or ends within 'du'")
    elif told:
        assert told in lines[0]
    assert sum(problem.altered for problem in validate(tmp_path / "a.conllu")) == (2 if "such" in told else len(lines))


def test_comments_never_become_data(tmp_path):
    comments = [
        "# note\nevil\tB-drug",
        "# newdoc id = 2",
        "# text = evil",
        "# global.columns = word",
        "# a\rb",
        "# ok",
        "ok",
    ]
    document = Document("pain", "1", [[0, 4]], [[0, 1]], meta={"comments": [[*comments, "# note evil B-drug"]]})
    for suffix, kept in ((".conll", ["# ok", "# ok"]), (".conllu", ["# ok", "# ok", "# note evil B-drug"])):
        losses = write([document], tmp_path / f"a{suffix}")
        lost = {
            "comments that would not read as comments": len(comments) + 1 - len(kept),
            "comments that had no '# '": 1,
        }
        assert losses.counts == lost
        [found] = read(tmp_path / f"a{suffix}")
        assert (found.text, found.id, found.mentions, found.meta) == ("pain", "1", [], {"comments": [kept]})
        other = write([document.copy(meta={"comments": "none"})], tmp_path / f"b{suffix}")
        assert other.counts == {"comments of other sentences": 1}
    source = put(tmp_path, "c.conllu", "#  global.columns = ID\n" + rows("1 pain O"))
    [document] = read(source)
    assert not write([document], tmp_path / "c.conll")
    assert next(read(tmp_path / "c.conll")).meta == {"comments": [["#  global.columns = ID"]]}


def test_what_only_seems_to_be_white_space_or_a_mark_comes_back(tmp_path):
    lines = Document("a\u2028b x\x85", "1", [[0, 3], [4, 6]], [[0, 2]])  # line ends for Unicode, text for a file
    assert not write([lines], tmp_path / "a.conllu")
    assert next(read(tmp_path / "a.conllu")).text == lines.text
    misc = Document("a b", "1", [[0, 1], [2, 3]], [[0, 2]], {"misc": ["Gloss=x|SpaceAfter=No", "_"]})
    assert write([misc], tmp_path / "misc.conllu").counts == {"values of misc that mean something else here": 1}
    for word in ("  ", " a"):
        with pytest.raises(DataError, match="CoNLL-U cannot hold the value"):
            write([Document(f"b {word}", tokens=[[0, 1], [2, 2 + len(word)]])], tmp_path / "b.conllu")
    for word in ("-DOCSTART- x", "# newdoc", "# text = x"):
        with pytest.raises(DataError, match="a column file cannot hold the value"):
            write([Document(word, tokens=[[0, len(word)]])], tmp_path / "b.conll")
    numbers = Document("1 2", "", [[0, 1], [2, 3]], [[0, 2]])
    numbers.mentions = [Mention("NP", [(0, 3)]), Mention("x", [(0, 1)])]
    assert not write([numbers], tmp_path / "a.conll")
    [found] = read(tmp_path / "a.conll")
    assert (found.words, found.mentions) == (["1", "2"], numbers.mentions)


def test_conllu_with_an_eleventh_column_that_nobody_named(tmp_path):
    rows = "\n".join(line for line in CONLLU.splitlines() if not line.startswith("#"))
    [document] = read(put(tmp_path, "a.conllu", rows))
    assert triples(document) == [("problem", "胸痛")]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1\t无\n", 1, "found 2 columns, expected 10 (ID FORM"),
        (CONLLU.replace("\tB-problem", "\tproblem"), 6, "found the tag 'problem'"),
        (CONLLU.replace("3\t。", "x\t。"), 7, "found the token 'x' '。', expected a number and a form"),
        (CONLLU.replace("# text = 无", "# text = 有"), 5, "the tokens are not in"),
        (
            rows("1-9 du O", "1 de O", "2 le O", "3 bon B-x", "4 pain I-x"),
            1,
            "several words '1-9', expected a line for",
        ),
        (rows("1 le O", "2-3 du O", "2 de O", "2 le O"), 2, "the token of several words '2-3', expected a line for"),
        (rows("1-1 du O", "1 de O"), 1, "the token of several words '1-1'"),
        (rows("2-1 du O", "1 de O"), 1, "the token of several words '2-1'"),
        (rows("1-2 du B-x", "1 de O", "2 le B-x"), 1, "the tag 'B-x' at 'du', and 'O B-x' at its words, expected"),
        (rows("1" * 5000 + " du O"), 1, "found the token '11111111111111111111' 'du', expected a number"),
        (rows("1-" + "1" * 5000 + " du O"), 1, "found the token '1-111111111111111111' 'du', expected a number"),
        (rows("1 du O", "2 bon bad"), 2, "found the tag 'bad'"),
    ],
)
def test_wrong_conllu(tmp_path, text, line, words):
    problem = next(validate(put(tmp_path, "a.conllu", text)))
    assert words in problem.message
    assert problem.line == line


def test_what_a_column_of_tags_cannot_hold_is_counted(tmp_path):
    document = Document("无胸痛。", tokens=[[0, 1], [1, 3], [3, 4]], sentences=[[0, 3]])
    document.mentions = [
        Mention("a", [(0, 3)], score=0.5), Mention("b", [(1, 3)]), Mention("c", [(1, 2)]),
        Mention("d", [(0, 1), (3, 4)]), Mention("e|", [(3, 4)]),
    ]  # fmt: skip
    for suffix in (".chars", ".conllu"):
        losses = write([document], tmp_path / f"a{suffix}").counts
        assert losses["mentions that overlap a longer one"] == 1
        assert losses["mentions that cut a token"] == 1
        assert losses["discontiguous mentions"] == 1
        assert losses["mentions whose type cannot be written"] == 1
        assert losses["scores"] == 1
        [found] = read(tmp_path / f"a{suffix}")
        assert triples(found) == [("a", "无胸痛")]


def test_one_sentence_a_line(tmp_path):
    one, two = read(put(tmp_path, "a.seg", "无 胸痛 。\r\nST 段 no 7 。\n\n\n 好\n"))
    assert (one.text, one.words) == ("无胸痛。\nST段no 7。", ["无", "胸痛", "。", "ST", "段", "no", "7", "。"])
    assert one.sentences.tolist() == [[0, 3], [3, 8]]
    assert (two.text, two.words) == ("好", ["好"])
    assert not write([one, two], tmp_path / "b.seg")
    assert (tmp_path / "b.seg").read_text(encoding="utf-8") == "无 胸痛 。\nST 段 no 7 。\n\n好\n"
    losses = write([one.copy(text="无胸痛。 ST段no 7。", mentions=[Mention("a", [(0, 1)])])], tmp_path / "c.seg")
    assert dict(losses.counts) == {"texts that differ outside the tokens": 1, "mentions": 1}


@pytest.mark.parametrize("suffix", [".chars", ".conllu", ".seg"])
def test_refusals_of_writers_and_readers(tmp_path, suffix):
    with pytest.raises(DataError, match="no tokens"):
        write([Document("x")], tmp_path / f"a{suffix}")
    with pytest.raises(DataError, match=r"holds white space|cannot hold the value"):
        write([Document("a\tb", tokens=[[0, 3]])], tmp_path / f"a{suffix}")
    assert not (tmp_path / f"a{suffix}").exists()
    (tmp_path / f"bad{suffix}").write_bytes(b"a\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        list(read(tmp_path / f"bad{suffix}"))
    (tmp_path / f"none{suffix}").write_bytes(b"\n")
    with pytest.raises(DataError, match="holds no document"):
        list(read(tmp_path / f"none{suffix}"))
    assert {"conllu", "characters", "spaced"} <= set(FORMATS)


def test_a_file_without_a_word_is_not_written(tmp_path):
    with pytest.raises(DataError, match="has no words, and would be no document of the file"):
        write([Document("", tokens=[], sentences=[])], tmp_path / "out.seg", format="spaced")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["conll", "conllu"])
def test_text_outside_of_all_tokens_is_a_loss_that_is_told(tmp_path, name):
    document = Document("a bc d", tokens=[(0, 1), (2, 3), (5, 6)], sentences=[(0, 3)])
    losses = write([document], tmp_path / "out", format=name)
    assert losses.counts["texts that differ outside the tokens"] == 1
    [again] = read(tmp_path / "out", format=name)
    assert (again.text, again.words) == ("a b d", ["a", "b", "d"])
