"""The state of AdaGrad after each pass, in a folder: a killed training resumes from the last finished pass.

The state is everything that determines later weights: weights, their mean over passes, squared gradients, and the best
pass so far; the order of sentences follows from the seed. The result is that of a training without interruption.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from spanloom.errors import DataError, reason_of
from spanloom.files.scratch import SUFFIX, filling
from spanloom.files.walk import read_plain
from spanloom.hypergraph import Singles
from spanloom.learn.descent import Resumed
from spanloom.learn.training import BestPass, EarlyStopping
from spanloom.scoring import Weights

_SAID: Final = "passes.json"
_LARGEST: Final = 1 << 20  # bytes of the description
_BEST: Final = ("best-features", "best-constants")


class KeptPasses:
    """The passes of one run of AdaGrad; a `spanloom.learn.descent.Keeper`.

    Args:
        folder: for these alone; made where it is missing.
        stopping: what judges passes.
    """

    def __init__(self, folder: Path, stopping: EarlyStopping[Weights]) -> None:
        self._folder, self._stopping = folder, stopping

    def resume(self, shapes: Mapping[str, tuple[int, ...]]) -> Resumed:
        """As of `Keeper`.

        Raises:
            DataError: what is there is damaged.
        """
        if not (self._folder / _SAID).exists():
            return Resumed(0, False, {})
        try:
            said = json.loads(read_plain(self._folder / _SAID, _LARGEST))
            number, best = int(said["passes"]), int(said["best"])
            entries = [(float(objective), float(value)) for objective, value in said["entries"]]
            if not 1 <= best <= number == len(entries):
                raise ValueError(f"found {len(entries)} entries of {number} passes, of which {best} is the best")
            arrays = {name: self._read(f"{name}-{number}", shape) for name, shape in shapes.items()}
            weights = Weights(*(self._read(f"{name}-{best}", tuple(said["shapes"][name])) for name in _BEST))
            _check_shapes(weights, shapes)
            objective, value = entries[best - 1]
        except (OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
            raise DataError(
                f"the passes that are kept are damaged: {reason_of(error)}; delete that folder to start over",
                path=self._folder,
            ) from None
        return Resumed(number, self._stopping.resume(BestPass(best, objective, value, weights), entries), arrays)

    def keep(self, number: int, arrays: Mapping[str, Singles]) -> None:
        """As of `Keeper`.

        Raises:
            DataError: the system refused to write.
        """
        best = self._stopping.best
        named = dict(zip(_BEST, best.weights, strict=True))
        said = {
            "passes": number, "best": best.number, "entries": self._stopping.history.entries,
            "shapes": {name: array.shape for name, array in named.items()},
        }  # fmt: skip
        with filling(self._folder):
            self._folder.mkdir(exist_ok=True)
            for name, array in {**arrays, **(named if best.number == number else {})}.items():
                self._write(f"{name}-{number}", array)
            new = self._folder / f"{_SAID}.new"
            new.write_text(json.dumps(said), encoding="ascii")
            new.replace(self._folder / _SAID)  # from now on this pass counts, and not the one before
            needed = {*(f"{name}-{number}" for name in arrays), *(f"{name}-{best.number}" for name in _BEST)}
            for file in self._folder.glob(f"*{SUFFIX}"):
                if file.stem not in needed:
                    file.unlink()

    def _read(self, name: str, shape: tuple[int, ...]) -> Singles:
        path = self._folder / f"{name}{SUFFIX}"
        if path.stat().st_size != 4 * math.prod(shape):
            raise ValueError(f"{path.name} holds {path.stat().st_size:,} bytes, expected {4 * math.prod(shape):,}")
        found: Singles = np.fromfile(path, np.float32).reshape(shape)
        return found

    def _write(self, name: str, array: Singles) -> None:
        with (self._folder / f"{name}{SUFFIX}").open("wb") as file:
            np.ascontiguousarray(array).tofile(file)
            os.fsync(file.fileno())


def _check_shapes(best: Weights, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check that the best weights have the shapes of the current ones, which are flat.

    Raises:
        ValueError: they have others, beyond which kernels would read.
    """
    rows, columns = shapes["weights"]
    found = best.features.shape
    if not (found[0] == rows and math.prod(found[1:]) == columns and found[-1] == best.constants.shape[-1]):
        raise ValueError(f"the best weights are of the shape {found}, expected {rows} rows of {columns}")
    if best.constants.shape != shapes["constants"]:
        raise ValueError(f"the best constants are of {best.constants.shape}, expected {shapes['constants']}")
