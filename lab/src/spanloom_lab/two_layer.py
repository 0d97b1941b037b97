"""Two layers and ten tags for mentions with gaps: Corro (2024).

The upper layer cuts a text into sets of mentions and the rest: a contiguous mention is a set of one, and other sets
have one *shared* part and several *other* parts; each other part forms a mention with the shared one. The lower layer
marks the tokens of such a set as in the shared part (x), in another part (y) or in neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Edges, Ints, Paths, Template
from spanloom.structures.base import Encoded, MentionTable, Structure
from spanloom.structures.chain import chain_template, read_chain, run_sizes, write_chain
from spanloom_lab.two_layer_sets import TwoLayerSets, arrange

APART = "it overlaps or surrounds others of its type, and not as two layers hold it: one part shared, the others apart"
WAYS: Final = 2  # of writing a mention: the shared part is its first, or its second
_SECTIONS: Final = 4  # of a path: the one component of a mention; or its first, the gap, its second
_WHOLE, _FIRST, _GAP, _SECOND = range(_SECTIONS)

_BEGIN: Final = {"O": "O", "CB": "C", "DB-Bx": "X0", "DB-By": "Y0"}
_NEXT: Final = {  # state -> tag of the next token -> its state
    "O": _BEGIN,
    "C": _BEGIN | {"CI": "C"},
    # before the shared part: the first other part; a later one; a gap
    "Y0": {"DI-Iy": "Y0", "DI-By": "Y1", "DI-Bx": "X1", "DI-O": "G"},
    "Y1": {"DI-Iy": "Y1", "DI-By": "Y1", "DI-Bx": "X2", "DI-O": "G"},
    "G": {"DI-O": "G", "DI-By": "Y1", "DI-Bx": "X2"},
    # in the shared part: the first of the set; behind one other part that touches it; with what makes a set
    "X0": {"DI-Ix": "X0", "DI-By": "Z0", "DI-O": "H"},
    "X1": {"DI-Ix": "X1", "DI-By": "Z1", "DI-O": "H"},
    "X2": _BEGIN | {"DI-Ix": "X2", "DI-By": "Z1", "DI-O": "H"},
    # behind the shared part: in an other part that touches it, the first of all; with what makes a set; in a gap
    "Z0": {"DI-Iy": "Z0", "DI-By": "Z1", "DI-O": "H"},
    "Z1": _BEGIN | {"DI-Iy": "Z1", "DI-By": "Z1", "DI-O": "H"},
    "H": {"DI-O": "H", "DI-By": "Z1"},
}
_NODES: Final = tuple(
    dict.fromkeys(" ".join(dict.fromkeys((state, tag))) for row in _NEXT.values() for tag, state in row.items())
)
"""What the chain is made of: a state, and the tag by which it was reached."""
_NUMBER: Final = {node: i for i, node in enumerate(_NODES)}


def _tag(node: str) -> str:
    return node.rpartition(" ")[2]


def _state(node: str) -> str:
    return node.partition(" ")[0]


def _follows(node: str, after: str) -> bool:
    return _NEXT[_state(node)].get(_tag(after)) == _state(after)


def _letter(node: str) -> str:
    """B where a part begins, I where it continues."""
    return _tag(node).rstrip("xy")[-1]


_LETTERS: Final = np.array([_tag(node)[-2:] for node in _NODES])
_TEMPLATE: Final = chain_template(_NODES, _follows, _tag)


@dataclass(frozen=True)
class TwoLayer(Structure):
    """Contiguous mentions, and sets of mentions that share a part and have another each.

    A set has two mentions or more, or one with a gap. Its parts do not overlap, and no other mention of the type is
    between its first token and its last. A set without some of its mentions can be represented, too. Of mentions that
    cannot be represented together, the most are kept, and of as many those with most tokens.

    The tags (Corro 2024): O; CB and CI for contiguous mentions; DB for the first token of another set and DI for the
    others, with Bx and Ix for the shared part, By and Iy for each other part, and O for a gap. The nodes of the chain
    also know how much of a set there is, so that each sequence of tags that the chain allows has one set of mentions.
    Conversely, a mention with a gap that shares nothing has two encodings, as either part may be the shared one: 4
    tokens have 79 sequences for 72 sets of mentions. `encode` uses the first part; `all_encodings` allows both.

    The roles of a mention's start are CB, DB-By and DI-By: each mention has one of these tags once.

    >>> table = MentionTable.build([(0, 0, ((0, 2), (3, 4))), (0, 0, ((0, 2), (5, 6))), (0, 0, ((7, 8),))])
    >>> structure, offsets = TwoLayer(), np.array([0, 8])  # pain in my arms and shoulders , fever
    >>> edges = structure.encode(table, offsets, ["p"]).edges
    >>> print(*structure.tags_of(edges)[:, 0])
    DB-Bx DI-Ix DI-O DI-By DI-O DI-By O CB
    >>> sorted(structure.decode(edges, offsets, ["p"]).rows()) == table.rows()
    True
    """

    name = "two_layer"
    only_canonical = False

    def template(self, types: Sequence[str]) -> Template:
        """A chain for each type; its roles are the tags, its constants pairs of tags."""
        return _TEMPLATE

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """CB, and the first tokens of other parts."""
        return frozenset({"CB", "DB-By", "DI-By"})

    def holds(self, mentions: MentionTable) -> NDArray[np.bool_]:
        """(M,) whether a mention has two components at most."""
        few: NDArray[np.bool_] = np.diff(mentions.ptr) <= 2
        return few

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """As `Structure.encode`; the shared part of a mention that shares nothing is its first."""
        size = int(offsets[-1])
        count = np.diff(mentions.ptr)
        lost = {
            i: f"it has {count[i]} components, and two layers hold mentions of one or two"
            for i in np.flatnonzero(count > 2).tolist()
        }
        sets, apart = arrange(mentions, np.flatnonzero(count <= 2), offsets)
        lost |= dict.fromkeys(apart, APART)
        return Encoded(write_chain(_TEMPLATE, _NODES, _write(sets, size, len(types)), offsets), lost)

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `Structure.decode`; there is one reading only."""
        sets, size = _read(read_chain(_TEMPLATE, _NODES, edges)), len(edges)
        pair = np.stack([sets.shared[sets.owner], sets.other], 1)
        left = pair[:, 1, 0] < pair[:, 0, 0]
        pair[left] = pair[left, ::-1]
        places = np.concatenate([np.stack([sets.whole, sets.whole], 1), pair])
        touching = places[:, 0, 1] >= places[:, 1, 0]
        places[touching, 0, 1] = places[touching, 1, 1]
        kind, token = np.divmod(places[:, 0, 0], max(size, 1))
        sentence = np.searchsorted(offsets, token, side="right") - 1
        order = np.lexsort((places[:, 0, 1], kind, kind * size - places[:, 1, 1], token))
        places, touching, kind, sentence = places[order], touching[order], kind[order], sentence[order]
        places -= (kind * size + offsets[sentence])[:, None, None]
        kept = np.stack([np.ones_like(touching), ~touching], 1)
        ptr = np.append(0, kept.sum(1).cumsum())
        return MentionTable(sentence, kind, ptr, places[kept][:, 0], places[kept][:, 1], np.full((len(kind), 2), -1))

    def tags_of(self, edges: Edges) -> NDArray[np.str_]:
        """(T, K) the tags of hyperedges, by name."""
        names: NDArray[np.str_] = np.array([_tag(node) for node in _NODES])[read_chain(_TEMPLATE, _NODES, edges)]
        return names

    def all_encodings(self, edges: Edges, offsets: Ints) -> NDArray[np.uint8]:
        """Allow all encodings of mentions, of which one is given.

        Args:
            edges: (T, K, D).
            offsets: (N + 1,) first token of each sentence.

        Returns:
            (T, E, K) 1 where a hyperedge is in one of the encodings. No other structure keeps to them.
        """
        nodes = read_chain(_TEMPLATE, _NODES, edges)
        sets = _read(nodes)
        alone = np.bincount(sets.owner, minlength=len(sets.shared)) == 1
        swapped = alone[sets.owner]
        shared, other = sets.shared.copy(), sets.other.copy()
        shared[sets.owner[swapped]], other[swapped] = sets.other[swapped], sets.shared[sets.owner[swapped]]
        second = _write(sets._replace(shared=shared, other=other), len(edges), edges.shape[1])
        even = np.arange(len(nodes))[:, None] % 2 == 0  # sets that touch may each be written in its own way
        allowed = np.zeros((*edges.shape[:2], len(_TEMPLATE.edges) + 1), np.uint8)
        for numbers in (nodes, second, np.where(even, nodes, second), np.where(even, second, nodes)):
            np.put_along_axis(allowed, write_chain(_TEMPLATE, _NODES, numbers, offsets).astype(np.int64), 1, 2)
        return np.ascontiguousarray(allowed[..., :-1].transpose(0, 2, 1))

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """As `Structure.paths`: two ways, by which part is the shared one.

        A contiguous mention may be a set of its own, or a shared part and another that touch, wherever they do: that
        is the first way where the shared part comes first, and the second where it comes second.
        """
        begin, end = mentions.ptr[:-1], mentions.ptr[1:] - 1
        first, last = (mentions.end[i] - mentions.first[i] for i in (begin, end))
        gaps = end > begin
        gap = np.where(gaps, mentions.first[end] - mentions.end[begin], 0)
        size = np.concatenate([run_sizes(first), gap[:, None], run_sizes(last) * gaps[:, None]], 1)
        section = np.stack([gaps * _FIRST] * 3 + [np.full_like(first, _GAP)] + [np.full_like(first, _SECOND)] * 3, 1)
        column = np.arange(size.shape[1])
        begins = np.isin(column, (0, 4))
        ends = np.isin(column, (2, 6)) | begins & np.stack([first == 1, last == 1], 1)[:, column // 4]
        row = (section * 2 + begins) * 2 + ends
        way = np.tile(np.arange(WAYS), len(mentions))[:, None]
        sentence, kind, start, row, size = (
            np.repeat(values, WAYS, 0)
            for values in (mentions.sentence, mentions.kind, mentions.first[begin], row, size)
        )
        return Paths.build(sentence, kind, start, row + way * _SECTIONS * 4, size, _allowed())


def _write(sets: TwoLayerSets, tokens: int, types: int) -> NDArray[np.int8]:
    """(T, K) numbers of nodes."""
    first, end = sets.shared.T.copy()
    left = sets.other[:, 0] < first[sets.owner]
    touches = (sets.other[:, 1] == first[sets.owner]) | (sets.other[:, 0] == end[sets.owner])
    np.minimum.at(first, sets.owner, sets.other[:, 0])
    np.maximum.at(end, sets.owner, sets.other[:, 1])
    before, near = (np.bincount(sets.owner, some, len(first)).astype(np.int64) for some in (left, left & touches))
    stage = np.where(before == 0, 0, np.where((before == 1) & (near == 1), 1, 2))  # of the shared part
    nodes = np.zeros(tokens * types, np.int8)
    _paint(nodes, np.stack([first, sets.shared[:, 0]], 1), "G DI-O")
    _paint(nodes, np.stack([sets.shared[:, 1], end], 1), "H DI-O")
    _paint(nodes, sets.whole, "C CI", "C CB")
    opens = sets.other[:, 0] == first[sets.owner]
    first_of_all = touches & (stage[sets.owner] == 0)
    for i, begins in enumerate(("DB-Bx", "DI-Bx", "DI-Bx")):
        _paint(nodes, sets.shared[stage == i], f"X{i} DI-Ix", f"X{i} {begins}")
    _paint(nodes, sets.other[~left & first_of_all], "Z0 DI-Iy", "Z0 DI-By")
    _paint(nodes, sets.other[~left & ~first_of_all], "Z1 DI-Iy", "Z1 DI-By")
    _paint(nodes, sets.other[left & opens], "Y0 DI-Iy", "Y0 DB-By")
    _paint(nodes, sets.other[left & ~opens], "Y1 DI-Iy", "Y1 DI-By")
    return nodes.reshape(types, tokens).T


def _paint(nodes: NDArray[np.int8], places: Ints, node: str, begins: str | None = None) -> None:
    """Write a node at (P, 2) places, and perhaps another at the first of each."""
    length = places[:, 1] - places[:, 0]
    nodes[np.repeat(places[:, 0] - length.cumsum() + length, length) + np.arange(length.sum())] = _NUMBER[node]
    if begins is not None:
        nodes[places[:, 0]] = _NUMBER[begins]


def _read(nodes: Ints) -> TwoLayerSets:
    """Return the sets that (T, K) nodes represent."""
    flat = nodes.astype(np.int8).T.ravel()
    begins, goes_on = (np.isin(_LETTERS, letters) for letters in (("CB", "Bx", "By"), ("CI", "Ix", "Iy")))
    start = np.flatnonzero(begins[flat])
    end = np.flatnonzero((begins | goes_on)[flat] & ~np.append(goes_on[flat[1:]], False)) + 1
    parts, letters = np.stack([start, end], 1), _LETTERS[flat[start]]
    opens = np.isin(flat[start], [i for i, node in enumerate(_NODES) if _tag(node).startswith("DB")])
    whole, shared, other = (letters == letter for letter in ("CB", "Bx", "By"))
    return TwoLayerSets(parts[whole], parts[shared], opens.cumsum()[other] - 1, parts[other])


@cache
def _allowed() -> NDArray[np.uint8]:
    """Hyperedges that a step of a path allows: by way, section, whether a component begins there, whether it ends."""
    rows = []
    for step in product(range(WAYS), range(_SECTIONS), (False, True), (False, True)):
        row = np.zeros(len(_TEMPLATE.edges), np.uint8)
        for e, edge in enumerate(_TEMPLATE.edges):
            child = edge.children[0].kind.strip()
            picks = edge.head in _NUMBER  # the node of the next token
            row[e] = _then(*step, edge.head, child) if picks else _now(*step, child)
        rows.append(row)
    return np.array(rows)


def _now(way: int, section: int, begins: bool, ends: bool, node: str) -> bool:
    """Return whether a path may be at a node."""
    state, first = node[0], _letter(node) == "B"
    if section == _GAP:
        return state in ("ZH", "YG")[way]
    if section == _WHOLE and not begins and state == "ZX"[way]:
        return True
    return state in {_WHOLE: ("CX", "Y"), _FIRST: "XY", _SECOND: "ZX"}[section][way] and first == begins


def _then(way: int, section: int, begins: bool, ends: bool, node: str, after: str) -> bool:
    """Return whether a path may continue from a node to one of the next token, or to the end."""
    same = _letter(after) == "I"
    if section == _GAP:
        return after[0] in ("ZH", "YGX")[way]
    if not ends:
        return same or (section == _WHOLE and node[0] + after[0] == ("XZ", "YX")[way])
    if section == _FIRST:
        return not same and after[0] in ("ZH", "YG")[way]
    return not same and node[0] in {_WHOLE: ("CZ", "X"), _SECOND: "ZX"}[section][way]
