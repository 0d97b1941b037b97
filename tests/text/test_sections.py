"""Headings, sections and note types: of the bundled corpus, of made-up notes, and by rules of a user's own."""

from __future__ import annotations

import pytest

from spanloom.data import clinical
from spanloom.document import Document
from spanloom.errors import DataError, UsageError
from spanloom.text import NOTES, SECTIONS, Rules, note_type, prepare, read_rules, section_names
from spanloom.text.notes import outline
from spanloom.text.sections import headings

NOTES_OF_THE_CORPUS = sorted(clinical().glob("*/*.txt"))


def sections(text: str) -> list[str]:
    return [heading.section for heading in headings(text)]


@pytest.mark.parametrize("path", NOTES_OF_THE_CORPUS, ids=lambda path: path.stem)
def test_the_bundled_corpus(path) -> None:
    document = prepare(Document(path.read_text(encoding="utf-8")))
    assert note_type(document) == path.stem.split("-")[0]
    names = section_names(document)
    assert all(names) and set(names) <= set(SECTIONS)
    lines = [line for line in document.text.splitlines() if line.endswith(":")]
    assert len(headings(document.text)) >= len(lines) >= 2


def test_how_many_notes_there_are() -> None:
    assert len(NOTES_OF_THE_CORPUS) == 36


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HISTORY OF PRESENT ILLNESS: x", ["history"]),
        ("Past Medical/Surgical History (per patient):\nnone", ["past_history"]),
        ("1. Introduction\n\ntext\n\n2.1 Materials and Methods\ntext", ["introduction", "methods"]),
        ("Brief Hospital Course :\r\nx\r\nPLAN\r\nhome", ["course", "plan"]),
        ("Seen. Plan: home.  Follow-up: none.", ["plan", "plan"]),
        ("EXAM: CT of the chest.", ["technique"]),
        ("Exam: clear lungs.", ["examination"]),
        ("Discharge medications on discharge:", ["medications"]),
        ("with a past medical\nhistory\nof gout", []),
        ("There is history: none", []),
        ("The plan is: home", []),
        ("", []),
    ],
)
def test_headings_that_the_rules_know(text: str, expected: list[str]) -> None:
    assert sections(text) == expected


@pytest.mark.parametrize(
    "heading",
    [
        "Facility:",
        "Facility: a home",
        "LIVING WILL:",
        "Name of the Physician: nobody",
        "\tFacility:",
        "Consult / Renal:",
    ],
)
def test_an_unknown_heading_ends_the_section(heading: str) -> None:
    assert sections(f"Plan: home\n\n{heading}\nx") == ["plan", ""]
    assert sections(f"{heading}\nx") == [""]


@pytest.mark.parametrize(
    "line",
    [
        "\nNeck: supple",
        "\n\nA finding: none",
        "\n\nFacility",
        "\n\nSeen today: well",
        "\n\n- Item: x",
        "\n\n12:30 Pulse",
    ],
)
def test_other_lines_stay_in_the_section(line: str) -> None:
    assert sections(f"Examination: well{line}\nx") == ["examination"]


def test_a_part_of_a_document_knows_its_section() -> None:
    document = prepare(Document("Findings: clear.\n\nPlan: home. Soon. More."))
    part = document.copy(tokens=document.tokens[8:10], sentences=[[0, 2]])
    assert part.words == ["Soon", "."] and section_names(part) == ["plan"]


def test_an_empty_sentence_is_in_the_section_before_it() -> None:
    document = Document("x Plan: y", tokens=[[0, 1], [8, 9]], sentences=[[0, 0], [0, 1], [1, 1], [1, 2]])
    assert section_names(document, {"plan": "plan", "": "x"}) == ["", "", "", ""]
    document = document.copy(text="x. Plan: y", tokens=[[0, 1], [9, 10]])
    assert section_names(document) == ["", "", "", "plan"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DISCHARGE SUMMARY\n\nFindings: CT of the head", "discharge"),
        ("OPERATIVE REPORT\n\nSurgeon: me", "operative"),
        ("Subjective: well.\n\nPlan: home.", "progress"),
        ("Transthoracic Echocardiogram\n\nIMPRESSION: normal", "echo"),
        ("Chest x-ray, two views.\n\nIMPRESSION: normal", "radiology"),
        ("EKG: normal sinus rhythm", "ecg"),
        ("Bone grows.", ""),
        ("", ""),
    ],
)
def test_note_types(text: str, expected: str) -> None:
    assert note_type(Document(text)) == expected


@pytest.mark.parametrize("given", ["letter", "Nursing/other"])
def test_a_given_note_type_wins(given: str) -> None:
    assert note_type(Document("DISCHARGE SUMMARY", meta={"note": given})) == given


@pytest.mark.parametrize("given", ["", None, 3, ["ecg"], "a note\nof two lines", "long " * 20])
def test_what_cannot_be_a_note_type_does_not_count(given: object) -> None:
    assert note_type(Document("DISCHARGE SUMMARY", meta={"note": given})) == "discharge"


def test_the_outline_has_the_beginning_and_all_headings() -> None:
    text = f"Note\n\n{'x ' * 1000}\n\nPlan: home\n\nFacility: none"
    lines = outline(text).split("\n")
    assert lines[0] == "Note" and lines[-3:] == ["", "Plan", "Facility"] and len(outline(text)) < 700
    assert note_type(Document(text), {"a": "^plan$", "b": "note"}) == "a"
    assert note_type(Document(text), {"a": "facility$\n", "b": "^PLAN$"}) == "b"


def test_rules_from_a_file(tmp_path) -> None:
    file = tmp_path / "rules.toml"
    file.write_bytes("\ufeff[sections]\n'fr.1' = 'examen|résultats'\n".encode())
    rules = read_rules(file)
    assert dict(rules.sections) == {"fr.1": "examen|résultats"} and rules.notes == NOTES
    assert read_rules(str(file)) == rules == read_rules({"sections": {"fr.1": "examen|résultats"}})
    document = prepare(Document("Résultats: bons.\n\nPlan: rien."))
    assert section_names(document, rules.sections) == ["fr.1", ""]


def test_rules_that_come_with_spanloom_are_rules() -> None:
    assert read_rules({"sections": SECTIONS, "notes": NOTES}) == Rules() == read_rules({})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[sections]\nx = '('", r"sections.x: '\(' is not a regular expression: missing \)"),
        ("[notes]\nx = '[a'", "notes.x: "),
        ("[section]\nx = 'y'", "found 'section', expected the tables sections and notes"),
        ("x = 'y'", "found 'x', expected the tables"),
        ("sections = 'y'", "sections is 'y', expected a table"),
        ("[sections]\nx = 3", "sections: found 'x' = 3, expected a name and a regular expression"),
        ("[sections]\n'' = 'x'", "sections: found '' = 'x'"),
        ("[sections", "not a TOML file"),
        ("sections = " + "[" * 5000, "nested too deeply"),
        (b"\xff", "found bytes that are not UTF-8"),
    ],
)
def test_a_bad_file_gets_one_line(tmp_path, text: str | bytes, message: str) -> None:
    file = tmp_path / "rules.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=message) as caught:
        read_rules(file)
    assert str(caught.value).startswith(f"{file}: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize("rules", [{"x": {}}, {"sections": 3}, {"notes": {"x": None}}, {"notes": {3: "x"}}])
def test_a_mapping_that_is_no_set_of_rules(rules) -> None:
    with pytest.raises(UsageError, match="rules for sections and notes: "):
        read_rules(rules)


def test_a_missing_file(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"no\.toml' cannot be read: No such file"):
        read_rules(tmp_path / "no.toml")


@pytest.mark.parametrize("piece", ["\n", " ", "A", "A ", "a. ", "A: ", "1.1.1. ", "A((", "\n A (a", ". A (a) (a): "])
def test_hostile_texts_take_linear_time(assert_linear, piece: str) -> None:
    def prepare(length):
        text = piece * (length // len(piece))
        return lambda: (headings(text), note_type(Document(text)))

    assert_linear(prepare, 50_000)


def test_a_number_of_thousands_of_digits_is_refused_in_one_line(tmp_path):
    for number in ("9" * 5000, "0x" + "f" * 5000):
        (tmp_path / "rules.toml").write_text(f"[notes]\nreport = {number}\n")
        with pytest.raises(DataError) as caught:
            read_rules(tmp_path / "rules.toml")
        assert "\n" not in str(caught.value)
