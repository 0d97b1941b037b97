"""JSONL: one document a line, as a native record or one of its cousins (see `spanloom.formats.record`)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import DataError
from spanloom.formats.base import Format, Losses, Scanned
from spanloom.formats.output import output_file
from spanloom.formats.record import parse_record, to_record
from spanloom.formats.source import decode, raw_lines


def scan(path: str | Path) -> Iterator[Scanned]:
    """The documents of a JSONL file, one line at a time; blank lines are skipped."""
    name, found = str(path), False
    for number, raw in raw_lines(path):
        if not raw.strip():
            continue
        found = True
        try:
            record = _loads(raw, path, number)
        except DataError as error:
            problem = Problem("error", "not JSON", error.message, path=name, line=number)
            yield Scanned(None, [problem], name, number)
            continue
        document, problems = parse_record(record)
        if problems:
            problems = [replace(problem, path=name, line=number) for problem in problems]
        yield Scanned(document, problems, name, number)
    if not found:
        message = "the file holds no document; expected one JSON object a line"
        yield Scanned(None, [Problem("error", "empty file", message, path=name)], name)


def _loads(raw: bytes, path: str | Path, line: int) -> object:
    text = decode(raw, path, line).rstrip()  # so that a string cut short is not said to hold a line end
    try:
        record: object = _DECODER.decode(text)
        if b"\\ud" in raw or b"\\uD" in raw:
            json.dumps(record, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        message = f"not JSON: {reason} at column {error.colno}"
        hint = " (the file looks like one JSON array)" if text.startswith("[") and line == 1 else ""
        raise DataError(f"{message}; expected one JSON object a line{hint}", path=path, line=line) from error
    except UnicodeEncodeError as error:
        message = r"half of a surrogate pair (\ud800 to \udfff) without the other half; expected Unicode characters"
        raise DataError(message, path=path, line=line) from error
    except ValueError as error:
        reason = "an integer has thousands of digits" if "integer string conversion" in str(error) else str(error)
        raise DataError(f"JSON that cannot be used: {reason}", path=path, line=line) from error
    except RecursionError as error:
        message = "the JSON is nested too deeply; expected a document's record"
        raise DataError(message, path=path, line=line) from error
    return record


def _refuse(name: str) -> float:
    raise ValueError(f"found {name}, expected a number (JSON knows none such)")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"the number {digits[:20]} is too large")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} stands twice in one object")
    return fields


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_object)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write native records. The format holds everything; a document that JSON cannot hold is an error."""
    with output_file(path, force=force) as file:
        for document in documents:
            try:
                line = _ENCODER.encode(to_record(document))
            except (TypeError, ValueError, RecursionError) as error:
                message = f"document {document.id!r} cannot be written as JSON: {error}"
                raise DataError(message, path=path) from error
            file.write(line + "\n")
    return Losses()


JSONL = Format("jsonl", (".jsonl", ".ndjson"), scan, write, gaps=True)
