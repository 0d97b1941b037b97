"""Structures: how mentions become hyperedges of a template, and hyperedges mentions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from importlib import import_module
from typing import Any, get_args

from spanloom.errors import UsageError, meant
from spanloom.structure_names import StructureName
from spanloom.structures.base import MOST_MENTIONS as MOST_MENTIONS
from spanloom.structures.base import READINGS as READINGS
from spanloom.structures.base import Crowd as Crowd
from spanloom.structures.base import Encoded as Encoded
from spanloom.structures.base import MentionTable as MentionTable
from spanloom.structures.base import Structure as Structure
from spanloom.structures.base import TokenMention as TokenMention
from spanloom.structures.chain import Bilou as Bilou
from spanloom.structures.chain import Bio as Bio
from spanloom.structures.chain import FlatChain as FlatChain
from spanloom.structures.chain import chain_template as chain_template
from spanloom.structures.discontiguous import Shared as Shared
from spanloom.structures.discontiguous import Split as Split
from spanloom.structures.heads import Heads as Heads
from spanloom.structures.mention_hypergraph import MentionHypergraph as MentionHypergraph
from spanloom.structures.product import Product as Product
from spanloom.structures.semi_markov import SemiMarkov as SemiMarkov
from spanloom.structures.separator_states import SeparatorStates as SeparatorStates
from spanloom.structures.separators import Separators as Separators
from spanloom.structures.seven_tag import SevenTag as SevenTag
from spanloom.structures.tags import Tags as Tags
from spanloom.structures.words import Words as Words

_TOGETHER = {"bio": "chain", "bilou": "chain", "shared": "discontiguous", "split": "discontiguous"}


def _structure(name: str) -> Structure:
    """Return a structure with its default parameters: ``seven_tag`` is `SevenTag` of the module ``seven_tag``."""
    module = import_module(f"{__name__}.{_TOGETHER.get(name, name)}")
    made: Structure = getattr(module, name.title().replace("_", ""))()
    return made


STRUCTURES: dict[str, Structure] = {name: _structure(name) for name in get_args(StructureName)}
"""The structures by their names, of which `spanloom.structure_names` has the list."""

_CALL = re.compile(r"(\w+)(?:\((.*)\))?")
_PARAMETER = re.compile(r"\s*(\w+)\s*=\s*(\d{1,9}|None)\s*")


def structure_of(given: str | Structure, *, also: Sequence[str] = (), **shorthands: int | None) -> Structure:
    """Return the structure that a text such as ``semi_markov(longest=6)`` names; a structure is returned unchanged.

    Args:
        given: a key of `STRUCTURES`, possibly with parameters; or a structure of Spanloom or of a user's class.
        also: other names that the caller accepts, for messages.
        shorthands: parameters given separately from the text; those that the structure does not have are ignored.

    Raises:
        UsageError: an unknown structure, a wrong or repeated parameter, or a structure that is no frozen dataclass.

    >>> structure_of("semi_markov(longest=2)").template(["x"]).kinds
    ('START', 'after O', 'after x', 'x 1', 'x 2')
    >>> str(structure_of("shared", components=2, longest=6))
    'shared(components=2)'
    """
    structure, own = _checked(given) if isinstance(given, Structure) else _parsed(given, also)
    default = {field.name: field.default for field in fields(structure)}
    beside = {name: value for name, value in shorthands.items() if name in default and value != default[name]}
    for name, value in beside.items():
        if own.get(name, value) != value:
            raise UsageError(f"structure is {given}, but {name} beside it is {value}; leave one out")
    return replace(structure, **beside) if beside else structure


def _checked(given: Structure) -> tuple[Structure, dict[str, Any]]:
    """A structure and its parameters, if models can keep it."""
    if "__dataclass_fields__" not in vars(type(given)):
        raise UsageError(
            f"structure is a {type(given).__name__}, no dataclass; decorate it with @dataclass(frozen=True)"
        )
    if given.covers:
        raise UsageError(f"structure is {given}, which holds every token; take one that leaves tokens out")
    if type(STRUCTURES.get(given.name, given)) is not type(given):
        raise UsageError(f"structure is a {type(given).__name__} named {given.name}, as one of Spanloom's; rename it")
    return given, {field.name: getattr(given, field.name) for field in fields(given)}


def _parsed(given: object, also: Sequence[str]) -> tuple[Structure, dict[str, Any]]:
    """The structure that a text names, and the parameters that it gives."""
    found = _CALL.fullmatch(given) if isinstance(given, str) else None
    if found is None or found[1] not in STRUCTURES:
        named = given if found is None else found[1]
        known = (*also, *STRUCTURES)
        raise UsageError(f"structure is {given!r}, expected one of {', '.join(known)}{meant(named, known)}")
    structure, own = STRUCTURES[found[1]], dict[str, Any]()
    names = [field.name for field in fields(structure)]
    for part in found[2].split(",") if found[2] else ():
        parameter = _PARAMETER.fullmatch(part)
        if parameter is None or parameter[1] not in names or parameter[1] in own:
            expected = f"{names[0]}=NUMBER" if names else "no parameters"
            raise UsageError(f"structure is {given!r}, with {part.strip()!r}; expected {expected}")
        own[parameter[1]] = None if parameter[2] == "None" else int(parameter[2])
    return replace(structure, **own) if own else structure, own
