"""Drawings of sub-hypergraphs: all of it is drawn, once, and no text can break the file."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from spanloom.errors import UsageError
from spanloom.hypergraph import Child, Hyperedge, Template
from spanloom.structures import STRUCTURES, MentionTable
from spanloom.view.hypergraph import draw_hypergraph

SVG = "{http://www.w3.org/2000/svg}"
ENDS = {"E", "E1", "E2", "E3"}
HOSTILE = [
    "<script>alert(1)</script>",
    "&amp;",
    "]]>",
    '"',
    "\x00\x1b",
    "\ud800",
    "\ufffe",
    "\u202eabc",
    "",
    "a" * 5000,
]


def encode(name, mentions, length):
    structure = STRUCTURES[name]
    offsets = np.array([0, length])
    table = MentionTable.build([(0, 0, ranges) for ranges in mentions], [ranges[0] for ranges in mentions])
    encoded = structure.encode(table, offsets, ["x"])
    return structure.template(["x"]), encoded.edges[:, 0]


def groups(root, name):
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == name]


def texts(root, name):
    return [group.find(f"{SVG}text").text for group in groups(root, name)]


def places(root, name):
    """The text of each box, and where its middle is."""
    found = []
    for group in groups(root, name):
        box = group.find(f"{SVG}rect")
        x, y, width, height = (float(box.get(key)) for key in ("x", "y", "width", "height"))
        found.append((group.find(f"{SVG}text").text, round(x + width / 2, 1), round(y + height / 2, 1)))
    return found


def ends_of(group):
    """Where the lines of a hyperedge end: the last point of each path."""
    return [way.get("d") for way in group.iter(f"{SVG}path")]


MENTIONS = [((0, 1),), ((0, 1), (2, 4)), ((0, 1), (5, 6)), ((1, 3), (4, 5), (6, 7))]


@pytest.mark.parametrize("name", ["shared", "split"])
def test_every_node_and_hyperedge_is_drawn_once(name):
    template, edges = encode(name, MENTIONS, 7)
    words = [f"w{t}" for t in range(7)]
    root = ElementTree.fromstring(draw_hypergraph(template, words, edges, leaf_roles=ENDS))
    picked = [(t, template.edges[e]) for t, row in enumerate(edges.tolist()) for e in row if e >= 0]
    drawn = groups(root, "edge")
    assert [group.find(f"{SVG}title").text for group in drawn] == [f"w{t}: {edge.label}" for t, edge in picked]
    for group, (_, edge) in zip(drawn, picked, strict=True):
        branches = len(edge.children) + (edge.label.endswith("X"))
        assert len(group.findall(f"{SVG}path")) == branches
        assert len(group.findall(f"{SVG}circle")) == (branches > 1)
        assert len([g for g in group.iter(f"{SVG}g") if g.get("class") == "leaf"]) == edge.label.endswith("X")
    nodes = places(root, "node")
    assert len(nodes) == len(set(nodes)) == len(picked)  # in a sub-hypergraph each node picks one
    assert sorted(kind for kind, _, _ in nodes) == sorted(edge.head for _, edge in picked)
    assert len({y for _, _, y in nodes}) == len({kind for kind, _, _ in nodes}) == len({(k, y) for k, _, y in nodes})
    assert len({x for _, x, _ in nodes}) == 7
    assert texts(root, "word") == words
    description = root.find(f"{SVG}desc").text
    assert all(f"{edge.label}" in description for _, edge in picked)


def test_lines_lead_from_the_node_to_its_children():
    """Infarctions leads to the leaf and to the gap, which stands one column to the right and one row below."""
    template, edges = encode("shared", MENTIONS[:3], 6)
    words = ["Infarctions", "either", "water", "shed", "or", "embolic"]
    root = ElementTree.fromstring(draw_hypergraph(template, words, edges, leaf_roles=ENDS))
    nodes = {(kind, x): y for kind, x, y in places(root, "node")}
    columns = sorted({x for _, x in nodes})
    half = float(groups(root, "node")[0].find(f"{SVG}rect").get("width")) / 2
    edge = next(g for g in groups(root, "edge") if g.find(f"{SVG}title").text == "Infarctions: B1-O2 X")
    to_gap, to_leaf = ends_of(edge)
    start = f"M {columns[0] + half:g} {nodes['B1', columns[0]]:g} H "
    assert to_gap.startswith(start)
    assert to_leaf.startswith(start)
    assert to_gap.split(" ")[4] == to_leaf.split(" ")[4] == edge.find(f"{SVG}circle").get("cx")
    assert to_gap.endswith(f" {columns[1] - half:g} {nodes['O2', columns[1]]:g}")
    ((_, x, y),) = places(edge, "leaf")
    assert x == columns[0]
    assert y > nodes["B1", columns[0]]


def test_kinds_that_are_left_out():
    template, edges = encode("shared", MENTIONS, 7)
    words = ["w"] * 7
    root = ElementTree.fromstring(draw_hypergraph(template, words, edges, leave_out={"A", "T"}))
    assert {kind for kind, _, _ in places(root, "node")} == {"B1", "O2", "B2", "O3", "B3"}
    assert not [g for g in groups(root, "edge") if g.find(f"{SVG}title").text.startswith(("w: A", "w: T"))]


def test_separators_have_labels_and_the_mention_hypergraph_leaves():
    nested = [((1, 6),), ((2, 5),)]
    words = ["the", "human", "TCF", "-", "1", "protein"]
    template, edges = encode("separators", nested, 6)
    root = ElementTree.fromstring(draw_hypergraph(template, words, edges, labels=True))
    written = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "label"]
    assert written == ["S", "CS", "C", "C", "EC", "E"]
    template, edges = encode("mention_hypergraph", nested, 6)
    root = ElementTree.fromstring(draw_hypergraph(template, words, edges, leaf_roles={"E"}))
    last, end = groups(root, "edge")[-4], groups(root, "edge")[-1]
    assert (last.find(f"{SVG}title").text, end.find(f"{SVG}title").text) == ("1: I-IX", "protein: I-X")
    assert [len(ends_of(group)) for group in (last, end)] == [2, 1]


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure_can_be_drawn(name):
    template, edges = encode(name, [((0, 2),), ((1, 2),), ((3, 4),)], 5)
    root = ElementTree.fromstring(draw_hypergraph(template, ["w"] * 5, edges))
    assert len(groups(root, "edge")) == (edges >= 0).sum()


def test_hostile_words():
    template, edges = encode("shared", [((0, 3), (4, 6))], len(HOSTILE))
    drawing = draw_hypergraph(template, HOSTILE, edges, title="</title><script>")
    assert "<script" not in drawing
    root = ElementTree.fromstring(drawing.encode())
    shown = texts(root, "word")
    assert shown[:4] == HOSTILE[:4]
    assert shown[4:7] == ["␀␛", "�", "�"]
    assert len(shown[-1]) == 32
    assert shown[-1].endswith("…")
    assert groups(root, "word")[-1].find(f"{SVG}title").text == HOSTILE[-1]
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg", "title", "desc", "style", "g", "rect", "path", "circle", "text"
    }  # fmt: skip


def test_hostile_names_of_kinds():
    template = Template(("<A>",), "<A>", frozenset({"<A>"}), (Hyperedge("<e>", "<A>", (Child("<A>", 1),)),))
    root = ElementTree.fromstring(draw_hypergraph(template, ["w"], np.zeros((1, 1), np.int16), labels=True))
    assert texts(root, "node") == ["<A>"]


def test_words_of_other_scripts_have_room():
    template, edges = encode("shared", [], 3)
    words = ["疼痛持续存在的患者", "المريض", "x"]
    root = ElementTree.fromstring(draw_hypergraph(template, words, edges))
    assert texts(root, "word") == words
    middles = [float(group.find(f"{SVG}text").get("x")) for group in groups(root, "word")]
    assert middles[1] - middles[0] > 9 * 13 / 2  # nine wide characters of 13 pixels


def test_a_sentence_without_words():
    template, _ = encode("shared", [], 1)
    root = ElementTree.fromstring(draw_hypergraph(template, [], np.zeros((0, 1), np.int16)))
    assert not groups(root, "node")
    assert not groups(root, "edge")


def test_a_long_sentence():
    words = [f"w{t}" for t in range(2000)]
    template, edges = encode("shared", [((t, t + 2), (t + 3, t + 4)) for t in range(0, 1990, 2)], 2000)
    drawing = draw_hypergraph(template, words, edges, leaf_roles=ENDS)
    assert drawing == draw_hypergraph(template, words, edges, leaf_roles=ENDS)
    assert len(groups(ElementTree.fromstring(drawing), "edge")) == (edges >= 0).sum()


def test_wrong_edges():
    template, edges = encode("shared", [], 3)
    with pytest.raises(UsageError, match=r"shape \(3, \d+\), expected \(2, D\)"):
        draw_hypergraph(template, ["a", "b"], edges)
    with pytest.raises(UsageError, match="number 99"):
        draw_hypergraph(template, ["a"], np.array([[99]], np.int16))
