"""HTTP as it comes: a bound on how long each step may take, and JSON as the answer to what is no request."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import h11
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from spanloom.serve.answers import error
from spanloom.serve.limits import Limits

LINGER = 2.0
"""Seconds in which a client that was refused may finish sending."""
_SENDING = 10.0  # seconds beyond those of a request after which its connection is closed


class Protocol(H11Protocol):
    """HTTP/1.1 of one connection.

    The head of a request must come within the seconds that `Limits` has for it, counted from the beginning of the
    connection or from the answer before; what is sent meanwhile extends nothing.

    Args:
        config, state, app_state: of the server.
        limits: of requests.
        idle: connections that wait for the head of a request, and since when; this one enters and leaves it.
        app: instead of that of the server.
    """

    def __init__(
        self, config: Config, state: ServerState, app_state: dict[str, Any], *, limits: Limits,
        idle: dict[Protocol, float], app: ASGIApp | None = None,
    ) -> None:  # fmt: skip
        super().__init__(config, state, app_state)
        if app is not None:
            self.app = app
        self._refused = False
        self._limits, self._idle = limits, idle
        self._step: tuple[bool, object] | None = None
        self._unsent = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._idle.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what the client sends; of one that was refused, nothing more."""
        if not self._refused:
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request."""
        self._refuse(400, "this is no HTTP request that can be understood; send HTTP/1.1")

    def shutdown(self) -> None:
        """End the connection with the server."""
        if self._refused:
            self.transport.close()
        else:
            super().shutdown()

    def abort(self) -> None:
        """Close the connection at once."""
        self._idle.pop(self, None)
        self.transport.abort()

    def _watch(self) -> None:
        """If a new step has begun, set the time by which it must be done."""
        waits = self.conn.their_state is h11.IDLE
        if self not in self.connections or self._step == (waits, self.cycle):
            return
        self._step = waits, self.cycle
        self._idle.pop(self, None)
        if waits:
            self._idle[self] = self.loop.time()
        self._set_timer(self._limits.head if waits else self._limits.seconds + _SENDING)

    def _set_timer(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._unsent = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(seconds, self._late)

    def _late(self) -> None:
        """Close the connection, unless the client is still reading an answer."""
        if 0 < self.transport.get_write_buffer_size() < self._unsent:
            self._set_timer(self._limits.head)
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0] and not self.transport.is_closing():
            self._refuse(408, f"the head of the request did not come within {self._limits.head:g} s")
        else:
            self.abort()

    def _refuse(self, status: int, message: str) -> None:
        """Answer, and close the connection when the client has ended or `LINGER` is over.

        A connection closed with bytes unread is reset, and a reset can take the answer away before it is read.
        """
        body = error(message)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # else an answer is under way
            for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self._refused = True
        with suppress(OSError):  # the client has gone
            self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.abort)
