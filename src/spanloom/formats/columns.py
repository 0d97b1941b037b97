"""Column files: one token a line, blank lines between sentences, tags in BIO, IOB1, BILOU or BIOES.

``-DOCSTART-`` and ``# newdoc id = ...`` start a document; a sentence before the first of them is a document of its
own. ``# text = ...`` gives the sentence's text, if its tokens stand in it; without it, tokens are joined by
one space and sentences by a line end. Other comments are kept in ``Document.meta["comments"]``, a list for each
sentence. A line that starts with ``#`` and a blank is a comment before the first token of a sentence, unless it has
the fields of a token.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from spanloom.document import Document, Offsets, from_tags, to_bilou, to_bio
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError, clip
from spanloom.files.output import scratch_file, writing
from spanloom.formats.base import (
    BAD_TYPE,
    OTHER_TEXT,
    Format,
    Losses,
    Scanned,
    count_mention,
    count_meta,
    no_document,
    unwritable,
)
from spanloom.formats.blocks import (
    GLOBAL_COLUMNS,
    NAMES,
    NEW_DOCUMENT,
    NOT_TAGGED,
    TAG,
    TEXT,
    Block,
    FileSentence,
    NumberedLine,
    bad_tag,
    comments_above,
    new_document,
    scan_blocks,
    sentences_of,
    shown_names,
    stand_in,
    tagged_mentions,
    typed,
)
from spanloom.formats.packed import output_file
from spanloom.formats.source import decode, raw_lines

_LOOK = 50  # sentences from which the layout is guessed
DOCSTART = "-DOCSTART-"

_SCHEMES = {"bio": to_bio, "bilou": to_bilou}
_UNWRITABLE = re.compile(r"[\t\n\r]")
_Levels = list[list[tuple[int, int, str]]]
CHUNK = "chunk"  # the column of phrases in the files of CoNLL-2003
_BEFORE_CHUNKS = {1: ["pos"], 2: ["lemma", "pos"]}  # how many columns stand between words and chunks: their names
_SPECIAL = ("word", "tag", "id", "_")
_NUMBER = re.compile(r"[0-9]+")
_FIELDS = re.compile(r"[ \t]+")
_KEYED = re.compile(r"# (newdoc|newpar|\S+ =)")
_MOST_FIELDS = 5  # of a token that looks like a comment
# the types of CoNLL-2000 and of CoNLL-2003, English and German
_CHUNKS = {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP", "NC", "VC", "PC", "AC"}


def scan(path: str | Path, columns: Sequence[str] | None = None, stem: str = "document") -> Iterator[Scanned]:
    """Yield the documents of a column file.

    Args:
        path: the file, or ``-``.
        columns: the name of each column, such as ``["word", "pos", "tag"]`` (see `ColumnLayout`);
            guessed from the first sentences if not given.
        stem: the name, before their number, of documents that begin at ``-DOCSTART-`` without an identifier:
            "document" in a single file, so that gold and predictions have equal names, and the file's name in a
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
    initial = [] if columns is not None else _guessed(layout, name, first)
    read = partial(_sentence, layout=layout)
    yield from scan_blocks(path, chain(first, blocks), read, loose=True, stem=stem, initial=initial)


def _layout(blocks: list[Block], columns: Sequence[str] | None) -> ColumnLayout | str:
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
    return guessed_layout(sentences) if sentences else ColumnLayout(("word",), tabs)


def _guessed(layout: ColumnLayout, path: str, blocks: list[Block]) -> Iterator[Problem]:
    """Yield warnings about the ambiguities of a guessed layout."""
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
            block.lines.append(NumberedLine(number, line))
    if block.lines or block.problems or block.comments or block.new is not None:
        yield block


def _docstart(line: str) -> str | None:
    """Return the identifier of a ``-DOCSTART-`` line, empty if it has none; ``None`` for another line."""
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


def _sentence(block: Block, layout: ColumnLayout) -> FileSentence:
    """Return a sentence of the valid lines; the others are its problems."""
    problems: list[Problem] = []
    rows = _rows(block, layout, problems)
    text, offsets = _text([row[layout.word] for row in rows], block, problems)
    columns = {name: [row[i] for row in rows] for name, i in layout.others.items()} if rows else {}
    mentions = [
        (kind, offsets[begin][0], offsets[end - 1][1])
        for i in layout.tags
        for begin, end, kind in from_tags([typed(row[i]) for row in rows])
    ]
    return FileSentence(text, offsets, columns, mentions, problems)


def _rows(block: Block, layout: ColumnLayout, problems: list[Problem]) -> list[list[str]]:
    """Return the fields of the lines with the right number of fields, and valid words and tags."""
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
    """Return the sentence's text and the offsets of its tokens."""
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


def write(documents: Iterable[Document], path: str | Path, force: bool = False, scheme: str = "bio") -> Losses:
    """Write words, columns and tags, separated by tabs.

    A mention needs a run of whole tokens in one sentence; the others are counted as losses by reason. The columns
    of the first document are those of the file.

    Args:
        documents: tokenized.
        path: the file, or ``-``.
        force: replace an existing file.
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
    """Return whether a document needs no line that marks its start."""
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
    """Return whether a line that begins with this word would not be read as that of a token."""
    return word.split(maxsplit=1)[:1] == [DOCSTART] or is_comment(f"{word}\tO")


def _check_names(names: Sequence[str], path: str | Path) -> None:
    wrong = next(
        (name for name in names if not name or name in ("word", "tag", "id", "_") or re.search(r"\s", name)), None
    )
    if wrong is not None:
        raise DataError(f"a column file cannot hold a column called {wrong!r}; rename it", path=path)


def _spool(document: Document, names: list[str], scheme: str, marked: bool, losses: Losses, spool: BinaryIO) -> int:
    """Write the lines of a document, with the tag columns that it needs; return their number."""
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
        texts.append(_surface(document.text, tokens, words, first, end))
        if texts[-1] != " ".join(words[first:end]):
            lines.append(TEXT + texts[-1])
        tags = [_SCHEMES[scheme](level, end - first) for level in sentence or [[]]]
        rows = zip(words[first:end], *(column[first:end] for column in columns), *tags, strict=True)
        lines += map("\t".join, rows)
        lines.append("")
    spool.write("".join(line + "\n" for line in lines).encode("utf-8"))
    losses.add(OTHER_TEXT, int("\n".join(texts) != document.text))
    count_meta(losses, document, "comments")
    return max((len(sentence) for sentence in levels), default=1)


def _levels(document: Document, sentences: Sequence[Sequence[int]], losses: Losses) -> list[_Levels]:
    """Return for each sentence its mentions in levels without overlap, longer ones first."""
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


def _surface(text: str, tokens: Offsets, words: list[str], first: int, end: int) -> str:
    """Return the sentence's text if one line can hold it and a reader finds the words in it; else the words."""
    if first == end:
        return ""
    surface = text[int(tokens[first, 0]) : int(tokens[end - 1, 1])]
    if _UNWRITABLE.search(surface) or stand_in(words[first:end], surface) is None:
        return " ".join(words[first:end])
    return surface


@dataclass(frozen=True)
class ColumnLayout:
    """The columns of a file.

    Args:
        names: one for each column: ``"word"``, ``"tag"`` (several are nested levels), ``"id"`` (numbers that are not
            kept), ``"_"`` (skipped), or the name of a column of the document, such as ``"pos"``.
        tabs: whether fields are separated by single tabs; otherwise by any blanks.
    """

    names: tuple[str, ...]
    tabs: bool

    def fields(self, line: str) -> list[str]:
        """Return the fields of a line."""
        return split(line, self.tabs)

    @cached_property
    def word(self) -> int:
        """The index of the word column."""
        return self.names.index("word")

    @cached_property
    def tags(self) -> list[int]:
        """The indices of the tag columns."""
        return [i for i, name in enumerate(self.names) if name == "tag"]

    @cached_property
    def number(self) -> int | None:
        """The index of the column of token numbers, if there is one."""
        return self.names.index("id") if "id" in self.names else None

    @cached_property
    def others(self) -> dict[str, int]:
        """The columns of the document: name -> index."""
        return {name: i for i, name in enumerate(self.names) if name not in _SPECIAL}


def split(line: str, tabs: bool) -> list[str]:
    """Return the fields of a line, at tabs or at any blanks."""
    return line.split("\t") if tabs else _FIELDS.split(line.strip(" \t"))


def is_comment(line: str) -> bool:
    """Return whether a line before a sentence's first token is a comment, and not the token ``#``.

    >>> is_comment("# seen today"), is_comment("# text = No pain"), is_comment("# NN O")
    (True, True, False)
    """
    if not line.startswith("# "):
        return False
    if _KEYED.match(line):
        return True
    fields = split(line, tabs=False)
    return "\t" not in line and not (len(fields) <= _MOST_FIELDS and TAG.fullmatch(fields[-1]))


def named_layout(columns: Sequence[str], tabs: bool, width: int | None = None) -> ColumnLayout:
    """Return the layout given by the user or by the file's ``# global.columns`` line.

    Args:
        columns: one name each; ``tag*`` at the end stands for as many columns of tags as there are.
        tabs: whether fields are separated by single tabs.
        width: the number of columns of the file, if known.

    Raises:
        UsageError: no word column, or two columns of one name.
    """
    names = tuple(columns)
    if names[-1:] == ("tag*",):
        names = (*names[:-1], *("tag",) * max(1, (width or 0) - len(names) + 1))
    if names.count("word") != 1:
        raise UsageError(
            f"columns are {clip(' '.join(names), NAMES)}; expected one 'word' among them, such as 'word pos tag'"
        )
    counts = Counter(names)
    twice = next((name for name in counts if name not in ("tag", "_") and counts[name] > 1), None)
    if twice is not None:
        raise UsageError(f"columns name {clip(twice)} twice; only 'tag' (nested levels) and '_' (skipped) may repeat")
    return ColumnLayout(names, tabs)


def guessed_layout(sentences: Sequence[Sequence[str]]) -> ColumnLayout | str:
    """Guess the layout from the first sentences; return a message if none fits.

    The first column is the word, or the second if the first one counts the tokens from 1. The last column holds tags,
    and so do the columns right before it, as long as they look like tags (nested levels). If the last column holds
    something else, the last ones that look like tags count. The first of several columns of tags holds no mentions if
    its types are those of phrases (NP, VP), as in the files of CoNLL-2003: it is called ``chunk``, and columns
    before it ``pos``, or ``lemma`` and ``pos``. Other columns are called ``column3`` and so on. A column
    of tags has more than half of them valid: one wrong tag must not hide a column, it is reported with its line.

    Args:
        sentences: the lines of each sentence.

    >>> guessed_layout([["EU NNP B-ORG", "rejects VBZ O"]])
    ColumnLayout(names=('word', 'column2', 'tag'), tabs=False)
    >>> guessed_layout([["1\\tEU\\tB-ORG\\tO\\t-", "2\\trejects\\tO\\tO\\t-"]])
    ColumnLayout(names=('id', 'word', 'tag', 'tag', 'column5'), tabs=True)
    >>> guessed_layout([["EU NNP I-NP I-ORG", "rejects VBZ I-VP O"]])
    ColumnLayout(names=('word', 'pos', 'chunk', 'tag'), tabs=False)
    """
    tabs = "\t" in sentences[0][0]
    rows = [[split(line, tabs) for line in sentence] for sentence in sentences]
    width = Counter(len(row) for sentence in rows for row in sentence).most_common(1)[0][0]
    rows = [fit for sentence in rows if (fit := [row for row in sentence if len(row) == width])]
    if width == 1:
        return ColumnLayout(("word",), tabs)
    first = [row[0] for sentence in rows for row in sentence]
    numbered = width > 2 and all(sentence[0][0] == "1" for sentence in rows) and all(map(_NUMBER.fullmatch, first))
    names = ["id", "word"] if numbered else ["word"]
    names += [f"column{i}" for i in range(len(names) + 1, width + 1)]
    is_tags = [i > numbered and _mostly_tags([row[i] for sentence in rows for row in sentence]) for i in range(width)]
    if not any(is_tags):
        wrong = next(row[-1] for sentence in rows for row in sentence if not TAG.fullmatch(row[-1]))
        return (
            f"no column holds tags (the last one has {wrong[:40]!r}); "
            "expected O, B-type, I-type or other letters of BIOES and BILOU; name the columns with 'columns'"
        )
    last = max(i for i in range(width) if is_tags[i])
    first_tag = last
    while is_tags[first_tag - 1]:  # the word's column stops it
        first_tag -= 1
    names[first_tag : last + 1] = ["tag"] * (last + 1 - first_tag)
    if first_tag < last and _are_chunks([row[first_tag] for sentence in rows for row in sentence]):
        names[first_tag] = CHUNK
        between = slice(names.index("word") + 1, first_tag)
        names[between] = _BEFORE_CHUNKS.get(first_tag - between.start, names[between])
    return ColumnLayout(tuple(names), tabs)


def _are_chunks(tags: Sequence[str]) -> bool:
    kinds = {tag.partition("-")[2] for tag in tags if tag != "O"}
    return bool(kinds) and kinds <= _CHUNKS


def _mostly_tags(values: Sequence[str]) -> bool:
    return 2 * sum(TAG.fullmatch(value) is not None for value in values) > len(values)


COLUMNS = Format(
    "conll", (".conll", ".iob2", ".bio"), scan, write,
    named_by_file=True, scan_options=("columns",), write_options=("scheme",),
)  # fmt: skip
