"""Sums over the shards of a corpus: the loss and its gradient, with the penalty, in this process or by workers.

Workers share a folder and nothing else. What they are given, the weights, and what they find, each shard's gradient in
the features that it has, are files there. Then each adds up what all shards found of a range of features, in the order
of the shards. So no process holds the gradients of all shards, the one that waits reads one, and the bytes are
the same wherever the sums are taken. A tree of sums would read and write each level of it, and end in one process.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from weakref import finalize

import numpy as np

from spanloom.errors import UsageError
from spanloom.files.scratch import FolderScratch, Handle, filling, mapped, opened, read_into, write_whole
from spanloom.hypergraph import Floats, Singles
from spanloom.learn.shards import Shards, Share
from spanloom.parallel import SERIAL, Executor, even_ranges
from spanloom.scoring import Weights
from spanloom.scoring.product import add_rows

T = TypeVar("T")
R = TypeVar("R")
_RANGES: Final = 8  # of features
_FOLDER: Final = "sums"


class Sums(NamedTuple):
    """What an objective is made of.

    Args:
        loss: of all sentences.
        constants: (C, K) its gradient in the constants.
        squares: of the weights of features, each divided by the size of its group.
    """

    loss: float
    constants: Floats
    squares: float

    @classmethod
    def of(cls, shares: Sequence[Share], squares: Sequence[float], weights: Weights) -> Sums:
        """Return the sums, in their order."""
        constants = np.zeros(weights.constants.shape)
        for share in shares:
            constants += share.constants
        return cls(sum(share.loss for share in shares), constants, sum(squares))


class Penalty(NamedTuple):
    """What is done to the gradient of features when it is summed.

    Args:
        l2: lambda.
        sizes: (F,) how many features share each row; a row's penalty is divided by it.
        scale: (F,) by which the weights of a row are divided in a point.
    """

    l2: float
    sizes: Singles
    scale: Singles

    def finish(self, weights: Singles, gradient: Singles, first: int, end: int) -> float:
        """Add the penalty to the gradient of a range of features, scale it, and return the squares of their weights.

        Args:
            weights: (F, R, K) of all features.
            gradient: (end - first, R, K) changed in place.
            first, end: the range.
        """
        own, sizes = weights[first:end], self.sizes[first:end]
        gradient += (2 * self.l2 / sizes).astype(np.float32)[:, None, None] * own
        gradient *= self.scale[first:end, None, None]
        return float(np.einsum("frk,frk,f->", own, own, 1 / sizes, dtype=np.float64))


class Here:
    """Sums in this process.

    Args:
        shards: of the corpus.
        penalty: that is added.
        run: how pieces of a shard are run.
    """

    def __init__(self, shards: Shards, penalty: Penalty, run: Executor) -> None:
        self._shards, self._penalty, self._run = shards, penalty, run

    def __call__(self, weights: Weights, gradient: Singles) -> Sums:
        """Return the sums for some weights; the gradient of features is written to ``gradient``, (F, R, K)."""

        def finish(piece: tuple[int, int]) -> float:
            return self._penalty.finish(weights.features, gradient[slice(*piece)], *piece)

        gradient[:] = 0
        shares = [self._shards.add(number, weights, gradient, self._run) for number in range(len(self._shards))]
        return Sums.of(shares, self._run.map(finish, even_ranges(len(gradient), _RANGES)), weights)


class Spread:
    """Sums by workers that share a folder; as `Here`, to the byte.

    Args:
        shards: of a corpus whose arrays are files of a folder.
        penalty: that is added.
        workers: run the shards; each opens the corpus once.
        run: how weights are written, and what they found is read.

    Raises:
        UsageError: the corpus is in memory.
        DataError: there is no room.
    """

    def __init__(self, shards: Shards, penalty: Penalty, workers: Executor, run: Executor) -> None:
        scratch = shards.data.scratch
        if not isinstance(scratch, FolderScratch):
            raise UsageError(
                "workers that share no memory are given a corpus in memory; make it in a folder that they share (work)"
            )
        self._workers, self._here, self._shards, self._number = workers, run, len(shards), 0
        self._place = scratch.folder.absolute() / _FOLDER
        shutil.rmtree(self._place, ignore_errors=True)  # what a process that was killed has left
        with filling(scratch.folder):
            self._place.mkdir(exist_ok=True)
        sizes, scale = (scratch.written(f"{_FOLDER}-{name}", getattr(penalty, name)) for name in ("sizes", "scale"))
        data = replace(shards.data, group_sizes=sizes[:0], counts=shards.data.counts[:0])  # no worker asks for them
        self._corpus = Handle.of((replace(shards, data=data), Penalty(penalty.l2, sizes, scale)), scratch)
        finalize(self, opened.cache_clear)  # where the only worker is this process, which would keep the files

    def __call__(self, weights: Weights, gradient: Singles) -> Sums:
        """Return the sums for some weights, as `Here` does.

        Raises:
            SpanloomError: a worker died, or the folder has no room.
        """
        self._number += 1
        step = _Step(self._corpus, str(self._place), self._number, weights.features.shape, weights.constants.shape)
        ranges = even_ranges(len(gradient), _RANGES)
        step.write("weights", 0, *weights, run=self._here)
        shares = self._run(partial(_share, step), range(self._shards))
        squares = self._run(partial(_finish, step), ranges)
        self._here.map(lambda piece: read_into(gradient[slice(*piece)], step.path("range", piece[0])), ranges)
        step.leave([("weights", 0), *(("shard", number) for number in range(self._shards))])
        step.leave([("range", first) for first, _ in ranges])
        return Sums.of(shares, squares, weights)

    def _run(self, function: Callable[[T], R], pieces: Sequence[T]) -> list[R]:
        """Return the results of all pieces, which an executor of the user's own may give as they come.

        Raises:
            UsageError: there are more or fewer results than pieces.
        """
        found = list(self._workers.map(function, pieces))
        if len(found) != len(pieces):
            kind = type(self._workers).__name__
            raise UsageError(f"the executor {kind} gave {len(found)} results for {len(pieces)} pieces of work")
        return found


class _Step(NamedTuple):
    """What all pieces of the work for some weights are given.

    Args:
        corpus: shards and penalty.
        place: the folder of the step's files.
        number: of the step.
        features, constants: shapes of the weights.
    """

    corpus: Handle
    place: str
    number: int
    features: tuple[int, ...]
    constants: tuple[int, ...]

    def path(self, what: str, number: int, step: int | None = None) -> Path:
        """Return the path of one of the files of this step or another; 0 for those that are done with."""
        return Path(self.place, f"{self.corpus.token}-{what}-{number}-{self.number if step is None else step}")

    def write(self, what: str, number: int, *arrays: Singles, run: Executor = SERIAL) -> None:
        """Write one of the files, where a step before has left one."""
        write_whole(self.path(what, number), *arrays, over=self.path(what, number, 0), run=run)

    def leave(self, files: Iterable[tuple[str, int]]) -> None:
        """Leave files to the next step."""
        for file in files:
            with suppress(OSError):  # which makes new ones then
                self.path(*file).replace(self.path(*file, 0))

    def weights(self) -> Weights:
        """Return the weights."""
        path, size = self.path("weights", 0), 4 * int(np.prod(self.features))
        return Weights(mapped(path, np.float32, self.features), mapped(path, np.float32, self.constants, size))


def _share(step: _Step, number: int) -> Share:
    """Return a shard's share, and write its gradient."""
    shards: Shards = opened(step.corpus)[0]
    share, gradient = shards.alone(number, step.weights())
    step.write("shard", number, gradient)
    return share


def _finish(step: _Step, piece: tuple[int, int]) -> float:
    """Write the gradient of a range of features, and return the squares of their weights."""
    shards, penalty = opened(step.corpus)
    first, end = piece
    one = step.features[1:]
    gradient = np.zeros((end - first, *one), np.float32)
    for number in range(len(shards)):
        features = shards.features_of(number)
        begin, stop = features.searchsorted(piece).tolist()
        rows = np.empty((stop - begin, *one), np.float32)
        read_into(rows, step.path("shard", number), 4 * begin * int(np.prod(one)))
        add_rows(features[begin:stop], rows, first, gradient)
    squares: float = penalty.finish(step.weights().features, gradient, first, end)
    step.write("range", first, gradient)
    return squares
