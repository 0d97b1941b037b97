"""Domain shift: a profile of the training text, and a warning when the text to predict differs from it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from operator import itemgetter, ne
from typing import Annotated, Final
from unicodedata import name

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document
from spanloom.errors import DataWarning, ModelError, plural
from spanloom.hashing import UInt64, hash_values
from spanloom.modelfile import Described, ModelPart, Within
from spanloom.text.characters import CJK
from spanloom.text.patterns import pattern

_WORD: Final = pattern(rf"[{CJK}]|[^\W\d_{CJK}]{{3,}}")
_WORD_OF_ASCII: Final = pattern(r"[A-Za-z]{3,}")  # the same in a text of ASCII, in half the time
_LINE_END: Final = pattern(r"[^\W\d_][,;]?[ \t]*\r?\n[ \t]*(?=[^\W\d_])")  # counts if a lower-case letter follows
_DOCUMENTS: Final = 2  # that a word must occur in, so that a model reveals no name of a single document
_BITS, _HASHES = 10, 4  # of the Bloom filter, for each word: about 1.2 % false positives
_RARE: Final = 0.01  # scripts with a smaller share of the words are ignored
_SAMPLE, _PART = 10_000, 20  # characters checked at first, and of one text at most; afterwards a 20th
_WINDOW: Final = 20_000  # words after which counts are reset, so that a late change is detected
_FEWEST, _MANY = 8, 50  # words needed for any warning, and for one about unknown words or line ends
_ERRORS: Final = 2.0  # standard errors by which a difference must exceed its margin
_UNKNOWN, _CAPITALS, _FOREIGN, _BROKEN = 0.1, 0.3, 0.2, 0.02  # differences that cause a warning
_USUAL, _EXPECTED = (
    0.03,
    10.0,
)  # share and number of expected words with a capital letter

Share = Annotated[float, Within(0, 1)]


@dataclass
class _Counts:
    """Counts of words of three letters and more, and of characters of scripts without spaces.

    Args:
        words: all.
        capitals: those in capital letters only.
        cased: those with a capital letter.
        broken: line ends between two words of a sentence.
        scripts: words by script.
        distinct: lower-case words, with the number of their occurrences.
    """

    words: int = 0
    capitals: int = 0
    cased: int = 0
    broken: int = 0
    scripts: Counter[str] = field(default_factory=Counter)
    distinct: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> Counter[str]:
        """Count the words of a text, and return its lower-case words with the number of their occurrences."""
        found = (_WORD_OF_ASCII if text.isascii() else _WORD).findall(text)
        low = [*map(str.lower, found)]
        self.words += len(found)
        self.capitals += sum(map(str.isupper, found))
        self.cased += sum(map(ne, found, low))
        for initial, count in Counter(map(itemgetter(0), found)).items():
            self.scripts[_script(initial)] += count
        own = Counter(low)
        self.distinct.update(own)
        if "\n" in text:
            self.broken += sum(text[match.end()].islower() for match in _LINE_END.finditer(text))
        return own


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    """Return the script of a letter, as the first word of its Unicode name.

    >>> _script("a"), _script("я"), _script("病")
    ('Latin', 'Cyrillic', 'CJK')
    """
    script = name(character, "other").split()[0].split("-")[0]
    return script if script == "CJK" else script.capitalize()


class _Described(Described):
    """The values of a profile in a model file."""

    unknown: Share
    capitals: Share
    cased: Share
    scripts: list[str]
    broken: Annotated[float, Within(0)]


@dataclass(frozen=True, eq=False)
class Profile:
    """Statistics of a training text. Words are those of three letters and more.

    Words that occur in at least two documents are kept in a Bloom filter: a given word can be looked up, but the words
    cannot be listed.

    Args:
        filter: (B,) uint8.
        unknown: the share of unknown words to expect in a new document: those that occur in fewer than two others.
        capitals: the share of words in capital letters.
        cased: the share of words with a capital letter.
        scripts: those of its words.
        broken: line ends inside sentences for each word.
    """

    filter: NDArray[np.uint8]
    unknown: float
    capitals: float
    cased: float
    scripts: tuple[str, ...]
    broken: float

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Profile:
        """Return the profile of documents.

        >>> texts = ["no chest pain", "chest pain today", "chest pain gone"]
        >>> profile = Profile.of([Document(text) for text in texts])
        >>> round(profile.unknown, 2), profile.knows(["chest", "today"]).tolist(), profile.scripts
        (0.25, [True, False], ('Latin',))
        """
        counts = _Counts()
        spread: Counter[str] = Counter()  # word -> documents
        for document in documents:
            spread.update(counts.add(document.text).keys())
        rare = sum(counts.distinct[word] for word, count in spread.items() if count <= _DOCUMENTS)
        words = max(counts.words, 1)
        kept = [word for word, count in spread.items() if count >= _DOCUMENTS]
        table = np.zeros(max(1, -(-len(kept) * _BITS // 8)), np.uint8)
        places = _places(kept, 8 * len(table))
        np.bitwise_or.at(table, places >> 3, np.uint8(1) << (places & 7).astype(np.uint8))
        scripts = tuple(sorted(script for script, count in counts.scripts.items() if count >= _RARE * words))
        return cls(table, rare / words, counts.capitals / words, counts.cased / words, scripts, counts.broken / words)

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        return _Described(**vars(self)).part({"filter": self.filter})

    @classmethod
    def from_part(cls, part: ModelPart) -> Profile:
        """Return what `to_part` gave.

        Raises:
            ModelError: it is no profile.
        """
        values, table = part.read(_Described), part.array("filter", np.uint8, None)
        if not len(table):
            raise ModelError("the Bloom filter of the profile is empty; the model file is damaged")
        return cls(table, **vars(values) | {"scripts": tuple(values.scripts)})

    def knows(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return which lower-case words occur in the training text, (W,); about 1.2 % are false positives."""
        places = _places(words, 8 * len(self.filter))
        found: NDArray[np.bool_] = ((self.filter[places >> 3] >> (places & 7)) & 1).all(1)
        return found

    def differences(self, counts: _Counts) -> Iterator[str]:
        """Yield a description of each difference between a text and the training text, with both figures."""
        words = counts.words
        if words < _FEWEST:
            return
        foreign = {script: n for script, n in counts.scripts.items() if script not in self.scripts}
        if _more(sum(foreign.values()), words, 0.0, _FOREIGN):
            share = sum(foreign.values()) / words
            names = ", ".join(sorted(foreign, key=lambda one: (-foreign[one], one))[:3])
            yield f"{share:.0%} of its words are {names} (training text: {', '.join(self.scripts) or 'no words'})"
            return  # unknown words and letter case add nothing
        if words >= _MANY:
            distinct = list(counts.distinct)
            new = sum(counts.distinct[distinct[i]] for i in np.flatnonzero(~self.knows(distinct)).tolist())
            if _more(new, words, self.unknown, _UNKNOWN):
                yield f"{new / words:.0%} of its words are unknown ({self.unknown:.0%} in new text of the same kind)"
        if _more(counts.capitals, words, self.capitals, _CAPITALS):
            yield f"{counts.capitals / words:.0%} of its words are in capitals ({self.capitals:.0%})"
        if not counts.cased and self.cased >= _USUAL and self.cased * words >= _EXPECTED:
            yield f"none of its words has a capital letter ({self.cased:.0%})"
        if words >= _MANY and _more(min(counts.broken, words), words, self.broken, _BROKEN):
            lines, usual = 100 * counts.broken / words, 100 * self.broken
            yield f"{lines:.1f} line ends for every 100 words are inside sentences ({usual:.1f})"


def _more(count: int, words: int, usual: float, margin: float) -> bool:
    """Return whether a share of words is larger than the usual one by more than a margin and chance."""
    share = count / words
    return share - _ERRORS * sqrt(share * (1 - share) / words) > usual + margin


def _places(words: Sequence[str], size: int) -> NDArray[np.int64]:
    """Return the bits of words in a filter of so many, (W, `_HASHES`), by double hashing."""
    hashes: UInt64 = hash_values(words) if words else np.zeros(0, np.uint64)
    first, step = hashes & np.uint64(0xFFFFFFFF), (hashes >> np.uint64(32)) | np.uint64(1)
    places = (first[:, None] + np.arange(_HASHES, dtype=np.uint64) * step[:, None]) % np.uint64(size)
    return places.astype(np.int64)


class ShiftWatch:
    """Compares the texts that a model predicts with its profile, and warns once.

    It checks the first texts and then a twentieth of the text, so that its cost is negligible. Counts accumulate over
    all predictions of a model, so that many short texts suffice as well as a long one.

    Args:
        profile: of the training text; ``None`` for models without one, which never warn.
    """

    def __init__(self, profile: Profile | None) -> None:
        self._profile, self._warned = profile, False
        self._seen, self._compared = _Counts(), 0
        self._passed = self._looked = 0  # characters

    def over(self, documents: Iterable[Document], notice: Callable[[str], object]) -> Iterator[Document]:
        """Yield the documents unchanged, and check some of them.

        Args:
            documents: to be predicted.
            notice: callback for the warning.
        """
        for document in documents:
            yield document
            self._passed += len(document.text)
            known = self._profile is None or self._warned
            if known or self._looked > max(_SAMPLE, self._passed / _PART):
                continue
            if self._seen.words > _WINDOW:
                self._seen, self._compared = _Counts(), 0
            sample = document.text[:_SAMPLE]
            self._looked += len(sample)
            self._seen.add(sample)
            if self._seen.words >= 2 * max(self._compared, _MANY):
                self._compare(notice)
        self._compare(notice)

    def _compare(self, notice: Callable[[str], object]) -> None:
        if self._profile is None or self._warned or self._seen.words == self._compared:
            return
        self._compared = self._seen.words
        if found := list(self._profile.differences(self._seen)):
            self._warned = True
            message = (
                f"the text ({plural(self._seen.words, 'word')} checked) differs from what the model was trained on: "
                f"{'; '.join(found)}; see 'Domain shift' in docs/how-to/calibration.md"
            )
            if notice is warnings.warn:  # the caller's line is many frames away
                warnings.warn_explicit(message, DataWarning, "spanloom", 0)
            else:
                notice(message)
