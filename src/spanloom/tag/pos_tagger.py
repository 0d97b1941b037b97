"""A tagger of parts of speech: one tag for each token, by a chain of first order over the same features and engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Final, Literal, Self, overload

import numpy as np

from spanloom.document import Batch, Document, batches
from spanloom.errors import DataError, ModelError, UsageError, plural
from spanloom.features import FeatureSet, index_batch
from spanloom.formats.inputs import Dev, Given, One, Several, answer, development_of, documents_of, paired
from spanloom.hypergraph import Ints
from spanloom.learn import EdgeTarget, Listener, Progress, Training, TrainingSet, fit_together
from spanloom.learn.folds import hold_out
from spanloom.model.corpus import by_sentence, number_of_texts
from spanloom.model.development import trained
from spanloom.model.parameters import Parameters
from spanloom.model.protocol import Annotation
from spanloom.model.store import NOTHING, Estimated, model_of, model_part
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.modelfile import ModelPart, load
from spanloom.parallel import Executor, threads
from spanloom.scoring import LinearScorer, Weights, role_scores
from spanloom.structures import Tags
from spanloom.tag.parameters import TaggerParameters
from spanloom.text import prepare

_BATCH_TOKENS = 20_000  # tagged at once
TAGS: Final = Tags()


@dataclass(frozen=True)
class TaggerReport:
    """Report of a tagger's training: data, choices and accuracy.

    Args:
        documents, sentences, tokens: of the training data.
        development: tokens of the development data.
        rows: rows of weights.
        steps: the pass whose weights are kept.
        accuracy: share of the development data's tokens with the right tag.
    """

    documents: int
    sentences: int
    tokens: int
    development: int
    rows: int
    steps: int
    accuracy: float

    def lines(self, tags: int) -> Iterator[str]:
        """Yield lines on the data and the choices of the training.

        Args:
            tags: the number of tags.
        """
        seen = f"{plural(self.sentences, 'sentence')}, {plural(self.tokens, 'token')}"
        yield f"trained on {seen}, {plural(tags, 'tag')}"
        yield f"{plural(self.rows, 'row')} of weights, {plural(self.steps, 'step')}"
        yield f"development accuracy {100 * self.accuracy:.2f} on {plural(self.development, 'token')}"


class _Described(Estimated):
    """Values of a tagger in a model file."""

    report: TaggerReport


class PosTagger(TaggerParameters, Parameters[LinearModel]):
    """A trainable tagger that fills a column, such as parts of speech.

    A first-order conditional random field (Lafferty et al. 2001): each tag has weights for the features of its token,
    each pair of neighbouring tags has one weight.

    {parameters}

    Attributes after fitting: ``model_``, ``tags_`` and ``report_``.

    >>> notes = [Document("no chest pain", columns={"pos": ["DT", "NN", "NN"]}, tokens=[(0, 2), (3, 8), (9, 13)])] * 20
    >>> tagger = PosTagger().fit(notes)
    >>> tagger.predict("no chest wall pain").columns["pos"]
    ['DT', 'NN', 'NN', 'NN']
    """

    kind: ClassVar[Literal["tagger"]] = "tagger"
    annotates: ClassVar = frozenset[Annotation](("columns",))

    def fit(
        self, X: Given, y: Iterable[Any] | None = None, *, dev: Dev | None = None, progress: Listener | None = None
    ) -> Self:
        """Train.

        Args:
            X: documents with tokens and the column, or texts; missing tokens and sentences are computed.
            y: for texts: the tags of each, one for each token, in place of the documents' own.
            dev: determines the number of passes: documents, or a pair of X and y; a tenth of the training data, drawn
                by the seed, when ``None``.
            progress: called at each pass; it has accuracy in the place of F1.

        Raises:
            DataError: no tokens, or a token without a tag.
            UsageError: a parameter whose value is not valid.
        """
        self.check()
        began = monotonic()
        callback = progress or (lambda _: None)
        train = [prepare(document) for document in self._tagged(X, y)]
        if dev is None:
            train, held = hold_out(train, self.random_state, by_sentence) if train else ([], [])
        else:
            held = [prepare(document) for document in self._tagged(*development_of(dev), "dev")]
        given = _given_tags(train, self.column)
        tags = tuple(sorted(set(given)))
        number = {tag: i for i, tag in enumerate(tags)}
        numbers = np.array([number[tag] for tag in given], np.int64)
        wanted = np.array([number.get(tag, -1) for tag in _given_tags(held, self.column)] if held else [], np.int64)

        callback(Progress("features", seconds=monotonic() - began))
        run = threads(self.n_jobs)
        features = FeatureSet(self.features)
        offsets = (known := Batch.of(train)).sentences
        built = index_batch(features, known, min_count=self.min_count, run=run)
        model = StructuredModel.build(
            TAGS, "subgraphs", tags, LinearScorer(features, built.index, Weights.zeros(0, 0, 0, 1))
        )
        target = EdgeTarget(model.engine, offsets, TAGS.write_tags(numbers, offsets, tags))
        data = TrainingSet(model.engine, built.matrix, offsets, target, built.index.group_sizes, built.counts)
        training = Training(
            data=data, judge=_Accuracy(Batch.of(held), wanted, model, run), epochs=self.epochs, rate=self.rate,
            seed=self.random_state, executor=run, callback=callback, began=began,
        )  # fmt: skip
        [fit] = fit_together([training], [self.l2])
        self.model_ = trained(model, data, fit)
        self.report_ = TaggerReport(
            number_of_texts(train), len(offsets) - 1, len(given), len(wanted), len(built.index), fit.steps, fit.dev_f1
        )
        return self

    def _tagged(self, X: Given, y: Iterable[Any] | None, name: str = "X") -> Iterator[Document]:
        """Documents with the column that is learned."""
        if y is None:
            return documents_of(X, name)
        pairs = [(prepare(document), tags) for document, tags in paired(X, y, "tags: one for each token", name)]
        for i, (document, tags) in enumerate(pairs):
            if len(tags) != len(document.words):
                raise DataError(f"item {i} of y has {len(tags)} tags for {len(document.words)} tokens; give each one")
        return (document.copy(columns={**document.columns, self.column: tags}) for document, tags in pairs)

    @overload
    def predict(self, X: One, *, keep: bool = ...) -> Document: ...  # type: ignore[overload-overlap]

    @overload
    def predict(self, X: Several, *, keep: bool = ...) -> list[Document]: ...

    def predict(self, X: Given, *, keep: bool = False) -> Document | list[Document]:
        """Tag a text or a document, which gives a document, or several, which gives a list.

        The arguments are those of `stream`.
        """
        return answer(X, self.stream(X, keep=keep))

    def stream(self, X: Given, *, keep: bool = False) -> Iterator[Document]:
        """Copies of the documents with the column filled; lazily, in batches.

        Args:
            X: a text, a document, several of them, or a column of texts; tokens and sentences are made where they are
                missing.
            keep: leave a document that has the column as it is.
        """
        return self._stream(self.fitted, documents_of(X), keep)

    def _stream(self, model: LinearModel, documents: Iterable[Document], keep: bool) -> Iterator[Document]:
        run = threads(self.n_jobs)
        for ready in batches(documents, _BATCH_TOKENS, prepare):
            wanting = Batch.of([document for document in ready if not (keep and self.column in document.columns)])
            best = model.best(model.score(wanting, run), wanting.sentences, run)
            found = wanting.split([model.types[tag] for tag in TAGS.read_tags(best, model.types).tolist()])
            for document in ready:
                if keep and self.column in document.columns:
                    yield document
                else:
                    yield document.copy(columns={**document.columns, self.column: list(next(found))})

    def summary(self) -> Iterator[str]:
        """Return some lines on what training saw and chose."""
        return self.report_.lines(len(self.tags_))

    def _description(self) -> dict[str, Any]:
        return {"tags": list(self.tags_)}

    def filling(self) -> str:
        """Describe what the column is filled with."""
        return f"{len(self.tags_)} tags"

    def score(self, X: Given, y: Iterable[Any] | None = None) -> float:
        """The accuracy, under the name that scikit-learn uses; the arguments are those of `accuracy`."""
        return self.accuracy(X, y)

    def accuracy(self, X: Given, y: Iterable[Any] | None = None) -> float:
        """The share of tokens whose tag in the column is the one that the tagger gives.

        Args:
            X: documents with the column, or texts.
            y: for texts: the tags of each.

        Raises:
            DataError: no tokens, or a token without a tag.
        """
        documents = [prepare(document) for document in self._tagged(X, y)]
        given = _given_tags(documents, self.column)
        found = _given_tags(list(self.stream(documents)), self.column)
        return sum(map(str.__eq__, given, found)) / len(given)

    def to_part(self) -> ModelPart:
        """See `spanloom.modelfile.save`."""
        return _Described.of(self).part({}, {"model": model_part(self.fitted)})

    @classmethod
    def from_part(cls, part: ModelPart) -> Self:
        """See `spanloom.modelfile.load`."""
        model = model_of(part.part("model"), NOTHING, TAGS)
        if len(set(model.types)) < len(model.types):
            raise ModelError(f"the tags are {', '.join(model.types)}, expected each once")
        return part.read(_Described).restored(cls, model)

    def check(self) -> None:
        """Check that the parameters have valid values.

        Raises:
            UsageError: one has not.
        """
        super().check()
        if isinstance(self.features, str) or not len(self.features):
            raise UsageError(f"features is {self.features!r}, expected at least one template")
        column: Any = self.column
        if not isinstance(column, str) or not column:
            raise UsageError(f"column is {column!r}, expected the name of a column")
        if self.column in FeatureSet(self.features).needs:
            raise UsageError(f"a template names the column {self.column!r}, which is to be learned; take it out")

    @property
    def tags_(self) -> tuple[str, ...]:
        """The tags."""
        return self.fitted.types

    report_: TaggerReport


class _Accuracy:
    """The tags of development data, whose features are looked up once; a `spanloom.learn.Judge`.

    Args:
        batch: development data; without tokens any weights are worth 0.
        wanted: (T,) numbers of the tags; -1 for one that training lacks.
        model: with any weights.
        run: how the look-up is run.
    """

    tunes = False

    def __init__(self, batch: Batch, wanted: Ints, model: LinearModel, run: Executor) -> None:
        self._offsets, self._wanted, self._model = batch.sentences, wanted, model
        self._matrix = model.scorer.matrix(batch, run)

    def metric(self, weights: Weights, run: Executor) -> float:
        """Return the share of tokens whose best tag is right."""
        if not len(self._wanted):
            return 0.0
        potentials = role_scores(self._matrix, weights, run=run)
        found = TAGS.read_tags(self._model.best(potentials, self._offsets, run), self._model.types)
        return float((found == self._wanted).mean())

    def tuned(self, weights: Weights, run: Executor) -> tuple[float, float]:
        """Return no offset, and the accuracy."""
        return 0.0, self.metric(weights, run)


def load_tagger(path: str | Path) -> PosTagger:
    """A tagger that was saved.

    Raises:
        ModelError: the folder holds no tagger, or a damaged one, or one of another format.
    """
    return load(PosTagger, path)


def _given_tags(documents: Sequence[Document], column: str) -> list[str]:
    """Return the tags of documents, concatenated.

    Raises:
        DataError: a tag is missing or invalid.
    """
    for document in documents:
        size = document.token_count
        values = document.columns.get(column, [] if not size else None)
        if values is None or len(values) != size:
            found = "no column" if values is None else f"{len(values)} values in the column"
            raise DataError(
                f"document {document.id!r} has {found} {column!r}, expected a tag for each of {size} tokens"
            )
        odd = next((i for i, value in enumerate(values) if not value or any(map(str.isspace, value))), None)
        if odd is not None:
            raise DataError(
                f"document {document.id!r}, token {odd}: the tag in column {column!r} is {values[odd]!r}, expected one "
                "without white space"
            )
    tags = list(chain.from_iterable(document.columns.get(column, ()) for document in documents))
    if not tags:
        raise DataError("the data hold no tokens; give annotated text")
    return tags
