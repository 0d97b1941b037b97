"""Spanloom recognizes mentions that nest, overlap or cross, with exact probabilities."""

from __future__ import annotations

from warnings import warn

from spanloom.lazy import TYPE_CHECKING, by_name, lazily

if TYPE_CHECKING:  # what editors and type checkers see; nothing of it is loaded before it is used
    from spanloom.document import Document as Document
    from spanloom.document import Mention as Mention
    from spanloom.document import Section as Section
    from spanloom.document import Span as Span
    from spanloom.errors import DataWarning as DataWarning
    from spanloom.errors import SpanloomError as SpanloomError
    from spanloom.formats import read as read
    from spanloom.formats import write as write
    from spanloom.link import Linker as Linker
    from spanloom.models import load as load
    from spanloom.recognize import Recognizer as Recognizer
    from spanloom.segment import Segmenter as Segmenter

__version__ = "0.2.0"

# module -> names; imported when first used, so that `import spanloom` loads no compiled kernel
_EXPORTS = by_name(
    {
        "spanloom.document": "Document Mention Section Span",
        "spanloom.errors": "DataWarning SpanloomError",
        "spanloom.formats": "read write",
        "spanloom.link": "Linker",
        "spanloom.models": "load",
        "spanloom.recognize": "Recognizer",
        "spanloom.segment": "Segmenter",
    }
)

__all__ = ["__version__", *_EXPORTS]


if not TYPE_CHECKING:  # which would take any name for one of ours
    _exported = lazily(__name__, _EXPORTS)

    def __getattr__(name: str) -> object:
        if name == "Cascade":  # until 0.3
            message = "spanloom.Cascade is deprecated: from spanloom_lab import Cascade (pip install spanloom-lab)"
            warn(message, DeprecationWarning, stacklevel=2)
            return lazily(__name__, {"class_of": "spanloom.model.kinds"})("class_of")("cascade")
        return _exported(name)


def __dir__() -> list[str]:
    return __all__
