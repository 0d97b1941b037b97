"""Inputs from the field: files as people have them, each with what should be read from it; prints expected and found.

Usage: ``python benchmarks/field.py [FOLDER] [--only NAME ...]``. The folder holds one folder for each input; it is one
beside the checkout unless it is given. A case is a row of `CASES`; the exit status is 1 if one differs.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from spanloom import Document
from spanloom.errors import SpanloomError
from spanloom.formats import read


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
    Case("12-collapsed-blanks-label-studio/tasks.json", "LOC 6-21; 1 notice", found=with_notice),
    Case("20-label-studio-other-field/tasks.json", "P 3-13"),
    Case("20-label-studio-other-field/tasks.json", "P 3-13", {"columns": {"text": "note", "id": "mrn"}}),
    Case("24-python-doors/doors.py", "runs", found=script),
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
