"""Division of documents into parts, such as for training and testing: each document is in one part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from warnings import warn

from spanloom.document.document import Document
from spanloom.errors import DataError, DataWarning, UsageError, clip, plural


def split(
    documents: Sequence[Document], parts: Mapping[str, float], seed: int = 0, by: str | None = None
) -> dict[str, list[Document]]:
    """Return the documents of each part, in the order in which they were given.

    Which part a document is in depends on the seed and the documents, and not on their order. Documents with
    the same text are in the same part, and so are those with one value of ``by``.

    Args:
        documents: to divide.
        parts: the name of each part -> its share; shares need not sum to 1.
        seed: of the draw.
        by: a field of ``meta``, such as ``"patient"``.

    Raises:
        UsageError: a share that is no positive number, or no parts.
        DataError: a part would be empty, or a document lacks the field; the message has its number, from 1.

    A `DataWarning` warns of documents of one id whose texts differ, where they come to different parts.

    >>> from spanloom import Document
    >>> found = split([Document(f"Note {number}.") for number in range(10)], {"train": 8, "dev": 1, "test": 1})
    >>> {name: len(part) for name, part in found.items()}
    {'train': 8, 'dev': 1, 'test': 1}
    """
    if not parts:
        raise UsageError("found no parts, expected some, such as train=8,dev=1,test=1")
    for name, share in parts.items():
        if not 0 < share < float("inf"):
            raise UsageError(f"the share of {clip(name)} is {share}, expected a positive number")
    groups = _groups(documents, by)
    if len(groups) < len(parts):
        what = "documents with texts of their own" if by is None else f"values of {clip(by)}"
        raise DataError(f"found {len(groups)} {what}, expected one for each of {plural(len(parts), 'part')}")
    part_of = _drawn(groups, parts, seed, len(documents))
    first: dict[str, str] = {}
    apart = {
        document.id: None
        for document, name in zip(documents, part_of, strict=True)
        if document.id and first.setdefault(document.id, name) != name
    }
    if apart:
        warn(
            f"{plural(len(apart), 'identifier')} in several parts, with different texts, the first is "
            f"{clip(next(iter(apart)))}; if documents of one identifier belong together, record it in a field of meta, "
            "and name it with by (--by)",
            DataWarning,
            stacklevel=2,
        )
    return {name: [documents[i] for i in range(len(documents)) if part_of[i] == name] for name in parts}


def _groups(documents: Sequence[Document], by: str | None) -> list[tuple[bytes, list[int]]]:
    """Return what must stay together: a key of each group, and the places of its documents."""
    first: dict[bytes, int] = {}  # a key -> a place where it is; groups are trees of places
    above = list(range(len(documents)))

    def root(place: int) -> int:
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    keys = [_keys(number, document, by) for number, document in enumerate(documents, 1)]
    for place, own in enumerate(keys):
        for key in own:
            one, other = root(first.setdefault(key, place)), root(place)
            above[max(one, other)] = min(one, other)
    groups: dict[int, list[int]] = {}
    for place in range(len(documents)):
        groups.setdefault(root(place), []).append(place)
    return [(min(key for place in places for key in keys[place]), places) for places in groups.values()]


def _keys(number: int, document: Document, by: str | None) -> list[bytes]:
    """Return what a document may share with others: its text, and the value of a field."""
    keys = [_digest("text", document.text)]
    if by is None:
        return keys
    value = document.meta.get(by)
    if value is None or isinstance(value, list | dict):
        found = f"its {clip(by)} is {clip(str(value))}" if by in document.meta else f"it has no field {clip(by)}"
        there = ", ".join(map(clip, document.meta)) or "none"
        raise DataError(
            f"document number {number}, {clip(document.id or document.text)}: {found}, expected a word or a number; "
            f"fields of meta may be named, and here are: {there}"
        )
    return [*keys, _digest("value", str(value))]


def _digest(*words: str) -> bytes:
    return blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _drawn(groups: list[tuple[bytes, list[int]]], parts: Mapping[str, float], seed: int, count: int) -> list[str]:
    """Return the part of each document: large groups first, each to the part that lacks most."""
    total = sum(parts.values())
    lacking = {name: count * share / total for name, share in parts.items()}
    salt = (seed % 2**64).to_bytes(8, "little")
    drawn = sorted(groups, key=lambda group: (-len(group[1]), blake2b(group[0], salt=salt).digest()))
    empty = set(parts)
    found = [""] * count
    for number, (_, places) in enumerate(drawn):
        choices = [name for name in parts if name in empty] if len(drawn) - number <= len(empty) else list(parts)
        name = max(choices, key=lambda name: lacking[name])
        empty.discard(name)
        lacking[name] -= len(places)
        for place in places:
            found[place] = name
    return found
