"""Annotation in the browser: a page on a store (`spanloom.formats.store`), agreement, and what to annotate next."""

from spanloom.annotate.history import Agreement as Agreement
from spanloom.annotate.history import agreement as agreement
from spanloom.annotate.history import import_documents as import_documents
