"""The tagging chain that is trained first: its probabilities propose spans, and its features serve the linker, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from spanloom.document import Batch
from spanloom.errors import DataError
from spanloom.features import Built, FeatureSet, index_batch
from spanloom.learn import EdgeTarget, TrainingSet, adagrad
from spanloom.model.corpus import Gold
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.parallel import Executor
from spanloom.scoring import LinearScorer, Weights
from spanloom.structures import STRUCTURES

STRUCTURE: Final = "bilou"
PASSES = 8
_L2, _RATE = 1.0, 0.1


class LinkerChain(NamedTuple):
    """A trained chain.

    Args:
        tagger: of the structure ``bilou``.
        built: the index of its features, with the training data's matrix.
    """

    tagger: LinearModel
    built: Built


def fit_chain(known: Batch, types: Sequence[str], features: FeatureSet, seed: int, run: Executor) -> LinkerChain:
    """Train on a batch, for a fixed number of passes.

    Raises:
        DataError: they have no tokens.
    """
    if not len(known.tokens):
        raise DataError("the training data hold no tokens; give annotated text")
    offsets, built = known.sentences, index_batch(features, known, run=run)
    structure = STRUCTURES[STRUCTURE]
    empty = Weights.zeros(0, 0, 0, structure.lanes(types))
    tagger = StructuredModel.build(structure, "subgraphs", types, LinearScorer(features, built.index, empty))
    edges = structure.encode(Gold(known, types).table, offsets, types).edges
    target = EdgeTarget(tagger.engine, offsets, edges)
    data = TrainingSet(tagger.engine, built.matrix, offsets, target, built.index.group_sizes, built.counts)
    weights = adagrad(data, l2=_L2, epochs=PASSES, rate=_RATE, seed=(seed, 0), run=run)
    return LinkerChain(replace(tagger, scorer=tagger.scorer.with_weights(data.single(weights))), built)
