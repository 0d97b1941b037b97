"""Patterns of mentions, and all ranges of a text that a regular expression matches, read once from left to right.

Python's `re` finds one match from a place, not all ends; to ask it for each range takes a time that grows with the
square of the length, times that of a match. The expressions that mean a set of texts alone, without assertions and
references, are finite automata, which know all ends of all places at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.document.document import named
from spanloom.errors import DataError, UsageError, clip
from spanloom.structures.base import MentionTable, concatenate, contiguous_table
from spanloom.text.expressions import Expression, ExpressionError, State

MOST_RANGES: Final = 500_000  # of tokens of a document that match one expression, once a type, about 1 kB each
ANY: Final = "*"
_FLAGS: Final = re.compile(r"\A\(\?[aimsux]+\)")
_FEW: Final = 40  # tokens of a sentence, up to which trying each range is faster


def automaton_of(expression: re.Pattern[str]) -> Expression | None:
    """Return the automaton of an expression; ``None`` if it is more than one."""
    if expression.flags & (re.VERBOSE | re.LOCALE):
        return None
    try:
        return Expression(_FLAGS.sub("", expression.pattern), expression.flags & ~re.DEBUG)
    except ExpressionError:
        return None


def ranges(
    expression: re.Pattern[str], automaton: Expression | None, text: str, tokens: Sequence[Sequence[int]]
) -> Iterator[tuple[list[int], int]]:
    """Yield the ranges of tokens of which an expression matches the whole text: the starts of those with one end.

    Args:
        expression: of which it is the automaton.
        automaton: without one, and in short sentences, each range is tried.
        text: the text.
        tokens: start and end of each, in order.
    """
    if automaton is None or len(tokens) <= _FEW:
        match = expression.fullmatch
        for i, (_, end) in enumerate(tokens, 1):
            yield [start for start, _ in tokens[:i] if match(text, start, end)], end
        return
    starts, ends = {start for start, _ in tokens}, {end for _, end in tokens}
    live: dict[State, list[int]] = {}  # where matches that are in a state have begun
    for at in range(tokens[0][0], tokens[-1][1]):
        if at in starts:
            live.setdefault(automaton.whole, []).append(at)
        moved: dict[State, list[int]] = {}
        for state, begins in live.items():
            following = automaton.step(state, text[at])
            if following in moved:
                few, many = sorted((moved[following], begins), key=len)
                many += few
                moved[following] = many
            elif following:
                moved[following] = begins
        live = moved
        if at + 1 in ends:
            yield [start for state, begins in live.items() if automaton.ends(state) for start in begins], at + 1


class Pattern(NamedTuple):
    """Text whose mentions are required or forbidden.

    Args:
        spec: the entry.
        type: of the mentions; any if ``*``.
        expression: of their text.
        word: the longest word of the text; empty if it is a regular expression.
        automaton: of the regular expression; ``None`` if it has none.
    """

    spec: str
    type: str
    expression: re.Pattern[str]
    word: str
    automaton: Expression | None = None

    def occurrences(self, document: Document) -> Iterator[tuple[int, int]]:
        """Yield the characters of all occurrences in a text that are whole words."""
        body, flags = _FLAGS.sub("", self.expression.pattern), self.expression.flags
        end = "\n" if flags & re.VERBOSE else ""  # of a comment
        whole = re.compile(rf"(?<!\w)(?:{body}{end})(?!\w)", flags)
        yield from (match.span() for match in whole.finditer(document.text) if match.end() > match.start())

    def mentions(self, document: Document, types: int) -> Iterator[tuple[int, int]]:
        """Yield the characters of all ranges of tokens of a sentence whose text it is, each a mention of some types."""
        if self.word:
            yield from (match.span() for match in self.expression.finditer(document.text))
            return
        yield from ((start, end) for starts, end in self.matches(document, types) for start in starts)

    def matches(self, document: Document, types: int) -> Iterator[tuple[list[int], int]]:
        """Yield the `ranges` of the sentences of a document, each a mention of some types.

        Raises:
            DataError: they are too many, as of ``.*`` in a sentence of thousands of tokens.
        """
        if document.tokens is None or document.sentences is None:
            return
        found = 0
        for first, end in document.sentences.tolist():
            tokens = document.tokens[first:end].tolist()
            for starts, stop in ranges(self.expression, self.automaton, document.text, tokens):
                found += len(starts)
                if found * types > MOST_RANGES:
                    raise DataError(
                        f"{named(document)}: {clip(self.spec)} matches more than {MOST_RANGES // types:,} "
                        "ranges of tokens; name shorter ones, as by '.{1,80}' in place of '.*', give one type in place "
                        "of '*', or give the sentences"
                    )
                yield starts, stop

    def table(self, batch: Batch, types: Sequence[str]) -> MentionTable:
        """Return the mentions that `matches` means in a batch, as many as the square of a sentence's tokens."""
        kinds = np.array([k for k, name in enumerate(types) if self.type in (ANY, name)], np.int64)
        tables = [MentionTable.build([])]
        for i in range(len(batch.documents)):
            matches = [(starts, end) for starts, end in self.matches(batch.view(i), len(kinds)) if starts]
            if not matches:
                continue
            start = np.concatenate([np.array(starts, np.int64) for starts, _ in matches])
            end = np.repeat([end for _, end in matches], [len(starts) for starts, _ in matches])
            first, last = batch.token_ranges(np.full(len(start), i), np.stack([start, end], 1))
            sentence = np.searchsorted(batch.sentences, first, side="right") - 1
            base = batch.sentences[sentence]
            columns = (np.tile(own, len(kinds)) for own in (sentence, first - base, last - base))
            tables.append(contiguous_table(next(columns), np.repeat(kinds, len(start)), *columns))
        return concatenate(tables)


def pattern_of(spec: str, option: str, types: Sequence[str] = ()) -> Pattern | tuple[str, str]:
    """Return a pattern, or the types (inner, outer) of a rule.

    Args:
        spec: the entry.
        option: of which it is one.
        types: of the model, whose names may have colons.

    Raises:
        UsageError: it is neither.

    >>> pattern_of("problem: pain scale", "forbid").expression.pattern, pattern_of("drug inside problem", "forbid")
    ('pain\\\\s+scale', ('drug', 'problem'))
    >>> pattern_of("GO:BP: growth", "require", ["GO:BP", "GO:CC"]).type
    'GO:BP'
    """
    named = max((one for one in types if spec.lstrip().startswith(f"{one}:")), key=len, default=spec.partition(":")[0])
    name, colon, words = (part.strip() for part in (named, *spec.lstrip()[len(named.lstrip()) :].partition(":")[1:]))
    inner, inside, outer = (part.strip() for part in spec.partition(" inside "))
    if inside and option == "forbid" and (not colon or {inner, outer} <= {ANY, *types}):
        return inner, outer
    if not (name and words):
        rule = ", or as in 'drug inside problem'" if option == "forbid" else ""
        raise UsageError(
            f"{option}: {spec!r}, expected a type and words, 'problem: pain scale' or 'problem: /regex/'{rule}"
        )
    if len(words) > 2 and words[0] == words[-1] == "/":
        try:
            expression = re.compile(words[1:-1])
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"{option}: {clip(spec)} is no regular expression: {error}") from None
        return Pattern(spec, name, expression, "", automaton_of(expression))
    return Pattern(spec, name, re.compile(r"\s+".join(map(re.escape, words.split()))), max(words.split(), key=len))
