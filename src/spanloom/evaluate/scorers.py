"""Scorers of mentions for scikit-learn: ``scoring="f1_macro"`` and its like, and the same as functions.

scikit-learn's own scorers of these names compare one label a sample. Gold mentions are lists, which they refuse, and
`cross_validate` then reports nan. So its scorers are extended: with an estimator that finds mentions they compare
mentions, and with all others they do what they did.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Final

from spanloom.evaluate.compare import of_type, score
from spanloom.formats.inputs import Given, documents_given, training_of

_MEASURES: Final = ("f1", "precision", "recall")
NAMES: Final = (*_MEASURES, *(f"{name}_{mean}" for name in _MEASURES for mean in ("micro", "macro", "weighted")))
"""Names of scorers, as scikit-learn has them; those without a mean are of all mentions together, as ``micro`` is."""


def f1_micro(estimator: Any, X: Given, y: Iterable[Any] | None = None) -> float:
    """Compute the F1 of all mentions together, from 0 to 1: what `score` of an estimator gives.

    Args:
        estimator: finds mentions, or a pipeline that ends in one that does.
        X: documents with gold mentions, or texts.
        y: for texts: the mentions of each, as `fit` takes them.
    """
    return mention_score("f1_micro", estimator, X, y)


def f1_macro(estimator: Any, X: Given, y: Iterable[Any] | None = None) -> float:
    """Compute the mean of the F1 of each type, from 0 to 1; the types are those of gold and of predictions.

    Args:
        estimator: as of `f1_micro`.
        X: likewise.
        y: likewise.
    """
    return mention_score("f1_macro", estimator, X, y)


def mention_score(name: str, estimator: Any, X: Given, y: Iterable[Any] | None = None) -> float:
    """Compute the score of one of `NAMES`; 0 where there is no mention at all."""
    measure, _, mean = name.partition("_")
    gold = list(training_of(X, y))
    predicted = documents_given(list(estimator.predict(X)), "the prediction")
    if mean in ("", "micro"):
        return float(getattr(score(gold, predicted), measure))
    types = sorted({mention.type for document in (*gold, *predicted) for mention in document.mentions})
    by_type = [score(of_type(gold, kind), of_type(predicted, kind)) for kind in types]
    weights = [one.gold if mean == "weighted" else 1 for one in by_type]
    total = sum(weight * getattr(one, measure) for weight, one in zip(weights, by_type, strict=True))
    return float(total / sum(weights)) if sum(weights) else 0.0


def extend_scikit_learn() -> None:
    """Let scikit-learn's scorers of `NAMES` compare mentions where an estimator finds mentions, if it is loaded."""
    module: Any = sys.modules.get("sklearn.metrics._scorer")
    known: dict[str, Any] | None = getattr(module, "_SCORERS", None)
    if known is None or not hasattr(module, "_Scorer") or hasattr(known.get(NAMES[0]), "of_mentions"):
        return

    class MentionScorer(module._Scorer):  # type: ignore[misc]
        of_mentions = True

        def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **more: Any) -> float:
            last = estimator
            while hasattr(last, "best_estimator_") or hasattr(last, "steps"):
                last = last.best_estimator_ if hasattr(last, "best_estimator_") else last.steps[-1][1]
            if "mentions" not in getattr(last, "annotates", ()):
                return float(super()._score(method_caller, estimator, X, y_true, **more))
            return mention_score(self.name, estimator, X, y_true)

    for name in NAMES:
        if (old := known.get(name)) is not None:
            new = MentionScorer(old._score_func, old._sign, old._kwargs, old._response_method)
            new.name = name
            known[name] = new
