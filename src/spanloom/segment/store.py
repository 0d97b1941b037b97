"""A segmenter as parts of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spanloom.errors import ModelError
from spanloom.features import FeatureIndex, FeatureSet
from spanloom.hypergraph import SubgraphEngine
from spanloom.learn.platt import UNSCALED, Scalings
from spanloom.model.store import ColumnResources, Estimated, named_phrases, packed, shared_part, unpacked
from spanloom.model.strongest import Strongest
from spanloom.model.structured import AnyModel, StructuredModel
from spanloom.modelfile import COMPACT, Bounded, Described, ModelPart
from spanloom.passes import COLUMNS as PASS_COLUMNS
from spanloom.scoring import LinearScorer
from spanloom.scoring.encoded import ENCODED, encoded_of, encoded_parts
from spanloom.scoring.section import SectionScorer, SideBySide, sections_of
from spanloom.scoring.sum import SumScorer
from spanloom.segment.chains import MENTIONS, PAIRS, WORDS, Chains, Tagging, taggings
from spanloom.segment.characters import COLUMNS
from spanloom.segment.constraints import constraints_of
from spanloom.segment.feature_sets import phrases_of
from spanloom.segment.model import MENTION_COLUMN, WORD_COLUMN, SegmenterModel
from spanloom.segment.report import SegmenterReport

_LAYOUTS = (((WORDS, MENTIONS),), ((PAIRS,),), ((WORDS, MENTIONS), (WORDS,), (MENTIONS,)))  # the chains of each part
_SEEN = ((), (MENTION_COLUMN,), (WORD_COLUMN,))  # what chains of each part see of the other's output
_PART, _INDEX, _DICTIONARIES = "structure", "index", "dictionaries"
_COLUMNS = "columns"  # what an encoder cannot see
_SHARED = (_INDEX, _COLUMNS, *ENCODED)  # parts that are no chains


class SegmenterValues(Estimated):
    """Values of a segmenter in a model file."""

    report: SegmenterReport
    types: list[str]
    joint_penalty: Bounded
    scalings: Scalings = UNSCALED
    strongest: Strongest


class _Part(Described):
    templates: list[str]


class _Chain(Described):
    penalty: Bounded


def parts_of(model: SegmenterModel) -> dict[str, ModelPart | None]:
    """The chains of a model, those that share features together, its dictionaries, and what fills columns."""
    parts: dict[str, ModelPart | None] = {f"{_PART}{number}": _part_of(part) for number, part in enumerate(model.parts)}
    scorer = model.parts[0].scorer
    parts["columns"] = shared_part(scorer.features) if isinstance(scorer, LinearScorer) else None
    if model.phrases is not None:
        dictionaries = packed(named_phrases(model.phrases, ""), ascii=False)
        parts[_DICTIONARIES] = ModelPart(arrays={"phrases": dictionaries})
    return parts


def _part_of(chains: Chains) -> ModelPart:
    scorer, models = chains.scorer, chains.models.items()
    parts: dict[str, ModelPart | None]
    if isinstance(scorer, LinearScorer):
        parts = {_INDEX: scorer.index.to_part()}
        parts |= {name: _weights_of(model) for name, model in models}
        return _Part(templates=[str(template) for template in scorer.features.templates]).part({}, parts)
    parts = {name: _Chain(penalty=model.penalty).part() for name, model in models}
    if not isinstance(scorer, SumScorer):
        return _Part(templates=[]).part({}, {**encoded_parts(scorer), **parts})
    linear = scorer.linear  # of what the encoder cannot see
    parts |= {**encoded_parts(scorer.encoder), _COLUMNS: linear.to_part()}
    return _Part(templates=[str(template) for template in linear.features.templates]).part({}, parts)


def _weights_of(model: AnyModel) -> ModelPart:
    """Return a chain without the index, which the others share."""
    own = model.scorer.to_part()
    return _Chain(penalty=model.penalty).part(own.arrays, {COMPACT: own.parts.get(COMPACT)})


def model_of(part: ModelPart, values: SegmenterValues, shared: ColumnResources) -> SegmenterModel:
    """The model of which `parts_of` was taken; raises what `spanloom.modelfile.damaged` turns into a `ModelError`."""
    types = tuple(values.types)
    own = [part.part(f"{_PART}{number}") for number in range(sum(name.startswith(_PART) for name in part.parts))]
    layout = tuple(tuple(name for name in each.parts if name not in _SHARED) for each in own)
    if not types or layout not in _LAYOUTS:
        raise ModelError(f"chains of {len(own)} parts, for types {types}")
    constraints = constraints_of(types, values.params["single_word"], values.params["constraints"])
    tagged = taggings(types, constraints, pairs=layout == ((PAIRS,),))
    parts = tuple(_chains(each, names, tagged, shared) for each, names in zip(own, layout, strict=True))
    phrases = None
    if _DICTIONARIES in part.parts:
        lists = unpacked(part.part(_DICTIONARIES).array("phrases", np.uint8, None))
        phrases = phrases_of([(text, label) for label, texts in lists.items() for text in texts])
    given = {*COLUMNS, *(PASS_COLUMNS if "first_pass" in part.parts else ())} - (
        {"dictionary"} if phrases is None else set()
    )
    for number, each in enumerate(parts):  # a later one may read the output of the other chain of the first
        known = {*given, *_SEEN[number]}
        if unknown := set(each.scorer.needs) - known:
            raise ModelError(f"its templates name the column {min(unknown)!r}, expected {', '.join(sorted(known))}")
    return SegmenterModel(types, constraints, parts, phrases, values.joint_penalty, values.scalings)


def _chains(
    part: ModelPart, names: tuple[str, ...], tagged: Mapping[str, Tagging], shared: ColumnResources
) -> Chains:  # fmt: skip
    if set(ENCODED) & part.parts.keys():
        return _encoded(part, names, tagged)
    index, templates = FeatureIndex.from_part(part.part(_INDEX)), part.read(_Part).templates
    features = FeatureSet(templates, clusters=shared.clusters, resources=shared.resources)
    models = {}
    for name in names:
        (structure, types), own = tagged[name], part.part(name)
        engine = SubgraphEngine(structure.template(types))
        scorer = LinearScorer.from_part(own, features, engine.template, 1, index)
        models[name] = StructuredModel(structure, types, engine, scorer, own.read(_Chain).penalty)
    return Chains.of(models)


def _encoded(part: ModelPart, names: tuple[str, ...], tagged: Mapping[str, Tagging]) -> Chains:
    """Chains whose scores come from one encoder."""
    templates = [tagged[name].structure.template(tagged[name].types) for name in names]
    outputs = SideBySide.of(templates)
    scorer = encoded_of(part, outputs, 1)
    if _COLUMNS in part.parts:
        features = FeatureSet(part.read(_Part).templates)
        scorer = SumScorer(LinearScorer.from_part(part.part(_COLUMNS), features, outputs, 1), scorer)
    models: dict[str, AnyModel] = {}
    for name, template, section in zip(names, templates, sections_of(templates), strict=True):
        structure, types = tagged[name]
        own, penalty = SectionScorer(scorer, section), part.part(name).read(_Chain).penalty
        models[name] = StructuredModel(structure, types, SubgraphEngine(template), own, penalty)
    return Chains(scorer, models)
