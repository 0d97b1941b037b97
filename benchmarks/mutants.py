"""Mutants that the tests overlook: small changes of the source, each run against the tests of its package.

    python benchmarks/mutants.py [--count 50] [--seed 0] [--only 7 12]

1. Expressions and statements of `src/spanloom` that can be changed are listed, except kernels, which the tests compare
   with plain Python, texts of messages, annotations, and constants of modules, such as sizes and thresholds.
2. Packages take turns, so that each has as many mutants as the others; within one the place is drawn, then the change:
   a comparison, a condition or a sum is inverted or shifted by one, a constant changes, or a call is left out.
3. A copy of the source gets one change. The tests of the package run on it, and if all pass, so do the tests of the
   packages that import it, then the slow tests of both, and those of the command, for at most 10 minutes of the
   processor in each turn. A test that fails kills the mutant, and so does time that runs out in tests that are
   not slow, which need less without a change; one that no test kills survives, even if not all slow tests have run.
4. The record keeps each mutant's outcome as soon as it is known; with `--only`, the others stay as they are.

Survivors are listed with the change, so that somebody can see which tests are missing. A mutant that changes nothing
that a user can see (an equivalent one) counts as a survivor as well.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from common import ROOT, Result, commit, options, run_cases, say

TARGET: Final = 10.0  # per cent of mutants that survive, at most
SECONDS: Final = 600  # of the processor, for the tests of one turn
MEMORY: Final = 10_000_000  # KiB to write to: a loop without end is an error before it takes all memory
SOURCE: Final = ROOT / "src"
_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_CALCULATED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of one line.

    Args:
        path: of the module, relative to the sources.
        line: from 1.
        start: the first byte of what is replaced.
        end: after its last byte.
        before: what is replaced.
        after: what replaces it.
    """

    path: Path
    line: int
    start: int
    end: int
    before: str
    after: str

    @property
    def package(self) -> str:
        """The folder of the package that it is in; the name of a module that is in none."""
        return self.path.parts[1].removesuffix(".py")


class Outcome(NamedTuple):
    """What the tests found: the test that failed, ``None`` if all passed, and seconds."""

    killed_by: str | None
    seconds: float


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every change of a module."""
    raw = (SOURCE / path).read_bytes()
    starts = [0]
    for row in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    tree = ast.parse(raw)
    skipped = {id(part) for node in ast.walk(tree) for left in _left_alone(node) for part in ast.walk(left)}
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.expr | ast.Expr):
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = raw[start:end].decode()
        for after in _changes(node):
            yield Mutant(path, node.lineno, start, end, before, after)


def _left_alone(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that are not mutated."""
    if isinstance(node, ast.FunctionDef):
        yield from [*node.decorator_list, *filter(None, [node.returns])]
    elif isinstance(node, ast.ClassDef):  # whether a dataclass has what Python adds to it
        yield from node.decorator_list
    elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        yield node.annotation
    elif isinstance(node, ast.Module):  # constants: sizes and thresholds, and lists of names
        yield from (one for one in node.body if isinstance(one, ast.Assign | ast.AnnAssign))
    elif isinstance(node, ast.JoinedStr | ast.Raise) or (
        isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    ):
        yield node


def _changes(node: ast.AST) -> Iterator[str]:
    """Yield the texts that may replace an expression, or a statement that is one."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield _text(ast.Compare(node.left, [_COMPARED[type(node.ops[0])]()], node.comparators))
    elif isinstance(node, ast.BoolOp):
        yield _text(ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _text(node.operand)
    elif isinstance(node, ast.IfExp):
        yield _text(ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse))
    elif isinstance(node, ast.BinOp) and type(node.op) in _CALCULATED and not _is_text(node):
        yield _text(ast.BinOp(node.left, _CALCULATED[type(node.op)](), node.right))
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield str(not node.value)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield str(node.value + 1)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "None"


def _is_text(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in ast.walk(node)
    )


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def drawn(count: int, seed: int) -> list[Mutant]:
    """Draw mutants; packages take turns, and a module that is longer is drawn more often."""
    by_package = defaultdict[str, list[Mutant]](list)
    for path in sorted(SOURCE.rglob("*.py")):
        relative = path.relative_to(SOURCE)
        if not path.name.startswith("kernels") and relative.parts[1] not in ("data", "__main__.py", "__init__.py"):
            for mutant in mutants_of(relative):
                by_package[mutant.package].append(mutant)
    random.seed(seed)
    packages = sorted(by_package)
    random.shuffle(packages)
    return [random.choice(by_package[packages[number % len(packages)]]) for number in range(count)]


def tests_of(package: str) -> list[list[str]]:
    """Return the arguments of the turns: tests of a package, then those that import it, slow ones, then the command."""
    tests = ROOT / "tests"
    own = [str(path) for path in (tests / package, tests / f"test_{package}.py") if path.exists()]
    name = re.compile(rf"spanloom\.{package}\b")
    others = sorted(
        str(path)
        for path in tests.rglob("test_*.py")
        if not any(str(path).startswith(place) for place in own) and name.search(path.read_text(encoding="utf-8"))
    )
    rest = [str(tests / folder) for folder in ("cli", "hostile") if str(tests / folder) not in own]
    fast, slow = ["-m", "not slow"], ["-m", "slow"]
    turns = ((own, fast), (others, fast), (own, slow), (others, slow), (rest, ["-m", "slow or not slow"]))
    return [[*marked, *files] for files, marked in turns if files]


def judged(mutant: Mutant, source: Path) -> Outcome:
    """Run the tests on a copy of the source with one change."""
    began = time.perf_counter()
    file = source / mutant.path
    raw = file.read_bytes()
    file.write_bytes(raw[: mutant.start] + mutant.after.encode() + raw[mutant.end :])
    try:
        for tests in tests_of(mutant.package):
            if (killer := _failed(tests, source)) is not None:
                return Outcome(killer, time.perf_counter() - began)
    finally:
        file.write_bytes(raw)
    return Outcome(None, time.perf_counter() - began)


def _failed(tests: Sequence[str], source: Path) -> str | None:
    """Return the name of the first test that fails within the time, or ``None``."""
    line = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "--tb=no",
        *tests,
    ]
    paths = os.pathsep.join(map(str, (source, ROOT / "lab" / "src")))  # not what is installed
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    limited = f"ulimit -t {SECONDS} -d {MEMORY}; exec {shlex.join(line)}"
    done = subprocess.run(
        ["bash", "-c", limited], cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "time" if "not slow" in tests else None
    if done.returncode in (0, 5):  # 5: the turn has no test
        return None
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else f"pytest ended with {done.returncode}"


class Numbered(NamedTuple):
    """A mutant of the record."""

    name: str
    mutant: Mutant


def measured(mutant: Mutant, source: Path) -> dict[str, Any]:
    """Return what the record keeps of a mutant."""
    outcome = judged(mutant, source)
    place = f"{mutant.path.relative_to('spanloom').as_posix()}:{mutant.line}"
    before, after = (re.sub(r"\s+", " ", text)[:100] for text in (mutant.before, mutant.after))
    say(place, before, after, outcome.killed_by or "SURVIVED", f"{outcome.seconds:.0f} s")
    return {"place": place, "before": before, "after": after, "killed by": outcome.killed_by, "commit": commit()}


def written(kept: dict[str, Any], chosen: argparse.Namespace) -> None:
    """Write the table and the share of survivors."""
    result = Result("Mutants that the tests kill", chosen.seed)
    rows = [
        [name, one["place"], f"`{one['before']}`", f"`{one['after']}`", one["killed by"] or "**survives**"]
        for name, one in sorted(kept.items(), key=lambda pair: int(pair[0]))
    ]
    result.table("Mutants", ["", "place", "before", "after", "killed by"], rows)
    survivors = sum(one["killed by"] is None for one in kept.values())
    result.at_most("Mutants that survive, %", 100 * survivors / len(rows), TARGET)
    result.data = {"cases": kept}
    result.save(chosen.out)


def main() -> None:
    """Run the benchmark."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--count", type=int, default=50, help="mutants [50]")
        parser.add_argument("--only", nargs="+", help="numbers of mutants; the record keeps the others")

    chosen = options("mutants", __doc__, add, corpora=False)
    numbered = [Numbered(str(number), mutant) for number, mutant in enumerate(drawn(chosen.count, chosen.seed))]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "src")
        shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns("*.pyc"))
        run_cases(chosen, numbered, lambda one: measured(one.mutant, source), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
