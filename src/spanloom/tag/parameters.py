"""The parameters of taggers; see `spanloom.model.fields`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from spanloom.model.choices import Optimizer
from spanloom.model.fields import (
    CLUSTERS,
    EPOCHS,
    ITERATIONS,
    JOBS,
    MIN_COUNT,
    OPTIMIZER,
    RATE,
    SEED,
    VECTORS,
    VOCABULARY,
    VOCABULARY_COLUMNS,
    Number,
    Parameter,
)

# words, beginnings, endings and shapes of a token and its neighbours; transitions have one weight each
_TEMPLATES = (
    "bias w[0] low[-2..2] low[-2]|low[-1] low[-1]|low[0] low[0]|low[1] low[1]|low[2] low[-1]|low[1] "
    "low[-1]|low[0]|low[1] norm[0] prefix(1..5) suffix(1..6) w:-3[-1] w:-3[1] shape[-1..1] short_shape[0] orth[0]"
)
FEATURES = tuple(_TEMPLATES.split())


@dataclass(eq=False, repr=False)
class TaggerParameters:
    """Parameters of a `PosTagger`."""

    features: Sequence[str] = Parameter(
        "", "templates; columns of the data that they name must be there when tagging, too.", option=None,
        toml=list[str],
    )(FEATURES)  # fmt: skip
    _: KW_ONLY
    column: str = Parameter("Column to learn.", "the column that is learned and filled.")("pos")
    l2: float = Number("Weight of the L2 penalty.", "lambda.", zero=True)(0.1)
    epochs: int = replace(
        EPOCHS,
        doc="passes of AdaGrad at most; it stops when development accuracy no longer rises, and the best is kept.",
    )(15)
    rate: float = RATE(0.1)
    optimizer: Optimizer = OPTIMIZER("adagrad")
    iterations: int = ITERATIONS(200)
    min_count: int = MIN_COUNT(2)
    clusters: str | int | None = CLUSTERS(None)
    vectors: str | Path | None = VECTORS(None)
    vocabulary: str | Path | None = VOCABULARY(None)
    vocabulary_columns: str | None = VOCABULARY_COLUMNS(None)
    n_jobs: int | None = JOBS(1)
    random_state: int = SEED(0)
