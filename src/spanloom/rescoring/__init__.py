"""The second stage: candidate mentions scored as wholes, and the best set of them that may stand together."""

from spanloom.rescoring.candidates import CandidateMentions, propose
from spanloom.rescoring.fitting import FirstStage, RescoringDevelopment, calibrate_second, fit_rescorer
from spanloom.rescoring.rescorer import Rescorer, ScoredCandidates

__all__ = [
    "CandidateMentions",
    "FirstStage",
    "Rescorer",
    "RescoringDevelopment",
    "ScoredCandidates",
    "calibrate_second",
    "fit_rescorer",
    "propose",
]
