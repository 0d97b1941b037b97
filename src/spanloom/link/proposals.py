"""Spans that may be mentions, and the concepts that each may be linked to, with what is known of both."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.hashing import Int64, UInt64
from spanloom.link.evidence import Evidence
from spanloom.link.names import NameMemory
from spanloom.sparse import gathered
from spanloom.text.abbreviations import abbreviations, expand, short_form_places
from spanloom.vocabulary.candidates import CandidateFinder
from spanloom.vocabulary.folding import CLOSE, EXACT, LOOSE
from spanloom.vocabulary.key_table import KeyTable
from spanloom.vocabulary.lexicon import LONGEST_NAME, Lexicon, Runs, all_runs, text_runs
from spanloom.vocabulary.lexicon import runs as token_runs

# how a candidate was found, best first; 0 for no candidate
NO_WAY, MEMORY_EXACT, MEMORY_CLOSE, NAME_CLOSE, MEMORY_LOOSE, NAME_LOOSE, SIMILAR = range(7)
_REMEMBERED = (MEMORY_EXACT, MEMORY_CLOSE, MEMORY_LOOSE)
_WRITTEN = 1 << 8  # flag: found by a text with abbreviations written out
UNDEFINED = -1.0  # probability of the long form of a span that is no defined short form


class FoundSpans(NamedTuple):
    """Candidates of a span by its words alone, without context.

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


_DTYPES = (np.int32, np.int8, np.int16, np.float32, np.float32, np.bool_)


class Proposals(NamedTuple):
    """S spans of N sentences with C candidates.

    Args:
        runs: of the tokens.
        ptr: (N + 1,) the spans of each sentence.
        first, end: (S,) counted over all documents.
        probability: (S, K) of the span being a mention of each type; 0 below the least that is looked at.
        exact, close: (S,) keys.
        mentions, occurrences: (2, S) how often training has the words, exactly and closely, as a mention and at all.
        long: (S, K) for a short form that the document defines, the probability of its long form; else -1.
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
    long: NDArray[np.float64]
    expanded: NDArray[np.bool_]
    cand_ptr: Int64
    found: FoundSpans


@dataclass(frozen=True)
class Proposer:
    """Proposes spans and candidates.

    Args:
        memory: of training mentions.
        finder: of concepts with similar names, and of names.
        most: candidates of a span.
        longest: tokens of a span.
        types: K.
    """

    memory: NameMemory
    finder: CandidateFinder
    most: int
    longest: int
    types: int

    def propose(
        self, batch: Batch, evidence: Evidence, given: tuple[Int64, Int64] | None = None, gold: Int64 | None = None
    ) -> Proposals:
        """The spans of a batch.

        Args:
            batch: N sentences.
            evidence: of the same batch.
            given: first tokens and ends of further spans.
            gold: (S,) for each of them a concept that must be among its candidates, NIL for none.
        """
        runs, offsets = token_runs(batch.words), batch.sentences
        forms = find_short_forms(batch, evidence, self.types)
        first, end, probability, long, likely = self._spans(batch, runs, evidence, forms, given)
        exact, close, loose = (runs.keys(degree, first, end) for degree in (EXACT, CLOSE, LOOSE))
        texts, longs = _texts(batch, first, end)
        if self.finder.method == "edit":  # equation 2 finds the candidates of all mentions, of known names too
            likely[:] = True
        found, which = self._found(texts, longs, (exact, close, loose), likely, batch.owners[first])
        at, ptr = gathered(np.cumsum([0, *(len(entry.concept) for entry in found)], dtype=np.int64), which)
        rows = FoundSpans._make(
            np.concatenate([np.zeros(0, dtype), *(entry[column] for entry in found)])[at]
            for column, dtype in enumerate(_DTYPES)
        )
        if given is not None and gold is not None:
            number = {pair: n for n, pair in enumerate(zip(first.tolist(), end.tolist(), strict=True))}
            spans = [number[pair] for pair in zip(*(part.tolist() for part in given), strict=True)]
            ptr, rows = with_gold(ptr, rows, np.array(spans, np.int64), gold)
        counts = [self.memory.counts_of(degree, keys) for degree, keys in ((EXACT, exact), (CLOSE, close))]
        sentence = np.searchsorted(offsets, first, side="right") - 1
        return Proposals(
            runs, np.searchsorted(sentence, np.arange(len(offsets))).astype(np.int64), first, end, probability, exact,
            close,
            np.array([mentions for mentions, _ in counts]), np.array([seen for _, seen in counts]),
            long, np.array([text is not None for text in longs], bool),
            ptr, rows,
        )  # fmt: skip

    def _spans(
        self, batch: Batch, runs: Runs, evidence: Evidence, forms: ShortForms, given: tuple[Int64, Int64] | None
    ) -> tuple[Int64, Int64, NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:  # fmt: skip
        """First tokens, ends, probabilities, those of long forms, and which of them similar names are searched for."""
        longest = min(self.longest, LONGEST_NAME)
        first, end = all_runs(batch, longest)
        hit = self.memory.lexicon.concepts[EXACT].find(runs.keys(EXACT, first, end)) >= 0
        begin = batch.sentences[evidence.sentence]
        places = [
            (begin + evidence.first, begin + evidence.end), forms[:2], given or (first[:0], end[:0]),
            (first[hit], end[hit]),
            *(one.runs(runs, batch.sentences, longest) for one in (self.memory.lexicon, self.finder.lexicon)),
        ]  # fmt: skip
        width = max(int((b - a).max(initial=0)) for a, b in places) + 1
        own, short, spans, *named = (a * width + b - a for a, b in places)
        chosen = np.unique(np.concatenate([own, short, spans, *named]))
        probability = np.zeros((len(chosen), self.types))
        probability[np.searchsorted(chosen, own), evidence.kind] = evidence.probability
        long = np.full_like(probability, UNDEFINED)
        long[np.searchsorted(chosen, short)] = forms.probability
        likely = np.maximum(probability, long).max(1, initial=0) > 0
        likely[np.searchsorted(chosen, spans)] = True
        first, size = chosen // width, chosen % width
        return first, first + size, probability, long, likely

    def _found(
        self, texts: list[str], longs: list[str | None], keys: tuple[NDArray[np.uint64], ...],
        likely: NDArray[np.bool_], documents: Int64,
    ) -> tuple[list[FoundSpans], Int64]:  # fmt: skip
        """Return the candidates of each distinct text, and the number of each span's text.

        Similar names are searched for a text in those documents that have a likely span with it. So a text may have two
        numbers, with and without them, and no document's candidates depend on other documents.
        """
        number: dict[tuple[str, str | None, int], int] = {}  # the exact key depends on the tokens of a text
        rows = zip(texts, longs, keys[EXACT].tolist(), strict=True)
        text = np.array([number.setdefault(row, len(number)) for row in rows], np.int64)
        own = np.unique(documents * len(number) + text, return_inverse=True)[1]  # a text in a document
        likely_there = np.zeros(len(text), bool)
        np.logical_or.at(likely_there, own, likely)
        named, where, which = np.unique(2 * text + likely_there[own], return_index=True, return_inverse=True)
        written, first, end = text_runs([long or "" for _, long, _ in number])
        some = first < end
        long_keys = []
        for degree in (EXACT, CLOSE, LOOSE):
            every = np.zeros(len(number), np.uint64)
            every[some] = written.keys(degree, first[some], end[some])
            long_keys.append(every[named // 2])
        pairs = [row[:2] for row in number]
        queries = [pairs[n // 2] for n in named.tolist() if n % 2]
        got = self.finder.find([text for text, _ in queries], [long for _, long in queries])
        scored = list(zip(got.concept.tolist(), got.score.tolist(), strict=True))
        likely_texts, ptr = np.flatnonzero(named % 2).tolist(), got.ptr.tolist()
        similar = {at: scored[a:b] for at, a, b in zip(likely_texts, ptr[:-1], ptr[1:], strict=True)}
        look = _Look(self.finder.lexicon, self.memory, self.most, [key[where] for key in keys], long_keys)
        return [look.found(at, similar.get(at, [])) for at in range(len(named))], which


class _Look:
    """Candidates of distinct texts, from dictionary and memory.

    Args:
        names: of the vocabulary.
        memory: of training mentions.
        most: candidates of a text.
        own: keys of the texts, by degree.
        long: keys of the texts with abbreviations written out; 0 for a text without abbreviations.
    """

    def __init__(self, names: Lexicon, memory: NameMemory, most: int, own: list[UInt64], long: list[UInt64]) -> None:
        self.most = most
        self.prior = memory.prior
        remembered = zip(_REMEMBERED, repeat(memory.lexicon), (EXACT, CLOSE, LOOSE), strict=False)
        ways = (*remembered, (NAME_CLOSE, names, CLOSE), (NAME_LOOSE, names, LOOSE))
        self.entries = [
            (way, written, _entries(lexicon.concepts[degree], keys[degree]))
            for keys, written in ((own, 0), (long, _WRITTEN))
            for way, lexicon, degree in ways
        ]
        self.preferred = [_entries(names.preferred, keys[CLOSE]) for keys in (own, long)]

    def found(self, at: int, similar: list[tuple[int, float]]) -> FoundSpans:
        """The candidates of the text of this number."""
        rows: dict[int, list[float]] = {}  # concept -> way, flags, share, similarity, preferred

        def note(concept: int, way: int, share: float = 0.0, similarity: float = 0.0, written: int = 0) -> None:
            row = rows.setdefault(concept, [99, 0, 0.0, 0.0, 0])
            row[0] = min(row[0], way)
            row[1] = int(row[1]) | 1 << way | written
            row[2] = max(row[2], share)
            row[3] = max(row[3], similarity)

        for way, written, entries in self.entries:
            pairs = entries[at]
            total = sum(count for _, count in pairs)
            for concept, count in pairs:
                if concept >= 0:
                    note(concept, way, count / total if way in _REMEMBERED else 0.0, written=written)
        for entries in self.preferred:
            for concept, _ in entries[at]:
                if concept in rows:  # a name of too many concepts is left out, but for those that prefer it
                    rows[concept][4] = 1
        for concept, similarity in similar:
            note(concept, SIMILAR, similarity=similarity)
        order = sorted(rows, key=lambda c: (-rows[c][3], rows[c][0], -rows[c][2], -int(self.prior[c]), c))[: self.most]
        columns = zip(*((concept, *rows[concept]) for concept in order), strict=True) if order else [()] * len(_DTYPES)
        return FoundSpans._make(np.array(column, dtype) for column, dtype in zip(columns, _DTYPES, strict=True))


def _entries(table: KeyTable, keys: UInt64) -> list[list[tuple[int, int]]]:
    """The values of each key, with counts."""
    rows, ptr = table.rows(table.find(keys))
    pairs = list(zip(table.values[rows].tolist(), table.counts[rows].tolist(), strict=True))
    return [pairs[a:b] for a, b in pairwise(ptr.tolist())]


def with_gold(ptr: Int64, found: FoundSpans, spans: Int64, concepts: Int64) -> tuple[Int64, FoundSpans]:
    """Candidates and those that training adds: the concepts of some spans, where they are not among theirs.

    Added candidates come last, as similar names with the similarity of the last candidate that was found.

    Args:
        ptr: (S + 1,) the candidates of each span.
        found: (C,) those.
        spans: of mentions.
        concepts: of each of them, NIL for none.
    """
    lacking = [
        (span, concept)
        for span, concept in zip(spans.tolist(), concepts.tolist(), strict=True)
        if concept >= 0 and concept not in found.concept[ptr[span] : ptr[span + 1]]
    ]
    if not lacking:
        return ptr, found
    span, concept = np.array(lacking, np.int64).T
    end = ptr[span + 1]
    last = np.append(found.similarity, np.float32(0))[end - 1]
    added = concept, SIMILAR, 1 << SIMILAR, 0, np.where(end > ptr[span], last, np.float32(0)), False
    more = np.bincount(span + 1, minlength=len(ptr))
    columns: Any = zip(found, added, strict=True)
    return ptr + np.cumsum(more), FoundSpans._make(np.insert(column, end, own) for column, own in columns)


def _texts(batch: Batch, first: Int64, end: Int64) -> tuple[list[str], list[str | None]]:
    """The text of each span, and the same with its abbreviations written out, if it has any."""
    texts: list[str] = []
    longs: list[str | None] = []
    owners = batch.owners[first]
    starts, ends = batch.tokens[first, 0], batch.tokens[end - 1, 1]
    for number, document in enumerate(batch.documents):
        rows = slice(*np.searchsorted(owners, [number, number + 1]).tolist())
        if rows.start < rows.stop:
            defined = abbreviations(document)
            own = [document.text[a:b] for a, b in zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)]
            texts += own
            longs += [expand(text, defined) for text in own]
    return texts, longs


class ShortForms(NamedTuple):
    """A short forms in the text: abbreviations that a document defines.

    Args:
        first, end: (A,) tokens, counted over all documents.
        probability: (A, K) the highest probability of a span that ends where a long form ends.
    """

    first: Int64
    end: Int64
    probability: NDArray[np.float64]


def find_short_forms(batch: Batch, evidence: Evidence, types: int) -> ShortForms:
    """Return all occurrences of the short forms that documents define.

    Args:
        batch: of the documents.
        evidence: of the same batch.
        types: K.
    """
    begin = batch.sentences[evidence.sentence]
    by_end: dict[int, list[tuple[int, int, float]]] = {}
    columns = (begin + evidence.first, begin + evidence.end, evidence.kind, evidence.probability)
    for first, end, kind, probability in zip(*(column.tolist() for column in columns), strict=True):
        by_end.setdefault(end, []).append((first, kind, probability))
    limits = set(batch.sentences.tolist())
    found: dict[tuple[int, int], NDArray[np.float64]] = {}
    for document, (base, stop) in zip(batch.documents, pairwise(batch.starts.tolist()), strict=True):
        for (first, end), longs in short_form_places(document.text, batch.tokens[base:stop]):
            if any(base + at in limits for at in range(first + 1, end)):
                continue  # it crosses a sentence
            row = found.setdefault((base + first, base + end), np.zeros(types))
            for _, stop in longs:
                for _, kind, probability in by_end.get(base + stop, ()):
                    row[kind] = max(row[kind], probability)
    pairs = np.array(list(found), np.int64).reshape(-1, 2)
    return ShortForms(pairs[:, 0], pairs[:, 1], np.array(list(found.values())).reshape(-1, types))
