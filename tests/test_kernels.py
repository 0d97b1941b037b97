"""How kernels are compiled: what Python may call, and when machine code in the cache is fresh."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from numba import njit, types
from numba.core.dispatcher import Dispatcher

import spanloom
from spanloom.document import Document, Mention
from spanloom.kernels import _WITHOUT_COUNTS, kernel_only, kernel_only_no_refcount
from spanloom.recognize import Recognizer

PACKAGE = Path(spanloom.__file__).parent
NAMES = sorted(
    ".".join(("spanloom", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in PACKAGE.rglob("kernels_*.py")
)


def own(module: ModuleType, kind: type) -> Iterator[tuple[str, Any]]:
    return (
        (name, value)
        for name, value in vars(module).items()
        if isinstance(value, kind) and value.__module__ == module.__name__
    )


@pytest.mark.parametrize("name", NAMES)
def test_kernels_for_kernels_refuse_python(name: str) -> None:
    """Such a call ended the process: there is no wrapper to call."""
    for label, value in own(import_module(name), type(kernel_only(lambda: None))):
        with pytest.raises(TypeError, match=rf"^{name}\.{label} is for kernels only .* call it in a kernel$"):
            value(1, 2)
        assert not isinstance(value, Dispatcher)


@pytest.mark.parametrize("decorator", [kernel_only, kernel_only_no_refcount])
def test_kernels_call_kernels(decorator: Callable[[Any], Any]) -> None:
    double = decorator(lambda x: 2 * x)

    @njit
    def quadruple(x: int) -> int:
        result: int = double(double(x))
        return result

    assert quadruple(3) == 12


def test_numba_knows_the_private_option() -> None:
    """Without it kernels do the same, but several times slower: see `docs/decisions.md`."""
    assert _WITHOUT_COUNTS


def test_tables_are_defined_beside_kernels() -> None:
    """Else a field that moves within a tuple, or a tuple that moves to another module, would not make a cache stale."""
    note = Document("no pain", mentions=[Mention("problem", [(3, 7)])])
    Recognizer(features=["w[0]"], epochs=1).fit([note] * 20).predict([note])
    homes = {home for name in NAMES for _, value in own(import_module(name), Dispatcher) for home in tables(value)}
    assert homes
    assert homes <= set(NAMES)


def tables(compiled: Any) -> Iterator[str]:
    waiting = [kind for signature in compiled.signatures for kind in signature]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, types.NamedTuple):
            yield kind.instance_class.__module__
        waiting += getattr(kind, "types", ())


ADD = "from spanloom.kernels import kernel_only\n\n\n@kernel_only\ndef add(x):\n    return x + {}\n"
OUTER = (
    "from kernels_add import add\nfrom spanloom.kernels import kernel\n\n\n@kernel\ndef outer(x):\n    return add(x)\n"
)
RUN = (
    "from kernels_outer import outer\nfrom spanloom.kernels import watch_compilation\n"
    "with watch_compilation(lambda: print('compiled', end=' ')):\n    print(outer(1))"
)


def compiled(folder: Path, **environment: str) -> str:
    """What a process prints that calls a kernel, and whether it had to compile it."""
    command = [sys.executable, "-B", "-c", RUN]
    whole = {**os.environ, "NUMBA_CACHE_DIR": "", **environment}
    done = subprocess.run(command, cwd=folder, env=whole, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.strip()


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A folder with a kernel that calls another one."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "kernels_outer.py").write_text(OUTER)
    (folder / "kernels_add.py").write_text(ADD.format(1))
    return folder


@pytest.mark.parametrize("place", ["", "elsewhere"])
def test_a_change_of_any_kernel_makes_fresh_caches(tmp_path: Path, kernels: Path, place: str) -> None:
    """Numba looks at the file of the outer kernel only: the old inner one was called until somebody deleted caches."""

    def run(added: int) -> str:
        (kernels / "kernels_add.py").write_text(ADD.format(added))
        return compiled(kernels, NUMBA_CACHE_DIR=str(tmp_path / place) if place else "")

    assert [run(added) for added in (1, 1, 2, 1)] == ["compiled 2", "2", "compiled 3", "2"]
    assert list((tmp_path / place if place else kernels / "__pycache__").rglob("*.nbi"))


def test_what_is_compiled_beside_the_source_serves_those_who_may_not_write_there(tmp_path: Path, kernels: Path) -> None:
    """Numba looks in one place, which must be writable: a user of a container compiled all that its image held."""
    assert compiled(kernels) == "compiled 2"
    for file in kernels.glob("*.py"):
        os.utime(file, (0, 0))  # layers of an image keep whole seconds
    assert compiled(kernels, NUMBA_CACHE_DIR=str(tmp_path / "empty")) == "2"


def test_kernels_run_where_nothing_can_be_written(kernels: Path) -> None:
    """Numba refused to import them."""
    (kernels / "__pycache__").write_text("a file, in which there are none")
    nowhere = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "LOCALAPPDATA": os.devnull}
    assert [compiled(kernels, **nowhere) for _ in range(2)] == ["compiled 2", "compiled 2"]
