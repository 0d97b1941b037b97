"""Explanations of mentions: why a model finds one, or does not, and what it would find instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spanloom.document import Mention, Span
from spanloom.document.markup import table
from spanloom.formats.record import mention_record
from spanloom.scoring import Part

_SHOWN = 3  # features of a contribution, in a notebook
_WHOLE = 10  # of a mention as a whole


@dataclass(frozen=True, slots=True)
class Contribution:
    """Contribution of one role at one token.

    Args:
        role: such as ``S``, a mention starts here; or the name of a score that is the same at every token, such as
            that of a tag before another.
        times: how often the structure with the mention has it, less how often the one without has it.
        score: all that it adds, in the log domain: ``times`` x the sum of the scores of ``features``.
        token: counted in the document; ``None`` for what belongs to no token.
        span: of the token.
        text: of the token.
        features: of the token, the mention penalty among them, from the strongest to the weakest; their scores are
            those of one time.
    """

    role: str
    times: int
    score: float
    token: int | None = None
    span: Span | None = None
    text: str = ""
    features: tuple[Part, ...] = ()

    def record(self, features: int | None = None) -> dict[str, Any]:
        """As JSON holds it, with at most so many features."""
        place = {"token": self.token, "span": self.span and list(self.span), "text": self.text}
        return {
            **(place if self.token is not None else {}),
            "role": self.role,
            "times": self.times,
            "score": self.score,
            "features": [part._asdict() for part in self.features[:features]],
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept that a mention was compared with.

    Args:
        concepts: its identifiers, none for a mention that is linked to nothing.
        name: of the concept; of several, their names with ``+`` between.
        way: how it was found, in words.
        score: of a joint linker, that of the sentence's derivation with the mention linked to it, all else being the
            same; of the concepts of a recognizer, the logarithm of its share, up to a constant of the mention.
        features: what it has over the best candidate, or the best over the second, from the strongest to the weakest;
            they add up to the difference of the scores.
    """

    concepts: tuple[str, ...]
    name: str
    way: str
    score: float
    features: tuple[Part, ...] = ()

    def record(self, features: int | None = None) -> dict[str, Any]:
        """As JSON holds it, with at most so many features."""
        return {
            "concepts": list(self.concepts),
            "name": self.name,
            "way": self.way,
            "score": self.score,
            "features": [part._asdict() for part in self.features[:features]],
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of why a model finds a mention, or does not.

    Args:
        mention: with its calibrated probability as its score, if the model has one.
        predicted: whether it is among the model's predictions.
        log_odds: the score of the best structure with the mention less that of the best one without it, and the sum of
            the scores of ``contributions``; ``None`` for a linker.
        contributions: the differences between the two, from the strongest to the weakest.
        winner: the mentions of the best structure with the mention, in its sentence.
        runner_up: those of the best structure without it.
        candidates: of a model that links, best first.
        whole: contributions of the second stage for the mention as a whole, from the strongest to the weakest; the
            scores add up to the log-odds of its probability before calibration, on which the prediction is based.
        words: a sentence that names the words with the strongest evidence for the answer, and the one with the
            strongest evidence against it; empty if there is no such word, and for linkers and segmenters.
        marginal: the exact marginal probability of the mention under the trained model, without the mention penalty and
            before calibration; ``None`` if the model has none.
    """

    mention: Mention
    predicted: bool
    log_odds: float | None
    contributions: tuple[Contribution, ...]
    winner: tuple[Mention, ...]
    runner_up: tuple[Mention, ...]
    candidates: tuple[Candidate, ...] = ()
    marginal: float | None = None
    whole: tuple[Part, ...] = ()
    words: str = ""

    @property
    def probability(self) -> float | None:
        """Of the mention, calibrated; ``None`` where the model gives none."""
        return self.mention.score

    def __str__(self) -> str:
        """What `print` shows: as in a notebook, in lines."""
        parts = [(part.score, f"{part.role}  {part.text}", part.features) for part in self.contributions]
        parts += [(part.score, f"as a whole  {part.name}", ()) for part in self.whole[:_WHOLE]]
        parts += [(one.score, f"{' '.join(one.concepts)}  {one.name}", one.features) for one in self.candidates]
        lines = [f"  {score:+.2f}  {name}  {_named(features)}".rstrip() for score, name, features in parts]
        return "\n".join([self._title(), *lines])

    def _title(self) -> str:
        spans = ", ".join(f"{start}-{end}" for start, end in self.mention.spans)
        chance = "" if self.probability is None else f", {100 * self.probability:.1f} %"
        return f"{self.mention.type} {spans}{chance}: {self.words or ('found' if self.predicted else 'not found')}"

    def _repr_html_(self) -> str:
        """The table that a notebook shows: what speaks for the mention and against it, or the candidates."""
        parts = [(part.text, part.role, f"{part.score:+.2f}", _named(part.features)) for part in self.contributions]
        html = table(self._title(), parts, ("token", "role", "score", "features"))
        if self.whole:
            html += table(
                "as a whole", [(part.name, f"{part.score:+.2f}") for part in self.whole[:_WHOLE]], ("feature", "score")
            )
        if self.candidates:
            rows = [(" ".join(c.concepts), c.name, f"{c.score:.2f}", _named(c.features)) for c in self.candidates]
            html += table("candidates", rows, ("concepts", "name", "score", "features"))
        return html

    def record(self, features: int | None = None) -> dict[str, Any]:
        """As JSON holds it.

        Args:
            features: of each contribution and candidate, at most; all when ``None``.
        """
        return {
            "mention": mention_record(self.mention),
            "predicted": self.predicted,
            "words": self.words,
            "probability": self.probability,
            "marginal": self.marginal,
            "log_odds": self.log_odds,
            "contributions": [contribution.record(features) for contribution in self.contributions],
            "winner": [mention_record(mention) for mention in self.winner],
            "runner_up": [mention_record(mention) for mention in self.runner_up],
            "whole": [part._asdict() for part in self.whole[:features]],
            "candidates": [candidate.record(features) for candidate in self.candidates],
        }


def _named(features: tuple[Part, ...]) -> str:
    shown = ", ".join(f"{part.name} {part.score:+.2f}" for part in features[:_SHOWN])
    return f"{shown}, …" if len(features) > _SHOWN else shown
