"""PubTator: a title, an abstract, one line for each mention, and a blank line between documents.

What the lines mean is in `spanloom.formats.pubtator_lines`. The text is the title, a line end and the abstract: the
format counts one character between them. If the abstract is empty, the text is the title alone.

``Document.meta["pubtator"]`` keeps what a document has no field for: under ``"relations"`` the relations, under
``"rows"`` those lines of mentions that would be written in another way (identifiers joined by ``+``, further fields).
Both lack the document's identifier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from spanloom.document import Document, Mention
from spanloom.document.validate import Problem, Units, beginning, place_of
from spanloom.errors import DataError
from spanloom.formats.base import Format, Scanned, no_document
from spanloom.formats.pubtator_lines import (
    EXPECTED_MENTION,
    Passage,
    is_relation,
    parse_annotation,
    parse_passage,
    render,
)
from spanloom.formats.pubtator_writer import write
from spanloom.formats.record import other_errors, surface_problem
from spanloom.formats.source import decode, raw_lines

_SHOWN = 40  # characters of a line in a message


@dataclass(slots=True)
class _Block:
    """The lines of one document: up to a blank line, or to the next title."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class _Rows:
    """What the lines below the abstract say; one line number and one surface for each mention."""

    mentions: list[Mention] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    surfaces: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)


def scan(path: str | Path) -> Iterator[Scanned]:
    """The documents of a PubTator file, one at a time; several may have one identifier."""
    name, found = str(path), False
    for block in _blocks(path):
        found = True
        yield _document(block, name)
    if not found:
        yield no_document(name, "'1|t|title', '1|a|abstract' and the mentions below")


def _blocks(path: str | Path) -> Iterator[_Block]:
    block = _Block()
    for number, raw in raw_lines(path):
        try:
            line = decode(raw, path, number).removesuffix("\n").removesuffix("\r")
        except DataError as error:
            block.problems.append(Problem("error", "unreadable", error.message, path=str(path), line=number))
            continue
        passage = parse_passage(line)
        ends = not line.strip() or (passage is not None and passage.kind == "t")
        if ends and (block.lines or block.problems):
            yield block
            block = _Block()
        if line.strip():
            block.lines.append((number, line))
    if block.lines or block.problems:
        yield block


def _document(block: _Block, path: str) -> Scanned:
    if block.problems:  # a line that is missing would only make others look wrong
        return Scanned(None, block.problems, path, block.problems[0].line)
    first = block.lines[0][0]
    passages = _passages(block.lines)
    if isinstance(passages, Problem):
        return Scanned(None, [replace(passages, path=path)], path, first)
    title, abstract = passages
    text = f"{title.text}\n{abstract.text}" if abstract.text else title.text
    problems: list[Problem] = []
    found = _rows(block.lines[2:], title.id, problems)
    document = Document(text, id=title.id, mentions=found.mentions)
    problems += _mention_problems(document, found)
    if not any(problem.severity == "error" for problem in problems):
        rows = [row for row, mention in zip(found.rows, found.mentions, strict=True) if row != render(mention, text)]
        kept = {"rows": rows, "relations": found.relations}
        if any(kept.values()):
            document.meta["pubtator"] = {kind: lines for kind, lines in kept.items() if lines}
    problems = [replace(problem, path=path, line=problem.line or first) for problem in problems]
    problems.sort(key=lambda problem: problem.line or 0)
    return Scanned(document, problems, path, first, [(path, number) for number in found.numbers])


def _passages(lines: list[tuple[int, str]]) -> tuple[Passage, Passage] | Problem:
    """The title and the abstract, or what keeps the document from being read."""
    number, line = lines[0]
    title = parse_passage(line)
    if title is None:
        message = f"found {line[:_SHOWN]!r}, expected the title that starts a document, such as '1|t|title'"
        return Problem("error", "no title", message, line=number)
    if title.kind == "a":
        message = f"the abstract of {title.id[:_SHOWN]!r} stands without its title; put '{title.id[:_SHOWN]}|t|' before"
        return Problem("error", "no title", message, line=number)
    expected = f"expected '{title.id[:_SHOWN]}|a|' and the abstract, if there is one, below the title"
    if len(lines) == 1:
        return Problem("error", "no abstract", f"found no more lines, {expected}", line=number)
    number, line = lines[1]
    abstract = parse_passage(line)
    if abstract is None or abstract.id != title.id:
        return Problem("error", "no abstract", f"found {line[:_SHOWN]!r}, {expected}", line=number)
    return title, abstract


def _rows(lines: list[tuple[int, str]], name: str, problems: list[Problem]) -> _Rows:
    found = _Rows()
    for number, line in lines:
        start, tab, row = line.partition("\t")
        annotation = parse_annotation(row)
        message = ""
        if not tab or (annotation is None and not is_relation(row)):
            message = f"found {line[:_SHOWN]!r}, expected {EXPECTED_MENTION.format(id=name[:_SHOWN])}"
        elif start != name:
            message = f"the line is of document {start[:_SHOWN]!r}, but stands below {name[:_SHOWN]!r}; move it"
        elif annotation is None:
            found.relations.append(row)
        else:
            found.mentions.append(annotation.mention)
            found.numbers.append(number)
            found.surfaces.append(annotation.surface)
            found.rows.append(row)
        if message:
            problems.append(Problem("error", "PubTator line", message, line=number))
    return found


def _mention_problems(document: Document, found: _Rows) -> list[Problem]:
    problems = []
    units = Units(document.text)
    for i, (mention, surface) in enumerate(zip(document.mentions, found.surfaces, strict=True)):
        problem = _surface_problem(surface, mention, units, place_of(mention, i))
        if problem is not None and mention.start < mention.end:
            problems.append(replace(problem, mention=i, line=found.numbers[i]))
    return problems + other_errors(document, problems, found.numbers)


def _surface_problem(surface: str, mention: Mention, units: Units, place: str) -> Problem | None:
    problem = surface_problem(surface, mention, units, place)
    found = beginning(mention.spans, units.text, 2 * len(surface) + _SHOWN)  # more is no white space at its ends
    if problem is not None and surface.strip() == found.strip() != "":
        message = f"the text {surface[:_SHOWN]!r} has other white space at its ends than what stands at the offsets"
        return Problem("warning", "white space", message, place)
    return problem


PUBTATOR = Format("pubtator", (".pubtator",), scan, write)
