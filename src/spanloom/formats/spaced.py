"""One sentence a line, words with spaces between, as the corpora of segmentation contests come.

The text that is read has no spaces, except between two words of Latin letters or digits, where they belong. Blank
lines separate documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from spanloom.document import Document
from spanloom.formats.base import (
    OTHER_TEXT,
    Losses,
    Scanned,
    count_meta,
    count_unwritten,
    no_document,
    unwritable,
)
from spanloom.formats.blocks import FileSentence, assemble, plain_words, sentences_of
from spanloom.formats.packed import output_file
from spanloom.formats.source import decode, raw_lines


def scan(path: str | Path) -> Iterator[Scanned]:
    """Yield the documents of a file; their tokens are words."""
    name = str(path)
    lines = ((number, decode(raw, path, number).split()) for number, raw in raw_lines(path))
    found = False
    for filled, group in groupby(lines, lambda line: bool(line[1])):
        if filled:
            found = True
            numbers, sentences = zip(*((number, _sentence(words)) for number, words in group), strict=True)
            yield Scanned(assemble(sentences, ""), [], name, numbers[0])
    if not found:
        yield no_document(name, "a sentence a line, spaces between its words")


def _sentence(words: list[str]) -> FileSentence:
    text, tokens = "", []
    for word in words:
        if text and _is_latin(text[-1]) and _is_latin(word[0]):
            text += " "
        tokens.append((len(text), len(text) + len(word)))
        text += word
    return FileSentence(text, tokens)


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write words with one space between; everything else is counted as lost.

    Raises:
        DataError: a document without tokens, or a token that holds white space.
    """
    losses = Losses()
    with output_file(path, force=force) as file:
        for number, document in enumerate(documents):
            words = plain_words(document, path)
            if not words:
                raise unwritable(document, " has no words, and would be no document of the file; leave it out", path)
            sentences = sentences_of(document)
            lines = [" ".join(words[first:end]) + "\n" for first, end in sentences if first < end]
            file.write("\n" * (number > 0) + "".join(lines))
            again = "\n".join(_sentence(words[first:end]).text for first, end in sentences if first < end)
            losses.add(OTHER_TEXT, int(again != document.text))
            count_unwritten(losses, document, "document identifiers", "token columns", "mentions")
            count_meta(losses, document)
    return losses
