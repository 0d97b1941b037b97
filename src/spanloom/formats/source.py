"""Bytes of a file as text, with the place of invalid bytes in errors, and offsets kept: UTF-8, or the user's encoding.

Lines end at LF only (CR LF counts as one end, and is kept where it matters): Unicode's other line separators are
text. A byte order mark at the start of a file marks its encoding and is not part of the text; `spanloom.formats.brat`
documents what happens where offsets count it.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO, TypeVar, cast

from spanloom.errors import DataError, UsageError, clip
from spanloom.files import STDIO, output
from spanloom.files.output import Sink
from spanloom.files.staging import is_part

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer


BOM = b"\xef\xbb\xbf"
HEAD = 65_536  # bytes in which a file's kind must show
_LINES = 64  # likewise, of a pipe
_FEW = 10  # fields of the first line of a column file


PACKED = ".gz"
_UNSUSPICIOUS = 1 << 26  # bytes that any file may unpack to
_MOST_TIMES = 200  # its size, beyond that
_PIECE = 1 << 17  # bytes that are unpacked, or read from standard input, at once


def check_unpacked(unpacked: int, size: int, what: str, path: str | Path | None = None) -> None:
    """Check that a compressed file does not unpack to far more than its size.

    Args:
        unpacked: bytes.
        size: of the file, or of what was read of it.
        what: the kind of file, for the message.
        path: likewise.

    Raises:
        DataError: it does.
    """
    if unpacked > _UNSUSPICIOUS and unpacked > _MOST_TIMES * size:
        message = f"the {what} holds more than {_MOST_TIMES} times its size; if that is right, unpack it first"
        raise DataError(message, path=path)


def is_packed(path: str | Path) -> bool:
    """Return whether a path's name is that of a gzip file."""
    return str(path).lower().endswith(PACKED)


def bare(path: str | Path) -> Path:
    """Return a path without the ending of gzip.

    >>> bare("a/notes.jsonl.gz").name, bare("a/notes.jsonl").suffix
    ('notes.jsonl', '.jsonl')
    """
    return Path(str(path)[: -len(PACKED)]) if is_packed(path) else Path(path)


def plain_or_packed(path: Path) -> Path | None:
    """Return a file that is there under a name, or under that name with ``.gz``; ``None`` if neither is."""
    return next((file for file in (path, path.with_name(path.name + PACKED)) if file.exists()), None)


def unpacked(file: BinaryIO, path: str | Path) -> BinaryIO:
    """Return an open file, or the content of one whose name is that of a gzip file.

    Reading one that is damaged, or unpacks to far more than its size, raises a `DataError`.

    Args:
        file: at its beginning.
        path: its name.
    """
    return io.BufferedReader(Stream(_unpacked(file, path)), _PIECE) if is_packed(path) else file


def _unpacked(file: BinaryIO, path: str | Path) -> Iterator[bytes]:
    size = count = 0

    def packed() -> Iterator[bytes]:
        nonlocal size
        while piece := file.read(_BLOCK):
            size += len(piece)  # a pipe has no position
            yield piece

    content = gzip.GzipFile(fileobj=io.BufferedReader(Stream(packed())), mode="rb")
    try:
        while piece := content.read(_PIECE):
            count += len(piece)
            check_unpacked(count, size, "gzip file", path)
            yield piece
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"not a whole gzip file: {error}; copy it again", path=path) from None


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for reading, or standard input for ``-``; of a gzip file, its content; in UTF-8 in any case.

    Raises:
        DataError: the file cannot be read, at opening or later.
    """
    try:
        if str(path) == STDIO:
            yield as_utf8(sys.stdin.buffer, path)
            return
        with Path(path).open("rb") as file:
            yield as_utf8(unpacked(file, path), path)
    except OSError as error:
        raise unreadable(path, error) from error


def head_of(path: str | Path) -> bytes:
    """Return the beginning of a file, without a byte order mark.

    Raises:
        DataError: it cannot be read.
    """
    with opened(path) as file:
        return file.read(HEAD).removeprefix(BOM)


def head_of_input() -> bytes:
    """Return the beginning of standard input, which stays unread: some lines, if the first does not show its format.

    Raises:
        DataError: it cannot be read.
    """
    with decoding(None), opened(STDIO) as file:
        if file.seekable():
            place = file.tell()
            head = file.read(HEAD)
            file.seek(place)
        else:  # of a pipe, no more than is needed: what writes to it may take its time
            head = b""
            while len(head) < HEAD and _may_go_on(head) and (line := file.readline(HEAD)):
                head += line
            sys.stdin = io.TextIOWrapper(io.BufferedReader(Stream(_unread(head, sys.stdin))), encoding="utf-8")
    return head.removeprefix(BOM)


def _may_go_on(head: bytes) -> bool:
    """Return whether more lines may show the format of input that begins so: of plain text and of JSON lines, none."""
    lines = head.removeprefix(BOM).split(b"\n")[:-1]
    if not (first := next(filter(None, map(bytes.strip, lines)), b"")):
        return True
    undecided = first.startswith((b"[", b"<", b"#", b"-DOCSTART-")) or b"\t" in first or b"|t|" in first
    undecided |= first.startswith(b"{") and not first.endswith(b"}")
    items = first.split(maxsplit=_FEW)
    undecided |= len(items) < _FEW or any(mark in items[-1] for mark in (b"/", b"|", b"_", b":"))  # words with tags
    return undecided and len(lines) < _LINES


def _unread(head: bytes, rest: TextIO) -> Iterator[bytes]:
    """Yield the beginning of standard input again, and then the rest of it as it comes."""
    yield head
    while piece := rest.buffer.read1(_PIECE):  # type: ignore[attr-defined]
        yield piece


def begins_with(mark: re.Pattern[bytes], ending: str, path: Path) -> bool:
    """Return whether a path is a file of this suffix with the mark near its beginning."""
    return bare(path).suffix.lower() == ending and path.is_file() and mark.search(head_of(path)) is not None


def has_pair(suffixes: str, path: Path) -> bool:
    """Return whether a path is a file of these suffixes, a ``.txt`` with one beside it, or a folder that holds one."""
    names = suffixes.split()
    if path.is_dir():
        return any(not is_part(file.relative_to(path)) for name in names for file in path.rglob(f"*{name}"))
    return path.suffix in names or (path.suffix == ".txt" and any(path.with_suffix(name).exists() for name in names))


def text_beside(file: Path) -> Path | None:
    """Return the text of a file of annotation: beside it, or in the only folder beside its folder that has one."""
    if (beside := file.with_suffix(".txt")).exists():
        return beside
    folders = file.absolute().parent.parent.iterdir() if file.exists() else ()
    found = [text for folder in folders if folder.is_dir() and (text := folder / beside.name).is_file()]
    near = file.parent.parent / found[0].parent.name / beside.name if len(found) == 1 else None
    return near if near is None or near.exists() else found[0]


def read_bytes(path: str | Path) -> bytes:
    """Return all bytes of a file, or of standard input for ``-``.

    Raises:
        DataError: the file cannot be read.
    """
    with opened(path) as file:
        return file.read()


def raw_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file as bytes with their numbers, one at a time, without a leading byte order mark.

    Lines end at LF; at CR, where the beginning of the file has no LF.

    Raises:
        DataError: the file cannot be read.
    """
    with opened(path) as file:
        head = file.peek(1) if isinstance(file, io.BufferedReader) else b""
        lines = ends_at_cr(file.read()) if b"\r" in head[:-1] and b"\n" not in head else file
        for number, line in enumerate(lines, start=1):
            yield number, line.removeprefix(BOM) if number == 1 else line


def ends_at_cr(raw: bytes) -> list[bytes]:
    """Return the lines of a file of old Macintoshs, with LF at their ends.

    >>> ends_at_cr(b"a\\rb")
    [b'a\\n', b'b']
    """
    return raw.replace(b"\r", b"\n").splitlines(keepends=True)


def input_chunks() -> Iterator[bytes]:
    """Yield standard input in pieces.

    Raises:
        DataError: it cannot be read.
    """
    with opened(STDIO) as file:
        while chunk := file.read(1 << 20):
            yield chunk


def unreadable(path: str | Path, error: OSError) -> DataError:
    """Return the error for a file that the system cannot read."""
    return DataError(f"cannot be read: {error.strerror or error}", path=path)


def decode(raw: bytes, path: str | Path, line: int | None = None) -> str:
    r"""Decode UTF-8 bytes.

    Args:
        raw: a line or a whole file.
        path: for the message.
        line: the number of the line; found from the bytes if ``raw`` is a whole file.

    Raises:
        DataError: invalid UTF-8 or a NUL byte, with line and byte position in the line.

    >>> decode(b"one\ntw\xf6", "a.txt")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spanloom.errors.DataError: a.txt:2: byte 3 of the line is 0xF6, which is not UTF-8; convert the file to UTF-8...
    """
    try:
        text = raw.decode("utf-8")
        position = raw.find(b"\0") if b"\0" in raw else -1
        found = "NUL"
    except UnicodeDecodeError as error:
        text, position = "", error.start
        found = f"0x{raw[position]:02X}, which is not UTF-8"
    if position < 0:
        return text
    start = raw.rfind(b"\n", 0, position) + 1
    line = raw.count(b"\n", 0, position) + 1 if line is None else line
    likely = likely_encoding(_sample(path) or raw)
    remedy = "remove it, or convert" if found == "NUL" else "convert"
    message = f"byte {position - start + 1} of the line is {found}; {remedy} the file to UTF-8"
    if likely is not None and named_encoding() is not None:
        message += f", or name its encoding, likely {likely} (--encoding {likely})"
    elif likely is not None:
        message += f" (it is likely {likely})"
    raise DataError(message, path=path, line=line)


def _sample(path: str | Path) -> bytes:
    """Return the beginning of a file as it is, which shows its encoding; nothing if it cannot be looked at."""
    with suppress(OSError, ValueError), Path(path).open("rb") as file:
        return b"" if is_packed(path) else file.read(1 << 20)
    return b""


# Output compressed by gzip if the file name ends in ``.gz``; the same content gives the same bytes.


class _Packing:
    """A sink that packs what it takes."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._packer = zlib.compressobj(wbits=31)  # as gzip, without a name or a time of day

    def write(self, data: str | bytes) -> None:
        """Write text as UTF-8, or bytes."""
        raw = data if isinstance(data, bytes) else self._sink.encoded(data)
        self._sink.write(self._packer.compress(raw))

    def finish(self) -> None:
        """Write what is still held back."""
        self._sink.write(self._packer.flush())


@contextmanager
def output_file(path: str | Path, *, force: bool = False) -> Iterator[Sink]:
    """Open a file for atomic output, as `spanloom.files.output.output_file` does; ``.gz`` is packed."""
    with output.output_file(path, force=force) as sink:
        if not is_packed(path):
            yield sink
            return
        packing = _Packing(sink)
        yield cast(Sink, packing)
        packing.finish()


# Files in other encodings than UTF-8: the one that the user names, and the one that a file is likely in.
#
# The encoding that `spanloom.formats.read` is given holds while a reader takes bytes from its file (`decoding`); there,
# `spanloom.formats.source.opened` yields UTF-8 in any case, so that no reader needs to know.

T = TypeVar("T")

_NAMED: ContextVar[str | None] = ContextVar("encoding", default=None)
_BLOCK: Final = 1 << 16
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_HIGH: Final = re.compile(rb"[\x80-\xff]+")
_UNDEFINED: Final = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # in Windows-1252
_COMMON: Final = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")  # punctuation and frequent characters of GB 2312


def checked_encoding(name: str | None) -> str | None:
    """Return the name of an encoding of text.

    Raises:
        UsageError: Python knows none of that name.

    >>> checked_encoding("Latin-1"), checked_encoding(None)
    ('iso8859-1', None)
    """
    if name is None:
        return None
    try:
        known = codecs.lookup(name)
        "x".encode(known.name)  # refuses those that are not of text
        codecs.getincrementaldecoder(known.name)
    except (LookupError, TypeError, ValueError):
        shown = clip(name) if isinstance(name, str) else repr(name)
        message = f"found the encoding {shown}, expected one such as cp1252, latin-1, gb18030 or utf-16"
        raise UsageError(message) from None
    return known.name


@contextmanager
def decoding(encoding: str | None) -> Iterator[None]:
    """Within it, files are read in an encoding, of `checked_encoding`; in UTF-8 if ``None``."""
    token = _NAMED.set(encoding or "utf-8")
    try:
        yield
    finally:
        _NAMED.reset(token)


def decoded(items: Iterable[T], encoding: str | None) -> Iterator[T]:
    """Yield what a reader yields, and have its files read in an encoding, while it works."""
    iterator = iter(items)
    while True:
        token = _NAMED.set(encoding or "utf-8")  # as `decoding` does, in a fifth of the time
        try:
            item = next(iterator)
        except StopIteration:
            return
        finally:
            _NAMED.reset(token)
        yield item


def named_encoding() -> str | None:
    """Return the encoding that files are read in; ``None`` where the user cannot name one."""
    return _NAMED.get()


def as_utf8(file: BinaryIO, path: str | Path) -> BinaryIO:
    """Return an open file in UTF-8; the file itself if the user names no other encoding."""
    name = _NAMED.get()
    return file if name is None or name == "utf-8" else io.BufferedReader(Stream(_recoded(file, path, name)), _BLOCK)


def _recoded(file: BinaryIO, path: str | Path, encoding: str) -> Iterator[bytes]:
    """Yield the content of a file in UTF-8; bytes that its encoding does not have are a `DataError`."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for raw in chain(iter(partial(file.read, _BLOCK), b""), [b""]):
        try:
            yield decoder.decode(raw, final=not raw).encode("utf-8", "surrogatepass")
        except UnicodeError as error:
            found = f"byte 0x{error.object[error.start]:02X}" if isinstance(error, UnicodeDecodeError) else "bytes"
            message = f"found {found}, which {encoding} does not have; name another encoding (--encoding)"
            raise DataError(message, path=path) from None


class Stream(io.RawIOBase):
    """A file of the bytes that an iterator yields; an error of the iterator is raised by reading.

    >>> Stream([b"No ", b"", b"pain"]).read()
    b'No pain'
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces, self._ready = iter(pieces), memoryview(b"")

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Fill a buffer with what is ready, at least a byte of it; return their number, 0 at the end."""
        while not self._ready and (piece := next(self._pieces, None)) is not None:
            self._ready = memoryview(piece)
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._ready))
        view[:count], self._ready = self._ready[:count], self._ready[count:]
        return count


def likely_encoding(raw: bytes) -> str | None:
    """Return the encoding that bytes are likely in, which are not UTF-8; ``None`` if nothing shows.

    >>> [likely_encoding("Señora: fiebre, 38 °C".encode(name)) for name in ("cp1252", "utf-16", "utf-16-be")]
    ['cp1252', 'utf-16', 'utf-16-be']
    >>> likely_encoding("患者无发热，偶有咳嗽。".encode("gb18030"))
    'gb18030'
    """
    if (marked := next((name for mark, name in _MARKS if raw.startswith(mark)), None)) is not None:
        return marked
    if b"\0" in raw:
        even, odd = raw[::2].count(0), raw[1::2].count(0)
        if max(even, odd) < max(8 * min(even, odd), len(raw) // 5):  # every other byte of letters
            return None
        return "utf-16-le" if odd > even else "utf-16-be"
    runs = _HIGH.findall(raw)
    if not (high := sum(map(len, runs))):
        return None
    if sum(2 * len(_COMMON.findall(run)) for run in runs if len(run) > 1) > 0.8 * high:
        return "gb18030"
    return "latin-1" if _UNDEFINED.search(raw) else "cp1252"
