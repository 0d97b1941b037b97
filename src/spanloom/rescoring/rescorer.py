"""The second stage: the probability of each candidate as a whole, and the best set of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.errors import ModelError
from spanloom.features import FeatureIndex, FeatureSet
from spanloom.features.conjunctions import conjunctions
from spanloom.hypergraph import Floats, Ints, Potentials, Singles
from spanloom.learn.platt import FEWEST, IDENTITY, UNSCALED, Platt, Scalings, fit_platt
from spanloom.model.overlaps import OverlapRules
from spanloom.modelfile import COMPACT, Bounded, Described, ModelPart
from spanloom.parallel import SERIAL, Executor
from spanloom.rescoring.candidates import GIVEN, CandidateMentions, Proposing, propose
from spanloom.rescoring.logistic import Regression
from spanloom.rescoring.seen import SeenNames
from spanloom.rescoring.values import CandidateValues, TokenColumns, check_templates
from spanloom.scoring.packing import packed_weights, quantized, rows_with_weights, stored_weights
from spanloom.structures import MentionTable
from spanloom.structures.base import identities

if TYPE_CHECKING:  # imported for models that have names of vocabularies
    from spanloom.rescoring.concept_lookup import ConceptLookup
    from spanloom.rescoring.listed import ListedNames
    from spanloom.rescoring.parts import PairedParts

WORDS: Final = FeatureSet(("bias",))
"""Features for a second stage whose first stage has none: templates read words, and what is computed from them."""
_SCALE = 4.0  # log-odds that count as one, so that their weights are about as steep as those of features


class ScoredCandidates(NamedTuple):
    """Candidates and their log-odds by the second stage.

    Args:
        candidates: C.
        odds: (C,) log-odds.
        values: what templates read of them; ``None`` where that is not kept.
    """

    candidates: CandidateMentions
    odds: Floats
    values: CandidateValues | None = None

    def rows_of(self, mentions: MentionTable) -> Ints:
        """Return the numbers of some of the candidates, (M,)."""
        known, sought = identities(self.candidates.table), identities(mentions)
        order = np.argsort(known)
        return order[np.searchsorted(known, sought, sorter=order)]


@dataclass(frozen=True)
class EarlyExit:
    """Which candidates the second stage skips, because the first stage is confident enough, and their scores.

    Args:
        threshold: absolute log-odds of the first stage above which a candidate without a gap is skipped.
        scaling: from the first stage's probability of such candidates to the share of them that is right.
    """

    threshold: Bounded
    scaling: Platt

    @classmethod
    def fitted(cls, candidates: CandidateMentions, right: NDArray[np.bool_], threshold: float) -> EarlyExit | None:
        """Fit the scaling to held-out candidates; ``None`` if fewer than `FEWEST` are skipped.

        Args:
            candidates: C.
            right: (C,) which of them are gold mentions.
            threshold: of log-odds.
        """
        own = cls(threshold, IDENTITY).skips(candidates)
        if own.sum() < FEWEST:
            return None
        return cls(threshold, fit_platt(-np.logaddexp(0.0, -candidates.odds[own]), right[own]))

    def skips(self, candidates: CandidateMentions) -> NDArray[np.bool_]:
        """Return which candidates are skipped, (C,); none with a gap, because the first stage underrates those."""
        found: NDArray[np.bool_] = (np.abs(candidates.odds) > self.threshold) & candidates.table.contiguous
        return found


class _Rescorer(Described):
    """Description of a second stage in a model file."""

    templates: list[str]
    threshold: Bounded
    scalings: Scalings
    early_exit: EarlyExit | None = None
    gap_threshold: Bounded | None = None


@dataclass(frozen=True)
class Rescorer:
    """A log-linear model of whole mentions. Using it changes nothing, so threads may share it.

    Args:
        templates: of features of candidates, see `spanloom.rescoring.values.GROUPS`.
        index: which feature has which weight.
        weights: of each single feature, and of `odds_columns`.
        seen: names of training mentions.
        rules: which mentions may overlap.
        features: whose columns the templates read: those of the first stage, where it has any.
        threshold: log-odds from which on a candidate is a mention.
        scalings: from probabilities to how often such predictions are right.
        scales: (1, 1) float32, of which weights of a compact model are multiples; ``None`` for any other.
        early_exit: candidates that it skips, which saves about half of its time; ``None`` if it scores all.
        listed: names of vocabularies; ``None`` if it knows none.
        pairs: what training mentions of two parts show; ``None`` if it had few.
        gapped: weights of candidates with gaps, in place of ``weights``; ``None`` if training had few.
        gap_threshold: theirs, in place of ``threshold``.
        lookup: looks up the concepts of candidates, those of the linking stage; ``None`` for none.
    """

    templates: tuple[str, ...]
    index: FeatureIndex
    weights: Regression
    seen: SeenNames
    rules: OverlapRules
    features: FeatureSet
    threshold: float = 0.0
    scalings: Scalings = UNSCALED
    scales: Singles | None = None
    early_exit: EarlyExit | None = None
    listed: ListedNames | None = None
    pairs: PairedParts | None = None
    gapped: Regression | None = None
    gap_threshold: float | None = None
    lookup: ConceptLookup | None = None

    def odds(self, candidates: CandidateMentions, values: CandidateValues, run: Executor = SERIAL) -> Floats:
        """Return the log-odds of each candidate, (C,)."""
        made, numbers = conjunctions(self.templates), odds_columns(candidates, len(self.rules.gaps))
        skips = np.zeros(len(candidates), np.bool_) if self.early_exit is None else self.early_exit.skips(candidates)
        whole = candidates.table.contiguous
        found: Floats = np.empty(len(candidates))
        for own, weights in ((whole, self.weights), (~whole, self.gapped or self.weights)):
            if not own.any():
                continue
            found[own] = np.einsum("cd,d->c", numbers[own], weights.dense)
            rows = np.flatnonzero(own & ~skips)
            if len(rows):
                found[rows] += self.index.weighed(made, values.table(made.names, rows), weights.sparse, run)
        scaling = IDENTITY if self.early_exit is None else self.early_exit.scaling
        return np.where(skips, scaling.slope * candidates.odds + scaling.intercept, found)

    def margins(self, candidates: CandidateMentions, odds: Floats) -> Floats:
        """Return by how much the log-odds of each candidate are above its threshold, (C,)."""
        if self.gap_threshold is None:
            return odds - self.threshold
        return odds - np.where(candidates.table.contiguous, self.threshold, self.gap_threshold)

    def scored(
        self, model: Proposing, batch: Batch, potentials: Potentials, reading: str = "enough",
        run: Executor = SERIAL, given: MentionTable | None = None,
    ) -> ScoredCandidates:  # fmt: skip
        """Propose candidates, and score them.

        Args:
            model: the first stage.
            batch: with the columns that it reads.
            potentials: of the batch.
            reading: of the structures that propose.
            run: how pieces of the work are run; the result does not depend on it.
            given: mentions that are scored, too, proposed or not.
        """
        batch = self.features.enrich(batch)
        tokens = TokenColumns(batch, self.templates, self.features)
        listed = None if self.listed is None else self.listed.within(batch)
        candidates = propose(
            model, potentials, tokens.words, reading, run, given, None if listed is None else listed.table(),
            self.pairs,
        )  # fmt: skip
        concepts = None if self.lookup is None else self.lookup.values(batch, candidates)
        values = CandidateValues(candidates, tokens, self.seen, listed, self.pairs, concepts)
        return ScoredCandidates(candidates, self.odds(candidates, values, run), values)

    def chosen(self, scored: ScoredCandidates) -> NDArray[np.bool_]:
        """Return which candidates make the best set, (C,): the largest sum of log-odds above the threshold."""
        margins = self.margins(scored.candidates, scored.odds)
        return self.rules.consistent(scored.candidates.table, np.where(scored.candidates.level < GIVEN, margins, -1.0))

    def probabilities(self, odds: Floats) -> Floats:
        """Return the calibrated probabilities of log-odds."""
        return self.scalings.mentions.of_log(-np.logaddexp(0.0, -odds))

    def log_answers(self, scored: ScoredCandidates, chosen: NDArray[np.bool_], sentences: int) -> Floats:
        """Return the log-probability that all candidates of each sentence are classified correctly, (N,).

        Candidates are assumed to be independent given the output of the first stage.
        """
        sure = -np.logaddexp(0.0, np.where(chosen, -scored.odds, scored.odds))
        return np.bincount(scored.candidates.table.sentence, sure, sentences).astype(np.float64)

    def answers(self, scored: ScoredCandidates, chosen: NDArray[np.bool_], sentences: int) -> Floats:
        """Return the calibrated probability that all of each sentence is right, (N,)."""
        return self.scalings.answers.of_log(self.log_answers(scored, chosen, sentences))

    def with_penalty(self, change: float) -> Rescorer:
        """Return the same with a lower threshold, as a larger mention penalty lowers it."""
        gaps = None if self.gap_threshold is None else self.gap_threshold - change
        return replace(self, threshold=self.threshold - change, gap_threshold=gaps)

    def compacted(self, threshold: float) -> Rescorer:
        """Return the same with weights of eight bits; see `LinearScorer.compacted`."""
        weights, scales = quantized(self._sparse, threshold, len(self.index))
        stays = rows_with_weights(weights, len(self.index))
        own = [Regression(weights[stays, number, 0], one.dense) for number, one in enumerate(self._regressions)]
        return replace(
            self,
            index=self.index.keeping(stays),
            weights=own[0],
            gapped=own[1] if len(own) > 1 else None,
            scales=scales,
        )

    @property
    def _regressions(self) -> list[Regression]:
        return [self.weights] if self.gapped is None else [self.weights, self.gapped]

    @property
    def _sparse(self) -> Singles:
        """(F, 1 or 2, 1) weights of features, without gaps and with."""
        return np.stack([one.sparse for one in self._regressions], 1)[:, :, None]

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file, without the rules, which are the model's."""
        values = _Rescorer(**vars(self))
        held: dict[str, Any] = {"index": self.index, "seen": self.seen, "listed": self.listed, "pairs": self.pairs}
        parts = {name: one.to_part() for name, one in held.items() if one is not None}
        arrays = {"odds": self.weights.dense}
        arrays |= {} if self.gapped is None else {"gap_odds": self.gapped.dense}
        if self.scales is not None:
            return values.part(arrays, {**parts, COMPACT: packed_weights(self._sparse, self.scales)})
        arrays |= {} if self.gapped is None else {"gap_weights": self.gapped.sparse}
        return values.part({"weights": self.weights.sparse, **arrays}, parts)

    @classmethod
    def from_part(
        cls, part: ModelPart, features: FeatureSet | None, rules: OverlapRules, concepts: Any = None,
        types: Sequence[str] = (),
    ) -> Rescorer:  # fmt: skip
        """Return what `to_part` gave.

        Args:
            part: that one.
            features: of the first stage; those that read words alone when ``None``.
            rules: of the model.
            concepts: the linking stage of the model; ``None`` if it has none.
            types: those of the model.

        Raises:
            ModelError: it is no second stage of such a model.
        """
        values, features = part.read(_Rescorer), features or WORDS
        check_templates(values.templates, features)
        index = FeatureIndex.from_part(part.part("index"))
        kinds = [""] if values.gap_threshold is None else ["", "gap_"]
        dense, scales = [part.array(f"{kind}odds", np.float32, 2 + len(rules.gaps)) for kind in kinds], None
        if COMPACT in part.parts:
            rows, scales = stored_weights(part, len(index), len(kinds), 1)
            sparse = [rows[:, number, 0] for number in range(len(kinds))]
        else:
            sparse = [part.array(f"{kind}weights", np.float32, len(index)) for kind in kinds]
        weights, *gapped = map(Regression, sparse, dense)
        seen = SeenNames.from_part(part.part("seen"))
        listed = None
        if "listed" in part.parts:
            names: type[ListedNames] = resolve_name("spanloom.rescoring.listed:ListedNames")
            listed = names.from_part(part.part("listed"), len(rules.gaps))
        pairs = None
        if "pairs" in part.parts or any(template.startswith("pair") for template in values.templates):
            paired: type[PairedParts] = resolve_name("spanloom.rescoring.parts:PairedParts")
            pairs = paired.from_part(part.part("pairs"), len(rules.gaps))
        lookup = None
        if any("concept" in template for template in values.templates):
            if concepts is None:
                raise ModelError("the second stage looks up concepts, but there is no linking stage")
            kind: type[ConceptLookup] = resolve_name("spanloom.rescoring.concept_lookup:ConceptLookup")
            lookup = kind.of(concepts, types)
        own = {"templates": tuple(values.templates), "gapped": gapped[0] if gapped else None}
        return cls(
            index=index, weights=weights, seen=seen, rules=rules, features=features, scales=scales, listed=listed,
            pairs=pairs, lookup=lookup, **vars(values) | own,
        )  # fmt: skip


def odds_columns(candidates: CandidateMentions, types: int) -> Floats:
    """Return the numbers that are weighed beside features, (C, 2 + K): 1, the log-odds, and those of each type."""
    odds, rows = candidates.odds / _SCALE, np.arange(len(candidates))
    found: Floats = np.zeros((len(odds), 2 + types))
    found[:, 0], found[:, 1] = 1.0, odds
    found[rows, 2 + candidates.table.kind] = odds
    return found
