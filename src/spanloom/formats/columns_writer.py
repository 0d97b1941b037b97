"""Writing column files: mentions spread over as many tag columns as their nesting needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from spanloom.document import Document, Offsets, to_bilou, to_bio
from spanloom.errors import DataError, UsageError
from spanloom.files.output import output_file, scratch_file, writing
from spanloom.formats.base import BAD_TYPE, OTHER_TEXT, Losses, count_mention, count_meta, unwritable
from spanloom.formats.blocks import (
    GLOBAL_COLUMNS,
    NEW_DOCUMENT,
    NOT_TAGGED,
    TEXT,
    comments_above,
    new_document,
    sentences_of,
    stand_in,
    tagged_mentions,
)
from spanloom.formats.layout import is_comment

DOCSTART = "-DOCSTART-"

_SCHEMES = {"bio": to_bio, "bilou": to_bilou}
_UNWRITABLE = re.compile(r"[\t\n\r]")
_Levels = list[list[tuple[int, int, str]]]


def write(documents: Iterable[Document], path: str | Path, force: bool = False, scheme: str = "bio") -> Losses:
    """Write words, columns and tags, separated by tabs.

    A mention needs a run of whole tokens in one sentence; the others are counted as losses by the reason. The columns
    of the first document are those of the file.

    Args:
        documents: tokenized.
        path: the file, or ``-``.
        force: replace a file that is there.
        scheme: ``"bio"`` or ``"bilou"``.

    Raises:
        DataError: a document without tokens, or a token with a tab or a line end in it.
    """
    if scheme not in _SCHEMES:
        raise UsageError(f"found the tag scheme {scheme!r}, expected one of: {', '.join(_SCHEMES)}")
    losses = Losses()
    with output_file(path, force=force) as file, scratch_file(path) as spool:
        names: list[str] | None = None
        depth, plain = 1, True  # plain: no document needed a line to mark where it starts
        for document in documents:
            names = list(document.columns) if names is None else names
            _check(document, path)
            plain = plain and _is_one_sentence(document)
            with writing(path):
                depth = max(depth, _spool(document, names, scheme, not plain, losses, spool))
        if names or depth > 1:  # what a reader would have to guess is said
            _check_names(names or (), path)
            file.write(f"{GLOBAL_COLUMNS}{' '.join(['word', *(names or ()), *['tag'] * depth])}\n")
        width = 1 + len(names or ()) + depth
        with writing(path):
            spool.seek(0)
        for line in spool:
            missing = width - 1 - line.count(b"\t")
            is_token = line != b"\n" and missing < width - 1
            file.write(line[:-1] + b"\tO" * missing + b"\n" if is_token else line)
    return losses


def _is_one_sentence(document: Document) -> bool:
    """Whether a document needs no line that says where it starts."""
    sentences = document.sentences if document.sentences is not None else [document.tokens]
    return not document.id and len(sentences) == 1 and bool(document.words)


def _check(document: Document, path: str | Path) -> None:
    if document.tokens is None:
        raise unwritable(document, " has no tokens, which column files need; tokenize it first", path)
    values = chain(document.words, *document.columns.values())
    wrong = next((value for value in values if not value or _UNWRITABLE.search(value)), None)
    if wrong is None:
        wrong = next((word for word in document.words if _begins_otherwise(word)), None)
    if wrong is not None:
        raise unwritable(document, f": a column file cannot hold the value {wrong[:40]!r}; change or remove it", path)


def _begins_otherwise(word: str) -> bool:
    """Whether a line that begins with this word would not be read as that of a token."""
    return word.split(maxsplit=1)[:1] == [DOCSTART] or is_comment(f"{word}\tO")


def _check_names(names: Sequence[str], path: str | Path) -> None:
    wrong = next(
        (name for name in names if not name or name in ("word", "tag", "id", "_") or re.search(r"\s", name)), None
    )
    if wrong is not None:
        raise DataError(f"a column file cannot hold a column called {wrong!r}; rename it", path=path)


def _spool(document: Document, names: list[str], scheme: str, marked: bool, losses: Losses, spool: BinaryIO) -> int:
    """Write the lines of a document, with the tag columns that it needs; how many those are."""
    tokens = document.tokens
    if tokens is None:
        raise AssertionError("checked before")
    sentences = sentences_of(document)
    levels = _levels(document, sentences, losses)
    comments = comments_above(document, len(sentences), _reads_as_comment, losses)
    words = document.words
    columns = [document.columns.get(name, ["_"] * len(words)) for name in names]
    losses.add("token columns", len(document.columns.keys() - set(names)))
    lines = [new_document(document, losses)] if marked else []
    texts = []
    for (first, end), sentence, above in zip(sentences, levels, comments, strict=True):
        lines += above
        texts.append(_text(document.text, tokens, words, first, end))
        if texts[-1] != " ".join(words[first:end]):
            lines.append(TEXT + texts[-1])
        tags = [_SCHEMES[scheme](level, end - first) for level in sentence or [[]]]
        rows = zip(words[first:end], *(column[first:end] for column in columns), *tags, strict=True)
        lines += map("\t".join, rows)
        lines.append("")
    spool.write("".join(line + "\n" for line in lines).encode("utf-8"))
    losses.add(OTHER_TEXT, int("\n".join(texts) != document.text))
    count_meta(losses, document, held=("comments",))
    return max((len(sentence) for sentence in levels), default=1)


def _levels(document: Document, sentences: Sequence[Sequence[int]], losses: Losses) -> list[_Levels]:
    """For each sentence its mentions in levels without overlap, longer ones first."""
    levels: list[_Levels] = [[] for _ in sentences]
    ranges = []
    for sentence, first, end, mention in tagged_mentions(document, losses, "\t\n\r", BAD_TYPE):
        ranges.append((sentence, first, -end, mention.type))
        count_mention(losses, mention, *NOT_TAGGED)
    for sentence, first, negative, kind in sorted(ranges):
        start = sentences[sentence][0]
        item = (first - start, -negative - start, kind)
        level = next((level for level in levels[sentence] if level[-1][1] <= item[0]), None)
        if level is None:
            levels[sentence].append([item])
        else:
            level.append(item)
    return levels


def _reads_as_comment(line: str) -> bool:
    return is_comment(line) and not line.startswith((NEW_DOCUMENT, TEXT, GLOBAL_COLUMNS))


def _text(text: str, tokens: Offsets, words: list[str], first: int, end: int) -> str:
    """The sentence as it stands in the text if one line can hold it, and a reader finds the words in it; else these."""
    if first == end:
        return ""
    surface = text[int(tokens[first, 0]) : int(tokens[end - 1, 1])]
    if _UNWRITABLE.search(surface) or stand_in(words[first:end], surface) is None:
        return " ".join(words[first:end])
    return surface
