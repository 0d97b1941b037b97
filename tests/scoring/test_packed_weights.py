"""Weights in eight bits, and what of them is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spanloom.errors import ModelError
from spanloom.modelfile import COMPACT, LARGEST, ModelPart
from spanloom.scoring.packing import packed_weights, quantized, rows_with_weights, stored_outputs, stored_weights

SHAPES = st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(1, 4))
WEIGHTS = arrays(np.float32, SHAPES, elements=st.floats(-50, 50, width=32))


@given(WEIGHTS, st.floats(0, 5), st.integers(0, 6))
def test_weights_come_back_as_they_were_packed(weights: np.ndarray, threshold: float, keyed: int) -> None:
    keyed = min(keyed, len(weights))
    made, scales = quantized(weights, threshold, keyed)
    again, known = stored_weights(ModelPart(parts={COMPACT: packed_weights(made, scales)}), *made.shape)
    assert again.tobytes() == made.tobytes() or np.array_equal(again, made)
    assert known is not None
    assert np.array_equal(known, scales)
    assert packed_weights(again, known).flat().keys() == packed_weights(made, scales).flat().keys()
    for name, array in packed_weights(again, known).flat().items():
        assert np.array_equal(array, packed_weights(made, scales).flat()[name])
    dropped = np.zeros(weights.shape, bool)
    dropped[:keyed] = np.abs(weights[:keyed]) < threshold
    assert not made[dropped].any()
    error = np.abs(made - weights)[~dropped]
    assert (error <= np.broadcast_to(scales, weights.shape)[~dropped] * 0.51 + 1.28e-28).all()  # 127 least scales
    assert rows_with_weights(made, keyed)[keyed:].all()


def part(**changed: np.ndarray) -> ModelPart:
    weights = np.array([[[1.0, -2.0]], [[0.0, 0.0]], [[0.5, 0.0]]], np.float32)
    packed = packed_weights(*quantized(weights, 0.1, 3))
    return ModelPart(parts={COMPACT: ModelPart(arrays={**packed.arrays, **changed})})


def test_the_small_example() -> None:
    found, scales = stored_weights(part(), 3, 1, 2)
    assert np.allclose(found[:, 0], [[1, -2], [0, 0], [0.5, 0]], atol=0.01)
    assert stored_outputs(part()) == (1, 2)
    assert scales is not None


@pytest.mark.parametrize(
    "changed",
    [
        {"scales": np.array([[np.nan, 1]], np.float32)},
        {"scales": np.array([[np.inf, 1]], np.float32)},
        {"scales": np.array([[-1, 1]], np.float32)},
        {"scales": np.array([[0, 1]], np.float32)},
        {"scales": np.array([[LARGEST, 1]], np.float32)},
        {"scales": np.ones((1, 2))},
        {"scales": np.ones((2, 1), np.float32)},
        {"scales": np.ones(2, np.float32)},
        {"columns": np.array([0, 1, 2], np.uint8)},
        {"columns": np.array([1, 0, 0], np.uint8)},
        {"columns": np.array([0, 0, 0], np.uint8)},
        {"columns": np.array([0, 1, 0], np.int8)},
        {"columns": np.array([0, 1], np.uint8)},
        {"columns": np.array([0, 1, 2**32 - 1], np.uint32)},
        {"values": np.array([1, 1, 0], np.int8)},
        {"values": np.array([1, 1, -128], np.int8)},
        {"values": np.array([1, 1, 1], np.int16)},
        {"values": np.ones((3, 1), np.int8)},
        {"counts": np.array([2, 0, 200], np.uint8)},
        {"counts": np.array([2**32 - 1] * 3, np.uint32)},
        {"counts": np.array([2, 1], np.uint8)},
        {"counts": np.array([2, 0, 1], np.float32)},
    ],
)
def test_hostile_arrays(changed: dict[str, np.ndarray]) -> None:
    with pytest.raises(ModelError):
        stored_weights(part(**changed), 3, 1, 2)


@pytest.mark.parametrize("missing", ["scales", "columns", "values", "counts"])
def test_missing_arrays(missing: str) -> None:
    own = {name: array for name, array in part().parts[COMPACT].arrays.items() if name != missing}
    with pytest.raises(ModelError, match=missing):
        stored_weights(ModelPart(parts={COMPACT: ModelPart(arrays=own)}), 3, 1, 2)


def test_tiny_weights_are_no_weights() -> None:
    made, scales = quantized(np.full((2, 1, 1), 1e-40, np.float32), 0.0, 2)
    assert not made.any()
    assert not scales.any()
