"""The example sentences of the papers, through every structure: what is encoded, read back, kept and counted."""

from __future__ import annotations

import math
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from structure_helpers import CHAINS, FLAGGED, offsets_of, picks, quads, readings, such, table

from spanloom.hypergraph import ENGINES, Potentials, reference
from spanloom.structures import READINGS, STRUCTURES
from spanloom.structures.flagged import boundaries
from spanloom.structures.strands.structure import Stranded

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "nested.toml").read_text(encoding="utf-8"))["case"]
NINE = [case for case in CASES if case["name"].startswith("an Apache helicopter")]
cases = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def types_of(case):
    return sorted(case["separators"])


def mentions_of(case, field="mentions"):
    listed = case.get(field, "same")
    listed = case["mentions"] if listed == "same" else listed
    return [(0, types_of(case).index(kind), first, end) for first, end, kind in listed]


def encode(case, name):
    offsets = offsets_of([len(case["tokens"])])
    return STRUCTURES[name].encode(table(mentions_of(case)), offsets, types_of(case)), offsets


@cases
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", FLAGGED)
def test_readings(case, name, reading):
    encoded, offsets = encode(case, name)
    assert not encoded.lost
    found = STRUCTURES[name].decode(encoded.edges, offsets, types_of(case), reading)
    assert sorted(quads(found)) == sorted(mentions_of(case, reading))


@cases
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", CHAINS)
def test_chains_keep_the_longer(case, name, reading):
    encoded, offsets = encode(case, name)
    found = STRUCTURES[name].decode(encoded.edges, offsets, types_of(case), reading)
    kept = mentions_of(case, "flat")
    assert sorted(quads(found)) == sorted(kept)
    rest = mentions_of(case)
    for mention in kept:
        rest.remove(mention)
    assert sorted(mentions_of(case)[i] for i in encoded.lost) == sorted(rest)
    assert all("overlaps" in why for why in encoded.lost.values())


@cases
def test_separators_as_drawn(case):
    """The first separator stands before the first token: T-O is X there, and T-I is S."""
    encoded, _ = encode(case, "separators")
    labels = [edge.label for edge in STRUCTURES["separators"].template(()).edges]
    for k, kind in enumerate(types_of(case)):
        drawn = [labels[e] for _, e in picks(encoded.edges[:, k])]
        drawn[0] = {"T-O": "X", "T-I": "S"}[drawn[0]]
        assert " ".join(drawn) == case["separators"][kind]


@cases
def test_states_are_pairs_of_separators(case):
    encoded, _ = encode(case, "separator_states")
    labels = [edge.label for edge in STRUCTURES["separator_states"].template(()).edges]
    for k, kind in enumerate(types_of(case)):
        drawn = case["separators"][kind].split()
        pairs = [f"{before}-{after}" for before, after in pairwise(drawn)]
        assert [labels[e] for _, e in picks(encoded.edges[:, k])] == [f"T-{drawn[0]}", *pairs]


@cases
def test_number_of_readings(case):
    for k, kind in enumerate(types_of(case)):
        own = [(0, 0, first, end) for _, kind, first, end in mentions_of(case) if kind == k]
        found = list(readings(boundaries(table(own), offsets_of([len(case["tokens"])]), 1)))
        assert len(found) == case["readings"][kind]
        assert {(first, end) for _, _, first, end in own} in map(set, found)


@cases
@pytest.mark.parametrize("name", such(lambda s: not isinstance(s, Stranded) or len(s.shapes()) == 1))  # strands share S
def test_potentials_that_want_it_get_it(case, name):
    structure = STRUCTURES[name]
    encoded, offsets = encode(case, name)
    engine = ENGINES["subgraphs"](structure.template(types_of(case)))
    gold, constants = engine.role_counts(encoded.edges, offsets)
    best = engine.viterbi(Potentials(20 * gold - 10, np.zeros_like(constants, np.float32)), offsets)
    np.testing.assert_array_equal(best.edges, encoded.edges)


@pytest.mark.parametrize("name", FLAGGED)
def test_figure_3_of_lu_and_roth_and_section_5_2_of_muis_and_lu(name):
    """Crossing and nested have one encoding."""
    for beginning in ("A B C D, type", "three words"):
        one, two = (encode(case, name)[0].edges for case in CASES if case["name"].startswith(beginning))
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", FLAGGED)
def test_seven_of_nine_combinations_share_an_encoding(name):
    edges = [encode(case, name)[0].edges.tolist() for case in NINE]
    assert len(edges) == 9
    assert edges[1:8] == [edges[4]] * 7
    assert edges[0] != edges[4] != edges[8] != edges[0]


# What Figure 8 leaves of three tokens: mentions start at the first two, and none ends at the first.
FIGURE_8 = ({"S", "C"}, {"S", "C", "E"}, {"E"})
FORCED = 60.0  # the score of each of the two starts: structures without one weigh nothing beside those with both


def figure_8(name, scores=None):
    """Potentials of the restricted graph; ``scores`` of single roles, 0 for the others."""
    roles = STRUCTURES[name].template(()).roles
    rows = [
        [(scores or {}).get((t, role), 0.0) + FORCED * (role == "S") if role in kept else -np.inf for role in roles]
        for t, kept in enumerate(FIGURE_8)
    ]
    constants = len(STRUCTURES[name].template(()).constants)
    return Potentials(np.array(rows, np.float32)[:, :, None], np.zeros((constants, 1), np.float32))


@pytest.mark.parametrize(
    ("name", "counting", "count"),
    [
        ("mention_hypergraph", "derivations", 9),
        ("mention_hypergraph", "subgraphs", 3),
        ("separators", "derivations", 3),
        ("separators", "subgraphs", 3),
        ("separator_states", "derivations", 3),
        ("separator_states", "subgraphs", 3),
    ],
)
def test_figure_8_has_nine_derivations_and_three_subgraphs(name, counting, count):
    template = STRUCTURES[name].template(())
    potentials = figure_8(name)
    rows = [dict(zip(template.roles, row, strict=True)) for row in potentials.roles[:, :, 0].tolist()]
    scores = reference.edge_scores(template, rows)
    every = getattr(reference, counting)(template, 3)
    assert sum(sum(scores[t][e] for t, e in structure) == 2 * FORCED for structure in every) == count
    log_z = ENGINES[counting](template).log_partition(potentials, offsets_of([3]))
    assert math.exp(log_z[0, 0] - 2 * FORCED) == pytest.approx(count)


def test_figure_8_normalization_term_by_hand():
    """Appendix A: edges A (T1 to I1), B (I0 to I1), C (I1 to I2), D (I1 to X), E (I1 to I2 and X), F (I2 to X).

    E has the roles of C and D, so its weight is their product.
    """
    A, B, C, D, F = 1.5, 0.7, 2.0, 3.0, 0.4
    E = C * D
    log = {(1, "S"): A, (0, "C"): B, (1, "C"): C, (1, "E"): D, (2, "E"): F}
    potentials = figure_8("mention_hypergraph", {place: math.log(weight) for place, weight in log.items()})
    offsets = offsets_of([3])
    engines = {counting: engine(STRUCTURES["mention_hypergraph"].template(())) for counting, engine in ENGINES.items()}
    z = {
        counting: math.exp(engine.log_partition(potentials, offsets)[0, 0] - 2 * FORCED)
        for counting, engine in engines.items()
    }
    nine = [x * y for x in (A * C * F, A * E * F, A * D) for y in (B * C * F, B * E * F, B * D)]
    assert z["derivations"] == pytest.approx(sum(nine), rel=1e-4)
    assert z["subgraphs"] == pytest.approx(A * B * (C * F + E * F + D), rel=1e-4)
    # Gold counted as the inside score of its sub-hypergraph is the fifth of the nine, for all seven combinations.
    numerator = {}
    for counting, engine in engines.items():
        for case in NINE[1:8]:
            counts, _ = engine.role_counts(encode(case, "mention_hypergraph")[0].edges, offsets)
            allowed = counts > 0
            numerator[counting] = math.exp((counts[allowed] * potentials.roles[allowed]).sum() - 2 * FORCED)
            assert numerator[counting] == pytest.approx(
                {"derivations": nine[4], "subgraphs": A * B * E * F}[counting], rel=1e-4
            )
