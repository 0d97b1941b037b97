"""Features of tokens: templates, columns, 64-bit keys, and the sparse matrix of training and prediction."""

from spanloom.features.computed import Resources as Resources
from spanloom.features.computed import category_phrases as category_phrases
from spanloom.features.featureset import FeatureSet as FeatureSet
from spanloom.features.featureset import Keys as Keys
from spanloom.features.featureset import available_columns as available_columns
from spanloom.features.index import Built as Built
from spanloom.features.index import FeatureIndex as FeatureIndex
from spanloom.features.index import Sparse as Sparse
from spanloom.features.index import build_index as build_index
from spanloom.features.index import index_batch as index_batch
from spanloom.features.index import name_rows as name_rows
from spanloom.features.presets import PRESETS as PRESETS
from spanloom.features.template import FeatureTemplate as FeatureTemplate
from spanloom.features.template import parse as parse
from spanloom.features.template import parse_all as parse_all
from spanloom.features.word_vectors import Dense as Dense
from spanloom.features.word_vectors import WordVectors as WordVectors
