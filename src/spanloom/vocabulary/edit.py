"""Equation 2 of Lou et al. (2017): similarity of strings by Levenshtein distance, over all names, with RapidFuzz."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from spanloom.vocabulary import kernels_candidates as kernels
from spanloom.vocabulary.cosine import Nearest

_BATCH: Final = 64  # texts at a time: RapidFuzz compares several at once, and the table of similarities stays small


class EditSearch:
    """The concepts whose names are the most similar, exactly.

    Equation 2 scores a concept by ``1 - LED(m, c) / max LED(m, c)``, the largest over the extended mention set. Read
    literally, the maximum below the line runs over that set as well, and a mention without synonyms would score 0 with
    every concept. The text calls it "the maximum Levenshtein distance between m and c": what two strings of these
    lengths can differ at most, which is the length of the longer one. So what is computed here is the largest
    ``1 - LED(m, c) / max(len(m), len(c))``. Case does not matter.

    Every name is compared, several mentions at once. To leave out names by the characters that they share with the
    mention saved nothing: for many mentions the tenth concept is so dissimilar that the bound keeps most names.

    Args:
        names: M strings.
        name_concept: (M,) int32, ascending.

    >>> search = EditSearch(["Dystonia", "Dystonic Disorders", "Dystrophy"], np.array([0, 1, 2], np.int32))
    >>> found = search.find(["dystonic"], 2)
    >>> found.row.tolist(), [round(score, 3) for score in found.score.tolist()]
    ([0, 2], [0.875, 0.556])
    """

    def __init__(self, names: Sequence[str], name_concept: NDArray[np.int32]) -> None:
        self._names = [name.casefold() for name in names]
        self._concept = name_concept

    def find(self, texts: Sequence[str], k: int) -> Nearest:
        """The k most similar concepts of each text, by each concept's most similar name; similarities above 0 only.

        Args:
            texts: Q strings.
            k: how many.
        """
        row, score = np.empty(k, np.int32), np.empty(k, np.float32)
        rows, scores, ptr = [row[:0]], [score[:0]], [0]
        forms = [text.casefold() for text in texts]
        for first in range(0, len(forms), _BATCH):
            batch = forms[first : first + _BATCH]
            for similarities in cdist(batch, self._names, scorer=Levenshtein.normalized_similarity, dtype=np.float32):
                size = kernels.best_concepts(similarities, self._concept, row, score)
                rows.append(row[:size].copy())
                scores.append(score[:size].copy())
                ptr.append(ptr[-1] + size)
        return Nearest(np.array(ptr), np.concatenate(rows), np.concatenate(scores))
