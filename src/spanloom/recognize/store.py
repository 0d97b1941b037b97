"""A recognizer as a model file, and back; and the parts of which other kinds of model are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter

from spanloom.errors import ModelError
from spanloom.features import FeatureSet, Resources
from spanloom.hypergraph import ENGINES
from spanloom.learn.platt import UNSCALED, Scalings
from spanloom.model.report import Report
from spanloom.model.strongest import Strongest
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.modelfile import Array, Bounded, damaged, read_kind, save_model
from spanloom.scoring import LinearScorer
from spanloom.structures import STRUCTURES, Structure, structure_of
from spanloom.tag.filling import Filler
from spanloom.tag.pos_tagger import PosTagger
from spanloom.tag.spacy_tagger import SpacyTagger
from spanloom.text import Phrases, Rules, read_rules

KIND = "recognizer"
_CLUSTERS_ARRAY, _CATEGORIES_ARRAY, _POS = "clusters", "categories", "pos."
_CLUSTERS = TypeAdapter(dict[str, str])
_CATEGORIES = TypeAdapter(dict[str, list[str]])
_SPACY = TypeAdapter(dict[Literal["spacy"], str])


class Stored(NamedTuple):
    """What a recognizer's model file holds.

    Args:
        params: of the constructor.
        tagger: the trained model.
        report: of its training.
        strongest: features of each role.
        pos: what fills a column of documents that lack it, if anything does.
    """

    params: dict[str, Any]
    tagger: LinearModel
    report: Report
    strongest: Strongest
    pos: Filler | None


class Params(BaseModel):
    """The parameters that loading depends on; the others are only shown."""

    model_config = ConfigDict(extra="allow")

    structure: str
    components: int
    longest: int | None
    counting: str
    reading: str


class RuleTexts(BaseModel):
    """Rules of computed columns, in their order."""

    sections: dict[str, str]
    notes: dict[str, str]


class TaggerDescription(BaseModel):
    """What ``model.json`` says of a tagger."""

    model_config = ConfigDict(allow_inf_nan=False)

    types: list[str]
    templates: list[str]
    penalty: Bounded
    scalings: Scalings = UNSCALED
    strongest: Strongest


class _Description(TaggerDescription):
    """What ``model.json`` says of a recognizer."""

    params: Params
    rules: RuleTexts | None = None
    pos: dict[str, Any] | None = None
    report: Report


class Shared(NamedTuple):
    """What columns of features need; the taggers of a model share it."""

    clusters: dict[str, str] | None
    resources: Resources


def write_recognizer(stored: Stored, path: str | Path, *, force: bool) -> None:
    """Write a recognizer; see `spanloom.modelfile.save_model`."""
    tagger = stored.tagger
    description = _Description(
        params=Params(**stored.params),
        rules=rule_texts(tagger.scorer.features),
        pos=None if stored.pos is None else stored.pos.description(),
        report=stored.report,
        **dict(describe(tagger, stored.strongest)),
    )
    arrays = {**tagger.scorer.arrays(), **shared_arrays(tagger.scorer.features), **pos_arrays(stored.pos)}
    save_model(path, KIND, description.model_dump(mode="json"), arrays, force=force)


def read_recognizer(path: str | Path, structure: Structure | None = None) -> Stored:
    """Read a recognizer.

    Args:
        path: the folder.
        structure: that of the model, where its class is none of Spanloom's.

    Raises:
        ModelError: the folder holds no recognizer, or a damaged one, or one of another format or structure.
    """
    raw, arrays = read_kind(path, KIND)
    with damaged(path):
        description = _Description.model_validate(raw)
        params = description.params
        own = _own_structure(params)
    known, chosen = params.structure if own is None else str(own), structure or own
    if chosen is None or str(chosen) != known:
        found = "none was given" if structure is None else f"{structure} was given"
        expected = "use load(path, structure=...) in Python"
        raise ModelError(f"{path}: a model of structure {known!r}, but {found}; {expected}")
    with damaged(path):
        shared = read_shared(description.rules, arrays)
        tagger = read_tagger(description, chosen, shared, arrays, counting=params.counting)
        pos = read_pos(description.pos, arrays)
    own_params = params.model_dump() | ({"structure": structure} if structure else {})
    return Stored(own_params, tagger, description.report, description.strongest, pos)


def _own_structure(params: Params) -> Structure | None:
    """One of Spanloom's structures; ``None`` for another."""
    if params.structure.partition("(")[0] not in STRUCTURES:
        return None
    return structure_of(params.structure, components=params.components, longest=params.longest)


def describe(tagger: LinearModel, strongest: Strongest) -> TaggerDescription:
    """A tagger without its arrays."""
    templates = [str(template) for template in tagger.scorer.features.templates]
    return TaggerDescription(
        types=list(tagger.types), templates=templates, penalty=tagger.penalty, scalings=tagger.scalings,
        strongest=strongest,
    )  # fmt: skip


def read_tagger(
    description: TaggerDescription, structure: Structure, shared: Shared, arrays: Mapping[str, Array],
    prefix: str = "", counting: str = "subgraphs",
) -> LinearModel:  # fmt: skip
    """A tagger from its description and its arrays; raises what `damaged` turns into a `ModelError`."""
    if counting not in ENGINES or not description.types:
        raise ModelError(f"counting {counting!r}, types {description.types}")
    features = FeatureSet(description.templates, clusters=shared.clusters, resources=shared.resources)
    scorer = LinearScorer.from_arrays(features, arrays, prefix)
    tagger = StructuredModel.build(
        structure, counting, description.types, scorer, description.penalty, description.scalings
    )
    template, kinds = tagger.engine.template, structure.lanes(description.types)
    scorer.check(len(template.roles), len(template.constants), kinds, prefix)
    return tagger


def rule_texts(features: FeatureSet) -> RuleTexts | None:
    """The rules, if a template depends on them."""
    if not {"section", "note"} & set(features.computed):
        return None
    rules = features.resources.rules
    return RuleTexts(sections=dict(rules.sections), notes=dict(rules.notes))


def shared_arrays(features: FeatureSet) -> dict[str, Array]:
    """Clusters and categories, where there are any, as JSON in bytes."""
    arrays: dict[str, Array] = {}
    if features.clusters is not None:
        arrays[_CLUSTERS_ARRAY] = _json(features.clusters)
    categories = features.resources.categories
    if categories is not None:
        arrays[_CATEGORIES_ARRAY] = _json(_names(categories))
    return arrays


def read_shared(rules: RuleTexts | None, arrays: Mapping[str, Array]) -> Shared:
    """What `rule_texts` and `shared_arrays` gave; raises what `damaged` turns into a `ModelError`."""
    clusters = categories = None
    if _CLUSTERS_ARRAY in arrays:
        clusters = _CLUSTERS.validate_json(arrays[_CLUSTERS_ARRAY].tobytes())
    if _CATEGORIES_ARRAY in arrays:
        names = _CATEGORIES.validate_json(arrays[_CATEGORIES_ARRAY].tobytes())
        categories = Phrases((name.split(" "), label) for label, phrases in names.items() for name in phrases)
    return Shared(clusters, Resources(Rules() if rules is None else read_rules(rules.model_dump()), categories))


def pos_arrays(pos: Filler | None) -> dict[str, Array]:
    """The arrays of a tagger that fills a column; a pipeline of spaCy has none, as only its name is kept."""
    return pos.arrays(_POS) if isinstance(pos, PosTagger) else {}


def read_pos(description: Mapping[str, Any] | None, arrays: Mapping[str, Array]) -> Filler | None:
    """The tagger of its `description` and `pos_arrays`; raises what `damaged` turns into a `ModelError`."""
    if description is None:
        return None
    if "spacy" in description:
        return SpacyTagger(_SPACY.validate_python(description)["spacy"])
    return PosTagger.from_parts(description, arrays, _POS)


def _names(categories: Phrases) -> dict[str, list[str]]:
    """Category -> names, their words with a space between."""
    names: dict[str, list[str]] = {}
    for words, labels in categories.labels.items():
        for label in labels:
            names.setdefault(label, []).append(" ".join(words))
    return {label: sorted(phrases) for label, phrases in names.items()}


def _json(value: Mapping[str, Any]) -> Array:
    return np.frombuffer(json.dumps(value, sort_keys=True).encode(), np.uint8)
