"""Head rules: baselines that choose words of a mention as its head (Lu and Roth 2015, section 4.1.2).

They are for mentions that a model without heads found: ``whole`` takes the complete span (CC-S in their Table 4),
``first`` its first word (CC-F), ``last`` its last word (CC-L).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from spanloom.document import Document, Mention, Span
from spanloom.errors import DataError, UsageError

Rule = Callable[[Document, Mention], Span]


def whole(document: Document, mention: Mention) -> Span:
    """Return the span from the mention's first character to its last, gaps included.

    >>> whole(Document("the old house"), Mention("place", [(0, 13)]))
    Span(start=0, end=13)
    """
    return Span(mention.start, mention.end)


def first_word(document: Document, mention: Mention) -> Span:
    """Return the mention's first token, or the part of it in the mention.

    >>> document = Document("the old house", tokens=[[0, 3], [4, 7], [8, 13]])
    >>> first_word(document, Mention("place", [(0, 13)]))
    Span(start=0, end=3)
    """
    return _words(document, mention.spans[0])[0]


def last_word(document: Document, mention: Mention) -> Span:
    """Return the mention's last token, or the part of it in the mention.

    >>> document = Document("the old house", tokens=[[0, 3], [4, 7], [8, 13]])
    >>> last_word(document, Mention("place", [(0, 13)]))
    Span(start=8, end=13)
    """
    return _words(document, mention.spans[-1])[1]


HEAD_RULES: dict[str, Rule] = {"whole": whole, "first": first_word, "last": last_word}


def give_heads(documents: Iterable[Document], rule: str) -> Iterator[Document]:
    """Yield documents whose mentions have the heads of a rule, in place of their own.

    Args:
        documents: documents with mentions; tokenized, unless the rule is ``whole``.
        rule: a key of `HEAD_RULES`.

    Raises:
        UsageError: no such rule.
        DataError: a document has no tokens, and the rule needs them.

    >>> document = Document("the old house", tokens=[[0, 3], [4, 7], [8, 13]], mentions=[Mention("place", [(0, 13)])])
    >>> [found] = give_heads([document], "last")
    >>> found.mentions[0].head
    Span(start=8, end=13)
    """
    if rule not in HEAD_RULES:
        raise UsageError(f"no rule {rule!r}; there are {', '.join(HEAD_RULES)}")
    return _given(documents, HEAD_RULES[rule])


def _given(documents: Iterable[Document], rule: Rule) -> Iterator[Document]:
    for document in documents:
        yield document.copy(mentions=[mention.replace(head=rule(document, mention)) for mention in document.mentions])


def _words(document: Document, span: Span) -> tuple[Span, Span]:
    """Return the first and the last token with characters in a span, cut to it; the span itself without such tokens."""
    if document.tokens is None:
        raise DataError(f"document {document.id!r} has no tokens; tokenize it first")
    first = int(np.searchsorted(document.tokens[:, 1], span.start, side="right"))
    last = int(np.searchsorted(document.tokens[:, 0], span.end, side="left")) - 1
    if first > last:
        return span, span
    words = document.tokens[[first, last]].clip(span.start, span.end).tolist()
    return Span(*words[0]), Span(*words[1])
