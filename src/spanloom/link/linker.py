"""The joint linker: fit, predict, save, load. Its conventions are those of scikit-learn's estimators."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Literal, Self, get_args

from spanloom import modelfile
from spanloom.document import Batch, Document, Mention, batches
from spanloom.errors import UsageError, check_number
from spanloom.evaluate.compare import Item, exact
from spanloom.evaluate.compare import score as compare_mentions
from spanloom.evaluate.measures import Learning
from spanloom.features.computed import CATEGORY_COLUMN
from spanloom.formats.inputs import (
    Dev,
    Given,
    One,
    documents_of,
    one_of,
    requested_mentions,
    training_of,
)
from spanloom.learn import Listener, Progress
from spanloom.link import phases as groups
from spanloom.link.columns import LANGUAGE_MODEL
from spanloom.link.explain import explain
from spanloom.link.fitting import Fitter, Plan, unit_of
from spanloom.link.parameters import LinkerParameters
from spanloom.link.preparing import prepared
from spanloom.link.report import LinkReport, make_report
from spanloom.link.scores import known
from spanloom.link.store import parts_of, system_of
from spanloom.link.system import System
from spanloom.model.choices import WhichMentions
from spanloom.model.corpus import Lost, Notice
from spanloom.model.kinds import class_of
from spanloom.model.parameters import MentionEstimator, renamed
from spanloom.model.protocol import Annotation, Capability
from spanloom.model.resources import Sources
from spanloom.model.stages import Staged, learn_stages, run_stages
from spanloom.model.store import Estimated
from spanloom.model.structured import AnyModel
from spanloom.model.work import IN_MEMORY, Work, check_on_disk
from spanloom.modelfile import ModelPart
from spanloom.parallel import threads
from spanloom.recognize.constrained import constrained
from spanloom.recognize.constraints import Constraints, constraints_of
from spanloom.scoring.explanation import Explanation
from spanloom.tag.filling import (
    AUTO,
    COLUMN,
    check_source,
    check_use,
    fill,
    fill_batch,
    tagger_text,
)
from spanloom.text import prepare, prepare_all
from spanloom.text.splitting import Splitter, SplittingStream
from spanloom.vocabulary.read import read_vocabulary
from spanloom.vocabulary.store import Vocabulary

MENTIONS = get_args(WhichMentions)
BATCH_TOKENS = 40_000  # predicted at once
PAPER_FEATURES = (
    "bias", "w[0]", "w[-1]|w[0]", "w[-1]|w[0]|pos[0]", "w[0]|pos[0]", "w[-2]|w[-1]|pos[-2]|pos[-1]", "w:4[-1]",
    "w:-4[-1]", "common[-1]",
)  # fmt: skip
"""Templates 1 and 3 to 5 of Lou et al. (2017), Table 2, as far as they speak of words; labels are roles.

``common[-1]`` is whether the word before is a common disease word: see `Concepts.common_words`.
"""


class _Described(Estimated):
    """Values of a linker in a model file."""

    report: LinkReport


class Linker(LinkerParameters, MentionEstimator[System], Staged):
    """Recognizes mentions and links them to a vocabulary together: the transition system of Lou et al. (2017).

    - Finds: mentions that do not overlap, and a concept of each.
    - Cannot: hold overlaps or gaps.
    - Use: it to reproduce the paper, or to link short names by their context; otherwise `Recognizer` with ``link``,
      which finds mentions of any shape.

    {parameters}

    Attributes after fitting: ``types_``, ``model_``, ``report_``, ``splitter_``, and ``lost_``, the mentions that no
    derivation holds; the last is not saved.

    >>> from spanloom import Document, Linker, Mention
    >>> from spanloom.vocabulary import Concept, Vocabulary
    >>> names = Vocabulary.build([Concept("D1", "chest pain"), Concept("D2", "fever")])
    >>> texts = [("no chest pain", 3, 13, "D1"), ("mild fever", 5, 10, "D2")] * 20
    >>> notes = [Document(text, mentions=[Mention("x", [(a, b)], concepts=[c])]) for text, a, b, c in texts]
    >>> linker = Linker(iterations=2, folds=2).fit(notes, vocabulary=names)
    >>> linker.predict("no fever").mentions[0].concepts
    ('D2',)
    """

    kind: ClassVar[Literal["linker"]] = "linker"
    annotates: ClassVar = frozenset[Annotation](("mentions", "concepts"))
    capable: ClassVar = frozenset[Capability](
        ("scores", "given_mentions", "explain", "alternatives", "attributes", "compact", "constraints", "guarantees")
    )

    def fit(
        self, X: Given, y: Iterable[Any] | None = None, *, vocabulary: Vocabulary | str | Path | None = None,
        dev: Dev | None = None, progress: Listener | None = None, work: str | Path | Work | None = None,
    ) -> Self:  # fmt: skip
        """Train.

        Args:
            X: documents with mentions and their concepts, or texts; they are tokenized and split where they were not.
            y: for texts: the mentions of each, with their concepts, in place of the documents' own.
            vocabulary: what mentions are linked to; kept in the model. It must be given.
            dev: chooses the pass and the bias: documents, or a pair of texts and their mentions. When ``None``, a tenth
                of the training data, drawn by the seed, chooses the bias and when to stop, and then the linker is
                trained again on all of them.
            progress: called at each step.
            work: as for `Recognizer.fit`; spans and their candidates are in the folder, too.

        Raises:
            DataError: no tokens, no mentions, fewer than two documents, or a vocabulary that cannot be read.
            UsageError: a parameter whose value is not valid, or one that a folder has no place for, or no vocabulary.
        """
        self.check()
        if vocabulary is None:
            raise UsageError("a linker links to a vocabulary; give one to fit, as vocabulary")
        if work is not None:
            check_on_disk(self)
        began = monotonic()
        callback = progress or (lambda _: None)
        callback(Progress("reading"))
        if not isinstance(vocabulary, Vocabulary):
            vocabulary = read_vocabulary(vocabulary)
        language = self.language_model
        if isinstance(language, str | Path):
            language = class_of(LANGUAGE_MODEL).load(language)
        plan = self._plan(vocabulary)
        learns = self.pos == AUTO and plan.sources.names(COLUMN)
        with nullcontext() if work is None else Work.opened(work) as folder:
            ready = prepared(self, X, y, dev, vocabulary, learns, callback, folder)
            fitter = Fitter(plan, ready.types, vocabulary, language, ready.pos, callback, began, folder or IN_MEMORY)
            outcome = fitter.fit(ready.part, ready.held)
            if ready.given is None:
                outcome = fitter.refit(ready.train, outcome)
            check_use(ready.pos, outcome.system.reader.tagger.scorer.features)
            self.types_, self.splitter_ = ready.types, ready.splitter
            self.model_ = outcome.system
            self.lost_ = outcome.derivations.lost
            train = ready.train.documents
            following, reports = learn_stages(
                train, ready.given, None, self.attributes, len(ready.train.tokens), self.random_state,
                threads(self.n_jobs), lambda name: callback(Progress(name, seconds=monotonic() - began)),
            )  # fmt: skip
            self.report_ = replace(make_report(train, outcome), splitting=ready.splitting, **reports)
            self._follow(following)
            self._learn_profile(ready.train)
        self._warn_lost()
        return self

    def _plan(self, vocabulary: Vocabulary) -> Plan:
        sources = Sources(self.features, self.clusters, self.ignore, None, None, self.vectors)
        if not isinstance(self.features, str) and sources.names(CATEGORY_COLUMN):
            sources = replace(sources, vocabulary=vocabulary)
        recognizes, normalizes = self.task != "normalize", self.task != "recognize"
        chosen = {
            groups.RECOGNITION: self.state_features and recognizes,
            groups.NORMALIZATION: self.state_features and normalizes,
            groups.JOINT: self.nonlocal_features and self.task == "joint",
            groups.SEGMENTS: self.segments and recognizes,
            groups.CANDIDATES: self.segments and normalizes,
            groups.HISTORY: self.history and normalizes,
            groups.NIL: self.nil,
            groups.LANGUAGE: self.language_model is not None and normalizes,
        }
        bits = sum(group for group, on in chosen.items() if on)
        return Plan(self, sources, bits, not recognizes, self.evidence and recognizes, threads(self.n_jobs))

    def stream(
        self, X: Given, *, mentions: WhichMentions | None = None, threshold: float = 0.0, answers: bool = False,
        attributes: Sequence[str] | str | None = None, notice: Notice = warnings.warn,
        constraints: Constraints | Mapping[str, Any] | None = None,
    ) -> Iterator[Document]:  # fmt: skip
        """Documents with the mentions that are found and their concepts, in place of their own; lazily, in batches.

        A mention's score is its calibrated probability: its exact marginal in the tagging chain, mapped to how often
        what the linker finds with it is right in the development data.

        Args:
            X: a text, a document, several of them, or a column of texts; tokens and sentences are made where they are
                missing.
            mentions: ``find``, or ``given`` to link the documents' own mentions and to look for no others; by the
                task when ``None``.
            threshold: leave out mentions with a lower score.
            answers: as for `Recognizer.stream`, of mentions without their concepts.
            attributes, notice: as for `Recognizer.stream`.
            constraints: likewise; they decide among candidates, see `spanloom.recognize.constrained`. Without answers.

        Raises:
            UsageError: another value, a threshold or answers of given mentions, or the linker is not trained.
        """
        source = mentions or ("given" if self.task == "normalize" else "find")
        if source not in MENTIONS:
            raise UsageError(f"mentions is {mentions!r}, expected one of {', '.join(MENTIONS)}")
        check_number("threshold", threshold, 0, 1)
        if source == "given" and (threshold or answers):
            raise UsageError("given mentions keep their scores; leave threshold and answers out, or find mentions")
        stages, marked = self._marking(attributes)
        documents = self._watched(documents_of(X), notice)
        if demands := constraints_of(constraints, self.fitted.types, source):
            return marked(constrained(self, documents, demands, stages, threshold, notice, flat=True, answers=answers))
        system, run, splitting = self.fitted, threads(self.n_jobs), SplittingStream(self.splitter_, notice)

        def linked() -> Iterator[Document]:
            for some in batches(documents, BATCH_TOKENS):
                filled = fill_batch(Batch.of(prepare_all(some)), system.pos, run.workers)
                batch = splitting.split(filled, some).documents
                found = system.link(batch, source == "given", run, threshold, answers)
                yield from run_stages(stages, splitting.join(found))

        return marked(linked())

    def score(self, X: Given, y: Iterable[Any] | None = None) -> float:
        """F1 from 0 to 1, of mentions that are right in type, spans and concepts; arguments as of `Recognizer.score`.

        Raises:
            UsageError: the linker is not trained.
        """
        concepts = self.fitted.concepts

        def linked(document: Document) -> Iterator[Item]:
            for key, mention in exact(document):
                yield (key, frozenset(known(identifier, concepts) for identifier in mention.concepts)), mention

        gold = list(training_of(X, y))
        return compare_mentions(gold, list(self.stream(gold)), key=linked).f1

    @property
    def structured(self) -> tuple[AnyModel, ...]:
        """The trained model of its tagging chain."""
        return (self.fitted.reader.tagger,)

    def with_penalty(self, penalty: float) -> Self:
        """A copy with another bias of beginning a mention, in units of the margin."""
        check_number("penalty", penalty)
        other = copy(self)
        other.model_ = replace(self.fitted, bias=penalty * unit_of(self))
        return other

    def learning(self) -> Learning:
        """Return the learning curve, pass by pass."""
        history = self.report_.history
        return Learning({"F1 of mentions": [row[1] for row in history], "F1 of concepts": [row[2] for row in history]})

    def summary(self) -> Iterator[str]:
        """Return some lines on what training saw, chose and could not hold."""
        return self.report_.lines(self.lost_, self.types_)

    @property
    def vocabulary(self) -> Vocabulary:
        """The concepts that mentions are linked to.

        Raises:
            NotFittedError: the linker is not trained.
        """
        return self.fitted.concepts.vocabulary

    resolver = vocabulary

    def _description(self) -> dict[str, Any]:
        system, names = self.fitted, len(self.vocabulary.names)
        return {
            "types": list(self.types_),
            "templates": [str(template) for template in system.reader.tagger.scorer.features.templates],
            "tagger": tagger_text(system.pos),
            "vocabulary": f"{len(self.vocabulary):,} concepts, {names:,} names",
            "combinations": len(system.concepts.combinations),
            **{one.name: one.describe() for one in self.stages_},
        }

    def explain(self, X: One, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
        """Explain what mentions were linked to, or would be, and why: see `spanloom.link.explain`.

        Args:
            X: a text or a document, whose own mentions are not looked at.
            mentions: those to explain; what the linker finds when ``None``.

        Raises:
            UsageError: a mention that the linker cannot hold, or of a type that it does not know.
        """
        [ready] = self.splitter_.split(fill([prepare(one_of(X))], self.fitted.pos, self.n_jobs))
        return explain(self.fitted, ready, requested_mentions(ready, mentions))

    def to_part(self) -> ModelPart:
        """See `spanloom.modelfile.save`; the vocabulary is in it."""
        return self._as_part(_Described.of(self), parts_of(self.fitted))

    @classmethod
    def from_part(cls, part: ModelPart) -> Self:
        """See `spanloom.modelfile.load`."""
        values = part.read(_Described)
        system = system_of(part)
        made = values.restored(cls, system)
        made._restore(part, system.types, {"tagger", "link"})
        made.language_model = made.language_model or system.language
        made.pos = made.pos or system.pos
        return made

    def check(self) -> None:
        """Check that the parameters have valid values.

        Raises:
            UsageError: one has not.
        """
        super().check()
        check_source(self.pos)
        if self.task != "recognize" and not self.segments and not self.state_features:
            raise UsageError(
                "without segments and state_features no feature distinguishes candidates; give one of them"
            )

    types_: tuple[str, ...]
    splitter_ = Splitter()
    system_ = renamed("system_")
    report_: LinkReport
    lost_: tuple[Lost, ...]


def load(path: str | Path) -> Linker:
    """A linker that was saved.

    Raises:
        ModelError: the folder holds no linker, or a damaged one, or one of another format.
    """
    return modelfile.load(Linker, path)
