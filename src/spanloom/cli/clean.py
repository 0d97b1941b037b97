"""`spanloom clean`: gold mentions that are probably wrong, as a table, a page, and documents to correct."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from spanloom.clean.page import suspects_page
from spanloom.clean.suspects import (
    FOLDS,
    KINDS,
    LEAST,
    JudgedDocument,
    Suspect,
    judge,
    not_judged,
    recognizer_of,
    suspects_of,
    with_suspects,
)
from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.cli.messages import Messages
from spanloom.cli.progress import Reporter
from spanloom.cli.reading import Reading, check_page
from spanloom.document import Document
from spanloom.errors import UsageError, plural
from spanloom.files import STDIO
from spanloom.files.output import check_free, output_file
from spanloom.formats import write
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.view.cells import aligned, shorten
from spanloom.view.placement import surface
from spanloom.view.svg import clean

_NAME, _WORDS = 30, 50  # cells of a document's name, and of a mention


class CleanOptions(CommonOptions):
    """Options of `clean`, besides parameters of recognizers."""

    output: str | None = None  # type: ignore[assignment]  # without it there is only the table
    html: str | None = None
    folds: int = Field(default=FOLDS, ge=2)
    least: float = Field(default=LEAST, ge=0, le=1)
    limit: int | None = Field(default=None, ge=1)


def run(source: list[str], config: str | None, as_json: bool, **flags: Any) -> int | None:
    """Judge all documents by models of the others, and print what is probably wrong."""
    options = checked(options_of(RecognizerParameters, CleanOptions), {**flags, "train": source}, config)
    _check_outputs(options, as_json)
    recognizer = recognizer_of(**options.parameters())
    recognizer.check()
    log = Messages(options.quiet)
    reading = Reading.of(options, log)
    documents = list(reading(options.train))
    with Reporter(options.quiet) as reporter:
        judged = judge(documents, recognizer, options.folds, reporter)
    found = suspects_of(judged, options.least)
    shown = found[: options.limit]
    if options.html is not None:
        page = suspects_page([one.scored for one in judged], shown, title=f"Suspects in {Path(source[0]).name}")
        with output_file(options.html, force=options.force) as file:
            file.write(page)
    if options.output is not None:
        write(with_suspects(judged, shown), options.output, format="jsonl", force=options.force)
    if options.output != STDIO:
        print(_json(judged, found, shown) if as_json else _table(documents, shown), end="")
    log(*filter(None, (_summary(documents, found, shown), not_judged(judged))))
    return reading.finish()


def _check_outputs(options: CleanOptions, as_json: bool) -> None:
    """Check that outputs can be written, before the training that they wait for.

    Raises:
        UsageError: one cannot.
    """
    if options.html is not None:
        check_page(options.html, force=options.force)
    if as_json and options.output == STDIO:
        raise UsageError("--json and the documents would both go to standard output; name a file with --output")
    if options.html is not None and options.html == options.output:
        raise UsageError(f"--html and --output are both {options.html}; give them names of their own")
    if options.output not in (None, STDIO):
        check_free(options.output, force=options.force)


def _summary(documents: Sequence[Document], found: Sequence[Suspect], shown: Sequence[Suspect]) -> str:
    """Return a line on how many suspects there are."""
    counts = Counter(suspect.kind for suspect in found)
    kinds = ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind])
    mentions = sum(len(document.mentions) for document in documents)
    limited = f"; the first {len(shown):,} are shown" if len(shown) < len(found) else ""
    return (
        f"{plural(len(found), 'suspect')}{f' ({kinds})' if kinds else ''} in {plural(len(documents), 'document')} with "
        f"{plural(mentions, 'mention')}{limited}"
    )


def _json(judged: Sequence[JudgedDocument], found: Sequence[Suspect], shown: Sequence[Suspect]) -> str:
    documents = [one.document for one in judged]
    chances = [chance for one in judged for chance in one.probabilities]
    places = ((one, documents[one.document]) for one in shown)
    values = {
        "documents": len(documents),
        "mentions": len(chances),
        "not_judged": chances.count(None),
        "found": len(found),
        "suspects": [{"document": one.document, "id": of.id, **one.to_dict(of.text)} for one, of in places],
    }
    return json.dumps(values, indent=1) + "\n"


def _table(documents: Sequence[Document], suspects: Sequence[Suspect]) -> str:
    """Return one line for each suspect: how certain, what, where, what is annotated, and what is expected."""
    rows: list[tuple[str, ...]] = [("certain", "kind", "document", "characters", "annotated", "expected")]
    for one in suspects:
        text = documents[one.document].text
        sides = (
            "-" if mention is None else shorten(f"{clean(mention.type)}: {surface(text, mention)}", _WORDS)
            for mention in (one.mention, one.other)
        )
        name = shorten(clean(one.name_in(documents)), _NAME)
        rows.append((f"{one.certainty:7.1%}", one.kind, name, f"{one.start}-{one.end}", *sides))
    return "".join(f"{line}\n" for line in aligned(rows))
