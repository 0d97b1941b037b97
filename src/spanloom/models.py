"""Models of every kind, loaded by one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spanloom.document import Document, Mention
from spanloom.errors import ModelError, UsageError
from spanloom.link import Linker
from spanloom.link import load as load_linker
from spanloom.link.language_model import LanguageModel
from spanloom.modelfile import read_description
from spanloom.recognize import KINDS as RECOGNIZERS
from spanloom.recognize import Cascade, Recognizer
from spanloom.recognize.explanation import Explanation
from spanloom.recognize.pos_tagger import PosTagger, load_tagger
from spanloom.segment import Segmenter, load_segmenter
from spanloom.vocabulary import Vocabulary

__all__ = ["KINDS", "Model", "explain", "load"]

Model = Recognizer | Cascade | Linker | Segmenter | PosTagger | LanguageModel | Vocabulary
"""Whatever is saved as a folder."""

KINDS: Final = MappingProxyType[str, Callable[[str | Path], Model]](
    {
        **RECOGNIZERS,
        "linker": load_linker,
        "segmenter": load_segmenter,
        "tagger": load_tagger,
        "language-model": LanguageModel.load,
        "vocabulary": Vocabulary.open,
    }
)
"""Kind, as ``model.json`` names it -> what loads it."""


def load(path: str | Path) -> Model:
    """What was saved as a folder, of whatever kind: a model, or the index of a vocabulary. Loading runs no code.

    Raises:
        ModelError: the folder holds no model, or a damaged one, or one of another format or kind.
    """
    kind = read_description(path)["kind"]
    if kind not in KINDS:
        raise ModelError(f"{path}: a model of kind {kind!r}, expected one of {', '.join(KINDS)}")
    return KINDS[kind](path)


def explain(model: Model, document: Document, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
    """Why a model finds mentions in a document, or does not; see `Recognizer.explain` and `Linker.explain`.

    Args:
        model: a recognizer, a cascade, a linker or a segmenter.
        document: tokens and sentences are made where they are missing; its own mentions are not looked at.
        mentions: those to explain; what the model predicts when ``None``.

    Raises:
        UsageError: a model of another kind, or a mention that it cannot hold.
    """
    if not isinstance(model, Recognizer | Cascade | Linker | Segmenter):
        expected = "a recognizer, a cascade, a linker or a segmenter"
        raise UsageError(f"a {type(model).__name__} explains no mentions; give {expected}")
    return model.explain(document, mentions)
