"""Descriptions of models as trees, whose stages are found by name, and back."""

from __future__ import annotations

from typing import Any


def as_tree(description: dict[str, Any]) -> dict[str, Any]:
    """A description whose ``parts`` are its stages by name."""
    rest = {name: value for name, value in description.items() if name != "stages"}
    named = ({**stage} for stage in description["stages"])
    return {**rest, "parts": {stage.pop("stage"): stage for stage in named}}


def as_stages(tree: dict[str, Any]) -> dict[str, Any]:
    """The description that `as_tree` was given; what is no tree stays as it is."""
    parts = tree.get("parts")
    if not isinstance(parts, dict):
        return {**tree, "stages": parts} if "parts" in tree else tree
    rest = {name: value for name, value in tree.items() if name != "parts"}
    stages = [{"stage": name, **own} if isinstance(own, dict) else own for name, own in parts.items()]
    return {**rest, "stages": stages}
