"""Lazy imports: a package's modules are imported when one of their names is first used."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # `typing` has it, too, but takes longer to import than all of `import spanloom`
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazily(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package with lazy imports.

    Args:
        package: the package's name.
        names: public name -> module that defines it.
    """

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(names[name]), name)

    return get


def attached(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package with lazy imports, of the names in its stub.

    A stub declares each name once, for type checkers and editors, too: ``from spanloom.models import load as load``.

    Args:
        package: the package's name.
        file: its ``__file__``; the stub is ``__init__.pyi`` beside it.
    """
    with open(f"{file}i", encoding="utf-8") as stub:  # noqa: PTH123  # `pathlib` takes longer to import than all else
        lines = [line.split() for line in stub]
    names = {words[-1]: words[1] for words in lines if words[:1] == ["from"]}
    public = [*names]
    return lazily(package, names), lambda: public, public
