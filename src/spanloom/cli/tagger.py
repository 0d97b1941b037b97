"""`spanloom train tagger`, and what `predict` and `evaluate` do with a tagger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import Field

from spanloom.cli.config import CommonOptions, checked
from spanloom.cli.messages import Messages, lost, plural
from spanloom.cli.train import train_model
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.formats import write
from spanloom.recognize.pos_tagger import PosTagger


class TaggerOptions(CommonOptions):
    """What `train tagger` was asked for; ``None`` leaves the choice to the tagger."""

    column: str | None = None
    features: list[str] | None = None
    l2: float | None = None
    epochs: int | None = Field(default=None, ge=1)
    rate: float | None = None
    min_count: int | None = Field(default=None, ge=1)


def run(config: str | None, **flags: Any) -> None:
    """Train and save a tagger."""
    options = checked(TaggerOptions, flags, config)
    tagger = PosTagger(**options.parameters())
    train_model(tagger, options, lambda seconds: _summary(tagger, seconds))


def _summary(tagger: PosTagger, seconds: float) -> Iterator[str]:
    report = tagger.report_
    seen = f"{plural(report.sentences, 'sentence')}, {plural(report.tokens, 'token')}"
    yield f"trained on {seen}, {plural(len(tagger.tags_), 'tag')}"
    yield f"{plural(report.rows, 'row')} of weights, {plural(report.steps, 'step')}"
    accuracy = f"development accuracy {100 * report.accuracy:.2f} on {plural(report.development, 'token')}"
    yield f"{accuracy}, in {seconds:.1f} s"


def predict(
    tagger: PosTagger, documents: Iterable[Document], output: str, output_format: str | None, force: bool, say: Messages
) -> None:
    """Write the documents with the tagger's column; all else that they have is kept."""
    count = 0

    def counted() -> Iterator[Document]:
        nonlocal count
        for document in tagger.tag(documents):
            count += 0 if document.tokens is None else len(document.tokens)
            yield document

    losses = write(counted(), output, format=output_format, force=force)
    if losses:
        say(f"spanloom: {lost(losses)}")
    say(f"{plural(count, 'tag')} in column {tagger.column!r}")


def column_of(predictor: object, column: str | None) -> str | None:
    """The column that `evaluate` compares: what `--column` names, or what the tagger fills.

    Args:
        predictor: a tagger or another model; ``None`` where predictions are read.
        column: as it was given.

    Raises:
        UsageError: the model fills no such column.
    """
    if isinstance(predictor, PosTagger):
        if column not in (None, predictor.column):
            raise UsageError(f"--column {column}: the tagger fills the column {predictor.column!r}; leave it out")
        return predictor.column
    if predictor is not None:
        raise UsageError(f"--column {column}: the model finds mentions and fills no column; name a tagger")
    return column
