"""Claims of an annotation about mentions that are not simply there: see `spanloom.document.annotation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple, NoReturn

from spanloom.document.document import Document
from spanloom.document.span import Mention
from spanloom.errors import DataError, clip

Kind = Literal["not", "some", "either"]
CLAIMS: Final[tuple[Kind, ...]] = ("not", "some", "either")


class Claim(NamedTuple):
    """A claim about mentions that are not simply there.

    Args:
        kind: ``not``: none of the readings' mentions is there; ``some``: one reading is, or several; ``either``: one
            reading is, and no mention that only other readings have.
        readings: each of them a set of mentions.
    """

    kind: Kind
    readings: tuple[tuple[Mention, ...], ...]


def claims_of(document: Document, types: Sequence[str] | None) -> list[Claim]:
    """Return the claims about mentions in a text.

    Args:
        document: with or without ``meta["annotation"]``.
        types: all known types; with ``None``, those that a claim names, to check the rest.

    Raises:
        DataError: an invalid claim, spans outside the text, an unknown type, or a claim against a mention of the
            document.

    >>> given = {"not": [{"spans": [[0, 3]], "types": ["cell"]}], "some": [{"spans": [[10, 14]]}]}
    >>> document = Document("p53 binds MDM2.", meta={"annotation": given})
    >>> claims = claims_of(document, ["cell", "gene"])
    >>> [(claim.kind, [mention.type for [mention] in claim.readings]) for claim in claims]
    [('not', ['cell']), ('some', ['cell', 'gene'])]
    """
    given = document.meta.get("annotation")
    if not isinstance(given, Mapping):
        return []
    found = []
    for kind in CLAIMS:
        claims = given.get(kind, [])
        if not isinstance(claims, list):
            refuse(document, f"annotation.{kind}", claims, "a list")
        for number, one in enumerate(claims, 1):
            what = f"annotation.{kind}, number {number}"
            readings = _choice(document, what, one, types) if kind == "either" else _typed(document, what, one, types)
            found.append(Claim(kind, readings))
    denied = {(m.type, m.spans) for claim in found if claim.kind == "not" for [m] in claim.readings}
    for mention in document.mentions:
        if not denied.isdisjoint([(mention.type, mention.spans), ("", mention.spans)]):  # the latter: of any type
            where = ";".join(f"{start}-{end}" for start, end in mention.spans)
            raise DataError(
                f"document {clip(document.id)}: characters {where} are annotated as a mention of type "
                f"{clip(mention.type)}, and annotation.not excludes them; leave one of the two out"
            )
    return found


def _typed(document: Document, what: str, given: Any, types: Sequence[str] | None) -> tuple[tuple[Mention, ...], ...]:
    """Return a mention for each of the types that a claim names."""
    if not isinstance(given, Mapping) or not {"spans"} <= given.keys() <= {"spans", "types"}:
        refuse(document, what, given, "a mapping with spans and perhaps types")
    named = given.get("types", list(types or ("",)))
    if not isinstance(named, list) or not named or not all(isinstance(name, str) for name in named):
        refuse(document, f"{what}, types", named, "a list of types")
    return tuple((_mention(document, what, {**given, "type": name}, types),) for name in dict.fromkeys(named))


def _choice(document: Document, what: str, given: Any, types: Sequence[str] | None) -> tuple[tuple[Mention, ...], ...]:
    """Return the readings of a choice."""
    if not isinstance(given, list) or len(given) < 2 or not all(isinstance(reading, list) for reading in given):
        refuse(document, what, given, "a list of two or more readings, each of them a list of mentions")
    readings = []
    for reading in given:
        for one in reading:
            if not isinstance(one, Mapping) or one.keys() != {"type", "spans"}:
                refuse(document, what, one, "a mention with type and spans")
        readings.append(tuple(dict.fromkeys(_mention(document, what, one, types) for one in reading)))
    if len({frozenset(reading) for reading in readings}) < len(readings):
        refuse(document, what, given, "readings that differ")
    return tuple(readings)


def _mention(document: Document, what: str, given: Mapping[str, Any], types: Sequence[str] | None) -> Mention:
    name, spans = given["type"], given["spans"]
    if not isinstance(name, str) or (types is not None and name not in types):
        refuse(document, f"{what}, a type", name, f"one of the training data: {', '.join(types or ())}")
    if not isinstance(spans, list) or not spans or not all(_is_span(span, len(document.text)) for span in spans):
        refuse(
            document, f"{what}, spans", spans, f"[[start, end], ...] in the text's {len(document.text):,} characters"
        )
    spans = sorted(map(tuple, spans))
    if any(before[1] > after[0] for before, after in pairwise(spans)):
        refuse(document, f"{what}, spans", spans, "spans that do not overlap")
    return Mention(name, spans)


def _is_span(given: Any, length: int) -> bool:
    return (
        isinstance(given, list | tuple)
        and len(given) == 2
        and all(isinstance(value, int) and not isinstance(value, bool) for value in given)
        and 0 <= given[0] < given[1] <= length
    )


def refuse(document: Document, what: str, given: Any, expected: str) -> NoReturn:
    """Raise an error about the value of an annotation.

    Raises:
        DataError: always.
    """
    shown = clip(given) if isinstance(given, str) else clip(repr(given))[1:-1]
    raise DataError(f"document {clip(document.id)}: {what} is {shown}, expected {expected}")
