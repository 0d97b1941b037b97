"""`spanloom serve`: models behind a web page and an HTTP API."""

from __future__ import annotations

import gc
import signal

from spanloom.cli.execute import INTERRUPTED
from spanloom.cli.messages import Messages
from spanloom.cli.options import ALL_CORES
from spanloom.serve import Limits, bind, is_loopback, open_models, serve, url


def run(
    models: list[str],
    host: str,
    port: int,
    max_body: int,
    max_text: int,
    max_sentence: int,
    max_memory: int,
    timeout: float,
    allow_host: list[str] | None,
    encoder: str | None,
    jobs: int | None,
    quiet: bool,
) -> int:
    """Take the address, load the models, and serve until a signal comes."""
    say = Messages(quiet)
    with bind(host, port) as opened:
        found = open_models(models, encoder)
        # What is loaded stays. To look through all of it for garbage again and again would stop every request for as
        # long as a hundred of them take.
        gc.collect()
        gc.freeze()
        if not is_loopback(host):
            say("spanloom: anyone who can reach this address can use the models; there is no password")
        place = url(opened)
        limits = Limits(max_body, max_text, timeout, sentence=max_sentence, memory=max_memory)
        ended = serve(
            found, opened, host=host, limits=limits, names=allow_host or (), n_jobs=jobs or ALL_CORES,
            started=lambda: say(f"spanloom: {', '.join(found)} at {place}, API at {place}docs; Ctrl-C stops"),
        )  # fmt: skip
    return INTERRUPTED if ended == signal.SIGINT else 0
