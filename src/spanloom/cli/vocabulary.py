"""`spanloom vocabulary`: what is in a vocabulary, what is odd about it, and its index."""

from __future__ import annotations

import json
from dataclasses import asdict
from warnings import catch_warnings, simplefilter

from spanloom.cli.data_verbs import ReadVocabulary
from spanloom.cli.messages import Messages
from spanloom.errors import DataWarning, UsageError
from spanloom.files import STDIO
from spanloom.files.output import check_free
from spanloom.formats.base import DEFAULTS
from spanloom.vocabulary import read_vocabulary

_ALL = "all"


def run(args: ReadVocabulary) -> None:
    """Read, count and save."""
    if STDIO in (args.vocabulary, args.output):
        raise UsageError("found -, expected the name of a file or folder; vocabularies are not read from a pipe")
    if args.output is not None:
        check_free(args.output, force=args.force)  # before a long read, not after it
    languages = [] if args.language == [_ALL] else args.language or None
    with catch_warnings():
        simplefilter("ignore", DataWarning)  # the notes are printed
        found = read_vocabulary(
            args.vocabulary, args.vocabulary_format, columns=args.columns, languages=languages,
            sources=args.source or None, encoding=DEFAULTS.get().get("encoding"),
        )  # fmt: skip
    if args.output is not None:
        found.save(args.output, force=args.force)
    if args.as_json:
        notes = [asdict(note) for note in found.notes]
        print(json.dumps({"counts": found.counts(), "notes": notes}, ensure_ascii=False, indent=2))
    else:
        print(*(f"{name:14}{number:>10,}" for name, number in found.counts().items()), *found.notes, sep="\n")
    if args.output is not None:
        Messages(args.quiet)(f"saved as {args.output}")
