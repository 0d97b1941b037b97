"""A recognizer as a model file, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from spanloom.errors import ModelError, SpanloomError
from spanloom.features import FeatureIndex, FeatureSet, Resources
from spanloom.hypergraph import ENGINES
from spanloom.modelfile import Array, load_arrays, read_description, save_model
from spanloom.recognize.report import Report
from spanloom.recognize.strongest import Strongest
from spanloom.recognize.tagger import Tagger
from spanloom.scoring import Weights
from spanloom.structures import STRUCTURES
from spanloom.text import Phrases, Rules, read_rules

KIND = "recognizer"
_INDEX = "index."
_CLUSTERS = TypeAdapter(dict[str, str])
_CATEGORIES = TypeAdapter(dict[str, list[str]])


class Stored(NamedTuple):
    """What a recognizer's model file holds.

    Args:
        params: of the constructor.
        tagger: the trained model.
        report: of its training.
        strongest: features of each role.
    """

    params: dict[str, Any]
    tagger: Tagger
    report: Report
    strongest: Strongest


class _Params(BaseModel):
    """The parameters that loading depends on; the others are only shown."""

    model_config = ConfigDict(extra="allow")

    structure: str
    components: int
    counting: str
    reading: str


class _Rules(BaseModel):
    """Rules of computed columns, in their order."""

    sections: dict[str, str]
    notes: dict[str, str]


class _Description(BaseModel):
    """What ``model.json`` says of a recognizer."""

    model_config = ConfigDict(allow_inf_nan=False)

    params: _Params
    types: list[str]
    templates: list[str]
    rules: _Rules | None = None
    penalty: float
    report: Report
    strongest: Strongest


def write_recognizer(stored: Stored, path: str | Path, *, force: bool) -> None:
    """Write a recognizer; see `spanloom.modelfile.save_model`."""
    tagger = stored.tagger
    description = _Description(
        params=_Params(**stored.params),
        types=list(tagger.types),
        templates=[str(template) for template in tagger.features.templates],
        rules=_rules(tagger.features),
        penalty=tagger.penalty,
        report=stored.report,
        strongest=stored.strongest,
    )
    arrays: dict[str, Array] = {_INDEX + name: array for name, array in tagger.index.state().items()}
    arrays["weights"], arrays["constants"] = tagger.weights
    clusters = tagger.features.clusters
    if clusters is not None:
        arrays["clusters"] = _json(clusters)
    categories = tagger.features.resources.categories
    if categories is not None:
        arrays["categories"] = _json(_names(categories))
    save_model(path, KIND, description.model_dump(mode="json"), arrays, force=force)


def _rules(features: FeatureSet) -> _Rules | None:
    """The rules, if a template depends on them."""
    if not {"section", "note"} & set(features.computed):
        return None
    rules = features.resources.rules
    return _Rules(sections=dict(rules.sections), notes=dict(rules.notes))


def _names(categories: Phrases) -> dict[str, list[str]]:
    """Category -> names, their words with a space between."""
    names: dict[str, list[str]] = {}
    for words, labels in categories.labels.items():
        for label in labels:
            names.setdefault(label, []).append(" ".join(words))
    return {label: sorted(phrases) for label, phrases in names.items()}


def _json(value: Mapping[str, Any]) -> Array:
    return np.frombuffer(json.dumps(value, sort_keys=True).encode(), np.uint8)


def read_recognizer(path: str | Path) -> Stored:
    """Read a recognizer.

    Raises:
        ModelError: the folder holds no recognizer, or a damaged one, or one of another format.
    """
    raw = read_description(path)
    if raw["kind"] != KIND:
        raise ModelError(f"{path}: a model of kind {raw['kind']!r}, expected a {KIND}")
    arrays = load_arrays(path, raw)
    try:
        description = _Description.model_validate(raw)
        tagger = _tagger(description, arrays)
    except (ValidationError, KeyError, TypeError, ValueError, SpanloomError) as error:
        raise ModelError(f"{path}: damaged: {_reason(error)}; train or copy the model again") from None
    return Stored(description.params.model_dump(), tagger, description.report, description.strongest)


def _reason(error: Exception) -> str:
    """An error in one line; of many values that cannot be read, the first."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return " ".join(str(error).split())


def _tagger(description: _Description, arrays: Mapping[str, Array]) -> Tagger:
    params = description.params
    if params.structure not in STRUCTURES or params.counting not in ENGINES or not description.types:
        raise ModelError(f"structure {params.structure!r}, counting {params.counting!r}, types {description.types}")
    clusters = None
    if "clusters" in arrays:
        clusters = _CLUSTERS.validate_json(arrays["clusters"].tobytes())
    categories = None
    if "categories" in arrays:
        names = _CATEGORIES.validate_json(arrays["categories"].tobytes())
        categories = Phrases((name.split(" "), label) for label, phrases in names.items() for name in phrases)
    rules = Rules() if description.rules is None else read_rules(description.rules.model_dump())
    resources = Resources(rules, categories)
    index = FeatureIndex.from_state(
        {name.removeprefix(_INDEX): array for name, array in arrays.items() if name.startswith(_INDEX)}
    )
    features = FeatureSet(description.templates, clusters=clusters, resources=resources)
    tagger = Tagger.build(
        STRUCTURES[params.structure].with_components(params.components), params.counting, description.types, features,
        index, Weights(arrays["weights"], arrays["constants"]), description.penalty,
    )  # fmt: skip
    template, kinds = tagger.engine.template, tagger.structure.lanes(description.types)
    for name, shape in (
        ("weights", (len(index), len(template.roles), kinds)),
        ("constants", (len(template.constants), kinds)),
    ):
        if arrays[name].shape != shape or arrays[name].dtype != np.float32:
            raise ModelError(
                f"{name!r} is {arrays[name].dtype} of shape {arrays[name].shape}, expected float32 {shape}"
            )
    return tagger
