"""The texts of a column, and what is wrong with the rows that have none."""

from __future__ import annotations

from typing import Any, NamedTuple

_NULL = "the text is missing"
_NOT_UTF8 = "the text is not UTF-8"


class Texts(NamedTuple):
    """R rows of a column.

    Args:
        texts: (R,) the text, or ``None``.
        problems: (R,) the reason why there is no text, or ``None``.
    """

    texts: list[str | None]
    problems: list[str | None]


def holds_text(kind: Any) -> bool:
    """Return whether a column of this type holds text: strings, bytes of UTF-8, either in a dictionary, or only nulls.

    >>> import pyarrow as pa
    >>> [holds_text(kind) for kind in (pa.string(), pa.dictionary(pa.int8(), pa.binary()), pa.int64())]
    [True, True, False]
    """
    import pyarrow.types as is_

    if is_.is_dictionary(kind):
        return holds_text(kind.value_type)
    return any(
        test(kind)
        for test in (
            *(is_.is_string, is_.is_large_string, is_.is_string_view, is_.is_null),
            *(is_.is_binary, is_.is_large_binary, is_.is_binary_view, is_.is_fixed_size_binary),
        )
    )


def texts_of(column: Any, longest: int) -> Texts:
    """Return the texts of a column of Arrow.

    Args:
        column: of any type.
        longest: bytes of a text; a longer one is a problem, and never becomes an object.

    >>> import pyarrow as pa
    >>> texts_of(pa.array(["no pain", None, "fever"]), longest=6).problems
    ['the text has 7 bytes, expected 6 at most', 'the text is missing', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = len(column)
    if not holds_text(column.type):
        return Texts([None] * rows, [f"the column is {column.type}, expected text"] * rows)
    if pa.types.is_null(column.type):
        return Texts([None] * rows, [_NULL] * rows)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    texts = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    plain = column if texts else column.cast(pa.large_binary())
    lengths = pc.binary_length(plain)
    problems: list[str | None] = [None] * rows
    if (pc.max(lengths).as_py() or 0) > longest:
        for i, length in enumerate(lengths.to_pylist()):
            if length is not None and length > longest:
                problems[i] = f"the text has {length:,} bytes, expected {longest:,} at most"
        plain = pc.if_else(pc.less_equal(lengths, longest), plain, None)
    values = _strings(plain, problems)
    for i, text in enumerate(values):
        if text is None and problems[i] is None:
            problems[i] = _NULL
    return Texts(values, problems)


def _strings(column: Any, problems: list[str | None]) -> list[str | None]:
    """Return the values of a column of strings or bytes; bytes that are not UTF-8 are a problem."""
    import pyarrow as pa

    try:
        values: list[str | bytes | None] = column.to_pylist()
    except UnicodeDecodeError:
        values = column.view(pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary()).to_pylist()
    return [value if value is None or isinstance(value, str) else _decoded(value, i, problems)
            for i, value in enumerate(values)]  # fmt: skip


def _decoded(value: bytes, row: int, problems: list[str | None]) -> str | None:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        problems[row] = _NOT_UTF8
        return None
