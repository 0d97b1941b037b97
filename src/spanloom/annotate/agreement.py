"""Agreement of annotators on mentions that may nest, overlap and have gaps: F1, and F1 corrected for chance.

Kappa and alpha count units that both annotators label, such as tokens. Mentions that overlap are no such units. Here
the unit is the mention, and chance is where it lies:

1. A mention of annotator A and one of B *match* if they have the same type and the same spans.
2. Observed agreement is F = 2 M / (|A| + |B|), with M matches.
3. By chance each annotator would have placed each mention anywhere in its sentence, independently of all others, with
   its shape: how many tokens each part and each gap has. A shape of w tokens has n - w + 1 places in a sentence of n.
   Types would have been drawn from the annotator's own types, independently, too.
4. Two mentions in one sentence with the same shape then match with probability q / (n - w + 1), where q is the sum
   over types of p_A(type) p_B(type); all others with probability 0. The expectation of M is the sum over all pairs,
   exact whatever overlaps, because expectations add up.
5. With C = 2 E[M] / (|A| + |B|), corrected agreement is (F - C) / (1 - C): 1 for equal annotation, 0 for chance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from spanloom.document import Document, Mention
from spanloom.formats.store import Store, document_of
from spanloom.text import prepare

_Place = tuple[int, int, tuple[int, ...]]  # first token of the sentence, its length, and the shape


class Agreement(NamedTuple):
    """Agreement of two annotators on the documents that both annotated.

    Args:
        first, second: their names.
        documents: how many both annotated.
        mentions: of each.
        matches: mentions with the same type and spans.
        f1: observed agreement, 0 to 1; 1 where neither has a mention.
        chance: what chance would give.
        corrected: agreement corrected for chance, at most 1.
    """

    first: str
    second: str
    documents: int
    mentions: tuple[int, int]
    matches: int
    f1: float
    chance: float
    corrected: float


def agreement(documents: Iterable[Document]) -> list[Agreement]:
    """Return the agreement of each pair of annotators who share documents.

    Args:
        documents: once for each annotator, whose name is ``meta["annotator"]``, as a store is read.

    >>> def by(name, *mentions):
    ...     return Document("No chest pain or fever.", "a", mentions=list(mentions), meta={"annotator": name})
    >>> pain, fever = Mention("problem", [(3, 13)]), Mention("problem", [(17, 22)])
    >>> [found] = agreement([by("ann", pain, fever), by("bea", pain)])
    >>> found.matches, round(found.f1, 2), round(found.corrected, 2)
    (1, 0.67, 0.62)
    """
    by_name: dict[str, dict[str, Document]] = defaultdict(dict)
    for document in documents:
        name = document.meta.get("annotator")
        if isinstance(name, str):
            by_name[name][document.id] = prepare(document)
    found = []
    for first, second in combinations(sorted(by_name), 2):
        shared = sorted(by_name[first].keys() & by_name[second].keys())
        if shared:
            pairs = [(by_name[first][id], by_name[second][id]) for id in shared]
            found.append(_compare(first, second, pairs))
    return found


def compared(store: Store, *, without: str | None = None) -> Iterator[Document]:
    """Yield the documents of a store that several layers have, once for each, except one layer."""
    for number in store.numbers().values():
        names = [layer for layer in store.layers(number) if layer != without]
        if len(names) > 1:
            record = store.record(number)
            yield from (document_of(record, store.state(number, name), name) for name in names)


def _compare(first: str, second: str, pairs: Sequence[tuple[Document, Document]]) -> Agreement:
    matches, expected = 0, 0.0
    types: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for pair in pairs:
        keys = [{mention.key for mention in document.mentions} for document in pair]
        matches += len(keys[0] & keys[1])
        for count, own in zip(types, keys, strict=True):
            count.update(type for type, _ in own)
        distinct = [(one, {mention.key: mention for mention in one.mentions}.values()) for one in pair]
        places = [Counter(place_of(one, mention) for mention in mentions) for one, mentions in distinct]
        for place, times in places[0].items():
            length, shape = place[1:]
            expected += times * places[1][place] / (length - sum(shape) + 1)
    sizes = types[0].total(), types[1].total()
    # times the probability that two types are equal, each drawn from those of an annotator
    expected *= sum(count * types[1][name] for name, count in types[0].items()) / max(1, sizes[0] * sizes[1])
    f1 = 2 * matches / sum(sizes) if any(sizes) else 1.0
    chance = 2 * expected / sum(sizes) if any(sizes) else 0.0
    corrected = (f1 - chance) / (1 - chance) if chance < 1 else float(f1 == 1)
    return Agreement(first, second, len(pairs), sizes, matches, f1, chance, corrected)


def place_of(document: Document, mention: Mention) -> _Place:
    """Return the place of a mention: first token and length of the sentences that hold it, and its shape.

    A shape is the number of tokens of each part and of each gap in turn. Tokens that a mention cuts belong to it.

    >>> text = prepare(Document("No pain. Left ventricle mildly dilated."))
    >>> place_of(text, Mention("problem", [(9, 23), (31, 38)]))
    (3, 5, (2, 1, 1))
    """
    tokens, sentences = document.tokens, document.sentences
    if tokens is None or sentences is None or not len(tokens) or not len(sentences):
        return 0, 1, (1,)
    cuts: list[int] = []
    for start, end in mention.spans:
        low = int(np.searchsorted(tokens[:, 1], start, side="right"))
        high = max(int(np.searchsorted(tokens[:, 0], end, side="left")), low + 1)
        if cuts and low <= cuts[-1]:
            cuts[-1] = max(high, cuts[-1])  # parts of one token, or that only white space separates
        else:
            cuts += [low, high]
    rows = np.flatnonzero((sentences[:, 0] < cuts[-1]) & (sentences[:, 1] > cuts[0]))
    first, end = (int(sentences[rows[0], 0]), int(sentences[rows[-1], 1])) if len(rows) else (cuts[0], cuts[-1])
    return first, end - first, tuple(np.diff(cuts).tolist())
