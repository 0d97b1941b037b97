"""Linear chains trained to the same objective by CRFsuite and by Spanloom: part (a) of `speed.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pycrfsuite

import peer
from common import Clock, Seconds, median, say, timed
from spanloom.document import Batch, Document
from spanloom.features import FeatureIndex, FeatureSet, available_columns, build_index
from spanloom.hashing import hash_text, mix
from spanloom.hypergraph import ENGINES
from spanloom.learn import EdgeTarget, Objective, TrainingSet, adagrad, minimize
from spanloom.model.corpus import Gold
from spanloom.scoring import Weights
from spanloom.structures import Bilou, Bio
from spanloom.structures.chain import Chain

ALL_PAIRS = {"feature.possible_states": 1, "feature.possible_transitions": 1}
MEMORY = 20  # past steps that shape the next one of our L-BFGS
RATE, BATCH = 0.1, 32  # of the pass of AdaGrad that starts it


class FreeBio(Bio):
    """BIO where every tag may follow every other, as in CRFsuite."""

    def follows(self, tag: str, after: str) -> bool:
        """Always."""
        return True


class FreeBilou(Bilou):
    """BILOU where every tag may follow every other, as in CRFsuite."""

    def follows(self, tag: str, after: str) -> bool:
        """Always."""
        return True


CHAINS: dict[str, Chain] = {"bio": FreeBio(), "bilou": FreeBilou()}


@dataclass(frozen=True)
class Ours:
    """A corpus, ready for our optimizer."""

    data: TrainingSet
    index: FeatureIndex
    features: FeatureSet
    tags: list[str]
    tagged: list[list[str]]
    seconds: Seconds  # of making it from documents


@dataclass(frozen=True)
class Case:
    """One comparison.

    Args:
        corpus: for the table.
        chain: a key of `CHAINS`.
        documents: to train on.
        options: of CRFsuite.
        note: for the table.
        repeats: how often.
    """

    corpus: str
    chain: str
    documents: Sequence[Document]
    options: Mapping[str, Any]
    note: str
    repeats: int


@dataclass(frozen=True)
class Outcome:
    """What one comparison gave; times are medians."""

    case: Case
    tokens: int
    tags: int
    attributes: int
    peer: peer.Trained
    peer_optimizing: float
    peer_whole: Seconds
    objective: float
    evaluations: int
    optimizing: Seconds
    whole: Seconds
    verified: float | None

    @property
    def ratio(self) -> float:
        """CRFsuite's seconds over ours, L-BFGS alone: processor time on both sides, as CRFsuite measures itself."""
        return self.peer_optimizing / self.optimizing.cpu

    @property
    def whole_ratio(self) -> float:
        """The same from documents to weights."""
        return self.peer_whole.cpu / self.whole.cpu


def prepare(documents: Sequence[Document], chain: Chain) -> Ours:
    """From documents to what the optimizer needs."""
    with Clock() as clock:
        types = tuple(sorted({mention.type for document in documents for mention in document.mentions}))
        features = FeatureSet.preset("small", available=available_columns(documents))
        batch = Batch.of(documents)
        built = build_index(features.keys(batch))
        encoded = chain.encode(Gold(batch, types).table, batch.sentences, types)
        engine = ENGINES["subgraphs"](chain.template(types))
        data = TrainingSet(
            engine,
            built.matrix,
            batch.sentences,
            EdgeTarget(engine, batch.sentences, encoded.edges),
            built.index.group_sizes,
            built.counts,
        )
    tags = chain.tags(types)
    # the role that gold has at a token is its tag
    names = [engine.template.roles[r] for r in data.target.roles[:, :, 0].argmax(1).tolist()]
    tagged = [names[a:b] for a, b in pairwise(batch.sentences.tolist())]
    return Ours(data, built.index, features, tags, tagged, clock.seconds)


def fit_ours(ours: Ours, l2: float, target: float) -> tuple[Seconds, int, float]:
    """Seconds, evaluations and objective of our L-BFGS, begun by one pass of AdaGrad, when it is at the target."""
    with Clock() as clock:
        objective = Objective(ours.data, l2)
        evaluations = 0

        def function(point: np.ndarray, gradient: np.ndarray) -> float:
            nonlocal evaluations
            evaluations += 1
            return objective.value_and_gradient(point, gradient)

        start = adagrad(ours.data, l2=l2, epochs=1, rate=RATE, batch=BATCH, seed=0)
        point = minimize(
            function, objective.point(start), iterations=2000, tolerance=0.0, memory=MEMORY,
            callback=lambda iteration: iteration.objective <= target,
        )  # fmt: skip
    reached = objective.value_and_gradient(point, np.empty(objective.size, np.float32))
    if reached > target:
        raise SystemExit(f"stopped at {reached}, above CRFsuite's {target}")
    return clock.seconds, evaluations, reached


def evaluate_theirs(ours: Ours, trained: peer.Trained, l2: float) -> float:
    """Our objective at the weights that CRFsuite has learned, read from its model file."""
    tagger = pycrfsuite.Tagger()
    tagger.open(trained.path)
    found = tagger.info()
    template = ours.data.engine.template
    role = {name: i for i, name in enumerate(template.roles)}
    weights = Weights(*(array.astype(np.float64) for array in ours.data.zeros))
    names = list(dict.fromkeys(name for name, _ in found.state_features))
    rows = dict(zip(names, ours.index.rows(np.array([_key(name) for name in names], np.uint64)).tolist(), strict=True))
    for (name, tag), weight in found.state_features.items():
        if rows[name] < 0:
            raise SystemExit(f"Spanloom does not have CRFsuite's feature {name!r}")
        weights.features[rows[name], role[tag], 0] += weight
    for (tag, after), weight in found.transitions.items():
        weights.constants[template.constants.index(f"{tag} {after}"), 0] += weight
    objective = Objective(ours.data, l2)
    return objective.value_and_gradient(
        objective.point(Weights(*(array.astype(np.float32) for array in weights))),
        np.empty(objective.size, np.float32),
    )


def _key(name: str) -> int:
    """The key of a feature of the preset `small`, by its name: its templates have one place each."""
    template, equal, value = name.partition("=")
    return mix(hash_text(template), hash_text(value)) if equal else hash_text(template)


def compare(case: Case) -> Outcome:
    """Train both, the order alternating."""
    chain, l2 = CHAINS[case.chain], float(case.options["c2"])
    ours = prepare(case.documents, chain)
    given = peer.sentences(case.documents)
    peer.check_names(peer.small_features, ours.features, case.documents[:10])
    theirs: list[tuple[peer.Trained, Seconds]] = []
    own: list[tuple[Seconds, int, float]] = []

    def run_theirs() -> None:
        making, items = timed(lambda: peer.itemsets([peer.small_features(s.words, s.pos) for s in given]))
        trained, handing = peer.train(items, ours.tagged, case.options)
        whole = Seconds(*(sum(parts) for parts in zip(making, handing, trained.training, strict=True)))
        theirs.append((trained, whole))
        say(f"  CRFsuite: {trained.objective:.3f} after {trained.iterations} iterations, {trained.optimizing:.1f} s")

    def run_ours() -> None:
        own.append(fit_ours(ours, l2, theirs[0][0].objective))
        say(f"  Spanloom: {own[-1][2]:.3f} after {own[-1][1]} evaluations, {own[-1][0].cpu:.1f} s")

    for repeat in range(case.repeats):
        for step in (run_theirs, run_ours) if repeat % 2 == 0 else (run_ours, run_theirs):
            step()
    trained = theirs[0][0]
    complete = all(case.options.get(name) == value for name, value in ALL_PAIRS.items())
    making = median([ours.seconds, *(prepare(case.documents, chain).seconds for _ in range(case.repeats - 1))])
    optimizing = median(seconds for seconds, _, _ in own)
    return Outcome(
        case, int(ours.data.offsets[-1]), len(ours.tags), int(ours.index.group_sizes.sum()), trained,
        median(Seconds(t.optimizing, t.optimizing) for t, _ in theirs).cpu, median(whole for _, whole in theirs),
        own[0][2], own[0][1], optimizing, Seconds(making.wall + optimizing.wall, making.cpu + optimizing.cpu),
        evaluate_theirs(ours, trained, l2) if complete else None,
    )  # fmt: skip


COLUMNS = (
    "corpus", "sentences", "tokens", "tags", "features", "CRFsuite", "its objective", "its iterations",
    "our objective", "our evaluations", "its L-BFGS, s", "ours, s", "ratio", "its all, s", "ours, s", "ratio",
    "our objective at its weights",
)  # fmt: skip


def cells(outcome: Outcome) -> list[Any]:
    """A row of the table with `COLUMNS`."""
    o = outcome
    return [
        o.case.corpus, _sentences(o.case.documents),
        o.tokens, o.tags, o.attributes, o.case.note, f"{o.peer.objective:.3f}", o.peer.iterations,
        f"{o.objective:.3f}", o.evaluations, o.peer_optimizing, o.optimizing.cpu, f"{o.ratio:.2f}", o.peer_whole.cpu,
        o.whole.cpu, f"{o.whole_ratio:.2f}", "" if o.verified is None else f"{o.verified:.3f}",
    ]  # fmt: skip


def _sentences(documents: Sequence[Document]) -> int:
    return sum(0 if document.sentences is None else len(document.sentences) for document in documents)
