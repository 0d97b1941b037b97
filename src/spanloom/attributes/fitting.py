"""Training of the stage of attributes, on the attributes of training mentions."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.attributes.features import blocks, mention_keys
from spanloom.attributes.marking import Rules
from spanloom.attributes.model import AttributeModel, AttributeQuality, Classifier
from spanloom.document import Document
from spanloom.errors import DataWarning, clip, plural
from spanloom.evaluate.measures import calibration_error
from spanloom.features import Keys, Sparse, build_index
from spanloom.hypergraph import Floats, Ints, Singles
from spanloom.learn.folds import deal
from spanloom.learn.platt import IDENTITY, fit_platt
from spanloom.parallel import SERIAL, Executor
from spanloom.rescoring.logistic import Regression, fit_regression, linear_scores

__all__ = ["FEWEST", "MOST_ATTRIBUTES", "MOST_VALUES", "fit_attributes"]

FEWEST: Final = 4
"""Mentions with an attribute, below which it is not learned."""
MOST_VALUES: Final = 50
"""Values of an attribute that are learned: the most frequent ones."""
MOST_ATTRIBUTES: Final = 50
MIN_COUNT: Final = 2
FOLDS: Final = 5
LAMBDAS: Final = (0.1, 0.3, 1.0, 3.0)
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
    parts = [mention_keys(block, rules) for block in blocks(documents)]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.offsets) for part in parts]))])
    built = build_index(Keys(np.concatenate([part.ids for part in parts]), offsets), min_count=MIN_COUNT)
    fold = _folds(documents, seed)
    classifiers = tuple(_fitted(target, built.matrix, built.index.group_sizes, fold, run) for target in targets)
    return AttributeModel(built.index, classifiers, language)


def _targets(documents: Sequence[Document]) -> list[_Target]:
    mentions = [mention for document in documents for mention in document.mentions]
    counts: dict[str, Counter[str]] = {}  # true is the text "true" here
    types: dict[str, set[str]] = {}
    for mention in mentions:
        for name, value in mention.attributes.items():
            if value is not False:
                counts.setdefault(name, Counter())["true" if value is True else value] += 1
                types.setdefault(name, set()).add(mention.type)
    frequent = sorted((name for name in counts if counts[name].total() >= FEWEST), key=lambda n: (-counts[n].total(), n))
    if len(frequent) > MOST_ATTRIBUTES:
        _warn(f"the training mentions have {len(frequent):,} attributes; the {MOST_ATTRIBUTES} most frequent are learned")
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
        for at, mention in enumerate(mentions):
            if mention.type in types[name]:
                value = mention.attributes.get(name, False)
                text = "true" if value is True else value
                if text is False or text in number:  # a rare value is neither
                    rows.append(at)
                    classes.append(len(known) if text is False else number[str(text)])
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


def _fitted(target: _Target, matrix: Sparse, sizes: Singles, fold: Ints, run: Executor) -> Classifier:
    """Return the model of one attribute: lambda of the best likelihood of folds that were not seen."""
    own, held = _rows(matrix, target.rows), fold[target.rows]
    wanted = range(1 if len(target.values) == 2 else len(target.values))
    answers = [target.classes == number for number in wanted]
    tried = []
    for l2 in LAMBDAS:
        odds = np.stack([_crossed(own, right, held, sizes, l2, run) for right in answers], 1)
        loss = sum(float(np.logaddexp(0.0, np.where(y, -odds[:, i], odds[:, i])).sum()) for i, y in enumerate(answers))
        tried.append((loss, l2, odds))
    _, l2, odds = min(tried, key=lambda one: one[0])
    ones = np.ones((len(target.rows), 1))
    weights = []
    for right in answers:
        found = fit_regression(own, ones, right, sizes, l2, None, run)
        weights.append(Regression(found.sparse / sizes, found.dense))
    scalings = tuple(fit_platt(-np.logaddexp(0.0, -odds[:, i]), y) for i, y in enumerate(answers))
    blank = AttributeQuality(len(target.rows), 0, 0.0, 0.0, 0.0)
    made = Classifier(target.name, target.types, target.values, tuple(weights), scalings or (IDENTITY,), blank)
    return replace(made, quality=_quality(made, made.of_odds(odds), target.classes))


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


def _crossed(
    matrix: Sparse, right: NDArray[np.bool_], fold: Ints, sizes: Singles, l2: float, run: Executor
) -> Floats:
    """Return the log-odds of each row, by a regression of the other folds."""
    odds = np.zeros(len(right))
    for number in np.unique(fold).tolist():
        held = fold == number
        rest, out = np.flatnonzero(~held), np.flatnonzero(held)
        if len(rest):
            part = fit_regression(_rows(matrix, rest), np.ones((len(rest), 1)), right[rest], sizes, l2, None, run)
            single = Regression(part.sparse / sizes, part.dense)
            odds[out] = linear_scores(_rows(matrix, out), np.ones((len(out), 1)), single, run)
    return odds


def _rows(matrix: Sparse, rows: Ints) -> Sparse:
    """Return some rows of a matrix, in their order."""
    sizes = np.diff(matrix.offsets)[rows]
    offsets = np.append(0, sizes.cumsum())
    at = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes) + np.repeat(matrix.offsets[rows], sizes)
    return Sparse(matrix.indices[at], offsets)
