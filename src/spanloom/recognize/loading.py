"""Loads recognizers and cascades."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spanloom.errors import ModelError
from spanloom.modelfile import read_description
from spanloom.recognize.cascade import Cascade, load_cascade
from spanloom.recognize.recognizer import Recognizer
from spanloom.recognize.recognizer import load as load_recognizer

KINDS: dict[str, Callable[[str | Path], Recognizer | Cascade]] = {
    "recognizer": load_recognizer,
    "cascade": load_cascade,
}


def load(path: str | Path) -> Recognizer | Cascade:
    """A model that was saved, of whatever kind.

    Raises:
        ModelError: the folder holds no model, or a damaged one, or one of another format or kind.
    """
    kind = read_description(path)["kind"]
    if kind not in KINDS:
        raise ModelError(f"{path}: a model of kind {kind!r}, expected a {' or a '.join(KINDS)}")
    return KINDS[kind](path)
