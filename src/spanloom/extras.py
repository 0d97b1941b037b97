"""Optional libraries: imported where they are used, with the install command in the error if one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spanloom.errors import UsageError


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Raise an error with the install command if an import of an extra fails in this context.

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
    except ModuleNotFoundError as error:
        library = (error.name or name).partition(".")[0]
        raise UsageError(f'{what} needs {library}; install it with: pip install "spanloom[{name}]"') from error
