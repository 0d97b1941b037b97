"""Records with a list of words and a list of tags, as most data sets for this task on the Hugging Face hub are.

Tags are BIO (IOB2), IOB1, BILOU or BIOES, or types without a letter, of which equal ones in a row are one mention.
They are words, or numbers whose names the file has (a Parquet file of `datasets`) or the user gives.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise, product
from typing import Any, Final

from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.base import altered
from spanloom.formats.blocks import TAG, stand_in
from spanloom.formats.column_layout import of_levels
from spanloom.formats.json_text import not_as_expected
from spanloom.formats.layouts import OF_TAGS, OF_TEXT, OF_WORDS, named
from spanloom.formats.tag_dialects import LETTERED, Tagging, invalid_tag, read_tag

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
        if other != name and _shape(record[name], str) == _shape(record[other], str | int) is not None:
            return name, other
    return None


def _shape(value: object, kind: Any) -> int | list[int] | None:
    """Return the length of a list, or of the list of each sentence; ``None`` if the items are of another kind."""
    if not isinstance(value, list) or not value:
        return None
    if _is_list(value, kind):
        return len(value)
    return list(map(len, value)) if all(_is_list(item, kind) for item in value) else None


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
        if not tags or not _is_list(tags, str) or not all(map(TAG.fullmatch, tags)):
            continue
        for words in (text.split(), list(text), [one for one in text if not one.isspace()]):
            if len(words) == len(tags):
                return {**record, name: tags, "tokens": words}
    return record


def _has_some(value: object, kind: Any) -> bool:
    """Return whether a value is an empty list, or one with an item of a kind; others are reported when it is read."""
    return isinstance(value, list) and (not value or any(isinstance(item, kind) for item in value))


def _is_list(value: object, kind: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


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
    if words and _is_list(words, list):
        lengths = list(map(len, words))
        words, tags = list(chain.from_iterable(words)), list(chain.from_iterable(tags))
    rest = {name: value for name, value in record.items() if name not in (words_field, tags_field)}
    try:
        _check_texts(words, words_field, "a word")
        if len(words) != len(tags):
            message = f"{tags_field} has {len(tags)} items, expected one for each of the {len(words)} of {words_field}"
            raise DataError(message)
        read = _read(tags, tags_field, problems, tagging) if mentions else [("O",)] * len(tags)
    except DataError as error:
        problems.append(Problem("error", "wrong field", error.message))
        return rest
    empty = [place for place, word in enumerate(words) if not word]
    if empty:
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
    return rest | _pos(rest, kept, len(words)) | native | {"mentions": mentions_found}


def _pos(rest: dict[str, Any], kept: list[int], length: int) -> dict[str, Any]:
    """Take the parts of speech out of the rest of the record, and return them as a column, if any."""
    name = next((name for name in _POS if _is_list(rest.get(name), str) and len(rest[name]) == length), None)
    if name is None or "columns" in rest:
        return {}
    values = rest.pop(name)
    return {"columns": {"pos": [values[place] for place in kept]}}


def _read(tags: list[Any], field: str, problems: list[Problem], tagging: Tagging) -> list[tuple[str, ...]]:
    """Return the tags of each word in the usual spelling.

    Raises:
        DataError: something else than tags.
    """
    number = next((tag for tag in tags if type(tag) is int), None)
    if number is not None:
        raise DataError(f"{field} holds the number {number}, which has no name; {_HOW}")
    _check_texts(tags, field, "a tag")
    dialect = tagging.see(tags)
    read = []
    for place, tag in enumerate(tags):
        one = read_tag(tag, dialect)
        if one is None or not tag or _NO_TYPE.fullmatch(tag):
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
    wrong = next((place for place, value in enumerate(values) if not isinstance(value, str)), None)
    if wrong is not None:
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
