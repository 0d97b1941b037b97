"""What to annotate next: documents by what a model does not know, unlike one another, and some at random.

The random share is an unbiased sample: it is for the evaluation of a model that learns from all the others.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.hashing import hash_text
from spanloom.model.protocol import MentionModel, considers
from spanloom.recognize import Recognizer
from spanloom.text import prepare

Order = Literal["gain", "entropy", "errors", "random"]
ORDERS: Final[tuple[Order, ...]] = ("gain", "entropy", "errors", "random")
_DOCUMENT, _TOKEN = 3.0, 0.4  # seconds of reading
_WIDTH: Final = 2048  # of a vector of hashed words
Floats = NDArray[np.float64]


class Chosen(NamedTuple):
    """A document to annotate.

    Args:
        number: of the document, from 0.
        value: of the measure; 0 where it was drawn at random.
        random: whether it was.
    """

    number: int
    value: float
    random: bool


def ranked(
    documents: Sequence[Document], model: MentionModel | None, count: int, *, by: Order = "gain", share: float = 0.1,
    seed: int = 0,
) -> list[Chosen]:  # fmt: skip
    """Return the documents to annotate next, the first first.

    Args:
        documents: to choose from.
        model: that is to learn from them; none is needed for ``random``.
        count: how many to choose.
        by: ``entropy``, per token; ``errors``, the expected number of mentions that the model gets wrong or misses;
            ``gain``, that number for each second of reading; ``random``.
        share: of those that are chosen, how many are drawn at random from all documents.
        seed: of what is drawn.

    Raises:
        UsageError: a model without probabilities, or without entropy where that is asked for.
    """
    draw = random.Random(seed)
    rest = list(range(len(documents)))
    count = min(count, len(rest))
    drawn = draw.sample(rest, count if by == "random" else min(count, round(share * count)))
    if by == "random":
        return [Chosen(number, 0.0, True) for number in drawn]
    if model is None:
        raise UsageError(f"the order {by} needs a model; name it with --model, or use --order random")
    ready = [prepare(document.copy(mentions=[])) for document in documents]
    lengths = np.array([max(document.token_count, 1) for document in ready])
    if by == "entropy":
        if not isinstance(model, Recognizer):
            raise UsageError(f"a {type(model).__name__} has no entropy; order by gain, errors or random")
        ends = np.cumsum([document.sentence_count for document in ready])
        sums = np.append(0.0, np.cumsum(model.entropy(ready)))
        values: Floats = np.diff(np.append(0.0, sums[ends])) / lengths
    else:
        if "scores" not in model.capable:
            raise UsageError(f"a {type(model).__name__} gives no probabilities; order by random")
        values = np.array([sum(1 - (m.score or 0.0) for m in one.mentions) for one in model.stream(ready)], float)
        if considers(model):
            values += [sum(m.score or 0.0 for m in one.mentions) for one in model.alternatives(ready)]
    if by == "gain":
        values = values / (_DOCUMENT + _TOKEN * lengths)
    open_ = np.ones(len(ready), bool)
    open_[drawn] = False
    # each document, by value, is reduced by its likeness to those before it: the largest cosine of their hashed words
    vectors = np.zeros((len(ready), _WIDTH), np.float32)
    for row, document in zip(vectors, ready, strict=True):
        row[[hash_text(word.casefold()) % _WIDTH for word in {*document.words}]] = 1
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)
    like = np.zeros(len(ready), np.float32)
    taken: list[int] = []
    for _ in range(count - len(drawn)):
        number = int(np.where(open_, values * (1 - np.minimum(like, 1)), -np.inf).argmax())
        taken.append(number)
        open_[number] = False
        like = np.maximum(like, vectors @ vectors[number])
    best = [Chosen(number, float(values[number]), False) for number in taken]
    for number in drawn:  # spread among the others, so that they are annotated in the same way
        best.insert(draw.randint(0, len(best)), Chosen(number, 0.0, True))
    return best
