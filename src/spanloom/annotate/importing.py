"""Documents into a store, and what has changed in them since."""

from __future__ import annotations

from collections.abc import Iterable

from spanloom.document import Document
from spanloom.document.annotators import annotator_of
from spanloom.errors import DataError, clip
from spanloom.formats import to_record
from spanloom.formats.store import Store, digest
from spanloom.text import prepare


def import_documents(store: Store, documents: Iterable[Document]) -> tuple[int, list[str]]:
    """Add documents to a store; those that it has already are compared with it.

    Mentions are what annotators begin with. Where documents name their annotator (``meta["annotator"]``), each document
    becomes one, without mentions, and those of each annotator are an action in the layer of the annotator's name.

    Args:
        store: open for writing.
        documents: with identifiers, or they are numbered.

    Returns:
        How many documents were added, and the identifiers of those that have changed since they were imported.

    Raises:
        DataError: two documents of one identifier, or two texts.
    """
    numbers, digests = store.numbers(), store.digests()
    known = set(numbers)
    seen: set[tuple[str, str | None]] = set()
    added, changed = 0, list[str]()
    layers: list[tuple[str, str, dict[str, object]]] = []
    texts: dict[str, str] = {}
    with store.writing():
        for count, given in enumerate(documents, 1):
            document = given if given.id else given.copy(id=f"document-{count:06}")
            annotator = annotator_of(document)
            if (document.id, annotator) in seen:
                raise DataError(f"two documents have the id {clip(document.id)}; give each an id of its own")
            seen.add((document.id, annotator))
            mentions = to_record(document).get("mentions", [])
            if annotator is not None:
                meta = {name: value for name, value in document.meta.items() if name != "annotator"}
                document = document.copy(mentions=[], meta=meta)
            if document.id in known:
                if digest(to_record(document)) != digests[document.id] and document.id not in changed:
                    changed.append(document.id)
                continue
            if texts.setdefault(document.id, document.text) != document.text:
                raise DataError(f"two texts have the id {clip(document.id)}; give each an id of its own")
            if document.id not in numbers:
                numbers[document.id] = 0
                store.add(prepare(document))
                added += 1
            if annotator is not None:
                layers.append((document.id, annotator, {f"m:#.{place}": one for place, one in enumerate(mentions)}))
    numbers = store.numbers()
    for name, layer, values in layers:
        store.append(numbers[name], layer, layer, "import", values)
    return added, changed
