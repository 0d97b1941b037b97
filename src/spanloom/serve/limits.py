"""Limits of requests, and the error that refuses one."""

from __future__ import annotations

from dataclasses import dataclass, fields

from spanloom.errors import check_number, one_line

HELD = 16  # bodies of the largest size that all requests together may hold in memory
SHORT = 16 * 1024  # bytes of a body that is tried among the short ones
SOON = 0.1  # seconds of processor time after which a request is no short one
BATCH, BATCH_BYTES = 32, 4 * 1024  # short requests that are predicted together, and bytes of their bodies
_HEAD = 10.0  # seconds in which the head of a request must come
GRACE = 5  # seconds that requests have to end in, once the server is to end


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one request.

    Args:
        body: bytes.
        text: characters of all its documents together.
        seconds: from the first byte of the body to the answer.
        documents: in one batch.
        waiting: requests that are read, wait or are worked on, all together; more would only wait longer.
        sentence: tokens of one sentence.
        memory: megabytes (2^20 bytes) that the work on it may take, beside the models; kept where the system can.
    """

    body: int = 4 * 2**20
    text: int = 1_000_000
    seconds: float = 30.0
    documents: int = 1000
    waiting: int = 1024
    sentence: int = 20_000
    memory: int = 1024

    def __post_init__(self) -> None:
        for field in fields(self):
            whole = field.name != "seconds"
            check_number(field.name, getattr(self, field.name), int(whole), whole=whole)

    @property
    def head(self) -> float:
        """Seconds from the beginning of a connection, or from the answer before, to the end of a request's head."""
        return min(_HEAD, self.seconds)

    @property
    def held(self) -> int:
        """Bytes of bodies that all requests together may hold."""
        return HELD * self.body


class Refused(Exception):  # noqa: N818 - the answer to a request and no error of ours
    """A request that is not served.

    Args:
        status: of HTTP.
        message: one line: what was found, what was expected, what to do.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = one_line(message)
