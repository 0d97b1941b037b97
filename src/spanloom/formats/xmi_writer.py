"""Writing XMI: a file for each document, and the types beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.extras import extra
from spanloom.files import STDIO
from spanloom.files.output import output_files, output_folder, writing
from spanloom.formats.base import Losses, count_meta, writing_as
from spanloom.formats.file_names import free_name
from spanloom.formats.xmi_types import (
    COLUMNS,
    ENTITY,
    HEAD,
    MENTION,
    METADATA,
    SENTENCE,
    TOKEN,
    TYPES_FILE,
    written_types,
)

_STRINGS, _ARRAY = "uima.cas.StringArray", "uima.cas.FSArray"


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a folder of XMI files with ``TypeSystem.xml``, or the one file that a path ending in ``.xmi`` names.

    The types of one file stand beside it, in ``NAME.TypeSystem.xml``. A file in a folder is called after its document's
    ``id``, or ``document-000001`` if there is none.

    Raises:
        UsageError: standard output, or several documents for one file.
        DataError: a character that XML cannot hold, or two documents of one ``id``.
    """
    with extra("xmi", "an XMI file"):
        import cassis  # noqa: F401
    if str(path) == STDIO:
        raise UsageError("XMI is written with its types in a file beside it, not to standard output; name a file")
    losses, target = Losses(), Path(path)
    types = written_types()
    if target.suffix.lower() == ".xmi":
        _write_file(documents, target, types, force, losses)
    else:
        _write_folder(documents, target, types, force, losses)
    return losses


def _write_file(documents: Iterable[Document], path: Path, types: Any, force: bool, losses: Losses) -> None:
    with output_files([path, path.with_suffix(f".{TYPES_FILE}")], force=force) as (file, beside):
        count = 0
        for count, document in enumerate(documents, start=1):
            if count > 1:
                raise UsageError(f"{path} names one document, but there are several; name a folder, and --format xmi")
            file.write(_spelled(document, types, path, losses))
        if not count:
            raise DataError("there is no document to write", path=path)
        beside.write(types.to_xml())


def _write_folder(documents: Iterable[Document], path: Path, types: Any, force: bool, losses: Losses) -> None:
    with output_folder(path, force=force, may_replace=_is_ours) as folder:
        for number, document in enumerate(documents, start=1):
            file = folder / f"{free_name(folder, document, number, '.xmi', path)}.xmi"
            with writing(path):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(_spelled(document, types, path, losses), encoding="utf-8", newline="")
        with writing(path):
            (folder / TYPES_FILE).write_text(types.to_xml(), encoding="utf-8", newline="")


def _is_ours(path: Path) -> bool:
    return path.suffix == ".xmi" or path.name == TYPES_FILE


def _spelled(document: Document, types: Any, path: Path, losses: Losses) -> str:
    import cassis

    with writing_as("XML", document, path):
        cas = cassis.Cas(typesystem=types)
        cas.sofa_mime = "text/plain"
        cas.sofa_string = document.text
        cas.add_all(_annotations(document, types))
        spelled: str = cas.to_xmi()
    losses.add("token columns", len(document.columns.keys() - COLUMNS.keys()))
    count_meta(losses, document, held=())
    return spelled


def _annotations(document: Document, types: Any) -> Iterator[Any]:
    if document.id:
        yield types.get_type(METADATA)(begin=0, end=len(document.text), documentId=document.id)
    yield from _tokens(document, types)
    for mention in document.mentions:
        yield from _mention(mention, types)


def _tokens(document: Document, types: Any) -> Iterator[Any]:
    if document.tokens is None:
        return
    tokens = document.tokens.tolist()
    found = [types.get_type(TOKEN)(begin=start, end=end) for start, end in tokens]
    for name, (kind, feature, reference) in COLUMNS.items():
        for token, value in zip(found, document.columns.get(name, ()), strict=False):
            token[reference] = types.get_type(kind)(begin=token.begin, end=token.end, **{feature: value})
            yield token[reference]
    yield from found
    if document.sentences is not None:
        kind = types.get_type(SENTENCE)
        yield from (kind(begin=tokens[a][0], end=tokens[b - 1][1]) for a, b in document.sentences.tolist())


def _mention(mention: Mention, types: Any) -> Iterator[Any]:
    entity = types.get_type(ENTITY)
    concept = mention.concepts[0] if mention.concepts else None
    parts = [entity(begin=start, end=end, value=mention.type, identifier=concept) for start, end in mention.spans]
    yield from parts
    head = None
    if mention.head is not None:
        head = types.get_type(HEAD)(begin=mention.head.start, end=mention.head.end)
        yield head
    yield types.get_type(MENTION)(
        begin=mention.start,
        end=mention.end,
        value=mention.type,
        mentionId=mention.id,
        concepts=types.get_type(_STRINGS)(elements=list(mention.concepts)) if mention.concepts else None,
        score=None if mention.score is None else float(mention.score),
        head=head,
        parts=types.get_type(_ARRAY)(elements=parts),
    )
