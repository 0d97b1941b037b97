"""`spanloom annotate`: annotation in the browser, and what a store has of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from spanloom.annotate.history import agreement, compared, events, write_events
from spanloom.cli.data_verbs import Annotate
from spanloom.cli.messages import Messages
from spanloom.cli.reading import output_format_of, write_all
from spanloom.errors import UsageError
from spanloom.extras import extra
from spanloom.files import STDIO
from spanloom.files.output import output_file
from spanloom.formats import read
from spanloom.formats.store import Store

_SERVING = (
    "output", "model", "learn", "vocabulary", "annotator", "types", "order", "host", "port", "allow_host", "encoder",
)  # fmt: skip
_NAMES = {"types": "--type", "output_format": "--format"}


def run(args: Annotate) -> int | None:
    """Import, and serve the page until a signal comes; or export, write the history, or compare the annotators."""
    log = Messages(args.quiet)
    reads = args.export is not None or args.history is not None
    if args.export is None:
        _refuse(args, ("output_format",), "only with --export")
    if not reads:
        _refuse(args, ("layer",), "only with --export or --history")
    if reads or args.agreed:
        _refuse(args, _SERVING, "only for the page, not with --export, --history or --agreement")
        if args.export is not None:
            given: dict[str, Any] = {} if args.layer is None else {"layer": args.layer}
            kind = output_format_of(args.export, args.output_format)
            write_all(read(args.data, "store", **given), args.export, log, kind, force=args.force)
        if args.history is not None:
            ending, stdout = Path(args.history).suffix.lower(), args.history == STDIO
            if not stdout and ending not in (".csv", ".json"):
                raise UsageError(
                    f"found --history {args.history}, expected a name that ends in .csv or .json, or - for stdout"
                )
            with Store(args.data) as store, output_file(args.history, force=args.force) as file:
                store.check_layer(args.layer)
                form = ending == ".json" or (stdout and args.as_json)
                write_events(events(store, layer=args.layer), file, as_json=form)
        if args.agreed:
            _compare(args.data, args.as_json)
        return None
    with extra("serve", "spanloom annotate"):
        serve = resolve_name("spanloom.cli.annotate_page:run")
    return int(serve(args, log))


def _refuse(args: Annotate, names: Iterable[str], why: str) -> None:
    """Refuse options that are given and would not be read."""
    given = [name for name in names if getattr(args, name) != getattr(type(args), name)]
    if given:
        shown = ", ".join(_NAMES.get(name, f"--{name.replace('_', '-')}") for name in given)
        raise UsageError(f"{shown} has an effect {why}; leave it out")


def _compare(data: str, as_json: bool) -> None:
    with Store(data) as store:
        found = agreement(compared(store))
    if as_json:
        print(json.dumps([one._asdict() for one in found], ensure_ascii=False))
        return
    print(f"{'annotators':30} documents  mentions      matches     F1  corrected")
    for one in found:
        sizes = f"{one.mentions[0]:,} {one.mentions[1]:,}"
        name = f"{one.first} {one.second}"
        shares = f"{100 * one.f1:6.1f} {100 * one.corrected:10.1f}"
        print(f"{name:30} {one.documents:9,}  {sizes:12} {one.matches:8,} {shares}")
