"""Runs the notebooks of the documentation and writes what their cells show: python docs/notebook.py

Jupyter is not needed: the cells of a notebook are run in their order, in one namespace and one empty folder, and the
last expression of each is shown as Jupyter would show it, as HTML if it can be.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NOTEBOOKS = sorted(Path(__file__).parent.joinpath("notebooks").glob("*.ipynb"))


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of its cells; an error of a cell is an error."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with TemporaryDirectory() as folder, chdir(folder):
        cells = list(_cells(notebook, names))
    return {**notebook, "cells": cells}


def _cells(notebook: dict[str, Any], names: dict[str, Any]) -> Iterator[dict[str, Any]]:
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            yield cell
            continue
        count += 1
        value = _value("".join(cell["source"]), names)
        outputs = [] if value is None else [_output(value, count)]
        yield {**cell, "execution_count": count, "outputs": outputs}


def _value(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; the value of its last expression, if it ends with one."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def _output(value: object, count: int) -> dict[str, Any]:
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}


def main() -> None:
    """Run all notebooks, and write them."""
    for path in NOTEBOOKS:
        done = run(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
