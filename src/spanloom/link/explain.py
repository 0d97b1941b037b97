"""Explanations of links: the candidates of a mention, their scores, and what separates the first from the others.

A candidate's score is that of the sentence's whole derivation with the mention linked to it, all other labels and
choices being the same. What differs are the features of the action that closes the mention, and those of later actions,
which see the concept. Keys of 64 bits do not show their values, so a feature is named by its template
(`spanloom.link.templates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch, Document, Mention, align, to_spans
from spanloom.features import Sparse
from spanloom.hashing import Int64, UInt64
from spanloom.link import phases as groups
from spanloom.link.instances import Instance
from spanloom.link.learning import Int32, Search, Singles
from spanloom.link.names import NIL
from spanloom.link.system import Prescribed, System
from spanloom.link.templates import CANDIDATE, CANDIDATE_EVIDENCE, NIL_EVIDENCE, of_phase
from spanloom.link.templates import NIL as NIL_TEMPLATES
from spanloom.model.explain import check_type, unheld
from spanloom.native import Kernel
from spanloom.parallel import SERIAL
from spanloom.scoring import Part
from spanloom.scoring.explanation import Candidate, Explanation

_link_walk, _link_weights = Kernel("link_walk"), Kernel("link_weights")
NEXT, NOTHING = "next", "nothing"
CANDIDATES = [*CANDIDATE.values(), *CANDIDATE_EVIDENCE.values()]
NILS = [*NIL_TEMPLATES.values(), *NIL_EVIDENCE.values()]
LATER = "later in the sentence"
WAYS = (
    "linked to nothing", "a training mention with the same words", "a training mention with words as good as the same",
    "a name of the concept", "a training mention with similar words", "a similar name by its words", "a similar name",
)  # fmt: skip


def explain(system: System, document: Document, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
    """Explain what mentions are linked to, and why.

    Args:
        system: trained.
        document: prepared.
        mentions: those to explain, others staying as they are found; what is found when ``None``.

    Raises:
        UsageError: a mention of a type that is not known, with a gap, or whose ends are not those of tokens.
    """
    ready = system.columns(Batch.of([document.copy(mentions=[])]))
    free = _derive(system, ready, ())
    found = {segment[:3]: None for segment in system.segments(free.instance, free.labels, free.choices)}
    if mentions is None:
        return [_explained(system, document, free, place, True) for place in found]
    explanations = []
    for mention in mentions:
        check_type(mention, system.types)
        [(_, ranges, sentence)] = align(document, [mention])
        if ranges is None or sentence < 0 or len(ranges) > 1:
            raise unheld(mention, "expected one span, of whole tokens of a sentence")
        derived, place = free, (ranges[0].first, ranges[0].end, system.types.index(mention.type))
        if place not in found:
            others = [other for other in found if other[1] <= place[0] or place[1] <= other[0]]
            derived = _derive(system, ready, [*others, place])
        explanations.append(_explained(system, document, derived, place, place in found))
    return explanations


Place = tuple[int, int, int]  # first token, end, type


class _Derived(NamedTuple):
    """The derivations of a document's sentences.

    Args:
        instance: of the document.
        matrix: features of the tokens.
        local: (T, R) scores of roles.
        labels: (T,).
        choices: (T,) at the last tokens of entities.
        search: that found them.
    """

    instance: Instance
    matrix: Sparse
    local: Singles
    labels: Int32
    choices: Int32
    search: Search


def _derive(system: System, batch: Batch, places: Sequence[Place]) -> _Derived:
    """The best derivations; those with entities at these places and nowhere else, if any are given."""
    [document] = batch.documents
    given = [Mention(system.types[kind], to_spans(document, [(first, end)])) for first, end, kind in places]
    prescribed = Prescribed(Batch.of([document.copy(mentions=given)]), system.types) if places else None
    instance, matrix = system.read(batch, prescribed, SERIAL)
    labels, choices = system.decode(instance, matrix, prescribed)
    longest = max(system.search.longest, prescribed.longest if prescribed else 0)
    search = replace(system.search, longest=longest)
    return _Derived(instance, matrix, system.local_scores(matrix), labels, choices, search)


def _explained(system: System, document: Document, derived: _Derived, place: Place, predicted: bool) -> Explanation:
    first, end, kind = place
    closing = _Closing(system, derived, first, end)
    choices = closing.choices()
    scores = [closing.score(choice) for choice in choices]
    order = sorted(range(len(choices)), key=lambda i: -scores[i])
    candidates = []
    for rank, i in enumerate(order):
        other = order[0] if rank else order[1] if len(order) > 1 else i
        concept, way = closing.concept(choices[i])
        parts = tuple(closing.difference(choices[i], choices[other], scores[i] - scores[other]))
        identifiers = system.concepts.identifiers(concept)
        vocabulary = system.concepts.vocabulary
        name = " + ".join(vocabulary[part].name for part in system.concepts.parts(identifiers))
        candidates.append(Candidate(identifiers, name, WAYS[way], scores[i], parts))
    number, _ = closing.concept(closing.chosen)
    spans = to_spans(document, [(first, end)])
    chances = system.chances(derived.instance.data.offsets, derived.matrix, [(*place, number)])
    [score] = system.scalings.mentions(chances.mentions).tolist()
    mention = Mention(system.types[kind], spans, concepts=system.concepts.identifiers(number), score=score)
    return Explanation(mention, predicted, None, (), (), (), tuple(candidates))


class _Closing:
    """The action that closes an entity, in the derivation of its sentence."""

    def __init__(self, system: System, derived: _Derived, first: int, end: int) -> None:
        self._data, self._local = derived.instance.data, derived.local
        self._model, self._groups = derived.search.model(system.weights.table), derived.search.groups
        self._work = derived.search.workspace(self._data)
        self._sentence = int(np.searchsorted(self._data.offsets, first, side="right")) - 1
        self._base, stop = self._data.offsets[self._sentence : self._sentence + 2].tolist()
        self._steps = stop - self._base + 1
        self._first, self._at = first - self._base, end - self._base
        for sentence in range(self._sentence + 1):  # what earlier sentences are linked to is seen
            start, limit = self._data.offsets[sentence : sentence + 2].tolist()
            labels = np.append(derived.labels[start:limit], 0).astype(np.int32)
            choices = np.append(-1, derived.choices[start:limit]).astype(np.int32)
            self._run(sentence, labels, choices, 0, len(labels), sentence < self._sentence)
        self._labels, self._choices = labels, choices
        self.chosen = int(choices[self._at])
        self._span = int(self._work.span_at[self._first, end - first - 1])
        data, span = self._data, self._span
        self._count = 0 if span < 0 else int(data.cand_ptr[span + 1] - data.cand_ptr[span])

    def choices(self) -> range:
        """The candidates, and linking the entity to nothing, where that is allowed."""
        return range(self._count + (not self._count or self._model.nil))

    def concept(self, choice: int) -> tuple[int, int]:
        """The concept of a choice, and the way in which it was found."""
        if choice >= self._count:
            return NIL, 0
        row = int(self._data.cand_ptr[self._span]) + choice
        return int(self._data.cand_concept[row]), int(self._data.cand_class[row])

    def _walk(self, choice: int, begin: int, steps: int) -> tuple[list[list[int]], list[float]]:
        """Roles and the weights of keys of the steps from ``begin`` on, with another choice."""
        choices = self._choices.copy()
        choices[self._at] = choice
        roles, keys = self._run(self._sentence, self._labels, choices, begin, steps)
        weights = np.empty(len(keys), np.float32)
        _link_weights(self._model.table, keys, weights)
        return roles.tolist(), weights.tolist()

    def _run(
        self, sentence: int, labels: Int32, choices: Int32, begin: int, steps: int, earlier: bool = False
    ) -> tuple[Int64, UInt64]:
        """Walk along a derivation: its roles and keys; of an earlier sentence only what it is linked to is noted."""
        roles, counts = np.empty((2 * self._steps, 2), np.int64), np.zeros(2, np.int64)
        keys = np.empty(self._steps * 3 * groups.MOST, np.uint64)
        _link_walk(
            self._model, self._data, self._work, sentence, labels, choices, begin, steps, earlier, roles, keys, counts
        )
        return roles[: counts[0]], keys[: counts[1]]

    def score(self, choice: int) -> float:
        """Of the sentence's derivation with a choice."""
        roles, weights = self._walk(choice, 0, self._steps)
        return sum(float(self._local[self._base + token, role]) for token, role in roles) + sum(weights)

    def difference(self, choice: int, other: int, whole: float) -> list[Part]:
        """Return the parts of one choice's lead over another, the strongest first; they add up to ``whole``."""
        own, others = self._parts(choice), self._parts(other)
        parts = {name: own.get(name, 0.0) - others.get(name, 0.0) for name in own | others}
        parts[LATER] = whole - sum(parts.values())
        found = [Part(name, value) for name, value in parts.items() if abs(value) > 1e-6]
        return sorted(found, key=lambda part: (-abs(part.score), part.name))

    def _parts(self, choice: int) -> dict[str, float]:
        """Return the scores of the closing action's features that depend on the choice, by name."""
        _, weights = self._walk(choice, self._at, self._at + 1)
        parts: dict[str, float] = {}
        names = self.names(choice)
        for name, value in zip(names, weights[len(weights) - len(names) :], strict=True):  # behind the entity's own
            parts[name] = parts.get(name, 0.0) + value
        return parts

    def names(self, choice: int) -> list[str]:
        """The templates of the closing action's keys that depend on the choice, in the order of the keys."""
        own_groups, data = self._groups, self._data
        names = of_phase(own_groups, groups.UNPROPOSED)
        if names and self._span >= 0:
            linked = choice < self._count
            every, size = (CANDIDATES, data.cand_keys.shape[1]) if linked else (NILS, data.nil_keys.shape[1])
            names = every[:size]
        if not self.concept(choice)[1]:
            names = [f"{NOTHING}: {name}" for name in names]
        phases = [groups.CLOSE, groups.CLOSE_LAST]
        if (self._labels[: self._first] > 0).any():
            phases.insert(0, groups.CLOSE_FAR)
        concept, _ = self.concept(choice)
        if (int(self._model.forms.size[concept]) if concept != NIL else self._at - self._first) > 1:
            phases.insert(-1, groups.CLOSE_SEVERAL)
        names = names + [name for phase in phases for name in of_phase(own_groups, phase)]
        following = (groups.NEXT, groups.NEXT_FAR) if self._at < self._steps - 1 else ()
        return names + [f"{NEXT}: {name}" for phase in following for name in of_phase(own_groups, phase)]
