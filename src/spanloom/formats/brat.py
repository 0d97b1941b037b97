"""brat standoff: a ``.txt`` and an ``.ann`` file for each document, or a folder of such pairs.

In place of an ``.ann`` file there may be an ``.a1`` and an ``.a2``, as of BioNLP's shared tasks, and the text may be in
a folder beside, as in CADEC (``text/a.txt``, ``original/a.ann``).

See `spanloom.formats.brat` for the lines. The ``.ann`` file is kept in ``Document.meta["brat"]["ann"]``,
so that a document that did not change is written back byte for byte, also after a stay in JSONL.

Offsets count the characters of the ``.txt`` file as it is: CR LF are two. A byte order mark at its start is no part of
the text, unless the mentions' texts show that the offsets count it; it is written back either way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import StringIO
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

from spanloom.document import Document, Mention, Span
from spanloom.document.surfaces import difference, flat, trimmed
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError, clip, closest
from spanloom.files import STDIO
from spanloom.files.output import output_files, output_folder
from spanloom.formats.attributes import from_texts, held, is_plain
from spanloom.formats.base import (
    ATTRIBUTE_SCORES,
    CONCEPT_SCORES,
    NOTES,
    TWICE,
    Beside,
    Losses,
    Scanned,
    by_key,
    count_mention,
    count_unwritten,
    noted_place,
    notes_of,
    place_of,
    single,
    unwritable,
)
from spanloom.formats.file_names import free_name, put, unescaped, visible
from spanloom.formats.source import decode, read_bytes, text_beside

_BOM = "\ufeff"
_ENDINGS = (".ann", ".a1", ".a2")
_OURS, _CACHE = (".txt", ".ann", ".conf"), ".stats_cache"  # files that are replaced


def scan(path: str | Path, mentions: bool = True) -> Iterator[Scanned]:
    """Yield the documents of a pair (either file may be named) or of a folder with its subfolders, by name.

    Args:
        path: one of the two files, or the folder.
        mentions: if false, the ``.ann`` files are ignored, and not checked.
    """
    if str(path) == STDIO:
        raise UsageError("brat keeps a document in two files and cannot be read from standard input; name a folder")
    root = Path(path)
    if not root.is_dir():
        named = [file for ending in _ENDINGS if (file := root.with_suffix(ending)).exists()]
        yield _scan_pair(root.with_suffix(".txt"), named or [root.with_suffix(".ann")], root.stem, mentions)
        return
    endings = (".txt", *_ENDINGS)
    found = by_key((file.with_suffix(""), file) for file in visible(root) if file.suffix in endings)
    anns = {base: [file for file in files if file.suffix != ".txt"] for base, files in found.items()}
    taken = {text_beside(files[0]) for files in anns.values() if files}
    for base, files in found.items():
        if anns[base] or files[0] not in taken:
            txt = base.with_name(f"{base.name}.txt")
            yield _scan_pair(txt, anns[base], unescaped(base.relative_to(root).as_posix()), mentions)


def _scan_pair(txt: Path, anns: list[Path], name: str, mentions: bool) -> Scanned:
    ann = anns[0] if anns else txt.with_suffix(".ann")
    if not txt.exists() and (beside := text_beside(ann)) is not None:
        txt = beside
    if not txt.exists():
        message = f"no {txt.name} beside it or in one folder beside its folder; brat needs the text of the offsets"
        return Scanned.failed("no text", message, str(ann))
    try:
        text = decode(read_bytes(txt), txt)
        parts = [read_bytes(file) if file.exists() else b"" for file in anns]
        lines = b"".join(part if part.endswith(b"\n") or part is parts[-1] else part + b"\n" for part in parts)
        raw = decode(lines, ann) if mentions else lines.decode("utf-8", "replace")
    except DataError as error:
        return Scanned.failed("unreadable", error.message, error.path or str(txt), error.line)
    found, problems = collect(parse(raw), str(ann))
    kept: dict[str, Any] = {"ann": raw} if raw and mentions else {}
    if text.startswith(_BOM):
        # whether the texts of the mentions match their offsets only if the mark is counted
        pairs = [(sorted(mention.spans), line.surface) for mention, line in found if line.surface]
        fits = [all(difference(one, *pair) is not None for pair in pairs) for one in (text, text.removeprefix(_BOM))]
        counted = fits == [True, False]
        kept["bom"] = "counted" if counted else "removed"
        text = text if counted else text.removeprefix(_BOM)
    if not mentions:
        found, problems = [], []
    document = Document(text, id=name, mentions=[mention for mention, _ in found], meta={"brat": kept} if kept else {})
    places = [(str(ann), line.number) for _, line in found]
    return Scanned(document, problems, str(txt), None, places, Beside([line.surface for _, line in found], "line"))


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a folder of pairs, or one pair for a path that ends in ``.txt`` or ``.ann``.

    A file in a folder is named after its document's ``id`` (``/`` makes subfolders; characters that file names
    cannot hold are written as ``%`` and two digits). Without an ``id`` it is ``document-000001``.
    """
    if str(path) == STDIO:
        raise UsageError("brat keeps a document in two files and cannot go to standard output; name a folder")
    losses, target = Losses(), Path(path)
    if target.suffix in (".txt", ".ann"):
        with output_files([target.with_suffix(".ann"), target.with_suffix(".txt")], force=force) as (ann, txt):
            document = single(documents, path, f"{path} names one document, but there are several; name a folder")
            text, lines = _contents(document, losses, target)
            txt.write(text)
            ann.write(lines)
        return losses
    with output_folder(
        target, force=force, may_replace=lambda old: old.suffix in _OURS or old.name == _CACHE
    ) as folder:
        for old in sorted(target.rglob("*.conf")) if target.is_dir() else ():  # brat's own configuration stays
            put(folder / old.relative_to(target), read_bytes(old), target)
        for number, document in enumerate(documents, start=1):
            name = free_name(folder, document, number, ".txt", target, losses)
            for ending, content in zip((".txt", ".ann"), _contents(document, losses, target), strict=True):
                put(folder / f"{name}{ending}", content, target)
    return losses


def _contents(document: Document, losses: Losses, path: Path) -> tuple[str, str]:
    """Return the ``.txt`` and the ``.ann`` file of a document."""
    kept = document.meta.get("brat", {})
    if not isinstance(kept, dict) or not isinstance(kept.get("ann", ""), str):
        raise unwritable(document, ": meta['brat'] should hold the .ann file under 'ann'; remove it", path)
    lines = render(document, kept.get("ann", ""), losses)
    noted, places = document.meta.get(NOTES), {place_of(one.type, one.spans) for one in document.mentions}
    held = ("brat", NOTES) if isinstance(noted, list) and places.issuperset(map(noted_place, noted)) else ("brat",)
    count_unwritten(losses, document, "tokens", "sentences", "token columns", held=held, inside=("ann", "bom"))
    removed = kept.get("bom") == "removed" or (document.text.startswith(_BOM) and kept.get("bom") != "counted")
    return (_BOM + document.text if removed else document.text), lines


# Parsing and rendering of brat ``.ann`` files, and repair of their mentions.
#
# Text-bound annotations become mentions. So do four kinds of line about them::
#
#     T3   problem 0 11;22 29   infarctions embolic      type and spans (fragments)
#     N1   Reference T3 SPL:0001   cerebral infarction   concept "SPL:0001"
#     #1   Head T3   0 11                                head: start and end
#     #2   Score T3   0.93                               score
#     A1   Negation T3                                   attribute: true
#     A2   Certainty T3 high                             attribute: "high"; M lines are the same
#
# (with tabs between the fields). Notes of `spanloom annotate` are written as ``#3 AnnotatorNotes T3 text``. All other
# lines (R, E, ``*``, other notes, attributes of what is no mention) are kept
# unchanged. Several lines that give one attribute of a mention are one value, joined by ``|``.
#
# brat itself writes fragments in the order in which they were marked, and other tools leave a blank at the end of a
# mention's text or of its offsets. Both are unambiguous, so they are repaired, and reported.

_OFFSETS = r"[0-9]{1,15}[\t ]+[0-9]{1,15}(?: *; *[0-9]{1,15} +[0-9]{1,15})*"
_MENTION = re.compile(rf"(T\S*)[\t ]+(\S+(?: [^\s\d]\S*){{0,9}}?)[\t ]+({_OFFSETS})(?: *\t(.*)| +(.*)| *)", re.DOTALL)
_PLACED = re.compile(r"(?<!\S)\d{1,9}[\t ,]+\d{1,9}(?!\S)")
_BEGIN = re.compile(r"[A-Z#*]\S*\t|T\d+ ")  # of a line
_REFERENCE = re.compile(r"(N\S*)\t *(\S+) +(\S+) +(\S+) *(?:\t(.*))?", re.DOTALL)
_NOTE = re.compile(r"(#\S*)\t *(\S+) +(\S+) *(?:\t(.*))?", re.DOTALL)
_ATTRIBUTE = re.compile(r"([AM]\S*)\t *(\S+) +(\S+)(?: +(.*?))?\s*", re.DOTALL)
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
_NOTES = ("Head", "Score")
_ABOUT = ("concept", "head", "score", "attribute")  # kinds of lines about a mention
GONE = "lines of removed mentions"
SPACED = "types with white space (an underscore stands for each)"
_SPACE = re.compile(r"[\s\0]")
_BRAT_ID = re.compile(r"T[0-9]{1,15}")
_UNHELD = {"concept": "concepts with white space or NUL", "attribute": "attributes that brat cannot hold"}


class StandoffLine(NamedTuple):
    """A line of an ``.ann`` file.

    Args:
        raw: with its line end.
        number: counted from 1.
        id: ``"T3"``, ``"#1"``; empty for ``*`` and for unreadable lines.
        refers: identifiers of the lines that it is about.
        kind: ``"mention"``, ``"concept"``, ``"head"``, ``"score"``, ``"note"``, ``"odd"`` for one that may be misspelt,
            ``"other"``, or ``"unknown"`` if unreadable.
        value: a `Mention`, a concept, a `Span`, a number, name and text of an attribute, or what may be misspelt, after
            the kind.
        surface: the mention's text in its line.
        expected: for an unreadable line of a known kind, its expected form.
    """

    raw: str
    number: int
    id: str = ""
    refers: tuple[str, ...] = ()
    kind: str = "other"
    value: Mention | Span | str | float | tuple[str, str] | None = None
    surface: str | None = None
    expected: str = ""


def parse(ann: str) -> list[StandoffLine]:
    r"""Parse every line of a file; their raw texts joined are the file.

    >>> [(line.id, line.kind, line.refers) for line in parse("T1\tproblem 0 4\tpain\nA1\tNegated T1\n")]
    [('T1', 'mention', ()), ('A1', 'attribute', ('T1',))]
    """
    end = "\r" if "\n" not in ann else "\n"  # as programs of old Macintoshs write
    lines: list[StandoffLine] = []
    continued: dict[int, list[str]] = {}  # lines of a mention's text, by the number of its first among all
    lacks = 0  # characters of the offsets of a mention that its text does not have yet
    for number, raw in enumerate(StringIO(ann, newline=end), start=1):
        if lacks > 0 and not _BEGIN.match(raw):
            continued.setdefault(len(lines) - 1, [lines[-1].raw]).append(raw)
            lacks -= len(raw)
        else:
            lines.append(_line(raw, number))
            mention, surface = lines[-1].value, lines[-1].surface
            spans = mention.spans if isinstance(mention, Mention) and surface else ()
            lacks = sum(end - start for start, end in spans) - len(surface or "")
    for place, raws in continued.items():
        lines[place] = _line("".join(raws), lines[place].number)
    return lines


def _line(raw: str, number: int) -> StandoffLine:
    content = raw.rstrip("\r\n")
    if number == 1:
        content = content.removeprefix("\ufeff")
    found = _fields(content) if content.strip() else ()
    if isinstance(found, str):
        return StandoffLine(raw, number, kind="unknown", expected=found)
    return StandoffLine(raw, number, *found)


def _fields(content: str) -> tuple[Any, ...] | str:
    """Parse a line into the fields of a `StandoffLine`; for an invalid one return what was expected, if known."""
    letter = content[0]
    if letter == "T":
        if (found := _MENTION.fullmatch(content)) is None:
            return EXPECTED["T"]
        offsets = [[int(offset) for offset in span.split()] for span in found[3].split(";")]
        mention = Mention(found[2], tuple(Span(start, end) for start, end in offsets), found[1])
        return found[1], (), "mention", mention, found[4] or found[5] or None
    if letter == "N":
        if (found := _REFERENCE.fullmatch(content)) is None:
            return EXPECTED["N"]
        return found[1], (found[3],), *(("concept", found[4]) if found[2] == "Reference" else ("odd", found[2]))
    if letter == "#" and (found := _NOTE.fullmatch(content)):
        value = _noted(found[2], found[4] or "")
        odd = value == () and closest(found[2], _NOTES)
        return EXPECTED[found[2]] if value is None else (found[1], (found[3],), *(("odd", found[2]) if odd else value))
    if letter in "AM" and (found := _ATTRIBUTE.fullmatch(content)):
        return found[1], (found[3],), "attribute", (found[2], found[4] or "true")
    if letter in "RE" and (found := (_RELATION if letter == "R" else _EVENT).fullmatch(content)):
        arguments = found[3].split() + ([found[2]] if letter == "E" else [])
        return found[1], tuple(argument.partition(":")[2] for argument in arguments)
    if letter == "*" and (found := _EQUIVALENCE.fullmatch(content)):
        return "", tuple(found[3].split())
    return ""


def _noted(kind: str, text: str) -> tuple[Any, ...] | None:
    """Parse the head, the score or the annotator's words in a note; ``None`` if it is invalid."""
    if kind == "AnnotatorNotes":
        return "note", text
    if kind == "Head":
        found = _HEAD.fullmatch(text)
        return None if found is None else ("head", Span(int(found[1]), int(found[2])))
    if kind == "Score":
        with suppress(ValueError):
            return "score", float(text)
        return None
    return ()


def collect(lines: list[StandoffLine], path: str) -> tuple[list[tuple[Mention, StandoffLine]], list[Problem]]:
    """Return the mentions of the lines, each with its T line, in their order; and the problems of the lines."""
    problems = list(_line_problems(lines, path))
    about = by_key((line.refers[0], line) for line in lines if line.kind in _ABOUT)
    found: dict[str, tuple[Mention, StandoffLine]] = {}
    for line in lines:
        if isinstance(line.value, Mention) and line.id not in found:
            found[line.id] = _completed(line.value, about.get(line.id, []), path, problems), line
    return list(found.values()), problems


def _completed(mention: Mention, about: list[StandoffLine], path: str, problems: list[Problem]) -> Mention:
    if not about:
        return mention
    concepts = dict.fromkeys(str(line.value) for line in about if line.kind == "concept")
    single: dict[str, object] = {}
    for line in about:
        if line.kind in single and line.kind in ("head", "score"):
            message = f"a second note {line.kind.title()!r} on {line.refers[0][:_SHOWN]}; a mention has at most one"
            problems.append(Problem("error", "second note", message, path=path, line=line.number))
        single.setdefault(line.kind, line.value)
    head, score, attributes = single.get("head"), single.get("score"), _attributes(about)
    return mention.replace(concepts=tuple(concepts), head=head, score=score, attributes=attributes)


def _attributes(about: Iterable[StandoffLine]) -> dict[str, bool | str]:
    """Return the attributes that lines about one mention give."""
    given = (line.value for line in about if line.kind == "attribute" and isinstance(line.value, tuple))
    texts = by_key((str(name), str(text)) for name, text in given)
    return {name: from_texts(dict.fromkeys(several)) for name, several in texts.items()}


def _line_problems(lines: list[StandoffLine], path: str) -> Iterator[Problem]:
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
                placed = _PLACED.search(line.raw) is not None  # perhaps a mention
                message = f"found {shown}, no line of brat; it is kept unchanged"
                message += f", and no mention is read of it; expected {EXPECTED['T']}" if placed else ""
                kind = "lines with offsets that are not read" if placed else "line"
                yield Problem("warning", kind, message, path=path, line=line.number, altered=placed)
        if line.kind == "odd":
            expected = "Reference" if line.id.startswith("N") else closest(line.value, _NOTES)
            message = f"found {clip(str(line.value), _SHOWN)}, which is not read; {expected} may be meant; it is kept"
            yield Problem("warning", "lines not read", message, path=path, line=line.number, altered=True)
        if line.id and line.id in seen:
            severity = "error" if line.kind == "mention" else "warning"
            message = f"the identifier {line.id[:_SHOWN]} is on line {seen[line.id]} too; give each line its own"
            yield Problem(severity, "duplicate identifier", message, path=path, line=line.number)  # type: ignore[arg-type]
        seen.setdefault(line.id, line.number)
        for target in line.refers:
            lost = line.kind in _ABOUT
            if target not in known:
                message = f"{line.id[:_SHOWN] or '*'} is about {target[:_SHOWN]}, and there is no such line; it is kept"
                yield Problem("warning", "dangling", message, path=path, line=line.number, altered=lost)
            elif line.kind in ("head", "score") and target not in mentions:
                target = f"{target[:_SHOWN]}, which is no mention"
                message = f"{line.id[:_SHOWN]} gives a {line.kind} to {target}; it is kept"
                yield Problem("warning", "dangling", message, path=path, line=line.number, altered=True)


def read_as(mention: Mention, surface: str | None, text: str) -> Mention | None:
    """Return the mention as which a line is read if its offsets count characters; ``None`` if it fits no text so.

    >>> read_as(Mention("problem", [(15, 19), (0, 5)]), "pain mild", "mild or severe pain").spans
    (Span(start=0, end=4), Span(start=15, end=19))
    """
    ordered = sorted(mention.spans)
    if surface is not None and all(difference(text, spans, surface) is None for spans in (mention.spans, ordered)):
        return None
    if not all(0 <= start <= end <= len(text) for start, end in ordered):
        return None
    return trimmed(mention.replace(spans=ordered), text)


def render(document: Document, previous: str, losses: Losses) -> str:
    r"""Return the ``.ann`` file of a document.

    Args:
        document: as it is now.
        previous: the ``.ann`` file as it was read, empty if there was none. A line stays as it is, byte for byte,
            as long as it is true; lines of removed mentions are removed, with all lines about them.
        losses: counts removed lines, and data that brat cannot represent.

    >>> document = Document("mild pain", mentions=[Mention("problem", [(5, 9)], concepts=["SPL:1"])])
    >>> render(document, "", Losses())
    'T1\tproblem 5 9\tpain\nN1\tReference T1 SPL:1\tSPL:1\n'
    """
    lines = parse(previous)
    by_id = _identified(document, lines, losses)
    gone = _gone(lines, by_id)
    about = by_key((line.refers[0], line) for line in lines if line.kind == "attribute")
    read = {name: _attributes(own) for name, own in about.items()}
    given, kept = notes_of(document.meta), _notes(lines)
    notes = {name: given.get(place_of(mention.type, mention.spans)) for name, mention in by_id.items()}
    of_each = (_statements(name, mention, document.text, notes[name]) for name, mention in by_id.items())
    statements = dict(chain.from_iterable(of_each))
    new = dict(statements)
    written: list[str] = []
    for line in lines:
        if (line.id and line.id in gone) or not gone.isdisjoint(line.refers):
            losses.add(GONE)
            continue
        name, raw = line.refers[0] if line.refers else line.id, line.raw
        mention = by_id.get(name)
        value: object = line.value
        if isinstance(value, Mention):
            true = None if mention is None else read_as(value, line.surface, document.text)
            if mention is not None and (true is None or true.key != mention.key):
                raw = _mention_line(name, mention, document.text) + _line_end(raw)
                losses.add(SPACED, _SPACE.search(mention.type) is not None)
            value = None
        elif line.kind == "attribute" and isinstance(value, tuple):
            value = str(value[0]), read[name][str(value[0])]
        note = notes.get(name) if line.kind == "note" else None
        if note is not None and note.split() == kept[name].split():
            value = note
        if mention is None or (line.kind not in _ABOUT and note is None) or (name, line.kind, value) in statements:
            written.append(raw)
            new.pop((name, line.kind, value), None)
    for mention in by_id.values():
        losses.add(TWICE, len(mention.concepts) - len(set(mention.concepts)))
        count_mention(losses, mention, ATTRIBUTE_SCORES, CONCEPT_SCORES)
    end = _line_end(lines[0].raw) or "\n" if lines else "\n"
    numbers = _numbers(lines, by_id)
    for (name, kind, _), (letter, content) in new.items():
        losses.add(SPACED, kind == "mention" and _SPACE.search(by_id[name].type) is not None)
        if content is None:
            losses.add(_UNHELD[kind])
            continue
        if written and not written[-1].endswith(("\n", "\r")):
            written[-1] += end
        written.append((f"{letter}{next(numbers[letter])}\t" if letter else "") + content + end)
    return "".join(written)


def _line_end(raw: str) -> str:
    return raw[len(raw.rstrip("\r\n")) :]


_Statement = tuple[str, str, object]


def _statements(
    name: str, mention: Mention, text: str, note: str | None
) -> Iterator[tuple[_Statement, tuple[str, str | None]]]:
    """Yield the content of the lines about a mention: identifier, kind and value; a letter, and the line behind it.

    A line that brat cannot hold is ``None``; that of the mention itself is whole, and without a letter.
    """
    yield (name, "mention", None), ("", _mention_line(name, mention, text))
    for concept in mention.concepts:
        sound = concept and not re.search(r"[\s\0]", concept)
        yield (name, "concept", concept), ("N", f"Reference {name} {concept}\t{concept}" if sound else None)
    if mention.head is not None:
        yield (name, "head", mention.head), ("#", f"Head {name}\t{mention.head.start} {mention.head.end}")
    if mention.score is not None:
        yield (name, "score", mention.score), ("#", f"Score {name}\t{float(mention.score)!r}")
    texts, _ = held(mention, is_plain)
    for one, value in mention.attributes.items():
        line = f"{one} {name}{'' if texts.get(one) == 'true' else f' {texts.get(one)}'}"
        yield (name, "attribute", (one, value)), ("A", line if one in texts else None)
    if note:
        yield (name, "note", note), ("#", f"AnnotatorNotes {name}\t{' '.join(note.split())}")


def kept_notes(meta: Mapping[str, Any]) -> dict[str, str]:
    """Return the notes of annotators in the ``.ann`` file that a document was read from, by what they are about.

    >>> kept_notes({"brat": {"ann": "T1\\tproblem 0 4\\tpain\\n#1\\tAnnotatorNotes T1\\tunsure\\n"}})
    {'T1': 'unsure'}
    """
    kept = meta.get("brat")
    ann = kept.get("ann") if isinstance(kept, dict) else None
    return _notes(parse(ann)) if isinstance(ann, str) and "AnnotatorNotes" in ann else {}


def _notes(lines: Iterable[StandoffLine]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if line.kind == "note":
            found[line.refers[0]] = f"{found.get(line.refers[0], '')}\n{line.value}".strip()
    return found


def _identified(document: Document, lines: list[StandoffLine], losses: Losses) -> dict[str, Mention]:
    """Return each mention under its identifier in the file, in the document's order."""
    free = _numbers(lines, (mention.id or "" for mention in document.mentions))["T"]
    by_id: dict[str, Mention] = {}
    old = {line.id for line in lines if line.kind == "mention"}
    other = {line.id for line in lines} - old
    for mention in document.mentions:
        name = mention.id
        usable = name is not None and name not in by_id and (name in old or _BRAT_ID.fullmatch(name) is not None)
        if name is None or not usable or name in other:
            losses.add("mention identifiers", int(name is not None))
            name = f"T{next(free)}"
        by_id[name] = mention
    return by_id


def _gone(lines: list[StandoffLine], by_id: dict[str, Mention]) -> set[str]:
    """Return the identifiers of T lines without a mention, and of all lines about them, directly or not."""
    left = ((line.id, line.value) for line in lines if line.id not in by_id)  # one of no character is kept in the file
    gone = {name for name, one in left if isinstance(one, Mention) and any(start < end for start, end in one.spans)}
    size = -1
    while gone and size != len(gone):
        size = len(gone)
        gone |= {line.id for line in lines if line.id and not gone.isdisjoint(line.refers)}
    return gone


def _mention_line(name: str, mention: Mention, text: str) -> str:
    parts = [part for span in mention.spans for part in _parts(span, text)]
    surface = " ".join(text[start:end] for start, end in parts)
    spans = ";".join(f"{start} {end}" for start, end in parts)
    return f"{name}\t{_SPACE.sub('_', mention.type)} {spans}\t{flat(surface)}"


def _parts(span: Span, text: str) -> Iterator[Span]:
    """Yield the fragments of a span, which brat divides at line ends; blanks beside these are left out."""
    piece = text[span.start : span.end]
    lines = re.finditer(r"\S(?:[^\r\n]*\S)?", piece) if re.search("[\r\n]", piece) else ()
    found = [Span(span.start + line.start(), span.start + line.end()) for line in lines]
    yield from found or [span]


def _numbers(lines: list[StandoffLine], names: Iterable[str]) -> dict[str, Iterator[int]]:
    """Return the free numbers of each letter of identifiers: no line has them, old and removed ones included."""
    last = {"T": 0, "N": 0, "#": 0, "A": 0}
    for name in [*(line.id for line in lines), *names]:
        if name[:1] in last and name[1:].isascii() and name[1:].isdigit():
            last[name[0]] = max(last[name[0]], int(name[1:16]))
    return {letter: count(number + 1) for letter, number in last.items()}
