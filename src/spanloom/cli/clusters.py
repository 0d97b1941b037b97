"""`spanloom train clusters`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import monotonic

from spanloom.cli.messages import Messages
from spanloom.cli.pace import duration
from spanloom.cli.progress import Reporter
from spanloom.cli.reading import Reading
from spanloom.document import Document
from spanloom.errors import UsageError, clip, plural
from spanloom.features.clusters import induce_from, write_paths
from spanloom.features.vectors import induce_vectors
from spanloom.files.output import check_free
from spanloom.learn import Progress

_METHODS = {"vectors": induce_vectors, "brown": induce_from}


def run(
    source: list[str] | None,
    output: str | None,
    size: int,
    method: str,
    min_count: int,
    input_format: str | None,
    columns: str | None,
    on_error: str | None,
    force: bool,
    quiet: bool,
) -> int | None:
    """Count, cluster and write; report the number of words, and return the exit code if records were skipped."""
    if not source or not output:
        raise UsageError(f"--{'output' if source else 'input'} is missing; give it on the command line")
    if method not in _METHODS:
        raise UsageError(f"--method is {clip(method)}, expected {' or '.join(_METHODS)}")
    check_free(output, force=force)
    say = Messages(quiet)
    began = monotonic()
    reading = Reading(say, input_format=input_format, columns=columns, on_error=on_error or "stop")
    with Reporter(quiet) as reporter:

        def tell(stage: str, done: int, of: int | None = None) -> None:
            reporter(Progress(stage, done, of, seconds=monotonic() - began))

        documents = _told(reading.raw(source), partial(tell, "reading"))
        clusters = _METHODS[method](documents, size, min_count, progress=partial(tell, "clustering"))
    write_paths(output, clusters, force=force)
    found = len(set(clusters.values()))
    spellings = sum(map(len, clusters.letters.values()))
    fewer = f", as no more can be distinguished, in place of {size}" if found < size else ""
    say(
        f"{plural(len(clusters), 'word')} that occur {plural(min_count, 'time')} or more, in "
        f"{plural(found, 'cluster')}{fewer}; {plural(spellings, 'spelling')} for others; "
        f"in {duration(monotonic() - began)}"
    )
    say(f"saved as {output}")
    return reading.finish()


def _told(documents: Iterable[Document], tell: Callable[[int], object]) -> Iterator[Document]:
    for number, document in enumerate(documents, 1):
        yield document
        tell(number)
