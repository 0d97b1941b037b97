"""One sentence a line, words with spaces between, as the corpora of segmentation contests come.

The text that is read has no spaces, except between two words of Latin letters or digits, where they belong. Blank
lines separate documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.files.output import output_file
from spanloom.formats.base import Format, Losses, Scanned, count_meta, count_unwritten
from spanloom.formats.blocks import Sentence, assemble
from spanloom.formats.source import decode, raw_lines


def scan(path: str | Path) -> Iterator[Scanned]:
    """The documents of a file; their tokens are words."""
    name = str(path)
    sentences: list[Sentence] = []
    start: int | None = None
    found = False
    try:
        for number, raw in raw_lines(path):
            words = decode(raw, path, number).split()
            if words:
                start = start or number
                sentences.append(_sentence(words))
                found = True
            elif start is not None:
                yield Scanned(assemble(sentences, ""), [], name, start)
                sentences, start = [], None
    except DataError as error:
        yield Scanned(None, [Problem("error", "unreadable", error.message, path=name, line=error.line)], name)
        return
    if start is not None:
        yield Scanned(assemble(sentences, ""), [], name, start)
    elif not found:
        message = "the file holds no document; expected a sentence a line, spaces between its words"
        yield Scanned(None, [Problem("error", "empty file", message, path=name)], name)


def _sentence(words: list[str]) -> Sentence:
    text, tokens = "", []
    for word in words:
        if text and _is_latin(text[-1]) and _is_latin(word[0]):
            text += " "
        tokens.append((len(text), len(text) + len(word)))
        text += word
    return Sentence(text, tokens)


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
            if document.tokens is None:
                raise DataError(
                    f"document {clip(document.id)} has no tokens, which are the words of the file", path=path
                )
            words = document.words
            if not words:
                message = (
                    f"document {clip(document.id)} has no words, and would be no document of the file; leave it out"
                )
                raise DataError(message, path=path)
            wrong = next((word for word in words if word.split() != [word]), None)
            if wrong is not None:
                message = f"document {clip(document.id)}: the word {wrong[:40]!r} holds white space; split it"
                raise DataError(message, path=path)
            sentences = [[0, len(words)]] if document.sentences is None else document.sentences.tolist()
            lines = [" ".join(words[first:end]) + "\n" for first, end in sentences if first < end]
            file.write("\n" * (number > 0) + "".join(lines))
            again = "\n".join(_sentence(words[first:end]).text for first, end in sentences if first < end)
            losses.add("texts that differ outside the tokens", int(again != document.text))
            count_unwritten(losses, document, "ids", "columns", "mentions")
            count_meta(losses, document, held=())
    return losses


SPACED = Format("spaced", (".seg",), scan, write)
