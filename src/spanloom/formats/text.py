"""Plain text: one document a file, or raw text as a stream of blocks; several documents are a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import DataError, plural
from spanloom.files import STDIO
from spanloom.files.output import output_folder
from spanloom.formats import FORMATS, OnError, read
from spanloom.formats.base import DEFAULTS, Losses, Scanned, altered, count_unwritten, single
from spanloom.formats.file_names import free_name, put
from spanloom.formats.listed import TEXT
from spanloom.formats.looks import looks_like, of_content
from spanloom.formats.scanning import format_of_input
from spanloom.formats.source import BOM, bare, checked_encoding, decode, decoded, opened, output_file, read_bytes

_BOM = "\ufeff"


def scan(path: str | Path, stem: str | None = None) -> Iterator[Scanned]:
    """Yield the file as one document, line ends unchanged; a byte order mark at its start is no part of the text.

    Args:
        path: the file, or ``-``.
        stem: the document's ``id``; the file's name without its ending if not given.
    """
    raw = read_bytes(path)
    if (other := of_content(raw)) is not None:
        raise DataError(f"not text, but {other}", path=path)
    text = decode(raw, path).removeprefix(_BOM)
    name = "" if str(path) == STDIO else bare(path).stem
    problems = []
    if (beside := _annotation_beside(path)) is not None:
        message = f"read as text, but {beside.name} is beside it, which is not read; of brat, call it {name[:60]}.ann"
        problems.append(altered("texts with annotation beside them", message, path=str(path)))
    if (kind := looks_like(text)) is not None:
        message = f"read as text, but it looks like {kind}"
        problems.append(altered(f"texts that look like {kind.partition(';')[0]}", message, path=str(path)))
    yield Scanned(Document(text, id=stem or name), problems, str(path))


def _annotation_beside(path: str | Path) -> Path | None:
    """Return a file that has annotation of a text by its name, and that no format reads."""
    if str(path) == STDIO:
        return None
    file = Path(path)
    names = (f"{file.stem}.ANN", f"{file.name}.ann", f"{file.name}.knowtator.xml", f"{file.stem}.ann.json")
    return next((one for one in map(file.with_name, names) if one.is_file()), None)


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write the text of one document to a ``.txt`` file, or of several to a folder, each under its identifier.

    Everything else is counted as lost.

    Raises:
        UsageError: several documents for one file.
        DataError: two documents of one ``id`` in a folder.
    """
    losses = Losses()
    named = str(path) == STDIO or bare(path).suffix.lower() == ".txt"
    if not named and (Path(path).is_dir() or not Path(path).exists()):
        with output_folder(path, force=force, may_replace=lambda old: old.suffix == ".txt") as folder:
            for number, document in enumerate(documents, start=1):
                name = free_name(folder, document, number, ".txt", Path(path), losses)
                put(folder / f"{name}.txt", _content(document, losses), Path(path))
        return losses
    with output_file(path, force=force) as file:
        several = "a .txt file holds one document, but there are several; name a folder, with --format text, or JSONL"
        file.write(_content(single(documents, path, several), losses))
    return losses


def _content(document: Document, losses: Losses) -> str:
    count_unwritten(losses, document, "tokens", "sentences", "token columns", "mentions")
    return _BOM + document.text if document.text.startswith(_BOM) else document.text


# Raw text as a stream: plain text of any size in blocks, and the texts of all other formats.

_BLOCK: Final = 1 << 20  # bytes
_ENDS: Final = (b"\n\n", b"\n", b" ")  # where a block may end, the best first


def read_raw(
    paths: Sequence[str | Path],
    format: str | None = None,
    *,
    notice: Callable[[str], None] | None = None,
    on_error: OnError = "stop",
    **options: Any,
) -> Iterator[Document]:
    """Read text, one document at a time, without annotations.

    Plain text, and standard input of no format that is recognized, comes in blocks of about a million bytes, which end
    at a blank line, else at a line end, else at a space: so a file may be larger than memory. Everything else, folders
    among it, is read by `spanloom.read`.

    Args:
        paths: files, folders, or ``-`` for standard input.
        format: of all inputs; recognized by the file's name if not given.
        notice: as of `spanloom.read`.
        on_error: as of `spanloom.read`; of plain text, a line that is not UTF-8 is a record.
        options: as of `spanloom.read`.

    Raises:
        DataError: an input that cannot be read, with file and line.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "raw.txt")
    ...     _ = path.write_text("No fever. ")
    ...     [document.text for document in read_raw([path])]
    ['No fever. ']
    """
    for path in paths:
        if not _is_plain(Path(path), format):
            yield from read(path, format, mentions=False, notice=notice, on_error=on_error, **options)
            continue
        encoding = checked_encoding((DEFAULTS.get() | options).get("encoding"))
        left_out: list[Problem] = []
        leave_out = on_error if callable(on_error) else left_out.append if on_error == "skip" else None
        yield from map(Document, filter(str.strip, decoded(_texts(path, leave_out), encoding)))
        if left_out and notice is not None:
            found = f"{plural(len(left_out), 'line')} that {'is' if len(left_out) == 1 else 'are'} not UTF-8"
            notice(f"{path}: left out {found}, the first is line {left_out[0].line}")


def _is_plain(path: Path, format: str | None) -> bool:
    if str(path) == STDIO:
        return (format or format_of_input()) in (None, TEXT.name)
    if format is not None:
        return format == TEXT.name and not path.is_dir()
    return path.is_file() and next((kind for kind in FORMATS.values() if kind.knows(path)), None) is TEXT


def _texts(path: str | Path, leave_out: Callable[[Problem], object] | None) -> Iterator[str]:
    """Yield the text of each block; invalid lines raise, or are reported and left out."""
    line = 1
    for block in _blocks(path):
        try:
            yield decode(block, path)
        except DataError as error:
            if leave_out is None:
                raise DataError(error.message, path=path, line=line + (error.line or 1) - 1) from None
            yield _sound_lines(block, path, line, leave_out)
        line += block.count(b"\n")


def _sound_lines(block: bytes, path: str | Path, line: int, leave_out: Callable[[Problem], object]) -> str:
    sound = []
    for number, raw in enumerate(block.split(b"\n"), line):
        try:
            sound.append(decode(raw, path, number))
        except DataError as error:
            leave_out(Problem("error", "not UTF-8", error.message, path=str(path), line=number))
    return "\n".join(sound)


def _blocks(path: str | Path) -> Iterator[bytes]:
    with opened(path) as file:
        rest = file.read(len(BOM)).removeprefix(BOM)
        while len(chunk := file.read(_BLOCK)) == _BLOCK:
            rest += chunk
            if end := _end(rest):
                yield rest[:end]
                rest = rest[end:]
        rest += chunk
        if rest:
            yield rest


def _end(raw: bytes) -> int:
    """Return where a block ends: within its second half if possible, and never inside a character."""
    for mark in _ENDS:
        at = raw.rfind(mark, len(raw) // 2)
        if at >= 0:
            return at + len(mark)
    end = len(raw)
    while end and len(raw) - end < 4 and raw[end - 1] & 0xC0 == 0x80:
        end -= 1
    return max(end - 1, 0)  # before the last character's first byte
