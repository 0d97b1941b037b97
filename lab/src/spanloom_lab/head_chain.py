"""A chain that finds the heads of given mentions: the cascaded baseline of Lu and Roth (2015), section 4.1.2 (CC-CC).

Each mention becomes a short document of its own: its tokens and a few around them, with columns for the mention's
tokens and type. In these a BILOU chain learns to find one mention, the head. Of all heads that
lie within the mention the most probable one is taken, so every mention gets exactly one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, overload

import numpy as np

from spanloom.document import Document, Mention, Offsets, Span, align, batches
from spanloom.formats.inputs import Dev, Given, answer, development_of, documents_of, training_of
from spanloom.learn import Listener
from spanloom.model.corpus import head_tokens
from spanloom.recognize.recognizer import Recognizer
from spanloom.text import prepare, prepare_all
from spanloom_lab.head_rules import last_word

PLAIN: Final[dict[str, Any]] = {"rescore": False, "overlap": "free"}
"""Parameters of a recognizer whose mentions are those of its best structures, as in the papers."""

CONTEXT = 5  # tokens on each side, which is as far as presets look
BATCH_TOKENS = 5_000  # of documents; their mentions have a few times as many
HEAD = "head"
TEMPLATES = (
    "mention_part[-1..1]",
    "mention_part[0]|w[0]",
    "mention_part[-1]|mention_part[0]|mention_part[1]",
    "mention_type[0]",
    "mention_type[0]|mention_part[-1]|mention_part[1]",
)


class _Excerpt(NamedTuple):
    """A mention as a document, with every head that it may have.

    Args:
        document: without mentions.
        candidates: mentions of type `HEAD`.
    """

    document: Document
    candidates: list[Mention]


class _HeadRecognizer(Recognizer):
    """Recognizer with templates for the place of the mention."""

    def _more_templates(self) -> Sequence[str]:
        return TEMPLATES


class HeadChain:
    """Model of heads for mentions of any source.

    Args:
        features: as of `Recognizer`; templates for the place of the mention are added.
        options: of `Recognizer`.

    >>> document = Document("the old house", mentions=[Mention("place", [(0, 13)], head=(8, 13))])
    >>> chain = HeadChain(["w[0]"], rate=0.5).fit([document] * 20)
    >>> [found] = chain.predict([document.copy(mentions=[Mention("place", [(4, 13)])])])
    >>> found.mentions[0].head
    Span(start=8, end=13)
    """

    def __init__(self, features: str | Sequence[str] = "ace", **options: Any) -> None:
        self.recognizer = _HeadRecognizer("bilou", features, **{**PLAIN, **options})

    def fit(
        self, X: Given, y: Iterable[Any] | None = None, *, dev: Dev | None = None, progress: Listener | None = None
    ) -> HeadChain:
        """Train on the heads of gold mentions.

        Args:
            X: documents with mentions that have heads. Mentions with gaps, and those whose ends or whose head's ends
                are not those of tokens, are left out.
            y: for texts: the mentions of each, with heads.
            dev: as of `Recognizer.fit`.
            progress: callback for each step.

        Raises:
            DataError: a mention has no head.
        """
        train = [part for document in training_of(X, y) for part in _training(prepare(document))]
        held = None
        if dev is not None:
            held = [part for given in training_of(*development_of(dev), "dev") for part in _training(prepare(given))]
        self.recognizer.fit(train, dev=held, progress=progress)
        return self

    @overload
    def predict(self, X: Document) -> Document: ...

    @overload
    def predict(self, X: Iterable[Document]) -> list[Document]: ...

    def predict(self, X: Document | Iterable[Document]) -> Document | list[Document]:
        """Find the heads of mentions; return a document for one document, a list for several."""
        return answer(X, list(self.stream(X)))

    def stream(self, X: Document | Iterable[Document]) -> Iterator[Document]:
        """Yield documents whose mentions have the most probable heads, in place of their own.

        The head of a mention that is not aligned with tokens, or not within a sentence, is its last word.

        Args:
            X: documents with mentions; tokens and sentences are made where they are missing.
        """
        for batch in batches(documents_of(X), BATCH_TOKENS, prepare_all):
            excerpts = [_excerpts(document) for document in batch]
            with_mentions = [
                excerpt.document.copy(mentions=excerpt.candidates) for row in excerpts for excerpt in row if excerpt
            ]
            chances = iter(self.recognizer.marginals(with_mentions, calibrated=False))
            for document, row in zip(batch, excerpts, strict=True):
                heads = [
                    excerpt.candidates[int(np.argmax(next(chances)))].spans[0] if excerpt else last_word(document, own)
                    for own, excerpt in zip(document.mentions, row, strict=True)
                ]
                pairs = zip(document.mentions, heads, strict=True)
                yield document.copy(mentions=[mention.replace(head=head) for mention, head in pairs])


def _training(document: Document) -> list[Document]:
    found = []
    heads = head_tokens(document, document.mentions, "error")
    for mention, excerpt, tokens in zip(document.mentions, _excerpts(document), heads, strict=True):
        if excerpt is not None and mention.head is not None and not isinstance(tokens, str) and tokens[0] >= 0:
            found.append(excerpt.document.copy(mentions=[Mention(HEAD, (mention.head,))]))
    return found


def _excerpts(document: Document) -> list[_Excerpt | None]:
    """Return an excerpt for each mention of a prepared document; ``None`` for a mention not aligned with tokens."""
    if document.tokens is None or document.sentences is None:
        return [None] * len(document.mentions)
    sentences = document.sentences.tolist()
    return [
        None
        if ranges is None or sentence < 0
        else _excerpt(document, document.tokens, mention, ranges, *sentences[sentence])
        for mention, ranges, sentence in align(document)
    ]


def _excerpt(
    document: Document, tokens: Offsets, mention: Mention, ranges: Sequence[tuple[int, int]], first: int, end: int
) -> _Excerpt:
    """Return the excerpt of a mention, given as ranges of tokens, in the sentence of tokens ``first`` to ``end``."""
    low, high = max(first, ranges[0][0] - CONTEXT), min(end, ranges[-1][1] + CONTEXT)
    part = np.full(high - low, "after", object)
    part[: ranges[-1][1] - low] = "gap"
    part[: ranges[0][0] - low] = "before"
    for a, b in ranges:
        part[a - low : b - low] = "in"
    columns = {name: values[low:high] for name, values in document.columns.items()}
    columns |= {"mention_part": part.tolist(), "mention_type": [mention.type] * (high - low)}
    spans = tokens[low:high].tolist()
    candidates = [
        Mention(HEAD, (Span(spans[a - low][0], spans[b - low][1]),))
        for start, stop in ranges
        for a in range(start, stop)
        for b in range(a, stop)
    ]
    excerpt = document.copy(
        tokens=tokens[low:high], sentences=np.array([[0, high - low]]), columns=columns, mentions=[]
    )
    return _Excerpt(excerpt, candidates)
