"""Compact models: a smaller model of features that predicts almost the same."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from statistics import fmean
from time import monotonic
from typing import Any, Final, TypeVar

from spanloom.document import Document
from spanloom.document.annotation import judged
from spanloom.errors import DataError, UsageError, check_number
from spanloom.evaluate.compare import exact, score
from spanloom.evaluate.words import words
from spanloom.formats.inputs import Dev, development_of, training_of
from spanloom.learn import Listener, Progress
from spanloom.model.parameters import Parameters
from spanloom.model.protocol import finds_mentions
from spanloom.model.report import CompactReport
from spanloom.scoring import LinearScorer
from spanloom.tag.pos_tagger import PosTagger

M = TypeVar("M", bound=Parameters[Any])

THRESHOLD: Final = 0.02
"""Weights that are nearer to 0 are left out where there are no development data to choose by."""
LOSS: Final = 0.3
"""The points of F1 that may be lost on development data."""
_PATIENCE: Final = 2
"""Thresholds in a row that lose too much."""
_OF_TAGGERS: Final = 2.0
"""The threshold of the tagger of parts of speech, as a multiple: its tags hang on many weights."""
_MOST: Final = {"loss": 100.0, "threshold": 1e6}
_TRIED: Final = (0.0, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5)


def compact(
    model: M, *, dev: Dev | None = None, loss: float | None = None, threshold: float | None = None,
    progress: Listener | None = None,
) -> M:  # fmt: skip
    """Return a smaller model that predicts almost the same: small weights are left out, the others have eight bits.

    It does whatever the model does, and is saved and loaded as any other. Readable names of its strongest features are
    left out. ``report_.compact`` reports the threshold, the sizes and F1.

    Args:
        model: trained, whose scores are of features: a recognizer, segmenter, linker, cascade or tagger.
        dev: documents with gold mentions, or a pair of X and y, on which F1 is measured; of a segmenter the mean of
            those of words and of mentions, and of a tagger the accuracy.
        loss: points of F1, from 0 to 100, that may be lost on ``dev``; the largest threshold that loses no more is
            taken. 0.3 when ``None``.
        threshold: weights that are nearer to 0 are left out; chosen on ``dev`` when ``None``, and 0.02 without ``dev``.
        progress: called for each threshold.

    Raises:
        UsageError: another kind of model, one with an encoder, one that is compact, or options that do not go together.
        DataError: no development data, none with mentions, or eight bits alone lose more than ``loss``.

    >>> from spanloom import Mention, Recognizer
    >>> notes = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 50
    >>> small = compact(Recognizer(features=["w[0]", "w[-1]"]).fit(notes), dev=notes)
    >>> small.predict("no chest pain").mentions[0].spans, small.report_.compact.f1_after
    ((Span(start=3, end=13),), 1.0)
    """
    _check(model, loss, threshold)
    if dev is None:
        if loss is not None:
            raise UsageError("a loss is of F1 on dev, but there is no dev; give documents with gold mentions")
        taken = THRESHOLD if threshold is None else threshold
        return _reported(model, _compacted(model, taken), taken)
    gold = [_untagged(model, document) for document in training_of(*development_of(dev))]
    if not gold:
        raise DataError("dev holds no documents; give annotated ones, or a threshold")
    before = _f1(model, gold)
    if threshold is not None:
        if loss is not None:
            raise UsageError("a threshold and a loss to choose one by; give one of them")
        made = _compacted(model, threshold)
        return _reported(model, made, threshold, (before, _f1(made, gold)))
    if finds_mentions(model) and not any(document.mentions for document in gold):
        raise DataError("dev holds no mentions, so its F1 is meaningless; give annotated documents, or no dev")
    made, taken, after = _chosen(model, gold, before, LOSS if loss is None else loss, progress)
    return _reported(model, made, taken, (before, after))


def _check(model: Any, loss: float | None, threshold: float | None) -> None:
    """Check what was given, before any work."""
    if "compact" not in getattr(model, "capable", ()):
        kind = getattr(model, "kind", type(model).__name__).replace("-", " ")
        raise UsageError(f"found a {kind}, which cannot be made compact; give a trained model of features")
    if any(not isinstance(one.scorer, LinearScorer) for one in model.structured):
        raise UsageError("this model has an encoder; only models whose scores are of features can be made compact")
    if model.report_.compact is not None:
        raise UsageError("this model is compact already; take the model that it was made of")
    given: dict[str, Any] = {"loss": loss, "threshold": threshold}
    for name, value in given.items():
        if value is not None:
            check_number(name, value, 0, _MOST[name])


def _chosen(
    model: M, gold: Sequence[Document], before: float, loss: float, progress: Listener | None
) -> tuple[M, float, float]:
    """Return the model with the largest threshold that does not lose too much, that threshold, and F1.

    F1 goes up and down by some tenths with the threshold, so that one which loses too much is no reason to stop.
    """
    began, chosen, lost = monotonic(), None, 0
    for number, each in enumerate(_TRIED, 1):
        made = _compacted(model, each)
        after = _f1(made, gold)
        if progress is not None:
            stage = f"weights from {each:g} on"
            progress(Progress(stage, number, len(_TRIED), dev_f1=after, seconds=monotonic() - began))
        if 100 * (before - after) > loss:
            lost += 1
        else:
            chosen, lost = (made, each, after), 0
        if lost == _PATIENCE:
            break
    if chosen is None:
        raise DataError(
            f"eight bits for each weight alone lower F1 on dev from {100 * before:.2f} by more than {loss:g} points, "
            "the loss that is allowed; allow a larger one"
        )
    return chosen


def _compacted(model: M, threshold: float) -> M:
    """Return a copy with compact weights wherever it has weights of features."""
    made: Any = copy(model)
    if isinstance(made.fitted, tuple):  # several models, each a recognizer
        made.model_ = tuple(_compacted(chain, threshold) for chain in made.fitted)
    else:
        made.model_ = _scored(made.fitted, threshold)
        if "strongest_" in vars(made):
            made.strongest_ = {}
    if getattr(made, "second_", None) is not None:
        made.second_ = made.second_.compacted(threshold)
    if getattr(made, "pass_", None) is not None:
        made.pass_ = replace(made.pass_, model=_scored(made.pass_.model, threshold))
    own = _tagger(made)
    if own is not None:
        tagger = copy(own)
        tagger.model_ = _scored(own.fitted, _OF_TAGGERS * threshold)
        if made.pos is own:
            made.pos = tagger
        made.pos_ = tagger
    smaller: M = made
    return smaller


def _scored(model: Any, threshold: float) -> Any:
    if hasattr(model, "compacted"):
        return model.compacted(threshold)
    return model.scored_by(lambda scorer: scorer.compacted(threshold))


def _tagger(model: Any) -> PosTagger | None:
    """Return the model's own tagger of parts of speech."""
    own = getattr(model, "pos_", None)
    return own if isinstance(own, PosTagger) else None


def _untagged(model: Parameters[Any], document: Document) -> Document:
    """Return a document without the column that the model's own tagger fills, as new text is without it."""
    tagger = _tagger(model)
    if tagger is None:
        return document
    return document.copy(columns={name: values for name, values in document.columns.items() if name != tagger.column})


def _f1(model: Any, gold: Sequence[Document]) -> float:
    """Return F1 of mentions, or accuracy of tags; of a model that finds words, too, the mean of both."""
    if isinstance(model, PosTagger):
        return model.accuracy(gold)
    found = list(judged(gold, model.stream(gold)))
    keys = (exact, words) if "words" in model.annotates else (exact,)
    return fmean(score(gold, found, key=key).f1 for key in keys)


def _reported(model: M, made: M, threshold: float, f1: tuple[float, float] | tuple[None, None] = (None, None)) -> M:
    """Return a compact model with its report."""
    made.report_ = replace(model.report_, compact=CompactReport(threshold, _size(model), _size(made), *f1))
    return made


def _size(model: Parameters[Any]) -> int:
    return sum(array.nbytes for array in model.to_part().flat().values())
