"""The roles of the transition system (Lou et al. 2017, section 2), by name."""

from __future__ import annotations

import pytest

from spanloom.native import Kernel


def role_names(types: list[str]) -> tuple[str, ...]:
    """The R = 2 + 7 K roles, which own weights of the features of tokens: each label, and each pair of labels.

    A pair is reduced to what the transition system distinguishes, so that R grows with K and not with its square.
    """
    return (
        "O",
        *(f"{letter}-{name}" for name in types for letter in "BI"),
        "O after O",
        *(f"O after {name}" for name in types),
        *(f"B-{name} after {what}" for name in types for what in ("O", "an entity")),
        *(f"I-{name} after {letter}-{name}" for name in types for letter in "BI"),
    )


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
