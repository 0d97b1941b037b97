"""The second stage: candidate mentions scored as wholes, and the best set of compatible ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.lazy import by_name, lazily

if TYPE_CHECKING:
    from spanloom.rescoring.candidates import CandidateMentions as CandidateMentions
    from spanloom.rescoring.candidates import propose as propose
    from spanloom.rescoring.fitting import FirstStage as FirstStage
    from spanloom.rescoring.fitting import Proposer as Proposer
    from spanloom.rescoring.fitting import RescoringDevelopment as RescoringDevelopment
    from spanloom.rescoring.fitting import calibrate_second as calibrate_second
    from spanloom.rescoring.fitting import fit_rescorer as fit_rescorer
    from spanloom.rescoring.rescorer import WORDS as WORDS
    from spanloom.rescoring.rescorer import Rescorer as Rescorer
    from spanloom.rescoring.rescorer import ScoredCandidates as ScoredCandidates

# module -> names; imported when first used, as a model that is used needs little of what trains it
_EXPORTS = by_name(
    {
        "spanloom.rescoring.candidates": "CandidateMentions propose",
        "spanloom.rescoring.fitting": "FirstStage Proposer RescoringDevelopment calibrate_second fit_rescorer",
        "spanloom.rescoring.rescorer": "WORDS Rescorer ScoredCandidates",
    }
)

__all__ = [*_EXPORTS]


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, _EXPORTS)
