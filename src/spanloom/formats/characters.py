"""Segmented text: character columns, and lines of words with spaces between (at the end of this module).

Character columns have one character a line, its place in a word, and optionally the tag of a mention.

::

    # newdoc id = note-1
    # text = 无 胸痛
    无	S	O
    胸	B	B-problem
    痛	E	I-problem

Places are B, I (or M), E and S; tags are those of `spanloom.formats.conllu`'s entity column, over characters. Tabs
separate fields, blank lines sentences. White space is kept in ``# text = ``; without that line the characters are
joined without spaces. A file without marks of documents is one document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path

from spanloom.document import Document, from_tags, to_bio
from spanloom.errors import DataError
from spanloom.formats.base import (
    OTHER_TEXT,
    Losses,
    Scanned,
    count_unwritten,
    no_document,
    unwritable,
)
from spanloom.formats.blocks import (
    TAG,
    TEXT,
    Block,
    FileMention,
    FileSentence,
    assemble,
    blocks,
    flat_mentions,
    new_document,
    plain_words,
    scan_blocks,
    sentences_of,
    stand_in,
    surface_of,
    typed,
    write_blocks,
)
from spanloom.formats.source import decode, output_file, raw_lines


def scan_spaced(path: str | Path) -> Iterator[Scanned]:
    """Yield the documents of a file; their tokens are words."""
    name = str(path)
    lines = ((number, decode(raw, path, number).split()) for number, raw in raw_lines(path))
    found = False
    for filled, group in groupby(lines, lambda line: bool(line[1])):
        if filled:
            found = True
            numbers, sentences = zip(*((number, _of_words(words)) for number, words in group), strict=True)
            yield Scanned(assemble(sentences, ""), [], name, numbers[0])
    if not found:
        yield no_document(name, "a sentence a line, spaces between its words")


def _of_words(words: list[str]) -> FileSentence:
    text, tokens = "", []
    for word in words:
        if text and all(one.isascii() and one.isalnum() for one in (text[-1], word[0])):
            text += " "
        tokens.append((len(text), len(text) + len(word)))
        text += word
    return FileSentence(text, tokens)


def write_spaced(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write words with one space between; everything else is counted as lost.

    Raises:
        DataError: a document without tokens, or a token that holds white space.
    """
    losses = Losses()
    with output_file(path, force=force) as file:
        for number, document in enumerate(documents):
            if not (words := plain_words(document, path)):
                raise unwritable(document, " has no words, and would be no document of the file; leave it out", path)
            sentences = sentences_of(document)
            lines = [" ".join(words[first:end]) + "\n" for first, end in sentences if first < end]
            file.write("\n" * (number > 0) + "".join(lines))
            again = "\n".join(_of_words(words[first:end]).text for first, end in sentences if first < end)
            losses.add(OTHER_TEXT, int(again != document.text))
            count_unwritten(losses, document, "document identifiers", "token columns", "mentions")
    return losses


_BEFORE = {"B": "ES", "S": "ES", "I": "BI", "E": "BI"}  # what may precede a place; ES also begins a sentence


def scan_characters(path: str | Path) -> Iterator[Scanned]:
    """Yield the documents of a file of characters; their tokens are words."""
    return scan_blocks(path, blocks(path), _sentence, whole=True)


def _sentence(block: Block) -> FileSentence:
    rows: list[list[str]] = []
    before = "E"
    for number, line in block.lines:
        row = line.split("\t")
        place = row[1].replace("M", "I") if len(row) > 1 else ""
        if len(row) not in (2, 3) or len(row[0]) != 1 or len(row) != len(rows[0] if rows else row):
            message = f"found {line[:40]!r}, expected a character, its place in a word and perhaps a tag, between tabs"
            raise DataError(message, line=number)
        if place not in _BEFORE or before not in _BEFORE[place]:
            message = f"found the place {row[1][:20]!r} after {before!r}, expected B, I (or M), E or S in their order"
            raise DataError(message, line=number)
        if len(row) == 3 and not TAG.fullmatch(row[2]):
            raise DataError(f"found the tag {row[2][:40]!r}, expected O, or B, '-' and a type and such", line=number)
        before = place
        rows.append([row[0], place, *row[2:]])
    if before not in "ES":
        raise DataError(f"the sentence ends inside a word, at the place {before!r}", line=block.lines[-1].number)
    characters = [row[0] for row in rows]
    text = "".join(characters) if block.text is None else block.text
    if (offsets := stand_in(characters, text)) is None:
        raise DataError(f"the characters are not in '{TEXT}{text[:40]}'", line=block.lines[0].number)
    starts = [start for (start, _), row in zip(offsets, rows, strict=True) if row[1] in "BS"]
    ends = [end for (_, end), row in zip(offsets, rows, strict=True) if row[1] in "ES"]
    tags = [typed(row[2]) for row in rows if len(row) == 3]
    mentions = [FileMention(kind, ((offsets[first][0], offsets[end - 1][1]),)) for first, end, kind in from_tags(tags)]
    return FileSentence(text, list(zip(starts, ends, strict=True)), {}, mentions)


def write_characters(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write characters, places and BIO tags.

    Raises:
        DataError: a document without tokens, or a token that holds white space.
    """
    return write_blocks(documents, path, force, partial(_lines, path))


def _lines(path: str | Path, document: Document, losses: Losses) -> Iterator[str]:
    words = plain_words(document, path)
    yield new_document(document, losses)
    flat = flat_mentions(document, losses)
    at = list(accumulate(map(len, words), initial=0))
    tags = to_bio([(at[first], at[end], kind) for first, end, kind in flat], at[-1])
    lines = []
    for first, end in sentences_of(document):
        if first == end:
            continue
        lines.append(surface_of(document, words, first, end, joint=""))
        if lines[-1] != "".join(words[first:end]):
            yield TEXT + lines[-1]
        for word, start in zip(words[first:end], at[first:end], strict=True):
            places = "S" if len(word) == 1 else "B" + "I" * (len(word) - 2) + "E"
            yield from (f"{c}\t{p}\t{tag}" for c, p, tag in zip(word, places, tags[start:], strict=False))
        yield ""
    losses.add(OTHER_TEXT, int("\n".join(lines) != document.text))
    count_unwritten(losses, document, "token columns")
