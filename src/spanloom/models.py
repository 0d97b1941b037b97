"""Models of every kind, loaded by one function, which imports what that kind needs and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from spanloom import modelfile
from spanloom.document import Mention
from spanloom.document.inputs import One
from spanloom.errors import ModelError, UsageError
from spanloom.model.protocol import Model, Saved, explains

if TYPE_CHECKING:
    from spanloom.model.explanation import Explanation
    from spanloom.structures import Structure

__all__ = ["KINDS", "Model", "Saved", "explain", "load"]

KINDS: Final = MappingProxyType(
    {
        "recognizer": "spanloom.recognize:Recognizer",
        "cascade": "spanloom.recognize:Cascade",
        "linker": "spanloom.link:Linker",
        "segmenter": "spanloom.segment:Segmenter",
        "tagger": "spanloom.tag.pos_tagger:PosTagger",
        "language-model": "spanloom.lm.language_model:LanguageModel",
        "vocabulary": "spanloom.vocabulary:Vocabulary",
    }
)
"""Kind, as ``model.json`` and the attribute ``kind`` name it -> its class, imported when it is needed."""


def load(path: str | Path, *, structure: Structure | str | None = None, encoder: str | Path | None = None) -> Saved:
    """Load what was saved as a folder: a model of any kind, or the index of a vocabulary. Loading runs no code.

    Args:
        path: the folder.
        structure: of a recognizer whose structure is none of Spanloom's: the file keeps its name and parameters only.
            As for `Recognizer`, a text or a value.
        encoder: the folder of the encoder that a model with adapters was trained with, where it is neither in the
            model's folder, nor where it was, nor in a folder that the environment variable SPANLOOM_ENCODERS names.

    Raises:
        ModelError: the folder holds no model, or a damaged one, or one of another format, kind or structure.
        UsageError: a structure for a model that is no recognizer, or one that is none.
    """
    kind = modelfile.read_kind(path)
    if kind not in KINDS:
        raise ModelError(f"{path}: a model of kind {kind!r}, expected one of {', '.join(KINDS)}")
    if structure is not None and kind != "recognizer":
        raise UsageError(f"{path}: a model of kind {kind!r}, which takes no structure; leave it out")
    given = {} if structure is None else {"structure": resolve_name("spanloom.structures:structure_of")(structure)}
    model: Saved = modelfile.load(resolve_name(KINDS[kind]), path, encoder=encoder, **given)
    return model


def explain(model: Saved, X: One, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
    """Explain why a model finds mentions in a text, or does not; see `Recognizer.explain` and `Linker.explain`.

    Args:
        model: one that is capable of it, such as a recognizer, a cascade, a linker or a segmenter.
        X: a text or a document, whose own mentions are not looked at.
        mentions: those to explain; what the model predicts when ``None``.

    Raises:
        UsageError: a model that explains nothing, or a mention that it cannot hold.
    """
    if not explains(model):
        expected = "a recognizer, a cascade, a linker or a segmenter"
        raise UsageError(f"a {type(model).__name__} explains no mentions; give {expected}")
    return model.explain(X, mentions)
