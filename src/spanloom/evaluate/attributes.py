"""Evaluation of attributes of mentions, such as negated, over the mentions that both sides have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom.document import Document
from spanloom.document.markup import Printed
from spanloom.evaluate.compare import in_both, paired
from spanloom.evaluate.measures import Score
from spanloom.evaluate.report import accuracy_cell, score_table
from spanloom.evaluate.rows import ReportRow, scores
from spanloom.formats.attributes import to_text
from spanloom.formats.inputs import documents_given

_SHOWN = 20  # values of an attribute, in the text


@dataclass(frozen=True, slots=True)
class AttributeScores:
    """Scores of one attribute.

    Args:
        accuracy: of the mentions, those with the gold value; precision, recall and F1 are all this part.
        values: for each value its precision, recall and F1, by name; the values of a binary attribute are ``true`` and
            ``false``.
    """

    accuracy: Score
    values: dict[str, Score]

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as JSON values; fractions from 0 to 1."""
        return {**self.accuracy.to_accuracy(), "values": {name: one.to_dict() for name, one in self.values.items()}}


@dataclass(frozen=True, slots=True)
class AttributeReport(Printed):
    """Report of `evaluate_attributes`.

    Args:
        mentions: the mentions that are compared: those whose type and spans are in gold and in the prediction.
        attributes: name -> scores.
        count: the number of documents, which are the units of resampling.
    """

    mentions: int
    attributes: dict[str, AttributeScores]
    count: int

    def to_text(self) -> str:
        """Return a table for a terminal; percent with two digits."""
        if not self.attributes:
            return f"attributes: none in gold and in the prediction, of {self.mentions:,} mentions that both have\n"
        rows: list[tuple[str, Score]] = []
        notes = ["", f"of {self.mentions:,} mentions that gold and the prediction have:"]
        for name, found in self.attributes.items():
            shown = dict(sorted(found.values.items(), key=lambda pair: -pair[1].gold)[:_SHOWN])
            rows += [(f"{name}: {value}", score) for value, score in found.values.items() if value in shown]
            more = len(found.values) - _SHOWN
            left = f"; {more:,} rarer values are not shown" if more > 0 else ""
            notes.append(f"  {name}: accuracy {accuracy_cell(found.accuracy)}{left}")
        return score_table("values of attributes", rows) + "\n".join(notes) + "\n"


def evaluate_attributes(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    attributes: Sequence[str] | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> AttributeReport:
    """Compare the attributes of the mentions whose type and spans are in gold and in the prediction.

    An attribute that is true or false wherever it is given is binary: a mention without it counts as false. A mention
    without another attribute has no value, which is right where gold has none. Documents are matched as `evaluate`
    matches them. The intervals are 95 % percentile bootstrap intervals over documents.

    Args:
        gold: N documents, or records of any layout that files may have.
        predicted: predictions for the same texts.
        attributes: names of those that are compared; ``None`` for all that these mentions have.
        bootstrap: samples for the intervals; 0 for no intervals.
        seed: of the random numbers.

    Raises:
        DataError: a document is missing or extra, or its text differs; or gold annotation is not complete.
        UsageError: a negative number of samples.

    >>> from spanloom.document import Mention
    >>> found = [Mention("problem", [(3, 7)]), Mention("problem", [(11, 16)], attributes={"negated": True})]
    >>> predicted = Document("no pain or fever", mentions=found)
    >>> gold = predicted.copy(mentions=[mention.replace(attributes={"negated": True}) for mention in found])
    >>> report = evaluate_attributes([gold], [predicted], bootstrap=0)
    >>> scores = report.attributes["negated"]
    >>> report.mentions, scores.accuracy.recall, scores.values["true"].precision, scores.values["true"].recall
    (2, 0.5, 1.0, 0.5)
    """
    gold = documents_given(gold, "gold")
    [predicted] = paired(gold, documents_given(predicted, "the prediction"))
    # of repeated mentions the attributes of the first that has any
    both = in_both(gold, predicted, lambda mention: mention.attributes, lambda one, two: one or two)
    document = np.array([number for number, *_ in both], np.int64)
    found = sorted({name for _, *sides in both for side in sides for name in side})
    names = found if attributes is None else list(dict.fromkeys(attributes))
    rows: list[ReportRow] = []
    values_of: dict[str, list[str]] = {}
    for name in names:
        binary = all(isinstance(side.get(name, False), bool) for _, *sides in both for side in sides)
        absent: bool | None = False if binary else None
        pairs = [(one.get(name, absent), other.get(name, absent)) for _, one, other in both]
        values = sorted(  # true, then texts, then false
            {value for two in pairs for value in two if value is not None},
            key=lambda value: (value is False, "" if value is True else str(value)),
        )
        code = {value: number for number, value in enumerate(values)} | {None: -1}
        codes = np.array([[code[one], code[other]] for one, other in pairs], np.int64).reshape(-1, 2)
        rows.append(ReportRow.matched(document, document, document[codes[:, 0] == codes[:, 1]]))
        for number in range(len(values)):
            is_gold, is_found = codes[:, 0] == number, codes[:, 1] == number
            rows.append(ReportRow.matched(document[is_gold], document[is_found], document[is_gold & is_found]))
        values_of[name] = [to_text(value) for value in values]
    results = iter(scores(rows, len(gold), bootstrap, seed) if rows else ())
    report = {
        name: AttributeScores(next(results), {value: next(results) for value in values_of[name]}) for name in names
    }
    return AttributeReport(len(both), report, len(gold))
