"""The averaged structured perceptron with early update (Lou et al. 2017, algorithm 2; Collins 2002)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features import Sparse
from spanloom.files.scratch import MEMORY, Scratch
from spanloom.hashing import Slots
from spanloom.learn import Epoch, check_weights
from spanloom.learn.descent import Form, Keeper
from spanloom.learn.kept_passes import Parts
from spanloom.link.arrays import BeamModel, Data, Forms, SharedScores, WeightTable, Workspace
from spanloom.link.phases import MOST, NIL
from spanloom.link.templates import compiled
from spanloom.native import Kernel

Singles = NDArray[np.float32]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
FREE = -1  # a label that is not prescribed
_WIDTH = 16  # columns of a state
_BLOCK = 1 << 22  # entries of a matrix that are looked at once
_KEPT: Final[dict[str, Form]] = {
    "keys": ("uint64", (-1,)),
    "own": ("float32", (-1,)),
    "totals": ("float64", (-1,)),
    "counts": ("int64", (3,)),
}
"""Of a table and of the passes, as they are kept."""
_link_train = Kernel("link_train")


class GoldDerivations(NamedTuple):
    """Gold derivations.

    Args:
        labels: (T,).
        choices: (T,) of the entity whose last token it is, else -1.
    """

    labels: Int32
    choices: Int32


class History(NamedTuple):
    """The concepts of D documents.

    Args:
        ptr: (D + 1,).
        sentence: the first sentence with each concept, counted over all documents.
        concept: its number.
    """

    ptr: Int64
    sentence: Int64
    concept: Int64


class KeyedWeights(NamedTuple):
    """Learned weights.

    Args:
        roles: (F, R) of the features of tokens, each single one.
        table: of all others.
        scales: (R + 1,) of which those of roles, and of the table, are multiples in a compact model.
    """

    roles: Singles
    table: WeightTable
    scales: Singles | None = None


@dataclass(frozen=True)
class Search:
    """Settings of a search, besides weights and data.

    Args:
        forms: the concepts' names.
        groups: templates, as bits of `spanloom.link.phases`.
        types: K.
        longest: tokens of an entity, at most.
        width: of the beam.
    """

    forms: Forms
    groups: int
    types: int
    longest: int
    width: int

    @property
    def roles(self) -> int:
        """R."""
        return 2 + 7 * self.types

    def model(self, table: WeightTable) -> BeamModel:
        """With weights."""
        nil = bool(self.groups & NIL)
        return BeamModel(table, self.forms, compiled(self.groups), nil, self.types, self.longest)

    def workspace(self, data: Data) -> Workspace:
        """Scratch memory for all of the sentences."""
        steps = int(np.diff(data.offsets).max(initial=0)) + 1
        rows = int((np.diff(data.cand_ptr[data.span_ptr]) + np.diff(data.span_ptr)).max(initial=0)) + steps
        width = self.width + 1
        parent, choice, label = (np.zeros((steps, width), np.int32) for _ in range(3))
        return Workspace(
            np.zeros((2, width, _WIDTH), np.int64), np.zeros((2, width)), parent, choice, label,
            np.zeros((steps, self.longest), np.int32), np.zeros((steps, self.longest, self.types), np.float32),
            np.zeros(rows, np.float32), np.zeros(rows, np.uint64), np.zeros(rows, np.float32),
            np.zeros((rows, 1 + self.types), np.float32), self._shared(), self._shared(),
            np.zeros(len(self.forms.size), np.int64), np.zeros(MOST, np.uint64),
        )  # fmt: skip

    def _shared(self) -> SharedScores:
        scores = np.zeros((self.width, 1 + self.types), np.float32)
        return SharedScores(np.zeros(self.width, np.uint64), scores, np.zeros(1, np.int64))


def label_of(kind: int, begins: bool) -> int:
    """The number of the label B or I of a type; 0 is O."""
    return 2 * kind + (1 if begins else 2)


def perceptron(
    search: Search, data: Data, matrix: Sparse, group_sizes: Singles, gold: GoldDerivations, history: History, *,
    passes: int, seed: int | Sequence[int], callback: Callable[[Epoch[KeyedWeights]], bool], margin: float = 0.0,
    word_rate: float = 1.0, forced: Int32 | None = None, scratch: Scratch = MEMORY, keeper: Keeper | None = None,
) -> None:  # fmt: skip
    """Train; ``callback`` gets the averaged weights after each pass, and stops by a true result.

    A row of the matrix has the value sqrt(g r), for g features that always occur together and the rate r of words. In
    the end each of the g has the row's weight times sqrt(r / g): so the row learns what the g would learn one by one,
    in steps of r.

    Args:
        search: what to search with.
        data: the training sentences; those without tokens are left out.
        matrix: (T, F) binary, the features of their tokens.
        group_sizes: (F,).
        gold: their derivations.
        history: the concepts that documents are linked to.
        passes: at most.
        seed: of the order.
        callback: called after each pass.
        margin: by how much the gold derivation must win, for each label and link that another has wrong; 0 is the
            perceptron of the paper.
        word_rate: r.
        forced: (T,) labels that are prescribed.
        scratch: where what is as large as the matrix is made.
        keeper: of the state after each pass, without that of the callback.
    """
    each = np.sqrt(np.float32(word_rate) * group_sizes)
    values = scratch.empty("values", len(matrix.indices), np.float32)
    for first in range(0, len(values), _BLOCK):
        values[first : first + _BLOCK] = each[matrix.indices[first : first + _BLOCK]]
    arrays = (matrix.indices, matrix.offsets, values)
    weights = np.zeros((len(group_sizes), search.roles), np.float32)
    sums = np.zeros(weights.shape)
    table = new_table(1 << 15)
    work = search.workspace(data)
    local = np.zeros((len(work.parent), search.roles), np.float32)
    prescribed = np.full(len(gold.labels), FREE, np.int32) if forced is None else forced
    random = np.random.default_rng(seed)
    filled = np.flatnonzero(np.diff(data.offsets))
    steps, done, come = 0, 0, np.zeros(2, np.int64)
    if keeper is not None:
        forms: dict[str, Form] = {"weights": ("float32", weights.shape), "sums": ("float64", sums.shape), **_KEPT}
        done, states = keeper.resume([forms])
        if done and not states:
            return
        if done:
            weights, sums, keys, own, totals, counts = (states[0][name] for name in forms)
            steps, used, updates = counts.tolist()
            table = _table(keys[:used], own[:used], totals[:used], len(keys))
            if not updates:
                return
    for number in range(1, passes + 1):
        order = random.permutation(filled)
        if number <= done:
            continue
        at = updates = 0
        while True:
            _link_train(
                search.model(table), data, *arrays, *gold, *history, order, at, steps, weights, sums, work, local,
                search.width, prescribed, margin, come,
            )  # fmt: skip
            reached, changed = come.tolist()
            steps += reached - at
            at, updates = reached, updates + changed
            if at == len(order):
                break
            table = grown(table)
        means = KeyedWeights((weights - sums / steps).astype(np.float32), averaged(table, steps))
        means.roles[:] *= np.sqrt(np.float32(word_rate) / group_sizes)[:, None]
        check_weights([means.roles, means.table.weights], f"pass {number}", margin=margin, word_rate=word_rate)
        over = callback(Epoch(number, updates, means))
        if keeper is not None:
            counts = np.array([steps, int(table.used[0]), updates])
            state = (weights, sums, table.keys, table.weights, table.sums, counts)
            keeper.keep(number, {} if over else {0: dict(zip(("weights", "sums", *_KEPT), state, strict=True))})
        if over or not updates:
            break


def _joined(arrays: Sequence[NDArray[Any]], forms: Mapping[str, Form]) -> KeyedWeights:
    """Return the weights of some arrays.

    Raises:
        ValueError: they do not fit to each other, or to the state.
    """
    roles, keys, values = arrays
    if roles.shape != forms["weights"][1] or keys.ndim != 1 or keys.shape != values.shape:
        raise ValueError(f"the best weights are of the shapes {roles.shape}, {keys.shape} and {values.shape}")
    return KeyedWeights(roles, filled_table(keys, values))


KEYED: Final[Parts[KeyedWeights]] = Parts(
    {"roles": "float32", "keys": "uint64", "values": "float32"},
    lambda weights: (weights.roles, weights.table.keys, weights.table.weights), _joined,
)  # fmt: skip
"""How the weights of a linker are kept."""


def new_table(room: int) -> WeightTable:
    """An empty table to learn in, with room for so many keys."""
    return _table(np.zeros(0, np.uint64), np.zeros(0, np.float32), np.zeros(0), room)


def grown(table: WeightTable) -> WeightTable:
    """The same with twice the room."""
    used = int(table.used[0])
    return _table(table.keys[:used], table.weights[:used], table.sums[:used], 2 * len(table.keys))


def averaged(table: WeightTable, steps: int) -> WeightTable:
    """The mean of the weights over all steps, without those that are 0."""
    weights = (table.weights - table.sums / steps).astype(np.float32)
    keep = weights != 0
    return filled_table(table.keys[keep], weights[keep])


def filled_table(keys: NDArray[np.uint64], weights: Singles) -> WeightTable:
    """A table to look up the weights of distinct keys in."""
    return WeightTable(*Slots.numbering(keys), keys, weights, np.zeros(0), np.array([len(keys)]))


def _table(keys: NDArray[np.uint64], weights: Singles, sums: NDArray[np.float64], room: int) -> WeightTable:
    more = room - len(keys)
    return WeightTable(
        *Slots.numbering(keys, room), np.append(keys, np.zeros(more, np.uint64)),
        np.append(weights, np.zeros(more, np.float32)), np.append(sums, np.zeros(more)), np.array([len(keys)]),
    )  # fmt: skip
