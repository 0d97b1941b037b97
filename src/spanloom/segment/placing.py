"""From tags of characters back to documents, and from documents' mentions to questions about characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from spanloom.document import Batch, Document, Mention
from spanloom.document.span import join_spans
from spanloom.hypergraph import Floats, Ints
from spanloom.model.corpus import place
from spanloom.segment.characters import Bools, place_words, positions_of
from spanloom.segment.model import Decoded
from spanloom.structures import MentionTable
from spanloom.structures.base import contiguous_table


def placed(
    batch: Batch, decoded: Decoded, scores: Floats | None, types: Sequence[str], threshold: float
) -> Iterator[Document]:
    """Documents with words and mentions in place of their own.

    Args:
        batch: what was decoded.
        decoded: its tags.
        scores: a probability for each mention.
        types: K names.
        threshold: mentions with a lower score are left out.
    """
    words = place_words(batch, decoded.words)
    marked = place(batch, decoded.mentions, types, scores, threshold)
    for i, (document, (tokens, bounds)) in enumerate(zip(marked, words, strict=True)):
        meta = document.meta
        if decoded.solution is not None:
            solution, own = decoded.solution, slice(*batch.firsts[i : i + 2].tolist())
            dual = {
                "optimal": solution.optimal[own].tolist(),
                "gap": [round(gap, 6) for gap in solution.gap[own].tolist()],
                "iterations": solution.iterations[own].tolist(),
            }
            meta = {**meta, "dual": dual}
        yield document.copy(tokens=tokens, sentences=bounds, meta=meta)


def requested_table(batch: Batch, types: Sequence[str]) -> tuple[MentionTable, Bools]:
    """The documents' own mentions as questions, and which of all their mentions could be asked.

    Left out are discontiguous ones, those of unknown types, and those that begin or end in white space or reach over
    the end of a sentence.
    """
    rows: list[tuple[int, int, int, int]] = []
    held: list[bool] = []
    edges, firsts = batch.starts, batch.firsts
    for i, (document, positions) in enumerate(zip(batch.documents, positions_of(batch), strict=True)):
        sentences = batch.sentences[firsts[i] : firsts[i + 1] + 1] - edges[i]
        for mention in document.mentions:
            row = _row(document, mention, positions, sentences, types)
            held.append(row is not None)
            if row is not None:
                sentence, kind, first, end = row
                rows.append((int(firsts[i]) + sentence, kind, first, end))
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    return contiguous_table(*(column.copy() for column in columns)), np.array(held, bool)


def _row(
    document: Document, mention: Mention, positions: Ints, sentences: Ints, types: Sequence[str]
) -> tuple[int, int, int, int] | None:
    """Sentence, type, first and end character in the sentence."""
    spans = join_spans(document.text, mention.spans)
    first, last = np.searchsorted(positions, (spans[0].start, spans[0].end - 1)).tolist()
    if len(spans) > 1 or mention.type not in types or last >= len(positions):
        return None
    sentence = int(np.searchsorted(sentences[1:], first, side="right"))
    start, end = sentences[sentence : sentence + 2].tolist()
    if (positions[first], positions[last]) != (spans[0].start, spans[0].end - 1) or last >= end:
        return None
    return sentence, types.index(mention.type), first - start, last + 1 - start
