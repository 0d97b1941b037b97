"""Tokenization, sentences, sections and phrases of text; offsets are always kept."""

from spanloom.text.notes import NOTES as NOTES
from spanloom.text.notes import Rules as Rules
from spanloom.text.notes import note_type as note_type
from spanloom.text.notes import read_rules as read_rules
from spanloom.text.phrases import Phrases as Phrases
from spanloom.text.prepare import prepare as prepare
from spanloom.text.prepare import prepare_all as prepare_all
from spanloom.text.prepare import sentence_words as sentence_words
from spanloom.text.sections import SECTIONS as SECTIONS
from spanloom.text.sections import section_names as section_names
from spanloom.text.sentences import split_sentences as split_sentences
from spanloom.text.tokens import tokenize as tokenize
