"""Names of training mentions, as hashes, and the types that they had."""

from __future__ import annotations

from typing import Final

import numpy as np

from spanloom.hashing import UInt64, mixed
from spanloom.hypergraph import Ints
from spanloom.modelfile import ModelPart
from spanloom.native import Kernel

SEEN: Final = ("never", "as this type, once", "as this type", "as others, too", "mostly as others", "as others")
"""How training mentions with a text were of a type."""
_recall = Kernel("recall")
_OFTEN = 0.8  # the share of a text's mentions from which on a type is the usual one


class SeenNames:
    """How often a text was a mention of each type.

    Args:
        keys: (M,) ascending hashes, of a text, and of a text with a type.
        counts: (M,) int32, how many mentions each had.

    >>> text = np.array([5, 5, 6], np.uint64)
    >>> seen = SeenNames.of(text, np.array([0, 0, 1]))
    >>> [SEEN[i] for i in seen.recall(np.array([5, 6, 6, 9], np.uint64), np.array([0, 0, 1, 0])).tolist()]
    ['as this type', 'as others', 'as this type, once', 'never']
    """

    def __init__(self, keys: UInt64, counts: Ints) -> None:
        self.keys, self.counts = keys, counts

    @classmethod
    def of(cls, text: UInt64, kind: Ints) -> SeenNames:
        """From the texts and types of mentions, (M,) each."""
        keys, counts = np.unique(np.concatenate([text, mixed(0, text, kind)]), return_counts=True)
        return cls(keys, counts.astype(np.int64))

    def recall(self, text: UInt64, kind: Ints) -> Ints:
        """Return how the mentions of each text were of each type, (C,), as a number of `SEEN`."""
        found = np.empty(len(text), np.int64)
        _recall(text, kind, self.keys, self.counts, _OFTEN, found)
        return found

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        return ModelPart(arrays={"keys": self.keys, "counts": self.counts})

    @classmethod
    def from_part(cls, part: ModelPart) -> SeenNames:
        """Return what `to_part` gave."""
        keys = part.array("keys", np.uint64, None)
        return cls(keys, part.array("counts", np.int64, len(keys)))


class HeldOutNames:
    """What training has beside the fold of each candidate, so that names are not believed too much.

    Args:
        text, kind, fold: (M,) of the training mentions.
        queried: (C,) fold of each candidate.
    """

    def __init__(self, text: UInt64, kind: Ints, fold: Ints, queried: Ints) -> None:
        self._queried = queried
        self._names = {n: SeenNames.of(text[fold != n], kind[fold != n]) for n in np.unique(queried).tolist()}

    def recall(self, text: UInt64, kind: Ints) -> Ints:
        """Return how the other folds' mentions of each text were of each type; see `SeenNames.recall`."""
        found = np.zeros(len(text), np.int64)
        for n, names in self._names.items():
            rows = self._queried == n
            found[rows] = names.recall(text[rows], kind[rows])
        return found
