"""`spanloom evaluate --html`: the errors of a prediction as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spanloom.cli.predictors import Predictor
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.evaluate import KEYS, Calibration, Point, precision_recall
from spanloom.evaluate import Report as Evaluation
from spanloom.evaluate.compare import Key
from spanloom.files.output import check_free, output_file
from spanloom.recognize import Recognizer
from spanloom.recognize.sweep import sweep
from spanloom.view.error_page import error_page
from spanloom.view.plots import Learning, require

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
    model: Predictor | None,
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
    if model is not None and model.kind == "recognizer":
        note = f"as predicted, with the tuned mention penalty {model.fitted.penalty:.2f}"
        penalties = _penalties(model, gold, predicted, KEYS[report.match])
    page = error_page(
        gold, predicted, report, calibration=scores, curve=curve, note=note, penalties=penalties,
        learning=_learning(model), title=title,
    )  # fmt: skip
    with output_file(output, force=force) as file:
        file.write(page)


def _penalties(
    recognizer: Recognizer, gold: Sequence[Document], predicted: Sequence[Document], key: Key
) -> list[Point]:
    """Precision and recall with the tuned mention penalty and others around it, which stand as thresholds."""
    penalties = [recognizer.fitted.penalty + shift for shift in _SHIFTS]
    types = {mention.type for document in (*gold, *predicted) for mention in document.mentions}
    points = []
    for penalty, found in zip(penalties, sweep(recognizer, gold, penalties), strict=True):
        kept = [document.copy(mentions=[m for m in document.mentions if m.type in types]) for document in found]
        points += [point._replace(threshold=penalty) for point in precision_recall(gold, kept, key=key)]
    return points


def _learning(model: Predictor | None) -> Learning | None:
    """The learning curve of a model, if its file tells."""
    if model is None or model.kind == "tagger":
        return None
    if model.kind == "recognizer":
        history = model.report_.history
        kept = model.report_.steps if model.runs == 1 and model.optimizer == "adagrad" else None
        found = Learning({"F1": [f1 for _, f1 in history]}, [objective for objective, _ in history], kept)
    elif model.kind == "linker":
        steps = model.report_.history
        found = Learning({"F1 of mentions": [row[1] for row in steps], "F1 of concepts": [row[2] for row in steps]})
    else:
        found = Learning({name: [f1 for _, f1 in chain.history] for name, chain in model.report_.chains.items()})
    return found if any(found.f1.values()) else None
