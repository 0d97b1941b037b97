"""`spanloom evaluate`: predictions, or a model, against gold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spanloom.cli.app import Evaluate
from spanloom.cli.messages import Messages, counted
from spanloom.cli.predict import load_model, predict
from spanloom.cli.reading import Reading, check_page
from spanloom.document import Document
from spanloom.errors import DataError, UsageError, plural
from spanloom.evaluate import (
    KEYS,
    Point,
    calibration,
    concept_test,
    evaluate,
    evaluate_attributes,
    evaluate_concepts,
    evaluate_tags,
    paired_test,
    precision_recall,
)
from spanloom.evaluate.compare import Key, require_complete
from spanloom.evaluate.concepts import Resolver
from spanloom.evaluate.words import evaluate_words
from spanloom.files import STDIO
from spanloom.files.output import output_file
from spanloom.model.corpus import TypeFilter
from spanloom.model.protocol import Model, Swept, fills_column, finds_mentions, links, sweeps
from spanloom.text import prepare
from spanloom.view.error_page import error_page
from spanloom.view.plots import require
from spanloom.vocabulary import read_vocabulary

_HEADINGS = {
    "segmentation": "segmentation\n",
    "calibration": "calibration\n",
    "paired_test": "the first prediction against --compare\n",
}
_SHIFTS = (-2.0, -1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)  # from the tuned penalty


def run(args: Evaluate) -> int | None:
    """Print a report; with scored predictions their calibration; with other predictions a paired test.

    Where concepts are compared, they have a report and a test of their own, and attributes have a report. With
    ``mentions`` "given" a linker links gold mentions. With ``html`` all errors are written as a page.
    """
    if (args.predicted is None) == (args.model is None):
        raise UsageError("evaluate needs GOLD and either PREDICTED or --model MODEL")
    if args.encoder is not None and args.model is None:
        raise UsageError("--encoder names the encoder of a model; give it with --model, or leave it out")
    if args.known is not None and not args.words and args.html is None:
        raise UsageError("--known names the data whose words and mentions are known; give it with --words or --html")
    if [args.gold, args.predicted, args.compare, args.known].count(STDIO) > 1:
        raise UsageError("standard input (-) can be read only once; give the others as files")
    if args.vocabulary is not None and not args.concepts:
        raise UsageError("--vocabulary resolves identifiers of concepts; add --concepts, or leave it out")
    if args.html is not None:
        check_page(args.html, force=args.force)
        require()
    if args.vocabulary_columns is not None and args.vocabulary is None:
        raise UsageError("--vocabulary-columns names columns of --vocabulary; give it, too")
    # before anything that takes long
    resolver: Resolver | None = None
    if args.vocabulary is not None:
        resolver = read_vocabulary(args.vocabulary, columns=args.vocabulary_columns)
    seed = args.seed or 0
    predictor = None if args.model is None else load_model(args.model, args.jobs, args.encoder)
    if args.mentions is not None and (predictor is None or "given_mentions" not in predictor.capable):
        raise UsageError("--mentions is for a model that links; leave it out, or give such a model with --model")
    if args.mentions == "given" and not args.concepts:
        raise UsageError(
            "with --mentions given all mentions are those of GOLD; add --concepts, to compare their concepts"
        )
    column = _column(predictor, args.column)
    if column is not None:
        if args.compare or args.heads or args.words or args.concepts or args.attributes or args.types:
            beside = "--compare, --heads, --words, --concepts, --attributes and --types"
            raise UsageError(f"a column is compared by itself; leave out {beside}")
        if args.html is not None:
            raise UsageError("--html shows mentions; leave it out where a column is compared")
    if predictor is not None and args.concepts and resolver is None and links(predictor):
        resolver = predictor.resolver
    # sentences, our own where gold has none, are what intervals are drawn over
    log = Messages(args.quiet)
    reading = Reading.of(args, log)
    given = reading(args.gold)
    documents = [prepare(document) for document in (_with_words(given, args.gold) if args.words else given)]
    documents = list(TypeFilter(args.types).checked(documents))
    if column is None:
        require_complete(documents)  # before a prediction that may take long
    if predictor is None:
        found = list(TypeFilter(args.types)(reading(args.predicted or "")))
    else:
        if finds_mentions(predictor):
            unseen = {mention.type for document in documents for mention in document.mentions} - {*predictor.types_}
            done = "linked" if args.mentions == "given" else "predicted"
            if unseen:
                log(f"never {done}, because the model was not trained on them: {', '.join(sorted(unseen))}")
            log(f"predicting {plural(len(documents), 'document')}")
        # one that links given mentions keeps what it cannot link, and that must not be gold
        bare = map(_bare, documents) if "given_mentions" in predictor.capable else documents
        marked = predict(predictor, bare, log, mentions=args.mentions)
        marked = counted(marked, "predicting", quiet=args.quiet, total=lambda: len(documents))
        found = list(TypeFilter(args.types)(marked))
    if column is not None:
        tags = evaluate_tags(documents, [prepare(document) for document in found], column, seed=seed)
        print(json.dumps(tags.to_dict(), indent=2) + "\n" if args.as_json else tags.to_text(), end="")
        return reading.finish()
    match, others = ("heads", ("exact", "boundaries")) if args.heads else ("exact", ("boundaries",))
    report = evaluate(documents, found, match=match, keys=others, seed=seed)
    own = [mention.score for document in found for mention in document.mentions]
    scores = calibration(documents, found, key=KEYS[match]) if own and None not in own else None
    training = None if args.known is None else list(reading(args.known))
    more: dict[str, Any] = {}  # in the order of the tables
    if args.words:
        known = None if training is None else _with_words(training, args.known or "")
        words = None if known is None else {word for document in known for word in document.words}
        more["segmentation"] = evaluate_words(documents, found, known=words, seed=seed)
    if args.concepts:
        more["concepts"] = evaluate_concepts(documents, found, vocabulary=resolver, seed=seed)
    if args.attributes:
        more["attributes"] = evaluate_attributes(documents, found, seed=seed)
    if scores is not None:
        more["calibration"] = scores
    if args.compare is not None:
        other = list(TypeFilter(args.types)(reading(args.compare)))
        more["paired_test"] = paired_test(documents, found, other, seed=seed, key=KEYS[match])
        if args.concepts:
            more["concept_test"] = concept_test(documents, found, other, vocabulary=resolver, seed=seed)
    if args.html is not None:
        title = f"Errors of {Path(args.model or args.predicted or args.gold).name} on {Path(args.gold).name}"
        curve = () if scores is None else precision_recall(documents, found, key=KEYS[match])
        note, penalties, learning = "as predicted", list[Point](), None
        if predictor is not None and finds_mentions(predictor):
            if sweeps(predictor):
                note = f"as predicted, with the tuned mention penalty {predictor.fitted.penalty:.2f}"
                penalties = _penalties(predictor, documents, found, KEYS[match])
            learning = predictor.learning()
        page = error_page(
            documents, found, report, calibration=scores, curve=curve, note=note, penalties=penalties,
            learning=learning if learning and any(learning.f1.values()) else None, known=training, title=title,
        )  # fmt: skip
        with output_file(args.html, force=args.force) as file:
            file.write(page)
    if args.as_json:
        absent = {"concept_test": None} if args.concepts else {}
        values = {**absent, **report.to_dict(), "calibration": None, "paired_test": None}
        print(json.dumps(values | {name: part.to_dict() for name, part in more.items()}, indent=2))
    else:
        tables = (_HEADINGS.get(name, "") + part.to_text() for name, part in more.items())
        print("\n".join([report.to_text(), *tables]), end="")
    return reading.finish()


def _with_words(documents: Iterable[Document], source: str) -> Iterator[Document]:
    """The documents, whose tokens are words; ours, made by rules, would be compared in their place."""
    for document in documents:
        if document.tokens is None:
            raise DataError(f"document {document.id!r} has no words; give them as its tokens", path=source)
        yield document


def _column(model: Model | None, column: str | None) -> str | None:
    """The column that is compared: what `--column` names, or what the model fills.

    Raises:
        UsageError: the model fills no such column.
    """
    if model is None:
        return column
    if fills_column(model):
        if column not in (None, model.column):
            raise UsageError(f"--column {column}: the tagger fills the column {model.column!r}; leave it out")
        return model.column
    if column is not None:
        raise UsageError(f"--column {column}: the model finds mentions and fills no column; name a tagger")
    return None


def _bare(document: Document) -> Document:
    """Return a document whose mentions have neither concepts nor attributes."""
    nothing: dict[str, Any] = {"concepts": (), "concept_scores": (), "attributes": {}, "attribute_scores": {}}
    return document.copy(mentions=[mention.replace(**nothing) for mention in document.mentions])


def _penalties(model: Swept, gold: Sequence[Document], predicted: Sequence[Document], key: Key) -> list[Point]:
    """Return precision and recall at the tuned mention penalty and at others around it, given as thresholds."""
    penalties = [model.fitted.penalty + shift for shift in _SHIFTS]
    types = {mention.type for document in (*gold, *predicted) for mention in document.mentions}
    points = []
    for penalty, found in zip(penalties, model.sweep(gold, penalties), strict=True):
        kept = [document.copy(mentions=[m for m in document.mentions if m.type in types]) for document in found]
        points += [point._replace(threshold=penalty) for point in precision_recall(gold, kept, key=key)]
    return points
