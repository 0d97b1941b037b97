"""Phrase matching: the longest phrases in a text, such as names of a vocabulary, from left to right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

# Acronyms that are also these words would be found everywhere: AS (aortic stenosis) in "as".
_FUNCTION_WORDS: Final = frozenset(
    (
        *("a", "all", "am", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "did", "do", "for", "had"),
        *("has", "he", "her", "his", "how", "i", "if", "in", "is", "it", "may", "me", "my", "no", "nor", "not", "of"),
        *("on", "or", "our", "out", "she", "so", "the", "to", "up", "us", "was", "we", "who", "you"),
    )
)
_HISSING: Final = ("ches", "shes", "sses", "xes", "zes")
_SINGULAR: Final = ("ss", "us", "is")
_MEMORY: Final = 1 << 16  # words


@lru_cache(_MEMORY)
def fold(word: str) -> str:
    """Fold the case and the English plural of a word, for comparison with other folded words.

    Words in capitals that would then be function words keep their capitals.

    >>> [fold(word) for word in ("Arteries", "MASSES", "valves", "pus", "AS", "as")]
    ['artery', 'mass', 'valve', 'pus', 'AS', 'as']
    """
    low = word.casefold()
    if low in _FUNCTION_WORDS:
        return word if word.isupper() else low
    if len(low) < 4 or low[-1] != "s" or low.endswith(_SINGULAR):
        return low
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    return low[:-2] if low.endswith(_HISSING) else low[:-1]


class PhraseMatch(NamedTuple):
    """A phrase found in a sentence.

    Args:
        first, end: its words, half-open.
        labels: sorted, each once.
    """

    first: int
    end: int
    labels: tuple[str, ...]


class Phrases:
    """Set of phrases with labels, and their matches in sentences.

    Of the phrases that begin at a word the longest is used, and the search continues after its end. Each word costs
    one look-up, and one more for each length that phrases with this first word have.

    Args:
        entries: words and a label; the same phrase may come with several labels. Phrases without words are left out.
        fold: function from a word to the form that is compared.

    >>> phrases = Phrases([(["heart"], "organ"), (["Heart", "failure"], "problem"), (["failure"], "event")])
    >>> phrases.find(["Acute", "heart", "failures"])
    [PhraseMatch(first=1, end=3, labels=('problem',))]
    """

    def __init__(self, entries: Iterable[tuple[Sequence[str], str]], *, fold: Callable[[str], str] = fold) -> None:
        self._fold = fold
        labels: dict[tuple[str, ...], set[str]] = {}
        for words, label in entries:
            if words:
                labels.setdefault(tuple(map(fold, words)), set()).add(label)
        self._labels = {words: tuple(sorted(names)) for words, names in labels.items()}
        lengths: dict[str, set[int]] = {}
        for words in self._labels:
            lengths.setdefault(words[0], set()).add(len(words))
        self._lengths = {first: tuple(sorted(sizes, reverse=True)) for first, sizes in lengths.items()}

    def __len__(self) -> int:
        """Return the number of distinct phrases."""
        return len(self._labels)

    @property
    def labels(self) -> Mapping[tuple[str, ...], tuple[str, ...]]:
        """Folded words -> labels."""
        return self._labels

    def find(self, words: Sequence[str]) -> list[PhraseMatch]:
        """Find the phrases in a sentence, in text order; they do not overlap.

        Args:
            words: the words of one sentence.
        """
        folded = tuple(map(self._fold, words))
        found, at, size = [], 0, len(folded)
        while at < size:
            for length in self._lengths.get(folded[at], ()):
                labels = self._labels.get(folded[at : at + length]) if at + length <= size else None
                if labels is not None:
                    found.append(PhraseMatch(at, at + length, labels))
                    at += length - 1
                    break
            at += 1
        return found

    def column(self, words: Sequence[str], sentences: Iterable[Sequence[int]], *, ends: bool = False) -> list[str]:
        """Return the place of each word in a phrase, with the phrase's labels joined by ``+``; empty outside.

        Args:
            words: of all sentences.
            sentences: first word and end of each.
            ends: mark also the last word of a phrase, ``E-``, and the only one, ``S-``, from others, ``B-`` and ``I-``.

        >>> phrases = Phrases([(["heart", "failure"], "problem"), (["heart"], "organ")])
        >>> words = ["heart", "failure", "heart"]
        >>> phrases.column(words, [(0, 3)]), phrases.column(words, [(0, 3)], ends=True)
        (['B-problem', 'I-problem', 'B-organ'], ['B-problem', 'E-problem', 'S-organ'])
        """
        values = [""] * len(words)
        for first, end in sentences:
            for found in self.find(words[first:end]):
                size = found.end - found.first
                letters = "B" + "I" * (size - 1)
                if ends:
                    letters = "S" if size == 1 else letters[:-1] + "E"
                label = "+".join(found.labels)
                values[first + found.first : first + found.end] = [f"{letter}-{label}" for letter in letters]
        return values
