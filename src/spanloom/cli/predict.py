"""`spanloom predict`: mentions, concepts or tags for new text."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from spanloom.cli.app import Predict
from spanloom.cli.messages import Messages, counted
from spanloom.cli.options import ALL_CORES
from spanloom.cli.reading import Reading, input_format_of, number_of, output_format_of, write_all
from spanloom.document import Document
from spanloom.document.arrays import MentionArrays
from spanloom.errors import UsageError, plural
from spanloom.files import STDIO
from spanloom.formats import read
from spanloom.formats.json_array import write_arrays
from spanloom.formats.scanning import format_by_suffix
from spanloom.model.protocol import Model, annotates, fills_column, finds_mentions, gives_arrays
from spanloom.model.stages import Staged
from spanloom.models import load
from spanloom.native import keep_memory

OWN = "own"  # of --keep: the mentions of the input
# option -> what a model that has a use for it is capable of
_NEEDED = {
    "threshold": "scores", "answers": "scores", "reading": "readings", "mentions": "given_mentions",
    "attributes": "attributes", "constraints": "constraints", "dictionary": "dictionary",
}  # fmt: skip
# options that --rely takes the place of
_NOT_WITH_RELY = ("threshold", "answers", "reading", "mentions", "keep", "require", "forbid", "dictionary", "expand")
# options that need an object for each mention
_OF_OBJECTS = (
    "answers", "mentions", "keep", "require", "forbid", "dictionary", "rely", "rely_data", "attributes", "sections",
    "expand", "document_concepts",
)  # fmt: skip


def run(args: Predict) -> int | None:
    """Read, predict and write, a batch at a time; on a terminal draw; of a folder of tables make a folder of tables."""
    output, output_format = args.output, args.output_format
    if (
        output is not None
        and Path(args.source[0]).is_dir()
        and resolve_name("spanloom.cli.lake:is_lake")(args.source, output, output_format)
    ):
        code: int | None = resolve_name("spanloom.cli.lake:run")(args, output)
        return code
    log = Messages(args.quiet)
    draws = output is None and output_format is None and sys.stdout.isatty()
    output = STDIO if output is None else output
    output_format = output_format_of(output, output_format)
    keep_memory()
    predictor = load_model(args.model, args.jobs, args.encoder)
    reader = Reading.of(args, log, input_format_of(args, args.source))
    # a column is filled beside the mentions of the input, and some may keep them; nothing else reads them
    alone = args.mentions == "given" and bool(args.attributes) and "given_mentions" not in predictor.capable
    kept = alone or bool(args.keep) or "given_mentions" in predictor.capable or not finds_mentions(predictor)
    documents = reader(args.source, mentions=kept)
    # a progress bar would be in the drawing
    documents = counted(documents, "predicting", quiet=args.quiet or draws, total=partial(number_of, args.source))
    if (args.language or args.cues) and not (args.attributes or args.sections):
        option = "--language" if args.language else "--cues"
        raise UsageError(f"{option} is about --attributes and --sections; give one of them, or leave it out")
    own = resolve_name("spanloom.attributes:read_cues")(args.cues) if args.cues else None
    marked: Callable[[Iterable[Document]], Iterator[Document]] = iter  # a model gives what it has learned by itself
    if args.attributes is not None:
        if not finds_mentions(predictor):
            raise UsageError(f"--attributes is about mentions, which a {predictor.kind} does not find; leave it out")
        attributing = resolve_name("spanloom.attributes:attributing")
        marked = attributing(getattr(predictor, "stages_", ()), args.attributes, args.language, own)
    learned = args.attributes and "attributes" in predictor.capable
    found: Iterable[Document] = documents
    if args.rely is not None or args.rely_data:
        found = _relied(args, predictor, documents, log)
    elif not alone:  # rules need nothing of the model
        found = predict(
            predictor, documents, log, name=args.model, threshold=args.threshold, answers=args.answers,
            reading=args.reading, mentions=args.mentions, attributes="none" if learned else None,
            constraints=_constraints(args.keep, args.require, args.forbid), dictionary=_dictionary(args.dictionary),
        )  # fmt: skip
    if args.expand:
        found = add_expansions(predictor, found)
    found = marked(found)
    if args.sections:
        found = resolve_name("spanloom.attributes:with_sections")(found, args.language, own)
    if args.document_concepts:
        if not isinstance(predictor, Staged) or "concepts" not in predictor.annotates:
            raise UsageError(f"--document-concepts needs a model that links, found a {predictor.kind}; leave it out")
        found = resolve_name("spanloom.concepts.report:with_document_concepts")(found, predictor.document_scaling)
    tally: Counter[str] = Counter()
    plain = not draws and not any(getattr(args, option) for option in _OF_OBJECTS)
    kind = output_format or format_by_suffix(Path(output), writes=True).name
    if plain and gives_arrays(predictor) and kind == "jsonl":
        requested = _requested(predictor, log, args.model, {"threshold": args.threshold, "reading": args.reading})
        write_arrays(_tallied(predictor.stream_arrays(documents, **requested), tally), output, force=args.force)
    elif draws:
        resolve_name("spanloom.cli.view:show")(_with_words(tallied(found, tally), predictor))
    else:
        write_all(tallied(found, tally), output, log, output_format, force=args.force, checked=True)
    if tally["documents"] or not reader.left_out:
        written = "" if output == STDIO else f", written to {output}{f' as {output_format}' if output_format else ''}"
        log(f"{_result(predictor, tally, args.rely is not None)}{written}")
    return reader.finish()


def _constraints(keep: list[str] | None, require: list[str] | None, forbid: list[str] | None) -> dict[str, Any]:
    """Return the constraints that options give, as `spanloom.recognize.Constraints` takes them.

    Raises:
        UsageError: an option of two kinds.
    """

    def entries(values: list[str] | None) -> Iterator[str | Document]:
        for value in values or ():
            if not Path(value).exists():
                yield value
            elif Path(value).suffix == ".txt":  # a list of specs
                lines = Path(value).read_text(encoding="utf-8").splitlines()
                yield from (line for line in map(str.strip, lines) if line and not line.startswith("#"))
            else:
                yield from read(value)

    found = {"require": list(entries(require)), "forbid": list(entries(forbid))}
    kept = keep == [OWN] or list(entries(keep))
    if kept is not True and not all(isinstance(one, Document) for one in kept):
        raise UsageError(f"--keep is {', '.join(keep or ())}, expected {OWN}, or files with documents")
    return {name: value for name, value in {"keep": kept, **found}.items() if value}


def _dictionary(values: list[str] | None) -> dict[str, list[str]]:
    """Return the words of files, by mention type, or by ``word`` where they have none."""
    found: dict[str, list[str]] = {}
    for value in values or ():
        label, equals, path = value.partition("=")
        if not equals or Path(value).exists():
            label, path = "word", value
        found.setdefault(label, []).extend(resolve_name("spanloom.segment.feature_sets:phrase_lines")(label, path))
    return found


def _relied(args: Predict, model: Model, documents: Iterable[Document], log: Messages) -> Iterator[Document]:
    """Return the documents with labelled candidates.

    Raises:
        UsageError: half of the options, others that do not go with them, or a model that gives no such candidates.
    """
    if args.rely is None or not args.rely_data:
        raise UsageError(
            "--rely needs --rely-data, annotated documents that training did not see, and the other way round"
        )
    if others := [name for name in _NOT_WITH_RELY if getattr(args, name)]:
        raise UsageError(f"--rely labels all candidates, and takes no --{' or --'.join(others)}; leave it out")
    if "guarantees" not in model.capable:
        raise UsageError(f"the model is a {model.kind}, which has no use for --rely; leave it out")
    reliance = resolve_name("spanloom.recognize.relying:Reliance").fit(model, read(args.rely_data), args.rely)
    log(*reliance.lines())
    shifted = "; the rates of --rely hold for text like --rely-data alone"
    found: Iterator[Document] = reliance.stream(model, documents, lambda message: log.notice(message + shifted))
    return found


def load_model(path: str, jobs: int | None, encoder: str | None = None) -> Model:
    """Load a model that annotates documents.

    Args:
        path: its folder.
        jobs: threads; all cores by default.
        encoder: the folder of its encoder, if it has one.

    Raises:
        ModelError: no model, or a damaged one.
        UsageError: the model cannot annotate.
    """
    model = load(path, encoder=encoder)
    if not annotates(model):
        raise UsageError(
            f"{path} is a {model.kind.replace('-', ' ')}, which cannot annotate text; name a model that does"
        )
    return model.set_params(n_jobs=jobs or ALL_CORES)


def predict(
    model: Model, documents: Iterable[Document], log: Messages, *, name: str = "the model", **given: Any
) -> Iterator[Document]:
    """The documents as a model annotates them.

    Args:
        model: trained.
        documents: to annotate.
        log: called where a reading was cut short.
        name: of the model, for errors.
        given: options of the verb; what was not given is false.

    Raises:
        UsageError: an option that the model has no use for, or an invalid one.
    """
    return model.stream(documents, **_requested(model, log, name, given))


def _requested(model: Model, log: Messages, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a stream; see `predict`."""
    requested = {option: value for option, value in given.items() if value}
    useless = [
        f"--{name}"
        for option in requested
        if _NEEDED[option] not in model.capable
        for name in (requested[option] if option == "constraints" else [option])
    ]
    if useless:
        raise UsageError(f"{name} is a {model.kind}, which has no use for {' and '.join(useless)}; leave it out")
    if "reading" in requested:
        model.set_params(reading=requested.pop("reading")).check()
    if "readings" in model.capable:
        requested["notice"] = log.notice
    return requested


def add_expansions(model: Model, documents: Iterable[Document]) -> Iterator[Document]:
    """Return documents with the mentions that their coordinated mentions stand for, too.

    Args:
        model: that found the mentions.
        documents: that it annotated.

    Raises:
        UsageError: it finds no mentions.
    """
    if not finds_mentions(model):
        raise UsageError(f"--expand is about mentions, which a {model.kind} does not find; leave it out")
    expanded: Callable[..., Iterator[Document]] = resolve_name("spanloom.recognize.expanding:expanded")
    return expanded(documents, getattr(model, "second_", None))


def _with_words(documents: Iterable[Document], model: Model) -> Iterator[Document]:
    """Yield documents to draw, and print what a drawing of mentions leaves out: new words, tags, chances of answers."""
    tags, visible = fills_column(model), resolve_name("spanloom.view.cells:visible")
    for document in documents:
        if tags or "words" in model.annotates:
            words = ["".join(map(visible, word)) for word in document.words]
            if fills_column(model):
                pairs = zip(words, document.columns[model.column], strict=True)
                words = [f"{word}/{''.join(map(visible, tag))}" for word, tag in pairs]
            for first, end in [] if document.sentences is None else document.sentences.tolist():
                print(f"  {' '.join(words[first:end])}")
        if not tags:
            if "words" in model.annotates:
                print()
            yield document
        if answer := document.meta.get("answer"):
            print(f"  all of this is right with a probability of {answer['probability']:.0%}")


def tallied(documents: Iterable[Document], tally: Counter[str]) -> Iterator[Document]:
    """Yield documents, and count what is in them."""
    for document in documents:
        tally["documents"] += 1
        tally["tokens"] += document.token_count
        tally["mentions"] += len(document.mentions)
        tally["linked"] += sum(bool(mention.concepts) for mention in document.mentions)
        tally.update(f"rely {one.attributes['rely']}" for one in document.mentions if "rely" in one.attributes)
        yield document


def _tallied(found: Iterable[MentionArrays], tally: Counter[str]) -> Iterator[MentionArrays]:
    """Yield mentions, and count documents and mentions."""
    for own in found:
        tally.update(documents=len(own.ptr) - 1, mentions=len(own.kind))
        yield own


def _result(model: Model, tally: Counter[str], relied: bool) -> str:
    if fills_column(model):
        return f"{plural(tally['tokens'], 'tag')} in column {model.column!r}"
    linked = f", {tally['linked']:,} of them linked" if "concepts" in model.annotates else ""
    if relied:
        labels = ", ".join(f"{tally[f'rely {label}']:,} {label}" for label in ("yes", "ask", "no"))
        return f"{plural(tally['mentions'], 'candidate')} in {plural(tally['documents'], 'document')}: {labels}"
    return f"{plural(tally['mentions'], 'mention')} in {plural(tally['documents'], 'document')}{linked}"
