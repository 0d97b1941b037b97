"""Memory that the training of an encoder takes, estimated before it is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from spanloom.errors import UsageError

_COPIES: Final = 5  # of the weights: themselves, their gradient, two moments, the best so far
_WRITTEN: Final = 4  # of these, without the gradient
_PER_WIDTH: Final = 34  # numbers that a layer keeps of a sub-word, for each of its width (Korthikanti et al. 2022, 4.1)
_PER_PAIR: Final = 5  # and for each head and each sub-word of its window
_GB: Final = 1 << 30


def needed_memory(
    parameters: int, width: int, layers: int, heads: int, step: int, window: int, *, recompute: bool = False,
    checkpoint: bool = False, frozen: int = 0,
) -> int:  # fmt: skip
    """Return the bytes that training is about to take.

    Args:
        parameters: numbers that are trained.
        width: D.
        layers, heads: of the encoder.
        step: sub-words of the largest step, or of the largest part that it is read in.
        window: sub-words of a window.
        recompute: whether a layer keeps only what it was given, and one at a time all.
        checkpoint: whether there are checkpoints; what is written is in memory twice.
        frozen: numbers that are kept beside these.

    >>> round(needed_memory(22_600_000, 384, 6, 12, 1024, 256) / 2**30, 1)
    1.1
    """
    layer = _PER_WIDTH * width + _PER_PAIR * heads * window
    kept = layers * width + layer if recompute else layers * layer
    return 4 * ((_COPIES + _WRITTEN * checkpoint) * parameters + frozen + step * kept)


def free_memory() -> int | None:
    """Return the bytes that a program may take, where the system reports it."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = (line.split() for line in lines if line.startswith("MemAvailable:"))
    return next((1024 * int(words[1]) for words in found), None)


def check_memory(needed: int, free: int | None) -> None:
    """Check that training has the memory that it wants.

    Raises:
        UsageError: it has not.

    >>> check_memory(3 << 30, 4 << 30)
    """
    if free is not None and needed > free:
        raise UsageError(
            f"training this encoder takes about {needed / _GB:.1f} GB, and {free / _GB:.1f} GB are free; take a "
            "smaller encoder, smaller steps (step_subwords), steps in several parts (accumulate), or recompute=True"
        )
