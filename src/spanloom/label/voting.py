"""Votes of rules on spans: log-odds summed, and what becomes a mention of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import exp, log
from typing import NamedTuple

from spanloom.label.matches import Ranges
from spanloom.label.rules import LabelRule

__all__ = ["Candidate", "ballot", "log_odds"]


class Candidate(NamedTuple):
    """A span of a type, and what rules say of it.

    Args:
        ranges: its tokens.
        type: its type.
        rules: the numbers of the rules that match it, ascending.
    """

    ranges: Ranges
    type: str
    rules: tuple[int, ...]

    def probability(self, rules: Sequence[LabelRule]) -> float:
        """Return the probability that it is a mention: one half before any vote, and the votes independent."""
        total = sum(log_odds(rules[number]) for number in self.rules)
        return 1 / (1 + exp(-total)) if total > -700 else 0.0

    def voted(self, rules: Sequence[LabelRule], vote: str) -> list[int]:
        """Return the rules that vote so."""
        return [number for number in self.rules if rules[number].vote == vote]


def log_odds(rule: LabelRule) -> float:
    """Return what a rule adds to the log-odds of a mention.

    >>> from spanloom.label import read_label_rules
    >>> given = {"kind": "phrases", "type": "drug", "phrases": ["aspirin"], "weight": 0.9}
    >>> one, other = read_label_rules({"rule": [given, {**given, "vote": "against"}]}).rules
    >>> round(log_odds(one), 3), round(log_odds(other), 3)
    (2.197, -2.197)
    """
    odds = log(rule.weight) - log(1 - rule.weight)
    return odds if rule.vote == "for" else -odds


def ballot(
    found: Sequence[Sequence[Ranges]], rules: Sequence[LabelRule], numbers: Collection[int]
) -> Iterator[Candidate]:
    """Yield the candidates of some rules in text order; spans of several types are as many candidates.

    Args:
        found: the matches of each rule.
        rules: all rules.
        numbers: those that vote.
    """
    votes: dict[tuple[Ranges, str], dict[int, None]] = {}
    for number in sorted(numbers):
        kind = rules[number].type
        for ranges in found[number]:
            votes.setdefault((ranges, kind), {})[number] = None
    for (ranges, kind), voters in sorted(votes.items(), key=lambda item: item[0]):
        yield Candidate(ranges, kind, tuple(voters))
