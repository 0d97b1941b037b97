"""Documents of annotation pipelines as records: CoreNLP's JSON, Stanza's and Trankit's dictionaries.

Both hold sentences of tokens, which know their place in a text that is not there; it is made of them. Offsets of
CoreNLP count UTF-16 units, so that the lengths of tokens and of what is between them count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any, Final

from spanloom.document import from_tags
from spanloom.formats.blocks import TAG
from spanloom.formats.dialects import identified
from spanloom.formats.json_text import are, is_pair, some
from spanloom.formats.tagged import found_in

_OFFSETS: Final = (("characterOffsetBegin", "characterOffsetEnd"), ("start_char", "end_char"))
_MISC: Final = re.compile(r"(start|end)_char=(\d{1,9})")
_COLUMNS: Final = {"pos": ("pos", "xpos", "upos"), "lemma": ("lemma",)}
_MADE: Final = ("text", "sentences", "tokens", "entities", "ents", "mentions")
_LONGEST_GAP: Final = 10_000  # characters between two tokens


def sentences_of(value: Any) -> list[list[dict[str, Any]]] | None:
    """Return the tokens of each sentence; ``None`` for other values.

    >>> [sentences_of(value) is None for value in ([[{"text": "Pain", "start_char": 0, "end_char": 4}]], [["Pain"]])]
    [False, True]
    """
    if not isinstance(value, list) or not value:
        return None
    given = [one.get("tokens") if isinstance(one, dict) else one for one in value]
    lists = [one for one in given if isinstance(one, list)]
    if len(lists) < len(given) or not any(lists):
        return None
    tokens = [token for one in lists for token in one]
    if not all(isinstance(token, dict) and isinstance(_word(token), str) for token in tokens):
        return None
    return lists if any(_offsets(token) is not None for token in tokens) else None


def with_sentences(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a pipeline's document with a text, tokens and mentions; others unchanged.

    >>> tokens = [{"id": 1, "text": "No", "start_char": 0, "end_char": 2, "ner": "O"},
    ...     {"id": 2, "text": "pain", "start_char": 3, "end_char": 7, "ner": "S-x"}]
    >>> made = with_sentences({"sentences": [tokens]})
    >>> made["text"], made["mentions"]
    ('No pain', [{'spans': [[3, 7]], 'type': 'x'}])
    """
    if (lists := sentences_of(record.get("sentences"))) is None:
        return record
    rest = identified({name: value for name, value in record.items() if name not in _MADE})
    sentences = [_whole(tokens) for tokens in lists]
    tokens = [token for one in sentences for token in one]
    given = record.get("text")
    places = found_in(given, [_word(token) for token in tokens]) if isinstance(given, str) else None
    text = given if isinstance(given, str) else ""
    if places is None:
        text, places = _laid_out(tokens)
    bounds = [[first, end] for first, end in pairwise(accumulate(map(len, sentences), initial=0))]
    columns = {}
    for ours, names in _COLUMNS.items():
        name = next((name for name in names if all(isinstance(token.get(name), str) for token in tokens)), None)
        if name is not None:
            columns[ours] = [token[name] for token in tokens]
    mentions = []
    for sentence, own, (first, last) in zip(record["sentences"], sentences, bounds, strict=True):
        for start, end, fields in _mentions(sentence, own, first):
            inside = first <= start < end <= last
            span = [places[start][0], places[end - 1][1]] if inside else [len(text), len(text) + 1]
            mentions.append({"spans": [span], **fields})
    made = {"text": text, "tokens": places, "sentences": [pair for pair in bounds if pair[0] < pair[1]]}
    return {**rest, **made, **({"columns": columns} if columns else {}), "mentions": mentions}


def _word(token: Mapping[str, Any]) -> Any:
    return token.get("originalText") or token.get("word") or token.get("text")


def _offsets(token: Mapping[str, Any]) -> tuple[int, int] | None:
    for start, end in _OFFSETS:
        if type(token.get(start)) is int and type(token.get(end)) is int:
            return token[start], token[end]
    for name in ("dspan", "span"):  # of Trankit: in the document, and in the sentence
        span = token.get(name)
        if is_pair(span) and "ner" in token:
            return span[0], span[1]
    misc = token.get("misc")
    found = dict(_MISC.findall(misc)) if isinstance(misc, str) else {}
    return (int(found["start"]), int(found["end"])) if found.keys() >= {"start", "end"} else None


def _whole(tokens: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tokens of a sentence without the words of those that Stanza expands, such as *du* to *de le*."""
    kept, last = [], -1
    for token in tokens:
        number = token.get("id")
        if isinstance(number, list) and len(number) == 1:
            number = number[0]
        if some(number, int):
            last = number[-1]
        elif type(number) is int and number <= last:
            continue
        kept.append(token)
    return kept


def _laid_out(tokens: list[dict[str, Any]]) -> tuple[str, list[list[int]]]:
    """Return a text with tokens at their distances, and their places."""
    parts: list[str] = []
    places: list[list[int]] = []
    length, before = 0, 0
    for token in tokens:
        word, given = _word(token), _offsets(token)
        gap = token.get("before") if isinstance(token.get("before"), str) else None
        if gap is None or (given is not None and len(gap) != given[0] - before):
            gap = " " * (bool(parts) if given is None else min(max(given[0] - before, 0), _LONGEST_GAP))
        parts += [gap, word]
        places.append([length + len(gap), length + len(gap) + len(word)])
        length, before = places[-1][1], before + len(gap) + len(word) if given is None else given[1]
    return "".join(parts), places


def _mentions(sentence: Any, tokens: list[dict[str, Any]], first: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the mentions of a sentence: the first token and the end in the document, and other fields."""
    found = sentence.get("entitymentions") if isinstance(sentence, dict) else None
    if are(found, dict) and (not found or any("tokenBegin" in one for one in found)):
        for one in found:
            if type(one.get("tokenBegin")) is int and type(one.get("tokenEnd")) is int:
                sure = one.get("nerConfidences")
                score = sure.get(one.get("ner")) if isinstance(sure, dict) else None
                sound = isinstance(score, float) and 0 <= score <= 1
                fields = {"type": one.get("ner"), **({"score": score} if sound else {})}
                yield first + one["tokenBegin"], first + one["tokenEnd"], fields
        return
    tags = [str(token.get("ner") or "O") for token in tokens]
    if not all(tag == "O" or TAG.fullmatch(tag) for tag in tags):
        tags = [tag if tag == "O" else f"I-{tag}" for tag in tags]
    for start, end, kind in from_tags(tags):
        yield first + start, first + end, {"type": kind}
