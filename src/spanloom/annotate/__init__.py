"""Annotation in the browser: a page on a store (`spanloom.formats.store`), agreement, and what to annotate next."""

from spanloom.annotate.agreement import Agreement as Agreement
from spanloom.annotate.agreement import agreement as agreement
from spanloom.annotate.history import import_documents as import_documents
