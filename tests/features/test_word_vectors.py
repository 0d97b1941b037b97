"""Word vectors as columns: which vector a word gets, what stands around a token, and how they are scaled."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom.document import Batch, Document
from spanloom.errors import DataError, ModelError, UsageError
from spanloom.features import FeatureSet, Resources, WordVectors, build_index, name_rows
from spanloom.features.word_vectors import LENGTH
from spanloom.modelfile import ModelPart


def vectors(words=("the", "IL-2", "Fever", "café", "x1"), size=3, seed=0):
    matrix = np.random.default_rng(seed).normal(size=(len(words), size))
    return WordVectors.of(words, matrix)


def batch(text="the IL-9 fever", sentences=((0, 2), (2, 3))):
    ends = np.cumsum([len(word) + 1 for word in text.split()])
    tokens = [[end - len(word) - 1, end - 1] for word, end in zip(text.split(), ends, strict=True)]
    return Batch.of([Document(text, tokens=tokens, sentences=[list(pair) for pair in sentences])])


def test_a_word_is_looked_up_as_it_stands_then_in_lower_case_then_folded():
    found = WordVectors.of(["IL-2", "il-2", "IL-4", "Fever", "p53", "p38"], np.zeros((6, 2)))
    expected = {
        "IL-2": 0, "il-2": 1, "Il-2": 1, "IL-4": 2, "il-4": 0, "FEVER": 3, "fever": 3, "p38": 5, "P38": 5, "p99": 4,
        "il2": -1, "": -1,
    }  # fmt: skip
    assert dict(zip(expected, found.find(list(expected)).tolist(), strict=True)) == expected


def test_columns_are_those_of_the_words_around_in_the_sentence():
    own = vectors()
    dense = own.columns(batch(), [-1, 0, 1])
    table = np.concatenate([own.table.astype(np.float32), np.zeros((5, 1), np.float32)], axis=1)
    nothing, unknown = np.zeros(4), np.array([0, 0, 0, 1])
    expected = [
        [nothing, table[0], table[1]],
        [table[0], table[1], nothing],
        [nothing, table[2], nothing],
    ]
    for token, row in enumerate(expected):
        np.testing.assert_array_equal(dense.at(token), np.array(row))
    again = own.columns(batch("the Xanadu", ((0, 2),)), [0])
    np.testing.assert_array_equal(again.at(1), [unknown])


def test_scaled_vectors_have_mean_0_and_a_stated_length_at_the_words_of_the_text():
    words = ["a", "b", "c", "d"]
    matrix = np.random.default_rng(1).normal(5, 30, (4, 6))
    text = ["a"] * 7 + ["b"] * 2 + ["c"] + ["none"] * 50
    own = WordVectors.of(words, matrix)
    scaled = own.standardized(text)
    at = scaled.table[scaled.find([word for word in text if word != "none"])].astype(float)
    np.testing.assert_allclose(at.mean(0), 0, atol=2e-3)
    assert np.sqrt((at**2).sum(1).mean()) == pytest.approx(LENGTH, rel=2e-3)
    tables = matrix, scaled.table.astype(float)
    gaps = [np.linalg.norm(table[0] - table[3]) / np.linalg.norm(table[1] - table[2]) for table in tables]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-2)  # all by one number


def test_a_vector_that_half_precision_cannot_hold_is_refused():
    matrix = np.array([[1.0], [2.0], [1e7]])
    with pytest.raises(DataError, match="expected fewer than 65,504 times"):
        WordVectors.of(["a", "b", "c"], matrix).standardized(["a", "b"])


def test_english_vectors_are_of_8_bits_and_scaled_without_rounding():
    own = WordVectors.english()
    text = ["the", "patient", "was", "seen", "on", "Tuesday", "with", "pain", "in", "the", "left", "knee"]
    scaled = own.standardized(text)
    at = scaled.at(scaled.find(text)).astype(float)
    np.testing.assert_allclose(at.mean(0), 0, atol=1e-5)
    assert np.sqrt((at**2).sum(1).mean()) == pytest.approx(LENGTH, rel=1e-5)
    assert scaled.table is own.table
    assert own.table.dtype == np.int8
    near = own.at(own.find(["knee", "elbow", "tuesday", "monday"])).astype(float)
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    assert near[0] @ near[1] > near[0] @ near[2] < near[2] @ near[3]
    again = WordVectors.from_part(scaled.to_part())
    np.testing.assert_array_equal(again.at(again.find(text)), scaled.at(scaled.find(text)))
    dense = scaled.columns(batch("the xyzzyq", ((0, 2),)), [0])
    np.testing.assert_array_equal(dense.at(0)[0, :-1], scaled.at(scaled.find(["the"]))[0])
    assert dense.at(1)[0].tolist() == [0] * own.size + [1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vector_scale": np.ones(3, np.float32)}, "vector_scale"),
        ({"vector_shift": np.ones(2, np.float64)}, "vector_shift"),
        ({"vectors": np.ones((2, 2), np.float16)}, "vectors"),
        ({"vector_rows": np.array([0, 2], np.int32)}, "name vectors that are not there"),
    ],
)
def test_damaged_vectors_of_8_bits_are_refused(change, message):
    numbers = np.ones(2, np.float32)
    arrays = {
        "vectors": np.ones((2, 2), np.int8), "vector_keys": np.array([3, 4], np.uint64),
        "vector_rows": np.array([0, 1], np.int32), "vector_scale": numbers, "vector_shift": numbers,
    }  # fmt: skip
    assert WordVectors.from_part(ModelPart({}, arrays)).size == 2
    with pytest.raises(ModelError, match=message):
        WordVectors.from_part(ModelPart({}, arrays | change))


def test_text_with_no_known_word_leaves_vectors_as_they_are():
    matrix = np.eye(2)
    scaled = WordVectors.of(["a", "b"], matrix).standardized(["x", "y"])
    assert (scaled.table == matrix).all()
    assert scaled.share(["x", "a", "a", "b"]) == 0.75
    assert scaled.share([]) == 1


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("vector:2[0]", "cuts or joins the column 'vector'"),
        ("vector[0]|w[0]", "cuts or joins"),
        ("bag(vector,-1,1)", "cuts or joins"),
        ("ngrams(vector,2..2)", "cuts or joins"),
    ],
)
def test_the_column_stands_alone(template, message):
    with pytest.raises(UsageError, match=message):
        FeatureSet([template], resources=Resources(vectors=vectors()))


def test_without_vectors_the_column_is_refused():
    with pytest.raises(UsageError, match=r"'vector\[0\]' needs word vectors; none are given"):
        FeatureSet(["vector[0]"])


def test_features_and_dense_columns_stand_side_by_side():
    own = vectors()
    features = FeatureSet(["w[0]", "vector[-1..0]", "vector[0]", "bias"], resources=Resources(vectors=own))
    assert [str(feature) for feature in features.features] == ["w[0]", "bias"]
    assert features.positions == (-1, 0)
    assert features.needs == ()
    keys = features.keys(batch())
    plain = FeatureSet(["w[0]", "bias"]).keys(batch())
    assert (keys.ids == plain.ids).all()
    built = build_index(keys)
    assert len(built.index) == len(build_index(plain).index) + 2 * (own.size + 1)
    assert built.counts[-1] == 3
    names = name_rows(features, batch(), built, [0, len(built.index) - 5, len(built.index) - 4, len(built.index) - 1])
    assert names == [("bias",), ("vector[-1].unknown",), ("vector[0].0",), ("vector[0].unknown",)]
    assert features.extended(["low[0]"]).positions == (-1, 0)


def test_dense_columns_alone_are_features_enough():
    features = FeatureSet(["vector[0]"], resources=Resources(vectors=vectors()))
    built = build_index(features.keys(batch()))
    assert len(built.index) == built.matrix.dense.width == 4


def test_a_part_says_the_same():
    own = vectors()
    again = WordVectors.from_part(own.to_part())
    words = ["the", "FEVER", "x7", "nothing"]
    assert again.find(words).tolist() == own.find(words).tolist() == [0, 2, 4, -1]
    assert (again.table == own.table.astype(np.float16)).all()


@pytest.mark.parametrize(
    "change",
    [
        {"vector_rows": np.full(8, 5, np.int32)},
        {"vector_rows": np.full(8, -1, np.int32)},
        {"vector_rows": np.zeros(6, np.int32)},
        {"vector_keys": np.zeros(8, np.uint64)},
        {"vector_keys": np.zeros(0, np.uint64), "vector_rows": np.zeros(0, np.int32)},
        {"vectors": np.zeros((5, 3), np.float32)},
        {"vectors": np.zeros(5, np.float16)},
    ],
)
def test_damaged_parts_are_refused(change):
    arrays = vectors().to_part().arrays
    assert len(arrays["vector_keys"]) == len(arrays["vector_rows"]) == 7
    change = {name: np.resize(array, 7) if array.shape == (8,) else array for name, array in change.items()}
    with pytest.raises(ModelError):
        WordVectors.from_part(ModelPart(arrays={**arrays, **change}))
