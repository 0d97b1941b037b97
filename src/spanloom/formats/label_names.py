"""Names of tags that are numbers, from the files that publishers put beside their data.

These are the card of a data set of Hugging Face (``README.md``) and its ``dataset_infos.json``, which name the values
of each field, and tables of labels such as ``label.json`` and ``labels.txt``, which do so for every field of tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from spanloom.errors import DataError
from spanloom.files import STDIO
from spanloom.formats.json_text import are
from spanloom.formats.source import opened
from spanloom.formats.tagged import TAGS

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
