"""Records: conversion of documents to JSON objects and back.

The native record (only ``text`` is required; `to_record` leaves out what is absent)::

    {"id": "note-1", "text": "No acute distress.", "tokens": [[0, 2], [3, 8], [9, 17], [17, 18]],
     "columns": {"pos": ["DT", "JJ", "NN", "."]}, "sentences": [[0, 4]],
     "mentions": [{"id": "T1", "type": "problem", "spans": [[3, 17]], "head": [9, 17],
                   "concepts": ["SPL:0001"], "score": 0.93, "attributes": {"negated": true, "course": "acute"},
                   "attribute_scores": {"negated": 0.98}, "concept_scores": [0.9], "text": "acute distress"}],
     "sections": [{"name": "findings", "span": [0, 18]}], "meta": {}}

A mention's ``text`` is checked and not kept. Nothing else is dropped: a field of the record that we do not know goes
into ``Document.meta`` under its own name, and a field of a mention that we do not know into ``meta["unread"]`` under
its place, such as ``"mentions[0].colour"``; but usual names of attributes, such as ``negated``, are attributes.
``sections`` of a record without native mentions are a field that we do not know, unless they have names and spans.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document, Mention, Offsets, Section, Span
from spanloom.document.annotators import other_meta
from spanloom.document.arrays import MentionArrays
from spanloom.document.span import attribute_value, found_mention
from spanloom.document.validate import Problem, place_of
from spanloom.errors import DataError, clip
from spanloom.formats.attributes import take_attributes
from spanloom.formats.base import Beside, Notices, Scanned, accepted, altered, writing_as
from spanloom.formats.blocks import TAG
from spanloom.formats.dialects import NO_TEXT, Native, rejected, to_native
from spanloom.formats.entries import entries_of
from spanloom.formats.json_text import are, from_bytes, is_offset, not_as_expected, some, to_json
from spanloom.formats.layouts import PRESUMED
from spanloom.formats.looks import FHIR, shows_annotation
from spanloom.formats.pipelines import sentences_of, with_sentences
from spanloom.formats.record_fields import RecordFields
from spanloom.formats.settling import settled_one
from spanloom.formats.unread import TO_FIND, warn_unread
from spanloom.native import Kernel


class Field(NamedTuple):
    """A field of a record: the kind of its value, a key of `KINDS`, and its description."""

    kind: str
    about: str = ""


# What a record is, once: the reader's messages and the server's schema are made of these tables.
RECORD = {
    "id": Field("name"),
    "text": Field("text"),
    "tokens": Field("pairs", "in characters; made where they are missing"),
    "columns": Field("columns", "name -> one value for each token"),
    "sentences": Field("pairs", "in tokens; made where they are missing"),
    "mentions": Field("mentions"),
    "sections": Field("sections", "in characters; they may lie in one another"),
    "meta": Field("object"),
}
AS_TEXT = ("attributes", "attribute_scores")
"""Objects in a mention, which tables have as JSON."""
MENTION = {
    "id": Field("name"),
    "type": Field("text"),
    "spans": Field("spans", "one for each component, in text order"),
    "head": Field("pair"),
    "concepts": Field("texts", "identifiers in a vocabulary"),
    "score": Field("probability", "the calibrated probability of the mention"),
    "attributes": Field("attributes", "name -> value, such as negated -> true; numbers are read as strings"),
    "attribute_scores": Field("named probabilities", "name of an attribute -> the probability of its value"),
    "concept_scores": Field("probabilities", "of the concepts, in their order"),
}

_write_pairs = Kernel("write_pairs")
_MENTION_FIELDS = frozenset((*MENTION, "text"))
_REQUIRED = ("type", "spans")  # of a mention
_FEW: Final = 8  # pairs that Python writes in less time than a call of the kernel takes
_PLAIN: Final = frozenset(("id", "text"))
WITHOUT_MENTIONS: Final = Beside([], names=[])
_LARGEST = 2**62  # what an int64 holds with room to add


def to_record(document: Document) -> dict[str, Any]:
    """Return the native record of a document; values are JSON types, and scores keep all their digits.

    >>> to_record(Document("mild pain", id="a", mentions=[Mention("problem", [(5, 9)], score=0.5)]))
    {'id': 'a', 'text': 'mild pain', 'mentions': [{'type': 'problem', 'spans': [[5, 9]], 'score': 0.5}]}
    """
    record = {
        "id": document.id or None,
        "text": document.text,
        "tokens": None if document.tokens is None else document.tokens.tolist(),
        "columns": {name: list(values) for name, values in document.columns.items()} or None,
        "sentences": None if document.sentences is None else document.sentences.tolist(),
        "mentions": list(map(mention_record, document.mentions)),
        "sections": _section_records(document) or None,
        "meta": document.meta or None,
    }
    return {name: value for name, value in record.items() if value is not None}


def record_text(document: Document) -> str:
    """Return the native record of a document as JSON, as `to_json` writes that of `to_record`.

    >>> record_text(Document("mild pain", tokens=[[0, 4], [5, 9]]))
    '{"text":"mild pain","tokens":[[0,4],[5,9]],"mentions":[]}'
    """
    mentions = to_json(list(map(mention_record, document.mentions)))
    return _text_of(document, _pairs_text(document.tokens), _pairs_text(document.sentences), mentions, document.meta)


def record_lines(found: MentionArrays) -> str:
    r"""Return the native records of documents with found mentions, a line each, as `record_text` writes them.

    >>> from spanloom.document.arrays import MentionArrays
    >>> whole, text = np.array([[0, 1]]), Document("pain", tokens=[[0, 4]], sentences=[[0, 1]])
    >>> none, ones = np.array([[-1, -1]]), np.array([0, 1])
    >>> record_lines(MentionArrays(("x",), ones, ones[:1], ones, 4 * whole, none, np.array([0.5]), lambda: [text]))
    '{"text":"pain","tokens":[[0,4]],"sentences":[[0,1]],"mentions":[{"type":"x","spans":[[0,4]],"score":0.5}]}\n'
    """
    documents = found.documents()
    types = [to_json(name) for name in found.types]
    heads = [f'"head":[{start},{end}],' if start >= 0 else "" for start, end in found.heads.tolist()]
    parts = zip(found.kind.tolist(), _pairs_texts(found.spans, found.bounds), heads, found.scores.tolist(), strict=True)
    mentions = [f'{{"type":{types[kind]},"spans":{spans},{head}"score":{sure!r}}}' for kind, spans, head, sure in parts]
    every = ([getattr(one, name) for one in documents] for name in ("tokens", "sentences"))
    tokens, sentences = (_pairs_texts(np.concatenate(own), np.cumsum([0, *map(len, own)])) for own in every)
    own = (f"[{','.join(mentions[first:end])}]" for first, end in pairwise(found.ptr.tolist()))
    meta = (one.meta and other_meta(one) for one in documents)
    return "".join(f"{text}\n" for text in map(_text_of, documents, tokens, sentences, own, meta))


def _text_of(document: Document, tokens: str | None, sentences: str | None, mentions: str, meta: dict[str, Any]) -> str:
    """Return the native record of a document with tokens, sentences and mentions as JSON."""
    parts = {"id": document.id and to_json(document.id), "text": to_json(document.text), "tokens": tokens}
    if document.columns:
        parts["columns"] = to_json({name: list(values) for name, values in document.columns.items()})
    parts |= {"sentences": sentences, "mentions": mentions}
    if document.sections:
        parts["sections"] = to_json(_section_records(document))
    parts["meta"] = to_json(meta) if meta else None
    fields = ",".join(f'"{name}":{text}' for name, text in parts.items() if text)
    return f"{{{fields}}}"


def _section_records(document: Document) -> list[dict[str, Any]]:
    return [{"name": name, "span": [int(start), int(end)]} for name, (start, end) in document.sections]


def _pairs_text(pairs: Offsets | None) -> str | None:
    """Return pairs of numbers as JSON."""
    if pairs is None or len(pairs) <= _FEW:
        return pairs if pairs is None else str(pairs.tolist()).replace(" ", "")
    return _pairs_texts(pairs, np.array([0, len(pairs)]))[0]


def _pairs_texts(pairs: Offsets, ptr: NDArray[np.int64]) -> list[str]:
    """Return L lists of pairs of numbers as JSON; list i is of the pairs from ``ptr[i]`` to ``ptr[i + 1]``."""
    written, ends = np.empty(44 * len(pairs) + 2 * len(ptr), np.uint8), np.empty(len(ptr) - 1, np.int64)
    text = written[: _write_pairs(pairs, ptr, written, ends)].tobytes().decode("ascii")
    return [text[first:end] for first, end in pairwise([0, *ends.tolist()])]


def record_json(document: Document, path: str | Path) -> str:
    """Return `record_text`.

    Raises:
        DataError: a document without a JSON form.
    """
    try:
        return record_text(document)
    except (TypeError, ValueError, RecursionError):
        with writing_as("JSON", document, path):
            raise


def mention_record(mention: Mention) -> dict[str, Any]:
    """Return a mention of a native record."""
    record: dict[str, Any] = {} if mention.id is None else {"id": mention.id}
    record["type"] = mention.type
    record["spans"] = [[int(start), int(end)] for start, end in mention.spans]
    if mention.head is not None:
        record["head"] = [int(mention.head.start), int(mention.head.end)]
    if mention.concepts:
        record["concepts"] = list(mention.concepts)
    if mention.score is not None:
        record["score"] = float(mention.score)
    if mention.attributes:
        record["attributes"] = dict(mention.attributes)
    if mention.attribute_scores:
        record["attribute_scores"] = dict(mention.attribute_scores)
    if mention.concept_scores:
        record["concept_scores"] = list(mention.concept_scores)
    return record


def from_record(record: object, path: str | Path | None = None, line: int | None = None) -> Document:
    """Return the document of a record: native, BigBIO, Prodigy or doccano.

    Args:
        record: as `json.loads` gives it.
        path: for messages.
        line: for messages.

    Raises:
        DataError: the first error of the record.

    What was repaired, such as blanks at the ends of a mention, or was not read, is a `DataWarning`.

    >>> from_record({"text": "mild pain", "label": [[5, 9, "problem"]]}).mentions
    [Mention('problem', [(5, 9)])]
    >>> from_record({"text": "mild pain", "mentions": [{"type": "problem", "spans": [[5, "9"]]}]}, "a.jsonl", 1)
    Traceback (most recent call last):
    spanloom.errors.DataError: a.jsonl:1: mentions[0]: spans is [[5, "9"]], expected [start, end] pairs of integers
    """
    scans = [settled_one(scanned) for scanned in scan_record(record, path=str(path or ""), line=line)]
    if scans[0].document is None:  # also where it is no gold, as the caller wants one
        raise scans[0].problems[0].to_error()
    notices = Notices()
    documents = list(accepted(scans, notices))
    notices.report(None)
    if len(documents) > 1:
        names = ", ".join(clip(str(one.meta["annotator"])) for one in documents)
        message = f"the record has mentions of {len(documents)} annotators ({names}), expected one; read it from a file"
        raise DataError(message, path=path, line=line)
    return documents[0]


def scan_record(
    record: object, mentions: bool = True, fields: RecordFields | None = None, path: str = "", line: int | None = None,
    place: str = "",
) -> list[Scanned]:  # fmt: skip
    """Return the documents of a record of a file, with offsets as the file has them; one for each of its annotators.

    Args:
        record: as `json.loads` gives it.
        mentions: if false, mentions, and their rejection by a person, are ignored.
        fields: the user's description of the record's fields.
        path: the file.
        line: of the record.
        place: of the record in the file, where it has no line.
    """
    found = []
    for document, problems, beside in _parsed(record, mentions, RecordFields(None, None) if fields is None else fields):
        if document is None and place:
            problems = [replace(one, place=f"{place}: {one.place}".removesuffix(": ")) for one in problems]
        if path or line is not None:
            problems = [replace(one, path=path or None, line=line) for one in problems]
        found.append(Scanned(document, problems, path, line, beside=beside and beside._replace(within=place)))
    return found


def plain_document(record: object) -> Document | None:
    """Return the document of a record of nothing but a text, perhaps with an id; ``None`` for others.

    >>> plain_document({"id": 1, "text": "mild pain"}), plain_document({"text": "mild pain", "ner": []})
    (Document('mild pain', id='1'), None)
    """
    if type(record) is not dict or not _PLAIN.issuperset(record):
        return None
    text, name = record.get("text"), record.get("id", "")
    return Document(text, str(name)) if type(text) is str and type(name) in (str, int) else None


_Read: TypeAlias = tuple[Document | None, list[Problem], Beside | None]


def _parsed(record: object, mentions: bool, fields: RecordFields) -> list[_Read]:
    problems: list[Problem] = []
    try:
        record = {"sentences": record} if sentences_of(record) is not None else as_object(record)
        record = fields.of(record)
        record = with_sentences(record) if isinstance(record, dict) else record
    except DataError as error:
        return [(None, [Problem("error", "wrong field", error.message)], None)]
    if not isinstance(record, dict):
        array = " (a JSON array of records: put one record on each line)" if isinstance(record, list) else ""
        _wrong(problems, "", "the line", record, f"a JSON object with a field 'text'{array}")
        return [(None, problems, None)]
    if mentions and (answer := rejected(record)) is not None:
        message = f"the answer is {answer!r}, so the record is no gold; it is left out"
        return [(None, [altered("records left out", message)], None)]
    if isinstance(record.get("resourceType"), str) and not isinstance(record.get("text"), str):
        return [(None, [Problem("error", "wrong field", FHIR)], None)]
    if fields.layout is None and _is_native(record):
        natives = [Native(record)]
        if not RECORD.keys() >= record.keys():
            warn_unread({name: record[name] for name in record if name not in RECORD}, problems, mentions)
    else:
        natives = to_native(record, problems, mentions, fields)
    found: list[_Read] = []
    for native in natives:
        own = native.record
        if not mentions:
            own = {name: value for name, value in own.items() if name != "mentions"}
        elif not own.get("mentions") and isinstance(own.get("text"), str) and shows_annotation(own["text"]):
            message = "the text looks like one with marks around mentions; read such texts as files"
            problems.append(altered("texts with marks", f"{message} (--input-format markup)"))
        found.append(_document(own, native, [] if found else problems))
    return found


def _is_native(record: dict[str, Any]) -> bool:
    """Return whether a record is native, or has errors that are best described as those of one."""
    mentions, tokens = record.get("mentions"), record.get("tokens")
    if isinstance(mentions, dict) and mentions:
        return False
    if isinstance(mentions, list) and mentions and not (isinstance(mentions[0], dict) and "spans" in mentions[0]):
        return not entries_of(mentions[:1], "mentions", PRESUMED).entries
    if "mentions" in record:
        return True
    parts = (tokens, record.get("sentences"))
    foreign = any(isinstance(part, list) and part and isinstance(part[0], str | dict) for part in parts)
    return RECORD.keys() >= record.keys() and not foreign


def as_object(value: Any) -> Any:
    """Return the record of a pair of a text and its annotation, or of a list of words and tags; others unchanged.

    >>> as_object(["no pain", {"entities": [[3, 7, "problem"]]}])
    {'text': 'no pain', 'entities': [[3, 7, 'problem']]}
    >>> as_object([["no", "O"], ["pain", "B-problem"]])
    {'tokens': ['no', 'pain'], 'tags': ['O', 'B-problem']}
    """
    if not isinstance(value, list | tuple) or not value:
        return value
    if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict | list | tuple):
        return {"text": value[0], **(value[1] if isinstance(value[1], dict) else {"entities": list(value[1])})}
    rows = [row for row in value if isinstance(row, list | tuple) and all(isinstance(part, str) for part in row)]
    if len(rows) < len(value):
        return value
    two = len(rows) == 2 and len(rows[0]) == len(rows[1])  # a list of words and one of tags
    if two and (len(rows[0]) != 2 or all(map(TAG.fullmatch, rows[1]))):
        return {"tokens": list(rows[0]), "tags": list(rows[1])}
    if all(len(row) >= 2 for row in rows):  # a word and its tag each, perhaps with others between
        return {"tokens": [row[0] for row in rows], "tags": [row[-1] for row in rows]}
    return value


def _wrong(problems: list[Problem], place: str, name: str, value: object, expected: str) -> None:
    problems.append(Problem("error", "wrong field", not_as_expected(name, value, expected), place))


def _document(record: dict[str, Any], names: Native, problems: list[Problem]) -> _Read:
    text = record.get("text")
    if not isinstance(text, str):
        if not any(problem.kind == NO_TEXT for problem in problems):
            _wrong(problems, "", "text", text, f"the document's text{_hint(record) if text is None else ''}")
        return None, problems, None
    given = {name: record[name] for name in ("id", "columns", "mentions", "meta") if name in record}
    for name, value in given.items():
        if value is not None and not KINDS[RECORD[name].kind].fits(value):
            _wrong(problems, "", name, value, KINDS[RECORD[name].kind].expected)
            given[name] = None
    document = Document(text, id="" if given.get("id") is None else str(given["id"]))
    if _PLAIN.issuperset(record):
        return document, problems, WITHOUT_MENTIONS
    if record.get("tokens") is not None:
        document.tokens = _offsets(record["tokens"], "tokens", problems)
    if record.get("sentences") is not None:
        document.sentences = _offsets(record["sentences"], "sentences", problems)
    for name, values in (given.get("columns") or {}).items():
        if are(values, str):
            document.columns[name] = values
        else:
            _wrong(problems, f"columns[{clip(name)}]", "it", values, KINDS["texts"].expected)
    meta, unread = given.get("meta") or {}, dict[str, Any]()
    surfaces, places = [], []
    for i, item in enumerate(given.get("mentions") or ()):
        place = names.places[i] if names.places else f"mentions[{i}]"
        if isinstance(item, dict) and not _MENTION_FIELDS.issuperset(item):
            item = dict(item)
            take_attributes(item, native=True)
        if (mention := mention_of(item, place, names, problems)) is None:
            continue
        document.mentions.append(mention)
        surfaces.append(item.get("text"))
        places.append(place if names.places or mention.id is None else place_of(mention, i))
        if not _MENTION_FIELDS.issuperset(item):
            unread |= {f"{place}.{key}": item[key] for key in item if key not in _MENTION_FIELDS}
    if (sections := record.get("sections")) is not None and KINDS["sections"].fits(sections):
        document.sections = [Section(one["name"], Span(*one["span"])) for one in sections]
    elif sections is not None:
        spans = isinstance(sections, list) and any(isinstance(one, dict) and "span" in one for one in sections)
        if spans or ("mentions" in record and not names.places):
            _wrong(problems, "", "sections", sections, KINDS["sections"].expected)
        else:  # of another tool, and of another kind
            meta = {"sections": sections, **meta}
    document.meta = _meta(record, meta, unread, problems)
    return document, problems, Beside(surfaces, names=places)


def _hint(record: dict[str, Any]) -> str:
    """Return what to do with a record without a text; empty if it has nothing else either."""
    others = [str(name) for name in record if name not in ("id", "text", "mentions")]
    texts = [name for name, value in record.items() if name in others and isinstance(value, str)]
    if (chat := next((name for name, value in record.items() if _is_chat(value)), None)) is not None:
        how = "write the text that it is about as text, with an id, and the answer beside it as answer"
        return f"; {clip(chat)} holds the messages of a chat: {how}, {TO_FIND}"
    if record.keys() >= {"pattern", "label"}:
        return "; it is a pattern: spanloom label PATTERNS TEXTS marks what patterns match"
    shown = ", ".join(map(clip, (texts or others)[:10]))
    if texts:
        return f"; name the field that holds it, of {shown}: --columns text=NAME (columns=)"
    how = "write the text as text, and its mentions as entities with start, end, type"
    return f"; the fields are {shown}: {how}" if others else ""


def _is_chat(value: object) -> bool:
    """Return whether a value is a list of messages, each with its role or author."""
    names = ({"role", "content"}, {"from", "value"})
    return some(value, dict) and all(any(one.keys() >= both for both in names) for one in value)


def _meta(
    record: dict[str, Any], meta: dict[str, Any], unread: dict[str, Any], problems: list[Problem]
) -> dict[str, Any]:
    others = {name: value for name, value in record.items() if name not in RECORD}
    if unread:
        others["unread"] = unread
    for name in others.keys() & meta.keys():
        message = f"the field {clip(name)} is both beside meta and in it; unknown fields are kept in meta: rename one"
        problems.append(Problem("error", "wrong field", message))
    return {name: from_bytes(value) if isinstance(value, bytes) else value for name, value in (meta | others).items()}


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and is_offset(value[0]) and is_offset(value[1])


def _offsets(value: object, name: str, problems: list[Problem]) -> Offsets | None:
    """Return (n, 2) integers; numpy checks all at once, and Python only invalid ones."""
    if isinstance(value, list):
        if not value:
            return np.zeros((0, 2), dtype=np.int64)
        try:
            array = np.array(value)
        except (ValueError, OverflowError):
            array = np.zeros(0)
        if array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind == "i":
            return array.astype(np.int64, copy=False)
        for i, item in enumerate(value):
            if not _is_pair(item):
                _wrong(problems, f"{name}[{i}]", "it", item, KINDS["pair"].expected)
                return None
    _wrong(problems, "", name, value, KINDS["pairs"].expected)
    return None


def mention_of(item: object, place: str, names: Native, problems: list[Problem]) -> Mention | None:
    """Return the mention of a record's item; ``None``, with problems, if a field has a value of the wrong kind."""
    if not isinstance(item, dict):
        _wrong(problems, place, "it", item, f"an object with {names.type} and {names.spans}")
        return None
    before = len(problems)
    for name, fits in _CHECKS if len(item) > len(_REQUIRED) else _FEW_CHECKS:  # most have nothing else
        value = item.get(name)
        if (value is None and name not in _REQUIRED) or fits(value):
            continue
        expected = KINDS[MENTION[name].kind].expected
        if name == "spans" and names.spans != "spans":
            expected = "integers"
        elif name == "type" and names.places and value is None:
            expected += "; name its field (--columns type=NAME)"
        _wrong(problems, place, {"type": names.type, "spans": names.spans}.get(name, name), value, expected)
    concepts, scores = item.get("concepts") or (), item.get("concept_scores") or ()
    if len(problems) == before and not isinstance(item.get("text", ""), str):
        _wrong(problems, place, "text", item["text"], KINDS["text"].expected)
    if len(problems) == before and scores and len(scores) != len(concepts):
        _wrong(problems, place, "concept_scores", scores, f"a number for each of its {len(concepts)} concepts")
    if len(problems) > before:
        return None
    score, identifier, attributes = item.get("score"), item.get("id"), item.get("attributes")
    return found_mention(
        item["type"], item["spans"], item.get("head"), tuple(concepts), None if score is None else float(score),
        None if identifier is None else str(identifier), attributes and _attributes(attributes),
        {one: float(value) for one, value in (item.get("attribute_scores") or {}).items()}, tuple(map(float, scores)),
    )  # fmt: skip


def _attributes(value: Any) -> dict[str, bool | str] | None:
    """Return attributes as a mention keeps them; ``None`` for something else."""
    with suppress(AttributeError, TypeError):
        return {name: one for name, given in value.items() if (one := attribute_value(given)) is not None}
    return None


class Kind(NamedTuple):
    """A kind of values of fields: what is expected, for messages, and whether a value is one."""

    expected: str
    fits: Callable[[Any], bool] = bool  # arrays are checked where they are read


KINDS: Final = {
    "name": Kind("a string or an integer", lambda value: type(value) in (str, int)),
    "text": Kind("a string", lambda value: isinstance(value, str)),
    "pair": Kind("[start, end], two integers", _is_pair),
    "pairs": Kind("a list of [start, end] pairs of integers"),
    "spans": Kind(
        "[start, end] pairs of integers",
        lambda value: isinstance(value, list) and bool(value) and all(map(_is_pair, value)),
    ),
    "texts": Kind(
        "a list of strings",
        lambda value: not value or are(list(value) if isinstance(value, tuple) else value, str),
    ),
    "probability": Kind("a number from 0 to 1", lambda value: type(value) in (int, float)),
    "columns": Kind("an object of lists, one for each column", lambda value: isinstance(value, dict)),
    "mentions": Kind("a list of mentions", lambda value: isinstance(value, list)),
    "sections": Kind(
        "a list of objects with a name, a string, and a span, [start, end]",
        lambda value: (
            are(value, dict) and all(isinstance(one.get("name"), str) and _is_pair(one.get("span")) for one in value)
        ),
    ),
    "attributes": Kind(
        "an object of values: true, false or a string", lambda value: not value or _attributes(value) is not None
    ),
    "named probabilities": Kind(
        "an object of numbers from 0 to 1",
        lambda value: isinstance(value, dict) and are([*value.values()], int, float),
    ),
    "probabilities": Kind("a list of numbers from 0 to 1, one for each concept", lambda value: are(value, int, float)),
    "object": Kind("an object", lambda value: isinstance(value, dict)),
}
_CHECKS: Final = tuple((name, KINDS[field.kind].fits) for name, field in MENTION.items())
_FEW_CHECKS: Final = tuple((name, fits) for name, fits in _CHECKS if name in _REQUIRED)
