"""One pass over a document or two, by development F1."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from spanloom.document import Batch
from spanloom.errors import UsageError
from spanloom.features import FeatureSet
from spanloom.model.choices import Passes
from spanloom.model.report import PassReport
from spanloom.parallel import SERIAL, Executor
from spanloom.passes.first import (
    COLUMNS,
    TEMPLATES,
    DocumentPass,
    PassSettings,
    fit_pass,
    is_worth_two_passes,
)
from spanloom.structures import MentionTable

L = TypeVar("L")


class PassData(NamedTuple):
    """Data that a first pass is trained on, and those that it fills.

    Args:
        known: training data, with the columns that features read.
        unseen: development data, likewise.
        gold: mentions of the training data; called only where a first pass is trained.
        types: K names.
        features: of one pass.
    """

    known: Batch
    unseen: Batch
    gold: Callable[[], MentionTable]
    types: tuple[str, ...]
    features: FeatureSet


def choose_passes(
    requested: Passes, data: PassData, settings: PassSettings, learn: Callable[[Batch, Batch, FeatureSet], L],
    f1: Callable[[L], float], run: Executor = SERIAL,
) -> tuple[L, DocumentPass | None, PassReport | None]:  # fmt: skip
    """Train with one pass, with two, or with both, of which the better is kept.

    Args:
        requested: ``one``, ``two`` or ``auto``.
        data: to learn from and to choose by.
        settings: of the first pass.
        learn: trains the second pass on training data, development data and features.
        f1: of what was learned, on the development data.
        run: how pieces of the work are run; the result does not depend on it.

    Returns:
        What was learned; the first pass, if there are two; and the report, if two were asked for.
    """
    known, unseen, gold, types, features = data
    if requested == "one":
        return learn(known, unseen, features), None, None
    check_columns(features)
    several = is_worth_two_passes(known)
    if not several:
        return learn(known, unseen, features), None, PassReport(several)
    before = learn(known, unseen, features) if requested == "auto" else None
    first, held_out = fit_pass(known, gold(), types, features, settings, run)
    after = learn(held_out, first.fill(unseen, run), features.extended(TEMPLATES))
    if before is None:
        return after, first, PassReport(several, None, f1(after), kept=True)
    report = PassReport(several, f1(before), f1(after), kept=f1(after) > f1(before))
    return (after, first, report) if report.kept else (before, None, report)


def check_columns(features: FeatureSet) -> None:
    """Check that templates name no column of a first pass, which documents might bring, too.

    Raises:
        UsageError: one does.
    """
    taken = sorted(set(COLUMNS) & set(features.needs))
    if taken:
        raise UsageError(
            f"a template names the column {taken[0]!r}, which the first of two passes fills; give the column another "
            "name, or take passes 'one'"
        )
