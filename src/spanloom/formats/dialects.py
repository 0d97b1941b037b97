"""Conversion of records of other tools to native records.

A record is known by its fields. ``mentions`` makes a record native; otherwise ``spans`` is Prodigy's list, ``entities``
BigBIO's (with ``offsets``) or doccano's, ``labels`` and ``label`` doccano's lists of ``[start, end, type]``; regions
with ``labels`` are those of Label Studio's JSON-MIN; ``tokens`` and ``ner_tags`` are lists of words and tags, as data
sets of Hugging Face have them; ``note_text`` and ``note_id`` are OMOP's. A value of the wrong type is passed on, for
the reader of native records to report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from spanloom.document.validate import Problem
from spanloom.formats.field_names import of_notes
from spanloom.formats.tagged import fields_of, from_tagged

_LISTS = ("spans", "entities", "labels", "label")
_TOKEN_FIELDS = frozenset(("text", "start", "end", "id", "ws", "disabled"))
_REJECTED = ("reject", "ignore")  # answers of Prodigy; "accept" is the third
_OF_MIN = ("annotation_id", "annotator", "lead_time")  # fields of Label Studio's JSON-MIN
_DERIVED = frozenset(("token_start", "token_end"))  # Prodigy writes them from the tokens


class FieldNames(NamedTuple):
    """Names of a record's fields for the mentions, their type and their offsets; for messages."""

    field: str = "mentions"
    type: str = "type"
    spans: str = "spans"


def to_native(
    record: dict[str, Any], problems: list[Problem], mentions: bool = True
) -> tuple[dict[str, Any], FieldNames]:
    """Return the record with the fields of a native one; other fields stay.

    Args:
        record: of any dialect.
        problems: to add to.
        mentions: if false, tags of words are not read.

    >>> to_native({"text": "mild pain", "spans": [{"start": 5, "end": 9, "label": "problem"}]}, [])[0]
    {'text': 'mild pain', 'mentions': [{'type': 'problem', 'spans': [[5, 9]]}]}
    """
    names = FieldNames()
    record = of_notes(record)
    if "mentions" in record:
        return record, names
    if (tagged := fields_of(record)) is not None:
        return from_tagged(record, *tagged, problems, mentions), names
    native = dict(record)
    field = _list_field(record)
    if field is not None:
        items = native.pop(field)
        names = _names(field, items)
        native["mentions"] = list(_items(items)) if isinstance(items, list) else items
    if "passages" in record and "text" not in record:
        native["text"] = text_of_passages(record["passages"], problems)
        native["passages"] = _without_texts(record["passages"])
    if "document_id" in record:
        native["id"] = native.pop("document_id")
        if "id" in record and record["id"] != native["id"]:
            native["record_id"] = record["id"]
    if field == "spans" and isinstance(record.get("tokens"), list):
        native["tokens"] = [_token(token) for token in record["tokens"]]
    return native, names


def rejected(record: object) -> str | None:
    """Return the answer of a Prodigy record that is not gold, "reject" or "ignore"; ``None`` for others.

    >>> rejected({"text": "mild pain", "spans": [], "answer": "reject"})
    'reject'
    """
    if not isinstance(record, dict) or "mentions" in record:
        return None
    answer = record.get("answer")
    return answer if answer in _REJECTED else None


def _list_field(record: dict[str, Any]) -> str | None:
    if any(name in record for name in _OF_MIN):  # where the name of the field is that of a control
        return next((name for name, value in record.items() if _are_regions(value)), None)
    for field in _LISTS:
        if field not in record:
            continue
        value = record[field]
        if field in ("spans", "entities"):
            return field
        if isinstance(value, list) and (not value or isinstance(value[0], list | dict)):
            return field  # labels of the whole text, such as "positive", are not mentions
    return None


def _are_regions(value: object) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "labels" in item for item in value)
    )


def _names(field: str, items: object) -> FieldNames:
    first = items[0] if isinstance(items, list) and items else None
    if not isinstance(first, dict):
        return FieldNames(field, "type", "start, end")
    kind = next((name for name in ("type", "label", "labels") if name in first), "label")
    if "offsets" in first:
        return FieldNames(field, kind, "offsets")
    return FieldNames(field, kind, "start_offset, end_offset" if "start_offset" in first else "start, end")


def _items(items: list[Any]) -> Iterator[object]:
    """Yield mentions; a region of Label Studio is one for each of its labels."""
    for item in items:
        labels = item.get("labels") if isinstance(item, dict) and not {"type", "label"} & item.keys() else None
        if not isinstance(labels, list) or not labels:
            yield _item(item)
            continue
        rest = {name: value for name, value in item.items() if name != "labels"}
        yield from (_item({**rest, "label": label}) for label in labels)


def _item(item: object) -> object:
    if isinstance(item, list):
        return {"type": item[2], "spans": [item[:2]]} if len(item) == 3 else item
    if not isinstance(item, dict):
        return item
    rest = {name: value for name, value in item.items() if name not in _DERIVED}
    native: dict[str, Any] = {"type": rest.pop("type") if "type" in rest else rest.pop("label", None)}
    if "offsets" in rest:
        native["spans"] = rest.pop("offsets")
    elif "start_offset" in rest:
        native["spans"] = [[rest.pop("start_offset"), rest.pop("end_offset", None)]]
    elif "start" in rest:
        native["spans"] = [[rest.pop("start"), rest.pop("end", None)]]
    if isinstance(rest.get("text"), list) and all(isinstance(part, str) for part in rest["text"]):
        rest["text"] = " ".join(rest["text"])
    if "normalized" in rest:
        native["concepts"] = _concepts(rest.pop("normalized"))
    return native | rest


def _concepts(normalized: object) -> object:
    if not isinstance(normalized, list) or not all(isinstance(entry, dict) for entry in normalized):
        return normalized
    return [_concept(entry.get("db_name"), entry.get("db_id")) for entry in normalized]


def _concept(name: object, key: object) -> object:
    if name == "":  # an identifier of no named vocabulary
        return key
    return f"{name}:{key}" if name and key is not None else None


def _token(token: object) -> object:
    if isinstance(token, dict) and _TOKEN_FIELDS.issuperset(token):
        return [token.get("start"), token.get("end")]
    return token


def text_of_passages(passages: object, problems: list[Problem]) -> str | None:
    """Return the text of passages at their offsets, with spaces between them."""
    pieces: list[tuple[int, int, str, str]] = []
    for i, passage in enumerate(passages if isinstance(passages, list) else [None]):
        place, wrong = f"passages[{i}]", ""
        texts, offsets = (passage.get("text"), passage.get("offsets")) if isinstance(passage, dict) else (None, None)
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(passage, dict):
            wrong = "it is missing or of another type, expected an object with text and offsets"
        elif not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            wrong = "text is missing or of another type, expected a list of strings"
        elif not isinstance(offsets, list) or len(offsets) != len(texts) or not all(map(_is_span, offsets)):
            wrong = "offsets is missing or of another type, expected one [start, end] pair of integers for each text"
        if wrong:
            problems.append(Problem("error", "wrong field", wrong, place))
            return None
        pieces += [(start, end, text, place) for (start, end), text in zip(offsets, texts, strict=True)]  # type: ignore[arg-type]
    return _joined(sorted(pieces, key=lambda piece: piece[0]), problems)


def _joined(pieces: list[tuple[int, int, str, str]], problems: list[Problem]) -> str | None:
    parts: list[str] = []
    length, sound = 0, True
    longest = sum(len(piece) for _, _, piece, _ in pieces) * 2 + 10_000  # a gap beyond is a mistake or an attack
    for start, end, piece, place in pieces:
        if end - start != len(piece):
            message = f"offsets {start}-{end} are {end - start} characters apart, but the text has {len(piece)}"
            unit = _unit(piece, end - start)
            problems.append(Problem("error", "passage", message + unit, place))
            sound = False
        elif start < length or start > longest:
            message = f"offset {start} does not fit after a text of {length} characters"
            problems.append(Problem("error", "passage", message, place))
            sound = False
        else:
            parts += [" " * (start - length), piece]
            length = end
    return "".join(parts) if sound else None


def _unit(text: str, length: int) -> str:
    if length == len(text.encode("utf-16-le", "surrogatepass")) // 2:
        return "; they are counted in UTF-16 units: count Unicode characters"
    if length == len(text.encode("utf-8", "surrogatepass")):
        return "; they are counted in UTF-8 bytes: count Unicode characters"
    return ""


def _without_texts(passages: object) -> object:
    if not isinstance(passages, list):
        return passages
    return [
        {name: value for name, value in passage.items() if name != "text"} if isinstance(passage, dict) else passage
        for passage in passages
    ]


def _is_span(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(part) is int and part >= 0 for part in value)
