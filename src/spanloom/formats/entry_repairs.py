"""Repairs of the mentions of records before they are placed in a text, and warnings about doubtful ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from spanloom.document.validate import Problem
from spanloom.errors import plural
from spanloom.formats.entries import Entry, has_offsets
from spanloom.formats.layouts import LEFT_OUT, plain
from spanloom.formats.tag_dialects import LETTERED, Tagging

_NEAR: Final = 2  # characters, or tokens, between the tokens of a mention
_DIVIDING: Final = frozenset(("token", "spacetoken", "sentence", "split"))


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
        problems.append(Problem("warning", "mentions marked as wrong", message, altered=True))
    kept = [entry for entry in gold if not all(plain(str(kind)) in _DIVIDING for kind in entry.types or ["-"])]
    if not kept or len(kept) == len(gold):
        return gold
    those = plural(len(gold) - len(kept), "annotation that divides the text", "annotations that divide the text")
    message = f"left out {those}, such as Token of {field}"
    problems.append(Problem("warning", "annotations that divide the text", message, altered=True))
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
    if not entries or any(len(entry.spans) != 1 for entry in entries):
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
    message = (
        f"types of {field} are tags such as B-{found[0].types[0]}; {len(entries):,} tokens are {len(found):,} mentions"
    )
    problems.append(Problem("warning", "tags as types", message, altered=True))
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
        yield Problem("warning", "types that are texts", f"{message} (columns=)", altered=True)
    if not named and entries and all(str(kind).isdecimal() for entry in entries for kind in entry.types or ["-"]):
        message = (
            f"the types of {field} are numbers, such as {entries[0].types[0]}; their names are given as --tag-names"
        )
        yield Problem("warning", "types that are numbers", f"{message} 1=NAME,2=NAME (tag_names=)", altered=True)
    for entry in entries:
        for name, value in entry.fields.items():
            if isinstance(value, list) and value and all(isinstance(one, dict) and has_offsets(one) for one in value):
                message = f"{name.removeprefix('record_')} of a mention holds further mentions, which are not read"
                yield Problem("warning", "mentions within mentions", message, entry.place, altered=True)
