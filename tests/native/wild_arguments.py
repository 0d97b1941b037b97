"""Calls every kernel with sizes that fit and values that do not; to be run on a library with sanitizers.

    SPANLOOM_KERNELS=LIBRARY python wild_arguments.py ROUNDS [KERNEL ...]

A kernel may say that an index leads out of its table. A sanitizer ends the process where memory is touched that is not
the arguments'; the last line of the output names the kernel and the round.
"""

from __future__ import annotations

import signal
import sys
import warnings
from typing import Any

import numpy as np

from spanloom import native
from spanloom.errors import SpanloomError

SIZES = (0, 1, 2, 3, 5, 8, 16)
SECONDS = 60  # a round of a kernel
# Trust a table of hashes that only they have filled, so that it has room and what it says is so.
TRUSTING = {"enter_words", "join_clusters"}


class Wild:
    """Draws arguments."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.most = int(self.random.choice([1, 2, 4, 16]))  # below which most indices are
        self.odd = float(self.random.choice([0, 0, 0.02, 0.3]))  # share of values that lead anywhere

    def whole(self, size: tuple[int, ...], bits: int, signed: bool) -> np.ndarray[Any, Any]:
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        tame = self.random.integers(0, self.most, size)
        far = self.random.choice(np.array([low, low + 1, high, high - 1, high // 2, 7, 100], object), size)
        near = self.random.integers(-2, 2, size) if signed else self.random.integers(0, 20, size)
        odd = self.random.random(size) < self.odd
        drawn = np.where(odd, np.where(self.random.random(size) < 0.5, far, near), tame)
        return np.asarray(drawn).astype(f"{'i' if signed else 'u'}{bits // 8}")

    def array(self, field: native._Array, sizes: dict[str, int]) -> np.ndarray[Any, Any]:
        shape = []
        for letter, more in field.axes:
            if letter.isdigit():
                shape.append(int(letter) + more)
            elif letter:
                shape.append(sizes.setdefault(letter, int(self.random.choice(SIZES))) + more)
            elif field.dtype == np.uint64:  # tables of hashes, of which the owner knows that there is room
                shape.append(16)
            else:
                shape.append(int(self.random.choice(SIZES)) + more)
        if field.dtype.kind == "f":
            values = self.random.normal(size=shape)
            values[self.random.random(shape) < self.odd] = self.random.choice([np.inf, -np.inf, np.nan, 1e300, 0.0])
            with np.errstate(over="ignore"):
                return values.astype(field.dtype)
        if field.dtype == np.uint64 and not any(field.axes[0]):
            return np.zeros(shape, np.uint64)
        if self.random.random() < 0.5 and len(shape) == 1 and field.dtype.kind == "i":  # as offsets are
            steps = np.cumsum(self.random.integers(0, 3, shape)) - self.random.integers(0, 2)
            return np.maximum(steps, 0).astype(field.dtype)
        return self.whole(tuple(shape), field.dtype.itemsize * 8, field.dtype.kind == "i")

    def arguments(self, fields: tuple[Any, ...]) -> list[Any]:
        sizes: dict[str, int] = {}
        found: list[Any] = []
        for field in fields:
            if isinstance(field, native._Struct):
                found.append(self.arguments(field.fields))
            elif isinstance(field, native._Array):
                found.append(self.array(field, sizes))
            elif field.kind == "double":
                found.append(float(self.random.normal()))
            elif field.name == "shift":
                found.append(60)
            else:
                found.append(int(self.whole((1,), 64, field.kind == "int64_t")[0]))
        return found


def main() -> None:
    """Call them."""
    warnings.simplefilter("ignore")
    rounds, *chosen = sys.argv[1:]
    called = refused = 0
    for number, (name, fields) in enumerate(sorted(native._declared().items())):
        kernel = name.removeprefix("spanloom_")
        if not name.startswith("spanloom_") or kernel in TRUSTING or (chosen and kernel not in chosen):
            continue
        for each in range(int(rounds)):
            print(kernel, each, flush=True)
            signal.alarm(SECONDS)
            called += 1
            try:
                native.Kernel(kernel)(*Wild(1000 * number + each).arguments(fields))
            except (SpanloomError, MemoryError):
                refused += 1
    print(f"{called} calls, of which {refused} were refused")


if __name__ == "__main__":
    main()
