"""Inference engine of all models: templates, two ways of counting, sums, marginals, best and k best structures."""

from spanloom.hypergraph.derivations import DerivationEngine
from spanloom.hypergraph.engine import (
    Best,
    Edges,
    Engine,
    Expectations,
    Floats,
    Ints,
    Mask,
    Potentials,
    Ranking,
    Singles,
)
from spanloom.hypergraph.subgraphs import SubgraphEngine
from spanloom.hypergraph.tables import Paths
from spanloom.hypergraph.template import Child, Hyperedge, Role, Template

ENGINES: dict[str, type[Engine]] = {"derivations": DerivationEngine, "subgraphs": SubgraphEngine}

__all__ = [
    "ENGINES",
    "Best",
    "Child",
    "DerivationEngine",
    "Edges",
    "Engine",
    "Expectations",
    "Floats",
    "Hyperedge",
    "Ints",
    "Mask",
    "Paths",
    "Potentials",
    "Ranking",
    "Role",
    "Singles",
    "SubgraphEngine",
    "Template",
]
