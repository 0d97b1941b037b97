"""Attributes of mentions, such as negated: by cues and their scope, without training, or learned; and sections."""

from spanloom.attributes.fitting import fit_attributes
from spanloom.attributes.lexicon import ATTRIBUTES, Cues, read_cues
from spanloom.attributes.marking import language_of, mark, with_sections
from spanloom.attributes.model import NONE, AttributeModel, attributing

__all__ = [
    "ATTRIBUTES",
    "NONE",
    "AttributeModel",
    "Cues",
    "attributing",
    "fit_attributes",
    "language_of",
    "mark",
    "read_cues",
    "with_sections",
]
