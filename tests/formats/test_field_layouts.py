"""Layouts of published corpora and tools: each is read right, or one line tells what was found and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanloom import Mention, read
from spanloom.errors import SpanloomError
from spanloom.formats import from_record

TEXT = "John Smith visited London."
BOTH = ["John Smith/PER", "London/LOC"]
PAIRS = [[0, 10, "PER"], [19, 25, "LOC"]]


def found(path: Path, **options: Any) -> tuple[list[str], list[str]]:
    """Return the mentions of a file as ``TEXT/TYPE``, and the notices."""
    told: list[str] = []
    mentions = [
        f"{mention.text(document.text)}/{mention.type}"
        for document in read(path, notice=told.append, **options)
        for mention in document.mentions
    ]
    return mentions, told


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


MARKED = {
    "OpenNLP": ("He took <START:drug> aspirin <END> .\n", ["aspirin/drug"], "He took aspirin .\n"),
    "OpenNLP without types": ("<START> Vinken <END> ran .\n", ["Vinken/mention"], "Vinken ran .\n"),
    "CNEC": ("<P<pf Jan> <ps Novák>> v <gu Praze>.\n", ["Jan Novák/P", "Jan/pf", "Novák/ps", "Praze/gu"], None),
    "Flair": ("Ann <B-PER> Lee <E-PER> left Rome <S-LOC> .\n", ["Ann Lee/PER", "Rome/LOC"], "Ann Lee left Rome ."),
    "Illinois": ("[PER Wolff ] left [LOC New York] .\n", ["Wolff/PER", "New York/LOC"], "Wolff left New York .\n"),
    "bars": ("Took [aspirin|DRUG].\n", ["aspirin/DRUG"], "Took aspirin.\n"),
    "braces": ('From [Rome]{"entity": "city"} to [Bonn](city)\n', ["Rome/city", "Bonn/city"], "From Rome to Bonn\n"),
    "colons": ("<한국은행:ORG> 총재\n", ["한국은행/ORG"], "한국은행 총재\n"),
    "MASSIVE": ("wake me on [date : friday]\n", ["friday/date"], "wake me on friday\n"),
    "other brackets": ("{PER: John} saw {LOC: Rome}\n", ["John/PER", "Rome/LOC"], "John saw Rome\n"),
    "two braces": ("{{PER|John}} ran\n", ["John/PER"], "John ran\n"),
    "bars within angles": ("<John|PER> ran\n", ["John/PER"], "John ran\n"),
    "types behind": ("[John]PER saw [Rome]_LOC\n", ["John/PER", "Rome/LOC"], "John saw Rome\n"),
    "empty elements": ("<B-PER/>John Smith<E-PER/> ran\n", ["John Smith/PER"], "John Smith ran\n"),
    "KILT": ("in [START_ENT] Rome [END_ENT] .\n", ["Rome/ENT"], "in Rome .\n"),
    "IEER": ('<b_enamex type="PER">Kohl<e_enamex> ran\n', ["Kohl/PER"], "Kohl ran\n"),
}


@pytest.mark.parametrize(("content", "expected", "text"), MARKED.values(), ids=MARKED)
def test_marks_within_a_text(tmp_path: Path, content: str, expected: list[str], text: str | None) -> None:
    path = written(tmp_path, "a.txt", content)
    mentions, told = found(path)
    assert (mentions, len(told)) == ([], 1)  # a text, but it is reported how it is read otherwise
    assert "--input-format markup" in told[0]
    mentions, told = found(path, format="markup")
    assert mentions == expected
    assert told[0].startswith(f"{path}: taken for mentions: <")
    assert text is None or [document.text for document in read(path, format="markup", notice=told.append)] == [text]


def test_marks_show_the_format_of_a_file_of_any_name(tmp_path: Path) -> None:
    content = "Mr . <START:person> Vinken <END> ran .\n"
    assert found(written(tmp_path, "en-ner.train", content))[0] == ["Vinken/person"]
    with pytest.raises(SpanloomError, match=r"does not determine the format.* this one begins with 'no pain'"):
        read(written(tmp_path, "en-ner.data", "no pain"))


@pytest.mark.parametrize(("content", "kind"), [
    ('Sentence[2]: "Rome is" → ["Rome"/LOC]\n', "sentences as Flair prints them"),
    ("The @@aspirin## helps.\n", "mentions as @@TEXT##"),
    ("Links to [[Rome]].\n", "a text with [[...]]"),
    ("胸痛。|||0 1 dis|||\n", "offsets behind each"),
    ("IL-2 binds it\nNN VB PRP\n0,1 G#DNA|0,2 NAME\n", "ranges of tokens"),
    ('m="aspirin" 1:1 1:1||do="nm"\n', "entries of i2b2 2009"),
    ("aspirin\tdrug\nand\tother\nibuprofen\tdrug\nBayer\tbrand\npills\tdrug\n", "a column file"),
    ("John 1\nran 0\nSmith 2\nand 0\n", "tags are numbers"),
    ("John ran .\nB-PER O O\n\nIt rained .\nO O O\n", "lines of words and lines of their tags"),
    ("aspirin\tDrug\nand\tO\nibuprofen\tDrug\nBayer\tBrand\ntablets\tDrug\n", "a column file"),
    ("1|t|John ran.\n1\t0\t4\tJohn\tPER\tX\n", "--input-format pubtator"),
    ("SYS\tQ1\tJohn Smith\td1:0-9\tE1\tPER\tNAM\n", "a table of mentions"),
    ("政府/n 恢复/v " * 20, "words with a tag behind each"),
])  # fmt: skip
def test_texts_that_look_annotated(tmp_path: Path, content: str, kind: str) -> None:
    mentions, [told] = found(written(tmp_path, "a.txt", content))
    assert mentions == []
    assert kind in told


@pytest.mark.parametrize("content", [
    "Pt [PATIENT NAME] of [HOSPITAL NAME], T <38, HR >60, pain <5/10; see [1].\n",
    "if a < b and c > d then x <y z> w.\n",
    "From: Ann <ann.b@x.org>\n",
    "fever\tyes\ncough\tno\npain\tyes\nnausea\tno\n",
    "WBC\t12\nHgb\t9\nPlt\t300\n",
    "and/or he/she 1/2 w/o c/o n/v\n",
    "[TESE and mTESE. Options in male infertility.] was [AUC (SD) in mg/dl/h; 25 +/- 3].\n",
])  # fmt: skip
def test_texts_that_do_not_look_annotated(tmp_path: Path, content: str) -> None:
    assert found(written(tmp_path, "a.txt", content)) == ([], [])


def test_sgml_with_several_documents(tmp_path: Path) -> None:
    parts = [
        f'<DOC>\n<DOCNO> {name} </DOCNO>\n<TEXT>\n<p>\nI saw <ENAMEX TYPE="PER">{who}</ENAMEX>.\n</TEXT>\n</DOC>\n'
        for name, who in (("A1", "Jo"), ("A2", "Al"))
    ]
    path = written(tmp_path, "a.sgm", "".join(parts))
    assert found(path)[0] == ["Jo/PER", "Al/PER"]
    assert [document.id for document in read(path, notice=lambda _: None)] == ["A1", "A2"]


def test_elements_taken_for_mentions_are_reported(tmp_path: Path) -> None:
    shape = "<b>very</b> <i>x</i> <em>e</em> <strong>s</strong> <sub>2</sub> <sup>3</sup> <a href='x'>l</a> <br/>"
    body = f"<p>No {shape} <span>t</span> <drug>aspirin</drug> <span class='PER'>Jo</span> left</p>"
    path = written(tmp_path, "a.xml", f"<doc>{body}</doc>")
    mentions, told = found(path)
    assert mentions == ["aspirin/drug", "Jo/PER"]
    [document] = read(path, notice=told.append)
    assert document.text.strip() == "No very x e s 2 3 l \nt aspirin Jo left"
    del told[1:]
    assert told == [
        f"{path}: taken for mentions: <drug> (1), <span> (1); to choose among them, name their types (--types A,B)"
    ]


@pytest.mark.parametrize(("body", "expected"), [
    ('<P>O <EM ID="1" CATEG="PESSOA">Ana</EM> foi.</P>', ["Ana/PESSOA"]),  # HAREM
    ('<p>A <named-content content-type="gene">BRCA1</named-content> x.</p>', ["BRCA1/gene"]),  # JATS
    ('<sentence><ne type="gu"><token>Praha</token></ne> <token>je</token></sentence>', ["Praha/gu"]),  # NameTag
    ('<x:s xmlns:x="u">A <x:drug>as<sub>2</sub>p</x:drug> end.</x:s>', ["as2p/drug"]),
    ('<content>No pain</content><ann start="3" end="7" type="P"/>', ["pain/P"]),
    ('<sentence id="1"><text>Good pizza.</text><Opinion target="pizza" category="FOOD" from="5" to="10"/></sentence>',
     ["pizza/FOOD"]),  # SemEval
])  # fmt: skip
def test_elements_of_other_corpora(tmp_path: Path, body: str, expected: list[str]) -> None:
    assert found(written(tmp_path, "a.xml", f"<doc>{body}</doc>"))[0] == expected


def test_features_and_tokens_of_gate_are_no_mentions(tmp_path: Path) -> None:
    feature = "<Feature><Name>gender</Name><Value>male</Value></Feature>"
    path = written(tmp_path, "a.xml", (
        '<GateDocument><TextWithNodes><Node id="0"/>John<Node id="4"/> ran</TextWithNodes><AnnotationSet>'
        f'<Annotation Id="1" Type="Person" StartNode="0" EndNode="4">{feature}</Annotation>'
        '<Annotation Id="2" Type="Token" StartNode="0" EndNode="4"/></AnnotationSet></GateDocument>'
    ))  # fmt: skip
    mentions, [told] = found(path)
    assert mentions == ["John/Person"]
    assert "annotations that divide the text, and are no mentions, are left out: 'Token' (1)" in told


@pytest.mark.parametrize(("name", "content", "kind"), [
    ("a.xml", "<FoLiA xml:id='x'><w><t>Jo</t></w></FoLiA>", "FoLiA in XML"),
    ("a.xml", "<NAF><raw>Jo ran</raw><text><wf offset='0' length='2'>Jo</wf></text></NAF>", "NAF in XML"),
    ("a.xml", "<D-Spin><TextCorpus lang='de'><text>Jo</text></TextCorpus></D-Spin>", "TCF in XML"),
    ("a.xml", "<DOC>\n<DOCNO>1</DOCNO><TEXT>Jo ran</TEXT></DOC>", "documents of TREC"),
    ("a.xml", "<deft_ere doc_id='d'><entity_mention offset='0' length='2'/></deft_ere>", "Rich ERE"),
    ("a.ttl", "@prefix nif: <http://x#> .\n", "RDF, whose annotation"),
    ("a.txt", "@prefix nif: <http://x#> .\n", "RDF, whose annotation"),
    ("a.json", {"form": [{"box": [0, 0, 1, 1], "text": "Date:", "label": "question"}]}, "a form of FUNSD"),
    ("a.ann.json", {"annotatable": {"parts": ["s1"]}, "entities": [{"offsets": [{"start": 0, "text": "Jo"}]}]},
     "annotations of tagtog"),
    ("a.tsv", "aspirin\tDrug\nand\tO\nibuprofen\tDrug\nBayer\tBrand\ntablets\tDrug\n", "looks like a column file"),
    ("a.jsonl", {"textGcsUri": "gs://b/d.txt", "textSegmentAnnotations": [
        {"startOffset": 0, "endOffset": 4, "displayName": "PER"}]}, "which textSegmentAnnotations is about; write"),
    ("a.json", {"questions": [{"body": "q"}]}, "the fields are 'questions'"),
    ("a.jsonl", {"text": TEXT, "annotations": [{"start": 0, "end": 4}]}, "name its field (--columns type=NAME)"),
])  # fmt: skip
def test_files_that_are_refused_with_advice(tmp_path: Path, name: str, content: Any, kind: str) -> None:
    with pytest.raises(SpanloomError) as error:
        found(written(tmp_path, name, content))
    assert kind in str(error.value)
    assert "\n" not in str(error.value)


RECORDS = {
    "parallel lists": {"text": TEXT, "starts": [0, 19], "ends": [10, 25], "labels": ["PER", "LOC"]},
    "spans and types": {"text": TEXT, "entity_spans": [[0, 10], [19, 25]], "entity_types": ["PER", "LOC"]},
    "pieces": {"data": [{"text": "John Smith", "entity": "PER"}, {"text": " visited "},
                        {"text": "London", "entity": "LOC"}]},
    "Kili": {"content": TEXT, "labels": [{"author": {"email": "a@b"}, "jsonResponse": {"JOB": {"annotations": [
        {"categories": [{"name": kind}], "beginOffset": start, "endOffset": end} for start, end, kind in PAIRS]}}}]},
    "ELG": {"request": {"content": TEXT}, "response": {"annotations": {
        "PER": [{"start": 0, "end": 10}], "LOC": [{"start": 19, "end": 25}]}}},
    "indices": {"text": TEXT, "entities": {"PER": [{"indices": [0, 10]}], "LOC": [{"indices": [19, 25]}]}},
    "LUIS": {"text": TEXT, "entities": [
        {"startPos": start, "endPos": end - 1, "entity": kind} for start, end, kind in PAIRS]},
    "boundaries": {"text": TEXT, "entities": [
        {"boundaries": [start, end], "surfaceform": TEXT[start:end], "type": kind} for start, end, kind in PAIRS]},
    "Spotlight": {"@text": TEXT, "Resources": [
        {"@surfaceForm": TEXT[start:end], "@offset": str(start), "@types": kind} for start, end, kind in PAIRS]},
    "viewer": {"features": [{"name": "ner_tags", "type": {"feature": {
        "names": ["O", "B-PER", "I-PER", "B-LOC"], "_type": "ClassLabel"}}}],
        "rows": [{"row": {"tokens": ["John", "Smith", "visited", "London"], "ner_tags": [1, 2, 0, 3]}}]},
    "tokens with tags": {"tokens": [{"text": "John", "tag": "B-PER"}, {"text": "Smith", "tag": "I-PER"},
                                    {"text": "saw", "tag": "O"}, {"text": "London", "tag": "B-LOC"}]},
    "sentences of words and tags": {"sentences": [{"words": ["John", "Smith", "saw", "London"],
                                                   "named_entities": ["B-PER", "I-PER", "O", "B-LOC"]}]},
    "Trankit": {"text": TEXT, "sentences": [{"id": 1, "text": TEXT, "tokens": [
        {"id": 1, "text": "John", "ner": "B-PER", "dspan": [0, 4]}, {"id": 2, "text": "Smith", "ner": "E-PER"},
        {"id": 3, "text": "visited", "ner": "O"}, {"id": 4, "text": "London", "ner": "S-LOC"},
        {"id": 5, "text": ".", "ner": "O"}]}]},
    "types of entities with several mentions": {"tokens": [["John", "Smith", "saw", "London"]], "entities": [
        {"type": kind, "mention": [{"mention": text, "sent_id": 0, "offset": span}]}
        for kind, text, span in (("PER", "John Smith", [0, 2]), ("LOC", "London", [3, 4]))]},
    "CoreNLP without numbers of tokens": {"sentences": [{"tokens": [
        {"word": word, "characterOffsetBegin": start, "characterOffsetEnd": start + len(word), "ner": kind}
        for word, start, kind in (("John", 0, "PER"), ("Smith", 5, "PER"), ("saw", 11, "O"), ("London", 15, "LOC"))],
        "entitymentions": [{"text": "John Smith", "ner": "PER"}]}]},
}  # fmt: skip


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_records_of_other_shapes(tmp_path: Path, record: Any) -> None:
    assert found(written(tmp_path, "a.json", record)) == (BOTH, [])


def test_as_many_words_as_parts_of_a_mention(tmp_path: Path) -> None:
    record = {"tokenized_text": ["John", "Smith", "ran"], "ner": [[0, 1, "PER"]]}
    assert found(written(tmp_path, "a.jsonl", record)) == (["John Smith/PER"], [])


@pytest.mark.parametrize(("tags", "expected", "kind"), [
    (["PER-B", "O"], ["John/PER"], "a type and a letter, such as PER-B"),
    (["B_PER", "O"], ["John/PER"], "tags such as B_PER"),
    (["B-PER|B-X", "O"], ["John/PER", "John/X"], "several tags with | between them"),
    (["PER_NAME", "O"], ["John/PER_NAME"], None),
])  # fmt: skip
def test_tags_of_records_in_other_dialects(tmp_path: Path, tags: list[str], expected: list[str], kind: str) -> None:
    mentions, told = found(written(tmp_path, "a.jsonl", {"tokens": ["John", "ran"], "ner_tags": tags}))
    assert mentions == expected
    assert [kind in one for one in told] == [True] * (kind is not None)


def test_title_and_abstract_are_one_text(tmp_path: Path) -> None:
    mentions = [{"type": "LOC", "text": "London", "offsets": [19, 25]}]
    path = written(tmp_path, "a.jsonl", {"title": TEXT[:10], "abstract": TEXT[11:], "mentions": mentions})
    assert found(path) == (["London/LOC"], [])


def test_annotation_beside_a_text_that_no_format_reads(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", TEXT)
    written(tmp_path, "a.txt.ann", "T1\tPER 0 10\tJohn Smith\n")
    assert "a.txt.ann is beside it, which is not read; of brat, call it a.ann" in found(path)[1][0]


def test_further_columns_of_conllu(tmp_path: Path) -> None:
    names = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n"
    path = written(tmp_path, "a.conllup", f"{names}1\ttake{chr(9) + '_'}" + "\t_" * 7 + "\t1:LVC\n\n")
    assert "the column 'PARSEME:MWE', such as '1:LVC', is not read" in found(path)[1][0]
    rows = "".join(
        f"{n}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\t_\n" for n, word, tag in ((1, "Jo", "B-PER"), (2, "ran", "O"))
    )
    assert "XPOS holds tags of mentions, which are not read" in found(written(tmp_path, "b.conllu", rows))[1][0]


@pytest.mark.parametrize(("field", "value"), [
    ("ents", [["John Smith", "PER"]]),
    ("entities", {"John Smith": "PER"}),
    ("output", ["John Smith <> PER", "London <> LOC"]),
    ("spo_list", [{"subject": "John Smith", "subject_type": "PER", "object": {"@value": "London"}}]),
    ("extra", {"annotations": {"title": '[{"start": 0, "end": 10}]'}}),
    ("entity_list", [{"form": "John Smith", "sementity": {"type": "Person"}}]),
    ("stanford_ner", ["PERSON", "PERSON", "O", "CITY"]),
    ("h", ["john smith", "Q1", [[0, 1]]]),
    ("answers", "persName 0 10\tJohn Smith"),
    ("annotated", "<PER>John Smith</PER> visited London."),
    ("starts", [0, 19]),
    ("by_token", {"0": "B-PER", "1": "I-PER"}),
    ("responses", [{"values": {"ents": {"value": [{"start": 0, "end": 10, "label": "PER"}]}}}]),
])  # fmt: skip
def test_fields_that_look_like_annotation(tmp_path: Path, field: str, value: Any) -> None:
    mentions, [told] = found(written(tmp_path, "a.jsonl", {"text": TEXT, field: value}))
    assert mentions == []
    assert f"the field {field!r} looks like annotation and is not read; " in told


def test_described_responses_are_read_as_the_message_says(tmp_path: Path) -> None:
    value = [
        {"values": {"ents": {"value": [{"start": start, "end": end, "label": kind} for start, end, kind in PAIRS]}}}
    ]
    path = written(tmp_path, "a.jsonl", {"text": TEXT, "responses": value})
    [told] = found(path)[1]
    assert found(path, columns=told.partition("--columns ")[2].removesuffix(" (columns=)"))[0] == BOTH


@pytest.mark.parametrize(("entities", "kind"), [
    ([{"start": 0, "end": 10, "spot": "John Smith", "label": "John Smith"}], "the types of entities are the texts"),
    ([[0, 10, 1], [19, 25, 2]], "the types of entities are numbers, such as 1"),
    ([{"start": 0, "end": 10, "type": "PER", "children": [{"start": 0, "end": 4, "type": "FIRST"}]}],
     "children of a mention holds further mentions"),
])  # fmt: skip
def test_doubtful_mentions_are_reported(tmp_path: Path, entities: Any, kind: str) -> None:
    assert kind in found(written(tmp_path, "a.jsonl", {"text": TEXT, "entities": entities}))[1][0]


def test_types_that_are_tags_are_joined(tmp_path: Path) -> None:
    tags = [
        {"entity": kind, "index": number, "word": TEXT[start:end], "start": start, "end": end}
        for number, (kind, start, end) in enumerate([("B-PER", 0, 4), ("I-PER", 5, 10), ("B-LOC", 19, 25)])
    ]
    mentions, [told] = found(written(tmp_path, "a.jsonl", {"text": TEXT, "ner": tags}))
    assert mentions == BOTH
    assert "types of ner are tags such as B-PER; 3 tokens are 2 mentions" in told


def test_types_that_only_begin_as_tags_do_stay() -> None:
    cells = {"text": "mature B-cell lymphoma", "entities": [{"start": 7, "end": 22, "label": "B-cell lymphoma"}]}
    assert from_record(cells).mentions == [Mention("B-cell lymphoma", [(7, 22)])]
    mail = {"text": "to a@b.de", "entities": [{"start": 3, "end": 9, "label": "E-mail"}]}
    assert from_record(mail).mentions == [Mention("E-mail", [(3, 9)])]


def test_tokens_outside_mentions_may_have_no_tag() -> None:
    for absent in ({}, {"tag": None}):
        record = {"tokens": [{"text": "No", **absent}, {"text": "pain", "tag": "B-problem"}]}
        assert from_record(record).mentions == [Mention("problem", [(3, 7)])]


def test_documents_of_which_some_have_a_class_are_no_pieces_of_a_text(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"data": [{"text": "It rained."}, {"text": "A good film.", "label": "good"}]}))
    assert [document.text for document in read(path)] == ["It rained.", "A good film."]


def test_entities_of_xml_are_no_mentions(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<!DOCTYPE d [<!ENTITY e 'x'>]><d><s>No <problem>pain</problem> &e; now.</s></d>")
    [document] = read(path, notice=lambda _: None)
    assert [mention.type for mention in document.mentions] == ["problem"]


def test_tokens_among_mentions_of_records_are_left_out(tmp_path: Path) -> None:
    entities = [[0, 4, "Token"], *PAIRS]
    mentions, [told] = found(written(tmp_path, "a.jsonl", {"text": TEXT, "entities": entities}))
    assert mentions == BOTH
    assert "left out 1 annotation that divides the text, such as Token of entities" in told


def test_texts_of_records_with_marks_are_reported(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", {"text": "<PER>John</PER> ran to Rome"})
    assert "the text looks like one with marks around mentions" in found(path)[1][0]


def test_ends_that_cut_nearly_all_words_are_reported(tmp_path: Path) -> None:
    short = {"text": TEXT, "entities": [[start, end - 1, kind] for start, end, kind in PAIRS]}
    path = written(tmp_path, "a.jsonl", "\n".join([json.dumps(short)] * 3))
    assert "6 of the first 6 mentions end one character before the end of a word" in found(path)[1][0]
    assert found(path, offsets="inclusive") == (BOTH * 3, [])
    right = {"text": TEXT, "entities": PAIRS}
    assert found(written(tmp_path, "b.jsonl", "\n".join([json.dumps(right)] * 3)))[1] == []


@pytest.mark.parametrize(("name", "content"), [
    ("label2id.json", {"O": 0, "B-PER": 1}),
    ("config.json", {"model_type": "bert", "id2label": {"0": "O", "1": "B-PER"}}),
    ("labels.txt", "O\nB-PER\n"),
])  # fmt: skip
def test_names_of_tags_beside_the_data_are_reported(tmp_path: Path, name: str, content: Any) -> None:
    written(tmp_path, name, content)
    path = written(tmp_path, "a.jsonl", {"tokens": ["John", "ran"], "ner_tags": [1, 0]})
    mentions, [told] = found(path)
    assert mentions == ["John/PER"]
    assert f"tags are numbers; their names are those of {tmp_path / name}" in told
    assert found(path, tag_names="O,B-X") == (["John/X"], [])
    named = written(tmp_path, "b.jsonl", {"tokens": ["John", "ran"], "ner_tags": ["B-PER", "O"]})
    assert found(named) == (["John/PER"], [])


@pytest.mark.parametrize(("content", "expected"), [
    ("李0\tB-PER.NAM\n明1\tI-PER.NAM\n来0\tO\n", ["李 明/PER.NAM"]),  # Weibo
    ("en:John\tB-PER\nen:Smith\tI-PER\nen:ran\tO\n", ["John Smith/PER"]),  # WikiANN
])  # fmt: skip
def test_what_files_add_to_words_is_left_out(tmp_path: Path, content: str, expected: list[str]) -> None:
    mentions, told = found(written(tmp_path, "a.train", content))
    assert mentions == expected
    assert "all words are such as" in told[0]


def test_numbers_in_latin_words_stay(tmp_path: Path) -> None:
    assert found(written(tmp_path, "a.conll", "a1 O\nb2 B-GENE\nc3 O\n")) == (["b2/GENE"], [])


def test_columns_of_tags_alone_hold_no_words(tmp_path: Path) -> None:
    with pytest.raises(SpanloomError, match="all columns hold tags, and none holds words"):
        found(written(tmp_path, "seq.out", "B-PER I-PER\nO O\n"), format="conll")
