"""The recognizer: fit, predict, save, load. Its conventions are those of scikit-learn's estimators."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from spanloom.document import Batch, Document, Mention, batches
from spanloom.document.arrays import MentionArrays
from spanloom.errors import ModelError, UsageError, check_number
from spanloom.evaluate.measures import Learning
from spanloom.features import FeatureSet
from spanloom.formats.inputs import Dev, Given, One, documents_of, one_of, requested_mentions
from spanloom.learn import Listener
from spanloom.model.arrays import place_arrays
from spanloom.model.calibration import answered
from spanloom.model.choices import ExecutorName, WhichMentions
from spanloom.model.corpus import Lost, Notice, place
from spanloom.model.explain import explain
from spanloom.model.overlaps import OverlapRules
from spanloom.model.parameters import LEAST, renamed
from spanloom.model.protocol import Annotation, Capability
from spanloom.model.report import TrainingReport
from spanloom.model.stages import Stage, Staged, explained, run_stages
from spanloom.model.store import (
    Estimated,
    features_of,
    model_of,
    model_part,
    near_encoder,
    shared_of,
    shared_part,
    structure_in,
)
from spanloom.model.strongest import Strongest, names_from
from spanloom.model.structured import of_structures
from spanloom.modelfile import ModelPart
from spanloom.parallel import Executor, threads
from spanloom.passes import DocumentPass
from spanloom.recognize.choosing import AUTO
from spanloom.recognize.constraints import Constraints, constraints_of
from spanloom.recognize.drawing import Drawing
from spanloom.recognize.finding import Finder, OneStage, TwoStages
from spanloom.recognize.parameters import RecognizerParameters, check_encoder, check_encoder_training
from spanloom.rescoring import Rescorer
from spanloom.rescoring.explaining import explain_wholes
from spanloom.scoring.explanation import Explanation
from spanloom.structures import MentionTable, Structure, structure_of
from spanloom.structures.base import concatenate, identities
from spanloom.tag.filling import Filler, check_source, fill, fill_batch, tagger_text
from spanloom.text import prepare, prepare_all
from spanloom.text.splitting import Splitter, SplittingStream

if TYPE_CHECKING:
    from spanloom.model.work import Work

BATCH_TOKENS = 90_000  # predicted at once


class _Described(Estimated):
    """Values of a recognizer in a model file."""

    report: TrainingReport
    strongest: Strongest


class Recognizer(RecognizerParameters, Drawing, Staged):
    """A trainable recognizer of mentions.

    - Finds: nested, overlapping and discontinuous mentions, each with its calibrated probability; with ``link``
      their concepts, and attributes such as negation that training mentions have.
    - Cannot: find types that no training mention has, or segment text without spaces (see `Segmenter`).
    - Use: it by default. ``structure`` and ``encoder`` are the choices that matter most.

    {parameters}

    Attributes after fitting: ``types_``, ``structure_``, ``model_``, ``report_``, ``strongest_``, ``pos_``,
    ``splitter_``, ``pass_``, ``profile_``, ``stages_``, and ``lost_``, the mentions that the model cannot hold; the
    last is not saved.

    >>> from spanloom import Document, Mention, Recognizer
    >>> documents = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 50
    >>> recognizer = Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(documents)
    >>> found = recognizer.predict("no chest pain today")
    >>> found.mentions[0].spans, found.mentions[0].score > 0.5
    ((Span(start=3, end=13),), True)
    """

    kind: ClassVar[Literal["recognizer"]] = "recognizer"
    annotates: ClassVar = frozenset[Annotation](("mentions",))
    capable: ClassVar = frozenset[Capability]((
        "scores", "readings", "explain", "alternatives", "sweep", "hypergraph", "arrays", "compact", "attributes",
        "constraints", "guarantees",
    ))  # fmt: skip

    def fit(
        self, X: Given, y: Iterable[Any] | None = None, *, dev: Dev | None = None, progress: Listener | None = None,
        work: str | Path | Work | None = None, executor: ExecutorName | Executor = "threads",
    ) -> Self:  # fmt: skip
        """Train.

        Args:
            X: documents with mentions, or texts; tokens and sentences are made where they are missing.
            y: for texts: the mentions of each, as `Mention` or ``(type, start, end)``, in place of the documents' own.
            dev: tunes what has to be tuned: documents, or a pair of X and y; a tenth of the training data, drawn by the
                seed, when ``None``.
            progress: called at each step.
            work: a folder for text, features and gold structures that do not fit in memory; X is then read once, as
                it comes. The model is the same, but for ``vectors``, of which ``auto`` tries none then. A killed
                training resumes from the folder. What it wrote is removed at its end, or if this is a
                `spanloom.model.work.Work`, at the end of that.
            executor: what L-BFGS's objective is summed by: ``threads`` of this process, or with a folder that they
                share ``processes``, ``ray`` or ``spark``, ``n_jobs`` of them, or an `spanloom.parallel.Executor`. The
                model is the same, to the byte.

        Raises:
            DataError: no tokens, or no mentions; or the folder has no room.
            UsageError: a parameter whose value is not valid, or one that a folder or an executor has no place for.
            SpanloomError: a worker died. The folder is kept, and the same call resumes from it.
        """
        self.check()
        training: Any = resolve_name("spanloom.recognize.fitting")  # which prediction does without
        training.check_executor(self, executor, work)
        began = monotonic()
        callback, more = progress or (lambda _: None), self._more_templates()
        if work is None:
            ready = training.prepared(self, X, y, dev, callback, templates=more)
            training.fit_prepared(self, ready, callback, began)
            return self
        training.check_on_disk(self)
        with training.Work.opened(work) as folder:
            ready = training.prepared_on_disk(self, X, y, dev, callback, folder, templates=more)
            with folder.worked_on_by(executor, self.n_jobs):
                training.fit_prepared(self, ready, callback, began, work=folder)
        return self

    def _more_templates(self) -> Sequence[str]:
        """Templates beside those that ``features`` names."""
        if self.structure == AUTO or not self.featured:
            return ()  # no structure that auto chooses from has templates of its own
        return self._structure.templates()

    def _columns(self) -> FeatureSet | None:
        """Features of columns whose scores are added to an encoder's, which cannot see them."""
        return None

    def stream(
        self, X: Given, *, threshold: float = 0.0, answers: bool = False, notice: Notice = warnings.warn,
        mentions: WhichMentions = "find", attributes: Sequence[str] | str | None = None,
        constraints: Constraints | Mapping[str, Any] | None = None, expand: bool = False,
    ) -> Iterator[Document]:  # fmt: skip
        """Documents with the mentions that the model finds, in place of their own; lazily, in batches.

        Each mention's score is its calibrated probability: the exact marginal of its path in the structure, or what the
        second stage makes of it, mapped to how often such predictions are right in the development data.

        Args:
            X: a text, a document, several of them, or a column of texts; tokens and sentences are made where they are
                missing.
            threshold: leave out mentions with a lower score.
            answers: whether ``meta["answer"]`` gives the probability that the answer is right as a whole: of each of
                the ``sentences``, and their product as ``probability``; the threshold does not matter. It is that of
                the best structure, or with a second stage that of all candidates.
            notice: called with each sentence where the reading ``all`` is cut short, and once for each model if the
                text differs much from its training text: in words, letter case, script or line ends.
            mentions: ``find``, or ``given`` to keep to the documents' own mentions, which get what stages after
                recognition add, such as concepts.
            attributes: of mentions; those that were learned when ``None``. Of names, those that were not learned are
                marked by rules, see `spanloom.attributes`; ``all`` selects all of both, ``none`` no attribute.
            constraints: on the mentions, or a mapping of their arguments: see `spanloom.recognize.Constraints`.
            expand: whether the mentions that coordinated ones stand for are added, as *breast cancer* and *ovarian
                cancer* for *breast and ovarian cancer*; see `spanloom.recognize.expanding`.

        Raises:
            UsageError: mentions are given, and nothing is added to them; or an attribute that is not known.
            DataError: nothing meets the constraints.
        """
        check_number("threshold", threshold, 0, 1)
        documents = self._watched(documents_of(X), notice)
        requested = constraints_of(constraints, self.fitted.types, mentions)
        more = partial(resolve_name("spanloom.recognize.expanding:expanded"), second=self.second_) if expand else iter
        if mentions == "given":
            return more(self._of_given(documents, attributes, BATCH_TOKENS))
        stages, marked = self._marking(attributes)
        return marked(more(self._stream(documents, threshold, answers, notice, stages, requested)))

    def stream_arrays(
        self, X: Given, *, threshold: float = 0.0, notice: Notice = warnings.warn
    ) -> Iterator[MentionArrays]:
        """What `stream` finds, as arrays without an object for each mention; lazily, for some documents at a time.

        The arguments are those of `stream`. Documents keep their order.
        """
        check_number("threshold", threshold, 0, 1)
        splitting, way = SplittingStream(self.splitter_, notice), self._finder()

        def placed(batch: Batch) -> MentionArrays:
            own = way.find(batch, way.model.scorer.score(batch, way.run), notice)
            given = (batch, own.table, way.model.types, own.scores, threshold)
            return place_arrays(*given, partial(splitting.predicted, partial(place, *given)))

        return map(placed, self._batches(self._watched(documents_of(X), notice), splitting))

    def alternatives(
        self, X: Given, *, constraints: Constraints | Mapping[str, Any] | None = None
    ) -> Iterator[Document]:
        """Documents with mentions that are considered, but not found, of a probability of at least 0.05; lazily.

        Args:
            X: as of `stream`.
            constraints: as of `stream`; probabilities are conditional on them.
        """
        requested = constraints_of(constraints, self.fitted.types)
        for found, others in self._considered(X, lambda _: None, LEAST, requested):
            yield found.copy(mentions=others)

    def _considered(
        self, X: Given, notice: Notice, least: float, constraints: Constraints | None = None
    ) -> Iterator[tuple[Document, list[Mention]]]:
        """As of all estimators of mentions; features are scored once."""
        splitting, way, types = SplittingStream(self.splitter_, notice), self._finder(), self.fitted.types
        for batch in self._batches(self._watched(documents_of(X), notice), splitting):
            potentials = way.model.scorer.score(batch, way.run)
            laid = None if constraints is None else constraints.lay(batch, way)
            if laid is None:
                found, (table, scores) = way.find(batch, potentials, notice), way.plausible(batch, potentials)
            else:
                found, (table, scores) = laid.find(way, potentials, notice), laid.plausible(way, potentials)
            more = ~np.isin(identities(table), identities(found.table)) & (scores >= least)
            every = concatenate([found.table, table.take(more)])
            own = [{m.key for m in one.mentions} for one in place(batch, found.table, types, found.scores)]
            placed = splitting.join(place(batch, every, types, np.append(found.scores, scores[more])))
            for keys, one in zip(own, run_stages(self.stages_, placed), strict=True):
                mentions = [mention for mention in one.mentions if mention.key in keys]
                yield one.copy(mentions=mentions), [mention for mention in one.mentions if mention.key not in keys]

    def _stream(
        self, documents: Iterable[Document], threshold: float, answers: bool, notice: Notice,
        stages: Sequence[Stage], constraints: Constraints | None,
    ) -> Iterator[Document]:  # fmt: skip
        splitting, way = SplittingStream(self.splitter_, notice), self._finder()
        for batch in self._batches(documents, splitting):
            potentials = way.model.scorer.score(batch, way.run)
            laid = None if constraints is None else constraints.lay(batch, way)
            found = laid.find(way, potentials, notice) if laid else way.find(batch, potentials, notice)
            placed = splitting.join(place(batch, found.table, way.model.types, found.scores, threshold))
            staged = run_stages(stages, answered(placed, found.answers()) if answers else placed)
            yield from constraints.restored(batch.documents, staged) if constraints else staged
        if constraints:
            constraints.warn_unused(notice)

    def _finder(self) -> Finder:
        """Return the way of the model: with its second stage, if it has one; without rules all may overlap."""
        model, run = self.fitted, threads(self.n_jobs)
        if self.second_ is not None:
            return TwoStages(model, self.reading, run, self.second_)
        return OneStage(model, self.reading, run, self.overlaps_ or OverlapRules.free(len(model.types)))

    def _batches(self, documents: Iterable[Document], splitting: SplittingStream | None = None) -> Iterator[Batch]:
        splitting = splitting or SplittingStream(self.splitter_, lambda _: None)
        for given in batches(documents, BATCH_TOKENS):
            batch = splitting.split(fill_batch(Batch.of(prepare_all(given)), self.pos_, self.n_jobs), given)
            if self.pass_ is not None:
                batch = self.pass_.fill(batch, threads(self.n_jobs))
            yield self.fitted.scorer.prepare(batch)

    def with_penalty(self, penalty: float) -> Self:
        """A copy with another mention penalty."""
        check_number("penalty", penalty)
        other = copy(self)
        other.model_ = self.fitted.with_penalty(penalty)
        if self.second_ is not None:
            other.second_ = self.second_.with_penalty(penalty - self.fitted.penalty)
        return other

    def learning(self) -> Learning:
        """Return the learning curve, step by step."""
        report = self.report_
        f1, objective = [f1 for _, f1 in report.history], [objective for objective, _ in report.history]
        return Learning({"F1": f1}, objective, report.steps if self.runs == 1 and self.optimizer == "adagrad" else None)

    def _description(self) -> dict[str, Any]:
        own = of_structures(self.types_, self.structured)
        return {
            "structure": self.structure_,
            **own,
            "tagger": tagger_text(self.pos_),
            **{one.name: one.describe() for one in self.stages_},
        }

    def explain(self, X: One, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
        """Explain why mentions are found in a text, or not: see `spanloom.model.explain`.

        Args:
            X: a text or a document, whose own mentions are not looked at.
            mentions: those to explain; what the model predicts when ``None``, without mentions with gaps where only the
                second stage knows them.

        Raises:
            UsageError: a mention that the model cannot hold, or of a type that it does not know.
        """
        [ready] = self.ready([one_of(X)])
        requested = requested_mentions(ready, mentions)
        [own] = self._stream([ready], 0.0, False, lambda _: None, (), None)
        found = own.mentions
        if requested is None and not self.fitted.structure.holds(MentionTable.build([(0, 0, ((0, 1), (2, 3)))]))[0]:
            requested = [mention for mention in found if len(mention.spans) == 1]
        why: Iterable[Explanation] = explain(
            self.fitted, ready, found if requested is None else requested, self.reading
        )
        if self.second_ is not None:
            why = explain_wholes(self.fitted, self.second_, ready, why, found, self.reading)
        return list(explained(self.stages_, ready, found, why) if self.stages_ else why)

    def ready(self, documents: Iterable[Document]) -> list[Document]:
        """Documents with what `fitted` needs: split tokens, sentences and the columns that are filled."""
        split = self.splitter_.split(fill(map(prepare, documents), self.pos_, self.n_jobs))
        return split if self.pass_ is None else self.pass_.fill(Batch.of(split), threads(self.n_jobs)).views()

    def to_part(self) -> ModelPart:
        """See `spanloom.modelfile.save`."""
        values = _Described.of(self, strongest=vars(self).get("strongest_"))
        own = {"columns": shared_part(features_of(self.fitted)), "structure": model_part(self.fitted)}
        return self._as_part(values, own)

    @classmethod
    def from_part(cls, part: ModelPart, structure: Structure | None = None) -> Self:
        """See `spanloom.modelfile.load`.

        Args:
            part: what `to_part` gave.
            structure: that of the model, if its class is your own.
        """
        values = part.read(_Described)
        if not {"structure", "reading"} <= values.params.keys():
            raise ModelError("the parameters name no structure, or no reading")
        stored = near_encoder(part.part("structure"), values.params)
        shared = shared_of(part.parts.get("columns"))
        model = model_of(stored, shared, structure_in(stored, structure))
        made = values.restored(cls, model, **({"structure": structure} if structure else {}))
        if made.structure != AUTO and str(made._structure) != str(model.structure):
            raise ModelError(f"the parameters name the structure {made._structure}, the model {model.structure}")
        made.strongest_ = values.strongest
        made._restore(part, model.types, columns=shared, features=features_of(model))
        made.pos = made.pos or made.pos_  # a tagger that was not given as a path
        return made

    def check(self) -> None:
        """Check that the parameters have valid values.

        Raises:
            UsageError: one has not.
        """
        if self.structure != AUTO:
            structure_of(self.structure, also=(AUTO,))
        super().check()
        check_encoder(self)
        if self.with_features and self.encoder is None:
            raise UsageError("with_features adds features to an encoder, but no encoder is given; name its folder")
        check_encoder_training(self)
        check_source(self.pos)
        names_from(self.names)
        if self.structure != AUTO:
            _ = self._structure

    @property
    def structure_(self) -> str:
        """The structure of the trained model, such as ``shared``.

        Raises:
            NotFittedError: it is not trained.
        """
        return str(self.fitted.structure)

    @property
    def _structure(self) -> Structure:
        if self.structure != AUTO:
            return structure_of(self.structure, components=self.components, longest=self.longest)
        return self._picked or self.fitted.structure

    @property
    def _headless(self) -> str | None:
        return self.headless if self._structure.heads else None

    types_: tuple[str, ...]
    tagger_ = renamed("tagger_")
    report_: TrainingReport
    lost_: tuple[Lost, ...]
    strongest_: Strongest
    pos_: Filler | None = None
    splitter_ = Splitter()
    overlaps_: OverlapRules | None = None  # all may
    second_: Rescorer | None = None
    pass_: DocumentPass | None = None
    _picked: Structure | None = None  # by auto
    _crosses = True  # whether small training data are cross-validated
