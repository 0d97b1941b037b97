"""From what `fit` is given to training data on disk, for text that does not fit in memory; see `Work`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import Any

from spanloom.document import Batch, Document, batches
from spanloom.document.annotation import claims_of, zones_of
from spanloom.document.annotators import annotator_of, check_one_voice
from spanloom.errors import UsageError, clip
from spanloom.formats.inputs import Dev, Given, development_of, training_of
from spanloom.learn import Listener, Progress
from spanloom.model.corpus import TypeFilter, known_types, training_types
from spanloom.model.splitting import learn_splitter
from spanloom.model.spool import line_of
from spanloom.model.work import BLOCK, Work
from spanloom.recognize.crossing import crossed_folds, needs_folds
from spanloom.recognize.preparing import Estimator, Prepared, sources_of
from spanloom.tag.filling import AUTO as LEARNED
from spanloom.tag.filling import COLUMN, check_use, fill, learn_tagger, open_tagger
from spanloom.text import prepare, prepare_all
from spanloom.text.splitting import Splitter

__all__ = ["prepared_on_disk", "spooled_training"]


def prepared_on_disk(
    estimator: Estimator, X: Given, y: Iterable[Any] | None, dev: Dev | None, callback: Listener,
    work: Work, *, templates: Sequence[str] = (),
) -> Prepared:  # fmt: skip
    """Read the data of `fit`, once, as `spanloom.recognize.preparing.prepared` does.

    Args:
        estimator: its parameters; `check_on_disk` has seen them.
        X, y, dev: what `fit` was given.
        callback: called at each step.
        work: where the training data are written.
        templates: beside those that the parameters name.

    Raises:
        DataError: no tokens, or no mentions; or there is no room for them.
        UsageError: a parameter that the data cannot serve.
    """
    began, jobs, seed = monotonic(), estimator.n_jobs, estimator.random_state
    pos = open_tagger(estimator.pos)
    work.identify(estimator)
    callback(Progress("reading"))
    kept = TypeFilter(estimator.types)
    known, types, mentions = spooled_training(
        kept.checked(training_of(X, y)), work, fill=lambda block: fill(block, pos, jobs)
    )
    train = known.documents
    splitter, splitting = learn_splitter(train, seed) if estimator.split_tokens else (Splitter(), None)
    plain = getattr(estimator, "_crosses", False) and estimator.encoder is None
    crossed = dev is None and plain and needs_folds(len(train), mentions, len(known.sentences) - 1)
    held: list[Document] = []
    if dev is None and not crossed:
        train, held = work.hold_out(train, seed)
    elif dev is not None:
        given = list(kept(training_of(*development_of(dev), "dev")))
        check_one_voice(given, "tuning on development data")
        held = fill(map(prepare, given), pos, jobs)
    sources = sources_of(estimator)
    pos, held = learn_tagger(pos, estimator.pos == LEARNED and sources.names(COLUMN), train, held, jobs, seed, callback)
    if splitter.patterns or (dev is None and not crossed):
        known = work.spooled(map(splitter.split, batches(train, BLOCK, prepare_all)), "split")
        train = known.documents
    held = splitter.split(known_types(held, types))
    callback(Progress("features", seconds=monotonic() - began))
    features = sources.feature_set(train, held, templates)
    check_use(pos, features)
    unseen = known if crossed else features.enrich(Batch.of(held))
    work.saw(map(line_of, held))
    work.begin()
    fold = crossed_folds(known, seed) if crossed else None
    return Prepared(train, held, types, known, unseen, features, pos, splitter, splitting, fold)


def spooled_training(
    documents: Iterable[Document], work: Work, ready: Callable[[Document], Document] = prepare,
    fill: Callable[[list[Document]], list[Document]] = list,
) -> tuple[Batch, tuple[str, ...], int]:  # fmt: skip
    """Write a stream of training documents to a folder.

    Args:
        documents: with mentions.
        work: the folder.
        ready: prepares each.
        fill: changes blocks of prepared ones.

    Returns:
        A batch of them, the types of their mentions, sorted, and how many mentions there are.

    Raises:
        DataError: no document, or no mention; or there is no room for them.
        UsageError: their annotation is not complete, or of several annotators.
    """
    named, mentions, types = False, 0, set[str]()

    def checked() -> Iterator[Document]:
        nonlocal named, mentions
        for document in documents:
            if any(zone.status != "complete" for zone in zones_of(document)) or claims_of(document, None):
                raise UsageError(
                    f"document {clip(document.id)}: its annotation is incomplete, or has claims, which training with a "
                    "folder (work) does not take; train in memory, or leave that out of its meta"
                )
            named = named or annotator_of(document) is not None
            mentions += len(document.mentions)
            types.update(mention.type for mention in document.mentions)
            yield document

    batch = work.spooled(map(fill, batches(map(ready, checked()), BLOCK)), "documents")
    if named:
        check_one_voice(batch.documents, "training with a folder (work)")
    return batch, tuple(sorted(types)) or training_types(batch.documents), mentions  # which raises
