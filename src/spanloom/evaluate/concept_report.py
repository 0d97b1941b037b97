"""Evaluation of predicted concepts: the report, and the significance test of two predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, log1p
from typing import Any

import numpy as np

from spanloom.document import Document
from spanloom.document.markup import Printed
from spanloom.evaluate.compare import of_type, paired
from spanloom.evaluate.concepts import (
    Resolved,
    Resolver,
    accuracies,
    by_document,
    by_mention,
    concept_sets,
    whole_documents,
)
from spanloom.evaluate.measures import Floats, Score, rates
from spanloom.evaluate.report import accuracy_cell, score_table
from spanloom.evaluate.rows import PairedTest, ReportRow, compare_rows, scores, unit_counts

_SHOWN = 10  # identifiers that the vocabulary lacks, in the text


@dataclass(frozen=True, slots=True)
class ConceptReport(Printed):
    """Report of `evaluate_concepts`. Identifiers are normalized, and alternatives resolved if there is a vocabulary.

    Args:
        documents: the different concepts of each document, summed over documents.
        broader: the same, each set with all broader concepts (hierarchical precision and recall: Kiritchenko, Matwin
            and Famili 2005); ``None`` where no vocabulary gives any.
        mentions: mentions whose type, boundaries and concepts are all equal.
        types: for each type ``documents`` and ``mentions``, over the mentions of that type.
        accuracy: of the mentions whose type and boundaries are right, those with the right concepts; under ``linked``
            where gold has concepts, under ``unlinked`` where it has none. Precision, recall and F1 are all this part.
        several: mentions with several concepts, in ``gold`` and in ``predicted``.
        none: mentions without a concept.
        lacking: for each side and type the identifiers that the vocabulary lacks, and how many mentions have them;
            they count as concepts of their own. ``None`` without a vocabulary.
        count: the number of documents compared, which are the units of resampling."""

    documents: Score
    broader: Score | None
    mentions: Score
    types: dict[str, dict[str, Score]]
    accuracy: dict[str, Score]
    several: dict[str, int]
    none: dict[str, int]
    lacking: dict[str, dict[str, dict[str, int]]] | None
    count: int

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values; fractions from 0 to 1."""
        accuracy = {name: {"mentions": int(one.gold), **one.to_accuracy()} for name, one in self.accuracy.items()}
        return Printed.to_dict(self) | {"accuracy": accuracy}

    def to_text(self) -> str:
        """Return a table for a terminal; percent with two digits."""
        rows = [("documents", self.documents)]
        rows += [] if self.broader is None else [("documents, with broader concepts", self.broader)]
        rows.append(("mentions", self.mentions))
        rows += [(f"  {kind}, {name}", score) for kind, found in self.types.items() for name, score in found.items()]
        return score_table("concepts of", rows) + "\n".join(("", *self._notes())) + "\n"

    def _notes(self) -> Iterator[str]:
        linked, unlinked = self.accuracy["linked"], self.accuracy["unlinked"]
        yield f"mentions that were recognized: {_part(linked)} with the right concepts"
        if unlinked.gold:
            yield f"  and, where gold has no concept: {_part(unlinked)} without one"
        yield f"several concepts: {self.several['gold']:,} in gold, {self.several['predicted']:,} in predicted"
        yield f"no concept: {self.none['gold']:,} in gold, {self.none['predicted']:,} in predicted"
        for side, types in (self.lacking or {}).items():
            for kind, found in types.items():
                shown = ", ".join(f"{identifier} ({count})" for identifier, count in list(found.items())[:_SHOWN])
                more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
                yield f"not in the vocabulary, {kind} in {side}: {shown}{more}"
            if not types:
                yield f"not in the vocabulary, in {side}: none"


def _part(score: Score) -> str:
    return f"{accuracy_cell(score)} of {score.gold:,.0f}" if score.gold else "none of 0"


def evaluate_concepts(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    vocabulary: Resolver | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> ConceptReport:
    """Compare predicted concepts with gold ones: per document as sets, and per mention.

    Documents are matched as `evaluate` matches them. The intervals are 95 % percentile bootstrap intervals over
    documents.

    Args:
        gold: N documents.
        predicted: predictions for the same texts.
        vocabulary: resolves alternative identifiers; identifiers that it lacks are counted and kept.
        bootstrap: samples for the intervals; 0 for no intervals.
        seed: of the random numbers.

    Raises:
        DataError: a document is missing or extra, or its text differs; or gold annotation is not complete.
        UsageError: a negative number of samples.

    >>> from spanloom.document import Mention
    >>> gold = Document("colon and lung cancer", mentions=[Mention("Disease", [(0, 21)], concepts=["D1", "D2"])])
    >>> predicted = gold.copy(mentions=[Mention("Disease", [(10, 21)], concepts=["D2"])])
    >>> report = evaluate_concepts([gold], [predicted], bootstrap=0)
    >>> report.documents.precision, report.documents.recall, report.mentions.f1
    (1.0, 0.5, 0.0)
    """
    [predicted] = paired(gold, predicted)
    resolve = Resolved(vocabulary)
    kinds = sorted({mention.type for side in (gold, predicted) for document in side for mention in document.mentions})
    sets = [concept_sets(side, resolve) for side in (gold, predicted)]
    broader = [[resolve.broadened(own) for own in side] for side in sets]
    rows = [by_document(*sets), by_mention(gold, predicted, resolve), by_document(*broader)]
    rows += accuracies(gold, predicted, resolve)
    for kind in kinds:
        rows.append(by_document(concept_sets(gold, resolve, kind), concept_sets(predicted, resolve, kind)))
        rows.append(by_mention(of_type(gold, kind), of_type(predicted, kind), resolve))
    documents, mentions, hierarchical, linked, unlinked, *others = scores(rows, len(gold), bootstrap, seed)
    sides = {"gold": gold, "predicted": predicted}
    return ConceptReport(
        documents=documents,
        broader=hierarchical if broader != sets else None,
        mentions=mentions,
        types={kind: {"documents": others[2 * i], "mentions": others[2 * i + 1]} for i, kind in enumerate(kinds)},
        accuracy={"linked": linked, "unlinked": unlinked},
        several={name: sum(len(resolve(m)) > 1 for d in side for m in d.mentions) for name, side in sides.items()},
        none={name: sum(not m.concepts for d in side for m in d.mentions) for name, side in sides.items()},
        lacking=None if vocabulary is None else {name: resolve.lacking(side) for name, side in sides.items()},
        count=len(gold),
    )


@dataclass(frozen=True, slots=True)
class ConceptTest(Printed):
    """The difference of two predictions in the concepts of documents, and of mentions.

    Args:
        documents: F1 of the documents' sets: approximate randomization over documents.
        mentions: F1 of mentions with their concepts, likewise.
        documents_t: p of a two-sided paired t-test of the documents' own F1 of sets (paper 002, Table 5).
        mentions_t: the same of mentions.
    """

    documents: PairedTest
    mentions: PairedTest
    documents_t: float
    mentions_t: float

    def to_dict(self) -> dict[str, Any]:
        """Return the test as JSON values."""
        return {
            "documents": self.documents.to_dict() | {"t_test": self.documents_t},
            "mentions": self.mentions.to_dict() | {"t_test": self.mentions_t},
        }

    def to_text(self) -> str:
        """Return four lines for a terminal for each of the two tests."""
        tests = {"documents": (self.documents, self.documents_t), "mentions": (self.mentions, self.mentions_t)}
        return "".join(
            f"concepts of {name}\n{test.to_text()}"
            f"p {f'= {p:.4f}' if p >= 0.0001 else '< 0.0001'} (paired t-test of F1 over documents)\n"
            for name, (test, p) in tests.items()
        )


def concept_test(
    gold: Sequence[Document],
    a: Sequence[Document],
    b: Sequence[Document],
    *,
    vocabulary: Resolver | None = None,
    samples: int = 10_000,
    seed: int = 0,
) -> ConceptTest:
    """Test whether two predictions differ in their concepts.

    Args:
        gold: N documents.
        a: the first prediction of them.
        b: the second.
        vocabulary: resolves alternative identifiers.
        samples: of the randomization tests and of the intervals.
        seed: of the random numbers.

    Raises:
        DataError: a document is missing or extra, or its text differs; or gold annotation is not complete.
        UsageError: there are no samples, or no documents.

    >>> from spanloom.document import Mention
    >>> text = Document("pain", mentions=[Mention("Disease", [(0, 4)], concepts=["D1"])])
    >>> gold = [text.copy(id=str(i)) for i in range(8)]
    >>> worse = [document.copy(mentions=[]) for document in gold[:6]] + gold[6:]
    >>> test = concept_test(gold, gold, worse)
    >>> test.documents.p_value, round(test.documents_t, 4)
    (0.03125, 0.0025)
    """
    sides = paired(gold, a, b)
    resolve = Resolved(vocabulary)
    expected = concept_sets(gold, resolve)
    sets = [by_document(expected, concept_sets(side, resolve)) for side in sides]
    mentions = [by_mention(gold, side, resolve) for side in sides]
    cut = whole_documents(len(gold))
    of_sets, of_mentions = (compare_rows(a, b, cut, samples, seed) for a, b in (sets, mentions))
    return ConceptTest(of_sets, of_mentions, t_test(*_f1(sets, len(gold))), t_test(*_f1(mentions, len(gold))))


def _f1(rows: Sequence[ReportRow], documents: int) -> list[Floats]:
    """Return the F1 of each document, for each row."""
    counts = unit_counts(rows, documents).dense().reshape(documents, len(rows), 4)
    return [rates(counts[:, i])[:, 2] for i in range(len(rows))]


def t_test(a: Floats, b: Floats) -> float:
    """Return the two-sided p value of a paired t-test; 1 where no pair differs.

    Args:
        a: (N,) values.
        b: (N,) values of the same things.

    >>> round(t_test(np.array([3.0, 4.0, 5.0, 4.0]), np.array([2.0, 3.5, 3.5, 4.0])), 4)
    0.1027
    """
    change = a - b
    if len(change) < 2 or not np.any(change):
        return 1.0
    error = change.std(ddof=1) / np.sqrt(len(change))
    if not error:
        return 0.0
    degrees = len(change) - 1
    return _beta(degrees / 2, 0.5, degrees / (degrees + float(change.mean() / error) ** 2))


def _beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function, by Lentz's method (Press et al. 2007, section 6.4)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the continued fraction converges faster
        return 1 - _beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction, m, step = d, 0, 0.0
    while abs(step - 1) > 1e-15 and m < 10_000:
        m += 1
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + term * d), 1 + term / c
            step = c * d
            fraction *= step
    return front * fraction
