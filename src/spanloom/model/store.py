"""Structured models, what fills the columns of their features, and estimators, as parts of a model file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

import numpy as np

from spanloom.errors import ModelError
from spanloom.features import FeatureSet, Resources
from spanloom.features.clusters import Clusters
from spanloom.features.letter_case import UsualCase
from spanloom.features.letters import WAYS
from spanloom.features.word_vectors import TokenVectors, WordVectors
from spanloom.hypergraph import ENGINES
from spanloom.learn.platt import UNSCALED, Scalings
from spanloom.model.parameters import Parameters
from spanloom.model.structured import AnyModel, StructuredModel
from spanloom.modelfile import Array, Bounded, Described, ModelPart, OtherModelError, checked
from spanloom.scoring import LinearScorer, Scorer, encoder
from spanloom.scoring.encoded import ENCODED, encoded_of, encoded_parts, output_count
from spanloom.scoring.packing import stored_outputs
from spanloom.scoring.sum import SumScorer
from spanloom.structures import STRUCTURES, Structure, structure_of
from spanloom.text import Phrases, Rules, read_rules

E = TypeVar("E", bound=Parameters[Any])


class Estimated(Described):
    """Values of an estimator in a model file: the parameters of its constructor, and the report of its training."""

    params: dict[str, Any]
    report: Any  # each class declares its own

    @classmethod
    def of(cls, estimator: Parameters[Any], **more: Any) -> Self:
        """Return the values of a trained estimator, and more that its class adds.

        A model depends neither on the number of threads, which is kept as 1, nor on where a checkpoint was.

        Raises:
            UsageError: it is not trained.
        """
        _ = estimator.fitted
        given = estimator.get_params()
        ours = {name: value for name, value in _OF_THE_MACHINE.items() if name in given}
        params = {name: _plain(value) for name, value in {**given, **ours}.items()}
        return cls(params=params, report=vars(estimator)["report_"], **more)

    def restored(self, estimator: type[E], model: Any, **given: Any) -> E:
        """The trained estimator; raises what `spanloom.modelfile.damaged` turns into a `ModelError`.

        Args:
            estimator: its class.
            model: what it has learned.
            given: parameters in place of those of the file.
        """
        made = estimator(**self.params | given).check_stored()
        made.__dict__.update(model_=model, report_=self.report)
        return made


class _Model(Described):
    """Values of a structured model in a model file."""

    types: list[str]
    structure: str
    counting: str
    templates: list[str]
    penalty: Bounded
    scalings: Scalings = UNSCALED
    hash_bits: int | None = None


class ColumnResources(NamedTuple):
    """Resources that fill columns of features; the models of an estimator share them."""

    clusters: Clusters | None
    resources: Resources


_OF_THE_MACHINE: Final = {"n_jobs": 1, "checkpoint": None}  # parameters that no model depends on
_FROZEN: Final = "frozen"  # the part of an encoder whose outputs are columns
NOTHING = ColumnResources(None, Resources())


@dataclass(frozen=True)
class _Rules:
    """Rules, in their order."""

    sections: dict[str, str]
    notes: dict[str, str]


class _Shared(Described):
    """Values, in a model file, of the resources that fill columns."""

    rules: _Rules | None


def model_part(model: AnyModel) -> ModelPart:
    """A structured model as a part, without what fills columns of its features.

    An encoder is a part of its own in it, ``encoder``, or ``onnx`` as a graph; of a linear scorer the part has the
    arrays.
    """
    [counting] = (name for name, engine in ENGINES.items() if type(model.engine) is engine)
    features = features_of(model)
    values = _Model(
        types=list(model.types), structure=str(model.structure), counting=counting,
        templates=[] if features is None else [str(template) for template in features.templates],
        penalty=model.penalty, scalings=model.scalings, hash_bits=None if features is None else features.hash_bits,
    )  # fmt: skip
    if features is None:
        return values.part(parts={**encoded_parts(model.scorer)})
    scorer: ModelPart = model.scorer.to_part()
    return values.part(scorer.arrays, scorer.parts)


def near_encoder(part: ModelPart, params: Mapping[str, Any]) -> ModelPart:
    """Return a part that may look for its encoder where training found it.

    Names of shares of other machines are left out, for to look there is to ask the network.
    """
    values = params.get("encoder")
    return part.near(Path(values)) if isinstance(values, str) and not values.startswith(("//", "\\\\")) else part


def features_of(model: AnyModel) -> FeatureSet | None:
    """Return the features of a model's scorer, or ``None`` where it has none."""
    scorer = model.scorer.linear if isinstance(model.scorer, SumScorer) else model.scorer
    return scorer.features if isinstance(scorer, LinearScorer) else None


def model_of(part: ModelPart, shared: ColumnResources, structure: Structure) -> AnyModel:
    """The structured model that `model_part` gave; raises what `spanloom.modelfile.damaged` turns into a `ModelError`.

    Args:
        part: the model's.
        shared: what fills columns of features.
        structure: that the model must have.
    """
    values = part.read(_Model)
    if values.structure != str(structure):
        raise ModelError(f"a model of structure {values.structure!r}, expected {structure}")
    if values.counting not in ENGINES or not values.types:
        raise ModelError(f"counting {values.counting!r}, types {values.types}")
    linear = stored_outputs(part)
    outputs = (output_count(part),) if linear is None else linear
    if len(values.types) > np.prod(outputs):  # a template may grow with the square of the types
        raise ModelError(f"{len(values.types)} types, but weights of shape {outputs} for each feature")
    engine = ENGINES[values.counting](structure.template(values.types))
    lanes = structure.lanes(values.types)
    scorers: list[Any] = []
    if linear is not None:
        features = FeatureSet(
            values.templates, clusters=shared.clusters, resources=shared.resources, hash_bits=values.hash_bits
        )
        scorers.append(LinearScorer.from_part(part, features, engine.template, lanes))
    if set(ENCODED) & part.parts.keys():
        scorers.append(encoded_of(part, engine.template, lanes))
    scorer: Scorer = SumScorer(*scorers) if len(scorers) == 2 else scorers[0]
    return StructuredModel(structure, tuple(values.types), engine, scorer, values.penalty, values.scalings)


def structure_in(part: ModelPart, given: Structure | None) -> Structure:
    """Return the structure of a stored model: one of Spanloom's, or the one that is given.

    Raises:
        OtherModelError: it is a user's own class, and ``given`` is ``None``; or ``given`` is another structure.
    """
    text = part.read(_Model).structure
    if given is None and text.partition("(")[0] not in STRUCTURES:
        expected = "use load(path, structure=...) in Python"
        raise OtherModelError(f"a model of structure {text!r}, but none was given; {expected}")
    chosen = structure_of(text) if given is None else given
    if str(chosen) != text:
        raise OtherModelError(f"a model of structure {text!r}, but {chosen} was given; give that of the model")
    return chosen


def shared_part(features: FeatureSet | None) -> ModelPart | None:
    """Return rules, where a template needs them, clusters, categories, vectors, and letter case; or ``None``."""
    if features is None:
        return None
    rules = features.resources.rules if {"section", "note"} & set(features.computed) else None
    arrays: dict[str, Array] = {}
    if features.clusters is not None:
        arrays["clusters"] = packed(features.clusters)
        if features.clusters.counts:  # in the order of the sorted words
            counts = [features.clusters.counts[word] for word in sorted(features.clusters)]
            arrays["counts"] = np.array(counts, np.int64)
        if features.clusters.letters:
            arrays["letters"] = packed(features.clusters.letters)
    if features.resources.categories is not None:
        arrays["categories"] = packed(named_phrases(features.resources.categories, " "))
    if features.resources.usual is not None:
        arrays |= features.resources.usual.to_arrays()
    parts: dict[str, ModelPart] = {}
    vectors = features.resources.vectors
    if isinstance(vectors, WordVectors):
        arrays |= vectors.to_part().arrays
    elif vectors is not None:
        parts[_FROZEN] = vectors.to_part()
    if rules is None and not arrays and not parts:
        return None
    stored = None if rules is None else _Rules(sections=dict(rules.sections), notes=dict(rules.notes))
    return _Shared(rules=stored).part(arrays, parts)


def shared_of(part: ModelPart | None) -> ColumnResources:
    """Restore resources from their part; raises what `spanloom.modelfile.damaged` turns into a `ModelError`."""
    if part is None:
        return NOTHING
    rules = part.read(_Shared).rules
    clusters = categories = None
    if "clusters" in part.arrays:
        clusters = _clusters(part)
    if "categories" in part.arrays:
        names = unpacked(part.arrays["categories"])
        categories = Phrases((name.split(" "), label) for label, phrases in names.items() for name in phrases)
    vectors: TokenVectors | None = WordVectors.from_part(part) if "vectors" in part.arrays else None
    if _FROZEN in part.parts:
        vectors = encoder.FrozenEncoder.from_part(part.part(_FROZEN))
    usual = UsualCase.from_part(part) if "case_keys" in part.arrays else None
    return ColumnResources(
        clusters, Resources(Rules() if rules is None else read_rules(vars(rules)), categories, vectors, usual)
    )


def _clusters(part: ModelPart) -> Clusters:
    paths = checked(dict[str, str], json.loads(part.arrays["clusters"].tobytes()))
    counts, letters = {}, {}
    if "counts" in part.arrays:
        numbers = part.array("counts", np.int64, len(paths))
        if (numbers < 1).any():
            raise ModelError("a word of the clusters has no count")
        counts = dict(zip(sorted(paths), numbers.tolist(), strict=True))
    if "letters" in part.arrays:
        letters = checked(dict[str, dict[str, str]], json.loads(part.arrays["letters"].tobytes()))
        if not set(letters) <= set(WAYS):
            raise ModelError(f"ways of letters {sorted(letters)}, expected some of {', '.join(WAYS)}")
    return Clusters(paths, counts, {way: letters[way] for way in WAYS if way in letters})


def named_phrases(phrases: Phrases, separator: str) -> dict[str, list[str]]:
    """Label -> phrases, each as one text."""
    names: dict[str, list[str]] = {}
    for words, labels in phrases.labels.items():
        for label in labels:
            names.setdefault(label, []).append(separator.join(words))
    return {label: sorted(texts) for label, texts in names.items()}


def packed(value: Mapping[str, Any], *, ascii: bool = True) -> Array:
    """JSON as an array of bytes."""
    return np.frombuffer(json.dumps(value, sort_keys=True, ensure_ascii=ascii).encode(), np.uint8)


def unpacked(array: Array) -> dict[str, list[str]]:
    """Lists of texts that were `packed`."""
    found: dict[str, list[str]] = checked(dict[str, list[str]], json.loads(array.tobytes()))
    return found


def _plain(value: Any) -> Any:
    """Return a parameter as JSON has it; lists of phrases are replaced by their length, as a model holds the phrases.

    A model or a vocabulary that was given is ``None``: it is a part of the file.
    """
    several = value if isinstance(value, list | tuple) else (value,)
    if any(hasattr(one, "to_part") for one in several):
        return None
    if several is value and any(isinstance(one, Path) for one in several):
        return [str(one) for one in several]
    if isinstance(value, Structure | Path):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _shown(source) for name, source in value.items()}
    return np.asarray(value).tolist()


def _shown(source: Any) -> Any:
    if isinstance(source, str | Path):
        return str(source)
    return source if isinstance(source, Mapping | int | float) else f"{len(source)} phrases"
