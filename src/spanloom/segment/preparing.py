"""Training and development data of a segmenter from what `fit` is given, in memory or in a folder; see `Work`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from spanloom.document import Document, batches
from spanloom.features import FeatureSet
from spanloom.formats.inputs import Dev, Given, development_of, training_of
from spanloom.learn.folds import hold_out, units
from spanloom.model.corpus import Lost, TypeFilter, known_types, training_types
from spanloom.model.spool import line_of
from spanloom.model.stages import Linked
from spanloom.model.work import BLOCK, Work
from spanloom.recognize.on_disk import spooled_training
from spanloom.recognize.source import whole_annotation
from spanloom.segment.characters import Characters
from spanloom.segment.constraints import constraints_of
from spanloom.segment.corpus import Corpus, sentences_of, with_words
from spanloom.segment.feature_sets import make_features, own_columns, read_dictionaries
from spanloom.segment.gold import GoldLabels, gold_labels
from spanloom.segment.parameters import SegmenterParameters
from spanloom.structures.product import Constraint, Labels
from spanloom.text import Phrases

__all__ = ["Prepared", "prepared"]

_ARRAYS: Final = {"first": np.bool_, "inner": np.bool_, "words": np.int64, "mentions": np.int64}  # of characters


class Prepared(NamedTuple):
    """Training and development data of a segmenter, and what was read to prepare them.

    Args:
        train, dev: documents with words; of few training documents perhaps the sentences.
        documents: how many training documents there were, with those that are held out.
        types: K names, of the training data.
        constraints: between words and mentions.
        linked: vocabularies, if mentions are linked.
        phrases: of dictionaries, if there are any.
        features: of characters; none with an encoder.
        gold, gold_dev: tags of both, and what they do not hold.
        known, tuning: both with the columns that features read.
    """

    train: Sequence[Document]
    dev: list[Document]
    documents: int
    types: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    linked: Linked | None
    phrases: Phrases | None
    features: FeatureSet
    gold: GoldLabels
    gold_dev: GoldLabels
    known: Corpus
    tuning: Corpus


def prepared(
    estimator: SegmenterParameters, X: Given, y: Iterable[Any] | None, dev: Dev | None, work: Work | None
) -> Prepared:
    """Read the data of `fit`.

    Args:
        estimator: its parameters.
        X, y, dev: what `fit` was given.
        work: where the training data are written; they are in memory when ``None``.

    Raises:
        DataError: no words, no mentions, or words that do not add up to the text; or there is no room for them.
        UsageError: a parameter that the data cannot serve.
    """
    seed, kept = estimator.random_state, TypeFilter(estimator.types)
    given = None if dev is None else list(map(with_words, kept(training_of(*development_of(dev), "dev"))))
    documents = kept.checked(training_of(X, y))
    train: Sequence[Document]
    if work is None:
        own = {name: getattr(estimator, name) for name in ("attributes", "link", "n_jobs", "random_state")}
        train = whole_annotation(list(map(with_words, documents)), given, **own)
        types = training_types(train)
    else:
        work.identify(estimator)
        spooled, types, _ = spooled_training(documents, work, with_words)
        train = spooled.documents
    count, linked = len(train), Linked.of(estimator.link, train, estimator.link_encoder)
    constraints = constraints_of(types, estimator.single_word, estimator.constraints)
    if given is None:
        train, given = hold_out(train, seed, sentences_of) if work is None else work.hold_out(train, seed)
    elif work is None and (estimator.method == "incremental" or estimator.rescore):
        train = units(train, sentences_of)
    given = known_types(given, types)
    phrases = read_dictionaries(estimator.dictionaries, estimator.vocabulary)
    held = constraints if estimator.method in ("joint_labels", "dual", "exact") else None
    gold_dev = gold_labels(given, types, held)
    gold = gold_labels(train, types, held) if work is None else None
    features = FeatureSet(())
    if estimator.encoder is None:
        text = () if gold is None else gold.batch.batch.documents
        features = make_features(estimator.features, phrases is not None, text, estimator.clusters, estimator.vectors)
    names = own_columns(features)

    def columned(part: GoldLabels) -> Corpus:
        return Corpus(part.batch.with_own_columns(names, phrases), part.labels, len(part.lost))

    if gold is not None:
        known = columned(gold)
    else:
        assert work is not None  # as there is no gold in memory
        parts = (gold_labels(block, types, held) for block in batches(train, BLOCK))
        gold = _spooled(((part, columned(part)) for part in parts), work)
        known = Corpus(gold.batch, gold.labels, len(gold.lost))
        work.saw(map(line_of, given))
        work.begin()
    return Prepared(
        train, given, count, types, constraints, linked, phrases, features, gold, gold_dev, known, columned(gold_dev)
    )


def _spooled(parts: Iterable[tuple[GoldLabels, Corpus]], work: Work) -> GoldLabels:
    """Return the gold tags of blocks of documents as one, whose characters, with their columns, are on disk."""
    arrays = {name: work.scratch.growing(f"characters-{name}", kind) for name, kind in _ARRAYS.items()}
    lost: list[Lost] = []
    totals: list[int] = []

    def blocks() -> Iterator[list[Document]]:
        for gold, corpus in parts:
            text, labels = corpus.text, corpus.labels
            for array, values in zip(arrays.values(), (text.first, text.inner, *labels), strict=True):
                array.append(values)
            lost.extend(gold.lost)
            totals.append(gold.total)
            yield text.batch.views()

    batch = work.spooled(blocks(), "characters")
    first, inner, *labels = (array.array() for array in arrays.values())
    return GoldLabels(Characters(batch, first, inner), Labels(*labels), tuple(lost), sum(totals))
