"""Files in other encodings than UTF-8: the one that the user names, and the one that a file is likely in.

The encoding that `spanloom.formats.read` is given holds while a reader takes bytes from its file (`decoding`); there,
`spanloom.formats.source.opened` yields UTF-8 in any case, so that no reader needs to know.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar

from spanloom.errors import DataError, UsageError, clip

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

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
    marked = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    if marked is not None:
        return marked
    if b"\0" in raw:
        even, odd = raw[::2].count(0), raw[1::2].count(0)
        if max(even, odd) < max(8 * min(even, odd), len(raw) // 5):  # every other byte of letters
            return None
        return "utf-16-le" if odd > even else "utf-16-be"
    runs = _HIGH.findall(raw)
    high = sum(map(len, runs))
    if not high:
        return None
    pairs = sum(2 * len(_COMMON.findall(run)) for run in runs if len(run) > 1)
    if pairs > 0.8 * high:
        return "gb18030"
    return "latin-1" if _UNDEFINED.search(raw) else "cp1252"
