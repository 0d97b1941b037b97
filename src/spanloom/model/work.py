"""A folder for what training on much text holds: documents, arrays, and how far it is.

A training that was killed reads its data again, which shows whether it is the same training, and resumes with the index
and with the passes that are complete. All of it is in a folder of its own within the one that is given, and nothing
else is ever written or removed: users name folders that hold their data.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from numpy.typing import NDArray

from spanloom import __version__
from spanloom.document import Batch, Document
from spanloom.document.batch import Picked
from spanloom.errors import DataError, UsageError, reason_of
from spanloom.features import Built, FeatureIndex, FeatureSet, Sparse, index_batch
from spanloom.files.scratch import MEMORY, WORK_FOLDER, FolderScratch, Scratch, digest_of, filling
from spanloom.files.staging import locked
from spanloom.files.walk import NO_LINK, check_plain, read_plain
from spanloom.learn import EarlyStopping
from spanloom.learn.executors import executor_named
from spanloom.learn.folds import FEW, held_numbers
from spanloom.learn.kept_passes import WEIGHTS, KeptPasses, Parts
from spanloom.model.fields import Choice, declared
from spanloom.model.parameters import Parameters
from spanloom.model.spool import spooled
from spanloom.parallel import SERIAL, Executor

__all__ = ["BLOCK", "IN_MEMORY", "Room", "Work", "check_executor", "check_on_disk"]

BLOCK: Final = 1 << 15
"""Tokens of documents that are prepared at once."""
_STATE, _LOCK, _PASSES = "work.json", "spanloom.lock", "passes-"
_FORMAT: Final = 2
_LARGEST: Final = 1 << 16  # bytes of the state
_ARRAYS: Final = {
    "table": "uint64", "group-sizes": "float32", "counts": "int32", "first": "int32", "matrix": "int32",
    "offsets": "int64",
}  # fmt: skip
"""Of the index and the matrix of features, with the type of their numbers."""


class Room:
    """Where a training has its arrays, and keeps its passes: here in memory, where no pass is kept.

    Attributes: ``scratch``, of arrays; ``workers``, processes that share a folder, where there are any.
    """

    scratch: Scratch = MEMORY
    workers: Executor | None = None

    def built(self, features: FeatureSet, train: Batch, min_count: int = 1, run: Executor = SERIAL) -> Built:
        """Return `index_batch` of the training data."""
        return index_batch(features, train, min_count=min_count, run=run, scratch=self.scratch)

    def keeper(
        self, name: str, stops: Sequence[EarlyStopping[Any]], parts: Parts[Any] = WEIGHTS
    ) -> KeptPasses[Any] | None:
        """Return what keeps the passes of a run with a name; see `KeptPasses`."""
        return None

    @contextmanager
    def part(self, name: str) -> Iterator[Room]:
        """Give the room of a part of the training, which is cleared at the end, but for its passes."""
        yield self


IN_MEMORY: Final[Room] = Room()


class Work(Room):
    """The folder of one training; a context that holds its lock.

    Args:
        folder: made where it is missing; perhaps that of the same training, which was interrupted.

    Attributes: ``workers``, processes that share the folder, where there are any.

    Raises:
        UsageError: it is no name of a folder, or another process trains in it.
        DataError: it cannot be written.
    """

    def __init__(self, folder: str | Path) -> None:
        if not isinstance(folder, str | Path) or not str(folder) or "\0" in str(folder):
            raise UsageError(f"work is {folder!r}, expected the name of a folder")
        self.folder = Path(folder) / WORK_FOLDER
        with filling(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            check_plain(self.folder)
            if not (self.folder / _LOCK).exists() and any(self.folder.iterdir()):
                raise UsageError(f"{self.folder} holds files, but none of a training; name another folder (work)")
            self._lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        if locked(self._lock) is False or not self._is_locked():
            os.close(self._lock)
            raise UsageError(f"another process trains in {folder}; wait for it, or name another folder (work)")
        if not (self.folder / _STATE).exists():  # nothing is worth keeping, as where a removal was cut short
            self._clear()
        self.scratch: FolderScratch = FolderScratch(self.folder)
        self._digest = blake2b(digest_size=16)
        self._whole: dict[str, Any] = {}
        self._begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: TracebackType | BaseException | None) -> None:
        """Remove what was needed, if training is done, or failed before anything was worth keeping."""
        done = kind is None or not (self.folder / _STATE).exists()
        if done:
            self._clear()
            if sys.platform != "win32":  # where a file that is open stays
                (self.folder / _LOCK).unlink(missing_ok=True)
        os.close(self._lock)
        if done:
            with suppress(OSError):
                if sys.platform == "win32":
                    (self.folder / _LOCK).unlink(missing_ok=True)
                self.folder.rmdir()
                self.folder.parent.rmdir()  # if nothing else is there

    def _clear(self) -> None:
        """Remove all but the lock, which is the last to go, as others look at it.

        The state is removed first, so that no training resumes from what an interrupted removal leaves.
        """
        (self.folder / _STATE).unlink(missing_ok=True)
        for path in self.folder.iterdir():
            if path.name != _LOCK:
                with suppress(OSError):  # a file that the system does not let go while it is mapped
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _is_locked(self) -> bool:
        """Return whether the lock is still that of the folder, and not one that a process before has removed."""
        try:
            return os.path.samestat(os.fstat(self._lock), (self.folder / _LOCK).stat())
        except FileNotFoundError:
            return False

    @staticmethod
    def opened(work: str | Path | Work) -> AbstractContextManager[Work]:
        """Return a folder that is closed at the end of this, or one that stays open."""
        return nullcontext(work) if isinstance(work, Work) else Work(work)

    def identify(self, estimator: Any) -> None:
        """Note the version, the parameters, and the files that these name."""
        self.saw(_identity(estimator))

    def hold_out(self, train: Sequence[Document], seed: int) -> tuple[Sequence[Document], list[Document]]:
        """Return the training documents without a tenth, and that tenth, in memory.

        Raises:
            UsageError: there are too few.
        """
        if len(train) < FEW:
            raise UsageError(
                f"with a folder (work) a tenth of the training documents is held out, and there are {len(train)}, "
                f"expected {FEW}; give development data (dev)"
            )
        chosen = held_numbers(len(train), seed)
        rest = [number for number in range(len(train)) if number not in chosen]
        return Picked(train, rest), [train[number] for number in sorted(chosen)]

    def spooled(self, batches: Iterable[list[Document]], name: str) -> Batch:
        """Return documents as a batch that reads them from a file; see `spanloom.model.spool.spooled`."""
        return spooled(batches, name, self.scratch, self._digest.update)

    def saw(self, values: Iterable[object]) -> None:
        """Note what else makes the training the one that it is, as text."""
        for value in values:
            self._digest.update(f"{value!r}\n".encode("utf-8", "surrogatepass"))

    def begin(self) -> None:
        """Look for what was kept, when all that makes the training has been seen.

        Raises:
            UsageError: it is that of another training.
            DataError: it is damaged.
        """
        if self._begun:
            raise UsageError(f"a training has used {self.folder}, expected one for each; open another (work)")
        self._begun = True
        path, digest = self.folder / _STATE, self._digest.hexdigest()
        if path.exists():
            try:
                stored = json.loads(read_plain(path, _LARGEST))
                same = (stored["format"], stored["digest"]) == (_FORMAT, digest)
                self._whole = _described(stored["whole"])
            except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise DataError(f"is damaged: {reason_of(error)}; delete the folder to start over", path=path) from None
            if not same:
                raise UsageError(
                    f"{self.folder} holds another training, with other data, parameters or version; train as before to "
                    "resume it, delete it, or name another folder (work)"
                )
        self._write_description()

    def built(self, features: FeatureSet, train: Batch, min_count: int = 1, run: Executor = SERIAL) -> Built:
        """As of `Room`; what a process before made is taken as it is."""
        if not self._whole:
            built = super().built(features, train, min_count, run)
            arrays: dict[str, NDArray[Any]] = {
                "table": built.index.table, "group-sizes": built.index.group_sizes, "counts": built.counts,
                "first": built.first,
            }  # fmt: skip
            for name, array in arrays.items():
                self.scratch.written(name, array)
            arrays |= {"matrix": built.matrix.indices, "offsets": built.matrix.offsets}
            self._whole = {
                name: [arrays[name].dtype.name, *arrays[name].shape, digest_of(arrays[name])] for name in _ARRAYS
            }
            self.scratch.flush()  # before it is recorded as complete
            self._write_description()
            return built
        again = {name: self.scratch.again(name, (size,), kind) for name, (kind, size, _) in self._whole.items()}
        table, sizes, counts, first, indices, offsets = (again[name] for name in _ARRAYS)
        tokens = len(train.tokens)
        inside = len(offsets) == tokens + 1 and len(counts) == len(sizes) >= len(first)
        inside &= all(digest_of(array) == self._whole[name][2] for name, array in again.items())
        inside &= offsets[0] == 0 and offsets[-1] == len(indices) and bool((offsets[1:] >= offsets[:-1]).all())
        inside &= all(
            0 <= rows.min(initial=0) <= rows.max(initial=0) < max(1, most)
            for rows, most in ((indices, len(sizes)), (first, tokens))
        )
        if not inside:
            raise DataError("its features are damaged; delete the folder to start over", path=self.folder)
        self.scratch.release()
        return Built(FeatureIndex(table.copy(), sizes.copy()), Sparse(indices, offsets), counts.copy(), first.copy())

    @contextmanager
    def worked_on_by(self, executor: str | Executor, n_jobs: int | None) -> Iterator[None]:
        """Have processes work on what is here; those of an executor that is named end with this.

        Args:
            executor: its name, or itself.
            n_jobs: how many workers, where it is named.
        """
        if executor == "threads":
            yield
            return
        with executor_named(executor, n_jobs) if isinstance(executor, str) else nullcontext(executor) as self.workers:
            try:
                yield
            finally:
                self.workers = None

    @contextmanager
    def part(self, name: str) -> Iterator[Room]:
        """As of `Room`, in a folder of its own."""
        folder = self.folder / name
        with filling(folder):
            folder.mkdir(exist_ok=True)
            check_plain(folder)
        try:
            yield _Part(self, name, FolderScratch(folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # mapped files stay where the system does not let them go

    def keeper(self, name: str, stops: Sequence[EarlyStopping[Any]], parts: Parts[Any] = WEIGHTS) -> KeptPasses[Any]:
        """As of `Room`."""
        return KeptPasses(self.folder / f"{_PASSES}{name}", stops, parts)

    def _write_description(self) -> None:
        new = self.folder / f"{_STATE}.new"
        stored = {"format": _FORMAT, "digest": self._digest.hexdigest(), "whole": self._whole}
        with filling(self.folder):
            with new.open("w", encoding="ascii") as file:
                json.dump(stored, file)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.folder / _STATE)


class _Part(Room):
    """Room of a part of a training in a folder."""

    def __init__(self, work: Work, name: str, scratch: FolderScratch) -> None:
        self._work, self._name, self.scratch = work, name, scratch

    def keeper(self, name: str, stops: Sequence[EarlyStopping[Any]], parts: Parts[Any] = WEIGHTS) -> KeptPasses[Any]:
        return self._work.keeper(f"{self._name}-{name}", stops, parts)

    @contextmanager
    def part(self, name: str) -> Iterator[Room]:
        with self._work.part(f"{self._name}-{name}") as room:
            yield room


def _described(stored: Any) -> dict[str, Any]:
    """Return the declared kind and shape of each array.

    Raises:
        ValueError, TypeError, AttributeError: that is no such description.
    """
    if stored and {name: kind for name, (kind, *_) in stored.items()} != _ARRAYS:
        raise ValueError(f"there are {', '.join(stored)}, expected {', '.join(_ARRAYS)}, of their kinds")
    sizes = {name: int(size) for name, (_, size, _) in stored.items()}
    if any(size < 0 for size in sizes.values()):
        raise ValueError("an array has less than no elements")
    return {name: [_ARRAYS[name], size, stored[name][2]] for name, size in sizes.items()}


def check_on_disk(estimator: Parameters[Any]) -> None:
    """Check that an estimator can be trained on what is on disk.

    Raises:
        UsageError: it has a parameter that needs all text in memory.
    """
    for name, accepted, expected, hint in (
        ("passes", ("one",), "'one'", "take that"),
        ("vectors", (None, "auto", "none"), "none", "leave them out"),
        ("clusters", (None, str, Path), "a file", "make one with spanloom train clusters, which reads a stream"),
        ("annotation", ("complete",), "'complete'", "learn from a part of the text in memory"),
        ("density", (None,), "none", "learn from a part of the text in memory"),
    ):
        value = getattr(estimator, name, accepted[0])
        if value not in accepted and type(value) not in accepted:
            raise UsageError(
                f"{name} is {value!r}, but training with a folder (work) takes {expected}; {hint}, or train in memory"
            )


def check_executor(estimator: Parameters[Any], executor: str | Executor, work: object) -> None:
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
    given = estimator.get_params()
    alone = given.get("encoder") is not None and not given.get("with_features")
    hint = "add features (with_features)" if "with_features" in given else "train without an encoder"
    expected = "the optimizer 'lbfgs', as steps of 'adagrad' follow each other; take that"
    for found, needed in (
        (work is None, "a folder that its workers share; name one (work)"),
        (alone, f"sums over features, as steps of an encoder follow each other; {hint}"),
        (given.get("optimizer") != "lbfgs", expected),
    ):
        if found:
            name = repr(executor) if isinstance(executor, str) else type(executor).__name__
            raise UsageError(f"executor is {name}, which needs {needed}, or leave executor out")


def _identity(estimator: Any) -> Iterator[object]:
    """Yield what makes a training the one that it is, beside its data: version, parameters, and what they name."""
    yield __version__
    for name, parameter, _ in declared(estimator):
        value = getattr(estimator, name)
        if name != "n_jobs":
            yield name, value.filling() if hasattr(value, "filling") else str(value)  # of a tagger
            names = parameter.known if isinstance(parameter, Choice) else parameter.words
            if isinstance(value, str | Path) and value not in names:  # a file of such a name is not meant
                yield _content(Path(value))


def _content(path: Path) -> list[str]:
    """Return the digests of a file, or of a folder's files; none where there is no such thing."""
    found = []
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            with file.open("rb") as stream:
                found.append(hashlib.file_digest(stream, "sha256").hexdigest())
    return found
