"""`spanloom vocabulary`: what is in a vocabulary, what is odd about it, and its index."""

from __future__ import annotations

import json
from dataclasses import asdict
from warnings import catch_warnings, simplefilter

from spanloom.cli.messages import Messages
from spanloom.errors import DataWarning, UsageError
from spanloom.files import STDIO
from spanloom.files.output import check_free
from spanloom.formats.base import DEFAULTS
from spanloom.vocabulary import Vocabulary, read_vocabulary

_ALL = "all"


def run(
    vocabulary: str,
    output: str | None,
    vocabulary_format: str | None,
    columns: str | None,
    language: list[str] | None,
    source: list[str] | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Read, count and save."""
    if STDIO in (vocabulary, output):
        raise UsageError("found -, expected the name of a file or folder; vocabularies are not read from a pipe")
    if output is not None:
        check_free(output, force=force)  # before a long read, not after it
    languages = [] if language == [_ALL] else language or None
    with catch_warnings():
        simplefilter("ignore", DataWarning)  # the notes are printed
        found = read_vocabulary(
            vocabulary, vocabulary_format, columns=columns, languages=languages, sources=source or None,
            encoding=DEFAULTS.get().get("encoding"),
        )  # fmt: skip
    if output is not None:
        found.save(output, force=force)
    print(_as_json(found) if as_json else _as_text(found))
    if output is not None:
        Messages(quiet)(f"saved as {output}")


def _as_json(vocabulary: Vocabulary) -> str:
    notes = [asdict(note) for note in vocabulary.notes]
    return json.dumps({"counts": vocabulary.counts(), "notes": notes}, ensure_ascii=False, indent=2)


def _as_text(vocabulary: Vocabulary) -> str:
    lines = [f"{name:14}{number:>10,}" for name, number in vocabulary.counts().items()]
    return "\n".join([*lines, *map(str, vocabulary.notes)])
