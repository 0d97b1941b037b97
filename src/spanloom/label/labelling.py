"""Documents labelled by rules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Batch, Document, Mention, batches, to_spans
from spanloom.document.annotation import STATUSES, Completeness
from spanloom.errors import DataError, UsageError, plural
from spanloom.formats.inputs import Given, documents_of, is_one
from spanloom.hashing import Int64
from spanloom.label.expressions import find_sequences
from spanloom.label.matches import (
    FoldedPhrases,
    GappedPhrases,
    LabelText,
    Matches,
    Ranges,
    WordPhrases,
    gapped,
    longest,
    words_of,
)
from spanloom.label.rules import Context, LabelRule, LabelRules, parts_of, read_label_rules
from spanloom.text import prepare_all

TOKENS = 50_000  # of a batch
MOST = 0.9  # of all tokens, in matches of one rule
JUDGED = 1000  # tokens, before a rule is refused for matching too much


@dataclass(slots=True)
class RuleCounts:
    """The matches of a rule.

    Args:
        name: the rule's.
        matches: their number.
        documents: with a match.
        overlaps: matches that share words with one of another rule.
        conflicts: matches for which another rule votes against the type, or for another type.
        tokens: in matches.
        lacking: column -> documents that lack it.
    """

    name: str
    matches: int = 0
    documents: int = 0
    overlaps: int = 0
    conflicts: int = 0
    tokens: int = 0
    lacking: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class LabelReport:
    """What came of labelling; filled while documents are taken.

    Args:
        rules: the counts of each rule.
        documents, tokens: labelled.
        mentions: written, over all annotators.
        against: spans that only rules against them match, which are left out.
        outvoted: spans that rules vote for, of a probability of one half or less.
        overlapped: spans that overlap a longer one of their type, where the rules leave these out.
    """

    rules: list[RuleCounts] = field(default_factory=list)
    documents: int = 0
    tokens: int = 0
    mentions: int = 0
    against: int = 0
    outvoted: int = 0
    overlapped: int = 0

    def warnings(self) -> list[str]:
        """Return a line for each rule that matches nothing."""
        found = []
        for rule in self.rules:
            for column, count in rule.lacking.items():
                found.append(f"rule {rule.name!r}: {plural(count, 'document')} without the column {column!r}")
            if not rule.matches:
                found.append(f"rule {rule.name!r} matches nothing; look at its words and at how they are compared")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the report, ready for JSON."""
        counts = {name: getattr(self, name) for name in self.__slots__ if name != "rules"}
        return {**counts, "rules": [rule.to_dict() for rule in self.rules], "warnings": self.warnings()}


def label(
    X: Given, rules: LabelRules | str | Path | Mapping[str, object], *, each: bool = False,
    annotation: Completeness = "at-least", report: LabelReport | None = None,
) -> Document | list[Document]:  # fmt: skip
    """Mark what rules match in a text or a document, which gives a document, or in several, which gives a list.

    With ``each`` it is a list in any case. The arguments, and what is raised, are those of `label_stream`.

    >>> rules = {"rule": [{"kind": "phrases", "type": "problem", "phrases": ["chest pain", "fever"], "weight": 0.9}]}
    >>> label("No fever. Chest pain.", rules).mentions
    [Mention('problem', [(3, 8)], score=0.9), Mention('problem', [(10, 20)], score=0.9)]
    """
    found = list(label_stream(X, rules, each=each, annotation=annotation, report=report))
    return found[0] if is_one(X) and not each else found


def label_stream(
    X: Given, rules: LabelRules | str | Path | Mapping[str, object], *, each: bool = False,
    annotation: Completeness = "at-least", report: LabelReport | None = None,
) -> Iterator[Document]:  # fmt: skip
    """Yield documents with the matches of rules in place of their own mentions; lazily, in batches.

    Each span that a rule of a type matches has the log-odds of its rules' weights, added for votes for it and
    subtracted for votes against it. Above a probability of one half it is a mention with that ``score``.
    ``meta["rules"]`` has for each mention the names of the rules that vote for it, ``meta["annotation"]`` has the
    completeness. With ``at-least``, a span with votes against it and a probability below one half is added to ``not``,
    unless ``each`` is set.

    Args:
        X: a text, a document, several of them, or a column of texts; missing tokens and sentences are computed.
        rules: as `read_label_rules` reads them.
        each: whether each annotator (a rule, or all with one ``annotator``) gives a separate document, with its name
            as ``meta["annotator"]``; those that only vote against give none.
        annotation: ``complete``, ``at-least`` or ``unknown``.
        report: is filled.

    Raises:
        DataError, UsageError: as of `read_label_rules`; during iteration, for a rule that matches nearly every token.
    """
    if annotation not in STATUSES:
        raise UsageError(f"annotation is {annotation!r}, expected {', '.join(STATUSES[:-1])} or {STATUSES[-1]}")
    ready = rules if isinstance(rules, LabelRules) else read_label_rules(rules)
    return _Labeller(ready, each, annotation, LabelReport() if report is None else report).stream(documents_of(X))


class _Candidate(NamedTuple):
    """A span with a type that rules vote on.

    Args:
        ranges: its tokens in the batch.
        type: its type.
        score: its probability, for a prior of one half and independent votes: a sum of log-odds.
        rules: the names of the rules that vote for it; empty if it is rejected.
    """

    ranges: Ranges
    type: str
    score: float
    rules: list[str]


class _Labeller:
    """Labels batch by batch."""

    def __init__(self, rules: LabelRules, each: bool, annotation: Completeness, report: LabelReport) -> None:
        self._rules = rules.rules
        self._finders = [Finder(rule) for rule in rules.rules]
        together: list[tuple[str | None, Sequence[int]]] = [(None, range(len(self._rules)))]
        self._groups = [*rules.annotators().items()] if each else together
        if each and not self._groups:
            raise UsageError("no rule votes for anything, so that there is no annotator; leave each (--each) out")
        self._annotation, self._report, self._overlaps = annotation, report, rules.overlaps
        self._denies = annotation == "at-least" and not each  # one of several annotators claims nothing
        self._types = {rule.type for rule in self._rules if rule.vote == "for"}  # training knows no others
        report.rules[:] = [RuleCounts(rule.name) for rule in self._rules]

    def stream(self, documents: Iterator[Document]) -> Iterator[Document]:
        """Yield documents as the rules annotate them."""
        for batch in map(Batch.of, batches(documents, TOKENS, prepare_all)):
            text = LabelText(batch)
            matches = [finder.find(text) for finder in self._finders]
            self._count(text, matches)
            found = [one.ranges() for one in matches]
            self._disagree(found)
            starts = batch.starts.tolist()
            shared = []
            for name, numbers in self._groups:
                by_document: list[list[_Candidate]] = [[] for _ in batch.documents]
                for one in self._decided(found, numbers):
                    by_document[bisect_right(starts, one.ranges[0][0]) - 1].append(one)
                shared.append((name, by_document))
            for number, document in enumerate(batch.documents):
                for name, candidates in shared:
                    yield self._document(document, candidates[number], starts[number], name)

    def _decided(self, found: Sequence[Sequence[Ranges]], numbers: Collection[int]) -> list[_Candidate]:
        """Return what rules make mentions, in text order, and what they reject; a span may have several types.

        Args:
            found: the matches of each rule.
            numbers: of the rules that vote.
        """
        votes: dict[tuple[Ranges, str], dict[int, None]] = {}
        for number in sorted(numbers):
            for ranges in found[number]:
                votes.setdefault((ranges, self._rules[number].type), {})[number] = None
        won, denied = list[_Candidate](), list[_Candidate]()
        for (ranges, kind), voters in sorted(votes.items(), key=lambda item: item[0]):
            own = [self._rules[number] for number in voters]
            odds = sum((log(one.weight) - log(1 - one.weight)) * (1 if one.vote == "for" else -1) for one in own)
            names = [one.name for one in own if one.vote == "for"]
            score = round(1 / (1 + exp(-odds)), 12) if odds > -700 else 0.0
            if score > 0.5 and names:
                won.append(_Candidate(ranges, kind, score, names))
                continue
            self._report.against += not names
            self._report.outvoted += bool(names)
            if score < 0.5 and kind in self._types and len(names) < len(voters):
                denied.append(_Candidate(ranges, kind, score, []))
        if self._overlaps == "longest":
            by_type = {kind: [one.ranges for one in won if one.type == kind] for kind in {one.type for one in won}}
            stay = {kind: set(longest(gapped(ranges)).ranges()) for kind, ranges in by_type.items()}
            self._report.overlapped += len(won) - sum(map(len, stay.values()))
            won = [one for one in won if one.ranges in stay[one.type]]
        return won + denied if self._denies else won

    def _document(self, document: Document, found: Sequence[_Candidate], start: int, annotator: str | None) -> Document:
        mentions, denied = [], []
        for one in found:
            own = to_spans(document, [(first - start, end - start) for first, end in one.ranges])
            if one.rules:
                mentions.append(Mention(one.type, own, score=one.score))
            else:
                denied.append({"spans": [list(span) for span in own], "types": [one.type]})
        self._report.mentions += len(mentions)
        annotation = {"default": self._annotation, "not": denied} if denied else self._annotation
        meta = {**document.meta, "annotation": annotation, "rules": [one.rules for one in found if one.rules]}
        meta.pop("annotator", None)  # of mentions that are not used
        if annotator is not None:
            meta["annotator"] = annotator
        return document.copy(mentions=mentions, meta=meta)

    def _count(self, text: LabelText, matches: Sequence[Matches]) -> None:
        """Count matches, documents and overlaps.

        Raises:
            DataError: a rule matches nearly every token.
        """
        self._report.documents += len(text.batch.documents)
        self._report.tokens += len(text)
        covered = [one.covered(len(text)) for one in matches]
        total = np.sum(covered, axis=0)
        for finder, counts, one, own in zip(self._finders, self._report.rules, matches, covered, strict=True):
            counts.matches += len(one)
            counts.documents += len(np.unique(np.searchsorted(text.batch.starts, one.first, side="right")))
            counts.overlaps += int((one.touching((total > own).astype(np.int64)) > 0).sum())
            counts.tokens += int(own.sum())
            for column in finder.columns:
                if lacking := sum(1 for _ in text.batch.lacking(column)):
                    counts.lacking[column] = counts.lacking.get(column, 0) + lacking
            if self._report.tokens >= JUDGED and counts.tokens > MOST * self._report.tokens:
                raise DataError(
                    f"rule {counts.name!r} matches {counts.tokens:,} of the first {self._report.tokens:,} tokens, "
                    "which is not informative; narrow what it matches"
                )

    def _disagree(self, found: Sequence[Sequence[Ranges]]) -> None:
        """Count conflicts."""
        annotation: dict[Ranges, list[int]] = {}
        for number, several in enumerate(found):
            for ranges in several:
                annotation.setdefault(ranges, []).append(number)
        for numbers in annotation.values():
            for number in numbers:
                mine, others = self._rules[number], [self._rules[other] for other in numbers]
                if any(
                    mine.vote != one.vote if mine.type == one.type else mine.vote == one.vote == "for" for one in others
                ):
                    self._report.rules[number].conflicts += 1


class Finder:
    """Finds the matches of a rule in batches.

    Args:
        rule: the rule.
    """

    def __init__(self, rule: LabelRule) -> None:
        self.rule = rule
        self._find: Callable[[LabelText], Matches] = lambda text: find_sequences(text, rule.patterns)
        if rule.kind == "gapped":
            parts = [[words_of(part) for part in parts_of(phrase)] for phrase in rule.phrases]
            self._find = GappedPhrases(parts, rule.gap, rule.match).find
        elif rule.kind != "pattern" and rule.match in ("folded", "loose"):
            self._find = FoldedPhrases(rule.phrases, rule.match, capitals=rule.kind == "vocabulary").find
        elif rule.kind != "pattern":
            self._find = WordPhrases([words_of(phrase) for phrase in rule.phrases], rule.match).find
        conditions = [element.condition for pattern in rule.patterns for element in pattern]
        self.columns = sorted(set[str]().union(*(one.column_names() for one in conditions)))

    def find(self, text: LabelText) -> Matches:
        """Return the matches of the rule in a batch."""
        found = self._find(text)
        for context in self.rule.contexts:
            found = found.take(np.flatnonzero(_near(text, found, context, self.rule) == context.required))
        return longest(found) if self.rule.overlaps == "longest" else found


def _near(text: LabelText, found: Matches, context: Context, rule: LabelRule) -> Int64:
    """Return (M,) whether a word of a context is near each match, in its sentence."""
    folded = rule.match != "exact"
    marked = text.where(lambda word: (word.casefold() if folded else word) in context.words)
    sums = np.append(0, marked.cumsum())
    first, end = found.first, found.end
    before = sums[first] - sums[np.maximum(first - context.before, text.begin[first])]
    after = sums[np.minimum(end + context.after, text.limit[end - 1])] - sums[end]
    return np.asarray(before + after > 0)
