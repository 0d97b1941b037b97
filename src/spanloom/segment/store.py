"""A segmenter as a model file, and back: all chains in the same two files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter

from spanloom.errors import ModelError
from spanloom.features import FeatureSet
from spanloom.learn.platt import UNSCALED, Scalings
from spanloom.model.strongest import Strongest
from spanloom.model.structured import StructuredModel
from spanloom.modelfile import Array, Bounded, damaged, read_kind, save_model
from spanloom.scoring import LinearScorer, Weights
from spanloom.scoring.linear import read_index
from spanloom.segment.chains import MENTIONS, PAIRS, WORDS, Chains, Tagging, taggings
from spanloom.segment.characters import COLUMNS
from spanloom.segment.constraints import constraints_of
from spanloom.segment.feature_sets import phrases_of
from spanloom.segment.model import MENTION_COLUMN, WORD_COLUMN, Model
from spanloom.segment.report import SegmenterReport
from spanloom.text import Phrases

KIND = "segmenter"
_LAYOUTS = (((WORDS, MENTIONS),), ((PAIRS,),), ((WORDS, MENTIONS), (WORDS,), (MENTIONS,)))  # the chains of each part
_SEEN = ((), (MENTION_COLUMN,), (WORD_COLUMN,))  # what chains of each part see of the other's output
_DICTIONARIES = "dictionaries"
_PHRASES = TypeAdapter(dict[str, list[str]])


class StoredSegmenter(NamedTuple):
    """What a segmenter's model file holds.

    Args:
        params: of the constructor.
        model: the trained chains.
        report: of the training.
        strongest: features of each tag.
    """

    params: dict[str, Any]
    model: Model
    report: SegmenterReport
    strongest: Strongest


class _Chain(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)

    name: str
    penalty: Bounded


class _Part(BaseModel):
    templates: list[str]
    chains: list[_Chain]


class _Constrained(BaseModel):
    """The parameters that loading depends on; the others are only shown."""

    model_config = ConfigDict(extra="allow")

    single_word: list[str]
    constraints: list[str]


class _Description(BaseModel):
    """What ``model.json`` says of a segmenter."""

    model_config = ConfigDict(allow_inf_nan=False)

    params: _Constrained
    types: list[str]
    joint_penalty: Bounded
    scalings: Scalings = UNSCALED
    parts: list[_Part]
    report: SegmenterReport
    strongest: Strongest


def write_segmenter(stored: StoredSegmenter, path: str | Path, *, force: bool) -> None:
    """Write a segmenter; see `spanloom.modelfile.save_model`."""
    trained = stored.model
    arrays: dict[str, Array] = {}
    parts = []
    for number, part in enumerate(trained.parts):
        arrays |= {f"part{number}.index.{name}": array for name, array in part.scorer.index.state().items()}
        for name, model in part.models.items():
            weights, constants = model.scorer.weights
            arrays |= {f"part{number}.{name}.weights": weights, f"part{number}.{name}.constants": constants}
        chains = [_Chain(name=name, penalty=model.penalty) for name, model in part.models.items()]
        parts.append(_Part(templates=[str(template) for template in part.scorer.features.templates], chains=chains))
    if trained.phrases is not None:
        arrays[_DICTIONARIES] = _packed(trained.phrases)
    description = _Description(
        params=_Constrained(**stored.params), types=list(trained.types), joint_penalty=trained.joint_penalty,
        scalings=trained.scalings, parts=parts, report=stored.report, strongest=stored.strongest,
    )  # fmt: skip
    save_model(path, KIND, description.model_dump(mode="json"), arrays, force=force)


def read_segmenter(path: str | Path) -> StoredSegmenter:
    """Read a segmenter.

    Raises:
        ModelError: the folder holds no segmenter, or a damaged one, or one of another format.
    """
    raw, arrays = read_kind(path, KIND)
    with damaged(path):
        description = _Description.model_validate(raw)
        types = tuple(description.types)
        layout = tuple(tuple(chain.name for chain in part.chains) for part in description.parts)
        if not types or layout not in _LAYOUTS:
            raise ModelError(f"chains of {len(description.parts)} parts, for types {types}")
        given = description.params
        constraints = constraints_of(types, given.single_word, given.constraints)
        tagged = taggings(types, constraints, pairs=layout == ((PAIRS,),))
        parts = tuple(_part(part, f"part{n}.", tagged, arrays) for n, part in enumerate(description.parts))
        phrases = _unpacked(arrays[_DICTIONARIES]) if _DICTIONARIES in arrays else None
        for number, part in enumerate(parts):
            _check_columns(part, number, phrases)
        model = Model(types, constraints, parts, phrases, description.joint_penalty, description.scalings)
    return StoredSegmenter(given.model_dump(), model, description.report, description.strongest)


def _part(part: _Part, prefix: str, tagged: Mapping[str, Tagging], arrays: Mapping[str, Array]) -> Chains:
    index, features = read_index(arrays, prefix), FeatureSet(part.templates)
    models = {}
    for chain in part.chains:
        own = f"{prefix}{chain.name}."
        scorer = LinearScorer(features, index, Weights(arrays[own + "weights"], arrays[own + "constants"]))
        structure, types = tagged[chain.name]
        model = StructuredModel.build(structure, "subgraphs", types, scorer, chain.penalty)
        scorer.check(len(model.engine.template.roles), len(model.engine.template.constants), 1, own)
        models[chain.name] = model
    return Chains.of(models)


def _check_columns(part: Chains, number: int, phrases: Phrases | None) -> None:
    """A part may read the columns of characters, and a later one the output of the other chain of the first."""
    known = {*COLUMNS, *_SEEN[number]} - ({"dictionary"} if phrases is None else set())
    unknown = set(part.scorer.needs) - known
    if unknown:
        raise ModelError(f"its templates name the column {min(unknown)!r}, expected {', '.join(sorted(known))}")


def _packed(phrases: Phrases) -> Array:
    """Label -> phrases, as JSON in bytes."""
    lists: dict[str, list[str]] = {}
    for characters, labels in phrases.labels.items():
        for label in labels:
            lists.setdefault(label, []).append("".join(characters))
    text = json.dumps({label: sorted(texts) for label, texts in lists.items()}, sort_keys=True, ensure_ascii=False)
    return np.frombuffer(text.encode(), np.uint8)


def _unpacked(array: Array) -> Phrases:
    lists = _PHRASES.validate_json(array.tobytes())
    return phrases_of([(text, label) for label, texts in lists.items() for text in texts])


def plain(value: Any) -> Any:
    """A parameter as JSON has it; dictionaries given as lists are counted, since the model holds their phrases."""
    if isinstance(value, Mapping):
        return {name: _shown(source) for name, source in value.items()}
    return str(value) if isinstance(value, Path) else np.asarray(value).tolist()


def _shown(source: str | Path | Sequence[str]) -> str:
    return str(source) if isinstance(source, str | Path) else f"{len(source)} phrases"
