"""Writing PubTator: the text on two lines, the mentions as rows, and what was read beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from spanloom.document import Document, Mention
from spanloom.document.validate import flat
from spanloom.errors import DataError
from spanloom.files.output import output_file
from spanloom.formats.base import (
    BAD_TYPE,
    DISCONTIGUOUS,
    UNSTRIPPED,
    Losses,
    count_mention,
    count_meta,
    count_unwritten,
    unwritable,
)
from spanloom.formats.pubtator_lines import is_relation, is_writable, parse_annotation, render

KEPT = ("rows", "relations")  # the lists in ``meta["pubtator"]``

_ID = re.compile(r"[^|\t\n\r]+")
_LINE_ENDS = str.maketrans("\n\r", "  ")
_Key = tuple[object, ...]


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write titles, abstracts and mentions; a document without an ``id`` is called ``document-000001``.

    The title is the text's first line, the abstract is the rest. Neither can hold a line end: a space stands for each,
    so that every offset stays right, and they are counted as losses. So are mentions that skip words.

    Args:
        documents: tokens are not needed.
        path: the file, or ``-``.
        force: replace a file that is there.

    Raises:
        DataError: an ``id`` with ``|``, a tab or a line end in it; ``meta["pubtator"]`` is not what reading makes.
    """
    losses = Losses()
    with output_file(path, force=force) as file:
        for number, document in enumerate(documents, start=1):
            name = document.id or f"document-{number:06d}"
            if not _ID.fullmatch(name):
                message = f"the identifier {name[:40]!r} has '|', a tab or a line end in it; PubTator cannot hold it"
                raise DataError(message, path=path)
            rows = list(_rows(name, document, losses, path))
            passages = _passages(name, document.text, losses)
            file.write("".join(line + "\n" for line in (*passages, *rows)) + "\n")
            count_unwritten(losses, document, "tokens", "sentences", "columns")
            count_meta(losses, document, held=("pubtator",), inside=KEPT)
    return losses


def _passages(name: str, text: str, losses: Losses) -> Iterator[str]:
    title, _, abstract = text.partition("\n")
    title = title if abstract else text  # an empty abstract is read as none, without the line end before it
    changed = sum(part.count("\n") + part.count("\r") for part in (title, abstract))
    losses.add("line ends (a space stands for each)", changed)
    yield f"{name}|t|{title.translate(_LINE_ENDS)}"
    yield f"{name}|a|{abstract.translate(_LINE_ENDS)}"


def _rows(name: str, document: Document, losses: Losses, path: str | Path) -> Iterator[str]:
    kept, relations = _kept(document, path)
    as_read: dict[_Key, list[str]] = {}
    for old in reversed(kept):
        annotation = parse_annotation(old)
        if annotation is not None and _agrees(annotation.mention, annotation.surface, document.text):
            as_read.setdefault(_key(annotation.mention), []).append(old)
    for mention in document.mentions:
        row = _row(mention, document.text, losses)
        if row is not None:
            same = as_read.get(_key(mention))
            yield f"{name}\t{same.pop() if same else row}"
    yield from (f"{name}\t{row}" for row in relations)


def _row(mention: Mention, text: str, losses: Losses) -> str | None:
    """The mention's row, or a loss."""
    if not is_writable(mention.type):
        losses.add(BAD_TYPE)
        return None
    held = [concept for concept in mention.concepts if is_writable(concept)]
    row = render(mention.replace(concepts=held), text)
    if row is None:
        losses.add(DISCONTIGUOUS)
        return None
    count_mention(losses, mention, "touching")
    losses.add(UNSTRIPPED, sum(concept != concept.strip() for concept in held))
    again = parse_annotation(row)
    stripped = tuple(concept.strip() for concept in held)
    losses.add("concepts that read back in another way", int(again is None or again.mention.concepts != stripped))
    count_mention(losses, mention, "heads")
    losses.add("concepts", len(mention.concepts) - len(held))
    count_mention(losses, mention, "scores", "ids")
    return row


def _key(mention: Mention) -> _Key:
    return (*mention.key, mention.concepts)


def _agrees(mention: Mention, surface: str, text: str) -> bool:
    return flat(surface).strip() == flat(mention.text(text)).strip()


def _kept(document: Document, path: str | Path) -> tuple[list[str], list[str]]:
    """What `spanloom.formats.pubtator` kept: rows that it would write in another way, and relations."""
    kept = document.meta.get("pubtator", {})
    lists = [kept.get(name, []) for name in KEPT] if isinstance(kept, dict) else []
    sound = len(lists) == len(KEPT) and all(
        isinstance(rows, list) and all(isinstance(row, str) and "\n" not in row for row in rows) for rows in lists
    )
    if not sound or not all(map(parse_annotation, lists[0])) or not all(map(is_relation, lists[1])):
        raise unwritable(document, ": meta['pubtator'] should hold lines of PubTator in lists; remove it", path)
    return lists[0], lists[1]
