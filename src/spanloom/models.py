"""Saved models of whatever kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spanloom.errors import ModelError
from spanloom.modelfile import read_description
from spanloom.recognize import KINDS as RECOGNIZERS
from spanloom.recognize import Cascade, Recognizer
from spanloom.segment import Segmenter, load_segmenter

Model = Recognizer | Cascade | Segmenter

KINDS: dict[str, Callable[[str | Path], Model]] = {**RECOGNIZERS, "segmenter": load_segmenter}


def load(path: str | Path) -> Model:
    """A model that was saved, of whatever kind.

    Raises:
        ModelError: the folder holds no model, or a damaged one, or one of another format or kind.
    """
    kind = read_description(path)["kind"]
    if kind not in KINDS:
        raise ModelError(f"{path}: a model of kind {kind!r}, expected a {' or a '.join(KINDS)}")
    return KINDS[kind](path)
