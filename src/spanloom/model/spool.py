"""Documents in a file, of which those that are looked at are in memory, and their tokens as mapped arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, overload

import numpy as np

from spanloom.document import Batch, Document, Mention, Offsets
from spanloom.document.batch import Picked
from spanloom.errors import UsageError, clip
from spanloom.files.scratch import FolderScratch, filling, written_file
from spanloom.formats import to_record

__all__ = ["Spool", "line_of", "spooled"]

_AT_ONCE: Final = 500  # documents that are read together


class Spool(Sequence[Document]):
    """Documents in a file.

    Args:
        path: of the file that `spooled` wrote.
        starts: (D + 1,) where each line begins, in bytes.
    """

    def __init__(self, path: Path, starts: Offsets) -> None:
        self._path, self._starts = path, starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[Document]:
        for first in range(0, len(self), _AT_ONCE):
            yield from self._read(first, min(first + _AT_ONCE, len(self)))

    @overload
    def __getitem__(self, at: int) -> Document: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Document]: ...

    def __getitem__(self, at: int | slice) -> Document | Sequence[Document]:
        numbers = range(len(self))[at]
        if isinstance(numbers, int):
            return self._read(numbers, numbers + 1)[0]
        return self._read(numbers.start, numbers.stop) if numbers.step == 1 else Picked(self, numbers)

    def _read(self, first: int, end: int) -> list[Document]:
        if first >= end:
            return []
        begin, stop = self._starts[[first, end]].tolist()
        with self._path.open("rb") as file:
            file.seek(begin)
            return [_document(json.loads(line)) for line in file.read(stop - begin).splitlines()]


def spooled(
    batches: Iterable[list[Document]], name: str, scratch: FolderScratch,
    seen: Callable[[bytes], object] = lambda _: None,
) -> Batch:  # fmt: skip
    """Write documents to a file, and return them as a batch that reads them from there.

    Args:
        batches: prepared documents, some at a time.
        name: of the file.
        scratch: where it is written, and the arrays of the batch are.
        seen: called for each line.

    Raises:
        DataError: as of `Batch.of`, or there is no room.
        UsageError: a document whose ``meta`` is not of JSON.
    """
    tokens, sentences, firsts, starts = (
        scratch.growing(f"{name}-{what}", np.int64) for what in ("tokens", "sentences", "firsts", "starts")
    )
    for growing in (sentences, firsts, starts):
        growing.append(np.zeros(1, np.int64))
    path = scratch.folder / f"{name}.jsonl"
    token = sentence = at = 0
    with written_file(path) as file:
        for documents in batches:
            own = Batch.of(documents)
            lines = [line_of(document) for document in documents]
            with filling(scratch.folder):
                file.writelines(lines)
            for line in lines:
                seen(line)
            tokens.append(own.tokens.ravel())
            sentences.append(own.sentences[1:] + token)
            firsts.append(own.firsts[1:] + sentence)
            starts.append(at + np.cumsum([len(line) for line in lines]))
            token, sentence = token + len(own.tokens), sentence + len(own.sentences) - 1
            at += sum(map(len, lines))
    spool = Spool(path, starts.array())
    return Batch(spool, tokens.array().reshape(-1, 2), sentences.array(), firsts.array())


def line_of(document: Document) -> bytes:
    """Return the line of a document.

    Raises:
        UsageError: its ``meta`` is not of JSON.
    """
    try:
        return json.dumps(to_record(document), separators=(",", ":")).encode("ascii") + b"\n"
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"document {clip(document.id)} cannot be kept on disk: {error}; leave out of its meta what is not of JSON"
        ) from None


def _document(record: dict[str, Any]) -> Document:
    """Return the document of a line as it was; what a reader of others' files checks is not asked of it."""
    mentions = [
        Mention(one["type"], one["spans"], **{name: one[name] for name in one if name not in ("type", "spans")})
        for one in record["mentions"]
    ]
    sections = [(one["name"], one["span"]) for one in record.get("sections", ())]
    return Document(
        record["text"], record.get("id", ""), record["tokens"], record["sentences"], record.get("columns", {}),
        mentions, record.get("meta", {}), sections,
    )  # fmt: skip
