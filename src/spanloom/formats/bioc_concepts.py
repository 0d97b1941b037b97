"""What the infons of a BioC annotation say: type, concepts, and its part in a composite mention.

Concepts stand under ``MESH``, ``OMIM`` or ``identifier``, in any case. Those under a vocabulary's name get its prefix
(``MESH`` with ``D003920`` is ``MESH:D003920``), and all are normalized. Several are joined by ``|`` (in BC5CDR the
concepts of a composite mention), ``+`` (together they say what is meant), ``,`` or ``;``; ``-``, ``-1`` or nothing say
that there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from spanloom.document.identifiers import normalize_identifier
from spanloom.formats.bioc_tree import Infons
from spanloom.formats.pubtator_lines import split_identifier

TYPE = "type"
_PREFIXES = {"mesh": "MESH", "omim": "OMIM", "identifier": ""}
_LIST = re.compile(r"(?:\w+:)?\w*[0-9]\s*(?:[,;]\s*(?:\w+:)?\w*[0-9]\s*)+")
_PREFIXED = re.compile(r"(MESH|OMIM):(.+)")


def concepts_of(infons: Infons) -> tuple[str, ...]:
    """The concepts that infons name, in their order, each once.

    >>> concepts_of({"type": "Disease", "MESH": "D014786|D006311"})
    ('MESH:D014786', 'MESH:D006311')
    >>> concepts_of({"identifier": "MESH:D014786,OMIM:102600"}), concepts_of({"MESH": "-1"})
    (('MESH:D014786', 'OMIM:102600'), ())
    """
    return tuple(dict.fromkeys(concept for key, value in infons.items() for concept in _concepts(key, value)))


def _concepts(key: str, value: Any) -> Iterator[str]:
    prefix = _PREFIXES.get(key.lower())
    if prefix is None:
        return
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str | int):
            continue
        field = str(item).strip()
        names = re.split(r"\s*[,;]\s*", field) if _LIST.fullmatch(field) else split_identifier(field)
        yield from (_prefixed(prefix, name) for name in names)


def _prefixed(prefix: str, name: str) -> str:
    bare = name[len(prefix) + 1 :] if name.lower().startswith(f"{prefix.lower()}:") else name
    return normalize_identifier(f"{prefix}:{bare}" if prefix else name)


def normalized(concepts: Sequence[str]) -> tuple[str, ...]:
    """Concepts in the form in which they are read, each once."""
    return tuple(dict.fromkeys(map(normalize_identifier, concepts)))


def type_of(infons: Infons) -> str:
    """The type that infons name; empty if there is none."""
    value = infons.get(TYPE)
    return value if isinstance(value, str) else ""


def is_part(infons: Infons) -> bool:
    """Whether an annotation is one part of a composite mention that is annotated as a whole, too.

    >>> is_part({"type": "Disease", "CompositeRole": "IndividualMention", "MESH": "D014786"})
    True
    """
    return infons.get("CompositeRole") == "IndividualMention"


def infons_for(kind: str, concepts: Sequence[str], before: Infons | None = None) -> Infons:
    """Infons that say a type and concepts.

    Args:
        kind: the type.
        concepts: as in a mention.
        before: infons as they were read; they stay as they are where they say just this, and what they say beside
            type and concepts stays in any case.

    >>> infons_for("Disease", ["MESH:D014786", "MESH:D006311"])
    {'type': 'Disease', 'MESH': 'D014786|D006311'}
    >>> infons_for("Disease", ["MESH:D014786", "OMIM:102600"])
    {'type': 'Disease', 'identifier': 'MESH:D014786|OMIM:102600'}
    >>> infons_for("Disease", [], {"type": "Disease", "MESH": "D1", "note": "a"}), infons_for("D", [], {"MESH": "-1"})
    ({'type': 'Disease', 'note': 'a'}, {'type': 'D', 'MESH': '-1'})
    """
    infons = {TYPE: kind} | dict(before or {}) | {TYPE: kind}
    concepts = normalized(concepts)
    if concepts_of(infons) == concepts:
        return infons
    infons = {key: value for key, value in infons.items() if key.lower() not in _PREFIXES}
    split = [_PREFIXED.fullmatch(concept) for concept in concepts]
    prefixes = {found[1] for found in split if found is not None}
    if len(prefixes) == 1 and None not in split:
        infons[prefixes.pop()] = "|".join(found[2] for found in split if found is not None)
    elif concepts:
        infons["identifier"] = "|".join(concepts)
    return infons
