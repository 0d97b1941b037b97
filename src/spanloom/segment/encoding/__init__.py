"""Segmenters whose scores come from an encoder: what needs PyTorch, which is loaded when it is used."""

from spanloom.extras import extra
from spanloom.lazy import lazily

__getattr__ = extra("torch", "an encoder")(lazily(__name__, {"learn_chains": "spanloom.segment.encoding.learning"}))
