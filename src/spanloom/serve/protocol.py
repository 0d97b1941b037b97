"""HTTP as it comes: what is no request is answered with the same JSON as any other refusal."""

from __future__ import annotations

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from spanloom.serve.answers import error

#: Seconds in which a client that was refused may finish sending.
LINGER = 2.0


class Protocol(H11Protocol):
    """HTTP/1.1 of one connection."""

    refused = False

    def send_400_response(self, msg: str) -> None:
        """Say that something is no request, and close the connection when the client has ended or `LINGER` is over.

        A connection closed with bytes unread is reset, and a reset can take the answer away before it is read.
        """
        body = error("this is no HTTP request that can be understood; send HTTP/1.1")
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # else an answer is under way
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.refused = True
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)

    def data_received(self, data: bytes) -> None:
        """Read what the client says; of one that was refused, nothing more."""
        if not self.refused:
            super().data_received(data)

    def shutdown(self) -> None:
        """End the connection with the server."""
        if self.refused:
            self.transport.close()
        else:
            super().shutdown()
