"""Features of mentions for their attributes: words around and inside, cues and their distance, the verdict of rules.

Each mention has a fixed number of keys, of a bounded number of words: so a text without line breaks and a mention of
hundreds of words take linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from spanloom.attributes.lexicon import ATTRIBUTES, Pair, bundled
from spanloom.attributes.marking import Rules, verdict_table
from spanloom.attributes.scope import Flags, Scopes
from spanloom.document import Document
from spanloom.features import Keys
from spanloom.hashing import Int64, UInt64, hash_text, mixed
from spanloom.hypergraph import Floats

_PLACES: Final = 3  # words on either side, each with its distance
_AROUND: Final = 10  # words on either side, in any order
_WORDS: Final = 8  # first and last words of a mention
_BINS: Final = np.array([0, 1, 2, 3, 5, 9, 17])
_TRUST: Final = 2.0  # the number of a rule's verdict; the larger, the fewer mentions show that it is right
_EDGE: Final = np.uint64(3)  # in place of a word: the end of the sentence
_MARKS: Final = frozenset(("-", "*", "•", "–", "·", "○", "▪", "+", "#", "<number>"))


class MentionFeatures(NamedTuple):
    """Features of M mentions.

    Args:
        keys: of single features.
        numbers: (M, 1 + G) a one, and `_TRUST` where the rules mark the mention with each of `pairs`: so few mentions
            are enough to learn that rules are mostly right.
    """

    keys: Keys
    numbers: Floats


@cache
def pairs() -> tuple[Pair, ...]:
    """Return the pairs of attribute and value that the bundled cues of any language mark."""
    return tuple(dict.fromkeys(pair for cues in bundled().values() for pair in cues.table.pairs))


def mention_features(documents: Sequence[Document], rules: Rules) -> MentionFeatures:
    """Return the features of the documents' mentions, one after the other.

    Args:
        documents: with mentions.
        rules: whose cues and verdicts are features.
    """
    counts = [len(document.mentions) for document in documents]
    bounds = np.cumsum([0, *counts])
    numbers = np.zeros((bounds[-1], 1 + len(pairs())))
    numbers[:, 0] = 1
    ids: list[UInt64] = [np.zeros(0, np.uint64)] * len(documents)
    sizes = np.zeros(bounds[-1], np.int64)
    for cues, members in rules.groups(documents):
        scopes = Scopes([documents[i] for i in members], cues)
        verdicts = verdict_table(scopes, ATTRIBUTES)
        table = np.sort(_table(scopes, verdicts), axis=1)
        table[:, 1:][table[:, 1:] == table[:, :-1]] = 0  # each once
        rows = np.concatenate([np.zeros(0, np.int64), *(np.arange(bounds[i], bounds[i + 1]) for i in members)])
        known = [(1 + pairs().index(pair), number) for number, pair in enumerate(cues.table.pairs) if pair in pairs()]
        for column, number in known:
            numbers[rows, column] = _TRUST * verdicts[:, number]
        sizes[rows] = (table != 0).sum(1)
        for i, (first, end) in zip(members, pairwise(np.cumsum([0, *(counts[i] for i in members)])), strict=True):
            ids[i] = table[first:end][table[first:end] != 0]
    return MentionFeatures(Keys(np.concatenate([np.zeros(0, np.uint64), *ids]), np.append(0, sizes.cumsum())), numbers)


def _table(scopes: Scopes, verdicts: Flags) -> UInt64:
    """Return (M, F) keys; 0 for a missing value."""
    documents, parts, batch, hashes = scopes.documents, scopes.parts, scopes.batch, scopes.hashes
    count = len(parts.ptr) - 1
    if not count or not len(hashes):
        return np.zeros((count, 0), np.uint64)
    most = len(hashes) - 1
    first, end = parts.first[parts.ptr[:-1]], np.maximum(parts.end[parts.ptr[1:] - 1], 1)
    low = batch.sentences[scopes.sentence[np.minimum(first, most)]]
    high = batch.sentences[scopes.sentence[np.minimum(end - 1, most)] + 1]
    named = {mention.type: 0 for document in documents for mention in document.mentions}
    named = {name: hash_text(name) for name in named}
    kind = np.array([named[mention.type] for document in documents for mention in document.mentions], np.uint64)
    added: dict[int, list[tuple[str, tuple[np.ndarray, ...]]]] = {1: [], 2: []}  # by the number of values

    def add(name: str, *values: np.ndarray) -> None:
        """Add a feature; a mention that lacks a value, 0, lacks it."""
        added[len(values)].append((name, values))

    def word(places: Int64, begin: Int64, stop: Int64) -> UInt64:
        """Return the words at some places; an edge beside the range, 0 further away."""
        inside = (places >= begin) & (places < stop)
        beside = (places == begin - 1) | (places == stop)
        return np.where(inside, hashes[np.clip(places, 0, most)], np.where(beside, _EDGE, np.uint64(0)))

    ends = scopes.ends(-1)
    left = {k: word(first - k, low, high) for k in range(1, _AROUND + 1)}
    right = {k: word(end + k - 1, low, high) for k in range(1, _AROUND + 1)}
    for side, words in (("left", left), ("right", right)):
        for k in range(1, _PLACES + 1):
            add(f"{side}{k}", words[k])
            add(f"{side}{k}|{side}{k + 1}", words[k], words[k + 1])
        for k in range(1, _AROUND + 1):
            place = (np.maximum(first - k, low), first) if side == "left" else (end, np.minimum(end + k - 1, high))
            apart = np.searchsorted(ends, place[1]) > np.searchsorted(ends, place[0])
            add(f"{side} clause", np.where(apart, np.uint64(0), words[k]))
            add(f"{side}", words[k])
    add("left1|right1", left[1], right[1])
    for k in range(_WORDS):
        own = np.where(first + k < end, hashes[np.clip(first + k, 0, most)], np.uint64(0))
        last = np.where(end - 1 - k >= first, hashes[np.clip(end - 1 - k, 0, most)], np.uint64(0))
        add("word", own)
        add("word", last)
        if not k:
            add("first", own)
            add("last", last)
    gap = np.where(np.diff(parts.ptr) > 1, parts.end[parts.ptr[:-1]], -1)
    behind = np.where(gap >= 0, parts.first[np.minimum(parts.ptr[:-1] + 1, len(parts.first) - 1)], -1)
    for k in range(_WORDS):
        add("gap", np.where(gap + k < behind, hashes[np.clip(gap + k, 0, most)], np.uint64(0)))
    add("type", kind)
    add("place", np.digitize(first - low, _BINS))
    marked = np.isin(low, scopes.where(_MARKS))
    add("item", 1 + marked.astype(np.int64))
    # the heading of each mention's section, or its name; "none" before the first
    names = ["none" if one is None else one.section or one.words.casefold() for one in scopes.headings]
    section = np.array([hash_text(name) for name in names], np.uint64)
    add("section", section)
    add("section|type", section, kind)
    separators = scopes.separators
    verdict = np.ones(count, np.int64)
    for number, pair in enumerate(scopes.cues.table.pairs):
        name = f"{pair.attribute}={pair.value}"
        there = verdicts[:, number]
        verdict = 2 * verdict + there
        add(f"rule {name}", 1 + there.astype(np.int64))
        add(f"rule {name}|type", 1 + there.astype(np.int64), kind)
        for near in (False, True):
            for side, of in (("before", scopes.before), ("after", scopes.after)):
                cue = of(number, near)
                where = 1 + np.digitize(cue.distance, _BINS)
                phrase = np.where(cue.phrase >= 0, scopes.cues.table.words.keys[cue.phrase], np.uint64(0))
                add(f"{side} {near} {name}", where, 1 + cue.there.astype(np.int64))
                add(f"{side} {near} {name} cue", phrase, 1 + cue.there.astype(np.int64))
                if side == "before" and not near:
                    begin = np.maximum(first - np.maximum(cue.distance, 0), 0)
                    items = np.searchsorted(separators, first) - np.searchsorted(separators, begin)
                    add(f"items {name}", 1 + np.minimum(items, 4), 1 + cue.there.astype(np.int64))
    add("rules", verdict)
    add("rules|type", verdict, kind)
    columns = []
    for size, features in added.items():
        names_of = np.repeat(np.array([hash_text(name) >> 1 for name, _ in features], np.int64), count)
        stacked = [np.concatenate([values[i].astype(np.uint64) for _, values in features]) for i in range(size)]
        key = mixed(names_of, *stacked)
        key[np.logical_or.reduce([value == 0 for value in stacked])] = 0
        columns.append(key.reshape(-1, count))
    table = np.concatenate(columns).T.copy()
    table[np.repeat(np.diff(batch.starts) == 0, [len(one.mentions) for one in documents])] = 0  # no words, no features
    return table
