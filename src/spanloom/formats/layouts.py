"""Layouts of records: where tools keep the text and the mentions, and how they count offsets.

A layout is a row of `LAYOUTS`, or what the user describes (``--columns``). Offsets of most tools count characters, and
their ends are exclusive; a row is needed only for others. The parts of a mention are found by `USUAL` names, whatever
the letter case and the marks between words, unless the layout gives a path, such as ``span.begin``. Where records hold
the surfaces of their mentions, these decide the unit and the ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from spanloom.document.validate import Problem
from spanloom.formats.json_text import are, is_pair, not_as_expected

CHARACTERS: Final = "characters"
TOKENS: Final = "tokens"
EXCLUSIVE: Final = "exclusive"
INCLUSIVE: Final = "inclusive"


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, for tables of many names."""
    return tuple(text.split())


class Layout(NamedTuple):
    """Where records of a tool keep what a native record holds.

    Args:
        tools: their names.
        fields: names of the record's fields by which the layout is known, the last of which holds the mentions.
        keys: names of a mention's fields by which it is known; none for mentions that are lists.
        unit: what offsets count: ``characters`` or ``tokens``; empty for characters of a text, and tokens of a record
            without one.
        ends: ``exclusive`` or ``inclusive``; empty for those presumed to be exclusive.
        nested: what offsets of mentions in lists for each sentence count from: the ``record`` or the ``sentence``.
        kind: the field of the record with the type of all its mentions.
        paths: role -> path in a mention, where its name is not usual: a key of `USUAL`.
        known: whether the ends are known, or only presumed.
    """

    tools: str
    fields: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    unit: str = CHARACTERS
    ends: str = EXCLUSIVE
    nested: str = "record"
    kind: str = ""
    paths: Mapping[str, str] = MappingProxyType({})
    known: bool = True


# the first that fits a record and the first of its mentions counts
LAYOUTS: Final = (
    Layout("CMeEE", ("entities",), ("start_idx", "end_idx"), ends=INCLUSIVE),
    Layout("LUIS", ("entities",), ("startPos", "endPos", "entity"), ends=INCLUSIVE),
    Layout("DataTurks", ("annotation",), ("points",), ends=INCLUSIVE),
    Layout("Spark NLP", (), ("annotatorType", "begin", "end"), ends=INCLUSIVE, paths={"type": "metadata.entity"}),
    Layout("CLUENER", ("label",), ("*",), ends=INCLUSIVE),
    Layout(
        "Label Studio's results",
        ("result",),
        ("value", "type"),
        paths={"start": "value.start", "end": "value.end", "type": "value.labels", "surface": "value.text"},
    ),
    # whose "type" is only that of a span
    Layout("Prodigy", ("spans",), ("start", "end", "label"), "", "", paths={"type": "label"}, known=False),
    Layout("W2NER", ("ner",), ("index",), TOKENS),
    Layout("DyGIE, SciERC, PURE", ("sentences", "ner"), (), TOKENS, INCLUSIVE),
    Layout("PURE", ("sentences", "predicted_ner"), (), TOKENS, INCLUSIVE),
    Layout("RAMS", ("sentences", "ent_spans"), (), TOKENS, INCLUSIVE),
    Layout("biaffine-ner", ("sentences", "ners"), (), TOKENS, INCLUSIVE, "sentence"),
    Layout("DocRED", ("sents", "vertexSet"), ("pos", "sent_id"), TOKENS, EXCLUSIVE, "sentence"),
    Layout("GLiNER", ("tokenized_text", "ner"), (), TOKENS, INCLUSIVE),
    Layout("BERT-MRC", ("context", "span_position"), (), TOKENS, INCLUSIVE, kind="entity_label"),
    Layout("BERT-MRC, all types", ("context", "span_position"), ("span", "type"), TOKENS, INCLUSIVE),
    Layout("UIE of PaddleNLP", ("content", "result_list"), ("start", "end"), kind="prompt"),
    Layout("SpERT", ("tokens", "entities"), ("start", "end"), TOKENS),
    Layout("OneIE, WikiEvents", ("tokens", "entity_mentions"), ("start", "end"), TOKENS),
    Layout("UIE", ("tokens", "entity"), ("offset",), TOKENS, paths={"indices": "offset"}),
    Layout("lists of words with ner", ("tokens", "ner"), (), TOKENS, INCLUSIVE),
)

RENAMED: Final = (("entityLabel", MappingProxyType({"document": "text", "tokens": "entities"})),)  # of UBIAI
"""A field of a mention -> fields of a record whose names mean something else elsewhere, and usual names of them."""
LEFT_OUT: Final = (("deleted", True), ("killed", True), ("rejected", True), ("correct", False))
"""Fields of mentions that are no gold, such as those of MedCATtrainer."""

PRESUMED: Final = Layout("", unit="", ends="", known=False)
"""Of all others."""

# role -> usual names, in small letters without marks between words; the first that a mention has counts
USUAL: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "spans": words(
            "spans span offsets charspan position positions pos points location locations charoffsets charspans "
            "interval range ranges fragments segments offset boundary boundaries bounds"
        ),
        "start": words(
            "start begin startoffset beginoffset startidx beginidx startindex beginindex startchar charstart "
            "beginchar startpos beginpos startposition startcharoffset characteroffsetbegin answerstart offsetstart "
            "offsetbegin startingpos from offset spanstart first"
        ),
        "end": words(
            "end stop endoffset endidx endindex endchar charend endpos endposition endcharoffset characteroffsetend "
            "offsetend endingpos exclusiveend to spanend finish last"
        ),
        "length": ("length", "len"),
        "indices": ("index", "indices", "indexes", "tokenindices", "tokenids", "wordindices"),
        "tokenspans": ("tokspan", "tokenspan", "tokenoffsets", "tokspans"),
        "tokenstart": ("tokenstart", "starttoken", "tokstart", "tokenbegin", "wordstart", "startword"),
        "tokenend": ("tokenend", "endtoken", "tokend", "wordend", "endword"),
        "type": words(
            "type label labels entitytype entitylabel entitygroup hypertextlabels tag category obj displayname "
            "nertype nertag class classname semantictype labeltype kind taxonomy tagname entity tags types "
            "categories slot name"
        ),
        "surface": words(
            "text surface surfaceform coveredtext mentiontext spantext mention quote entity name word value content "
            "chunk phrase string result sourcevalue term spot"
        ),
        "concepts": words("concepts concept normalized cui cuis conceptid kbid normid meshid ontologyid umlscui"),
        "id": ("id",),
        "score": ("score", "confidence", "probability", "prob", "confidencescore"),
        "sentence": ("sentid", "sentidx", "sentenceid", "sentenceindex", "sentenceidx"),
        "annotator": ("user", "annotator", "annotatorid", "userid"),
    }
)
SURE: Final = frozenset(("text", "surface", "surfaceform", "coveredtext", "mentiontext", "spantext", "quote"))
"""Names of what is a mention's surface, and wrong where the text has another; others are checked to be one."""

PLAIN: Final = ("name", "value", "label", "text", "category")
"""Names of the field with the name of a type, where types are objects."""

# fields of a record, as above
OF_ID: Final = words("documentid id noteid dockey wndid docid sourceid curid origid qasid guid uuid")
OF_TEXT: Final = words(
    "text notetext content sentence context textcontent rawtext senttext documenttext fulltext analyzedtext "
    "cleanedtext sourcetext utterance utt input"
)
OF_WORDS: Final = words("tokens words tokenizedtext sentence sentences sents token word tokenizedsentence")
OF_TAGS: Final = words(
    "tags nertags ner labels namedentities bio biotags iob iobtags nerlabels tag label wordlabels biolabels entities"
)
OF_MENTIONS: Final = words(
    "mentions spans entities ents labels label denotations annotations annotation ner ners predictedner entspans "
    "entitymentions entitylist entity nerspans namedentities spanposition vertexset nerchunk nerchunks resultlist "
    "results result textsegmentannotations entityspans tags nerlabels goldspans gold targets completions predictions "
    "prediction resources privacymask slots ne"
)
_OTHER: Final = re.compile(
    r"relations?|events?|coref|clusters?|triples?|links?$|^tokens$|^sents$|^sentences$|^sections$|^passages$|"
    r"^blocks$|^namespaces$|^pieces|tokenlens|^meta$|^paragraphs$"
)


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """Return a name in small letters, without marks between words.

    >>> plain("start_offset"), plain("BeginOffset")
    ('startoffset', 'beginoffset')
    """
    return re.sub(r"[_\-. @]", "", name).lower()


def is_other(name: str) -> bool:
    """Return whether a field is known to hold something else than mentions, such as relations or tokens."""
    return _OTHER.search(plain(name).removeprefix("record")) is not None


def named(record: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    """Yield the fields of a record that have one of these names, in the order of the names."""
    own = {plain(name): name for name in reversed(list(record)) if isinstance(name, str)}
    yield from (own[name] for name in names if name in own)


def field_of_text(record: Mapping[str, Any]) -> str | None:
    """Return the field of a record that holds its text, by its name; ``None`` without one."""
    return next((name for name in named(record, OF_TEXT) if isinstance(record[name], str)), None)


def at(value: Any, path: str) -> Any:
    """Return the value at a path in objects and lists, or ``None``.

    >>> at({"span": {"begin": 3}, "a.b": 1}, "span.begin"), at([[5, 9], "x"], "0.1"), at({"a.b": 1}, "a.b")
    (3, 9, 1)
    """
    if isinstance(value, dict) and path in value:
        return value[path]
    head, dot, rest = path.partition(".")
    if isinstance(value, list | tuple):
        found = value[int(head)] if head.isdigit() and int(head) < len(value) else None
    else:
        found = value.get(head) if isinstance(value, dict) else None
    return at(found, rest) if dot else found


def layout_of(record: Mapping[str, Any], field: str, first: Any) -> Layout:
    """Return the layout of a record.

    Args:
        record: with its own names of fields.
        field: the one that holds its mentions.
        first: the first mention.
    """
    for layout in LAYOUTS:
        if layout.fields and not (layout.fields[-1] == field and record.keys() >= set(layout.fields)):
            continue
        if layout.keys == ("*",):
            if isinstance(record[field], dict):
                return layout
        elif isinstance(first, dict) == bool(layout.keys) and (not layout.keys or first.keys() >= set(layout.keys)):
            return layout
    return PRESUMED


# Passages of BigBIO: pieces of a text with their offsets, and the text that they make up.


def text_of_passages(passages: object, problems: list[Problem]) -> str | None:
    """Return the text of passages at their offsets, with spaces between them; ``None`` if they are invalid."""
    pieces: list[tuple[int, int, str, str]] = []
    for i, passage in enumerate(passages if isinstance(passages, list) else [None]):
        place = f"passages[{i}]"
        texts, offsets = (passage.get("text"), passage.get("offsets")) if isinstance(passage, dict) else (None, None)
        texts = [texts] if isinstance(texts, str) else texts
        if not (
            are(texts, str) and isinstance(offsets, list) and len(offsets) == len(texts)
            and all(is_pair(one) and min(one) >= 0 for one in offsets)
        ):  # fmt: skip
            expected = "an object with text, strings, and offsets, one [start, end] pair of integers for each text"
            problems.append(Problem("error", "wrong field", not_as_expected(place, passage, expected)))
            return None
        pieces += [(*span, text, place) for span, text in zip(offsets, texts, strict=True)]
    parts: list[str] = []
    length, found = 0, len(problems)
    longest = sum(len(piece) for _, _, piece, _ in pieces) * 2 + 10_000  # a gap beyond is a mistake or an attack
    for start, end, piece, place in sorted(pieces, key=lambda piece: piece[0]):
        if end - start != len(piece):
            message = f"offsets {start}-{end} are {end - start} characters apart, but the text has {len(piece)}"
            problems.append(Problem("error", "passage", message + _unit(piece, end - start), place))
        elif start < length or start > longest:
            message = f"offset {start} does not fit after a text of {length} characters"
            problems.append(Problem("error", "passage", message, place))
        else:
            parts += [" " * (start - length), piece]
            length = end
    return "".join(parts) if len(problems) == found else None


def _unit(text: str, length: int) -> str:
    units = (("utf-16-le", 2, "UTF-16 units"), ("utf-8", 1, "UTF-8 bytes"))
    found = (unit for encoding, size, unit in units if size * length == len(text.encode(encoding, "surrogatepass")))
    return next((f"; they are counted in {unit}: count Unicode characters" for unit in found), "")
