"""Mentions as records have them: offsets of an unknown unit, types, surfaces, and the rest.

A mention is an object, whose fields are known by name (`spanloom.formats.layouts.USUAL`) or by the paths of a layout;
or a list of two offsets and a type, in any order. Lists and objects around mentions are searched: lists of sentences,
groups, or objects with a key for each type, as in ``{"problem": [[8, 18]]}``.

Mentions are repaired before they are placed in a text, and doubtful ones are reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from spanloom.document.validate import Problem
from spanloom.errors import plural
from spanloom.formats.attributes import is_attribute, take_attributes
from spanloom.formats.base import altered, by_key
from spanloom.formats.json_text import are, is_offset, some
from spanloom.formats.layouts import LEFT_OUT, OF_MENTIONS, PLAIN, PRESUMED, SURE, USUAL, Layout, at, plain, words
from spanloom.formats.tag_dialects import LETTERED, Tagging

_DERIVED: Final = frozenset(("tokenstart", "tokenend"))  # Prodigy writes them from the tokens
_NAME: Final = re.compile(r"[A-Z]{1,2}[0-9]+")  # of a mention, as in brat
_PAIR: Final = re.compile(r"\s*([0-9]{1,9})\s*[-:;, ]\s*([0-9]{1,9})\s*")
_DEEPEST: Final = 6  # lists and objects between a record's field and a mention
_NEAR: Final = 2  # characters, or tokens, between the tokens of a mention
_DIVIDING: Final = frozenset(("token", "spacetoken", "sentence", "split"))
_NESTED: Final = 3  # objects in objects within a mention
_ABOUT: Final = frozenset(words("author createdby updatedby confidence validation metadata coordinates"))  # mentions
# a usual name -> its roles, and how early it counts in each
_ROLES: Final = by_key((name, (role, rank)) for role, names in USUAL.items() for rank, name in enumerate(names))


@dataclass(slots=True)
class Entry:
    """A mention as its record has it.

    Args:
        place: in the record.
        types: names, one mention for each.
        spans: pairs of offsets, in a unit that is not known yet.
        whole: whether its offsets are a list of pairs, which is that of a mention, and never of one of its tokens.
        indices: numbers of tokens, in place of pairs.
        tokens: whether offsets are known to count tokens.
        surface: its text, if the record gives it.
        sure: whether the surface must be the text at the offsets.
        surface_name: the name of its field.
        sentence: the number of the sentence that the offsets are in, if the record has it.
        annotator: its author.
        fields: its other fields, by names of native mentions, and unknown fields.
        names: the names of its fields for type and offsets.
    """

    place: str
    types: list[Any]
    spans: list[tuple[int, int]] = field(default_factory=list)
    whole: bool = False
    indices: list[int] | None = None
    tokens: bool = False
    surface: str | None = None
    sure: bool = False
    surface_name: str = ""
    sentence: int | None = None
    annotator: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, str] = ("type", "start, end")


@dataclass(slots=True)
class Found:
    """The mentions in a field of a record, and its other values."""

    entries: list[Entry] = field(default_factory=list)
    others: list[tuple[str, Any]] = field(default_factory=list)


def entries_of(value: Any, name: str, layout: Layout, kind: str = "") -> Found:
    """Return the mentions in the value of a field.

    Args:
        value: of the field.
        name: of the field, or its path.
        layout: of the mentions.
        kind: the type of mentions that are two offsets without a type; not read as mentions without it.

    >>> found = entries_of([[8, 18, "problem"], {"from": 3, "to": 5, "tag": "sign"}, "odd"], "ner", Layout(""))
    >>> [(entry.place, entry.types, entry.spans) for entry in found.entries], found.others
    ([('ner[0]', ['problem'], [(8, 18)]), ('ner[1]', ['sign'], [(3, 5)])], [('ner[2]', 'odd')])
    """
    found = Found()
    _search(_rows(value), name, layout, (kind,) if kind else (), None, found, 0)
    return found


def _rows(value: Any) -> Any:
    """Return the mentions of an object that has a list for each of their fields; others unchanged.

    >>> _rows({"start": [8, 3], "end": [18, 5], "label": ["problem", "sign"]})
    [{'start': 8, 'end': 18, 'label': 'problem'}, {'start': 3, 'end': 5, 'label': 'sign'}]
    """
    if not isinstance(value, dict) or not all(isinstance(part, list) for part in value.values()):
        return value
    if len(set(map(len, value.values()))) != 1 or not has_offsets(value):
        return value
    types = any(plain(str(key)) in (*USUAL["type"], "answerstart") for key in value)
    return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)] if types else value


def has_offsets(value: Any) -> bool:
    """Return whether an object has a field for offsets, whatever its value."""
    own = {plain(str(key)) for key in value} if isinstance(value, dict) else set()
    return not own.isdisjoint((*USUAL["start"], *USUAL["spans"]))


def _search(
    value: Any, place: str, layout: Layout, keys: tuple[str, ...], sentence: int | None, found: Found, depth: int
) -> None:
    """Add the mentions in a value; `keys` are those of the objects around it, which may be its type and surface."""
    if value is None:
        return
    entry = None
    if isinstance(value, list | tuple) and any(path[:1].isdigit() for path in layout.paths.values()):
        entry = _of_object({str(number): part for number, part in enumerate(value)}, place, layout, keys)
    elif isinstance(value, list | tuple):
        entry = _of_list(value, place, keys)
    elif isinstance(value, dict):
        entry = _of_object(value, place, layout, keys)
    elif isinstance(value, str) and layout.kind and (pair := _PAIR.fullmatch(value)):
        entry = Entry(place, [], [(int(pair[1]), int(pair[2]))])
    if entry is not None:
        if entry.sentence is None and depth > 1:  # in a list of its own within the list for a sentence
            entry.sentence = sentence
        found.entries.append(entry)
    elif not isinstance(value, list | tuple | dict) or depth == _DEEPEST:
        found.others.append((place, value))
    elif isinstance(value, dict):
        before = len(found.entries), len(found.others)
        inner = value.get("mentions", value.get("mention"))
        whole = value.get("type") if isinstance(inner, list) else None  # of all mentions of an entity
        typed = any(isinstance(part, str) for key, part in value.items() if plain(str(key)) in USUAL["type"])
        if typed and any(_are_offsets(item) for item in value.values()):  # parts in fields of unknown names
            found.others.append((place, value))
            return
        for key, item in value.items():
            if isinstance(item, list | dict) and plain(str(key)) not in _ABOUT:
                _search(item, f"{place}.{key}", layout, (*keys, str(key)), sentence, found, depth + 1)
        for entry in found.entries[before[0] :] if isinstance(whole, str) else ():
            entry.types = [whole]
        if len(found.entries) == before[0] and value:
            found.others[before[1] :] = [(place, value)]
    else:
        for number, item in enumerate(value):
            here = number if depth == 0 and isinstance(item, list) else sentence
            _search(item, f"{place}[{number}]", layout, keys, here, found, depth + 1)


def _are_offsets(value: Any) -> bool:
    """Return whether a value is a list of offsets, as numbers, pairs or objects without a type."""
    if not isinstance(value, list) or not value:
        return False
    parts = [list(part.values()) if isinstance(part, dict) else part for part in value]
    return all(is_offset(part) or (isinstance(part, list) and part and all(map(is_offset, part))) for part in parts)


def _pairs(value: Any) -> list[tuple[int, int]]:
    """Return a pair of offsets or several, of lists, objects or text; none if the value is something else."""
    if isinstance(value, str):
        found = [_PAIR.fullmatch(part) for part in re.split(r"[;|](?=\s*[0-9]+\s*[-:, ])|[|]", value)]
        return [(int(pair[1]), int(pair[2])) for pair in found if pair] if all(found) else []
    pairs: list[tuple[int, int]] = []
    single = isinstance(value, dict) or (isinstance(value, list | tuple) and any(map(is_offset, value)))
    for item in [value] if single else value or ():
        if isinstance(item, list | tuple) and len(item) == 2 and all(map(is_offset, item)):
            pairs.append((item[0], item[1]))
        elif isinstance(item, dict):
            parts = _Parts(item, PRESUMED)
            start, end = parts.get("start", int), parts.get("end", int)
            if start is None or end is None:
                return []
            pairs.append((start, end))
        else:
            return []
    return pairs


def _of_list(value: list[Any] | tuple[Any, ...], place: str, keys: tuple[str, ...]) -> Entry | None:
    """Return the mention of a list: offsets, and a type, which may be the key above."""
    offsets = [item for item in value if is_offset(item)]
    texts = [item for item in value if isinstance(item, str)]
    lists = [item for item in value if isinstance(item, list | tuple)]
    if offsets and len(offsets) % 2 == 0:
        spans = list(zip(offsets[::2], offsets[1::2], strict=True))
        if not texts and lists:  # [start, end, [[type, score]]]
            scored = [one[0] if some(one, list) else one for one in lists]
            texts = [item for one in scored for item in one if isinstance(item, str)][:1]
    elif len(offsets) == 3 and len(value) == 3 and not keys:  # the number of a type behind them
        return Entry(place, [str(offsets[2])], [(offsets[0], offsets[1])])
    elif not offsets and len(lists) == 1 and texts:
        spans = _pairs(lists[0])
    else:
        return None
    if not spans or not (texts or keys) or len(value) > len(offsets) + len(texts) + 4:
        return None
    entry = Entry(place, [], spans)
    if len(texts) > 1 and _NAME.fullmatch(texts[0]):
        entry.fields["id"] = texts.pop(0)
    named = texts or list(keys)
    entry.types, entry.surface = [named[0]], named[1] if len(named) > 1 else None
    if (score := next((item for item in value if isinstance(item, float) and 0 <= item <= 1), None)) is not None:
        entry.fields["score"] = score
    return entry


def _is(value: Any, kinds: tuple[type, ...]) -> bool:
    return _whole(value) is not None if kinds == (int,) else isinstance(value, kinds)


def _whole(value: Any) -> int | None:
    """Return an offset, also of a number that is written as text or with a decimal point."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() and len(value) < 12 else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    return value if is_offset(value) else None


class _Parts:
    """The fields of a mention that is an object, by usual names, or by the paths of a layout; those read are noted."""

    def __init__(self, item: dict[str, Any], layout: Layout) -> None:
        self.paths = layout.paths
        self.own: dict[str, Any] = {}
        self.top: dict[str, str] = {}  # usual name -> the field of the item that it is, or is in
        self.used: set[str] = set()
        nested: list[tuple[str | None, dict[str, Any], int]] = [(None, item, 0)]
        for top, fields, depth in nested:  # a list that grows
            for key, value in fields.items():
                name = plain(str(key))
                if name not in self.own:
                    self.own[name], self.top[name] = value, top or key
                attribute = depth == 0 and (is_attribute(str(key)) or key == "attribute_scores")
                if isinstance(value, dict) and depth < _NESTED and not attribute:
                    nested.append((top or key, value, depth + 1))
        ranked = sorted((rank, role, name) for name in self.own for role, rank in _ROLES.get(name, ()))
        self.names = by_key((role, name) for _, role, name in ranked)
        for role, path in layout.paths.items():
            self.names[role], self.own[path] = [path], at(item, path)
            self.top[path] = path if path in item else path.partition(".")[0]

    def name(self, role: str, *kinds: type) -> str | None:
        """Return the name of a role's field, or its path, if it has a value of one of these kinds."""
        for name in self.names.get(role, ()):
            # names of surfaces and types are those of other roles as well
            taken = role in ("surface", "type") and role not in self.paths and self.top[name] in self.used
            if _is(self.own[name], kinds) and not taken:
                return name
        return None

    def get(self, role: str, *kinds: type) -> Any:
        """Return the value of a role; ``None`` without one of these kinds."""
        name = self.name(role, *kinds)
        value = None if name is None else self.own[name]
        return _whole(value) if kinds == (int,) else value

    def note(self, role: str, *kinds: type) -> str:
        """Note that a role's field is read; return its name for messages, empty without a value of these kinds."""
        if (name := self.name(role, *kinds)) is None:
            return ""
        self.used.add(self.top[name])
        return name if role in self.paths else self.top[name]

    def take(self, role: str, *kinds: type) -> Any:
        """Return the value of a role, and note its field."""
        if (value := self.get(role, *kinds)) is not None:
            self.note(role, *kinds)
        return value


def _of_object(item: dict[str, Any], place: str, layout: Layout, keys: tuple[str, ...]) -> Entry | None:
    if not layout.paths and (
        all(isinstance(part, dict) for part in item.values())  # mentions by their names
        or all(some(part, list, dict) and isinstance(part[0], dict) for part in item.values())  # or types
    ):
        return None
    parts = _Parts(item, layout)
    entry = Entry(place, [])
    if not (named := _take_offsets(entry, parts)):
        return None
    kinds = (str, int, list, dict)
    name = parts.name("type", *kinds)
    entry.types = list(_types(parts.take("type", *kinds)))
    if (surface := parts.name("surface", str, list)) is not None:
        given = parts.get("surface", str, list)
        entry.surface_name = parts.note("surface", str, list)
        whole = " ".join(given) if are(given, str) else given
        if isinstance(whole, str):
            entry.surface, entry.sure = whole, surface in SURE or surface == layout.paths.get("surface")
    if not entry.spans and entry.indices is None:  # only a start
        if entry.surface is None:
            return None
        start = parts.get("start", int)
        entry.spans = [(start, start + len(entry.surface))]
    if (concepts := parts.take("concepts", str, list)) is not None:
        entry.fields["concepts"] = _concepts(concepts)
    if (identifier := parts.take("id", str, int)) is not None:
        entry.fields["id"] = identifier
    if (score := parts.get("score", int, float)) is not None and 0 <= score <= 1:
        entry.fields["score"] = parts.take("score", int, float)
    entry.sentence = parts.take("sentence", int)
    if (annotator := parts.take("annotator", str, int)) is not None:
        entry.annotator = str(annotator)
    if keys and plain(keys[-1]) in (*OF_MENTIONS, "mention"):  # the names of fields, and not of types
        keys = ()
    if name is None and (keys or layout.kind or "concepts" in entry.fields):
        entry.types = [keys[0]] if keys and not keys[0].isdigit() else []
        if not keys and not layout.kind:
            entry.types = ["mention"]
    entry.names = (name if "type" in parts.paths else parts.top[name]) if name else "label", named
    derived = entry.spans and not entry.tokens
    for key, value in item.items():
        if key not in parts.used and not (derived and plain(str(key)) in _DERIVED):
            entry.fields[f"record_{key}" if key in entry.fields or key in ("type", "spans", "text") else key] = value
    take_attributes(entry.fields)
    return entry


def _take_offsets(entry: Entry, parts: _Parts) -> str:
    """Take the offsets of a mention, in the first way that it has them; return the names of their fields, or none."""
    if "indices" in parts.paths and (found := _take_indices(entry, parts)):
        return found
    value = parts.get("spans", list, dict, str)
    if spans := _pairs(value):
        entry.spans, entry.whole = spans, isinstance(value, list) and some(value, list)
        texts = [one.get("text") for one in value if isinstance(one, dict)] if isinstance(value, list) else []
        if some(texts, str):
            entry.surface, entry.sure = " ".join(texts), True
        return parts.note("spans", list, dict, str)
    for first, last, tokens in (("start", "end", False), ("start", "length", False), ("tokenstart", "tokenend", True)):
        start, end = parts.get(first, int), parts.get(last, int)
        if start is not None and end is not None:
            entry.spans, entry.tokens = [(start, start + end if last == "length" else end)], tokens
            return f"{parts.note(first, int)}, {parts.note(last, int)}"
    starts, ends = parts.get("start", list) or (), parts.get("end", list) or ()
    if len(starts) == len(ends) and (spans := _pairs([*zip(starts, ends, strict=True)])):  # of each part
        entry.spans = spans
        return f"{parts.note('start', list)}, {parts.note('end', list)}"
    if found := _take_indices(entry, parts):
        return found
    return "" if parts.name("surface", str) is None else parts.note("start", int)


def _take_indices(entry: Entry, parts: _Parts) -> str:
    """Take the numbers of the tokens of a mention; return the name of their field, or none."""
    indices = parts.get("indices", list)
    if not some(indices, int):
        return ""
    entry.indices, entry.tokens = indices, True
    return parts.note("indices", list)


def _types(value: Any) -> Iterator[Any]:
    """Yield the types of a mention: a name, several, objects with a name each, or the parts of a taxonomy's path."""
    if isinstance(value, list):
        for one in value:
            yield "/".join(one) if are(one, str) else next(_types(one), None)
    elif isinstance(value, dict):
        yield from [value[key] for key in PLAIN if isinstance(value.get(key), str)][:1]
    elif not isinstance(value, bool | None):
        yield str(value)


def _concepts(value: Any) -> Any:
    """Return identifiers of a list of names, of one, or of BigBIO's objects; other values unchanged."""
    if isinstance(value, str):
        return [value] if value else []
    if not are(value, dict):
        return value
    pairs = [(one.get("db_name"), one.get("db_id")) for one in value]  # without a name, of no known vocabulary
    return [key if name == "" else f"{name}:{key}" if name and key is not None else None for name, key in pairs]


def without_others(entries: Sequence[Entry], field: str, problems: list[Problem]) -> list[Entry]:
    """Return mentions without those marked as wrong, and without annotations that divide a text, such as tokens.

    Args:
        entries: mentions.
        field: that holds them.
        problems: to add to.
    """
    gold = [entry for entry in entries if not any(entry.fields.get(name) is value for name, value in LEFT_OUT)]
    if count := len(entries) - len(gold):
        message = f"{plural(count, 'mention')} of {field} marked as deleted or wrong: left out"
        problems.append(altered("mentions marked as wrong", message))
    kept = [entry for entry in gold if not all(plain(str(kind)) in _DIVIDING for kind in entry.types or ["-"])]
    if not kept or len(kept) == len(gold):
        return gold
    those = plural(len(gold) - len(kept), "annotation that divides the text", "annotations that divide the text")
    message = f"left out {those}, such as Token of {field}"
    problems.append(altered("annotations that divide the text", message))
    return kept


def joined(
    entries: Sequence[Entry], field: str, problems: list[Problem], tagging: Tagging, text: str = ""
) -> list[Entry]:
    """Return mentions whose types are tags such as ``B-PER``, one for each token, as whole ones.

    Types such as ``B-cell`` that are mostly of several words, or ``E-mail`` where no tag begins a mention, are no tags.

    Args:
        entries: mentions.
        field: that holds them.
        problems: to add to.
        tagging: of the types of mentions of all records.
        text: that their offsets are about, if they count its characters.
    """
    if not entries or any(entry.whole or len(entry.spans) != 1 for entry in entries):
        return list(entries)
    tags = [LETTERED.fullmatch(str(entry.types[0])) if len(entry.types) == 1 else None for entry in entries]
    several = sum(len((entry.surface or text[slice(*entry.spans[0])]).split()) > 1 for entry in entries)
    kinds = [""] if 2 * several >= len(entries) else [str(kind) for entry in entries for kind in entry.types]
    if not tagging.is_tagged(kinds) or None in tags:
        return list(entries)
    found: list[Entry] = []
    last = ""
    for entry, tag in sorted(zip(entries, tags, strict=True), key=lambda pair: pair[0].spans[0]):
        letter, kind = (tag or ("", "", ""))[1], (tag or ("", "", ""))[2]
        entry.types = [kind]
        near = found and entry.spans[0][0] - found[-1].spans[-1][1] <= _NEAR
        if near and last not in "UESL" and letter in "IEL" and found[-1].types == [kind]:
            (start, end), stop = found[-1].spans[0], entry.spans[0][1]
            found[-1].spans, found[-1].surface = [(start, max(end, stop))], None
            found[-1].indices = None
        else:
            found.append(entry)
        last = letter
    message = f"types of {field} are tags such as B-{found[0].types[0]}"
    counted = f"{len(entries):,} tokens are {len(found):,} mentions"
    problems.append(altered("tags as types", f"{message}; {counted}"))
    return found


def as_characters(entries: Sequence[Entry], count: int) -> None:
    """Read pairs of numbers as offsets in characters, where they are too large for the words of a text."""
    pairs = [entry.indices for entry in entries if entry.indices is not None]
    if all(len(pair) == 2 and pair[0] < pair[1] for pair in pairs) and any(pair[1] > count for pair in pairs):
        for entry in entries:
            if entry.indices is not None:
                entry.spans, entry.indices, entry.tokens = [(entry.indices[0], entry.indices[1])], None, False


def doubts(field: str, entries: Sequence[Entry], named: bool) -> Iterator[Problem]:
    """Yield warnings on mentions whose types are their texts or numbers, and on mentions within their fields.

    Args:
        field: that holds them.
        entries: mentions.
        named: whether the user gives names of types.
    """
    if entries and all(entry.surface and entry.types == [entry.surface] for entry in entries):
        message = f"the types of {field} are the texts of the mentions; name the field with types: --columns type=NAME"
        yield altered("types that are texts", f"{message} (columns=)")
    if not named and entries and all(str(kind).isdecimal() for entry in entries for kind in entry.types or ["-"]):
        message = f"the types of {field} are numbers, such as {entries[0].types[0]}; their names are given as"
        yield altered("types that are numbers", f"{message} --tag-names 1=NAME,2=NAME (tag_names=)")
    for entry in entries:
        for name, value in entry.fields.items():
            if isinstance(value, list) and value and all(isinstance(one, dict) and has_offsets(one) for one in value):
                message = f"{name.removeprefix('record_')} of a mention holds further mentions, which are not read"
                yield altered("mentions within mentions", message, place=entry.place)
