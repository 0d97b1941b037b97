"""The second stage: candidate mentions scored as wholes, and the best set of compatible ones."""

from spanloom.rescoring.candidates import CandidateMentions, propose
from spanloom.rescoring.fitting import FirstStage, Proposer, RescoringDevelopment, calibrate_second, fit_rescorer
from spanloom.rescoring.rescorer import WORDS, Rescorer, ScoredCandidates

__all__ = [
    "WORDS",
    "CandidateMentions",
    "FirstStage",
    "Proposer",
    "Rescorer",
    "RescoringDevelopment",
    "ScoredCandidates",
    "calibrate_second",
    "fit_rescorer",
    "propose",
]
