"""Training of the stage of attributes, on the attributes of training mentions."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from spanloom.attributes.features import mention_features
from spanloom.attributes.marking import Rules, blocks
from spanloom.attributes.model import AttributeModel, Classifier
from spanloom.document import Document
from spanloom.errors import DataWarning, clip, plural
from spanloom.evaluate.measures import calibration_error
from spanloom.features import build_index
from spanloom.hypergraph import Floats, Ints
from spanloom.learn.folds import Fitting, deal, spread
from spanloom.learn.platt import fit_platt
from spanloom.model.attributes import AttributeQuality
from spanloom.parallel import SERIAL, Executor
from spanloom.rescoring.logistic import Fitted, Rows, fit_regression

FEWEST: Final = 5
"""Mentions with an attribute, below which it is not learned."""
MOST_VALUES: Final = 50
"""Values of an attribute that are learned: the most frequent ones."""
MOST_ATTRIBUTES: Final = 50
MIN_COUNT: Final = 2
FOLDS: Final = 5
LAMBDAS: Final = (4.0, 1.0)
_FEW_DOCUMENTS: Final = 10  # below which mentions are dealt to folds, not documents
_Value = bool | str | None


class _Target(NamedTuple):
    """An attribute of training mentions.

    Args:
        name: its name.
        types: of mentions that have it.
        values: the classes.
        rows: (R,) numbers of the mentions of these types.
        classes: (R,) the number of each one's value.
    """

    name: str
    types: tuple[str, ...]
    values: tuple[_Value, ...]
    rows: Ints
    classes: Ints


def fit_stage(fitting: Fitting) -> tuple[AttributeModel, dict[str, AttributeQuality]] | None:
    """Train the stage of attributes if training mentions have any; see `fit_attributes`."""
    some = spread(fitting.documents, fitting.tokens) if fitting.attributes == "auto" else ()
    if not any(mention.attributes for document in some for mention in document.mentions):
        return None
    learned = fit_attributes(some, fitting.seed, run=fitting.run)
    return None if learned is None else (learned, learned.qualities)


def fit_attributes(
    documents: Sequence[Document], seed: int = 0, language: str | None = None, run: Executor = SERIAL
) -> AttributeModel | None:
    """Train a stage that predicts the attributes that training mentions have.

    An attribute with the values true and false, or true alone, is predicted true or false; one with texts has the value
    of one of them, or none. Lambda and the calibration are chosen by cross-validation.

    Args:
        documents: with mentions.
        seed: deals documents to folds.
        language: of the cues that are features; each document's own when ``None``.
        run: how pieces of the work are run; the result does not depend on it.

    Returns:
        ``None`` if no attribute has at least `FEWEST` mentions.

    Warns:
        DataWarning: more than `MOST_VALUES` values or `MOST_ATTRIBUTES` attributes; the most frequent are learned.

    >>> from spanloom import Mention
    >>> texts = [("No fever.", 3, True), ("Has fever.", 4, False)] * 20
    >>> documents = [
    ...     Document(text, mentions=[Mention("problem", [(at, at + 5)], attributes={"negated": negated})])
    ...     for text, at, negated in texts
    ... ]
    >>> stage = fit_attributes(documents)
    >>> [marked] = stage.run([Document("No cough.", mentions=[Mention("problem", [(3, 8)])])])
    >>> dict(marked.mentions[0].attributes)
    {'negated': True}
    """
    targets = _targets(documents)
    if not targets:
        return None
    rules = Rules(language)
    keys, numbers = zip(*(mention_features(block, rules) for block in blocks(documents)), strict=True)
    built = build_index(keys, min_count=MIN_COUNT)
    every = np.concatenate(numbers)
    rows = Rows(built.matrix, every, np.zeros(len(every), np.bool_), built.index.group_sizes)
    classifiers = tuple(_fitted(target, rows, _folds(documents, seed), run) for target in targets)
    return AttributeModel(built.index, classifiers, language)


def _targets(documents: Sequence[Document]) -> list[_Target]:
    mentions = [mention for document in documents for mention in document.mentions]
    given = [  # true is the text "true" here
        {name: "true" if value is True else value for name, value in mention.attributes.items() if value is not False}
        for mention in mentions
    ]
    counts: dict[str, Counter[str]] = {}
    types: dict[str, set[str]] = {}
    for mention, own in zip(mentions, given, strict=True):
        for name, value in own.items():
            counts.setdefault(name, Counter())[value] += 1
            types.setdefault(name, set()).add(mention.type)
    frequent = sorted(
        (name for name in counts if counts[name].total() >= FEWEST), key=lambda n: (-counts[n].total(), n)
    )
    if len(frequent) > MOST_ATTRIBUTES:
        _warn(
            f"the training mentions have {len(frequent):,} attributes; the {MOST_ATTRIBUTES} most frequent are learned"
        )
    targets = []
    for name in frequent[:MOST_ATTRIBUTES]:
        known = [value for value, _ in sorted(counts[name].items(), key=lambda item: (-item[1], item[0]))]
        if len(known) > MOST_VALUES:
            left = plural(sum(counts[name][value] for value in known[MOST_VALUES:]), "mention")
            _warn(
                f"the attribute {clip(name)} has {len(known):,} values; the {MOST_VALUES} most frequent are learned, "
                f"which leaves out {left}; leave such attributes out, or join their values"
            )
            known = known[:MOST_VALUES]
        only_true = known == ["true"]
        number = {value: i for i, value in enumerate(known)}
        rows, classes = [], []
        for at, (mention, own) in enumerate(zip(mentions, given, strict=True)):
            if mention.type in types[name] and (name not in own or own[name] in number):  # a rare value is left out
                rows.append(at)
                classes.append(number[own[name]] if name in own else len(known))
        if max(classes) < len(known) and len(known) == 1:  # always true: nothing to learn
            continue
        values: tuple[_Value, ...] = (True, False) if only_true else tuple(known)
        if not only_true and max(classes) == len(known):
            values = (*values, None)
        order = sorted(types[name])
        targets.append(_Target(name, tuple(order), values, np.array(rows, np.int64), np.array(classes, np.int64)))
    return targets


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=4)


def _folds(documents: Sequence[Document], seed: int) -> Ints:
    """Return the fold of each mention: that of its document, unless documents are few."""
    counts = [len(document.mentions) for document in documents]
    if sum(count > 0 for count in counts) < _FEW_DOCUMENTS:
        return deal(sum(counts), FOLDS, seed)
    return np.repeat(deal(len(documents), FOLDS, seed), counts)


def _fitted(target: _Target, mentions: Rows, fold: Ints, run: Executor) -> Classifier:
    """Return the model of one attribute, with the lambda that explains folds best that were not seen."""
    rows, fold = mentions.take(np.isin(np.arange(len(fold)), target.rows)), fold[target.rows]
    weights, scalings, every = [], [], []
    for number in range(1 if len(target.values) == 2 else len(target.values)):
        own = rows._replace(right=target.classes == number)
        tried: list[tuple[float, float, Floats]] = []
        parts = dict[int, Fitted]()  # each begins where that of the lambda before it has ended
        for l2 in LAMBDAS:
            odds = own.odds_by_others(fold, l2, run, parts)
            tried.append((float(np.logaddexp(0.0, np.where(own.right, -odds, odds)).sum()), l2, odds))
        _, l2, odds = min(tried, key=lambda one: one[0])
        weights.append(fit_regression(*own, l2).weights.single(own.sizes))
        scalings.append(fit_platt(-np.logaddexp(0.0, -odds), own.right))
        every.append(odds)
    blank = AttributeQuality(len(target.rows), 0, 0.0, 0.0, 0.0)
    made = Classifier(target.name, target.types, target.values, tuple(scalings), blank, tuple(weights))
    return replace(made, quality=_quality(made, made.of_odds(np.stack(every, 1)), target.classes))


def _quality(made: Classifier, chances: Floats, classes: Ints) -> AttributeQuality:
    best = chances.argmax(1)
    present = np.array([value is not None and value is not False for value in made.values])
    right = best == classes
    predicted, marked = present[best], present[classes]
    hits = float((right & predicted).sum())
    error = calibration_error(chances.max(1), right)
    return AttributeQuality(
        len(classes), int(marked.sum()), hits / max(1, int(predicted.sum())), hits / max(1, int(marked.sum())), error
    )
