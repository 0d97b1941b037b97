"""The one step behind all readers that compares mentions with their texts in the file, and repairs them.

A reader yields mentions with offsets as the file has them, and beside them the texts that the file gives (`Beside`).
Here

1. the way of counting is found out for each file: where texts do not fit offsets in characters, and fit under another
   way of counting, all of the file is read so, and it is reported once;
2. parts are put in text order, those with a line end and blanks between them are joined, white space at the ends of
   spans is left out, and differences between a text and the
   text at its offsets that have one meaning are accepted (`spanloom.document.surfaces`), each counted by its kind;
3. mentions of no character are left out and counted;
4. all else that is wrong is an error.

The way of counting is decided at the first document that does not fit, from up to 64 documents before it and behind it:
every one of them that fits in any way has to fit in this one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import Final

from spanloom.document import Document, Mention
from spanloom.document.counting import CountedText, Counting, shifts
from spanloom.document.surfaces import beginning, difference, has_blank_ends, trimmed
from spanloom.document.validate import Problem, find_errors, place_of
from spanloom.errors import clip
from spanloom.formats.base import Beside, Scanned, Surface, altered

_CHARACTERS: Final = Counting()
_AROUND: Final = 64  # documents that are looked at
_SHOWN: Final = 60  # characters of a text in a message
_MOST: Final = 5_000  # mentions of a document by which a way of counting is judged
_JUDGED, _FEWEST, _NEARLY_ALL = 200, 4, 0.7  # mentions of a file by whose ends it is judged, and the share of those
_DIFFERS: Final = {
    "white space": "other white space",
    "marks of gaps": "marks of gaps in a text",
    "spelling of characters": "other spelling of characters",
}


def settled(scans: Iterable[Scanned], counting: Counting | None = None, mentions: bool = True) -> Iterator[Scanned]:
    """Yield records with checked and repaired mentions.

    Args:
        scans: of one input.
        counting: of offsets; found out for each file if not given.
        mentions: if false, mentions are left out, and not checked.
    """
    for path, own in groupby(scans, key=lambda scanned: scanned.path):
        if mentions and counting is None:
            yield from _of_file(own, path)
            continue
        for scanned in own:
            if scanned.document is None:
                yield scanned
            elif mentions:
                yield _settled(scanned, counting or _CHARACTERS)
            else:
                scanned.document.mentions = []
                problems = scanned.problems and [problem for problem in scanned.problems if problem.mention is None]
                yield _checked(scanned._replace(problems=problems), scanned.document)


def _of_file(scans: Iterator[Scanned], path: str) -> Iterator[Scanned]:
    """Yield the records of a file, whose way of counting is found out."""
    waiting: deque[Scanned] = deque()
    before: deque[Scanned] = deque(maxlen=_AROUND)
    found, reported, cut = _CHARACTERS, False, list[bool]()
    while (scanned := waiting.popleft() if waiting else next(scans, None)) is not None:
        if scanned.document is None:
            yield scanned
            continue
        if len(cut) < _JUDGED:
            cut += _cut_ends(scanned)
        surfaces = () if scanned.beside is None else scanned.beside.surfaces
        clean = found is _CHARACTERS and _is_clean(scanned)
        if found is _CHARACTERS and not clean and not _fits(scanned, found, CountedText(scanned.document.text)):
            waiting += islice(scans, _AROUND - len(waiting))
            found = _decided([scanned, *before, *waiting]) or _CHARACTERS
        elif found is _CHARACTERS and any(surface is not None for surface in surfaces):
            before.append(scanned)
        result = _checked(scanned, scanned.document) if clean else _settled(scanned, found)
        if found is not _CHARACTERS and not reported:
            reported = True
            message = f"offsets are counted {found}; they were converted to characters"
            where, line = scanned.place_of(0)
            result.problems.insert(0, altered("unit of offsets", message, line, where))
        yield result
    if sum(cut) >= max(_FEWEST, _NEARLY_ALL * len(cut)):
        shown = f"{sum(cut):,} of the first {len(cut):,} mentions end one character before the end of a word"
        message = f"{shown}; if their ends are included, name it (--offsets inclusive)"
        yield Scanned.altered("ends within words", message, path)


def _cut_ends(scanned: Scanned) -> Iterator[bool]:
    """Yield for each mention of which the file gives no text whether it ends one character before the end of a word."""
    document, beside = scanned.document, scanned.beside
    if document is None or beside is None:
        return
    text = document.text
    for mention, surface in zip(document.mentions, beside.surfaces, strict=True):
        end = mention.end
        if surface is None and 0 < end < len(text):
            last = text[end + 1 : end + 2]
            yield text[end - 1].isalnum() and text[end].isalnum() and not (last.isalnum() or text[end] >= "\u2e80")


def settled_one(scanned: Scanned) -> Scanned:
    """Return a record with checked and repaired mentions, by itself."""
    return next(settled([scanned]))


def _given(scanned: Scanned) -> Sequence[tuple[Mention, Surface]]:
    """Return the mentions with a text in the file, as many as are looked at."""
    if scanned.document is None or scanned.beside is None:
        return []
    pairs = zip(scanned.document.mentions, scanned.beside.surfaces, strict=True)
    return [(mention, surface) for mention, surface in pairs if surface is not None][:_MOST]


def _fits(scanned: Scanned, counting: Counting, text: CountedText) -> bool:
    """Return whether all texts that the file gives fit the offsets, counted so."""
    for mention, surface in _given(scanned):
        if counting is _CHARACTERS and _is_whole(mention, surface, text.text):
            continue
        if _kinds(mention, surface, counting, text) is None:
            return False
        if counting is not _CHARACTERS and isinstance(surface, str) and surface == surface.strip():
            start, end = counting.to_characters(text, (mention.start, mention.end)) or (0, 0)
            if text.text[start:end].strip() != text.text[start:end]:
                return False  # one that is nearly right takes a blank for a letter
    return True


def _is_clean(scanned: Scanned) -> bool:
    """Return whether there is nothing to do for any mention, as in most documents."""
    document, beside = scanned.document, scanned.beside
    if document is None or not document.mentions:
        return True
    beside = beside or Beside([None] * len(document.mentions))
    text, needed = document.text, bool(beside.source)
    return all(
        _is_whole(mention, surface, text) and not (needed and surface is None)
        for mention, surface in zip(document.mentions, beside.surfaces, strict=True)
    )


def _is_whole(mention: Mention, surface: Surface, text: str) -> bool:
    """Return whether there is nothing to do for a mention: one span, not blank at its ends, with its text."""
    if len(mention.spans) > 1:
        return False
    ((start, end),) = mention.spans
    if not 0 <= start < end <= len(text) or text[start].isspace() or text[end - 1].isspace():
        return False
    return surface is None or surface == text[start:end]


def _kinds(mention: Mention, surface: Surface, counting: Counting, text: CountedText) -> set[str] | None:
    """Return in which ways a mention's text in the file differs from that at its offsets; ``None`` if it is another."""
    spans = [counting.to_characters(text, span) for span in mention.spans]
    whole = [span for span in spans if span is not None]
    if len(whole) < len(spans):
        return None
    if isinstance(surface, str):
        orders = (whole, sorted(whole)) if len(whole) > 1 else (whole,)
        found = (difference(text.text, order, surface) for order in orders)
        kind = next((kind for kind in found if kind is not None), None)
        return None if kind is None else {kind}
    parts = zip(whole, surface or (), strict=True)
    kinds = {difference(text.text, [span], part) for span, part in parts if part is not None}
    return None if None in kinds else {kind for kind in kinds if kind is not None}


def _decided(scans: Sequence[Scanned]) -> Counting | None:
    """Return the only way of counting under which all of these fit that fit in any; ``None`` without a unique one.

    The first of them must not fit in characters.
    """
    judged = [(one, CountedText(one.document.text)) for one in scans if one.document is not None and _given(one)]
    first, text = judged[0]
    ways = text.countings
    pairs = [(mention, surface) for one, _ in judged for mention, surface in _given(one)]
    if len(pairs) > 1:
        mention, surface = next(pair for pair in _given(first) if _kinds(*pair, _CHARACTERS, text) is None)
        known = surface if isinstance(surface, str) else next(filter(None, surface or ()), "")
        ways += shifts(text.text, mention.start, known)
    ways = [way for way in ways if _fits(first, way, text)]
    for one, of_one in judged[1:]:
        fitting = [way for way in ways if _fits(one, way, of_one)]
        if fitting or _fits(one, _CHARACTERS, of_one):
            ways = fitting
    if not ways:
        return None
    simple = [way for way in ways if way.oddities == ways[0].oddities]
    readings = {
        tuple(way.to_characters(of_one, span) for one, of_one in judged for m, _ in _given(one) for span in m.spans)
        for way in simple
    }
    return ways[0] if len(readings) == 1 else None


def _settled(scanned: Scanned, counting: Counting) -> Scanned:
    document = scanned.document
    assert document is not None
    beside = scanned.beside or Beside([None] * len(document.mentions))
    counting = counting if scanned.beside is not None else _CHARACTERS  # others have no offsets of characters
    text = CountedText(document.text)
    problems, kept = [], []
    mentions: list[Mention] = []
    for i, (given, surface) in enumerate(zip(document.mentions, beside.surfaces, strict=True)):
        whole = counting is _CHARACTERS and _is_whole(given, surface, document.text) and (surface or not beside.source)
        mention, found = (given, []) if whole else _repaired(given, surface, counting, text, beside.source)
        if mention is not None:
            kept.append(i)
            mentions.append(mention)
        if not found:
            continue
        name = beside.names[i] if beside.names is not None else place_of(given, i)
        path, line = scanned.place_of(i)
        index = None if mention is None else len(mentions) - 1
        problems += [replace(one, place=name, mention=index, path=path, line=line) for one in found]
    number = {old: new for new, old in enumerate(kept)}
    problems += [
        one if one.mention is None else replace(one, mention=number[one.mention])
        for one in scanned.problems
        if one.mention is None or one.mention in number
    ]
    names = None if beside.names is None else [beside.names[i] for i in kept]
    scanned = scanned._replace(
        problems=problems,
        beside=None if scanned.beside is None else beside._replace(names=names, surfaces=[None] * len(kept)),
        mention_places=scanned.mention_places and [scanned.mention_places[i] for i in kept],
    )
    if mentions != document.mentions:
        document = document.copy(mentions=mentions)
    if document.sections and counting is not _CHARACTERS:
        sections = [(name, counting.to_characters(text, span) or span) for name, span in document.sections]
        document = document.copy(sections=sections)
    return _checked(scanned, document)


def _checked(scanned: Scanned, document: Document) -> Scanned:
    """Return a record with the errors of its document, where the reader left them to this step."""
    found, beside = scanned.problems, scanned.beside
    if beside is not None:
        found = [*found]
        if errors := find_errors(document):
            wrong = {problem.mention for problem in found if problem.severity == "error"} - {None}
            for error in errors:
                if error.mention not in wrong:
                    path, line = scanned.place_of(error.mention)
                    named = None if beside.names is None or error.mention is None else beside.names[error.mention]
                    found.append(replace(error, path=path, line=line, place=error.place if named is None else named))
        if beside.within:
            found = [replace(one, place=f"{beside.within}: {one.place}".removesuffix(": ")) for one in found]
        if len(found) > 1:
            found.sort(key=lambda problem: problem.line or 0)
    return Scanned(document, found, scanned.path, scanned.line, scanned.mention_places)


def _repaired(
    given: Mention, surface: Surface, counting: Counting, text: CountedText, source: str
) -> tuple[Mention | None, list[Problem]]:
    """Return a mention in characters, with what was repaired or is wrong; ``None`` if it has no character."""
    problems: list[Problem] = []

    def report(kind: str, message: str) -> None:
        problems.append(altered(kind, message))

    spans = [counting.to_characters(text, span) for span in given.spans]
    if None in spans:
        message = f"{_spans(given)} begins or ends inside a character, counted {counting}"
        return given, [Problem("error", "unit of offsets", message)]
    mention = given
    if counting is not _CHARACTERS:
        head = None if given.head is None else counting.to_characters(text, given.head)
        mention = given.replace(spans=spans, head=head)
    if len(mention.spans) > 1 and (ordered := sorted(mention.spans)) != list(mention.spans):
        report("fragments out of order", f"the fragments {_spans(mention)} are out of text order; they were sorted")
        mention = mention.replace(spans=ordered)
    kinds = None
    if surface is None and source:
        message = f"the {source} gives no text, so its offsets cannot be checked"
        problems.append(Problem("warning", f"no text in {source}", message))
    elif surface is not None:
        kinds = _kinds(given, surface, counting, text)
        if kinds is None and (wrong := _other_text(mention, given, surface, text, counting)) is not None:
            return mention, [*problems, wrong]
    whole = all(0 <= start <= end <= len(text.text) for start, end in mention.spans)
    left = trimmed(mention, text.text) if whole else mention
    if left is None:
        report("mentions of no character", f"the mention at {_spans(mention)} has no character; it is left out")
        return None, problems
    shown = clip(beginning(left.spans, text.text, _SHOWN + 1), _SHOWN)
    for kind in sorted((kinds or set()) - {""}):
        found = f"differs in {kind} from the text at {_spans(mention)}; read as {shown}"
        report(_DIFFERS[kind], f"the text {clip(_joined(surface), _SHOWN)} {found}")
    if left is not mention and has_blank_ends(mention, text.text) and not (kinds or set()) - {""}:
        report("blanks at the ends", f"{_spans(mention)} is read without the blanks at its ends, as {shown}")
    return left, problems


def _other_text(
    mention: Mention, given: Mention, surface: Surface, text: CountedText, counting: Counting
) -> Problem | None:
    """Return the error of a mention whose text in the file is another than that at its offsets."""
    file = _joined(surface)
    if all(0 <= start < end for start, end in given.spans):
        alone = Scanned(Document(text.text, mentions=[given]), [], "", beside=Beside([surface]))
        other = next((way for way in text.countings if way != counting and _fits(alone, way, text)), None)
        if other is not None:
            message = f"offsets {_spans(given)} of {clip(file)} fit if they are counted {other}, and others of the file"
            message += f" do not; correct them, or name the unit of all (--offsets {other.name})"
            return Problem("error", "unit of offsets", message)
    if mention.end > len(text.text) or not all(0 <= start < end for start, end in mention.spans):
        return None  # the check of offsets has a better message
    found = beginning(mention.spans, text.text, len(file) + _SHOWN + 1)
    message = f"the text is {clip(file)}, but {clip(found)} is at {_spans(mention)}; correct one of them"
    return Problem("error", "other text", message)


def _joined(surface: Surface) -> str:
    return surface if isinstance(surface, str) else " ".join(filter(None, surface or ()))


def _spans(mention: Mention) -> str:
    return ";".join(f"{start}-{end}" for start, end in mention.spans[:8])
