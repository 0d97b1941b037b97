"""`spanloom convert`: from one format to another."""

from __future__ import annotations

from pathlib import Path

from spanloom.cli.columns import column_options
from spanloom.cli.messages import Messages, lost
from spanloom.formats import read, write
from spanloom.formats.columns import COLUMNS
from spanloom.text import prepare


def run(
    source: str,
    target: str,
    output_format: str | None,
    input_format: str | None,
    columns: str | None,
    scheme: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Read and write, a document at a time; say what was lost."""
    documents = read(source, format=input_format, **column_options(columns))
    if output_format == COLUMNS.name or (output_format is None and COLUMNS.knows(Path(target))):
        documents = map(prepare, documents)  # columns hold tokens, and have no place for a text without
    options = {} if scheme is None else {"scheme": scheme}
    losses = write(documents, target, format=output_format, force=force, **options)
    if losses:
        Messages(quiet)(f"spanloom: {lost(losses)}")
