"""Encoders as ONNX graphs: the scorer that ONNX Runtime computes, without PyTorch, and the export that needs it.

Nothing here is loaded before it is used. Prediction needs the extra ``onnx``, the export ``onnx-export``.
"""

from typing import Any

from spanloom.extras import extra
from spanloom.lazy import lazily

_NAMES = {
    "OnnxScorer": "spanloom.scoring.onnx.scorer",
    "OnnxSettings": "spanloom.scoring.onnx.scorer",
    "exported": "spanloom.scoring.onnx.export",
}
__all__ = list(_NAMES)
_get = lazily(__name__, _NAMES)


def __getattr__(name: str) -> Any:
    with extra("onnx-export", "the export of an encoder"):
        return _get(name)
