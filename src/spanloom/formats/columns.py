"""Column files: one token a line, blank lines between sentences, tags in BIO, IOB1, BILOU, BIOES or another dialect.

A file with any name has this format if nearly every line is a word and a tag. `spanloom.formats.column_guess` infers
the meaning of each column.

``-DOCSTART-``, ``# newdoc id = ...``, ``#doc NAME``, ``###NAME`` and the like start a document; a sentence before the
first of them is a separate document. ``# text = ...`` gives the sentence's text, if it contains the tokens; without
it, tokens are joined by one space and sentences by a line end. Other comments are kept in
``Document.meta["comments"]``, a list for each sentence. A line that starts with ``#`` and a blank is a comment before
the first token of a sentence, unless it has the fields of a token.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, groupby
from pathlib import Path
from typing import BinaryIO

from spanloom.document import Document, to_bilou, to_bio
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError, clip, meant, plural
from spanloom.files.output import scratch_file, writing
from spanloom.formats.base import (
    OTHER_TEXT,
    Losses,
    Scanned,
    altered,
    count_mention,
    count_unwritten,
    no_document,
    unwritable,
)
from spanloom.formats.blocks import (
    GLOBAL_COLUMNS,
    NEW_DOCUMENT,
    NOT_TAGGED,
    TAG,
    TEXT,
    Block,
    FileMention,
    FileSentence,
    NumberedLine,
    comments_above,
    new_document,
    scan_blocks,
    sentences_of,
    shown_names,
    stand_in,
    surface_of,
    tagged_mentions,
)
from spanloom.formats.column_guess import CHUNK, added_to_words, guessed_layout, is_header, is_tagged, named_layout
from spanloom.formats.source import BOM, HEAD, bare, decode, opened, output_file, raw_lines
from spanloom.formats.tag_dialects import BLANKS, DOCUMENT, SPECIAL, TAB, USUAL, ColumnLayout, invalid_tag, split
from spanloom.text.patterns import pattern

DOCSTART = "-DOCSTART-"
_BEGIN = "#begin document "  # of CoNLL-2011 and 2012
BARE = "types without letters"
_AS_TYPES = "; if tags are types without letters, declare it: --columns word,tag,tagging=types (columns=)"

_SCHEMES = {"bio": to_bio, "bilou": to_bilou}
_UNWRITABLE = pattern(r"[\0\t\n\r]")
_UNTAGGED = pattern(r"[\0\t\n\r]| \Z")  # readers strip the blanks around a value
_Levels = list[list[tuple[int, int, str]]]
_KEYED = pattern(r"# (newdoc|newpar|\S+ =)")
_MOST_FIELDS = 5  # of a token that looks like a comment
SAMPLE = 1 << 13  # bytes in which a column file of any name must show
_OTHERS = frozenset((".jsonl", ".ndjson", ".ann", ".json", ".xml", ".xmi", ".chars", ".seg"))
_LONGEST_MARK = 1000  # characters of a line that begins a document
# a comment that begins a document: "#doc 7", "# document_id = 7", "#begin document (a); part 000", "###MEDLINE:7"
_MARK = pattern(
    r"#+ ?begin document \(?(?P<file>[^()]*)\)?;?(?P<part> part \d+)?"
    r"|#+ ?(?:\w+:)?(?:doc(?:ument)?(?:[_ -]?(?:id|name|no))?|id|pmid)"
    r"(?:(?: ?[:=] ?| +)(?P<name>\S+)(?: +\S+=\S+)*)?"
    r"|##+ ?(?:(?:MEDLINE|PMID|PubMed) ?[:=_-] ?)?(?P<number>\S*\d\S*)",
    re.IGNORECASE,
)
_SEVERAL = pattern(r"[|+,;&/][BIESLUMW]-")  # in a type, like several tags in one value
_WEBANNO = "#FORMAT="  # in a line of another format, whose rows may look like tokens
_END = pattern(r"#+ ?end document|-DOCEND-|</doc(?:ument)?>", re.IGNORECASE)
_ELEMENT = pattern(r"""<doc(?:ument)?(?: +(?:doc)?id ?= ?["']?([^"'>]*)["']?)?[^<>]*>""", re.IGNORECASE)
_IDENTIFIER = pattern(r"(?:MEDLINE|PMID|PubMed)[:=_-] ?(\S+)", re.IGNORECASE)


def scan(
    path: str | Path, columns: Sequence[str] | None = None, stem: str = "document", mentions: bool = True
) -> Iterator[Scanned]:
    """Yield the documents of a column file.

    Args:
        path: the file, or ``-``.
        columns: the name of each column, such as ``["word", "pos", "tag"]`` (see `ColumnLayout`);
            guessed from the head of the file if not given.
        stem: the name, before their number, of documents that begin at ``-DOCSTART-`` without an identifier:
            "document" in a single file, so that gold and predictions have equal names, and the file's name in a
            folder.
        mentions: if false, tags are not read.
    """
    name = str(path)
    lines = _lines(path)
    start, size = [], 0
    for line in lines:
        start.append(line)
        size += len(line.text) if isinstance(line, NumberedLine) else 0
        if size >= HEAD:
            break
    if not any(isinstance(line, Problem) or line.text.strip(" \t") for line in start):
        yield no_document(name, "one token a line")
        return
    head = [line for line in start if isinstance(line, NumberedLine)]
    sentences = list(_head_sentences(line.text for line in head))
    declared = next((line.text for line in head if line.text.startswith(GLOBAL_COLUMNS)), None)
    layout = _layout(declared, sentences, columns, mentions)
    first = next((line.number for line in head if sentences and line.text == sentences[0][0]), None)
    if isinstance(layout, str):
        yield Scanned(None, [Problem("error", "columns", layout, path=name, line=first)], name)
        return
    words = [row[layout.word] for row in map(layout.fields, chain(*sentences)) if len(row) > layout.word]
    layout = replace(layout, added=added_to_words(words[bool(layout.header) :]))
    given = columns is not None or declared is not None
    remarks = [] if given else list(_remarks(layout, name, first, mentions))
    if layout.added is not None:
        shown = words[bool(layout.header)]
        message = f"all words are such as {clip(shown)}; they are read as {clip(layout.added.sub('', shown))}"
        remarks.append(altered("parts added to words", message, first, name))
    counts: Counter[str] = Counter()
    read = partial(_sentence, layout=layout, mentions=mentions, counts=counts)
    yield from scan_blocks(path, _blocks(chain(start, lines), layout), read, stem=stem, initial=remarks)
    if counts[BARE]:
        found = f"{plural(counts[BARE], 'mention')} of types without letters such as B-, where tokens of one type"
        how = f"in a row are one mention; the columns {layout.option} can be named otherwise (--columns, columns=)"
        yield Scanned.altered(BARE, f"{found} {how}", name)


def _lines(path: str | Path) -> Iterator[NumberedLine | Problem]:
    """Yield the lines of a file, with an error in place of one that is not UTF-8."""
    for number, raw in raw_lines(path):
        try:
            yield NumberedLine(number, decode(raw, path, number).rstrip("\r\n"))
        except DataError as error:
            yield Problem("error", "unreadable", error.message, path=str(path), line=number)


def _head_sentences(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines of tokens of each sentence, as far as they show without a layout."""
    for blank, group in groupby(lines, lambda line: not line.strip(" \t")):
        if not blank and (sentence := [line for line in group if not _is_no_token(line)]):
            yield sentence


def _is_no_token(line: str) -> bool:
    """Return whether a line is an element, or begins with ``#``, has no tag at its end, and is not the header."""
    if line.startswith(DOCSTART) or is_comment(line):
        return True
    if not line.startswith("#"):
        return line.startswith("<") and _ELEMENT.fullmatch(line[:_LONGEST_MARK].strip()) is not None
    fields = split(line, TAB if TAB in line else BLANKS)
    return not TAG.fullmatch(fields[-1]) and (TAB not in line or not is_header(fields))


def _layout(
    declared: str | None, sentences: Sequence[list[str]], columns: Sequence[str] | None, mentions: bool
) -> ColumnLayout | str:
    """Return the layout of the user's columns, or of those that the file declares, or the likely one; or a message."""
    if columns is not None:
        return named_layout(columns, sentences)
    if declared is None:
        return guessed_layout(sentences, tagged=mentions) if sentences else ColumnLayout(("word",), BLANKS, ())
    try:
        return named_layout(declared.removeprefix(GLOBAL_COLUMNS).split(), sentences, usual=True)
    except UsageError as error:
        return str(error)


def _remarks(layout: ColumnLayout, path: str, line: int | None, mentions: bool) -> Iterator[Problem]:
    """Yield warnings about what was guessed and could be otherwise."""
    how = "can be named otherwise (--columns, columns=)"
    found = list(_unusual(layout))
    is_text = bare(path).suffix.lower() == ".txt"
    if found or is_text:
        text = "; --input-format text reads it as text" if is_text else ""
        shown = ", ".join(found or ["a token a line"])
        message = f"read as a column file, {shown}; its columns {layout.option} {how}{text}"
        yield altered("guessed columns", message, line, path)
    if CHUNK in layout.names and mentions:
        chunks = f"column {layout.names.index(CHUNK) + 1} holds chunks such as NP, which are no mentions"
        message = f"{chunks}; the columns are read as {' '.join(layout.names)}, and {how}"
        yield altered("columns of chunks", message, line, path)
    if layout.unread and mentions:
        others = ["tag" if i in layout.unread else "_" for i in range(len(layout.names))]
        others[layout.word] = "word"
        shown = ", ".join(str(i + 1) for i in layout.unread)
        why = f"the tags of column {shown} are not read, because they mark the same words as those of others"
        message = f"{why}: read are {layout.option}; --columns {','.join(others)} reads them instead"
        yield altered("columns of tags not read", message, line, path)


def _unusual(layout: ColumnLayout) -> Iterator[str]:
    """Yield what is unusual about a layout."""
    if layout.inline:
        yield f"a sentence a line with {layout.divider!r} between words and tags"
    elif layout.divider not in (TAB, BLANKS):
        yield f"with {layout.divider!r} between fields"
    if layout.header:
        yield f"its first line, {clip(' '.join(layout.header), 60)}, as a header"
    if layout.more:
        lacks = 0 < layout.least < len(layout.names)
        yield "lines without a tag outside of mentions" if lacks else "with any number of tags a token"
    if layout.word and layout.names[: layout.word] != ("id",):
        yield f"words in column {layout.word + 1}"
    yield from dict.fromkeys(dialect.name for dialect in layout.dialects if dialect.name and dialect.divider)


def _blocks(lines: Iterable[NumberedLine | Problem], layout: ColumnLayout) -> Iterator[Block]:
    block = Block()
    last: dict[str, str] = {}  # the values of the columns that number sentences and documents
    plain = not (layout.header or layout.inline or layout.counters)
    for line in chain(lines, [NumberedLine(0, "")]):
        if isinstance(line, Problem):
            block.problems.append(line)
            continue
        number, text = line
        if plain and block.lines and text and text[0] not in "#-< \t":  # a token within a sentence, as most lines are
            block.lines.append(line)
            continue
        block.number = block.number or number
        inside = bool(block.lines)
        if not text.strip(" \t") or _END.fullmatch(text):
            if len(block.lines) == 1 and (name := _lone_mark(block.lines[0].text, layout)) is not None:
                block.lines, block.new = [], name
            elif inside:
                yield block
                block = Block()
        elif (name := _document_mark(text, layout, inside)) is not None:
            if inside or block.new is not None:
                yield block
                block = Block(number=number)
            block.new, block.numbered = name, not name
        elif layout.header and tuple(layout.fields(text)) == layout.header:
            continue
        elif _is_comment(text, layout, inside):
            if text.startswith(NEW_DOCUMENT) and (inside or block.new is not None):
                yield block
                block = Block(number=number)
            block.add_comment(text)
        elif layout.inline:
            block.lines += [NumberedLine(number, item) for item in text.split()]
            yield block
            block = Block()
        else:
            row = layout.fields(text) if layout.counters else []
            values = {name: row[i].strip() for name, i in layout.counters.items() if i < len(row)}
            new = {name: value for name, value in values.items() if value and last.get(name) != value}
            last |= new
            if new and inside:
                yield block
                block = Block(number=number)
            block.new = new.get(DOCUMENT, block.new)
            block.lines.append(line)
    if block.problems or block.comments or block.new is not None:
        yield block


def _is_comment(text: str, layout: ColumnLayout, inside: bool) -> bool:
    """Return whether a line is a comment; within a sentence it needs a blank or another ``#`` after the first."""
    if not text.startswith(("# ", "##") if inside else "#"):
        return False
    if inside and TAB in text and layout.has_width(layout.fields(text)):  # a token with an invalid tag
        return False
    return (not inside and is_comment(text)) or not layout.fits(text)


def _document_mark(text: str, layout: ColumnLayout, inside: bool) -> str | None:
    """Return the identifier in a line that begins a document, empty if it has none; ``None`` for another line."""
    if len(text) > _LONGEST_MARK:
        return None
    if text.startswith(DOCSTART) and split(text, layout.divider)[0].split()[0] == DOCSTART:
        rest = text.removeprefix(DOCSTART).strip()
        if rest.startswith("(") and rest.endswith(")"):
            return rest[1:-1]
        names = [field for field in re.split(r"[\s,;|]+", rest) if any(map(str.isdigit, field))]
        return names[0] if len(names) == 1 else ""
    if text.startswith("#") and not text.startswith(NEW_DOCUMENT) and _is_comment(text, layout, inside):
        match = _MARK.fullmatch(text.strip())
        return None if match is None else "".join(part for part in match.groups() if part)
    if text.startswith("<") and (match := _ELEMENT.fullmatch(text.strip())):
        return match[1] or ""
    return None if inside or not (match := _IDENTIFIER.fullmatch(text.strip())) else match[1]


def _lone_mark(text: str, layout: ColumnLayout) -> str | None:
    """Return the identifier in a separate line of one field, where tokens have several fields."""
    if layout.least == 1 or len(layout.names) == 1 or len(text.split()) > 1 or layout.fits(text):
        return None
    return text.strip() if any(map(str.isdigit, text)) else None


def _sentence(block: Block, layout: ColumnLayout, mentions: bool, counts: Counter[str]) -> FileSentence:
    """Return a sentence of the valid lines; the others are its problems."""
    problems: list[Problem] = []
    rows = _rows(block, layout, mentions, problems)
    words = [row[layout.word] for row in rows]
    if layout.added is not None:
        words = [layout.added.sub("", word) for word in words]
    text, offsets = _text(words, block, problems)
    columns = {name: [row[i] for row in rows] for name, i in layout.others.items()} if rows else {}
    found = layout.mentions(rows) if mentions else []
    if any(not dialect.divider for dialect in layout.dialects):
        counts[BARE] += len(found)
    placed = [FileMention(kind, ((offsets[begin][0], offsets[end - 1][1]),)) for begin, end, kind in found]
    return FileSentence(text, offsets, columns, placed, problems)


def _rows(block: Block, layout: ColumnLayout, tagged: bool, problems: list[Problem]) -> list[list[str]]:
    """Return the fields of the lines with the right number of fields, and valid words and tags."""
    rows = []
    word, names, width = layout.word, layout.names, len(layout.names)
    place = names.index("id") if "id" in names else None
    for i, (number, line) in enumerate(block.lines, start=1):
        row = layout.fields(line)
        message = ""
        if len(row) != width and not layout.has_width(row):
            expected = f"{width}{' or more' if layout.more else ''} ({shown_names(layout.names)})"
            message = f"found {len(row)} columns, expected {expected}"
        elif not row[word]:
            message = "the word is empty; expected a token"
        elif tagged and (wrong := layout.wrong_tag(row)) is not None:
            message = invalid_tag(*wrong) + (_AS_TYPES if wrong[1] == USUAL else "")
        elif place is not None and row[place] != str(i):
            message = f"found {row[place][:40]!r} in the column of token numbers, expected {i}"
        if message:
            problems.append(Problem("error", "columns", message, line=number))
        else:
            rows.append(row)
    return rows


def _text(words: list[str], block: Block, problems: list[Problem]) -> tuple[str, list[tuple[int, int]]]:
    """Return the sentence's text and the offsets of its tokens."""
    if block.text is not None:
        for text in (block.text.strip(), block.text):  # a last token may end with a blank
            if (offsets := stand_in(words, text)) is not None:
                return text, offsets
        message = f"the tokens are not in '{TEXT}{block.text[:40]}'; they are joined by spaces instead"
        problems.append(Problem("warning", "other text", message, line=block.number, altered=True))
    starts = accumulate((len(word) + 1 for word in words), initial=0)
    return " ".join(words), [(start, start + len(word)) for start, word in zip(starts, words, strict=False)]


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
        known = ", ".join(_SCHEMES)
        raise UsageError(f"found the tag scheme {scheme!r}, expected one of: {known}{meant(scheme, _SCHEMES)}")
    losses = Losses()
    with output_file(path, force=force) as file, scratch_file(path) as spool:
        names: list[str] | None = None
        depth, plain = 1, True  # plain: no document needed a line to mark where it starts
        joined = False  # whether a type could be read as that of two tags
        for document in documents:
            names = list(document.columns) if names is None else names
            _check(document, path)
            plain = plain and not document.id and bool(document.words) and len(sentences_of(document)) == 1
            joined = joined or any(_SEVERAL.search(mention.type) for mention in document.mentions)
            with writing(path):
                depth = max(depth, _spool(document, names, scheme, not plain, losses, spool))
        if names or depth > 1 or joined:  # a reader would have to guess
            wrong = next((name for name in names or () if name in ("", *SPECIAL) or re.search(r"\s", name)), None)
            if wrong is not None:
                raise DataError(f"a column file cannot hold a column called {wrong!r}; rename it", path=path)
            file.write(f"{GLOBAL_COLUMNS}{' '.join(['word', *(names or ()), *['tag'] * depth])}\n")
        width = 1 + len(names or ()) + depth
        with writing(path):
            spool.seek(0)
        for line in spool:
            missing = width - 1 - line.count(b"\t")
            is_token = line != b"\n" and missing < width - 1
            file.write(line[:-1] + b"\tO" * missing + b"\n" if is_token else line)
    return losses


def _check(document: Document, path: str | Path) -> None:
    if document.tokens is None:
        raise unwritable(document, " has no tokens, which column files need; tokenize it first", path)
    words, values = document.words, chain(document.words, *document.columns.values())
    bad = [value for value in values if not value or _UNWRITABLE.search(value)]
    # words with which a line is not that of a token
    bad += [word for word in words if word.split(maxsplit=1)[:1] == [DOCSTART] or is_comment(f"{word}\tO")]
    if bad:
        raise unwritable(document, f": a column file cannot hold the value {bad[0][:40]!r}; change or remove it", path)


def _spool(document: Document, names: list[str], scheme: str, marked: bool, losses: Losses, spool: BinaryIO) -> int:
    """Write the lines of a document, with the tag columns that it needs; return their number."""
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
        texts.append(surface_of(document, words, first, end))
        if texts[-1] != " ".join(words[first:end]):
            lines.append(TEXT + texts[-1])
        tags = [_SCHEMES[scheme](level, end - first) for level in sentence or [[]]]
        lines += map("\t".join, zip(words[first:end], *(column[first:end] for column in columns), *tags, strict=True))
        lines.append("")
    spool.write("".join(line + "\n" for line in lines).encode("utf-8"))
    losses.add(OTHER_TEXT, int("\n".join(texts) != document.text))
    count_unwritten(losses, document, held=("comments",))
    return max((len(sentence) for sentence in levels), default=1)


def _levels(document: Document, sentences: Sequence[Sequence[int]], losses: Losses) -> list[_Levels]:
    """Return for each sentence its mentions in levels without overlap, longer ones first."""
    levels: list[_Levels] = [[] for _ in sentences]
    found = tagged_mentions(document, losses, _UNTAGGED)
    for number, first, end, mention in sorted(found, key=lambda one: (*one[:2], -one[2], one[3].type)):
        count_mention(losses, mention, *NOT_TAGGED)
        start = sentences[number][0]
        if (free := next((level for level in levels[number] if level[-1][1] <= first - start), None)) is None:
            free = []
            levels[number].append(free)
        free.append((first - start, end - start, mention.type))
    return levels


def _reads_as_comment(line: str) -> bool:
    if line.startswith((NEW_DOCUMENT, TEXT, GLOBAL_COLUMNS)):
        return False
    return is_comment(line) and not (len(line) <= _LONGEST_MARK and _MARK.fullmatch(line.strip()))


def is_comment(line: str) -> bool:
    """Return whether a line before a sentence's first token is a comment, and not the token ``#``.

    >>> is_comment("# seen today"), is_comment("# text = No pain"), is_comment("# NN O")
    (True, True, False)
    """
    if not line.startswith("# "):
        return False
    if _KEYED.match(line):
        return True
    fields = split(line, BLANKS)
    return TAB not in line and not (len(fields) <= _MOST_FIELDS and TAG.fullmatch(fields[-1]))


def holds_tokens(raw: bytes) -> bool:
    """Return whether bytes at the beginning of a file are lines of a column file, nearly each a word and a tag.

    >>> holds_tokens(b"No\\tO\\nfever\\tB-problem\\n"), holds_tokens(b"No fever.\\nNo pain.\\n")
    (True, False)
    """
    whole = raw[: raw.rfind(b"\n") + 1] if len(raw) >= SAMPLE else raw
    if b"\0" in whole:
        return False
    lines = whole.removeprefix(BOM).decode("utf-8", "replace").split("\n")  # reading reports another encoding
    if any(line.startswith(_WEBANNO) for line in lines):
        return False
    is_marked = any(line.startswith((DOCSTART, NEW_DOCUMENT, TEXT, GLOBAL_COLUMNS, _BEGIN)) for line in lines)
    return is_tagged(list(_head_sentences(line.rstrip("\r") for line in lines)), is_marked)


def claims(path: Path) -> bool:
    """Return whether a path is a file that holds tokens, whatever it is called."""
    if bare(path).suffix.lower() in _OTHERS or not path.is_file():
        return False
    with suppress(DataError), opened(path) as file:  # an error is reported when it is read
        return holds_tokens(file.read(SAMPLE))
    return False
