"""Training and development data of a linker from what `fit` is given, in memory or in a folder; see `Work`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from spanloom.document import Batch, Document, batches
from spanloom.formats.inputs import Dev, Given, development_of, training_of
from spanloom.learn import Listener
from spanloom.learn.folds import hold_out
from spanloom.link.parameters import LinkerParameters
from spanloom.model.corpus import TypeFilter, by_sentence, training_types
from spanloom.model.splitting import SplittingReport, learn_splitter
from spanloom.model.spool import line_of
from spanloom.model.work import BLOCK, Work
from spanloom.recognize.on_disk import spooled_training
from spanloom.recognize.source import whole_annotation
from spanloom.tag.filling import Filler, fill, learn_tagger, open_tagger
from spanloom.text import prepare, prepare_all
from spanloom.text.splitting import Splitter
from spanloom.vocabulary.store import Vocabulary

__all__ = ["Prepared", "prepared"]


class Prepared(NamedTuple):
    """Training and development data of a linker, and what was learned to prepare them.

    Args:
        train: all training documents.
        part: those of them that are not held out.
        held: development documents, or those that are held out.
        given: development documents as they were before their tokens were split; ``None`` where none are given.
        types: K names, of the training data.
        pos: the tagger, if there is one.
        splitter: of tokens.
        splitting: the report on it.
    """

    train: Batch
    part: Batch
    held: list[Document]
    given: list[Document] | None
    types: tuple[str, ...]
    pos: Filler | None
    splitter: Splitter
    splitting: SplittingReport | None


def prepared(
    estimator: LinkerParameters, X: Given, y: Iterable[Any] | None, dev: Dev | None, vocabulary: Vocabulary,
    learns: bool, callback: Listener, work: Work | None,
) -> Prepared:  # fmt: skip
    """Read the data of `fit`.

    Args:
        estimator: its parameters.
        X, y, dev: what `fit` was given.
        vocabulary: what mentions are linked to.
        learns: whether a tagger is trained, if the training data have its column.
        callback: called at each step.
        work: where the training data are written; they are in memory when ``None``.

    Raises:
        DataError: no tokens, or no mentions; or there is no room for them.
        UsageError: annotation that a folder does not take.
    """
    jobs, seed = estimator.n_jobs, estimator.random_state
    pos, kept = open_tagger(estimator.pos), TypeFilter(estimator.types)
    given = None if dev is None else list(kept(training_of(*development_of(dev), "dev")))
    documents = kept.checked(training_of(X, y))
    train: Sequence[Document]
    if work is None:
        own = {"n_jobs": jobs, "random_state": seed, "link": vocabulary}
        train = fill(map(prepare, whole_annotation(list(documents), given, **own)), pos, jobs)
        types = training_types(train)
    else:
        work.identify(estimator)
        work.saw(vocabulary)
        spooled, types, _ = spooled_training(documents, work, fill=lambda block: fill(block, pos, jobs))
        train = spooled.documents
    splitter, splitting = learn_splitter(train, seed) if estimator.split_tokens else (Splitter(), None)
    given = None if given is None else fill(map(prepare, given), pos, jobs)
    part, held = train, given
    if held is None:
        part, held = hold_out(train, seed, by_sentence) if work is None else work.hold_out(train, seed)
    pos, held = learn_tagger(pos, learns, part, held, jobs, seed, callback)
    held = splitter.split(held)

    def batch(documents: Sequence[Document], name: str) -> Batch:
        if work is None:
            return Batch.of(splitter.split(documents))
        return work.spooled(map(splitter.split, batches(documents, BLOCK, prepare_all)), name)

    whole = batch(train, "whole")
    some = whole if given is not None else batch(part, "split")
    if work is not None:
        work.saw(map(line_of, held))
        work.begin()
    return Prepared(whole, some, held, given, types, pos, splitter, splitting)
