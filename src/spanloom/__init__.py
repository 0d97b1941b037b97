"""Spanloom recognizes mentions that nest, overlap or cross, with exact probabilities."""

from __future__ import annotations

from warnings import warn

from spanloom.lazy import attached, lazily

__version__ = "0.2.0"
_exported, _, _names = attached(__name__, __file__)
__all__ = ["__version__", *_names]


def __getattr__(name: str) -> object:
    if name == "Cascade":  # until 0.3
        message = (
            "spanloom.Cascade is deprecated: from spanloom_lab import Cascade (pip install ./lab in Spanloom's folder)"
        )
        warn(message, DeprecationWarning, stacklevel=2)
        return lazily(__name__, {"class_of": "spanloom.model.kinds"})("class_of")("cascade")
    return _exported(name)


def __dir__() -> list[str]:
    return __all__
