"""Checkpoints: the state of a training as two files, written atomically, from which it resumes.

JSON and safetensors: reading one runs no code. The caller defines the state; here it is a description and arrays.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from spanloom.errors import ModelError, UsageError, reason_of
from spanloom.files.output import output_folder, own_files, writing
from spanloom.files.staging import is_part, recover
from spanloom.files.walk import check_plain, read_plain
from spanloom.modelfile import Array

PREFIX: Final = "seed-"
"""How the names of checkpoints begin in the folder that holds those of one command."""
_FORMAT: Final = 1
_LARGEST: Final = 1 << 22  # bytes of the description
_DESCRIPTION, _ARRAYS = "checkpoint.json", "checkpoint.safetensors"
_OWN: Final = frozenset((_DESCRIPTION, _ARRAYS))
_STRICT: Final = ConfigDict(extra="forbid", strict=True, ser_json_inf_nan="constants")
_Count = Annotated[int, Field(ge=0, lt=1 << 63)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]


class Run(BaseModel):
    """What makes a training the one that it is, as digests.

    Args:
        settings: its parameters.
        data: what it learns from, and is judged with.
        encoder: what it begins with.
    """

    model_config = _STRICT

    settings: str
    data: str
    encoder: str


class Place(NamedTuple):
    """Where a training is.

    Args:
        passes: that are done.
        steps: of the pass after these.
        seen: sub-words, in all passes.
        objective: of these steps, summed.
    """

    passes: _Count = 0
    steps: _Count = 0
    seen: _Count = 0
    objective: float = 0.0


class Kept(BaseModel):
    """The description of a state.

    Args:
        place: the position in the training.
        entries: objective and measure of each pass.
        best: number, objective and measure of the best pass; ``None`` before the first is finished.
    """

    model_config = _STRICT

    place: Place = Place()
    entries: list[tuple[float, _Finite]] = []
    best: tuple[_Count, float, _Finite] | None = None


class _File(BaseModel):
    """The content of ``checkpoint.json``."""

    model_config = _STRICT

    format: int
    run: Run
    sha256: str
    kept: Kept


class Checkpoint:
    """The checkpoint of one training.

    Args:
        folder: of the checkpoint; the one around it is made where it is missing.
        run: the training; the checkpoint of another is refused.

    >>> import numpy as np
    >>> checkpoint = Checkpoint(Path("run/seed-0"), Run(settings="s", data="d", encoder="e"))
    >>> checkpoint.read() is None
    True
    >>> checkpoint.write(Kept(place=Place(passes=2)), {"weights": np.ones(3)})
    >>> kept, arrays = checkpoint.read()
    >>> kept.place.passes, arrays["weights"].tolist()
    (2, [1.0, 1.0, 1.0])
    >>> remove_checkpoints("run", [0])
    >>> Path("run").exists()
    False
    """

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder, self._run = folder, run

    def read(self) -> tuple[Kept, dict[str, Array]] | None:
        """Return the state that was written last, or ``None``.

        Raises:
            UsageError: it is that of another training.
            ModelError: it is damaged.
        """
        with self.damaged():
            recover(self.folder)  # training continues to write it
            self._check_links()
            if not (self.folder / _DESCRIPTION).exists() and not (self.folder / _ARRAYS).exists():
                return None
            stored = _File.model_validate_json(read_plain(self.folder / _DESCRIPTION, _LARGEST))
            if stored.format != _FORMAT:
                raise ModelError(f"{_DESCRIPTION}: format {stored.format}, expected {_FORMAT}")
        own, other = self._run.model_dump(), stored.run.model_dump()
        if differ := [name for name in own if own[name] != other[name]]:
            verb = "differs" if differ == ["encoder"] else "differ"
            raise UsageError(
                f"checkpoint {self.folder} is of another training, whose {' and '.join(differ)} {verb}; train as "
                "before to resume it, or name another folder"
            )
        with self.damaged():
            if _checksum(self.folder / _ARRAYS) != stored.sha256:
                raise ModelError(f"the checksum of {_ARRAYS} is not the one in {_DESCRIPTION}")
            return stored.kept, load_file(self.folder / _ARRAYS)

    def write(self, kept: Kept, arrays: Mapping[str, Array]) -> None:
        """Replace the state that was written last.

        Raises:
            UsageError: the folder holds something else.
            DataError: the system refused to write.
        """
        with writing(self.folder):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self._check_links()
        own = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        replaces = output_folder(self.folder, force=True, may_replace=own_files(self.folder, _OWN))
        with replaces as folder, writing(self.folder):
            save_file(own, folder / _ARRAYS)
            stored = _File(format=_FORMAT, run=self._run, sha256=_checksum(folder / _ARRAYS), kept=kept)
            (folder / _DESCRIPTION).write_text(stored.model_dump_json(indent=1), encoding="utf-8")

    def _check_links(self) -> None:
        """Check that nothing elsewhere would be read or written for this checkpoint."""
        if os.path.lexists(self.folder):
            check_plain(self.folder)

    @contextmanager
    def damaged(self) -> Iterator[None]:
        """Turn whatever goes wrong while a state is read and taken over into one line.

        Raises:
            ModelError: something did.
        """
        try:
            yield
        except (
            OSError, SafetensorError, ModelError, RuntimeError, ValueError, TypeError, LookupError, ArithmeticError,
            AttributeError,
        ) as error:  # fmt: skip
            raise ModelError(
                f"checkpoint {self.folder} is damaged: {_line(error)}; delete that folder to train from the beginning"
            ) from None


def remove_checkpoints(folder: str | Path, seeds: Iterable[int]) -> None:
    """Remove the checkpoints of some seeds, what killed processes left, and the folder if nothing else is there."""
    around = Path(folder)
    names = {f"{PREFIX}{seed}" for seed in seeds}
    for found in filter(Path.is_dir, list(around.iterdir()) if around.is_dir() else []):
        left = is_part(found.name) and any(found.name.startswith(f".{name}.") for name in names)
        if left or (found.name in names and {file.name for file in found.iterdir()} <= _OWN):
            shutil.rmtree(found, ignore_errors=True)
    with suppress(OSError):  # something else is there
        around.rmdir()


def _checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _line(error: Exception) -> str:
    """Return the message of an error with the file that it concerns."""
    if isinstance(error, ValidationError):
        first: Any = error.errors()[0]
        return f"{_DESCRIPTION}: {'.'.join(map(str, first['loc'])) or 'content'}: {first['msg']}"
    if isinstance(error, ModelError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{Path(error.filename).name}: {reason_of(error)}"
    return f"{_ARRAYS}: {reason_of(error)}"
