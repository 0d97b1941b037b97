"""Files as tools and corpora publish them, a small one of each kind: what is read, and what is reported instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spanloom.errors import SpanloomError
from spanloom.formats import read, write
from spanloom.vocabulary import read_vocabulary

TEXT = "Patient denies chest pain and took aspirin daily."
NAMES = ["O", "B-problem", "I-problem", "B-drug"]
TAGGED = {"tokens": TEXT.split(), "ner_tags": [0, 0, 1, 2, 0, 0, 3, 0]}
BOTH = ["problem: chest pain", "drug: aspirin"]
IN_BRACKETS = [
    "bc/a 0 0 In IN (TOP* - - - A * * -", "bc/a 0 1 the DT (NP* - - - A (DATE* * (1",
    "bc/a 0 2 summer NN *) - - - A *) * 1)", "bc/a 0 3 . . *) - - - A * * -",
]  # fmt: skip

# files -> mentions; the first that is named is read, or the folder if there are several
READ = {
    "brat with blanks for tabs": ({"a.txt": TEXT, "a.ann": "T1 problem 15 25 chest pain\nT2 drug 35 42 aspirin\n"}, BOTH),  # noqa: E501
    "brat with tabs for blanks": ({"a.txt": TEXT, "a.ann": "T1\tproblem\t15\t25\tchest pain\n"}, BOTH[:1]),
    "brat without texts": ({"a.txt": TEXT, "a.ann": "T1\tproblem 15 25\nT2\tdrug 35 42\t\n"}, BOTH),
    "brat with a blank in a type": ({"a.txt": TEXT, "a.ann": "T1\tthe drug 35 42\taspirin\n"}, ["the drug: aspirin"]),
    "brat with texts of two lines": (
        {"a.txt": "chest\npain now", "a.ann": "T1\tx 0 10\tchest\npain\nT2\ty 11 14\tnow\n"}, ["x: chest\npain", "y: now"],  # noqa: E501
    ),
    "BioNLP": (
        {"a.txt": TEXT, "a.a1": "T1\tproblem 15 25\tchest pain", "a.a2": "T2\tdrug 35 42\taspirin\nE1\tdrug:T2\n"}, BOTH,  # noqa: E501
    ),
    "CADEC": ({"text/a.1.txt": TEXT, "original/a.1.ann": "T1\tproblem 15 25\tchest pain\n"}, BOTH[:1]),
    "tags in small letters": ({"a.txt": "李明/nr 说/o\n来/o 吧/o\n"}, ["nr: 李明"]),
    "CoNLL-2012": (
        {"a.v4_gold_conll": "\n".join(["#begin document (bc/a); part 000", *IN_BRACKETS, "", "#end document", ""])},
        ["DATE: the summer"],
    ),
    "columns called CoNLL-U": ({"a.conllu": "0\tIn\tO\n1\tOslo\tB-LOC\n\n0\tHi\tO\n"}, ["LOC: Oslo"]),
    "a namespace of CoNLL-U Plus": (
        {"a.conllup": "# global.columns = ID FORM SIMPLE:NE\n1\tOslo\tB-LOC\n2\t.\tO\n\n"}, ["LOC: Oslo"],
    ),
    "records of another name": (
        {"a.manifest": json.dumps({"text": TEXT, "entities": [[15, 25, "problem"]]}) + "\n"}, BOTH[:1],
    ),
    "Rasa": (
        {"a.json": json.dumps({"rasa": {"common": [{"text": TEXT, "entities": [
            {"start": 15, "end": 25, "value": "chest pain", "entity": "problem"}]}]}})}, BOTH[:1],
    ),
    "UBIAI": (
        {"a.json": json.dumps([{"document": TEXT, "tokens": [
            {"text": "chest pain", "start": 15, "end": 24, "token_start": 2, "entityLabel": "problem"}]}])}, BOTH[:1],
    ),
    "a card of Hugging Face": (
        {"a.jsonl": json.dumps(TAGGED), "README.md": "---\nfeatures:\n- name: tokens\n  sequence: string\n- name: ner_tags\n"  # noqa: E501
         "  sequence:\n    class_label:\n      names:\n" + "".join(f"        '{i}': {n}\n" for i, n in enumerate(NAMES))
         + "---\n"}, BOTH,
    ),
    "infos of Hugging Face": (
        {"a.jsonl": json.dumps(TAGGED), "dataset_infos.json": json.dumps(
            {"default": {"features": {"ner_tags": {"feature": {"names": NAMES, "_type": "ClassLabel"}}}}})}, BOTH,
    ),
    "a table of labels": (
        {"a.jsonl": json.dumps(TAGGED), "label2id.json": json.dumps({name: i for i, name in enumerate(NAMES)})}, BOTH,
    ),
    "i2b2 2014": (
        {"a.xml": f'<?xml version="1.0"?>\n<deIdi2b2>\n<TEXT><![CDATA[{TEXT}]]></TEXT>\n<TAGS>\n<NAME id="P0" start="15" '  # noqa: E501
         'end="25" text="chest pain" TYPE="problem"/>\n</TAGS></deIdi2b2>'}, BOTH[:1],
    ),
    "MAE": (
        {"a.xml": f'<Task><TEXT>{TEXT}</TEXT><TAGS><drug spans="35~42" text="aspirin"/></TAGS></Task>'}, BOTH[1:],
    ),
    "DDI": (
        {"a.xml": f'<document id="d"><sentence id="s" text="{TEXT}"><entity charOffset="35-41" type="drug" text="aspirin"/>'  # noqa: E501
         "</sentence></document>"}, BOTH[1:],
    ),
    "Mantra": (
        {"a.xml": f'<Corpus><unit id="u"><text>{TEXT}</text><e offset="35" len="7" grp="c" type="drug">aspirin</e></unit>'  # noqa: E501
         "</Corpus>"}, BOTH[1:],
    ),
    "GATE": (
        {"a.xml": '<GateDocument><TextWithNodes><Node id="0"/>Oslo<Node id="4"/> is</TextWithNodes><AnnotationSet>'
         '<Annotation Type="LOC" StartNode="0" EndNode="4"/></AnnotationSet></GateDocument>'}, ["LOC: Oslo"],
    ),
    "GENIA": (
        {"a.xml": '<set><article><title><sentence><cons sem="G#gene"><cons sem="G#protein">IL-2</cons> gene</cons> works'  # noqa: E501
         "</sentence></title></article></set>"}, ["gene: IL-2 gene", "protein: IL-2"],
    ),
    "MUC": (
        {"a.xml": '<DOC><TEXT>In <ENAMEX TYPE="LOC">Oslo</ENAMEX> or <b>so</b>.</TEXT></DOC>'}, ["LOC: Oslo"],
    ),
}  # fmt: skip


def written(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path if len(files) > 1 else tmp_path / next(iter(files))


@pytest.mark.parametrize("name", READ)
def test_what_is_read(tmp_path: Path, name: str) -> None:
    files, expected = READ[name]
    documents = list(read(written(tmp_path, files), notice=lambda line: None))
    assert sorted(f"{m.type}: {m.text(one.text)}" for one in documents for m in one.mentions) == sorted(expected)


@pytest.mark.parametrize("name", [name for name in READ if name.startswith("brat") and "type" not in name])
def test_unusual_lines_of_brat_are_written_back(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path / "in", READ[name][0])
    write(read(folder, notice=lambda line: None), tmp_path / "out", format="brat")
    assert all((tmp_path / "out" / file.name).read_bytes() == file.read_bytes() for file in folder.iterdir())


@pytest.mark.parametrize("row", [
    "filename\tmark\tlabel\toff0\toff1\tspan\na\tT1\tproblem\t15\t25\tchest pain",
    "name\ttag\tspan\ttext\na\tproblem\t15 25\tchest pain",
    "document\ttype\toffsets\tmention\na.txt\tproblem\t[15, 25]\tchest pain",
    "pmid\tstart\tend\tentity\ttype\na\t15\t25\tchest pain\tproblem",
    "doc_id\tstart_span\tend_span\tentity\tconcept_id\na\t15\t25\tproblem\tC1",
])  # fmt: skip
def test_names_of_columns(tmp_path: Path, row: str) -> None:
    written(tmp_path, {"a.txt": TEXT, "t.tsv": f"{row}\n"})
    [document] = read(tmp_path / "t.tsv", texts=tmp_path / "a.txt", notice=lambda line: None)
    assert [(m.type, m.text(TEXT)) for m in document.mentions] == [("problem", "chest pain")]


@pytest.mark.parametrize(("content", "kind"), [
    ("No <problem>pain</problem> now.\n", "markup"),
    ("I have [chest pain](problem).\n", "markup"),
    ("n1\tT\t3\t7\tpain\tproblem\nn1\tA\t9\t14\tfever\tproblem\n", "tsv"),
    ("a.txt||Disease||C1||4||9||19||28\n", "tsv"),
    ("No O\nchest B-problem\npain is bad\nfever B-problem\n", "conll"),
])  # fmt: skip
def test_text_that_looks_annotated_is_reported(tmp_path: Path, content: str, kind: str) -> None:
    told: list[str] = []
    [document] = read(written(tmp_path, {"a.txt": content}), notice=told.append)
    assert not document.mentions
    assert len(told) == 1
    assert f"--input-format {kind}" in told[0]


@pytest.mark.parametrize(
    "content", ["No <b>pain</b> now.\n", "See [the page](https://a.org) [1].\n", "WBC\t12\t40\tH\n"]
)
def test_text_that_does_not_look_annotated(tmp_path: Path, content: str) -> None:
    told: list[str] = []
    [document] = read(written(tmp_path, {"a.txt": content}), notice=told.append)
    assert (document.text, told) == (content, [])


def test_markup_in_text(tmp_path: Path) -> None:
    path = written(tmp_path, {"a.txt": "In <LOC>New York</LOC> & with [Bob](PER) at <b>5</b>.\n"})
    [document] = read(path, format="markup")
    assert document.text == "In New York & with Bob at 5.\n"
    assert [(m.type, m.text(document.text)) for m in document.mentions] == [("LOC", "New York"), ("PER", "Bob")]


@pytest.mark.parametrize(("field", "value"), [
    ("output", "problem: chest pain; drug: aspirin"),
    ("indexes", {"drug": {"start_char": [35], "end_char": [42]}}),
])  # fmt: skip
def test_fields_with_annotation_are_reported(tmp_path: Path, field: str, value: object) -> None:
    told: list[str] = []
    list(read(written(tmp_path, {"a.jsonl": json.dumps({"text": TEXT, field: value})}), notice=told.append))
    assert f"the field {field!r} looks like annotation and is not read" in told[0]


def test_mentions_marked_as_deleted_are_left_out_and_counted(tmp_path: Path) -> None:
    mentions = [
        {"start": 15, "end": 25, "cui": "C1", "deleted": False},
        {"start": 35, "end": 42, "cui": "C2", "deleted": True},
    ]
    told: list[str] = []
    [document] = read(
        written(tmp_path, {"a.jsonl": json.dumps({"text": TEXT, "annotations": mentions})}), notice=told.append
    )
    assert [mention.text(TEXT) for mention in document.mentions] == ["chest pain"]
    assert "1 mention of annotations marked as deleted or wrong: left out" in told[0]


@pytest.mark.parametrize(("name", "content", "hint"), [
    ("a.json", '{"%TYPES": {}, "%FEATURE_STRUCTURES": []}', "UIMA CAS XMI"),
    ("a.json", '{"assets": {"projectKind": "CustomEntityRecognition", "documents": []}}', "Azure"),
    ("a.txt.knowtator.xml", '<annotations textSource="a"><annotation><span start="1" end="2"/></annotation></annotations>',  # noqa: E501
     "Knowtator"),
    ("a.xml", "<Article><p>No <i>pain</i></p></Article>", "expected BioC's <collection>"),
])  # fmt: skip
def test_what_is_not_read_is_named(tmp_path: Path, name: str, content: str, hint: str) -> None:
    with pytest.raises(SpanloomError, match=hint):
        list(read(written(tmp_path, {name: content})))


@pytest.mark.parametrize(("name", "content", "names"), [
    ("query.csv", 'item,itemLabel,itemAltLabel\nhttp://www.wikidata.org/entity/Q1,fever,"heat, pyrexia"\n',
     ("Q1", "fever", "heat", "pyrexia")),
    ("icd.csv", "编码,名称\nA00.0,霍乱\n", ("A00.0", "霍乱")),
    ("hgnc.txt", "hgnc_id\tsymbol\tname\nHGNC:5\tA1BG\tglycoprotein\n", ("HGNC:5", "glycoprotein", "A1BG")),
])  # fmt: skip
def test_vocabularies(tmp_path: Path, name: str, content: str, names: tuple[str, ...]) -> None:
    [concept] = read_vocabulary(written(tmp_path, {name: content})).concepts
    assert (concept.id, *concept.names) == names


def test_xml_with_many_offsets_takes_linear_time(tmp_path: Path, assert_linear: Any) -> None:
    def prepare(count: int) -> Callable[[], object]:
        tags = "".join(f'<PROBLEM start="{5 * (i % 9)}" end="{5 * (i % 9) + 4}"/>' for i in range(count))
        path = tmp_path / f"{count}.xml"
        path.write_text(f"<note><TEXT>{'pain ' * count}</TEXT><TAGS>{tags}</TAGS></note>")
        return lambda: list(read(path))

    assert_linear(prepare, 300)
