"""Recognize and link to a vocabulary together (Lou et al. 2017), and the language model beside it."""

from spanloom.link.linker import PAPER_FEATURES, Linker, load
from spanloom.link.pipeline import Pipeline
from spanloom.link.report import LinkReport

__all__ = ["PAPER_FEATURES", "LinkReport", "Linker", "Pipeline", "load"]
