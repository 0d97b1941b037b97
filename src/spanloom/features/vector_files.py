"""Files of word vectors: text as word2vec and GloVe write it, word2vec's binary form, and arrays with a list of words.

The suffix selects the format. ``.bin`` is binary; ``.npy`` and ``.safetensors`` hold a matrix, and the words are one
a line in a file next to it with the same name and the suffix ``.txt``; all others are text, with one word and its
numbers a line, and an optional first line with the numbers of words and dimensions.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from spanloom.errors import DataError, DataWarning, UsageError, clip, plural, reason_of

Float32 = NDArray[np.float32]
_HEADER = re.compile(rb"\s*(\d{1,18})[ \t](\d{1,18})\s*")
_NOT_FINITE = "found a number that is not finite, expected finite numbers"


class ReadVectors(NamedTuple):
    """What a file holds.

    Args:
        words: V different words, in the file's order.
        vectors: (V, D) float32.
    """

    words: list[str]
    vectors: Float32


def read_vectors(path: str | Path) -> ReadVectors:
    """Read a file of word vectors; of a word that occurs twice the first vector counts, with a warning.

    Raises:
        UsageError: a file that cannot be opened.
        DataError: a file that is empty, cut off, ragged, not UTF-8, at odds with its own header, or that holds other
            than finite numbers; names the line where there is one.
    """
    path = Path(path)
    try:
        words, vectors, line = _READERS.get(path.suffix.lower(), _read_text)(path)
    except OSError as error:
        raise UsageError(f"vectors {str(path)!r} cannot be read: {error.strerror or error}") from None
    if not vectors.size:
        raise DataError("found no word vector, expected one or more", path=path)
    finite = np.isfinite(vectors).all(1)
    if not finite.all():
        row = int(np.argmin(finite))
        message = f"{_NOT_FINITE}; the word is {clip(words[row])}"
        raise DataError(message, path=path, line=None if line is None else row + line)
    seen: set[str] = set()
    again = [row for row, word in enumerate(words) if word in seen or seen.add(word)]  # type: ignore[func-returns-value]
    if not again:
        return ReadVectors(words, vectors)
    at = "" if line is None else f" in line {again[0] + line:,}"
    warn(
        f"{path}: {plural(len(again), 'vector')} of words that occur earlier, first {clip(words[again[0]])}{at}; "
        "the first vector of a word counts", DataWarning, stacklevel=2,
    )  # fmt: skip
    kept = np.ones(len(words), bool)
    kept[again] = False
    return ReadVectors([words[row] for row in np.flatnonzero(kept).tolist()], vectors[kept])


_Found = tuple[list[str], Float32, int | None]  # words, vectors, and the line of the first


def _read_text(path: Path) -> _Found:
    words: list[str] = []
    numbers = array("f")
    declared: tuple[int, int] | None = None
    size, begin = 0, 1
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
                if header := _HEADER.fullmatch(line):
                    declared, begin = (int(header[1]), int(header[2])), 2
                    continue
            text = line.rstrip().replace(b"\t", b" ")
            size = size or (declared[1] if declared else len(text.split(b" ")) - 1)
            try:
                word, values = _parts(text, size)
                numbers.extend(values)
                words.append(word.decode())
            except UnicodeDecodeError as error:
                message = f"found bytes that are not UTF-8 ({error.reason}); a word2vec binary file must end in .bin"
                raise DataError(message, path=path, line=number) from None
            except ValueError as error:
                raise DataError(f"{error}", path=path, line=number) from None
    if declared is not None and declared[0] != len(words):
        message = f"found {len(words):,} words, but the first line has {declared[0]:,}; is the file whole?"
        raise DataError(message, path=path, line=1)
    return words, np.frombuffer(numbers, np.float32).reshape(len(words), -1 if words else 0), begin


def _parts(text: bytes, size: int) -> tuple[bytes, list[float]]:
    """Return a line's word, which may hold blanks, and its numbers; raises a ValueError if the line is invalid."""
    pieces = text.rsplit(b" ", size) if size else []
    # what has too many numbers would else be a word with a blank
    if len(pieces) != size + 1 or not pieces[0] or any(map(_is_number, pieces[0].split(b" ")[1:])):
        found = len(text.split(b" ")) - 1
        raise ValueError(f"found {plural(max(found, 0), 'value')} behind the word, expected {size or 'some numbers'}")
    try:
        return pieces[0], list(map(float, pieces[1:]))
    except ValueError:
        wrong = next(piece for piece in pieces[1:] if not _is_number(piece))
        raise ValueError(f"found {clip(wrong.decode(errors='replace'))}, expected a number") from None


def _is_number(piece: bytes) -> bool:
    try:
        float(piece)
    except ValueError:
        return False
    return True


def _read_binary(path: Path) -> _Found:
    data = path.read_bytes()
    header = _HEADER.fullmatch(data[: data.find(b"\n") + 1])
    if header is None:
        raise DataError(
            "found no first line with the numbers of words and of numbers; is it word2vec's form?", path=path
        )
    count, size = int(header[1]), int(header[2])
    least = header.end() + count * (4 * size + 2)  # a word of one character, and a blank
    if least > len(data):
        message = f"found {len(data):,} bytes, expected {least:,} or more for {count:,} words of {size:,} numbers"
        raise DataError(f"{message}: the file is cut off, or its first line is wrong", path=path)
    words: list[str] = []
    vectors = np.empty((count, size), np.float32)
    at = header.end()
    for row in range(count):
        blank = data.find(b" ", at)
        if blank < 0 or blank + 1 + 4 * size > len(data):
            message = f"found the end in word {row + 1:,} of {count:,}, expected all; the file is cut off"
            raise DataError(message, path=path)
        try:
            words.append(data[at:blank].lstrip(b"\n").decode())
        except UnicodeDecodeError as error:
            message = f"found bytes in word {row + 1:,} that are not UTF-8 ({error.reason}); is it word2vec's form?"
            raise DataError(message, path=path) from None
        vectors[row] = np.frombuffer(data, "<f4", size, blank + 1)
        at = blank + 1 + 4 * size
    if data[at:].strip():
        message = f"found {len(data) - at:,} bytes behind {count:,} words of {size:,} numbers, expected the end"
        raise DataError(f"{message}; the first line is wrong", path=path)
    return words, vectors, None


def _read_npy(path: Path) -> _Found:
    try:
        with path.open("rb") as file:
            matrix = np.load(file, allow_pickle=False)
    except OSError:  # of the system, whose message names the cause
        raise
    except Exception as error:  # of many kinds: a header is parsed, and may be anything
        raise DataError(
            f"found no array that can be read ({reason_of(error)}), expected a matrix of numbers", path=path
        ) from None
    return _with_words(path, matrix, "an array")


def _read_safetensors(path: Path) -> _Found:
    try:
        tensors = load_file(path)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:  # the last: a type numpy lacks
        raise DataError(f"found no arrays that can be read ({error}), expected a matrix", path=path) from None
    matrices = [tensor for tensor in tensors.values() if tensor.ndim == 2]
    if len(matrices) != 1:
        message = f"found {len(matrices)} matrices among {plural(len(tensors), 'array')}, expected one"
        raise DataError(message, path=path)
    return _with_words(path, matrices[0], "a matrix")


def _with_words(path: Path, matrix: object, what: str) -> _Found:
    """Return a matrix with the words beside it."""
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        kind = f"{matrix.dtype} of shape {matrix.shape}" if isinstance(matrix, np.ndarray) else type(matrix).__name__
        raise DataError(f"found {what} of {kind}, expected a matrix of numbers, a row for each word", path=path)
    words = list(_words(path.with_suffix(".txt")))
    if len(words) != len(matrix):
        message = f"found {plural(len(words), 'word')}, but {path.name} has {plural(len(matrix), 'row')}"
        raise DataError(f"{message}; give as many words, one a line", path=path.with_suffix(".txt"))
    with np.errstate(over="ignore"):  # what is too large for single precision is reported
        return words, matrix.astype(np.float32), None


def _words(path: Path) -> Iterator[str]:
    if not path.exists():
        raise UsageError(f"the words of the vectors are missing: give them in {str(path)!r}, one a line")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                word = line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").rstrip(b"\r\n").decode()
            except UnicodeDecodeError as error:
                message = f"found bytes that are not UTF-8 ({error.reason}); convert the file"
                raise DataError(message, path=path, line=number) from None
            if not word:
                raise DataError("found an empty line, expected a word", path=path, line=number)
            yield word


_READERS = {".bin": _read_binary, ".npy": _read_npy, ".safetensors": _read_safetensors}
