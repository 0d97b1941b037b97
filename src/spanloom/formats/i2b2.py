r"""i2b2 of 2010: concepts in a ``.con`` file, a line each, beside the text, whose words they count.

::

    c="chest pain" 3:2 3:3||t="problem"

Lines count from 1, words from 0, and the last word is part of the concept; words are what blanks divide. The text is
the ``.txt`` of the same name beside the file, or in a folder beside its folder (``concept/a.con``, ``txt/a.txt``). The
concept's own text is in small letters. Of a concept with several parts, a comma divides these: ``3:2 3:2,3:5 3:6``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Final

from spanloom.document import Document, Mention, Span
from spanloom.errors import DataError, UsageError, clip
from spanloom.files import STDIO
from spanloom.formats.base import Beside, Scanned, altered
from spanloom.formats.file_names import visible
from spanloom.formats.source import decode, raw_lines, read_bytes, text_beside

_PLACES: Final = r"\d{1,9}:\d{1,9}[ ]\d{1,9}:\d{1,9}"
_LINE: Final = re.compile(
    rf'c="(?P<text>.*)"[ ](?P<places>{_PLACES}(?:,{_PLACES})*)\|\|t="(?P<type>[^"]*)"(?P<rest>.*)'
)


def scan(path: str | Path, mentions: bool = True) -> Iterator[Scanned]:
    """Yield the documents of a pair (either file may be named) or of a folder with its subfolders, by name.

    Args:
        path: one of the two files, or the folder.
        mentions: if false, the ``.con`` files are ignored, and not checked.
    """
    if str(path) == STDIO:
        raise UsageError("i2b2 keeps a document in two files and cannot be read from standard input; name a folder")
    root = Path(path)
    if not root.is_dir():
        con = root.with_suffix(".con")
        yield _scan_pair(text_beside(con), con, root.stem, mentions)
        return
    files = visible(root)
    pairs = {con: text_beside(con) for con in files if con.suffix == ".con"}
    taken = set(pairs.values())
    alone = {file: None for file in files if file.suffix == ".txt" and file not in taken}
    stems = Counter(file.stem for file in (*pairs, *alone))
    for file, txt in sorted((pairs | alone).items()):
        name = file.stem if stems[file.stem] == 1 else file.relative_to(root).with_suffix("").as_posix()
        yield _scan_pair(file if file.suffix == ".txt" else txt, file, name, mentions)


def _scan_pair(txt: Path | None, con: Path, name: str, mentions: bool) -> Scanned:
    if txt is None:
        message = f"no {con.stem}.txt beside it or in one folder beside its folder, whose words the concepts count"
        return Scanned.failed("no text", message, str(con))
    try:
        text = decode(read_bytes(txt), txt).removeprefix("\ufeff")
        scanned = Scanned(Document(text, id=name), [], str(txt), None, [], Beside([]))
        if mentions and con.suffix == ".con" and con.exists():
            return _with_mentions(scanned, con)
    except DataError as error:
        return Scanned.failed("unreadable", error.message, error.path or str(txt), error.line)
    return scanned


def _with_mentions(scanned: Scanned, con: Path) -> Scanned:
    document = scanned.document
    assert document is not None
    words = _Words(document.text)
    surfaces: list[str | None] = []
    places: list[tuple[str, int]] = []
    for number, raw in raw_lines(con):
        if not (line := decode(raw, con, number).strip()):
            continue
        found = _LINE.fullmatch(line)
        spans = None if found is None else words.spans(found["places"], found["text"])
        if found is None or spans is None:
            kind, message = "lines that are no concept", f'found {clip(line)}, expected c="TEXT" 1:0 1:1||t="TYPE"'
            if found is not None:
                kind = "concepts outside the text"
                message = f"the text has no words {found['places']} for {clip(found['text'])}"
            scanned.problems.append(altered(kind, f"{message}; the line is left out", number, str(con)))
            continue
        if found["rest"]:
            message = f"{clip(found['rest'])} behind the type is not read"
            scanned.problems.append(altered("fields not read", message, number, str(con)))
        document.mentions.append(Mention(found["type"], spans))
        shown = " ".join(document.text[start:end] for start, end in spans)
        surfaces.append(None if _bare(shown) == _bare(found["text"]) else found["text"])
        places.append((str(con), number))
    return scanned._replace(mention_places=places, beside=Beside(surfaces))


def _bare(text: str) -> str:
    return "".join(text.lower().split())


class _Words:
    """The words of a text, by line.

    >>> _Words("No pain .\\nMild  pain .").spans("2:0 2:1", "mild pain")
    [Span(start=10, end=20)]
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))
        self._of_line = cache(self._words)

    def spans(self, places: str, surface: str) -> list[Span] | None:
        """Return the characters of words; ``None`` if the text has no such words.

        Args:
            places: of the first and the last word of each part.
            surface: of the concept, which decides whether each of two blanks divides words.
        """
        readings = [[self._part(part, every) for part in places.split(",")] for every in (False, True)]
        whole = [[span for span in spans if span is not None] for spans in readings if None not in spans]
        shown = ((spans, _bare("".join(self._text[start:end] for start, end in spans))) for spans in whole)
        return next((spans for spans, text in shown if text == _bare(surface)), whole[0] if whole else None)

    def _part(self, part: str, every: bool) -> Span | None:
        (line, first), (last_line, last) = (map(int, place.split(":")) for place in part.split(" "))
        if not 1 <= line <= last_line <= len(self._lines):
            return None
        words, others = self._of_line(line, every), self._of_line(last_line, every)
        if first >= len(words) or last >= len(others) or words[first].start >= others[last].end:
            return None
        return Span(words[first].start, others[last].end)

    def _words(self, line: int, every: bool) -> list[Span]:
        start, text = self._starts[line - 1], self._lines[line - 1].rstrip("\r")
        found = re.finditer(r"(?<![^ ])[^ ]*" if every else r"\S+", text)
        return [Span(start + word.start(), start + word.end()) for word in found]
