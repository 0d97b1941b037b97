"""Training data as arrays: index and matrix of features, gold structures, and the target of learning."""

from __future__ import annotations

from typing import NamedTuple

from spanloom.document import Batch
from spanloom.document.annotation import completeness
from spanloom.errors import DataError
from spanloom.features import Built, FeatureSet
from spanloom.hypergraph import Edges
from spanloom.learn import EdgeTarget, Target, TrainingSet
from spanloom.model.corpus import Gold
from spanloom.model.partial import given_mentions
from spanloom.model.pieces import encode_pieces
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.model.work import IN_MEMORY, Work
from spanloom.parallel import Executor
from spanloom.recognize.lessons import Lessons
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.scoring import LinearScorer, Weights
from spanloom.structures import Structure


class Assembled(NamedTuple):
    """What a recognizer is trained on.

    Args:
        model: without weights.
        built: index and matrix.
        data: the matrix with the target.
        gold: mentions.
        edges: their structures, (T, K, D).
    """

    model: LinearModel
    built: Built
    data: TrainingSet
    gold: Gold
    edges: Edges


def assembled(
    estimator: RecognizerParameters, structure: Structure, headless: str | None, train: Batch, types: tuple[str, ...],
    features: FeatureSet, run: Executor, lessons: Lessons | None = None, work: Work | None = None,
) -> Assembled:  # fmt: skip
    """Make the arrays of training data.

    Args:
        estimator: its parameters.
        structure: that they name.
        headless: as for `Gold`.
        train: documents with mentions.
        types: K names.
        features: of tokens.
        run: how pieces of the work are run; the result does not depend on it.
        lessons: what teachers expect of the raw documents among them.
        work: the folder that the arrays are made in; they are in memory when ``None``.

    Raises:
        DataError: no tokens, or a folder without room.
    """
    if not len(train.tokens):
        raise DataError("the training data hold no tokens; give annotated text")
    room = IN_MEMORY if work is None else work
    built, scratch = room.built(features, train, estimator.min_count, run), room.scratch
    offsets = train.sentences
    empty = Weights.zeros(0, 0, 0, structure.lanes(types))
    scorer = LinearScorer(features, built.index, empty)
    model = StructuredModel.build(structure, estimator.counting, types, scorer)
    gold = Gold(train, types, headless)
    said = completeness(train, types) if work is None else None  # what comes to a folder is complete
    if said is not None:
        gold.keep(given_mentions(gold.table, said, offsets))
    encoded = encode_pieces(structure, gold.table, offsets, types, scratch)
    gold.lose(encoded.lost)
    target: Target = (
        EdgeTarget(model.engine, offsets, encoded.edges, scratch)
        if lessons is None
        else lessons.target(model.engine, offsets, encoded.edges)
    )
    sizes = built.index.group_sizes
    data = TrainingSet(model.engine, built.matrix, offsets, target, sizes, built.counts, scratch=scratch)
    return Assembled(model, built, data, gold, encoded.edges)
