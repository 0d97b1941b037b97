"""Records with a list of words and a list of tags, as most data sets for this task on the Hugging Face hub are.

Tags are BIO (IOB2), IOB1, BILOU or BIOES, or types without a letter, of which equal ones in a row are one mention.
They are words, or numbers whose names the file has (a Parquet file of `datasets`) or the user gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise, product
from typing import Any, Final

from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.base import altered
from spanloom.formats.blocks import TAG, stand_in
from spanloom.formats.json_text import are, are_pairs, not_as_expected, some
from spanloom.formats.layouts import OF_MENTIONS, OF_TAGS, OF_TEXT, OF_WORDS, USUAL, field_of_text, named
from spanloom.formats.tag_dialects import LETTERED, Tagging, invalid_tag, of_levels, read_tag

TAGS: Final = ("tags", "ner_tags", "ner", "labels", "named_entities")
"""Names of a list of tags; the first that a record has counts."""
_WORDS: Final = ("tokens", "words")
_POS: Final = ("pos_tags", "pos", "upos")
_HOW = "give the names of all tags in the order of their numbers, from 0 (--tag-names O,B-x,I-x; tag_names=)"
_AS_TYPES: Final = "if tags are types without letters, describe it: --columns tagging=types (columns=)"
_AS_LETTERS: Final = "if it is a tag, describe it: --columns tagging=letters (columns=)"
_NO_TYPE: Final = re.compile(r"[BIESLUM]-")


def fields_of(record: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the names of a record's words and tags; ``None`` if it has not both.

    >>> fields_of({"id": "0", "tokens": ["No", "pain"], "ner_tags": [0, 1]})
    ('tokens', 'ner_tags')
    >>> fields_of({"sentence": ["No", "pain"], "bio": ["O", "B-x"]}), fields_of({"tokens": ["No"], "label": "sad"})
    (('sentence', 'bio'), None)
    """
    words = next((name for name in _WORDS if _has_some(record.get(name), str)), None)
    tags = next((name for name in TAGS if _has_some(record.get(name), str | int)), None)
    if words is not None and tags is not None:
        return words, tags
    for name, other in product(named(record, OF_WORDS), named(record, OF_TAGS)):
        if other != name and _shape(record[name], str) == _shape(record[other], str, int) is not None:
            return name, other
    return None


def _shape(value: object, *kinds: type) -> int | list[int] | None:
    """Return the length of a list, or of the list of each sentence; ``None`` if the items are of another kind."""
    if some(value, *kinds):
        return len(value)
    return list(map(len, value)) if some(value, list) and all(are(item, *kinds) for item in value) else None


def with_words(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose tags are for the words or the characters of its text, with these as ``tokens``.

    >>> with_words({"text": "No pain", "labels": "O B-x"})
    {'text': 'No pain', 'labels': ['O', 'B-x'], 'tokens': ['No', 'pain']}
    """
    text = next((record[name] for name in named(record, OF_TEXT) if isinstance(record[name], str)), None)
    if text is None or "tokens" in record:
        return record
    for name in named(record, OF_TAGS):
        value = record[name]
        tags = re.split(r"[\s,]+", value.strip()) if isinstance(value, str) else value
        if not tags or not are(tags, str) or not all(map(TAG.fullmatch, tags)):
            continue
        for words in (text.split(), list(text), [one for one in text if not one.isspace()]):
            if len(words) == len(tags):
                return {**record, name: tags, "tokens": words}
    return record


def _has_some(value: object, kind: Any) -> bool:
    """Return whether a value is an empty list, or one with an item of a kind; others are reported when it is read."""
    return isinstance(value, list) and (not value or any(isinstance(item, kind) for item in value))


def with_names(record: dict[str, Any], names: Mapping[str, Sequence[str] | Mapping[str, str]]) -> dict[str, Any]:
    """Return a record with the names of tags in place of their numbers.

    Args:
        record: a row.
        names: the column -> names in the order of their numbers, or by them; other columns, and items without a name,
            stay.

    >>> with_names({"ner_tags": [0, 1], "n": 1}, {"ner_tags": ["O", "B-x"]})
    {'ner_tags': ['O', 'B-x'], 'n': 1}
    """
    changed = {}
    for column, known in names.items():
        values = record.get(column)
        if isinstance(values, list):
            table = known if isinstance(known, Mapping) else {str(number): name for number, name in enumerate(known)}
            changed[column] = [table.get(str(one), one) if type(one) is int else one for one in values]
    return record | changed if changed else record


def from_tagged(
    record: dict[str, Any], words_field: str, tags_field: str, problems: list[Problem], mentions: bool = True,
    tagging: Tagging | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the native record: words with a space between two, or as they are in a text; one sentence for each list.

    Args:
        record: a record with both fields.
        words_field: the name of its words.
        tags_field: the name of its tags.
        problems: to add to.
        mentions: if false, tags are not read.
        tagging: the dialect of the tags of all records.

    >>> record = {"tokens": ["No", "chest", "pain"], "ner_tags": ["O", "B-problem", "I-problem"]}
    >>> native = from_tagged(record, "tokens", "ner_tags", [])
    >>> native["text"], native["mentions"]
    ('No chest pain', [{'type': 'problem', 'spans': [[3, 13]]}])
    """
    tagging = Tagging() if tagging is None else tagging
    words, tags = record[words_field], record[tags_field]
    lengths = [len(words)]
    if words and are(words, list):
        lengths = list(map(len, words))
        words, tags = list(chain.from_iterable(words)), list(chain.from_iterable(tags))
    rest = without(record, words_field, tags_field)
    try:
        _check_texts(words, words_field, "a word")
        if len(words) != len(tags):
            message = f"{tags_field} has {len(tags)} items, expected one for each of the {len(words)} of {words_field}"
            raise DataError(message)
        read = _read(tags, tags_field, problems, tagging) if mentions else [("O",)] * len(tags)
    except DataError as error:
        problems.append(Problem("error", "wrong field", error.message))
        return rest
    if empty := [place for place, word in enumerate(words) if not word]:
        message = "empty words, which are left out with their tags"
        problems.append(Problem("warning", "empty words", message, f"{words_field}[{empty[0]}]", altered=True))
    kept = [place for place, word in enumerate(words) if word]
    ends = list(accumulate(lengths, initial=0))
    sentences = [[place for place in range(first, end) if words[place]] for first, end in pairwise(ends)]
    text, places, bounds = laid_out([[words[place] for place in sentence] for sentence in sentences])
    name = next((name for name in named(rest, OF_TEXT) if name == "text" or isinstance(rest[name], str)), "text")
    if (given := rest.pop(name, None)) is not None:
        found = found_in(given, [words[place] for place in kept]) if isinstance(given, str) else None
        text, places = (text, places) if found is None else (str(given), found)
        rest |= {"record_text": given} if found is None else {}
    mentions_found = [
        {"type": kind, "spans": [[places[first + one][0], places[first + last - 1][1]]]}
        for (first, _), sentence in zip(bounds, sentences, strict=True)
        for one, last, kind in of_levels([read[place] for place in sentence])
    ]
    native = {"text": text, "tokens": places, "sentences": [pair for pair in bounds if pair[0] < pair[1]]}
    pos = next((name for name in _POS if are(rest.get(name), str) and len(rest[name]) == len(words)), None)
    if pos is not None and "columns" not in rest:
        values = rest.pop(pos)
        rest["columns"] = {"pos": [values[place] for place in kept]}
    return rest | native | {"mentions": mentions_found}


def _read(tags: list[Any], field: str, problems: list[Problem], tagging: Tagging) -> list[tuple[str, ...]]:
    """Return the tags of each word in the usual spelling.

    Raises:
        DataError: something else than tags.
    """
    if (number := next((tag for tag in tags if type(tag) is int), None)) is not None:
        raise DataError(f"{field} holds the number {number}, which has no name; {_HOW}")
    _check_texts(tags, field, "a tag")
    dialect = tagging.see(tags)
    read = []
    for place, tag in enumerate(tags):
        if (one := read_tag(tag, dialect)) is None or not tag or _NO_TYPE.fullmatch(tag):
            raise DataError(f"{field}[{place}]: {invalid_tag(tag, dialect)}; {_AS_TYPES}")
        read.append(one or ("O",))
    guessed = not dialect.divider and tagging.letters is None
    lettered = next(filter(LETTERED.fullmatch, tags), None) if guessed else None
    if dialect.divider and dialect.name:
        problems.append(altered("dialects of tags", f"tags are read as {dialect.name}"))
    elif lettered is not None:
        message = f"{field} holds types without letters, so {clip(lettered)} is read as a type, too; {_AS_LETTERS}"
        problems.append(altered("types that begin as tags", message))
    return read


def _check_texts(values: list[Any], field: str, expected: str) -> None:
    if (wrong := next((place for place, value in enumerate(values) if not isinstance(value, str)), None)) is not None:
        name, value = f"{field}[{wrong}]", values[wrong]
        null = f"{name} is null, expected {expected}"
        raise DataError(null if value is None else not_as_expected(name, value, expected))


def laid_out(sentences: Sequence[Sequence[str]]) -> tuple[str, list[list[int]], list[list[int]]]:
    r"""Return words as a text, a space between two and a sentence a line; their places; and the words of each sentence.

    >>> laid_out([["No", "pain"], [], ["Fever"]])
    ('No pain\nFever', [[0, 2], [3, 7], [8, 13]], [[0, 2], [2, 2], [2, 3]])
    """
    places: list[list[int]] = []
    bounds: list[list[int]] = []
    lines, start = [], 0
    for words in sentences:
        bounds.append([len(places), len(places) + len(words)])
        for word in words:
            places.append([start, start + len(word)])
            start += len(word) + 1
        lines += [" ".join(words)] if words else []
    return "\n".join(lines), places, bounds


def found_in(text: str, words: list[str]) -> list[list[int]] | None:
    """Return the places of words that make up a text; ``None`` if they do not."""
    places = stand_in(words, text)
    return None if places is None else [list(pair) for pair in places]


# Records of unusual shapes: mentions as lists side by side, and texts in pieces; each becomes a usual record.

_OF_TYPES: Final = (*USUAL["type"], "entitytypes", "entitylabels", "spanlabels", "categories", "classes")
_OF_PIECES: Final = ("data", "parts", "pieces", "chunks", "segments", "textparts")
_OF_WORD: Final = ("text", "word", "token", "form")
_OF_TAG: Final = ("tag", "ner", "nertag", "label", "bio", "iob", "entiob", "entity")
_OF_LETTER: Final = ("iob", "entiob", "bio", "biotag", "nertag", "tag", "ner")
_OF_KIND: Final = ("enttype", "type", "entitytype", "nertype", "label", "entity")
_LETTERS: Final = frozenset(("B", "I", "O", "E", "L", "S", "U", "", None))
_MEETING: Final = re.compile(r"(?a:[\w.!?]\n\w)")
_KINDS: Final = ("entity", "alias", "label", "type", "slotname", "slot")


def in_usual_shape(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose mentions are side by side, or whose text is in pieces, as a usual one; others unchanged.

    >>> in_usual_shape({"text": "No pain", "starts": [3], "ends": [7], "labels": ["problem"]})
    {'text': 'No pain', 'entities': [{'start': 3, 'end': 7, 'type': 'problem'}]}
    >>> in_usual_shape({"data": [{"text": "fly to "}, {"text": "Rome", "entity": "city"}]})
    {'text': 'fly to Rome', 'entities': [{'start': 7, 'end': 11, 'type': 'city'}]}
    """
    if (name := pieces_of(record)) is not None:
        text, entities = "", []
        for piece in record[name]:
            if kind := next((piece[key] for key in named(piece, _KINDS) if isinstance(piece[key], str)), None):
                entities.append({"start": len(text), "end": len(text) + len(piece["text"]), "type": kind})
            text += piece["text"]
        return {**without(record, name), "text": text, "entities": entities}
    if next(named(record, (*OF_TEXT, *OF_WORDS)), None) is None:
        return record
    starts, ends = _side(record, "start"), _side(record, "end")
    pairs = (name for name in named(record, (*OF_MENTIONS, *USUAL["spans"])) if are_pairs(record[name]))
    if starts and ends and len(record[starts]) == len(record[ends]):
        own, offsets = [starts, ends], [*zip(record[starts], record[ends], strict=True)]
    elif spans := next(pairs, None):  # without types
        own, offsets = [spans], record[spans]
    else:
        return record
    types = named(record, tuple(f"{one}{s}" for one in _OF_TYPES for s in ("", "s")))
    kind = next((name for name in types if are(record[name], str) and len(record[name]) == len(offsets)), None)
    if kind is None:
        return record
    typed = zip(offsets, record[kind], strict=True)
    entities = [{"start": start, "end": end, "type": one} for (start, end), one in typed]
    return {**without(record, *own, kind), "entities": entities}


def with_tags(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose tokens are objects with tags as one with words and tags; others unchanged.

    >>> with_tags({"tokens": [{"text": "No", "tag": "O"}, {"text": "pain", "tag": "B-problem"}]})
    {'tokens': ['No', 'pain'], 'ner_tags': ['O', 'B-problem']}
    """
    for name in named(record, ("sentences", "sents")):
        parts = record[name] if some(record[name], dict) else []
        fields = [own for own in map(fields_of, parts) if own is not None]
        if parts and len(fields) == len(parts):
            columns = [[one[own[at]] for one, own in zip(parts, fields, strict=True)] for at in (0, 1)]
            return {**without(record, name), "tokens": columns[0], "ner_tags": columns[1]}
    for name in named(record, OF_WORDS):
        tokens = record[name]
        if not some(tokens, dict):
            continue
        names = {key: None for one in tokens for key in one}
        tokens = _with_letters(tokens, names)
        words = next((key for key in named(names, _OF_WORD) if are([one.get(key) for one in tokens], str)), None)
        tags = next((key for key in named(names, _OF_TAG) if are([one.get(key) or "O" for one in tokens], str)), None)
        values = [one.get(tags) or "O" for one in tokens] if tags and words else []
        given = [one[tags] for one in tokens if one.get(tags)] if values else []
        if "O" in given or (given and all(map(TAG.fullmatch, given))):  # outside a mention, some leave the tag out
            return {**record, name: [one[words] for one in tokens], "ner_tags": values}
    return record


def _with_letters(tokens: Any, names: Mapping[str, None]) -> Any:
    """Return tokens whose letters of tags and types are in two fields with both in one, as ``B-problem``."""
    for letters in named(names, _OF_LETTER):
        if all(isinstance(one.get(letters), str | None) and one.get(letters) in _LETTERS for one in tokens):
            break
    else:
        return tokens
    inside = [one for one in tokens if one.get(letters) not in ("O", "", None)]
    others = (key for key in named(names, _OF_KIND) if key != letters)
    if (kinds := next((key for key in others if all(one.get(key) for one in inside)), None)) is None or not inside:
        return tokens
    tags = (f"{one[letters]}-{one[kinds]}" if one.get(letters) not in ("O", "", None) else "O" for one in tokens)
    return [{**one, letters: tag} for one, tag in zip(tokens, tags, strict=True)]


def pieces_of(record: Mapping[str, Any]) -> str | None:
    """Return the name of a field that holds a text in pieces, of which some have a type, as of Snips; or ``None``."""
    if field_of_text(record) is not None:
        return None
    for name in named(record, _OF_PIECES):
        pieces = record[name]
        if some(pieces, dict) and all(isinstance(one.get("text"), str) for one in pieces):
            typed = [any(isinstance(one[key], str) for key in named(one, _KINDS)) for one in pieces]
            texts = [one["text"] for one in pieces]
            blank = any(text != text.strip() for text in texts)
            # texts that begin and end with words are documents, of which some have a class
            whole = not blank and any(_MEETING.fullmatch(f"{a[-1:]}\n{b[:1]}") for a, b in pairwise(texts))
            if all(len(one) <= 6 for one in pieces) and (any(typed) and not all(typed)) and not whole:
                return name
    return None


def grouped(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return names in groups, of which each holds what pairs connect; all in the order of the names.

    >>> grouped("abcd", [("c", "a")])
    [['a', 'c'], ['b'], ['d']]
    """
    groups = {name: [name] for name in names}
    order = {name: number for number, name in enumerate(groups)}
    for one, other in pairs:
        smaller, larger = sorted((groups[one], groups[other]), key=len)
        if smaller is not larger:  # so few names move that any chain of pairs takes nearly linear time
            larger += smaller
            groups |= dict.fromkeys(smaller, larger)
    return [sorted(group, key=order.__getitem__) for group in {id(group): group for group in groups.values()}.values()]


def _side(record: Mapping[str, Any], role: str) -> str | None:
    """Return the field with a list of offsets of a role, such as ``starts``."""
    names = named(record, tuple(f"{one}{s}" for one in USUAL[role] for s in ("s", "es", "")))
    return next((name for name in names if some(record[name], int)), None)


def without(record: Mapping[str, Any], *names: str | None) -> dict[str, Any]:
    """Return a record without some of its fields."""
    return {name: value for name, value in record.items() if name not in names}
