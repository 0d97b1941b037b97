"""`spanloom evaluate --html`: the errors of a prediction as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.evaluate import KEYS, Calibration, Report, precision_recall
from spanloom.formats.output import check_free, output_file
from spanloom.view.error_page import error_page
from spanloom.view.plots import require


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
    report: Report,
    scores: Calibration | None,
    *,
    penalty: float | None,
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
        penalty: the model's mention penalty, if it is known.
        title: of the page.
        force: replace a file that is there.
    """
    curve = () if scores is None else precision_recall(gold, predicted, key=KEYS[report.match])
    note = "as predicted" if penalty is None else f"as predicted, with mention penalty {penalty:.2f}"
    page = error_page(gold, predicted, report, calibration=scores, curve=curve, note=note, title=title)
    with output_file(output, force=force) as file:
        file.write(page)
