"""Segmenters whose scores come from an encoder: what needs PyTorch, which is loaded when it is used."""

from typing import Any

from spanloom.extras import extra
from spanloom.lazy import lazily

_get = lazily(__name__, {"learn_chains": "spanloom.segment.encoding.learning"})


def __getattr__(name: str) -> Any:
    with extra("torch", "an encoder"):
        return _get(name)
