"""Encoders as ONNX graphs: the scorer that ONNX Runtime computes, without PyTorch, and the export that needs it.

Nothing here is loaded before it is used. Prediction needs the extra ``onnx``, the export ``onnx-export``.
"""

from spanloom.extras import extra
from spanloom.lazy import attached

_get, __dir__, __all__ = attached(__name__, __file__)
__getattr__ = extra("onnx-export", "the export of an encoder")(_get)
