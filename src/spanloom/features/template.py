"""Template language of features.

One template a line; the same text in Python, in the configuration file and in the model file::

    template  = "bias"                              a feature that every token has
              | place { "|" place }                 a conjunction: all these values together
              | column "[" range "]"                a template for each position in the range
              | "ngrams" "(" column "," range ")"   a conjunction for each n-gram that contains the token
              | "bag" "(" column "," int "," int ")"  each distinct value around the token, without its position
              | ("prefix" | "suffix" | "cluster") "(" range ")"  a template for each length
    place     = column "[" int "]"                  the column's value at this offset to the right, in tokens
    column    = name [ ":" int ]                    cut to this number of characters; to the last ones if negative
    range     = int [ ".." int ]                    both ends are included

The column ``vector`` has real numbers, one for each dimension of the word vectors, as in ``vector[-1..1]``;
conjunctions cannot contain it.

A template is expanded into *features*, `Conjunction` and `Bag`, whose own text is the seed of their hash: ``w[-1..0]``
is the same as the two lines ``w[-1]`` and ``w[0]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from spanloom.errors import UsageError, clip

REACH = 64  # how far from the token a template may look; bounds what a hostile template can cost
LONGEST_NGRAM = 8
_TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|([+-]?\d+)|(\.\.|[\[\]():,|])|(\S))")


@dataclass(frozen=True, slots=True)
class Column:
    """A column, optionally cut: ``pos:2`` is the first two characters, ``w:-3`` the last three; shorter ones stay."""

    name: str
    size: int = 0

    def __str__(self) -> str:
        return f"{self.name}:{self.size}" if self.size else self.name


@dataclass(frozen=True, slots=True)
class Place:
    """A column's value ``offset`` tokens to the right of the current token."""

    column: Column
    offset: int

    def __str__(self) -> str:
        return f"{self.column}[{self.offset}]"


@dataclass(frozen=True, slots=True)
class Conjunction:
    """One feature a token: the values at these places together; without places, a feature of every token."""

    places: tuple[Place, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns it reads."""
        return tuple(place.column for place in self.places)

    def __str__(self) -> str:
        return "|".join(map(str, self.places)) or "bias"


@dataclass(frozen=True, slots=True)
class Bag:
    """One feature for each distinct value among the tokens at ``first`` to ``last``, the current token left out."""

    column: Column
    first: int
    last: int

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns it reads."""
        return (self.column,)

    def __str__(self) -> str:
        return f"bag({self.column},{self.first},{self.last})"


Feature = Conjunction | Bag


@dataclass(frozen=True, slots=True)
class FeatureTemplate:
    """A line of the template language.

    Args:
        text: the line in canonical form; `parse` of it gives an equal template.
        features: the features that it expands to.
    """

    text: str
    features: tuple[Feature, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns it reads, each once."""
        return tuple(dict.fromkeys(column for feature in self.features for column in feature.columns))

    def __str__(self) -> str:
        return self.text


def parse(text: str) -> FeatureTemplate:
    """Parse a template.

    Raises:
        UsageError: not a template; names the position, what was found and what was expected.

    >>> [str(feature) for feature in parse("ngrams(w, 2..2)").features]
    ['w[-1]|w[0]', 'w[0]|w[1]']
    >>> str(parse(" w[ -1 ] | pos:2[0]"))
    'w[-1]|pos:2[0]'
    >>> parse("w[0")
    Traceback (most recent call last):
        ...
    spanloom.errors.UsageError: template 'w[0', character 4: found the end, expected ']'
    """
    return _TemplateParser(text).template()


def parse_all(source: str | Iterable[str]) -> tuple[FeatureTemplate, ...]:
    """Parse templates from lines; empty lines and comments after ``#`` are ignored.

    >>> [template.text for template in parse_all("bias\\n\\n# words\\nw[-1..1]")]
    ['bias', 'w[-1..1]']
    """
    lines = source.splitlines() if isinstance(source, str) else list(source)
    for line in lines:
        if not isinstance(line, str):
            raise UsageError(f"template {line!r}, expected text, such as 'w[0]'")
    stripped = (line.split("#", 1)[0].strip() for line in lines)
    return tuple(parse(line) for line in stripped if line)


class _TemplateParser:
    """Recursive-descent parser of a template; one method a rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.symbols = [
            (match.group(match.lastindex or 0), match.start(match.lastindex or 0)) for match in _TOKEN.finditer(text)
        ]
        self.at = 0

    def template(self) -> FeatureTemplate:
        name = self.peek()
        called = self.peek(1) == "("
        if name == "bias" and self.peek(1) == "":
            self.at += 1
            return FeatureTemplate("bias", (Conjunction(()),))
        if called and name in ("ngrams", "bag", "prefix", "suffix", "cluster"):
            self.at += 2
            result = {"ngrams": self.ngrams, "bag": self.bag}.get(name, lambda: self.affix(name))()
            self.expect(")")
        else:
            result = self.conjunction()
        if self.peek():
            self.fail("the end")
        return result

    def conjunction(self) -> FeatureTemplate:
        column = self.column()
        position = self.position
        self.expect("[")
        first, last = self.range(-REACH, REACH)
        self.expect("]")
        if first != last:
            if self.peek() == "|":
                raise UsageError(
                    f"template {clip(self.text)}, character {position + 1}: a range must be alone, "
                    "not in a conjunction; write one line for each position"
                )
            places = [Place(column, offset) for offset in range(first, last + 1)]
            return FeatureTemplate(f"{column}[{first}..{last}]", tuple(Conjunction((place,)) for place in places))
        places = [Place(column, first)]
        while self.peek() == "|":
            self.at += 1
            column = self.column()
            self.expect("[")
            places.append(Place(column, self.integer(-REACH, REACH)))
            self.expect("]")
        feature = Conjunction(tuple(places))
        return FeatureTemplate(str(feature), (feature,))

    def ngrams(self) -> FeatureTemplate:
        column = self.column()
        self.expect(",")
        shortest, longest = self.range(1, LONGEST_NGRAM)
        features = [
            Conjunction(tuple(Place(column, offset) for offset in range(first, first + size)))
            for size in range(shortest, longest + 1)
            for first in range(1 - size, 1)
        ]
        return FeatureTemplate(f"ngrams({column},{_range(shortest, longest)})", tuple(features))

    def bag(self) -> FeatureTemplate:
        column = self.column()
        self.expect(",")
        first = self.integer(-REACH, REACH)
        self.expect(",")
        feature = Bag(column, first, self.integer(first, REACH))
        return FeatureTemplate(str(feature), (feature,))

    def affix(self, name: str) -> FeatureTemplate:
        shortest, longest = self.range(1, REACH)
        columns = [Column(f"{name}{size}") for size in range(shortest, longest + 1)]
        features = tuple(Conjunction((Place(column, 0),)) for column in columns)
        return FeatureTemplate(f"{name}({_range(shortest, longest)})", features)

    def column(self) -> Column:
        name = self.peek()
        if not name[:1].isidentifier():
            self.fail("a column")
        self.at += 1
        if self.peek() != ":":
            return Column(name)
        self.at += 1
        size = self.integer(-REACH, REACH)
        if size == 0:
            self.at -= 1
            self.fail("a number of characters other than 0")
        return Column(name, size)

    def range(self, low: int, high: int) -> tuple[int, int]:
        first = self.integer(low, high)
        if self.peek() != "..":
            return first, first
        self.at += 1
        return first, self.integer(first, high)

    def integer(self, low: int, high: int) -> int:
        symbol = self.peek()
        if not re.fullmatch(r"[+-]?\d{1,9}", symbol) or not low <= int(symbol) <= high:
            self.fail(f"a number from {low} to {high}")
        self.at += 1
        return int(symbol)

    def expect(self, symbol: str) -> None:
        if self.peek() != symbol:
            self.fail(repr(symbol))
        self.at += 1

    def peek(self, ahead: int = 0) -> str:
        return self.symbols[self.at + ahead][0] if self.at + ahead < len(self.symbols) else ""

    @property
    def position(self) -> int:
        return self.symbols[self.at][1] if self.at < len(self.symbols) else len(self.text)

    def fail(self, expected: str) -> None:
        found = repr(self.peek()) if self.peek() else "the end"
        raise UsageError(
            f"template {clip(self.text)}, character {self.position + 1}: found {found}, expected {expected}"
        )


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}..{last}"
