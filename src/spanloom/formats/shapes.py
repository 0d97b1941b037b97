"""Records of unusual shapes: mentions as lists side by side, and texts in pieces; each becomes a usual record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Final

from spanloom.formats.blocks import TAG
from spanloom.formats.json_text import are, are_pairs, some
from spanloom.formats.layouts import OF_MENTIONS, OF_TEXT, OF_WORDS, USUAL, field_of_text, named
from spanloom.formats.tagged import fields_of

_OF_TYPES: Final = (*USUAL["type"], "entitytypes", "entitylabels", "spanlabels", "categories", "classes")
_OF_PIECES: Final = ("data", "parts", "pieces", "chunks", "segments", "textparts")
_OF_WORD: Final = ("text", "word", "token", "form")
_OF_TAG: Final = ("tag", "ner", "nertag", "label", "bio", "iob", "entiob", "entity")
_OF_LETTER: Final = ("iob", "entiob", "bio", "biotag", "nertag", "tag", "ner")
_OF_KIND: Final = ("enttype", "type", "entitytype", "nertype", "label", "entity")
_LETTERS: Final = frozenset(("B", "I", "O", "E", "L", "S", "U", "", None))
_MEETING: Final = re.compile(r"(?a:[\w.!?]\n\w)")
_KINDS: Final = ("entity", "alias", "label", "type", "slotname", "slot")


def in_usual_shape(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose mentions are side by side, or whose text is in pieces, as a usual one; others unchanged.

    >>> in_usual_shape({"text": "No pain", "starts": [3], "ends": [7], "labels": ["problem"]})
    {'text': 'No pain', 'entities': [{'start': 3, 'end': 7, 'type': 'problem'}]}
    >>> in_usual_shape({"data": [{"text": "fly to "}, {"text": "Rome", "entity": "city"}]})
    {'text': 'fly to Rome', 'entities': [{'start': 7, 'end': 11, 'type': 'city'}]}
    """
    if (name := pieces_of(record)) is not None:
        text, entities = "", []
        for piece in record[name]:
            kind = next((piece[key] for key in named(piece, _KINDS) if isinstance(piece[key], str)), None)
            if kind:
                entities.append({"start": len(text), "end": len(text) + len(piece["text"]), "type": kind})
            text += piece["text"]
        return {**_without(record, name), "text": text, "entities": entities}
    if next(named(record, (*OF_TEXT, *OF_WORDS)), None) is None:
        return record
    starts, ends = _side(record, "start"), _side(record, "end")
    pairs = (name for name in named(record, (*OF_MENTIONS, *USUAL["spans"])) if are_pairs(record[name]))
    if starts and ends and len(record[starts]) == len(record[ends]):
        own, offsets = [starts, ends], [*zip(record[starts], record[ends], strict=True)]
    elif spans := next(pairs, None):  # without types
        own, offsets = [spans], record[spans]
    else:
        return record
    types = named(record, tuple(f"{one}{s}" for one in _OF_TYPES for s in ("", "s")))
    kind = next((name for name in types if are(record[name], str) and len(record[name]) == len(offsets)), None)
    if kind is None:
        return record
    typed = zip(offsets, record[kind], strict=True)
    entities = [{"start": start, "end": end, "type": one} for (start, end), one in typed]
    return {**_without(record, *own, kind), "entities": entities}


def with_tags(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose tokens are objects with tags as one with words and tags; others unchanged.

    >>> with_tags({"tokens": [{"text": "No", "tag": "O"}, {"text": "pain", "tag": "B-problem"}]})
    {'tokens': ['No', 'pain'], 'ner_tags': ['O', 'B-problem']}
    """
    for name in named(record, ("sentences", "sents")):
        parts = record[name] if some(record[name], dict) else []
        fields = [own for own in map(fields_of, parts) if own is not None]
        if parts and len(fields) == len(parts):
            columns = [[one[own[at]] for one, own in zip(parts, fields, strict=True)] for at in (0, 1)]
            return {**_without(record, name), "tokens": columns[0], "ner_tags": columns[1]}
    for name in named(record, OF_WORDS):
        tokens = record[name]
        if not some(tokens, dict):
            continue
        names = {key: None for one in tokens for key in one}
        tokens = _with_letters(tokens, names)
        words = next((key for key in named(names, _OF_WORD) if are([one.get(key) for one in tokens], str)), None)
        tags = next((key for key in named(names, _OF_TAG) if are([one.get(key) or "O" for one in tokens], str)), None)
        values = [one.get(tags) or "O" for one in tokens] if tags and words else []
        given = [one[tags] for one in tokens if one.get(tags)] if values else []
        if "O" in given or (given and all(map(TAG.fullmatch, given))):  # outside a mention, some leave the tag out
            return {**record, name: [one[words] for one in tokens], "ner_tags": values}
    return record


def _with_letters(tokens: Any, names: Mapping[str, None]) -> Any:
    """Return tokens whose letters of tags and types are in two fields with both in one, as ``B-problem``."""
    for letters in named(names, _OF_LETTER):
        if all(isinstance(one.get(letters), str | None) and one.get(letters) in _LETTERS for one in tokens):
            break
    else:
        return tokens
    inside = [one for one in tokens if one.get(letters) not in ("O", "", None)]
    kinds = next(
        (key for key in named(names, _OF_KIND) if key != letters and all(one.get(key) for one in inside)), None
    )
    if kinds is None or not inside:
        return tokens
    tags = (f"{one[letters]}-{one[kinds]}" if one.get(letters) not in ("O", "", None) else "O" for one in tokens)
    return [{**one, letters: tag} for one, tag in zip(tokens, tags, strict=True)]


def pieces_of(record: Mapping[str, Any]) -> str | None:
    """Return the name of a field that holds a text in pieces, of which some have a type, as of Snips; or ``None``."""
    if field_of_text(record) is not None:
        return None
    for name in named(record, _OF_PIECES):
        pieces = record[name]
        if some(pieces, dict) and all(isinstance(one.get("text"), str) for one in pieces):
            typed = [any(isinstance(one[key], str) for key in named(one, _KINDS)) for one in pieces]
            texts = [one["text"] for one in pieces]
            blank = any(text != text.strip() for text in texts)
            # texts that begin and end with words are documents, of which some have a class
            whole = not blank and any(_MEETING.fullmatch(f"{a[-1:]}\n{b[:1]}") for a, b in pairwise(texts))
            if all(len(one) <= 6 for one in pieces) and (any(typed) and not all(typed)) and not whole:
                return name
    return None


def grouped(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return names in groups, of which each holds what pairs connect; all in the order of the names.

    >>> grouped("abcd", [("c", "a")])
    [['a', 'c'], ['b'], ['d']]
    """
    groups = {name: [name] for name in names}
    order = {name: number for number, name in enumerate(groups)}
    for one, other in pairs:
        smaller, larger = sorted((groups[one], groups[other]), key=len)
        if smaller is not larger:  # so few names move that any chain of pairs takes nearly linear time
            larger += smaller
            groups |= dict.fromkeys(smaller, larger)
    return [sorted(group, key=order.__getitem__) for group in {id(group): group for group in groups.values()}.values()]


def _side(record: Mapping[str, Any], role: str) -> str | None:
    """Return the field with a list of offsets of a role, such as ``starts``."""
    names = named(record, tuple(f"{one}{s}" for one in USUAL[role] for s in ("s", "es", "")))
    return next((name for name in names if some(record[name], int)), None)


def _without(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}
