"""The tagging chain that is trained first: its probabilities propose spans, and its features serve the linker, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from spanloom.document import Document
from spanloom.errors import DataError
from spanloom.features import Built, FeatureSet, build_index
from spanloom.learn import TrainingSet, adagrad
from spanloom.model.corpus import Gold
from spanloom.model.structured import Tagger
from spanloom.model.training import single
from spanloom.parallel import threads
from spanloom.scoring import Weights
from spanloom.structures import STRUCTURES

STRUCTURE: Final = "bilou"
PASSES = 8
_L2, _RATE, _BATCH, _STEPS = 1.0, 0.1, 32, 100


class Chain(NamedTuple):
    """A trained chain.

    Args:
        tagger: of the structure ``bilou``.
        built: the index of its features, with the training data's matrix.
    """

    tagger: Tagger
    built: Built


def fit_chain(
    documents: Sequence[Document], types: Sequence[str], features: FeatureSet, seed: int, n_jobs: int
) -> Chain:
    """Train on prepared documents, for a fixed number of passes.

    Raises:
        DataError: they have no tokens.
    """
    keys = features.keys(documents, n_jobs=n_jobs)
    if len(keys.offsets) < 2:
        raise DataError("the training data hold no tokens; give annotated text")
    built = build_index(keys)
    structure = STRUCTURES[STRUCTURE]
    empty = Weights.zeros(0, 0, 0, structure.lanes(types))
    tagger = Tagger.build(structure, "subgraphs", types, features, built.index, empty)
    edges = structure.encode(Gold(documents, types).table, keys.sentences, types).edges
    sizes = built.index.group_sizes
    data = TrainingSet(tagger.engine, built.matrix, keys.sentences, edges, sizes, built.counts)
    batch = min(_BATCH, max(1, (len(keys.sentences) - 1) // _STEPS))
    with threads(n_jobs) as run:
        weights = adagrad(data, l2=_L2, epochs=PASSES, rate=_RATE, batch=batch, seed=(seed, 0), run=run)
    trained = Tagger(tagger.structure, tagger.types, tagger.engine, features, built.index, single(weights, data))
    return Chain(trained, built)
