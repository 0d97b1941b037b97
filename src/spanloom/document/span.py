"""Spans and mentions: plain values, compared by content.

Offsets are 0-based, half-open, in Unicode code points of the exact text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from operator import index
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from spanloom.errors import DataError, clip

_NUMBERS = (float, Real)  # of these the first takes less time
_new = tuple.__new__  # of a span, in half the time of its own


class Span(NamedTuple):
    """Characters ``text[start:end]``.

    >>> from spanloom import Span
    >>> "left atrium"[slice(*Span(5, 11))]
    'atrium'
    """

    start: int
    end: int


class Section(NamedTuple):
    """A part of a document under a name, such as the heading above it; sections may lie in one another.

    >>> from spanloom import Document, Section, Span
    >>> Document("Plan: rest.", sections=[Section("Plan", Span(6, 11))]).sections[0].name
    'Plan'
    """

    name: str
    span: Span


_V = TypeVar("_V")


class _Frozen(dict[str, _V], Generic[_V]):
    """A dictionary that cannot be changed; unlike a view of the standard library's it can be pickled and is JSON."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("attributes of a mention cannot be changed; use mention.replace(attributes={...})")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> str | tuple[Any, ...]:
        return "_EMPTY" if self is _EMPTY else (_Frozen, (dict(self),))


_EMPTY: Final[_Frozen[Any]] = _Frozen()


@dataclass(frozen=True, slots=True, repr=False)
class Mention:
    """A mention: a type and one or more spans of the text.

    Args:
        type: the mention's type, such as ``"problem"``.
        spans: in text order, disjoint, not empty. Several spans make a *discontiguous* mention
            (others write discontinuous), unless only white space lies between them: see `align`.
        id: the mention's name in its file, if it has one.
        head: the span of the head word or words, if annotated.
        concepts: identifiers in a vocabulary, such as ``"MESH:D007674"``.
        score: a probability between 0 and 1, if a model gave one; Spanloom's are calibrated on development data.
        attributes: name -> value: true or false, or a text, such as ``{"negated": True, "certainty": "high"}``; it
            cannot be changed. Numbers become texts, and several values one text, joined by ``"|"``; ``None`` and an
            empty list are no value.
        attribute_scores: name of an attribute -> the probability of its value.
        concept_scores: the probability of each concept, in their order; or empty.

    Raises:
        DataError: no span at all, spans or a head that are no pairs of whole numbers, concepts that are no list, scores
            that are not one for each concept, or a value of another type.

    >>> from spanloom import Mention
    >>> mention = Mention("problem", [(0, 11), (22, 29)])
    >>> mention.spans[1].end, mention.text("infarctions watershed embolic")
    (29, 'infarctions embolic')
    >>> mention
    Mention('problem', [(0, 11), (22, 29)])
    >>> Mention("problem", [(0, 11)], attributes={"negated": True, "stage": 2})
    Mention('problem', [(0, 11)], attributes={'negated': True, 'stage': '2'})
    """

    type: str
    spans: tuple[Span, ...]
    id: str | None = None
    head: Span | None = None
    concepts: tuple[str, ...] = ()
    score: float | None = None
    attributes: Mapping[str, bool | str] = field(default=_EMPTY, hash=False)
    attribute_scores: Mapping[str, float] = field(default=_EMPTY, hash=False)
    concept_scores: tuple[float, ...] = ()

    if TYPE_CHECKING:  # what is taken is wider than what is kept

        def __init__(
            self, type: str, spans: Iterable[Sequence[int]], id: str | None = None, head: Sequence[int] | None = None,
            concepts: Iterable[str] = (), score: float | None = None, attributes: Mapping[str, object] = _EMPTY,
            attribute_scores: Mapping[str, float] = _EMPTY, concept_scores: Iterable[float] = (),
        ) -> None: ...  # fmt: skip

    def __repr__(self) -> str:
        parts = [repr(self.type), repr([tuple(span) for span in self.spans])]
        for one in fields(self)[2:]:
            value = getattr(self, one.name)
            if value != one.default:
                parts.append(f"{one.name}={tuple(value) if isinstance(value, tuple) else value!r}")
        return f"Mention({', '.join(parts)})"

    def __post_init__(self) -> None:
        if not isinstance(self.type, str):
            raise DataError(f"the type of a mention is {self.type!r}, expected a text")
        if self.id is not None and not isinstance(self.id, str):
            self._refuse("id", "a text")
        if self.score is not None and (isinstance(self.score, bool) or not isinstance(self.score, _NUMBERS)):
            self._refuse("score", "a number")
        try:
            spans = tuple([_new(Span, (index(start), index(end))) for start, end in self.spans])
        except (TypeError, ValueError):
            self._refuse("spans", "pairs: [(0, 3)]")
        object.__setattr__(self, "spans", spans)
        if not spans:
            raise DataError(f"a mention of type {clip(self.type)} has no span; give it at least one")
        if self.head is not None:
            try:
                start, end = self.head
                object.__setattr__(self, "head", Span(index(start), index(end)))
            except (TypeError, ValueError):
                self._refuse("head", "a pair: (0, 3)")
        if self.concepts != ():
            object.__setattr__(self, "concepts", self._listed("concepts", str, "a list: ['D1']"))
        if self.attributes is not _EMPTY and not isinstance(self.attributes, _Frozen):
            object.__setattr__(self, "attributes", self._plain_attributes())
        if self.attribute_scores is not _EMPTY and not isinstance(self.attribute_scores, _Frozen):
            object.__setattr__(self, "attribute_scores", self._plain_scores())
        if self.concept_scores != ():
            expected = f"a number for each of its {len(self.concepts)} concepts"
            scores = self._listed("concept_scores", _NUMBERS, expected)
            if len(scores) not in (0, len(self.concepts)):
                self._refuse("concept_scores", expected)
            object.__setattr__(self, "concept_scores", tuple(map(float, scores)))

    def _refuse(self, name: str, expected: str) -> NoReturn:
        given = f"{name} {'are' if name.endswith('s') else 'is'} {clip(repr(getattr(self, name)))[1:-1]}"
        raise DataError(f"a mention of type {clip(self.type)}: its {given}, expected {expected}") from None

    def _listed(self, name: str, kind: Any, expected: str) -> tuple[Any, ...]:
        given: object = getattr(self, name)
        found = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (None,)
        if not all(isinstance(one, kind) for one in found):
            self._refuse(name, expected)
        return found

    def _plain_attributes(self) -> Mapping[str, bool | str]:
        if not isinstance(self.attributes, Mapping):
            self._refuse("attributes", 'a mapping, such as {"negated": True}')
        place, found = f"a mention of type {clip(self.type)}: its attributes", {}
        for name, value in self.attributes.items():
            if not isinstance(name, str) or not name:
                raise DataError(f"{place} have the name {name!r}, expected a text")
            try:
                plain = attribute_value(value)
            except TypeError as error:
                raise DataError(f"{place}: {clip(name)} is {error}") from None
            if plain is not None:
                found[name] = plain
        return _Frozen(found) if found else _EMPTY

    def _plain_scores(self) -> Mapping[str, float]:
        given: object = self.attribute_scores
        if not isinstance(given, Mapping) or not all(
            isinstance(name, str) and isinstance(value, _NUMBERS) for name, value in given.items()
        ):
            self._refuse("attribute_scores", 'probabilities by name, such as {"negated": 0.9}')
        return _Frozen({name: float(value) for name, value in given.items()}) if given else _EMPTY

    @property
    def start(self) -> int:
        """The first character of the first span."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """The end of the last span."""
        return self.spans[-1].end

    @property
    def key(self) -> tuple[str, tuple[Span, ...]]:
        """Type and spans, the key of exact comparison."""
        return self.type, self.spans

    def text(self, text: str) -> str:
        """Return the mention's surface: the text of its spans, joined by one space."""
        return " ".join(text[start:end] for start, end in self.spans)

    def replace(self, **changes: object) -> Mention:
        """Return a copy with some fields changed; scores of concepts or attributes that are replaced are left out."""
        if "concepts" in changes and self.concept_scores:
            changes.setdefault("concept_scores", ())
        if "attributes" in changes and self.attribute_scores:
            changes.setdefault("attribute_scores", _EMPTY)
        return replace(self, **changes)  # type: ignore[arg-type]


def attribute_value(value: object) -> bool | str | None:
    """Return the value of an attribute as a mention keeps it; ``None`` if it is no value.

    Raises:
        TypeError: a mapping or another object; the message describes it.

    >>> attribute_value(2), attribute_value(["mild", "old"]), attribute_value([])
    ('2', 'mild|old', None)
    """
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ in ("bool", "bool_"):  # the latter is NumPy's
        return bool(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, list | tuple | set | frozenset):
        parts = [attribute_value(part) for part in value]
        texts = [str(part).lower() if isinstance(part, bool) else part for part in parts if part is not None]
        return "|".join(sorted(texts) if isinstance(value, set | frozenset) else texts) or None
    raise TypeError(f"{clip(repr(value))}, expected true, false, a text, a number or a list of these")


def found_mention(
    type: str, spans: Iterable[tuple[int, int]], head: tuple[int, int] | None, concepts: tuple[str, ...],
    score: float | None, id: str | None = None, attributes: Mapping[str, bool | str] | None = None,
    attribute_scores: Mapping[str, float] | None = None, concept_scores: tuple[float, ...] = (),
) -> Mention:  # fmt: skip
    """Return a mention of valid parts: what `Mention` gives, without its checks, which take most of the time.

    Attributes are copied; values are true, false or texts already.

    >>> found_mention("problem", [(3, 7)], None, (), 0.5) == Mention("problem", [(3, 7)], score=0.5)
    True
    """
    mention = _blank(Mention)
    _set_type(mention, type)
    _set_spans(mention, tuple([_new(Span, span) for span in spans]))
    _set_id(mention, id)
    _set_head(mention, head and _new(Span, head))
    _set_concepts(mention, concepts)
    _set_score(mention, score)
    _set_attributes(mention, _Frozen(attributes) if attributes else _EMPTY)
    _set_attribute_scores(mention, _Frozen(attribute_scores) if attribute_scores else _EMPTY)
    _set_concept_scores(mention, concept_scores)
    return mention


_blank = object.__new__
# of the slots themselves: in half the time of `object.__setattr__`, which looks up the name
(
    _set_type, _set_spans, _set_id, _set_head, _set_concepts, _set_score, _set_attributes, _set_attribute_scores,
    _set_concept_scores,
) = (Mention.__dict__[name].__set__ for name in Mention.__slots__)  # fmt: skip


def join_spans(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Join spans that touch or that only white space separates, as comparisons need them.

    >>> join_spans("mild chest pain", [Span(0, 4), Span(5, 10)])
    (Span(start=0, end=10),)
    """
    return joined_spans(text, spans, lambda gap: not gap.strip())


def joined_spans(text: str, spans: Sequence[Span], is_joined: Callable[[str], bool]) -> tuple[Span, ...]:
    """Join spans with the text between them that ``is_joined`` accepts."""
    joined = [spans[0]]
    for span in spans[1:]:
        if is_joined(text[joined[-1].end : span.start]):
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return tuple(joined)


# Normalization of concept identifiers from different sources to one form, ``PREFIX:LOCAL``.

# as written, in lower case -> as we write it
_WRITTEN: Final = (
    "CHEBI", "CL", "DOID", "GO", "HP", "MESH", "MONDO", "MP", "NCBITaxon", "NCIT", "OMIM", "ORPHA", "PR", "SO",
    "UBERON", "UMLS",
)  # fmt: skip
_OTHERS: Final = {"msh": "MESH", "mim": "OMIM", "cui": "UMLS", "umls_cui": "UMLS", "orphanet": "ORPHA"}
_PREFIXES: Final = {name.lower(): name for name in _WRITTEN} | _OTHERS
_UPPER: Final = frozenset({"MESH", "OMIM", "UMLS"})  # whose local parts have letters, always upper case
_MESH = re.compile(r"[CDQ](?:\d{6}|\d{9})", re.IGNORECASE)
_UMLS = re.compile(r"C\d{7}", re.IGNORECASE)
_WIKIDATA = re.compile(r"https?://www\.wikidata\.org/(?:entity|wiki)/Q\d+")
_ADDRESS = re.compile(
    r"https?://(?:purl\.obolibrary\.org/obo/|id\.nlm\.nih\.gov/|www\.ebi\.ac\.uk/efo/|www\.orpha\.net/ORDO/"
    r"|purl\.bioontology\.org/ontology/)([A-Za-z]+)[_/](\w+)"
)


def normalize_identifier(text: str) -> str:
    """Return the normal form of an identifier, in which identifiers are compared.

    - MeSH identifiers get the prefix that they often come without: ``D`` or ``C`` and six or nine digits. So do the
      concepts of UMLS: ``C`` and seven digits.
    - The prefixes of common vocabularies are spelled one way (``msh:`` and ``mesh:`` as ``MESH:``), and one of the form
      ``DO:DOID:4``, as in MEDIC, loses its first part.
    - Addresses of terms of OBO, EFO, ORDO and BioPortal, and of MeSH records, become identifiers; those of items of
      Wikidata become their numbers, such as ``Q42``.
    - Anything else stays as it is, but for white space around it: a number alone could be of any vocabulary.

    >>> [normalize_identifier(text) for text in ("D007674", " mesh:d007674", "C538288", "C0018787", "MIM:263200")]
    ['MESH:D007674', 'MESH:D007674', 'MESH:C538288', 'UMLS:C0018787', 'OMIM:263200']
    >>> normalize_identifier("http://purl.obolibrary.org/obo/DOID_4"), normalize_identifier("DO:DOID:4")
    ('DOID:4', 'DOID:4')
    >>> normalize_identifier("SPL:0002"), normalize_identifier("263200"), normalize_identifier("-1")
    ('SPL:0002', '263200', '-1')
    """
    text = text.strip()
    if text.startswith("http") and (address := _ADDRESS.fullmatch(text)):
        text = f"{address[1]}:{address[2]}"
    if _WIKIDATA.fullmatch(text):
        return text.rpartition("/")[2]
    prefix, colon, local = (part.strip() for part in text.partition(":"))
    if not colon:
        if _MESH.fullmatch(text):
            return f"MESH:{text.upper()}"
        return f"UMLS:{text.upper()}" if _UMLS.fullmatch(text) else text
    if prefix == "DO" and local.startswith("DOID:"):
        return local
    known = _PREFIXES.get(prefix.lower())
    if known is None or not local:
        return text
    return f"{known}:{local.upper() if known in _UPPER else local}"
