"""Token columns made of mentions: what a first pass thinks of the same words elsewhere in the document.

Krishnan and Manning (2006) give a second model the majority of a first model's labels for a token, and for an entity,
in the same document. Here the labels are probabilities of mentions, in bins, and a place never counts for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.features.tables import tabulate
from spanloom.features.template import Column
from spanloom.hashing import RangeHashes, UInt64, mixed
from spanloom.hypergraph import Floats, Ints
from spanloom.sparse import found_in, places_of
from spanloom.structures import MentionTable
from spanloom.text.abbreviations import short_form_places
from spanloom.vocabulary.key_table import best_elsewhere

LONGEST: Final = 8
"""Tokens of a phrase that is looked for elsewhere, at most."""
EDGES: Final = (0.1, 0.3, 0.5, 0.7, 0.9, 0.97)
"""Where the bins of probabilities begin; below the first, a mention does not count."""
PLACES: Final = ("B", "I", "L", "U")


class Forms(NamedTuple):
    """Occurrences of A short forms that documents define, sorted, and their long forms, in tokens of a batch.

    Args:
        first, end: (A,) tokens of each, half-open.
        long_first, long_end: (A,) tokens of its long form, where the document defines it.
    """

    first: Ints
    end: Ints
    long_first: Ints
    long_end: Ints

    @classmethod
    def none(cls) -> Forms:
        """Without short forms."""
        return cls(*np.zeros((4, 0), np.int64))

    @classmethod
    def of(cls, batch: Batch) -> Forms:
        """The short forms in a batch; the first definition counts, and forms across sentences are left out.

        >>> from spanloom.document import Document
        >>> document = Document("Heart attack (HA). An HA?", tokens=[[0, 5], [6, 12], [13, 14], [14, 16], [16, 17],
        ...     [17, 18], [19, 21], [22, 24], [24, 25]], sentences=[[0, 6], [6, 9]])
        >>> [column.tolist() for column in Forms.of(Batch.of([document]))]
        [[3, 7], [4, 8], [0, 0], [2, 2]]
        """
        rows = [
            (base + first, base + end, base + longs[0][0], base + longs[0][1])
            for document, (base, stop) in zip(batch.documents, pairwise(batch.starts.tolist()), strict=True)
            for (first, end), longs in short_form_places(document.text, batch.tokens[base:stop])
        ]
        found = np.array(rows, np.int64).reshape(-1, 4).T
        sentence = np.searchsorted(batch.sentences, found, side="right")
        last = np.searchsorted(batch.sentences, found - 1, side="right")
        return cls(*found[:, (sentence[0] == last[1]) & (sentence[2] == last[3])])

    def read(self, first: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Return ranges with short forms replaced by their long forms.

        Args:
            first, end: (M,) ranges of tokens.
        """
        if not len(self.first):
            return first, end
        row = np.minimum(np.searchsorted(self.first, first), len(self.first) - 1)
        short = (self.first[row] == first) & (self.end[row] == end)
        return np.where(short, self.long_first[row], first), np.where(short, self.long_end[row], end)


class DocumentText(NamedTuple):
    """The words of T tokens, and their places.

    Args:
        words: (T,) hash of each word, in lower case.
        sentence: (T,) number of each one's sentence.
        document: (T,) number of each one's document.
        offsets: (N + 1,) first token of each sentence.
        forms: short forms, which are replaced by long ones.
    """

    words: UInt64
    sentence: Ints
    document: Ints
    offsets: Ints
    forms: Forms = Forms.none()

    @classmethod
    def of(cls, batch: Batch, forms: bool = False) -> DocumentText:
        """Of a batch, with the short forms that its documents define, or without any."""
        table = tabulate(batch, [Column("low")])
        words: UInt64 = table.values[table.base[0] + table.ids[0].astype(np.int64) * table.stride[0]]
        sentence = np.repeat(np.arange(len(batch.sentences) - 1), np.diff(batch.sentences))
        return cls(words, sentence, batch.owners, batch.sentences, Forms.of(batch) if forms else Forms.none())

    @property
    def limit(self) -> Ints:
        """(T,) the end of the sentence of each token."""
        return self.offsets[self.sentence + 1]

    def phrases(self, size: int) -> Ints:
        """Return the first token of each run of so many tokens within a sentence."""
        begins = np.arange(max(0, len(self.words) - size + 1))
        whole: Ints = begins[self.sentence[begins] == self.sentence[begins + size - 1]]
        return whole


class Ranges(NamedTuple):
    """M ranges of tokens, with a type and a probability or another strength.

    Args:
        first, end: half-open, counted in the batch.
        kind: number of the type.
        strength: what decides between ranges.
    """

    first: Ints
    end: Ints
    kind: Ints
    strength: Floats

    @classmethod
    def of(cls, table: MentionTable, strength: Floats, offsets: Ints) -> Ranges:
        """Of mentions without a gap; others are left out.

        Args:
            table: M mentions.
            strength: (M,) of each.
            offsets: (N + 1,) first token of each sentence.
        """
        kept = np.flatnonzero(table.contiguous)
        base, at = offsets[table.sentence[kept]], table.ptr[kept]
        return cls(base + table.first[at], base + table.end[at], table.kind[kept], strength[kept])

    def take(self, rows: Ints | NDArray[np.bool_]) -> Ranges:
        """Return some of them."""
        return Ranges(self.first[rows], self.end[rows], self.kind[rows], self.strength[rows])

    @classmethod
    def join(cls, parts: Sequence[Ranges]) -> Ranges:
        """Several as one, one after the other."""
        first, end, kind = (np.concatenate([part[column] for part in parts]) for column in range(3))
        return cls(first, end, kind, np.concatenate([part.strength for part in parts]))

    def tokens(self) -> tuple[Ints, Ints]:
        """Return each token of each range, and the number of its range."""
        sizes = self.end - self.first
        return places_of(self.first, sizes)[0], np.repeat(np.arange(len(sizes)), sizes)


def again(text: DocumentText, found: Ranges) -> Ranges:
    """Return the places whose words are a mention elsewhere in their document, with the likeliest of these.

    A short form has the words of its long form.

    Args:
        text: T tokens.
        found: mentions with their probabilities.
    """
    found = found.take(found.end - found.first <= LONGEST)
    forms, key = text.forms, _keys(text)
    sizes = np.unique(
        np.concatenate([found.end - found.first, forms.end - forms.first, forms.long_end - forms.long_first])
    )
    phrases = [(text.phrases(size), size) for size in sizes[sizes <= LONGEST].tolist()]
    first = np.concatenate([np.zeros(0, np.int64), *(begins for begins, _ in phrases)])
    end = np.concatenate([first[:0], *(begins + size for begins, size in phrases)])
    best = best_elsewhere(key(found.first, found.end), found.strength, found.first, key(first, end), first)
    some, best = best >= 0, best[best >= 0]
    return Ranges(first[some], end[some], found.kind[best], found.strength[best])


def _keys(text: DocumentText) -> Callable[[Ints, Ints], UInt64]:
    """Return what hashes ranges of tokens, with their documents: a short form as its long one."""
    hashes = RangeHashes(text.words)

    def keys(first: Ints, end: Ints) -> UInt64:
        begin, stop = text.forms.read(first, end)
        return mixed(0, hashes.of(begin, stop), stop - begin, text.document[first])

    return keys


def one_word(text: DocumentText, found: Ranges) -> tuple[DocumentText, Ranges]:
    """Return a text where short forms of one token and their long forms are one word, and its mentions.

    Such a token's word is its long form. After the last token there is one more for each place where such a long form
    is written out; it is a mention if the whole place is one.

    Args:
        text: T tokens.
        found: mentions with their probabilities.
    """
    forms = text.forms
    short = np.flatnonzero(forms.end - forms.first == 1)
    if not len(short):
        return text, found
    written = _keys(text._replace(forms=Forms.none()))  # a short form is no place of its long form, whatever its length
    words, size = text.words.copy(), len(text.words)
    words[forms.first[short]] = known = written(forms.long_first[short], forms.long_end[short])
    firsts, ends = [], []
    for length in np.unique(forms.long_end[short] - forms.long_first[short]).tolist():
        begins = text.phrases(length)
        begins = begins[np.isin(written(begins, begins + length), known)]
        firsts.append(begins)
        ends.append(begins + length)
    first, end = np.concatenate(firsts), np.concatenate(ends)
    order = np.lexsort((end, first))
    first, end = first[order], end[order]
    words = np.concatenate([words, written(first, end)])
    document = np.concatenate([text.document, text.document[first]])
    # mentions that are such places
    sought, place = (begin * (size + 1) + stop for begin, stop in ((found.first, found.end), (first, end)))
    whole = np.flatnonzero(np.isin(sought, place))
    at = size + np.searchsorted(place, sought[whole])
    more = Ranges(at, at + 1, found.kind[whole], found.strength[whole])
    return text._replace(words=words, document=document), Ranges.join([found, more])


def again_word(text: DocumentText, found: Ranges, kinds: int) -> tuple[Ints, Floats]:
    """Return the type that each word has elsewhere in its document, (T,), and how probable it is there, on average.

    The type is the one with the largest mean; -1 for a word that its document has once. A type that it has nowhere else
    has the mean 0.

    Args:
        text: T tokens.
        found: mentions with their probabilities.
        kinds: K types.
    """
    size = len(text.words)
    _, group, count = np.unique(mixed(0, text.words, text.document), return_inverse=True, return_counts=True)
    token, owner = found.tokens()
    pair, chance = _largest(token * kinds + found.kind[owner], found.strength[owner])
    kind = pair % kinds
    own = group[pair // kinds] * kinds + kind  # a word of a document with a type
    keys, member = np.unique(own, return_inverse=True)
    total = np.bincount(member, chance, len(keys))
    # each token with each type that its word has in its document
    low, high = (np.searchsorted(keys, group * kinds + side) for side in (0, kinds))
    tokens = np.repeat(np.arange(size), high - low)
    rows = np.arange(len(tokens)) - np.repeat((high - low).cumsum() - high, high - low)
    sought = tokens * kinds + keys[rows] % kinds
    place = found_in(pair, sought)
    mine = np.where(place >= 0, chance[place], 0.0)
    others = np.maximum(1, count[group] - 1)
    mean = np.maximum(0.0, total[rows] - mine) / others[tokens]
    order = np.lexsort((-mean, tokens))
    first = order[np.unique(tokens[order], return_index=True)[1]]
    best, largest = np.where(count[group] > 1, 0, -1), np.zeros(size)
    many = first[count[group[tokens[first]]] > 1]
    best[tokens[many]], largest[tokens[many]] = keys[rows[many]] % kinds, mean[many]
    return best, largest


def _largest(key: Ints, value: Floats) -> tuple[Ints, Floats]:
    """Return the distinct keys, ascending, and the largest value of each."""
    order = np.lexsort((-value, key))
    keys, start = np.unique(key[order], return_index=True)
    return keys, value[order[start]]


def paint(ranges: Ranges, size: int) -> tuple[Ints, Ints]:
    """Return the range that shows each of so many tokens, (T,), and the token's place in it, of `PLACES`, (T,).

    It is -1 for none. Of several ranges the longest is shown, then the strongest, then the first.
    """
    token, owner = ranges.tokens()
    lengths = (ranges.end - ranges.first)[owner]
    order = np.lexsort((owner, -ranges.strength[owner], -lengths, token))
    tokens, start = np.unique(token[order], return_index=True)
    shown, place = np.full(size, -1), np.zeros(size, np.int64)
    shown[tokens] = top = owner[order[start]]
    first, last = tokens == ranges.first[top], tokens == ranges.end[top] - 1
    place[tokens] = np.where(first, np.where(last, 3, 0), np.where(last, 2, 1))
    return shown, place


def named(codes: Ints, names: Sequence[str]) -> list[str]:
    """Return the names of numbers, (T,); of -1 the empty text, which stands for no value."""
    table = np.array([*names, ""], object)
    found: list[str] = table[codes].tolist()
    return found
