"""Training and development data of recognizers, and of models made of recognizers, from what `fit` is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, NoReturn, Protocol, TypeAlias

from spanloom.document import Batch, Document
from spanloom.document.annotation import completeness
from spanloom.document.annotators import check_one_voice, merged, several, voted
from spanloom.errors import UsageError
from spanloom.features import FeatureSet
from spanloom.formats.inputs import Dev, Given, development_of, training_of
from spanloom.hypergraph import Ints
from spanloom.learn import Listener, Progress
from spanloom.learn.folds import hold_out
from spanloom.model.corpus import Gold, TypeFilter, by_sentence, known_types, training_types
from spanloom.model.fields import AUTO_VECTORS, given_vectors
from spanloom.model.resources import Sources, tried_features
from spanloom.model.splitting import SplittingReport, learn_splitter
from spanloom.passes import PassData
from spanloom.recognize.annotating import versioned
from spanloom.recognize.completing import marked, partly
from spanloom.recognize.crossing import crossed_folds, needs_folds
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.recognize.source import is_whole, whole_annotation
from spanloom.tag.filling import AUTO, COLUMN, Filler, check_use, fill, learn_tagger, open_tagger
from spanloom.text import prepare
from spanloom.text.splitting import Splitter

Types: TypeAlias = tuple[str, ...]
Parts: TypeAlias = tuple[list[Document], list[Document]]


class Estimator(Protocol):
    """The parameters of a recognizer, or of a model that is made of recognizers, that preparing data depends on."""

    features: Any
    clusters: str | int | None
    ignore: Sequence[str] | None
    sections: Any
    vocabulary: str | Path | None
    vocabulary_columns: str | None
    vectors: str | Path | None
    pos: Any
    split_tokens: bool
    passes: Any
    types: Sequence[str] | None
    encoder: str | Path | None
    n_jobs: int | None
    random_state: int

    @property
    def kind(self) -> str:
        """As a model file names it."""

    @property
    def featured(self) -> bool:
        """Whether features are used."""


class Prepared(NamedTuple):
    """Training and development data of an estimator, and what was learned to prepare them.

    Args:
        train, dev: documents with sentences, split tokens, and the column that the tagger fills.
        types: K names, of the training data.
        known, unseen: both as batches, with the columns that features read.
        features: of tokens.
        pos: the tagger, if there is one.
        splitter: of tokens.
        splitting: the report on it.
        fold: (N,) of each sentence, where the development data are the training data, cross-validated.
        tried: features with word vectors, if development data are to choose.
    """

    train: Sequence[Document]
    dev: list[Document]
    types: Types
    known: Batch
    unseen: Batch
    features: FeatureSet
    pos: Filler | None
    splitter: Splitter
    splitting: SplittingReport | None
    fold: Ints | None = None
    tried: FeatureSet | None = None

    @property
    def for_passes(self) -> PassData:
        """What a first pass over documents is trained on."""
        return PassData(self.known, self.unseen, lambda: Gold(self.known, self.types).table, self.types, self.features)


def _held_out(train: Sequence[Document], types: Types, seed: int) -> Parts:
    """Hold out a tenth, whatever its types."""
    return hold_out(train, seed, by_sentence)


def prepared(
    estimator: Estimator, X: Given, y: Iterable[Any] | None, dev: Dev | None,
    callback: Listener, *, templates: Sequence[str] = (), check_types: Callable[[Types], object] = lambda _: None,
    held_out: Callable[[Sequence[Document], Types, int], Parts] = _held_out,
) -> Prepared:  # fmt: skip
    """Read the data of `fit`.

    Args:
        estimator: its parameters.
        X, y, dev: what `fit` was given.
        callback: called at each step.
        templates: beside those that the parameters name.
        check_types: called with the types of the training data.
        held_out: gives training and development data where none of the latter are given.

    Raises:
        DataError: no tokens, or no mentions.
        UsageError: a parameter that the data cannot serve.
    """
    jobs, seed = estimator.n_jobs, estimator.random_state
    pos = open_tagger(estimator.pos)
    callback(Progress("reading"))
    kept = TypeFilter(estimator.types)
    own = list(kept.checked(training_of(X, y)))
    given = None if dev is None else list(kept(training_of(*development_of(dev), "dev")))
    train = fill(map(prepare, _given(estimator, own, given)), pos, jobs)
    types = training_types(train)
    check_types(types)
    splitter, splitting = learn_splitter(train, seed) if estimator.split_tokens else (Splitter(), None)
    if given is None and _crossed(estimator, train, types):
        ready = finished(estimator, Material(train, [], types, pos, splitter, splitting), callback, templates=templates)
        return ready._replace(dev=list(ready.train), unseen=ready.known, fold=crossed_folds(ready.known, seed))
    if given is None:
        train, held = held_out(train, types, seed)
        held = [voted(one) for one in held]
    else:
        check_one_voice(given, "tuning on development data")
        held = fill(map(prepare, given), pos, jobs)
    data = Material(train, held, types, pos, splitter, splitting)
    return finished(estimator, data, callback, templates=templates)


def _crossed(estimator: Estimator, train: Sequence[Document], types: Types) -> bool:
    """Return whether training data are cross-validated: few, complete, of one annotator, and not for an encoder."""
    mentions, sentences = sum(len(one.mentions) for one in train), sum(one.sentence_count for one in train)
    plain = getattr(estimator, "_crosses", False) and estimator.encoder is None
    few = needs_folds(len(train), mentions, sentences)
    return plain and few and not versioned(train) and not partly(train, types)


def _given(estimator: Estimator, documents: list[Document], dev: list[Document] | None) -> list[Document]:
    """Return training documents with the completeness of their annotation; several annotators of a text are merged.

    For what learns from whole structures, a recognizer on features completes the annotation first.
    """
    if isinstance(estimator, RecognizerParameters):
        documents = marked(documents, estimator.annotation)
        if estimator.density is not None and not estimator.featured and is_whole(documents):
            _refuse_density(estimator.density)
    if not isinstance(estimator, RecognizerParameters) or not estimator.featured:
        names = ("attributes", "link", "density", "n_jobs", "random_state")
        own = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
        return whole_annotation(documents, dev, **own)
    if not several(documents):
        return documents
    if estimator.passes != "one":
        raise UsageError(f"with several annotators there is one pass over documents, passes is {estimator.passes!r}")
    if estimator.density is not None:
        raise UsageError(
            f"density is {estimator.density!r}, but several annotators determine the number of mentions; leave it out"
        )
    return merged(documents)


def _refuse_density(given: object) -> NoReturn:
    raise UsageError(
        f"density is {given!r}, but the annotation of the training data is complete; declare it with "
        "annotation 'at-least' (--annotation at-least), or leave the density out"
    )


class Material(NamedTuple):
    """Documents to learn from, before their tokens are split and features looked at.

    Args:
        train, dev: with sentences, and the column that a given tagger fills.
        types: K names.
        pos: the tagger that was given, if one was.
        splitter: of tokens.
        splitting: the report on it.
        raw: text without mentions that is learned from, too; prepared.
    """

    train: list[Document]
    dev: list[Document]
    types: Types
    pos: Filler | None
    splitter: Splitter
    splitting: SplittingReport | None = None
    raw: Sequence[Document] = ()


def finished(
    estimator: Estimator,
    data: Material,
    callback: Listener,
    *,
    templates: Sequence[str] = (),
) -> Prepared:
    """Train the tagger, if one is wanted, split tokens, and choose features.

    Args:
        estimator: its parameters.
        data: what it learns from; raw text follows the training documents in the result.
        callback: called at each step.
        templates: beside those that the parameters name.

    Raises:
        UsageError: a parameter that the data cannot serve.
    """
    began, jobs, seed = monotonic(), estimator.n_jobs, estimator.random_state
    train, held, types, pos, splitter, splitting, raw = data
    sources = sources_of(estimator)
    learns = estimator.pos == AUTO and sources.names(COLUMN)
    pos, held = learn_tagger(pos, learns, train, held, jobs, seed, callback)
    train, held = [*train, *fill(raw, pos, jobs)], known_types(held, types)
    train, held = splitter.split(train), splitter.split(held)
    callback(Progress("features", seconds=monotonic() - began))
    features = sources.feature_set(train, held, templates)
    check_use(pos, features)
    known, unseen = (features.enrich(Batch.of(documents)) for documents in (train, held))
    check_annotation(estimator, known, types)
    tried = None
    chooses = isinstance(estimator, RecognizerParameters) and estimator.featured and estimator.vectors == AUTO_VECTORS
    if chooses and not raw and not versioned(known.documents) and completeness(known, types) is None:
        tried = tried_features(features, estimator.features, train)
    return Prepared(train, held, types, known, unseen, features, pos, splitter, splitting, tried=tried)


def check_annotation(estimator: Estimator, known: Batch, types: Types) -> None:
    """Check that a density is given, and one pass is made, where partial annotation is learned from.

    Raises:
        UsageError: a density of annotation that is complete, or two passes over text where it is not.
    """
    if not isinstance(estimator, RecognizerParameters) or not estimator.featured:
        return  # its annotation is complete by now
    if completeness(known, types) is None:
        if estimator.density is not None:
            _refuse_density(estimator.density)
    elif estimator.passes != "one":
        raise UsageError(f"with incomplete annotation there is one pass over documents, passes is {estimator.passes!r}")


def sources_of(estimator: Estimator) -> Sources:
    """Return what an estimator's features are made of; an encoder alone has none."""
    if not estimator.featured:
        return Sources((), None, None, None, None)
    return Sources(
        estimator.features, estimator.clusters, estimator.ignore, estimator.sections, estimator.vocabulary,
        given_vectors(estimator.vectors), estimator.hash_bits if isinstance(estimator, RecognizerParameters) else None,
        estimator.vocabulary_columns,
    )  # fmt: skip
