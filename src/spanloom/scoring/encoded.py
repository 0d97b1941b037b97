"""Scorers with an encoder as parts of model files: computed by PyTorch, ``encoder``, or as a graph, ``onnx``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from spanloom.modelfile import ModelPart
from spanloom.scoring import encoder, onnx

_ENCODER: Final = "encoder"
_ONNX: Final = "onnx"
ENCODED: Final[tuple[str, ...]] = (_ENCODER, _ONNX)
"""Names of these parts, of which a part of a model has one, or none."""


def encoded_parts(scorer: Any) -> dict[str, ModelPart]:
    """Return a scorer with an encoder as a part, by the name of its kind.

    Args:
        scorer: an `EncoderScorer` or an `OnnxScorer`.
    """
    part: ModelPart = scorer.to_part()
    return {_ONNX if "graph" in part.arrays else _ENCODER: part}


def encoded_of(part: ModelPart, outputs: Any, types: int) -> Any:
    """Return the scorer that `encoded_parts` gave.

    Args:
        part: within which it is.
        outputs: roles and constants that have scores, such as a template's.
        types: K.

    Raises:
        ModelError: none, a damaged one, or one of something else.
        UsageError: a library is missing.
    """
    name = _name(part)
    kind = onnx.OnnxScorer if name == _ONNX else encoder.EncoderScorer
    return kind.from_part(part.part(name), outputs, types)


def output_count(part: ModelPart) -> int:
    """Return the number of scores of a token from the encoder in a part, before anything is built.

    Raises:
        ModelError: there is no encoder, or a damaged one.
    """
    return len(part.part(_name(part)).array("head.bias", np.float32, None))


def _name(part: ModelPart) -> str:
    return _ONNX if _ONNX in part.parts else _ENCODER
