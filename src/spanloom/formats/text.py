"""Plain text: one document a file, without annotations; several documents are a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spanloom.document import Document
from spanloom.errors import DataError
from spanloom.files import STDIO
from spanloom.files.output import output_folder
from spanloom.formats.base import Losses, Scanned, altered, count_meta, count_unwritten, single
from spanloom.formats.file_names import free_name, put
from spanloom.formats.foreign import of_content
from spanloom.formats.looks import looks_like
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
    problems = []
    if (beside := _annotation_beside(path)) is not None:
        message = f"read as text, but {beside.name} is beside it, which is not read; of brat, call it {name[:60]}.ann"
        problems.append(altered("texts with annotation beside them", message, path=str(path)))
    if (kind := looks_like(text)) is not None:
        message = f"read as text, but it looks like {kind}"
        problems.append(altered(f"texts that look like {kind.partition(';')[0]}", message, path=str(path)))
    yield Scanned(Document(text, id=stem or name), problems, str(path))


def _annotation_beside(path: str | Path) -> Path | None:
    """Return a file that has annotation of a text by its name, and that no format reads."""
    if str(path) == STDIO:
        return None
    file = Path(path)
    names = (f"{file.stem}.ANN", f"{file.name}.ann", f"{file.name}.knowtator.xml", f"{file.stem}.ann.json")
    return next((one for one in map(file.with_name, names) if one.is_file()), None)


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write the text of one document to a ``.txt`` file, or of several to a folder, each under its identifier.

    Everything else is counted as lost.

    Raises:
        UsageError: several documents for one file.
        DataError: two documents of one ``id`` in a folder.
    """
    losses = Losses()
    named = str(path) == STDIO or bare(path).suffix.lower() == ".txt"
    if not named and (Path(path).is_dir() or not Path(path).exists()):
        with output_folder(path, force=force, may_replace=lambda old: old.suffix == ".txt") as folder:
            for number, document in enumerate(documents, start=1):
                name = free_name(folder, document, number, ".txt", Path(path), losses)
                put(folder / f"{name}.txt", _content(document, losses), Path(path))
        return losses
    with output_file(path, force=force) as file:
        several = "a .txt file holds one document, but there are several; name a folder, with --format text, or JSONL"
        file.write(_content(single(documents, path, several), losses))
    return losses


def _content(document: Document, losses: Losses) -> str:
    count_unwritten(losses, document, "tokens", "sentences", "token columns", "mentions")
    count_meta(losses, document)
    return _BOM + document.text if document.text.startswith(_BOM) else document.text
