"""Formats 1 to 3, as parts and stages. Format 1 had one description and one list of arrays a model, with other names.

What is written here is what those formats were, and does not change with the code of the models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from string import digits
from typing import Any, Final

import numpy as np

from spanloom.modelfile.part import STAGES, Array, ModelPart, place
from spanloom.modelfile.values import checked

_Values = Mapping[str, Any]
_Arrays = Mapping[str, Array]
_MODEL = ("types", "templates", "penalty", "scalings")
_WEIGHTS = ("weights", "constants")
_FORMS = ("forms.first", "forms.last", "forms.size")
_SEARCH = ("roles", "keys", "weights", *_FORMS, "combinations.parts", "combinations.sizes")
_RESOURCES = ("clusters", "categories")
_STRUCTURES = {"semi_markov": "longest", "shared": "components", "split": "components", "seven_tag": "components"}
_TRANSITIONS = {"transitions": "constants"}
_DEFAULTS = {"longest": None, "components": 3}


def from_lists(kind: str, values: _Values, arrays: _Arrays) -> ModelPart:
    """The parts of format 2 that a model of format 1 has; raises what `damaged` turns into a `ModelError`."""
    return _KINDS.get(kind, ModelPart)(values, arrays)


def _recognizer(values: _Values, arrays: _Arrays) -> ModelPart:
    params = values["params"]
    model = _model(values, _structure(params), params["counting"], arrays)
    return ModelPart(_some(values, "params", "report", "strongest"), parts={"model": model, **_columns(values, arrays)})


def _cascade(values: _Values, arrays: _Arrays) -> ModelPart:
    chains = {
        f"chain{n}": _model(stored, "bilou", "subgraphs", _under(arrays, f"chain{n}."))
        for n, stored in enumerate(values["chains"])
    }
    own = {**_some(values, "params", "report"), "strongest": [stored["strongest"] for stored in values["chains"]]}
    return ModelPart(own, parts={**chains, **_columns(values, arrays)})


def _linker(values: _Values, arrays: _Arrays) -> ModelPart:
    chain = _model(values["chain"], "bilou", "subgraphs", _under(arrays, "chain."))
    parts = {"chain": chain, **_columns(values, arrays)}
    for name in ("vocabulary", "seen"):
        parts[name] = ModelPart(arrays=_under(arrays, f"{name}."))
    parts["memory"] = ModelPart(arrays=_remembered(_under(arrays, "memory.")))
    parts["finder"] = ModelPart()  # its keys were others, and are made again from the vocabulary
    if values["language"]:
        parts["language"] = ModelPart(arrays=_under(arrays, "language."))
    own = _some(arrays, *_SEARCH)
    return ModelPart(_some(values, "params", "report", "search"), own, parts)


def _remembered(arrays: _Arrays) -> dict[str, Array]:
    """A memory, which was a table for each degree of folding, as rows that have one degree each."""
    degrees = ("exact", "close", "loose")
    sizes = [np.diff(arrays[f"{n}.ptr"]) for n in range(len(degrees))]
    joined: dict[str, Array] = {
        "concept": np.concatenate([arrays[f"{n}.values"] for n in range(len(degrees))]),
        "counts": np.concatenate([arrays[f"{n}.counts"] for n in range(len(degrees))]),
    }
    for n, name in enumerate(degrees):
        for column, values in ((name, arrays[f"{n}.keys"]), (f"occurrences.{name}", arrays[f"{n}.occurrences"])):
            empty = [np.zeros(int(size.sum()), values.dtype) for size in sizes]
            empty[n] = np.repeat(values, sizes[n])
            joined[column] = np.concatenate(empty)
    return joined


def _segmenter(values: _Values, arrays: _Arrays) -> ModelPart:
    parts = {f"part{n}": _part(stored, _under(arrays, f"part{n}.")) for n, stored in enumerate(values["parts"])}
    if "dictionaries" in arrays:
        parts["dictionaries"] = ModelPart(arrays={"phrases": arrays["dictionaries"]})
    stored = _some(values, "params", "report", "types", "joint_penalty", "scalings", "strongest")
    return ModelPart(stored, parts=parts)


def _part(stored: _Values, arrays: _Arrays) -> ModelPart:
    """Chains of a segmenter that share their features."""
    parts = {"index": ModelPart(arrays=_under(arrays, "index."))}
    for chain in stored["chains"]:
        parts[chain["name"]] = ModelPart(_some(chain, "penalty"), _under(arrays, f"{chain['name']}."))
    return ModelPart(_some(stored, "templates"), parts=parts)


def _tagger(values: _Values, arrays: _Arrays) -> ModelPart:
    """A tagger, or the name of a pipeline."""
    if "spacy" in values:
        return ModelPart(values)
    stored = {"types": values["tags"], "templates": values["params"]["features"], "penalty": 0.0}
    renamed = {_TRANSITIONS.get(key, key): array for key, array in arrays.items()}
    model = _model(stored, "tags", "subgraphs", renamed)
    return ModelPart(_some(values, "params", "report"), parts={"model": model})


def _structure(params: _Values) -> Any:
    """The text of a structure whose parameter stood beside it."""
    text = params["structure"]
    name = _STRUCTURES.get(text, "")
    value = params[name] if name else None
    return f"{text}({name}={value})" if name and value != _DEFAULTS[name] else text


def _model(stored: _Values, structure: Any, counting: Any, arrays: _Arrays) -> ModelPart:
    """A structured model; ``arrays`` may hold those of others."""
    index = ModelPart(arrays=_under(arrays, "index."))
    values = {**_some(stored, *_MODEL), "structure": structure, "counting": counting}
    return ModelPart(values, _some(arrays, *_WEIGHTS), {"index": index})


def _columns(values: _Values, arrays: _Arrays) -> dict[str, ModelPart]:
    """Return the parts that fill columns: rules, clusters, categories; and a tagger."""
    parts, rules, pos = {}, values.get("rules"), values.get("pos")
    found = _some(arrays, *_RESOURCES)
    if rules is not None or found:
        parts["resources"] = ModelPart({"rules": rules}, found)
    if pos is not None:
        parts["pos"] = _tagger(pos, _under(arrays, "pos."))
    return parts


def _some(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


def _under(arrays: _Arrays, prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


_KINDS: dict[str, Callable[[_Values, _Arrays], ModelPart]] = {
    "recognizer": _recognizer,
    "cascade": _cascade,
    "linker": _linker,
    "segmenter": _segmenter,
    "tagger": _tagger,
}


# Formats 2 and 3, as stages. Their parts had other names and no order; format 3 was that of compact models.

_STAGES: Final = {
    "pos": "tagger", "resources": "columns", "pass": "first_pass", "model": "structure", "chain": "structure",
    "part": "structure", "second": "second_stage",
}  # fmt: skip
"""Name of a part without its number -> that of the stage."""


def from_tree(kind: str, part: ModelPart) -> ModelPart:
    """The stages of a model of format 2 or 3."""
    stages = {}
    for name, own in part.parts.items():
        bare = name.rstrip(digits)
        stages[_STAGES.get(bare, bare) + name[len(bare) :]] = from_tree("tagger", own) if name == "pos" else own
    if kind == "linker":  # which had the search beside its stages
        within = {name: stages.pop(name) for name in part.parts if name in stages and name not in STAGES}
        stages["link"] = ModelPart(checked(dict[str, Any], part.values.get("search"), "search"), part.arrays, within)
        part = replace(part, arrays={})
    whole = replace(part, parts={name: stages[name] for name in sorted(stages, key=place)})
    return ModelPart.of(whole.json(), whole.flat())  # with the names of stages in messages
