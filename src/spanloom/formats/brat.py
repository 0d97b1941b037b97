"""brat standoff: a ``.txt`` and an ``.ann`` file for each document, or a folder of such pairs.

In place of an ``.ann`` file there may be an ``.a1`` and an ``.a2``, as of BioNLP's shared tasks, and the text may be in
a folder beside, as in CADEC (``text/a.txt``, ``original/a.ann``).

See `spanloom.formats.standoff` for the lines. The ``.ann`` file is kept in ``Document.meta["brat"]["ann"]``,
so that a document that did not change is written back byte for byte, also after a stay in JSONL.

Offsets count the characters of the ``.txt`` file as it is: CR LF are two. A byte order mark at its start is no part of
the text, unless the mentions' texts show that the offsets count it; it is written back either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spanloom.document import Document
from spanloom.document.surfaces import difference
from spanloom.errors import DataError, UsageError
from spanloom.files import STDIO
from spanloom.files.output import output_files, output_folder
from spanloom.formats.base import (
    Beside,
    Losses,
    Scanned,
    count_meta,
    count_unwritten,
    single,
    unwritable,
)
from spanloom.formats.file_names import free_name, put, unescaped, visible
from spanloom.formats.source import decode, read_bytes, text_beside
from spanloom.formats.standoff import Annotations, collect, parse, render

_BOM = "\ufeff"
_ENDINGS = (".ann", ".a1", ".a2")


def scan(path: str | Path, mentions: bool = True) -> Iterator[Scanned]:
    """Yield the documents of a pair (either file may be named) or of a folder with its subfolders, by name.

    Args:
        path: one of the two files, or the folder.
        mentions: if false, the ``.ann`` files are ignored, and not checked.
    """
    if str(path) == STDIO:
        raise UsageError("brat keeps a document in two files and cannot be read from standard input; name a folder")
    root = Path(path)
    if not root.is_dir():
        named = [file for ending in _ENDINGS if (file := root.with_suffix(ending)).exists()]
        yield _scan_pair(root.with_suffix(".txt"), named or [root.with_suffix(".ann")], root.stem, mentions)
        return
    found: dict[Path, list[Path]] = {}
    for file in visible(root):
        if file.suffix in (".txt", *_ENDINGS):
            found.setdefault(file.with_suffix(""), []).append(file)
    anns = {base: [file for file in files if file.suffix != ".txt"] for base, files in found.items()}
    taken = {text_beside(files[0]) for files in anns.values() if files}
    for base, files in found.items():
        if anns[base] or files[0] not in taken:
            txt = base.with_name(f"{base.name}.txt")
            yield _scan_pair(txt, anns[base], unescaped(base.relative_to(root).as_posix()), mentions)


def _scan_pair(txt: Path, anns: list[Path], name: str, mentions: bool) -> Scanned:
    ann = anns[0] if anns else txt.with_suffix(".ann")
    if not txt.exists() and (beside := text_beside(ann)) is not None:
        txt = beside
    if not txt.exists():
        message = f"no {txt.name} beside it or in one folder beside its folder; brat needs the text of the offsets"
        return Scanned.failed("no text", message, str(ann))
    try:
        text = decode(read_bytes(txt), txt)
        parts = [read_bytes(file) if file.exists() else b"" for file in anns]
        lines = b"".join(part if part.endswith(b"\n") or part is parts[-1] else part + b"\n" for part in parts)
        raw = decode(lines, ann) if mentions else lines.decode("utf-8", "replace")
    except DataError as error:
        return Scanned.failed("unreadable", error.message, error.path or str(txt), error.line)
    found = collect(parse(raw), str(ann))
    kept: dict[str, Any] = {"ann": raw} if raw and mentions else {}
    if text.startswith(_BOM):
        counted = _counts_mark(text, found)
        kept["bom"] = "counted" if counted else "removed"
        text = text if counted else text.removeprefix(_BOM)
    if not mentions:
        found = Annotations()
    document = Document(text, id=name, mentions=found.mentions, meta={"brat": kept} if kept else {})
    surfaces, numbers = [line.surface for line in found.lines], [line.number for line in found.lines]
    places = [(str(ann), number) for number in numbers]
    return Scanned(document, found.problems, str(txt), None, places, Beside(surfaces, "line"))


def _counts_mark(text: str, found: Annotations) -> bool:
    """Return whether the texts of the mentions match their offsets only if the byte order mark is counted."""
    pairs = [(m, line.surface) for m, line in zip(found.mentions, found.lines, strict=True) if line.surface]
    with_mark, without = (
        all(difference(one, sorted(mention.spans), surface) is not None for mention, surface in pairs)
        for one in (text, text.removeprefix(_BOM))
    )
    return with_mark and not without


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a folder of pairs, or one pair for a path that ends in ``.txt`` or ``.ann``.

    A file in a folder is named after its document's ``id`` (``/`` makes subfolders; characters that file names
    cannot hold are written as ``%`` and two digits). Without an ``id`` it is ``document-000001``.
    """
    if str(path) == STDIO:
        raise UsageError("brat keeps a document in two files and cannot go to standard output; name a folder")
    losses = Losses()
    target = Path(path)
    if target.suffix in (".txt", ".ann"):
        with output_files([target.with_suffix(".ann"), target.with_suffix(".txt")], force=force) as (ann, txt):
            document = single(documents, path, f"{path} names one document, but there are several; name a folder")
            text, lines = _contents(document, losses, target)
            txt.write(text)
            ann.write(lines)
    else:
        _write_folder(documents, target, force, losses)
    return losses


def _write_folder(documents: Iterable[Document], path: Path, force: bool, losses: Losses) -> None:
    def is_ours(old: Path) -> bool:
        return old.suffix in (".txt", ".ann", ".conf") or old.name == ".stats_cache"

    with output_folder(path, force=force, may_replace=is_ours) as folder:
        for old in sorted(path.rglob("*.conf")) if path.is_dir() else ():  # brat's own configuration stays
            put(folder / old.relative_to(path), read_bytes(old), path)
        for number, document in enumerate(documents, start=1):
            name = free_name(folder, document, number, ".txt", path, losses)
            text, lines = _contents(document, losses, path)
            put(folder / f"{name}.txt", text, path)
            put(folder / f"{name}.ann", lines, path)


def _contents(document: Document, losses: Losses, path: Path) -> tuple[str, str]:
    """Return the ``.txt`` and the ``.ann`` file of a document."""
    kept = document.meta.get("brat", {})
    if not isinstance(kept, dict) or not isinstance(kept.get("ann", ""), str):
        raise unwritable(document, ": meta['brat'] should hold the .ann file under 'ann'; remove it", path)
    lines = render(document, kept.get("ann", ""), losses, path)
    count_unwritten(losses, document, "tokens", "sentences", "token columns")
    count_meta(losses, document, "brat", inside=("ann", "bom"))
    removed = kept.get("bom") == "removed" or (document.text.startswith(_BOM) and kept.get("bom") != "counted")
    return (_BOM + document.text if removed else document.text), lines
