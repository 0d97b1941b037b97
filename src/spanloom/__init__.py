"""Spanloom recognizes mentions that nest, overlap or cross, and says how sure it is."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# name -> module; imported when first used, so that `import spanloom` loads no compiled kernel
_EXPORTS = {
    "Cascade": "spanloom.recognize",
    "DataWarning": "spanloom.errors",
    "Document": "spanloom.document",
    "Linker": "spanloom.link",
    "Mention": "spanloom.document",
    "Recognizer": "spanloom.recognize",
    "Segmenter": "spanloom.segment",
    "Span": "spanloom.document",
    "SpanloomError": "spanloom.errors",
    "load": "spanloom.models",
    "read": "spanloom.formats",
    "write": "spanloom.formats",
}

__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'spanloom' has no attribute {name!r}")
    return getattr(import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return __all__
