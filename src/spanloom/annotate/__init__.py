"""Annotation in the browser: a page on a store (`spanloom.formats.store`), agreement, and what to annotate next."""

from spanloom.annotate.agreement import Agreement, agreement
from spanloom.annotate.importing import import_documents

__all__ = ["Agreement", "agreement", "import_documents"]
