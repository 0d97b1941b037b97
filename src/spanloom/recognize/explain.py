"""Why a model finds a mention: the best structure with it against the best one without it.

Both are structures of the same template, so the difference of their scores is a sum over the roles in which they
differ, and each role's score is a sum of weights of features: nothing is estimated. A structure has a mention if it has
the mention's path (see `spanloom.structures.Structure.paths`), as for its probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from spanloom.document import Document, Mention, Span
from spanloom.errors import UsageError
from spanloom.hypergraph import Edges, Floats, Ints, Potentials
from spanloom.hypergraph.constrain import rivals
from spanloom.recognize.corpus import Gold, place
from spanloom.recognize.explanation import Contribution, Explanation, Part
from spanloom.recognize.tagger import Tagger
from spanloom.structures import MentionTable

PENALTY = "mention penalty"


def explain(
    tagger: Tagger, document: Document, mentions: Sequence[Mention] | None = None, reading: str = "enough"
) -> list[Explanation]:
    """Why a tagger finds mentions, or does not.

    Args:
        tagger: trained.
        document: prepared, with all columns that the features read.
        mentions: those to explain; what the tagger predicts when ``None``. Where the structure has heads, one without
            a head gets its most probable one.
        reading: of the tagger's predictions.

    Raises:
        UsageError: a mention that the structure cannot hold, or of a type that the tagger does not know.
    """
    [enriched] = tagger.features.enrich([document])
    scored = _Scored.build(tagger, enriched, reading)
    if mentions is None:
        tables = [scored.found.take(np.arange(len(scored.found)) == row) for row in range(len(scored.found))]
    else:
        tables = [scored.held(mention) for mention in mentions]
    return [scored.explain(table) for table in tables]


@dataclass(frozen=True)
class _Scored:
    """A document that a tagger has scored.

    Args:
        tagger: trained.
        document: enriched.
        potentials: with the mention penalty.
        offsets: (N + 1,) first token of each sentence.
        found: what the tagger predicts.
        reading: of its predictions.
    """

    tagger: Tagger
    document: Document
    potentials: Potentials
    offsets: Ints
    found: MentionTable
    reading: str

    @classmethod
    def build(cls, tagger: Tagger, document: Document, reading: str) -> _Scored:
        scored, offsets = tagger.score([document])
        found = tagger.decode(scored, offsets, reading)
        return cls(tagger, document, tagger.penalized(scored), offsets, found, reading)

    def held(self, mention: Mention) -> MentionTable:
        """A mention that is asked for, in tokens."""
        tagger, types = self.tagger, self.tagger.types
        if mention.type not in types:
            raise UsageError(f"no type {mention.type!r}; the model knows {', '.join(types)}")
        headless = "whole" if tagger.structure.heads else None
        gold = Gold([self.document.copy(mentions=[mention])], types, headless)
        gold.lose(tagger.structure.encode(gold.table, self.offsets, types).lost)
        if gold.lost:
            place = ", ".join(f"{start}-{end}" for start, end in mention.spans)
            raise UsageError(f"the model cannot hold the mention at characters {place}: {gold.lost[0].reason}")
        return self._with_head(gold.table) if headless and mention.head is None else gold.table

    def _with_head(self, table: MentionTable) -> MentionTable:
        """A mention with its most probable head."""
        [row] = table.rows()
        [(first, end)] = row[2]
        heads = list(combinations(range(first, end + 1), 2))
        every = MentionTable.build([row] * len(heads), heads)
        chances = self._chances(every)
        return every.take(np.arange(len(heads)) == chances.argmax())

    def _chances(self, mentions: MentionTable) -> Floats:
        paths = self.tagger.structure.paths(mentions, self.tagger.types)
        return self.tagger.engine.path_probability(self.potentials, self.offsets, paths)

    def explain(self, table: MentionTable) -> Explanation:
        """Of a table of one mention."""
        tagger = self.tagger
        paths = tagger.structure.paths(table, tagger.types)
        sentence, lane = int(paths.sentence[0]), int(paths.kind[0])
        first, end = self.offsets[sentence : sentence + 2].tolist()
        potentials = Potentials(
            np.ascontiguousarray(self.potentials.roles[first:end, :, lane : lane + 1]),
            np.ascontiguousarray(self.potentials.constants[:, lane : lane + 1]),
        )
        found = rivals(tagger.engine, potentials, paths.allowed[paths.steps], int(paths.first[0]))
        contributions = self._contributions(found.edges, potentials, first, lane)
        log_odds = sum(contribution.score for contribution in contributions)
        winner, runner_up = (self._read(edges, sentence, lane) for edges in found.edges)
        [mention] = next(place([self.document], table, tagger.types, self._chances(table), 0.0)).mentions
        predicted = table.headed()[0] in self.found.headed()
        return Explanation(mention, predicted, log_odds, tuple(contributions), winner, runner_up)

    def _read(self, edges: Edges, sentence: int, lane: int) -> tuple[Mention, ...]:
        """The mentions of a structure of one sentence and copy of the template."""
        tagger = self.tagger
        types = tagger.types if tagger.structure.joint else tagger.types[lane : lane + 1]
        own = tagger.structure.decode(edges, np.array([0, len(edges)]), types, self.reading)
        table = MentionTable(own.sentence + sentence, *own[1:])
        placed = next(place([self.document], table, types, np.zeros(len(table)), 0.0))
        return tuple(mention.replace(score=None) for mention in placed.mentions)

    def _contributions(self, edges: Edges, potentials: Potentials, first: int, lane: int) -> list[Contribution]:
        """What differs between the structure with the mention and the one without it."""
        engine, template = self.tagger.engine, self.tagger.engine.template
        counted = [engine.role_counts(own, np.array([0, len(own)])) for own in edges]
        (with_roles, with_constants), (roles, constants) = counted
        times = (with_roles - roles)[:, :, 0]
        found = []
        for token in np.unique(np.nonzero(times)[0]).tolist():
            named = self._named(first + token)
            for r in np.flatnonzero(times[token]).tolist():
                score = float(times[token, r]) * float(potentials.roles[token, r, 0])
                found.append(self._contribution(first + token, r, lane, int(times[token, r]), score, named))
        again = np.rint(with_constants - constants)[:, 0]
        for c in np.flatnonzero(again).tolist():
            weight = float(potentials.constants[c, 0])
            found.append(Contribution(template.constants[c], int(again[c]), float(again[c]) * weight))
        return sorted(found, key=lambda item: -abs(item.score))

    def _named(self, token: int) -> tuple[list[str], Ints]:
        """The names of the features of a token, and their rows; those that the model does not know are left out."""
        pairs = self.tagger.features.named_keys(self.document, token)
        rows = self.tagger.index.rows(np.array([key for _, key in pairs], np.uint64))
        known = rows >= 0
        return [name for (name, _), keep in zip(pairs, known.tolist(), strict=True) if keep], rows[known].astype(int)

    def _contribution(
        self, token: int, role: int, lane: int, times: int, score: float, named: tuple[list[str], Ints]
    ) -> Contribution:
        tagger, document = self.tagger, self.document
        names, rows = named
        weights = tagger.weights.features[rows, role, lane].tolist()
        parts = [Part(name, weight) for name, weight in zip(names, weights, strict=True) if weight]
        name = tagger.engine.template.roles[role]
        if tagger.penalty and name in tagger.structure.start_roles(tagger.types):
            parts.append(Part(PENALTY, tagger.penalty))
        assert document.tokens is not None  # it was scored
        span = Span(*document.tokens[token].tolist())
        text = document.text[span.start : span.end]
        parts.sort(key=lambda part: -abs(part.score))
        return Contribution(name, times, score, token, span, text, tuple(parts))
