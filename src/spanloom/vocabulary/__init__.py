"""Vocabularies: concepts with their names."""

from spanloom.vocabulary.table import Concept, read_concepts

__all__ = ["Concept", "read_concepts"]
