"""`spanloom convert`: from one format to another."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from spanloom.cli.messages import Messages
from spanloom.cli.pace import counted
from spanloom.cli.reading import Reading, lost, number_of
from spanloom.document import Document
from spanloom.formats import write
from spanloom.formats.columns import COLUMNS
from spanloom.text import prepare


def run(
    source: list[str],
    target: str,
    output_format: str | None,
    input_format: str | None,
    columns: str | None,
    on_error: str,
    scheme: str | None,
    force: bool,
    quiet: bool,
) -> int | None:
    """Read and write, a document at a time; say what was lost."""
    say = Messages(quiet)
    reading = Reading(say, input_format=input_format, columns=columns, on_error=on_error)
    documents: Iterable[Document] = counted(
        reading(source), "converting", quiet=quiet, total=partial(number_of, source)
    )
    if output_format == COLUMNS.name or (output_format is None and COLUMNS.knows(Path(target))):
        documents = map(prepare, documents)  # columns hold tokens, and have no place for a text without
    options = {} if scheme is None else {"scheme": scheme}
    losses = write(documents, target, format=output_format, force=force, **options)
    if losses:
        say(f"spanloom: {lost(losses)}")
    return reading.finish()
