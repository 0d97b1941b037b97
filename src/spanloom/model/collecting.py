"""Python's collector of cycles, kept from work that is in vain."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """Make objects without the collector of cycles looking at them, and at all others, again and again.

    For a bounded number of objects that live on, none of which is in a cycle, such as the mentions of a batch: a sixth
    of the time of prediction. What nobody needs any more goes at once, as ever. The collector is the whole process's:
    where threads meet here, it may run meanwhile, or rest a little longer, and that is all.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    if not gc.isenabled():  # it stays as somebody wants it
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
