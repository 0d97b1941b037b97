"""Quotes in JSON: lists of mentions, objects from types to texts, nested under any of the usual names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from spanloom.errors import DataError

_TEXTS: Final = (
    "text",
    "mention",
    "span",
    "quote",
    "surface",
    "word",
    "term",
    "phrase",
    "value",
    "string",
    "name",
    "entity",
)
_TYPES: Final = (
    "type", "label", "category", "entity_type", "entitytype", "entity_group", "class", "tag", "entity_label", "ner",
    "entity", "name",
)  # fmt: skip
_PARTS: Final = ("parts", "fragments", "segments", "spans")
_SEVERAL: Final = ("texts", "mentions", "entities", "values", "items", "quotes")
_NESTED: Final = (
    "entities", "mentions", "annotations", "named_entities", "extractions", "predictions", "results", "items", "spans",
    "data", "result", "output", "answer", "labels", "ner",
)  # fmt: skip
_CONTEXTS: Final = ("context", "sentence", "evidence", "source_sentence")
_OFFSETS: Final = (
    ("start", "end"), ("begin", "end"), ("start_char", "end_char"), ("start_offset", "end_offset"),
    ("start_index", "end_index"), ("start_pos", "end_pos"), ("char_start", "char_end"),
)  # fmt: skip
_PAIRS: Final = ("offsets", "offset", "span", "spans", "position", "positions", "indices", "location")
_ASIDE: Final = (
    "id", "notes", "note", "comment", "comments", "explanation", "reasoning", "rationale", "thoughts", "summary",
    "document", "confidence",
)  # fmt: skip
_NOTHING: Final = frozenset({"", "-", "none", "n/a", "null", "nothing", "none found", "not mentioned", "no mentions"})
_DEEPEST: Final = 40  # levels of nested answers
TAGGED: Final = (
    "annotated_text",
    "tagged_text",
    "marked_text",
    "annotated",
    "tagged",
    "output",
    "answer",
    "result",
    "text",
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A mention as an answer gives it: by its text.

    Args:
        type: its type; ``None`` if the answer names none.
        parts: its text; several for a mention with gaps.
        place: where in the answer, such as ``entities[3]``.
        context: a longer quote in which it stands.
        offsets: start and end of each part, as the answer has them.
    """

    type: str | None
    parts: tuple[str, ...]
    place: str = ""
    context: str | None = None
    offsets: tuple[tuple[int, int], ...] | None = None


class Quotes(NamedTuple):
    """What an answer lists.

    Args:
        found: the quotes, in the order of the answer.
        odd: the places of what stands among them and is no mention.
    """

    found: list[Quote]
    odd: list[str]


def quotes_in(value: object, stands: Callable[[str], bool]) -> Quotes | None:
    """Return the quotes of a JSON value; ``None`` if it is of no form that is known.

    Args:
        value: as `json.loads` gives it.
        stands: whether a text is a quote of the document, which decides between text and type where names do not.

    Raises:
        DataError: the value is nested too deeply.

    >>> quotes_in({"entities": [{"text": "chest pain", "label": "problem"}]}, bool).found
    [Quote(type='problem', parts=('chest pain',), place='entities[0]', context=None, offsets=None)]
    >>> [quote.parts for quote in quotes_in({"problem": ["cough", ["mild", "pain"]], "drug": []}, bool).found]
    [('cough',), ('mild', 'pain')]
    """
    reader = _Reader(stands)
    return reader.quotes if reader.read(value, None, "", 0) else None


def is_nothing(text: str) -> bool:
    """Whether a text stands for no mention, such as ``none``."""
    return text.strip(" .*_`\"'()").casefold() in _NOTHING


class _Reader:
    """Reads values, and keeps what it finds; each method returns whether the value was understood."""

    def __init__(self, stands: Callable[[str], bool]) -> None:
        self.quotes = Quotes([], [])
        self._found = self.quotes.found
        self._stands = stands

    def read(self, value: object, kind: str | None, place: str, depth: int) -> bool:
        if depth > _DEEPEST:
            raise DataError(f"the answer is nested more than {_DEEPEST} levels deep; expected a list of mentions")
        if isinstance(value, str):
            return self._text(value, kind, place)
        if isinstance(value, list):
            return self._list(value, kind, place, depth)
        if isinstance(value, dict):
            return self._object({str(key): one for key, one in value.items()}, kind, place, depth)
        return value is None and kind is not None

    def _text(self, text: str, kind: str | None, place: str) -> bool:
        if not is_nothing(text) or self._stands(text):
            self._found.append(Quote(kind, (text,), place))
        return True

    def _list(self, values: Sequence[object], kind: str | None, place: str, depth: int) -> bool:
        texts = [value for value in values if isinstance(value, str)]
        if depth and len(texts) == len(values) == 2 and kind is None:  # of a list of such pairs
            self._found.append(Quote(texts[1], (texts[0],), place))
            return True
        understood = [self._item(value, kind, f"{place}[{i}]", depth + 1) for i, value in enumerate(values)]
        self.quotes.odd.extend(f"{place}[{i}]" for i, one in enumerate(understood) if not one)
        return not values or any(understood)

    def _item(self, value: object, kind: str | None, place: str, depth: int) -> bool:
        if kind is not None and isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            self._found.append(Quote(kind, tuple(value), place))  # below a type, a list in a list has parts
            return True
        return self.read(value, kind, place, depth)

    def _object(self, value: dict[str, Any], kind: str | None, place: str, depth: int) -> bool:
        low = {key.strip().casefold().replace(" ", "_").replace("-", "_"): key for key in value}
        fields = {name: value[key] for name, key in low.items()}
        nested = [name for name in _NESTED if isinstance(fields.get(name), list | dict)]
        own = _type(fields) or kind
        quote = _quote(fields, own, place)
        if quote is not None and not (_type(fields) is None and set(nested) - {*_PARTS, *_PAIRS}):
            self._found.append(quote)
            return True
        inner = next((name for name in _TEXTS if isinstance(fields.get(name), dict)), None)
        if own is not None and own != kind and inner is not None:
            return self.read(fields[inner], own, _below(place, low[inner]), depth + 1)
        several = next((name for name in _SEVERAL if isinstance(fields.get(name), list)), None)
        if own is not None and own != kind and several is not None:
            return self._list(fields[several], own, _below(place, low[several]), depth + 1)
        if len([one for one in value.values() if isinstance(one, list | dict) and one]) <= 1 and nested:
            name = max(nested, key=lambda name: bool(fields[name]))
            return self.read(fields[name], kind, _below(place, low[name]), depth + 1)
        return self._by_type(fields, low, kind, place, depth)

    def _by_type(
        self, fields: Mapping[str, Any], names: Mapping[str, str], kind: str | None, place: str, depth: int
    ) -> bool:
        """Read an object from types to what is of the type, or from texts to types."""
        if fields and all(isinstance(one, str) for one in fields.values()):
            texts = {names[name]: text for name, text in fields.items()}
            backward = sum(map(self._stands, texts)) > sum(map(self._stands, texts.values()))
            pairs: Iterable[tuple[str, str]] = ((one, key) if backward else (key, one) for key, one in texts.items())
            for named, text in pairs if kind is None else ():
                self._text(text, named, _below(place, named))
            return kind is None
        understood = []
        for name, one in fields.items():
            own = None if name in _NESTED else names[name]
            if not (isinstance(one, str) and name in (*_TEXTS, *_CONTEXTS, *_ASIDE)):
                understood.append(self.read(one, own, _below(place, names[name]), depth + 1))
        return not fields or any(understood)


def _below(place: str, name: str) -> str:
    return f"{place}.{name}".lstrip(".")


def _type(fields: Mapping[str, Any]) -> str | None:
    """Return the type that an object names; of ``entity`` and ``name``, which also name texts, only beside a text."""
    for name in _TYPES:
        value = fields.get(name)
        if isinstance(value, str) and (name not in _TEXTS or _text_field(fields) not in (None, name)):
            return value
    return None


def _text_field(fields: Mapping[str, Any]) -> str | None:
    return next((name for name in _TEXTS if isinstance(fields.get(name), str)), None)


def _quote(fields: Mapping[str, Any], kind: str | None, place: str) -> Quote | None:
    parts = tuple(_parts(fields))
    if not parts:
        return None
    context = next((fields[name] for name in _CONTEXTS if isinstance(fields.get(name), str)), None)
    return Quote(kind, parts, place, context, _offsets(fields, len(parts)))


def _parts(fields: Mapping[str, Any]) -> Iterator[str]:
    for name in (*_PARTS, *_TEXTS):
        value = fields.get(name)
        if isinstance(value, list) and value:
            texts = [one.get("text") if isinstance(one, dict) and _type(one) is None else one for one in value]
            known = [text for text in texts if isinstance(text, str)]
            if len(known) == len(texts) and (name != "spans" or _type(fields) is not None):
                yield from known
                return
    field = _text_field(fields)
    if field is not None:
        yield fields[field]


def _offsets(fields: Mapping[str, Any], parts: int) -> tuple[tuple[int, int], ...] | None:
    """Return the offsets of an object, if they are as many as its parts."""
    for start, end in _OFFSETS:
        if _is_pair([fields.get(start), fields.get(end)]):
            return ((fields[start], fields[end]),) if parts == 1 else None
    for name in _PAIRS:
        value = fields.get(name)
        pairs = [value] if _is_pair(value) else value
        if isinstance(pairs, list) and len(pairs) == parts and all(map(_is_pair, pairs)):
            return tuple((start, end) for start, end in pairs)
    return None


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(one) is int for one in value)
