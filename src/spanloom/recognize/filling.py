"""The parameter `pos`: a tagger that gives documents the column that they lack, before features are looked at."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from pathlib import Path

from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.features import FeatureSet
from spanloom.recognize.pos_tagger import PosTagger, load_tagger
from spanloom.recognize.spacy_tagger import PREFIX, SpacyTagger

Filler = PosTagger | SpacyTagger
Source = str | Path | Filler | None
"""A trained tagger, the folder of one, or ``spacy:`` and a pipeline of spaCy."""


def open_tagger(pos: Source) -> Filler | None:
    """The tagger that the parameter means.

    Raises:
        ModelError: the folder holds no tagger, or a damaged one.
        UsageError: it is no tagger, one that is not trained, or a pipeline of spaCy that cannot be used.
    """
    check_source(pos)
    if isinstance(pos, str) and pos.startswith(PREFIX):
        pos = SpacyTagger(pos.removeprefix(PREFIX))
    if isinstance(pos, str | Path):
        return load_tagger(pos)
    if pos is not None:
        _ = pos.fitted if isinstance(pos, PosTagger) else pos.pipeline
    return pos


def check_source(pos: object) -> None:
    """Whether the parameter can be meant.

    Raises:
        UsageError: it cannot.
    """
    if pos is not None and not isinstance(pos, str | Path | Filler):
        raise UsageError(f"pos is {pos!r}, expected a tagger, or the folder of one")


def check_use(tagger: Filler | None, features: FeatureSet) -> None:
    """Whether a template names the tagger's column.

    Raises:
        UsageError: none does.
    """
    if tagger is not None and tagger.column not in features.needs:
        raise UsageError(
            f"pos is given, but no template names the column {tagger.column!r}, which the tagger fills; take features "
            "that do, such as the preset biomedical for the column 'pos'"
        )


def fill(documents: Iterable[Document], tagger: Filler | None, n_jobs: int | None = 1) -> list[Document]:
    """Prepared documents; those that lack the tagger's column as copies that have it.

    Args:
        documents: prepared.
        tagger: trained; without one the documents stay as they are.
        n_jobs: threads; the result does not depend on it.
    """
    given = list(documents)
    if tagger is None or all(tagger.column in document.columns for document in given):
        return given
    if isinstance(tagger, PosTagger):
        tagger = copy(tagger).set_params(n_jobs=n_jobs)
    return list(tagger.stream(given, keep=True))
