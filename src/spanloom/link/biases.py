"""What a linker finds under several biases, to choose between them, in less time than searching for each takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hashing import Int64
from spanloom.link.learning import Int32

Wanted = NDArray[np.bool_]


class Decoded(NamedTuple):
    """The best derivations of some documents.

    Args:
        labels, choices: (T,).
    """

    labels: Int32
    choices: Int32


def decodings(
    decode: Callable[[float, Wanted], Decoded], biases: Sequence[float], owner: Int64
) -> Iterator[tuple[float, Decoded]]:
    """What is found under each bias, the lowest and the highest first.

    The score of a derivation is linear in the bias, so the best one is the upper envelope of lines: what is best at two
    biases is best at all between them. Sentence by sentence, a document that comes out alike at two biases comes out so
    between; only the others are searched again. A beam may break the rule where it loses the best derivation.

    Args:
        decode: searches the documents that are wanted, (D,), under a bias; the rest of its result is not looked at.
        biases: ascending, two or more.
        owner: (T,) number of each token's document.
    """
    every = np.ones(int(owner.max(initial=-1)) + 1, bool)
    low, high = (decode(bias, every) for bias in (biases[0], biases[-1]))
    yield biases[0], low
    yield biases[-1], high
    yield from _between(decode, biases, owner, low, high)


def _between(
    decode: Callable[[float, Wanted], Decoded], biases: Sequence[float], owner: Int64, low: Decoded, high: Decoded
) -> Iterator[tuple[float, Decoded]]:
    if len(biases) < 3:
        return
    middle = len(biases) // 2
    wanted = np.zeros(int(owner.max(initial=-1)) + 1, bool)
    wanted[owner[(low.labels != high.labels) | (low.choices != high.choices)]] = True
    found = decode(biases[middle], wanted)
    found = Decoded(*(np.where(wanted[owner], new, old) for new, old in zip(found, low, strict=True)))
    yield biases[middle], found
    yield from _between(decode, biases[: middle + 1], owner, low, found)
    yield from _between(decode, biases[middle:], owner, found, high)
