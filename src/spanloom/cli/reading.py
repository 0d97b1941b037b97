"""Reading and writing for verbs: inputs, records that cannot be read, and what an output could not hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from spanloom.cli.execute import FAILED
from spanloom.cli.messages import Messages
from spanloom.cli.options import Options
from spanloom.document import Document
from spanloom.document.annotators import annotator_of, repeated, several, untouched
from spanloom.document.validate import Problem
from spanloom.errors import UsageError, plural
from spanloom.files import STDIO
from spanloom.files.output import check_free
from spanloom.formats import FORMATS, Losses, OnError, read, write
from spanloom.formats.base import DISCONTIGUOUS
from spanloom.formats.looks import BY_ENDING
from spanloom.formats.scanning import format_by_suffix, format_of_input
from spanloom.formats.source import bare
from spanloom.formats.text import read_raw

_BLOCK = 1 << 20  # bytes
_LISTED = 100  # of the records that were left out


class Reading:
    """Reads inputs; a bad record ends it, or is left out and listed at the end.

    Args:
        log: where to list.
        input_format: of all inputs, where their names do not show it.
        columns: of column files and tables.
        texts: those that tables of mentions are about.
        tag_names: of tags of records that are numbers.
        on_error: ``stop`` or ``skip``.

    Attributes: ``left_out``, how many records were left out.
    """

    def __init__(
        self, log: Messages, *, input_format: str | None = None, columns: str | None = None, texts: str | None = None,
        tag_names: str | None = None, on_error: str = "stop",
    ) -> None:  # fmt: skip
        if on_error not in ("stop", "skip"):
            raise UsageError(f"--on-error is {on_error!r}, expected stop or skip")
        self._log = log
        skipped: OnError = self._leave_out if on_error == "skip" else "stop"
        self._options: dict[str, Any] = {"format": input_format, "notice": log.notice, "on_error": skipped}
        self._options |= column_options(columns, texts, tag_names)
        self._listed: list[Problem] = []  # of those that were left out, the first
        self.left_out = self._read = 0

    @classmethod
    def of(cls, args: Any, log: Messages, input_format: str | None = None) -> Self:
        """Return what reads with the options of a verb, or of a training; ``input_format`` if they name none."""
        named = args.input_format or input_format
        return cls(log, input_format=named, columns=args.columns, on_error=args.on_error or "stop")

    def __call__(self, inputs: str | Sequence[str], *, mentions: bool = True) -> Iterator[Document]:
        """The documents of inputs, one after the other."""
        return self._counted(read(_paths(inputs), mentions=mentions, **self._options))

    def _counted(self, documents: Iterator[Document]) -> Iterator[Document]:
        for document in documents:
            self._read += 1
            yield document

    def for_training(self, inputs: Sequence[str]) -> Iterator[Document]:
        """The documents of inputs, one after the other; at their end duplicates are reported."""
        documents = []  # their identities, without tokens and mentions: there may be much text
        for document in self(inputs):
            documents.append(Document("" if document.id else document.text, document.id, meta=document.meta))
            yield document
        notice_text = None if several(documents) else repeated(documents)
        if notice_text is not None:
            self._log.notice(notice_text)

    def by_annotators(self, inputs: Sequence[str]) -> Iterator[Document]:
        """The documents of inputs; those that do not name their annotator have the name of the input.

        Untouched documents of a store have none.

        Raises:
            UsageError: no document has two annotators.
        """
        paths = _paths(inputs)
        stems = [Path(path).name if Path(path).is_dir() else Path(path).stem for path in paths]
        names = stems if len(set(stems)) == len(stems) else paths
        documents = [
            one if annotator_of(one) is not None or untouched(one) else one.copy(meta={**one.meta, "annotator": name})
            for name, path in zip(names, paths, strict=True)
            for one in self([path])
        ]
        if not several(documents):
            raise UsageError(
                "--annotators: no document has two annotators, expected the same ids in several --train, or leave it "
                "out where each text is annotated once"
            )
        yield from documents

    def raw(self, inputs: Sequence[str]) -> Iterator[Document]:
        """The texts of inputs, one after the other; plain text comes in blocks."""
        return read_raw(_paths(inputs), **self._options)

    def _leave_out(self, problem: Problem) -> None:
        self.left_out += 1
        if len(self._listed) < _LISTED:
            self._listed.append(problem)

    def finish(self) -> int | None:
        """Report the skipped input, even if quiet; return the exit code, ``None`` if all was read."""
        if not self.left_out:
            return None
        log = Messages()
        for problem in self._listed:
            log.notice(f"left out: {problem.to_error()}")
        if self.left_out > len(self._listed):
            log.notice(f"and {self.left_out - len(self._listed):,} more; spanloom validate lists all")
        rest = "all others were read" if self._read else "nothing else was there"
        log.notice(f"{plural(self.left_out, 'record')} left out, because of errors; {rest}")
        return FAILED


def _paths(inputs: str | Sequence[str]) -> list[str]:
    paths = [inputs] if isinstance(inputs, str) else list(inputs)
    if paths.count(STDIO) > 1:
        raise UsageError("standard input (-) can be read only once; give the others as files")
    return paths


def input_format_of(args: Options, source: str | Sequence[str] | None) -> str | None:
    """Return the format of inputs; of standard input alone, if no option names it, that of its beginning, else text."""
    if args.input_format is None and source in (STDIO, [STDIO]):
        return format_of_input() or "text"
    return args.input_format


def number_of(paths: Sequence[str]) -> int | None:
    """Count the records of inputs where that is possible at once: lines of JSONL, texts of folders; else ``None``."""
    counts = [_number(Path(path)) for path in paths]
    return None if None in counts else sum(count or 0 for count in counts)


def _number(path: Path) -> int | None:
    if path.is_dir():
        return sum(1 for _ in path.rglob("*.txt")) or None
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return None
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))


def column_options(columns: str | None, texts: str | None = None, tag_names: str | None = None) -> dict[str, Any]:
    """Return the arguments of `read` and `validate` of `spanloom.formats` for options of formats.

    >>> column_options("word,pos,tag"), column_options(None)
    ({'columns': 'word,pos,tag'}, {})
    """
    given = {"columns": columns, "texts": texts, "tag_names": tag_names}
    return {name: value for name, value in given.items() if value is not None}


def output_format_of(output: str, given: str | None) -> str | None:
    """The format of an output: native records where neither an option nor its name gives another.

    Raises:
        UsageError: the name is that of a packed file, of a format that is not packed, or of a file of another program.
    """
    path = Path(output)
    if given or any(kind.named(path) for kind in FORMATS.values()):
        return given
    for kind in FORMATS.values():
        if kind.named(bare(path)):
            raise UsageError(f"{output}: the format {kind.name} is not packed by gzip; leave out .gz")
    if path.suffix.lower() in BY_ENDING:  # JSON lines in a file of this name would not open
        format_by_suffix(path, writes=True)
    return "jsonl"


def check_page(output: str, *, force: bool) -> None:
    """Check that a page can be written, before the work that it waits for.

    Raises:
        UsageError: the name is not that of a page, or it is taken.
    """
    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"found --html {output}, expected a name that ends in .html")
    check_free(output, force=force)


def write_all(
    documents: Iterable[Document], output: str, log: Messages, format: str | None, *, force: bool, **options: Any
) -> None:
    """Write documents, and report what the output could not hold; the options are those of `spanloom.write`."""
    if losses := write(documents, output, format=format, force=force, **options):
        log.notice(lost(losses))


def lost(losses: Losses) -> str:
    """Describe what an output could not hold, and which formats would have held the gaps.

    >>> losses = Losses()
    >>> losses.add(DISCONTIGUOUS, 310)
    >>> print(lost(losses))  # doctest: +ELLIPSIS
    not written: 310 discontiguous mentions; this format has no place for gaps, but jsonl, brat, ... and tsv have
    """
    if not losses.counts[DISCONTIGUOUS]:
        return str(losses)
    *others, last = (kind.name for kind in FORMATS.values() if kind.gaps)
    return f"{losses}; this format has no place for gaps, but {', '.join(others)} and {last} have"
