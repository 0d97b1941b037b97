"""The parameter `pos`: a tagger that gives documents the column that they lack, before features are looked at."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from pathlib import Path

from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.features import FeatureSet
from spanloom.recognize.pos_tagger import PosTagger, load_tagger

Source = str | Path | PosTagger | None
"""A trained tagger, or the folder of one."""


def open_tagger(pos: Source) -> PosTagger | None:
    """The trained tagger that the parameter means.

    Raises:
        ModelError: the folder holds no tagger, or a damaged one.
        UsageError: it is no tagger, or one that is not trained.
    """
    if isinstance(pos, str | Path):
        return load_tagger(pos)
    if pos is not None:
        check_source(pos)
        _ = pos.fitted
    return pos


def check_source(pos: object) -> None:
    """Whether the parameter can be meant.

    Raises:
        UsageError: it cannot.
    """
    if pos is not None and not isinstance(pos, str | Path | PosTagger):
        raise UsageError(f"pos is {pos!r}, expected a tagger, or the folder of one")


def check_use(tagger: PosTagger | None, features: FeatureSet) -> None:
    """Whether a template names the tagger's column.

    Raises:
        UsageError: none does.
    """
    if tagger is not None and tagger.column not in features.needs:
        raise UsageError(
            f"pos is given, but no template names the column {tagger.column!r}, which the tagger fills; take features "
            "that do, such as the preset biomedical for the column 'pos'"
        )


def fill(documents: Iterable[Document], tagger: PosTagger | None, n_jobs: int | None = 1) -> list[Document]:
    """Prepared documents; those that lack the tagger's column as copies that have it.

    Args:
        documents: prepared.
        tagger: trained; without one the documents stay as they are.
        n_jobs: threads; the result does not depend on it.
    """
    given = list(documents)
    if tagger is None or all(tagger.column in document.columns for document in given):
        return given
    return list(copy(tagger).set_params(n_jobs=n_jobs).tag(given, keep=True))
