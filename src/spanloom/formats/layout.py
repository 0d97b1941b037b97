"""Which column of a column file holds what, as told by the user, by the file, or by the first sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from spanloom.errors import UsageError

TAG = re.compile(r"O|[BIESLUM](?:-.+)?")
UNTYPED = "mention"  # the type of tags that are only a letter
_SPECIAL = ("word", "tag", "id", "_")
_NUMBER = re.compile(r"[0-9]+")
_FIELDS = re.compile(r"[ \t]+")


class Layout(NamedTuple):
    """The columns of a file.

    Args:
        names: one for each column: ``"word"``, ``"tag"`` (several are nested levels), ``"id"`` (numbers that are not
            kept), ``"_"`` (skipped), or the name of a column of the document, such as ``"pos"``.
        tabs: whether fields are separated by single tabs; otherwise by any blanks.
    """

    names: tuple[str, ...]
    tabs: bool

    def fields(self, line: str) -> list[str]:
        """The fields of a line."""
        return split(line, self.tabs)

    def indices(self, name: str) -> list[int]:
        """Where the columns of a name stand."""
        return [i for i, other in enumerate(self.names) if other == name]

    @property
    def others(self) -> dict[str, int]:
        """The columns that go into the document under their names."""
        return {name: i for i, name in enumerate(self.names) if name not in _SPECIAL}


def split(line: str, tabs: bool) -> list[str]:
    """The fields of a line, at tabs or at any blanks."""
    return line.split("\t") if tabs else _FIELDS.split(line.strip(" \t"))


def named_layout(columns: Sequence[str], tabs: bool) -> Layout:
    """The layout that the user, or the file's ``# global.columns`` line, names.

    Raises:
        UsageError: no word column, or two columns of one name.
    """
    names = tuple(columns)
    if names.count("word") != 1:
        raise UsageError(f"columns are {' '.join(names)!r}; expected one 'word' among them, such as 'word pos tag'")
    twice = next((name for name in names if name not in ("tag", "_") and names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"columns name {twice!r} twice; only 'tag' (nested levels) and '_' (skipped) may repeat")
    return Layout(names, tabs)


def guessed_layout(sentences: Sequence[Sequence[str]]) -> Layout | str:
    """The layout that the first sentences show; a message if none fits.

    The first column is the word, or the second if the first one counts the tokens from 1. The last column holds tags,
    and so do the columns right before it, as long as they look like tags (nested levels). If the last column holds
    something else, the last ones that look like tags count. Other columns are called ``column3`` and so on. Tags are
    what more than half of a column is: one wrong tag must not hide a column, it is reported when its line is read.

    Args:
        sentences: their lines, as they stand.

    >>> guessed_layout([["EU NNP B-ORG", "rejects VBZ O"]])
    Layout(names=('word', 'column2', 'tag'), tabs=False)
    >>> guessed_layout([["1\\tEU\\tB-ORG\\tO\\t-", "2\\trejects\\tO\\tO\\t-"]])
    Layout(names=('id', 'word', 'tag', 'tag', 'column5'), tabs=True)
    """
    tabs = "\t" in sentences[0][0]
    rows = [[split(line, tabs) for line in sentence] for sentence in sentences]
    width = Counter(len(row) for sentence in rows for row in sentence).most_common(1)[0][0]
    rows = [fit for sentence in rows if (fit := [row for row in sentence if len(row) == width])]
    if width == 1:
        return Layout(("word",), tabs)
    first = [row[0] for sentence in rows for row in sentence]
    numbered = width > 2 and all(sentence[0][0] == "1" for sentence in rows) and all(map(_NUMBER.fullmatch, first))
    names = ["id", "word"] if numbered else ["word"]
    names += [f"column{i}" for i in range(len(names) + 1, width + 1)]
    is_tags = [i > numbered and _mostly_tags([row[i] for sentence in rows for row in sentence]) for i in range(width)]
    if not any(is_tags):
        wrong = next(row[-1] for sentence in rows for row in sentence if not TAG.fullmatch(row[-1]))
        return (
            f"no column holds tags (the last one has {wrong[:40]!r}); "
            "expected O, B-type, I-type or other letters of BIOES and BILOU; name the columns with 'columns'"
        )
    last = max(i for i in range(width) if is_tags[i])
    while is_tags[last]:  # the word's column stops it
        names[last] = "tag"
        last -= 1
    return Layout(tuple(names), tabs)


def _mostly_tags(values: Sequence[str]) -> bool:
    return 2 * sum(TAG.fullmatch(value) is not None for value in values) > len(values)
