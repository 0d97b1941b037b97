"""Ctrl-C and SIGTERM end a verb by an exception, so that what is half-written is removed on the way out.

Where Python takes no exception, as within the end of an object, the signal comes once more, a moment later, instead of
being lost.
"""

from __future__ import annotations

import _thread
import signal
import sys
import time
from contextlib import suppress
from types import FrameType

__all__ = ["catch"]

_MOMENT = 0.05  # seconds


def catch() -> None:
    """Let both signals end the program, from now on; Ctrl-C only where nobody decided otherwise."""
    sys.unraisablehook = _keep
    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell's background jobs ignore it
        signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _keep(unraisable: sys.UnraisableHookArgs) -> None:
    """What nobody can catch is told, as ever; a signal comes again."""
    for error, number in ((KeyboardInterrupt, signal.SIGINT), (SystemExit, signal.SIGTERM)):
        if issubclass(unraisable.exc_type, error):
            _again(number)
            return
    sys.__unraisablehook__(unraisable)


def _again(number: signal.Signals) -> None:
    with suppress(RuntimeError):  # no thread starts while Python ends, which is all that was wanted
        _thread.start_new_thread(_later, (number,))


def _later(number: signal.Signals) -> None:
    # from another thread, after a moment: raised by the one that handles it, it would be handled right there
    time.sleep(_MOMENT)
    _thread.interrupt_main(number)
