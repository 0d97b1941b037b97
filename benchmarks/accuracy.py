"""What `genia.py` and `gum.py` share: fit, tune on development data, evaluate once on test data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from common import Result, Seconds, say, timed
from spanloom.document import Document
from spanloom.evaluate import Report, paired_test
from spanloom.recognize import Progress, Recognizer
from spanloom_lab.comparison import Parts, measure


@dataclass
class Fitted:
    """A trained model.

    Args:
        name: the row's name.
        recognizer: trained; its penalty is tuned.
        seconds: of `fit`, all values of lambda included.
        paper: precision, recall and F1 that a paper reports, untuned and tuned.
    """

    name: str
    recognizer: Recognizer
    seconds: Seconds
    paper: tuple[str, str] = ("", "")


@dataclass
class Row:
    """A model on test data, with or without its mention penalty."""

    fitted: Fitted
    tuned: bool
    dev_f1: float
    predicted: list[Document] = field(repr=False)
    report: Report
    error: float  # expected calibration error

    @property
    def penalty(self) -> float:
        """The mention penalty."""
        return self.fitted.recognizer.report_.penalty if self.tuned else 0.0


def fit(name: str, parts: Parts, paper: tuple[str, str] = ("", ""), **parameters: Any) -> Fitted:
    """Train with these parameters; lambda, the pass and the penalty are chosen by development F1."""
    recognizer = Recognizer(
        **{"pos": None, "rescore": False, "overlap": "free", **parameters}
    )  # tags are those of the corpus in all its parts
    say(f"{name}: {parameters}")
    seconds, _ = timed(lambda: recognizer.fit(parts.train, dev=parts.dev, progress=_tell))
    report = recognizer.report_
    say(
        f"{name}: dev F1 {100 * report.dev_f1:.2f}, lambda {report.l2:g}, penalty {report.penalty:g}, "
        f"{report.steps} steps, {seconds.wall:.1f} s"
    )
    return Fitted(name, recognizer, seconds, paper)


def _tell(step: Progress) -> None:
    if step.dev_f1 is not None:
        say(f"  {step.seconds:6.1f} s {step.stage} {step.step}: {step.objective:,.0f}, dev F1 {100 * step.dev_f1:.2f}")


def rows(fitted: Fitted, parts: Parts, seed: int) -> list[Row]:
    """The model on test data, untuned and tuned: the same weights, without and with the penalty."""
    return [
        Row(fitted, row.tuned, row.dev_f1, row.predicted, row.test, row.calibration_error)
        for row in measure(fitted.name, fitted.recognizer, parts.dev, parts.test, seed=seed)
    ]


COLUMNS = (
    "structure", "penalty tuned", "P", "R", "F1", "95 % interval of F1", "paper P / R / F1", "dev F1", "lambda",
    "penalty", "calibration error %", "steps", "rows of weights", "seconds",
)  # fmt: skip


def cells(row: Row) -> list[Any]:
    """A row of the table with `COLUMNS`."""
    overall, report = row.report.overall, row.fitted.recognizer.report_
    return [
        row.fitted.name, "yes" if row.tuned else "no", *percent(overall), interval(row.report),
        row.fitted.paper[row.tuned], f"{100 * row.dev_f1:.1f}", f"{report.l2:g}", f"{row.penalty:g}",
        f"{100 * row.error:.1f}", report.steps, report.rows, f"{row.fitted.seconds.wall:.0f}",
    ]  # fmt: skip


def percent(found: Any) -> list[str]:
    """Precision, recall and F1."""
    return [f"{100 * value:.1f}" for value in (found.precision, found.recall, found.f1)]


def interval(report: Report) -> str:
    """The interval of the overall F1."""
    if report.overall.intervals is None:
        return ""
    low, high = report.overall.intervals.f1
    return f"{100 * low:.1f} to {100 * high:.1f}"


def overlap_rows(found: Sequence[Row], paper: Mapping[tuple[str, str], str]) -> list[list[Any]]:
    """Tuned models on sentences with and without overlapping gold mentions: paper 001, Table 4."""
    return [
        [row.fitted.name, name, *percent(row.report.sentences[name]), paper.get((row.fitted.name, name), "")]
        for row in found
        if row.tuned
        for name in ("with overlap", "without overlap")
    ]


def compare(result: Result, gold: Sequence[Document], pairs: Sequence[tuple[Row, Row]]) -> None:
    """A table of paired tests."""
    tested = [(a, b, paired_test(gold, a.predicted, b.predicted, seed=result.seed)) for a, b in pairs]
    result.table(
        "Paired tests",
        ("first", "second", "penalty tuned", "difference of F1", "95 % interval", "p"),
        [
            [
                a.fitted.name, b.fitted.name, "yes" if a.tuned else "no", f"{100 * test.difference:+.2f}",
                f"{100 * test.interval.low:+.2f} to {100 * test.interval.high:+.2f}", f"{test.p_value:.4f}",
            ]
            for a, b, test in tested
        ],
        "Approximate randomization over sentences, 10,000 samples; interval by the paired bootstrap.",
    )  # fmt: skip
    result.data["tests"] = [
        {"first": a.fitted.name, "second": b.fitted.name, "tuned": a.tuned, **test.to_dict()} for a, b, test in tested
    ]


def record(result: Result, found: Sequence[Row]) -> None:
    """All numbers of the rows, for programs."""
    result.data["rows"] = [
        {
            "name": row.fitted.name,
            "tuned": row.tuned,
            "parameters": {k: v for k, v in row.fitted.recognizer.get_params().items() if k != "clusters"},
            "dev_f1": row.dev_f1,
            "lambda": row.fitted.recognizer.report_.l2,
            "penalty": row.penalty,
            "steps": row.fitted.recognizer.report_.steps,
            "rows_of_weights": row.fitted.recognizer.report_.rows,
            "ambiguous": row.fitted.recognizer.report_.ambiguous,
            "lost": row.fitted.recognizer.report_.lost,
            "seconds": row.fitted.seconds._asdict(),
            "calibration_error": row.error,
            "test": row.report.to_dict(),
        }
        for row in found
    ]
