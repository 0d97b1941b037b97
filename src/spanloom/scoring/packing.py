"""Weights of compact models: the small ones left out, the others in eight bits with a scale for each role and type."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import ModelError
from spanloom.features.packing import smallest, whole_numbers
from spanloom.hypergraph import Singles
from spanloom.modelfile import COMPACT, LARGEST, ModelPart

_MOST: Final = 127
_LEAST: Final = 1e-30  # of a scale; below, single precision has too few digits to divide by
_WEIGHTS: Final = "weights"


def quantized(weights: Singles, threshold: float, keyed: int) -> tuple[Singles, Singles]:
    """Return the weights that eight bits can hold, and their scales.

    Args:
        weights: (F, R, K).
        threshold: weights of keys that are nearer to 0 become 0.
        keyed: rows that have keys, the first ones; of the dense columns behind them no weight is left out.

    Returns:
        The weights, each a whole number from -127 to 127 times its scale, and the scales, (R, K).
    """
    kept = weights.copy()
    kept[:keyed][np.abs(kept[:keyed]) < threshold] = 0.0
    scales = (np.abs(kept).max(0, initial=0.0) / _MOST).astype(np.float32)
    scales[scales < _LEAST] = 0.0
    steps = np.rint(np.divide(kept, scales, out=np.zeros_like(kept), where=scales > 0))
    return (steps * scales).astype(np.float32), scales


def packed_weights(weights: Singles, scales: Singles) -> ModelPart:
    """Return weights as a part: of each row how many are not 0, and which, and their multiples of the scales.

    Args:
        weights: (F, R, K) that `quantized` gave.
        scales: (R, K) that it gave with them.
    """
    flat = weights.reshape(len(weights), scales.size)
    rows, columns = np.nonzero(flat)
    steps = np.rint(flat[rows, columns] / scales.reshape(-1)[columns]).astype(np.int8)
    counts = np.bincount(rows, minlength=len(flat))
    arrays = {"counts": smallest(counts), "columns": smallest(columns), "values": steps, "scales": scales}
    return ModelPart(arrays=arrays)


def _unpacked(part: ModelPart, rows: int, roles: int, types: int) -> tuple[Singles, Singles]:
    """Return the weights and the scales that `packed_weights` was given.

    Raises:
        ModelError: arrays that do not belong together, missing columns, or invalid scales.
    """
    counts = whole_numbers(part, "counts", rows)
    total = int(counts.sum())
    columns, steps = whole_numbers(part, "columns", total), part.array("values", np.int8, total)
    scales = part.array("scales", np.float32, roles, types)
    if not ((scales >= 0) & (scales <= LARGEST / _MOST)).all():
        found = f"from {scales.min():g} to {scales.max():g}"
        raise ModelError(f"{part.name}scales: {found}, expected 0 to {LARGEST / _MOST:g}; the model is damaged")
    width = roles * types
    places = np.repeat(np.arange(rows), counts) * width + columns
    if columns.max(initial=0) >= width or (np.diff(places) <= 0).any():
        raise ModelError(f"{part.name}columns: not in order, or beyond {width}; the model is damaged")
    factors = scales.reshape(-1)[columns]
    if (steps == 0).any() or (steps == -_MOST - 1).any() or (factors == 0).any():
        raise ModelError(f"{part.name}values: 0 or -128, or a scale that is 0; the model is damaged")
    flat = np.zeros(rows * width, np.float32)
    flat[places] = steps * factors
    return flat.reshape(rows, roles, types), scales


def stored_weights(part: ModelPart, rows: int, roles: int, types: int) -> tuple[Singles, Singles | None]:
    """Return the (F, R, K) weights of a part, and their scales where the model is compact.

    Raises:
        ModelError: weights of another type or shape, or numbers that `packed_weights` does not give.
    """
    if COMPACT in part.parts:
        return _unpacked(part.part(COMPACT), rows, roles, types)
    return part.array(_WEIGHTS, np.float32, rows, roles, types), None


def stored_outputs(part: ModelPart) -> tuple[int, ...] | None:
    """Return how many weights each feature has in a part, as (R, K); ``None`` where it holds no weights.

    Raises:
        ModelError: weights of another type, or with other axes.
    """
    if COMPACT in part.parts:
        return part.part(COMPACT).array("scales", np.float32, None, None).shape
    if _WEIGHTS in part.arrays:
        return part.array(_WEIGHTS, np.float32, None, None, None).shape[1:]
    return None


def rows_with_weights(weights: Singles, keyed: int) -> NDArray[np.bool_]:
    """Return which rows stay: those of which a weight is not 0, and those of dense columns, (F,)."""
    stays: NDArray[np.bool_] = (weights != 0).any(axis=(1, 2))
    stays[keyed:] = True
    return stays
