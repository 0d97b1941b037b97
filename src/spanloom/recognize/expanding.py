"""Expansion of mentions that share words: "breast and ovarian cancer" also is "breast cancer" and "ovarian cancer"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from spanloom.document import Batch, Document, Mention
from spanloom.hashing import mixed
from spanloom.rescoring import WORDS, Rescorer
from spanloom.rescoring.candidates import Words
from spanloom.rescoring.seen import SeenNames
from spanloom.rescoring.values import TokenColumns, texts
from spanloom.structures.base import contiguous_table
from spanloom.text import prepare
from spanloom.text.coordination import expansion
from spanloom.vocabulary.folding import CLOSE


def expanded(documents: Iterable[Document], second: Rescorer | None = None) -> Iterator[Document]:
    """Yield documents with the mentions that their coordinated mentions stand for, beside them.

    Each has the type of its mention, the attribute ``expanded``, and as its score that of the mention times the
    probability that the mention stands for it. Mentions that are there already are not added.

    Args:
        documents: with mentions.
        second: a second stage, whose names are known: those of its vocabularies are not expanded, and texts of training
            mentions speak for expansions that give them.

    >>> from spanloom import Document, Mention
    >>> note = Document("breast and ovarian cancer", mentions=[Mention("Disease", [(0, 25)], score=0.9)])
    >>> [found] = expanded([note])
    >>> [mention.text(found.text) for mention in found.mentions]
    ['breast and ovarian cancer', 'breast cancer', 'ovarian cancer']
    """
    names = _Names(second)
    for document in documents:
        there = {(mention.type, mention.spans) for mention in document.mentions}
        added: list[Mention] = []
        for mention in document.mentions:
            if len(mention.spans) > 1:
                continue
            start = mention.start
            for one in expansion(document.text[start : mention.end], names.known, names.listed):
                made = Mention(
                    mention.type, [(start + a, start + b) for a, b in one.parts], attributes={"expanded": True},
                    score=None if mention.score is None else mention.score * min(1.0, one.probability),
                )  # fmt: skip
                if (made.type, made.spans) not in there:
                    there.add((made.type, made.spans))
                    added.append(made)
        yield document.copy(mentions=[*document.mentions, *added]) if added else document


class _Names:
    """Names that a second stage knows: of training mentions, and of its vocabularies."""

    def __init__(self, second: Rescorer | None) -> None:
        self._second = second
        self.known, self.listed = lru_cache(4096)(self._known), lru_cache(4096)(self._listed)

    def _known(self, text: str) -> bool:
        if self._second is None or not isinstance(self._second.seen, SeenNames):
            return False
        hashes, zero = TokenColumns(_batch(text), (), WORDS).words.words, np.zeros(1, np.int64)
        end = np.array([len(hashes)])
        if not len(hashes):
            return False
        whole = texts(Words(np.append(0, end), zero, hashes), contiguous_table(zero, zero, zero, end))
        return bool(self._second.seen.recall(whole, zero)[0] > 0)

    def _listed(self, text: str) -> bool:
        if self._second is None or self._second.listed is None:
            return False
        names = self._second.listed
        keys = names.within(batch := _batch(text)).tokens.sums[CLOSE]
        types = len(names.linked)
        sought = mixed(0, np.repeat(keys[-1:] - keys[:1], types), np.arange(types))
        return bool(len(batch.words)) and bool(np.isin(sought, names.close).any())


def _batch(text: str) -> Batch:
    return Batch.of([prepare(Document(text))])
