"""Damage: what happens to files on their way, and what somebody does on purpose."""

from __future__ import annotations

import io
import json
import random
import zlib
from collections.abc import Callable
from typing import Any

NUMBERS = (-1, 0, 1, 2**31, 2**53 + 1, 10**30, -(10**30), 1.5, 1e308, 0.1)
WORDS = (
    "", " ", "\t", "\r", "\0", "\ufeff", "\u2028", "é", "日本", "\U0001f600", "-", "_", "*", "|", ",", ";", ":",
    "#", "&lt;",
    "B-x", "I-x", "O", "1-2", "5 9;0 4", "T1", "-DOCSTART-", "# text = ", "# newdoc id = ", "null", "NaN", "Infinity",
    "true",
    "[" * 300, "{" * 300, "<a>" * 200, "<!DOCTYPE x [<!ENTITY e 'x'>]>", "&e;", "<![CDATA[", '"', "'", "\\", "\\u0000",
    "9" * 5000, "-1", "1e999", "../../x", "a" * 3000,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    *NUMBERS,
    *WORDS,
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    {"": None},
    float("nan"),
    [[1]] * 3,
)


def damaged(data: bytes, draw: random.Random) -> bytes:
    """Some bytes changed: as JSON where the file is JSON, else as text, lines and bytes."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        change = draw.choice((_json, _line, _field, _piece, _byte, _cut))
        data = change(data, draw) or data
    return data


def _json(data: bytes, draw: random.Random) -> bytes | None:
    """A value of one JSON line, or of the whole, replaced, doubled or gone."""
    try:
        whole = json.loads(data)
        return json.dumps(_value(whole, draw), ensure_ascii=draw.random() < 0.5).encode(errors="surrogatepass")
    except (ValueError, RecursionError):
        pass
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    try:
        lines[at] = json.dumps(_value(json.loads(lines[at]), draw)).encode()
    except (ValueError, RecursionError):
        return None
    return b"\n".join(lines)


def _value(value: Any, draw: random.Random) -> Any:
    """The value with one of its parts changed."""
    if isinstance(value, bytes) and draw.random() < 0.8:
        return damaged(value, draw)
    inner: list[Any] = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    if not inner or draw.random() < 0.15:
        return draw.choice(VALUES)
    key = draw.choice(inner)
    kind = draw.random()
    if kind < 0.7:
        value[key] = _value(value[key], draw)
    elif kind < 0.8:
        del value[key]
    elif isinstance(value, list):
        value.insert(draw.randrange(len(value) + 1), value[key])
    else:
        value[draw.choice(WORDS)] = value[key]
    return value


def damaged_inside(name: str, data: bytes, draw: random.Random) -> bytes | None:
    """Return a file of a binary format with a value of its content changed; ``None`` where no such file can be made."""
    opened, closed = INSIDE[name]
    try:
        return closed(_value(opened(data), draw))
    except Exception:  # whatever the library says of a value that it cannot write
        return None


def _table(data: bytes) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(io.BytesIO(data)).to_pylist()


def _parquet(rows: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


def _stream(data: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.ipc

    return pa.ipc.open_file(data).read_all().to_pylist()


def _arrow(rows: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.ipc

    file, table = io.BytesIO(), pa.Table.from_pylist(rows)
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def _unpacked(data: bytes) -> Any:
    import srsly

    return srsly.msgpack_loads(zlib.decompress(data))


def _docbin(value: Any) -> bytes:
    import srsly

    return zlib.compress(srsly.msgpack_dumps(value))


INSIDE: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], bytes]]] = {
    "parquet": (_table, _parquet), "arrow": (_stream, _arrow), "spacy": (_unpacked, _docbin),
}  # fmt: skip
"""Of a binary format: its content as lists and dictionaries, and a file of such content."""


def _line(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, to = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(to, lines[at])
    elif kind == 2:
        lines[at], lines[to] = lines[to], lines[at]
    else:
        lines.insert(at, draw.choice(WORDS).encode())
    return b"\n".join(lines)


def _field(data: bytes, draw: random.Random) -> bytes:
    """A part between separators replaced."""
    separator = draw.choice((b"\t", b" ", b"|", b",", b'"', b">", b":"))
    parts = data.split(separator)
    parts[draw.randrange(len(parts))] = str(draw.choice((*NUMBERS, *WORDS))).encode()
    return separator.join(parts)


def _piece(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    end = min(len(data), at + draw.randrange(40))
    return data[:at] + draw.choice((b"", data[at:end] * 2, draw.choice(WORDS).encode())) + data[end:]


def _byte(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


Change = Callable[[bytes, random.Random], bytes]
