"""Optional libraries, imported where they are used, and what other distributions add, by entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

from spanloom.errors import UsageError


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Raise an error with the install command if an import of an extra fails in this context.

    Of nested contexts the outermost names the feature, which is what was asked for.

    Args:
        name: the extra, as pip calls it.
        what: the feature that needs the library, as the beginning of the message.

    Raises:
        UsageError: a library is missing.

    >>> with extra("arrow", "a Parquet file"):
    ...     import pyarrow.no_such_module
    Traceback (most recent call last):
    spanloom.errors.UsageError: a Parquet file needs pyarrow; install it with: pip install "spanloom[arrow]"
    """
    try:
        yield
    except (ModuleNotFoundError, UsageError) as error:
        missing = error.__cause__ if isinstance(error, UsageError) else error
        if not isinstance(missing, ModuleNotFoundError):
            raise
        library = (missing.name or name).partition(".")[0]
        raise UsageError(f'{what} needs {library}; install it with: pip install "spanloom[{name}]"') from missing


class EntryPoint(NamedTuple):
    """What an installed distribution adds to a group.

    Args:
        group: to which it is added.
        name: of the entry.
        value: ``module`` or ``module:object``.
    """

    group: str
    name: str
    value: str

    def load(self) -> Any:
        """Import it."""
        return resolve_name(self.value.partition("[")[0].strip())  # extras that it needs may follow


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, of the distributions on ``sys.path``; of two of one name the first.

    The standard library's function of this name takes ten times as long, as it imports a parser of e-mail.
    """
    return [entry for entry in _entries(tuple(sys.path)) if entry.group == group]


@cache
def _entries(path: tuple[str, ...]) -> list[EntryPoint]:
    """Return all entry points."""
    found, seen = [], set()
    for folder in path:
        with suppress(OSError):  # an archive, or no folder
            for place in sorted(Path(folder).iterdir()):
                distribution = place.stem.partition("-")[0].lower()
                if place.suffix not in (".dist-info", ".egg-info") or distribution in seen:
                    continue
                seen.add(distribution)
                file = place / "entry_points.txt"
                with suppress(OSError), file.open(encoding="utf-8", errors="replace") as lines:
                    group = ""
                    for line in map(str.strip, lines):
                        if line.startswith("["):
                            group = line.strip("[]")
                        elif "=" in line and not line.startswith(("#", ";")):
                            found.append(EntryPoint(group, *map(str.strip, line.split("=", 1))))
    return found
