"""Cues of attributes: phrases of a language, what they mark, and on which side; from TOML files.

A file has a table for each attribute, or for each value of one that is not just true or false::

    language = "en"                      # of which language; without it, of all
    [words]
    person = ["mother", "father"]        # lists that phrases name in braces
    [scope]
    ends = ["but"]                       # no cue reaches across these
    relations = ["effect on"]            # nor these; a cue behind is not about what they precede
    pseudo = ["dr ."]                    # neither a cue nor an end
    [negated]
    before = ["no", "not (seen|noted)"]  # cues before what they mark; one of several alternatives
    after = ["(is|was) absent", "no $"]  # cues behind it; with $ only at the end of a clause
    pseudo = ["no increase"]             # no cues, though they hold one
    [historical]
    sections = ["past_history"]          # whose mentions are
    unless = ["negated"]                 # but those that are that
    [experiencer.family]
    before = ["{person} had"]

In place of words there may be ``<number>`` (but 0), ``<year>``, ``<open>`` and ``<close>`` (brackets),
``<minus>`` (a sign in *- fever, - cough, + rash*, no hyphen).
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import DataError, clip, meant
from spanloom.files.walk import read_toml, shown_value
from spanloom.hashing import Int64, RangeTable, hashes
from spanloom.text import SECTIONS, tokenize

ATTRIBUTES: Final = ("negated", "uncertain", "historical", "experiencer")
"""The attributes that the bundled cues mark."""
KINDS: Final = ("before", "before_near", "after", "after_near", "inside", "pseudo", "ends", "relations")
"""What a phrase may be: a cue before or after mentions, of all that follow or of the same noun phrase only; a word of a
mention that is a cue; no cue; the end of what cues reach, also of those behind it if it is a relation."""
_SCOPE: Final = (
    "ends", "relations", "pseudo", "near_ends", "separators", "coordinators", "verbs", "prefixes", "negations",
    "subjects", "modifiers", "predicates", "actions", "answers", "questions", "heads", "subordinators", "relatives",
    "targets", "occurrences", "short_before", "short_after", "conjunctions", "genitives",
    "light_nouns", "inclusions", "locatives", "purposes", "qualities", "variants", "organs", "similar",
)  # fmt: skip
_RULES: Final = ("sections", "unless")
_OTHERS: Final = ("language", "stopwords", "script", "words", "scope", "headings")
_LANGUAGES: Final = ("en", "es", "zh")
_CLOSED: Final = "$"
MINUS: Final = "<minus>"
_PLACES: Final = {"<number>": "<number>", "<year>": "<year>", "<open>": "(", "<close>": ")", MINUS: MINUS}
_GROUP: Final = re.compile(r"\(([^()]*)\)|\{([^{}]*)\}")
_STRAY: Final = re.compile(r"[(){}|]")  # in a phrase without groups
_PLACE: Final = re.compile(r"\S*<[^\W\d]\S*")
_MOST: Final = 100_000  # phrases that one entry may stand for
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


class Pair(NamedTuple):
    """An attribute and a value that cues give it."""

    attribute: str
    value: bool | str


@lru_cache(1 << 16)
def compared(word: str) -> str:
    """Return the form of a word that is compared: without case and accents; numbers by their kind.

    >>> [compared(word) for word in ("Evidencia", "está", "12", "1998", "患")]
    ['evidencia', 'esta', '<number>', '<year>', '患']
    """
    if word.isdecimal() and word != "0":
        return "<year>" if _YEAR.fullmatch(word) else "<number>"
    low = word.casefold()
    if low.isascii():
        return low
    return "".join(c for c in unicodedata.normalize("NFD", low) if not unicodedata.combining(c)) or low


@dataclass(frozen=True)
class Cues:
    """The cues of a language, made by `read_cues` or `bundled`; ``+`` joins two.

    Args:
        language: its name; empty for cues of every language.
        phrases: words -> what they mean, by attribute and value, kind, and whether a clause must end behind them.
        scope: the words of ``near_ends``, ``separators``, ``coordinators``, ``verbs``, ``prefixes``, ``negations``,
            ``subjects``, ``modifiers``, ``predicates``, ``actions``, ``answers``, ``questions``, ``heads``,
            ``subordinators``, ``relatives``, ``targets``, ``occurrences``, ``short_before``, ``short_after``,
            ``conjunctions``, ``genitives``, ``locatives``, ``purposes``, ``qualities``, ``light_nouns``, ``variants``,
            ``organs``, ``similar`` and ``inclusions``.
        sections: name of a section -> what its mentions are.
        headings: name of a section -> regular expression of its headings, beside those of `spanloom.text.SECTIONS`.
        stopwords, script: by which texts in the language are known.
        unless: attribute -> attributes; a mention that has one of them does not get it.
    """

    language: str
    phrases: Mapping[tuple[str, ...], tuple[tuple[Pair | None, str, bool], ...]]
    scope: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sections: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    headings: Mapping[str, str] = field(default_factory=dict)
    stopwords: frozenset[str] = frozenset()
    script: str = ""
    unless: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __add__(self, more: Cues) -> Cues:
        """Return both; headings of the same section match either expression."""

        def joined(one: Mapping[str, frozenset[str]], other: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
            return {name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in {*one, *other}}

        phrases, sections, headings = dict(self.phrases), dict(self.sections), dict(self.headings)
        for words, meanings in more.phrases.items():
            phrases[words] = tuple(dict.fromkeys((*phrases.get(words, ()), *meanings)))
        for name, pairs in more.sections.items():
            sections[name] = tuple(dict.fromkeys((*sections.get(name, ()), *pairs)))
        for name, rule in more.headings.items():
            headings[name] = f"{headings[name]}|{rule}" if name in headings else rule
        scope = joined(self.scope, more.scope)
        return Cues(
            self.language, phrases, scope, sections, headings, self.stopwords | more.stopwords, self.script,
            joined(self.unless, more.unless),
        )  # fmt: skip

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that it has cues for, in the order of the files."""
        return tuple(dict.fromkeys(pair.attribute for pair in self.table.pairs))

    @cached_property
    def table(self) -> CueTable:
        """The phrases as arrays."""
        given = [pair for meanings in self.phrases.values() for pair, _, _ in meanings if pair is not None]
        given += [pair for pairs in self.sections.values() for pair in pairs]
        known = {name: i for i, name in enumerate(ATTRIBUTES)}
        pairs = tuple(sorted(dict.fromkeys(given), key=lambda pair: known.get(pair.attribute, len(known))))
        number = {pair: i for i, pair in enumerate(pairs)}
        phrases = list(self.phrases)
        sizes = np.array([len(words) for words in phrases], np.int64)
        table, places = RangeTable.of(hashes(list(chain.from_iterable(phrases))), sizes)
        kinds = {kind: i for i, kind in enumerate(KINDS)}
        own = [self.phrases[phrases[at]] for at in np.argsort(places).tolist()]
        listed = [(-1 if p is None else number[p], kinds[kind], closed) for held in own for p, kind, closed in held]
        roles, counts = np.array(listed, np.int64).reshape(-1, 3), list(map(len, own))
        role_ptr = np.append(0, np.cumsum(counts, dtype=np.int64))
        has = np.zeros((len(own), len(KINDS)), np.bool_)
        has[np.repeat(np.arange(len(own)), counts), roles[:, 1]] = True
        closed = np.array([all(closed for _, _, closed in held) for held in own], np.bool_)
        return CueTable(table, role_ptr, roles, pairs, has, closed)


class CueTable(NamedTuple):
    """Phrases as arrays.

    Args:
        words: of the phrases.
        role_ptr: (P + 1,) where the roles of each phrase begin.
        roles: (R, 3) of each the number of its pair, -1 for all, of its kind in `KINDS`, and whether a clause must end
            behind it.
        pairs: G of them.
        kinds: (P, 8) whether each phrase has a role of each kind.
        closed: (P,) whether a clause must end behind it in all its roles.
    """

    words: RangeTable
    role_ptr: Int64
    roles: Int64
    pairs: tuple[Pair, ...]
    kinds: NDArray[np.bool_]
    closed: NDArray[np.bool_]


@cache
def bundled() -> Mapping[str, Cues]:
    """Return the cues that come with Spanloom, by language: ``en``, ``es`` and ``zh``.

    >>> sorted(bundled()), bundled()["en"].attributes
    (['en', 'es', 'zh'], ('negated', 'uncertain', 'historical', 'experiencer'))
    """
    folder = files("spanloom.attributes") / "cues"
    texts = {name: (folder / f"{name}.toml").read_text(encoding="utf-8") for name in _LANGUAGES}
    return {name: _Reader(None).cues(tomllib.loads(text)) for name, text in texts.items()}


def read_cues(source: str | Path) -> Cues:
    """Read cues from a TOML file; see `spanloom.attributes.lexicon`.

    Args:
        source: the file.

    Raises:
        UsageError: it cannot be read.
        DataError: it holds something else than cues.
    """
    return _Reader(source).cues(read_toml(source, "cues", "lists of phrases"))


class _Reader(NamedTuple):
    """A reader of one file, which names it in errors."""

    path: str | Path | None

    def cues(self, given: Mapping[str, object]) -> Cues:
        words = {name: self._texts(f"words.{name}", value) for name, value in self._table(given, "words").items()}
        try:
            TopologicalSorter(
                {name: re.findall(r"\{([^{}]*)\}", " ".join(texts)) for name, texts in words.items()}
            ).prepare()
        except CycleError as error:
            circle = " -> ".join(clip(name) for name in error.args[1])
            raise DataError(
                f"lists of [words] name each other in a circle: {circle}; expected words", path=self.path
            ) from None
        phrases: dict[tuple[str, ...], list[tuple[Pair | None, str, bool]]] = {}
        sections: dict[str, list[Pair]] = {}
        scope: dict[str, frozenset[str]] = {}
        unless: dict[str, frozenset[str]] = {}
        for name, value in self._table(given, "scope").items():
            if name not in _SCOPE:
                raise self._error(f"scope.{name}", "a name", _SCOPE)
            texts = self._texts(f"scope.{name}", value)
            if name in ("ends", "relations", "pseudo"):
                self._add(phrases, texts, None, name, words)
            else:
                several = next((text for text in texts if len(_words(text)) != 1), None)
                if several is not None:
                    raise DataError(f"scope.{name} has {clip(several)}, expected single words", path=self.path)
                scope[name] = frozenset(map(compared, texts))
        attributes = [name for name in given if name not in _OTHERS]
        for name in attributes:
            table = self._table(given, name)
            values = all(isinstance(value, Mapping) for value in table.values()) and bool(table)
            for value in table if values else (True,):
                pair = Pair(name, value)
                if not name.strip() or not str(value).strip():
                    raise DataError("a table's name is empty, expected that of an attribute or value", path=self.path)
                place, own = (f"{name}.{value}", self._table(table, str(value))) if values else (name, table)
                for kind, entry in own.items():
                    if kind not in (*KINDS, *_RULES):
                        raise self._error(f"{place}.{kind}", "a name", (*KINDS, *_RULES))
                    texts = self._texts(f"{place}.{kind}", entry)
                    if kind == "unless":
                        unless[name] = frozenset(texts)
                    elif kind == "sections":
                        for section in texts:
                            sections.setdefault(section, []).append(pair)
                    else:
                        self._add(phrases, texts, pair, kind, words)
        headings = self._table(given, "headings")
        for name, pairs in sections.items():
            self._among(f"{clip(pairs[0].attribute)[1:-1]}.sections", name, (*SECTIONS, *headings))
        for name, others in unless.items():
            for other in sorted(others):
                self._among(f"{clip(name)[1:-1]}.unless", other, dict.fromkeys((*ATTRIBUTES, *attributes)))
        for name, rule in headings.items():
            try:
                re.compile(rule, re.IGNORECASE)  # type: ignore[call-overload]
            except (re.error, TypeError, OverflowError, RecursionError):
                raise DataError(
                    f"headings.{name} is {shown_value(rule)}, expected a regular expression", path=self.path
                ) from None
        found = {name: given.get(name, "") for name in ("language", "script")}
        for name, value in found.items():
            if not isinstance(value, str):
                raise DataError(f"{name} is {shown_value(value)}, expected a text", path=self.path)
        if found["language"]:
            self._among("language", str(found["language"]), _LANGUAGES)
        return Cues(
            str(found["language"]), {key: tuple(dict.fromkeys(value)) for key, value in phrases.items()}, scope,
            {name: tuple(pairs) for name, pairs in sections.items()}, {n: str(rule) for n, rule in headings.items()},
            frozenset(map(compared, self._texts("stopwords", given.get("stopwords", [])))), str(found["script"]),
            unless,
        )  # fmt: skip

    def _table(self, given: Mapping[str, object], name: str) -> Mapping[str, object]:
        table = given.get(name, {})
        if not isinstance(table, Mapping):
            raise DataError(
                f"{clip(name)} is {shown_value(table)}, expected a table of lists of phrases", path=self.path
            )
        return table

    def _texts(self, place: str, given: object) -> Sequence[str]:
        if not isinstance(given, list) or not all(isinstance(one, str) and one.strip() for one in given):
            raise DataError(f"{place} is {shown_value(given)}, expected a list of phrases", path=self.path)
        return given

    def _among(self, place: str, name: str, known: Iterable[str]) -> None:
        if name not in (known := tuple(known)):
            listed = ", ".join(known)
            raise DataError(f"{place} is {clip(name)}, expected one of {listed}{meant(name, known)}", path=self.path)

    def _error(self, place: str, what: str, expected: Iterable[str]) -> DataError:
        return DataError(f"found {clip(place)}, expected {what} of {', '.join(expected)}", path=self.path)

    def _add(
        self, phrases: dict[tuple[str, ...], list[tuple[Pair | None, str, bool]]], texts: Sequence[str],
        pair: Pair | None, kind: str, words: Mapping[str, Sequence[str]],
    ) -> None:  # fmt: skip
        for text in texts:
            for number, plain in enumerate(self._expanded(text, words)):
                if number == _MOST:
                    raise DataError(f"{clip(text)} expands to more than {_MOST:,} phrases; give fewer", path=self.path)
                for place in _PLACE.findall(plain):
                    if place not in _PLACES:
                        listed = ", ".join(_PLACES)
                        raise DataError(
                            f"{clip(text)} has {clip(place)}, expected one of {listed} between spaces", path=self.path
                        )
                tokens = [word for chunk in plain.split() for word in _words(chunk)]
                closed = tokens[-1:] == [_CLOSED]
                tokens = tokens[: len(tokens) - closed]
                if not tokens:
                    raise DataError(f"the phrase {clip(text)} has no word; give it one", path=self.path)
                if _CLOSED in tokens or _STRAY.search(plain):
                    form = "(a|b) for alternatives, {list} for one of [words], $ only at the end, <open> for a bracket"
                    raise DataError(f"found {clip(text)}, expected {form}", path=self.path)
                phrases.setdefault(tuple(tokens), []).append((pair, kind, closed))

    def _expanded(self, text: str, words: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Yield a phrase with each choice of its alternatives."""
        waiting = [text]
        while waiting:
            made = waiting.pop()
            match = _GROUP.search(made)
            if match is None:
                yield made
                continue
            if match[2] is not None and match[2] not in words:
                raise DataError(f"{clip(text)} names the list {clip(match[2])}, which [words] lacks", path=self.path)
            choice = match[1].split("|") if match[1] is not None else words[match[2]]
            waiting += [f"{made[: match.start()]}{one}{made[match.end() :]}" for one in reversed(choice)]


@lru_cache(1 << 14)
def _words(chunk: str) -> tuple[str, ...]:
    """Return the words of a part of a phrase without white space, as they are compared."""
    if chunk == _CLOSED or chunk in _PLACES:
        return (_PLACES.get(chunk, chunk),)
    return tuple(compared(chunk[start:end]) for start, end in tokenize(chunk).tolist())
