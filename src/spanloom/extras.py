"""Libraries that come with an extra: loaded where they are used, and named with the command that installs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spanloom.errors import UsageError


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Around the imports of an extra: says what to install if one of its libraries is missing.

    Args:
        name: the extra, as pip calls it.
        what: what needs the library; a sentence begins with it.

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
