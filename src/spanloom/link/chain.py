"""The tagging chain that is trained first: its probabilities propose spans, and its features serve the linker, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from spanloom.document import Batch
from spanloom.errors import DataError
from spanloom.features import Built, FeatureSet
from spanloom.learn import EarlyStopping, TrainingHistory, TrainingSet, adagrad_together
from spanloom.model.corpus import Gold
from spanloom.model.pieces import encode_pieces
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.model.work import IN_MEMORY, Room
from spanloom.parallel import Executor
from spanloom.scoring import Weights
from spanloom.structures import STRUCTURES

STRUCTURE: Final = "bilou"
PASSES = 8
_L2, _RATE = 1.0, 0.1


def fit_chain(
    known: Batch, types: Sequence[str], features: FeatureSet, seed: int, run: Executor, room: Room = IN_MEMORY
) -> tuple[LinearModel, Built]:
    """Train on a batch, for a fixed number of passes.

    Args:
        known: documents with mentions.
        types: K names.
        features: of tokens.
        seed: of the order.
        run: how pieces of the work are run; the result does not depend on it.
        room: of arrays and passes.

    Returns:
        The chain, and the index of its features with the training data's matrix.

    Raises:
        DataError: they have no tokens.
    """
    if not len(known.tokens):
        raise DataError("the training data hold no tokens; give annotated text")
    offsets, built, scratch = known.sentences, room.built(features, known, run=run), room.scratch
    structure = STRUCTURES[STRUCTURE]
    tagger = StructuredModel.untrained(structure, "subgraphs", types, features, built.index)
    edges = encode_pieces(structure, Gold(known, types).table, offsets, types, scratch).edges
    data = TrainingSet.of_edges(tagger.engine, built, offsets, edges, scratch)
    # which no development data stop, so that the last pass is kept
    stop = EarlyStopping[Weights](lambda _: 0.0, PASSES, TrainingHistory("", PASSES, lambda _: None))
    adagrad_together(
        [data], l2=_L2, epochs=PASSES, rate=_RATE, seed=(seed, 0), run=run, callbacks=[stop],
        keeper=room.keeper("chain", [stop]),
    )  # fmt: skip
    weights = data.single(stop.best.weights)
    return replace(tagger, scorer=tagger.scorer.with_weights(weights)), built
