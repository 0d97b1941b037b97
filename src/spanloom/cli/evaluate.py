"""`spanloom evaluate`: predictions, or a model, against gold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from spanloom.cli import tagger
from spanloom.cli.config import ALL_CORES
from spanloom.cli.messages import Messages, plural
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.evaluate import (
    KEYS,
    Calibration,
    ConceptReport,
    ConceptTest,
    PairedTest,
    Report,
    calibration,
    concept_test,
    evaluate,
    evaluate_concepts,
    evaluate_tags,
    paired_test,
)
from spanloom.formats import read
from spanloom.formats.base import STDIO
from spanloom.recognize import load
from spanloom.text import prepare
from spanloom.vocabulary import read_vocabulary


def run(
    gold: str,
    predicted: str | None,
    model: str | None,
    compare: str | None,
    heads: bool,
    column: str | None,
    concepts: bool,
    vocabulary: str | None,
    input_format: str | None,
    as_json: bool,
    seed: int | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Print a report; with scored predictions their calibration; with other predictions a paired test.

    Where concepts are compared, they have a report and a test of their own.
    """
    if (predicted is None) == (model is None):
        raise UsageError("evaluate needs GOLD and either PREDICTED or --model MODEL")
    if [gold, predicted, compare].count(STDIO) > 1:
        raise UsageError("standard input (-) can be read only once; give the others as files")
    if vocabulary is not None and not concepts:
        raise UsageError("--vocabulary resolves identifiers of concepts; add --concepts, or leave it out")
    resolver = None if vocabulary is None else read_vocabulary(vocabulary)  # before anything that takes long
    seed = 0 if seed is None else seed
    # sentences, our own where gold has none, are what intervals are drawn over
    documents = [prepare(document) for document in read(gold, format=input_format)]
    found = list(read(predicted, format=input_format)) if predicted is not None else []
    if column is not None or tagger.is_tagger(model):
        if compare or heads or concepts:
            raise UsageError("a column is compared by itself; leave out --compare, --heads and --concepts")
        if model is not None:
            column, found = tagger.tagged(model, documents, column, jobs)
        tags = evaluate_tags(documents, [prepare(document) for document in found], column or "", seed=seed)
        print(json.dumps(tags.to_dict(), indent=2) + "\n" if as_json else tags.to_text(), end="")
        return
    if model is not None:
        found = _predict(model, documents, jobs, Messages(quiet))
    match, others = ("heads", ("exact", "boundaries")) if heads else ("exact", ("boundaries",))
    report = evaluate(documents, found, match=match, keys=others, seed=seed)
    scores = calibration(documents, found, key=KEYS[match]) if _are_scored(found) else None
    linked = evaluate_concepts(documents, found, vocabulary=resolver, seed=seed) if concepts else None
    test = linked_test = None
    if compare is not None:
        other = list(read(compare, format=input_format))
        test = paired_test(documents, found, other, seed=seed, key=KEYS[match])
        linked_test = concept_test(documents, found, other, vocabulary=resolver, seed=seed) if concepts else None
    results = _Results(report, linked, scores, test, linked_test)
    print(json.dumps(results.to_dict(), indent=2) + "\n" if as_json else results.to_text(), end="")


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


class _Results(NamedTuple):
    """All that is printed; ``None`` for what was not asked for, or cannot be told."""

    report: Report
    concepts: ConceptReport | None
    calibration: Calibration | None
    test: PairedTest | None
    concept_test: ConceptTest | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; concepts stand there only if they were compared."""
        values = {
            **self.report.to_dict(),
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "paired_test": None if self.test is None else self.test.to_dict(),
        }
        if self.concepts is not None:
            values["concepts"] = self.concepts.to_dict()
            values["concept_test"] = None if self.concept_test is None else self.concept_test.to_dict()
        return values

    def to_text(self) -> str:
        """As tables, with an empty line between."""
        parts = [self.report.to_text()]
        if self.concepts is not None:
            parts.append(self.concepts.to_text())
        if self.calibration is not None:
            parts.append("calibration\n" + self.calibration.to_text())
        if self.test is not None:
            parts.append("the first prediction against --compare\n" + self.test.to_text())
        if self.concept_test is not None:
            parts.append(self.concept_test.to_text())
        return "\n".join(parts)
