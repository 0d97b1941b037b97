"""A real server on a store: in a process of its own, copied from this one, so that it starts at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from spanloom.cli import annotate_page
from spanloom.cli.data_verbs import Annotate
from spanloom.cli.messages import Messages


class Running(NamedTuple):
    """A server."""

    url: str
    process: multiprocessing.process.BaseProcess
    client: httpx.Client

    def kill(self) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join(20)

    def act(self, document: int, version: int, kind: str, layer: str = "ann", **changes: Any) -> httpx.Response:
        body = {"document": document, "layer": layer, "author": layer, "version": version, "kind": kind}
        return self.client.post("api/act", json={**body, "changes": changes.pop("changes", {})})


@contextmanager
def running(data: Path | str, **options: Any) -> Iterator[Running]:
    """``spanloom annotate`` on a port that is free."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    given = Annotate(data=str(data), port=port, **{"annotator": "ann", "quiet": True} | options)
    forked = multiprocessing.get_context("fork")
    process = forked.Process(target=annotate_page.run, args=(given, Messages(given.quiet)))
    process.start()
    url = f"http://127.0.0.1:{port}/"
    # one client, as each reads certificates when it is made
    client = httpx.Client(base_url=url, timeout=60, verify=False, trust_env=False)
    try:
        for _ in range(6000):
            assert process.is_alive()
            try:
                client.get("api/store")
                break
            except httpx.TransportError:
                time.sleep(0.01)
        yield Running(url, process, client)
    finally:
        client.close()
        process.terminate()
        process.join(30)
        process.kill()
