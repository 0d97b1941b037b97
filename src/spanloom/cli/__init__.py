"""The command line: one module a verb, imported when the verb runs, so that `--help` stays quick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pkgutil import resolve_name
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The command `spanloom`; it ends the program with the exit code.

    Processes that the program starts import this module again, and need none of the verbs.

    Args:
        arguments: what follows the command's name; the program's own when ``None``.
    """
    run: Callable[[Sequence[str] | None], NoReturn] = resolve_name("spanloom.cli.app:main")
    run(arguments)
