"""Several annotators of the same texts: their documents, ``meta["annotator"]`` names each, as one document a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from spanloom.document.annotation import CLAIMS
from spanloom.document.document import Document, named
from spanloom.document.span import Mention, Span
from spanloom.errors import DataError, UsageError, clip, plural

NAME: Final = "annotator"
_VERSIONS: Final = "spanloom.versions"
_OF_MENTIONS: Final = (NAME, "annotation", _VERSIONS)
"""Keys of ``meta`` about a document's mentions: their annotator, their completeness, and their versions."""
MentionKey: TypeAlias = tuple[str, tuple[Span, ...], Span | None]


class Version(NamedTuple):
    """The annotation of a text by one annotator.

    Args:
        mentions: of this annotator.
        annotation: as ``meta["annotation"]``; ``None`` if the document has none.
    """

    mentions: frozenset[MentionKey]
    annotation: Any


def key_of(mention: Mention) -> MentionKey:
    """Return what makes two annotators' mentions the same one."""
    return mention.type, mention.spans, mention.head


def annotator_of(document: Document) -> str | None:
    """Return the name of a document's annotator, if it has one.

    Raises:
        DataError: the name is not a string, or is empty.
    """
    name = document.meta.get(NAME)
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise DataError(f"document {clip(document.id)}: meta.{NAME} is {name!r}, expected a name")
    return name


def untouched(document: Document) -> bool:
    """Return whether no annotator of a store has begun a document: its annotator is ``None``, not absent.

    >>> untouched(Document("no pain", meta={"annotator": None})), untouched(Document("no pain"))
    (True, False)
    """
    return NAME in document.meta and document.meta[NAME] is None


def remarked(document: Document, mentions: Sequence[Mention]) -> Document:
    """Return a document with other mentions, without the annotator and completeness of its own in ``meta``.

    >>> note = Document("no pain", meta={"annotator": "Ada", "annotation": "complete", "ward": "A"})
    >>> remarked(note, []).meta
    {'ward': 'A'}
    """
    return document.copy(mentions=list(mentions), meta=other_meta(document))


def other_meta(document: Document) -> dict[str, Any]:
    """Return ``meta`` without what is about a document's own mentions."""
    return {key: value for key, value in document.meta.items() if key not in _OF_MENTIONS}


def several(documents: Iterable[Document]) -> bool:
    """Return whether two annotators have marked one text.

    >>> one, other = (Document("no pain", id="1", meta={"annotator": name}) for name in ("Ada", "Eve"))
    >>> several([one, other]), several([one, other.copy(id="2")])
    (True, False)
    """
    seen: dict[tuple[str, str], str | None] = {}
    for document in documents:
        name = document.meta.get(NAME)
        if name is not None and seen.setdefault(_identity(document), annotator_of(document)) != name:
            return True
    return False


def check_one_voice(documents: Iterable[Document], what: str) -> None:
    """Check that no text has several annotators.

    Args:
        documents: training or development data.
        what: what takes those of one annotator, in words.

    Raises:
        UsageError: one has.
    """
    if several(documents):
        raise UsageError(
            f"texts have several annotators (meta.{NAME}), and {what} takes one annotation of each; give the documents "
            "of one annotator, or one that was agreed on"
        )


def repeated(documents: Iterable[Document]) -> str | None:
    """Return a notice of training documents that occur twice; ``None`` without any.

    Two documents with one identifier count, whatever their texts. Without identifiers, two of one text count if one
    names an annotator and the other does not; short texts may well be equal. `merged` checks several named annotators.
    """
    first: dict[tuple[str, str], Document] = {}
    found = []
    for document in documents:
        other = first.setdefault(_identity(document), document)
        voices = [annotator_of(one) is not None for one in (other, document)]
        if other is not document and (document.id or any(voices) != all(voices)):
            found.append(document)
    if not found:
        return None
    return (
        f"{plural(len(found), 'training document')} with the identifier or the text of an earlier one, the first is "
        f"{named(found[0])}: each is learned from; leave out the duplicates, or name the annotator of each "
        f"(meta.{NAME})"
    )


def _identity(document: Document) -> tuple[str, str]:
    """Return what versions of one document share: its id, or without one its text."""
    return (document.id, "") if document.id else ("", document.text)


def merged(documents: Sequence[Document]) -> list[Document]:
    """Return one document a text, in the order of their first versions, with the mentions of all annotators.

    Untouched documents are left out.

    Raises:
        DataError: a document without an annotator; versions of a document whose texts, tokens or sentences
            differ; two by one annotator; claims; an annotator who has no document in common with any other.

    >>> ada = Document("no pain", id="1", mentions=[Mention("sign", [(3, 7)])], meta={"annotator": "Ada"})
    >>> [both] = merged([ada, ada.copy(mentions=[], meta={"annotator": "Eve"})])
    >>> len(both.mentions), {name: len(one.mentions) for name, one in versions_of(both).items()}
    (1, {'Ada': 1, 'Eve': 0})
    """
    groups: dict[tuple[str, str], dict[str, Document]] = {}
    for document in documents:
        if untouched(document):
            continue
        name = annotator_of(document)
        if name is None:
            raise DataError(
                f"{named(document)} does not name its annotator (meta.{NAME}), and others do; name one, or "
                "train with --annotators, which takes the name of the file"
            )
        group = groups.setdefault(_identity(document), {})
        if name in group:
            raise DataError(f"{named(document)}: there are two by annotator {clip(name)}, expected one")
        for other in list(group.values())[:1]:
            _check_same(document, other)
        given = document.meta.get("annotation")
        claims = [kind for kind in CLAIMS if kind in given] if isinstance(given, Mapping) else []
        if claims:
            raise DataError(
                f"{named(document)}: the annotation of annotator {clip(name)} has claims ({', '.join(claims)}), "
                "which are taken from one annotator only; leave them out"
            )
        group[name] = document
    _check_together(groups.values())
    return [_merged(group) for group in groups.values()]


def versions_of(document: Document) -> Mapping[str, Version]:
    """Return the versions of a text by annotator; none of a document that `merged` has not made."""
    found: Mapping[str, Version] = document.meta.get(_VERSIONS, {})
    return found


def voted(document: Document) -> Document:
    """Return a text with the mentions that half of its annotators or more have marked, to choose by, not to tune by.

    A document that `merged` has not made is returned unchanged.
    """
    versions = versions_of(document)
    if not versions:
        return document
    votes = Counter(key for version in versions.values() for key in version.mentions)
    kept = [mention for mention in document.mentions if 2 * votes[key_of(mention)] >= len(versions)]
    meta = {key: value for key, value in document.meta.items() if key != _VERSIONS}
    return document.copy(mentions=kept, meta={**meta, "annotation": "at-least"})


def _check_same(document: Document, other: Document) -> None:
    """Check that two versions are of the same text, and of the same tokens and sentences."""
    parts = ("tokens", "sentences")
    differing = [what for what in parts if not np.array_equal(getattr(document, what), getattr(other, what))]
    for what in differing if document.text == other.text else ["texts"]:
        names = " and ".join(clip(str(one.meta[NAME])) for one in (other, document))
        raise DataError(
            f"{named(document)}: the {what} of annotators {names} differ, expected the same; give other "
            "texts other ids" + (", or leave tokens and sentences out of all" if what != "texts" else "")
        )


def _check_together(groups: Collection[Mapping[str, Document]]) -> None:
    """Check that each annotator shares a document with another."""
    together = {name for group in groups if len(group) > 1 for name in group}
    for name in (name for group in groups for name in group):
        if name not in together:
            raise DataError(
                f"annotator {clip(name)} has no document in common with any other, so the quality of "
                "the annotation is unknown; give documents with the same ids, or train without annotators"
            )


def _merged(group: Mapping[str, Document]) -> Document:
    """Return one document of all versions."""
    first = next(iter(group.values()))
    own = {name: {key_of(mention): mention for mention in one.mentions} for name, one in group.items()}
    every = {key: mention for mentions in own.values() for key, mention in mentions.items()}
    versions = {name: Version(frozenset(own[name]), one.meta.get("annotation")) for name, one in group.items()}
    columns = {key: value for one in list(group.values())[::-1] for key, value in one.columns.items()}
    meta = {**other_meta(first), _VERSIONS: versions}
    return first.copy(mentions=list(every.values()), columns=columns, meta=meta)
