"""The user's description of records: names of fields, the unit of offsets, and names of tags and types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from spanloom.errors import DataError, UsageError, clip
from spanloom.files import STDIO
from spanloom.formats.base import Scanned
from spanloom.formats.json_text import are
from spanloom.formats.layouts import CHARACTERS, EXCLUSIVE, INCLUSIVE, TOKENS, USUAL, Layout, at, plain, words
from spanloom.formats.source import opened
from spanloom.formats.tag_dialects import Tagging
from spanloom.formats.tagged import TAGS, with_names

__all__ = ["RECORD_OPTIONS", "Columns", "RecordFields", "TagNames"]

TagNames: TypeAlias = Mapping[str, str] | Sequence[str] | str | None
"""Names of tags in the order of their numbers, or number -> name; as text with commas and ``=``."""
RECORD_OPTIONS: Final = ("columns", "tag_names")
"""Options of formats that hold records."""
_FIELDS: Final = ("id", "text", "tokens", "tags")  # of a record; the others are of a mention
_VALUES: Final = {"unit": (CHARACTERS, TOKENS), "ends": (EXCLUSIVE, INCLUSIVE), "tagging": ("letters", "types")}
_ROLES: Final = {"concept": "concepts", **{role: role for role in USUAL if role != "id"}}
DESCRIBED: Final = (*_FIELDS, "mentions", *_ROLES, *_VALUES)


class RecordFields:
    """Renames the fields and tags of records, and describes their mentions.

    Args:
        columns: our names of fields -> those in the records, or paths, such as ``body.text``.
        tag_names: of tags and types that are numbers.
        features: a field -> names of its values, as the file defines them.

    The attributes ``tags`` and ``kinds`` are the dialect of the tags of words, and of types of mentions, of a source.

    Raises:
        UsageError: an unknown name of a field, or an unknown unit or kind of ends.

    >>> fields = RecordFields({"text": "body", "mentions": "ner", "start": "b", "unit": "tokens"}, None)
    >>> fields.of({"body": "No pain.", "ner": []}), fields.layout.fields, fields.layout.unit, dict(fields.layout.paths)
    ({'text': 'No pain.', 'ner': []}, ('ner',), 'tokens', {'start': 'b'})
    """

    def __init__(
        self, columns: Columns, tag_names: TagNames, features: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        names = given_names(columns, DESCRIBED)
        for name, values in _VALUES.items():
            if names.get(name, values[0]) not in values:
                raise UsageError(f"{name} is {clip(names[name])}, expected one of: {', '.join(values)}")
        self.names = {name: theirs for name, theirs in names.items() if name in _FIELDS}
        paths = {_ROLES[name]: theirs for name, theirs in names.items() if name in _ROLES}
        field = tuple(names[name] for name in ("mentions",) if name in names)
        described = Layout("", field, unit=names.get("unit", ""), ends=names.get("ends", ""), paths=paths)
        self.layout = described if names.keys() - {*_FIELDS, "tagging"} else None
        letters = names["tagging"] == "letters" if "tagging" in names else None
        self.tags, self.kinds = Tagging(letters), Tagging(letters)
        self.types = check_names(tag_names)
        tags = dict.fromkeys((*TAGS, *filter(None, [self.names.get("tags")])), self.types) if self.types else {}
        self._features: dict[str, Sequence[str] | Mapping[str, str]] = {**(features or {}), **tags}
        self._beside = features.file if isinstance(features, NamesBeside) and not self.types else None
        self._used = False
        self.plain = not (names or self._features)
        """Whether records are read as they are."""

    def of(self, record: Any) -> Any:
        """Return the record with them; what is no object is returned as it is.

        Raises:
            DataError: the record lacks a field that the user names.
        """
        if not isinstance(record, dict):
            return record
        field = self.layout.fields if self.layout is not None else ()
        for theirs in (*self.names.values(), *field):
            if at(record, theirs) is None and theirs not in record:
                shown = ", ".join(map(clip, list(record)[:20]))
                raise DataError(f"there is no field {clip(theirs)}; the record has: {shown}")
        named = with_names(record, self._features) if self._features else record
        if self._beside is not None and not self._used:
            self._used = any(named.get(column) != record.get(column) for column in self._features)
        if not self.names:
            return named
        ours = {name: at(named, theirs) for name, theirs in self.names.items()}
        rest = {name: value for name, value in named.items() if name not in self.names.values()}
        return ours | {(f"record_{name}" if name in ours else name): value for name, value in rest.items()}

    def remarks(self, path: str | Path) -> Iterator[Scanned]:
        """Yield a notice if tags of a file are numbers whose names are from another file."""
        if self._used:
            message = f"tags are numbers; their names are those of {self._beside}"
            message += " (--tag-names, tag_names=, gives others)"
            yield Scanned.altered("names of tags from another file", message, str(path))


def check_names(names: TagNames) -> dict[str, str]:
    """Return the names of tags that the user gives, by their numbers.

    Raises:
        UsageError: some have a number and others have none.

    >>> check_names("O, B-x,I-x"), check_names("12=problem,13=sign")
    ({'0': 'O', '1': 'B-x', '2': 'I-x'}, {'12': 'problem', '13': 'sign'})
    """
    if isinstance(names, Mapping):
        return {str(number): name for number, name in names.items()}
    parts = [part.strip() for part in (names.split(",") if isinstance(names, str) else names or ())]
    pairs = [part.partition("=") for part in parts]
    if not any(sign for _, sign, _ in pairs):
        return {str(number): name for number, name in enumerate(parts)}
    if not all(sign and number.strip() and name.strip() for number, sign, name in pairs):
        expected = "expected NAME,NAME,... or NUMBER=NAME,NUMBER=NAME,..."
        raise UsageError(f"tag names are {clip(','.join(parts))}, {expected}")
    return {number.strip(): name.strip() for number, _, name in pairs}


# Names of a table's columns: ours, those that other programs use, and those that the user gives.

Columns: TypeAlias = Mapping[str, str] | Sequence[str] | None
"""Our name -> that in the file; or a list of ``ours=theirs``, which `read` also takes as a text with commas."""


# our name -> names that mean the same, in small letters without marks between words; the first that a table has counts
OF_TEXTS: Final = MappingProxyType(
    {
        "id": words("id docid documentid noteid"),
        "text": words("text notetext sentence content sentencetext documenttext"),
    }
)
OF_SPANS: Final = MappingProxyType(
    {
        "id": words("docid documentid noteid filename file document doc id pmid name"),
        "start": words(
            "start begin startchar startoffset beginoffset charstart startidx startindex startpos beginchar charbegin "
            "offsetstart off0 startspan spanstart"
        ),
        "end": words("end endchar endoffset charend endidx endindex endpos offsetend off1 endspan spanend"),
        "spans": words("spans offsets span"),
        "type": words("type label entitytype entitylabel tag category nertype entitygroup nertag semantictype entity"),
        "text": words("text surface spantext entitytext mentiontext coveredtext surfaceform quote span mention entity"),
        "score": ("score",),
        "concepts": words("concepts concept conceptid cui code identifier normid normalizedid meshid"),
        "attributes": ("attributes",),
    }
)


def given_names(columns: Columns, known: Sequence[str]) -> dict[str, str]:
    """Return the user's names of columns: our name -> the name in the file.

    Args:
        columns: a mapping, or a list of ``ours=theirs``.
        known: our names.

    Raises:
        UsageError: an item without ``=``, or an unknown or repeated name.

    >>> given_names(["text=note", "id=key"], ["id", "text"])
    {'text': 'note', 'id': 'key'}
    """
    if isinstance(columns, Mapping):
        names = dict(columns)
    else:
        pairs = [name.partition("=") for name in columns or ()]
        if (wrong := next((ours for ours, sign, theirs in pairs if not sign or not theirs), None)) is not None:
            raise UsageError(f"the columns of a table are named as text=NAME,id=NAME, but found {clip(wrong)}")
        names = {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
        if len(names) < len(pairs):
            raise UsageError(f"the columns {clip(','.join(map(str, columns or ())))} name one twice; leave one out")
    if (unknown := next((ours for ours in names if ours not in known), None)) is not None:
        raise UsageError(f"this format has no column {clip(unknown)}; expected one of: {', '.join(known)}")
    return names


def places(header: Sequence[str], names: Mapping[str, str], known: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return our name -> the place of that column in a table.

    Args:
        header: names in the table; case, white space at their ends, and marks between words of usual names are ignored.
        names: the user's names, from `given_names`.
        known: `OF_TEXTS` or `OF_SPANS`.

    Raises:
        UsageError: the user names a column that the table lacks.

    >>> places(["NOTE_ID", "NOTE_TEXT"], {}, OF_TEXTS)
    {'id': 0, 'text': 1}
    """
    lower, usual = [name.strip().lower() for name in header], [plain(name.strip()) for name in header]
    found = {}
    for ours, others in known.items():
        own, choices = (lower, [names[ours].strip().lower()]) if ours in names else (usual, others)
        if (place := next((own.index(name) for name in choices if name in own), None)) is None and ours in names:
            shown = ", ".join(map(clip, header[:20]))
            raise UsageError(f"there is no column {clip(names[ours])}; the table has: {shown}")
        if place is not None:
            found[ours] = place
    return found


# Names of tags that are numbers, from the files that publishers put beside their data.
#
# These are the card of a data set of Hugging Face (``README.md``) and its ``dataset_infos.json``, which name the values
# of each field, and tables of labels such as ``label.json`` and ``labels.txt``, which do so for every field of tags.

_INFOS: Final = ("dataset_infos.json", "dataset_info.json")
_TABLES: Final = (
    "label.json", "labels.json", "label2id.json", "id2label.json", "tag2id.json", "tag_to_id.json", "label_map.json",
    "config.json", "labels.txt", "label_list.txt", "tags.txt",
)  # fmt: skip
_CARD, _CONFIG = "README.md", "config.json"
_LONGEST: Final = 1 << 20  # bytes
_FIELD: Final = re.compile(r"^ *- name: *(\S+)((?:\n(?! *- name:).*)*)", re.MULTILINE)
_NAME: Final = re.compile(r"""^ *['"]?(\d{1,4})['"]?: *['"]?(.*?)['"]? *$""", re.MULTILINE)


class NamesBeside(dict[str, list[str]]):
    """Names of tags by field, and the file that has them."""

    file: Path | None = None


def names_beside(path: str | Path) -> NamesBeside:
    """Return for each field with tags that are numbers their names, from the folder of a file or the one above.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "label.json").write_text('{"O": 0, "B-x": 1}')
    ...     names_beside(Path(folder, "train.jsonl"))["ner_tags"]
    ['O', 'B-x']
    """
    names = NamesBeside()
    if str(path) == STDIO:
        return names
    for folder in (Path(path).absolute().parent, Path(path).absolute().parent.parent):
        for name in (*_INFOS, _CARD, *_TABLES):
            if found := dict(_names_in(folder / name)):
                names.update(found)
                names.file = folder / name
                return names
    return names


def _names_in(file: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the names in a file; none if there is no such file, or if it holds something else."""
    try:
        if not file.is_file():
            return
        with opened(file) as source:
            content = source.read(_LONGEST).decode("utf-8", "replace")
        value = json.loads(content) if file.suffix == ".json" else None
    except (DataError, OSError, ValueError, RecursionError):  # it is not what is read
        return
    if file.name == _CARD:
        for field, rest in _FIELD.findall(content.partition("\n---")[0]):
            if "class_label:" in rest and (names := _in_order(dict(_NAME.findall(rest)))):
                yield field, names
    elif file.name in _INFOS:
        yield from features_of(value)
    elif file.suffix == ".txt":
        names = [line.strip() for line in content.splitlines() if line.strip()]
        if "O" in names:
            yield from dict.fromkeys(TAGS, names).items()
    elif isinstance(value, dict):
        value = value.get("id2label", value if file.name != _CONFIG else {})
        if not isinstance(value, dict):
            return
        turned = {str(number): name for name, number in value.items() if type(number) is int}
        if names := _in_order(turned or value):
            yield from dict.fromkeys(TAGS, names).items()


def _in_order(names: Mapping[str, Any]) -> list[str]:
    """Return the names of the numbers from 0; none if they are others."""
    found = [names.get(str(number)) for number in range(len(names))]
    return found if are(found, str) else []


def features_of(value: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield the fields whose values have names, and these, of the features of a data set of Hugging Face."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        kind = inner
        while isinstance(kind, list) or (isinstance(kind, dict) and isinstance(kind.get("feature"), dict | list)):
            kind = next(iter(kind), None) if isinstance(kind, list) else kind["feature"]
        names = kind.get("names") if isinstance(kind, dict) and kind.get("_type") == "ClassLabel" else None
        if are(names, str):
            yield name, names
        else:
            yield from features_of(inner)
