"""Column files: one token a line, blank lines between sentences, tags in BIO, IOB1, BILOU or BIOES.

``-DOCSTART-`` and ``# newdoc id = ...`` start a document; a sentence before the first of them is a document of its
own. ``# text = ...`` gives the sentence's text, if its tokens stand in it; without it, tokens are joined by
one space and sentences by a line end. Other comments are kept in ``Document.meta["comments"]``, a list for each
sentence. A line that starts with ``#`` and a blank is a comment before the first token of a sentence, unless it has
the fields of a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from spanloom.document import Document, Mention, Span, from_tags
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError, clip
from spanloom.formats.base import Format, Scanned, no_document
from spanloom.formats.blocks import NEW_DOCUMENT, TEXT, stand_in
from spanloom.formats.columns_writer import DOCSTART, GLOBAL_COLUMNS, write
from spanloom.formats.layout import (
    CHUNK,
    TAG,
    UNTYPED,
    Layout,
    guessed_layout,
    is_comment,
    named_layout,
    shown_names,
    split,
)
from spanloom.formats.source import decode, raw_lines

_LOOK = 50  # sentences from which the layout is guessed


@dataclass(slots=True)
class _Block:
    """The lines between two blank lines."""

    tokens: list[tuple[int, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    text: str | None = None
    line: int = 0
    new: str | None = None  # the identifier of the document that starts here, "" if it has none
    numbered: bool = False  # whether it starts at -DOCSTART-, without an identifier
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class _Parts:
    """A document that is being put together."""

    id: str
    line: int
    texts: list[str] = field(default_factory=list)
    length: int = 0
    tokens: list[tuple[int, int]] = field(default_factory=list)
    sentences: list[tuple[int, int]] = field(default_factory=list)
    columns: dict[str, list[str]] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    comments: list[list[str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def document(self, path: str) -> Scanned:
        meta: dict[str, Any] = {"comments": self.comments} if any(self.comments) else {}
        document = Document("\n".join(self.texts), self.id, columns=self.columns, mentions=self.mentions, meta=meta)
        document.tokens = np.array(self.tokens, dtype=np.int64).reshape(-1, 2)
        document.sentences = np.array(self.sentences, dtype=np.int64).reshape(-1, 2)
        return Scanned(document, self.problems, path, self.line)


def scan(path: str | Path, columns: Sequence[str] | None = None, stem: str = "document") -> Iterator[Scanned]:
    """The documents of a column file.

    Args:
        path: the file, or ``-``.
        columns: the name of each column, such as ``["word", "pos", "tag"]`` (see `spanloom.formats.layout.Layout`);
            guessed from the first sentences if not given.
        stem: what documents are called that begin at ``-DOCSTART-`` without an identifier, before their number:
            "document" in a file of its own, so that gold and predictions are called alike, and the file's name in a
            folder.
    """
    name = str(path)
    blocks = _blocks(path)
    first = list(islice(blocks, _LOOK))
    if not first:
        yield no_document(name, "one token a line")
        return
    layout = _layout(first, columns)
    if isinstance(layout, str):
        line = next((block.tokens[0][0] for block in first if block.tokens), None)
        yield Scanned(None, [Problem("error", "columns", layout, path=name, line=line)], name)
        return
    told = [] if columns is not None else list(_guessed(layout, name, first))
    parts: _Parts | None = None
    marked, count = False, 0
    for block in chain(first, blocks):
        if parts is not None and (block.new is not None or not marked):
            yield parts.document(name)
            parts = None
        marked = marked or block.new is not None
        if parts is None:
            count += 1
            title = f"{stem}-{count}" if block.numbered else block.new or ""
            parts = _Parts(title, block.line, problems=told)
            told = []
        _add(parts, block, layout, name)
    if parts is not None:
        yield parts.document(name)


def _layout(blocks: list[_Block], columns: Sequence[str] | None) -> Layout | str:
    sentences = [[text for _, text in block.tokens] for block in blocks if block.tokens]
    tabs = bool(sentences) and "\t" in sentences[0][0]
    width = len(split(sentences[0][0], tabs)) if sentences else None
    if columns is not None:
        return named_layout(columns, tabs, width)
    for comment in (comment for block in blocks for comment in block.comments):
        if comment.startswith(GLOBAL_COLUMNS):
            try:
                return named_layout(comment.removeprefix(GLOBAL_COLUMNS).split(), tabs, width)
            except UsageError as error:
                return str(error)
    return guessed_layout(sentences) if sentences else Layout(("word",), tabs)


def _guessed(layout: Layout, path: str, blocks: list[_Block]) -> Iterator[Problem]:
    """What is not plain about a layout that was guessed."""
    if CHUNK in layout.names:
        message = (
            f"column {layout.names.index(CHUNK) + 1} holds chunks such as NP, which are no mentions; the columns are "
            f"read as {' '.join(layout.names)}, and can be named otherwise (--columns, columns=)"
        )
        line = next(block.tokens[0][0] for block in blocks if block.tokens)
        yield Problem("warning", "columns of chunks", message, path=path, line=line, altered=True)


def _blocks(path: str | Path) -> Iterator[_Block]:
    block = _Block()
    for number, raw in raw_lines(path):
        try:
            line = decode(raw, path, number).rstrip("\r\n")
        except DataError as error:
            block.problems.append(Problem("error", "unreadable", error.message, path=str(path), line=number))
            continue
        block.line = block.line or number
        if not line.strip(" \t"):
            if block.tokens:
                yield block
                block = _Block()
        elif (name := _docstart(line)) is not None:
            if block.tokens or block.new is not None:
                yield block
                block = _Block(line=number)
            block.new, block.numbered = name, not name
        elif not block.tokens and is_comment(line):
            if line.startswith(NEW_DOCUMENT) and block.new is not None:
                yield block
                block = _Block(line=number)
            _comment(block, line)
        else:
            block.tokens.append((number, line))
    if block.tokens or block.problems or block.comments or block.new is not None:
        yield block


def _docstart(line: str) -> str | None:
    """The identifier on a ``-DOCSTART-`` line, empty if it has none; ``None`` if it is another line."""
    if not line.startswith(DOCSTART) or split(line, tabs=False)[0] != DOCSTART:
        return None
    rest = line.removeprefix(DOCSTART).strip()
    return rest[1:-1] if rest.startswith("(") and rest.endswith(")") else ""


def _comment(block: _Block, line: str) -> None:
    if line.startswith(NEW_DOCUMENT):
        rest = line.removeprefix(NEW_DOCUMENT).strip()
        block.new = rest.removeprefix("id").strip().removeprefix("=").strip() if rest.startswith("id") else ""
    elif line.startswith(TEXT):
        block.text = line.removeprefix(TEXT)
    else:
        block.comments.append(line)


def _add(parts: _Parts, block: _Block, layout: Layout, path: str) -> None:
    parts.problems += block.problems
    rows = _rows(block, layout, parts.problems, path)
    if not block.tokens:
        if any(not comment.startswith(GLOBAL_COLUMNS) for comment in block.comments):
            parts.comments.append(block.comments)
        return
    comments = [comment for comment in block.comments if not comment.startswith(GLOBAL_COLUMNS)]
    words = [row[layout.word] for row in rows]
    text, offsets = _text(words, block, parts.problems, path)
    start = parts.length + bool(parts.texts)
    first = len(parts.tokens)
    parts.tokens += [(start + begin, start + end) for begin, end in offsets]
    parts.texts.append(text)
    parts.length = start + len(text)
    parts.sentences.append((first, first + len(rows)))
    parts.comments.append(comments)
    if not rows:
        return
    for name, i in layout.others.items():
        parts.columns.setdefault(name, []).extend(row[i] for row in rows)
    for i in layout.tags:
        for begin, end, kind in from_tags([_typed(row[i]) for row in rows]):
            span = Span(parts.tokens[first + begin][0], parts.tokens[first + end - 1][1])
            parts.mentions.append(Mention(kind, (span,)))


def _rows(block: _Block, layout: Layout, problems: list[Problem], path: str) -> list[list[str]]:
    """The fields of the lines that have the right number of them, with sound words and tags."""
    rows = []
    for i, (number, line) in enumerate(block.tokens, start=1):
        row = layout.fields(line)
        message = ""
        if len(row) != len(layout.names):
            message = f"found {len(row)} columns, expected {len(layout.names)} ({shown_names(layout.names)})"
        elif not row[layout.word]:
            message = "the word is empty; expected a token"
        elif wrong := [row[j][:40] for j in layout.tags if not TAG.fullmatch(row[j])]:
            message = f"found the tag {clip(wrong[0])}, expected O or a letter of BIO, BILOU or BIOES, '-' and a type"
        elif layout.number is not None and row[layout.number] != str(i):
            message = f"found {row[layout.number][:40]!r} in the column of token numbers, expected {i}"
        if message:
            problems.append(Problem("error", "columns", message, path=path, line=number))
        else:
            rows.append(row)
    return rows


def _typed(tag: str) -> str:
    return tag if "-" in tag or tag == "O" else f"{tag}-{UNTYPED}"


def _text(words: list[str], block: _Block, problems: list[Problem], path: str) -> tuple[str, list[tuple[int, int]]]:
    """The sentence's text and where its tokens stand in it."""
    if block.text is not None:
        for text in (block.text.strip(), block.text):  # a last token may end with a blank
            offsets = stand_in(words, text)
            if offsets is not None:
                return text, offsets
        message = f"the tokens do not stand in '{TEXT}{block.text[:40]}'; they are joined by spaces instead"
        problems.append(Problem("warning", "other text", message, path=path, line=block.line, altered=True))
    offsets, start = [], 0
    for word in words:
        offsets.append((start, start + len(word)))
        start += len(word) + 1
    return " ".join(words), offsets


COLUMNS = Format(
    "conll",
    (".conll", ".iob2", ".bio"),
    scan,
    write,
    named_by_file=True,
    scan_options=("columns",),
    write_options=("scheme",),
)
