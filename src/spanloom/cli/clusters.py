"""`spanloom train clusters`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from spanloom.cli.app import TrainClusters

_METHODS = {"vectors": induce_vectors, "brown": induce_from}


def run(args: TrainClusters) -> int | None:
    """Count, cluster and write; report the number of words, and return the exit code if records were skipped."""
    if not args.source or not args.output:
        raise UsageError(f"--{'output' if args.source else 'input'} is missing; give it on the command line")
    if args.method not in _METHODS:
        raise UsageError(f"--method is {clip(args.method)}, expected {' or '.join(_METHODS)}")
    check_free(args.output, force=args.force)
    say = Messages(args.quiet)
    began = monotonic()
    reading = Reading.of(args, say)
    with Reporter(args.quiet) as reporter:

        def tell(stage: str, done: int, of: int | None = None) -> None:
            reporter(Progress(stage, done, of, seconds=monotonic() - began))

        documents = _told(reading.raw(args.source), partial(tell, "reading"))
        clusters = _METHODS[args.method](documents, args.size, args.min_count, progress=partial(tell, "clustering"))
    write_paths(args.output, clusters, force=args.force)
    found = len(set(clusters.values()))
    spellings = sum(map(len, clusters.letters.values()))
    fewer = f", as no more can be distinguished, in place of {args.size}" if found < args.size else ""
    say(
        f"{plural(len(clusters), 'word')} that occur {plural(args.min_count, 'time')} or more, in "
        f"{plural(found, 'cluster')}{fewer}; {plural(spellings, 'spelling')} for others; "
        f"in {duration(monotonic() - began)}"
    )
    say(f"saved as {args.output}")
    return reading.finish()


def _told(documents: Iterable[Document], tell: Callable[[int], object]) -> Iterator[Document]:
    for number, document in enumerate(documents, 1):
        yield document
        tell(number)
