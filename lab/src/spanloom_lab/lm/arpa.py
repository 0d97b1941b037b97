r"""ARPA files, the n-gram models of SRILM and KenLM as text; a file that ends in ``.gz`` is compressed.

::

    \data\
    ngram 1=4
    ngram 2=3

    \1-grams:
    -1.2	pain	-0.3        log10 of the probability, the words, log10 of the back-off weight (0 if it is not there)
    ...
    \end\

Of models above order 3 the first three orders are read: they hold the probabilities after one and two words.
Words are split at blanks and tabs and lines at LF only: every other white space of Unicode is part of a word.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import DataError
from spanloom.files.output import output_file
from spanloom.formats.source import decode, raw_lines, unreadable
from spanloom_lab.lm.ngrams import END, HIGHEST, MARKERS, START, UNKNOWN, Ints, Level, pointers, spell

Floats = NDArray[np.float64]
SUFFIXES = (".arpa", ".arpa.gz")
_LARGEST = 1e30  # a number in the file, so that it is one in float32, too
_LACKING = {UNKNOWN: -100.0, START: -99.0, END: -99.0}  # log10 of a marker that is not listed; KenLM's for <unk>
_COUNT = re.compile(r"ngram +(\d{1,3}) *= *(\d{1,18})")
_SECTION = re.compile(r"\\(\d{1,3})-grams:")
_SPACES = re.compile("[ \t\n\r\0]")
_SEPARATORS = re.compile("[ \t]+")


def read_arpa(path: str | Path) -> tuple[list[str], tuple[Level, ...]]:
    """Read the words and the n-grams of an ARPA file.

    Returns:
        The words, the markers first; and a level for each order, at most `HIGHEST`.

    Raises:
        DataError: the file cannot be read, or is no ARPA file; names the line.
    """
    return _ArpaReader(path).read()


def writable(word: str) -> bool:
    r"""Return whether an ARPA file can hold a word: it is not empty, and has no blank, tab, line end or NUL.

    >>> writable("non\N{NO-BREAK SPACE}breaking"), writable("6 1/2")
    (True, False)
    """
    return bool(word) and not _SPACES.search(word)


def write_arpa(words: Sequence[str], levels: Sequence[Level], path: str | Path, *, force: bool = False) -> None:
    """Write an ARPA file; reading it gives the same numbers.

    Args:
        words: the markers first.
        levels: one for each order.
        path: the output, compressed if it ends in ``.gz``.
        force: replace an existing file.

    Raises:
        DataError: a word that an ARPA file cannot hold, or the system refused to write.
        UsageError: the file exists and ``force`` is false.
    """
    odd = next((word for word in words if not writable(word)), None)
    if odd is not None:
        raise DataError(f"found the word {odd!r}, expected one without white space; an ARPA file cannot hold it")
    with output_file(path, force=force) as sink:
        if not str(path).endswith(".gz"):
            for line in _texts(words, levels):
                sink.write(line)
            return
        packer = zlib.compressobj(wbits=31)  # as gzip, without a name or a time of day: the same model, the same bytes
        for line in _texts(words, levels):
            sink.write(packer.compress(line.encode()))
        sink.write(packer.flush())


def _texts(words: Sequence[str], levels: Sequence[Level]) -> Iterator[str]:
    yield "\\data\\\n"
    yield from (f"ngram {order}={len(level.words)}\n" for order, level in enumerate(levels, 1))
    for order, level in enumerate(levels, 1):
        yield f"\n\\{order}-grams:\n"
        ends = (f"\t{weight!s}\n" for weight in level.backoff) if order < len(levels) else iter(lambda: "\n", "")
        for score, ngram, end in zip(level.scores, zip(*spell(levels, order), strict=True), ends, strict=False):
            yield f"{score!s}\t{' '.join([words[word] for word in ngram])}{end}"
    yield "\n\\end\\\n"


class _ArpaReader:
    """Parser of one ARPA file; keeps the line number for messages."""

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._line = 0
        self._lines = self._filled_lines()
        self._words = list(MARKERS)
        self._numbers = {**{word: number for number, word in enumerate(MARKERS)}, "<UNK>": UNKNOWN}
        self._keys: list[Ints] = []  # of each order read: context * words + last word, ascending

    def read(self) -> tuple[list[str], tuple[Level, ...]]:
        """Read the whole file."""
        counts, line = self._header()
        levels: list[Level] = []
        for order in range(1, min(len(counts), HIGHEST) + 1):
            self._check_section(order, line)
            levels.append(self._level(order, counts))
            line = next(self._lines, None)
        if len(counts) <= HIGHEST and line != "\\end\\":
            self._fail(f"found {_shown(line)}, expected \\end\\; the file is cut off, or its counts are wrong")
        return self._words, tuple(levels)

    def _filled_lines(self) -> Iterator[str]:
        for number, raw in _raw_lines(self._path):
            self._line = number
            text = decode(raw, self._path, number).strip("\r\n \t")
            if text:
                yield text

    def _fail(self, message: str, line: int | None = None) -> NoReturn:
        raise DataError(message, path=self._path, line=line or self._line or None)

    def _header(self) -> tuple[list[int], str | None]:
        """Read the declared number of n-grams of each order; return it with the line that follows."""
        while (line := next(self._lines, None)) != "\\data\\":
            if line is None:
                self._fail("found no line \\data\\, with which an ARPA file begins; give a model of KenLM or SRILM")
        counts: list[int] = []
        while (line := next(self._lines, None)) is not None and (match := _COUNT.fullmatch(line)):
            if int(match[1]) != len(counts) + 1:
                self._fail(f"found the count of {match[1]}-grams, expected that of {len(counts) + 1}-grams")
            counts.append(int(match[2]))
        if not counts:
            self._fail(f"found {_shown(line)}, expected how many n-grams there are, such as: ngram 1=1000")
        return counts, line

    def _check_section(self, order: int, line: str | None) -> None:
        match = None if line is None else _SECTION.fullmatch(line)
        if match is None or int(match[1]) != order:
            self._fail(
                f"found {_shown(line)}, expected \\{order}-grams:; the file is cut off, its counts are wrong, or its "
                "sections are out of order"
            )

    def _level(self, order: int, counts: Sequence[int]) -> Level:
        """Read the n-grams of a section."""
        highest = order == len(counts)
        ngrams, lines, scores, weights = array("i"), array("q"), array("d"), array("d")
        for _ in range(counts[order - 1]):
            line = next(self._lines, None)
            if line is None or line.startswith("\\"):
                self._fail(f"found {_shown(line)} after {len(lines):,} {order}-grams, expected {counts[order - 1]:,}")
            fields = _SEPARATORS.split(line)
            if not order < len(fields) <= order + 2 - highest:
                sought = f"a logarithm and {order} words" + ("" if highest else ", or a back-off weight after these")
                self._fail(f"found {_shown(line)}, expected {sought}")
            scores.append(self._number(fields[0], "the logarithm of a probability, a number of at most 0", 0.0))
            weights.append(self._number(fields[-1], "a back-off weight, a number") if len(fields) > order + 1 else 0.0)
            ngrams.extend(self._number_of(word, order) for word in fields[1 : order + 1])
            lines.append(self._line)
        if order == 1:
            for marker, score in _LACKING.items():
                if marker not in ngrams:
                    ngrams.append(marker)
                    lines.append(0)
                    scores.append(score)
                    weights.append(0.0)
        return self._sorted(
            np.array(ngrams, np.int64).reshape(-1, order), np.array(lines), np.array(scores), np.array(weights)
        )

    def _number(self, text: str, expected: str, most: float = _LARGEST) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if "_" in text or not -_LARGEST <= number <= most:
            self._fail(f"found {_shown(text)}, expected {expected}")
        return number

    def _number_of(self, word: str, order: int) -> int:
        number = self._numbers.get(word)
        if number is None:
            if order > 1:
                self._fail(f"found the word {_shown(word)}, expected one of those in the section \\1-grams:")
            number = self._numbers[word] = len(self._words)
            self._words.append(word)
        return number

    def _sorted(self, ngrams: Ints, lines: Ints, scores: Floats, weights: Floats) -> Level:
        """Return rows of words, in the order of the file, as a level."""
        size = len(self._words)
        context = np.zeros(len(ngrams), np.int64)
        for below, words in zip(self._keys, ngrams.T, strict=False):
            sought = context * size + words
            context = np.minimum(np.searchsorted(below, sought), len(below) - 1)
            lacking = np.flatnonzero(below[context] != sought) if len(below) else np.arange(len(sought))
            for row in lacking[:1].tolist():
                ngram = " ".join(self._words[word] for word in ngrams[row].tolist())
                self._fail(f"found {_shown(ngram)}, whose first words are not listed as an n-gram", int(lines[row]))
        keys = context * size + ngrams[:, -1]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        for row in np.flatnonzero(keys[1:] == keys[:-1])[:1].tolist():
            ngram = " ".join(self._words[word] for word in ngrams[order[row]].tolist())
            self._fail(f"found {_shown(ngram)} twice, expected each n-gram once", int(lines[order[row + 1]]))
        contexts = len(self._keys[-1]) if self._keys else 1
        self._keys.append(keys)
        return Level(
            pointers(context[order], contexts), ngrams[order, -1].astype(np.int32), scores[order].astype(np.float32),
            weights[order].astype(np.float32),
        )  # fmt: skip


def _raw_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    if not str(path).endswith(".gz"):
        yield from raw_lines(path)
        return
    try:
        with gzip.open(path, "rb") as file:
            yield from enumerate(file, 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"not a whole gzip file: {error}; copy it again", path=path) from None
    except OSError as error:
        raise unreadable(path, error) from None


def _shown(text: str | None) -> str:
    """Return the found text, shortened for a message."""
    return "the end of the file" if text is None else repr(text if len(text) <= 60 else text[:60] + "...")
