"""Preparation of documents: tokens and sentences where they are missing, and the words of each sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from spanloom.document import Document
from spanloom.text.sentences import split_sentences
from spanloom.text.tokens import tokenize_all


def prepare(document: Document) -> Document:
    """Return a document with tokens and sentences.

    Existing tokens and sentences are kept; columns and mentions are unchanged.

    Returns:
        the document itself if it lacks nothing, else a copy.

    >>> prepare(Document("No fever. No pain.")).sentences.tolist()
    [[0, 3], [3, 6]]
    """
    [found] = prepare_all([document])
    return found


def prepare_all(documents: Sequence[Document]) -> list[Document]:
    """Return `prepare` of each document; the tokens of all are made at once, which takes a third of the time."""
    made = iter(tokenize_all([document.text for document in documents if document.tokens is None]))
    found = []
    for document in documents:
        if document.tokens is None or document.sentences is None:
            tokens = next(made) if document.tokens is None else document.tokens
            sentences = split_sentences(document.text, tokens) if document.sentences is None else document.sentences
            document = document.copy(tokens=tokens, sentences=sentences)
        found.append(document)
    return found


def sentence_words(documents: Iterable[Document]) -> Iterator[list[str]]:
    """Yield the words of each sentence of prepared documents.

    >>> list(sentence_words([prepare(Document("No fever. No pain."))]))
    [['No', 'fever', '.'], ['No', 'pain', '.']]
    """
    for document in documents:
        words = document.words
        if document.sentences is not None:
            yield from (words[first:end] for first, end in document.sentences.tolist())
