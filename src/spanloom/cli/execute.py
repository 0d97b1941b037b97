"""Runs one verb and turns whatever happens into one line on stderr and an exit code.

0 done, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import copy_context
from io import TextIOWrapper
from pathlib import Path
from pkgutil import resolve_name
from types import FrameType
from typing import Any

from spanloom.errors import (
    DataWarning,
    LostWarning,
    SpanloomError,
    UsageError,
    as_json,
    check_number,
    log_line,
    notice_line,
    one_line,
    reason_of,
)
from spanloom.files.walk import meant_path

DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

# verb -> what takes its options; `verbs.verb` adds to it. Imported when the verb runs: `--help` must not wait for it
VERBS = {"": "spanloom.cli.start:run"}
# options that name models and inputs
_MODELS = ("model", "teacher", "hypergraph")
_INPUTS = ("source", "sources", "data", "gold", "predicted", "compare", "known", "train", "dev", "test", "texts")
_DELAY = 0.05  # seconds before a signal is sent again


def execute(verb: str, options: dict[str, Any], declaration: Callable[..., Any] | None = None) -> int:
    """Run a verb; an error raised on purpose, a file that fails and Ctrl-C become one line and an exit code.

    What runs returns nothing, or the exit code. An unexpected error keeps its traceback: it is a bug.
    """
    try:
        quiet = bool(options.get("quiet"))
        if verb != "vocabulary":  # whose option --source names no file
            _check_there(options)
        for name, value in options.items():
            for number in value if isinstance(value, list) else [value]:
                if isinstance(number, float):  # click takes nan and inf for numbers within all bounds
                    check_number(f"--{name.replace('_', '-')}", number)
        with _telling(quiet):
            code = copy_context().run(_run, verb, options, declaration)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output closed it, as `head` does
        _close_stdout()
        return DONE
    except KeyboardInterrupt:
        return fail(f"interrupted; no output was written{_resumed(options)}", INTERRUPTED, prefix="")
    except UsageError as error:
        return fail(str(error), WRONG_USAGE)
    except SpanloomError as error:
        _close_stdout()
        return fail(str(error), FAILED)
    except OSError as error:
        return refused(error)
    except MemoryError:
        return fail("out of memory; use less data, fewer features or a machine with more memory", FAILED)
    return DONE if code is None else int(code)


def _resumed(options: Mapping[str, Any]) -> str:
    """Return how an interrupted verb resumes, or what would have made it resumable, for the message."""
    if kept := options.get("work") or options.get("checkpoint"):
        return f"; the same command resumes from {kept}"
    if options.get("encoder") and "checkpoint" in options:
        return "; with --checkpoint FOLDER the training resumes where it was interrupted"
    return "; with --work FOLDER the training resumes where it was interrupted" if "work" in options else ""


def _check_there(options: dict[str, Any]) -> None:
    """Check that models and inputs are there, before what uses them is imported.

    Raises:
        ModelError: no model has this name.
        DataError: there is no such file or folder.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the process that loads the model issues them
        for name in _MODELS:
            for path in _paths(options.get(name)):
                resolve_name("spanloom.models:kind_of")(path)
    for name in _INPUTS:
        for path in _paths(options.get(name)):
            resolve_name("spanloom.formats.scanning:check_there")(path)


def _paths(given: str | list[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else given or []


def _run(verb: str, options: dict[str, Any], declaration: Callable[..., Any] | None) -> Any:
    """Run a verb; all its inputs are read with the options of reading, which no verb takes itself."""
    given = {name: value for name in ("encoding", "offsets") if (value := options.pop(name, None)) is not None}
    if given:
        resolve_name("spanloom.formats.base:DEFAULTS").set(given)
    run = resolve_name(VERBS[verb])
    return run(**options) if declaration is None else run(declaration(**options))


@contextmanager
def _telling(quiet: bool) -> Iterator[None]:
    """Context in which each `DataWarning` is a line on standard error, or nothing if ``quiet``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "always", DataWarning)
        warnings.simplefilter("ignore", LostWarning)  # the summary of a training has more
        shown = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if category is UserWarning and quiet:  # of a model
                return
            if issubclass(category, DataWarning) or category is UserWarning:
                print(notice_line(one_line(str(message))), file=sys.stderr, flush=True)
            else:
                shown(message, category, *place, **more)

        warnings.showwarning = show
        yield


def refused(error: OSError) -> int:
    """Report an error of the operating system, and return the exit code."""
    _close_stdout()
    return fail(os_error(error), FAILED)


def os_error(error: OSError) -> str:
    """The place and the system's reason, in one line.

    >>> os_error(FileNotFoundError(2, "No such file or directory", "notes.txt"))
    'notes.txt: no such file or directory'
    """
    place = "standard output" if error.filename is None else os.fspath(error.filename)
    meant = meant_path(Path(place)) if isinstance(error, FileNotFoundError) and error.filename is not None else ""
    return f"{place}: {reason_of(error)}{meant}"


def fail(message: str, code: int, prefix: str = "error: ") -> int:
    """Report an error in one line, and return the exit code."""
    line = one_line(message)
    print(log_line("error", message=line) if as_json() else f"spanloom: {prefix}{line}", file=sys.stderr)
    return code


def open_streams() -> None:
    """Make the three standard streams fit to use: all there, and data in UTF-8 with plain line ends everywhere.

    One that the parent process has closed is there, too, but refuses: what was to be read from it or written to it is
    an error, and not nothing.
    """
    for name, mode, errors, refusing in (
        ("stdin", "r", "strict", os.O_WRONLY),
        ("stdout", "w", "strict", os.O_RDONLY),
        ("stderr", "w", "backslashreplace", os.O_WRONLY),  # a failure to write there cannot be reported
    ):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, refusing), mode, encoding="utf-8"))  # noqa: SIM115, PTH123
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")


def _close_stdout() -> None:
    # what is still buffered can go nowhere; without this the interpreter would complain of it when it exits
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def catch_signals() -> None:
    """Make SIGTERM and Ctrl-C end the program by an exception, so that incomplete output is removed.

    Where Python cannot raise an exception, as within a finalizer, the signal is sent again a moment later instead of
    being lost. Other handlers of Ctrl-C are kept.
    """
    sys.unraisablehook = _send_again
    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell's background jobs ignore it
        signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _send_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Send a signal again whose exception could not be raised; report other exceptions as Python does."""
    for error, number in ((KeyboardInterrupt, signal.SIGINT), (SystemExit, signal.SIGTERM)):
        if issubclass(unraisable.exc_type, error):
            with suppress(RuntimeError):  # while Python shuts down, no thread starts, and none is needed
                _thread.start_new_thread(_interrupt, (number,))
            return
    sys.__unraisablehook__(unraisable)


def _interrupt(number: signal.Signals) -> None:
    # from another thread, and later: in the thread that handles it, it would be handled at the same place
    time.sleep(_DELAY)
    _thread.interrupt_main(number)
