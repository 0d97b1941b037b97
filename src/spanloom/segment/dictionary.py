"""A dictionary of the user's at prediction: words that stay whole, some of them mentions of a type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from spanloom.errors import UsageError, clip
from spanloom.segment.characters import Bools, Characters, KeptWord, classes
from spanloom.segment.feature_sets import read_dictionaries
from spanloom.structures.product import MENTION_CHAIN, WORD_CHAIN, WORD_TAGS
from spanloom.text import Phrases

Words: TypeAlias = str | Path | Sequence[str]
WORD: Final = "word"
"""The label of words that are mentions of no certain type."""
_RUNS: Final = frozenset(("letter", "digit"))


class Dictionary:
    """Words that a text keeps whole wherever they occur: of those that begin at a character the longest, from the left.

    Case and width do not matter. A word does not occur within a run of Latin letters and digits, nor across white space
    or the end of a sentence.

    Args:
        given: a file with one word a line, or words; or a mapping from labels to such: ``word``, or the mention type
            that all these words have.
        types: K names of the model.
        allowed: (4, L) which tags of words and of mentions the model allows at the same character.

    Raises:
        UsageError: what is no dictionary, a file that cannot be read, a label that is no type of the model, a type
            whose mentions cannot be one word, or a word of two types.
        DataError: a file that is not UTF-8, or has no word.
    """

    def __init__(self, given: Words | Mapping[str, Words], types: Sequence[str], allowed: Bools) -> None:
        labelled = given if isinstance(given, Mapping) else {WORD: given}
        for label, words in labelled.items():
            if not isinstance(words, str | Path) and not all(isinstance(word, str) for word in words):
                raise UsageError(f"dictionary: the words of {clip(label)} are not all texts; give a file, or texts")
            if label != WORD and label not in types:
                expected = ", ".join((WORD, *types))
                raise UsageError(f"dictionary: found the label {clip(label)}, expected one of {expected}")
            if label in types and not all(
                allowed[WORD_TAGS.index(word), MENTION_CHAIN.tags(types).index(f"{mention}-{label}")]
                for word, mention in zip(WORD_CHAIN.spell(3) + "S", MENTION_CHAIN.spell(3) + "U", strict=True)
            ):
                raise UsageError(
                    f"dictionary: found words of the type {clip(label)}, which is never one word by the constraints of "
                    f"the model; label them {WORD}"
                )
        self._phrases: Phrases | None = read_dictionaries(labelled, None)
        for phrase, labels in () if self._phrases is None else self._phrases.labels.items():
            if len({*labels} - {WORD}) > 1:
                both = " and ".join(label for label in labels if label != WORD)
                raise UsageError(f"dictionary: {clip(''.join(phrase))} is {both}; leave one out")

    def within(self, text: Characters) -> Characters:
        """Return a text with the words that it keeps."""
        if self._phrases is None:
            return text
        shown = list(chain.from_iterable("".join(document.text.split()) for document in text.batch.documents))
        kept = []
        for start, stop in pairwise([*np.flatnonzero(text.first).tolist(), len(shown)]):
            for found in self._phrases.find(shown[start:stop]):
                first, end = start + found.first, start + found.end
                # of the characters on both sides of a border: it may not cut a run, nor a mark from its character
                borders = [(at, classes(shown[at - 1 : at + 1])) for at in (first, end) if start < at < stop]
                if not any(text.inner[at] or _RUNS.issuperset(both) for at, both in borders):
                    kept.append(KeptWord(first, end, next((one for one in found.labels if one != WORD), None)))
        return text._replace(kept=tuple(kept))
