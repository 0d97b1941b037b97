"""Conjunctions of values that a kernel evaluates at once, against those that are made one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanloom.features.conjunctions import atoms, conjoined, conjunctions
from spanloom.hashing import hash_text

ATOMS = ("a", "b", "b:2", "hash", "hash:7")
TEMPLATES = st.lists(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3).map("|".join), min_size=1, max_size=5)


@given(TEMPLATES, st.lists(st.tuples(*[st.integers(0, 3)] * 2, st.integers(0, (1 << 64) - 1)), max_size=6))
def test_keys_are_those_of_each_template_where_no_value_lacks(
    templates: list[str], rows: list[tuple[int, int, int]]
) -> None:
    a, b, hashes = (np.array([row[i] for row in rows], np.uint64 if i == 2 else np.int64) for i in range(3))
    values = {"a": a, "b": b, "hash": hashes}
    keys = conjunctions(tuple(templates)).keys(values, len(rows))
    one_by_one = [conjoined(template, hash_text(template), values) for template in templates]
    for thing in range(len(rows)):
        expected = [
            own[thing]
            for template, own in zip(templates, one_by_one, strict=True)
            if all(values[atom.name][thing] for atom in atoms(template))
        ]
        assert keys.ids[keys.offsets[thing] : keys.offsets[thing + 1]].tolist() == expected
