"""What the tests of structures share: short names for tables, and what the hyperedges of a sub-hypergraph mean."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np

from spanloom.hypergraph import Potentials, SubgraphEngine, reference
from spanloom.structures import STRUCTURES, MentionTable
from spanloom.structures.flagged import boundaries

TYPES = ("x", "y")
FLAGGED = ("mention_hypergraph", "separators", "separator_states")
CHAINS = ("bio", "bilou")
A_GAP = MentionTable.build([(0, 0, ((0, 1), (2, 3)))])
WITH_GAPS = tuple(name for name, structure in STRUCTURES.items() if structure.holds(A_GAP).all())
WITHOUT_GAPS = tuple(name for name in STRUCTURES if name not in (*WITH_GAPS, "heads"))


def every_range(length):
    return [(first, end) for first in range(length) for end in range(first + 1, length + 1)]


def every_set(length):
    ranges = every_range(length)
    return [chosen for size in range(len(ranges) + 1) for chosen in combinations(ranges, size)]


def table(mentions):
    """From (sentence, type, first, end); each is its own head."""
    rows = list(mentions)
    return MentionTable.build([(n, kind, ((first, end),)) for n, kind, first, end in rows], [row[2:] for row in rows])


def quads(mentions):
    """The other way; all mentions must have one range."""
    return [(n, kind, first, end) for n, kind, ((first, end),) in mentions.rows()]


def readings(found):
    """Every set of mentions of one sentence and one type that has exactly these boundaries, as sorted ranges."""
    every = [
        (first, end)
        for first, end in every_range(len(found.start))
        if found.start[first] and found.go_on[first : end - 1].all() and found.end[end - 1]
    ]
    for chosen in (chosen for size in range(len(every) + 1) for chosen in combinations(every, size)):
        again = boundaries(table((0, 0, *mention) for mention in chosen), offsets_of([len(found.start)]), 1)
        if all(np.array_equal(a, b) for a, b in zip(again, found, strict=True)):
            yield chosen


def offsets_of(lengths):
    return np.cumsum([0, *lengths])


def picks(edges):
    """(T, D) hyperedges of one sentence and one copy -> sorted choices, as the reference gives them."""
    return tuple(sorted((t, e) for t, row in enumerate(edges.tolist()) for e in row if e >= 0))


def laid(template, every, length):
    """(T, 1, D) hyperedges of sub-hypergraphs of one copy, each a sentence of so many tokens."""
    edges = np.full((len(every) * length, 1, SubgraphEngine(template).depth), -1, np.int16)
    for n, choices in enumerate(every):
        order = sorted(choices, key=lambda choice: template.kinds.index(template.edges[choice[1]].head))
        for t in range(length):
            own = [edge for token, edge in order if token == t]
            edges[n * length + t, 0, : len(own)] = own
    return edges


def random_potentials(template, tokens, lanes, seed, spread=2.0):
    rng = np.random.default_rng(seed)
    return Potentials(
        rng.normal(0, spread, (tokens, len(template.roles), lanes)).astype(np.float32),
        rng.normal(0, 1, (len(template.constants), lanes)).astype(np.float32),
    )


def lane_scores(template, given, offsets, n, lane):
    """(T, E) scores of one sentence and one copy, for the reference."""
    rows = given.roles[offsets[n] : offsets[n + 1], :, lane].tolist()
    constants = dict(zip(template.constants, given.constants[:, lane].tolist(), strict=True))
    return reference.edge_scores(template, [dict(zip(template.roles, row, strict=True)) for row in rows], constants)


@cache
def sub_hypergraphs(name, length):
    """Every sub-hypergraph with the mentions that have a path in it, as (type, first, end)."""
    template = STRUCTURES[name].template(TYPES)
    readers = {**dict.fromkeys(CHAINS, _chain_mentions), "semi_markov": _segments}
    read = readers.get(name, _flagged_mentions)
    return [
        (choices, read([(t, template.edges[e].label) for t, e in choices], length))
        for choices in reference.subgraphs(template, length)
    ]


_MEANING = {"T-X": "", "T-O": "", "T-I": "S", "T-S": "S", "A": "", "I-X": "E", "I-I": "C", "I-IX": "EC"}


def _flagged_mentions(labels, length):
    """A mention needs S at its first token, C at all but the last, E at the last; the type is that of the copy, 0."""
    said = set()
    for t, label in labels:
        if label in _MEANING:
            said |= {(t, letter) for letter in _MEANING[label]}
        else:  # a separator, alone or after the one before it: S speaks of the next token
            said |= {(t + (letter == "S"), letter) for letter in label.rpartition("-")[2]}
    return {
        (0, first, end)
        for first, end in every_range(length)
        if {(first, "S"), (end - 1, "E"), *((t, "C") for t in range(first, end - 1))} <= said
    }


def _chain_mentions(labels, length):
    """A mention is spelled by its tags, and no tag after it goes on."""
    tags = ["O"] * length
    for t, label in labels:
        if " " not in label:
            tags[t] = label
    found = set()
    for kind, first in product(range(len(TYPES)), range(length)):
        name = TYPES[kind]
        if tags[first] not in (f"B-{name}", f"U-{name}"):
            continue
        end = first + 1
        while end < length and tags[end] in (f"I-{name}", f"L-{name}"):
            end += 1
        found.add((kind, first, end))
    return found


def _segments(labels, length):
    """A mention goes from where one is begun to the next end."""
    begun = {t: TYPES.index(label.rpartition(", ")[2]) for t, label in labels if label.rpartition(", ")[2] in TYPES}
    ends = sorted(t for t, label in labels if label.endswith(" end"))
    return {(kind, t, next(end for end in ends if end >= t) + 1) for t, kind in begun.items()}
