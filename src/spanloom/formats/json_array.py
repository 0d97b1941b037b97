"""JSON and JSONL: a list of records, one record, or one record a line; and native records, which are written."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from warnings import catch_warnings

from spanloom.document import Document
from spanloom.document.arrays import MentionArrays
from spanloom.errors import DataError, clip, plural
from spanloom.formats.base import Losses, Scanned, no_document
from spanloom.formats.csv_rows import LONGEST_LITERAL, literal_of
from spanloom.formats.json_text import are, loads, write_list
from spanloom.formats.label_studio import scan_any
from spanloom.formats.layouts import OF_MENTIONS, OF_TEXT, OF_WORDS, at, field_of_text, named, plain, words
from spanloom.formats.looks import lists_labels
from spanloom.formats.pipelines import sentences_of
from spanloom.formats.record import WITHOUT_MENTIONS, as_object, plain_document, record_json, record_lines
from spanloom.formats.record_fields import Columns, RecordFields, TagNames, features_of, names_beside
from spanloom.formats.source import BOM, bare, decode, head_of, output_file, raw_lines, read_bytes
from spanloom.formats.tag_dialects import in_turn
from spanloom.formats.tagged import pieces_of, with_names

_START: Final = re.compile(rb"\s*[\[{]")
_PAIRS: Final = re.compile(rb'\A\s*\[\s*\[|"annotations"\s*:\s*\[\s*\[\s*"')
_KEY: Final = re.compile(rb'"([A-Za-z_.\- ]{1,40})"\s*:\s*("|\[\s*["\[\]])')  # and the value is text, or a list of text
_NONE: Final = re.compile(rb"\s*\[\s*\]\s*\Z")
_LINES: Final = re.compile(rb"\s*\{[^\n]*\}\s*\n\s*\{")  # an object on one line, and another behind it
_ARTICLES: Final = re.compile(rb'"paragraphs"\s*:\s*\[\s*\{[^\[\]{}]{0,20000}"(?:context|qas)"\s*:')  # of SQuAD
_LITERAL: Final = re.compile(rb"\s*\[\s*(?:\(|\{\s*'|\[\s*')")  # of Python
_ASSIGNED: Final = re.compile(rb"^\w+\s*(?::[^=\n]+)?=\s*\[\s*(?:#[^\n]*\n\s*)*[(\[{]", re.MULTILINE)
_ENTITIES: Final = re.compile(rb"""["'](?:entities|label|labels|spans|tags|ner_tags|ner)["']\s*:""")
# FHIR, training data of spaCy 2, annotations of tagtog, and forms of FUNSD
_OTHER: Final = re.compile(rb'"(?:resourceType|paragraphs)"\s*:|"annotatable"\s*:\s*\{|"form"\s*:\s*\[\s*\{[^]]*"box"')


def scan(
    path: str | Path, mentions: bool = True, columns: Columns = None, tag_names: TagNames = None
) -> Iterator[Scanned]:
    """Yield the documents of a file with a list of records, or with one record; arguments as of JSONL."""
    fields = RecordFields(columns, tag_names, None if tag_names else names_beside(path))
    raw = read_bytes(path).removeprefix(BOM)
    if bare(path).suffix.lower() == ".py":
        name, value = assigned_list(decode(raw, path), path)
        yield from _scan_places(value, str(path), fields, mentions, name)
        return
    yield from scan_array(raw, path, fields, mentions)
    yield from fields.remarks(path)


def scan_array(raw: bytes, path: str | Path, fields: RecordFields, mentions: bool) -> Iterator[Scanned]:
    """Yield the documents of the bytes of such a file.

    Raises:
        DataError: the bytes are no JSON.
    """
    try:
        value = loads(raw, path)
    except DataError:
        value = literal_of(raw.decode("utf-8", "replace").strip()) if _LITERAL.match(raw) else None
        if value is None:
            if not _LINES.match(raw):
                raise
            yield from scan_lines(enumerate(raw.splitlines(keepends=True), 1), path, fields, mentions)
            return
    yield from _scan_places(value, str(path), fields, mentions)
    if not value:
        yield no_document(str(path), "a list of records")


def _scan_places(
    value: Any, path: str, fields: RecordFields, mentions: bool, name: str = "records"
) -> Iterator[Scanned]:
    """Yield the documents of the records in a value; `name` is that of a list in messages."""
    records = records_of(value, fields.names.get("text", "text"))
    named = ((place.replace("records", name, 1), record) for place, record in records)
    calls = (partial(scan_any, record, mentions, fields, path, place=place) for place, record in named)
    yield from in_turn((fields.tags, fields.kinds), calls)


def assigned_list(source: str, path: str | Path) -> tuple[str, list[Any]]:
    r"""Return the name of the only list of annotated texts in a program, and the list; nothing of it is executed.

    Raises:
        DataError: it is no Python, or holds none or several.

    >>> assigned_list('import spacy\nTRAIN = [("No pain", {"entities": [(3, 7, "x")]})]', "a.py")
    ('TRAIN', [['No pain', {'entities': [[3, 7, 'x']]}]])
    """
    if len(source) > LONGEST_LITERAL:
        message = f"the program has {len(source):,} characters, expected {LONGEST_LITERAL:,} at most"
        raise DataError(f"{message}; write its list to a file of JSON (json.dump) and read that", path=path)
    try:
        with catch_warnings(action="ignore"):  # of its escapes
            body = ast.parse(source).body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise DataError(f"no Python of version 3: {clip(str(error))}; correct it", path=path, line=line) from None
    found: dict[str, list[Any]] = {}
    for statement in body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.List | ast.Tuple):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            value = literal_of(statement.value)
            first = value[0] if isinstance(value, list) and value else None
            if as_object(first) is not first or (isinstance(first, dict) and _is_record(first)):
                found |= {target.id: value for target in targets if isinstance(target, ast.Name)}
    if len(found) == 1:
        [(name, value)] = found.items()
        if any(_changes(node, name) for statement in body for node in ast.walk(statement)):
            message = f"the program changes {name} after its list, and is not executed"
            raise DataError(f"{message}; write the whole list to a file of JSON (json.dump) and read that", path=path)
        return name, value
    shown = f"{plural(len(found), 'list')} of annotated texts{': ' * bool(found)}{', '.join(map(clip, found))}"
    advice = "write each to a file of JSON of its own (json.dump)"
    raise DataError(f'found {shown}, expected one, as TRAIN = [("TEXT", {{"entities": ...}})]; {advice}', path=path)


def _changes(node: ast.AST, name: str) -> bool:
    """Return whether a part of a program adds to a list of this name."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id == name
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == name


def scan_lines(
    lines: Iterator[tuple[int, bytes]], path: str | Path, fields: RecordFields, mentions: bool
) -> Iterator[Scanned]:
    """Yield the documents of records, one a line, or of one list of records over several lines.

    Args:
        lines: numbered from 1.
        path: for messages.
        fields: the user's description of the records.
        mentions: as in `scan_record`.
    """
    yield from in_turn((fields.tags, fields.kinds), _line_calls(lines, path, fields, mentions))


def _line_calls(
    lines: Iterator[tuple[int, bytes]], path: str | Path, fields: RecordFields, mentions: bool
) -> Iterator[Callable[[], Iterable[Scanned]]]:
    name, found, plain = str(path), False, not mentions and fields.plain
    for number, raw in lines:
        if not raw.strip():
            continue
        try:
            record = loads(raw, path, number)
        except DataError as error:
            if not found and raw.lstrip().startswith(b"["):  # a list of records, whatever the file is called
                whole = b"\n" * (number - 1) + raw + b"".join(line for _, line in lines)
                yield partial(scan_array, whole, path, fields, mentions)
                return
            found = True
            yield partial(list, [Scanned.failed("not JSON", error.message, name, number)])
            continue
        if not found and isinstance(record, list) and as_object(record) is record:  # a list of records on one line
            yield partial(scan_array, raw + b"".join(line for _, line in lines), path, fields, mentions)
            return
        found = True
        if plain and (document := plain_document(record)) is not None:
            yield partial(list, [Scanned(document, [], name, number, beside=WITHOUT_MENTIONS)])
            continue
        several = isinstance(record, dict) and "text" not in record  # perhaps a list of records in an object
        for place, part in records_of(record, fields.names.get("text", "text")) if several else [("", record)]:
            yield partial(scan_any, part, mentions, fields, name, number, place)
    if not found:
        yield partial(list, [no_document(name, "one JSON object a line")])


_LISTS: Final = words("annotations data documents docs examples records items tasks instances results")
"""Names of a file's list of records."""


def records_of(value: Any, text: str = "text") -> Iterator[tuple[str, Any]]:
    """Yield the records of a file with their places: of a list, alone or in an object, of an object, or one.

    Args:
        value: the content of the file.
        text: the field of a record with its text, or its path.

    >>> list(records_of({"classes": ["x"], "annotations": [["no pain", {"entities": []}], None]}))
    [('annotations[0]', ['no pain', {'entities': []}])]
    """
    if sentences_of(value) is not None:  # of one document of Stanza
        yield "", {"sentences": value}
    elif isinstance(value, list):
        yield from _of_queries(_placed("records", value))
    else:
        several = isinstance(value, dict) and at(value, text) is None and not _is_one(value)
        yield from (_records_in(value) if several else ()) or [("", value)]


def _placed(name: str, records: list[Any]) -> list[tuple[str, Any]]:
    return [(f"{name}[{number}]", record) for number, record in enumerate(records)]


def _is_one(value: dict[str, Any]) -> bool:
    """Return whether an object is a record itself: it has a text or words, and not a list of annotated sentences."""
    held = named(value, (*OF_TEXT, *OF_WORDS, "passages"))
    own = any(plain(name) not in ("sentences", "sents") or not _are_annotated(value[name]) for name in held)
    return own or pieces_of(value) is not None


def _records_in(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the records in an object, with their places; none if it holds no list or object of records."""
    if isinstance(projects := value.get("projects"), list):
        parts = ((place, records_of(project)) for place, project in _placed("projects", projects))
        return [(f"{outer}.{place}", record) for outer, records in parts for place, record in records]
    articles = value.get("data")  # of SQuAD
    if are(articles, dict) and all(are(one.get("paragraphs"), dict) for one in articles):
        found = []
        for outer, article in _placed("data", articles):
            for number, (place, paragraph) in enumerate(_placed("paragraphs", article["paragraphs"])):
                own = {"id": f"{article['title']}-{number}"} if isinstance(article.get("title"), str) else {}
                found.append((f"{outer}.{place}", {**own, **paragraph}))
        return found
    for name in _LISTS:
        if isinstance(held := value.get(name), list) and any(map(_is_record, held)):
            return [(place, record) for place, record in _placed(name, held) if record is not None]
    if isinstance(rows := value.get("rows"), list) and are(features := value.get("features"), dict):
        names = dict(features_of({str(one.get("name")): one.get("type") for one in features}))  # of Hugging Face
        held = [(f"{place}.row", row.get("row")) for place, row in _placed("rows", rows) if isinstance(row, dict)]
        return [(place, with_names(record, names) if isinstance(record, dict) else record) for place, record in held]
    for name, held in value.items():  # of any name, also in an object, as of Rasa
        if isinstance(held, dict) and not any(isinstance(part, str) for part in held.values()):
            found = [(f"{name}.{place}", record) for place, record in records_of(held) if place]
            if found and all(_is_annotated(record) for _, record in found):
                return found
        elif _are_annotated(held):
            return _placed(name, held)
    texts = all(isinstance(record, dict) and any(named(record, OF_TEXT)) for record in value.values())
    return [(name, {"id": name, **record}) for name, record in value.items()] if texts else []


def _of_queries(records: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield records; those of BERT-MRC in a row, which ask for one type of one text each, as one."""

    def text_of(item: tuple[str, Any]) -> str:
        place, record = item
        known = record if isinstance(record, dict) and "entity_label" in record else {}
        is_query = isinstance(known.get("span_position"), list) and isinstance(known.get("context"), str)
        return f"text {known['context']}" if is_query else place

    for _, group in groupby(records, text_of):
        (place, first), *others = group
        if others:
            queries = (first, *(record for _, record in others))
            name = str(first.get("qas_id", "")).partition(".")[0]
            spans = [{"span": span, "type": one["entity_label"]} for one in queries for span in one["span_position"]]
            first = {"id": name, "context": first["context"], "span_position": spans}
        yield place, first


def _is_record(value: Any) -> bool:
    if isinstance(value, dict):
        return "passages" in value or any(named(value, (*OF_TEXT, *OF_WORDS, "data")))
    return isinstance(value, list)


def _are_annotated(values: Any) -> bool:
    """Return whether a value is a list of records with texts, some of which have a field for mentions."""
    if not are(values, dict) or not any(map(_is_annotated, values)) or sentences_of(values) is not None:
        return False
    return all(pieces_of(one) is not None or field_of_text(one) is not None for one in values)


def _is_annotated(value: Any) -> bool:
    """Return whether a value is a record with a text and a field for mentions, or with a text in pieces."""
    if not isinstance(value, dict):
        return False
    return pieces_of(value) is not None or (field_of_text(value) is not None and any(named(value, OF_MENTIONS)))


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a list of native records, one a line. The format holds everything."""
    with output_file(path, force=force) as file:
        write_list(file, (record_json(document, path) for document in documents))
    return Losses()


def claims(path: Path) -> bool:
    """Return whether a file may hold records: it begins as a list or an object does, and is of no other known kind."""
    if not path.is_file():
        return False
    head = head_of(path)
    if bare(path).suffix.lower() == ".py":
        return _ASSIGNED.search(head) is not None and _ENTITIES.search(head) is not None
    if lists_labels(path, head):
        return False
    if _NONE.match(head) or (_LITERAL.match(head) and _ENTITIES.search(head)):  # of no records, or of Python
        return True
    if _START.match(head) is None or (_OTHER.search(head) is not None and _ARTICLES.search(head) is None):
        return False
    keys = ((plain(key.decode("utf-8", "replace")), value) for key, value in _KEY.findall(head))
    named = any(key in (OF_WORDS if value.startswith(b"[") else OF_TEXT) for key, value in keys)
    return named or _PAIRS.search(head) is not None


def scan_jsonl(
    path: str | Path, mentions: bool = True, columns: Columns = None, tag_names: TagNames = None
) -> Iterator[Scanned]:
    """Yield the documents of a JSONL file, one a line; blank lines are skipped.

    Args:
        path: the file, or ``-``.
        mentions: as in `scan_record`.
        columns: our names of fields -> those in the records.
        tag_names: of tags that are numbers.
    """
    fields = RecordFields(columns, tag_names, None if tag_names else names_beside(path))
    yield from scan_lines(raw_lines(path), path, fields, mentions)
    yield from fields.remarks(path)


def write_arrays(found: Iterable[MentionArrays], path: str | Path, force: bool = False) -> Losses:
    """Write native records with found mentions, as `write_jsonl` writes those of documents."""
    with output_file(path, force=force) as file:
        for own in found:
            try:
                file.write(record_lines(own))
            except (TypeError, ValueError, RecursionError):
                for document in own.documents():  # the error is to name one of them
                    record_json(document, path)
                raise
    return Losses()


def write_jsonl(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write native records. The format holds everything; a document without a JSON form is an error."""
    with output_file(path, force=force) as file:
        for document in documents:
            file.write(record_json(document, path) + "\n")
    return Losses()
