"""Tokenization, sentences, sections and phrases of text; offsets are always kept."""

from spanloom.text.notes import NOTES, note_type
from spanloom.text.phrases import Phrases
from spanloom.text.prepare import prepare, sentence_words
from spanloom.text.rules import Rules, read_rules
from spanloom.text.sections import SECTIONS, section_names
from spanloom.text.sentences import split_sentences
from spanloom.text.tokens import tokenize

__all__ = [
    "NOTES",
    "SECTIONS",
    "Phrases",
    "Rules",
    "note_type",
    "prepare",
    "read_rules",
    "section_names",
    "sentence_words",
    "split_sentences",
    "tokenize",
]
