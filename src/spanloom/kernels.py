"""Compilation of kernels by Numba, and the cache of their machine code.

Numba makes two wrappers for a compiled function, for calls from Python and from C, and each unpacks every array of
every tuple. A function that only kernels call needs neither, nor a file of its own in the cache, which is a sixth less
to compile.

Numba counts references to each array of each tuple that a function takes or hands on, by atomic operations. Small
functions that get large tuples do little else; those that make no arrays can do without.

A cached kernel holds the kernels that it calls, but Numba takes it for fresh until its own file changes. So the names
of our cache files hold a hash of all kernels of the folder, and of those beside this file, which all may call. Nothing
else decides whether they are fresh, and no time of a file, which the image of a container rounds.

Numba keeps machine code in one place, which must be writable, and fails where there is none. Ours is looked for in two,
the second of which is beside the source: so whoever may only read the package, as in an image, finds what was compiled
when it was made. Where nothing can be written, what is not found is compiled each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, update_wrapper
from hashlib import sha256
from inspect import getfile, isfunction
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.cpu import CPUTargetOptions
from numba.core.event import Event, Listener, install_listener

__all__ = ["kernel", "kernel_only", "kernel_only_no_refcount", "watch_compilation"]

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_WITHOUT_WRAPPERS = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_WITHOUT_COUNTS = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}  # a private option of Numba


@cache
def _sources(folder: Path) -> str:
    """Return the hash of the source files of a folder's kernels."""
    digest = sha256()
    for path in sorted({*Path(__file__).parent.glob("kernels*.py"), *folder.glob("kernels*.py")}):
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


class _Unwritable:
    """The last of Numba's places for a cache: beside the source, although nothing can be written there.

    Args:
        function: to compile.
        file: that defines it.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file  # which Numba names in warnings
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Unwritable:
        return cls(function, file)

    def ensure_cache_path(self) -> None:
        raise PermissionError

    def get_cache_path(self) -> str:
        return _beside(self._py_file)

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._line)


def _beside(file: str) -> str:
    return str(Path(file).parent / "__pycache__")


class _Files(CompileResultCacheImpl):
    _locator_classes = [*CompileResultCacheImpl._locator_classes, _Unwritable]  # noqa: RUF012

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        folder = Path(getfile(self._function)).parent
        return f"{super().get_filename_base(fullname, abiflags)}-{_sources(folder)}"

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        super().__init__(function)


class _Cache(FunctionCache):
    _impl_class = _Files

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file, self._beside = (
            IndexDataCacheFile(place, self._impl.filename_base, source_stamp="")  # the name holds what matters
            for place in (self.cache_path, _beside(getfile(function)))
        )

    def _load_overload(self, signature: Any, target: Any) -> Any:
        key = self._index_key(signature, target.codegen())
        for files in (self._cache_file, self._beside):
            with suppress(OSError):  # what cannot be read is compiled
                if (data := files.load(key)) is not None:
                    return self._impl.rebuild(target, data)
        return None

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError):  # what cannot be written is compiled again next time
            super().save_overload(signature, data)


def kernel(function: Callable[..., Any], signature: str | None = None) -> Any:
    """Compile a function that Python calls, for the types that it is called with or, at once, for one signature."""
    dispatcher = njit(**_OPTIONS)(function)
    if isfunction(dispatcher):  # compilation is switched off
        return dispatcher
    dispatcher._cache = _Cache(function)
    if signature is not None:
        dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher


class _Guarded:
    """A compiled function without wrappers: kernels may call it, a call from Python is an error."""

    def __init__(self, dispatcher: Any) -> None:
        update_wrapper(self, dispatcher.py_func)
        self._dispatcher = dispatcher

    @property
    def _numba_type_(self) -> Any:
        return self._dispatcher._numba_type_

    def __call__(self, *_: object, **__: object) -> None:
        name = f"{self.__module__}.{self.__name__}"  # type: ignore[attr-defined]
        raise TypeError(f"{name} is for kernels only and was called from Python; call it in a kernel")


def _guarded(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    dispatcher = njit(**options)(function)
    return dispatcher if isfunction(dispatcher) else _Guarded(dispatcher)


def kernel_only(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call, without wrappers; a call from Python raises `TypeError`."""
    return _guarded(function, _WITHOUT_WRAPPERS)


def kernel_only_no_refcount(function: Callable[..., Any]) -> Any:
    """Compile as `kernel_only` does, without reference counts, a function that makes no arrays and returns none.

    A version of Numba without this option compiles it as `kernel_only` does, which is slower.
    """
    return _guarded(function, {**_WITHOUT_WRAPPERS, **_WITHOUT_COUNTS})


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
    """Call a function when the first kernel is compiled in this context.

    No kernel is compiled whose machine code is in Numba's cache, so the function is called once on a machine and
    version, so that a user learns the reason of the wait.
    """
    with install_listener("numba:compile", _Compilation(tell)):
        yield
