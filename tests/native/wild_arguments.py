"""Calls every kernel with invalid indices, in random arguments and in changed real ones, on a build with sanitizers.

    SPANLOOM_KERNELS=LIBRARY python wild_arguments.py ROUNDS [KERNEL ...]

A kernel may report an index out of range. On an access outside the arrays a sanitizer ends the process; the last line
of the output then names the kernel and the round.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from spanloom import Linker, Recognizer, native, read
from spanloom.data import clinical
from spanloom.errors import SpanloomError

SIZES = (0, 1, 2, 3, 5, 8, 16)
SECONDS = 60  # a round of a kernel
CALLS = 6  # real calls of a kernel whose arguments are kept
# These rely on a hash table that only they fill: that it has room, and that its contents are consistent.
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


def copied(value: Any) -> Any:
    """A copy of arguments, whose arrays may be written to."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return [copied(one) for one in value] if isinstance(value, tuple | list) else value


def recorded() -> dict[str, list[Any]]:
    """Return arguments of a few calls of each kernel in training, prediction and linking."""
    calls: dict[str, list[Any]] = {}
    call = native.Kernel.__call__

    def keep(kernel: native.Kernel, *arguments: Any) -> int:
        own = calls.setdefault(kernel.name, [])
        if len(own) < CALLS:
            own.append(copied(arguments))
        return call(kernel, *arguments)

    native.Kernel.__call__ = keep
    notes = {part: list(read(clinical() / part))[:6] for part in ("train", "dev")}
    common: dict[str, Any] = {"epochs": 1, "l2": 1.0, "attributes": "off"}
    for structure, more in (
        ("shared", {"attributes": "auto", "overlap": "learned", "features": "biomedical", "clusters": 8}),
        ("separators", {"counting": "derivations", "features": ["bias", "low[0]"]}),
        ("seven_tag", {"features": ["bias", "low[0]"], "optimizer": "lbfgs", "iterations": 2}),
    ):
        model = Recognizer(structure, **common | more).fit(notes["train"], dev=notes["dev"])
        model.marginals(notes["dev"])
        model.predict(notes["dev"], answers=True)
    vocabulary = clinical() / "vocabulary.tsv"
    Linker("small", iterations=1, folds=2).fit(notes["train"], dev=notes["dev"], vocabulary=vocabulary).predict(
        notes["dev"]
    )
    native.Kernel.__call__ = call
    return calls


def mutated(value: Any, random: np.random.Generator, rate: float) -> Any:
    """Return the arguments of a real call with some integers changed."""
    if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "iu" and random.random() < rate:
        found = value.ravel().copy()
        most = np.iinfo(value.dtype)
        for place in random.integers(0, len(found), int(random.integers(1, 4))):
            odd = (most.min, most.max, int(found[place]) + 1, int(found[place]) - 1, 0, int(found[place]) ^ 64)
            found[place] = min(max(odd[int(random.integers(0, len(odd)))], int(most.min)), int(most.max))
        return found.reshape(value.shape)
    if isinstance(value, list):
        return [mutated(one, random, rate) for one in value]
    if type(value) is int and random.random() < rate / 4:
        return value + int(random.choice([-1, 1, 1 << 40, -(1 << 40)]))
    return value


def calls(rounds: int, chosen: list[str]) -> Iterator[tuple[str, int, Any]]:
    """Yield kernels, rounds and arguments: invented ones, and those of real calls with some values changed."""
    real = recorded()
    for number, (name, fields) in enumerate(sorted(native._declared().items())):
        kernel = name.removeprefix("spanloom_")
        if not name.startswith("spanloom_") or kernel in TRUSTING or (chosen and kernel not in chosen):
            continue
        for each in range(rounds):
            yield kernel, each, Wild(1000 * number + each).arguments(fields)
            if own := real.get(kernel):
                random = np.random.default_rng([number, each])
                yield kernel, each, mutated(copied(own[each % len(own)]), random, float(random.choice([0.1, 0.5])))


def main() -> None:
    """Call them."""
    warnings.simplefilter("ignore")
    rounds, *chosen = sys.argv[1:]
    called = refused = 0
    for kernel, each, arguments in calls(int(rounds), chosen):
        print(kernel, each, flush=True)
        signal.alarm(SECONDS)
        called += 1
        try:
            native.Kernel(kernel)(*arguments)
        except (SpanloomError, MemoryError):
            refused += 1
    print(f"{called} calls, of which {refused} were refused")


if __name__ == "__main__":
    main()
