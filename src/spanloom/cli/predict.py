"""`spanloom predict`: mentions for new text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from spanloom.cli.config import ALL_CORES
from spanloom.cli.messages import Messages, lost, plural
from spanloom.document import Document
from spanloom.formats import FORMATS, read, write
from spanloom.formats.base import STDIO
from spanloom.models import load


def run(
    model: str,
    source: str,
    output: str,
    output_format: str | None,
    input_format: str | None,
    threshold: float,
    reading: str | None,
    force: bool,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Read, predict and write, a batch at a time."""
    say = Messages(quiet)
    recognizer = load(model).set_params(n_jobs=jobs or ALL_CORES)
    if reading is not None:
        recognizer.set_params(reading=reading).check()
    tally: Counter[str] = Counter()
    # where no name tells the format: text in, native records out
    input_format = input_format or ("text" if source == STDIO else None)
    output_format = output_format or (None if _tells(output) else "jsonl")
    found = recognizer.predict(read(source, format=input_format), threshold=threshold, notice=say)
    losses = write(_counted(found, tally), output, format=output_format, force=force)
    if losses:
        say(f"spanloom: {lost(losses)}")
    say(f"{plural(tally['mentions'], 'mention')} in {plural(tally['documents'], 'document')}")


def _tells(output: str) -> bool:
    return Path(output).suffix.lower() in {suffix for kind in FORMATS.values() for suffix in kind.suffixes}


def _counted(documents: Iterable[Document], tally: Counter[str]) -> Iterator[Document]:
    for document in documents:
        tally["documents"] += 1
        tally["mentions"] += len(document.mentions)
        yield document
