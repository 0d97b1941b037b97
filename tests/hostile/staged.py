"""Descriptions of models as trees, whose stages are found by name, and back; and what a damaged model is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spanloom.errors import ModelError
from spanloom.models import load


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


def refused(path: Path, *words: str) -> str:
    """The message of one line with which a model is not loaded."""
    with pytest.raises(ModelError) as caught:
        load(path)
    message = str(caught.value)
    assert str(path) in message and "\n" not in message and len(message) < 1000
    assert [word for word in words if word not in message] == []
    return message
