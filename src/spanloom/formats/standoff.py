"""The lines of a brat ``.ann`` file: what they say, what they refer to, and how new ones are written.

Text-bound annotations become mentions. So do three kinds of line about them::

    T3   problem 0 11;22 29   infarctions embolic      type and spans (fragments)
    N1   Reference T3 SPL:0001   cerebral infarction   concept "SPL:0001"
    #1   Head T3   0 11                                head: start and end
    #2   Score T3   0.93                               score

(with tabs between the fields). All other lines (A, M, R, E, ``*``, other notes) are kept as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from spanloom.document import Mention, Span
from spanloom.document.validate import Problem

_OFFSETS = r"[0-9]{1,15} +[0-9]{1,15}(?: *; *[0-9]{1,15} +[0-9]{1,15})*"
_MENTION = re.compile(rf"(T\S*)\t *(\S+) +({_OFFSETS}) *(?:\t(.*))?", re.DOTALL)
_REFERENCE = re.compile(r"(N\S*)\t *(\S+) +(\S+) +(\S+) *(?:\t(.*))?", re.DOTALL)
_NOTE = re.compile(r"(#\S*)\t *(\S+) +(\S+) *(?:\t(.*))?", re.DOTALL)
_ATTRIBUTE = re.compile(r"([AM]\S*)\t *(\S+) +(\S+)(?: .*)?", re.DOTALL)
_RELATION = re.compile(r"(R\S*)\t *(\S+)((?: +[^\s:]+:\S+)+)\s*")
_EVENT = re.compile(r"(E\S*)\t *([^\s:]+:\S+)((?: +[^\s:]+:\S+)*)\s*")
_EQUIVALENCE = re.compile(r"(\*)\t *(\S+)((?: +\S+)+)\s*")
_HEAD = re.compile(r"\s*([0-9]{1,15})\s+([0-9]{1,15})\s*")

_SHOWN = 40  # characters of an identifier in a message

EXPECTED = {
    "T": "'T1<tab>type start end<tab>text'",
    "N": "'N1<tab>Reference T1 RESOURCE:ID<tab>name'",
    "Head": "'#1<tab>Head T1<tab>start end'",
    "Score": "'#1<tab>Score T1<tab>number'",
}


class Line(NamedTuple):
    """A line of an ``.ann`` file.

    Args:
        raw: with its line end.
        number: counted from 1.
        id: ``"T3"``, ``"#1"``; empty for ``*`` and for what cannot be read.
        refers: identifiers of the lines that it is about.
        kind: ``"mention"``, ``"concept"``, ``"head"``, ``"score"``, ``"other"``, or ``"unknown"`` if unreadable.
        value: a `Mention`, a concept, a `Span` or a number, after the kind.
        surface: the text that a mention's line gives.
        expected: for a line that cannot be read but must be, what it should look like.
    """

    raw: str
    number: int
    id: str = ""
    refers: tuple[str, ...] = ()
    kind: str = "other"
    value: Mention | Span | str | float | None = None
    surface: str | None = None
    expected: str = ""


def parse(ann: str) -> list[Line]:
    r"""Every line of a file; joined again they give the file.

    >>> [(line.id, line.kind, line.refers) for line in parse("T1\tproblem 0 4\tpain\nA1\tNegated T1\n")]
    [('T1', 'mention', ()), ('A1', 'other', ('T1',))]
    """
    raws = ann.split("\n")
    lines = [raw + "\n" for raw in raws[:-1]] + ([raws[-1]] if raws[-1] else [])
    return [_line(raw, number) for number, raw in enumerate(lines, start=1)]


def _line(raw: str, number: int) -> Line:
    content = raw.rstrip("\r\n")
    if number == 1:
        content = content.removeprefix("\ufeff")
    if not content.strip():
        return Line(raw, number)
    match content[0]:
        case "T":
            return _mention(raw, number, content)
        case "N":
            return _reference(raw, number, content)
        case "#":
            return _note(raw, number, content)
        case "A" | "M":
            if found := _ATTRIBUTE.fullmatch(content):
                return Line(raw, number, found[1], (found[3],))
        case "R" | "E":
            if found := (_RELATION if content[0] == "R" else _EVENT).fullmatch(content):
                arguments = found[3].split() + ([found[2]] if content[0] == "E" else [])
                return Line(raw, number, found[1], tuple(argument.partition(":")[2] for argument in arguments))
        case "*":
            if found := _EQUIVALENCE.fullmatch(content):
                return Line(raw, number, "", tuple(found[3].split()))
    return Line(raw, number, kind="unknown")


def _mention(raw: str, number: int, content: str) -> Line:
    found = _MENTION.fullmatch(content)
    if found is None:
        return Line(raw, number, kind="unknown", expected=EXPECTED["T"])
    offsets = [[int(offset) for offset in span.split()] for span in found[3].split(";")]
    mention = Mention(found[2], tuple(Span(start, end) for start, end in offsets), found[1])
    return Line(raw, number, found[1], (), "mention", mention, found[4])


def _reference(raw: str, number: int, content: str) -> Line:
    found = _REFERENCE.fullmatch(content)
    if found is None:
        return Line(raw, number, kind="unknown", expected=EXPECTED["N"])
    if found[2] != "Reference":
        return Line(raw, number, found[1], (found[3],))
    return Line(raw, number, found[1], (found[3],), "concept", found[4])


def _note(raw: str, number: int, content: str) -> Line:
    found = _NOTE.fullmatch(content)
    if found is None:
        return Line(raw, number, kind="unknown")
    text = found[4] or ""
    if found[2] == "Head":
        offsets = _HEAD.fullmatch(text)
        if offsets is None:
            return Line(raw, number, kind="unknown", expected=EXPECTED["Head"])
        return Line(raw, number, found[1], (found[3],), "head", Span(int(offsets[1]), int(offsets[2])))
    if found[2] == "Score":
        try:
            return Line(raw, number, found[1], (found[3],), "score", float(text))
        except ValueError:
            return Line(raw, number, kind="unknown", expected=EXPECTED["Score"])
    return Line(raw, number, found[1], (found[3],))


@dataclass(slots=True)
class Annotations:
    """The mentions of an ``.ann`` file with their lines, and what is wrong with the lines."""

    mentions: list[Mention] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def collect(lines: list[Line], path: str) -> Annotations:
    """The mentions that the lines describe, in the order of their T lines."""
    result = Annotations(problems=list(_line_problems(lines, path)))
    about: dict[str, list[Line]] = {}
    for line in lines:
        if line.kind in ("concept", "head", "score"):
            about.setdefault(line.refers[0], []).append(line)
    seen: set[str] = set()
    for line in lines:
        if isinstance(line.value, Mention) and line.id not in seen:
            seen.add(line.id)
            result.mentions.append(_completed(line.value, about.get(line.id, []), path, result.problems))
            result.lines.append(line)
    return result


def _completed(mention: Mention, about: list[Line], path: str, problems: list[Problem]) -> Mention:
    concepts: dict[str, None] = {}
    single: dict[str, object] = {}
    for line in about:
        if line.kind == "concept":
            concepts[str(line.value)] = None
        elif line.kind in single:
            message = f"a second note {line.kind.title()!r} on {line.refers[0][:_SHOWN]}; a mention has at most one"
            problems.append(Problem("error", "second note", message, path=path, line=line.number))
        else:
            single[line.kind] = line.value
    if not about:
        return mention
    return mention.replace(concepts=tuple(concepts), head=single.get("head"), score=single.get("score"))


def _line_problems(lines: list[Line], path: str) -> Iterator[Problem]:
    mentions = {line.id for line in lines if line.kind == "mention"}
    known = {line.id for line in lines}
    seen: dict[str, int] = {}
    for line in lines:
        if line.kind == "unknown":
            shown = repr(line.raw.rstrip("\r\n")[:60])
            if line.expected:
                message = f"found {shown}, expected {line.expected}"
                yield Problem("error", "line", message, path=path, line=line.number)
            else:
                message = f"found {shown}, no line of brat; it is kept as it stands"
                yield Problem("warning", "line", message, path=path, line=line.number)
        if line.id and line.id in seen:
            severity = "error" if line.kind == "mention" else "warning"
            message = f"the identifier {line.id[:_SHOWN]} stands on line {seen[line.id]} too; give each line its own"
            yield Problem(severity, "duplicate identifier", message, path=path, line=line.number)  # type: ignore[arg-type]
        seen.setdefault(line.id, line.number)
        for target in line.refers:
            if target not in known:
                severity = "error" if line.kind in ("concept", "head", "score") else "warning"
                message = f"{line.id[:_SHOWN] or '*'} is about {target[:_SHOWN]}, and there is no such line"
                yield Problem(severity, "dangling", message, path=path, line=line.number)  # type: ignore[arg-type]
            elif line.kind in ("head", "score") and target not in mentions:
                message = f"{line.id[:_SHOWN]} gives a {line.kind} to {target[:_SHOWN]}, which is no mention"
                yield Problem("error", "dangling", message, path=path, line=line.number)
