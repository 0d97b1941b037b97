"""Documents, mentions and spans, and the pure functions between mentions, tokens and tags."""

from spanloom.document.align import Alignment, TokenRange, align, to_spans
from spanloom.document.batch import Batch, batches
from spanloom.document.document import Document, Offsets
from spanloom.document.span import Mention, Section, Span
from spanloom.document.tags import from_tags, to_bilou, to_bio

__all__ = [
    "Alignment",
    "Batch",
    "Document",
    "Mention",
    "Offsets",
    "Section",
    "Span",
    "TokenRange",
    "align",
    "batches",
    "from_tags",
    "to_bilou",
    "to_bio",
    "to_spans",
]
