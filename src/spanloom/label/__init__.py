"""Rules and dictionaries as annotators: phrases, vocabularies, token patterns and phrases with gaps that vote."""

from spanloom.label.labelling import LabelReport, RuleCounts, label, label_stream
from spanloom.label.rules import LabelRule, LabelRules, read_label_rules

__all__ = ["LabelReport", "LabelRule", "LabelRules", "RuleCounts", "label", "label_stream", "read_label_rules"]
