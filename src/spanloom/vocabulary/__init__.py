"""Vocabularies: concepts with their names."""

from spanloom.document.identifiers import normalize_identifier
from spanloom.vocabulary.concept import Concept
from spanloom.vocabulary.notes import Note
from spanloom.vocabulary.read import VOCABULARY_FORMATS, read_vocabulary
from spanloom.vocabulary.store import Vocabulary
from spanloom.vocabulary.table import read_concepts

__all__ = [
    "VOCABULARY_FORMATS",
    "Concept",
    "Note",
    "Vocabulary",
    "normalize_identifier",
    "read_concepts",
    "read_vocabulary",
]
