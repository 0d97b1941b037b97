"""Texts of concepts, to be found as written, folded, and by cosine: names of a vocabulary, or remembered mentions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanloom.vocabulary.cosine import CosineIndex, Nearest, Vectors, Weights
from spanloom.vocabulary.folded_names import FoldedNames, Hits
from spanloom.vocabulary.folding import pieces, text_form, text_keys
from spanloom.vocabulary.stored import damaged, take_numbers


class TextIndex:
    """M texts, each of one concept.

    Args:
        texts: M strings.
        concept: (M,) int32, ascending.
        folded: the texts as a dictionary of folded names.
        cosine: the inverted index of the distinct folded texts of each concept.
        rows: (rows,) int32, which text each row of ``cosine`` is.

    >>> index = TextIndex.build(["Renal Failure", "Failure, Renal", "Heart Failure"], np.array([0, 0, 1], np.int32))
    >>> index.exact(["heart failure", "failing heart"]).name.tolist(), len(index.rows)
    ([2], 2)
    """

    def __init__(
        self,
        texts: Sequence[str],
        concept: NDArray[np.int32],
        folded: FoldedNames,
        cosine: CosineIndex,
        rows: NDArray[np.int32],
    ) -> None:
        self.texts, self.concept, self.folded, self.cosine, self.rows = texts, concept, folded, cosine, rows
        self._exact: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            self._exact.setdefault(text_form(text), []).append(number)

    @classmethod
    def build(
        cls, texts: Sequence[str], concept: NDArray[np.int32], weights: Weights | None = None, kind: str = "both"
    ) -> TextIndex:
        """An index of texts.

        Args:
            texts: M strings.
            concept: (M,) int32, ascending.
            weights: of trigrams; ``None`` for those of the texts themselves.
            kind: of the vectors, if there are no weights: see `spanloom.vocabulary.cosine`.
        """
        words = pieces(texts)
        keys = text_keys(words)
        weights = Weights.of(kind, words) if weights is None else weights
        rows = _distinct(concept, keys[0])
        cosine = CosineIndex.build(words.take(rows), concept[rows], weights)
        return cls(texts, concept, FoldedNames(keys), cosine, rows)

    def exact(self, texts: Sequence[str]) -> Hits:
        """The texts that are equal but for case and white space."""
        found = [self._exact.get(text_form(text), ()) for text in texts]
        ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.fromiter(map(len, found), np.int64, len(found)))])
        return Hits(ptr, np.array([number for numbers in found for number in numbers], np.int32))

    def nearest(self, vectors: Vectors, k: int) -> Nearest:
        """The k nearest concepts by cosine; ``row`` is the number of the nearest text."""
        found = self.cosine.find(vectors, k)
        return found._replace(row=self.rows[found.row])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All but texts and concepts, to be saved."""
        parts = (("folded", self.folded.arrays()), ("cosine", self.cosine.arrays()))
        joined = {f"{name}.{key}": array for name, arrays in parts for key, array in arrays.items()}
        return {"rows": self.rows, **joined}

    @classmethod
    def from_arrays(
        cls, texts: Sequence[str], concept: NDArray[np.int32], kind: str, arrays: Mapping[str, NDArray[Any]]
    ) -> TextIndex:
        """What `arrays` gave, of these texts and concepts.

        Raises:
            ModelError: they are none that `arrays` gives for so many texts.
        """
        folded, cosine = (
            {key.removeprefix(name): array for key, array in arrays.items() if key.startswith(name)}
            for name in ("folded.", "cosine.")
        )
        rows = take_numbers(arrays, "rows", np.int32, len(texts))
        if (np.diff(rows) < 1).any():
            raise damaged("rows", "is not ascending")
        index = CosineIndex.from_arrays(kind, cosine, concept[rows])
        return cls(texts, concept, FoldedNames.from_arrays(folded, len(texts)), index, rows)


def _distinct(concept: NDArray[np.int32], keys: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The first text of each key within each concept, ascending."""
    order = np.lexsort((keys, concept))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(concept[order]) != 0) | (keys[order[1:]] != keys[order[:-1]])
    return np.sort(order[fresh]).astype(np.int32)
