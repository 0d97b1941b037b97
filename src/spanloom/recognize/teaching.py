"""Teaching: a fast student of slow models, which learns what they expect of raw text, beside gold where there is any.

The loss of a raw sentence is log Z - <counts, scores>, where the counts are what the teacher expects: the cross entropy
of teacher and student (Hinton et al. 2015), exact over all structures, because both have the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import chain
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from spanloom.document import Batch, Document, batches
from spanloom.document.annotators import check_one_voice, remarked
from spanloom.errors import DataError, UsageError
from spanloom.formats.inputs import Dev, Given, development_of, documents_of, training_of
from spanloom.hypergraph import Edges, Potentials
from spanloom.learn import CountTarget, Listener, Progress, SoftCounts
from spanloom.learn.folds import hold_out
from spanloom.model.corpus import by_sentence, known_types, place
from spanloom.model.overlaps import OverlapRules
from spanloom.model.parameters import MentionEstimator
from spanloom.model.report import TeachingReport
from spanloom.model.structured import StructuredModel
from spanloom.parallel import Executor, threads
from spanloom.recognize.fitting import fit_prepared
from spanloom.recognize.lessons import Lessons
from spanloom.recognize.parameters import OF_TEACHER, RecognizerParameters
from spanloom.recognize.preparing import Material, finished
from spanloom.recognize.recognizer import BATCH_TOKENS, Recognizer
from spanloom.scoring import Scorer
from spanloom.structures import Structure, structure_of
from spanloom.tag.filling import fill, open_tagger
from spanloom.text import prepare
from spanloom.text.splitting import Splitter

WEIGHTS: Final = (0.3, 1.0)
"""Weights of a raw sentence that are tried, where development data and gold mentions are there to choose by."""
_LARGEST = 1e6  # weight
_LACK = "that the teacher does not know"


class Teacher(Protocol):
    """A model that can teach: one structured model of mentions, whatever gives it its scores."""

    @property
    def fitted(self) -> StructuredModel[Scorer]:
        """The trained model."""

    def ready(self, documents: Iterable[Document]) -> list[Document]:
        """Return documents with the tokens, sentences and columns that `fitted` needs."""


AnyTeacher: TypeAlias = Teacher | MentionEstimator[Any]


def teach(
    teacher: AnyTeacher | Sequence[AnyTeacher], raw: Given, *, crossed: Iterable[tuple[AnyTeacher, Given]] = (),
    train: Given | None = None, dev: Dev | None = None, weight: float | Sequence[float] | None = None,
    progress: Listener | None = None, **parameters: Any,
) -> Recognizer:  # fmt: skip
    """Train a linear recognizer on what a model expects of raw text, and on gold mentions, where there are any.

    The student has the teacher's structure, types, way of counting and splits of tokens; all else is its own. It is as
    fast as any recognizer with its features. A teacher that is no single structured model, such as a cascade, a
    segmenter or a linker, teaches the mentions that it finds, and the student's structure is ``separators``.

    Args:
        teacher: a trained model, or several of one structure, whose mean is learned.
        raw: texts or documents, whose own mentions are not looked at.
        crossed: other teachers (each one model, or several), and the texts that each of them marks up in place of
            ``teacher``. So the text of ``train`` can be learned from twice, as people and as models see it: what a
            model predicts for text that it was trained on is too sure, so each fold is given to a model of the others.
        train: documents with gold mentions, to learn from, too.
        dev: documents with gold mentions, by which the student is tuned. When ``None``, a tenth of ``train``; without
            that a tenth of the raw text, as the teacher marks it up.
        weight: of a raw sentence (those of ``crossed`` are raw, too) beside one with gold mentions; of several the best
            on ``dev`` is taken, 0.3 and 1 when ``None``. Without ``train`` there is nothing to weigh.
        progress: called at each step.
        parameters: those of `Recognizer` but for `OF_TEACHER`.

    Raises:
        UsageError: a model that cannot teach, teachers that differ, an item of ``crossed`` that is not a pair, or an
            invalid weight or parameter.
        DataError: raw text without words, or gold documents without mentions.

    >>> from spanloom import Document, Mention, Recognizer
    >>> documents = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 50
    >>> teacher = Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(documents)
    >>> student = teach(teacher, ["chest pain today", "no pain"] * 20, features=["low[0]", "low[-1]"])
    >>> [mention.type for mention in student.predict("no chest pain").mentions]
    ['problem']
    """
    began = monotonic()
    callback = progress or (lambda _: None)
    faculty = _faculty(teacher)
    student = _student(faculty, parameters)
    weights = _weights(weight, given=train is not None)
    pos, jobs, types = open_tagger(student.pos), student.n_jobs, faculty.types
    others = list(_crossed(crossed, faculty))
    callback(Progress("reading"))
    texts = _texts(raw, "raw")
    own = [_texts(given, f"crossed[{number}]") for number, (_, given) in enumerate(others)]
    known = [] if train is None else list(training_of(train, name="train"))
    check_one_voice(known, "a student")
    known = fill(map(faculty.prepared, known), pos, jobs)
    if train is not None and not any(document.mentions for document in known):
        raise DataError("train holds no mentions to learn from; give annotated documents, or no train")
    known = known_types(known, types, what="training data", lack=_LACK)
    numbers = len(texts), sum(map(len, own))
    if dev is not None:
        held = fill(map(faculty.prepared, training_of(*development_of(dev), "dev")), pos, jobs)
        if not any(document.mentions for document in held):
            raise DataError("dev holds no mentions, so its F1 is meaningless; give annotated documents, or no dev")
        held = known_types(held, types, lack=_LACK)
    elif known:
        known, held = hold_out(known, student.random_state, by_sentence)
    else:
        texts, held = hold_out(texts, student.random_state, by_sentence)
        held = fill(faculty.marked(held, threads(jobs)), pos, jobs)
    classes = [(faculty, texts), *((other, each) for (other, _), each in zip(others, own, strict=True))]
    taught = [each.lessons(given, threads(jobs), callback, began) for each, given in classes]
    softs, reports, seen = zip(*taught, strict=True)
    soft = None if None in softs else SoftCounts.join(softs)
    report = TeachingReport.of(reports)
    report = replace(report, documents=numbers[0], crossed=numbers[1], own=dev is None and not known)
    material = Material(known, held, types, pos, faculty.splitter, raw=[*chain.from_iterable(seen)])
    ready = finished(student, material, callback, templates=faculty.structure.templates())
    lessons = Lessons(soft, len(known), weights, faculty.overlaps, report)
    return fit_prepared(student, ready, callback, began, lessons)


def _texts(given: Given, name: str) -> list[Document]:
    """Return texts as prepared documents without mentions."""
    found = [prepare(remarked(document, [])) for document in documents_of(given, name)]
    if not any(document.token_count for document in found):
        raise DataError(f"{name} has no words; give text to learn from")
    return found


def _crossed(pairs: Any, first: _Faculty | _Marker) -> Iterator[tuple[_Faculty | _Marker, Given]]:
    """Yield teachers, which agree with the first, and the texts of each."""
    if isinstance(pairs, str | dict) or not isinstance(pairs, Iterable):
        raise UsageError(f"crossed is {pairs!r}, expected pairs of a teacher and its texts")
    for number, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise UsageError(f"crossed[{number}] is {pair!r}, expected a pair of a teacher and its texts")
        faculty = _faculty(pair[0])
        _check_agree(first, faculty)
        yield faculty, pair[1]


def _student(faculty: _Faculty | _Marker, parameters: dict[str, Any]) -> Recognizer:
    known = [one.name for one in fields(RecognizerParameters) if one.name not in OF_TEACHER]
    for name in parameters:
        if name in OF_TEACHER:
            raise UsageError(f"{name} is given, but a student has that of its teacher, or does without; leave it out")
        if name not in known:
            raise UsageError(f"no parameter {name!r}; there are {', '.join(known)}")
    student = Recognizer(faculty.structure, counting=faculty.counting, passes="one", split_tokens=False, **parameters)
    student.check()
    return student


def _weights(weight: float | Sequence[float] | None, *, given: bool) -> tuple[float, ...]:
    """Return the weights to choose from; without gold mentions all sentences are raw, and count alike."""
    if weight is None:
        return WEIGHTS if given else (1.0,)
    try:
        grid = tuple(np.ravel(np.asarray(weight, float)).tolist())
    except (TypeError, ValueError, OverflowError):
        grid = ()
    if not grid or not all(0 < value <= _LARGEST for value in grid):
        raise UsageError(f"weight is {weight!r}, expected a number above 0, {_LARGEST:g} at most, or several")
    if not given:
        raise UsageError(f"weight is {weight!r}, but without train all text is raw; leave weight out, or give train")
    return tuple(dict.fromkeys(grid))


def _faculty(teachers: Any) -> _Faculty | _Marker:
    """Check that models can teach, and together: one model or several."""
    given: list[Any] = list(teachers) if isinstance(teachers, list | tuple) else [teachers]
    if not given:
        raise UsageError("there is no teacher; give a trained recognizer")
    for one in given:
        # the class is asked first: an untrained model has no `fitted`, and reports so itself
        structured = hasattr(type(one), "ready") and isinstance(one.fitted, StructuredModel)
        if not structured and not isinstance(one, MentionEstimator):
            kind = getattr(one, "kind", type(one).__name__)
            raise UsageError(f"a model of kind {kind!r} cannot teach, expected a trained model that finds mentions")
    if not all(isinstance(one.fitted, StructuredModel) for one in given):
        if len(given) > 1:
            raise UsageError("of several teachers the mean is learned, expected recognizers; give one model")
        return _Marker(given[0])
    each = [_Faculty([one], [one.fitted], getattr(one, "splitter_", Splitter())) for one in given]
    for other in each[1:]:
        _check_agree(each[0], other)
    return _Faculty(given, [one.models[0] for one in each], each[0].splitter)


def _check_agree(first: _Faculty | _Marker, other: _Faculty | _Marker) -> None:
    """Check that teachers can teach the same student.

    Raises:
        UsageError: they cannot.
    """
    for what, found, expected in (
        ("structure", str(other.structure), str(first.structure)),
        ("counting", other.counting, first.counting),
        ("types", ", ".join(other.types), ", ".join(first.types)),
        ("splits of tokens", _patterns(other.splitter), _patterns(first.splitter)),
        ("way of teaching", other.way, first.way),
    ):
        if found != expected:
            raise UsageError(
                f"a teacher's {what}: {found}, expected {expected}, as of the first teacher; teachers of one "
                "student must agree in this"
            )


class _Marker(NamedTuple):
    """A teacher that is not one structured model, and teaches the mentions that it finds."""

    teacher: MentionEstimator[Any]
    splitter: Splitter = Splitter()
    structure: Structure = structure_of("separators")
    counting: Any = "subgraphs"
    way: str = "the mentions that it finds"

    @property
    def types(self) -> tuple[str, ...]:
        """K names."""
        return self.teacher.types_

    @property
    def overlaps(self) -> OverlapRules:
        """Which mentions may overlap: all, as those that are found show."""
        return OverlapRules.free(len(self.types))

    def prepared(self, document: Document) -> Document:
        """Return a document with the tokens that a student will see: without words that the teacher finds."""
        if "words" in self.teacher.annotates:
            document = Document(document.text, document.id, mentions=document.mentions, meta=document.meta)
        return prepare(document)

    def marked(self, texts: Sequence[Document], _: Executor) -> list[Document]:
        """Return prepared text with the mentions that the teacher finds."""
        found = self.teacher.stream(texts)
        return [one.copy(mentions=marked.mentions) for one, marked in zip(texts, found, strict=True)]

    def lessons(
        self, texts: Sequence[Document], run: Executor, callback: Listener, began: float
    ) -> tuple[None, TeachingReport, list[Document]]:
        """Return prepared text with the mentions that the teacher finds."""
        found = self.marked(texts, run)
        sentences, tokens = sum(one.sentence_count for one in found), sum(one.token_count for one in found)
        mentions = sum(len(one.mentions) for one in found)
        callback(Progress(f"teaching, {tokens:,} tokens", seconds=monotonic() - began))
        report = TeachingReport(1, len(texts), sentences, tokens, mentions, None, weight=1.0, tried=(), own=False)
        return None, report, found


class _Faculty(NamedTuple):
    """Teachers of one structure.

    Args:
        teachers: one at least.
        models: what each has learned.
        splitter: of tokens, the same for all.
    """

    teachers: Sequence[Teacher]
    models: Sequence[StructuredModel[Scorer]]
    splitter: Splitter
    way: str = "the structures that it expects"

    @staticmethod
    def prepared(document: Document) -> Document:
        """Return a document with tokens and sentences."""
        return prepare(document)

    @property
    def types(self) -> tuple[str, ...]:
        """K names."""
        return self.models[0].types

    @property
    def structure(self) -> Structure:
        """That of all."""
        return self.models[0].structure

    @property
    def counting(self) -> Any:
        """That of all."""
        return self.models[0].engine.counting

    @property
    def overlaps(self) -> OverlapRules:
        """Which mentions may overlap: what the first teacher has learned."""
        rules: OverlapRules | None = getattr(self.teachers[0], "overlaps_", None)
        return OverlapRules.free(len(self.types)) if rules is None else rules

    def lessons(
        self, texts: Sequence[Document], run: Executor, callback: Listener, began: float
    ) -> tuple[SoftCounts, TeachingReport, Sequence[Document]]:
        """Return what the teachers expect of prepared text: the mean of their expected counts."""
        engine, rows = self.models[0].engine, self.models[0].start_rows
        parts, sentences, tokens = [], 0, 0
        expected, least, most = 0.0, 0.0, 0.0
        for batch, potentials in self._scored(texts, run):
            counts = [CountTarget.expected(engine, each, batch.sentences, run) for each in potentials]
            roles, constants = (_mean([getattr(each, name) for each in counts]) for name in ("roles", "constants"))
            parts.append(SoftCounts.of(roles, constants, batch.sentences))
            begins = np.stack([each.roles[:, rows] for each in counts])
            expected += float(roles[:, rows].sum(dtype=float))
            least += float(begins.min(0).sum(dtype=float))
            most += float(begins.max(0).sum(dtype=float))
            sentences, tokens = sentences + len(batch.sentences) - 1, tokens + len(batch.tokens)
            callback(Progress(f"teaching, {tokens:,} tokens", seconds=monotonic() - began))
        agreement = least / most if len(self.models) > 1 and most else None
        report = TeachingReport(
            len(self.models), len(texts), sentences, tokens, expected, agreement, weight=1.0, tried=(), own=False
        )
        return SoftCounts.join(parts), report, texts

    def marked(self, texts: Sequence[Document], run: Executor) -> list[Document]:
        """Return prepared text with the mentions that the teachers find: those of the best structure for all."""
        found: list[Document] = []
        for batch, potentials in self._scored(texts, run):
            views = [one.penalized(each) for one, each in zip(self.models, potentials, strict=True)]
            mean = Potentials(*(_mean(arrays) for arrays in zip(*views, strict=True)))
            edges: Edges = self.models[0].engine.viterbi(mean, batch.sentences, run).edges
            table = self.structure.decode(edges, batch.sentences, self.types)
            found += place(batch, table, self.types)
        return [one.copy(mentions=marked.mentions) for one, marked in zip(texts, found, strict=True)]

    def _scored(self, texts: Sequence[Document], run: Executor) -> Iterator[tuple[Batch, list[Potentials]]]:
        """Yield batches, with the split tokens that all teachers see, and the potentials of each teacher."""
        for documents in batches(texts, BATCH_TOKENS):
            seen = [Batch.of(one.ready(documents)) for one in self.teachers]
            own = Batch.of(self.splitter.split(documents))
            if any(not np.array_equal(one.tokens, own.tokens) for one in seen):
                raise UsageError("a teacher changes the tokens of documents, expected only its learned splits")
            yield own, [model.scorer.score(batch, run) for model, batch in zip(self.models, seen, strict=True)]


def _mean(arrays: Sequence[Any]) -> Any:
    """Return the mean of arrays, of their own type."""
    return arrays[0] if len(arrays) == 1 else sum(arrays) / arrays[0].dtype.type(len(arrays))


def _patterns(splitter: Splitter) -> str:
    return " ".join(map(str, splitter.patterns)) or "none"
