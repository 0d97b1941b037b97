"""`spanloom serve`: models behind a web page and an HTTP API."""

from __future__ import annotations

import gc
import signal

from spanloom.cli.app import Serve
from spanloom.cli.execute import INTERRUPTED
from spanloom.cli.messages import Messages
from spanloom.cli.options import ALL_CORES
from spanloom.serve import Limits, bind, is_loopback, open_models, serve, url

_OBJECTS = 700  # between two collections of garbage


def run(args: Serve) -> int:
    """Take the address, load the models, and serve until a signal comes."""
    log = Messages(args.quiet)
    with bind(args.host, args.port) as opened:
        found = open_models(args.models, args.encoder)
        # What is loaded stays. To look through all of it for garbage again and again would stop every request for as
        # long as a hundred of them take. The garbage of requests is collected soon: with the command's own threshold
        # it would grow to tens of megabytes a process. The collector puts off full collections until it has new
        # objects for a quarter of those that the last one kept; the second one here keeps almost none.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_OBJECTS)
        gc.collect()
        if not is_loopback(args.host):
            log("spanloom: anyone who can reach this address can use the models; there is no password")
        place = url(opened)
        limits = Limits(args.max_body, args.max_text, args.timeout, sentence=args.max_sentence, memory=args.max_memory)
        ended = serve(
            found, opened, host=args.host, limits=limits, names=args.allow_host or (), n_jobs=args.jobs or ALL_CORES,
            started=lambda: log(f"spanloom: {', '.join(found)} at {place}, API at {place}docs; Ctrl-C stops"),
        )  # fmt: skip
    return INTERRUPTED if ended == signal.SIGINT else 0
