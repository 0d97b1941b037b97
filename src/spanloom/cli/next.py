"""`spanloom next`: the documents to annotate next."""

from __future__ import annotations

from spanloom.annotate.queue import ORDERS, ranked
from spanloom.cli.messages import Messages
from spanloom.cli.reading import Reading, lost, output_format_of
from spanloom.document import Document
from spanloom.errors import UsageError, plural
from spanloom.formats import write
from spanloom.model.protocol import finds_mentions
from spanloom.models import load


def run(
    data: list[str],
    model: str | None,
    count: int,
    order: str,
    random_share: float,
    output: str,
    output_format: str | None,
    input_format: str | None,
    columns: str | None,
    on_error: str,
    encoder: str | None,
    force: bool,
    seed: int | None,
    quiet: bool,
) -> int | None:
    """Choose among the documents that are not finished."""
    say = Messages(quiet)
    if order not in ORDERS:
        raise UsageError(f"--order is {order!r}, expected one of: {', '.join(ORDERS)}")
    reading = Reading(say, input_format=input_format, columns=columns, on_error=on_error)
    documents: list[Document] = []
    finished: set[str] = set()
    for document in reading(data):
        if document.meta.get("annotation") == "complete":
            finished.add(document.id)
        else:
            documents.append(document)
    by_id = {one.id or str(number): one for number, one in enumerate(documents) if one.id not in finished}
    left = list(by_id.values())
    found = None if model is None else load(model, encoder=encoder)
    if found is not None and not finds_mentions(found):
        raise UsageError(f"{model} finds no mentions; name a model that does")
    chosen = ranked(left, found, count, by=order, share=random_share, seed=seed or 0)
    said = (
        left[number].copy(meta={**left[number].meta, "next": {"order": order, "value": value, "random": drawn}})
        for number, value, drawn in chosen
    )
    losses = write(said, output, output_format_of(output, output_format), force=force)
    if losses:
        say.notice(lost(losses))
    share_drawn = f"{sum(one.random for one in chosen)} of them at random"
    say(f"spanloom: {plural(len(chosen), 'document')} of {len(left):,} that are not finished, {share_drawn}")
    return reading.finish()
