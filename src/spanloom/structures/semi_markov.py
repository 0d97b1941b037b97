"""A semi-Markov chain: the text is cut into segments, each a mention or one token outside (Sarawagi and Cohen 2004).

In the template, a node counts the tokens of its segment so far. The score of an end can therefore depend on the whole
segment: on its length, and, with the templates of `SemiMarkov.templates`, on its surface. The time is O(tokens x types
x lengths). If segments may have any length, lengths from `SURFACES` on share a node that follows itself, and the time
stays O(tokens): a longer surface does not occur twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Child, Edges, Hyperedge, Ints, Paths, Role, Template
from spanloom.structures.base import Encoded, MentionTable, Structure, check_number, drop_gaps, placed_table
from spanloom.structures.chain import OVERLAP, borders

SURFACES = 6  # tokens of the longest segment whose surface is a feature
MOST_TOKENS = 200  # by which segments may differ

_START, _OUT = "START", "O"


class _Table(NamedTuple):
    """A template, and the meaning of its hyperedges; M is the number of lengths that have a node.

    Args:
        template: of the structure.
        cut: (K + 2, K + 1) the hyperedge that begins a segment, by what ended before (START, O, types) and what begins
            (O, types).
        step: (K, M, 2) the hyperedge of a segment's token, by length so far: the segment continues, or ends; or -1.
        begins: (E + 1,) the type of the mention that a hyperedge begins, or -1; the last row is for no hyperedge.
        ends: (E + 1,) whether it ends a mention.
    """

    template: Template
    cut: NDArray[np.int16]
    step: NDArray[np.int16]
    begins: Ints
    ends: NDArray[np.bool_]


@dataclass(frozen=True)
class SemiMarkov(Structure):
    """Segments: each mention is scored as a whole.

    - Finds: mentions that do not overlap.
    - Cannot: hold overlaps, also of two types, or gaps.
    - Use: it as a baseline, and where the surface of a whole mention matters.

    Of two mentions that overlap, the shorter is left out of training, as Lu and Roth (2015), section 4.1, do.

    Args:
        longest: tokens of the longest mention; any number when ``None``.

    Raises:
        UsageError: ``longest`` is below 1 or above `MOST_TOKENS`.

    >>> SemiMarkov(2).template(["x"]).kinds
    ('START', 'after O', 'after x', 'x 1', 'x 2')
    """

    name = "semi_markov"
    joint = True

    longest: int | None = None

    def __post_init__(self) -> None:
        if self.longest is not None:
            check_number("longest", self.longest, MOST_TOKENS)

    @property
    def lengths(self) -> int:
        """M."""
        return SURFACES if self.longest is None else self.longest

    def templates(self) -> tuple[str, ...]:
        """The surface of each segment that can end at a token."""
        surfaces = range(1, min(self.lengths, SURFACES) + 1)
        return tuple("|".join(f"w[{i}]" for i in range(1 - length, 1)) for length in surfaces)

    def template(self, types: Sequence[str]) -> Template:
        """Return the template: a node between segments for what ended there, and one for each type and length so far.

        The roles: O, a token outside; ``B-x``, a mention of type x begins; ``I-x``, it continues at this token;
        ``E-x``, it ends; ``x 3``, it ends, and has three tokens.
        """
        return self._table(types).template

    def _table(self, types: Sequence[str]) -> _Table:
        return _tabulate(tuple(types), self.lengths, self.longest is None)

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """B of all types."""
        return frozenset(f"B-{name}" for name in types)

    def holds(self, mentions: MentionTable) -> NDArray[np.bool_]:
        """(M,) whether a mention has one range, and is not too long."""
        whole = mentions.contiguous
        if self.longest is not None and len(mentions):
            whole &= np.add.reduceat(mentions.end - mentions.first, mentions.ptr[:-1]) <= self.longest
        return whole

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """As `Structure.encode`; mentions with gaps, too long ones, and the shorter of two that overlap are lost."""
        label = np.full(int(offsets[-1]), -1)
        # tokens of the same mention before and after each
        before, after = np.zeros(len(label), np.int64), np.zeros(len(label), np.int64)
        _, lost = drop_gaps(mentions)
        rows = [(i, *row) for i, row in enumerate(mentions.rows()) if i not in lost]
        for i, n, kind, ((first, end),) in sorted(rows, key=lambda row: row[3][0][0] - row[3][0][1]):
            place = slice(offsets[n] + first, offsets[n] + end)
            if self.longest is not None and end - first > self.longest:
                lost[i] = f"it has more than {self.longest} tokens, the most that the model was made for"
            elif (label[place] >= 0).any():
                lost[i] = OVERLAP
            else:
                label[place] = kind
                before[place] = np.arange(end - first)
                after[place] = np.arange(end - first)[::-1]
        table = self._table(types)
        opens, _ = borders(offsets)
        ended = np.concatenate([[0], label[:-1] + 2])
        ended[opens] = 0
        begins = table.cut[ended, label + 1]
        length = np.minimum(before, self.lengths - 1)
        steps = np.where(label >= 0, table.step[label, length, (after == 0).astype(np.int64)], -1)
        edges = np.full((len(label), 1, 2), -1, np.int16)
        inner = before > 0
        edges[:, 0, 0] = np.where(inner, steps, begins)
        edges[:, 0, 1] = np.where(inner, -1, steps)
        return Encoded(edges, lost)

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `Structure.decode`; there is one reading only."""
        table = self._table(types)
        begins = table.begins[edges[:, 0]].max(1)
        starts, ends = np.flatnonzero(begins >= 0), np.flatnonzero(table.ends[edges[:, 0]].any(1))
        return placed_table(offsets, begins[starts], starts, ends + 1)

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """As `Structure.paths`: one segment from the mention's first token to its last."""
        length = mentions.end - mentions.first
        # each of the first tokens has a length of its own, then all are alike up to the last
        at = np.arange(self.lengths)
        row = (mentions.kind[:, None] * self.lengths + at) * 4 + (at == 0)
        size = (at < length[:, None] - 1).astype(np.int64)
        size[:, -1] = np.maximum(length - self.lengths, 0)
        last = (mentions.kind * self.lengths + np.minimum(length, self.lengths) - 1) * 4 + 2 + (length == 1)
        row = np.concatenate([row, last[:, None]], 1)
        size = np.concatenate([size, np.ones((len(length), 1), np.int64)], 1)
        allowed = _allowed(tuple(types), self.lengths, self.longest is None)
        return Paths.build(mentions.sentence, np.zeros_like(mentions.kind), mentions.first, row, size, allowed)


@lru_cache(maxsize=64)
def _tabulate(types: tuple[str, ...], lengths: int, any_length: bool) -> _Table:
    labels = (_OUT, *types)
    between = [_START, *(f"after {label}" for label in labels)]
    nodes = [[f"{name} {length}" for length in range(1, lengths + 1)] for name in types]
    edges: list[Hyperedge] = []
    cut = np.empty((len(between), len(labels)), np.int16)
    for b, kind in enumerate(between):
        for j, label in enumerate(labels):
            cut[b, j] = len(edges)
            constant = None if kind == _START else f"{labels[b - 1]} {label}"
            child, role = (Child("after O", 1), _OUT) if j == 0 else (Child(nodes[j - 1][0]), f"B-{label}")
            edges.append(Hyperedge(f"{kind}, {label}", kind, (child,), (Role(role),), constant))
    step = np.full((len(types), lengths, 2), -1, np.int16)
    for k, name in enumerate(types):
        for m, node in enumerate(nodes[k]):
            if m + 1 < lengths or any_length:
                step[k, m, 0] = len(edges)
                following = nodes[k][min(m + 1, lengths - 1)]
                edges.append(Hyperedge(f"{node} on", node, (Child(following, 1),), (Role(f"I-{name}", 1),)))
            step[k, m, 1] = len(edges)
            ends = (Role(f"E-{name}"), Role(node))
            edges.append(Hyperedge(f"{node} end", node, (Child(f"after {name}", 1),), ends))
    begins = np.full(len(edges) + 1, -1)
    begins[cut[:, 1:]] = np.arange(len(types))
    last = np.zeros(len(edges) + 1, bool)
    last[step[:, :, 1]] = True
    template = Template(
        (*between, *(node for row in nodes for node in row)), _START, frozenset(between[1:]), tuple(edges)
    )
    return _Table(template, cut, step, begins, last)


@lru_cache(maxsize=64)
def _allowed(types: tuple[str, ...], lengths: int, any_length: bool) -> NDArray[np.uint8]:
    """For each type, length so far, whether the mention ends and whether it begins: the hyperedges that it may pick."""
    table = _tabulate(types, lengths, any_length)
    rows = np.zeros((len(types), lengths, 2, 2, len(table.template.edges)), np.uint8)
    for k in range(len(types)):
        for m in range(lengths):
            for ends in (0, 1):
                if table.step[k, m, ends] >= 0:
                    rows[k, m, ends, :, table.step[k, m, ends]] = 1
        rows[k, :, :, 1, table.cut[:, k + 1]] = 1
    return rows.reshape(-1, len(table.template.edges))
