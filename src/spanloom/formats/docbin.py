"""spaCy's DocBin (``.spacy``): token by token, with span groups and entities; extra ``spacy``.

A file is read here and not by spaCy, whose compiled code trusts the numbers of a file: it is msgpack, packed by zlib,
and arrays, of which nothing is run, and every number is checked before it is used.

A mention is a span of the group ``sc``, where spaCy's own span categorizer looks for them. Parts of a mention with
gaps have one identifier, ``spanloom-0`` and so on; those that the spaCy component made have one in any case. Mentions
without gaps, of those that overlap the longest, are entities as well. The group's ``attrs`` hold ``scores``,
``attributes`` and ``attribute_scores``, one for each span, the latter two where there are any.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from spanloom.document import Document, Mention, Span, from_tags
from spanloom.errors import DataError
from spanloom.extras import extra
from spanloom.files.output import output_file
from spanloom.formats.base import CONCEPT_SCORES, Beside, Losses, Scanned, count_mention, count_unwritten, no_document
from spanloom.formats.source import read_bytes
from spanloom.text import tokenize

GROUP: Final = "sc"
_JOINED: Final = "spanloom-"
_SPAN: Final = struct.Struct(">QQQllll")  # id, kb_id, label, first token, end token, first character, end
_UNSUSPICIOUS: Final = 1 << 26  # bytes that any file may unpack to
_MOST_TIMES: Final = 500  # its size, beyond that
_LETTERS: Final = {1: "I", 3: "B"}  # of the codes of ENT_IOB; others are outside
_DAMAGE = (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError, struct.error)
_CUT = "mentions that cut a token"


class _Tokens(NamedTuple):
    """The tokens of one document: attribute -> one value each, and the column of each attribute."""

    columns: dict[int, Any]
    words: list[str]
    starts: list[int]
    ends: list[int]
    text: str


def scan(path: str | Path, mentions: bool = True) -> Iterator[Scanned]:
    """Yield the documents of a DocBin; mentions are those of all span groups, and entities beside them."""
    with extra("spacy", "a .spacy file"):
        from spacy import attrs
        from spacy.strings import StringStore
        from srsly import msgpack

    message = _object(msgpack, _unpacked(read_bytes(path), path), path)
    try:
        lengths = np.frombuffer(message["lengths"], dtype=np.int32).tolist()
        columns = [int(column) for column in message["attrs"]]
        table = np.frombuffer(message["tokens"], dtype=np.uint64).reshape(-1, len(columns))
        spaces = np.frombuffer(message["spaces"], dtype=bool)
        strings = StringStore([text for text in message["strings"] if isinstance(text, str)])
        place = columns.index(attrs.ORTH)
        sound = min(lengths, default=0) >= 0 and sum(lengths) == len(table) == len(spaces)
    except _DAMAGE as error:
        wrong = f"found a damaged file, or none of spaCy's ({_short(error)}); get it again"
        raise DataError(wrong, path=path) from None
    if not sound or place < 0:
        raise DataError("found a damaged file: its arrays are not of one length; get it again", path=path)
    end = 0
    for number, length in enumerate(lengths):
        first, end = end, end + length
        try:
            flags = _item(message.get("flags"), number)
            unknown = isinstance(flags, Mapping) and flags.get("has_unknown_spaces")
            tokens = _tokens(columns, table[first:end], None if unknown else spaces[first:end], strings, attrs.ORTH)
            document = _document(tokens, _item(message.get("user_data"), number), msgpack, strings, attrs)
            if mentions:
                packed = _item(message.get("span_groups"), number)
                document.mentions = list(_mentions(tokens, packed, msgpack, strings, attrs))
        except (DataError, *_DAMAGE) as error:
            reason = f"found a damaged record ({_short(error)}); write the file again"
            yield Scanned.failed("damaged", reason, str(path), place=f"docs[{number}]")
        else:
            beside = Beside([None] * len(document.mentions), within=f"docs[{number}]")
            yield Scanned(document, [], str(path), beside=beside)
    if not lengths:
        yield no_document(str(path), "documents of spaCy")


def _short(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:120]


def _unpacked(raw: bytes, path: str | Path) -> bytes:
    packer = zlib.decompressobj()
    most = max(_UNSUSPICIOUS, _MOST_TIMES * len(raw))
    try:
        content = packer.decompress(raw, most)
    except zlib.error as error:
        raise DataError(f"found no .spacy file, or a damaged one ({error}); get it again", path=path) from None
    if packer.unconsumed_tail:
        message = f"the file holds more than {_MOST_TIMES} times its size; it is damaged, or an attack"
        raise DataError(message, path=path)
    if not packer.eof:
        raise DataError("found a .spacy file that was cut short; get it again", path=path)
    return content


def _value(msgpack: Any, raw: bytes, path: str | Path | None = None) -> Any:
    try:
        return msgpack.loads(raw, raw=False, use_list=False, strict_map_key=False)  # keys may be tuples
    except Exception as error:  # its own classes have no other base
        raise DataError(f"found a damaged file ({_short(error)}); get it again", path=path) from None


def _object(msgpack: Any, raw: bytes, path: str | Path | None = None) -> dict[Any, Any]:
    value = _value(msgpack, raw, path)
    if not isinstance(value, dict):
        found = "list" if isinstance(value, tuple) else type(value).__name__
        raise DataError(f"found a {found}, expected an object; get the file again", path=path)
    return value


def _item(values: object, number: int) -> Any:
    return values[number] if isinstance(values, tuple) and number < len(values) else None


def _names(values: Any, strings: Any) -> list[str]:
    """Return the string of each hash."""
    distinct, inverse = np.unique(values, return_inverse=True)
    known = [strings[int(value)] if value else "" for value in distinct]
    return [known[place] for place in inverse.tolist()]


def _tokens(columns: list[int], table: Any, spaces: Any, strings: Any, orth: int) -> _Tokens:
    values = {column: table[:, place] for place, column in enumerate(columns)}
    words = _names(values[orth], strings)
    behind = [" "] * len(words) if spaces is None else [" " if space else "" for space in spaces.tolist()]
    starts = [*accumulate((len(word) + len(space) for word, space in zip(words, behind, strict=True)), initial=0)]
    ends = [start + len(word) for start, word in zip(starts, words, strict=False)]
    return _Tokens(values, words, starts, ends, "".join(map("".join, zip(words, behind, strict=True))))


def _document(tokens: _Tokens, user_data: object, msgpack: Any, strings: Any, attrs: Any) -> Document:
    kept = [i for i, word in enumerate(tokens.words) if word.strip()]
    document = Document(tokens.text, tokens=[(tokens.starts[i], tokens.ends[i]) for i in kept])
    if isinstance(user_data, bytes):
        name = _object(msgpack, user_data).get("id")
        document.id = name if isinstance(name, str) else ""
    for column, attribute in (("pos", attrs.TAG), ("lemma", attrs.LEMMA)):
        if attribute in tokens.columns and tokens.columns[attribute].any():
            names = _names(tokens.columns[attribute], strings)
            document.columns[column] = [names[i] for i in kept]
    begins = tokens.columns.get(attrs.SENT_START)
    if begins is not None and kept and (begins[1:] != 0).all():  # 0 is unset; the first begins one anyhow
        marks = np.logical_or.reduceat(begins[: kept[-1] + 1] == 1, [0, *(place + 1 for place in kept[:-1])])
        firsts = sorted({0, *np.flatnonzero(marks).tolist()})
        document.sentences = np.array(list(zip(firsts, [*firsts[1:], len(kept)], strict=True)), dtype=np.int64)
    return document


def _mentions(tokens: _Tokens, packed: object, msgpack: Any, strings: Any, attrs: Any) -> Iterator[Mention]:
    found = [list(_of_group(group, name, tokens, strings)) for name, group in _groups(packed, msgpack)]
    seen: set[object] = set()
    for mentions in (*found, list(_entities(tokens, strings, attrs))):  # what two groups have is one mention
        yield from (mention for mention in mentions if mention.key not in seen)
        seen.update(mention.key for mention in mentions)


def _groups(packed: object, msgpack: Any) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Yield the groups of spans with their names: a list until spaCy 3.3.0, which has them inside, a map since."""
    if not isinstance(packed, bytes) or not packed:
        return
    groups = _value(msgpack, packed)
    if isinstance(groups, dict):
        for content, keys in groups.items():
            yield str(keys[0]) if isinstance(keys, tuple) and keys else "span", _object(msgpack, content)
        return
    named = {}
    for content in groups:
        group = _object(msgpack, content)
        named[str(group.get("name") or "span")] = group  # of two of one name spaCy takes the last
    yield from named.items()


def _of_group(group: dict[Any, Any], name: str, tokens: _Tokens, strings: Any) -> Iterator[Mention]:
    rows = [_SPAN.unpack(row) for row in group["spans"]]
    given = group.get("attrs")
    beside: Mapping[Any, Any] = given if isinstance(given, Mapping) else {}
    records = beside.get("mentions")  # of the component, each under its number
    own = "mentions" in beside
    scores, attributes, sures = (
        found if isinstance(found := beside.get(name), tuple) and len(found) == len(rows) else (None,) * len(rows)
        for name in ("scores", "attributes", "attribute_scores")
    )
    parts: dict[object, list[tuple[int, ...]]] = {}
    for number, row in enumerate(rows):
        label = strings[row[0]] if row[0] else ""
        joined = label if label and (own or label.startswith(_JOINED)) else number
        parts.setdefault((joined, row[2]), []).append((number, *row))
    for found in parts.values():
        number, _, concept, label_hash = found[0][:4]
        spans = sorted(_characters(tokens, row[4], row[5]) for row in found)
        kind = strings[label_hash] if label_hash else name
        concepts = (strings[concept],) if concept else ()
        score = scores[number]
        sure = float(score) if isinstance(score, int | float) and 0 <= score <= 1 else None
        further = attributes[number] or {}, sures[number] or {}
        label = strings[found[0][1]] if own and found[0][1] else ""
        record = _item(records, int(label)) if label.isdecimal() else None
        if isinstance(record, Mapping):
            further = record.get("attributes", {}), record.get("attribute_scores", {})
        yield Mention(kind, spans, None, None, concepts, sure, *further)


def _characters(tokens: _Tokens, first: int, end: int) -> Span:
    if not 0 <= first <= end <= len(tokens.words):
        raise DataError(f"a span of tokens {first} to {end}, of {len(tokens.words)}")
    if first == end:  # of no character, which is left out and counted
        return Span(0, 0)
    return Span(tokens.starts[first], tokens.ends[end - 1])


def _entities(tokens: _Tokens, strings: Any, attrs: Any) -> Iterator[Mention]:
    codes, kinds = tokens.columns.get(attrs.ENT_IOB), tokens.columns.get(attrs.ENT_TYPE)
    if codes is None or kinds is None:
        return
    concepts = tokens.columns.get(attrs.ENT_KB_ID)
    pairs = zip(codes.tolist(), _names(kinds, strings), strict=True)
    tags = [f"{_LETTERS[code]}-{kind or 'entity'}" if code in _LETTERS else "O" for code, kind in pairs]
    for first, end, kind in from_tags(tags):
        concept = 0 if concepts is None else int(concepts[first])
        names = (strings[concept],) if concept else ()
        yield Mention(kind, [_characters(tokens, first, end)], concepts=names)


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a DocBin. Texts without tokens get ours; what spaCy has no place for is counted."""
    with extra("spacy", "a .spacy file"):
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab

    losses = Losses()
    packed, vocab = DocBin(attrs=_ATTRIBUTES, store_user_data=True), Vocab()
    with output_file(path, force=force) as file:
        for document in documents:
            packed.add(to_doc(document, vocab, losses))
        file.write(packed.to_bytes())
    return losses


_ATTRIBUTES: Final = ("ORTH", "TAG", "LEMMA", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "SENT_START")


def to_doc(document: Document, vocab: Any, losses: Losses) -> Any:
    """Return a document as a `Doc` of spaCy.

    Args:
        document: the document.
        vocab: spaCy's vocabulary.
        losses: to add to.
    """
    from spacy.tokens import Doc, SpanGroup
    from spacy.util import filter_spans

    offsets = tokenize(document.text) if document.tokens is None else document.tokens
    words, spaces, places = _cut(document.text, [(int(start), int(end)) for start, end in offsets])
    doc = Doc(vocab, words=words, spaces=spaces)
    _add_columns(doc, document, places, losses)
    doc.user_data["id"] = document.id
    rows: list[tuple[Any, float | None, dict[str, bool | str], dict[str, float]]] = []
    for number, mention in enumerate(document.mentions):
        name = f"{_JOINED}{number}" if len(mention.spans) > 1 else ""
        concept = mention.concepts[0] if mention.concepts else ""
        parts: list[Any] = [
            doc.char_span(start, end, label=mention.type, kb_id=concept, span_id=name) for start, end in mention.spans
        ]
        if None in parts:
            losses.add(_CUT)
            continue
        further = mention.score, dict(mention.attributes), dict(mention.attribute_scores)
        rows += [(part, *further) for part in parts]
        losses.add("concepts but the first", len(mention.concepts) - 1 if mention.concepts else 0)
        count_mention(losses, mention, "heads", "mention identifiers", CONCEPT_SCORES)
    if rows:
        spans, scores, attributes, sures = map(list, zip(*rows, strict=True))
        beside: dict[str, Any] = {"attributes": attributes} if any(attributes) else {}
        beside |= {"attribute_scores": sures} if any(sures) else {}
        doc.spans[GROUP] = SpanGroup(doc, name=GROUP, spans=spans, attrs={"scores": scores, **beside})
    doc.set_ents(filter_spans([span for span, *_ in rows if not span.id_]), default="outside")
    count_unwritten(losses, document)
    return doc


def _cut(text: str, offsets: list[tuple[int, int]]) -> tuple[list[str], list[bool], list[int]]:
    """Return spaCy's words of a text, whether a space is behind each, and the place of each token among them."""
    words: list[str] = []
    spaces: list[bool] = []
    places: list[int] = []
    at = 0
    for start, end in [*offsets, (len(text), len(text))]:
        between = text[at:start]
        if between[:1] == " " and words:  # the space belongs to the word before it
            spaces[-1] = True
            between = between[1:]
        pieces = [piece for piece in (between, text[start:end]) if piece]
        words += pieces
        spaces += [False] * len(pieces)
        places.append(len(words) - 1)
        at = end
    return words, spaces, places[:-1]


def _add_columns(doc: Any, document: Document, places: list[int], losses: Losses) -> None:
    for column, values in document.columns.items():
        if column not in ("pos", "lemma"):
            losses.add("token columns")
            continue
        for place, value in zip(places, values, strict=True):
            setattr(doc[place], "tag_" if column == "pos" else "lemma_", value)
    if document.sentences is not None and document.tokens is not None:
        firsts = {places[first] if number else 0 for number, (first, _) in enumerate(document.sentences.tolist())}
        for token in doc:
            token.is_sent_start = token.i in firsts
