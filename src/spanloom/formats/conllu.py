"""CoNLL-U with an entity column: ten columns, and an eleventh with tags of mentions.

Tags are BIO, BILOU or BIOES. They are read from a column that ``# global.columns = `` (CoNLL-U Plus) calls ``NER``,
``ENTITY`` or ``TAG``, from an eleventh column, or from ``Entity=`` or ``NER=`` in MISC, and are written as the column
``NER``. Columns with a value come into the document as ``lemma``, ``pos`` (UPOS), ``xpos``, ``feats``, ``head``,
``deprel``, ``deps`` and ``misc``. A token of several words (``3-4``) is one token, without the columns of its words;
words that the text does not show (``3.1``) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spanloom.document import Document, from_tags, to_bio
from spanloom.errors import DataError
from spanloom.formats.base import Format, Losses, Scanned, count_meta
from spanloom.formats.blocks import NEW_DOCUMENT, TEXT, Block, Sentence, flat_mentions, scan_blocks, stand_in
from spanloom.formats.layout import TAG, UNTYPED, shown_names
from spanloom.formats.output import output_file

GLOBAL = "# global.columns = "
_STANDARD = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_OURS = {"UPOS": "pos"}  # else our name of a column is its own in lower case
_KEPT = _STANDARD[2:]
_ENTITY = ("NER", "ENTITY", "TAG")
_IN_MISC = re.compile(r"(?:^|\|)(?:Entity|NER)=([^|]*)")
_ID = re.compile(r"\d+(?:(-\d+)|(\.\d+))?")
_DROPPED = re.compile(r"(?:SpaceAfter|Entity|NER)=")


def scan(path: str | Path) -> Iterator[Scanned]:
    """The documents of a CoNLL-U file. Without marks of documents, each sentence is one."""
    names: list[str] = list(_STANDARD)

    def read(block: Block) -> Sentence:
        for comment in block.comments:
            if comment.startswith(GLOBAL):
                names[:] = comment.removeprefix(GLOBAL).split()
        block.comments = [comment for comment in block.comments if not comment.startswith(GLOBAL)]
        return _sentence(block, names)

    return scan_blocks(path, read, whole=False)


def _sentence(block: Block, names: Sequence[str]) -> Sentence:
    rows = [row for number, line in block.lines if (row := _row(line, names, number)) is not None]
    rows = _surface(rows)
    if not rows:
        raise DataError("the sentence holds no token", line=block.number)
    words = [row["FORM"] for row in rows]
    text, offsets = _text(words, rows, block)
    tags = [row["tag"] for row in rows]
    for tag, row in zip(tags, rows, strict=True):
        if not TAG.fullmatch(tag):
            message = f"found the tag {tag[:40]!r}, expected O or a letter of BIO, BILOU or BIOES, '-' and a type"
            raise DataError(message, line=int(row["line"]))
    typed = [tag if "-" in tag or tag == "O" else f"{tag}-{UNTYPED}" for tag in tags]
    mentions = [(kind, offsets[first][0], offsets[end - 1][1]) for first, end, kind in from_tags(typed)]
    columns = {}
    for name in _KEPT:
        values = [row.get(name, "_") for row in rows]
        if any(value != "_" for value in values):
            columns[_OURS.get(name, name.lower())] = values
    return Sentence(text, offsets, columns, mentions)


def _row(line: str, names: Sequence[str], number: int) -> dict[str, str] | None:
    fields = line.split("\t")
    expected = [*names, "NER"] if len(fields) == len(names) + 1 and tuple(names) == _STANDARD else names
    if len(fields) != len(expected) or "ID" not in expected or "FORM" not in expected:
        message = f"found {len(fields)} columns, expected {len(names)} ({shown_names(names)}), between tabs"
        raise DataError(message, line=number)
    row = dict(zip(expected, fields, strict=True))
    match = _ID.fullmatch(row["ID"])
    if match is None or not row["FORM"]:
        raise DataError(
            f"found the token {row['ID'][:20]!r} {row['FORM'][:20]!r}, expected a number and a form", line=number
        )
    if match[2]:
        return None
    entity = next((row[name] for name in expected if name.upper() in _ENTITY), None)
    misc = row.get("MISC", "_")
    found = _IN_MISC.search(misc)
    row["tag"] = entity if entity is not None else found[1] if found else "O"
    row["tag"] = "O" if row["tag"] == "_" else row["tag"]
    row["space"] = "" if "SpaceAfter=No" in misc.split("|") else " "
    row["MISC"] = "|".join(part for part in misc.split("|") if not _DROPPED.match(part)) or "_"
    row["line"] = str(number)
    return row


def _surface(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Rows that the text shows: a token of several words in place of its words."""
    shown = []
    hidden = 0
    tags: dict[str, str] = {}
    for row in rows:
        tags.setdefault(row["ID"], row["tag"])
    for row in rows:
        first, _, last = row["ID"].partition("-")
        if last:
            hidden = int(last)
            row["tag"] = tags.get(first, "O")
        elif int(first) <= hidden:
            continue
        shown.append(row)
    return shown


def _text(words: Sequence[str], rows: Sequence[dict[str, str]], block: Block) -> tuple[str, list[tuple[int, int]]]:
    text = block.text
    if text is None:
        text = "".join(word + row["space"] for word, row in zip(words, rows, strict=True)).rstrip()
    offsets = stand_in(words, text)
    if offsets is None:
        raise DataError(f"the tokens do not stand in '{TEXT}{text[:40]}'", line=block.lines[0].number)
    return text, offsets


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write eleven columns, the last with BIO tags; one level of mentions, of overlapping ones the longest.

    Raises:
        DataError: a document without tokens, or a token or value with a tab or line end in it.
    """
    losses = Losses()
    with output_file(path, force=force) as file:
        file.write(f"{GLOBAL}{' '.join([*_STANDARD, 'NER'])}\n")
        for document in documents:
            file.write("".join(f"{line}\n" for line in _lines(document, path, losses)))
    return losses


def _lines(document: Document, path: str | Path, losses: Losses) -> Iterator[str]:
    tokens, words = document.tokens, document.words
    if tokens is None:
        raise DataError(f"document {document.id!r} has no tokens; tokenize it first", path=path)
    held = [_OURS.get(name, name.lower()) for name in _KEPT]
    values = [document.columns.get(name, ["_"] * len(words)) for name in held]
    for value in (*words, *(value for column in values for value in column)):
        if not value or any(character in value for character in "\t\r\n"):
            message = f"document {document.id!r}: CoNLL-U cannot hold the value {value[:40]!r}; change or remove it"
            raise DataError(message, path=path)
    yield f"{NEW_DOCUMENT} id = {' '.join(document.id.split())}" if document.id else NEW_DOCUMENT
    tags = to_bio(flat_mentions(document, losses), len(words))
    texts = []
    kept = document.meta.get("comments")
    sentences = [[0, len(words)]] if document.sentences is None else document.sentences.tolist()
    comments = kept if isinstance(kept, list) and len(kept) == len(sentences) else [[]] * len(sentences)
    for (first, end), above in zip(sentences, comments, strict=True):
        if first == end:
            continue
        surface = " ".join(document.text[int(tokens[first, 0]) : int(tokens[end - 1, 1])].splitlines())
        texts.append(surface)
        yield from (str(line) for line in above)
        yield TEXT + surface
        for i in range(first, end):
            row = [column[i] for column in values]
            if i + 1 < end and tokens[i, 1] == tokens[i + 1, 0]:
                row[-1] = "SpaceAfter=No" if row[-1] == "_" else f"{row[-1]}|SpaceAfter=No"
            yield "\t".join((str(i - first + 1), words[i], *row, tags[i]))
        yield ""
    losses.add("token columns", len(document.columns.keys() - set(held)))
    losses.add("texts that differ outside the tokens", int("\n".join(texts) != document.text))
    count_meta(losses, document, held=("comments",))


CONLLU = Format("conllu", (".conllu", ".conllup"), scan, write)
