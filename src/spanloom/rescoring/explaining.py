"""Why the second stage finds a mention, or does not: the features of the whole and their weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from spanloom.document import Batch, Document, Mention
from spanloom.features import FeatureSet
from spanloom.features.conjunctions import atoms, conjunctions
from spanloom.hypergraph import Potentials
from spanloom.model.corpus import Gold
from spanloom.model.structured import AnyModel
from spanloom.model.wording import in_words
from spanloom.rescoring.candidates import CandidateMentions, Proposing
from spanloom.rescoring.rescorer import Rescorer, odds_columns
from spanloom.rescoring.seen import SEEN
from spanloom.rescoring.values import CandidateValues, read_column
from spanloom.scoring import Part
from spanloom.scoring.explanation import Explanation
from spanloom.structures import MentionTable


def explain_wholes(
    model: AnyModel, second: Rescorer, document: Document, explained: Iterable[Explanation],
    found: Sequence[Mention], reading: str,
) -> Iterator[Explanation]:  # fmt: skip
    """Yield explanations with the contributions of the second stage.

    Args:
        model: the first stage.
        second: the second.
        document: prepared, with the columns that the first stage reads.
        explained: explanations of some mentions by the first stage.
        found: the mentions that both stages find in it.
        reading: of overlapping mentions.
    """
    predicted = {mention.replace(score=None) for mention in found}
    for own in explained:
        mention = own.mention.replace(score=None)
        batch = model.scorer.prepare(Batch.of([document.copy(mentions=[mention])]))
        gold = Gold(batch, model.types, "whole" if model.structure.heads else None)
        score, parts = whole_parts(model, second, batch, model.scorer.score(batch), gold.table, reading)
        decided = mention in predicted
        words = in_words(document, mention, own.contributions, decided)
        yield replace(own, mention=mention.replace(score=score), predicted=decided, whole=parts, words=words)


def whole_parts(
    model: Proposing, second: Rescorer, batch: Batch, potentials: Potentials, queried: MentionTable,
    reading: str = "enough",
) -> tuple[float, tuple[Part, ...]]:  # fmt: skip
    """Return the calibrated probability of a mention, and what speaks for it as a whole or against it.

    Args:
        model: the first stage.
        second: the second.
        batch: with the columns that the first reads.
        potentials: of the batch.
        queried: the mention.
        reading: of overlapping mentions.
    """
    batch = second.features.enrich(batch)
    scored = second.scored(model, batch, potentials, reading, given=queried)
    assert scored.values is not None
    [row] = scored.rows_of(queried).tolist()
    whole = _Whole(model, second, batch, scored.candidates, scored.values)
    parts = sorted(whole.parts(row), key=lambda part: -abs(part.score))
    return float(second.probabilities(scored.odds[[row]])[0]), tuple(parts)


@dataclass(frozen=True)
class _Whole:
    """The candidates of one document, with readable values."""

    model: Proposing
    second: Rescorer
    batch: Batch
    candidates: CandidateMentions
    values: CandidateValues

    def parts(self, row: int) -> Iterator[Part]:
        """Yield what speaks for a candidate and against it; the scores add up to its log-odds."""
        second, candidates, values = self.second, self.candidates, self.values
        if second.early_exit is not None and second.early_exit.skips(candidates)[row]:
            yield Part("bias", second.early_exit.scaling.intercept)
            yield Part("log-odds of the marginal", second.early_exit.scaling.slope * float(candidates.odds[row]))
            return
        weights = second.weights if candidates.table.contiguous[row] else second.gapped or second.weights
        for template in second.templates:
            made = conjunctions((template,))
            keys = made.keys(values.table(made.names))
            known = second.index.rows(keys.ids[keys.offsets[row] : keys.offsets[row + 1]])
            for feature in known[known >= 0].tolist():
                shown = "|".join(self._shown(atom.name, row) for atom in atoms(template))
                yield Part(f"{template}={shown}", float(weights.sparse[feature]))
        numbers = odds_columns(candidates, len(self.model.types))[row] * weights.dense
        yield Part("bias", float(numbers[0]))
        yield Part("log-odds of the marginal", float(numbers[1:].sum()))

    def _shown(self, name: str, row: int) -> str:
        """Return a value of a candidate as people read it."""
        table, values = self.candidates.table, self.values
        low, high = self.batch.sentences[table.sentence[row] : table.sentence[row] + 2].tolist()
        if name == "type":
            return self.model.types[int(table.kind[row])]
        if name == "seen":
            return SEEN[int(values[name][row]) - 1]
        if name == "concept" and self.second.lookup is not None:
            return self.second.lookup.identifier(int(values[name][row]))
        own = slice(*table.ptr[row : row + 2].tolist())
        if name in ("text", "gap.text"):
            ranges = list(zip(table.first[own].tolist(), table.end[own].tolist(), strict=True))
            if name == "gap.text":
                ranges = [(ranges[0][1], ranges[1][0])]
            return " ".join(word for first, end in ranges for word in self.batch.words[low + first : low + end])
        if not (read := read_column(name)):
            return str(values[name][row])
        first, end = table.first[own], table.end[own]
        token = (
            low
            + read[2]
            + int({"first": first[0], "last": end[-1] - 1, "gap": end[0], "join": first[1:2].sum()}[read[1]])
        )
        if not low <= token < high:
            return "<s>" if token < low else "</s>"
        features = self.second.features
        column = FeatureSet([f"{read[0]}[0]"], clusters=features.clusters, resources=features.resources)
        return column.names(self.batch.view(0), token)[0].partition("=")[2]
