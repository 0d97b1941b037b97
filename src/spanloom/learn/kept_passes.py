"""The state of a training after each pass, in a folder: a killed training resumes from the last finished pass.

The state is everything that determines later weights: of AdaGrad weights, their mean over passes, squared gradients;
and of each of what is trained together the best pass so far. The order of sentences follows from the seed. The result
is that of a training without interruption.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import DataError, reason_of
from spanloom.files.scratch import SUFFIX, digest_of, filling
from spanloom.files.walk import read_plain
from spanloom.learn.descent import Arrays, Form, Resumed
from spanloom.learn.training import BestPass, EarlyStopping, W
from spanloom.scoring import Weights

__all__ = ["WEIGHTS", "KeptPasses", "Parts"]

_DESCRIPTION: Final = "passes.json"
_LARGEST: Final = 1 << 20  # bytes of the description


class Parts(NamedTuple, Generic[W]):
    """How weights are kept as arrays.

    Args:
        types: name -> type of the numbers of each array.
        apart: gives the arrays of weights, in the order of these names.
        joined: makes weights of the arrays, and checks their shapes by those of the state.
    """

    types: Mapping[str, str]
    apart: Callable[[W], Iterable[NDArray[Any]]]
    joined: Callable[[Sequence[NDArray[Any]], Mapping[str, Form]], W]


def _weights(arrays: Sequence[NDArray[Any]], forms: Mapping[str, Form]) -> Weights:
    """Return the best weights, which have the shapes of the current ones, which are flat.

    Raises:
        ValueError: they have others, beyond which kernels would read.
    """
    best, (rows, columns) = Weights(*arrays), forms["weights"][1]
    found = best.features.shape
    if not (found[0] == rows and math.prod(found[1:]) == columns and found[-1] == best.constants.shape[-1]):
        raise ValueError(f"the best weights are of the shape {found}, expected {rows} rows of {columns}")
    if best.constants.shape != forms["constants"][1]:
        raise ValueError(f"the best constants are of {best.constants.shape}, expected {forms['constants'][1]}")
    return best


WEIGHTS: Final[Parts[Weights]] = Parts({"features": "float32", "constants": "float32"}, iter, _weights)
"""How the weights of structures are kept."""


class KeptPasses(Generic[W]):
    """The passes of one run; a `spanloom.learn.descent.Keeper`.

    Args:
        folder: for these alone; made where it is missing.
        stops: what judges the passes of each of what is trained together.
        parts: how weights are kept.
    """

    def __init__(self, folder: Path, stops: Sequence[EarlyStopping[W]], parts: Parts[W]) -> None:
        self._folder, self._stops, self._parts = folder, stops, parts
        self._digests: dict[str, str] = {}

    def resume(self, forms: Sequence[Mapping[str, Form]]) -> Resumed:
        """As of `Keeper`.

        Raises:
            DataError: what is there is damaged.
        """
        if not (self._folder / _DESCRIPTION).exists():
            return Resumed(0, {})
        states: dict[int, Arrays] = {}
        try:
            stored = json.loads(read_plain(self._folder / _DESCRIPTION, _LARGEST))
            number, self._digests = int(stored["passes"]), dict(stored["sha256"])
            for at, (stop, own, form) in enumerate(zip(self._stops, stored["runs"], forms, strict=True)):
                if not self._resumed(stop, own, at, number, form):
                    state = {name: self._read(f"{name}-{at}-{number}", *kind) for name, kind in form.items()}
                    lengths = {name: len(array) for name, array in state.items() if form[name][1] == (-1,)}
                    if len({*lengths.values()}) > 1:
                        raise ValueError(f"found {lengths} numbers, expected as many of each")
                    states[at] = state
            if number != max(len(stop.history.entries) for stop in self._stops):
                raise ValueError(f"found {number} passes, expected as many as the longest run has")
        except (OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
            raise DataError(
                f"the passes that are kept are damaged: {reason_of(error)}; delete that folder to start over",
                path=self._folder,
            ) from None
        return Resumed(number, states)

    def _resumed(self, stop: EarlyStopping[W], own: Any, at: int, number: int, form: Mapping[str, Form]) -> bool:
        """Give a judge its passes, of which there were so many; return whether it has stopped."""
        best, entries = int(own["best"]), [(float(objective), float(value)) for objective, value in own["entries"]]
        if not 1 <= best <= len(entries) <= number:
            raise ValueError(f"found {len(entries)} entries of {number} passes, of which {best} is the best")
        arrays = [
            self._read(f"best-{name}-{at}-{best}", kind, tuple(own["shapes"][name]))
            for name, kind in self._parts.types.items()
        ]
        stop.history.details[:] = [tuple(map(float, detail)) for detail in own["details"]]
        if len(stop.history.details) not in (0, len(entries)):
            raise ValueError(f"found {len(stop.history.details)} details of {len(entries)} passes")
        over = stop.resume(BestPass(best, *entries[best - 1], self._parts.joined(arrays, form)), entries)
        if not over and len(entries) < number:
            raise ValueError(f"found {len(entries)} entries, expected one for each of {number} passes")
        return over

    def keep(self, number: int, states: Mapping[int, Arrays]) -> None:
        """As of `Keeper`.

        Raises:
            DataError: the system refused to write.
        """
        runs: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        needed = set[str]()
        for at, stop in enumerate(self._stops):
            best, state = stop.best, states.get(at, {})
            named = dict(zip(self._parts.types, self._parts.apart(best.weights), strict=True))
            runs.append({
                "best": best.number, "entries": stop.history.entries, "details": stop.history.details,
                "shapes": {name: array.shape for name, array in named.items()},
            })  # fmt: skip
            kept = {f"best-{name}-{at}-{best.number}": array for name, array in named.items()}
            arrays |= {f"{name}-{at}-{number}": array for name, array in state.items()}
            arrays |= kept if best.number == number else {}
            needed |= arrays.keys() | kept.keys()
        with filling(self._folder):
            self._folder.mkdir(exist_ok=True)
            for name, array in arrays.items():
                whole = np.ascontiguousarray(array)
                with (self._folder / f"{name}{SUFFIX}").open("wb") as file:
                    whole.tofile(file)
                    os.fsync(file.fileno())
                self._digests[name] = digest_of(whole)
            self._digests = {name: digest for name, digest in self._digests.items() if name in needed}
            new = self._folder / f"{_DESCRIPTION}.new"
            new.write_text(json.dumps({"passes": number, "runs": runs, "sha256": self._digests}), encoding="ascii")
            new.replace(self._folder / _DESCRIPTION)  # from now on this pass counts, and not the one before
            for path in self._folder.glob(f"*{SUFFIX}"):
                if path.stem not in needed:
                    path.unlink()

    def _read(self, name: str, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
        path, expected = self._folder / f"{name}{SUFFIX}", np.dtype(kind).itemsize * math.prod(shape)
        if path.stat().st_size != expected and -1 not in shape:
            raise ValueError(f"{path.name} holds {path.stat().st_size:,} bytes, expected {expected:,}")
        found = np.fromfile(path, kind).reshape(shape)
        if digest_of(found) != self._digests[name]:
            raise ValueError(f"{path.name} is not what was written: its checksum is another")
        return found
