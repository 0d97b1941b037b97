"""Export: a model with an encoder, for prediction without PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from spanloom.errors import DataWarning, UsageError
from spanloom.scoring import onnx
from spanloom.scoring.encoder.reader import WindowScorer
from spanloom.scoring.sum import SumScorer

M = TypeVar("M")


def to_onnx(model: M, precision: str = "float32", window: int | None = None) -> M:
    """Return a model whose encoder is an ONNX graph, which ONNX Runtime computes.

    All else is as it was: structure, decoder, calibration, report. It is saved and loaded as any other, and neither
    loading nor prediction imports PyTorch. Its graph cannot be trained further. A warning shows where PyTorch computes
    the model in 16 bits, which the graph does not: what was tuned and calibrated then meets other scores.

    Args:
        model: a recognizer or a segmenter that was trained with an encoder.
        precision: of the encoder's products: ``float32`` gives what PyTorch gives with 32 bits, up to the last digits;
            ``int8`` is faster and smaller, and differs a little.
        window: sub-words that are read at once, at most; fewer than in training are faster, and show a sentence less of
            its neighbours. When ``None``, as many.

    Raises:
        UsageError: a model without an encoder, another precision or window, or a library that is missing.
    """
    kind = getattr(model, "kind", type(model).__name__)
    has_model = hasattr(type(model), "fitted")
    fitted: Any = model.fitted if has_model else None  # type: ignore[attr-defined]  # raises where it is not trained
    halved: list[bool] = []
    change = partial(_exported, kind=kind, precision=precision, window=window, halved=halved)
    made: Any = copy(model)
    if isinstance(fitted, tuple):  # several models, each a recognizer
        made.model_ = tuple(_changed(chain, change) for chain in fitted)
    elif hasattr(fitted, "scored_by"):
        made.model_ = fitted.scored_by(change)
    else:
        raise _without_encoder(kind)
    if any(halved) and precision == "float32":  # of 8 bits more is to be expected
        warnings.warn(
            "PyTorch computes this model in 16 bits, for which it was tuned and calibrated, its graph in 32: "
            "probabilities may differ by 0.02 or so; train with precision='float32' "
            "where they must not",
            DataWarning,
            stacklevel=2,
        )
    exported: M = made
    return exported


def _changed(chain: Any, change: Callable[[Any], Any]) -> Any:
    other = copy(chain)
    other.model_ = chain.fitted.scored_by(change)
    return other


def _exported(scorer: Any, kind: str, precision: str, window: int | None, halved: list[bool]) -> Any:
    """Return the scorer that a graph computes; note whether PyTorch computed it in 16 bits."""
    if isinstance(scorer, SumScorer):  # features beside the encoder stay as they are
        return replace(scorer, encoder=_exported(scorer.encoder, kind, precision, window, halved))
    if not isinstance(scorer, WindowScorer):
        raise _without_encoder(kind)
    if isinstance(scorer, onnx.OnnxScorer):
        raise UsageError("the encoder of this model is an ONNX graph already; export the model that it was made of")
    trained: Any = scorer  # of PyTorch: the other scorer with windows is a graph
    halved.append(trained.network.halved)
    return onnx.exported(trained, precision, window)


def _without_encoder(kind: str) -> UsageError:
    return UsageError(f"this {kind} has no encoder that was trained with it; there is nothing to export")
