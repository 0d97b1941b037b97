"""Concepts as JSON: an object a line, as scispaCy hands them out, a list of objects, or one from identifiers to names.

Fields are found by usual names, as the columns of a table are (`spanloom.vocabulary.fields`): ``concept_id``,
``canonical_name``, ``aliases``, ``types`` and ``definition`` are scispaCy's. Patterns of spaCy and Prodigy are names,
too (`spanloom.vocabulary.json_records`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from spanloom.errors import DataError, UsageError, clip
from spanloom.formats.json_text import loads, to_json
from spanloom.formats.source import BOM, raw_lines, read_bytes
from spanloom.vocabulary.fields import Columns, Gathering, assigned, given_columns
from spanloom.vocabulary.records import Notes, Record, gathered_records

_EXPECTED: Final = (
    "expected fields such as concept_id, canonical_name and aliases; name them (--columns id=NAME,name=NAME)"
)
_NAMES: Final = ("name", "label", "term", "value", "text", "synonym", "val", "str")
"""Fields of objects in place of texts."""
_Found = tuple[int | None, str, Mapping[str, Any]]


def scan_json(
    path: str | Path,
    notes: Notes,
    *,
    columns: Columns = None,
    languages: Collection[str] = (),
    sources: Collection[str] = (),
) -> Iterator[Record]:
    """The concepts of JSON or JSON Lines; several objects of one concept are joined.

    An object without a field of a name is a concept without a name, which is left out and counted, as of all formats.

    Raises:
        DataError: the file cannot be read, is no JSON, an object has no field of an identifier, or none one of a name.
        UsageError: a field that is named and in no object, or a language or a source that none has.
    """
    given = given_columns(columns)
    gathering = Gathering(path, notes, languages, sources)
    known: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {}  # by the fields of an object
    missing = {name for names in given.values() for name in names}
    unread: set[str] = set()
    nameless: DataError | None = None
    named = False
    for line, place, fields in _of_patterns(json_objects(path, given), notes):
        header = tuple(fields)
        missing -= fields.keys()
        if header not in known:
            there = {ours: [name for name in names if name in fields] for ours, names in given.items()}
            here = {ours: names for ours, names in there.items() if names}
            # without a name other fields are those that they would be beside one
            found = assigned(header, here) or assigned((*header, "name"), here)
            known[header] = {ours: names for ours, names in found.items() if set(names) <= fields.keys()}
            used = {name for names in known[header].values() for name in names}
            for name in sorted(fields.keys() - used - unread):
                unread.add(name)
                notes.add("fields that are not read", name)
        found = known[header]
        if not {"id", "name"} <= found.keys():
            message = f"{place}found the fields {', '.join(header)[:80] or 'of an empty object'}, {_EXPECTED}"
            error = DataError(message, path=path, line=line)
            if "id" not in found:
                raise error
            nameless = nameless or error
        named |= "name" in found
        row = {ours: [text for name in names for text in _texts(fields[name], notes)] for ours, names in found.items()}
        row["synonyms"] = [*row.get("name", ())[1:], *row.get("synonyms", ())]
        gathering.add(row, line, place)
    if nameless is not None and not named:
        raise nameless
    if missing:
        raise UsageError(f"{path}: found no object with the field {sorted(missing)[0]!r}; the fields that are named")
    yield from gathered_records(gathering.finish().items(), notes)


def json_objects(path: str | Path, given: Mapping[str, Sequence[str]] = MappingProxyType({})) -> Iterator[_Found]:
    """The objects of a file, with the lines of those that have one of their own, or else their places."""
    first = [raw.strip() for _, raw in islice((line for line in raw_lines(path) if line[1].strip()), 2)]
    if len(first) == 2 and first[0].startswith(b"{") and first[0].endswith(b"}"):  # an object a line
        for line, raw in raw_lines(path):
            if raw.strip():
                yield line, "", _object(loads(raw, path, line), path, line)
        return
    value: Any = loads(read_bytes(path).removeprefix(BOM), path)
    lists = [part for part in value.values() if isinstance(part, list)] if isinstance(value, Mapping) else []
    listed = len(lists) == 1 and lists[0] and all(isinstance(one, dict) for one in lists[0])
    if listed and not assigned(list(value), given):  # as {"concepts": [...]}
        value = lists[0]
    if isinstance(value, Mapping):
        if assigned(list(value), given):
            yield None, "", value
            return
        for identifier, names in value.items():
            fields = names if isinstance(names, Mapping) else {"name": names}
            yield None, f"{identifier[:80]}: ", {"id": identifier, **fields}
        return
    for number, one in enumerate(value if isinstance(value, list) else [value]):
        yield None, f"records[{number}]: ", _object(one, path, None)


def _of_patterns(objects: Iterator[_Found], notes: Notes) -> Iterator[_Found]:
    """The objects, with the names of spaCy's patterns; those whose names cannot be listed are counted."""
    for line, place, fields in objects:
        if not is_pattern(fields):
            yield line, place, fields
        elif (found := names_of(fields["pattern"])) is None:
            notes.add("patterns whose names cannot be listed, left out", shown(fields))
        else:
            first, *others = found.names
            identifier = fields["id"] if isinstance(fields.get("id"), str) and fields["id"].strip() else first
            yield line, place, {"id": identifier, "name": first, "synonyms": others, "category": fields["label"]}


def _object(value: object, path: str | Path, line: int | None) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"found {str(value)[:80]!r}, expected an object for each concept", path=path, line=line)
    return value


def _texts(value: Any, notes: Notes) -> list[str]:
    """Return the texts of a field: of a list all of them, of an object its name, or those of each language."""
    values = value if isinstance(value, list) else [value]
    found: list[str] = []
    for one in values:
        if isinstance(one, str | int) and str(one).strip():
            found.append(str(one).strip())
        elif isinstance(one, dict) and (name := next((name for name in _NAMES if name in one), None)) is not None:
            found += [str(one[name]).strip()] if isinstance(one[name], str) and one[name].strip() else []
        elif isinstance(one, dict) and all(isinstance(part, str | list) for part in one.values()):
            listed = [part if isinstance(part, list) else [part] for part in one.values()]
            found += [text.strip() for part in listed for text in part if isinstance(text, str) and text.strip()]
        elif isinstance(one, dict | list) and one:
            notes.add("values that are not read", to_json(one))
    return found


# Patterns of spaCy and Prodigy: a label, and a text or conditions on one token after the other.
#
# ::
#
#     {"label": "DRUG", "pattern": "aspirin"}
#     {"label": "PROBLEM", "pattern": [{"LOWER": {"IN": ["mild", "severe"]}}, {"LOWER": "pain"}], "id": "C1"}
#
# Conditions on the letters of a token are names; others, such as on its lemma, are not.

_LOWER: Final = ("lower", "norm")
_EXACT: Final = ("orth", "text")
_MOST: Final = 200  # names of one pattern
_SHOWN: Final = 60


class Names(NamedTuple):
    """The names that a pattern finds, and whether in any letter case."""

    names: list[str]
    lower: bool


def is_pattern(value: Any) -> bool:
    """Return whether an object is a pattern."""
    return isinstance(value, Mapping) and isinstance(value.get("pattern"), str | list) and "label" in value


def names_of(pattern: Any) -> Names | None:
    """Return the names that a pattern finds; ``None`` if they cannot be listed.

    >>> names_of("Aspirin")
    Names(names=['Aspirin'], lower=False)
    >>> names_of([{"LOWER": {"IN": ["mild", "severe"]}, "OP": "?"}, {"LOWER": "pain"}])
    Names(names=['mild pain', 'severe pain', 'pain'], lower=True)
    >>> names_of([{"LEMMA": "be"}]) is None
    True
    """
    if isinstance(pattern, str):
        return Names([pattern], False) if pattern.strip() else None
    if not isinstance(pattern, list) or not pattern:
        return None
    lower, choices, count = False, [], 1
    for token in pattern:
        if not isinstance(token, Mapping):
            return None
        conditions = {str(name).lower(): value for name, value in token.items()}
        times = conditions.pop("op", "1")
        if len(conditions) != 1 or times not in ("1", "?", "{1}"):
            return None
        [(name, value)] = conditions.items()
        words = value.get("IN") if isinstance(value, Mapping) and value.keys() == {"IN"} else [value]
        if name not in (*_LOWER, *_EXACT) or not isinstance(words, list) or not words:
            return None
        if not all(isinstance(word, str) and word.strip() for word in words):
            return None
        lower |= name in _LOWER
        choices.append([*words, ""] if times == "?" else words)
        count *= len(choices[-1])
        if count > _MOST:
            return None
    names = dict.fromkeys(" ".join(filter(None, words)) for words in product(*choices))
    return Names(list(filter(None, names)), lower) if any(names) else None


def shown(value: Mapping[str, Any]) -> str:
    """Return a pattern for a message."""
    return clip(to_json(value["pattern"]), _SHOWN)
