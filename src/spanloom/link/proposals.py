"""Spans that may be mentions, and the concepts that each may be linked to, with what is known of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document
from spanloom.link.evidence import Evidence
from spanloom.link.names import Memory, Names, all_runs
from spanloom.link.runs import CLOSE, EXACT, LOOSE, Int64, KeyTable, Runs, document_runs, text_runs
from spanloom.text.abbreviations import abbreviations, expand
from spanloom.vocabulary.candidates import Candidates

# how a candidate was found, best first; 0 is none
NO_CLASS, MEMORY_EXACT, MEMORY_CLOSE, NAME_CLOSE, MEMORY_LOOSE, NAME_LOOSE, SIMILAR = range(7)

Fuzzy = Callable[[Sequence[str], Sequence[str | None]], Candidates]  # texts, and the same with abbreviations written out


class Found(NamedTuple):
    """What the words of a span say, whatever stands around it.

    Args:
        concept: (C,) candidates, best first.
        way: (C,) the best way in which each was found.
        flags: (C,) all ways, as bits; above them whether an abbreviation was written out.
        share: (C,) of the training mentions with these words, those with the concept; 0 without memory.
        similarity: (C,) of the best similar name; 0 if it is not among them.
        preferred: (C,) whether the words are the preferred name.
    """

    concept: NDArray[np.int32]
    way: NDArray[np.int8]
    flags: NDArray[np.int16]
    share: NDArray[np.float32]
    similarity: NDArray[np.float32]
    preferred: NDArray[np.bool_]


class Proposals(NamedTuple):
    """S spans of N sentences with C candidates.

    Args:
        runs: of the tokens.
        ptr: (N + 1,) the spans of each sentence.
        first, end: (S,) counted over all documents.
        probability: (S, K) of the span being a mention of each type; 0 below the least that is looked at.
        exact, close: (S,) keys.
        mentions, occurrences: (2, S) how often training has the words, exactly and closely, as a mention and at all.
        expanded: (S,) whether it holds an abbreviation that the text defines.
        cand_ptr: (S + 1,).
        found: of all spans, one after the other.
    """

    runs: Runs
    ptr: Int64
    first: Int64
    end: Int64
    probability: NDArray[np.float64]
    exact: NDArray[np.uint64]
    close: NDArray[np.uint64]
    mentions: Int64
    occurrences: Int64
    expanded: NDArray[np.bool_]
    cand_ptr: Int64
    found: Found


@dataclass(frozen=True)
class Proposer:
    """Proposes spans and candidates.

    Args:
        names: of the vocabulary.
        memory: of training mentions.
        fuzzy: similar names' concepts.
        most: candidates of a span.
        longest: tokens of a span.
        types: K.
    """

    names: Names
    memory: Memory
    fuzzy: Fuzzy | None
    most: int
    longest: int
    types: int

    def propose(self, documents: Sequence[Document], offsets: Int64, evidence: Evidence) -> Proposals:
        """The spans of prepared documents.

        Args:
            documents: prepared.
            offsets: (N + 1,) first token of each of their sentences.
            evidence: of the same documents.
        """
        runs = document_runs(documents)
        first, end, probability = self._spans(documents, runs, offsets, evidence)
        exact, close, loose = (runs.keys(degree, first, end) for degree in (EXACT, CLOSE, LOOSE))
        texts, longs = _texts(documents, first, end)
        likely = probability.max(1, initial=0) > 0
        found, which = self._found(texts, longs, (exact, close, loose), likely)
        sizes = np.array([len(entry.concept) for entry in found], np.int64)[which]
        counts = [self._counts(degree, keys) for degree, keys in ((EXACT, exact), (CLOSE, close))]
        sentence = np.searchsorted(offsets, first, side="right") - 1
        return Proposals(
            runs, np.searchsorted(sentence, np.arange(len(offsets))), first, end, probability, exact, close,
            np.array([mentions for mentions, _ in counts]), np.array([seen for _, seen in counts]),
            np.array([long is not None for long in longs], bool),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
            Found(*(np.concatenate([column[:0], *parts]) for column, parts in _columns(found, which))),
        )  # fmt: skip

    def _spans(
        self, documents: Sequence[Document], runs: Runs, offsets: Int64, evidence: Evidence
    ) -> tuple[Int64, Int64, NDArray[np.float64]]:
        first, end = all_runs(documents, self.longest)
        hit = np.zeros(len(first), bool)
        for degree, tables in (
            (EXACT, (self.memory.concepts[EXACT],)),
            (CLOSE, (self.memory.concepts[CLOSE], self.names.close)),
        ):
            keys = runs.keys(degree, first, end)
            for table in tables:
                hit |= table.find(keys) >= 0
        begin = offsets[evidence.sentence]
        width = self.longest + 1
        own = (begin + evidence.first) * width + evidence.end - evidence.first
        chosen = np.union1d(first[hit] * width + (end - first)[hit], own)
        probability = np.zeros((len(chosen), self.types))
        probability[np.searchsorted(chosen, own), evidence.kind] = evidence.probability
        first, size = chosen // width, chosen % width
        return first, first + size, probability

    def _counts(self, degree: int, keys: NDArray[np.uint64]) -> tuple[Int64, Int64]:
        place = self.memory.concepts[degree].find(keys)
        counts, seen = self.memory.mentions(degree), self.memory.occurrences[degree]
        return (
            np.where(place >= 0, np.append(counts, 0)[place], 0),
            np.where(place >= 0, np.append(seen, 0)[place], 0),
        )

    def _found(
        self, texts: list[str], longs: list[str | None], keys: tuple[NDArray[np.uint64], ...],
        likely: NDArray[np.bool_],
    ) -> tuple[list[Found], Int64]:  # fmt: skip
        """What is found for each distinct text, and the number of each span's text."""
        number: dict[tuple[str, str | None], int] = {}
        which = np.array([number.setdefault(pair, len(number)) for pair in zip(texts, longs, strict=True)], np.int64)
        _, where = np.unique(which, return_index=True)
        plausible = np.zeros(len(number), bool)
        np.logical_or.at(plausible, which, likely)
        written, first, end = text_runs([long or "" for _, long in number])
        nothing = end == first
        first = np.where(nothing, 0, first)
        long_keys = [
            np.where(nothing, np.uint64(0), written.keys(degree, first, np.where(nothing, 0, end)))
            if len(written.low)
            else np.zeros(len(number), np.uint64)
            for degree in (EXACT, CLOSE, LOOSE)
        ]
        queries = [text for text, wanted in zip(number, plausible.tolist(), strict=True) if wanted]
        similar: dict[tuple[str, str | None], list[tuple[int, float]]] = {}
        if self.fuzzy is not None and queries:
            got = self.fuzzy(*map(list, zip(*queries, strict=True)))
            pairs = list(zip(got.concept.tolist(), got.score.tolist(), strict=True))
            ptr = got.ptr.tolist()
            similar = {query: pairs[a:b] for query, a, b in zip(queries, ptr[:-1], ptr[1:], strict=True)}
        look = _Look(self.names, self.memory, self.most)
        columns = zip(number, *(key[where].tolist() for key in keys), *(key.tolist() for key in long_keys), strict=True)
        return [look.found(own, long, similar.get(pair, [])) for pair, own, long in _paired(columns)], which


def _paired(columns):  # type: ignore[no-untyped-def]
    for pair, a, b, c, d, e, f in columns:
        yield pair, (a, b, c), (d, e, f)


class _Look:
    """Look-ups in dictionaries of Python, one span at a time."""

    def __init__(self, names: Names, memory: Memory, most: int) -> None:
        self.most = most
        self.prior = memory.prior
        self.memory = [_as_dict(table) for table in memory.concepts]
        self.names = {CLOSE: _as_dict(names.close), LOOSE: _as_dict(names.loose)}
        self.preferred = _as_dict(names.preferred)

    def found(self, own: tuple[int, int, int], long: tuple[int, int, int], similar: list[tuple[int, float]]) -> Found:
        rows: dict[int, list[float]] = {}  # concept -> way, flags, share, similarity, preferred

        def note(concept: int, way: int, share: float = 0.0, similarity: float = 0.0, written: bool = False) -> None:
            row = rows.setdefault(concept, [99, 0, 0.0, 0.0, 0])
            row[0] = min(row[0], way)
            row[1] = int(row[1]) | 1 << way | (1 << 8 if written else 0)
            row[2] = max(row[2], share)
            row[3] = max(row[3], similarity)

        for keys, written in ((own, False), (long, True)):
            for degree, way in ((EXACT, MEMORY_EXACT), (CLOSE, MEMORY_CLOSE), (LOOSE, MEMORY_LOOSE)):
                entries = self.memory[degree].get(keys[degree], ()) if keys[degree] else ()
                total = sum(count for _, count in entries)
                for concept, count in entries:
                    if concept >= 0:
                        note(concept, way, count / total, written=written)
            for degree, way in ((CLOSE, NAME_CLOSE), (LOOSE, NAME_LOOSE)):
                for concept, _ in self.names[degree].get(keys[degree], ()) if keys[degree] else ():
                    note(concept, way, written=written)
            for concept, _ in self.preferred.get(keys[CLOSE], ()) if keys[CLOSE] else ():
                rows[concept][4] = 1
        for concept, similarity in similar:
            note(concept, SIMILAR, similarity=similarity)
        order = sorted(rows, key=lambda c: (-rows[c][3], rows[c][0], -rows[c][2], -self._prior(c), c))[: self.most]
        columns = list(zip(*(rows[concept] for concept in order), strict=True)) or [()] * 5
        return Found(
            np.array(order, np.int32), np.array(columns[0], np.int8), np.array(columns[1], np.int16),
            np.array(columns[2], np.float32), np.array(columns[3], np.float32), np.array(columns[4], bool),
        )  # fmt: skip

    def _prior(self, concept: int) -> int:
        return int(self.prior[concept])


def _as_dict(table: KeyTable) -> dict[int, list[tuple[int, int]]]:
    pairs = list(zip(table.values.tolist(), table.counts.tolist(), strict=True))
    ptr = table.ptr.tolist()
    return {key: pairs[a:b] for key, a, b in zip(table.keys.tolist(), ptr[:-1], ptr[1:], strict=True)}


def _columns(found: list[Found], which: Int64):  # type: ignore[no-untyped-def]
    numbers = which.tolist()
    empty = Found(np.zeros(0, np.int32), np.zeros(0, np.int8), np.zeros(0, np.int16), np.zeros(0, np.float32),
                  np.zeros(0, np.float32), np.zeros(0, bool))  # fmt: skip
    for i, column in enumerate(empty):
        yield column, [found[n][i] for n in numbers]


def _texts(documents: Sequence[Document], first: Int64, end: Int64) -> tuple[list[str], list[str | None]]:
    """The text of each span, and the same with its abbreviations written out, if it has any."""
    texts: list[str] = []
    longs: list[str | None] = []
    base = at = 0
    starts, ends = first.tolist(), end.tolist()
    for document in documents:
        if document.tokens is None:
            continue
        tokens = document.tokens.tolist()
        defined = abbreviations(document)
        while at < len(starts) and starts[at] < base + len(tokens):
            text = document.text[tokens[starts[at] - base][0] : tokens[ends[at] - base - 1][1]]
            texts.append(text)
            longs.append(expand(text, defined))
            at += 1
        base += len(tokens)
    return texts, longs
