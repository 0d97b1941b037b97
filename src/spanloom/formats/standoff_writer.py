"""A document's ``.ann`` file: the lines that were read, unless their mention changed, and lines for what is new."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from spanloom.document import Document, Mention
from spanloom.document.validate import flat
from spanloom.errors import clip
from spanloom.formats.base import TWICE, Losses, unwritable
from spanloom.formats.standoff import Line, parse
from spanloom.formats.standoff_repairs import settled

GONE = "lines of mentions that are gone"
_BRAT_ID = re.compile(r"T[0-9]{1,15}")


def render(document: Document, previous: str, losses: Losses, path: Path | None = None) -> str:
    r"""The ``.ann`` file of a document.

    Args:
        document: as it is now.
        previous: the ``.ann`` file as it was read, empty if there was none. A line stays as it is, byte for byte,
            as long as what it says is true; lines of mentions that are gone go, with all lines about them.
        losses: counts what went, and what brat cannot hold.
        path: for messages.

    Raises:
        DataError: a mention's type is empty or holds white space.

    >>> document = Document("mild pain", mentions=[Mention("problem", [(5, 9)], concepts=["SPL:1"])])
    >>> render(document, "", Losses())
    'T1\tproblem 5 9\tpain\nN1\tReference T1 SPL:1\tSPL:1\n'
    """
    lines = parse(previous)
    by_id = _identified(document, lines, losses, path)
    gone = _gone(lines, by_id)
    end = "\r\n" if lines and lines[0].raw.endswith("\r\n") else "\n"
    said: set[tuple[str, str, object]] = set()
    written: list[str] = []
    for line in lines:
        if (line.id and line.id in gone) or not gone.isdisjoint(line.refers):
            losses.add(GONE)
            continue
        mention = by_id.get(line.refers[0] if line.refers else line.id)
        raw = _current(line, mention, document.text)
        if raw is not None:
            written.append(raw)
            said.add(_statement(line))
    new = list(_new_lines(document.text, by_id, said, _Numbers(lines, by_id), losses))
    if new and written and not written[-1].endswith("\n"):
        written[-1] += end
    return "".join(written) + "".join(line + end for line in new)


def _identified(document: Document, lines: list[Line], losses: Losses, path: Path | None) -> dict[str, Mention]:
    """Each mention under its identifier in the file, in the document's order."""
    free = _Numbers(lines, (mention.id or "" for mention in document.mentions))
    by_id: dict[str, Mention] = {}
    old = {line.id for line in lines if line.kind == "mention"}
    other = {line.id for line in lines} - old
    for mention in document.mentions:
        if not mention.type or re.search(r"\s", mention.type):
            why = f": brat cannot hold the type {clip(mention.type)} (white space); rename it"
            raise unwritable(document, why, path)
        name = mention.id
        usable = name is not None and name not in by_id and (name in old or _BRAT_ID.fullmatch(name) is not None)
        if name is None or not usable or name in other:
            losses.add("mention identifiers", int(name is not None))
            name = free.next("T")
        by_id[name] = mention
    return by_id


def _gone(lines: list[Line], by_id: dict[str, Mention]) -> set[str]:
    """Identifiers of T lines without a mention, and of all lines about them, however far."""
    gone = {line.id for line in lines if line.kind == "mention" and line.id not in by_id}
    size = -1
    while gone and size != len(gone):
        size = len(gone)
        gone |= {line.id for line in lines if line.id and not gone.isdisjoint(line.refers)}
    return gone


def _current(line: Line, mention: Mention | None, text: str) -> str | None:
    """The line as it should stand now; ``None`` if it is no longer true."""
    if mention is None:
        return line.raw
    if isinstance(line.value, Mention):
        if settled(line.value, line.surface, text).mention.key == mention.key:
            return line.raw
        end = line.raw[len(line.raw.rstrip("\r\n")) :]
        return _mention_line(line.id, mention, text) + end
    true = {
        "concept": lambda: line.value in mention.concepts,
        "head": lambda: line.value == mention.head,
        "score": lambda: line.value == mention.score,
    }
    return line.raw if line.kind not in true or true[line.kind]() else None


def _statement(line: Line) -> tuple[str, str, object]:
    if line.kind == "mention":
        return line.id, "mention", None
    return (line.refers[0] if line.refers else "", line.kind, line.value if line.kind == "concept" else None)


def _new_lines(
    text: str, by_id: dict[str, Mention], said: set[tuple[str, str, object]], numbers: _Numbers, losses: Losses
) -> Iterator[str]:
    for name, mention in by_id.items():
        if (name, "mention", None) not in said:
            yield _mention_line(name, mention, text)
        losses.add(TWICE, len(mention.concepts) - len(set(mention.concepts)))
        for concept in dict.fromkeys(mention.concepts):
            if not concept or re.search(r"\s", concept):
                losses.add("concepts with white space")
            elif (name, "concept", concept) not in said:
                yield f"{numbers.next('N')}\tReference {name} {concept}\t{concept}"
        if mention.head is not None and (name, "head", None) not in said:
            yield f"{numbers.next('#')}\tHead {name}\t{mention.head.start} {mention.head.end}"
        if mention.score is not None and (name, "score", None) not in said:
            yield f"{numbers.next('#')}\tScore {name}\t{float(mention.score)!r}"


def _mention_line(name: str, mention: Mention, text: str) -> str:
    spans = ";".join(f"{start} {end}" for start, end in mention.spans)
    return f"{name}\t{mention.type} {spans}\t{flat(mention.text(text))}"


class _Numbers:
    """Identifiers that no line has, old lines and removed ones included."""

    def __init__(self, lines: list[Line], names: Iterator[str] | dict[str, Mention]) -> None:
        self._last = {"T": 0, "N": 0, "#": 0}
        for name in [*(line.id for line in lines), *names]:
            if name[:1] in self._last and name[1:].isascii() and name[1:].isdigit():
                self._last[name[0]] = max(self._last[name[0]], int(name[1:16]))

    def next(self, letter: str) -> str:
        self._last[letter] += 1
        return f"{letter}{self._last[letter]}"
