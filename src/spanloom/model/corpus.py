"""From documents to the arrays of learning, and back to documents."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document, Mention, Span, align
from spanloom.document.annotation import claims_of
from spanloom.document.annotators import other_meta
from spanloom.document.span import found_mention, join_spans
from spanloom.errors import DataError, DataWarning, UsageError, clip, meant
from spanloom.formats.unread import unread_fields
from spanloom.hypergraph import Floats, Ints
from spanloom.model.arrays import in_characters
from spanloom.structures import MentionTable, TokenMention
from spanloom.structures.base import NO_HEAD, concatenate
from spanloom.structures.heads import OUTSIDE

Notice = Callable[[str], object]
"""Called with a notice, in one line; `warnings.warn` is one."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A mention that a model cannot hold.

    Args:
        document: the document's id.
        mention: the mention.
        text: its surface.
        reason: why.
    """

    document: str
    mention: Mention
    text: str
    reason: str


CUTS_TOKEN = "it begins or ends inside a token"
CROSSES_SENTENCES = "it is not within one sentence"
HEAD_CUTS_TOKEN = "its head begins or ends inside a token"


class Gold:
    """The mentions of documents, counted in sentences and tokens.

    Args:
        batch: whose documents' mentions they are; its tokens are theirs.
        types: K names; mentions of other types are left out.
        headless: for a structure with heads, ``error``, or ``whole``, which takes the whole mention as the head
            that it lacks. Without it heads are not looked at.
        block: tokens that are read at once.
        mentions: of each document, in place of its own.

    Raises:
        DataError: a mention lacks a head, and that is an ``error``.

    Attributes: ``table``, M mentions that lie in sentences and tokens; ``places``, (M, 2) the document of each and its
    number there; ``lost``, those that do not, or that a structure cannot hold; ``total``, how many there are.
    """

    def __init__(
        self, batch: Batch, types: Sequence[str], headless: str | None = None, block: int = 1 << 17,
        mentions: Sequence[Sequence[Mention]] | None = None,
    ) -> None:  # fmt: skip
        self.lost: list[Lost] = []
        self.total = 0
        self._documents, self._mentions = batch.documents, mentions
        tables, places, document, sentence = [], [np.zeros((0, 2), np.int64)], 0, 0
        for part in batch.blocks(block):  # of which alone there are objects in memory, where documents are on disk
            given = None if mentions is None else mentions[document : document + len(part.documents)]
            table, own = self._read(part, types, headless, given)
            tables.append(MentionTable(table.sentence + sentence, *table[1:]))
            places.append(own + np.array([document, 0]))
            document, sentence = document + len(part.documents), sentence + len(part.sentences) - 1
        self.table = concatenate(tables) if tables else MentionTable.build([])
        self.places = np.concatenate(places)
        self._holds = np.ones(len(self.table), np.bool_)

    def _read(
        self, batch: Batch, types: Sequence[str], headless: str | None, given: Sequence[Sequence[Mention]] | None
    ) -> tuple[MentionTable, Ints]:
        """Return the table of a part's mentions, and of each its document, and its number there."""
        number = {name: k for k, name in enumerate(types)}
        # 1. All mentions, one behind the other.
        mentions: list[Mention] = []
        heads: list[tuple[int, int] | str] = []
        places: list[tuple[int, int]] = []
        for i, document in enumerate(batch.documents):
            every = document.mentions if given is None else given[i]
            own = [n for n, mention in enumerate(every) if mention.type in number]
            if own:
                typed = [every[n] for n in own]
                mentions += typed
                places += [(i, n) for n in own]
                heads += [NO_HEAD] * len(own) if headless is None else head_tokens(document, typed, headless)
        self.total += len(mentions)
        if not mentions:
            return MentionTable.build([]), np.zeros((0, 2), np.int64)
        # 2. The tokens of their spans, and the sentence of the first one.
        owners, count = np.array(places, np.int64), np.array([len(one.spans) for one in mentions], np.int64)
        flat = chain.from_iterable(chain.from_iterable(one.spans for one in mentions))
        spans = np.fromiter(flat, np.int64, 2 * int(count.sum())).reshape(-1, 2)
        first, end = batch.token_ranges(np.repeat(owners[:, 0], count), spans)
        last = count.cumsum() - 1
        begin = last - count + 1
        whole = np.logical_and.reduceat(first < end, begin)
        sentence = np.searchsorted(batch.sentences[1:], np.where(whole, first[begin], -1), side="right")
        placed = whole & (end[last] <= batch.sentences[np.minimum(sentence + 1, len(batch.sentences) - 1)])
        kept = placed & np.array([not isinstance(head, str) for head in heads])
        for n in np.flatnonzero(~kept).tolist():
            tokens = batch.tokens[slice(*batch.starts[owners[n, 0] : owners[n, 0] + 2].tolist())]
            cuts = not whole[n] and mentions[n].end <= tokens[-1:, 1].max(initial=0)
            why = str(heads[n]) if placed[n] else CUTS_TOKEN if cuts else CROSSES_SENTENCES
            self.lost.append(lost(batch.documents[places[n][0]], mentions[n], why))
        # 3. Spans that touch in tokens are one range.
        opens = np.append(True, first[1:] != end[:-1])
        opens[begin] = True
        some = np.repeat(kept, count)
        sizes = np.add.reduceat(opens, begin, dtype=np.int64)[kept]
        closes = np.append(opens[1:], True)[some]
        sentence, owners = sentence[kept], owners[kept]
        base = batch.sentences[sentence]
        token = np.repeat(base, sizes)
        head = np.array([NO_HEAD if isinstance(head, str) else head for head in heads], np.int64)[kept]
        head -= np.where(head[:, :1] < 0, 0, (base - batch.starts[owners[:, 0]])[:, None])
        table = MentionTable(
            sentence, np.array([number[one.type] for one in mentions], np.int64)[kept], np.append(0, sizes.cumsum()),
            first[some & opens] - token, end[some][closes] - token, head,
        )  # fmt: skip
        return table, owners

    def owner(self, number: int) -> tuple[Document, Mention]:
        """Return the document of a mention of the table, and the mention itself."""
        document, n = self.places[number].tolist()
        found = self._documents[document]
        return found, (found.mentions if self._mentions is None else self._mentions[document])[n]

    @property
    def owners(self) -> list[tuple[Document, Mention]]:
        """`owner` of each mention of the table."""
        return [self.owner(number) for number in range(len(self.places))]

    @property
    def holds(self) -> NDArray[np.bool_]:
        """(M,) which mentions of the table the structure holds, as far as `lose` was called."""
        return self._holds

    @property
    def held(self) -> list[tuple[TokenMention, tuple[int, int]]]:
        """These mentions, with their heads."""
        return self.table.take(self._holds).headed()

    def keep(self, mentions: NDArray[np.bool_]) -> None:
        """Leave all others out: (M,) of the mentions in the table."""
        self.table = self.table.take(mentions)
        self.places = self.places[mentions]
        self._holds = self._holds[mentions]
        self.total = len(self.table) + len(self.lost)

    def lose(self, reasons: Mapping[int, str]) -> None:
        """Note what a structure cannot hold: number of a mention in the table -> why."""
        self.lost += [lost(*self.owner(i), reason) for i, reason in sorted(reasons.items())]
        self._holds[list(reasons)] = False

    def check_held(self) -> None:
        """Check that a structure holds some of the mentions, after `lose`; claims may teach without them.

        Raises:
            DataError: there are mentions, and all are lost.
        """
        if self.lost and not self._holds.any() and not any(claims_of(one, None) for one in self._documents):
            reasons = Counter(one.reason for one in self.lost).most_common()
            parts = ", ".join(f"{count:,} ({reason})" for reason, count in reasons)
            message = f"none of the {self.total:,} training mentions can be held: {parts}"
            raise DataError(f"{message}; correct the annotation, or choose another structure")


def head_tokens(document: Document, mentions: Sequence[Mention], headless: str) -> list[tuple[int, int] | str]:
    """For each mention of a document the tokens of its head, or why it is lost; discontiguous mentions have none.

    Args:
        document: with tokens.
        mentions: some of the document's.
        headless: ``error`` or ``whole``.

    Raises:
        DataError: a mention lacks a head, and that is an ``error``.
    """
    given = [mention.head or Span(mention.start, mention.end) for mention in mentions]
    spans = [mention.replace(spans=(head,)) for mention, head in zip(mentions, given, strict=True)]
    found: list[tuple[int, int] | str] = []
    for mention, head, (_, ranges, _) in zip(mentions, given, align(document, spans), strict=True):
        if len(mention.spans) > 1 and len(join_spans(document.text, mention.spans)) > 1:
            found.append(NO_HEAD)  # the structure reports that it has no place for the gap
        elif mention.head is None and headless == "error":
            raise DataError(
                f"document {clip(document.id)}, characters {mention.start}-{mention.end}: the mention of type "
                f"{clip(mention.type)} has no head, which this structure needs; annotate it, or train with headless "
                "'whole' (--headless whole), which takes the whole mention as its head"
            )
        elif not mention.start <= head.start < head.end <= mention.end:
            found.append(OUTSIDE)
        else:
            found.append(HEAD_CUTS_TOKEN if ranges is None else (ranges[0].first, ranges[0].end))
    return found


def lost(document: Document, mention: Mention, reason: str) -> Lost:
    """A mention that is lost, with its surface."""
    return Lost(document.id, mention, mention.text(document.text), reason)


def place(
    batch: Batch, found: MentionTable, types: Sequence[str], scores: Floats | None = None, threshold: float = 0.0,
    concepts: Sequence[tuple[str, ...]] | None = None,
) -> list[Document]:  # fmt: skip
    """Return the documents of a batch with found mentions in place of their own, as of `remarked`.

    Mentions are in the order of `MentionTable.order`, which does not depend on how they were found.

    Args:
        batch: what the mentions were found in.
        found: mentions.
        types: K names.
        scores: a probability for each mention.
        threshold: mentions with a lower score are left out.
        concepts: of each mention.
    """
    order = found.order()
    found = found.take(order)
    spans, heads = (places.tolist() for places in in_characters(batch, found))
    ptr, kinds = found.ptr.tolist(), found.kind.tolist()
    bounds = np.searchsorted(found.sentence, batch.firsts).tolist()
    values: list[float | None] = [None] * len(found) if scores is None else scores[order].tolist()
    links = [()] * len(found) if concepts is None else [concepts[at] for at in order.tolist()]
    documents = []
    with uncollected():
        for i, document in enumerate(batch.documents):
            mentions = []
            for at in range(bounds[i], bounds[i + 1]):
                score = values[at]
                if score is not None and score < threshold:
                    continue
                own = None if heads[at][0] < 0 else heads[at]
                mentions.append(found_mention(types[kinds[at]], spans[ptr[at] : ptr[at + 1]], own, links[at], score))
            documents.append(document.copy(mentions=mentions, meta=other_meta(document) if document.meta else {}))
    return documents


def training_types(documents: Sequence[Document]) -> tuple[str, ...]:
    """The types of the training data's mentions, sorted.

    Raises:
        DataError: there is no document, or no mention.
    """
    types = tuple(sorted({mention.type for document in documents for mention in document.mentions}))
    if not documents:
        raise DataError("the training data hold no document; give annotated text")
    if not types:
        unread = unread_fields(documents)
        advice = "give annotated text" if unread is None else unread
        raise DataError(f"none of the {len(documents)} training documents has a mention; {advice}")
    return types


class TypeFilter:
    """A filter of mentions by their types, which knows what types there were.

    Args:
        types: those that are kept, each perhaps several with commas; all when ``None``.

    >>> given = Document("no chest pain", mentions=[Mention("problem", [(3, 13)]), Mention("body", [(3, 8)])])
    >>> [mention.type for document in TypeFilter(["problem,drug"])([given]) for mention in document.mentions]
    ['problem']
    """

    def __init__(self, types: Sequence[str] | None) -> None:
        self._requested = types
        self._kept = {name for each in types or () for name in (each, *map(str.strip, each.split(",")))}
        self._seen = set[str]()

    def __call__(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield documents with the mentions of these types only."""
        for document in documents:
            if self._requested is None:
                yield document
                continue
            self._seen.update(mention.type for mention in document.mentions)
            kept = [mention for mention in document.mentions if mention.type in self._kept]
            yield document if len(kept) == len(document.mentions) else document.copy(mentions=kept)

    def checked(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield documents with the mentions of these types only, of each of which there must be some.

        Raises:
            UsageError: at the end, of one there were none.
        """
        yield from self(documents)
        for each in self._requested or ():
            for name in (each,) if each in self._seen else map(str.strip, each.split(",")):
                if name not in self._seen:
                    there = ", ".join(sorted(self._seen)) or "no mentions"
                    near = meant(name, self._seen)
                    raise UsageError(f"types: no mention is of type {name!r}; found {there}{near}")


def known_types(
    documents: Sequence[Document], types: Sequence[str], *, what: str = "development data", lack: str = "",
) -> list[Document]:  # fmt: skip
    """Documents without mentions of types that a model does not have, which a warning reports.

    Nothing can be tuned for a type that is never predicted; as misses such mentions would only blur the choices.

    Args:
        documents: development data, or what ``what`` names.
        types: K names.
        what: these documents, in the warning.
        lack: why other types are unknown, in the warning; training documents have none where it is empty.
    """
    unknown = Counter(m.type for document in documents for m in document.mentions if m.type not in types)
    if not unknown:
        return list(documents)
    found = ", ".join(f"{count:,} of type {name!r}" for name, count in sorted(unknown.items()))
    why, holder = (lack, "it") if lack else ("that no training document has", "training")
    warn(
        f"left out of the {what}: mentions of types {why}: {found}; {holder} has {', '.join(types)}",
        DataWarning,
        stacklevel=3,
    )
    return [
        document.copy(mentions=[mention for mention in document.mentions if mention.type in types])
        for document in documents
    ]


def by_sentence(document: Document) -> list[Document]:
    """Each sentence of a prepared document as a document of the same text; a mention stays where it begins."""
    if document.tokens is None or document.sentences is None:
        return [document]
    if not len(document.sentences):
        return [document] if document.mentions else []
    parts = []
    ends = document.tokens[document.sentences[:, 1] - 1, 1]
    owner = np.searchsorted(ends, [mention.start for mention in document.mentions], side="right")
    owner = np.minimum(owner, len(ends) - 1)  # what lies after the last token is lost with the last sentence's own
    for n, (first, end) in enumerate(document.sentences.tolist()):
        parts.append(
            document.copy(
                tokens=document.tokens[first:end],
                sentences=np.array([[0, end - first]]),
                columns={name: values[first:end] for name, values in document.columns.items()},
                mentions=[mention for mention, n_of in zip(document.mentions, owner, strict=True) if n_of == n],
            )
        )
    return parts


def number_of_texts(documents: Iterable[Document]) -> int:
    """Count prepared documents; those that `by_sentence` has made of one count once, as they follow each other.

    >>> note = Document("No pain. Fever.", tokens=[[0, 2], [3, 8], [9, 15]], sentences=[[0, 2], [2, 3]])
    >>> number_of_texts([*by_sentence(note), note, note])
    3
    """
    pairs = pairwise(chain([None], documents))
    return sum(before is None or not _continues(before, document) for before, document in pairs if document is not None)


def _continues(before: Document, document: Document) -> bool:
    """Return whether a document is a later part of the text of another: it has its text, and tokens behind its own."""
    if (before.id, before.text) != (document.id, document.text) or before.tokens is None or document.tokens is None:
        return False
    return bool(len(before.tokens) and len(document.tokens) and before.tokens[-1, 1] <= document.tokens[0, 0])


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the garbage collector of cycles while many objects without cycles are made, such as mentions.

    It would traverse all objects repeatedly, a sixth of the time of prediction. Reference counting remains active. All
    threads share the collector: if several threads use this, it may run meanwhile, or start a little later.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    if not gc.isenabled():  # the caller disabled it
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
