"""Texts of concepts, to be found as written, folded, and by cosine: names of a vocabulary, or remembered mentions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spanloom.hashing import code_points, intern
from spanloom.sparse import changes, row_offsets
from spanloom.vocabulary.cosine import CosineIndex, Nearest, TermWeights, Vectors
from spanloom.vocabulary.folding import pieces, text_form
from spanloom.vocabulary.key_table import KeyTable
from spanloom.vocabulary.lexicon import CLOSE, Hits, Lexicon
from spanloom.vocabulary.stored import damaged, take_numbers

_BLOCK: Final = 1 << 18  # texts that are hashed together


class TextIndex:
    """M texts, each of one concept.

    Args:
        texts: M strings.
        lexicon: of the texts; its concepts ascend.
        cosine: the inverted index of the distinct folded texts of each concept.
        rows: (rows,) int32, which text each row of ``cosine`` is.

    >>> texts = ["Renal Failure", "Failure, Renal", "Heart Failure"]
    >>> index = TextIndex.build(texts, Lexicon.of_names(texts, np.array([0, 0, 1], np.int32)))
    >>> index.exact(["heart failure", "failing heart"]).name.tolist(), len(index.rows)
    ([2], 2)
    """

    def __init__(self, texts: Sequence[str], lexicon: Lexicon, cosine: CosineIndex, rows: NDArray[np.int32]) -> None:
        self.texts, self.lexicon, self.cosine, self.rows = texts, lexicon, cosine, rows
        self._exact = KeyTable.build(_hashed_forms(texts), np.arange(len(texts), dtype=np.int32))

    @classmethod
    def build(
        cls, texts: Sequence[str], lexicon: Lexicon, weights: TermWeights | None = None, kind: str = "both"
    ) -> TextIndex:
        """An index of texts.

        Args:
            texts: M strings.
            lexicon: of them.
            weights: of trigrams; ``None`` for those of the texts themselves.
            kind: of the vectors, if there are no weights: see `spanloom.vocabulary.cosine`.
        """
        words = pieces(texts)
        weights = TermWeights.of(kind, words) if weights is None else weights
        # the first text of each key within each concept
        concept, keys = lexicon.concept, lexicon.keys[CLOSE]
        order = np.lexsort((keys, concept))
        rows = np.sort(order[changes(concept[order], keys[order])]).astype(np.int32)
        return cls(texts, lexicon, CosineIndex.build(words.take(rows), lexicon.concept[rows], weights), rows)

    def exact(self, texts: Sequence[str]) -> Hits:
        """The texts that are equal but for case and white space."""
        ptr, names = self._exact.gather(self._exact.find(_hashed_forms(texts)))
        owner = np.repeat(np.arange(len(texts)), np.diff(ptr))
        pairs = zip(owner.tolist(), names.tolist(), strict=True)
        equal = np.array([text_form(texts[text]) == text_form(self.texts[name]) for text, name in pairs], np.bool_)
        return Hits(row_offsets(owner[equal], len(texts)), names[equal])

    def nearest(self, vectors: Vectors, k: int) -> Nearest:
        """The k nearest concepts by cosine; ``row`` is the number of the nearest text."""
        found = self.cosine.find(vectors, k)
        return found._replace(row=self.rows[found.row])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All but texts and lexicon, to be saved."""
        return {"rows": self.rows, **{f"cosine.{name}": array for name, array in self.cosine.arrays().items()}}

    @classmethod
    def from_arrays(
        cls, texts: Sequence[str], lexicon: Lexicon, kind: str, arrays: Mapping[str, NDArray[Any]]
    ) -> TextIndex:
        """Restore an index of these texts from the result of `arrays`.

        Raises:
            ModelError: the arrays are not from `arrays` with this number of texts.
        """
        rows = take_numbers(arrays, "rows", np.int32, len(texts))
        if (np.diff(rows) < 1).any():
            raise damaged("rows", "is not ascending")
        cosine = {name.removeprefix("cosine."): array for name, array in arrays.items()}
        return cls(texts, lexicon, CosineIndex.from_arrays(kind, cosine, lexicon.concept[rows]), rows)


def _hashed_forms(texts: Sequence[str]) -> NDArray[np.uint64]:
    """(M,) a hash of each text without regard to case and white space."""
    found = [np.empty(0, np.uint64)]
    for first in range(0, len(texts), _BLOCK):
        forms = [text_form(text) for text in texts[first : first + _BLOCK]]
        ends = np.cumsum([len(form) for form in forms], dtype=np.int64)
        numbers, own, _ = intern(code_points("".join(forms)), np.append(0, ends[:-1]), ends)
        found.append(own[numbers])
    return np.concatenate(found)
