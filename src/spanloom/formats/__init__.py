"""Reading and writing documents: JSONL and its dialects, brat, PubTator, BioC, column files, Parquet, and more.

`FORMATS` lists all formats; a new one is a new module and a line in it.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from spanloom.document import Document
from spanloom.document.counting import AUTO, Counting, counting_of
from spanloom.document.document import check_document, check_documents, check_mentions
from spanloom.document.validate import Problem, find_errors
from spanloom.document.validate import validate as validate_document
from spanloom.errors import DataError, UsageError, clip, meant
from spanloom.files import STDIO
from spanloom.files.staging import leftover, leftovers
from spanloom.files.walk import meant_path
from spanloom.formats.arrow import ARROW, PARQUET
from spanloom.formats.base import DEFAULTS, Format, Losses, Scanned
from spanloom.formats.bioc import BIOC, BIOC_JSON
from spanloom.formats.brat import BRAT
from spanloom.formats.characters import CHARACTERS
from spanloom.formats.columns import COLUMNS, holds_tokens
from spanloom.formats.conllu import CONLLU
from spanloom.formats.docbin import DOCBIN
from spanloom.formats.encodings import checked_encoding, decoded, decoding
from spanloom.formats.field_names import Columns
from spanloom.formats.folder import files_of, interrupted, not_read, stem_in
from spanloom.formats.foreign import advice, of_content
from spanloom.formats.frames import from_columns, to_columns
from spanloom.formats.json_array import JSON
from spanloom.formats.jsonl import JSONL
from spanloom.formats.label_studio import LABEL_STUDIO
from spanloom.formats.notices import Notices
from spanloom.formats.pubtator import PUBTATOR
from spanloom.formats.record import from_record, to_record
from spanloom.formats.settling import settled
from spanloom.formats.source import head_of_input, is_packed
from spanloom.formats.spaced import SPACED
from spanloom.formats.table import CSV, TSV
from spanloom.formats.text import TEXT
from spanloom.formats.webanno import WEBANNO
from spanloom.formats.xmi import XMI
from spanloom.lazy import lazily

if TYPE_CHECKING:
    from spanloom.formats.answers import from_answers as from_answers

__all__ = [
    "FORMATS",
    "Format",
    "Losses",
    "OnError",
    "from_answers",
    "from_columns",
    "from_record",
    "read",
    "to_columns",
    "to_record",
    "validate",
    "write",
]

_LONGEST: Final = 255  # characters of a file's name
_SHOWN: Final = 60  # of one that is longer, and so a text

if not TYPE_CHECKING:  # it needs RapidFuzz, which reading and prediction do without
    __getattr__ = lazily(__name__, {"from_answers": "spanloom.formats.answers"})

# The first that knows a path reads it: brat stands before text, because a .txt with an .ann beside it is brat's. The
# first that has an ending writes it: tsv stands before webanno, and leaves its files alone, which have no such header.
_ALL = (
    JSONL,
    BRAT,
    PUBTATOR,
    CONLLU,
    CHARACTERS,
    SPACED,
    BIOC,
    BIOC_JSON,
    LABEL_STUDIO,
    JSON,
    PARQUET,
    ARROW,
    XMI,
    DOCBIN,
    COLUMNS,
    CSV,
    TSV,
    WEBANNO,
    TEXT,
)
FORMATS: dict[str, Format] = {kind.name: kind for kind in _ALL}

# How content begins whose format is certain, so that standard input needs no option. Each pattern asks for more than
# plain text begins with. The first that matches counts; some need a look behind a first line that others share.
_BEGINNINGS: Final = (
    (BIOC_JSON, rb'\{\s*"(?:(?!"text"\s*:)[^\[])*"(?:documents|PubTator3)"\s*:\s*\['),
    (JSONL, rb'\{[ \t]*"[^"\n]*"[ \t]*:[^\n]*(?:\}[ \t\r]*\n|\Z)'),
    (JSON, rb'\{\s*"[^"\n]*"\s*:'),
    (LABEL_STUDIO, rb'\[\s*\{(?:(?!"text"\s*:)[^\[{])*"(?:data|annotations|predictions)"\s*:\s*[\[{]'),
    (JSON, rb'\[\s*(?:\[\s*["\[]|\{\s*"[^"\n]*"\s*:|\]\s*\Z)'),
    (XMI, rb"<(?:\?xml[^>]*>\s*<)?xmi:XMI\s"),
    (BIOC, rb"(?:<[?!][^>]*>\s*)*<collection[\s>]"),
    (WEBANNO, rb"#FORMAT=WebAnno TSV 3\."),
    (PUBTATOR, rb"[^\s|]+\|[ta]\|"),
    (CONLLU, rb"(?:#[^\n]*\n)*1(?:-\d+)?\t(?:[^\t\n]*\t){8}"),
    (PARQUET, rb"PAR1"),
    (ARROW, rb"ARROW1"),
)  # fmt: skip


def format_of_input() -> str | None:
    """Return the name of the format that standard input begins with, which stays unread; ``None`` if it may be text."""
    head = head_of_input()
    found = (kind.name for kind, beginning in _BEGINNINGS if re.match(rb"\s*" + beginning, head))
    return next(found, COLUMNS.name if holds_tokens(head) else None)


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
            ``columns`` for column files and tables, ``texts``, a file or folder, for tables of mentions.

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
    scans = [_scan(one, format, options, mentions) for one in paths]  # all formats are looked at before any file
    return _documents(chain.from_iterable(scans), mentions, notice, on_error)


def _documents(
    scans: Iterable[Scanned], mentions: bool, notice: Callable[[str], None] | None, on_error: OnError
) -> Iterator[Document]:
    notices = Notices()
    leave_out = notices.leave_out if on_error == "skip" else on_error
    try:
        for scanned in scans:
            problems = [problem for problem in scanned.problems if mentions or problem.mention is None]
            error = next((problem for problem in problems if problem.severity == "error"), None)
            if error is not None:
                if not callable(leave_out):
                    raise error.to_error()
                leave_out(error)
                continue
            notices.add(problems)
            if scanned.document is not None:
                yield scanned.document if mentions else scanned.document.copy(mentions=[])
    finally:
        notices.tell(notice)


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
    return _problems(_scan(path, format, options, mentions=True))


def _problems(scans: Iterator[Scanned]) -> Iterator[Problem]:
    seen: set[int] = set()  # hashes, because the identifiers of a large file need not fit in memory
    try:
        for scanned in scans:
            yield from scanned.problems
            document = scanned.document
            if document is None:
                continue
            name = hash((document.id, str(document.meta.get("annotator", ""))))
            if document.id and name in seen:
                message = f"an earlier document is called {clip(document.id)} too; give each an identifier of its own"
                yield Problem("warning", "duplicate document", message, path=scanned.path, line=scanned.line)
            seen.add(name)
            if not any(problem.severity == "error" for problem in scanned.problems):
                yield from (_placed(problem, scanned) for problem in validate_document(document))
    except DataError as error:  # what the system does not let us read
        yield Problem("error", "unreadable", error.message, path=error.path, line=error.line)


def _placed(problem: Problem, scanned: Scanned) -> Problem:
    if problem.mention is not None and scanned.mention_places is not None:
        path, line = scanned.mention_places[problem.mention]
        return replace(problem, path=path, line=line)
    return replace(problem, path=scanned.path, line=scanned.line)


def write(
    documents: Iterable[Document], path: str | Path, format: str | None = None, force: bool = False, **options: Any
) -> Losses:
    """Write documents to a file, a folder (brat) or standard output (``-``): all of it, or nothing.

    Args:
        documents: an iterable; each is written before the next is taken.
        path: the output; not overwritten unless ``force`` is true.
        format: a name in `FORMATS`; recognized by the file's name if not given.
        force: replace existing output.
        options: options of the format: ``scheme`` ("bio" or "bilou") for column files.

    Returns:
        The losses: parts of documents that the format cannot represent, counted by kind.

    Raises:
        UsageError: the format is unknown, the output exists already, or something else than documents is given.
        DataError: a document that `read` would reject, such as one with a mention outside its text, or that the
            format cannot represent; or the system refused to write.
    """
    if not hasattr(documents, "__iter__"):
        check_documents(documents, "documents")
    kind = _named(format) if format is not None else _by_suffix(Path(path))
    if is_packed(path) and not kind.packs:
        raise UsageError(f"{path}: the format {kind.name} is not packed by gzip; leave out .gz")
    _check_options(kind, options, kind.write_options)
    return kind.write(_checked(documents, path, kind), path, force, **options)


def _checked(documents: Iterable[Document], path: str | Path, kind: Format) -> Iterator[Document]:
    """Yield documents, and raise at one that `read` would reject."""
    for number, document in enumerate(documents):
        check_document(document, number, "documents")
        check_mentions(document.mentions)
        for problem in find_errors(document):
            if problem.kind == "duplicate identifier" and not kind.keeps_ids:
                continue  # such a writer finds another one, and counts it
            named = f"document {clip(document.id)}: " if document.id else ""
            raise DataError(named + problem.to_error().message, path=path)
        yield document


def _named(name: str) -> Format:
    if name not in FORMATS:
        raise UsageError(f"found the format {name!r}, expected one of: {', '.join(FORMATS)}{meant(name, FORMATS)}")
    return FORMATS[name]


def _by_suffix(path: Path) -> Format:
    kind = next((kind for kind in FORMATS.values() if kind.named(path)), None)
    if kind is None or str(path) == STDIO:
        raise _unknown(path)
    return kind


def _known(path: Path, columns: Columns) -> Format:
    """Return the format of an existing file; a format known by the suffix alone reports wrong content itself."""
    found = next((kind for kind in FORMATS.values() if kind.knows(path)), None)
    named = isinstance(columns, Mapping) or any("=" in name for name in columns or ())
    if found in (None, TEXT) and columns and not named:
        return COLUMNS
    if found is None and named:
        found = next((kind for kind in (CSV, TSV, JSON) if kind.named(path)), None)  # what the content does not show
    if found is None and (hint := advice(path)) is not None:
        raise UsageError(f"{path} is not read: {hint}")
    return found or (JSON if JSON.named(path) else _by_suffix(path))


def _unknown(path: Path) -> UsageError:
    if str(path) == STDIO:
        return UsageError(f"the format of - is not clear; name it (--input-format, --format): {', '.join(FORMATS)}")
    known = ", ".join(f"{' '.join(kind.suffixes)} ({kind.name})" for kind in FORMATS.values())
    return UsageError(
        f"the name {path} does not tell the format; name the format, or a file that ends in one of: {known}"
    )


def _unclear(root: Path, head: bytes) -> Exception:
    """Return the error for standard input of no known format that begins so."""
    if not head:
        return DataError("standard input is empty, expected documents")
    hint = of_content(head)
    return _unknown(root) if hint is None else DataError(f"standard input is not read: {hint}")


def _check_options(kind: Format, options: dict[str, Any], known: tuple[str, ...]) -> None:
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        raise UsageError(f"the format {kind.name} has no option {unknown!r}; it has: {', '.join(known) or 'none'}")


def _scan(path: str | Path, name: str | None, options: dict[str, Any], mentions: bool) -> Iterator[Scanned]:
    """Choose the format now; open the file for the first document."""
    check_there(path)
    root = Path(path)
    options = DEFAULTS.get() | options
    counting = counting_of(options.pop("offsets", AUTO))
    encoding = checked_encoding(options.pop("encoding", None))
    kind = None if name is None else _named(name)
    inputs: Sequence[tuple[Format, str | Path]]
    others: list[Path] = []
    if str(path) == STDIO:
        found = format_of_input() if name is None else name
        if found is None:
            raise _unclear(root, head_of_input())
        inputs = [(_named(found), path)]
    else:
        with decoding(encoding):
            if root.is_dir():
                inputs, others = files_of(root, kind, FORMATS.values())
            else:
                inputs = [(kind or _known(root, options.get("columns")), path)]
    for one, _ in inputs:
        _check_options(one, options, one.scan_options)
        if counting is not None and not one.counts:
            raise UsageError(f"the format {one.name} has no offsets; leave out offsets (--offsets)")
        if encoding is not None and not one.encoded:
            raise UsageError(f"the format {one.name} is in no encoding of text; leave out encoding (--encoding)")
    scans = (_scanned(one, root, file, options, encoding, counting, mentions) for one, file in inputs)
    left = [] if str(path) == STDIO else leftovers(root)
    return chain(interrupted(left), not_read(others), chain.from_iterable(scans))


def _scanned(
    kind: Format, root: Path, file: str | Path, options: dict[str, Any], encoding: str | None,
    counting: Counting | None, mentions: bool,
) -> Iterator[Scanned]:  # fmt: skip
    """Yield the records of one input."""
    if options.get("texts") is not None:
        options = options | {"texts": _scan(options["texts"], None, {"encoding": encoding}, mentions=False)}
    scan = kind.scan(file, **options, **_more(kind, root, file, mentions))
    yield from settled(_readable(decoded(scan, encoding), str(file)), counting, mentions)


def _readable(scan: Iterator[Scanned], path: str) -> Iterator[Scanned]:
    """Yield the records of a scan; an error that ends it, as of a damaged file, becomes its last record.

    An error of the system is no invalid record, and is raised.
    """
    try:
        yield from scan
    except DataError as error:
        if isinstance(error.__cause__, OSError):
            raise
        problem = Problem("error", "unreadable", error.message, path=error.path or path, line=error.line)
        yield Scanned(None, [problem], path, error.line)


def _missing(path: Path) -> DataError:
    """Return the error for a file that is not there, which may be a text in its place."""
    said, name = "there is no such file or folder", path.name
    for part in leftovers(path):
        said += f", but {part} is there, {leftover(part)}"
    if " " in name.strip() and (not path.suffix or " " in path.suffix):  # as a text is, and hardly a file
        said += (
            "; spanloom predict and others take a text itself from standard input, as -, and Python as Document(text)"
        )
    else:
        said += meant_path(path)
    return DataError(said, path=path if len(name) <= _LONGEST else f"{name[:_SHOWN]}…")


def check_there(path: str | Path) -> None:
    """Check that an input is there, or is standard input.

    Raises:
        DataError: there is no such file or folder.
        UsageError: the name is empty.
    """
    if path == "":  # as a variable of a shell that is not set; it would be the folder that one is in
        raise UsageError("the name of an input is empty, expected a file or a folder")
    try:
        there = str(path) == STDIO or Path(path).exists()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        there = False
    if not there:
        raise _missing(Path(path))


def _more(kind: Format, root: Path, file: str | Path, mentions: bool) -> dict[str, Any]:
    """Return the arguments of a format's ``scan`` beside the user's options."""
    more: dict[str, Any] = {}
    if kind.named_by_file and isinstance(file, Path) and file != root:
        more["stem"] = stem_in(root, file)
    if kind.reads_without_mentions and not mentions:
        more["mentions"] = False
    return more
