"""`spanloom evaluate --html`: the errors of a prediction as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.evaluate import KEYS, Calibration, Point, precision_recall
from spanloom.evaluate import Report as Evaluation
from spanloom.evaluate.compare import Key
from spanloom.files.output import check_free, output_file
from spanloom.model.protocol import MentionModel, Swept, sweeps
from spanloom.view.error_page import error_page
from spanloom.view.plots import require

_SHIFTS = (-2.0, -1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)  # from the tuned penalty


def check(output: str, force: bool) -> None:
    """Whether the page can be written, before the work that it is about.

    Raises:
        UsageError: it cannot: the name is not that of a page, it is taken, or Matplotlib is missing.
    """
    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"found --html {output}, expected a name that ends in .html")
    check_free(output, force=force)
    require()


def write(
    output: str,
    gold: Sequence[Document],
    predicted: Sequence[Document],
    report: Evaluation,
    scores: Calibration | None,
    *,
    model: MentionModel | None,
    title: str,
    force: bool,
) -> None:
    """Write the page.

    Args:
        output: the file.
        gold: N documents.
        predicted: predictions for the same texts.
        report: of the same.
        scores: calibration, if all predicted mentions have scores.
        model: that predicted, if it is known: for its learning curve and its mention penalty.
        title: of the page.
        force: replace a file that is there.
    """
    curve = () if scores is None else precision_recall(gold, predicted, key=KEYS[report.match])
    note, penalties = "as predicted", list[Point]()
    if model is not None and sweeps(model):
        note = f"as predicted, with the tuned mention penalty {model.fitted.penalty:.2f}"
        penalties = _penalties(model, gold, predicted, KEYS[report.match])
    learning = None if model is None else model.learning()
    if learning is not None and not any(learning.f1.values()):
        learning = None
    page = error_page(
        gold, predicted, report, calibration=scores, curve=curve, note=note, penalties=penalties,
        learning=learning, title=title,
    )  # fmt: skip
    with output_file(output, force=force) as file:
        file.write(page)


def _penalties(model: Swept, gold: Sequence[Document], predicted: Sequence[Document], key: Key) -> list[Point]:
    """Precision and recall with the tuned mention penalty and others around it, which stand as thresholds."""
    penalties = [model.fitted.penalty + shift for shift in _SHIFTS]
    types = {mention.type for document in (*gold, *predicted) for mention in document.mentions}
    points = []
    for penalty, found in zip(penalties, model.sweep(gold, penalties), strict=True):
        kept = [document.copy(mentions=[m for m in document.mentions if m.type in types]) for document in found]
        points += [point._replace(threshold=penalty) for point in precision_recall(gold, kept, key=key)]
    return points
