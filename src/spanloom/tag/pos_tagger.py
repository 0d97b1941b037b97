"""A tagger of parts of speech: one tag for each token, by a chain of first order over the same features and engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Final, Literal, Self, overload

import numpy as np

from spanloom.document import Batch, Document, batches
from spanloom.errors import DataError, ModelError, UsageError, plural
from spanloom.features import FeatureSet
from spanloom.formats.inputs import Dev, Given, One, Several, answer, development_of, documents_of, paired
from spanloom.hypergraph import Edges, Ints
from spanloom.learn import Listener, Progress, Training, TrainingSet, fit_together
from spanloom.learn.folds import hold_out
from spanloom.model.choices import ExecutorName
from spanloom.model.corpus import by_sentence, number_of_texts
from spanloom.model.development import Development, trained
from spanloom.model.parameters import Parameters
from spanloom.model.protocol import Annotation, Capability
from spanloom.model.report import CompactReport, part_lines
from spanloom.model.resources import Sources
from spanloom.model.spool import line_of
from spanloom.model.store import Estimated, features_of, model_of, model_part, shared_of, shared_part
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.model.work import BLOCK, IN_MEMORY, Work, check_executor, check_on_disk
from spanloom.modelfile import ModelPart, load
from spanloom.parallel import Executor, threads
from spanloom.structures import Tags
from spanloom.tag.parameters import TaggerParameters
from spanloom.text import prepare, prepare_all

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
        compact: whether the model was made compact, which then has accuracy for F1.
    """

    documents: int
    sentences: int
    tokens: int
    development: int
    rows: int
    steps: int
    accuracy: float
    compact: CompactReport | None = None

    def lines(self, tags: int) -> Iterator[str]:
        """Yield lines on the data and the choices of the training.

        Args:
            tags: the number of tags.
        """
        seen = f"{plural(self.sentences, 'sentence')}, {plural(self.tokens, 'token')}"
        yield f"trained on {seen}, {plural(tags, 'tag')}"
        yield f"{plural(self.rows, 'row')} of weights, {plural(self.steps, 'step')}"
        yield f"development accuracy {100 * self.accuracy:.2f} on {plural(self.development, 'token')}"
        yield from part_lines(self.compact)


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
    capable: ClassVar = frozenset[Capability](("compact",))

    def fit(
        self, X: Given, y: Iterable[Any] | None = None, *, dev: Dev | None = None, progress: Listener | None = None,
        work: str | Path | Work | None = None, executor: ExecutorName | Executor = "threads",
    ) -> Self:  # fmt: skip
        """Train.

        Args:
            X: documents with tokens and the column, or texts; missing tokens and sentences are computed.
            y: for texts: the tags of each, one for each token, in place of the documents' own.
            dev: determines the number of passes: documents, or a pair of X and y; a tenth of the training data, drawn
                by the seed, when ``None``.
            progress: called at each pass; it has accuracy in the place of F1.
            work, executor: as for `Recognizer.fit`.

        Raises:
            DataError: no tokens, or a token without a tag.
            UsageError: a parameter whose value is not valid.
        """
        self.check()
        check_executor(self, executor, work)
        began = monotonic()
        callback = progress or (lambda _: None)
        given = None if dev is None else [prepare(one) for one in self._tagged(*development_of(dev), "dev")]
        documents = self._tagged(X, y)
        if work is None:
            train = list(map(prepare, documents))
            if given is None:
                train, given = hold_out(train, self.random_state, by_sentence) if train else ([], [])
            return self._fit(Batch.of(train), given, callback, began)
        check_on_disk(self)
        with Work.opened(work) as folder:
            folder.identify(self)
            known = folder.spooled(batches(documents, BLOCK, prepare_all), "documents")
            if given is None:
                rest, given = folder.hold_out(known.documents, self.random_state)
                known = folder.spooled(batches(rest, BLOCK, prepare_all), "split")
            folder.saw(map(line_of, given))
            folder.begin()
            with folder.worked_on_by(executor, self.n_jobs):
                return self._fit(known, given, callback, began, folder)

    def _fit(
        self, known: Batch, held: Sequence[Document], callback: Listener, began: float, work: Work | None = None
    ) -> Self:
        """Train on prepared documents, in memory or in a folder."""
        train, offsets = known.documents, known.sentences
        tags = tuple(sorted({*_given_tags(train, self.column)}))
        if not tags:
            raise DataError("the data hold no tokens; give annotated text")
        number = {tag: i for i, tag in enumerate(tags)}
        numbers = np.fromiter((number[tag] for tag in _given_tags(train, self.column)), np.int64)
        gold_tags = np.fromiter((number.get(tag, -1) for tag in _given_tags(held, self.column)), np.int64)

        callback(Progress("features", seconds=monotonic() - began))
        run = threads(self.n_jobs)
        features = self._sources.feature_set(train, held)
        room = IN_MEMORY if work is None else work
        built, scratch = room.built(features, known, self.min_count, run), room.scratch
        model = StructuredModel.untrained(TAGS, "subgraphs", tags, features, built.index)
        edges = TAGS.write_tags(numbers, offsets, tags)
        data = TrainingSet.of_edges(model.engine, built, offsets, edges, scratch)
        training = Training(
            data=data, judge=_Accuracy(Batch.of(held), gold_tags, model, run), optimizer=self.optimizer,
            epochs=self.epochs, iterations=self.iterations, rate=self.rate, seed=self.random_state, executor=run,
            callback=callback, began=began, keeper=room.keeper, workers=room.workers,
        )  # fmt: skip
        [fit] = fit_together([training], [self.l2])
        self.model_ = trained(model, data, fit)
        self.report_ = TaggerReport(
            number_of_texts(train),
            len(offsets) - 1,
            len(numbers),
            len(gold_tags),
            len(built.index),
            fit.steps,
            fit.dev_f1,
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
        return answer(X, list(self.stream(X, keep=keep)))

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
        for ready in batches(documents, _BATCH_TOKENS, prepare_all):
            wanting = Batch.of([document for document in ready if not (keep and self.column in document.columns)])
            best = model.best(model.scorer.score(wanting, run), wanting.sentences, run)
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
        given = list(_given_tags(documents, self.column))
        if not given:
            raise DataError("the data hold no tokens; give annotated text")
        return sum(map(str.__eq__, given, _given_tags(self.stream(documents), self.column))) / len(given)

    def to_part(self) -> ModelPart:
        """See `spanloom.modelfile.save`."""
        shared = shared_part(features_of(self.fitted))
        return _Described.of(self).part({}, {"columns": shared, "structure": model_part(self.fitted)})

    @classmethod
    def from_part(cls, part: ModelPart) -> Self:
        """See `spanloom.modelfile.load`."""
        model = model_of(part.part("structure"), shared_of(part.parts.get("columns")), TAGS)
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
        if self.clusters is None and self.vectors is None:
            FeatureSet(self.features)  # which refuses templates without their source
        if self._sources.names(self.column):
            raise UsageError(f"a template names the column {self.column!r}, which is to be learned; take it out")

    @property
    def structured(self) -> tuple[LinearModel, ...]:
        """The trained model."""
        return (self.fitted,)

    @property
    def _sources(self) -> Sources:
        """What the features are made of."""
        more = self.clusters, None, None, self.vocabulary, self.vectors
        return Sources(self.features, *more, vocabulary_columns=self.vocabulary_columns)

    @property
    def tags_(self) -> tuple[str, ...]:
        """The tags."""
        return self.fitted.types

    report_: TaggerReport


class _Accuracy(Development):
    """The tags of development data, whose features are looked up once.

    Args:
        batch: development data; without tokens any weights are worth 0.
        gold_tags: (T,) numbers of the tags; -1 for one that training lacks.
        model: with any weights.
        run: how the look-up is run.
    """

    tunes = False

    def __init__(self, batch: Batch, gold_tags: Ints, model: LinearModel, run: Executor) -> None:
        self._offsets, self._gold_tags, self._model = batch.sentences, gold_tags, model
        self._matrix = model.scorer.matrix(batch, run)

    def measured(self, edges: Edges) -> float:
        """Return the share of tokens whose tag is right."""
        right = TAGS.read_tags(edges, self._model.types) == self._gold_tags
        return float(right.mean()) if len(right) else 0.0


def load_tagger(path: str | Path) -> PosTagger:
    """A tagger that was saved.

    Raises:
        ModelError: the folder holds no tagger, or a damaged one, or one of another format.
    """
    return load(PosTagger, path)


def _given_tags(documents: Iterable[Document], column: str) -> Iterator[str]:
    """Yield the tags of documents, one after the other.

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
        yield from document.columns.get(column, ())
