"""WebAnno TSV: what INCEpTION exports is read at the offsets of the annotated text; a malformed line is told."""

from __future__ import annotations

import gzip
from itertools import count, pairwise
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, validate, write

ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
POS = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
LEMMA = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Lemma"
HEAD = f"#FORMAT=WebAnno TSV 3.3\n#T_SP={POS}|PosValue\n#T_SP={ENTITY}|identifier|value\n\n\n"


def only(path: Path, text: str, **options: object) -> Document:
    """Return the document of a file with this content; whatever is not read is kept silent."""
    path.write_text(text, encoding="utf-8", newline="")
    [document] = read(path, notice=lambda _: None, **options)
    return document


def found(document: Document) -> list[tuple[str, str]]:
    return [(mention.type, mention.text(document.text)) for mention in document.mentions]


# --- a writer, as INCEpTION's: rows for tokens and annotated parts of tokens, numbers where rows do not tell


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def escaped(text: str, reserved: str) -> str:
    for character in reserved:
        text = text.replace(character, "\\" + {"\t": "t", "\n": "n", "\r": "r"}.get(character, character))
    return text


def in_value(text: str | None) -> str:
    return "*" if text is None else escaped(text, "\\[]|_;\t\n*").replace("->", "\\->")


def spelled(document: Document, escape_tokens: bool) -> str:
    """Return the file of a document with tokens, sentences and mentions of one span in tokens."""
    text, tokens = document.text, [(int(start), int(end)) for start, end in document.tokens]
    rows: list[tuple[int, int, int]] = []  # token, start, end
    covered: dict[tuple[int, int, int], list[int]] = {}
    numbers = count(1)
    for which, mention in enumerate(document.mentions):
        for token, (start, end) in enumerate(tokens):
            low, high = max(start, mention.start), min(end, mention.end)
            if low < high:
                covered.setdefault((token, low, high), []).append(which)
    for token, (start, end) in enumerate(tokens):
        rows += [(token, start, end), *sorted(row for row in covered if row[0] == token and row[1:] != (start, end))]
    several = {which for held in covered.values() for which in held if len(held) > 1}
    for which in range(len(document.mentions)):
        several |= {which} if sum(which in held for held in covered.values()) > 1 else set()
    named = {which: f"[{next(numbers)}]" for which in sorted(several)}
    lines = [HEAD.rstrip("\n"), ""]
    for number, (first, end) in enumerate(document.sentences.tolist(), start=1):
        stop = tokens[end - 1][1]
        shown = [escaped(line, "\\\t\r") for line in text[tokens[first][0] : stop].split("\n")]
        lines += ["", *(f"#Text={line}" for line in shown)]
        part = 0
        for token, low, high in rows:
            if not first <= token < end:
                continue
            part = 0 if (low, high) == tokens[token] else part + 1
            held = covered.get((token, low, high), [])
            mentions = [(document.mentions[which], named.get(which, "")) for which in held]
            concepts = [in_value(next(iter(one.concepts), None)) + mark for one, mark in mentions]
            types = [in_value(one.type) + mark for one, mark in mentions]
            surface = escaped(text[low:high], "\\[]|_*") if escape_tokens else text[low:high]
            place = f"{number}-{token - first + 1}" + (f".{part}" if part else "")
            offsets = f"{units(text[:low])}-{units(text[:high])}"
            pos = "_" if part else in_value(document.columns["pos"][token])
            cells = [place, offsets, surface, pos, "|".join(concepts) or "_", "|".join(types) or "_"]
            lines.append("\t".join(cells) + "\t")
    return "\n".join(lines) + "\n"


WORDS = st.text(st.sampled_from("abЖ💊𝒳患\\_[]|*#;-> "), min_size=1, max_size=4).map(
    lambda word: word.replace(" ", "x")
)
VALUES = st.text(st.sampled_from("aB💊\\_[]|*;->\t\n1 "), min_size=1, max_size=5)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text, tokens, sentences = draw(st.sampled_from(["", "  "])), [], []
    for number in range(draw(st.integers(1, 3))):
        text += draw(st.sampled_from(["", "\n", "\n  "])) if number else ""
        first = len(tokens)
        for place in range(draw(st.integers(1, 4))):
            text += draw(st.sampled_from(["", " ", "\n", "\t", " \r"])) if place else ""
            word = draw(WORDS)
            tokens.append((len(text), len(text) + len(word)))
            text += word
        sentences.append((first, len(tokens)))
    mentions = []
    for _ in range(draw(st.integers(0, 4))):
        low, high = sorted(draw(st.tuples(*[st.integers(0, len(tokens) - 1)] * 2)))
        start = draw(st.integers(tokens[low][0], tokens[low][1] - 1))
        end = draw(st.integers(max(start, tokens[high][0]) + 1, tokens[high][1]))
        mentions.append(Mention(draw(VALUES), [(start, end)], concepts=draw(st.lists(VALUES, max_size=1))))
    pos = draw(st.lists(VALUES, min_size=len(tokens), max_size=len(tokens)))
    return Document(text, "a", tokens, sentences, {"pos": pos}, mentions)


def by_place(document: Document) -> list[tuple[object, ...]]:
    return sorted((one.start, one.end, one.type, one.concepts) for one in document.mentions)


@settings(deadline=None, max_examples=150)
@given(documents(), st.booleans())
def test_what_a_writer_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, document: Document, escape_tokens: bool
) -> None:
    again = only(tmp_path_factory.getbasetemp() / "a.tsv", spelled(document, escape_tokens))
    assert again.copy(mentions=[]) == document.copy(mentions=[])
    assert by_place(again) == by_place(document)


@settings(deadline=None, max_examples=150)
@given(documents(), st.data())
def test_a_damaged_file_is_read_or_told(
    tmp_path_factory: pytest.TempPathFactory, document: Document, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.tsv"
    text = spelled(document, escape_tokens=False)
    start, end = sorted(data.draw(st.tuples(*[st.integers(24, len(text))] * 2)))
    more = data.draw(st.text(st.sampled_from("\t\n|[]\\_*-.19a💊#"), max_size=3))
    path.write_text(text[:start] + more + text[min(end, start + 5) :], encoding="utf-8", newline="")
    errors = [problem for problem in validate(path) if problem.severity == "error"]
    assert all(problem.path == str(path) and (problem.line or 0) > 0 for problem in errors if problem.kind[0] == "W")
    if errors:
        with pytest.raises(DataError):
            list(read(path, notice=lambda _: None))
    else:
        assert len(list(read(path, notice=lambda _: None))) == 1


# --- files by hand

NOTE = f"""#FORMAT=WebAnno TSV 3.2
#T_SP={POS}|coarseValue|PosValue
#T_SP={LEMMA}|value
#T_SP={ENTITY}|identifier|value
#T_SP=webanno.custom.Sure|
#T_SP=webanno.custom.Frame|ROLE_webanno.custom.Frame:Slots_webanno.custom.Link|uima.tcas.Annotation|kind
#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink|referenceType|referenceRelation
#T_RL=webanno.custom.Of|BT_{ENTITY}


#Text=No chest\\tpain 💊.
1-1\t0-2\tNo\t*\tDT\tno\t_\t_\t*\t_\t_\t_\t_\t_\t_\t
1-2\t3-8\tchest\tNOUN\tNN\tchest\tUMLS:C0008031[1]|*[2]\tproblem[1]|anatomy[2]\t_\tagent;it\t1-1;1-3[9]\tbe\t_\t_\t_\t
1-3\t9-13\tpain\tNOUN\tNN\tpain\tUMLS:C0008031[1]\tproblem[1]\t_\t_\t_\t_\tpr[1]\tis->1-1\t1-2[1_0]\t
1-4\t14-16\t💊\t_\t_\t_\t_\t_\t_\t_\t_\t_\t_\t_\t_\t
1-4.1\t16-16\t\t_\t_\t_\t*\tdrug\t_\t_\t_\t_\t_\t_\t_\t
1-5\t16-17\t.\t*\t.\t.\t_\t_\t_\t_\t_\t_\t_\t_\t_\t
"""


def test_each_kind_of_layer(tmp_path: Path) -> None:
    document = only(tmp_path / "note.tsv", NOTE)
    assert (document.id, document.text) == ("note", "No chest\tpain 💊.")
    assert found(document) == [("Sure", "No"), ("problem", "chest\tpain"), ("anatomy", "chest"), ("be", "chest")]
    assert [mention.concepts for mention in document.mentions] == [(), ("UMLS:C0008031",), (), ()]
    assert document.columns == {"pos": ["DT", "NN", "NN", "", "."], "lemma": ["no", "chest", "pain", "", "."]}
    assert document.words == ["No", "chest", "pain", "💊", "."]
    assert document.meta["webanno"]["not_read"] == {
        f"{POS}|coarseValue": 2,
        "webanno.custom.Frame|ROLE_webanno.custom.Frame:Slots_webanno.custom.Link": 1,
        "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink": 1,
        "webanno.custom.Of": 1,
        "empty annotations": 1,
    }


def test_what_is_not_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "note.tsv").write_text(NOTE, encoding="utf-8")
    told: list[str] = []
    list(read(tmp_path / "note.tsv", notice=told.append))
    assert len(told) == 1
    assert "annotations and features that are not read: 2 " in told[0]
    assert "webanno.custom.Of" in told[0]


def test_types_choose_the_layers(tmp_path: Path) -> None:
    document = only(tmp_path / "note.tsv", NOTE, types=["webanno.custom.Frame", POS])
    assert ("be", "chest") in found(document)
    assert ("NOUN", "pain") in found(document)
    assert not {"problem", "Sure"} & {mention.type for mention in document.mentions}
    assert document.meta["webanno"]["not_read"][ENTITY] == 4


def test_text_between_sentences(tmp_path: Path) -> None:
    rows = (
        "#Text=💊\n1-1\t3-5\t💊\t_\t_\t_\t\n\n#Sentence.id=s2\n#Text=a\n#Text=\n#Text=b\n"
        "2-1\t8-9\ta\t_\t_\t_\t\n2-2\t11-12\tb\t_\t_\t_\n\n#Text=c\n3-1\t12-13\tc\t_\t_\t_\n"
    )
    document = only(tmp_path / "a.tsv", HEAD + rows)
    assert document.text == "   💊\n  a\n\nbc"
    assert document.sentences.tolist() == [[0, 1], [1, 3], [3, 4]]
    assert document.columns == {}
    assert only(tmp_path / "b.tsv", (HEAD + rows).replace("\n", "\r\n")).text == document.text
    assert only(tmp_path / "c.tsv", "\ufeff" + HEAD + rows).text == document.text


def test_the_content_wins_over_the_ending(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.tsv").write_text(NOTE, encoding="utf-8")
    (tmp_path / "in" / "b.tsv.gz").write_bytes(gzip.compress(NOTE.encode()))
    (tmp_path / "in" / "c.tsv").write_text("id\ttext\nx\tMild pain.\n")
    documents = list(read(tmp_path / "in", notice=lambda _: None))
    assert [document.id for document in documents] == ["a", "b", "x"]
    assert documents[0].mentions == documents[1].mentions
    write(documents, tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8").startswith("doc_id\t")


def test_it_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="webanno is read, not written"):
        write([Document("a")], tmp_path / "a.tsv", format="webanno")
    assert list(tmp_path.iterdir()) == []


# --- malformed lines: rows that stand for the third row of SOUND -> line and message

SOUND = [
    "#Text=Mild 💊 pain.",
    "1-1\t0-4\tMild\tJJ\t*[1]\tx[1]\t",
    "1-2\t5-7\t💊\tNN\t*[1]\tx[1]\t",
    "1-3\t8-12\tpain\tNN\t_\t_\t",
    "1-3.1\t8-10\tpa\t_\t_\t_\t",
]
ROWS = {
    "too few columns": ("1-2\t5-7", "found 2 columns in '1-2\\t5-7', expected 6, between tabs"),
    "too many columns": ("1-2\t5-7\t💊\t_\t_\t_\t_\t", "found 8 columns"),
    "no row": ("pain", "found 1 columns in 'pain', expected 6"),
    "a late layer": ("#T_SP=x|y", "found 1 columns in '#T_SP=x|y', expected 6"),
    "number": ("1_2\t5-7\t💊\tNN\t_\t_\t", "found '1_2', expected the number of a token, as 1-2"),
    "a huge number": (f"1-{'9' * 40}\t5-7\t💊\tNN\t_\t_\t", "expected the number of a token"),
    "offsets": ("1-2\t5\t💊\tNN\t_\t_\t", "found '5', expected start and end of '💊', as 0-4"),
    "negative offsets": ("1-2\t-5-7\t💊\tNN\t_\t_\t", "found '-5-7', expected start and end"),
    "order": ("1-7\t5-7\t💊\tNN\t_\t_\t", "found the row 1-7, expected 1-2 or 1-1.1"),
    "another sentence": ("2-1\t5-7\t💊\tNN\t_\t_\t", "found the row 2-1, expected 1-2 or 1-1.1"),
    "surface": ("1-2\t5-7\tx\tNN\t_\t_\t", "found 'x' at 5-7, expected '💊', which '#Text=' has there"),
    "characters": ("1-2\t5-6\t💊\tNN\t_\t_\t", "found '💊' at 5-6, outside its sentence or within a character"),
    "outside": ("1-2\t5-99\t💊\tNN\t_\t_\t", "found '💊' at 5-99, outside its sentence"),
    "overlap": ("1-2\t3-7\td 💊\tNN\t_\t_\t", "found 'd 💊' at 3-7, expected a place behind the token before it"),
    "empty token": ("1-2\t5-5\t\tNN\t_\t_\t", "found '' at 5-5, expected a place behind the token before it"),
    "backwards": ("1-2\t7-5\t💊\tNN\t_\t_\t", "with its start before its end"),
    "part outside": ("1-1.1\t5-7\t💊\tNN\t_\t_\t", "found '💊' at 5-7, expected a place inside its token"),
    "bracket": ("1-2\t5-7\t💊\tNN\t*\ta[b\t", r"found the value 'a[b', expected [ ] and \ as \[ \] \\"),
    "backslash": ("1-2\t5-7\t💊\tNN\t*\ta\\\t", "found the value 'a\\\\', expected"),
    "no number": ("1-2\t5-7\t💊\tNN\t*[x]\ta[x]\t", "found the value '*[x]', expected"),
    "stacks": (
        "1-2\t5-7\t💊\tNN\tC:1\ta|b\t",
        f"found 'C:1' and 'a|b' in the columns of {ENTITY}, expected as many values",
    ),
    "two numbers": ("1-2\t5-7\t💊\tNN\t*[1]\ta[2]\t", "found [1] and [2] in the columns of one annotation of"),
    "another type": ("1-2\t5-7\t💊\tNN\t*[1]\ty[1]\t", f"found y for the annotation [1] of {ENTITY}, expected x"),
    "twice": ("1-2\t5-7\t💊\tNN\t*[1]|*[1]\tx[1]|x[1]\t", f"found the annotation [1] of {ENTITY} twice"),
}


def check(path: Path, lines: list[str], expected: list[tuple[int, str]], head: str = HEAD) -> None:
    path.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    errors = [problem for problem in validate(path) if problem.severity == "error"]
    assert [(problem.path, problem.line) for problem in errors] == [(str(path), line) for line, _ in expected]
    for problem, (_, message) in zip(errors, expected, strict=True):
        assert message.replace("'", "") in problem.message.replace("'", "")
        assert len(str(problem)) < 500
    with pytest.raises(DataError) as caught:
        list(read(path))
    assert (caught.value.path, caught.value.line) == (str(path), expected[0][0])


@pytest.mark.parametrize("case", ROWS)
def test_a_malformed_row_is_one_error(tmp_path: Path, case: str) -> None:
    row, message = ROWS[case]
    lines = [*SOUND[:2], row, *(SOUND[3:] if not row.startswith("1-1.1") else [])]
    check(tmp_path / "a.tsv", lines, [(8, message)])


def test_all_malformed_rows_are_listed(tmp_path: Path) -> None:
    few = "found 1 columns"
    check(tmp_path / "a.tsv", ["#Text=a b", "x", "y", "1-3\t2-3\tb\t_\t_\t_", "z"], [(7, few), (8, few), (10, few)])


def test_parts_of_a_wrong_token_are_no_errors_of_their_own(tmp_path: Path) -> None:
    lines = [
        *SOUND[:3],
        SOUND[3].replace("pain", "Pain"),
        SOUND[4],
        SOUND[4].replace("3.1", "3.2").replace("-10", "-9"),
    ]
    check(tmp_path / "a.tsv", lines, [(9, "found 'Pain' at 8-12, expected 'pain'")])
    check(tmp_path / "a.tsv", [*SOUND, lines[-1]], [(11, "found 'pa' at 8-9, expected 'p'")])


def test_sentences_that_are_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    check(path, SOUND[1:3], [(6, "found the row 1-1, expected '#Text='")])
    check(path, [*SOUND[:2], "", *SOUND[2:]], [(9, "found the row 1-2, expected '#Text='")])
    check(path, [*SOUND, "", "#Text=a", "", "#Text=b"], [(12, "found #Text= without a token"), (14, "without a token")])
    again = ["", *SOUND[:1], *(row.replace("1-", "2-", 1) for row in SOUND[1:])]
    check(path, [*SOUND, *again], [(13, "found a sentence at 0, expected 13 or more, where the one before it ends")])


def test_offsets_that_would_fill_the_memory(tmp_path: Path) -> None:
    far = "1-1\t999999998-999999999\ta\t_\t_\t_"
    check(tmp_path / "a.tsv", ["#Text=a", far], [(7, "found a sentence at 999999998, 999999998 behind the one before")])


def test_a_number_that_comes_back_is_no_gap(tmp_path: Path) -> None:
    lines = [*SOUND[:2], "1-2\t5-7\t💊\t_\t_\t_", "1-3\t8-12\tpain\t_\t*[1]\tx[1]"]
    message = f"found the annotation [1] of {ENTITY} as in line 7, with tokens without it between"
    check(tmp_path / "a.tsv", lines, [(9, message)])


@pytest.mark.parametrize("version", ["3.1", "3.4", "3.3x", "3."])
def test_other_versions_are_refused(tmp_path: Path, version: str) -> None:
    (tmp_path / "a.tsv").write_text(f"#FORMAT=WebAnno TSV {version}\n\n\n#Text=a\n1-1\t0-1\ta\n")
    with pytest.raises(DataError, match=r"a\.tsv:1: found '#FORMAT.*expected '#FORMAT=WebAnno TSV 3\.2' or 3\.3"):
        list(read(tmp_path / "a.tsv"))


def test_headers(tmp_path: Path) -> None:
    check(tmp_path / "a.tsv", [], [(2, "found '#T_XX=a|b', expected '#T_SP='")], "#FORMAT=WebAnno TSV 3.3\n#T_XX=a|b\n")
    (tmp_path / "a.tsv").write_text(HEAD)
    with pytest.raises(DataError, match="the file holds no document; expected '#Text=' lines"):
        list(read(tmp_path / "a.tsv"))
    plain = only(tmp_path / "b.tsv", "#FORMAT=WebAnno TSV 3.3\n\n#Text=a\\\\tb\n1-1\t0-4\ta\\tb\t\n")
    assert (plain.text, plain.tokens.tolist(), plain.mentions) == ("a\\tb", [[0, 4]], [])
    with pytest.raises(DataError, match="byte 7 of the line is 0xFF"):
        (tmp_path / "c.tsv").write_bytes(HEAD.encode() + b"#Text=\xff\n")
        list(read(tmp_path / "c.tsv"))


def test_time_grows_with_the_size(tmp_path: Path) -> None:
    def seconds(times: int) -> float:
        rows = [f"1-{i + 1}\t{2 * i}-{2 * i + 1}\ta\t_\t*[1]|*[{i + 2}]\tx[1]|y[{i + 2}]" for i in range(times)]
        (tmp_path / "a.tsv").write_text(f"{HEAD}#Text={'a ' * times}\n" + "\n".join(rows), encoding="utf-8")
        begin = process_time()
        assert sum(len(document.mentions) for document in read(tmp_path / "a.tsv")) == times + 1
        return process_time() - begin

    times = [min(seconds(size) for _ in range(3)) for size in (2000, 8000)]
    assert all(after < 9 * before for before, after in pairwise(times))


# --- files that other tools than INCEpTION write


def test_comments_stand_anywhere_and_are_kept(tmp_path: Path) -> None:
    rows = ["#Summary1=A man has pain.", "", *SOUND[:1], "# one", *SOUND[1:2], "#two", *SOUND[2:4], "", "#end"]
    document = only(tmp_path / "a.tsv", "#first\n\n" + HEAD + "\n".join(rows) + "\n")
    assert (document.text, found(document)) == ("Mild 💊 pain.", [("x", "Mild 💊")])
    assert document.meta["webanno"]["comments"] == ["#first", "#Summary1=A man has pain.", "# one", "#two", "#end"]


def test_missing_values_are_filled_up_and_reported(tmp_path: Path) -> None:
    head = "#FORMAT=WebAnno TSV 3.2\n#T_SP=custom.Referent|entity|infstat|identifier\n\n#Text=Chest pain .\n"
    rows = (
        "1-1\t0-5\tChest\tabstract[1]|object[2]\tnew[1]|new[2]\tC:2[2]\n1-2\t6-10\tpain\t*[1]\tnew[1]\t\n"
        "1-3\t11-12\t.\n"
    )
    document = only(tmp_path / "a.tsv", head + rows)
    assert found(document) == [("abstract", "Chest pain"), ("object", "Chest")]
    assert [mention.concepts for mention in document.mentions] == [(), ("C:2",)]
    problems = [problem for problem in validate(tmp_path / "a.tsv") if problem.kind == "missing values"]
    assert [(problem.line, problem.severity, problem.altered) for problem in problems] == [
        (6, "warning", True),
        (7, "warning", True),
    ]
    unsaid = only(tmp_path / "b.tsv", head + "1-1\t0-5\tChest\ta|b\t*\t_\n1-2\t6-10\tpain\t_\t_\t_\n")
    assert found(unsaid) == [("a", "Chest"), ("b", "Chest")]


def test_a_file_that_names_no_layer(tmp_path: Path) -> None:
    rows = "#Text=Chest pain\n1-1\t0-5\tChest\tx[1]|y[2]\tnew[1]|new[2]\t\n1-2\t6-10\tpain\tx[1]\tnew[1]\t\n"
    path = tmp_path / "a.tsv"
    path.write_text("#FORMAT=WebAnno TSV 3.3\n\n" + rows)
    told: list[str] = []
    [document] = read(path, notice=told.append)
    assert found(document) == [("x", "Chest pain"), ("y", "Chest")]
    assert f"{path}:4: no line '#T_SP=' names the layers: column 4 is read as the type" in " ".join(told)
