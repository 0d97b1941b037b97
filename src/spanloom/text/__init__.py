"""Text to tokens and sentences; offsets are always kept."""

from spanloom.text.prepare import prepare
from spanloom.text.sections import SECTIONS, section_names
from spanloom.text.sentences import split_sentences
from spanloom.text.tokens import tokenize

__all__ = ["SECTIONS", "prepare", "section_names", "split_sentences", "tokenize"]
