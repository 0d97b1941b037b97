"""A recognizer as a model file, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from spanloom.errors import ModelError, SpanloomError
from spanloom.features import FeatureIndex, FeatureSet
from spanloom.hypergraph import ENGINES
from spanloom.modelfile import Array, load_arrays, read_description, save_model
from spanloom.recognize.report import Report
from spanloom.recognize.strongest import Strongest
from spanloom.recognize.tagger import Tagger
from spanloom.scoring import Weights
from spanloom.structures import STRUCTURES

KIND = "recognizer"
_INDEX = "index."
_CLUSTERS = TypeAdapter(dict[str, str])


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
    counting: str
    reading: str


class _Description(BaseModel):
    """What ``model.json`` says of a recognizer."""

    model_config = ConfigDict(allow_inf_nan=False)

    params: _Params
    types: list[str]
    templates: list[str]
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
        penalty=tagger.penalty,
        report=stored.report,
        strongest=stored.strongest,
    )
    arrays: dict[str, Array] = {_INDEX + name: array for name, array in tagger.index.state().items()}
    arrays["weights"], arrays["constants"] = tagger.weights
    clusters = tagger.features.clusters
    if clusters is not None:
        arrays["clusters"] = np.frombuffer(json.dumps(clusters, sort_keys=True).encode(), np.uint8)
    save_model(path, KIND, description.model_dump(mode="json"), arrays, force=force)


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
    index = FeatureIndex.from_state(
        {name.removeprefix(_INDEX): array for name, array in arrays.items() if name.startswith(_INDEX)}
    )
    tagger = Tagger.build(
        params.structure, params.counting, description.types, FeatureSet(description.templates, clusters=clusters),
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
