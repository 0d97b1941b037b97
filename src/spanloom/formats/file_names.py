"""File names: conversion from and to identifiers of documents; and the files of a folder with their formats."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spanloom.document import Document
from spanloom.errors import DataError, UsageError
from spanloom.files.output import writing
from spanloom.files.scratch import WORK_FOLDER
from spanloom.files.staging import leftover
from spanloom.files.walk import everything, is_closed_link
from spanloom.formats.base import UNNAMED, Format, Losses, Scanned, name_of, repeated_name
from spanloom.formats.looks import advice, looks_like
from spanloom.formats.source import bare, head_of

_ESCAPED = re.compile(r'[\x00-\x1f/\\:*?"<>|]|^\.|%(?=[01][0-9A-F]|2[2AEF5]|3[ACEF]|5C|7C)')
_LONGEST = 255  # bytes of a name, on nearly all file systems
_ESCAPE = re.compile(r"%([01][0-9A-F]|2[2AEF5]|3[ACEF]|5C|7C)")


def visible(root: Path) -> list[Path]:
    """Return the files in a folder and its subfolders, by name, without hidden ones."""
    return [file for file in everything(root) if not re.search(r"(?:^|/)\.", file.relative_to(root).as_posix())]


def escaped(name: str) -> str:
    """Escape a name's characters that some file systems do not allow; ``/`` makes folders.

    >>> escaped("a/b?"), unescaped("a/b%3F")
    ('a/b%3F', 'a/b?')
    """
    parts = name.split("/")
    if "" in parts:
        parts = [name]
    return "/".join(_ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", part) for part in parts)


def unescaped(name: str) -> str:
    """Undo `escaped`."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name)


def free_name(folder: Path, document: Document, number: int, suffix: str, output: Path, losses: Losses) -> str:
    """Return a free name for a document's file in an output folder, without its suffix.

    Args:
        folder: the output folder.
        document: the document, whose ``id`` is the name.
        number: of the document, from 1; for one without an ``id``.
        suffix: the suffix of the file that another document of this name would have.
        output: the folder's name in messages.
        losses: counts a document that has no ``id``, because it will be read with one.

    Raises:
        DataError: another document has the same ``id``, or it is too long for a file's name.
    """
    if not document.id:
        losses.add(UNNAMED)
        return name_of(document, number)
    name = escaped(document.id)
    size = max(len(part.encode("utf-8", "surrogatepass")) for part in name.split("/")) + len(suffix)
    if size > _LONGEST:
        message = f"found a document id that begins {document.id[:40]!r} and would need a file name of {size} bytes"
        raise DataError(f"{message}, expected {_LONGEST} at most; give it a shorter one", path=output)
    if os.path.lexists(folder / f"{name}{suffix}"):
        raise repeated_name(document, document.id, output)
    return name


def put(file: Path, content: str | bytes, output: Path) -> None:
    """Write one file of an output folder; ``output`` is the folder's name in messages."""
    with writing(output):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


# Folders as input: the format of each file, and what is reported of the others.

# files beside data that are no data
_BESIDE = re.compile(
    r"(?:readme|licen[cs]e|changelog|dataset_infos?\.json$|(?:label2id|id2label|tag2id|tag_to_id|label_map)\.json$|.*TypeSystem\.xml$|.*\.(?:md|rst|conf|cfg|ini|toml|ya?ml|py|sh|log|sha256|md5)$)",
    re.IGNORECASE,
)


def files_of(root: Path, kind: Format | None, kinds: Iterable[Format]) -> tuple[list[tuple[Format, Path]], list[Path]]:
    """Return the inputs of a folder, each with its format, and the files that are no input.

    Args:
        root: the folder.
        kind: the format of all of them, if the user named one.
        kinds: formats to choose from otherwise.

    Raises:
        UsageError: there is nothing to read.
    """
    everywhere = visible(root)
    trainings = [path for path in everywhere if path.name == WORK_FOLDER]  # that are running, or were killed
    everywhere = [path for path in everywhere if WORK_FOLDER not in path.relative_to(root).parts]
    files = [file for file in everywhere if file.is_file()]
    links = [*(file for file in everywhere if is_closed_link(file)), *trainings]
    data = [file for file in files if not _BESIDE.match(file.name)]
    choices = list(kinds) if kind is None else [kind]
    whole = next((other for other in choices if other.folders and (other is kind or other.knows(root))), None)
    if whole is not None:
        return [(whole, root)], [file for file in data if file.suffix not in (".txt", *whole.suffixes)] + links
    known = ((next((other for other in choices if other.knows(file)), None), file) for file in files)
    # a format that the user names is that of all files whose names show none
    found = [(other, file) for other, file in known if other is not None]
    # a program beside data may hold some of them, or an example of its own
    data += [file for other, file in found if file.suffix == ".py"]
    inputs = [(other, file) for other, file in found if file.suffix != ".py" and (kind is None or other.named(file))]
    if kind is not None and not inputs:
        endings = sorted({file.suffix for file in data})
        if len(endings) > 1:
            held = f"files that end in {', '.join(endings)}, and none in {_endings([kind])}"
            raise UsageError(f"the folder {root} holds {held}; name the file to read")
        inputs = [(kind, file) for file in data]
    if not inputs:
        hints = ((file, _hint(file)) for file in data) if kind is None else ()
        more = next((f"; {file.name} is not read: {hint}" for file, hint in hints if hint is not None), "")
        raise UsageError(f"the folder {root} holds no file that ends in one of: {_endings(choices)}{more}")
    taken = {file for _, file in inputs}
    return inputs, [file for file in data if file not in taken] + links


def _endings(kinds: Sequence[Format]) -> str:
    return ", ".join(dict.fromkeys(suffix for kind in kinds for suffix in kind.suffixes))


def stem_in(root: Path, file: Path) -> str:
    """Return a file's name in its folder: the subfolders, and its name without suffix."""
    return bare(file.relative_to(root)).with_suffix("").as_posix()


def interrupted(parts: Iterable[Path]) -> Iterator[Scanned]:
    """Yield warnings for what interrupted writes left beside or in an input."""
    for part in parts:
        yield Scanned.altered("interrupted write", leftover(part), str(part))


def not_read(files: Iterable[Path]) -> Iterator[Scanned]:
    """Yield warnings for files that are no input."""
    for file in files:
        hint = _hint(file) or "the name has no known format; name the file alone, with its format"
        yield Scanned.altered("files not read", f"not read: {hint}", str(file))


def _hint(file: Path) -> str | None:
    if is_closed_link(file):
        return "a link to a folder or to nothing, which is not followed; name what it leads to"
    if file.name == WORK_FOLDER:
        return "the folder of a training (--work), which is no input; name another folder, or remove it after training"
    try:
        if (hint := advice(file)) is not None:
            return hint
        looks = looks_like(head_of(file).decode("utf-8", "replace"))
        return None if looks is None else f"it looks like {looks}"
    except DataError:  # it is not read in any case
        return None
