"""Reading and writing documents: JSONL and its dialects, brat, PubTator, BioC, column files, Parquet, and more.

`spanloom.formats.listed` lists all formats; a new one is a new module and an entry there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from spanloom.document import Document
from spanloom.document.document import check_document, check_documents
from spanloom.document.validate import Problem, find_errors
from spanloom.document.validate import validate as validate_document
from spanloom.errors import DataError, UsageError, clip
from spanloom.formats.base import Format as Format
from spanloom.formats.base import Losses as Losses
from spanloom.formats.base import Notices, Scanned, accepted
from spanloom.formats.inputs import from_columns as from_columns
from spanloom.formats.inputs import to_columns as to_columns
from spanloom.formats.listed import FORMATS as FORMATS
from spanloom.formats.record import from_record as from_record
from spanloom.formats.record import to_record as to_record
from spanloom.formats.scanning import check_options, format_by_suffix, format_named, scan_input
from spanloom.formats.source import is_packed
from spanloom.lazy import lazily

if TYPE_CHECKING:
    from spanloom.formats.answers import from_answers as from_answers


if not TYPE_CHECKING:  # it needs RapidFuzz, which reading and prediction do without
    __getattr__ = lazily(__name__, {"from_answers": "spanloom.formats.answers"})

OnError = Literal["stop", "skip"] | Callable[[Problem], None]


def read(
    path: str | Path | Sequence[str | Path],
    format: str | None = None,
    *,
    mentions: bool = True,
    notice: Callable[[str], None] | None = None,
    on_error: OnError = "stop",
    **options: Any,
) -> Iterator[Document]:
    """Read the documents of a file, of a folder, or of standard input (``-``), one at a time.

    Args:
        path: a file or folder, or several. Of a folder that is not brat, every file of a known format is read, by name;
            the others are reported.
        format: a name in `FORMATS`; recognized by the file's name if not given, and of standard input by its beginning.
        mentions: if false, mentions are left out, and not checked.
        notice: callback for warnings, called at the end with a line for each kind of data that was changed, such
            as fragments that were sorted. Without it, each is a `DataWarning`.
        on_error: ``stop`` raises at the first invalid record; ``skip`` leaves such records out, which is
            reported through `notice`; a function gets the first problem of each and leaves it out.
        options: ``offsets``, how offsets are counted (``"utf16"``, ``"bytes"``, ``"crlf"``, ``"lf"``, ``"one-based"``,
            ``"inclusive"``, or some joined by ``+``; found out for each file if not given); ``encoding`` of files that
            are not UTF-8, such as ``"cp1252"``; and options of the format:
            ``columns`` for column files (``"word,pos,tag"``), tables and records (``{"text": "note"}``, or
            ``"text=note"``), ``texts``, a file or folder, for tables of mentions.

    Raises:
        UsageError: at once: the format is unknown, or has no such option.
        DataError: when the record is reached: the first problem, with file and line.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from spanloom import read
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "notes.conll")
    ...     _ = path.write_text("mild B-problem\\npain I-problem\\n")
    ...     [document.mentions[0].spans for document in read(path)]
    [(Span(start=0, end=9),)]
    """
    if not callable(on_error) and on_error not in ("stop", "skip"):
        raise UsageError(f"on_error is {on_error!r}, expected 'stop', 'skip' or a function")
    paths = [path] if isinstance(path, str | Path) else path
    scans = [scan_input(one, format, options, mentions) for one in paths]  # all formats are looked at before any file
    return _documents(chain.from_iterable(scans), notice, on_error)


def _documents(scans: Iterable[Scanned], notice: Callable[[str], None] | None, on_error: OnError) -> Iterator[Document]:
    notices = Notices()
    leave_out = notices.leave_out if on_error == "skip" else on_error if callable(on_error) else None
    try:
        yield from accepted(scans, notices, leave_out)
    finally:
        notices.report(notice)


def validate(path: str | Path, format: str | None = None, **options: Any) -> Iterator[Problem]:
    """Yield every problem of a file, a folder or standard input, with file and line, by the checks of `read`.

    Args:
        path: as for `read`.
        format: as for `read`.
        options: as for `read`.

    Raises:
        UsageError: at once: the format is unknown, or has no such option.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "notes.jsonl")
    ...     _ = path.write_text('{"text": 1}\\n{"text": "a", "mentions": [{"type": "x", "spans": [[0, 2]]}]}\\n')
    ...     [(problem.line, problem.message) for problem in validate(path)]
    [(1, "text is 1, expected the document's text"), (2, 'span 0-2 is outside the text of 1 characters')]
    """
    return _problems(scan_input(path, format, options, mentions=True))


def _problems(scans: Iterator[Scanned]) -> Iterator[Problem]:
    seen: set[int] = set()  # hashes, because the identifiers of a large file need not fit in memory
    try:
        for scanned in scans:
            yield from scanned.problems
            if (document := scanned.document) is None:
                continue
            name = hash((document.id, str(document.meta.get("annotator", ""))))
            if document.id and name in seen:
                message = f"an earlier document is called {clip(document.id)} too; give each an identifier of its own"
                yield Problem("warning", "duplicate document", message, path=scanned.path, line=scanned.line)
            seen.add(name)
            if not any(problem.severity == "error" for problem in scanned.problems):
                for problem in validate_document(document):
                    path, line = scanned.place_of(problem.mention)
                    yield replace(problem, path=path, line=line)
    except DataError as error:  # what the system does not let us read
        yield Problem("error", "unreadable", error.message, path=error.path, line=error.line)


def write(
    documents: Iterable[Document], path: str | Path, format: str | None = None, force: bool = False, *,
    checked: bool = False, **options: Any,
) -> Losses:  # fmt: skip
    """Write documents to a file, a folder (brat) or standard output (``-``): all of it, or nothing.

    Args:
        documents: an iterable; each is written before the next is taken.
        path: the output; not overwritten unless ``force`` is true.
        format: a name in `FORMATS`; recognized by the file's name if not given.
        force: replace existing output.
        checked: do not check the documents again, as a reader has done so, and a model has added what it found.
        options: options of the format: ``scheme`` ("bio" or "bilou") for column files.

    Returns:
        The losses: parts of documents that the format cannot represent, counted by kind.

    Raises:
        UsageError: the format is unknown, the output exists already, or something else than documents is given.
        DataError: a document that `read` would reject, such as one with a mention outside its text, or that the
            format cannot represent; or the system refused to write.
    """
    given: object = documents
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        check_documents(given, "documents")
    kind = format_by_suffix(Path(path), writes=True) if format is None else format_named(format, writes=True)
    if kind.write is None:
        raise UsageError(f"the format {kind.name} is read, not written; {kind.instead}")
    if is_packed(path) and not kind.packs:
        raise UsageError(f"{path}: the format {kind.name} is not packed by gzip; leave out .gz")
    check_options(kind, options, kind.write_options)
    return kind.write(documents if checked else _checked(documents, path, kind), path, force, **options)


def _checked(documents: Iterable[Document], path: str | Path, kind: Format) -> Iterator[Document]:
    """Yield documents, and raise at one that `read` would reject."""
    for number, document in enumerate(documents):
        check_document(document, number, "documents")
        document.__post_init__()  # its fields may have been changed since it was made
        for problem in find_errors(document):
            if problem.kind == "duplicate identifier" and not kind.keeps_ids:
                continue  # such a writer finds another one, and counts it
            named = f"document {clip(document.id)}: " if document.id else ""
            raise DataError(named + problem.to_error().message, path=path)
        yield document
