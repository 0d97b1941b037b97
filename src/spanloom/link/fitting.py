"""From annotated documents to a trained linker, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document, batches
from spanloom.document.batch import Picked
from spanloom.errors import DataError
from spanloom.features import Built, FeatureSet
from spanloom.files.scratch import MEMORY, FolderScratch
from spanloom.hypergraph import Ints
from spanloom.learn import EarlyStopping, Listener, Progress, TrainingHistory
from spanloom.learn.folds import cross_fit, deal
from spanloom.learn.platt import Scalings
from spanloom.learn.tuning import Chosen, Envelope, nearest_best
from spanloom.link.arrays import Forms
from spanloom.link.chain import fit_chain
from spanloom.link.columns import COMMON, DICTIONARY_TEMPLATES, LANGUAGE_TEMPLATES, WordModel, with_columns
from spanloom.link.instances import Derivations, Instance, Reader, derive, join
from spanloom.link.learning import KEYED, KeyedWeights, Search, Singles, filled_table, new_table, perceptron
from spanloom.link.names import Concepts, NameMemory, find_combinations
from spanloom.link.parameters import LinkerParameters
from spanloom.link.proposals import Proposer
from spanloom.link.scores import LinkerScores, measure
from spanloom.link.system import DecodedMentions, Prescribed, System
from spanloom.model.calibration import CalibrationReport, fit_scalings
from spanloom.model.corpus import place
from spanloom.model.resources import Sources
from spanloom.model.spool import spooled
from spanloom.model.structured import LinearModel
from spanloom.model.work import BLOCK, IN_MEMORY, Room
from spanloom.parallel import SERIAL, Executor
from spanloom.tag.filling import Filler
from spanloom.vocabulary.candidates import CandidateFinder
from spanloom.vocabulary.lexicon import text_runs
from spanloom.vocabulary.store import Vocabulary

MOST_TOKENS = 20  # of a mention
_Steps = tuple[tuple[int, float, float], ...]
_BIASES = (-0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0)  # tried, in units of the margin or of 10


@dataclass(frozen=True)
class Plan:
    """Settings for the training of a linker.

    Args:
        chosen: its parameters.
        sources: of features.
        groups: of features of segments and concepts.
        given: whether mentions are, and only linked.
        evidence: whether a tagging chain's probabilities are features.
        run: how pieces of the work are run; the result does not depend on it.
    """

    chosen: LinkerParameters
    sources: Sources
    groups: int
    given: bool
    evidence: bool
    run: Executor


@dataclass(frozen=True)
class FittedLinker:
    """Result of the training of a linker.

    Args:
        system: trained.
        derivations: of the training data.
        scores: of development data.
        calibration: of probabilities, on development data; ``None`` where mentions are given.
        passes: of each run.
        history: updates and development scores of each pass.
    """

    system: System
    derivations: Derivations
    scores: LinkerScores
    calibration: CalibrationReport | None
    passes: tuple[int, ...]
    history: _Steps


@dataclass
class Fitter:
    """One training.

    Args:
        plan: how.
        types: K names.
        vocabulary: to link to.
        language: language model, if there is one.
        pos: fills a column of documents that lack it, if anything does.
        callback: called at each step.
        began: when, by `monotonic`.
        room: of arrays and passes.
    """

    plan: Plan
    types: tuple[str, ...]
    vocabulary: Vocabulary
    language: WordModel | None
    pos: Filler | None
    callback: Listener
    began: float
    room: Room = IN_MEMORY

    def fit(self, train: Batch, dev: Sequence[Document]) -> FittedLinker:
        """Train on prepared documents; others choose the pass of each run, and the bias."""
        with self.room.part("part") as room:
            ground = self._ground(train, room)
            development = LinkerDevelopment(ground.system, dev, self.plan.given, self.plan.run)
            chosen = self.plan.chosen
            fits = [self._run(n, ground, room, development, chosen.iterations) for n in range(chosen.runs)]
        system = replace(ground.system, weights=merge([weights for weights, _ in fits]))
        system, scores = self._biased(system, development)
        checked = None
        if not self.plan.given:
            scalings, checked = development.calibrated(system)
            system = replace(system, scalings=scalings)
        history = tuple(step for _, steps in fits for step in steps)
        passes = tuple(len(steps) for _, steps in fits)
        return FittedLinker(system, ground.derivations, scores, checked, passes, history)

    def refit(self, documents: Batch, chosen: FittedLinker) -> FittedLinker:
        """Train on all documents, with the bias that some of them, held out, have chosen.

        Each run takes as many passes as it took then, to the last and not to the best: averaged weights rarely get
        worse, and which pass is the best is chance.
        """
        with self.room.part("all") as room:
            ground = self._ground(documents, room)
            runs = [self._run(number, ground, room, None, passes)[0] for number, passes in enumerate(chosen.passes)]
        known = chosen.system
        system = replace(ground.system, weights=merge(runs), bias=known.bias, scalings=known.scalings)
        return replace(chosen, system=system, derivations=ground.derivations)

    def _ground(self, train: Batch, room: Room) -> _Ground:
        """Learn what comes before the perceptron, and return it with the training data as the perceptron sees them."""
        plan = self.plan
        self._step("vocabulary")
        documents = train.documents
        combinations = find_combinations(documents, self.types, self.vocabulary) if plan.chosen.composites else ()
        self.concepts = Concepts(self.vocabulary, combinations)
        self.forms = concept_forms(self.concepts)
        self.finder = CandidateFinder(self.vocabulary, None, k=plan.chosen.candidates, method=plan.chosen.method)
        longest = (Prescribed(part, self.types).longest for part in train.blocks(BLOCK))
        self.longest = min(MOST_TOKENS, max(longest, default=1))
        if len(documents) < 2:
            raise DataError(f"the training data hold {len(documents)} document, expected at least 2; give more")
        fold = deal(len(documents), min(plan.chosen.folds, len(documents)), plan.chosen.random_state)
        order = np.argsort(fold, kind="stable")
        search = Search(self.forms, plan.groups, len(self.types), self.longest, plan.chosen.beam)
        named = plan.sources.features
        reads_common = not isinstance(named, str) and any(f"{COMMON}[" in template for template in named)
        common = self.concepts.common_words if reads_common else None
        names = self.finder.lexicon

        def columned(block: Sequence[Document]) -> Batch:
            return with_columns(Batch.of(list(block)), names, self.language, common)

        picked = Picked(documents, order.tolist())
        if isinstance(room.scratch, FolderScratch):
            blocks = (columned(block).views() for block in batches(picked, BLOCK))
            ordered = spooled(blocks, "documents", room.scratch)
        else:
            ordered = columned(picked)
        more = [*DICTIONARY_TEMPLATES] if plan.chosen.dictionary else []
        if self.language is not None and plan.chosen.language_words:
            more += LANGUAGE_TEMPLATES
        features = plan.sources.feature_set(ordered.documents, more=more)
        instance = self._jackknife(ordered, fold[order], features, room)
        self._step("tagging chain")
        chain, built = fit_chain(ordered, self.types, features, plan.chosen.random_state, plan.run, room)
        empty = KeyedWeights(np.zeros((0, search.roles), np.float32), new_table(0))
        system = System(
            self.types, self._reader(chain, ordered), self.concepts, self.language, search, empty,
            pos=self.pos,
        )  # fmt: skip
        derivations = derive(ordered, instance, self.types, self.concepts, self.longest)
        return _Ground(system, instance, built, derivations)

    def _reader(self, chain: LinearModel, batch: Batch) -> Reader:
        """The reader whose probabilities and memory come from a batch."""
        chosen, memory = self.plan.chosen, NameMemory.build(batch, self.types, self.concepts)
        finder = self.finder.with_memory(memory.texts)
        proposer = Proposer(memory, finder, chosen.candidates, self.longest, len(self.types))
        return Reader(chain, proposer, self.forms, float(chosen.least), self.plan.evidence)

    def _jackknife(self, everything: Batch, fold: Ints, features: FeatureSet, room: Room) -> Instance:
        """The training data as they look to a linker that was trained on the other folds; (D,) the fold of each."""
        plan = self.plan

        def fit(rest: list[int]) -> Reader:
            others = everything.take(rest)
            [number] = np.setdiff1d(fold, fold[rest]).tolist()
            with room.part(f"fold-{number}") as own:
                chain, _ = fit_chain(others, self.types, features, plan.chosen.random_state, SERIAL, own)
            return self._reader(chain, everything if plan.chosen.own_memory else others)

        def read_part(reader: Reader, held: Batch) -> Instance:
            if not plan.given and not plan.chosen.gold_candidates:
                return reader.read(held)
            prescribed = Prescribed(held, self.types)
            gold = prescribed.numbers(self.concepts) if plan.chosen.gold_candidates else None
            return reader.read(held, None, prescribed.spans, gold)

        def read(reader: Reader, rows: list[int]) -> Instance:
            held = everything.take(rows)
            own = opened.enter_context(room.part(f"spans-{rows[0]}"))
            if own.scratch is MEMORY:
                return read_part(reader, held)
            return join((read_part(reader, part) for part in held.blocks(BLOCK)), own.scratch)

        self._step("tagging chains of the folds")
        with ExitStack() as opened:
            return join(cross_fit(fold, fit, read, plan.run), room.scratch)

    def _run(
        self, number: int, ground: _Ground, room: Room, development: LinkerDevelopment | None, passes: int
    ) -> tuple[KeyedWeights, _Steps]:
        """Run the perceptron; without development data to the last pass.

        Returns:
            The best weights, and updates and development scores of each pass.
        """
        chosen, gold = self.plan.chosen, ground.derivations.gold

        def metric(weights: KeyedWeights) -> float:
            if development is None:
                return 0.0
            scores = development.scores(replace(development.system, weights=weights))
            history.details.append(scores)
            return scores.mean

        def callback(progress: Progress) -> None:
            f1, concepts, _ = history.details[-1] if history.details else (None, None, None)
            self.callback(replace(progress, objective=None, dev_f1=f1, dev_concepts=concepts))

        stage = "training" + (f", run {number + 1} of {chosen.runs}" if chosen.runs > 1 else "")
        history = TrainingHistory("training on all" if development is None else stage, passes, callback, self.began)
        stopping = EarlyStopping(metric, passes, history, patience=chosen.patience)
        perceptron(
            ground.system.search, ground.instance.data, ground.built.matrix, ground.built.index.group_sizes, gold,
            ground.derivations.history, passes=passes, seed=(chosen.random_state, number),
            margin=float(chosen.margin), word_rate=float(chosen.word_rate),
            forced=gold.labels if self.plan.given else None, callback=stopping, scratch=room.scratch,
            keeper=room.keeper(f"run-{number}", [stopping], KEYED),
        )  # fmt: skip
        steps = zip(history.entries, history.details, strict=False)
        return stopping.best.weights, tuple((int(count), f1, concepts) for (count, _), (f1, concepts, _) in steps)

    def _biased(self, system: System, development: LinkerDevelopment) -> tuple[System, LinkerScores]:
        """The system with the bias that development data prefer, the smallest of equal ones; and its scores."""
        if self.plan.given or not self.plan.chosen.tune_bias:
            return system, development.scores(system)
        self._step("tuning the bias", 0, len(_BIASES))
        tried: dict[float, LinkerScores] = {}
        unit = unit_of(self.plan.chosen)
        for bias, scores in development.compared(system, [factor * unit for factor in _BIASES]):
            tried[bias] = scores
            self._step("tuning the bias", len(tried), len(_BIASES), max(tried.values(), key=lambda one: one.mean))
        best = nearest_best({bias: scores.mean for bias, scores in tried.items()})
        return replace(system, bias=best), tried[best]

    def _step(self, stage: str, step: int = 0, steps: int | None = None, scores: LinkerScores | None = None) -> None:
        f1, concepts = (None, None) if scores is None else (scores.recognition, scores.concepts)
        self.callback(Progress(stage, step, steps, None, f1, monotonic() - self.began, dev_concepts=concepts))


@dataclass(frozen=True)
class _Ground:
    system: System
    instance: Instance
    built: Built
    derivations: Derivations


class LinkerDevelopment:
    """Development data, read once."""

    def __init__(self, system: System, documents: Sequence[Document], given: bool, run: Executor) -> None:
        self.system = system
        self.documents = documents
        self.run = run
        batch = system.columns(Batch.of(documents))
        self._prescribed = Prescribed(batch, system.types) if given else None
        self._instance, self._matrix = system.read(batch, self._prescribed, run)

    def scores(self, system: System) -> LinkerScores:
        """Return the scores of a system with other weights on these data."""
        return self._measured(system, system.decode(self._instance, self._matrix, self._prescribed, self.run))

    def calibrated(self, system: System) -> tuple[Scalings, CalibrationReport]:
        """Return maps of the probabilities of what a system finds in these data, and what they do there."""
        batch = Batch.of(self.documents)
        decoded = system.decode(self._instance, self._matrix, None, self.run)
        found = system.segments(self._instance, *decoded)
        chances = system.chances(batch.sentences, self._matrix, found, self.run)
        predicted = place(batch, chances.table, system.types, chances.mentions)
        return fit_scalings(self.documents, predicted, chances.log_answers())

    def compared(self, system: System, biases: Sequence[float]) -> Iterator[tuple[float, LinkerScores]]:
        """Yield some ascending biases, in no order, each with the scores of a system under it."""
        data = self._instance.data

        def decode(bias: float, reads_common: Chosen) -> NDArray[np.int32]:
            own = replace(system, bias=bias)
            return np.stack(own.decode(self._instance, self._matrix, None, self.run, reads_common), 1)

        for bias, found in Envelope(decode, np.repeat(data.document, np.diff(data.offsets))).over(biases):
            yield bias, self._measured(system, DecodedMentions(*found.T))

    def _measured(self, system: System, decoded: DecodedMentions) -> LinkerScores:
        found = system.segments(self._instance, *decoded)
        return measure(self.documents, found, system.types, system.concepts)


def unit_of(chosen: LinkerParameters) -> float:
    """Return what a bias is a multiple of: the margin, or 10 without a margin."""
    return float(chosen.margin) or 10.0


def concept_forms(concepts: Concepts) -> Forms:
    """The preferred names of the concepts; a combination's are joined."""
    names = [concept.name for concept in concepts.vocabulary]
    names += [" ".join(names[part] for part in parts) for parts in concepts.combinations]
    runs, first, end = text_runs(names)
    if not len(runs.low):
        raise DataError("the vocabulary's names hold no word; expected names of letters or digits")
    last = np.maximum(end, first + 1) - 1
    return Forms(runs.low[np.minimum(first, len(runs.low) - 1)], runs.low[last.clip(0, len(runs.low) - 1)], end - first)


def merge(weights: Sequence[KeyedWeights]) -> KeyedWeights:
    """The mean of the weights of several runs."""
    if len(weights) == 1:
        return weights[0]
    roles: Singles = np.stack([part.roles for part in weights]).mean(0, dtype=np.float32)
    keys = np.concatenate([part.table.keys for part in weights])
    values = np.concatenate([part.table.weights for part in weights])
    distinct, inverse = np.unique(keys[keys != 0], return_inverse=True)
    sums = np.bincount(inverse, values[keys != 0], len(distinct)) / len(weights)
    return KeyedWeights(roles, filled_table(distinct, sums.astype(np.float32)))
