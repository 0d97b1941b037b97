"""Reading back: gold mentions encoded and decoded, an upper bound for every model with a structure.

Muis and Lu (2016), section 5.5 and Table 3: gold mentions are encoded, the encoding is decoded, and the result is
compared with the gold mentions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document, batches
from spanloom.document.span import join_spans
from spanloom.evaluate.measures import Score
from spanloom.hypergraph import Edges, Ints
from spanloom.model.corpus import Gold
from spanloom.structures import READINGS, Structure, TokenMention
from spanloom.text import prepare_all

BATCH_TOKENS = 50_000
SUBSETS = ("all", "discontiguous")


@dataclass(frozen=True)
class Subset:
    """The errors that remain in some sentences when their gold structure is read.

    Args:
        sentences: the number of sentences.
        gold: different gold mentions that begin in them.
        lost: reason -> the number of those that the structure cannot represent for it.
        scores: for each reading, the score of the decoded mentions as a prediction.
    """

    sentences: int
    gold: int
    lost: dict[str, int]
    scores: dict[str, Score]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values; an error is ``None`` where its denominator is 0."""
        return {
            "sentences": self.sentences,
            "gold": self.gold,
            "lost": self.lost,
            "readings": {
                reading: {
                    "decoded": score.predicted,
                    "correct": score.correct,
                    "misread": self.gold - sum(self.lost.values()) - score.found,
                    "precision_error": 1 - score.precision if score.predicted else None,
                    "recall_error": 1 - score.recall if score.gold else None,
                }
                for reading, score in self.scores.items()
            },
        }


@dataclass(frozen=True)
class ReadBack:
    """Result of `read_back`: the scores of gold mentions that were encoded and decoded.

    Args:
        documents: the number of documents.
        duplicates: gold mentions that repeat another; they count once.
        crowded: how often the reading ``all`` was truncated to some of the mentions of a sentence and type, as there
            were too many.
        subsets: ``all`` sentences, and the ``discontiguous`` ones, in which a discontiguous mention begins.
    """

    documents: int
    duplicates: int
    crowded: int
    subsets: dict[str, Subset]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "documents": self.documents,
            "duplicates": self.duplicates,
            "crowded": self.crowded,
            "subsets": {name: subset.to_dict() for name, subset in self.subsets.items()},
        }


def read_back(documents: Iterable[Document], structure: Structure) -> ReadBack:
    """Encode and decode the mentions of documents, with each reading.

    A mention belongs to the sentence in which it begins. Mentions that are not representable are recall errors.

    Args:
        documents: tokens and sentences are made where they are missing.
        structure: such as one of `spanloom.structures.STRUCTURES`.

    Raises:
        DataError: the tokens or sentences of a document contradict its text, or the structure has heads and a mention
            none.

    >>> from spanloom import Mention
    >>> from spanloom.structures import STRUCTURES
    >>> crossing = [Mention("x", [(0, 3)]), Mention("x", [(2, 5)])]
    >>> result = read_back([Document("a b c", mentions=crossing)], STRUCTURES["separators"]).subsets["all"]
    >>> result.scores["enough"].precision, result.scores["all"].precision, result.scores["all"].recall
    (0.0, 0.5, 1.0)
    """
    tally = _Tally()
    for batch in batches(documents, BATCH_TOKENS, prepare_all):
        tally.add(batch, structure)
    return tally.result()


class _Tally:
    def __init__(self) -> None:
        self.documents = self.duplicates = self.crowded = 0
        self.sentences = dict.fromkeys(SUBSETS, 0)
        self.gold = dict.fromkeys(SUBSETS, 0)
        self.lost: dict[str, Counter[str]] = {name: Counter() for name in SUBSETS}
        self.decoded: Counter[tuple[str, str]] = Counter()
        self.correct: Counter[tuple[str, str]] = Counter()

    def add(self, batch: Sequence[Document], structure: Structure) -> None:
        """Count a batch of prepared documents."""
        offsets = Batch.of(batch).sentences
        given = sum(len(document.mentions) for document in batch)
        batch = [_different(document, structure.heads) for document in batch]
        owner = _owners(batch)
        self.documents += len(batch)
        self.duplicates += given - len(owner)
        chosen = _subsets(batch, owner, len(offsets) - 1)
        for name, sentences in chosen.items():
            self.sentences[name] += int(sentences[:-1].sum())
            self.gold[name] += int(sentences[list(owner.values())].sum())
        types = sorted({mention.type for document in batch for mention in document.mentions})
        gold = Gold(Batch.of(batch), types, "error" if structure.heads else None)
        if len(gold.table):
            encoded = structure.encode(gold.table, offsets, types)
            gold.lose(encoded.lost)
            self.crowded += len(structure.crowded(encoded.edges, offsets, types))
            self._read(structure, encoded.edges, offsets, types, set(gold.held), chosen)
        for item in gold.lost:
            for name, sentences in chosen.items():
                self.lost[name][item.reason] += int(sentences[owner[id(item.mention)]])

    def _read(
        self, structure: Structure, edges: Edges, offsets: Ints, types: Sequence[str],
        held: set[tuple[TokenMention, tuple[int, int]]],
        chosen: dict[str, NDArray[np.bool_]],
    ) -> None:  # fmt: skip
        for reading in READINGS:
            rows = set(structure.decode(edges, offsets, types, reading).headed())
            for name, sentences in chosen.items():
                found = {row for row in rows if sentences[row[0][0]]}
                self.decoded[name, reading] += len(found)
                self.correct[name, reading] += len(found & held)

    def result(self) -> ReadBack:
        subsets = {}
        for name in SUBSETS:
            lost = {reason: number for reason, number in sorted(self.lost[name].items()) if number}
            scores = {}
            for reading in READINGS:
                correct = self.correct[name, reading]
                scores[reading] = Score(correct, self.decoded[name, reading], correct, self.gold[name])
            subsets[name] = Subset(self.sentences[name], self.gold[name], lost, scores)
        return ReadBack(self.documents, self.duplicates, self.crowded, subsets)


def _different(document: Document, heads: bool) -> Document:
    """Return the document with each different mention once, as a new object, its spans joined."""
    joined = [mention.replace(spans=join_spans(document.text, mention.spans)) for mention in document.mentions]
    return document.copy(mentions=list({(mention.key, heads and mention.head): mention for mention in joined}.values()))


def _owners(batch: Sequence[Document]) -> dict[int, int]:
    """Return for each mention, by its identity, the sentence of the batch in which it begins.

    A mention after a document's last sentence belongs to that one; a mention of a document without sentences belongs to
    one more sentence at the end, which does not exist.
    """
    owner: dict[int, int] = {}
    base = 0
    nowhere = sum(document.sentence_count for document in batch)
    for document in batch:
        if document.tokens is None or document.sentences is None or not len(document.sentences):
            owner.update(dict.fromkeys(map(id, document.mentions), nowhere))
            continue
        last = np.maximum(document.sentences[:, 1] - 1, 0)
        ends = np.maximum.accumulate(document.tokens[last, 1]) if len(document.tokens) else np.zeros(len(last))
        starts = [mention.start for mention in document.mentions]
        places = np.minimum(np.searchsorted(ends, starts, side="right"), len(ends) - 1) + base
        owner.update(zip(map(id, document.mentions), places.tolist(), strict=True))
        base += len(document.sentences)
    return owner


def _subsets(batch: Sequence[Document], owner: dict[int, int], sentences: int) -> dict[str, NDArray[np.bool_]]:
    """Return for each subset (N + 1,) whether a sentence, or the one that does not exist, is in it."""
    gaps = np.zeros(sentences + 1, bool)
    gaps[[owner[id(mention)] for document in batch for mention in document.mentions if len(mention.spans) > 1]] = True
    gaps[-1] = False
    return {"all": np.ones(sentences + 1, bool), "discontiguous": gaps}
