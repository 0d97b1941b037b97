"""Rules and dictionaries as annotators: phrases, vocabularies, token patterns and phrases with gaps that vote."""

from spanloom.label.labelling import LabelReport as LabelReport
from spanloom.label.labelling import RuleCounts as RuleCounts
from spanloom.label.labelling import label as label
from spanloom.label.labelling import label_stream as label_stream
from spanloom.label.rules import LabelRule as LabelRule
from spanloom.label.rules import LabelRules as LabelRules
from spanloom.label.rules import read_label_rules as read_label_rules
