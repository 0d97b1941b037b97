"""What all scorers with an encoder share: how they read a batch, whatever library computes."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import ClassVar, Final, NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.errors import DataWarning, ModelError, plural
from spanloom.hypergraph import Potentials, Singles
from spanloom.modelfile import LARGEST
from spanloom.parallel import SERIAL, Executor, even_ranges
from spanloom.scoring.base import Part
from spanloom.scoring.encoder.packing import AT_ONCE, EVEN, Packed, Reading, by_length, pack
from spanloom.scoring.encoder.settings import WindowSettings
from spanloom.scoring.encoder.subwords import SubwordTokenizer
from spanloom.scoring.encoder.windows import cut_windows

_PACKS: Final = 32  # that a thread makes and computes, one after the other
Compute = Callable[[Iterable[Packed]], Iterator[Singles]]
"""Packs of windows -> of each the (T, R * K) role scores of its tokens; threads may call it side by side."""


class Whole(NamedTuple):
    """The view of a token: an encoder's score has no parts that can be named.

    Args:
        scores: (R, K) of the token.
    """

    scores: Singles

    def parts(self, role: int, kind: int, factor: float = 1.0) -> list[Part]:
        """See `spanloom.scoring.base.Named`."""
        return [Part("encoder", factor * float(self.scores[role, kind]))]


class WindowScorer(ABC):
    """A scorer that reads windows of sub-words.

    A subclass has the attributes below, and defines the computation.

    Attributes: ``tokenizer``, of the encoder; ``settings``, how it reads; ``roles`` and ``types``, R and K;
    ``at_once``, sub-words that are predicted at once; ``even``, of which the lengths of packs are multiples; ``needs``,
    no columns.
    """

    at_once: ClassVar[int] = AT_ONCE
    even: ClassVar[int] = EVEN
    needs: tuple[str, ...] = ()

    tokenizer: SubwordTokenizer
    settings: WindowSettings
    roles: int
    types: int

    @property
    @abstractmethod
    def padding(self) -> int:
        """The sub-word for empty places."""

    @property
    @abstractmethod
    def constants(self) -> Singles:
        """(C, K) scores of the template's constants."""

    @abstractmethod
    def computing(self) -> AbstractContextManager[Compute]:
        """Return a context that gives what computes: each pack in one thread, so no sum depends on their number."""

    @property
    def room(self) -> int:
        """Sub-words of text that a window has room for."""
        before, after = self.tokenizer.around
        return self.settings.window - len(before) - len(after)

    def prepare(self, batch: Batch) -> Batch:
        """Return the batch: there are no columns to compute."""
        return batch

    def read(self, batch: Batch) -> Reading:
        """Return the sub-words and the windows of a batch."""
        subwords = self.tokenizer.subwords(batch.words, max(1, self.room // 2))
        return Reading(subwords, cut_windows(batch, subwords.ptr, self.room, context=self.settings.context))

    def pack(self, reading: Reading, chosen: list[int], shape: tuple[int, int] | None = None) -> Packed:
        """Return some windows as the encoder reads them, perhaps in a shape that padding fills up."""
        return pack(
            reading.windows, chosen, reading.subwords, self.tokenizer.around, self.settings.pooling, self.padding,
            self.settings.window, self.even, shape,
        )  # fmt: skip

    def packs(self, reading: Reading) -> list[tuple[list[int], tuple[int, int] | None]]:
        """Return what is predicted at once, as the arguments of `pack`; no document's scores depend on others."""
        return [(chosen, None) for chosen in by_length(reading, self.at_once)]

    def score(self, batch: Batch, run: Executor = SERIAL) -> Potentials:
        """Return the potentials of a batch, by as many threads as there are workers.

        Raises:
            ModelError: the encoder gives no finite scores.
        """
        reading = self.read(batch)
        reading.subwords.warn_unknown("the tokens", -1)
        if reading.subwords.shortened:
            lost = plural(reading.subwords.shortened, "token")
            warnings.warn(
                f"{lost} of more than {self.room // 2} sub-words: the encoder reads the first {self.room // 2} of each",
                DataWarning,
                stacklevel=2,
            )
        return self.potentials(reading, run)

    def potentials(self, reading: Reading, run: Executor = SERIAL) -> Potentials:
        """Return the potentials of what was read before.

        Args:
            reading: that.
            run: how packs are computed; the result does not depend on it.

        Raises:
            ModelError: the encoder gives no finite scores.
        """
        tokens = len(reading.subwords.ptr) - 1
        scores = np.zeros((tokens, self.roles * self.types), np.float32)
        chosen = self.packs(reading)
        with self.computing() as compute:

            def part(piece: tuple[int, int]) -> None:
                packs = [self.pack(reading, *own) for own in chosen[slice(*piece)]]
                for packed, found in zip(packs, compute(packs), strict=True):
                    scores[packed.rows] = found

            run.map(part, even_ranges(len(chosen), max(4 * run.workers, len(chosen) // _PACKS)))
        if scores.size and not -LARGEST <= float(scores.min()) <= float(scores.max()) <= LARGEST:  # NaN is not, either
            raise ModelError(
                f"the encoder gives scores from {scores.min():g} to {scores.max():g}, expected none beyond "
                f"{LARGEST:g}; its weights are damaged, or too large for its precision: train the model again"
            )
        return Potentials(scores.reshape(tokens, self.roles, self.types), self.constants)

    def named(self, document: Document, token: int) -> Whole:
        """Return the scores of a token."""
        return Whole(self.score(Batch.of([document])).roles[token])
