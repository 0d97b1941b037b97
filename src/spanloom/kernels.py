"""How kernels that only kernels call are compiled.

Numba makes two wrappers for a compiled function, for calls from Python and from C, and each unpacks every array of
every tuple. A function that only kernels call needs neither, nor a file of its own in the cache, which is a sixth less
to compile.

Numba counts references to each array of each tuple that a function takes or hands on, by atomic operations. Small
functions that get large tuples do little else; those that make no arrays can do without.
"""

from typing import Any

from numba import njit

__all__ = ["borrowing", "inner"]

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(**_OPTIONS)
borrowing = njit(**{**_OPTIONS, "_nrt": False})
"""As `inner`, without counts of references: for functions that make no arrays, and return none of their own."""
