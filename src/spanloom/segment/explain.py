"""Explanations of a segmenter's mentions: the best answer with the mention against the best one without it.

Both are structures of the lattice that gives the mention its probability: for ``exact`` and ``dual`` the product of the
two chains, so that words speak, too; for ``joint_labels`` that of pairs; else the chain of mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from spanloom.document import Mention, Span
from spanloom.hypergraph import Edges
from spanloom.hypergraph.constrain import rivals
from spanloom.model.explain import check_type, contributions, unheld
from spanloom.scoring.explanation import Explanation
from spanloom.segment.chains import read_labels
from spanloom.segment.characters import Characters
from spanloom.segment.model import Decoded, SegmenterModel
from spanloom.segment.placing import placed, requested_table
from spanloom.segment.second import Rescored
from spanloom.structures import MentionTable
from spanloom.structures.product import MENTION_CHAIN

_EXPECTED: Final = "expected one span of a sentence, of words that may be a mention"


class SegmenterExplainer:
    """Explains the mentions of one document.

    Args:
        model: trained.
        characters: of the document alone.
        decoded: the output of a method for it.
    """

    def __init__(self, model: SegmenterModel, characters: Characters, decoded: Decoded) -> None:
        self._model, self._characters, self._decoded = model, characters, decoded
        self._side = decoded.side(words=False)
        self._document = self._side.model.scorer.prepare(decoded.text.batch).view(0)
        self._found = frozenset(decoded.mentions.rows())

    def explain(self, mentions: Sequence[Mention] | None) -> list[Explanation]:
        """Of some mentions, or of those that are predicted.

        Raises:
            UsageError: a mention that no answer of the model holds.
        """
        if mentions is None:
            [document] = placed(self._characters.batch, self._decoded, None, self._model.types, 0.0)
            mentions = document.mentions
        batch = self._characters.batch
        asking = replace(batch, documents=(batch.documents[0].copy(mentions=list(mentions)),))
        queried, held = requested_table(asking, self._model.types)
        for mention, known in zip(mentions, held.tolist(), strict=True):
            check_type(mention, self._model.types)
            if not known:
                raise unheld(mention, _EXPECTED)
        marginals = self._decoded.probabilities(queried, words=False, calibrated=False)
        scores = self._decoded.probabilities(queried, words=False)
        rows = enumerate(zip(mentions, scores.tolist(), marginals.tolist(), strict=True))
        return [
            self._explain(mention.replace(score=score), marginal, queried.take(np.arange(len(queried)) == i))
            for i, (mention, score, marginal) in rows
        ]

    def _explain(self, mention: Mention, marginal: float, queried: MentionTable) -> Explanation:
        model, [sentence] = self._side.model, queried.sentence.tolist()
        begin, stop = self._characters.offsets[sentence : sentence + 2].tolist()
        potentials = model.penalized(self._side.take(np.arange(begin, stop)).potentials)
        paths = model.structure.paths(self._side.numbered(queried), model.types)
        best = rivals(model.engine, potentials, paths)
        if not np.isfinite(best.score[0]):
            raise unheld(mention, _EXPECTED)
        parts = contributions(model, self._document, best.edges, potentials, begin)
        winner, runner_up = (self._read(edges, begin) for edges in best.edges)
        found = Explanation(
            mention, queried.rows()[0] in self._found, sum(part.score for part in parts), tuple(parts), winner,
            runner_up, marginal=marginal,
        )  # fmt: skip
        if not isinstance(self._decoded, Rescored):
            return found
        return replace(found, whole=self._decoded.whole_parts(queried))

    def _read(self, edges: Edges, begin: int) -> tuple[Mention, ...]:
        """The mentions of an answer for one sentence."""
        tags = read_labels(self._side.model, edges).mentions
        found = MENTION_CHAIN.mentions_of(tags, np.array([0, len(tags)]))
        where = self._characters.batch.tokens[:, 0]
        starts, ends = where[begin + found.first].tolist(), (where[begin + found.end - 1] + 1).tolist()
        kinds = found.kind.tolist()
        return tuple(
            Mention(self._model.types[kind], (Span(start, end),))
            for start, end, kind in zip(starts, ends, kinds, strict=True)
        )
