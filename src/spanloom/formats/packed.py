"""Output compressed by gzip if the file name ends in ``.gz``; the same content gives the same bytes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from spanloom.files import output
from spanloom.files.output import Sink
from spanloom.formats.source import is_packed


class _Packing:
    """A sink that packs what it takes."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._packer = zlib.compressobj(wbits=31)  # as gzip, without a name or a time of day

    def write(self, data: str | bytes) -> None:
        """Write text as UTF-8, or bytes."""
        raw = data if isinstance(data, bytes) else self._sink.encoded(data)
        self._sink.write(self._packer.compress(raw))

    def finish(self) -> None:
        """Write what is still held back."""
        self._sink.write(self._packer.flush())


@contextmanager
def output_file(path: str | Path, *, force: bool = False) -> Iterator[Sink]:
    """Open a file for atomic output, as `spanloom.files.output.output_file` does; ``.gz`` is packed."""
    with output.output_file(path, force=force) as sink:
        if not is_packed(path):
            yield sink
            return
        packing = _Packing(sink)
        yield cast(Sink, packing)
        packing.finish()
