"""Documents, mentions and spans, and the pure functions between mentions, tokens and tags."""

from spanloom.document.align import Alignment as Alignment
from spanloom.document.align import TokenRange as TokenRange
from spanloom.document.align import align as align
from spanloom.document.align import from_tags as from_tags
from spanloom.document.align import to_bilou as to_bilou
from spanloom.document.align import to_bio as to_bio
from spanloom.document.align import to_spans as to_spans
from spanloom.document.batch import Batch as Batch
from spanloom.document.batch import batches as batches
from spanloom.document.document import Document as Document
from spanloom.document.document import Offsets as Offsets
from spanloom.document.span import Mention as Mention
from spanloom.document.span import Section as Section
from spanloom.document.span import Span as Span
