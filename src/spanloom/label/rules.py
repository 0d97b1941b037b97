"""Label rules: the contents of a TOML file, which are checked before any text is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeVar, get_args
from warnings import warn

from spanloom.errors import DataError, DataWarning, UsageError, clip, plural
from spanloom.files.walk import read_toml, shown_value
from spanloom.formats.source import decode, raw_lines
from spanloom.label.expressions import REPEATS, Condition, Element, Repeat
from spanloom.label.matches import MATCHES, OVERLAPS, FoldedPhrases, Match, Overlaps, words_of
from spanloom.text.expressions import Expression, ExpressionError
from spanloom.vocabulary import VOCABULARY_FORMATS, read_vocabulary
from spanloom.vocabulary.json_records import is_pattern, json_objects, names_of, shown

Vote = Literal["for", "against"]
"""Whether a match of a rule is a mention of its type, or is not."""
VOTES: Final[tuple[Vote, ...]] = get_args(Vote)
Kind = Literal["phrases", "vocabulary", "pattern", "gapped"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
WEIGHT: Final = 0.8
GAP: Final = 5
SHORTEST: Final = 3
LIMIT: Final = 1000  # of numbers of words
_COMMON: Final = ("name", "kind", "type", "vote", "weight", "annotator", "match", "context", "without")
_LISTS: Final = ("phrases", "file")
_KEYS: Final[dict[Kind, tuple[str, ...]]] = {
    "phrases": (*_COMMON, *_LISTS, "overlaps"),
    "vocabulary": (*_COMMON, "file", "format", "columns", "categories", "shortest", "overlaps"),
    "pattern": (*_COMMON, "pattern", "overlaps"),
    "gapped": (*_COMMON, *_LISTS, "gap", "overlaps"),
}
_CONTEXT: Final = ("words", "file", "before", "after")
_ELEMENT: Final = ("text", "repeat", "any", "not")
_DEEP: Final = 10
_Source = str | Path | Mapping[str, object]
_One = TypeVar("_One", bound=str)


@dataclass(frozen=True, slots=True)
class Context:
    """Words of which one must be near a match, or none may be.

    Args:
        words: in the form in which they are compared.
        before, after: the number of tokens of the same sentence that are searched on each side.
        required: whether a word is required.
    """

    words: frozenset[str]
    before: int
    after: int
    required: bool


@dataclass(frozen=True, slots=True)
class LabelRule:
    """A rule: its patterns, and the weight of its matches.

    Args:
        name: its name.
        kind: ``phrases``, ``vocabulary``, ``pattern`` or ``gapped``.
        type: of the mentions.
        vote: ``for`` or ``against``.
        weight: the probability that the vote for a match is right, between 0 and 1.
        annotator: the group of the rule; its name by default.
        match: how words are compared.
        overlaps: which of its overlapping matches are kept.
        phrases: of a rule of phrases, of a vocabulary, or with gaps.
        patterns: alternatives of a rule with a pattern.
        gap: the maximum number of words between two parts.
        contexts: the words that must or must not be near a match.
    """

    name: str
    kind: Kind
    type: str
    vote: Vote
    weight: float
    annotator: str
    match: Match
    overlaps: Overlaps
    phrases: tuple[str, ...] = ()
    patterns: tuple[tuple[Element, ...], ...] = ()
    gap: int = GAP
    contexts: tuple[Context, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelRules:
    """Rules; made by `read_label_rules`.

    Args:
        rules: in the order of their file.
        overlaps: which of the mentions of one type stay where they overlap: all, or the longest.
    """

    rules: tuple[LabelRule, ...]
    overlaps: Overlaps = "all"

    def annotators(self) -> dict[str, tuple[int, ...]]:
        """Return the numbers of the rules of each group that votes for something, in the order of the file."""
        found: dict[str, tuple[int, ...]] = {}
        for number, rule in enumerate(self.rules):
            found[rule.annotator] = (*found.get(rule.annotator, ()), number)
        return {name: own for name, own in found.items() if any(self.rules[number].vote == "for" for number in own)}


def read_label_rules(source: _Source) -> LabelRules:
    """Read rules from a TOML file with tables ``[[rule]]``, from a mapping of the same form, or from spaCy's patterns.

    In patterns, JSON or JSON lines, texts and conditions on letters (``LOWER``, ``ORTH``, ``TEXT``) are phrases; a
    `DataWarning` counts those that are not read.

    File names in the rules are relative to the folder of the TOML file; in a mapping, to the current folder.

    Raises:
        DataError: an invalid value in a file, with the rule and the key; or a file in the rules cannot be read.
        UsageError: an invalid value in a mapping, or the file cannot be read.

    >>> rules = read_label_rules({"rule": [{"kind": "phrases", "type": "drug", "phrases": ["aspirin"]}]})
    >>> rules.rules[0].name, rules.rules[0].weight, rules.rules[0].match
    ('phrases-1', 0.8, 'lower')
    """
    path = None if isinstance(source, Mapping) else Path(source)
    if path is not None and path.suffix.lower() in (".jsonl", ".json"):
        given: Mapping[str, object] = {"rule": _of_patterns(path)}
    else:
        given = source if isinstance(source, Mapping) else read_toml(source, "rules", "tables [[rule]]")
    reader = _Reader(path)
    unknown = [name for name in given if name not in ("rule", "overlaps")]
    tables = given.get("rule")
    if unknown or not (isinstance(tables, list | tuple) and tables and all(isinstance(one, Mapping) for one in tables)):
        found = f"found {clip(str(unknown[0]))}" if unknown else "found no rule"
        reader.fail(f"{found}, expected one table [[rule]] or more, and perhaps overlaps before them")
    overlaps = reader.one(given, "overlaps", OVERLAPS, "all")
    rules: list[LabelRule] = []
    for number, table in enumerate(tables, 1):
        rule = reader.rule(number, table)
        if any(rule.name == other.name for other in rules):
            reader.fail("another rule has this name; give each a name of its own")
        rules.append(rule)
    return LabelRules(tuple(rules), overlaps)


def _of_patterns(path: Path) -> list[dict[str, object]]:
    """Return a rule for the patterns of each label that ignore letter case, and one for the others.

    Raises:
        DataError: no JSON, or something else than patterns.
    """
    phrases: dict[tuple[str, Match], list[str]] = {}
    unread: list[str] = []
    for line, place, one in json_objects(path):
        label = one.get("label")
        if not is_pattern(one) or not isinstance(label, str):
            message = 'expected patterns such as {"label": "DRUG", "pattern": "aspirin"}, or a TOML file of rules'
            raise DataError(f"{place}found the fields {clip(', '.join(one))}, {message}", path=path, line=line)
        found = names_of(one["pattern"])
        names = [] if found is None else [name for name in found.names if words_of(name)]
        if found is None or not names:
            unread.append(shown(one))
        else:
            phrases.setdefault((label, "lower" if found.lower else "exact"), []).extend(names)
    if unread:
        message = f"{path}: {plural(len(unread), 'pattern')} that cannot be read as phrases, such as {unread[0]}"
        warn(f"{message}; write them as a rule of the kind pattern in a TOML file", DataWarning, stacklevel=3)
    return [
        {"name": f"{label} ({match})", "annotator": label, "kind": "phrases", "type": label, "match": match,
         "phrases": list(dict.fromkeys(names))}
        for (label, match), names in phrases.items()
    ]  # fmt: skip


class _Reader:
    """Checks one rule after the other; an error names the file, the rule and the key.

    Args:
        path: the file; ``None`` of a mapping.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rule = ""

    def fail(self, message: str, key: str = "") -> NoReturn:
        """Raise the error."""
        text = ": ".join(part for part in (self._rule, key, message) if part)
        if self._path is None:
            raise UsageError(f"label rules: {text}")
        raise DataError(text, path=self._path)

    def _expect(self, good: object, found: object, expected: str, key: str) -> None:
        if not good:
            self.fail(f"found {shown_value(found)}, expected {expected}", key)

    def rule(self, number: int, table: Mapping[str, Any]) -> LabelRule:
        """Return a rule."""
        self._rule = f"rule {number}"
        if isinstance(table.get("name"), str) and table["name"]:
            self._rule += f" ({clip(table['name'], 40)})"
        kind = self.one(table, "kind", KINDS)
        self._known(table, _KEYS[kind], f"a rule of the kind {kind}")
        match = self.one(table, "match", MATCHES, "folded" if kind == "vocabulary" else "lower")
        if match not in ("exact", "lower") and kind in ("pattern", "gapped"):
            self.fail(f"found {match!r}, expected exact or lower; a rule of the kind {kind} folds no words", "match")
        name = self._text(table, "name", f"{kind}-{number}")
        phrases: tuple[str, ...] = ()
        if kind == "vocabulary":
            phrases = self._names(table)
        elif kind != "pattern":
            phrases = self._phrases(table, kind, match)
        found = table.get("weight", WEIGHT)
        good = isinstance(found, int | float) and not isinstance(found, bool) and 0 < found < 1
        self._expect(good, found, "a probability above 0 and below 1", "weight")
        return LabelRule(
            name=name,
            kind=kind,
            type=self._text(table, "type"),
            vote=self.one(table, "vote", VOTES, "for"),
            weight=float(found),
            annotator=self._text(table, "annotator", name),
            match=match,
            overlaps=self.one(table, "overlaps", OVERLAPS, "longest"),
            phrases=phrases,
            patterns=self._patterns(table, match) if kind == "pattern" else (),
            gap=self._number(table, "gap", GAP),
            contexts=tuple(self._contexts(table, match)),
        )

    def _known(self, table: Mapping[str, Any], keys: Collection[str], what: str, key: str = "") -> None:
        for found in table:
            if found not in keys:
                self.fail(f"found the key {clip(str(found))}; {what} takes {', '.join(keys)}", key)

    def one(self, table: Mapping[str, Any], key: str, values: Sequence[_One], default: _One | None = None) -> _One:
        """Return one of some values."""
        found = table.get(key, default)
        self._expect(found in values, found, f"{', '.join(values[:-1])} or {values[-1]}", key)
        return values[values.index(found)]

    def _text(self, table: Mapping[str, Any], key: str, default: str | None = None) -> str:
        found: Any = table.get(key, default)
        self._expect(isinstance(found, str) and found.strip(), found, "a text that is not empty", key)
        return str(found)

    def _number(self, table: Mapping[str, Any], key: str, default: int, place: str = "") -> int:
        found = table.get(key, default)
        good = isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= LIMIT
        self._expect(good, found, f"a whole number from 0 to {LIMIT}", place + key)
        return int(found)

    def _phrases(self, table: Mapping[str, Any], kind: Kind, match: Match) -> tuple[str, ...]:
        found = self._list(table, "phrases")
        for phrase in found:
            parts = parts_of(phrase) if kind == "gapped" else [phrase]
            if not all(words_of(part) for part in parts):
                self.fail(f"found {clip(phrase)}, expected words in every phrase and every part of it", "phrases")
            if kind == "gapped" and len(parts) < 2:
                self.fail(f"found {clip(phrase)}, expected parts with ... between, as in 'pain ... chest'", "phrases")
        if match in ("folded", "loose"):
            for number in FoldedPhrases(found, match).empty.tolist():
                self.fail(
                    f"{clip(found[number])} folds to nothing and would never be found; give it to a rule with "
                    "match = \"lower\"", "phrases"
                )  # fmt: skip
        return found

    def _list(self, table: Mapping[str, Any], key: str, place: str = "") -> tuple[str, ...]:
        """Return the texts under a key, or the lines of a file."""
        if (key in table) == ("file" in table):
            self.fail(f"found {'both' if key in table else 'neither'}, expected {key} or file", place + f"{key}, file")
        found = table[key] if key in table else self._lines(table, place)
        good = isinstance(found, list | tuple) and found and all(isinstance(one, str) for one in found)
        self._expect(good, found, "a list of texts that is not empty", place + key)
        return tuple(dict.fromkeys(found))

    def _file(self, table: Mapping[str, Any], place: str = "") -> Path:
        name: Any = table.get("file")
        self._expect(isinstance(name, str) and name and "\0" not in name, name, "the name of a file", place + "file")
        return Path(name) if self._path is None else self._path.parent / name

    def _lines(self, table: Mapping[str, Any], place: str) -> list[str]:
        path = self._file(table, place)
        try:
            lines = [decode(raw, path, number).strip() for number, raw in raw_lines(path)]
        except DataError as error:
            self.fail(str(error), place + "file")
        found = [line for line in lines if line]
        if not found:
            self.fail(f"{clip(str(path))} is empty, expected one phrase a line", place + "file")
        return found

    def _names(self, table: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of a vocabulary's concepts, perhaps of some categories."""
        if "format" in table:
            self.one(table, "format", VOCABULARY_FORMATS)
        categories = table.get("categories")
        if categories is not None:
            categories = set(self._list({"categories": categories}, "categories"))
        shortest = self._number(table, "shortest", SHORTEST)
        path = self._file(table)
        columns = table.get("columns")
        expected = "a table or text such as id=cui,name=str"
        self._expect(columns is None or isinstance(columns, str | Mapping), columns, expected, "columns")
        vocabulary = read_vocabulary(path, table.get("format"), columns=columns)
        names = dict.fromkeys(
            name
            for concept in vocabulary
            if categories is None or not categories.isdisjoint(concept.category.split("|"))
            for name in concept.names
            if len(name) >= shortest and any(map(str.isalnum, name))
        )
        if not names:
            kept = "" if categories is None else f" of the categories {', '.join(sorted(categories))}"
            self.fail(f"found no name{kept} of {shortest} characters or more in {clip(str(path))}", "file")
        return tuple(names)

    def _patterns(self, table: Mapping[str, Any], match: Match) -> tuple[tuple[Element, ...], ...]:
        found: Any = table.get("pattern")
        good = isinstance(found, list | tuple) and found
        self._expect(good, found, "a list of elements, or of such lists", "pattern")
        several = [isinstance(one, list | tuple) for one in found]
        if any(several) != all(several):
            self.fail("found elements beside lists of elements, expected one pattern, or a list of patterns", "pattern")
        patterns = [list(one) for one in found] if several[0] else [list(found)]
        if not all(patterns):
            self.fail("found a pattern without elements", "pattern")
        read: list[tuple[Element, ...]] = []
        for n, pattern in enumerate(patterns, 1):
            place = f"pattern, {f'alternative {n}, ' * several[0]}element"
            read.append(tuple(self._element(one, f"{place} {i}", match) for i, one in enumerate(pattern, 1)))
        return tuple(read)

    def _element(self, given: Any, place: str, match: Match) -> Element:
        repeat: Repeat = ""
        if isinstance(given, Mapping) and "repeat" in given:
            repeat = given["repeat"]
            self._expect(repeat in REPEATS[1:], repeat, "?, * or +", f"{place}, repeat")
            given = {key: value for key, value in given.items() if key != "repeat"}
        return Element(self._condition(given, place, match), repeat)

    def _condition(self, given: Any, place: str, match: Match, deep: int = 0) -> Condition:
        if isinstance(given, str):
            return Condition(self._expression(given, place, match))
        good = isinstance(given, Mapping) and deep <= _DEEP
        self._expect(good, given, "a regular expression, or a table with conditions", place)
        if "repeat" in given:
            self.fail("repeat is within any; expected it beside any", place)
        options, negated = given.get("any", ()), given.get("not", False)
        good = isinstance(options, list | tuple) and ("any" not in given or len(options) > 0)
        self._expect(good, options, "a list of conditions", f"{place}, any")
        self._expect(isinstance(negated, bool), negated, "true or false", f"{place}, not")
        text, columns = given.get("text"), [name for name in given if name not in _ELEMENT]
        return Condition(
            None if text is None else self._expression(text, f"{place}, text", match),
            tuple((str(name), self._expression(given[name], f"{place}, {name}", "exact")) for name in columns),
            tuple(self._condition(one, f"{place}, any {n}", match, deep + 1) for n, one in enumerate(options, 1)),
            negated,
        )

    def _expression(self, given: Any, place: str, match: Match) -> Expression:
        self._expect(isinstance(given, str) and given, given, "a regular expression", place)
        try:
            return Expression(given, re.IGNORECASE if match == "lower" else 0)
        except ExpressionError as error:
            self.fail(f"{clip(given)}: {error}", place)

    def _contexts(self, table: Mapping[str, Any], match: Match) -> list[Context]:
        found = []
        fold: Callable[[str], str] = str if match == "exact" else str.casefold
        for key in ("context", "without"):
            if key not in table:
                continue
            given = table[key]
            self._expect(isinstance(given, Mapping), given, f"a table with {', '.join(_CONTEXT)}", key)
            self._known(given, _CONTEXT, "it", key)
            words = self._list(given, "words", f"{key}, ")
            for word in words:
                if len(words_of(word)) != 1:
                    self.fail(f"found {clip(word)}, which is no single token", f"{key}, words")
            before, after = (
                self._number(given, side, 0 if {"before", "after"} & given.keys() else GAP, f"{key}, ")
                for side in ("before", "after")
            )
            if not before + after:
                self.fail("found 0 tokens before and after, expected some", key)
            found.append(Context(frozenset(map(fold, words)), before, after, key == "context"))
        return found


def parts_of(phrase: str) -> list[str]:
    """Return the parts of a phrase with gaps.

    >>> parts_of("pain ... in the … chest")
    ['pain', 'in the', 'chest']
    """
    return [part.strip() for part in phrase.replace("…", "...").split("...")]
