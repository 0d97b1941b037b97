"""Draw whole sets of mentions from the distribution of a trained model, and estimate the F1 of an answer from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch
from spanloom.errors import UsageError
from spanloom.hypergraph import Edges, Floats, Ints, Potentials
from spanloom.model.structured import AnyModel
from spanloom.parallel import SERIAL, Executor
from spanloom.structures import MentionTable


class ExpectedF1(NamedTuple):
    """What F1 of an answer is to be expected, if texts are as a model believes.

    Args:
        mean: over draws, 0 to 1.
        low, high: between which nine of ten draws lie.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, found: Sequence[float]) -> ExpectedF1:
        """From the F1 of each draw."""
        low, high = np.quantile(found, [0.05, 0.95]).tolist()
        return cls(float(np.mean(found)), low, high)


def entropies(model: AnyModel, potentials: Potentials, batch: Batch, run: Executor = SERIAL) -> Floats:
    """Return the entropy (N,) of what each sentence's mentions are, in nats, under the trained model.

    Copies of the template for different types do not interact, so it is the sum over them.
    """
    total: Floats = model.engine.entropy(potentials, batch.sentences, run).sum(1)
    return total


def draw_edges(model: AnyModel, potentials: Potentials, offsets: Ints, count: int, seed: tuple[int, ...]) -> Edges:
    """Return (B, T, K, D) structures, drawn independently from the trained model.

    Args:
        model: that counts sub-hypergraphs.
        potentials: of T tokens.
        offsets: (N + 1,) first token of each sentence.
        count: B.
        seed: of the draws; those of a sentence depend on its number and the type's, too.

    Raises:
        UsageError: the model counts derivations, which may use a node in several ways at once.
    """
    engine = model.engine
    if engine.counting != "subgraphs":
        raise UsageError(
            "what is drawn from a model that counts derivations is no set of mentions; train one with counting "
            "'subgraphs'"
        )
    tokens, _, types = potentials.roles.shape
    drawn = np.full((count, tokens, types, engine.depth), -1, np.int16)
    for n, first in enumerate(offsets[:-1].tolist()):
        for k in range(types):
            structures = engine.sample(potentials, offsets, n, k, count, seed=(*seed, n, k))
            for b, structure in enumerate(structures):
                depth, at = 0, -1
                for token, edge in structure:
                    depth, at = (depth + 1, at) if token == at else (0, token)
                    drawn[b, first + token, k, depth] = edge
    return drawn


def agreement(answer: MentionTable, drawn: MentionTable) -> tuple[int, int]:
    """Return how many mentions two tables share, and how many both have together: F1 is twice the first by the second.

    >>> one, two = MentionTable.build([(0, 0, ((0, 1),)), (0, 0, ((2, 3),))]), MentionTable.build([(0, 0, ((0, 1),))])
    >>> agreement(one, two)
    (1, 3)
    """
    one, two = set(answer.headed()), set(drawn.headed())
    return len(one & two), len(one) + len(two)
