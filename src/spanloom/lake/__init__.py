"""Tables of text, annotated where they lie: record batches of Arrow in and out; extra ``arrow``."""

from spanloom.lake.annotator import Annotator as Annotator
