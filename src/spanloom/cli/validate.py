"""`spanloom validate`: what is wrong with data, and what is in it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from spanloom.cli.columns import column_options
from spanloom.cli.counts import Counts
from spanloom.cli.execute import DONE, FAILED
from spanloom.cli.messages import Messages, plural
from spanloom.document.validate import Problem
from spanloom.document.validate import validate as validate_document
from spanloom.files import STDIO
from spanloom.formats import read, validate
from spanloom.formats.source import input_chunks
from spanloom.text import prepare

_TOKEN_KINDS = ("cuts a token", "crosses sentences")  # warnings that need tokens


def run(data: str, input_format: str | None, columns: str | None, as_json: bool, quiet: bool) -> int:
    """List the problems; count what is there if none of them is an error."""
    options = {"format": input_format, **column_options(columns)}
    severities = {"error": 0, "warning": 0}
    listed: list[dict[str, object]] = []
    counts = Counts()
    with _seekable(data) as path:
        for problem in _problems(path, options, counts, severities):
            severities[problem.severity] += 1
            placed = replace(problem, path="standard input") if data == STDIO else problem
            if as_json:
                listed.append(asdict(placed))
            else:
                print(placed)
    failed = severities["error"] > 0
    if as_json:
        print(json.dumps({"problems": listed, "counts": None if failed else counts.to_dict()}, indent=2))
    elif not failed:
        print(counts.to_text())
    Messages(quiet)(_verdict(severities))
    return FAILED if failed else DONE


def _problems(path: str, options: dict[str, Any], counts: Counts, severities: dict[str, int]) -> Iterator[Problem]:
    """All problems; then, if no error keeps the data from being read, what our own tokens show, while counting."""
    yield from validate(path, **options)
    if severities["error"]:
        return
    for document in read(path, notice=lambda _: None, **options):  # all of it was listed already
        counts.add(document)
        if document.tokens is None:
            for problem in validate_document(prepare(document)):
                if problem.kind in _TOKEN_KINDS:
                    yield replace(problem, path=path, place=f"document {document.id}: {problem.place}")


def _verdict(severities: dict[str, int]) -> str:
    found = " and ".join(plural(number, severity) for severity, number in severities.items())
    return f"{found}; what is in the data is counted once it has no errors" if severities["error"] else found


@contextmanager
def _seekable(data: str) -> Iterator[str]:
    # the data are read twice: first for every problem, then, if all of it can be read, to count
    if data != STDIO:
        yield data
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input")
        with path.open("wb") as file:
            file.writelines(input_chunks())
        yield str(path)
