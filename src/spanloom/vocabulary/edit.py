"""Equation 2 of Lou et al. (2017): similarity of strings by Levenshtein distance, over all names, with RapidFuzz."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from spanloom.native import Kernel
from spanloom.vocabulary.cosine import Nearest

_best_concepts = Kernel("best_concepts")
_BATCH: Final = 64  # texts at a time: RapidFuzz compares several at once, and the table of similarities stays small
_KEPT: Final = 200_000  # texts whose concepts are kept, at most
_Best = tuple[int, NDArray[np.int32], NDArray[np.float32]]  # how many were asked for; rows and scores


class EditSearch:
    """The concepts whose names are the most similar, exactly.

    Equation 2 scores a concept by ``1 - LED(m, c) / max LED(m, c)``, the largest over the extended mention set. Read
    literally, the maximum below the line runs over that set as well, and a mention without synonyms would score 0 with
    every concept. The text calls it "the maximum Levenshtein distance between m and c": what two strings of these
    lengths can differ at most, which is the length of the longer one. So what is computed here is the largest
    ``1 - LED(m, c) / max(len(m), len(c))``. Case does not matter.

    Every name is compared, several mentions at once. To leave out names by the characters that they share with the
    mention saved nothing: for many mentions the tenth concept is so dissimilar that the bound keeps most names. What
    was found for a text is kept.

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
        self._kept: dict[str, _Best] = {}

    def find(self, texts: Sequence[str], k: int) -> Nearest:
        """The k most similar concepts of each text, by each concept's most similar name; similarities above 0 only.

        Args:
            texts: Q strings.
            k: how many.
        """
        forms = [text.casefold() for text in texts]
        kept = self._kept
        best = {form: kept[form] for form in forms if form in kept and kept[form][0] >= k}
        best |= self._search([form for form in dict.fromkeys(forms) if form not in best], k)
        self._kept = {**(kept if len(kept) + len(best) <= _KEPT else {}), **best}
        found = [best[form] for form in forms]
        ptr = np.cumsum([0, *(min(k, len(row)) for _, row, _ in found)])
        rows, scores = ([np.empty(0, dtype), *parts] for dtype, parts in (
            (np.int32, [row[:k] for _, row, _ in found]), (np.float32, [score[:k] for _, _, score in found])
        ))  # fmt: skip
        return Nearest(ptr, np.concatenate(rows), np.concatenate(scores))

    def _search(self, forms: Sequence[str], k: int) -> dict[str, _Best]:
        """The same for distinct texts that are not kept."""
        row, score = np.empty(k, np.int32), np.empty(k, np.float32)
        found: dict[str, _Best] = {}
        for first in range(0, len(forms), _BATCH):
            batch = forms[first : first + _BATCH]
            table = cdist(batch, self._names, scorer=Levenshtein.normalized_similarity, dtype=np.float32)
            for form, similarities in zip(batch, table, strict=True):
                size = _best_concepts(similarities, self._concept, row, score)
                found[form] = k, row[:size].copy(), score[:size].copy()
        return found
