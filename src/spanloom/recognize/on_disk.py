"""From what `fit` is given to training data on disk, for text that does not fit in memory; see `Work`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from spanloom import __version__
from spanloom.document import Batch, Document, batches
from spanloom.document.annotation import zones_of
from spanloom.document.annotators import annotator_of, check_one_voice
from spanloom.document.claims import claims_of
from spanloom.errors import UsageError, clip
from spanloom.formats.inputs import Dev, Given, development_of, training_of
from spanloom.learn import Listener, Progress
from spanloom.learn.executors import executor_named
from spanloom.learn.folds import FEW, held_numbers
from spanloom.model.corpus import TypeFilter, known_types, training_types
from spanloom.model.fields import declared
from spanloom.model.splitting import learn_splitter
from spanloom.parallel import Executor
from spanloom.recognize.crossing import crossed_folds, wants_folds
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.recognize.preparing import Prepared, sources_of
from spanloom.recognize.spool import Picked, line_of
from spanloom.recognize.work import Work
from spanloom.tag.filling import AUTO as LEARNED
from spanloom.tag.filling import COLUMN, check_use, fill, learn_tagger, open_tagger, told
from spanloom.tag.pos_tagger import PosTagger
from spanloom.tag.spacy_tagger import SpacyTagger
from spanloom.text import prepare
from spanloom.text.splitting import Splitter

__all__ = ["check_executor", "check_on_disk", "prepared_on_disk"]

_BLOCK = 1 << 15  # tokens that are prepared at once


def check_on_disk(estimator: RecognizerParameters) -> None:
    """Check that an estimator can be trained on what is on disk.

    Raises:
        UsageError: it has a parameter that needs all text in memory.
    """
    learned = isinstance(estimator.clusters, int)
    for name, found, wanted, hint in (
        ("encoder", estimator.encoder is not None, "none", "leave it out"),
        ("passes", estimator.passes != "one", "'one'", "take that"),
        ("vectors", estimator.vectors is not None, "none", "leave them out"),
        ("clusters", learned, "a file", "make one with spanloom train clusters, which reads a stream"),
        ("annotation", estimator.annotation != "complete", "'complete'", "learn from a part of the text in memory"),
        ("density", estimator.density is not None, "none", "learn from a part of the text in memory"),
    ):
        if found:
            raise UsageError(
                f"{name} is {getattr(estimator, name)!r}, but training with a folder (work) takes {wanted}; {hint}, or "
                "train in memory"
            )


def check_executor(estimator: RecognizerParameters, executor: str | Executor, work: object) -> None:
    """Check that an estimator can be trained by an executor.

    Args:
        estimator: its parameters.
        executor: its name, or itself.
        work: the folder that workers are to share; ``None`` for none.

    Raises:
        UsageError: its name is unknown, or a requirement is missing.
    """
    if isinstance(executor, str):
        executor_named(executor, 1)
    elif isinstance(executor, type) or not all(hasattr(executor, name) for name in ("map", "shared", "workers")):
        raise UsageError(
            f"executor is {executor!r}, expected a name, or an executor, which has map, shared and workers"
        )
    if executor == "threads":
        return
    for found, expected in (
        (work is None, "a folder that its workers share; name one (work)"),
        (estimator.optimizer != "lbfgs", "the optimizer 'lbfgs', as steps of 'adagrad' follow each other; take that"),
    ):
        if found:
            raise UsageError(f"executor is {executor!r}, which needs {expected}, or leave executor out")


def prepared_on_disk(
    estimator: RecognizerParameters, X: Given, y: Iterable[Any] | None, dev: Dev | None, callback: Listener,
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
    work.saw(_identity(estimator))
    callback(Progress("reading"))
    checked = _Checked()
    kept = TypeFilter(estimator.types)
    blocks = batches(checked.stream(kept.checked(training_of(X, y))), _BLOCK, prepare)
    known = work.spooled((fill(block, pos, jobs) for block in blocks), "documents")
    if checked.named:
        check_one_voice(known.documents, "training with a folder (work)")
    train, types = known.documents, checked.types or training_types(known.documents)  # which says what is wrong
    splitter, splitting = learn_splitter(train, seed) if estimator.split_tokens else (Splitter(), None)
    crossed = dev is None and wants_folds(len(train), checked.mentions, len(known.sentences) - 1)
    held: list[Document] = []
    if dev is None and not crossed:
        if len(train) < FEW:
            raise UsageError(
                f"with a folder (work) a tenth of the training documents is held out, and there are {len(train)}, "
                f"expected {FEW}; give development data (dev)"
            )
        chosen = held_numbers(len(train), seed)
        held = [train[number] for number in sorted(chosen)]
        train = Picked(train, [number for number in range(len(train)) if number not in chosen])
    elif dev is not None:
        given = list(kept(training_of(*development_of(dev), "dev")))
        check_one_voice(given, "tuning on development data")
        held = fill(map(prepare, given), pos, jobs)
    sources = sources_of(estimator)
    pos, held = learn_tagger(pos, estimator.pos == LEARNED and sources.names(COLUMN), train, held, jobs, seed, callback)
    if splitter.patterns or (dev is None and not crossed):
        known = work.spooled(map(splitter.split, batches(train, _BLOCK, prepare)), "split")
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


class _Checked:
    """Checks and counts of a stream of training documents.

    Attributes: ``named``, whether an annotator is, ``mentions``, how many have come, and their ``types``, sorted.
    """

    def __init__(self) -> None:
        self.named, self.mentions = False, 0
        self._types = set[str]()

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(sorted(self._types))

    def stream(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Pass documents on.

        Raises:
            UsageError: their annotation is not complete.
        """
        for document in documents:
            if any(zone.says != "complete" for zone in zones_of(document)) or claims_of(document, None):
                raise UsageError(
                    f"document {clip(document.id)}: its annotation is incomplete, or has claims, which training with a "
                    "folder (work) does not take; train in memory, or leave that out of its meta"
                )
            self.named = self.named or annotator_of(document) is not None
            self.mentions += len(document.mentions)
            self._types.update(mention.type for mention in document.mentions)
            yield document


def _identity(estimator: RecognizerParameters) -> Iterator[object]:
    """Yield what makes a training the one that it is, beside its data: version, parameters, and what they name."""
    yield __version__
    for name, _, _ in declared(estimator):
        value = getattr(estimator, name)
        if name != "n_jobs":
            yield name, told(value) if isinstance(value, PosTagger | SpacyTagger) else str(value)
            if isinstance(value, str | Path):
                yield _content(Path(value))


def _content(path: Path) -> list[str]:
    """Return the digests of a file, or of a folder's files; none where there is no such thing."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()]
