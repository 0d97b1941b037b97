"""HTTP as it comes: what is no request is answered with the same JSON as any other refusal."""

from __future__ import annotations

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from spanloom.serve.answers import error


class Protocol(H11Protocol):
    """HTTP/1.1 of one connection."""

    def send_400_response(self, msg: str) -> None:
        """Say that something is no request, and close the connection."""
        body = error("this is no HTTP request that can be understood; send HTTP/1.1")
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # else an answer is under way
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
