"""`spanloom evaluate`: predictions, or a model, against gold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from spanloom.cli.config import ALL_CORES
from spanloom.cli.messages import Messages, plural
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.evaluate import KEYS, Calibration, PairedTest, Report, calibration, evaluate, paired_test
from spanloom.evaluate.words import WordReport, evaluate_words
from spanloom.formats import read
from spanloom.formats.base import STDIO
from spanloom.models import load
from spanloom.text import prepare


def run(
    gold: str,
    predicted: str | None,
    model: str | None,
    compare: str | None,
    heads: bool,
    words: bool,
    known: str | None,
    input_format: str | None,
    as_json: bool,
    seed: int | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Print a report; with scored predictions their calibration; with other predictions a paired test."""
    if (predicted is None) == (model is None):
        raise UsageError("evaluate needs GOLD and either PREDICTED or --model MODEL")
    if known is not None and not words:
        raise UsageError("--known tells which words are not new; give it with --words")
    if [gold, predicted, compare, known].count(STDIO) > 1:
        raise UsageError("standard input (-) can be read only once; give the others as files")
    seed = 0 if seed is None else seed
    # sentences, our own where gold has none, are what intervals are drawn over
    documents = [prepare(document) for document in read(gold, format=input_format)]
    found = list(read(predicted, format=input_format)) if predicted is not None else []
    if model is not None:
        found = _predict(model, documents, jobs, Messages(quiet))
    match, others = ("heads", ("exact", "boundaries")) if heads else ("exact", ("boundaries",))
    report = evaluate(documents, found, match=match, keys=others, seed=seed)
    scores = calibration(documents, found, key=KEYS[match]) if _are_scored(found) else None
    test = None
    if compare is not None:
        test = paired_test(documents, found, list(read(compare, format=input_format)), seed=seed, key=KEYS[match])
    segmented = _words(documents, found, known, input_format, seed) if words else None
    if as_json:
        print(json.dumps(_values(report, scores, test, segmented), indent=2))
    else:
        print(_text(report, scores, test, segmented), end="")


def _words(
    gold: Sequence[Document], found: Sequence[Document], known: str | None, input_format: str | None, seed: int
) -> WordReport:
    seen = None
    if known is not None:
        seen = {word for document in read(known, format=input_format) for word in document.words}
    return evaluate_words(gold, found, known=seen, seed=seed)


def _predict(model: str, documents: list[Document], jobs: int | None, say: Messages) -> list[Document]:
    recognizer = load(model).set_params(n_jobs=jobs or ALL_CORES)
    unseen = {mention.type for document in documents for mention in document.mentions} - set(recognizer.types_)
    if unseen:
        say(f"never predicted, because the model was not trained on them: {', '.join(sorted(unseen))}")
    say(f"predicting {plural(len(documents), 'document')} with {model}")
    return list(recognizer.predict(documents, notice=say))


def _are_scored(documents: Sequence[Document]) -> bool:
    scores = [mention.score for document in documents for mention in document.mentions]
    return bool(scores) and None not in scores


def _values(
    report: Report, scores: Calibration | None, test: PairedTest | None, segmented: WordReport | None
) -> dict[str, Any]:
    return {
        **report.to_dict(),
        **({} if segmented is None else {"segmentation": segmented.to_dict()}),
        "calibration": None if scores is None else scores.to_dict(),
        "paired_test": None if test is None else test.to_dict(),
    }


def _text(report: Report, scores: Calibration | None, test: PairedTest | None, segmented: WordReport | None) -> str:
    parts = [report.to_text()]
    if segmented is not None:
        parts.append("segmentation\n" + segmented.to_text())
    if scores is not None:
        parts.append("calibration\n" + scores.to_text())
    if test is not None:
        parts.append("the first prediction against --compare\n" + test.to_text())
    return "\n".join(parts)
