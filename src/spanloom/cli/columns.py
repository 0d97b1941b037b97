"""The option `--columns`."""

from __future__ import annotations

from typing import Any


def column_options(columns: str | None) -> dict[str, Any]:
    """What `read` and `validate` of `spanloom.formats` take for ``--columns``.

    >>> column_options("word,pos,tag"), column_options(None)
    ({'columns': ['word', 'pos', 'tag']}, {})
    """
    return {} if columns is None else {"columns": [name.strip() for name in columns.split(",")]}
