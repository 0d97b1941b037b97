"""Guard before the API: names by which it may be called, and security headers.

A page of another site must not reach a server that listens on a person's own machine. A browser sends two things that
such a page cannot choose: `Host`, the name that was called, which is not ours where a foreign name was bound to our
address (DNS rebinding); and `Origin`, the page that calls.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spanloom.errors import clip

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s@/?#\\\[\]:]+))(?::[0-9]*)?")


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Refuses what a foreign page sends, and adds headers to every answer.

    Args:
        app: what is guarded.
        hosts: names by which it may be called; any when ``None``.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] | None) -> None:
        self._app = app
        self._hosts = None if hosts is None else frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            return
        if scope["method"] == "HEAD":  # answered as GET, of which the server then leaves out the body
            scope = {**scope, "method": "GET"}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        reason = self._reason(Headers(scope=scope))
        if reason is None:
            await self._app(scope, receive, with_headers)
        else:
            await JSONResponse({"error": reason}, 403)(scope, receive, with_headers)

    def _reason(self, headers: Headers) -> str | None:
        """Return why a request is refused; ``None`` if it is not."""
        host, origin = headers.get("host", ""), headers.get("origin")
        found = _HOST.fullmatch(host)
        if self._hosts is not None and (found is None or (found[1] or found[2]).lower() not in self._hosts):
            return (
                f"the Host header is {clip(host)}, expected localhost or 127.0.0.1; allow other names with --allow-host"
            )
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return f"the Origin header is {clip(origin)}; pages of other sites may not use this server"
        return None
