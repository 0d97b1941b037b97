"""Process that works on requests: one after the other, or some as a batch, in bounded memory.

It takes requests and gives answers on a socket to the server, and ends when the socket does. It knows nothing of
clients, clocks and queues: a caller that gave up ends it from outside, so that no work is so long, or so deep in a
kernel, that it could not be stopped.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import Final

from spanloom.errors import warnings_as_lines
from spanloom.serve import inception, label_studio
from spanloom.serve.answers import Job, error, explain, predict, suggest
from spanloom.serve.limits import SOON, Limits, Refused
from spanloom.serve.served import Served

if sys.platform != "win32":
    import resource

_REQUEST = Struct("!I")  # length of the head, which has the job and the lengths of the bodies
ANSWER = Struct("!HdQ")  # the status, seconds of processor time for the whole batch, and the length of the body
AGAIN = 0
"""Status of each request of a batch that failed, as one of them may be answered only alone."""
_BACKGROUND = 5  # how nice a process for long requests is to all others
_SIZES = Path("/proc/self/statm")


def framed(job: Job, raws: Sequence[bytes]) -> bytes:
    """Return the bytes that ask for the answers to requests for the same job; several only to predict."""
    head = json.dumps([job, list(map(len, raws))]).encode()
    return b"".join((_REQUEST.pack(len(head)), head, *raws))


def work(channel: socket.socket, models: Mapping[str, Served], limits: Limits, background: bool) -> None:
    """Answer requests until the channel ends.

    Args:
        channel: to the server.
        models: by name.
        limits: of requests.
        background: for one long request: in the background, without a bound on its processor time, and then the end.
            Else for many short ones: one, or a batch of them, that takes longer than `SOON` ends the process.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # the server gets them, too, and ends its workers
        signal.signal(number, signal.SIG_IGN)
    if background and hasattr(os, "nice"):
        os.nice(_BACKGROUND)
    warnings_as_lines()
    bound_memory(limits.memory)
    with suppress(ConnectionError), channel, channel.makefile("rwb") as stream:
        while len(numbers := stream.read(_REQUEST.size)) == _REQUEST.size:
            [size] = _REQUEST.unpack(numbers)
            if len(head := stream.read(size)) < size:
                return
            job, sizes = json.loads(head)
            raws = list(map(stream.read, sizes))
            if len(raws[-1]) < sizes[-1]:
                return
            began = time.process_time()
            _bound_time(0.0 if background else SOON)
            found = answers(models, Job(*job), raws, limits)
            _bound_time(0.0)
            seconds = time.process_time() - began
            for status, text in found:
                stream.write(ANSWER.pack(status, seconds, len(text)))
                stream.write(text)
            stream.flush()
            if background:
                return


def _bound_time(seconds: float) -> None:
    """End this process after so much of its processor time, wherever it is then; 0 takes the bound away."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def bound_memory(megabytes: int) -> None:
    """Let this process take no more memory beside what it has; where the system reports how much that is."""
    if sys.platform != "win32" and _SIZES.exists():
        most = int(_SIZES.read_text().split()[0]) * resource.getpagesize() + megabytes * 2**20
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


VERBS: Final[Mapping[str, Callable[[Served, Job, bytes, Limits], bytes]]] = {
    "predict": lambda served, job, raw, limits: _predict(served, job, [raw], limits)[0],
    "explain": lambda served, _, raw, limits: explain(served, raw, limits),
    "suggest": lambda served, _, raw, limits: suggest(served, raw, limits),
    "label-studio setup": lambda served, _, raw, limits: label_studio.setup(served, raw),
    "label-studio predict": lambda served, _, raw, limits: label_studio.predict(served, raw, limits),
    "label-studio webhook": lambda served, _, raw, limits: label_studio.webhook(raw),
    "inception predict": lambda served, _, raw, limits: inception.predict(served, raw, limits),
}
"""What may be asked of a model: an answer, from the body of a request."""


def _predict(served: Served, job: Job, raws: Sequence[bytes], limits: Limits) -> list[bytes]:
    return predict(served, raws, limits, threshold=job.threshold, others=job.others, expand=job.expand)


def answers(models: Mapping[str, Served], job: Job, raws: Sequence[bytes], limits: Limits) -> list[tuple[int, bytes]]:
    """Status and body of the answer to each of some requests; `AGAIN` for all of several if one of them fails.

    Args:
        models: by name.
        job: what is asked of which of them.
        raws: the body of each request.
        limits: of each request.
    """
    if len(raws) == 1:
        return [answer(models, job, raws[0], limits)]
    try:
        if job.model in models:
            return [(200, found) for found in _predict(models[job.model], job, raws, limits)]
    except (Refused, MemoryError):
        pass
    except Exception:
        traceback.print_exc()
    return [(AGAIN, b"")] * len(raws)


def answer(models: Mapping[str, Served], job: Job, raw: bytes, limits: Limits) -> tuple[int, bytes]:
    """Status and body of the answer to a request; what goes wrong becomes an answer, too.

    Args:
        models: by name.
        job: what is asked of which of them.
        raw: the body.
        limits: of the request.
    """
    try:
        if job.model not in models:
            return 503, error(f"the model {job.model} was replaced; ask again")
        return 200, VERBS[job.verb](models[job.model], job, raw, limits)
    except Refused as refusal:
        return refusal.status, error(refusal.message)
    except MemoryError:
        return 413, error(f"the work took more memory than {limits.memory:,} MB; send less text, or shorter sentences")
    except Exception:
        traceback.print_exc()
        return 500, error("the server failed at this request; see its log")
