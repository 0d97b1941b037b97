"""What `spanloom inspect` tells of a model of each kind, ready for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from spanloom.link import Linker
from spanloom.lm.language_model import LanguageModel
from spanloom.model.parameters import Parameters
from spanloom.model.structured import LinearModel
from spanloom.models import Model
from spanloom.recognize import Cascade, Recognizer
from spanloom.segment import Segmenter
from spanloom.tag.filling import Filler
from spanloom.tag.pos_tagger import PosTagger
from spanloom.tag.spacy_tagger import SpacyTagger
from spanloom.vocabulary import Vocabulary

Strongest = dict[str, list[tuple[str, float]]]


def values(model: Model, strongest: Strongest) -> dict[str, Any]:
    """Everything, in the order in which it is shown.

    Args:
        model: of any kind.
        strongest: role -> features to show, where there are roles.
    """
    if isinstance(model, Recognizer | Cascade):
        return _recognizer(model, strongest)
    if isinstance(model, PosTagger):
        return {"kind": "tagger", **_trained(model), "tags": list(model.tags_), "training": asdict(model.report_)}
    if isinstance(model, Linker):
        return _linker(model)
    if isinstance(model, Segmenter):
        return _segmenter(model, strongest)
    if isinstance(model, LanguageModel):
        sizes = {f"{order}-grams": len(level.words) for order, level in enumerate(model.levels, 1)}
        return {"kind": "language-model", "order": model.order, "counts": {"words": len(model.words), **sizes}}
    assert isinstance(model, Vocabulary)
    return {"kind": "vocabulary", "counts": model.counts(), "notes": [str(note) for note in model.notes]}


def _recognizer(model: Recognizer | Cascade, strongest: Strongest) -> dict[str, Any]:
    chains = model.fitted if isinstance(model, Cascade) else (model,)
    return {
        "kind": "cascade" if isinstance(model, Cascade) else "recognizer",
        **_trained(model),
        **_tagging(model.types_, [chain.fitted for chain in chains]),
        "tagger": _told(model.pos_),
        "training": asdict(model.report_),
        "strongest": _listed(strongest),
    }


def _segmenter(model: Segmenter, strongest: Strongest) -> dict[str, Any]:
    taggers = [chain.tagger for part in model.fitted.parts for chain in part.chains.values()]
    return {
        "kind": "segmenter",
        **_trained(model),
        **_tagging(model.types_, taggers),
        "training": asdict(model.report_),
        "strongest": _listed(strongest),
    }


def _tagging(types: Sequence[str], taggers: Sequence[LinearModel]) -> dict[str, Any]:
    return {
        "types": list(types),
        "roles": list(dict.fromkeys(role for tagger in taggers for role in tagger.engine.template.roles)),
        "templates": [str(template) for template in taggers[-1].scorer.features.templates],  # the last one has all
    }


def _listed(strongest: Strongest) -> dict[str, Any]:
    return {name: [list(feature) for feature in features] for name, features in strongest.items()}


def _linker(model: Linker) -> dict[str, Any]:
    system = model.fitted
    return {
        "kind": "linker",
        **_trained(model),
        "types": list(model.types_),
        "templates": [str(template) for template in system.reader.tagger.scorer.features.templates],
        "tagger": _told(system.pos),
        "vocabulary": f"{len(system.concepts.vocabulary):,} concepts, {len(system.concepts.vocabulary.names):,} names",
        "combinations": len(system.concepts.combinations),
        "training": asdict(model.report_),
    }


def _told(pos: Filler | None) -> str | None:
    if pos is None:
        return None
    what = f"{len(pos.tags_)} tags" if isinstance(pos, PosTagger) else f"the spaCy pipeline {pos.name!r}"
    return f"fills the column {pos.column!r} with {what}"


def _trained(model: Parameters) -> dict[str, Any]:
    """The parameters; a model that stands among them, and in the file, is told of apart."""
    given = {name: value for name, value in model.get_params().items() if name != "n_jobs"}
    apart = Parameters | LanguageModel | SpacyTagger
    return {"parameters": {name: None if isinstance(value, apart) else value for name, value in given.items()}}
