"""Why a segmenter finds a mention: the best answer with it against the best one without it.

Both are structures of the lattice that gives the mention its probability: for ``exact`` and ``dual`` the product of the
two chains, so that words speak, too; for ``joint_labels`` that of pairs; else the chain of mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch, Mention, Span
from spanloom.errors import UsageError
from spanloom.hypergraph import Edges, Potentials
from spanloom.hypergraph.constrain import rivals
from spanloom.model.explain import PENALTY, at_token, differences
from spanloom.model.explanation import Contribution, Explanation
from spanloom.model.structured import LinearModel
from spanloom.scoring import Part
from spanloom.segment.characters import Characters
from spanloom.segment.lattice import Product, Segments, segments
from spanloom.segment.model import MENTIONS, PAIRS, SHARING, WORDS, Decoded, Model
from spanloom.segment.placing import asked_mentions, placed
from spanloom.segment.tags import WORD_TAGS


class _Voice(NamedTuple):
    """What scores a role of a lattice.

    Args:
        tagger: of a chain.
        role: of the chain.
        factor: of its scores.
        penalty: added to them, the factor in it.
    """

    tagger: LinearModel
    role: int
    factor: float
    penalty: float


class Explainer:
    """Explains the mentions of one document.

    Args:
        model: trained.
        method: that decoded.
        weight: of mentions, for ``exact`` and ``dual``.
        characters: of the document alone.
        decoded: what the method says of it.
    """

    def __init__(self, model: Model, method: str, weight: float, characters: Characters, decoded: Decoded) -> None:
        self._model, self._characters, self._decoded = model, characters, decoded
        self._side = decoded.side(words=False)
        self._part = model.parts[2] if method == "incremental" else model.parts[0]
        self._voices = self._all_voices(method, weight)
        self._document = self._part.scorer.prepare(decoded.text.batch).view(0)
        self._found = segments(decoded.labels.mentions, characters.offsets, outside=True)

    def _all_voices(self, method: str, weight: float) -> list[_Voice]:
        """One for each role of the lattice."""
        chains, lattice = self._part.chains, self._side.lattice
        more = self._model.joint_penalty if method in SHARING and method != "independent" else 0.0
        if isinstance(lattice, Product):
            sources = lattice.role_sources.tolist()
            return [
                _voice(chains[WORDS].tagger, source, 1.0)
                if source < len(WORD_TAGS)
                else _voice(chains[MENTIONS].tagger, source - len(WORD_TAGS), weight, more)
                for source in sources
            ]
        tagger = chains[PAIRS if method == "joint_labels" else MENTIONS].tagger
        return [_voice(tagger, role, 1.0, more) for role in range(len(lattice.engine.template.roles))]

    def explain(self, mentions: Sequence[Mention] | None) -> list[Explanation]:
        """Of some mentions, or of those that are predicted.

        Raises:
            UsageError: a mention that no answer of the model holds.
        """
        if mentions is None:
            [document] = placed(self._characters.batch, self._decoded, self._found, None, self._model.types, 0.0)
            mentions = document.mentions
        asked, held = asked_mentions(self._asking(mentions), self._model.types)
        for mention, known in zip(mentions, held.tolist(), strict=True):
            if mention.type not in self._model.types:
                raise UsageError(f"no type {mention.type!r}; the model knows {', '.join(self._model.types)}")
            if not known:
                raise _refused(mention)
        marginals = self._decoded.probabilities(asked, words=False, calibrated=False)
        scores = self._model.scalings.mentions(marginals)
        rows = zip(mentions, scores.tolist(), marginals.tolist(), *(column.tolist() for column in asked), strict=True)
        return [self._explain(mention.replace(score=score), *place) for mention, score, *place in rows]

    def _asking(self, mentions: Sequence[Mention]) -> Batch:
        batch = self._characters.batch
        return replace(batch, documents=(batch.documents[0].copy(mentions=list(mentions)),))

    def _explain(
        self, mention: Mention, marginal: float, sentence: int, first: int, end: int, base: int
    ) -> Explanation:
        begin, stop = self._characters.offsets[sentence : sentence + 2].tolist()
        lattice, whole = self._side.lattice, self._side.deciding
        potentials = Potentials(np.ascontiguousarray(whole.roles[begin:stop]), whole.constants)
        paths = lattice.questions(Segments(*np.array([[0], [first], [end], [base]])), words=False)
        best = rivals(lattice.engine, potentials, paths)
        if not np.isfinite(best.score[0]):
            raise _refused(mention)
        contributions = self._contributions(best.edges, potentials, begin)
        places = zip(*(column.tolist() for column in self._found), strict=True)
        winner, runner_up = (self._read(edges, begin) for edges in best.edges)
        return Explanation(
            mention, (sentence, first, end, base) in set(places), sum(one.score for one in contributions),
            tuple(contributions), winner, runner_up, marginal=marginal,
        )  # fmt: skip

    def _contributions(self, edges: Edges, potentials: Potentials, begin: int) -> list[Contribution]:
        engine = self._side.lattice.engine
        by_token, found = differences(engine, potentials, edges)
        for token, roles in by_token.items():
            named = self._part.scorer.named(self._document, begin + token)
            for role, times, score in roles:
                voice = self._voices[role]
                own = named._replace(weights=voice.tagger.scorer.weights)  # chains of a part share rows
                parts = own.parts(voice.role, 0, voice.factor)
                parts += [Part(PENALTY, voice.penalty)] if voice.penalty else []
                name = engine.template.roles[role]
                found.append(at_token(self._document, begin + token, name, times, score, parts))
        return sorted(found, key=lambda item: -abs(item.score))

    def _read(self, edges: Edges, begin: int) -> tuple[Mention, ...]:
        """The mentions of an answer for one sentence."""
        tags = self._side.lattice.read(edges).mentions
        found = segments(tags, np.array([0, len(tags)]), outside=True)
        where = self._characters.batch.tokens[:, 0]
        starts, ends = where[begin + found.first].tolist(), (where[begin + found.end - 1] + 1).tolist()
        kinds = found.kinds.tolist()
        return tuple(
            Mention(self._model.types[kind], (Span(start, end),))
            for start, end, kind in zip(starts, ends, kinds, strict=True)
        )


def _voice(tagger: LinearModel, role: int, factor: float, more: float = 0.0) -> _Voice:
    begins = tagger.engine.template.roles[role] in tagger.structure.start_roles(tagger.types)
    return _Voice(tagger, role, factor, factor * (tagger.penalty + more) if begins else 0.0)


def _refused(mention: Mention) -> UsageError:
    place = ", ".join(f"{start}-{end}" for start, end in mention.spans)
    expected = "one span of a sentence, of words that may be a mention"
    return UsageError(f"the model cannot hold the mention at characters {place}: expected {expected}")
