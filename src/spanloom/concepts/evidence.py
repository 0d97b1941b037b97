"""Evidence for a candidate from the other mentions of its document."""

from __future__ import annotations

import numpy as np

from spanloom.concepts.forms import NUMBERS, FormTable
from spanloom.hashing import Int64
from spanloom.hypergraph import Floats
from spanloom.sparse import gathered, row_offsets
from spanloom.vocabulary.store import Vocabulary

_SUPPORT, _RELATED = NUMBERS.index("support"), NUMBERS.index("related")


class Parents:
    """The parents of each concept that a vocabulary holds, by number.

    Args:
        vocabulary: of V concepts.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        strings, ends = vocabulary.parents
        owners = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        named = strings.to_list()
        number = {parent: vocabulary.find(parent) for parent in dict.fromkeys(named)}
        found = np.array([number[parent] for parent in named], np.int64)
        owners, found = owners[found >= 0], found[found >= 0]
        _, first = np.unique(owners * len(ends) + found, return_index=True)  # a parent that is given twice counts once
        first.sort()
        self.ptr, self.numbers = row_offsets(owners[first], len(ends)), found[first]

    def of(self, concepts: Int64) -> tuple[Int64, Int64]:
        """Return pairs: the place of a concept, and the number of a parent."""
        rows, ptr = gathered(self.ptr, concepts)
        return np.repeat(np.arange(len(concepts)), np.diff(ptr)), self.numbers[rows]


def with_evidence(table: FormTable, forms: Int64, documents: Int64, parents: Parents) -> tuple[Int64, Int64, Floats]:
    """Return the candidates of mentions, with the numbers that depend on their documents.

    1. Each concept of a document gets the two largest `FormTable.likely` that different forms give it.
    2. A candidate's support is the largest that another form gives its concept; its related evidence is the largest
       that another form gives to a parent of it. Sets of concepts have none.

    Args:
        table: of the forms.
        forms: (M,) number of each mention's form.
        documents: (M,) number of each mention's document, ascending.
        parents: of the vocabulary.

    Returns:
        Rows of the table, (C,), where those of each mention begin, (M + 1,), and (C, D) their numbers.
    """
    pairs, inverse = np.unique(np.stack([documents, forms]), axis=1, return_inverse=True)
    rows, ptr = gathered(table.ptr, pairs[1])
    size = len(parents.ptr) - 1
    concept, likely, numbers = table.concept[rows], table.likely[rows], table.numbers[rows]
    pair = np.repeat(np.arange(pairs.shape[1]), np.diff(ptr))
    single = np.flatnonzero((concept >= 0) & (concept < size))
    key = pairs[0][pair[single]] * size + concept[single]
    order = np.lexsort((-likely[single], key))
    key, ranked = key[order], single[order]
    keys, first = np.unique(key, return_index=True)
    second = first + 1
    both = np.append(np.diff(first), len(key) - first[-1:]) > 1
    top, who = likely[ranked[first]], pair[ranked[first]]
    next_best = np.where(both, likely[ranked[np.minimum(second, max(0, len(ranked) - 1))]], 0.0) if len(ranked) else top

    def largest(wanted: Int64, asking: Int64) -> Floats:
        """Return the largest that another pair than the asking one gives to some documents' concepts."""
        at = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        found: Floats = np.where(who[at] == asking, next_best[at], top[at])
        return np.where(keys[at] == wanted, found, 0.0)

    if len(single):
        base = pairs[0][pair[single]] * size
        numbers[single, _SUPPORT] = largest(base + concept[single], pair[single])
        at, parent = parents.of(concept[single])
        related = np.zeros(len(single))
        np.maximum.at(related, at, largest(base[at] + parent, pair[single][at]))
        numbers[single, _RELATED] = related
    taken, every = gathered(ptr, inverse)
    return rows[taken], every, numbers[taken]
