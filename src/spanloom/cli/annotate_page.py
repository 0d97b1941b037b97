"""The page of `spanloom annotate`; it needs the extra ``serve``."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from spanloom.annotate.api import Workplace, make_app
from spanloom.annotate.history import import_documents
from spanloom.annotate.learner import Learner, check_folder
from spanloom.annotate.ranking import ORDERS, ranked
from spanloom.annotate.suggestions import Suggestions
from spanloom.cli.data_verbs import Annotate
from spanloom.cli.execute import INTERRUPTED
from spanloom.cli.messages import Messages
from spanloom.cli.reading import Reading
from spanloom.document import Document
from spanloom.errors import SpanloomError, UsageError, plural
from spanloom.formats.store import Store, claims
from spanloom.model.protocol import MentionModel
from spanloom.serve import Limits, Served, bind, is_loopback, open_models, serve, url
from spanloom.serve.work import Workers
from spanloom.vocabulary import read_vocabulary
from spanloom.vocabulary.candidates import CandidateFinder

Reader = dict[str, Any]  # options of `Reading`
_LISTED = 3  # documents that have changed


def run(args: Annotate, log: Messages) -> int:
    """Import, and serve the page until a signal comes."""
    with ExitStack() as open_:
        opened = open_.enter_context(bind(args.host, args.port))
        # the store is closed again: processes are copied from this one, and none may share a connection
        path, changed = _import(
            args.data, args.output, {"input_format": args.input_format, "columns": args.columns}, log
        )
        earlier = None if args.learn is None else check_folder(args.learn, args.data)
        model = earlier or args.model
        served = open_models([model], args.encoder) if model is not None else {}
        finder = None if args.vocabulary is None else CandidateFinder(read_vocabulary(args.vocabulary), k=20)
        if not is_loopback(args.host):
            log("spanloom: the page has no password; everybody who reaches this address can read and annotate")
        place = url(opened)

        def make(models: Mapping[str, Served], limits: Limits, workers: Workers) -> ASGIApp:
            own = open_.enter_context(Store(path, write=True))
            first = next(iter(models.values()), None)
            known = [*(args.types or ()), *(first.model.types_ if first else ())]
            numbers = list(own.numbers().values())
            ordered = _ordered(own, first.model if first else None, args.order) if args.order != "data" else numbers
            suggestions = Suggestions(own, first, workers) if first or args.learn else None
            learner = Learner(suggestions, path, args.learn, model, log) if suggestions and args.learn else None
            return make_app(
                Workplace(
                    own, annotator=args.annotator, types=known, order=ordered, changed=changed, finder=finder,
                    limits=limits, suggestions=suggestions, learner=learner,
                ),
                Path(path).name,
            )  # fmt: skip

        ended = serve(
            served, opened, host=args.host, limits=Limits(), names=args.allow_host or (), n_jobs=1, make=make,
            started=lambda: log(f"spanloom: {path} at {place}, open it in a browser; Ctrl-C stops"),
        )  # fmt: skip
    return INTERRUPTED if ended == signal.SIGINT else 0


def _import(data: str, output: str | None, given: Reader, log: Messages) -> tuple[str, list[str]]:
    """Add the documents of the data to the store; return its path, and the identifiers of those that have changed."""
    is_store = Path(data).is_file() and claims(Path(data))
    if is_store and output is not None:
        raise UsageError(f"{data} is a store already; leave out --output")
    if not is_store and output is None:
        raise UsageError("--output is missing, expected the file of the store, such as --output notes.store")
    path = output or data
    new = not Path(path).exists()
    changed: list[str] = []
    try:
        with Store(path, write=True, create=not is_store) as store:
            if not is_store:
                added, changed = import_documents(store, Reading(log, **given)(data))
                store.setting("source", json.dumps([str(Path(data).resolve()), given]))
                log(f"spanloom: {plural(added, 'document')} imported from {data}")
            elif source := store.setting("source"):
                place, given = json.loads(source)
                try:
                    changed = import_documents(store, Reading(Messages(quiet=True), **given)(place))[1]
                except SpanloomError:  # moved or damaged since; the store has all that it needs
                    log.notice(f"{place} cannot be read any more; the store keeps its documents")
    except BaseException:
        if new:
            for end in ("", "-wal", "-shm"):
                Path(f"{path}{end}").unlink(missing_ok=True)
        raise
    if changed:
        names = ", ".join(changed[:_LISTED]) + (", …" if len(changed) > _LISTED else "")
        log.notice(
            f"{plural(len(changed), 'document')} changed on disk since the import: {names}; the store keeps the text "
            "that was annotated; import the new text under another id"
        )
    return path, changed


def _ordered(store: Store, model: MentionModel | None, order: str) -> list[int]:
    if order not in ORDERS:
        raise UsageError(f"--order is {order!r}, expected data, {', '.join(ORDERS)}")
    numbers = list(store.numbers().values())
    documents = [Document(store.record(number)["text"]) for number in numbers]
    return [numbers[one.number] for one in ranked(documents, model, len(numbers), by=order)]
