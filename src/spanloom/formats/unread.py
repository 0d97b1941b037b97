"""Annotation that no reader knows: fields of records that look like it, and how the user describes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import clip, plural
from spanloom.formats.base import altered
from spanloom.formats.csv_rows import value_of
from spanloom.formats.json_text import are, are_pairs, is_pair, some
from spanloom.formats.layouts import OF_MENTIONS, OF_TAGS, USUAL, is_other, plain, words
from spanloom.formats.looks import shows_annotation

_TAG: Final = re.compile(r"[BIESLUM]-\S+")
_NO_OFFSET: Final = frozenset(words("id ids user version count page line score rank year created updated size index"))
_OF_READERS: Final = frozenset(("annotation", "brat", "bioc", "pubtator", "label_studio", "comments", "passages"))
_SURE: Final = frozenset(("entities", "ents", "mentions", "spans", "denotations", "entitymentions", "namedentities"))
_OF_TYPES: Final = _SURE | {"ner", "ners", "entity", "entitylist", "goldspans", "entityspans"}
"""Fields that may hold texts for each type."""
_LISTS: Final = _SURE | {"entitylist", "entityspans", "nerspans", "goldspans"}
_OF_ANSWERS: Final = frozenset(
    words("output outputs answers answer response completion generation modeloutput modelanswer")
)
_MARKED: Final = re.compile(r"\w\s*(?:[:|=]\s*\w|[<\[({])")  # what divides mentions and types in an answer
_STARTS: Final = frozenset(f"{name}{s}" for name in USUAL["start"] for s in ("", "s"))
_LISTED: Final = re.compile(  # as in brat, and "0,7,Drug|31,41,Problem"
    r"^(?:\w{1,20}\t)?\w{1,60}[ \t]\d{1,9}[ \t]\d{1,9}[ \t]\S|(?:^|[|;,]\s?)\d{1,6}([,:])\d{1,6}\1(?!AM\b|PM\b)[A-Z]\w",
    re.MULTILINE,
)
_WITH_TAGS: Final = re.compile(r"^\S{1,60}[\t ]{1,3}[BIESLU]-[^\W\d_]\w*[ \t\r]*$|\w[/|_][BI]-[^\W\d_]", re.MULTILINE)
_RANGE: Final = re.compile(r"\D?(\d{1,9})\s?[-,:;_]\s?(\d{1,9})\D?")
_PLACES: Final = re.compile(r"offsets?$|token|word|sent|line|para|page|box|range|section|position|chunk|block|^span")
_NO_MASK: Final = re.compile(r"space|^ws$|mask|typeids|shape|case|head|stop|punct|alpha")
_LOOKED_AT: Final = 50  # items of a list
_DEEPEST: Final = 5
_MOST: Final = 2_000  # parts of a value
_SHOWN: Final = 5


def looks_annotated(name: str, value: Any, length: int) -> bool:
    """Return whether a field's value looks like annotation of a text.

    Args:
        name: of the field.
        value: its value.
        length: of the text, in characters.

    >>> looks_annotated("found", [{"b": 8, "e": 18, "cat": "problem"}], 30)
    True
    >>> looks_annotated("labels", ["sad", "angry"], 30), looks_annotated("found", ["O", "B-problem"], 30)
    (False, True)
    """
    return bool(value) and any(islice(_signs_of_field(plain(name), value, length), _MOST))


def _signs_of_field(name: str, value: Any, length: int) -> Iterator[object]:
    """Yield for each sign of annotation whether a field has it, and then for each of its parts."""
    texts = [value] if isinstance(value, str) else value if are(value, str) else []
    shown = value[:_MOST] if isinstance(value, str) else ""
    yield name in (_LISTS if isinstance(value, list | dict) else _SURE)
    yield texts and all(_LISTED.search(one[:_MOST]) for one in texts)
    yield _WITH_TAGS.search(shown) or shows_annotation(shown)
    yield name in _OF_ANSWERS and any(map(_MARKED.search, texts[:_LOOKED_AT]))
    yield name in _STARTS and are(value, int)
    yield not _PLACES.search(name) and isinstance(value, list) and all(map(_has_ends, value))
    if isinstance(value, dict):
        yield any(isinstance(one, str) and _TAG.fullmatch(one) for one in value.values())
        yield value.get("answer_start")
        ranges = [_RANGE.fullmatch(str(key)) for key in value]
        yield all(one and _ordered((int(one[1]), int(one[2])), length) for one in ranges)
    yield from _signs({name: value}, length, False, -1)


def of_each_token(name: str, value: Any, count: int) -> bool:
    """Return whether a field has a mask, or a list of types, for each of some tokens.

    >>> of_each_token("drug", [1, 0, 0], 3), of_each_token("labels", [["drug"], [], []], 3)
    (True, True)
    """
    if not isinstance(value, list) or len(value) != count or count < 3 or _NO_MASK.search(plain(name)):
        return False
    if plain(name) in (*OF_MENTIONS, *OF_TAGS) and all(are(one, str) for one in value):
        return any(value)
    return all(one in (0, 1) and type(one) in (int, bool) for one in value) and 0 < sum(value) < count


def holds_records(value: Any) -> bool:
    """Return whether a list of parts of a text, such as sentences, holds mentions of their own."""
    parts = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return any(part[name] for part in parts for name in part if plain(str(name)) in _LISTS)


def _has_ends(value: Any) -> bool:
    own = {plain(str(key)) for key, one in value.items() if type(one) is int} if isinstance(value, dict) else set()
    return not own.isdisjoint(USUAL["start"]) and not own.isdisjoint(USUAL["end"])


def _signs(value: Any, length: int, usual: bool, depth: int) -> Iterator[bool]:
    """Yield for each part of a value whether it looks like a mention or a list of tags."""
    if isinstance(value, dict):
        yield depth > 0 and _is_mention(value, length, usual)
        for key, given in value.items():
            part = _held(given)
            if not is_other(str(key)) and isinstance(part, list | dict):
                yield not _PLACES.search(plain(str(key))) and _are_pairs(part, length)
                typed = isinstance(part, dict) and any(part.values()) and all(are(one, str) for one in part.values())
                yield typed and plain(str(key)) in _OF_TYPES  # as in {"problem": ["chest pain"]}
                if depth < _DEEPEST:
                    yield from _signs(part, length, usual or plain(str(key)) in OF_MENTIONS, depth + 1)
    elif isinstance(value, list | tuple):
        offsets = [item for item in value[:_LOOKED_AT] if type(item) is int]
        texts = [item for item in value[:_LOOKED_AT] if isinstance(item, str)]
        yield len(offsets) >= 2 and bool(texts) and len(value) <= 8 and _ordered(offsets[:2], length)
        yield usual and depth > 0 and bool(offsets) and 2 <= len(value) <= 8
        whole = len(texts) == len(value[:_LOOKED_AT])
        yield whole and (any(map(_TAG.fullmatch, texts)) or ("O" in texts and len(set(texts)) > 1))
        lists = (item for item in value[:_LOOKED_AT] if some(item, list))
        yield bool(texts) and any(all(some(one, int) for one in item) for item in lists)
        for item in value[:_LOOKED_AT] if depth < _DEEPEST else ():
            if isinstance(item, list | tuple | dict):
                yield from _signs(item, length, usual, depth + 1)


def _are_pairs(value: Any, length: int) -> bool:
    pairs = value[:_LOOKED_AT] if isinstance(value, list) else value
    return are_pairs(pairs) and all(_ordered(pair, length) for pair in pairs)


def _ordered(offsets: Iterable[int], length: int) -> bool:
    start, end = offsets
    return 0 <= start <= end <= length


def _is_mention(item: dict[str, Any], length: int, usual: bool) -> bool:
    own = {plain(str(key)): value for key, value in item.items()}
    texts = sum(isinstance(value, str) for value in own.values())
    if "answerstart" in own or "subjecttype" in own:
        return True
    if any(name in own for name in USUAL["start"]) and any(name in own for name in (*USUAL["end"], *USUAL["length"])):
        parallel = any(isinstance(value, list) and value and type(value[0]) is int for value in own.values())
        return bool(texts) or usual or parallel
    offsets = [value for name, value in own.items() if type(value) is int and name not in _NO_OFFSET]
    if len(offsets) >= 2 and texts and _ordered(offsets[:2], length):
        return True
    if texts and any(_are_pairs([value] if is_pair(value) else value, length) for value in own.values()):
        return True
    return usual and texts >= 2 and any(name in own for name in USUAL["type"])


TO_FIND: Final = (
    "which spanloom convert IN OUT --from-llm LINES finds; LINES are JSON lines with id and answer (or entities), such "
    "as those of IN"
)


def advice(name: str, value: Any) -> str:
    """Return how a field that looks like annotation can be read.

    >>> advice("found", [{"b": 8, "e": 18, "cat": "problem"}])
    'describe it: --columns mentions=found,start=b,end=e,type=cat (columns=)'
    """
    listed = value[0] if isinstance(value, list) and value else value
    ranges = isinstance(value, dict) and value and all(_RANGE.fullmatch(str(key)) for key in value)
    if ranges or (isinstance(listed, str) and _LISTED.search(listed)):
        return "it lists mentions as text; write them as a list of objects with start, end and type"
    if isinstance(value, str) and _WITH_TAGS.search(value):
        return "it holds words with tags; write them as lists: tokens and ner_tags"
    if '"answer_start"' in repr(value)[:_MOST].replace("'", '"'):
        return f"its answers are mentions if it is described: --columns mentions={name},start=answer_start (columns=)"
    path, item = _sample(name, value)
    if (isinstance(item, str) and _TAG.fullmatch(item)) or item == "O" or (isinstance(value, list) and "O" in value):
        return f"describe it: --columns tokens=NAME,tags={path} (columns=)"
    fields = item if isinstance(item, dict) else {}
    if any(str(part)[:2] in ("[{", "[[") for part in fields.values() if isinstance(part, str)):
        return f"it is JSON within the texts of {path}; make lists of them first (fromjson of jq)"
    texts = [key for key, one in fields.items() if isinstance(one, str) and not one.isdecimal()]
    numbers = [key for key, one in fields.items() if type(one) is int or (isinstance(one, str) and one.isdecimal())]
    offsets = [key for key in numbers if plain(str(key)) not in _NO_OFFSET]
    spans = [key for key, one in fields.items() if some(one, int) or (some(one, list) and is_pair(one[0]))]
    mixed = isinstance(value, list) and any(isinstance(one, list) for one in value)
    if (isinstance(item, str) and not mixed) or (texts and not offsets and not spans):
        return f"it gives texts without offsets, {TO_FIND}"
    named = ""
    if fields:
        start, end = [*offsets, "NAME", "NAME"][:2]
        kind = [*(key for key in texts if plain(str(key)) in USUAL["type"]), *texts, "NAME"][0]
        where = f"spans={spans[0]}" if spans and len(offsets) < 2 else f"start={start},end={end}"
        named = f",{where},type={kind}"
    return f"describe it: --columns mentions={path}{named} (columns=)"


def _sample(path: str, value: Any, depth: int = 0) -> tuple[str, Any]:
    """Return the path of a list of mentions, and the first of them."""
    if isinstance(value, dict) and not any(type(part) is int for part in value.values()) and depth < _DEEPEST:
        inner = ((key, part) for key, part in value.items() if isinstance(part, list | dict) and part)
        key, part = next(inner, ("", None))
        return (path, value) if part is None else _sample(f"{path}.{key}", part, depth + 1)
    if not isinstance(value, list) or not value:
        return path, value
    first = value[0]
    if isinstance(first, list) and first and not any(type(item) is int for item in first) and depth < _DEEPEST:
        return _sample(path, first, depth + 1)
    return path, _innermost(first, 0) or first if isinstance(first, dict) else first


def _innermost(value: Any, depth: int) -> dict[str, Any] | None:
    """Return the first object with two numbers, or a pair, in a value."""
    if isinstance(value, dict) and (
        sum(type(one) is int for key, one in value.items() if plain(str(key)) not in _NO_OFFSET) > 1
        or any(map(is_pair, value.values()))
    ):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    inner = (_innermost(part, depth + 1) for part in islice(parts, _LOOKED_AT) if depth < _DEEPEST)
    return next((one for one in inner if one is not None), None)


def warn_unread(rest: dict[str, Any], problems: list[Problem], mentions: bool) -> None:
    """Warn of fields that look like annotation and are not read."""
    text, words = rest.get("text"), rest.get("tokens")
    length = len(text) if isinstance(text, str) else 1 << 20
    count = len(words) if isinstance(words, list) else 0
    for name, kept in rest.items() if mentions else ():
        if not (value := _held(kept)):
            continue
        if of_each_token(name, value, count):
            how = "has a value for each token, and is not read; write tags as ner_tags"
        elif looks_annotated(name, value, length) if not is_other(name) else holds_records(value):
            unpack = f"it is JSON within a text; make an object of it first (jq -c '.{name} |= fromjson' IN > OUT)"
            how = f"looks like annotation and is not read; {advice(name, value) if value is kept else unpack}"
        else:
            continue
        problems.append(altered(f"annotation not read: {name}", f"the field {clip(name)} {how}"))


def _held(value: Any) -> Any:
    """Return the list or object that a text holds, as a cell of a table may; other values unchanged."""
    return (value_of(value) or value) if isinstance(value, str) else value


def unread_fields(documents: Iterable[Document]) -> str | None:
    """Return a message on fields that look like annotation, for documents without mentions; ``None`` without any.

    >>> unread_fields([Document("no pain", meta={"found": [[3, 7, "problem"]]})])
    "the field 'found' of 1 document looks like annotation that was not read; describe it: --columns mentions=found \
(columns=)"
    """
    counts, samples = Counter[str](), dict[str, Any]()
    for document in documents:
        for name, kept in document.meta.items():
            value = _held(kept)
            if name not in _OF_READERS and not is_other(name) and looks_annotated(name, value, len(document.text)):
                counts[name] += 1
                samples.setdefault(name, value)
    if not counts:
        return None
    names = [name for name, _ in counts.most_common(_SHOWN)]
    fields, look = ("field", "looks") if len(names) == 1 else ("fields", "look")
    shown = f"the {fields} {' and '.join(map(clip, names))} of {plural(counts[names[0]], 'document')}"
    return f"{shown} {look} like annotation that was not read; {advice(names[0], samples[names[0]])}"
