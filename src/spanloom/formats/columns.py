"""Column files: one token a line, blank lines between sentences, tags in BIO, IOB1, BILOU or BIOES.

``-DOCSTART-`` and ``# newdoc id = ...`` start a document; a sentence before the first of them is a document of its
own. ``# text = ...`` gives the sentence's text, if its tokens stand in it; without it, tokens are joined by
one space and sentences by a line end. Other comments are kept in ``Document.meta["comments"]``, a list for each
sentence. A line that starts with ``#`` and a blank is a comment before the first token of a sentence, unless it has
the fields of a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

from spanloom.document import from_tags
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError
from spanloom.formats.base import Format, Scanned, no_document
from spanloom.formats.blocks import GLOBAL_COLUMNS, NEW_DOCUMENT, TEXT, Block, Line, Sentence, scan_blocks, stand_in
from spanloom.formats.columns_writer import DOCSTART, write
from spanloom.formats.layout import (
    CHUNK,
    TAG,
    Layout,
    bad_tag,
    guessed_layout,
    is_comment,
    named_layout,
    shown_names,
    split,
    typed,
)
from spanloom.formats.source import decode, raw_lines

_LOOK = 50  # sentences from which the layout is guessed


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
        line = next((block.lines[0].number for block in first if block.lines), None)
        yield Scanned(None, [Problem("error", "columns", layout, path=name, line=line)], name)
        return
    told = [] if columns is not None else _guessed(layout, name, first)
    read = partial(_sentence, layout=layout)
    yield from scan_blocks(path, chain(first, blocks), read, loose=True, stem=stem, told=told)


def _layout(blocks: list[Block], columns: Sequence[str] | None) -> Layout | str:
    sentences = [[line.text for line in block.lines] for block in blocks if block.lines]
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


def _guessed(layout: Layout, path: str, blocks: list[Block]) -> Iterator[Problem]:
    """What is not plain about a layout that was guessed."""
    if CHUNK in layout.names:
        message = (
            f"column {layout.names.index(CHUNK) + 1} holds chunks such as NP, which are no mentions; the columns are "
            f"read as {' '.join(layout.names)}, and can be named otherwise (--columns, columns=)"
        )
        line = next(block.lines[0].number for block in blocks if block.lines)
        yield Problem("warning", "columns of chunks", message, path=path, line=line, altered=True)


def _blocks(path: str | Path) -> Iterator[Block]:
    block = Block()
    for number, raw in raw_lines(path):
        try:
            line = decode(raw, path, number).rstrip("\r\n")
        except DataError as error:
            block.problems.append(Problem("error", "unreadable", error.message, path=str(path), line=number))
            continue
        block.number = block.number or number
        if not line.strip(" \t"):
            if block.lines:
                yield block
                block = Block()
        elif (name := _docstart(line)) is not None:
            if block.lines or block.new is not None:
                yield block
                block = Block(number=number)
            block.new, block.numbered = name, not name
        elif not block.lines and is_comment(line):
            if line.startswith(NEW_DOCUMENT) and block.new is not None:
                yield block
                block = Block(number=number)
            _comment(block, line)
        else:
            block.lines.append(Line(number, line))
    if block.lines or block.problems or block.comments or block.new is not None:
        yield block


def _docstart(line: str) -> str | None:
    """The identifier on a ``-DOCSTART-`` line, empty if it has none; ``None`` if it is another line."""
    if not line.startswith(DOCSTART) or split(line, tabs=False)[0] != DOCSTART:
        return None
    rest = line.removeprefix(DOCSTART).strip()
    return rest[1:-1] if rest.startswith("(") and rest.endswith(")") else ""


def _comment(block: Block, line: str) -> None:
    if line.startswith(NEW_DOCUMENT):
        rest = line.removeprefix(NEW_DOCUMENT).strip()
        block.new = rest.removeprefix("id").strip().removeprefix("=").strip() if rest.startswith("id") else ""
    elif line.startswith(TEXT):
        block.text = line.removeprefix(TEXT)
    else:
        block.comments.append(line)


def _sentence(block: Block, layout: Layout) -> Sentence:
    """A sentence of the lines that are sound; the others are problems of it."""
    problems: list[Problem] = []
    rows = _rows(block, layout, problems)
    text, offsets = _text([row[layout.word] for row in rows], block, problems)
    columns = {name: [row[i] for row in rows] for name, i in layout.others.items()} if rows else {}
    mentions = [
        (kind, offsets[begin][0], offsets[end - 1][1])
        for i in layout.tags
        for begin, end, kind in from_tags([typed(row[i]) for row in rows])
    ]
    return Sentence(text, offsets, columns, mentions, problems)


def _rows(block: Block, layout: Layout, problems: list[Problem]) -> list[list[str]]:
    """The fields of the lines that have the right number of them, with sound words and tags."""
    rows = []
    for i, (number, line) in enumerate(block.lines, start=1):
        row = layout.fields(line)
        message = ""
        if len(row) != len(layout.names):
            message = f"found {len(row)} columns, expected {len(layout.names)} ({shown_names(layout.names)})"
        elif not row[layout.word]:
            message = "the word is empty; expected a token"
        elif wrong := [row[j] for j in layout.tags if not TAG.fullmatch(row[j])]:
            message = bad_tag(wrong[0])
        elif layout.number is not None and row[layout.number] != str(i):
            message = f"found {row[layout.number][:40]!r} in the column of token numbers, expected {i}"
        if message:
            problems.append(Problem("error", "columns", message, line=number))
        else:
            rows.append(row)
    return rows


def _text(words: list[str], block: Block, problems: list[Problem]) -> tuple[str, list[tuple[int, int]]]:
    """The sentence's text and where its tokens stand in it."""
    if block.text is not None:
        for text in (block.text.strip(), block.text):  # a last token may end with a blank
            offsets = stand_in(words, text)
            if offsets is not None:
                return text, offsets
        message = f"the tokens do not stand in '{TEXT}{block.text[:40]}'; they are joined by spaces instead"
        problems.append(Problem("warning", "other text", message, line=block.number, altered=True))
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
