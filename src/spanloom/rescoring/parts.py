"""Pairs of parts as candidates with a gap: by words at their edges, and by the marginals of mentions without gaps.

A mention *begins here* and *continues there*: the log-odds of a pair of parts are taken as a sum over its six edge
tokens, each with the ratio of how often training has the word at this edge of a mention with a gap to how often it has
it anywhere, over the three lengths, over the type, and over the likeliest candidates without a gap that begin and end
where it does. So coordinations (*rod and cone bipolar cells*), inserted words (*cortex of the kidney*) and brackets are
proposed alike, whatever the first stage can hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import ModelError
from spanloom.hashing import UInt64
from spanloom.hypergraph import Floats, Ints, Singles
from spanloom.modelfile import ModelPart
from spanloom.native import Kernel
from spanloom.rescoring.candidates import GIVEN, CandidateMentions, Words
from spanloom.sparse import found_in
from spanloom.structures import MentionTable
from spanloom.structures.base import concatenate

_propose_pairs, _score_pairs = Kernel("propose_pairs"), Kernel("score_pairs")
FEWEST_GAPS: Final = 20
"""Training mentions of two parts below which no pairs are proposed."""
LONGEST: Final = 8
"""Tokens of a part, and of a gap, at most."""
_EDGES = 6  # first and last token of the first part, the gap, and the second part
_PRIOR = 2.0  # mentions' worth of words at random edges
_TYPE_PRIOR = 2.0  # mentions' worth of the types of all mentions with gaps
_NEVER = -1000.0  # log-probability of what training does not have
_FLOOR: Final = -20.0
"""Log-odds above which a pair is proposed, without the constant part of the marginals."""
_SHAPE_FLOOR = -9.0  # log-probability of three lengths together


@dataclass(frozen=True, eq=False)
class PairedParts:
    """What training mentions of two parts show.

    Args:
        words: (W,) ascending hashes of the words at their edges.
        edges: (W + 1, 6) log-ratio of each word at each edge; the last row is of all other words.
        kinds: (W + 1, 2, K) log-probability of each type with this first or last word, and of any other word.
        lengths: (3, 8) log-probability of the tokens of the first part, the gap and the second part.
        rate: logarithm of such mentions by token.
    """

    words: UInt64
    edges: Singles
    kinds: Singles
    lengths: Singles
    rate: Singles

    @classmethod
    def of(
        cls, text: Words, gold: MentionTable, types: int, kept: NDArray[np.bool_] | None = None
    ) -> PairedParts | None:
        """Count the words at the edges of training mentions.

        Args:
            text: of the training data.
            gold: its mentions.
            types: K.
            kept: (N,) sentences to learn from; all when ``None``.

        Returns:
            ``None`` where there are fewer than `FEWEST_GAPS`.
        """
        every = np.ones(len(text.offsets) - 1, np.bool_) if kept is None else kept
        rows = np.flatnonzero((np.diff(gold.ptr) == 2) & every[gold.sentence])
        base, kind = text.offsets[gold.sentence[rows]], gold.kind[rows]
        one = gold.ptr[:-1][rows]
        a, b, c, d = base + gold.first[one], base + gold.end[one], base + gold.first[one + 1], base + gold.end[one + 1]
        edges, lengths = np.stack([a, b - 1, b, c - 1, c, d - 1], 1), np.stack([b - a, c - b, d - c], 1)
        short = (lengths <= LONGEST).all(1)
        edges, lengths, kind = edges[short], lengths[short], kind[short]
        if len(kind) < FEWEST_GAPS:
            return None
        own = text.words[np.repeat(every, np.diff(text.offsets))]
        edge_words = text.words[edges]
        words = np.unique(edge_words)
        number = np.searchsorted(words, edge_words)
        everywhere = np.isin(own, words)
        often = np.bincount(np.searchsorted(words, own[everywhere]), minlength=len(words)) + 0.5
        count = np.zeros((len(words) + 1, _EDGES))
        share = np.append(often / len(own), 1.0)[:, None]
        np.add.at(count, (number, np.arange(_EDGES)), 1.0)
        of_kind = np.zeros((len(words) + 1, 2, types))
        np.add.at(of_kind, (number[:, [0, 5]], np.arange(2), kind[:, None]), 1.0)
        usual = np.bincount(kind, minlength=types) / len(kind)
        smooth = (of_kind + _TYPE_PRIOR * usual) / (of_kind.sum(2, keepdims=True) + _TYPE_PRIOR)
        spread = np.stack([np.bincount(lengths[:, n] - 1, minlength=LONGEST) for n in range(3)])
        with np.errstate(divide="ignore"):
            return cls(
                words,
                np.log((count + _PRIOR * share) / ((len(kind) + _PRIOR) * share)).astype(np.float32),
                np.maximum(np.log(smooth), _NEVER).astype(np.float32),
                np.maximum(np.log(spread / len(kind)), _NEVER).astype(np.float32),
                np.log(np.array([len(kind) / len(own)], np.float32)),
            )

    def table(self, found: CandidateMentions, text: Words) -> MentionTable:
        """Return the pairs whose log-odds are above a floor, of the types that training has with gaps."""
        known = self.edges, self.kinds, self.lengths, self.rate, *self._shapes, _FLOOR, GIVEN
        own, rows = (found, text, self._numbers(text), *known), np.empty((0, 6), np.int64)
        while len(rows) != (count := _propose_pairs(*own, rows)):  # first to count them
            rows = np.empty((count, 6), np.int64)
        first, end = rows[:, 2::2].reshape(-1), rows[:, 3::2].reshape(-1)
        return MentionTable(
            rows[:, 0].copy(), rows[:, 1].copy(), 2 * np.arange(count + 1), first, end, np.full((count, 2), -1)
        )

    def scores(self, candidates: CandidateMentions, text: Words) -> Floats:
        """Return the log-odds of each candidate, (C,); -inf for one that has not two parts, or a longer one."""
        found = np.empty(len(candidates))
        _score_pairs(
            candidates, text, self._numbers(text), self.edges, self.kinds, self.lengths, self.rate, GIVEN, found
        )
        return found

    def _numbers(self, text: Words) -> Ints:
        at = found_in(self.words, text.words)
        return np.where(at < 0, len(self.words), at)

    @cached_property
    def _shapes(self) -> tuple[Ints, Floats]:
        """The tokens of both parts and the gap of the shapes that are tried, (S, 3), with their log-probability."""
        weights = self.lengths[0][:, None, None] + self.lengths[1][:, None] + self.lengths[2]
        likely = weights > _SHAPE_FLOOR
        return np.ascontiguousarray(np.argwhere(likely) + 1), weights[likely].astype(np.float64)

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        return ModelPart(arrays={
            "words": self.words, "edges": self.edges, "kinds": self.kinds, "lengths": self.lengths, "rate": self.rate,
        })  # fmt: skip

    @classmethod
    def from_part(cls, part: ModelPart, types: int) -> PairedParts:
        """Return what `to_part` gave.

        Raises:
            ModelError: it is damaged.
        """
        words = part.array("words", np.uint64, None)
        if not len(words):
            raise ModelError(f"{part.name}words is empty, expected words at the edges of gaps; train the model again")
        rows = len(words) + 1
        return cls(
            words, part.array("edges", np.float32, rows, _EDGES), part.array("kinds", np.float32, rows, 2, types),
            part.array("lengths", np.float32, 3, LONGEST), part.array("rate", np.float32, 1),
        )  # fmt: skip


@dataclass(frozen=True)
class HeldOutParts:
    """Pairs in training text, by what the other folds show.

    Args:
        parts: of each fold, from the others; ``None`` where those have too few.
        fold: (N,) of each sentence.
    """

    parts: Mapping[int, PairedParts | None]
    fold: Ints

    @classmethod
    def of(cls, text: Words, gold: MentionTable, types: int, fold: Ints) -> HeldOutParts:
        """Count apart from each fold; ``fold`` is (N,)."""
        return cls({n: PairedParts.of(text, gold, types, fold != n) for n in np.unique(fold).tolist()}, fold)

    def take(self, sentences: Ints) -> HeldOutParts:
        """Return the same for some sentences."""
        return HeldOutParts(self.parts, self.fold[sentences])

    def table(self, found: CandidateMentions, text: Words) -> MentionTable:
        """See `PairedParts.table`."""
        tables = [MentionTable.build([])]
        for number in np.unique(self.fold).tolist():
            own = self.parts[number]
            if own is not None:
                table = own.table(found, text)
                tables.append(table.take(self.fold[table.sentence] == number))
        return concatenate(tables)

    def scores(self, candidates: CandidateMentions, text: Words) -> Floats:
        """See `PairedParts.scores`."""
        result, own = np.full(len(candidates), -np.inf), self.fold[candidates.table.sentence]
        for number, parts in self.parts.items():
            if parts is not None:
                rows = own == number
                result[rows] = parts.scores(candidates, text)[rows]
        return result
