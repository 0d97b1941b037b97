"""Inference engine of all models: templates, two ways of counting, sums, marginals, best and k best structures."""

from spanloom.hypergraph.derivations import DerivationEngine as DerivationEngine
from spanloom.hypergraph.engine import Best as Best
from spanloom.hypergraph.engine import Edges as Edges
from spanloom.hypergraph.engine import Engine as Engine
from spanloom.hypergraph.engine import Expectations as Expectations
from spanloom.hypergraph.engine import Floats as Floats
from spanloom.hypergraph.engine import Ints as Ints
from spanloom.hypergraph.engine import Mask as Mask
from spanloom.hypergraph.engine import Potentials as Potentials
from spanloom.hypergraph.engine import Ranking as Ranking
from spanloom.hypergraph.engine import Singles as Singles
from spanloom.hypergraph.subgraphs import SubgraphEngine as SubgraphEngine
from spanloom.hypergraph.tables import Paths as Paths
from spanloom.hypergraph.template import Child as Child
from spanloom.hypergraph.template import Hyperedge as Hyperedge
from spanloom.hypergraph.template import Role as Role
from spanloom.hypergraph.template import Template as Template

ENGINES: dict[str, type[Engine]] = {"derivations": DerivationEngine, "subgraphs": SubgraphEngine}
