"""What `predict` and `evaluate` do with a tagger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from spanloom.cli.messages import Messages, lost, plural
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.formats import write

if TYPE_CHECKING:
    from spanloom.cli.predictors import Predictor
    from spanloom.tag.pos_tagger import PosTagger


def predict(
    tagger: PosTagger, documents: Iterable[Document], output: str, output_format: str | None, force: bool, say: Messages
) -> None:
    """Write the documents with the tagger's column; all else that they have is kept."""
    count = 0

    def counted() -> Iterator[Document]:
        nonlocal count
        for document in tagger.stream(documents):
            count += document.token_count
            yield document

    losses = write(counted(), output, format=output_format, force=force)
    if losses:
        say(f"spanloom: {lost(losses)}")
    say(f"{plural(count, 'tag')} in column {tagger.column!r}")


def column_of(predictor: Predictor | None, column: str | None) -> str | None:
    """The column that `evaluate` compares: what `--column` names, or what the tagger fills.

    Args:
        predictor: a tagger or another model; ``None`` where predictions are read.
        column: as it was given.

    Raises:
        UsageError: the model fills no such column.
    """
    if predictor is not None and predictor.kind == "tagger":
        if column not in (None, predictor.column):
            raise UsageError(f"--column {column}: the tagger fills the column {predictor.column!r}; leave it out")
        return predictor.column
    if predictor is not None:
        raise UsageError(f"--column {column}: the model finds mentions and fills no column; name a tagger")
    return column
