"""The transition system by name: Table 1 of the paper, and the roles."""

from __future__ import annotations

import pytest

from spanloom.link.transitions import Segment, actions, role_names
from spanloom.native import Kernel


def test_table_1() -> None:
    """'Increase of parkinson disability after fluoxetine medication .', action by action."""
    derived = actions(8, [Segment(2, 4, 0, "movement disorders")], ["disease"])
    assert derived == [
        "SEPN",
        "SEPN",
        "SEPY(disease)",
        "APP",
        "SEPNOR(movement disorders) SEPN",
        "SEPN",
        "SEPN",
        "SEPN",
    ]


def test_neighbours_and_the_end() -> None:
    segments = [Segment(0, 1, 0, "a"), Segment(1, 3, 1), Segment(3, 4, 0, "b")]
    assert actions(4, segments, ["x", "y"]) == [
        "SEPY(x)",
        "SEPNOR(a) SEPY(y)",
        "APP",
        "SEPY(x)",
        "SEPNOR(b) END",
    ]


@pytest.mark.parametrize("types", [["a"], ["a", "b", "c"]])
def test_roles_of_the_kernel_are_those_that_are_named(types: list[str]) -> None:
    names = role_names(types)
    assert len(names) == len(set(names)) == 2 + 7 * len(types)
    kinds = len(types)
    for previous in range(1 + 2 * kinds):
        for label in range(1 + 2 * kinds):
            if label and label % 2 == 0 and previous not in (label, label - 1):
                continue  # I follows B or I of its type only
            name = names[Kernel("link_role")(kinds, previous, label)]
            if label == 0:
                expected = "O after O" if previous == 0 else f"O after {types[(previous - 1) // 2]}"
            elif label % 2:
                expected = f"B-{types[label // 2]} after {'an entity' if previous else 'O'}"
            else:
                own = types[(label - 1) // 2]
                expected = f"I-{own} after {'B' if previous % 2 else 'I'}-{own}"
            assert name == expected
