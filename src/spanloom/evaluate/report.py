"""Evaluation report of predicted documents against gold ones, and all errors with their kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Document, Mention
from spanloom.document.markup import Figure, Printed
from spanloom.errors import UsageError, plural
from spanloom.evaluate.compare import (
    KEYS,
    Key,
    compare,
    errors,
    exact,
    in_both,
    paired,
    surer,
)
from spanloom.evaluate.measures import Score
from spanloom.evaluate.rows import by_sentence, by_structure, by_type, row, scores
from spanloom.evaluate.units import units, with_sentences
from spanloom.formats.inputs import documents_given


@dataclass(frozen=True, slots=True)
class Report(Printed):
    """Report of `evaluate`.

    Args:
        match: criterion of equality: ``exact``, type and all boundaries, or ``heads``, the head, too.
        overall: type and all boundaries equal; with ``heads`` the head, too, here and below.
        types: the same for each type, by name.
        structures: ``flat``, ``nested``, ``crossing``, ``discontiguous``; a mention may be in several of the last
            three, see `Overlaps`. Recall counts the gold mentions that are so in gold, precision the predicted mentions
            that are so in the prediction.
        sentences: ``with overlap`` and ``without overlap`` (paper 001, section 7, Table 4): the sentences in which at
            least two gold mentions share a character, whatever their types, and the others.
        keys: other comparisons by name, such as ``boundaries``.
        partial: type equal; boundaries equal count 1, at least one character shared counts 1/2; one to one.
        errors: counts of ``boundary``, ``type``, ``missed`` and ``spurious``; a boundary error and a type error are one
            gold and one predicted mention each, a missed one is gold, a spurious one predicted. With
            ``heads`` also ``head``: type and boundaries equal, another head.
        boundaries: the boundary errors by kind, as the page of errors has them: ``boundary``, of which only ends are
            wrong, ``gap missed``, ``gap invented`` and ``fragment wrong``.
        duplicates: mentions that repeated another and were left out, in ``gold`` and in ``predicted``.
        documents: the number of documents compared.
        units: the number of units of resampling.
        unit: the kind of unit: ``sentence``, ``document``, or ``sentence or document`` where only some documents have
            sentences.
    """

    match: str
    overall: Score
    types: dict[str, Score]
    structures: dict[str, Score]
    sentences: dict[str, Score]
    keys: dict[str, Score]
    partial: Score
    errors: dict[str, int]
    boundaries: dict[str, int]
    duplicates: dict[str, int]
    documents: int
    units: int
    unit: str

    def groups(self) -> dict[str, dict[str, Score]]:
        """Return the scores of tables and figures: title -> name -> score; the first group has no title."""
        first = {self.match: self.overall, "partial": self.partial, **self.keys}
        return {"": first, "type": self.types, "structure": self.structures, f"{self.unit}s": self.sentences}

    def to_text(self) -> str:
        """Return a table for a terminal; percent with two digits, a dash where the denominator is 0."""
        rows: list[tuple[str, Score | None]] = []
        for title, group in self.groups().items():
            rows += [(title, None)] if title else []
            rows += [("  " * bool(title) + name, score) for name, score in group.items()]
        return score_table("", rows) + "\n".join(("", *self._notes())) + "\n"

    def plot(self) -> Figure:
        """Draw the report: F1 with its interval, precision and recall of each row.

        Returns:
            a figure that a notebook shows, and that `Figure.save` writes as SVG.
        """
        figure: Figure = resolve_name("spanloom.view.plots:plot")(self)
        return figure

    def _notes(self) -> Iterator[str]:
        finer = {kind: count for kind, count in self.boundaries.items() if count or kind == "boundary"}
        counts = {"boundary": 0, **finer, **{kind: count for kind, count in self.errors.items() if kind != "boundary"}}
        yield "errors: " + ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
        yield plural(self.documents, "document") + (
            f", {plural(self.units, self.unit)}" if self.unit != "document" else ""
        )
        if any(self.duplicates.values()):
            dropped = ", ".join(f"{count:,} in {side}" for side, count in self.duplicates.items())
            yield f"repeated mentions counted once: {dropped}"


def score_table(title: str, rows: Sequence[tuple[str, Score | None]], width: int = 0) -> str:
    """Return a table of scores for a terminal.

    Args:
        title: above the names.
        rows: names and scores; a name without a score is the title of the rows that follow.
        width: the least width of the names.
    """
    scores = [score for _, score in rows if score is not None]
    interval = "" if all(score.intervals is None for score in scores) else "  95 % interval of F1"
    width = max(width, *(len(name) + 2 for name, _ in (*rows, (title, None))))
    lines = [f"{title:{width}}{'P':>7}{'R':>8}{'F1':>8}{'gold':>9}{'pred.':>8}{interval}"]
    for name, score in rows:
        lines += ["", name] if score is None else [f"{name:{width}}{_cells(score)}"]
    return "\n".join(lines) + "\n"


def _cells(score: Score) -> str:
    """Return a score as a line of the table, without its name."""
    cells = "".join(f"{value:>8}" for value in score.percents())[1:] + f"{score.gold:9,.0f}{score.predicted:8,.0f}"
    if score.intervals is not None and score.predicted + score.gold:
        low, high = score.intervals.f1
        cells += f"  {100 * low:.2f} to {100 * high:.2f}"
    return cells


def accuracy_cell(score: Score) -> str:
    """Return the recall of a score as a percentage, with its interval if there is one."""
    if score.intervals is None:
        return f"{100 * score.recall:.2f} %"
    low, high = score.intervals.recall
    return f"{100 * score.recall:.2f} % ({100 * low:.2f} to {100 * high:.2f})"


def evaluate(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    match: str = "exact",
    keys: Sequence[str] = ("boundaries",),
    bootstrap: int = 1000,
    seed: int = 0,
) -> Report:
    """Compare predicted documents with gold ones.

    Documents are matched by id, or by order where ids are missing or repeated. Mentions with the same type and spans
    count once. The intervals are percentile bootstrap intervals over sentences of gold, split by
    Spanloom where it has none (see `ResamplingUnits`). Samples in which a row's denominator is 0 are left out.

    Args:
        gold: N documents, or records of any layout that files may have.
        predicted: predictions for the same texts.
        match: criterion of equality: ``exact``, type and boundaries, or ``heads``, the head, too.
        keys: comparisons beside exact and partial match: names in `KEYS`.
        bootstrap: samples for the 95 % intervals; 0 for no intervals.
        seed: of the random numbers; the same seed gives the same intervals.

    Raises:
        DataError: a document is missing or extra, or its text differs; gold annotation is not complete; or heads are
            compared, and a gold mention has none.
        UsageError: something else than lists of documents, an unknown key, or a negative number of samples.

    >>> from spanloom.document import Mention
    >>> gold = Document("no chest pain", mentions=[Mention("problem", [(3, 13)]), Mention("part", [(3, 8)])])
    >>> predicted = Document("no chest pain", mentions=[Mention("problem", [(9, 13)]), Mention("part", [(3, 8)])])
    >>> report = evaluate([gold], [predicted], bootstrap=0)
    >>> report.overall.f1, report.partial.f1, report.errors
    (0.5, 0.75, {'boundary': 1, 'type': 0, 'missed': 0, 'spurious': 0})
    """
    gold = documents_given(gold, "gold")
    [predicted] = paired(gold, documents_given(predicted, "the prediction"))
    gold = with_sentences(gold)
    cut = units(gold, predicted)
    comparison = compare(gold, predicted, cut, _key(match))
    kinds = errors(comparison)
    near = np.concatenate([kinds.head[:, 0], kinds.boundary[:, 0]])
    groups = {
        "": {"overall": row(comparison), "partial": row(comparison, half=comparison.gold.unit[near])},
        "types": by_type(comparison),
        "structures": by_structure(comparison),
        "sentences": by_sentence(comparison, cut.count),
        "keys": {name: row(compare(gold, predicted, cut, _key(name))) for name in keys},
    }
    boundaries = dict.fromkeys(BOUNDARY_KINDS, 0)
    for i, j in kinds.boundary.tolist():
        boundaries[boundary_kind(comparison.gold.mentions[i], comparison.predicted.mentions[j])] += 1
    results = iter(scores([row for group in groups.values() for row in group.values()], cut.count, bootstrap, seed))
    found: dict[str, Any] = {title: {name: next(results) for name in group} for title, group in groups.items()}
    return Report(
        match=match,
        **found.pop(""),
        **found,
        errors={kind: len(found) for kind, found in kinds._asdict().items() if kind != "head" or match == "heads"},
        boundaries=boundaries,
        duplicates={"gold": comparison.gold.duplicates, "predicted": comparison.predicted.duplicates},
        documents=len(gold),
        units=cut.count,
        unit=cut.name,
    )


def _key(name: str) -> Key:
    if name not in KEYS:
        raise UsageError(f"found the comparison {name!r}, expected one of {', '.join(KEYS)}")
    return KEYS[name]


# Error analysis: every error of a prediction with its kind, finer than in a `Report`: gaps, heads, concepts.
#
# A boundary error (see `spanloom.evaluate.compare`) is, in this order:
#
# 1. *gap missed*: a predicted component joins two gold components over the gap between them.
# 2. *gap invented*: a gold component joins two predicted components.
# 3. *fragment wrong*: a component, gold or predicted, shares no character with the other mention.
# 4. *boundary*: all others; each component shares a character with the other mention, and only ends are wrong.
#
# Of mentions whose type and spans are right, the *head* may be wrong, and the *concept*; or only one side has a
# concept:
# *NIL* (a mention that no concept of the vocabulary fits was given one, or the other way round). A mention can be wrong
# in both, and then occurs twice.

BOUNDARY_KINDS = ("boundary", "gap missed", "gap invented", "fragment wrong")
ERROR_KINDS = (
    "missed", "spurious", "boundary", "type", "gap missed", "gap invented", "fragment wrong", "head", "concept", "NIL",
)  # fmt: skip


class Finding(NamedTuple):
    """An error of a prediction.

    Args:
        kind: one of `ERROR_KINDS`.
        document: the number of the gold document, from 0.
        gold: the gold mention, spans joined; ``None`` if it is spurious.
        predicted: the predicted mention, spans joined; ``None`` if it is missed.
    """

    kind: str
    document: int
    gold: Mention | None
    predicted: Mention | None

    @property
    def mentions(self) -> list[Mention]:
        """The gold mention and the predicted one, where they are."""
        return [mention for mention in (self.gold, self.predicted) if mention is not None]


def findings(gold: Sequence[Document], predicted: Sequence[Document]) -> list[Finding]:
    """Return all errors of a prediction, document by document, in text order.

    Heads are compared where gold has one, and concepts, without regard to their order, everywhere; either only if both
    sides have any at all.

    Args:
        gold: N documents.
        predicted: predictions for the same texts.

    Raises:
        DataError: a document is missing or extra, or its text differs; or gold annotation is not complete.

    >>> gold = Document("left and right arm", mentions=[Mention("part", [(0, 4), (15, 18)])])
    >>> [error.kind for error in findings([gold], [gold.copy(mentions=[Mention("part", [(0, 18)])])])]
    ['gap missed']
    """
    [predicted] = paired(gold, predicted)
    comparison = compare(gold, predicted, units(gold, predicted), exact)
    one, other, kinds = comparison.gold, comparison.predicted, errors(comparison)
    found = [Finding("type", int(one.document[i]), one.mentions[i], other.mentions[j]) for i, j in kinds.type.tolist()]
    found += [Finding("missed", int(one.document[i]), one.mentions[i], None) for i in kinds.missed.tolist()]
    found += [Finding("spurious", int(other.document[j]), None, other.mentions[j]) for j in kinds.spurious.tolist()]
    for i, j in kinds.boundary.tolist():
        sides = one.mentions[i], other.mentions[j]
        found.append(Finding(boundary_kind(*sides), int(one.document[i]), *sides))
    compared = compared_kinds(gold, predicted)
    for document, right, marked in in_both(gold, predicted, lambda mention: mention, surer):
        if "head" in compared and right.head is not None and right.head != marked.head:
            found.append(Finding("head", document, right, marked))
        if "concept" in compared and set(right.concepts) != set(marked.concepts):
            kind = "concept" if right.concepts and marked.concepts else "NIL"
            found.append(Finding(kind, document, right, marked))
    return sorted(
        found, key=lambda one: (one.document, one.mentions[0].spans, one.mentions[0].type, ERROR_KINDS.index(one.kind))
    )


def compared_kinds(gold: Sequence[Document], predicted: Sequence[Document]) -> tuple[str, ...]:
    """Return the kinds of error that `findings` compares: heads and concepts only if both sides have some.

    >>> documents = [Document("pain", mentions=[Mention("problem", [(0, 4)], head=(0, 4))])]
    >>> [kind for kind in ERROR_KINDS if kind not in compared_kinds(documents, documents)]
    ['concept', 'NIL']
    """
    sides = [[mention for document in side for mention in document.mentions] for side in (gold, predicted)]
    headed = all(any(mention.head is not None for mention in side) for side in sides)
    linked = all(any(mention.concepts for mention in side) for side in sides)
    applicable = {"head": headed, "concept": linked, "NIL": linked}
    return tuple(kind for kind in ERROR_KINDS if applicable.get(kind, True))


def boundary_kind(gold: Mention, predicted: Mention) -> str:
    """Return the kind of a boundary error.

    Args:
        gold: with joined spans.
        predicted: with joined spans, of which one at least shares a character with gold.

    >>> boundary_kind(Mention("part", [(0, 18)]), Mention("part", [(0, 4), (15, 18)]))
    'gap invented'
    >>> boundary_kind(Mention("part", [(0, 4), (15, 18)]), Mention("part", [(15, 18)]))
    'fragment wrong'
    >>> boundary_kind(Mention("part", [(0, 4), (15, 18)]), Mention("part", [(1, 4), (15, 18)]))
    'boundary'
    """
    if _joins_a_gap(predicted, gold):
        return "gap missed"
    if _joins_a_gap(gold, predicted):
        return "gap invented"
    if _has_lone_component(gold, predicted) or _has_lone_component(predicted, gold):
        return "fragment wrong"
    return "boundary"


def _joins_a_gap(one: Mention, other: Mention) -> bool:
    """Return whether a component of ``one`` reaches from a component of ``other`` over the gap into the next."""
    gaps = [(left.end, right.start) for left, right in pairwise(other.spans)]
    return any(span.start < low and span.end > high for span in one.spans for low, high in gaps)


def _has_lone_component(one: Mention, other: Mention) -> bool:
    return not all(any(low < span.end and span.start < high for low, high in other.spans) for span in one.spans)
