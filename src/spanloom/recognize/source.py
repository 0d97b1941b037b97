"""Complete annotation for models that learn from whole structures: what a recognizer makes of incomplete annotation."""

from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Any

from spanloom.document import Document, Mention
from spanloom.document.annotation import claims_of, last_status, zones_of
from spanloom.document.annotators import key_of, merged, remarked, several, versions_of


def whole_annotation(
    documents: Sequence[Document], dev: Sequence[Document] | None = None, **params: Any
) -> list[Document]:
    """Return training documents whose annotation is complete and of one annotator.

    A recognizer on features learns from partial annotation, claims and several annotators. Whatever needs one whole
    structure of each sentence, such as a cascade, a segmenter, a joint linker or an encoder alone, learns from what
    that recognizer finds: documents whose annotation is complete are returned unchanged.

    Args:
        documents: training data.
        dev: development data, if there are some.
        params: of the recognizer.

    Raises:
        DataError: nothing can be learned from the annotation, or it contradicts itself.

    >>> said = {"annotation": "at-least"}
    >>> whole = Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])
    >>> half = [whole.copy(mentions=[], meta=said), whole.copy(meta=said)] * 10
    >>> [[mention.spans[0] for mention in one.mentions] for one in whole_annotation([whole] * 30 + half)[-2:]]
    [[Span(start=3, end=13)], [Span(start=3, end=13)]]
    """
    if is_whole(documents):
        return list(documents)
    voices = several(documents)
    settings = {"rescore": False, **params}
    learned = resolve_name("spanloom.recognize.recognizer:Recognizer")(**settings).fit(documents, dev=dev)
    texts = merged(documents) if voices else documents
    found = learned.stream(one.copy(mentions=[], meta={}) for one in texts)
    return [one if _is_whole(one) else _united(one, other.mentions) for one, other in zip(texts, found, strict=True)]


def is_whole(documents: Sequence[Document]) -> bool:
    """Return whether annotation is complete and of one annotator."""
    return not several(documents) and all(map(_is_whole, documents))


def _is_whole(document: Document) -> bool:
    if versions_of(document):
        return False
    return all(zone.status == "complete" for zone in zones_of(document)) and not claims_of(document, None)


def _united(document: Document, found: Sequence[Mention]) -> Document:
    """Return a document with its own mentions and those that are found where its annotation leaves them open."""
    if votes := versions_of(document):
        every = frozenset[Any].intersection(*(one.mentions for one in votes.values()))  # that all annotators marked
        known = every | {key_of(mention) for mention in found}
        return remarked(document, [mention for mention in document.mentions if key_of(mention) in known])
    zones, claims = zones_of(document), claims_of(document, None)
    own = [mention for mention in document.mentions if last_status(zones, mention) != "unknown"]
    denied, open_ = set[Any](), set[Any]()
    for claim in claims:
        (denied if claim.kind == "not" else open_).update((m.type, m.spans) for one in claim.readings for m in one)

    def among(mention: Mention, places: set[Any]) -> bool:
        return not places.isdisjoint([(mention.type, mention.spans), ("", mention.spans)])  # the latter: of any type

    def free(mention: Mention) -> bool:
        undecided = last_status(zones, mention) != "complete" or among(mention, open_)
        clear = all(m.type != mention.type or m.end <= mention.start or mention.end <= m.start for m in own)
        return undecided and clear and not among(mention, denied)

    return remarked(document, [*own, *filter(free, found)])
