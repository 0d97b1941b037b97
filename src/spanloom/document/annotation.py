"""Completeness of a document's annotation: complete, at least the annotated mentions, or unknown.

``meta["annotation"]`` is one of these words, for all of the text, or a mapping: ``default`` for the rest of the text,
``types`` from types to words, and ``zones``, a list of ``{"start", "end", "annotation", "types"}`` in characters, with
``types`` optional. Later entries, in this order, take precedence. A mapping may also make claims:

- ``not``: a list of ``{"spans", "types"}``, each of which is no mention, of these types or of any;
- ``some``: a list of the same, each of which is a mention, of one of these types or of any, or of several;
- ``either``: a list of choices; each is a list of readings, of which one is right, and each reading is a list of
  mentions ``{"type", "spans"}``, possibly empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from spanloom.document.batch import Batch
from spanloom.document.document import Document
from spanloom.document.span import Mention
from spanloom.errors import DataError, clip

# Claims of an annotation about mentions that are not simply there: see `spanloom.document.annotation`.

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


Completeness = Literal["complete", "at-least", "unknown"]
"""``complete``: what is not annotated is no mention. ``at-least``: annotated mentions are right, others may be missing.
``unknown``: the annotation has no information, also where there are mentions."""
STATUSES: Final[tuple[Completeness, ...]] = get_args(Completeness)
COMPLETE, AT_LEAST, UNKNOWN = range(3)
Status = NDArray[np.uint8]
"""(T, K) the completeness of each token and type."""
_KEYS = {"default", "types", "zones", *CLAIMS}
_ZONE = {"start", "end", "annotation", "types"}


class Zone(NamedTuple):
    """A part of a text, and the completeness of some types in it.

    Args:
        start, end: characters, half-open.
        types: all when ``None``.
        status: the completeness.
    """

    start: int
    end: int
    types: frozenset[str] | None
    status: Completeness


def zones_of(document: Document, default: Completeness = "complete") -> list[Zone]:
    """Return the zones of a text; the last one that contains a place counts.

    Args:
        document: with or without ``meta["annotation"]``.
        default: the completeness of a document that declares none.

    Raises:
        DataError: an unknown word, a zone outside the text, or another invalid value.

    >>> given = {"default": "at-least", "zones": [{"start": 0, "end": 8, "annotation": "complete", "types": ["gene"]}]}
    >>> zones_of(Document("p53 and MDM2.", meta={"annotation": given}))[1]
    Zone(start=0, end=8, types=frozenset({'gene'}), status='complete')
    """
    given = document.meta.get("annotation", default)
    given = {"default": given} if isinstance(given, str) else given
    if not isinstance(given, Mapping) or not given.keys() <= _KEYS:
        refuse(document, "annotation", given, f"{', '.join(STATUSES)}, or a mapping with {', '.join(sorted(_KEYS))}")
    whole = len(document.text)
    found = [Zone(0, whole, None, _word(document, "annotation", given.get("default", default)))]
    types = given.get("types", {})
    if not isinstance(types, Mapping):
        refuse(document, "annotation.types", types, "a mapping from types to words")
    for name, status in types.items():
        found.append(Zone(0, whole, frozenset([str(name)]), _word(document, f"annotation.types.{name}", status)))
    zones = given.get("zones", [])
    if not isinstance(zones, Sequence) or isinstance(zones, str):
        refuse(document, "annotation.zones", zones, "a list")
    return found + [_zone(document, number, zone) for number, zone in enumerate(zones, 1)]


def _zone(document: Document, number: int, given: Any) -> Zone:
    what = f"annotation, zone {number}"
    if not isinstance(given, Mapping) or not {"start", "end", "annotation"} <= given.keys() <= _ZONE:
        refuse(document, what, given, "a mapping with start, end, annotation and perhaps types")
    start, end, types = given["start"], given["end"], given.get("types")
    if not _is_span((start, end), len(document.text)):
        refuse(document, what, f"{start!r} to {end!r}", f"characters of the text, which has {len(document.text):,}")
    if types is not None and (not isinstance(types, list) or not all(isinstance(name, str) for name in types)):
        refuse(document, f"{what}, types", types, "a list of types")
    return Zone(start, end, None if types is None else frozenset(types), _word(document, what, given["annotation"]))


def _word(document: Document, what: str, given: Any) -> Completeness:
    if given not in STATUSES:
        refuse(document, what, given, f"{', '.join(STATUSES[:-1])} or {STATUSES[-1]}")
    found: Completeness = given
    return found


def completeness(batch: Batch, types: Sequence[str], default: Completeness = "complete") -> Status | None:
    """Return (T, K) the completeness of each token and type, 0 for `COMPLETE`.

    A token that is partly in a zone belongs to it. If all is complete, and nothing is claimed, the result is ``None``.

    Raises:
        DataError: as of `zones_of`, or an unknown type.
    """
    found = np.zeros((len(batch.tokens), len(types)), np.uint8)
    edges = batch.starts.tolist()
    for document, first, end in zip(batch.documents, edges[:-1], edges[1:], strict=True):
        tokens = batch.tokens[first:end]
        for zone in zones_of(document, default):
            rows = (tokens[:, 0] < zone.end) & (tokens[:, 1] > zone.start)
            for name in types if zone.types is None else sorted(zone.types):
                if name not in types:
                    refuse(document, "a type of its annotation", name, f"one of the training data: {', '.join(types)}")
                found[first:end, types.index(name)][rows] = STATUSES.index(zone.status)
    claims = any(claims_of(document, types) for document in batch.documents if "annotation" in document.meta)
    return found if claims or found.any() else None


def doubt(document: Document, types: Iterable[str]) -> str | None:
    """Return the declared completeness of some types in words; ``None`` if it is complete.

    Values in another form belong to other tools and are ignored; `spanloom.document.validate` reports them.

    >>> half = Document("p53 and MDM2.", meta={"annotation": {"default": "at-least", "types": {"gene": "complete"}}})
    >>> doubt(half, ["gene"]), doubt(half, ["cell", "gene"])
    (None, "'at-least' of type 'cell'")
    """
    if "annotation" not in document.meta:
        return None
    try:
        zones, claims = zones_of(document), claims_of(document, None)
    except DataError:
        return None
    for name in types if any(zone.status != "complete" for zone in zones) else ():
        status = np.full(len(document.text), COMPLETE, np.uint8)
        for zone in zones:
            if zone.types is None or name in zone.types:
                status[zone.start : zone.end] = STATUSES.index(zone.status)
        if status.any():
            return f"{STATUSES[status[status.argmax()]]!r} of type {clip(name)}"
    open_claim = next(
        (claim.kind for claim in claims if claim.kind != "not"), None
    )  # a denied mention is no mention anyway
    return None if open_claim is None else f"that one of several mentions is there ({open_claim})"


def judged(gold: Iterable[Document], found: Iterable[Document]) -> Iterator[Document]:
    """Yield documents without their mentions in text whose annotation is unknown in other documents.

    Args:
        gold: whose annotation may be ``unknown``.
        found: the same texts, with mentions to be compared with it.

    >>> gold = Document("p53 and MDM2.", meta={"annotation": {"default": "unknown", "types": {"gene": "complete"}}})
    >>> mentions = [Mention("gene", [(0, 3)]), Mention("cell", [(8, 12)])]
    >>> [[mention.type for mention in one.mentions] for one in judged([gold], [gold.copy(mentions=mentions)])]
    [['gene']]
    """
    for status, one in zip(gold, found, strict=True):
        if "annotation" not in status.meta:
            yield one
            continue
        zones = zones_of(status)
        yield one.copy(mentions=[mention for mention in one.mentions if last_status(zones, mention) != "unknown"])


def last_status(zones: Sequence[Zone], mention: Mention) -> Completeness:
    """Return the completeness of the text of a mention; the last, if its parts differ."""
    found = [
        zone.status
        for zone in zones
        if (zone.types is None or mention.type in zone.types) and zone.start < mention.end and mention.start < zone.end
    ]
    return found[-1]
