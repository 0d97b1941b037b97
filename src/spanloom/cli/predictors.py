"""Models that mark up documents, loaded for `predict` and `evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from spanloom.cli.options import ALL_CORES
from spanloom.errors import UsageError
from spanloom.models import load

if TYPE_CHECKING:
    from spanloom.link import Linker
    from spanloom.recognize import Cascade, Recognizer
    from spanloom.segment import Segmenter
    from spanloom.tag.pos_tagger import PosTagger

Predictor: TypeAlias = "Recognizer | Cascade | Linker | Segmenter | PosTagger"


def load_predictor(path: str, jobs: int | None) -> Predictor:
    """A model, which will use so many threads; all cores if it is not said.

    Raises:
        ModelError: no model, or a damaged one.
        UsageError: a model that marks up nothing.
    """
    model = load(path)
    if model.kind == "language-model" or model.kind == "vocabulary":
        raise UsageError(f"{path} is a {model.kind.replace('-', ' ')}, which marks up nothing; name a model that does")
    return model.set_params(n_jobs=jobs or ALL_CORES)
