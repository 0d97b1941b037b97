"""The choice of a structure by what the annotation of the training data needs, without any training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from spanloom.document import Batch
from spanloom.hypergraph import Ints
from spanloom.learn.target import PIECE_TOKENS
from spanloom.model.corpus import Gold
from spanloom.model.pieces import count_ambiguous
from spanloom.model.report import StructureReport, TrainingReport
from spanloom.structures import MentionTable, Structure, structure_of

AUTO: Final = "auto"
CANDIDATES: Final = ("separators", "shared", "split")
"""Structures that `auto` chooses from, the fastest first."""
CLEAR, CLOSE = 0.02, 0.005


def choose_structure(train: Batch, dev: Batch, types: Sequence[str], components: int) -> Structure:
    """Choose the structure for a corpus: a slower one only where it represents clearly more of the mentions.

    1. Each candidate encodes the training mentions and reads them back; what comes back unchanged is represented.
    2. A slower candidate replaces a faster one if it represents at least `CLEAR` more of the mentions. If the
       difference is smaller, but at least `CLOSE`, it must be at least `CLOSE` in the development data, too: gaps
       that are rare in both cost more wrong mentions than they find.

    Nothing is trained, so the choice depends on the annotation alone; a sample of about a million tokens is counted.

    Args:
        train, dev: documents with mentions.
        types: K names.
        components: parts of a mention with gaps, at most.

    >>> from spanloom import Document, Mention
    >>> from spanloom.text import prepare
    >>> mentions = [Mention("body", [(0, 4), (15, 19)]), Mention("body", [(9, 19)])]
    >>> gap = Document("left and right knee", mentions=mentions)
    >>> str(choose_structure(Batch.of([prepare(gap)]), Batch.of([]), ["body"], 3))
    'shared'
    >>> str(choose_structure(Batch.of([prepare(gap.copy(mentions=gap.mentions[1:]))]), Batch.of([]), ["body"], 3))
    'separators'
    """
    train = train.take(range(0, len(train.documents), 1 + len(train.tokens) // PIECE_TOKENS))
    golds = [(batch.sentences, Gold(batch, types).table) for batch in (train, dev)]
    chosen, *slower = (structure_of(name, components=components) for name in CANDIDATES)
    before = [_represented(chosen, *gold, types) for gold in golds]
    for structure in slower:
        if before[0] > 1 - CLOSE:
            break
        after = [_represented(structure, *gold, types) for gold in golds]
        more = [one - other for one, other in zip(after, before, strict=True)]
        if more[0] >= CLEAR or (more[0] >= CLOSE and more[1] >= CLOSE):
            chosen, before = structure, after
    return chosen


def _represented(structure: Structure, offsets: Ints, mentions: MentionTable, types: Sequence[str]) -> float:
    """Return the share of mentions that a structure encodes and decodes unchanged, 0 to 1; 1 without mentions."""
    encoded = structure.encode(mentions, offsets, types)
    held = np.ones(len(mentions), np.bool_)
    held[list(encoded.lost)] = False
    changed = count_ambiguous(structure, mentions.take(held), encoded.edges, offsets, types)
    return (int(held.sum()) - changed) / len(mentions) if len(mentions) else 1.0


def structure_report(structure: Structure, gold: Gold, report: TrainingReport) -> StructureReport:
    """Return the report on a structure that was chosen.

    Args:
        structure: the chosen one.
        gold: training mentions.
        report: on the training.
    """
    gaps = 1 - float(gold.table.contiguous.mean()) if len(gold.table) else 0.0
    lost = {reason.partition(";")[0]: count for reason, count in report.lost.items()}
    if report.ambiguous:
        crossing = "two of one type that cross"
        lost[crossing if structure.name == CANDIDATES[0] else f"{crossing} or share parts"] = report.ambiguous
    return StructureReport(str(structure), gaps, report.mentions, lost)
