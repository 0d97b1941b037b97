"""Report of a linker's training: what it saw and chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spanloom.document import Document
from spanloom.errors import plural
from spanloom.link.fitting import FittedLinker
from spanloom.model.attributes import AttributeQuality
from spanloom.model.calibration import CalibrationReport
from spanloom.model.corpus import Lost
from spanloom.model.report import CompactReport, lost_lines, part_lines
from spanloom.model.splitting import SplittingReport


@dataclass(frozen=True)
class LinkReport:
    """Report of a linker's training: data, choices and scores.

    Args:
        documents, sentences, tokens, mentions: of the training data.
        proposed: mentions whose span is among those that are looked at.
        linked: mentions whose concept is among their candidates, and ``concepts``, those that have one.
        lost: reason -> how many mentions the linker cannot hold.
        features: rows of weights of tokens, and ``keys``, all other features.
        passes: over the training data, until no better one came.
        dev_f1: of recognition, 0 to 1.
        dev_concepts: F1 of documents' concepts.
        dev_accuracy: of concepts, where the mention was recognized.
        bias: of beginning an entity.
        history: updates, and both F1, of each pass.
        calibration: of mentions' probabilities on the development data; ``None`` where mentions are given.
        attributes, splitting, compact: as of a recognizer.
    """

    documents: int
    sentences: int
    tokens: int
    mentions: int
    proposed: int
    linked: int
    concepts: int
    lost: dict[str, int]
    features: int
    keys: int
    passes: int
    dev_f1: float
    dev_concepts: float
    dev_accuracy: float
    bias: float
    history: tuple[tuple[int, float, float], ...] = field(repr=False)
    calibration: CalibrationReport | None = None
    attributes: dict[str, AttributeQuality] | None = None
    splitting: SplittingReport | None = None
    compact: CompactReport | None = None

    def lines(self, lost: Sequence[Lost], types: Sequence[str]) -> Iterator[str]:
        """Yield lines on the training data, the choices of training, and lost mentions.

        Args:
            lost: the mentions that the linker cannot hold.
            types: of mentions.
        """
        yield (
            f"trained on {plural(self.documents, 'document')}: {plural(self.sentences, 'sentence')}, "
            f"{plural(self.tokens, 'token')}, {plural(self.mentions, 'mention')} of {', '.join(types)}"
        )
        yield (
            f"{plural(self.concepts, 'mention')} with a concept of the vocabulary; it is among the candidates of "
            f"{plural(self.linked, 'mention')}"
        )
        yield (
            f"{plural(self.features, 'row')} of weights, {plural(self.keys, 'other feature')}, "
            f"{plural(self.passes, 'step')}, bias {self.bias:g}"
        )
        yield from lost_lines(self.lost, lost)
        yield from part_lines(self.splitting, self.compact, self.calibration, attributes=self.attributes)
        linked = f"{100 * self.dev_accuracy:.1f} % of the recognized mentions rightly linked"
        yield (
            f"development F1 of mentions {100 * self.dev_f1:.1f}, of documents' concepts "
            f"{100 * self.dev_concepts:.1f}; {linked}"
        )


def make_report(train: Sequence[Document], outcome: FittedLinker) -> LinkReport:
    """The report of one training."""
    counts, system = outcome.derivations.counts, outcome.system
    sentences = [document.sentence_count for document in train]
    tokens = [document.token_count for document in train]
    return LinkReport(
        documents=len(train),
        sentences=sum(sentences),
        tokens=sum(tokens),
        mentions=counts["mentions"],
        proposed=counts.get("proposed", 0),
        linked=counts.get("linked", 0),
        concepts=counts.get("concepts", 0),
        lost=dict(sorted(Counter(item.reason for item in outcome.derivations.lost).items())),
        features=len(system.weights.roles),
        keys=int((system.weights.table.keys != 0).sum()),
        passes=len(outcome.history),
        dev_f1=outcome.scores.recognition,
        dev_concepts=outcome.scores.concepts,
        dev_accuracy=outcome.scores.accuracy,
        bias=system.bias,
        history=outcome.history,
        calibration=outcome.calibration,
    )
