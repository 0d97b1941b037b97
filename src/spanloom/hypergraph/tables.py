"""Tables for kernels, built from templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.kernels_automaton import Hyperedges
from spanloom.hypergraph.template import Hyperedge, Template

Ints = NDArray[np.int64]


def hyperedges_of(edges: Sequence[Hyperedge], template: Template) -> Hyperedges:
    """Return the tables of some hyperedges, with the numbers of roles and constants in a template."""
    roles, constants = ({name: i for i, name in enumerate(names)} for names in (template.roles, template.constants))
    return Hyperedges(
        np.array([-1 if edge.constant is None else constants[edge.constant] for edge in edges], np.int64),
        *csr([[roles[role.name] for role in edge.roles] for edge in edges]),
        np.array([role.step for edge in edges for role in edge.roles], np.int64),
        np.array([e for e, edge in enumerate(edges) if edge.roles], np.int64),
    )


def csr(rows: Iterable[list[int]]) -> tuple[Ints, Ints]:
    """Return rows of numbers in compressed form."""
    rows = list(rows)
    ptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return ptr, np.array([value for row in rows for value in row], np.int64)
