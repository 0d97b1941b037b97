"""Conjunctions of values that a kernel evaluates at once, against those that are made one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanloom.features import build_index
from spanloom.features.conjunctions import Conjunctions, Values, atoms, conjoined, conjunctions
from spanloom.hashing import UInt64, hash_text
from spanloom.parallel import Threads
from spanloom.scoring import Weights, role_scores

ATOMS = ("a", "b", "b:2", "hash", "hash:7")
TEMPLATES = st.lists(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3).map("|".join), min_size=1, max_size=5)


def table_of(made: Conjunctions, values: Values, count: int) -> UInt64:
    """The values that templates read, as a table."""
    return np.array([values[name].view(np.uint64) for name in made.names]).reshape(len(made.names), count)


@given(TEMPLATES, st.lists(st.tuples(*[st.integers(0, 3)] * 2, st.integers(0, (1 << 64) - 1)), max_size=6))
def test_keys_are_those_of_each_template_where_no_value_lacks(
    templates: list[str], rows: list[tuple[int, int, int]]
) -> None:
    a, b, hashes = (np.array([row[i] for row in rows], np.uint64 if i == 2 else np.int64) for i in range(3))
    values = {"a": a, "b": b, "hash": hashes}
    made = conjunctions(tuple(templates))
    keys = made.keys(table_of(made, values, len(rows)))
    one_by_one = [conjoined(template, hash_text(template), values) for template in templates]
    for thing in range(len(rows)):
        expected = [
            own[thing]
            for template, own in zip(templates, one_by_one, strict=True)
            if all(values[atom.name][thing] for atom in atoms(template))
        ]
        assert keys.ids[keys.offsets[thing] : keys.offsets[thing + 1]].tolist() == expected


@given(
    st.lists(st.sampled_from(["a", "b:2", "a|hash", "hash"]), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9)), max_size=70),
    st.integers(1, 3),
)
def test_weights_are_summed_as_with_a_matrix(
    templates: list[str], rows: list[tuple[int, int, int]], workers: int
) -> None:
    made = conjunctions(tuple(templates))
    columns = {name: np.array([row[i] for row in rows], np.uint64) for i, name in enumerate(("a", "b", "hash"))}
    table = table_of(made, columns, len(rows))
    known = build_index(made.keys(table[:, : len(rows) // 2].copy())).index
    weights = np.random.default_rng(0).normal(size=len(known)).astype(np.float32)
    matrix = known.lookup(made.keys(table))
    expected = role_scores(matrix, Weights(weights[:, None, None], np.zeros((0, 1), np.float32))).roles[:, 0, 0]
    with Threads(workers) as run:
        assert made.names and known.weighed(made, table, weights, run).tobytes() == expected.tobytes()
