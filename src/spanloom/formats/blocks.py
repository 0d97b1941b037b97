"""Block files: sentences between blank lines with comments before them, as in CoNLL-U and character columns."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Document, Mention, Span, align
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.base import (
    ATTRIBUTE_SCORES,
    ATTRIBUTES,
    CONCEPT_SCORES,
    DISCONTIGUOUS,
    TOUCHING,
    Losses,
    Scanned,
    count_mention,
    no_document,
    unwritable,
)
from spanloom.formats.source import decode, output_file, raw_lines

NEW_DOCUMENT = "# newdoc"
TEXT = "# text = "
GLOBAL_COLUMNS = "# global.columns = "
# what tags have no place for
NOT_TAGGED = (
    TOUCHING, "heads", "concepts", "scores", "mention identifiers", ATTRIBUTES, ATTRIBUTE_SCORES, CONCEPT_SCORES,
)  # fmt: skip
TAG = re.compile(r"O|[BIESLUM](?:-.+)?")
NAMES = 120  # characters of the names of columns in a message

UNTYPED = "mention"  # the type of tags that are only a letter
_NOT_IN_FIELDS = re.compile(r"[\t\r\n|]")
_UNREADABLE = re.compile(r"[\r\n\0]")  # in a line
_LINE_ENDS = str.maketrans("\r\n", "  ")


class NumberedLine(NamedTuple):
    """A line with its number."""

    number: int
    text: str


@dataclass(slots=True)
class Block:
    """The lines between two blank lines.

    Args:
        lines: the lines of tokens.
        comments: without the marks of documents and texts.
        text: the sentence's text, if a comment gives it.
        new: the identifier of the document that begins here, "" if it has none; ``None`` where none begins.
        number: of the first line.
        numbered: whether a document without a name begins here.
        problems: of lines that could not be read.
    """

    lines: list[NumberedLine] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    text: str | None = None
    new: str | None = None
    number: int = 0
    numbered: bool = False
    problems: list[Problem] = field(default_factory=list)

    def add_comment(self, line: str) -> None:
        """Take a line that begins a document, gives the sentence's text, or is another comment."""
        if line.startswith(NEW_DOCUMENT):
            self.new = line.removeprefix(NEW_DOCUMENT).strip().removeprefix("id").strip().removeprefix("=").strip()
        elif line.startswith(TEXT):
            self.text = line.removeprefix(TEXT)
        else:
            self.comments.append(line)


def blocks(path: str | Path) -> Iterator[Block]:
    """Yield the blocks of a file.

    Raises:
        DataError: bytes that are not UTF-8, or the file cannot be read.
    """
    block = Block()
    lines = (NumberedLine(number, decode(raw, path, number).rstrip("\r\n")) for number, raw in raw_lines(path))
    for blank, group in groupby(lines, lambda line: not line.text.strip(" \t")):
        for line in () if blank else group:
            block.number = block.number or line.number
            if not line.text.startswith("# ") or block.lines:
                block.lines.append(line)
            else:
                block.add_comment(line.text)
        if block.lines:
            yield block
            block = Block()
    if block.comments or block.new is not None:
        yield block


class FileMention(NamedTuple):
    """A mention at offsets in the text of its sentence.

    Args:
        type: its type.
        spans: start and end of each part.
        head: start and end of its head, if there is one.
        concepts: identifiers.
    """

    type: str
    spans: tuple[tuple[int, int], ...]
    head: tuple[int, int] | None = None
    concepts: tuple[str, ...] = ()

    def at(self, offset: int) -> Mention:
        """Return the mention in the text of the document, where the sentence begins at an offset."""
        spans = [Span(offset + start, offset + end) for start, end in self.spans]
        head = None if self.head is None else Span(offset + self.head[0], offset + self.head[1])
        return Mention(self.type, spans, head=head, concepts=self.concepts)


@dataclass(slots=True)
class FileSentence:
    """A sentence of a file.

    Args:
        text: the sentence's text.
        tokens: start and end in it.
        columns: one value for each token.
        mentions: in the order of the file.
        problems: data that were changed or left out.
    """

    text: str
    tokens: list[tuple[int, int]]
    columns: dict[str, list[str]] = field(default_factory=dict)
    mentions: list[FileMention] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def assemble(sentences: Sequence[FileSentence], name: str, comments: Sequence[Sequence[str]] = ()) -> Document:
    """Assemble a document of sentences, one a line of its text."""
    tokens: list[tuple[int, int]] = []
    bounds: list[tuple[int, int]] = []
    mentions: list[Mention] = []
    at = 0
    for sentence in sentences:
        bounds.append((len(tokens), len(tokens) + len(sentence.tokens)))
        tokens += [(at + start, at + end) for start, end in sentence.tokens]
        mentions += [mention.at(at) for mention in sentence.mentions]
        at += len(sentence.text) + 1
    columns = {
        column: list(chain.from_iterable(s.columns.get(column) or ["_"] * len(s.tokens) for s in sentences))
        for column in dict.fromkeys(name for sentence in sentences for name in sentence.columns)
    }
    meta: dict[str, Any] = {"comments": [list(lines) for lines in comments]} if any(comments) else {}
    return Document(
        "\n".join(sentence.text for sentence in sentences), name, np.array(tokens, np.int64).reshape(-1, 2),
        np.array(bounds, np.int64).reshape(-1, 2), columns, mentions, meta,
    )  # fmt: skip


def scan_blocks(
    path: str | Path, found: Iterable[Block], read: Callable[[Block], FileSentence], *, whole: bool = False,
    stem: str = "", initial: Iterable[Problem] = (),
) -> Iterator[Scanned]:  # fmt: skip
    """Yield the documents of a file of blocks.

    Args:
        path: the file, or ``-``.
        found: its blocks.
        read: makes a `FileSentence` of a block with lines, or raises a `DataError` that names the line.
        whole: whether a file without marks of documents is one document; else each of its sentences is one.
        stem: the name of documents without a name, before their number.
        initial: problems of the file, reported with its first document.
    """
    name, problems, count = str(path), list(initial), 0
    for count, group in enumerate(_of_documents(found, whole), start=1):
        sentences: list[FileSentence] = []
        comments: list[list[str]] = []
        sound = True
        for block in group:
            problems += [replace(problem, path=name) for problem in block.problems]
            own = [comment for comment in block.comments if not comment.startswith(GLOBAL_COLUMNS)]
            if own or block.lines:  # at the end, comments may be without a sentence
                comments.append(own)
            if not block.lines:
                continue
            try:
                sentences.append(read(block))
                problems += [replace(problem, path=name) for problem in sentences[-1].problems]
            except DataError as error:
                sound = False
                problems.append(Problem("error", "columns", error.message, path=name, line=error.line))
        first = group[0]
        title = f"{stem}-{count}" if first.numbered else first.new or ""
        yield Scanned(assemble(sentences, title, comments) if sound else None, problems, name, first.number)
        problems = []
    if not count:
        yield no_document(name, "one token a line")


def _of_documents(found: Iterable[Block], whole: bool) -> Iterator[list[Block]]:
    """Yield the blocks of each document: from a mark to the next, else all of them, or each by itself."""
    group: list[Block] = []
    marked = False
    for block in found:
        if group and (block.new is not None or not (whole or marked)):
            yield group
            group = []
        marked = marked or block.new is not None
        group.append(block)
    if group:
        yield group


def typed(tag: str) -> str:
    """Return a tag with a type, also where it is only a letter."""
    return tag if "-" in tag or tag == "O" else f"{tag}-{UNTYPED}"


def bad_tag(tag: str) -> str:
    """Return the message for an invalid tag."""
    return f"found the tag {clip(tag[:40])}, expected O or a letter of BIO, BILOU or BIOES, '-' and a type"


def shown_names(names: Sequence[str]) -> str:
    """Return the names of columns for a message: the first ones, if there are very many.

    >>> shown_names(["ID", "FORM"]), shown_names(["word"] * 1000)[-11:]
    ('ID FORM', 'word word …')
    """
    shown = " ".join(names[:NAMES])
    return shown if len(shown) <= NAMES else shown[:NAMES].rpartition(" ")[0] + " …"


def stand_in(words: Iterable[str], text: str) -> list[tuple[int, int]] | None:
    """Return the offsets of words in a text with only white space between them; ``None`` if they do not match.

    >>> stand_in(["无", "胸痛"], "无 胸痛")
    [(0, 1), (2, 4)]
    """
    offsets, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            return None
        end = start + len(word)
        offsets.append((start, end))
    return None if text[end:].strip() else offsets


def write_blocks(
    documents: Iterable[Document], path: str | Path, force: bool, lines: Callable[[Document, Losses], Iterator[str]],
    head: str = "",
) -> Losses:  # fmt: skip
    """Write the lines of each document, below a head; return the losses that `lines` counts."""
    losses = Losses()
    with output_file(path, force=force) as file:
        file.write(head)
        for document in documents:
            file.write("".join(f"{line}\n" for line in lines(document, losses)))
    return losses


def new_document(document: Document, losses: Losses) -> str:
    """Return the line that begins a document; white space in its ``id`` becomes single blanks."""
    name = " ".join(document.id.split())
    losses.add("document identifiers with white space", int(name != document.id))
    return f"{NEW_DOCUMENT} id = {name}" if name else NEW_DOCUMENT


def comments_above(
    document: Document, count: int, is_comment: Callable[[str], bool], losses: Losses
) -> list[list[str]]:
    """Return the comments in a document's ``meta`` that can be written above its sentences; the others are lost.

    Args:
        document: with ``meta["comments"]``, a list of lines for each sentence.
        count: of sentences.
        is_comment: function to whether the format's reader takes a line for a comment.
        losses: counts comments that are not written.

    Returns:
        (N,) the lines above each sentence.
    """
    kept = document.meta.get("comments")
    if not (isinstance(kept, list) and len(kept) == count and all(isinstance(lines, list) for lines in kept)):
        losses.add("comments of other sentences", int("comments" in document.meta))
        return [[] for _ in range(count)]
    above: list[list[str]] = []
    for lines in kept or ():
        marked = [str(line) if str(line).startswith("# ") else f"# {line}" for line in lines]
        above.append([line for line in marked if is_comment(line) and not _UNREADABLE.search(line)])
        losses.add("comments that would not read as comments", len(marked) - len(above[-1]))
        losses.add("comments that had no '# '", sum(not str(line).startswith("# ") for line in lines))
    return above


def surface_of(document: Document, words: Sequence[str], first: int, end: int, joint: str = " ") -> str:
    """Return the text of a sentence on one line, or its words, if the text has something else outside of them.

    Args:
        document: tokenized.
        words: all of its words.
        first: the first token of the sentence.
        end: likewise, half-open.
        joint: what is put between words.
    """
    own = words[first:end]
    if document.tokens is None or not own:
        return ""
    text = document.text[int(document.tokens[first, 0]) : int(document.tokens[end - 1, 1])]
    line = text.replace("\r\n", " ").translate(_LINE_ENDS)  # Unicode's other line separators are text
    return joint.join(own) if stand_in(own, line) is None else line


def sentences_of(document: Document) -> list[list[int]]:
    """Return the first and the end token of each sentence; without sentences all tokens are one."""
    return [[0, document.token_count]] if document.sentences is None else list(document.sentences.tolist())


def plain_words(document: Document, path: str | Path) -> list[str]:
    """Return the words of a tokenized document, none of which may hold white space.

    Raises:
        DataError: there are no tokens, or one holds white space.
    """
    if document.tokens is None:
        raise unwritable(document, " has no tokens, which are the words of the file", path)
    if (wrong := next((word for word in document.words if word.split() != [word]), None)) is not None:
        raise unwritable(document, f": the word {wrong[:40]!r} holds white space; split it", path)
    return document.words


def tagged_mentions(
    document: Document, losses: Losses, reserved: re.Pattern[str]
) -> Iterator[tuple[int, int, int, Mention]]:
    """Yield the mentions that are a run of whole tokens in a sentence, as tags need them; the others are lost.

    Args:
        document: tokenized.
        losses: counts the others by reason.
        reserved: what no type may contain.

    Yields:
        The number of the sentence, the first and the end token, and the mention.
    """
    for mention, ranges, sentence in align(document):
        if not mention.type or reserved.search(mention.type):
            losses.add("mentions whose type cannot be written")
        elif ranges is None:
            losses.add("mentions that cut a token")
        elif len(ranges) > 1:
            losses.add(DISCONTIGUOUS)
        elif sentence < 0 and document.sentences is not None:
            losses.add("mentions across sentences")
        else:
            yield max(sentence, 0), ranges[0].first, ranges[0].end, mention


def flat_mentions(document: Document, losses: Losses) -> list[tuple[int, int, str]]:
    """Return the mentions that one column of tags can represent, as first token, end token and type; others are lost.

    Of mentions that overlap, the longer one is kept.
    """
    kept: list[tuple[int, int, str]] = []
    taken: list[tuple[int, int]] = []  # in order, and apart
    found = tagged_mentions(document, losses, _NOT_IN_FIELDS)
    for _, first, end, mention in sorted(found, key=lambda row: (row[1] - row[2], row[1])):
        at = bisect_left(taken, (end, 0))
        if at and taken[at - 1][1] > first:
            losses.add("mentions that overlap a longer one")
            continue
        taken.insert(at, (first, end))
        kept.append((first, end, mention.type))
        count_mention(losses, mention, *NOT_TAGGED)
    return sorted(kept)
