"""Trials of a feature search: one recognizer each, trained on one corpus and measured on its development data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from time import thread_time
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import KEYS
from spanloom.evaluate.compare import compare
from spanloom.evaluate.rows import randomization, row, unit_counts
from spanloom.evaluate.units import ResamplingUnits, units
from spanloom.features import FeatureSet, Resources, WordVectors, available_columns, category_phrases, parse_all
from spanloom.features.clusters import Clusters, read_paths
from spanloom.features.columns import BAND_COLUMN, is_cluster_column, is_word_column
from spanloom.features.word_vectors import VECTOR_COLUMN
from spanloom.hashing import Int64
from spanloom.learn import Listener, Progress
from spanloom.model.corpus import known_types, training_types
from spanloom.model.fields import given_vectors
from spanloom.model.splitting import learn_splitter
from spanloom.recognize import Recognizer
from spanloom.tag.filling import AUTO, COLUMN, fill, learn_tagger, open_tagger
from spanloom.text import prepare
from spanloom.vocabulary import read_vocabulary
from spanloom_lab.feature_groups import Groups, templates_of

SAMPLES = 2000  # of the randomization test
_RUNS = 2  # of tagging, of which the faster counts
_RULED = ("section", "note")
_CATEGORY = "category"


class Trial(NamedTuple):
    """Figures of a recognizer that was trained with the features of some groups.

    Args:
        groups: their names, in the order of the table.
        templates: their templates.
        f1: on development data, 0 to 1; with the mention penalty tuned on these, as for all trials.
        features: features a token of the development data; the measure of cost that no busy machine disturbs.
        tokens_per_second: of tagging the development data, by processor time; a part-of-speech tagger's is counted
            where a template reads its column.
        seconds: of training, by processor time.
        rows: of weights.
        correct: correct mentions in each unit of the development data, which are its sentences.
        predicted: predicted mentions in each unit.
    """

    groups: tuple[str, ...]
    templates: tuple[str, ...]
    f1: float
    features: float
    tokens_per_second: float
    seconds: float
    rows: int
    correct: list[int]
    predicted: list[int]


def p_value(first: Trial, second: Trial, gold: Int64, seed: int = 0) -> float:
    """Return the p value of a difference of F1: paired randomization over sentences, as `spanloom.evaluate` has it.

    Args:
        first: of the same development data as the second.
        second: the other.
        gold: (U,) gold mentions in each unit.
        seed: of the exchanges.
    """
    if (first.correct, first.predicted) == (second.correct, second.predicted):
        return 1.0
    counts = [
        np.array([own.correct, own.predicted, own.correct, gold], np.float64).T for own in (first, second)
    ]  # each correct mention is one that was found
    return randomization(counts[0], counts[1], SAMPLES, seed)[0]


def draw(documents: Sequence[Document], tokens: int | None, seed: int = 0) -> list[Document]:
    """Draw prepared documents until they have so many tokens, in their own order; all of them where that is ``None``.

    >>> texts = [prepare(Document("no pain", id=str(number))) for number in range(9)]
    >>> [text.id for text in draw(texts, 5)], len(draw(texts, None))
    (['2', '4', '5'], 9)
    """
    if tokens is None:
        return list(documents)
    order = np.random.default_rng(seed).permutation(len(documents))
    before = np.cumsum([0, *(documents[number].token_count for number in order)])[:-1]
    return [documents[number] for number in np.sort(order[before < tokens])]


class TrialStopped(Exception):  # noqa: N818  # nothing went wrong
    """A trial that was stopped."""


@dataclass(frozen=True)
class TrialCorpus:
    """A corpus as all trials see it: tagged and split once.

    Args:
        train: prepared documents.
        dev: prepared documents, with mentions of types that training has.
        params: of each recognizer, but its features.
        groups: the groups that can be tried, without templates whose columns this corpus lacks.
        lacking: group -> why it, or some of its templates, cannot be tried.
        cut: the units of the development data.
        gold: (U,) gold mentions in each unit.
        tagging: processor seconds of the part-of-speech tagger on the development data.
    """

    train: list[Document]
    dev: list[Document]
    params: Mapping[str, Any]
    groups: Groups
    lacking: Mapping[str, str]
    cut: ResamplingUnits
    gold: Int64
    tagging: float

    @classmethod
    def of(
        cls, train: Sequence[Document], dev: Sequence[Document], groups: Groups, params: Mapping[str, Any],
        callback: Listener = lambda _: None,
    ) -> TrialCorpus:  # fmt: skip
        """Do the common work of all trials once: parts of speech, and tokens that mentions cut.

        Args:
            train: with mentions.
            dev: with mentions.
            groups: of templates.
            params: of a `Recognizer`. By default one lambda is tried and there is no second stage.
            callback: called at each step.

        Raises:
            DataError: no mentions in the training data, or in the development data.
            UsageError: an invalid parameter.
        """
        plain = Recognizer(**{"l2": 1.0, "rescore": False, **params, "features": ["bias"]})
        plain.check()
        seed = plain.random_state
        used = {column.name for own in groups.values() for one in parse_all(own) for column in one.columns}
        learned = [prepare(document) for document in train]
        types = training_types(learned)
        reads_tags = COLUMN in used.difference(plain.ignore or ())
        pos = open_tagger(plain.pos) if reads_tags else None
        learned, tuned = fill(learned, pos), fill(map(prepare, dev), pos)
        pos, tuned = learn_tagger(pos, reads_tags and plain.pos == AUTO, learned, tuned, 1, seed, callback)
        began = thread_time()
        fill([_without(document, COLUMN) for document in tuned], pos)
        tagging = 0.0 if pos is None else thread_time() - began
        if plain.split_tokens:
            splitter, _ = learn_splitter(learned, seed)
            learned, tuned = splitter.split(learned), splitter.split(tuned)
        tuned = known_types(tuned, types)
        if not any(document.mentions for document in tuned):
            raise DataError("the development data hold no mention of a type of the training data; give annotated text")
        given = {**plain.get_params(), "pos": None, "split_tokens": False, "n_jobs": 1}
        cut = units(tuned)
        served, lacking = _served(groups, learned + tuned, plain)
        return cls(learned, tuned, given, served, lacking, cut, _gold(tuned, cut), tagging)

    def served(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of some groups that can be tried on this corpus."""
        return tuple(name for name in names if name in self.groups)

    def run(self, names: Sequence[str], stop: Event | None = None) -> Trial:
        """Train with the features of some groups, in this thread, and measure.

        Args:
            names: of groups that can be tried. Without any nothing is trained: a bias alone finds no mention, and to
                tune its penalty takes long.
            stop: ends the trial at the next pass over the data.

        Raises:
            TrialStopped: it was stopped.
        """
        chosen = tuple(name for name in self.groups if name in set(names))
        templates = templates_of(chosen, self.groups)
        if not chosen:
            none = [0] * self.cut.count
            return Trial(chosen, templates, 0.0, 1.0, 0.0, 0.0, 0, none, none)

        def listen(_: Progress) -> None:
            if stop is not None and stop.is_set():
                raise TrialStopped

        model = Recognizer(**_needed({**self.params, "attributes": "off"}, templates), features=list(templates))
        began = thread_time()
        model.fit(self.train, dev=self.dev, progress=listen)
        seconds = thread_time() - began
        key = KEYS["heads" if model.structured[0].structure.heads else "exact"]
        times, predicted = [], list(self.dev)
        for _ in range(_RUNS):
            began = thread_time()
            predicted = list(model.stream(self.dev, notice=lambda _: None))
            times.append(thread_time() - began)
        counts = unit_counts([row(compare(self.dev, predicted, self.cut, key))], self.cut.count).dense().astype(int)
        features: FeatureSet = model.structured[0].scorer.features
        batch = Batch.of(self.dev)
        correct, found, _, gold = counts.sum(axis=0).tolist()
        return Trial(
            groups=chosen,
            templates=templates,
            f1=2 * correct / max(1, found + gold),
            features=len(features.keys(batch).ids) / len(batch.tokens),
            tokens_per_second=len(batch.tokens) / (min(times) + (self.tagging if COLUMN in features.needs else 0.0)),
            seconds=seconds,
            rows=model.report_.rows,
            correct=counts[:, 0].tolist(),
            predicted=counts[:, 1].tolist(),
        )


def _without(document: Document, column: str) -> Document:
    return document.copy(columns={name: values for name, values in document.columns.items() if name != column})


def _gold(dev: Sequence[Document], cut: ResamplingUnits) -> Int64:
    counts: Int64 = unit_counts([row(compare(dev, dev, cut))], cut.count).dense()[:, 3].astype(np.int64)
    return counts


def _names(templates: Sequence[str]) -> set[str]:
    return {column.name for template in parse_all(templates) for column in template.columns}


def _needed(params: Mapping[str, Any], templates: Sequence[str]) -> dict[str, Any]:
    """Return the parameters without files that no template has a use for, which a recognizer refuses."""
    names = _names(templates)
    uses = {
        "clusters": any(map(is_cluster_column, names)),
        "vocabulary": _CATEGORY in names,
        "vocabulary_columns": _CATEGORY in names,
        "sections": not names.isdisjoint(_RULED),
        "vectors": VECTOR_COLUMN in names,
    }
    return {name: None if not uses.get(name, True) else value for name, value in params.items() if name != "features"}


def _served(groups: Groups, documents: Sequence[Document], plain: Recognizer) -> tuple[Groups, dict[str, str]]:
    """Return the groups with the templates that can be tried, and why others cannot.

    Raises:
        UsageError: a template that no data can serve, or a file that cannot be read.
    """
    vocabulary = (
        None if plain.vocabulary is None else read_vocabulary(plain.vocabulary, columns=plain.vocabulary_columns)
    )
    phrases = None if vocabulary is None else category_phrases(vocabulary)
    columns = {*available_columns(documents), *Resources(categories=phrases).columns}.difference(plain.ignore or ())
    clusters = _clusters(plain.clusters)
    served: dict[str, tuple[str, ...]] = {}
    lacking: dict[str, str] = {}
    for name, templates in groups.items():
        FeatureSet(templates, clusters=_ANY_CLUSTERS, resources=_ANY_VECTORS)  # refuses what no data can mend
        reasons = {
            one: [_why(column, columns, clusters, plain) for column in sorted(_names([one]))] for one in templates
        }
        kept = tuple(one for one in templates if not any(reasons[one]))
        if kept:
            served[name] = kept
        if len(kept) < len(templates):
            first = next(why for one in templates for why in reasons[one] if why)
            lacking[name] = f"{len(templates) - len(kept)} of {len(templates)} templates: {first}" if kept else first
    return served, lacking


def _clusters(source: str | int | None) -> Clusters | None:
    """Return clusters of a file, to see what it holds; ``None`` for those that are induced again in each trial."""
    if not isinstance(source, str):
        return None
    try:
        return read_paths(source)
    except OSError as error:
        raise UsageError(f"clusters {source!r} cannot be read: {error.strerror}") from None


_ANY_CLUSTERS = Clusters({"a": "0"}, counts={"a": 1})
_ANY_VECTORS = Resources(vectors=WordVectors.of(["a"], np.zeros((1, 1))))


def _why(column: str, columns: set[str], clusters: Clusters | None, plain: Recognizer) -> str:
    if column in (plain.ignore or ()):
        return f"the column {column} is to be ignored"
    if is_cluster_column(column):
        if plain.clusters is None:
            return "there are no word clusters; give --clusters (clusters=)"
        counted = clusters is not None and clusters.counts
        return "" if column != BAND_COLUMN or counted else "the clusters have no counts of words"
    if column == VECTOR_COLUMN:
        given = given_vectors(plain.vectors)
        return "" if given is not None else "there are no word vectors; give --vectors (vectors=)"
    if is_word_column(column) or column in columns:
        return ""
    if column == _CATEGORY:
        return "there is no vocabulary; give --vocabulary (vocabulary=)"
    return f"not all documents have the column {column}"
