"""`spanloom next`: the documents to annotate next."""

from __future__ import annotations

from spanloom.annotate.ranking import ORDERS, ranked
from spanloom.cli.data_verbs import Next
from spanloom.cli.messages import Messages
from spanloom.cli.reading import Reading, output_format_of, write_all
from spanloom.document import Document
from spanloom.errors import UsageError, plural
from spanloom.model.protocol import finds_mentions
from spanloom.models import load


def run(args: Next) -> int | None:
    """Choose among the documents that are not finished."""
    log = Messages(args.quiet)
    if args.order not in ORDERS:
        raise UsageError(f"--order is {args.order!r}, expected one of: {', '.join(ORDERS)}")
    reading = Reading.of(args, log)
    documents: list[Document] = []
    finished: set[str] = set()
    for document in reading(args.data):
        if document.meta.get("annotation") == "complete":
            finished.add(document.id)
        else:
            documents.append(document)
    by_id = {one.id or str(number): one for number, one in enumerate(documents) if one.id not in finished}
    left = list(by_id.values())
    found = None if args.model is None else load(args.model, encoder=args.encoder)
    if found is not None and not finds_mentions(found):
        raise UsageError(f"{args.model} finds no mentions; name a model that does")
    chosen = ranked(left, found, args.count, by=args.order, share=args.random_share, seed=args.seed or 0)
    marked = (
        left[number].copy(meta={**left[number].meta, "next": {"order": args.order, "value": value, "random": drawn}})
        for number, value, drawn in chosen
    )
    write_all(marked, args.output, log, output_format_of(args.output, args.output_format), force=args.force)
    share_drawn = f"{sum(one.random for one in chosen)} of them at random"
    log(f"spanloom: {plural(len(chosen), 'document')} of {len(left):,} that are not finished, {share_drawn}")
    return reading.finish()
