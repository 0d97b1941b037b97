"""Drawing of the sub-hypergraph of a sentence as SVG, in the style of Muis and Lu (2016), Figure 3.

One column a token, one row a kind of node. A node is a box; its hyperedge is one line that leaves it and branches at a
dot if it has several children, so that a hyperedge of several children reads as one. Lines run to the right, or down to
a node of the same token. The leaf is a small box X under the node that leads to it. Past the last token there is a bar.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from spanloom.errors import UsageError
from spanloom.hypergraph import Edges, Template
from spanloom.view import svg
from spanloom.view.svg import Element

_BOX = 22.0  # height of a node
_ROW = 58.0  # from row to row
_GUTTER = 50.0  # at least, between the nodes of neighbouring columns
_STEM = 14.0  # from a node to the dot where its hyperedge branches
_BYPASS = 6.0  # from a node to where a line to a lower row at the same token turns
_LEAF = 14.0  # side of a leaf
_DROP = 19.0  # from the middle of a node to the top of its leaf
_MARGIN = 16.0
_HEADER = 34.0  # above the middle of the first row: the words

_STYLE = """
.spanloom .edge path { stroke-width: 1.6; }
.spanloom .leaf rect { stroke-dasharray: 2 1; }
.spanloom .leaf text, .spanloom .label { font-size: 10px; }
"""


class _Grid(NamedTuple):
    """Coordinates of columns and rows.

    Args:
        x: the middle of each column.
        row: the middle of each kind's row, from top to bottom.
        half: half the width of the nodes.
        width: of the drawing.
        height: of the drawing.
    """

    x: list[float]
    row: dict[str, float]
    half: float
    width: float
    height: float


def draw_hypergraph(
    template: Template,
    words: Sequence[str],
    edges: Edges,
    *,
    leaf_roles: Collection[str] = (),
    leave_out: Collection[str] = (),
    labels: bool = False,
    title: str = "Sub-hypergraph",
) -> str:
    """Draw the sub-hypergraph of one sentence and one copy of a template.

    Args:
        template: the template of the structure.
        words: T.
        edges: (T, D) the hyperedges picked at each token; negative numbers for empty places.
        leaf_roles: a hyperedge without children leads to the leaf. A hyperedge with one of these roles leads to it,
            too, beside its children: in a template without a leaf, the roles of ends.
        leave_out: kinds of nodes that are not drawn, with their hyperedges and the lines to them.
        labels: write the labels of hyperedges that the children do not imply.
        title: a description of the drawing for screen readers.

    Returns:
        One SVG element, the same for the same arguments, for light and dark pages and for print. Each hyperedge is a
        group of class ``edge`` whose title is its word and its label; the description lists them all.

    Raises:
        UsageError: ``edges`` does not have one row for each word, or has an invalid number of a hyperedge.

    >>> from spanloom.hypergraph import Child, Hyperedge
    >>> coin = Template(("A",), "A", frozenset({"A"}), (Hyperedge("heads", "A", (Child("A", 1),)),))
    >>> drawing = draw_hypergraph(coin, ["one", "two"], np.array([[0], [0]], np.int16))
    >>> drawing.startswith("<svg "), drawing.count('class="node"')
    (True, 2)
    """
    rows = np.asarray(edges)
    if rows.ndim != 2 or len(rows) != len(words):
        raise UsageError(f"edges have the shape {rows.shape}, expected ({len(words)}, D): one row for each word")
    if rows.size and rows.max() >= len(template.edges):
        raise UsageError(
            f"edges name number {rows.max()}, and the template has hyperedges 0 to {len(template.edges) - 1}"
        )
    picks = [(token, template.edges[e]) for token, row in enumerate(rows.tolist()) for e in row if e >= 0]
    picks = [(token, edge) for token, edge in picks if edge.head not in leave_out]
    # the nodes that choose or are reached, each once, from left to right
    reached = [(token + child.step, child.kind) for token, edge in picks for child in edge.children]
    found = [*((token, edge.head) for token, edge in picks), *(node for node in reached if node[1] not in leave_out)]
    nodes = sorted(dict.fromkeys(node for node in found if node[0] < len(words)), key=lambda node: node[0])
    grid = _layout(template, words, {kind for _, kind in nodes})
    chosen: list[list[str]] = [[] for _ in words]
    for token, edge in picks:
        chosen[token].append(edge.label)
    described = (f"{text}: {', '.join(labels)}" for text, labels in zip(words, chosen, strict=True) if labels)
    root = svg.canvas(grid.width, grid.height, title, "; ".join(described), _STYLE)
    for token, text in enumerate(words):
        svg.word(root, text, grid.x[token], _MARGIN, class_="word")
    for token, edge in picks:
        group = svg.write(root, "g", class_="edge")
        svg.write(group, "title", f"{words[token]}: {edge.label}")
        children = [child for child in edge.children if child.kind not in leave_out]
        leaf = not edge.children or any(role.name in leaf_roles for role in edge.roles)
        x, y = grid.x[token], grid.row[edge.head]
        # children at this token in the next row hang below the node; whatever else there is leaves it on the right
        near = {child.kind for child in children if child.step == 0 and grid.row[child.kind] - y <= _ROW}
        onward = any(child.step for child in children) or len({child.kind for child in children}) > len(near)
        side = x + grid.half
        branch = (side + _STEM, y) if onward else (x, y + _BOX / 2)
        stem = ("M", side, y, "H", branch[0]) if onward else ("M", *branch)
        for child in children:
            if child.step == 0 and child.kind not in near:
                svg.path(group, "M", side, y, "H", side + _BYPASS, "V", grid.row[child.kind], "H", side)
            else:
                svg.path(group, *stem, *_way(grid, token + child.step, child.kind, branch, bool(child.step)))
        if leaf:
            low = y + _DROP + _LEAF / 2
            svg.path(group, *stem, *(("Q", branch[0], low, x + _LEAF / 2, low) if onward else ("V", y + _DROP)))
            _box(group, "leaf", "X", x, y + _DROP, (_LEAF, _LEAF))
        if onward and len(children) + leaf > 1:
            svg.write(group, "circle", cx=branch[0], cy=branch[1], r="3")
        if labels and onward:
            svg.write(group, "text", edge.label, x=branch[0] + 3, y=y - 5, class_="label")
    for token, kind in nodes:
        _box(root, "node", kind, grid.x[token], grid.row[kind] - _BOX / 2, (2 * grid.half, _BOX))
    return svg.render(root)


def _layout(template: Template, words: Sequence[str], used: Collection[str]) -> _Grid:
    kinds = [kind for kind in template.kinds if kind in used]
    half = max([_BOX, *(svg.width(kind) + 10 for kind in kinds)]) / 2
    x, right = [], _MARGIN
    for text in words:
        column = max(2 * half + _GUTTER, svg.width(text) + 12)
        x.append(right + column / 2)
        right += column
    row = {kind: _MARGIN + _HEADER + i * _ROW for i, kind in enumerate(kinds)}
    height = _MARGIN + _HEADER + len(kinds) * _ROW - _ROW + _DROP + _LEAF + _MARGIN
    return _Grid(x, row, half, right + _MARGIN, height if kinds else 2 * _MARGIN)


def _way(grid: _Grid, token: int, kind: str, branch: tuple[float, float], onward: bool) -> tuple[str | float, ...]:
    """Return the path of a hyperedge's branch to a child: of this token from above, of the next from the left."""
    bx, by = branch
    if token == len(grid.x):  # past the last token: a bar
        end = grid.width - _MARGIN
        return "H", end, "M", end, by - 6, "V", by + 6
    y = grid.row[kind]
    if not onward:
        top = y - _BOX / 2
        return "C", bx, (by + top) / 2, grid.x[token], (by + top) / 2, grid.x[token], top
    left = grid.x[token] - grid.half
    return ("H", left) if y == by else ("C", (bx + left) / 2, by, (bx + left) / 2, y, left, y)


def _box(parent: Element, name: str, text: str, x: float, top: float, size: tuple[float, float]) -> None:
    """Draw a box with text, around the column's middle."""
    wide, high = size
    group = svg.write(parent, "g", class_=name)
    svg.write(group, "rect", x=x - wide / 2, y=top, width=wide, height=high, rx="3")
    svg.write(group, "text", text, x=x, y=top + high / 2, dominant_baseline="central")
