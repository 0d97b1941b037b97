"""The immutable part of a linker: it reads batches of prepared documents, searches, and writes what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch, Document, Mention, align
from spanloom.features import Sparse
from spanloom.hashing import Int64
from spanloom.hypergraph import Floats, Ints
from spanloom.learn.platt import UNSCALED, Scalings
from spanloom.learn.tuning import Chosen
from spanloom.link.columns import COMMON, WordModel, with_columns
from spanloom.link.instances import Instance, Reader
from spanloom.link.learning import FREE, Int32, KeyedWeights, Search, Singles, filled_table, label_of
from spanloom.link.names import NIL, Concepts
from spanloom.model.calibration import answered
from spanloom.model.corpus import place
from spanloom.native import Kernel
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights, role_scores
from spanloom.scoring.packing import quantized, rows_with_weights
from spanloom.structures import MentionTable
from spanloom.structures.base import placed_table
from spanloom.tag.filling import Filler, fill_batch

_link_predict = Kernel("link_predict")


class DecodedMentions(NamedTuple):
    """The best derivations of some documents.

    Args:
        labels, choices: (T,).
    """

    labels: Int32
    choices: Int32


class Chances(NamedTuple):
    """Probabilities of what was found in N sentences, not calibrated.

    Args:
        table: M mentions.
        mentions: (M,) their probabilities.
        log_answers: gives the log-probability of all of each sentence, (N,).
    """

    table: MentionTable
    mentions: Floats
    log_answers: Callable[[], Floats]


@dataclass(frozen=True)
class System:
    """A trained linker. Using it changes nothing, so threads may share it.

    Args:
        types: K names.
        reader: from documents to arrays.
        concepts: by number.
        language: for the columns of a language model.
        search: what to search with.
        weights: what was learned.
        bias: added to the score of a token that begins an entity.
        pos: fills a column of documents that lack it, if anything does.
        scalings: from the tagging chain's probabilities to how often what the search finds is right.
    """

    types: tuple[str, ...]
    reader: Reader
    concepts: Concepts
    language: WordModel | None
    search: Search
    weights: KeyedWeights
    bias: float = 0.0
    pos: Filler | None = None
    scalings: Scalings = UNSCALED

    def compacted(self, threshold: float) -> System:
        """The same with weights of eight bits; see `LinearScorer.compacted`.

        Args:
            threshold: weights of the chain that are nearer to 0 are left out; of the search, which are larger, as
                many times that as their mean is that of the chain's.
        """
        tagger, (roles, table, _) = self.reader.tagger, self.weights
        scorer, keyed, filled = tagger.scorer, tagger.scorer.index.keyed, table.keys != 0
        means = [np.abs(one).sum() / max(1, np.count_nonzero(one)) for one in (roles, scorer.weights.features)]
        least = threshold * float(means[0] / (means[1] or 1.0))
        chain, scales = quantized(scorer.weights.features, threshold, keyed)
        own, units = quantized(roles[:, :, None], least, keyed)
        others, unit = quantized(table.weights[filled][:, None, None], least, int(filled.sum()))
        stays = rows_with_weights(chain, keyed) | rows_with_weights(own, keyed)
        kept = others[:, 0, 0] != 0
        scorer = replace(
            scorer, index=scorer.index.keeping(stays), weights=Weights(chain[stays], scorer.weights.constants),
            scales=scales,
        )  # fmt: skip
        rest = filled_table(table.keys[filled][kept], others[kept, 0, 0])
        weights = KeyedWeights(np.ascontiguousarray(own[stays, :, 0]), rest, np.append(units, unit))
        return replace(self, reader=replace(self.reader, tagger=replace(tagger, scorer=scorer)), weights=weights)

    def columns(self, batch: Batch, run: Executor = SERIAL) -> Batch:
        """A batch with the columns that the features need."""
        common = self.concepts.common_words if COMMON in self.reader.tagger.scorer.needs else None
        return with_columns(
            fill_batch(batch, self.pos, run.workers), self.reader.proposer.finder.lexicon, self.language, common
        )

    def link(
        self, documents: Sequence[Document], given: bool, run: Executor, threshold: float = 0.0, answers: bool = False
    ) -> Iterator[Document]:  # fmt: skip
        """Prepared documents with the mentions that are found, in place of their own.

        Args:
            documents: prepared.
            given: whether their own mentions are linked instead, and none is looked for.
            run: how pieces of the work are run; the result does not depend on it.
            threshold: leave out mentions with a lower score.
            answers: whether documents have the probabilities of their answers as a whole.
        """
        batch = Batch.of(documents)
        prescribed = Prescribed(batch, self.types) if given else None
        instance, matrix = self.read(self.columns(batch, run), prescribed, run)
        labels, choices = self.decode(instance, matrix, prescribed, run)
        found = self.segments(instance, labels, choices)
        if prescribed is not None:
            yield from prescribed.linked(found, self.concepts)
            return
        chances = self.chances(batch.sentences, matrix, found, run)
        concepts = [self.concepts.identifiers(one) for *_, one in found]
        marked = place(batch, chances.table, self.types, self.scalings.mentions(chances.mentions), threshold, concepts)
        yield from answered(marked, self.scalings.answers.of_log(chances.log_answers())) if answers else marked

    def chances(
        self, offsets: Ints, matrix: Sparse, found: list[tuple[int, int, int, int]], run: Executor = SERIAL
    ) -> Chances:
        """Return how probable the tagging chain takes what was found, by its exact marginals.

        The search itself gives no probabilities: it keeps some derivations of very many.

        Args:
            offsets: (N + 1,) first token of each sentence.
            matrix: features of the tokens.
            found: as of `segments`.
            run: how pieces of the work are run; the result does not depend on it.
        """
        tagger = self.reader.tagger
        first, end, kind, _ = np.array(found, np.int64).reshape(-1, 4).T
        table = placed_table(offsets, kind, first, end)
        potentials = role_scores(matrix, tagger.scorer.weights, run=run)
        exact = tagger.probabilities(potentials, offsets, table, run, calibrated=False)

        def log_answers() -> Floats:
            edges = tagger.structure.encode(table, offsets, tagger.types).edges
            return tagger.log_answers(potentials, offsets, edges)

        return Chances(table, exact, log_answers)

    def read(self, batch: Batch, prescribed: Prescribed | None, run: Executor) -> tuple[Instance, Sparse]:
        """The instance of a batch with columns, and the features of its tokens."""
        tagger = self.reader.tagger
        matrix = tagger.scorer.matrix(batch, run)
        potentials = role_scores(matrix, tagger.scorer.weights, run=run)
        spans = None if prescribed is None else prescribed.spans
        return self.reader.read(batch, potentials, spans, run=run), matrix

    def decode(
        self, instance: Instance, matrix: Sparse, prescribed: Prescribed | None = None, run: Executor = SERIAL,
        chosen: Chosen | None = None,
    ) -> DecodedMentions:  # fmt: skip
        """The best derivations; of the documents that are ``chosen``, (D,), or of all."""
        data, search = instance.data, self.search
        forced = np.full(len(data.words), FREE, np.int32)
        if prescribed is not None:
            forced = prescribed.labels
            search = replace(search, longest=max(search.longest, prescribed.longest))
        local = self.local_scores(matrix, run)
        labels, choices = np.zeros(len(data.words), np.int32), np.full(len(data.words), -1, np.int32)
        scores = np.zeros(len(data.offsets) - 1)

        def part(bounds: tuple[int, int]) -> None:
            _link_predict(
                search.model(self.weights.table), data, *bounds, local, 0, search.workspace(data), search.width,
                forced, labels, choices, scores,
            )  # fmt: skip

        run.map(part, _pieces(data.document, run, chosen))
        return DecodedMentions(labels, choices)

    def local_scores(self, matrix: Sparse, run: Executor = SERIAL) -> Singles:
        """Return the scores of the words around each token, (T, R), with the bias."""
        roles = Weights(self.weights.roles[:, :, None], np.zeros((0, 1), np.float32))
        local: Singles = role_scores(matrix, roles, run=run).roles[:, :, 0]
        local[:, [label_of(kind, True) for kind in range(len(self.types))]] += np.float32(self.bias)
        return np.ascontiguousarray(local)

    def segments(self, instance: Instance, labels: Int32, choices: Int32) -> list[tuple[int, int, int, int]]:
        """First token, end, type and concept of each entity, counted over all documents."""
        data = instance.data
        starts = np.flatnonzero(labels % 2 == 1)
        inside = (labels > 0) & (labels % 2 == 0)
        outside = np.append(np.flatnonzero(~inside), len(labels))
        ends = outside[np.searchsorted(outside, starts, side="right")]
        limits = data.offsets[np.searchsorted(data.offsets, starts, side="right")]
        ends, result = np.minimum(ends, limits), []
        spans = instance.spans_at(starts, ends).tolist()
        for first, end, span in zip(starts.tolist(), ends.tolist(), spans, strict=True):
            choice = int(choices[end - 1])
            concept = NIL
            if span >= 0 and 0 <= choice < data.cand_ptr[span + 1] - data.cand_ptr[span]:
                concept = int(data.cand_concept[data.cand_ptr[span] + choice])
            result.append((first, end, (int(labels[first]) - 1) // 2, concept))
        return result


class Prescribed:
    """The documents' own mentions, as labels that a search must keep to.

    Mentions of other types, discontiguous ones, those that cut a token or cross a sentence, and the shorter of two that
    overlap are not prescribed; they keep their concepts.
    """

    def __init__(self, batch: Batch, types: Sequence[str]) -> None:
        self._batch = batch
        number = {name: kind for kind, name in enumerate(types)}
        self._places: dict[tuple[int, int], tuple[int, Mention]] = {}
        rows = [
            (base + ranges[0].first, base + ranges[0].end, at, mention)
            for at, (document, base) in enumerate(zip(batch.documents, batch.starts.tolist(), strict=False))
            for mention, ranges, sentence in align(document, [one for one in document.mentions if one.type in number])
            if ranges is not None and len(ranges) == 1 and sentence >= 0
        ]
        self.labels = np.zeros(len(batch.tokens), np.int32)
        for first, end, at, mention in sorted(rows, key=lambda row: row[0] - row[1]):
            if not self.labels[first:end].any():
                kind = number[mention.type]
                self.labels[first], self.labels[first + 1 : end] = label_of(kind, True), label_of(kind, False)
                self._places[first, end] = (at, mention)
        pairs = np.array(sorted(self._places), np.int64).reshape(-1, 2)
        self.spans: tuple[Int64, Int64] = (pairs[:, 0], pairs[:, 1])
        self.longest = int((pairs[:, 1] - pairs[:, 0]).max(initial=1))

    def numbers(self, concepts: Concepts) -> Int64:
        """(S,) the concept of each of ``spans``, NIL where the mention has none."""
        mentions = (self._places[place][1] for place in zip(*(part.tolist() for part in self.spans), strict=True))
        return np.array([concepts.number(mention.concepts) for mention in mentions], np.int64)

    def linked(self, found: list[tuple[int, int, int, int]], concepts: Concepts) -> Iterator[Document]:
        """The documents with their own mentions, linked."""
        changed = {self._places[first, end]: concepts.identifiers(concept) for first, end, _, concept in found}
        for at, document in enumerate(self._batch.documents):
            own = document.mentions
            yield document.copy(mentions=[one.replace(concepts=changed.get((at, one), one.concepts)) for one in own])


def _pieces(document: Int64, run: Executor, chosen: Chosen | None = None) -> list[tuple[int, int]]:
    """Ranges of sentences that begin where documents do; those of single documents, where some are wanted."""
    if not len(document):
        return []
    starts = np.flatnonzero(np.append(True, document[1:] != document[:-1]))
    if chosen is not None and not chosen.all():
        ends, keep = np.append(starts[1:], len(document)), chosen[document[starts]]
        return list(zip(starts[keep].tolist(), ends[keep].tolist(), strict=True))
    cuts = np.unique(starts[np.linspace(0, len(starts), 4 * run.workers, endpoint=False).astype(int)]).tolist()
    return list(zip(cuts, [*cuts[1:], len(document)], strict=True))
