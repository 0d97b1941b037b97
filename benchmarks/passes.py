"""What `gaps.py` and `many_types.py` share: passes of AdaGrad on the same features with several structures."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from common import Seconds, median, timed
from spanloom.document import Batch, Document
from spanloom.features import Built, FeatureSet, available_columns, build_index
from spanloom.hypergraph import ENGINES, Ints
from spanloom.learn import EdgeTarget, TrainingSet, adagrad
from spanloom.model.corpus import Gold
from spanloom.scoring import Weights
from spanloom.structures import STRUCTURES

K = TypeVar("K", bound=Hashable)
L2, RATE = 1.0, 0.1
BATCH = 32  # sentences a step


@dataclass(frozen=True)
class Text:
    """A text with its features, which all structures and all types share."""

    documents: Sequence[Document]
    features: FeatureSet
    built: Built
    offsets: Ints

    @classmethod
    def of(cls, documents: Sequence[Document], preset: str) -> Text:
        """Make the features."""
        features = FeatureSet.preset(preset, available=available_columns(documents))
        batch = Batch.of(documents)
        return cls(documents, features, build_index(features.keys(batch)), batch.sentences)

    @property
    def tokens(self) -> int:
        """How many there are."""
        return int(self.offsets[-1])

    def training_set(self, structure: str, counting: str, documents: Sequence[Document]) -> TrainingSet:
        """The same text with the mentions of these documents, whose types are all that there are."""
        chosen, types = STRUCTURES[structure], types_of(documents)
        encoded = chosen.encode(Gold(Batch.of(documents), types).table, self.offsets, types)
        engine = ENGINES[counting](chosen.template(types))
        built = self.built
        return TrainingSet(
            engine,
            built.matrix,
            self.offsets,
            EdgeTarget(engine, self.offsets, encoded.edges),
            built.index.group_sizes,
            built.counts,
        )


def types_of(documents: Iterable[Document]) -> tuple[str, ...]:
    """The types of their mentions."""
    return tuple(sorted({mention.type for document in documents for mention in document.mentions}))


def one_pass(data: TrainingSet, seed: int) -> Weights:
    """Weights of single features after a pass of AdaGrad."""
    return data.single(adagrad(data, l2=L2, epochs=1, rate=RATE, batch=BATCH, seed=seed))


def pass_seconds(sets: Mapping[K, TrainingSet], repeats: int, seed: int) -> dict[K, Seconds]:
    """The median time of a pass with each training set. They take turns, and the order alternates."""
    times: dict[K, list[Seconds]] = {name: [] for name in sets}
    for data in sets.values():
        one_pass(data, seed)  # warm-up, not timed
    for repeat in range(repeats):
        for name in list(sets) if repeat % 2 == 0 else list(sets)[::-1]:
            times[name].append(timed(lambda name=name: one_pass(sets[name], seed))[0])
    return {name: median(values) for name, values in times.items()}
