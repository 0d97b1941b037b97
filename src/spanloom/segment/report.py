"""Report of a segmenter's training: what it saw and chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from spanloom.concepts.report import ConceptReport
from spanloom.document import Document
from spanloom.errors import plural
from spanloom.model.attributes import AttributeQuality
from spanloom.model.calibration import CalibrationReport
from spanloom.model.corpus import Lost
from spanloom.model.report import CompactReport, EncoderReport, PassReport, RescoringReport, lost_lines, part_lines
from spanloom.segment.corpus import Corpus
from spanloom.segment.gold import GoldLabels
from spanloom.segment.model import Decoded
from spanloom.segment.training import Trained
from spanloom.structures.product import WORD_INDICATORS, WORD_TAGS


@dataclass(frozen=True)
class ChainReport:
    """Report of the training of one chain.

    Args:
        rows: of weights.
        l2: lambda.
        penalty: the mention penalty.
        steps: passes or iterations.
        dev_f1: of what it tags, with the penalty, 0 to 1; for pairs the mean of words and mentions.
        history: objective and development F1 at each step.
    """

    rows: int
    l2: float
    penalty: float
    steps: int
    dev_f1: float
    history: tuple[tuple[float, float], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class SegmenterReport:
    """Report of a segmenter's training: data, choices and scores.

    Args:
        documents, sentences, characters, words, mentions: of the training data.
        development: sentences of the development data.
        lost: reason -> how many mentions the chains cannot hold for it.
        rows: of weights, of all chains.
        steps: passes or iterations, of all chains.
        dev_words_f1: F1 of words, as the method decodes, 0 to 1.
        dev_f1: F1 of mentions.
        chains: name -> the report of its chain.
        calibration: of the probabilities, on the development data; ``None`` for a model that was not calibrated.
        rescoring: what the second stage did; ``None`` where none was trained.
        passes: how many passes over documents there are, and why; ``None`` where one was asked for.
        encoder: what an encoder read, whose tokens are characters; ``None`` without an encoder.
        compact: what became of the weights of a compact model; ``None`` for any other.
        attributes, concepts: as of a recognizer.
    """

    documents: int
    sentences: int
    characters: int
    words: int
    mentions: int
    development: int
    lost: dict[str, int]
    rows: int
    steps: int
    dev_words_f1: float
    dev_f1: float
    chains: dict[str, ChainReport]
    calibration: CalibrationReport | None = None
    rescoring: RescoringReport | None = None
    passes: PassReport | None = None
    encoder: EncoderReport | None = None
    compact: CompactReport | None = None
    attributes: dict[str, AttributeQuality] | None = None
    concepts: ConceptReport | None = None

    def lines(self, lost: Sequence[Lost]) -> Iterator[str]:
        """Yield lines on the training data, the choices of training, and lost mentions.

        Args:
            lost: the mentions that the chains cannot hold.
        """
        counts = (
            (self.sentences, "sentence"), (self.characters, "character"), (self.words, "word"),
            (self.mentions, "mention"),
        )  # fmt: skip
        yield (
            f"trained on {plural(self.documents, 'document')}: {', '.join(plural(*count) for count in counts)}; "
            f"tuned on {plural(self.development, 'sentence')}"
        )
        if self.encoder is None:
            rows, chains = plural(self.rows, "row"), plural(len(self.chains), "chain")
            yield f"{rows} of weights, {chains}, {plural(self.steps, 'step')}"
        else:
            yield from self.encoder.lines("character")
        yield from part_lines(self.passes)
        for name, chain in self.chains.items():
            how = f"lambda {chain.l2:g}"
            if self.encoder is not None:
                how = f"the best of {len(chain.history)} passes is pass {chain.steps}"
            yield (f"  {name}: {how}, mention penalty {chain.penalty:.2f}, development F1 {100 * chain.dev_f1:.1f}")
        yield from lost_lines(self.lost, lost, every=True)
        yield from part_lines(self.rescoring, self.calibration, self.compact, self.concepts, attributes=self.attributes)
        yield f"development F1 {100 * self.dev_words_f1:.1f} of words, {100 * self.dev_f1:.1f} of mentions"


def make_report(
    train: Sequence[Document],
    gold: GoldLabels,
    dev: Corpus,
    decoded: Decoded,
    trained: Sequence[Trained],
    checked: CalibrationReport,
) -> SegmenterReport:
    """The report of one training.

    Args:
        train: the training documents.
        gold: their tags.
        dev: development data.
        decoded: the output of the method for them.
        trained: parts, in their order.
        checked: their probabilities.
    """
    offsets = dev.text.offsets
    words, mentions = dev.each_f1(decoded.labels)
    chains = {
        name: ChainReport(part.rows, fit.l2, fit.penalty, fit.steps, fit.dev_f1, fit.history)
        for part, names in zip(trained, chain_names(trained), strict=True)
        for name, fit in zip(names, part.fits.values(), strict=True)
    }
    return SegmenterReport(
        documents=len(train),
        sentences=len(gold.batch.offsets) - 1,
        characters=int(gold.batch.offsets[-1]),
        words=int(np.isin(gold.labels.words, [WORD_TAGS.index(tag) for tag in WORD_INDICATORS["begins"]]).sum()),
        mentions=gold.total,
        development=len(offsets) - 1,
        lost=dict(sorted(Counter(item.reason for item in gold.lost).items())),
        rows=sum(part.rows for part in trained),
        steps=sum(chain.steps for chain in chains.values()),
        dev_words_f1=words,
        dev_f1=mentions,
        chains=chains,
        calibration=checked,
        encoder=trained[0].encoder,
    )


def chain_names(trained: Sequence[Trained]) -> list[list[str]]:
    """Return the names of the chains of each part."""
    first, *stacked = [list(part.fits) for part in trained]
    return [first, *([f"{name} that see the other task" for name in names] for names in stacked)]
