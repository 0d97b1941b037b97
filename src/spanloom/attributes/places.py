"""The tokens and sentences that cues are compared with, and the parts of mentions among them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence, Set
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from spanloom.attributes.lexicon import compared
from spanloom.document import Batch, Document
from spanloom.hashing import Int64
from spanloom.text import split_sentences, tokenize

CLOSING: Final = frozenset(".,;:!?)]}。，；：！？、）")
CHARGE: Final = re.compile(r"\(\d*[+\-−]\)")  # of an ion: "Mg(2+)"
BORDER: Final = 2  # tokens; as far as rules look beyond a sentence
LINE: Final = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]")


def tokenized(document: Document, answers: Set[str] = frozenset(), questions: Set[str] = frozenset()) -> Document:
    """Return a document with the tokens that cues are compared with, and with its own sentences, if it has any.

    Empty tokens, as one more sentence, keep rules that look at neighbours within the document.

    Args:
        document: a text.
        answers: words that, as a sentence behind a question mark, belong to the question.
        questions: words that begin questions, whose mark is no cue.
    """
    tokens = tokenize(document.text)
    if document.tokens is None or document.sentences is None:
        sentences = split_sentences(document.text, tokens)
    else:
        full = document.sentences[document.sentences[:, 0] < document.sentences[:, 1], 0]
        bounds = np.unique(np.searchsorted(tokens[:, 0], document.tokens[full, 0]))
        bounds = np.unique(np.concatenate([[0], bounds[bounds < len(tokens)], [len(tokens)]]))
        sentences = np.stack([bounds[:-1], bounds[1:]], 1)
    if "?" in document.text:
        places, ends = tokens.tolist(), dict(sentences.tolist())
        words, order = [document.text[start:end] for start, end in places], list(ends)

        def joined(at: int) -> bool:
            """Return whether a question mark before a token ends no sentence: an answer follows, or it is a cue."""
            if not at or words[at - 1] != "?":
                return False
            answered = compared(words[at]) in answers and {*words[at + 1 : ends[at]]} <= CLOSING
            mark = at - 1
            while mark and words[mark - 1] == "?":
                mark -= 1
            apart = not mark or places[mark - 1][1] < places[mark][0]
            question = compared(words[order[bisect_right(order, at - 1) - 1]]) in questions
            return answered or (
                apart and not question and LINE.search(document.text, places[at - 1][1], places[at][0]) is None
            )

        starts = [at for at in ends if not joined(at)]
        sentences = np.stack([starts, [*starts[1:], len(tokens)]], 1).astype(np.int64)
    border = np.full((BORDER, 2), len(document.text))
    sentences = np.concatenate([sentences, [[len(tokens), len(tokens) + BORDER]]])
    return Document(document.text, document.id, np.concatenate([tokens, border]), sentences)


class MentionParts(NamedTuple):
    """The parts of M mentions as tokens of a batch.

    Args:
        ptr: (M + 1,) where the parts of each mention begin.
        first, end: (P,) tokens of each part.
    """

    ptr: Int64
    first: Int64
    end: Int64


def mention_parts(batch: Batch, documents: Sequence[Document]) -> MentionParts:
    """Return the parts of the documents' mentions as tokens of the batch, which has the same documents.

    The charge of an ion belongs to it.
    """
    firsts, ends, counts = [], [], []
    for document, (low, high) in zip(documents, pairwise(batch.starts.tolist()), strict=True):
        spans = [span for mention in document.mentions for span in mention.spans]
        counts += [len(mention.spans) for mention in document.mentions]
        own, offsets = batch.tokens[low:high], np.array(spans, np.int64).reshape(-1, 2)
        if "+)" in document.text or "-)" in document.text:
            charges = [CHARGE.match(document.text, end) for end in offsets[:, 1].tolist()]
            offsets[:, 1] = [
                charge.end() if charge else end for charge, end in zip(charges, offsets[:, 1].tolist(), strict=True)
            ]
        first = np.searchsorted(own[:, 1], offsets[:, 0], side="right")
        first = np.minimum(first, max(0, high - low - 1))
        end = np.maximum(np.searchsorted(own[:, 0], offsets[:, 1]), first)
        firsts.append(low + first)
        ends.append(low + end)
    empty = np.zeros(0, np.int64)
    return MentionParts(
        np.append(0, np.cumsum(counts, dtype=np.int64)),
        np.concatenate([empty, *firsts]),
        np.concatenate([empty, *ends]),
    )
