"""Plain text: one document a file, without annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spanloom.document import Document
from spanloom.errors import DataError
from spanloom.files import STDIO
from spanloom.formats.base import Format, Losses, Scanned, count_meta, count_unwritten, single
from spanloom.formats.foreign import of_content
from spanloom.formats.packed import output_file
from spanloom.formats.source import bare, decode, read_bytes

_BOM = "\ufeff"


def scan(path: str | Path, stem: str | None = None) -> Iterator[Scanned]:
    """Yield the file as one document, line ends unchanged; a byte order mark at its start is no part of the text.

    Args:
        path: the file, or ``-``.
        stem: the document's ``id``; the file's name without its ending if not given.
    """
    raw = read_bytes(path)
    if (other := of_content(raw)) is not None:
        raise DataError(f"not text, but {other}", path=path)
    text = decode(raw, path).removeprefix(_BOM)
    name = "" if str(path) == STDIO else bare(path).stem
    yield Scanned(Document(text, id=stem or name), [], str(path))


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write the text of one document; everything else is counted as lost."""
    losses = Losses()
    with output_file(path, force=force) as file:
        document = single(documents, path, "plain text holds one document, but there are several; write JSONL")
        file.write(_BOM + document.text if document.text.startswith(_BOM) else document.text)
        count_unwritten(losses, document, "tokens", "sentences", "token columns", "mentions")
        count_meta(losses, document)
    return losses


TEXT = Format("text", (".txt",), scan, write, named_by_file=True)
