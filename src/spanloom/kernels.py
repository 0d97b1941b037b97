"""How kernels that only kernels call are compiled.

Numba makes two wrappers for a compiled function, for calls from Python and from C, and each unpacks every array of
every tuple. A function that only kernels call needs neither, nor a file of its own in the cache, which is a sixth less
to compile.

Numba counts references to each array of each tuple that a function takes or hands on, by atomic operations. Small
functions that get large tuples do little else; those that make no arrays can do without.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit
from numba.core.event import Event, Listener, install_listener

__all__ = ["borrowing", "inner", "watch_compilation"]

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(**_OPTIONS)
borrowing = njit(**{**_OPTIONS, "_nrt": False})
"""As `inner`, without counts of references: for functions that make no arrays, and return none of their own."""


class _Compilation(Listener):
    def __init__(self, tell: Callable[[], object]) -> None:
        self._tell = tell
        self._told = False

    def on_start(self, event: Event) -> None:
        if not self._told:
            self._told = True
            self._tell()

    def on_end(self, event: Event) -> None:
        pass


@contextmanager
def watch_compilation(tell: Callable[[], object]) -> Iterator[None]:
    """Within it, call a function when the first kernel is compiled.

    No kernel is compiled whose machine code is in Numba's cache, so the function is called once on a machine and
    version, when somebody would otherwise wait without knowing for what.
    """
    with install_listener("numba:compile", _Compilation(tell)):
        yield
