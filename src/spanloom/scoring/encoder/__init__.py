"""Encoders of Hugging Face's form as scorers: a folder, its sub-words, windows of sentences, and role scores.

Nothing here is loaded before it is used: PyTorch and transformers are the extra ``torch``.
"""

from spanloom.extras import extra
from spanloom.lazy import attached

_get, __dir__, __all__ = attached(__name__, __file__)
__getattr__ = extra("torch", "an encoder")(_get)
