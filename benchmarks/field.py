"""Inputs from the field: files as people have them, each with what should be read from it; prints expected and found.

Usage: ``python benchmarks/field.py [FOLDER] [--only NAME ...]``. The folder holds one folder for each input; it is one
beside the checkout unless it is given. A case is a row of `CASES`; the exit status is 1 if one differs.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from spanloom import Document
from spanloom.errors import DataError, SpanloomError
from spanloom.formats import read
from spanloom.formats.record import from_record
from spanloom.text import prepare
from spanloom.vocabulary import read_vocabulary


class Case(NamedTuple):
    """A file, and what should come out.

    Args:
        file: its path in the folder.
        expected: in the words of `shown`, or what `found` should return.
        options: of `read`.
        found: what is compared, given the path; the mentions of all documents if not given.
    """

    file: str
    expected: str
    options: Mapping[str, Any] = MappingProxyType({})
    found: Callable[..., str] | None = None


def shown(document: Document) -> str:
    """Return the mentions of a document, as ``problem 8-18``; parts of one are joined by ``+``."""
    return ", ".join(
        f"{mention.type} {'+'.join(f'{start}-{end}' for start, end in mention.spans)}" for mention in document.mentions
    )


def mentions(path: Path, **options: Any) -> str:
    """Return the mentions of all documents, with the annotator where there is one."""
    documents = read(path, notice=lambda line: None, **options)
    return " | ".join(
        (f"{document.meta['annotator']}: " if "annotator" in document.meta else "") + shown(document)
        for document in documents
    )


def surfaces(path: Path, **options: Any) -> str:
    """Return the texts of the mentions of all documents, and the number of sentences."""
    found = list(read(path, notice=lambda line: None, **options))
    texts = ", ".join(repr(mention.text(one.text)) for one in found for mention in one.mentions)
    return f"{len(found)} document, {sum(one.sentence_count for one in found)} sentences: {texts}"


def words(path: Path, **options: Any) -> str:
    """Return the type and text of each mention of all documents, with names of documents and concepts."""
    return " | ".join(
        (f"{one.id}: " if one.id else "")
        + ", ".join(" = ".join([f"{m.type} {m.text(one.text)!r}", *m.concepts]) for m in one.mentions)
        for one in read(path, notice=lambda line: None, **options)
    )


def texts(path: Path, **options: Any) -> str:
    """Return the texts that a model would mark up, which needs no mentions."""
    return " | ".join(one.text for one in read(path, mentions=False, notice=lambda line: None, **options))


def written_back(path: Path) -> str:
    """Return whether a folder of brat is written back as it was."""
    with tempfile.TemporaryDirectory() as scratch:
        run("convert", path, Path(scratch, "brat"), "--format", "brat", "--quiet")
        same = all((Path(scratch, "brat") / file.name).read_bytes() == file.read_bytes() for file in path.iterdir())
    return "unchanged" if same else "changed"


def split(path: Path) -> str:
    """Return the mentions of all documents, and the number of sentences that a recognizer would read."""
    found = [prepare(one) for one in read(path, notice=lambda line: None)]
    return f"{' | '.join(map(shown, found))}; {sum(one.sentence_count for one in found)} sentences"


def relations(path: Path) -> str:
    """Return the mentions, and how many relations of PubTator are kept beside them."""
    found = list(read(path, notice=lambda line: None))
    kept = sum(len(one.meta["pubtator"]["relations"]) for one in found)
    return f"{' | '.join(map(shown, found))}; {kept} relations kept"


def refused(path: Path) -> str:
    """Return whether the error of a file in another encoding names the option that reads it."""
    try:
        return words(path)
    except DataError as error:
        return "names --encoding cp1252" if "--encoding cp1252" in str(error) else str(error)


def concepts(path: Path, **options: Any) -> str:
    """Return the names of each concept of a vocabulary, and what was left out."""
    found = read_vocabulary(path, **options)
    left_out = "".join(f"; {note.count} {note.kind}" for note in found.notes if "left out" in note.kind)
    return ", ".join(f"{concept.id} {'/'.join(concept.names)}" for concept in found) + left_out


def predicted(path: Path) -> str:
    """Return the texts that the ready model marks up."""
    lines = run("predict", "bc5cdr", path, "--format", "jsonl", "--quiet").splitlines()
    found = map(from_record, map(json.loads, lines))
    return ", ".join(" ".join(mention.text(one.text).split()) for one in found for mention in one.mentions)


def in_capitals(folder: Path) -> str:
    """Return whether text in capitals has at most a quarter fewer mentions than as written, or a warning of it."""
    written, upper = (len(predicted(folder / name).split(", ")) for name in ("as-written.txt", "upper.txt"))
    command = [sys.executable, "-m", "spanloom", "predict", "bc5cdr", str(folder / "upper.txt"), "--format", "jsonl"]
    warned = "capital" in subprocess.run(command, capture_output=True, text=True, check=False).stderr
    return (
        "as many, or a warning" if warned or upper >= 0.75 * written else f"{written} as written, {upper} in capitals"
    )


def with_notice(path: Path, **options: Any) -> str:
    """Return the mentions, and how many kinds of data were changed."""
    told: list[str] = []
    found = " | ".join(map(shown, read(path, notice=told.append, **options)))
    return f"{found}; {len(told)} notice"


def run(*arguments: object) -> str:
    """Return what a command prints on standard output; its last line of errors, if it fails."""
    command = [sys.executable, "-m", "spanloom", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"failed: {done.stderr.splitlines()[-1:]}"


def trained(folder: Path) -> str:
    """Train on a folder and its trimmed copy; return whether the models find the same."""
    with tempfile.TemporaryDirectory() as scratch:
        found = []
        for number, part in enumerate((folder, folder / "trimmed")):
            model = Path(scratch, f"model{number}")
            run("train", "recognizer", "--train", part / "train.jsonl", "--output", model, "--quiet")
            found.append(run("predict", model, folder / "test.jsonl", "--format", "jsonl", "--quiet"))
        report = run("evaluate", folder / "test.jsonl", "--model", Path(scratch, "model0"), "--quiet")
    f1 = next((line.split()[3] for line in report.splitlines() if line.startswith("exact")), report)
    return f"{'same' if found[0] == found[1] else 'other'} predictions, F1 {f1}"


def script(path: Path) -> str:
    """Run a script of Python; return its error, or that it has none."""
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    with redirect_stdout(io.StringIO()):
        exec(code, {"__name__": "field"})
    return "runs"


CASES = (
    Case("01-pubannotation-silent/denotations.json", "Problem 8-18, Anatomy 8-13, Problem 23-28"),
    Case("02-doccano-label-ids-silent/export.jsonl", "1: 12 8-18, 13 23-28 | 2: 12 8-13"),
    Case(
        "02-doccano-label-ids-silent/export.jsonl", "1: problem 8-18, sign 23-28 | 2: problem 8-13",
        {"tag_names": "12=problem,13=sign"},
    ),
    Case("03-label-studio-completions-silent/tasks.json", "problem 3-13"),
    Case("04-train-txt-is-prose/train.txt", "problem 'chest pain' | problem 'fever'", found=words),
    Case("04-train-txt-is-prose/train.txt", "Patient has chest pain . | No fever .", found=texts),
    Case("05-tag-column-in-the-middle/ten-columns.conll", "pers 0-4, loc 12-16; 1 notice", found=with_notice),
    Case(
        "05-tag-column-in-the-middle/ten-columns.conll", "d1: pers 'Ajax', loc 'Troy', pers.myth 'Ajax', loc 'Troy'",
        {"columns": "word,tag,_,tag,_,_,_,_,_,_"}, words,
    ),
    Case(
        "06-ragged-levels/nested.conll",
        "OCC 'secretary of the National Council in Oslo', ORG 'National Council', GPE 'Oslo'", found=words,
    ),
    Case("07-types-without-prefix/plain.conll", "NAME 'John Smith' | ", found=words),
    Case("07-types-without-prefix/header.conll", "problem 0-10; 1 notice", found=with_notice),
    Case(
        "07-types-without-prefix/medline.conll", "95369245: DNA 'IL-2 gene' | 95333264: protein 'CD28'", found=words
    ),
    Case(
        "08-token-offsets/w2ner.json", "1 document, 1 sentences: 'pain in hips', 'pain in knees'", found=surfaces
    ),
    Case(
        "08-token-offsets/dygie.jsonl", "1 document, 2 sentences: 'chest pain', 'chest', 'fever'", found=surfaces
    ),
    Case("08-token-offsets/gliner.json", "1 document, 1 sentences: 'chest pain', 'chest'", found=surfaces),
    Case("09-character-offsets/spacy-train.json", "PROBLEM 8-18 | PROBLEM 3-8"),
    Case("09-character-offsets/ner-annotator.json", "PROBLEM 8-18 | PROBLEM 3-8"),
    Case("09-character-offsets/cmeee.json", "sym 3-5, sym 6-8"),
    Case("09-character-offsets/dataturks.jsonl", "Problem 8-18"),
    Case("09-character-offsets/wikipedia.json", "施設名 3-7"),
    Case("10-trailing-blanks-doccano", "same predictions, F1 100.00", found=trained),
    Case("11-ellipsis-in-surface/notes", "cell 0-14+20-25, cell 16-18+20-25; 1 notice", found=with_notice),
    Case("11-ellipsis-in-surface/notes", "unchanged", found=written_back),
    Case("12-collapsed-blanks-label-studio/tasks.json", "LOC 6-21; 1 notice", found=with_notice),
    Case("13-offset-units-brat/crlf", "problem 5-10, problem 20-30, problem 36-41; 1 notice", found=with_notice),
    Case("13-offset-units-brat/utf16", "problem 16-26; 1 notice", found=with_notice),
    Case(
        "14-bioc-concepts/cui.json", "1: Chemical 'Lidocaine' = MESH:D008012, Disease 'asystole' = MESH:D006323",
        found=words,
    ),
    Case("15-bioc-json-sentences/sentences.json", "P 3-7, P 9-14; 2 sentences", found=split),
    Case(
        "16-conllu-entity-brackets/gum.conllu", "d1: person 'The patient', abstract 'back pain', object 'back'",
        found=words,
    ),
    Case("16-conllu-entity-brackets/gum.conllu", "The patient has back pain.", found=texts),
    Case("17-xmi-document-metadata/note.xmi", "problem 3-13; 1 notice", found=with_notice),
    Case("18-docbin-of-older-spacy/old.spacy", "Anatomy 'chest', Problem 'back pain' | Problem 'fever'", found=words),
    Case(
        "19-vocabularies/sct2_Description_Snapshot-en_INT.txt",
        "22298006 Myocardial infarction/Myocardial infarction (disorder)/Heart attack;"
        " 1 inactive descriptions, left out", found=concepts,
    ),
    Case("19-vocabularies/table.csv", "X:1 chest pain/thoracic pain/pain in chest", found=concepts),
    Case(
        "19-vocabularies/umls.jsonl",
        "UMLS:C0027051 Myocardial Infarction/heart attack/MI, UMLS:C0008031 Chest Pain/thoracic pain", found=concepts,
    ),
    Case(
        "19-vocabularies/quick.tsv", "UMLS:C0008031 chest pain/thoracic pain", {"columns": "id=cui,name=str"}, concepts
    ),
    Case("20-label-studio-other-field/tasks.json", "P 3-13"),
    Case("20-label-studio-other-field/tasks.json", "P 3-13", {"columns": {"text": "note", "id": "mrn"}}),
    Case("21-capital-letters", "as many, or a warning", found=in_capitals),
    Case(
        "22-ragged-lines/ragged.txt",
        "congestive heart failure, chronic obstructive pulmonary disease, diabetes mellitus, shortness of breath,"
        " aspirin, furosemide", found=predicted,
    ),
    Case("23-webanno-comments/gum.tsv", "gum: abstract 'Chest pain', object 'Chest'", found=words),
    Case("24-python-doors/doors.py", "runs", found=script),
    Case("25-other-encodings/brat", "a: problem 'Douleur aiguë'", {"encoding": "cp1252"}, words),
    Case("25-other-encodings/brat", "names --encoding cp1252", found=refused),
    Case(
        "26-pubtator-relations/a.pubtator", "Gene 29-33, Disease 37-42, Disease 44-49; 2 relations kept",
        found=relations,
    ),
)  # fmt: skip


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    beside = Path(__file__).resolve().parents[2] / "shared" / "field"
    parser.add_argument("folder", nargs="?", type=Path, default=beside, help="folder of the inputs")
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of the names of inputs, such as 08")
    options = parser.parse_args()
    wrong = 0
    for case in CASES:
        if options.only and not case.file.startswith(tuple(options.only)):
            continue
        try:
            found = (case.found or mentions)(options.folder / case.file, **case.options)
        except (SpanloomError, OSError) as error:
            found = f"{type(error).__name__}: {error}"
        wrong += found != case.expected
        mark = "ok   " if found == case.expected else "WRONG"
        print(f"{mark} {case.file}\n      expected {case.expected}\n      found    {found}")
    print(f"{wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
