"""Parts of the training data: what is held out for development, and folds for whatever stacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from spanloom.document import Document
from spanloom.hypergraph import Ints

__all__ = ["FEW", "HELD_OUT", "Cut", "deal", "hold_out", "units"]

HELD_OUT = 0.1  # of the training data, where no development data are given
FEW = 20  # documents; fewer are cut into sentences before they are dealt to parts
Cut = Callable[[Document], Sequence[Document]]
"""What makes documents of the sentences of one."""


def deal(items: int, folds: int, seed: int) -> Ints:
    """Return the fold of each of some items, (items,): drawn by the seed, as evenly as can be.

    >>> sorted(deal(5, 2, seed=0).tolist())
    [0, 0, 0, 1, 1]
    """
    fold = np.empty(items, np.int64)
    fold[np.random.default_rng(seed).permutation(items)] = np.arange(items) % folds
    return fold


def units(documents: Sequence[Document], cut: Cut) -> list[Document]:
    """Return what is dealt to parts: the documents, or their sentences where there are fewer than `FEW`."""
    if len(documents) >= FEW:
        return list(documents)
    return [part for document in documents for part in cut(document)]


def hold_out(documents: Sequence[Document], seed: int, cut: Cut) -> tuple[list[Document], list[Document]]:
    """Return documents to train on and documents to tune on, drawn by the seed.

    Args:
        documents: the training data.
        seed: of the draw.
        cut: makes documents of sentences, which are dealt where documents are few.
    """
    parts = units(documents, cut)
    order = np.random.default_rng(seed).permutation(len(parts))
    chosen = set(order[: min(max(1, round(HELD_OUT * len(parts))), len(parts) - 1)].tolist())
    return (
        [part for i, part in enumerate(parts) if i not in chosen],
        [part for i, part in enumerate(parts) if i in chosen],
    )
