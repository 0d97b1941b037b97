"""Kinds of models: which class reads the model file of each, imported when it is needed."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, Final

from spanloom import modelfile
from spanloom.errors import ModelError
from spanloom.extras import entry_points

KINDS: Final = MappingProxyType(
    {
        "recognizer": "spanloom.recognize:Recognizer",
        "linker": "spanloom.link:Linker",
        "segmenter": "spanloom.segment:Segmenter",
        "tagger": "spanloom.tag.pos_tagger:PosTagger",
        "vocabulary": "spanloom.vocabulary:Vocabulary",
    }
)
"""Kind, as ``model.json`` and the attribute ``kind`` name it -> its class."""

_OTHERS: Final = "spanloom.kinds"  # of entry points; the name of each is a kind, its value the class
_OF_THE_LAB: Final = ("cascade", "language-model")


def _place(kind: str) -> str:
    """Return ``module:class`` of a kind: of `KINDS`, or of another distribution, by its entry point."""
    if kind in KINDS:
        return KINDS[kind]
    for entry in entry_points(_OTHERS):
        if entry.name == kind:
            return entry.value
    if kind in _OF_THE_LAB:
        raise ModelError(f"a model of kind {kind!r} needs spanloom-lab: pip install ./lab in Spanloom's folder")
    raise ModelError(f"a model of kind {kind!r}, expected one of {', '.join(KINDS)}")


def class_of(kind: str) -> Any:
    """Return the class of a kind of model.

    Raises:
        ModelError: there is no such kind, or its distribution is not installed.
    """
    return resolve_name(_place(kind))


def kind_at(path: str | Path) -> str:
    """Return the kind of the model in a folder.

    Raises:
        ModelError: no model, or one of a kind that cannot be loaded.
    """
    kind = modelfile.read_kind(path)
    try:
        _place(kind)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    return kind


def load(path: str | Path) -> Any:
    """Load a model of any kind; see `spanloom.models.load`, which has options and knows installed models."""
    return modelfile.load(class_of(kind_at(path)), path)
