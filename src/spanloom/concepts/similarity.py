"""How near texts are to the names of a vocabulary by the outputs of an encoder that is not trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document
from spanloom.hashing import Int64
from spanloom.hypergraph import Singles
from spanloom.scoring import encoder as encoders
from spanloom.sparse import gathered
from spanloom.text import prepare_all
from spanloom.vocabulary.store import Vocabulary

if TYPE_CHECKING:  # PyTorch is loaded when an encoder is
    from spanloom.scoring.encoder import FrozenEncoder

_AT_ONCE: Final = 4096  # texts that the encoder reads, and names that are compared, together
_UNIT: Final = 127.0  # the length of a vector of 8 bits


@dataclass(frozen=True, eq=False)
class NameVectors:
    """Vectors of the names of a vocabulary.

    The vector of a text is the mean of the encoder's outputs, of length 1, as for sentences that encoders compare.

    Args:
        encoder: that reads texts.
        names: (N, D) int8, the vectors times 127, in the order of the vocabulary's names.
    """

    encoder: FrozenEncoder
    names: NDArray[np.int8]

    @classmethod
    def of(cls, vocabularies: Sequence[Vocabulary], folder: str | Path) -> list[NameVectors]:
        """Return vectors of the names of vocabularies by one encoder.

        Args:
            vocabularies: of which the encoder reads all names.
            folder: of the encoder.

        Raises:
            UsageError: see `spanloom.scoring.encoder.folder.open_encoder`.
        """
        opened = encoders.FrozenEncoder.open(folder, Batch.of([]))
        return [cls(opened, np.rint(_UNIT * vectors(opened, one.names)).astype(np.int8)) for one in vocabularies]

    def similarities(self, texts: Sequence[str], owners: Int64, concepts: Int64, ends: Int64) -> NDArray[np.float64]:
        """Return the cosine of each pair of a text and the nearest name of a concept, (P,).

        Args:
            texts: T of them.
            owners: (P,) number of the text of each pair.
            concepts: (P,) number of its concept.
            ends: (V,) where the names of each concept end.
        """
        own, found = vectors(self.encoder, texts), np.empty(len(owners))
        first = np.append(0, ends)
        for begin in range(0, len(owners), _AT_ONCE):
            pairs = slice(begin, begin + _AT_ONCE)
            rows, ptr = gathered(first, concepts[pairs])
            pair = np.repeat(owners[pairs], np.diff(ptr))
            cosines = np.einsum("nd,nd->n", self.names[rows].astype(np.float32), own[pair]) / _UNIT
            found[pairs] = np.maximum.reduceat(cosines, ptr[:-1])
        return found


def vectors(encoder: FrozenEncoder, texts: Sequence[str]) -> Singles:
    """Return the vectors of T texts, (T, D) float32 of length 1; 0 for one without words."""
    found = np.empty((len(texts), encoder.size), np.float32)
    for begin in range(0, len(texts), _AT_ONCE):
        own = slice(begin, begin + _AT_ONCE)
        found[own] = encoder.means(Batch.of(prepare_all([Document(text) for text in texts[own]])))
    lengths = np.sqrt(np.square(found).sum(1, keepdims=True))
    np.divide(found, lengths, out=found, where=lengths > 0)
    return found
