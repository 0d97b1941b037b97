"""Features of tokens: templates, columns, 64-bit keys, and the sparse matrix of training and prediction."""

from spanloom.features.computed import Resources, category_phrases
from spanloom.features.featureset import FeatureSet, Keys, available_columns
from spanloom.features.index import Built, FeatureIndex, Sparse, build_index, index_batch, name_rows
from spanloom.features.presets import PRESETS
from spanloom.features.template import FeatureTemplate, parse, parse_all
from spanloom.features.word_vectors import Dense, WordVectors

__all__ = [
    "PRESETS",
    "Built",
    "Dense",
    "FeatureIndex",
    "FeatureSet",
    "FeatureTemplate",
    "Keys",
    "Resources",
    "Sparse",
    "WordVectors",
    "available_columns",
    "build_index",
    "category_phrases",
    "index_batch",
    "name_rows",
    "parse",
    "parse_all",
]
