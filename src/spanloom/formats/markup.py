"""Annotation in XML, and in text with markup, of any program.

Three layouts are read, the first that a file has::

    <note><TEXT>No pain.</TEXT><TAGS><PROBLEM start="3" end="7"/></TAGS></note>     elements with offsets
    <doc><s>No <problem>pain</problem>.</s></doc>                                   elements around mentions
    No <problem>pain</problem>, no [fever](problem).                                markup in text that is no XML

1. An element with offsets belongs to the nearest element above it that has a text: an attribute or an element of
   that name. Each such element is a document, and is read as a record of another tool is.
2. Without offsets, an element around a mention is known by its place: at least once there is text beside it. Others,
   such as sentences, only divide the text. The elements taken are reported.
3. Elements without text and without offsets, such as relations, are counted, and not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from lxml import etree

from spanloom.document import Document, Mention
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip, plural
from spanloom.files import STDIO
from spanloom.formats.answers.parsing import read_markup
from spanloom.formats.base import Scanned, altered
from spanloom.formats.inline_marks import SHAPE, read_marks, unpaired, with_usual_marks
from spanloom.formats.layouts import USUAL, plain, words
from spanloom.formats.looks import TYPED, advice, shows_elements
from spanloom.formats.record import scan_record
from spanloom.formats.source import BOM, bare, decode, opened, read_bytes

_STARTS: Final = (*USUAL["start"], "startnode", "charoffset", "charoffsets", "spans", "span", "offsets")
_ENDS: Final = (*USUAL["end"], *USUAL["length"], "endnode")
_PAIRS: Final = re.compile(r"\d{1,15}\s*[-~:,]\s*\d{1,15}(?:\s*[;,]\s*\d{1,15}\s*[-~:]\s*\d{1,15})*")
_PAIR: Final = re.compile(r"(\d+)\s*[-~:,]\s*(\d+)")
_TEXTS: Final = words("text textwithnodes rawtext documenttext fulltext content body")
_SURFACES: Final = ("text", "spannedtext", "mentiontext")
_WORDS: Final = ("w", "tok", "token")
_INLINE: Final = (*_WORDS, *words("a b i em strong u sub sup span font italic bold underline xref ref extlink hi c pc"))
_OF_WORDS: Final = frozenset((*SHAPE, "tokens", "words", "text"))  # elements around all words
_DOCUMENTS: Final = ("doc", "document", "article", "record", "note")
_PARTS: Final = frozenset(words("token spacetoken sentence split paragraph w wf"))  # with offsets, and no mentions
_DIVIDED: Final = re.compile(
    r"<DOC(?:UMENT)?\b[^<>]{0,300}>(?:(?!<DOC(?:UMENT)?\b)(?s:.))*?</DOC(?:UMENT)?>", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"<DOC(?:NO|ID)>\s*([^<>\s]{1,200})\s*</DOC(?:NO|ID)>", re.IGNORECASE)
_KINDS: Final = words(
    "type sem label category entitytype class subtype contenttype dataentity datatype datalabel categ"
)  # attributes with the type of a mention
_LONGEST: Final = 100  # characters of an element whose parts are mentions, too
_FEW_PIECES: Final = 20
_NEAR: Final = 200  # characters before and behind a mark in which others of its line must show
_LOOKED_AT: Final = 1 << 20  # bytes in which annotation must show
_OFFSET: Final = re.compile(
    rb"""\s(?:start|begin|from|char[_-]?offset|spans?|offset|startnode)\w*\s*=\s*["']\d""", re.IGNORECASE
)
_AROUND_WORDS: Final = re.compile(rb"</(?:w|tok|token)>\s{0,99}</(\w{1,60})>")
_OPENING: Final = re.compile(rb"\s*<")


def claims(path: Path) -> bool:
    """Return whether a file of XML shows annotation that is read here."""
    if bare(path).suffix.lower() != ".xml" or not path.is_file():
        return False
    with opened(path) as file:
        head = file.read(_LOOKED_AT)
    around = {plain(name.decode("utf-8", "replace")) for name in _AROUND_WORDS.findall(head)}
    return bool(_OFFSET.search(head) or around - _OF_WORDS) or shows_elements(head.decode("utf-8", "replace"))


def scan(path: str | Path, mentions: bool = True, stem: str | None = None) -> Iterator[Scanned]:
    """Yield the documents of a file.

    Args:
        path: the file, or ``-``.
        mentions: if false, mentions are left out.
        stem: the identifier of its only document; the file's name without its ending if not given.
    """
    raw = read_bytes(path).removeprefix(BOM)
    name = stem or bare(Path(path)).stem
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(raw, parser) if _OPENING.match(raw) else None
    except (etree.XMLSyntaxError, ValueError) as error:
        if raw.lstrip().startswith(b"<?xml"):
            raise DataError(f"not XML: {clip(str(error))}; correct it", path=path) from error
        root = None
    if root is None:
        yield from _of_texts(decode(raw, path), path, name, mentions)
        return
    owned = _owned(root)
    found = list(_with_offsets(owned, path, name, mentions)) if owned else list(_around(root, path, name, mentions))
    divided = Counter(kind for nodes in owned.values() for kind in map(_type, nodes) if plain(kind) in _PARTS)
    if divided and mentions:
        shown = ", ".join(f"{clip(kind)} ({count:,})" for kind, count in divided.most_common(5))
        message = f"annotations that divide the text, and are no mentions, are left out: {shown}"
        found.append(Scanned.altered("annotations that divide the text", message, str(path)))
    others = (node for node in root.iter("*") if owned and node.attrib and not (len(node) or node.text))
    unread = Counter(_tag(node) for node in others if not _offsets(node) and _tag(node) != "Node")
    if unread and mentions:
        shown = ", ".join(f"<{one[:40]}>" for one, _ in unread.most_common(5))
        message = f"{plural(unread.total(), 'element')} without offsets and text, such as {shown}: not read"
        found.append(Scanned.altered("elements not read", message, str(path)))
    yield from found


def _tag(node: Any) -> str:
    return etree.QName(node).localname if isinstance(node.tag, str) else ""


def _attributes(node: Any) -> dict[str, str]:
    """Return the attributes of an element by their names without case and marks."""
    return {plain(etree.QName(name).localname): value for name, value in node.attrib.items()}


def _offsets(node: Any) -> dict[str, str]:
    """Return the attributes of an element with offsets; none if it lacks them."""
    named = _attributes(node)
    starts = {name: named[name] for name in _STARTS if name in named}
    if any(_PAIRS.fullmatch(value.strip()) for value in starts.values()):
        return {name: value for name, value in starts.items() if _PAIRS.fullmatch(value.strip())}
    ends = {name: named[name] for name in _ENDS if name in named}
    both = {name: value for name, value in (starts | ends).items() if value.strip().isdecimal()}
    return both if both.keys() & starts and both.keys() & ends else {}


def _owned(root: Any) -> dict[Any, list[Any]]:
    """Return each element that has a text -> the elements with offsets about it."""
    found: dict[Any, list[Any]] = {}
    has_text = cache(lambda element: _text(element) is not None)  # each element above others is looked at once
    for node in root.iter("*"):
        above = next(filter(has_text, node.iterancestors()), None) if _offsets(node) else None
        if above is not None:
            found.setdefault(above, []).append(node)
    return found


def _text(node: Any) -> str | None:
    """Return the text of an element that others are about, or ``None``."""
    if (text := _attributes(node).get("text")) is not None:
        return text
    named = (one for one in node if plain(_tag(one)) in _TEXTS)
    child = next((one for one in named if not _offsets(one) and not any(map(_offsets, one))), None)
    return None if child is None else "".join(child.itertext())


def _with_offsets(owned: dict[Any, list[Any]], path: str | Path, name: str, mentions: bool) -> Iterator[Scanned]:
    for owner, nodes in owned.items():
        ids = [value for one, value in owner.attrib.items() if plain(one) in ("id", "docid", "documentid", "name")]
        record: dict[str, Any] = {"id": ids[0] if ids else name if len(owned) == 1 else "", "text": _text(owner)}
        entities = [_entity(node) for node in nodes if plain(_type(node)) not in _PARTS]
        yield from scan_record(record | {"entities": entities}, mentions, path=str(path), line=owner.sourceline)


def _entity(node: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in _offsets(node).items():
        if value.strip().isdecimal():
            values[{"startnode": "start", "endnode": "end"}.get(name, name)] = int(value)
        else:
            values = {"spans": [[int(start), int(end)] for start, end in _PAIR.findall(value)]}
    inner = next((one for one in node if plain(_tag(one)) in _SURFACES), node)
    surface = node.get("text") or ("" if len(inner) else "".join(inner.itertext()).strip())
    given = {"text": surface} if surface else {}
    return {**values, "type": _type(node), **given} | ({"id": node.get("id")} if node.get("id") else {})


def _type(node: Any) -> str:
    named = _attributes(node)
    kind = next((named[name] for name in _KINDS if named.get(name)), None)
    return _tag(node) if kind is None else re.sub(r"^\w#", "", kind)


def _around(root: Any, path: str | Path, name: str, mentions: bool) -> Iterator[Scanned]:
    """Yield the documents of XML with elements around mentions."""
    kinds = {
        _tag(node)
        for above in root.iter()
        if any((text or "").strip() for text in (above.text, *(node.tail for node in above)))
        or any(plain(_tag(node)) in _WORDS for node in above)
        for node in above
        if _may_mark(node)
    }
    kinds |= {  # parts of a mention, such as forename and surname
        _tag(part)
        for node in root.iter()
        if _tag(node) in kinds and sum(map(len, islice(node.itertext(), _FEW_PIECES))) <= _LONGEST
        for part in islice(node.iterdescendants(), _FEW_PIECES)
        if _may_mark(part) and (part.text or "").strip()
    }
    documents = [node for node in root if plain(_tag(node)) in _DOCUMENTS] or [root]
    if not kinds:
        placed = next((_tag(node) for node in root.iter("*") if _offsets(node)), None)
        what = "no element has offsets, or is around words of a text"
        if placed is not None:
            what = f"<{placed[:40]}> has offsets, and no element above it has a text, as an attribute or element text"
        hint = None if str(path) == STDIO else advice(Path(path))
        message = f"no annotation found in <{_tag(root)[:40]}>: {what}; get the text out first (xmllint --xpath)"
        raise DataError(f"not read: {hint}" if hint else message, path=path)
    taken: Counter[str] = Counter()
    for number, node in enumerate(documents, start=1):
        parts: list[str] = []
        marks: list[tuple[str, Mention]] = []
        _walk(node, kinds, parts, marks)
        text = "".join(parts)
        own = name if len(documents) == 1 else node.get("id") or f"{name}-{number}"
        marks = [(tag, mark) for tag, mark in marks if text[mark.start : mark.end].strip()] if mentions else []
        taken.update(tag for tag, _ in marks)
        yield Scanned(Document(text, id=own, mentions=[mark for _, mark in marks]), [], str(path), node.sourceline)
    yield from _taken(taken, path)


def _may_mark(node: Any) -> bool:
    """Return whether an element may be around a mention, and does not only shape the text."""
    name = plain(_tag(node))
    typed = name not in SHAPE or (name in TYPED and _type(node) != _tag(node))
    return isinstance(node.tag, str) and typed  # an entity that is not resolved has no name


def _taken(taken: Mapping[str, int], path: str | Path) -> Iterator[Scanned]:
    """Yield the notice of the elements that were taken for mentions."""
    if taken:
        shown = ", ".join(f"<{tag[:40]}> ({count:,})" for tag, count in Counter(taken).most_common(20))
        message = f"taken for mentions: {shown}; to choose among them, name their types (--types A,B)"
        yield Scanned.altered("elements taken for mentions", message, str(path))


def _walk(root: Any, kinds: set[str], parts: list[str], marks: list[tuple[str, Mention]]) -> None:
    """Add the pieces of the text of an element, and its mentions; elements that only divide the text are on lines."""
    length = 0
    opened: list[int] = []
    for event, node in etree.iterwalk(root, events=("start", "end")):
        mark = _tag(node) in kinds and node is not root and _may_mark(node)
        piece = (node.text if event == "start" else node.tail if node is not root else None) or ""
        if event == "end" and mark:
            start = opened.pop()
            if length > start:
                marks.append((_tag(node), Mention(_type(node), [(start, length)])))
        elif event == "start" and mark:
            opened.append(length)
        elif event == "end" and not mark and parts and not parts[-1].endswith(("\n", " ")) and not piece.strip():
            piece = "\n" + piece.lstrip() if plain(_tag(node)) not in _INLINE else piece
        parts.append(piece)
        length += len(piece)


def _of_texts(text: str, path: str | Path, name: str, mentions: bool) -> Iterator[Scanned]:
    """Yield the documents of text with markup; several, if elements divide it."""
    parts = [(one.start(), one[0]) for one in _DIVIDED.finditer(text)]
    several = len(parts) > 1
    taken: Counter[str] = Counter()
    line, last = 1, 0
    for number, (start, part) in enumerate(parts if several else [(0, text)], start=1):
        line, last = line + text.count("\n", last, start), start
        own = _NUMBER.search(part) if several else None
        named = f"{name}-{number}" if several else name
        document, problems = _of_text(part, path, named if own is None else own[1], mentions, line)
        taken.update(mark.type for mark in document.mentions)
        yield Scanned(document, problems, str(path))
    yield from _taken(taken, path)


def _of_text(text: str, path: str | Path, name: str, mentions: bool, line: int) -> tuple[Document, list[Problem]]:
    """Return the document of a text with marks, whose first line has a number.

    Elements that never have words beside them on their line, such as ``<DOC>``, only divide the text.
    """
    problems: list[Problem] = []
    given = with_usual_marks(text)
    if (own := read_marks(text)) is not None:
        given = text
        text, found, alone = own
    else:
        alone = unpaired(given)
        read = read_markup(given, "")
        marked = [(mark.type or "mention", mark.start, mark.end) for mark in read.marks if mark.type or "@@" in text]
        found = [mark for mark in marked if plain(mark[0]) not in SHAPE]
        text = read.text
        kinds = {kind for kind, start, end in found if _is_within_line(text, start, end)}
        found = [one for one in found if one[0] in kinds] if kinds else found
    last = 0
    for at, mark in alone if mentions else ():
        line, last = line + given.count("\n", last, at), at
        message = f"found {clip(mark, 40)} without its other half; no mention is read there: add the other half"
        problems.append(altered("marks without their other half", message, line, str(path)))
    marks = [Mention(kind, [(start, end)]) for kind, start, end in found if mentions and text[start:end].strip()]
    marks.sort(key=lambda mark: (mark.start, -mark.end))
    return Document(text, id=name, mentions=marks), problems


def _is_within_line(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text has others before or behind it on its line."""
    before = text[max(0, start - _NEAR) : start].rpartition("\n")[2]
    return bool(before.strip() or text[end : end + _NEAR].partition("\n")[0].strip())
