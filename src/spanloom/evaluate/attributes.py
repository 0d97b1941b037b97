"""Evaluation of attributes of mentions, such as negated, over the mentions that both sides have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom.document import Document, Span
from spanloom.document.markup import Printed
from spanloom.document.span import join_spans
from spanloom.errors import check_number
from spanloom.evaluate.compare import require_complete
from spanloom.evaluate.measures import Score
from spanloom.evaluate.report import accuracy_cell, cells, header
from spanloom.evaluate.rows import Ints, ReportRow, scores
from spanloom.evaluate.units import pair
from spanloom.formats.attributes import to_text
from spanloom.formats.inputs import documents_given

_Place = tuple[str, tuple[Span, ...]]
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
        intervals = self.accuracy.intervals
        return {
            "right": int(self.accuracy.found),
            "accuracy": self.accuracy.recall,
            "interval": None if intervals is None else list(intervals.recall),
            "values": {value: score.to_dict() for value, score in self.values.items()},
        }


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
        rows: dict[str, Score] = {}
        for name, found in self.attributes.items():
            most = sorted(found.values.items(), key=lambda pair: -pair[1].gold)[:_SHOWN]
            shown = dict(most).keys()
            rows |= {f"{name}: {value}": score for value, score in found.values.items() if value in shown}
        title = "values of attributes"
        width = max(map(len, (*rows, title))) + 2
        any_score = next(iter(self.attributes.values())).accuracy
        lines = [header(title, width, any_score)]
        lines += [f"{name:{width}}{cells(score)}" for name, score in rows.items()]
        lines += ["", f"of {self.mentions:,} mentions that gold and the prediction have:"]
        for name, found in self.attributes.items():
            more = len(found.values) - _SHOWN
            left = f"; {more:,} rarer values are not shown" if more > 0 else ""
            lines.append(f"  {name}: accuracy {accuracy_cell(found.accuracy)}{left}")
        return "\n".join(lines) + "\n"


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
    check_number("bootstrap", bootstrap, 0, whole=True)
    check_number("seed", seed, 0, whole=True)
    gold, predicted = documents_given(gold, "gold"), documents_given(predicted, "the prediction")
    require_complete(gold, predicted)
    both = [
        (number, one, there[place])
        for number, (g, p) in enumerate(zip(gold, pair(gold, predicted), strict=True))
        for there in [_attributes_at(p)]
        for place, one in _attributes_at(g).items()
        if place in there
    ]
    document = np.array([number for number, *_ in both], np.int64)
    found = sorted({name for _, *sides in both for side in sides for name in side})
    names = found if attributes is None else list(dict.fromkeys(attributes))
    rows: list[ReportRow] = []
    values_of: dict[str, list[str]] = {}
    for name in names:
        binary = all(isinstance(side.get(name, False), bool) for _, *sides in both for side in sides)
        absent: bool | None = False if binary else None
        pairs = [(one.get(name, absent), other.get(name, absent)) for _, one, other in both]
        values = sorted({value for two in pairs for value in two if value is not None}, key=_order)
        code = {value: number for number, value in enumerate(values)} | {None: -1}
        codes = np.array([[code[one], code[other]] for one, other in pairs], np.int64).reshape(-1, 2)
        rows.append(_row(document, document, document[codes[:, 0] == codes[:, 1]]))
        for number in range(len(values)):
            is_gold, is_found = codes[:, 0] == number, codes[:, 1] == number
            rows.append(_row(document[is_gold], document[is_found], document[is_gold & is_found]))
        values_of[name] = [to_text(value) for value in values]
    results = iter(scores(rows, len(gold), bootstrap, seed) if rows else ())
    report = {
        name: AttributeScores(next(results), {value: next(results) for value in values_of[name]}) for name in names
    }
    return AttributeReport(len(both), report, len(gold))


def _order(value: bool | str) -> tuple[bool, str]:
    """Return the key by which values are sorted: true, then texts, then false."""
    return value is False, "" if value is True else str(value)


def _row(gold: Ints, predicted: Ints, right: Ints) -> ReportRow:
    return ReportRow(right, predicted, right, gold, np.zeros(0, np.int64))


def _attributes_at(document: Document) -> dict[_Place, Mapping[str, bool | str]]:
    """Return the attributes of each different mention; of equal mentions those of the first that has any."""
    places: dict[_Place, Mapping[str, bool | str]] = {}
    for mention in document.mentions:
        place = (mention.type, join_spans(document.text, mention.spans))
        places[place] = places.get(place) or mention.attributes
    return places
