"""Figures 1 to 4 of Muis and Lu (2016): what is encoded, node by node, and what each reading gives."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from structure_helpers import offsets_of, picks

from spanloom.hypergraph import ENGINES, Potentials
from spanloom.structures import READINGS, STRUCTURES, MentionTable, structure_of

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "discontiguous.toml").read_text(encoding="utf-8"))["case"]
STRANDS = ("shared", "split")
TYPES = ("disorder",)
cases = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])

# What comes back where it is not the mentions, by the beginning of the case's name.
ENOUGH = {
    # Three starts and three ends (vomit as second and as third component, bowel movement) need three paths; what
    # entered a gap first leaves it first.
    ("shared", "blood or dark"): [((2, 3), (7, 8), (10, 11)), ((4, 5), (10, 11)), ((6, 8), (14, 16))],
    # The mention of three components is by itself; three starts need three paths to two ends.
    ("split", "blood or dark"): [
        ((2, 3), (10, 11)), ((4, 5), (7, 8), (10, 11)), ((4, 5), (10, 11)), ((6, 8), (14, 16))
    ],
}  # fmt: skip
# What ALL gives besides the mentions.
MORE = {
    # stomach is the end of one mention and the beginning of another
    ("shared", "EGD showed"): [((11, 14), (16, 17)), ((13, 14),)],
    # blood ... material ... vomit, and dark ... vomit
    ("shared", "blood or dark"): [((2, 3), (7, 8), (10, 11)), ((4, 5), (10, 11))],
    ("split", "blood or dark"): [((4, 5), (10, 11))],
    # every two and three of laceration, esophagus, stomach and lac; blood in, and stomach
    ("seven_tag", "EGD showed"): [
        ((6, 7), (13, 14)), ((6, 7), (16, 17)), ((9, 10), (13, 14)), ((9, 10), (16, 17)),
        ((6, 7), (9, 10), (13, 14)), ((6, 7), (9, 10), (16, 17)), ((6, 7), (13, 14), (16, 17)),
        ((9, 10), (13, 14), (16, 17)), ((11, 13),), ((13, 14),),
    ],
    # every two and three of blood, on his tongue, pupils and pinpoint; blood
    ("seven_tag", "blood in his"): [
        ((3, 4), (12, 13)), ((3, 4), (14, 15)), ((8, 11), (12, 13)), ((8, 11), (14, 15)),
        ((3, 4), (8, 11), (12, 13)), ((3, 4), (8, 11), (14, 15)), ((3, 4), (12, 13), (14, 15)),
        ((8, 11), (12, 13), (14, 15)), ((3, 4),),
    ],
    ("seven_tag", "Infarctions"): [((0, 1), (2, 4), (5, 6)), ((2, 4), (5, 6))],
    ("seven_tag", "Ethanol"): [((0, 1),)],
}  # fmt: skip
MORE["seven_tag", "Infarctions either water shed or embolic, without"] = [*MORE["seven_tag", "Infarctions"], ((0, 1),)]


def find(case, name, expected):
    """The entry of the longest beginning of the case's name."""
    keys = [key for key in expected if key[0] == name and case["name"].startswith(key[1])]
    return expected[max(keys, key=lambda key: len(key[1]))] if keys else None


def mentions_of(case):
    return [tuple((first, end) for first, end in ranges) for ranges in case["mentions"]]


def encode_mentions(mentions, length, name):
    offsets = offsets_of([length])
    encoded = STRUCTURES[name].encode(MentionTable.build((0, 0, m) for m in mentions), offsets, TYPES)
    assert not encoded.lost
    return encoded.edges, offsets


def encode(case, name):
    return encode_mentions(mentions_of(case), len(case["tokens"]), name)


def read(case, name, reading):
    return [ranges for _, _, ranges in STRUCTURES[name].decode(*encode(case, name), TYPES, reading).rows()]


def labels(case, name):
    """For each token, the labels of the hyperedges that are picked there."""
    template = STRUCTURES[name].template(TYPES)
    edges = encode(case, name)[0][:, 0]
    found = [set() for _ in case["tokens"]]
    for token, e in picks(edges):
        found[token].add(template.edges[e].label)
    return found


def named(beginning):
    return next(case for case in CASES if case["name"].startswith(beginning))


@cases
@pytest.mark.parametrize("name", STRANDS)
def test_enough(case, name):
    assert sorted(read(case, name, "enough")) == sorted(find(case, name, ENOUGH) or mentions_of(case))


@cases
@pytest.mark.parametrize("name", [*STRANDS, "seven_tag"])
def test_all(case, name):
    found = read(case, name, "all")
    if name == "seven_tag" and case["name"].startswith("blood or dark"):
        # Any parts of heads that are apart, of which three have one token and two have two, that is, three parts: with
        # one, two and three components 9 + 30 + 46 mentions, the coefficients of (1 + x)^3 (1 + 3 x)^2.
        assert len(found) == len(set(found)) == 9 + 30 + 46
        assert set(mentions_of(case)) <= set(found)
    else:
        assert sorted(found) == sorted(mentions_of(case) + (find(case, name, MORE) or []))


@cases
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", STRANDS)
def test_what_is_read_has_the_encoding_that_was_read(case, name, reading):
    edges, _ = encode(case, name)
    again, _ = encode_mentions(read(case, name, reading), len(case["tokens"]), name)
    np.testing.assert_array_equal(again, edges)


@cases
def test_potentials_that_want_it_get_it(case):
    """The best structure is the gold one, and what is in it is certain. The strands of SPLIT share their roles."""
    structure = STRUCTURES["shared"]
    edges, offsets = encode(case, "shared")
    engine = ENGINES["subgraphs"](structure.template(TYPES))
    gold, constants = engine.role_counts(edges, offsets)
    potentials = Potentials(80 * gold - 40, np.zeros_like(constants, np.float32))
    np.testing.assert_array_equal(engine.viterbi(potentials, offsets).edges, edges)
    paths = structure.paths(MentionTable.build((0, 0, m) for m in mentions_of(case)), TYPES)
    np.testing.assert_allclose(engine.path_probability(potentials, offsets, paths), 1.0, atol=1e-5)


def test_figure_3():
    """SHARED for the second example of Figure 4, hyperedge by hyperedge; the paper counts components from 0, we from 1.

    One edge from T to B: all three mentions start with the first word. Three edges from B to X: there they end.
    """
    case = named("Infarctions")
    drawn = dict(zip(case["tokens"], labels(case, "shared"), strict=True))
    assert drawn == {
        "Infarctions": {"A", "T-B1", "B1-O2 X"},
        "either": {"A", "T-X", "O2-B2 O2"},
        "water": {"A", "T-X", "O2-O2", "B2-B2"},
        "shed": {"A", "T-X", "O2-O2", "B2-X"},
        "or": {"A", "T-X", "O2-B2"},
        "embolic": {"A", "T-X", "B2-X"},
    }
    template = STRUCTURES["shared"].template(TYPES)
    children = {edge.label: edge.children for edge in template.edges}
    assert children["A"] == (("T", 0), ("A", 1))
    assert children["T-B1"] == (("B1", 0),)
    assert children["B1-O2 X"] == (("O2", 1),)  # the leaf has no node
    assert set(children["O2-B2 O2"]) == {("O2", 1), ("B2", 1)}
    assert children["T-X"] == children["B2-X"] == ()


def test_split_has_a_strand_for_each_number_of_components():
    """Section 3.2: Infarctions alone is on the strand of one component, the two others on that of two."""
    drawn = labels(named("Infarctions"), "split")
    assert drawn[0] == {"A", "T/1-B1/1", "B1/1-X", "T/2-B1/2", "B1/2-O2/2", "T/3-X"}
    none = {"A", "T/1-X", "T/2-X", "T/3-X"}
    assert [row - none for row in drawn[1:]] == [
        {"O2/2-B2/2 O2/2"}, {"O2/2-O2/2", "B2/2-B2/2"}, {"O2/2-O2/2", "B2/2-X"}, {"O2/2-B2/2"}, {"B2/2-X"}
    ]  # fmt: skip
    assert all(none <= row for row in drawn[1:])


def test_gaps_with_several_parents_and_children_are_ambiguous():
    """Section 3.2, in the third example: a node O with two parents and two children does not say which ones pair."""
    drawn = labels(named("blood or dark"), "shared")
    token = named("blood or dark")["tokens"].index
    assert [drawn[token(word)] & {"B1-O2", "O2-O2"} for word in ("blood", "dark")] == [{"B1-O2"}, {"B1-O2", "O2-O2"}]
    assert "O2-B2 O2" in drawn[token("black")]
    assert "O2-B2 O2" in drawn[token("you")]
    assert {"B2-X", "B3-X"} <= drawn[token("vomit")]


@pytest.mark.parametrize("name", [*STRANDS, "seven_tag"])
def test_too_many_components_are_lost(name):
    case = named("blood or dark")
    table = MentionTable.build((0, 0, ranges) for ranges in mentions_of(case))
    lost = structure_of(name, components=2).encode(table, offsets_of([len(case["tokens"])]), TYPES).lost
    assert list(lost) == [2]  # dark ... material ... vomit
    assert "3 components" in lost[2]
