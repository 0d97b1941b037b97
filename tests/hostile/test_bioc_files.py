"""BioC files that are broken, or meant to break what reads them: one line, with the place; nothing is fetched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.formats import read, validate, write

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
MENTION = (
    '<annotation id="0"><infon key="type">Disease</infon><infon key="MESH">D010146</infon>\n'
    '<location offset="5" length="4"/><text>päin</text></annotation>'
)
DOCUMENT = (
    f"<document><id>1</id><passage><offset>0</offset>\n<text>Mild päin 𝒳 now</text>{MENTION}</passage></document>"
)
GOOD = f"{HEAD}<collection>{DOCUMENT}\n</collection>"


def entity(declaration: str, use: str) -> str:
    return GOOD.replace('SYSTEM "BioC.dtd"', f"[{declaration}]").replace("now", use)


# content, the line of the problem, the message
XML: dict[str, tuple[str | bytes, int | None, str]] = {
    "empty": ("", None, "the file is empty; expected BioC XML"),
    "white space": ("\n\n", None, "the file is empty"),
    "no XML": ("Mild pain.", 1, "not XML: Start tag expected"),
    "another root": ("<ROWSET/>", 1, "found <ROWSET>, expected BioC's <collection>"),
    "no document": (f"{HEAD}<collection></collection>", None, "the collection holds no document"),
    "no passage": (GOOD.replace("passage", "sentence"), 3, "found <sentence> in <document>, which BioC does not have"),
    "nothing in it": (f"{HEAD}<collection><document/></collection>", 3, "a <document> without a <passage>"),
    "Latin-1 that says UTF-8": (GOOD.replace("𝒳", "x").encode("latin-1"), 4, "not XML: Invalid bytes"),
    "Latin-1 that says so": (
        GOOD.replace("UTF-8", "ISO-8859-1"),
        1,
        "the file declares the encoding ISO-8859-1; convert it to UTF-8",
    ),
    "UTF-16": (GOOD.encode("utf-16"), 1, "the file starts with the mark of UTF-16; convert it, or name it"),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), 1, "not XML: "),
    "cut in a tag": (GOOD[: GOOD.index("key=")], 4, "not XML: "),
    "cut in a text": (GOOD[: GOOD.index("päin")], 4, "not XML: Premature end of data"),
    "cut at the end": (GOOD[:-14], 5, "not XML: Premature end of data"),
    "NUL": (GOOD.replace("now", "n\0w"), 4, "not XML: Invalid character: Char 0x0"),
    "NUL by number": (GOOD.replace("now", "n&#0;w"), 4, "not XML: xmlParseCharRef"),
    "half a surrogate pair": (GOOD.replace("now", "n&#xD800;w"), 4, "not XML: xmlParseCharRef"),
    "laughs": (entity('<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">', "&b;"), 1, "the file defines entities"),
    "another file": (entity('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;"), 1, "the file defines entities"),
    "parameter entity": (entity('<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;', "x"), 1, "the file defines entities"),
    "unknown entity": (GOOD.replace("now", "&now;"), 4, "found &now; in <text>, expected plain characters"),
    "unknown entity in an attribute": (
        GOOD.replace('offset="5"', 'offset="&x;"'),
        5,
        "found '' as offset of <location>",
    ),
    "unknown entity between": (GOOD.replace("<id>", "&x;<id>"), 3, "found &x; in <document>"),
    "markup": (GOOD.replace("now", "<b>now</b>"), 4, "found <b> in <text>, expected plain characters"),
    "unknown element": (GOOD.replace("<id>", "<x/><id>"), 3, "found <x> in <document>, which BioC does not have there"),
    "depth": (GOOD.replace("now", "<a>" * 5000), 4, "not XML: Excessive depth"),
    "a huge text": (GOOD.replace("now", "n" * 11_000_000), 4, "not XML: Resource limit exceeded"),
    "no offset": (GOOD.replace("<offset>0</offset>", ""), 3, "a <passage> without <offset>"),
    "an offset in words": (GOOD.replace("<offset>0", "<offset>nil"), 3, "found 'nil' as <offset>, expected an integer"),
    "no length": (GOOD.replace(' length="4"', ""), 5, "found nothing as length of <location>"),
    "a huge offset": (GOOD.replace('"5"', f'"{"9" * 40}"'), 5, "found '9999999999999999999999999999999999999999' as"),
    "another place": (GOOD.replace('"5"', '"7"'), 4, "mention 0: the text is 'päin', but 'in 𝒳' is at 7-11"),
    "another text": (GOOD.replace(">päin", ">fever"), 4, "the text is 'fever', but 'päin' is at 5-9; correct one"),
    "outside": (GOOD.replace('"5"', '"60"'), 4, "mention 0: span 60-64 is outside the text of 15 characters"),
    "before": (GOOD.replace('"5"', '"-2"'), 4, "mention 0: span -2-2 is outside the text of 15 characters"),
    "negative length": (GOOD.replace('"4"', '"-4"'), 4, "mention 0: span 5-1 is empty"),
    "no type": (GOOD.replace('"type"', '"kind"'), 4, "mention 0: there is no infon 'type', found 'kind', 'MESH'"),
}


@pytest.mark.parametrize("case", XML)
def test_xml(tmp_path: Path, case: str) -> None:
    content, line, message = XML[case]
    path = tmp_path / "a.xml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError) as caught:
        list(read(path))
    assert message in caught.value.message
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert "\n" not in str(caught.value)
    assert any(problem.severity == "error" and message in str(problem) for problem in validate(path))


def test_the_rest_of_the_file_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    bad = DOCUMENT.replace('"5"', '"60"')
    path.write_text(f"{HEAD}<collection>{bad}{DOCUMENT}{bad}{bad.replace('<id>', '<x/><id>')}</collection>")
    kinds = [problem.kind for problem in validate(path) if problem.severity == "error"]
    assert kinds == ["span outside", "span outside", "unreadable"]


def document(**changes: Any) -> dict[str, Any]:
    place = {"id": "0", "infons": {"type": "D"}, "text": "pain", "locations": [{"offset": 5, "length": 4}]}
    passage = {"offset": 0, "text": "Mild pain", "annotations": [place | changes.pop("annotation", {})]}
    return {"id": "1", "passages": [passage | changes.pop("passage", {})], **changes}


JSON: dict[str, tuple[object, str]] = {
    "a number": (7, "the file is 7, expected BioC JSON"),
    "no document": ({"documents": []}, "the file holds no document"),
    "documents are no list": ({"documents": {}}, "documents is {}, expected a list of documents"),
    "a document is no object": ({"documents": ["a"]}, 'the document is "a", expected an object'),
    "no passages": ({"documents": [{"id": "1"}]}, "document 1: passages is missing, expected a list"),
    "text": (document(passage={"text": ["a"]}), 'passages[0].text is ["a"], expected a string'),
    "offset": (document(passage={"offset": "x"}), 'passages[0].offset is "x", expected an integer'),
    "a huge offset": (document(passage={"offset": 10**40}), "expected an integer"),
    "location": (document(annotation={"locations": [5]}), "passages[0].annotations[0].locations[0] is 5, expected"),
    "infons": (document(annotation={"infons": []}), "annotations[0].infons is [], expected an object"),
    "infons of the collection": ({"documents": [document()], "infons": 1}, "infons is 1, expected an object"),
    "id": (document(id=[1]), "id is [1], expected a string or an integer"),
    "other text": (
        document(annotation={"text": "ache"}),
        "document 1: mention 0: the text is 'ache', but 'pain' is at",
    ),
    "relations": (document(relations={}), "relations is {}, expected a list"),
    "nodes": (document(relations=[{"nodes": ["T1"]}]), 'relations[0].nodes[0] is "T1", expected an object'),
}


@pytest.mark.parametrize("case", JSON)
def test_json(tmp_path: Path, case: str) -> None:
    value, message = JSON[case]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value))
    with pytest.raises(DataError) as caught:
        list(read(path, "bioc-json"))
    assert message in caught.value.message
    assert caught.value.path == str(path)
    assert any(message in str(problem) for problem in validate(path, "bioc-json"))


BYTES = {
    "cut short": (b'{"documents": [{"id"', 1, "not JSON"),
    "two lines": (b'{"documents": [\n{"id": "a\0"}]}', 2, "NUL"),
    "Latin-1": (b'{"documents": [\n\n{"id": "\xe4"}]}', 3, "0xE4, which is not UTF-8"),
    "a field twice": (b'{"documents": [], "documents": []}', None, "the field 'documents' occurs twice"),
    "depth": (b'{"documents": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", None, "nested too deeply"),
    "NaN": (b'{"documents": [{"passages": [{"offset": NaN}]}]}', None, "found NaN"),
}


@pytest.mark.parametrize("case", BYTES)
def test_json_bytes(tmp_path: Path, case: str) -> None:
    content, line, message = BYTES[case]
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(read(tmp_path / "a.json"))
    assert message in caught.value.message
    assert caught.value.line == line


def test_a_gap_of_terabytes_is_no_layout(tmp_path: Path) -> None:
    passages = [{"offset": offset, "text": "pain"} for offset in (0, 10**15)]
    (tmp_path / "a.json").write_text(json.dumps(document() | {"passages": passages}))
    assert [document.text for document in read(tmp_path / "a.json")] == ["pain pain"]


KEPT = {
    "no object": 7,
    "passages that leave out text": {"passages": [{"start": 0, "end": 4}]},
    "passages that overlap": {"passages": [{"start": 0, "end": 9}, {"start": 4, "end": 9}]},
    "passages outside": {"passages": [{"start": 0, "end": 99}]},
    "annotations": {"annotations": [{"id": "0", "locations": "x"}]},
    "a passage that is not there": {"relations": [{"passage": 5, "nodes": []}]},
    "mentions": {"mentions": {"0": []}},
    "offset": {"offset": "x"},
}


@pytest.mark.parametrize("name", ["a.xml", "a.json"])
@pytest.mark.parametrize("case", KEPT)
def test_what_was_kept_is_checked(tmp_path: Path, case: str, name: str) -> None:
    note = Document("Mild pain", id="1", mentions=[Mention("D", [(5, 9)], "0")], meta={"bioc": KEPT[case]})
    with pytest.raises(DataError, match=r"document '1': meta\['bioc'\] is not what reading BioC makes: .*; remove it"):
        write([note], tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_characters_that_xml_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"document '1' cannot be written as XML"):
        write([Document("form\x0cfeed", id="1")], tmp_path / "a.xml")
    assert not list(tmp_path.iterdir())
    write([Document("form\x0cfeed", id="1")], tmp_path / "a.json")
    assert [document.text for document in read(tmp_path / "a.json")] == ["form\x0cfeed"]
