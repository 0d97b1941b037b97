"""Detection of diverged training: weights that are not numbers, or are larger than a model may hold."""

from __future__ import annotations

from collections.abc import Iterable

from spanloom.errors import UsageError
from spanloom.hypergraph import Singles
from spanloom.modelfile import LARGEST


def check_weights(arrays: Iterable[Singles], when: str, **causes: float) -> None:
    """Check that weights are finite and no further from 0 than `spanloom.modelfile.LARGEST`.

    Args:
        arrays: of weights.
        when: the pass, such as ``pass 1``.
        causes: parameters that make weights large, with their values.

    Raises:
        UsageError: they are not.
    """
    for array in arrays:
        # NaN is the least and the greatest of any values
        if array.size and not -LARGEST <= array.min() <= array.max() <= LARGEST:
            given = " or ".join(f"{name} (it is {value:g})" for name, value in causes.items())
            raise UsageError(
                f"after {when} weights go from {array.min():g} to {array.max():g}, expected none beyond {LARGEST:g}; "
                f"train with a smaller {given}"
            )
