"""What the tests of structures share: short names for tables, and what the hyperedges of a sub-hypergraph mean."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np
from hypothesis import strategies as st

from spanloom.hypergraph import Potentials, SubgraphEngine, reference
from spanloom.structures import STRUCTURES, Bilou, MentionTable, Tags, Words
from spanloom.structures.chain import FlatChain
from spanloom.structures.flagged import Flagged, boundaries
from spanloom.structures.product import Constraint, Product
from spanloom.structures.semi_markov import SemiMarkov

TYPES = ("x", "y")
WHOLE = (Constraint("*", "begins", "begins"), Constraint("*", "ends", "ends"))
COVERING = {str(structure): structure for structure in (Tags(), Words(), Product(), Product(WHOLE, own=True))}
"""Structures whose mentions hold every token; no recognizer has one."""
EVERY = STRUCTURES | COVERING


def types_of(structure):
    """Words are of one type."""
    return TYPES[:1] if structure.name == "words" else TYPES


A_GAP = MentionTable.build([(0, 0, ((0, 1), (2, 3)))])


def such(holds):
    """The names of structures of which something holds."""
    return tuple(name for name, structure in STRUCTURES.items() if holds(structure))


FLAGGED, CHAINS = such(lambda structure: isinstance(structure, Flagged)), such(lambda s: isinstance(s, FlatChain))
WITHOUT_GAPS = such(lambda structure: not structure.heads and not structure.holds(A_GAP).any())
LISTED = (*WITHOUT_GAPS, *COVERING)


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
    structure = EVERY[name]
    template = structure.template(types_of(structure))
    reader = next((reader for kind, reader in _READERS.items() if isinstance(structure, kind)), mentions_with_path)
    return [
        (choices, reader(structure, [(t, template.edges[e]) for t, e in choices], length))
        for choices in reference.subgraphs(template, length)
    ]


def mentions_with_path(structure, picked, length):
    """What holds of every structure: a mention is there if what is picked keeps to a path of it."""
    every, paths, number = _paths(structure, length)
    found = set()
    for i, (first, rows) in enumerate(paths):
        if all(rows[t - first, number[edge.label]] for t, edge in picked if first <= t < first + len(rows)):
            found.add(every[i * len(every) // len(paths)])
    return found


@cache
def _paths(structure, length):
    types = types_of(structure)
    kinds = range(len(types) if structure.joint else 1)
    every = table((0, kind, *mention) for kind in kinds for mention in every_range(length))
    every = every.take(structure.holds(every))
    paths = structure.paths(every, types)
    number = {edge.label: i for i, edge in enumerate(structure.template(types).edges)}
    spread = [(first, paths.spread(i)) for i, first in enumerate(paths.first.tolist())]
    return [row[1:] for row in quads(every)], spread, number


def _flagged_mentions(structure, picked, length):
    """A mention needs S at its first token, C at all but the last, E at the last; the type is that of the copy, 0."""
    said = {(t + role.step, role.name) for t, edge in picked for role in edge.roles}
    return {
        (0, first, end)
        for first, end in every_range(length)
        if {(first, "S"), (end - 1, "E"), *((t, "C") for t in range(first, end - 1))} <= said
    }


def _tags_at(picked, length):
    tags = ["O"] * length
    for t, edge in picked:
        if edge.roles:
            tags[t] = edge.label
    return tags


def _chain_mentions(structure, picked, length):
    """A mention is spelled by its tags, and no longer one is."""
    return _spelled(_tags_at(picked, length), structure, types_of(structure))


def _spelled(tags, chain, types):
    names, size = [name for name in chain.tags(types) if name != "O"], len(chain.letters)
    longest = {}
    for kind, (first, end) in product(range(len(types)), every_range(len(tags))):
        if tags[first:end] == [names[size * kind + chain.letters.index(letter)] for letter in chain.spell(end - first)]:
            longest[kind, first] = max(end, longest.get((kind, first), 0))
    return {(*key, end) for key, end in longest.items()}


def _tagged(structure, picked, length):
    """Each token is a mention."""
    return {(TYPES.index(tag.removeprefix("tag=")), t, t + 1) for t, tag in enumerate(_tags_at(picked, length))}


def _words_and_mentions(structure, picked, length):
    """Each side is spelled by its tags."""
    words, mentions = zip(*(tag.split("+") for tag in _tags_at(picked, length)), strict=True)
    found = _spelled(list(mentions), Bilou(), TYPES[1:])
    return _spelled(list(words), Words(), TYPES[:1]) | {(kind + 1, first, end) for kind, first, end in found}


def _segments(structure, picked, length):
    """A mention goes from where one is begun to the next end."""
    labels = [(t, edge.label) for t, edge in picked]
    begun = {t: TYPES.index(label.rpartition(", ")[2]) for t, label in labels if label.rpartition(", ")[2] in TYPES}
    ends = sorted(t for t, label in labels if label.endswith(" end"))
    return {(kind, t, next(end for end in ends if end >= t) + 1) for t, kind in begun.items()}


_READERS = {
    Flagged: _flagged_mentions,
    FlatChain: _chain_mentions,
    SemiMarkov: _segments,
    Tags: _tagged,
    Product: _words_and_mentions,
}


@st.composite
def batches(draw, kinds=2, components=1, longest=30, most=12, again=0):
    """Lengths of sentences and rows of mentions: nested, crossing, of up to so many parts, and some again."""
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=4))
    filled = [n for n, length in enumerate(lengths) if length]
    rows = []
    for _ in range(draw(st.integers(0, most)) if filled else 0):
        n = draw(st.sampled_from(filled))
        pieces = draw(st.integers(1, min(components, (lengths[n] + 1) // 2)))
        cuts = sorted(draw(st.lists(st.integers(0, lengths[n]), min_size=2 * pieces, max_size=2 * pieces, unique=True)))
        rows.append((n, draw(st.integers(0, kinds - 1)), tuple(zip(cuts[::2], cuts[1::2], strict=True))))
    return lengths, rows + draw(st.lists(st.sampled_from(rows), max_size=again) if rows else st.just([]))
