"""Features of mentions for their attributes: words around and inside, cues and their distance, the verdict of rules.

Each mention has a fixed number of keys, of a bounded number of words: so a text without line breaks and a mention of
hundreds of words take linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np

from spanloom.attributes.found import Flags
from spanloom.attributes.lexicon import ATTRIBUTES, Pair, bundled
from spanloom.attributes.marking import Rules, verdict_table
from spanloom.attributes.places import BORDER
from spanloom.attributes.scope import Scopes
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


@cache
def pairs() -> tuple[Pair, ...]:
    """Return the pairs of attribute and value that the bundled cues of any language mark."""
    return tuple(dict.fromkeys(pair for cues in bundled().values() for pair in cues.table.pairs))


def mention_features(documents: Sequence[Document], rules: Rules) -> tuple[Keys, Floats]:
    """Return the features of the documents' M mentions, one after the other.

    Args:
        documents: with mentions.
        rules: whose cues and verdicts are features.

    Returns:
        keys of single features; and (M, 1 + G) a one, and `_TRUST` where the rules mark the mention with each of
        `pairs`: so few mentions are enough to learn that rules are mostly right.
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
    return Keys(np.concatenate([np.zeros(0, np.uint64), *ids]), np.append(0, sizes.cumsum())), numbers


def _table(scopes: Scopes, verdicts: Flags) -> UInt64:
    """Return (M, F) keys; 0 for a missing value."""
    documents, parts, batch, hashes = scopes.documents, scopes.parts, scopes.batch, scopes.hashes
    count = len(parts.ptr) - 1
    if not count or not len(hashes):
        return np.zeros((count, 0), np.uint64)
    most = len(hashes) - 1
    first = parts.first[parts.ptr[:-1]]
    end = np.maximum(parts.end[parts.ptr[1:] - 1], first + 1)  # also of one between words
    low = batch.sentences[scopes.sentence[np.minimum(first, most)]]
    high = batch.sentences[scopes.sentence[np.minimum(end - 1, most)] + 1]
    named = {mention.type: 0 for document in documents for mention in document.mentions}
    named = {name: hash_text(name) for name in named}
    kind = np.array([named[mention.type] for document in documents for mention in document.mentions], np.uint64)
    added: dict[int, list[tuple[Sequence[str], Sequence[np.ndarray]]]] = {1: [], 2: []}  # by the number of values

    def add(names: Sequence[str], *values: np.ndarray) -> None:
        """Add F features, with (F, M) of each value; a mention that lacks a value, 0, lacks the feature."""
        added[len(values)].append((names, values))

    def within(places: Int64, begin: Int64, stop: Int64) -> UInt64:
        """Return the words at some places; 0 outside the range."""
        return np.where((places >= begin) & (places < stop), hashes[np.clip(places, 0, most)], np.uint64(0))

    def around(places: Int64) -> UInt64:
        """Return the words at some places; an edge beside the sentence, 0 further away."""
        return np.where((places == low - 1) | (places == high), _EDGE, within(places, low, high))

    ends, steps, near = scopes.ends(-1), np.arange(1, _AROUND + 1)[:, None], range(1, _PLACES + 1)
    left, right = around(first - steps), around(end + steps - 1)
    bounds = ((np.maximum(first - steps, low), first), (end, np.minimum(end + steps - 1, high)))
    for side, words, (begin, stop) in zip(("left", "right"), (left, right), bounds, strict=True):
        add([f"{side}{k}" for k in near], words[:_PLACES])
        add([f"{side}{k}|{side}{k + 1}" for k in near], words[:_PLACES], words[1 : _PLACES + 1])
        apart = np.searchsorted(ends, stop) > np.searchsorted(ends, begin)
        add(
            [f"{side} clause"] * _AROUND + [side] * _AROUND,
            np.concatenate([np.where(apart, np.uint64(0), words), words]),
        )
    add(["left1|right1"], left[:1], right[:1])
    steps = np.arange(_WORDS)[:, None]
    own, last = within(first + steps, first, end), within(end - 1 - steps, first, end)
    gap = np.where(np.diff(parts.ptr) > 1, parts.end[parts.ptr[:-1]], -1)
    behind = np.where(gap >= 0, parts.first[np.minimum(parts.ptr[:-1] + 1, len(parts.first) - 1)], -1)
    add(["word"] * (2 * _WORDS) + ["first", "last"], np.concatenate([own, last, own[:1], last[:1]]))
    add(["gap"] * _WORDS, within(gap + steps, gap, behind))
    # the heading of each mention's section, or its name; "none" before the first
    headed = ["none" if one is None else one.section or one.words.casefold() for one in scopes.headings]
    section = np.array([hash_text(name) for name in headed], np.uint64)
    place, item = np.digitize(first - low, _BINS), 1 + np.isin(low, scopes.where(_MARKS))
    verdict = np.ones(count, np.int64)
    for there in verdicts.T:
        verdict = 2 * verdict + there
    add(["type", "place", "item", "section", "rules"], np.array([kind, place, item, section, verdict], np.uint64))
    add(["section|type", "rules|type"], np.array([section, verdict], np.uint64), np.array([kind, kind]))
    ruled = [f"{pair.attribute}={pair.value}" for pair in scopes.cues.table.pairs]
    ruled_values = 1 + verdicts.T
    add([f"rule {name}" for name in ruled], ruled_values)
    add([f"rule {name}|type" for name in ruled], ruled_values, np.broadcast_to(kind, ruled_values.shape))
    for side, of in (("before", scopes.before), ("after", scopes.after)):
        for close in (False, True):
            found = [of(number, close) for number in range(len(ruled))]
            distance, there, phrase = np.array([(one.distance, one.there, one.phrase) for one in found]).swapaxes(0, 1)
            cue = np.where(phrase >= 0, scopes.cues.table.words.keys[phrase], np.uint64(0))
            add([f"{side} {close} {name}" for name in ruled], 1 + np.digitize(distance, _BINS), 1 + there)
            add([f"{side} {close} {name} cue" for name in ruled], cue, 1 + there)
            if side == "before" and not close:
                begin = np.maximum(first - np.maximum(distance, 0), 0)
                items = np.searchsorted(scopes.separators, first) - np.searchsorted(scopes.separators, begin)
                add([f"items {name}" for name in ruled], 1 + np.minimum(items, 4), 1 + there)
    columns = []
    for features in added.values():
        names_of = [hash_text(name) >> 1 for names, _ in features for name in names]
        every = zip(*(values for _, values in features), strict=True)
        stacked = [np.concatenate(rows, dtype=np.uint64, casting="unsafe") for rows in every]
        key = mixed(np.repeat(np.array(names_of, np.int64), count), *(rows.ravel() for rows in stacked))
        key[np.logical_or.reduce([rows.ravel() == 0 for rows in stacked])] = 0
        columns.append(key.reshape(-1, count))
    table = np.concatenate(columns).T.copy()
    wordless = np.diff(batch.starts) == BORDER
    table[np.repeat(wordless, [len(one.mentions) for one in documents])] = 0
    return table
