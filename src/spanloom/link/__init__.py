"""Recognize and link to a vocabulary together (Lou et al. 2017), and the language model beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.lazy import lazily

if TYPE_CHECKING:
    from spanloom.link.linker import PAPER_FEATURES as PAPER_FEATURES
    from spanloom.link.linker import Linker as Linker
    from spanloom.link.linker import load as load
    from spanloom.link.pipeline import Pipeline as Pipeline
    from spanloom.link.report import LinkReport as LinkReport

# name -> module; imported when first used, so that the command line reads `parameters` without NumPy
_EXPORTS = {
    "PAPER_FEATURES": "spanloom.link.linker",
    "LinkReport": "spanloom.link.report",
    "Linker": "spanloom.link.linker",
    "Pipeline": "spanloom.link.pipeline",
    "load": "spanloom.link.linker",
}

__all__ = [*_EXPORTS]


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, _EXPORTS)
