"""Conversion of records of other tools to native records, by their layouts (see `spanloom.formats.layouts`).

1. The text or the words, and the list of mentions, are found by their names.
2. Mentions are taken apart into offsets, types, surfaces and the rest (`spanloom.formats.entries`).
3. The surfaces decide what offsets count and whether ends are inclusive; without surfaces, the layout does.
4. The mentions are put at their characters.

A field that looks like annotation and is not read is a warning that names it. A value of the wrong type is passed on,
for the reader of native records to report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, Final, NamedTuple

from spanloom.document.surfaces import beginning, flat
from spanloom.document.validate import Problem
from spanloom.errors import clip
from spanloom.formats.base import altered
from spanloom.formats.entries import (
    Entry,
    Found,
    as_characters,
    doubts,
    entries_of,
    has_offsets,
    joined,
    without_others,
)
from spanloom.formats.json_text import are, not_as_expected, some
from spanloom.formats.layouts import (
    CHARACTERS,
    EXCLUSIVE,
    INCLUSIVE,
    OF_ID,
    OF_MENTIONS,
    OF_WORDS,
    PRESUMED,
    RENAMED,
    TOKENS,
    Layout,
    at,
    field_of_text,
    is_other,
    layout_of,
    named,
    plain,
    text_of_passages,
    words,
)
from spanloom.formats.record_fields import RecordFields
from spanloom.formats.tagged import (
    fields_of,
    found_in,
    from_tagged,
    grouped,
    in_usual_shape,
    laid_out,
    with_tags,
    with_words,
    without,
)
from spanloom.formats.unread import holds_records, warn_unread

_TOKEN_FIELDS: Final = frozenset(("text", "start", "end", "id"))  # of spaCy and Prodigy
_OF_ENTITY: Final = frozenset(words("label ner nertag ent entity enttype entitytype bio iob"))  # types, of a token
_FRAGMENT, _CHAINED = "_FRAGMENT", "_lexicallyChainedTo"  # of PubAnnotation
_PLACE: Final = re.compile(r"[\w.:/\\%~-]*", re.ASCII)  # an identifier, or the place of a text
_SCALAR: Final = (str, int, float)  # of JSON; true and false are integers
NO_TEXT: Final = "mentions without a text"
_REJECTED: Final = ("reject", "ignore")  # answers of Prodigy; "accept" is the third
_OF_MIN: Final = ("annotation_id", "annotator", "lead_time")  # fields of Label Studio's JSON-MIN


class Native(NamedTuple):
    """A record in native fields, and what messages call its mentions.

    Args:
        record: with the fields of a native one, and others.
        places: of its mentions in the record as it was.
        type: the name of the field with a mention's type.
        spans: likewise with its offsets.
    """

    record: dict[str, Any]
    places: Sequence[str] = ()
    type: str = "type"
    spans: str = "spans"


class _Reading(NamedTuple):
    """What offsets count, whether ends are inclusive, and what they count from in lists for each sentence."""

    unit: str
    ends: str
    nested: str


class _Frames(dict[str, "_Frame"]):
    """What offsets in characters and in tokens are about; tokens of a text alone are what white space divides."""

    def __missing__(self, unit: str) -> _Frame:
        text, given = self[CHARACTERS].text, self[CHARACTERS].given
        places = found_in(text, text.split()) or []
        self[unit] = _Frame(text, True, places, [[0, len(places)]]) if given else self[CHARACTERS]
        return self[unit]


class _Frame(NamedTuple):
    """The text that offsets are about, and the places of its words and sentences, if it has words."""

    text: str
    given: bool = True
    words: list[list[int]] | None = None
    sentences: list[list[int]] | None = None


def rejected(record: dict[str, Any]) -> str | None:
    """Return the answer of a Prodigy record that is not gold, "reject" or "ignore"; ``None`` for others.

    >>> rejected({"text": "mild pain", "spans": [], "answer": "reject"})
    'reject'
    """
    answer = record.get("answer")
    return answer if answer in _REJECTED and "mentions" not in record else None


def _without_fragments(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of PubAnnotation whose chained fragments are parts of their mention.

    A mention with gaps has a denotation for each part, all but one of the type ``_FRAGMENT``, and relations.

    >>> parts = [{"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "_FRAGMENT"},
    ...     {"id": "T2", "span": {"begin": 9, "end": 13}, "obj": "x"}]
    >>> chain = {"pred": "_lexicallyChainedTo", "subj": "T2", "obj": "T1"}
    >>> _without_fragments({"denotations": parts, "relations": [chain]})["denotations"]
    [{'id': 'T2', 'span': [{'begin': 0, 'end': 4}, {'begin': 9, 'end': 13}], 'obj': 'x'}]
    """
    lists = (record.get(name) for name in ("denotations", "relations"))
    denotations, relations = (found if are(found, dict) else [] for found in lists)
    named = {str(item.get("id")): item for item in denotations}
    if not any(item.get("obj") == _FRAGMENT for item in denotations) or len(named) < len(denotations):
        return record
    chained = (relation for relation in relations if relation.get("pred") == _CHAINED)
    pairs = [(str(relation.get("subj")), str(relation.get("obj"))) for relation in chained]
    made = []
    for names in grouped(named, [pair for pair in pairs if named.keys() >= set(pair)]):
        parts = [named[name] for name in names]
        heads = [part for part in parts if part.get("obj") != _FRAGMENT]
        given = (part.get("span") for part in parts)
        spans = [span for span in given if isinstance(span, dict) and type(span.get("begin")) is int]
        if len(parts) > 1 and len(heads) == 1 and len(spans) == len(parts):
            parts = [{**heads[0], "span": sorted(spans, key=lambda span: int(span["begin"]))}]
        made += parts
    return {**record, "denotations": made}


def _with_attributes(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of PubAnnotation whose mentions hold the attributes that the record has beside them.

    >>> record = {"denotations": [{"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "x"}]}
    >>> record["attributes"] = [{"id": "A1", "subj": "T1", "pred": "negated", "obj": True}]
    >>> _with_attributes(record)["denotations"]
    [{'id': 'T1', 'span': {'begin': 0, 'end': 4}, 'obj': 'x', 'attributes': {'negated': True}}]
    """
    given, denotations = record.get("attributes"), record.get("denotations")
    if not isinstance(given, list) or not isinstance(denotations, list):
        return record
    names = {str(item.get("id")) for item in denotations if isinstance(item, dict)}
    found: dict[str, dict[str, Any]] = {}
    others = []
    for one in given:
        fits = isinstance(one, dict) and isinstance(one.get("pred"), str) and isinstance(one.get("obj"), _SCALAR)
        if fits and str(one.get("subj")) in names:
            found.setdefault(str(one["subj"]), {})[one["pred"]] = one["obj"]
        else:
            others.append(one)
    own = [found.get(str(item.get("id"))) if isinstance(item, dict) else None for item in denotations]
    made = [{**item, "attributes": one} if one else item for item, one in zip(denotations, own, strict=True)]
    return {**without(record, "attributes"), "denotations": made} | ({"attributes": others} if others else {})


def _renamed(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose fields mean something else by the names that its mentions have, with usual names."""
    for key, names in RENAMED:
        first = _first(record.get(next(reversed(names))))
        if isinstance(first, dict) and key in first:
            own = {name: new for name, new in names.items() if new not in record}
            record = {own.get(name, name): value for name, value in record.items()}
    return record


_STEPS: Final = (_without_fragments, _with_attributes, with_words)
"""What makes a record more usual, whatever it is; and what does so where the user does not name the mentions."""
_GUESSED: Final = (_renamed, with_tags, *_STEPS, in_usual_shape)


def to_native(record: dict[str, Any], problems: list[Problem], mentions: bool, fields: RecordFields) -> list[Native]:
    """Return the native records of a record of another tool; several if several annotators share it.

    Args:
        record: of any layout.
        problems: to add to.
        mentions: if false, mentions are not read.
        fields: the user's description of the fields.

    >>> record = {"text": "mild pain", "spans": [{"start": 5, "end": 9, "label": "problem"}]}
    >>> to_native(record, [], True, RecordFields(None, None))[0].record
    {'text': 'mild pain', 'mentions': [{'type': 'problem', 'spans': [[5, 9]]}]}
    """
    if some(tracks := record.get("tracks"), dict):
        others = without(record, "tracks")  # of PubAnnotation
        return [
            native._replace(record=_annotated(native.record, track.get("project") or number))
            for number, track in enumerate(tracks, start=1)
            for native in to_native({**others, **track}, problems, mentions, fields)
        ]
    described = fields.layout
    by_layout = described is not None and bool(described.fields)
    for step in _STEPS if by_layout else _GUESSED:
        record = step(record)
    if not by_layout and (tagged := fields_of(record)) is not None:
        native = from_tagged(record, *tagged, problems, mentions, fields.tags)
        warn_unread(without(native, "mentions", "columns"), problems, mentions)
        return [Native(identified(native))]
    field, found, layout = _mentions_of(record, described) if mentions else (None, Found(), PRESUMED)
    rest = without(record, field)
    texts = _texts_of(rest, found, problems)
    for place, value in found.others:
        message = not_as_expected("it", value, "a mention: offsets and a type")
        problems.append(Problem("error", "wrong field", message, place))
    found.entries[:] = without_others(found.entries, field or "", problems)
    _put_in_order(found.entries, texts[CHARACTERS].text)
    if TOKENS not in texts and texts[CHARACTERS].given:
        as_characters(found.entries, len(texts[CHARACTERS].text.split()))
    problems += doubts(field or "", found.entries, bool(fields.types))
    reading = _reading(found.entries, layout, texts, described)
    counted = texts[CHARACTERS].text if reading.unit == CHARACTERS and texts[CHARACTERS].given else ""
    found.entries[:] = joined(found.entries, field or "", problems, fields.kinds, counted)
    frame = texts[reading.unit] if found.entries else texts[CHARACTERS]
    kind = at(record, layout.kind) if layout.kind else None
    items = [_item(entry, reading, frame, kind, fields.types, problems) for entry in found.entries]
    if reading.unit == TOKENS and found.entries and not layout.known and not any(e.surface for e in found.entries):
        how = "if the token at the end is part of the mention, describe it: --columns ends=inclusive (columns=)"
        message = f"offsets of {field} count tokens, and are read with the end excluded; {how}"
        problems.append(altered("ends of tokens", message))
    if frame.given or frame.words is not None:
        rest["text"] = frame.text
    elif found.entries and "text" not in rest:
        message = f"text is missing, expected the document's text, which {field} is about; write it into the record as "
        problems.append(Problem("error", NO_TEXT, f"{message}text, or name its field: --columns text=NAME (columns=)"))
    if frame.words is not None:
        rest |= {"tokens": frame.words, "sentences": [pair for pair in frame.sentences or () if pair[0] < pair[1]]}
    warn_unread(without(rest, "text", "meta"), problems, mentions)
    native = identified(rest)
    return [Native(native)] if field is None else list(_by_annotator(native, found.entries, items))


def _mentions_of(record: dict[str, Any], described: Layout | None) -> tuple[str | None, Found, Layout]:
    """Return the field of a record that holds its mentions, these, and their layout."""
    if described is not None and described.fields:
        path = described.fields[-1]
        field, value = path if path in record else path.partition(".")[0], at(record, path)
        layout = _with(layout_of(record, field, _first(value)), described)
        found = entries_of(value, path, layout)
        if not all(entry.types for entry in found.entries) or not found.entries:  # of the type that the field names
            found = entries_of(value, path, layout, path.rpartition(".")[2])
        return field, found, layout
    empty = None
    usual = list(named(record, OF_MENTIONS))
    marked = [name for name, value in record.items() if isinstance(value, list) and _OF_MIN[0] in record]
    fields = {name: (name, record[name]) for name in (*usual, *marked)}
    for name, value in record.items():
        inner = _usual_within(value, name, 0) if isinstance(value, dict) and not is_other(name) else iter(())
        if name not in usual and (first := next(inner, None)) is not None:
            fields[name] = first
    for name, (place, value) in fields.items():
        layout = _with(layout_of(record, name, _first(value)), described)
        found = entries_of(value, place, layout)
        if found.entries or (name in ("spans", "entities") and any(has_offsets(one) for _, one in found.others)):
            return name, found, layout
        if not found.others:
            empty = empty or name
    return empty, Found(), PRESUMED


def _with(layout: Layout, described: Layout | None) -> Layout:
    """Return a layout with what the user describes in place of its own."""
    if described is None:
        return layout
    unit, ends = described.unit or layout.unit, described.ends or layout.ends
    known = layout.known or bool(described.ends)
    return layout._replace(unit=unit, ends=ends, known=known, paths={**layout.paths, **described.paths})


def _first(value: Any) -> Any:
    """Return the first mention of lists of lists."""
    while isinstance(value, list) and value and isinstance(value[0], list | dict):
        value = next((one for one in value if one), value[0])
        if isinstance(value, list) and any(type(one) is int for one in value):
            return value
    return value


def _usual_within(value: dict[str, Any], place: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield fields of usual names within an object that hold something."""
    for name in named(value, OF_MENTIONS):
        part, path = value[name], f"{place}.{name}"
        if part and isinstance(part, list | dict):
            yield next(_usual_within(part, path, depth + 1), (path, part)) if isinstance(part, dict) else (path, part)
    if depth < 2:
        for name, part in value.items():
            if isinstance(part, dict) and not is_other(name):
                yield from _usual_within(part, f"{place}.{name}", depth + 1)


def _texts_of(rest: dict[str, Any], found: Found, problems: list[Problem]) -> _Frames:
    """Return what offsets in characters and in tokens are about; fields that are read are taken out of the record."""
    text = None
    if (name := field_of_text(rest)) is not None:
        text = rest.pop(name)
    elif "passages" in rest and "text" not in rest:
        text = text_of_passages(rest["passages"], problems)
        rest["passages"] = [] if text is None else [without(one, "text") for one in rest["passages"]]
    name = next((name for name in named(rest, OF_WORDS) if _words(rest[name]) is not None), None)
    if text is None and name is None:
        for key, part in rest.items():
            if isinstance(part, dict) and (held := field_of_text(part)) is not None:
                text, rest[key] = part[held], without(part, held)
                break
    if text is None and name is None and found.entries:
        if (text := _of_title(rest, found.entries)) is not None:
            del rest["title"], rest["abstract"]
        elif (own := _confirmed(rest, found.entries)) is not None:
            text = rest.pop(own)
    if name is None:
        if text is not None and isinstance(rest.get("tokens"), list):
            tokens = rest.pop("tokens")
            sound = are(tokens, dict) and all(token.keys() >= _TOKEN_FIELDS for token in tokens)
            given = [[token["start"], token["end"]] for token in tokens] if sound else tokens
            strange = not sound and any(isinstance(token, dict) for token in tokens)
            rest["record_tokens" if strange else "tokens"] = given
            objects = (token for token in tokens if isinstance(token, dict))
            values = ((name, value) for token in objects for name, value in token.items() if plain(name) in _OF_ENTITY)
            kinds = (name for name, value in values if isinstance(value, str) and value not in ("", "O", "-"))
            if (kind := next(kinds, None)) is not None:
                message = f"the tokens have the field {clip(kind)}, which looks like annotation and is not read"
                how = "write a mention for each: start, end and type, in entities"
                problems.append(altered("annotation of tokens", f"{message}; {how}"))
        return _Frames({CHARACTERS: _Frame(text or "", text is not None)})
    given_words = rest.pop(name)
    sentences = _words(given_words) or []
    if holds_records(given_words):
        rest[f"record_{name}"] = given_words
    words = list(chain.from_iterable(sentences))
    own, places, bounds = laid_out(sentences)
    if text is None:
        return _Frames(dict.fromkeys((CHARACTERS, TOKENS), _Frame(own, False, places, bounds)))
    if (found_places := found_in(text, words)) is not None:
        return _Frames(dict.fromkeys((CHARACTERS, TOKENS), _Frame(text, True, found_places, bounds)))
    rest.setdefault(f"record_{name}", words)  # of another text
    return _Frames({CHARACTERS: _Frame(text), TOKENS: _Frame(own, True, places, bounds)})


def _words(value: Any) -> list[list[str]] | None:
    """Return the words of each sentence; ``None`` if a value is no list of words, or of lists of words."""
    if some(value, str):
        return [value] if all(value) else None
    if some(value, dict):
        words = [one.get("text", one.get("word")) for one in value]
        return [words] if are(words, str) and not any("start" in one for one in value) else None
    return value if some(value, list) and all(are(one, str) and all(one) for one in value) else None


def _of_title(rest: dict[str, Any], entries: Sequence[Entry]) -> str | None:
    """Return a title and an abstract as one text, as the surfaces show; ``None`` for other records."""
    title, abstract = rest.get("title"), rest.get("abstract")
    if not isinstance(title, str) or not isinstance(abstract, str) or not any(entry.surface for entry in entries):
        return None
    way = _Reading(CHARACTERS, EXCLUSIVE, "")
    texts = (f"{title}{between}{abstract}" for between in (" ", "\n", "\n\n", ""))
    return next((text for text in texts if all(_is_at(entry, way, _Frame(text)) for entry in entries)), None)


def _confirmed(rest: dict[str, Any], entries: Sequence[Entry]) -> str | None:
    """Return the text field in which the surfaces are at their offsets; or the only text that holds all offsets."""
    shown = [entry for entry in entries if entry.surface]
    texts = {name: value for name, value in rest.items() if isinstance(value, str) and len(value.split()) > 1}
    for name, value in texts.items():
        ways = [_Reading(CHARACTERS, ends, "") for ends in (EXCLUSIVE, INCLUSIVE)]
        if shown and any(all(_is_at(entry, way, _Frame(value)) for entry in shown) for way in ways):
            return name
    last = max((end for entry in entries for _, end in entry.spans), default=0)
    texts = {name: value for name, value in rest.items() if isinstance(value, str) and len(value) >= last}
    worded = [name for name, value in texts.items() if not _PLACE.fullmatch(value)]
    return worded[0] if len(worded) == 1 and not shown else None


def _put_in_order(entries: Sequence[Entry], text: str) -> None:
    """Swap types and surfaces of mentions that are lists, where the text shows that surfaces come first."""
    listed = [entry for entry in entries if entry.surface and not entry.surface_name and len(entry.types) == 1]
    shown = [(entry, text[max(entry.spans[0][0], 0) : max(entry.spans[-1][1], 0)]) for entry in listed if entry.spans]
    if sum(entry.types[0] == one for entry, one in shown) > sum(entry.surface == one for entry, one in shown):
        for entry in listed:
            entry.types, entry.surface = [entry.surface], str(entry.types[0])


def _reading(entries: Sequence[Entry], layout: Layout, texts: _Frames, described: Layout | None) -> _Reading:
    """Return how offsets are counted: as the layout has it, unless surfaces show another way."""
    unit = TOKENS if all(entry.tokens for entry in entries) or not texts[CHARACTERS].given else CHARACTERS
    first = _Reading(layout.unit or unit, layout.ends or EXCLUSIVE, layout.nested)
    within = any(entry.sentence is not None for entry in entries)
    nested = dict.fromkeys((first.nested, "record", "sentence")) if within else [first.nested]
    if not (surfaces := [entry for entry in entries if entry.surface]):
        ways = [first._replace(nested=one) for one in nested]
        return next((way for way in ways if all(_spans(e, way, texts[way.unit]) for e in entries)), first)
    declared = described or PRESUMED
    units = [first.unit] if declared.unit else dict.fromkeys((first.unit, CHARACTERS, TOKENS))
    ends = [first.ends] if declared.ends else dict.fromkeys((first.ends, EXCLUSIVE, INCLUSIVE))
    ways = [_Reading(one, end, base) for one in units for end in ends for base in nested]
    fitting = (way for way in ways if all(_is_at(entry, way, texts[way.unit]) for entry in surfaces))
    return next(fitting, None) or max(ways, key=lambda way: sum(_is_at(e, way, texts[way.unit]) for e in surfaces))


def _is_at(entry: Entry, way: _Reading, frame: _Frame) -> bool:
    """Return whether a mention's surface is at its offsets, white space aside where they count tokens."""
    spans, surface = _spans(entry, way, frame), entry.surface or ""
    if not spans or spans[-1][1] > len(frame.text):
        return False
    found = beginning([(start, end) for start, end in spans], frame.text, 2 * len(surface) + 20)
    if way.unit == TOKENS:
        return "".join(found.split()) == "".join(surface.split())
    return flat(found) == flat(surface)


def _spans(entry: Entry, way: _Reading, frame: _Frame) -> list[list[int]] | None:
    """Return the characters of a mention, in text order; ``None`` if its tokens do not exist."""
    more = int(way.ends == INCLUSIVE)
    if way.unit == CHARACTERS:
        return sorted([start, end + more] for start, end in entry.spans)
    words, base = frame.words or [], 0
    low, high = 0, len(words)
    if entry.sentence is not None:
        if not 0 <= entry.sentence < len(frame.sentences or ()):
            return None
        low, high = (frame.sentences or [])[entry.sentence]
        base = low if way.nested == "sentence" else 0
    ranges = [(start + base, end + more + base) for start, end in entry.spans]
    if entry.indices is not None:
        indices = enumerate(sorted(set(entry.indices)))
        runs = [[place for _, place in run] for _, run in groupby(indices, lambda pair: pair[1] - pair[0])]
        ranges = [(run[0] + base, run[-1] + base + 1) for run in runs]
    if not ranges or not all(low <= start < end <= high for start, end in ranges):
        return None
    return sorted([words[start][0], words[end - 1][1]] for start, end in ranges)


def _item(
    entry: Entry, way: _Reading, frame: _Frame, kind: Any, names: Mapping[str, str], problems: list[Problem]
) -> list[dict[str, Any]]:
    """Return the native mentions of one, one for each type; `names` are those of types that are numbers."""
    spans: Any = _spans(entry, way, frame)
    if spans is None and not frame.given and not frame.words:  # the missing text is reported later
        return []
    if spans is None:
        given = entry.indices if entry.indices is not None else [list(span) for span in entry.spans]
        other = EXCLUSIVE if way.ends == INCLUSIVE else INCLUSIVE
        message = f"offsets {given} do not lie in the {len(frame.words or ()):,} tokens, with ends {way.ends}"
        message += f"; describe them: --columns unit=characters or ends={other} (columns=)"
        problems.append(Problem("error", "outside the text", message, entry.place))
        return []
    fields = dict(entry.fields)
    if entry.surface is not None:
        fits = _is_at(entry, way, frame)
        if (entry.sure or fits) if way.unit == CHARACTERS else (entry.sure and not fits):
            fields["text"] = entry.surface
        elif way.unit == CHARACTERS and entry.surface_name:
            taken = entry.surface_name in ("type", "spans", "id")
            fields["record_text" if taken else entry.surface_name] = entry.surface
    types = [names.get(one, one) if isinstance(one, str) else one for one in entry.types or [kind]]
    return [{"type": one, "spans": spans, **fields} for one in types]


def _annotated(record: dict[str, Any], name: Any) -> dict[str, Any]:
    """Return a record that names the annotator of its mentions."""
    meta = record.get("meta") or {}
    return record | {"meta": {**meta, "annotator": str(name)}} if isinstance(meta, dict) and name else record


def _by_annotator(
    native: dict[str, Any], entries: Sequence[Entry], items: Sequence[list[dict[str, Any]]]
) -> Iterator[Native]:
    """Yield a record for each annotator of its mentions; one, if not all mentions have one."""
    pairs = [(entry, item) for entry, own in zip(entries, items, strict=True) for item in own]
    ids = [item["id"] for _, item in pairs if "id" in item]
    if len(set(map(str, ids))) < len(ids):  # of concepts or types, and not of mentions
        for item in (item for _, item in pairs if "id" in item):
            item["record_id"] = item.pop("id")
    names = list(dict.fromkeys(entry.annotator for entry, _ in pairs))
    if None in names or not isinstance(native.get("meta") or {}, dict):
        for entry, item in pairs:
            item |= {} if entry.annotator is None else {"annotator": entry.annotator}
        names = []
    for name in names or [None]:
        own = [(entry, item) for entry, item in pairs if not names or entry.annotator == name]
        record = _annotated(native | {"mentions": [item for _, item in own]}, name)
        first = own[0][0].names if own else ("type", "spans")
        yield Native(record, [entry.place for entry, _ in own], *first)


def identified(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose identifier has our name; another that has it becomes ``record_id``."""
    name = next((name for name in named(record, OF_ID) if type(record[name]) in (str, int)), None)
    if name is None or name == "id":
        return record
    rest = without(record, name, "id")
    if record.get("id") not in (None, record[name]):
        rest["record_id"] = record["id"]
    return {"id": record[name], **rest}
