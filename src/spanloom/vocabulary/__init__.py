"""Vocabularies: concepts with their names."""

from typing import TYPE_CHECKING

from spanloom.document.identifiers import normalize_identifier
from spanloom.lazy import lazily
from spanloom.vocabulary.concept import Concept
from spanloom.vocabulary.notes import Note

if TYPE_CHECKING:
    from spanloom.vocabulary.read import VOCABULARY_FORMATS as VOCABULARY_FORMATS
    from spanloom.vocabulary.read import read_vocabulary as read_vocabulary
    from spanloom.vocabulary.store import Vocabulary as Vocabulary
    from spanloom.vocabulary.table import read_concepts as read_concepts

__all__ = [
    "VOCABULARY_FORMATS",
    "Concept",
    "Note",
    "Vocabulary",
    "normalize_identifier",
    "read_concepts",
    "read_vocabulary",
]

if not TYPE_CHECKING:  # prediction reads no vocabulary
    _READ = "spanloom.vocabulary.read"
    __getattr__ = lazily(
        __name__,
        {
            "VOCABULARY_FORMATS": _READ,
            "Vocabulary": "spanloom.vocabulary.store",
            "read_concepts": "spanloom.vocabulary.table",
            "read_vocabulary": _READ,
        },
    )
