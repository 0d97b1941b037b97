"""Names of training mentions as phrases that are found in text, as hashes: types, and how often they are mentions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import ModelError
from spanloom.hashing import RangeHashes, UInt64, mixed
from spanloom.hypergraph import Ints
from spanloom.modelfile import ModelPart
from spanloom.passes.columns import LONGEST, DocumentText, Ranges

BINS: Final = ("seldom", "at times", "mostly", "always", "once")
"""How often a phrase of the training text is a mention of its usual type; ``once`` if it occurs only once."""
_SHARES: Final = (0.25, 0.5, 1.0)


@dataclass(frozen=True, eq=False, slots=True)
class KnownNames:
    """Texts of training mentions of at most `LONGEST` tokens, M of them.

    Args:
        keys: (M,) ascending hashes of words in lower case.
        kind: (M,) int16, the most frequent type of each.
        share: (M,) int8, a number of `BINS`.
        sizes: lengths in tokens that occur.
    """

    keys: UInt64
    kind: NDArray[np.int16]
    share: NDArray[np.int8]
    sizes: Ints

    @classmethod
    def learn(cls, text: DocumentText, gold: Ranges, kinds: int, counted: NDArray[np.bool_]) -> KnownNames:
        """Learn from the mentions of some of the documents of a text.

        Args:
            text: T tokens.
            gold: mentions of all its documents.
            kinds: K types.
            counted: (D,) which documents count.
        """
        hashes = RangeHashes(text.words)
        gold = gold.take(counted[text.document[gold.first]] & (gold.end - gold.first <= LONGEST))
        sizes = gold.end - gold.first
        keys, member = np.unique(mixed(0, hashes.of(gold.first, gold.end), sizes), return_inverse=True)
        pairs, times = np.unique(member * kinds + gold.kind, return_counts=True)
        order = np.lexsort((pairs, -times, pairs // kinds))
        first = order[np.unique(pairs[order] // kinds, return_index=True)[1]]
        present = np.unique(sizes)
        begins = np.flatnonzero(counted[text.document])
        _, _, found = hashes.find(keys, present.tolist(), begins, text.limit)
        all_times = np.bincount(found, minlength=len(keys))
        bins = np.digitize(times[first] / np.maximum(1, all_times), _SHARES)
        share = np.where(all_times <= 1, BINS.index("once"), bins)
        return cls(keys, (pairs[first] % kinds).astype(np.int16), share.astype(np.int8), present)

    def find(self, text: DocumentText, asked: NDArray[np.bool_] | None = None) -> tuple[Ranges, Ints]:
        """Return the places of names in a text, and the number of `BINS` of each.

        Args:
            text: T tokens.
            asked: (D,) in which documents; in all when ``None``.
        """
        begins = np.arange(len(text.words)) if asked is None else np.flatnonzero(asked[text.document])
        first, end, row = RangeHashes(text.words).find(self.keys, self.sizes.tolist(), begins, text.limit)
        share = self.share[row].astype(int)
        return Ranges(first, end, self.kind[row].astype(np.int64), share.astype(np.float64)), share

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        return ModelPart(arrays={"keys": self.keys, "kind": self.kind, "share": self.share, "sizes": self.sizes})

    @classmethod
    def from_part(cls, part: ModelPart, kinds: int) -> KnownNames:
        """Return what `to_part` gave.

        Args:
            part: that one.
            kinds: K types.

        Raises:
            ModelError: there are types, shares or lengths that cannot be, or keys that are not in order.
        """
        keys = part.array("keys", np.uint64, None)
        kind, share = part.array("kind", np.int16, len(keys)), part.array("share", np.int8, len(keys))
        sizes = part.array("sizes", np.int64, None)
        for values, least, end in ((kind, 0, kinds), (share, 0, len(BINS)), (sizes, 1, LONGEST + 1)):
            if ((values < least) | (values >= end)).any():
                raise ModelError("names of training mentions with types, shares or lengths that there are not")
        if len(sizes) > LONGEST or (keys[1:] <= keys[:-1]).any():
            raise ModelError("names of training mentions that are not in order")
        return cls(keys, kind, share, sizes)


def held_out_names(text: DocumentText, gold: Ranges, kinds: int, fold: Ints) -> tuple[Ranges, Ints]:
    """Return the places of names in training text, those of each fold by what the other folds have.

    Args:
        text: T tokens.
        gold: their mentions.
        kinds: K types.
        fold: (D,) of each document.
    """
    parts = [
        KnownNames.learn(text, gold, kinds, fold != number).find(text, fold == number)
        for number in np.unique(fold).tolist()
    ]
    ranges, bins = zip(*parts, strict=True)
    return Ranges.join(ranges), np.concatenate(bins)
