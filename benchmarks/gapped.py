"""The data of `discontiguous.py`: a corpus with some of its types, and its sentences with discontiguous mentions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common import corpus
from spanloom.document import Document, Mention
from spanloom.evaluate import exact, join_spans
from spanloom.model.corpus import by_sentence
from spanloom.text import prepare

HELD_OUT = 0.1  # of the articles


@dataclass(frozen=True)
class Task:
    """A corpus with the types that count.

    Args:
        name: in the tables, and of its folder in the cache.
        corpus: folder of the data.
        types: that count; all when ``None``.
        trainings: what is trained on.
        models: names of them.
    """

    name: str
    corpus: str
    types: tuple[str, ...] | None
    trainings: tuple[str, ...]
    models: tuple[str, ...]


class Data:
    """The documents of a task; those to train on are read when they are first needed.

    Args:
        task: whose.
        folder: that holds the corpora.
        limit: documents of each part, at most.
        tested: the part that models are measured on.
    """

    def __init__(self, task: Task, folder: Path, limit: int | None, tested: str = "dev") -> None:
        self.task, self.folder, self.limit = task, folder, limit
        self.dev = self.read(tested)
        self.gold = [part for document in self.dev for part in by_sentence(document)]
        self.gaps = [has_gap(part) for part in self.gold]
        self._train: list[Document] | None = None

    def read(self, part: str) -> list[Document]:
        """The documents of a part, with the mentions that count."""
        documents = map(prepare, corpus(self.folder, self.task.corpus, part, self.limit))
        types = self.task.types
        return [
            document.copy(mentions=[m for m in document.mentions if types is None or m.type in types])
            for document in documents
        ]

    @property
    def train(self) -> list[Document]:
        """The training documents."""
        if self._train is None:
            self._train = self.read("train")
        return self._train

    def training(self, name: str, seed: int) -> tuple[list[Document], list[Document]]:
        """What a model is trained on, and what it is tuned on: the sentences of a tenth of the articles."""
        rest, held = hold_out(self.train, HELD_OUT, seed)
        return chosen(rest, name), chosen(held, name)

    def discontiguous(self, documents: Iterable[Document]) -> list[Document]:
        """Of development documents the sentences with a discontiguous gold mention, each as a document."""
        parts = (part for document in documents for part in by_sentence(document))
        return [part for part, chosen in zip(parts, self.gaps, strict=True) if chosen]


def hold_out(documents: Sequence[Document], share: float, seed: int) -> tuple[list[Document], list[Document]]:
    """The documents without a share of the articles, drawn by the seed, and those of that share."""
    articles = list(dict.fromkeys(map(article_of, documents)))
    held = set(np.random.default_rng(seed).permutation(articles)[: max(1, round(share * len(articles)))].tolist())
    return (
        [document for document in documents if article_of(document) not in held],
        [document for document in documents if article_of(document) in held],
    )


def chosen(documents: list[Document], training: str) -> list[Document]:
    """The documents themselves, or for ``disc`` their sentences with a discontiguous mention."""
    if training == "all":
        return documents
    return [part for document in documents for part in by_sentence(document) if has_gap(part)]


def article_of(document: Document) -> str:
    """The article: GENIA has a record for each sentence, with the sentence's number behind #."""
    return document.id.partition("#")[0]


def has_gap(document: Document) -> bool:
    """Whether a mention is discontiguous."""
    return any(len(join_spans(document.text, mention.spans)) > 1 for mention in document.mentions)


def only_gaps(document: Document) -> Iterator[tuple[Any, Mention]]:
    """For comparisons of discontiguous mentions alone."""
    return (item for item in exact(document) if len(item[1].spans) > 1)
