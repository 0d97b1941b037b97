"""Explanations of mentions: the best structure with the mention against the best one without it.

Both are structures of the same template, so the difference of their scores is a sum over the roles in which they
differ, and each role's score is a sum of weights of features: nothing is estimated. A structure has a mention if it has
the mention's path (see `spanloom.structures.Structure.paths`), as for its probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from spanloom.document import Batch, Document, Mention, Span
from spanloom.errors import UsageError
from spanloom.hypergraph import Edges, Floats, Potentials
from spanloom.hypergraph.constrain import rivals
from spanloom.model.corpus import Gold, place
from spanloom.model.structured import StructuredModel
from spanloom.model.wording import in_words
from spanloom.scoring import Part, Scorer
from spanloom.scoring.explanation import Contribution, Explanation
from spanloom.structures import MentionTable

PENALTY = "mention penalty"


def explain(
    tagger: StructuredModel[Scorer],
    document: Document,
    mentions: Sequence[Mention] | None = None,
    reading: str = "enough",
) -> list[Explanation]:
    """Explain why a tagger finds mentions, or does not.

    Args:
        tagger: trained.
        document: prepared, with all columns that the features read.
        mentions: those to explain; what the tagger predicts when ``None``. Where the structure has heads, one without
            a head gets its most probable one.
        reading: of the tagger's predictions.

    Raises:
        UsageError: a mention that the structure cannot hold, or of a type that the tagger does not know.
    """
    scored = _Scored.build(tagger, tagger.scorer.prepare(Batch.of([document])), reading)
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
        batch: the document, enriched.
        scored: potentials without the mention penalty, which give probabilities.
        potentials: with the mention penalty, which decide what is predicted.
        found: what the tagger predicts.
        reading: of its predictions.
    """

    tagger: StructuredModel[Scorer]
    batch: Batch
    scored: Potentials
    potentials: Potentials
    found: MentionTable
    reading: str

    @classmethod
    def build(cls, tagger: StructuredModel[Scorer], batch: Batch, reading: str) -> _Scored:
        scored = tagger.scorer.score(batch)
        found = tagger.decode(scored, batch.sentences, reading)
        return cls(tagger, batch, scored, tagger.penalized(scored), found, reading)

    @cached_property
    def document(self) -> Document:
        """The document with all columns."""
        return self.batch.view(0)

    def held(self, mention: Mention) -> MentionTable:
        """A mention that is asked for, in tokens."""
        tagger, types = self.tagger, self.tagger.types
        check_type(mention, types)
        headless = "whole" if tagger.structure.heads else None
        gold = Gold(Batch.of([self.document.copy(mentions=[mention])]), types, headless)
        gold.lose(tagger.structure.encode(gold.table, self.batch.sentences, types).lost)
        if gold.lost:
            raise unheld(mention, gold.lost[0].reason)
        if not headless or mention.head is not None:
            return gold.table
        [row] = gold.table.rows()
        [(first, end)] = row[2]
        heads = list(combinations(range(first, end + 1), 2))
        every = MentionTable.build([row] * len(heads), heads)
        return every.take(np.arange(len(heads)) == self._chances(every).argmax())

    def _chances(self, mentions: MentionTable) -> Floats:
        """Exact marginals."""
        return self.tagger.probabilities(self.scored, self.batch.sentences, mentions, calibrated=False)

    def explain(self, table: MentionTable) -> Explanation:
        """Of a table of one mention."""
        tagger = self.tagger
        paths = tagger.structure.paths(table, tagger.types)
        sentence, lane = int(paths.sentence[0]), int(paths.kind[0])
        first, end = self.batch.sentences[sentence : sentence + 2].tolist()
        potentials = Potentials(
            np.ascontiguousarray(self.potentials.roles[first:end, :, lane : lane + 1]),
            np.ascontiguousarray(self.potentials.constants[:, lane : lane + 1]),
        )
        found = rivals(tagger.engine, potentials, paths)
        parts = contributions(tagger, self.document, found.edges, potentials, first, lane)
        log_odds = sum(part.score for part in parts)
        winner, runner_up = (self._read(edges, sentence, lane) for edges in found.edges)
        marginals = self._chances(table)
        scores = tagger.scalings.mentions(marginals)
        [mention] = place(self.batch, table, tagger.types, scores, 0.0)[0].mentions
        predicted = table.headed()[0] in self.found.headed()
        words = in_words(self.document, mention, parts, predicted)
        return Explanation(
            mention, predicted, log_odds, tuple(parts), winner, runner_up, marginal=float(marginals[0]), words=words
        )  # fmt: skip

    def _read(self, edges: Edges, sentence: int, lane: int) -> tuple[Mention, ...]:
        """The mentions of a structure of one sentence and copy of the template."""
        tagger = self.tagger
        types = tagger.types if tagger.structure.joint else tagger.types[lane : lane + 1]
        own = tagger.structure.decode(edges, np.array([0, len(edges)]), types, self.reading)
        table = MentionTable(own.sentence + sentence, *own[1:])
        placed = place(self.batch, table, types, np.zeros(len(table)), 0.0)[0]
        return tuple(mention.replace(score=None) for mention in placed.mentions)


def check_type(mention: Mention, types: Sequence[str]) -> None:
    """Check that a model knows the type of a mention that is to be explained.

    Raises:
        UsageError: it does not.
    """
    if mention.type not in types:
        raise UsageError(f"no type {mention.type!r}; the model knows {', '.join(types)}")


def unheld(mention: Mention, why: str) -> UsageError:
    """Return the error for a mention that is to be explained, and that a model cannot hold."""
    place = ", ".join(f"{start}-{end}" for start, end in mention.spans)
    return UsageError(f"the model cannot hold the mention at characters {place}: {why}")


def contributions(
    tagger: StructuredModel[Scorer], document: Document, edges: Edges, potentials: Potentials, first: int, lane: int = 0
) -> list[Contribution]:
    """Return the differences between two structures of a sentence, from the largest to the smallest.

    Args:
        tagger: of both.
        document: with all columns.
        edges: (2, T, 1, D).
        potentials: of the sentence, of one type, with the mention penalty.
        first: the sentence's first token, counted in the document.
        lane: the type's number.
    """
    starts = tagger.structure.start_roles(tagger.types) if tagger.penalty else frozenset()
    # 1. The roles and constants in which the two differ, and how often more the first has each.
    template = tagger.engine.template
    (with_roles, with_constants), (without_roles, without_constants) = (
        tagger.engine.role_counts(own, np.array([0, len(own)])) for own in edges
    )
    more = (with_roles - without_roles)[:, :, 0]
    by_token: dict[int, list[tuple[int, int, float]]] = {}
    for token, role in zip(*(places.tolist() for places in np.nonzero(more)), strict=True):
        count = int(more[token, role])
        by_token.setdefault(token, []).append((role, count, count * float(potentials.roles[token, role, 0])))
    again = np.rint(with_constants - without_constants)[:, 0]
    weights = potentials.constants[:, 0]
    found = [
        Contribution(template.constants[c], int(again[c]), float(again[c] * weights[c])) for c in np.flatnonzero(again)
    ]
    # 2. The scores of each token's features for its roles.
    assert document.tokens is not None  # it was scored
    for token, roles in by_token.items():
        named = tagger.scorer.named(document, first + token)
        span = Span(*document.tokens[first + token].tolist())
        text = document.text[span.start : span.end]
        for role, times, score in roles:
            name, parts = template.roles[role], named.parts(role, lane)
            parts += [Part(PENALTY, tagger.penalty)] if name in starts else []
            parts.sort(key=lambda part: -abs(part.score))
            found.append(Contribution(name, times, score, first + token, span, text, tuple(parts)))
    return sorted(found, key=lambda item: -abs(item.score))
