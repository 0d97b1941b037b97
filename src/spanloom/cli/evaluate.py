"""`spanloom evaluate`: predictions, or a model, against gold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spanloom.cli import evaluate_html
from spanloom.cli.config import ALL_CORES
from spanloom.cli.messages import Messages, plural
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.evaluate import KEYS, Calibration, PairedTest, Report, calibration, evaluate, paired_test
from spanloom.formats import read
from spanloom.formats.base import STDIO
from spanloom.recognize import Recognizer, load
from spanloom.text import prepare


def run(
    gold: str,
    predicted: str | None,
    model: str | None,
    compare: str | None,
    heads: bool,
    input_format: str | None,
    as_json: bool,
    html: str | None,
    force: bool,
    seed: int | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Print a report; with scored predictions their calibration; with other predictions a paired test; write a page."""
    if (predicted is None) == (model is None):
        raise UsageError("evaluate needs GOLD and either PREDICTED or --model MODEL")
    if [gold, predicted, compare].count(STDIO) > 1:
        raise UsageError("standard input (-) can be read only once; give the others as files")
    if html is not None:
        evaluate_html.check(html, force)
    seed = 0 if seed is None else seed
    # sentences, our own where gold has none, are what intervals are drawn over
    documents = [prepare(document) for document in read(gold, format=input_format)]
    found = list(read(predicted, format=input_format)) if predicted is not None else []
    penalty = None
    if model is not None:
        found, penalty = _predict(model, documents, jobs, Messages(quiet))
    match, others = ("heads", ("exact", "boundaries")) if heads else ("exact", ("boundaries",))
    report = evaluate(documents, found, match=match, keys=others, seed=seed)
    scores = calibration(documents, found, key=KEYS[match]) if _are_scored(found) else None
    test = None
    if compare is not None:
        test = paired_test(documents, found, list(read(compare, format=input_format)), seed=seed, key=KEYS[match])
    if html is not None:
        title = f"Errors of {Path(model or predicted or gold).name} on {Path(gold).name}"
        evaluate_html.write(html, documents, found, report, scores, penalty=penalty, title=title, force=force)
    if as_json:
        print(json.dumps(_values(report, scores, test), indent=2))
    else:
        print(_text(report, scores, test), end="")


def _predict(
    model: str, documents: list[Document], jobs: int | None, say: Messages
) -> tuple[list[Document], float | None]:
    """What a model predicts, and its mention penalty if it has one for all types."""
    recognizer = load(model).set_params(n_jobs=jobs or ALL_CORES)
    unseen = {mention.type for document in documents for mention in document.mentions} - set(recognizer.types_)
    if unseen:
        say(f"never predicted, because the model was not trained on them: {', '.join(sorted(unseen))}")
    say(f"predicting {plural(len(documents), 'document')} with {model}")
    penalty = recognizer.fitted.penalty if isinstance(recognizer, Recognizer) else None
    return list(recognizer.predict(documents, notice=say)), penalty


def _are_scored(documents: Sequence[Document]) -> bool:
    scores = [mention.score for document in documents for mention in document.mentions]
    return bool(scores) and None not in scores


def _values(report: Report, scores: Calibration | None, test: PairedTest | None) -> dict[str, Any]:
    return {
        **report.to_dict(),
        "calibration": None if scores is None else scores.to_dict(),
        "paired_test": None if test is None else test.to_dict(),
    }


def _text(report: Report, scores: Calibration | None, test: PairedTest | None) -> str:
    parts = [report.to_text()]
    if scores is not None:
        parts.append("calibration\n" + scores.to_text())
    if test is not None:
        parts.append("the first prediction against --compare\n" + test.to_text())
    return "\n".join(parts)
