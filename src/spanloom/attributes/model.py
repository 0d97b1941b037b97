"""The stage that predicts attributes of mentions: a log-linear model of each attribute over mention and context."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain
from typing import Any, ClassVar, Final

import numpy as np

from spanloom.attributes.features import mention_features, pairs
from spanloom.attributes.lexicon import Cues
from spanloom.attributes.marking import ALL, Rules, blocks, marked
from spanloom.document import Document, Mention
from spanloom.document.span import found_mention
from spanloom.errors import ModelError, UsageError, clip, meant
from spanloom.features import FeatureIndex, Sparse
from spanloom.hypergraph import Floats
from spanloom.learn.platt import Platt
from spanloom.model.attributes import AttributeQuality
from spanloom.model.protocol import Annotation
from spanloom.model.stages import Stage
from spanloom.modelfile import Described, ModelPart
from spanloom.parallel import SERIAL, Executor
from spanloom.rescoring.logistic import Regression, linear_scores
from spanloom.scoring.explanation import Candidate


@dataclass(frozen=True)
class LearnedAttribute:
    """An attribute, as a model file describes it.

    Args:
        name: of the attribute.
        types: of mentions that have it.
        values: true alone, or texts, and false or ``None`` for mentions without it.
        scalings: from the probabilities to how often they are right.
        quality: by cross-validation.
    """

    name: str
    types: tuple[str, ...]
    values: tuple[bool | str | None, ...]
    scalings: tuple[Platt, ...]
    quality: AttributeQuality


@dataclass(frozen=True)
class Classifier(LearnedAttribute):
    """The log-linear model of one attribute.

    Args:
        name, types, values, scalings, quality: see `LearnedAttribute`.
        weights: of each value's regression; of one alone where there are two values, the first.
    """

    weights: tuple[Regression, ...]

    def probabilities(self, matrix: Sparse, numbers: Floats, run: Executor = SERIAL) -> Floats:
        """Return the calibrated probability of each value, (M, V); the arguments are those of `linear_scores`."""
        return self.of_odds(np.stack([linear_scores(matrix, numbers, weights, run) for weights in self.weights], 1))

    def of_odds(self, odds: Floats) -> Floats:
        """Return the probabilities of the values, (M, V), by the log-odds of the regressions."""
        own = [one.of_log(-np.logaddexp(0.0, -odds[:, i])) for i, one in enumerate(self.scalings)]
        if len(self.values) == 2:
            return np.stack([own[0], 1.0 - own[0]], 1)
        found = np.maximum(np.stack(own, 1), 1e-12)
        summed: Floats = found / found.sum(1, keepdims=True)
        return summed


class _Described(Described):
    """Values of the stage in a model file."""

    attributes: list[LearnedAttribute]
    language: str | None = None


@dataclass(frozen=True)
class AttributeModel:
    """The stage of attributes: it gives each mention that was found its attributes, with their probabilities.

    Args:
        index: which feature has which weight.
        classifiers: of each attribute.
        language: of the cues that are features; each document's own when ``None``.
    """

    name: ClassVar[str] = "attributes"
    gives: ClassVar[frozenset[Annotation]] = frozenset(("attributes",))
    resolver: ClassVar[None] = None
    index: FeatureIndex
    classifiers: tuple[Classifier, ...]
    language: str | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes that it predicts."""
        return tuple(one.name for one in self.classifiers)

    @property
    def qualities(self) -> dict[str, AttributeQuality]:
        """How well each attribute is predicted."""
        return {one.name: one.quality for one in self.classifiers}

    def run(
        self, documents: Sequence[Document], names: Sequence[str] | None = None, run: Executor = SERIAL
    ) -> list[Document]:
        """Return documents with attributes of their mentions.

        Args:
            documents: with mentions.
            names: attributes to predict; all when ``None``.
            run: how pieces of the work are run; the result does not depend on it.

        Raises:
            UsageError: an attribute that was not learned.
        """
        for name in names or ():
            if name not in self.attributes:
                known = ", ".join(self.attributes)
                raise UsageError(
                    f"the attribute {clip(name)} was not learned; there are {known}{meant(name, self.attributes)}"
                )
        chosen = [one for one in self.classifiers if names is None or one.name in names]
        rules = Rules(self.language)
        return [one for block in blocks(documents) for one in self._marked(block, chosen, rules, run)]

    def _marked(
        self, documents: list[Document], chosen: Sequence[Classifier], rules: Rules, run: Executor
    ) -> Iterator[Document]:
        keys, numbers = mention_features(documents, rules)
        matrix = self.index.lookup(keys, run=run)
        mentions = [mention for document in documents for mention in document.mentions]
        values: list[dict[str, bool | str]] = [dict(mention.attributes) for mention in mentions]
        scores: list[dict[str, float]] = [dict(mention.attribute_scores) for mention in mentions]
        for one in chosen:
            chances = one.probabilities(matrix, numbers, run)
            best = chances.argmax(1)
            top = chances[np.arange(len(best)), best].tolist()
            known = frozenset(one.types)
            for at, (number, chance, mention) in enumerate(zip(best.tolist(), top, mentions, strict=True)):
                value = one.values[number]
                values[at].pop(one.name, None)
                scores[at].pop(one.name, None)
                if mention.type in known and value is not None:
                    values[at][one.name] = value
                    scores[at][one.name] = chance
        marked = iter(
            found_mention(one.type, one.spans, one.head, one.concepts, one.score, one.id, own, sure, one.concept_scores)
            for one, own, sure in zip(mentions, values, scores, strict=True)
        )
        for document in documents:
            yield document.copy(mentions=[next(marked) for _ in document.mentions])

    def explain(self, document: Document, mention: Mention) -> Mapping[str, Mapping[str, float]]:
        """Return the probability of each value of each attribute of a mention; ``""`` is no value.

        Args:
            document: its text.
            mention: of any type that has attributes.
        """
        own = document.copy(mentions=[mention])
        keys, numbers = mention_features([own], Rules(self.language))
        matrix = self.index.lookup(keys)
        return {
            one.name: {
                "" if value is None else str(value).lower() if isinstance(value, bool) else value: chance
                for value, chance in zip(one.values, one.probabilities(matrix, numbers)[0].tolist(), strict=True)
            }
            for one in self.classifiers
            if mention.type in one.types
        }

    def candidates(self, document: Document) -> list[list[Candidate]]:
        """Return no concepts for any mention."""
        return [[] for _ in document.mentions]

    def describe(self) -> dict[str, Any]:
        """Return what it predicts, of which types, and how well, ready for JSON."""
        return {
            one.name: {
                "values": [value for value in one.values if value is not None],
                "types": list(one.types),
                **asdict(one.quality),
                "F1": one.quality.f1,
            }
            for one in self.classifiers
        }

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        values = _Described(
            attributes=[
                LearnedAttribute(*(getattr(each, one.name) for one in fields(LearnedAttribute)))
                for each in self.classifiers
            ],
            language=self.language,
        )
        weights = [regression for one in self.classifiers for regression in one.weights]
        arrays = {
            "weights": np.stack([one.sparse for one in weights]),
            "numbers": np.stack([one.dense for one in weights]),
        }
        return values.part(arrays, {"index": self.index.to_part()})

    @classmethod
    def from_part(cls, part: ModelPart) -> AttributeModel:
        """Return what `to_part` gave.

        Raises:
            ModelError: it is no stage of attributes.
        """
        values = part.read(_Described)
        index = FeatureIndex.from_part(part.part("index"))
        counts = [1 if len(one.values) == 2 else len(one.values) for one in values.attributes]
        if any(len(one.values) < 2 or len(one.scalings) != n for one, n in zip(values.attributes, counts, strict=True)):
            raise ModelError(
                f"{part.name}attributes: values and scalings do not belong together; train the model again"
            )
        weights = part.array("weights", np.float32, sum(counts), len(index))
        numbers = part.array("numbers", np.float32, sum(counts), 1 + len(pairs()))
        if not (np.isfinite(weights).all() and np.isfinite(numbers).all()):
            raise ModelError(f"{part.name}weights: found numbers that are not finite; train the model again")
        rows = iter(Regression(one, own) for one, own in zip(weights, numbers, strict=True))
        classifiers = tuple(
            Classifier(**vars(one), weights=tuple(next(rows) for _ in range(count)))
            for one, count in zip(values.attributes, counts, strict=True)
        )
        if values.language is not None:
            Rules(values.language)
        return cls(index, classifiers, values.language)


# Attributes from what was learned, and by rules where nothing was.

NONE: Final = "none"


def attributing(
    stages: Sequence[Stage], names: Sequence[str] | str | None = None, language: str | None = None,
    cues: Cues | None = None,
) -> Callable[[Iterable[Document]], Iterator[Document]]:  # fmt: skip
    """Return a function that gives mentions of documents their attributes.

    Args:
        stages: of a model; one of them may be what was learned.
        names: attributes, as a list or joined by commas; those that were not learned are marked by rules. ``all`` for
            what was learned and all that rules mark; ``none`` or ``None`` for none.
        language, cues: of the rules, as of `mark`.

    Raises:
        UsageError: an unknown language, or an attribute that was not learned and that no cues mark.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names or ())
    if given in ([], [NONE]):
        return iter
    stage = next((one for one in stages if isinstance(one, AttributeModel)), None)
    learned = () if stage is None else stage.attributes
    rules = Rules(language, cues)
    chosen = tuple(dict.fromkeys((*learned, *rules.attributes) if given == [ALL] else given))
    own = [name for name in chosen if name in learned]
    others = rules.chosen([name for name in chosen if name not in learned])

    def run(documents: Iterable[Document]) -> Iterator[Document]:
        found: Iterable[Document] = documents
        if stage is not None and own:
            found = chain.from_iterable(stage.run(block, own) for block in blocks(documents))
        return marked(found, rules, others) if others else iter(found)

    return run
