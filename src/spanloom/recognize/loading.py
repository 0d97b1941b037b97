"""Loads recognizers and cascades."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from spanloom import modelfile
from spanloom.errors import ModelError
from spanloom.recognize.cascade import Cascade
from spanloom.recognize.recognizer import Recognizer

KINDS: dict[str, Callable[[str | Path], Recognizer | Cascade]] = {
    "recognizer": partial(modelfile.load, Recognizer),
    "cascade": partial(modelfile.load, Cascade),
}


def load(path: str | Path) -> Recognizer | Cascade:
    """A model that was saved, of whatever kind.

    Raises:
        ModelError: the folder holds no model, or a damaged one, or one of another format or kind.
    """
    kind = modelfile.read_kind(path)
    if kind not in KINDS:
        raise ModelError(f"{path}: a model of kind {kind!r}, expected a {' or a '.join(KINDS)}")
    return KINDS[kind](path)
