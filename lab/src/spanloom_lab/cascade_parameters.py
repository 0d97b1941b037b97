"""The parameters of cascades; see `spanloom.model.fields`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from spanloom.model.choices import Attributes, Optimizer, Passes, Preset
from spanloom.model.fields import (
    CLUSTERS,
    EPOCHS,
    ITERATIONS,
    L2,
    LINK,
    MIN_COUNT,
    NAMES,
    OPTIMIZER,
    PASSES,
    RATE,
    SPLIT_TOKENS,
    TUNE_PENALTY,
    TYPES,
    VECTORS,
    VOCABULARY,
    VOCABULARY_COLUMNS,
    Parameter,
)
from spanloom.recognize.parameters import (
    ATTRIBUTES,
    FEATURES,
    IGNORE,
    POS,
    RUNS,
    SECTIONS,
    EncoderParameters,
)

if TYPE_CHECKING:
    from spanloom.tag.filling import Source
    from spanloom.vocabulary import Vocabulary

Order: TypeAlias = Literal["frequency", "search"]


@dataclass(eq=False, repr=False)
class _OfCascades:
    """Parameters of a `Cascade` that are not those of `EncoderParameters`."""

    order: Order | Sequence[str] = Parameter(
        "Order of the chains: frequency, search, or all types (repeatable).",
        "of the chains: ``frequency``, the most frequent type first; ``search``, chosen by development F1 (see "
        "`spanloom_lab.links.search_order`), which takes about three times as long; or the names of all types.",
        several=True,
        toml=str | list[str],
    )("frequency")
    features: Preset | Sequence[str] = FEATURES("biomedical")
    _: KW_ONLY
    optimizer: Optimizer = OPTIMIZER("adagrad")
    l2: float | Sequence[float] | None = L2(None)
    epochs: int = EPOCHS(30)
    runs: int = RUNS(1)
    iterations: int = ITERATIONS(200)
    rate: float = RATE(0.1)
    clusters: str | int | None = CLUSTERS(None)
    ignore: Sequence[str] | None = IGNORE(None)
    sections: str | Path | Mapping[str, Mapping[str, str]] | None = SECTIONS(None)
    vocabulary: str | Path | None = VOCABULARY(None)
    vocabulary_columns: str | None = VOCABULARY_COLUMNS(None)
    vectors: str | Path | None = VECTORS(None)
    link: str | Path | Vocabulary | Sequence[str | Path | Vocabulary] | None = LINK(None)
    pos: Source = POS("auto")
    split_tokens: bool = SPLIT_TOKENS(True)
    passes: Passes = PASSES("auto")
    min_count: int = MIN_COUNT(1)
    names: bool | int = NAMES(False)
    attributes: Attributes = ATTRIBUTES("auto")
    tune_penalty: bool = TUNE_PENALTY(True)
    types: Sequence[str] | None = TYPES(None)


@dataclass(eq=False, repr=False)
class CascadeParameters(EncoderParameters, _OfCascades):
    """Parameters of a `Cascade`; the parameters of its chains are those of a `Recognizer`."""
