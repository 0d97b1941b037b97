"""`spanloom predict`: mentions, concepts or tags for new text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spanloom.cli import tagged
from spanloom.cli.messages import Messages, lost, plural
from spanloom.cli.pace import counted
from spanloom.cli.predictors import load_predictor
from spanloom.cli.reading import Reading, number_of
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.files import STDIO
from spanloom.formats import FORMATS, write

if TYPE_CHECKING:
    from spanloom.model.choices import WhichMentions


def run(
    model: str,
    source: list[str],
    output: str,
    output_format: str | None,
    input_format: str | None,
    columns: str | None,
    on_error: str,
    threshold: float,
    answers: bool,
    reading: str | None,
    mentions: WhichMentions | None,
    force: bool,
    jobs: int | None,
    quiet: bool,
) -> int | None:
    """Read, predict and write, a batch at a time."""
    say = Messages(quiet)
    # where no name tells the format: text in, native records out
    input_format = input_format or ("text" if source == [STDIO] else None)
    output_format = output_format or (None if _tells(output) else "jsonl")
    predictor = load_predictor(model, jobs)
    # a tagger keeps the mentions of its input, and a linker may be told to; nothing else looks at them
    needed = predictor.kind == "tagger" or mentions is not None
    reader = Reading(say, input_format=input_format, columns=columns, on_error=on_error)
    source_documents = counted(
        reader(source, mentions=needed), "predicting", quiet=quiet, total=partial(number_of, source)
    )
    of_probabilities = {"--threshold": threshold, "--answers": answers}
    if predictor.kind == "tagger":
        _refuse(model, "a tagger", {**of_probabilities, "--reading": reading, "--mentions": mentions})
        tagged.predict(predictor, source_documents, output, output_format, force, say)
        return reader.finish()
    if predictor.kind == "linker":
        _refuse(model, "a linker", {**of_probabilities, "--reading": reading})
        found = predictor.stream(source_documents, mentions=mentions)
    else:
        if predictor.kind == "segmenter":
            _refuse(model, "a segmenter", {"--reading": reading, "--mentions": mentions})
        _refuse(model, "a recognizer", {"--mentions": mentions})
        if reading is not None:
            predictor.set_params(reading=reading).check()
        found = predictor.stream(source_documents, threshold=threshold, answers=answers, notice=say)
    tally: Counter[str] = Counter()
    losses = write(_counted(found, tally), output, format=output_format, force=force)
    if losses:
        say(f"spanloom: {lost(losses)}")
    linked = f", {tally['linked']:,} of them linked" if predictor.kind == "linker" else ""
    say(f"{plural(tally['mentions'], 'mention')} in {plural(tally['documents'], 'document')}{linked}")
    return reader.finish()


def _refuse(model: str, kind: str, given: Mapping[str, object]) -> None:
    """Options that a kind of model has no use for."""
    useless = [name for name, value in given.items() if value]
    if useless:
        raise UsageError(f"{model} is {kind}, which has no use for {' and '.join(useless)}; leave it out")


def _tells(output: str) -> bool:
    return Path(output).suffix.lower() in {suffix for kind in FORMATS.values() for suffix in kind.suffixes}


def _counted(documents: Iterable[Document], tally: Counter[str]) -> Iterator[Document]:
    for document in documents:
        tally["documents"] += 1
        tally["mentions"] += len(document.mentions)
        tally["linked"] += sum(bool(mention.concepts) for mention in document.mentions)
        yield document
