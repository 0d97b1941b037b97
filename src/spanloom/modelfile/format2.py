"""Formats 2 and 3, as stages. Their parts had other names and no order; format 3 was that of compact models.

What is written here is what those formats were, and does not change with the code of the models.
"""

from __future__ import annotations

from dataclasses import replace
from string import digits
from typing import Any, Final

from spanloom.modelfile.part import STAGES, ModelPart, place
from spanloom.modelfile.values import checked

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
