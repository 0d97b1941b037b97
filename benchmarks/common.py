"""What the scripts share: options, clocks, the machine, and results as JSON and as a table to read."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from spanloom.document import Document
from spanloom.features.clusters import induce, write_paths
from spanloom.formats import read
from spanloom.text import prepare, sentence_words

sys.path.append(str(Path(__file__).parents[1] / "lab" / "src"))  # where it is not installed
from spanloom_lab.cli.compare_one import peak_memory as process_peak

R = TypeVar("R")


class Named(Protocol):
    """Whatever has a name."""

    @property
    def name(self) -> str:
        """Its name."""


C = TypeVar("C", bound=Named)
RESULTS = Path(__file__).parent / "results"
_BEGAN, _LOAD = time.perf_counter(), os.getloadavg()  # when the script was started
ROOT = RESULTS.parent.parent
PACKAGES = ("spanloom", "numpy", "python-crfsuite", "matplotlib")


class Seconds(NamedTuple):
    """Wall clock, and processor time of this process: where they differ much, the machine was busy with other work."""

    wall: float
    cpu: float


class Clock:
    """``with Clock() as clock: ...`` and then ``clock.seconds``."""

    seconds = Seconds(0.0, 0.0)

    def __enter__(self) -> Self:
        self._began = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = self.elapsed

    @property
    def elapsed(self) -> Seconds:
        """The seconds so far."""
        return Seconds(time.perf_counter() - self._began[0], time.process_time() - self._began[1])


def timed(function: Callable[[], R]) -> tuple[Seconds, R]:
    """Seconds of a call, and its result."""
    with Clock() as clock:
        result = function()
    return clock.seconds, result


def median(seconds: Iterable[Seconds]) -> Seconds:
    """The median of each clock."""
    return Seconds(*(statistics.median(column) for column in zip(*seconds, strict=True)))


def say(*parts: object) -> None:
    """Progress, on standard error."""
    print(*parts, file=sys.stderr, flush=True)


def options(
    name: str, description: str | None, add: Callable[[argparse.ArgumentParser], None] = lambda _: None, *,
    corpora: bool = True,
) -> Any:  # fmt: skip
    """The command line that all scripts have.

    Args:
        name: of the script; the results go to ``results/NAME.json`` and ``results/NAME.md`` by default.
        description: its docstring.
        add: adds the script's own options.
        corpora: whether it reads any.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if corpora:
        parser.add_argument(
            "--data", required=True, type=Path, help="the folder that holds the corpora, such as genia/"
        )
    parser.add_argument("--out", type=Path, default=RESULTS / f"{name}.json", help="the results; a table beside it")
    parser.add_argument("--seed", type=int, default=0, help="of every random choice [0]")
    add(parser)
    return parser.parse_args()


def corpus(folder: Path, name: str, part: str, limit: int | None = None) -> list[Document]:
    """The documents of a part of a corpus: ``train``, ``dev`` or ``test``; the first ones where there is a limit."""
    return list(read(folder / name / f"{part}.jsonl"))[:limit]


def parts_of(place: str, tested: str, chosen: Any) -> tuple[list[Document], list[Document], list[Document]]:
    """Return what is trained on, what is tuned on, and what is tested on, of a corpus that may have no test data.

    Args:
        place: its folder.
        tested: the part for tests; where it is ``dev``, a tenth of the training documents is what is tuned on.
        chosen: options, with ``limit`` of the training documents.
    """
    train = [prepare(one) for one in corpus(chosen.data, place, "train", chosen.limit)]
    gold = [prepare(one) for one in corpus(chosen.data, place, tested)]
    if tested == "test":
        return train, [prepare(one) for one in corpus(chosen.data, place, "dev")], gold
    order = np.random.default_rng(chosen.seed).permutation(len(train)).tolist()
    cut = max(1, len(train) // 10)
    return [train[i] for i in order[cut:]], [train[i] for i in order[:cut]], gold


def check_only(only: Sequence[str] | None, names: Sequence[str]) -> None:
    """End the script where ``--only`` names nothing that there is."""
    for name in only or ():
        if not any(known.startswith(name) for known in names):
            raise SystemExit(f"--only {name!r}: no name begins so; there are {', '.join(names)}")


def run_cases(
    chosen: Any, cases: Iterable[C], measured: Callable[[C], Any], written: Callable[[dict[str, Any]], object]
) -> None:
    """Run the cases of a record that keeps them, and write it after each; others stay as they are.

    Args:
        chosen: options, with ``only``: names of cases, or how they begin; all when ``None``.
        cases: each has a name.
        measured: what a case found.
        written: writes the record of all that have been run, by name.
    """
    kept = json.loads(chosen.out.read_text())["data"]["cases"] if chosen.out.exists() else {}
    every = list(cases)
    check_only(chosen.only, [case.name for case in every])
    whole = {case.name for case in every}.intersection(chosen.only or ())  # where it is a name, no other begins so
    for case in every:
        if (
            chosen.only is None
            or case.name in whole
            or any(case.name.startswith(name) for name in chosen.only if name not in whole)
        ):
            say(f"== {case.name}")
            kept[case.name] = measured(case)
            written(kept)


def save_clusters(documents: Sequence[Document], size: int, folder: Path) -> str:
    """The file of Brown clusters of a corpus' own text."""
    path = folder / f"{size}.paths"
    seconds, paths = timed(lambda: induce(sentence_words(documents), size))
    write_paths(path, paths, Counter(word for words in sentence_words(documents) for word in words))
    say(f"{size} Brown clusters in {seconds.wall:.1f} s")
    return str(path)


def token_count(documents: Iterable[Document]) -> int:
    """How many tokens documents have."""
    return sum(0 if document.tokens is None else len(document.tokens) for document in documents)


def one_core() -> None:
    """Keep this process, and what it starts, to one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def peak_memory() -> float:
    """The largest resident memory of this process so far, in GB (2^30 bytes)."""
    return (process_peak() or 0) / 2**30


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system, versions."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": found,
    }


def commit() -> str:
    """The short hash of the program's commit, marked where source or scripts were changed since; empty without git."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", "src", "benchmarks/*.py")
    except (OSError, subprocess.CalledProcessError):  # an installed copy, or no git
        return ""
    return f"{head}, changed" if changed else head


def _git(*arguments: str) -> str:
    line = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


_COMMIT = commit()  # of the program that runs, whatever is committed meanwhile


INSTRUCTIONS = {"avx512f": "AVX-512", "avx2": "AVX2"}  # flag of the kernel -> name, the widest first


def _processor() -> str:
    if Path("/proc/cpuinfo").exists():
        lines = dict(
            line.split(":", 1)
            for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
            if ":" in line
        )
        values = {name.strip(): value.strip() for name, value in lines.items()}
        if "model name" in values:
            flags = values.get("flags", "").split()
            wide = next((name for flag, name in INSTRUCTIONS.items() if flag in flags), "no AVX2")
            return f"{values['model name']} ({values.get('cpu MHz', '?')} MHz, {wide})"
    return platform.processor() or platform.machine()


@dataclass
class Table:
    """A table to read.

    Args:
        title: above it.
        columns: names.
        rows: cells; numbers are rounded to what their size asks for.
        notes: below it.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """As Markdown."""
        lines = [f"## {self.title}", "", _row(self.columns), _row(["---"] * len(self.columns))]
        lines += [_row([cell(value) for value in row]) for row in self.rows]
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def cell(value: Any) -> str:
    """A value as a person wants to read it."""
    if value is None:
        return ""
    if isinstance(value, float):
        size = abs(value)
        return f"{value:.3g}" if size < 1 else f"{value:.2f}" if size < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


@dataclass
class Check:
    """A claim, and whether it holds."""

    claim: str
    found: float
    target: str
    met: bool


@dataclass
class Result:
    """What a script found.

    Args:
        title: the claim that it tests.
        seed: of every random choice.
        tables: to read.
        checks: the targets, each met or not.
        data: all numbers, for programs.
    """

    title: str
    seed: int
    tables: list[Table] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *notes: str) -> None:
        """Add a table, and show it."""
        self.tables.append(Table(title, columns, [list(row) for row in rows], notes))
        say("\n" + self.tables[-1].markdown())

    def at_least(self, claim: str, found: float, target: float) -> None:
        """A claim that holds if the number is not below the target."""
        self._check(claim, found, f"at least {target:g}", found >= target)

    def at_most(self, claim: str, found: float, target: float) -> None:
        """A claim that holds if the number is not above the target."""
        self._check(claim, found, f"at most {target:g}", found <= target)

    def _check(self, claim: str, found: float, target: str, met: bool) -> None:
        self.checks.append(Check(claim, float(found), target, bool(met)))
        say(f"{'met   ' if met else 'MISSED'} {claim}: {cell(float(found))}, {target}")

    def save(self, out: Path) -> None:
        """Write JSON, and Markdown beside it."""
        about = {
            "command": shlex.join(["python", *_relative(sys.argv)]),
            "date": date.today().isoformat(),
            "commit": _COMMIT,
            "seed": self.seed,
            "seconds": round(time.perf_counter() - _BEGAN, 1),
            "load_average": {"before": _LOAD, "after": os.getloadavg()},
            "machine": machine(),
        }
        whole = {
            "title": self.title, **about, "checks": [asdict(check) for check in self.checks],
            "tables": [asdict(table) for table in self.tables], "data": self.data,
        }  # fmt: skip
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(whole, indent=1, default=_plain) + "\n", encoding="utf-8")
        out.with_suffix(".md").write_text(self._markdown(about), encoding="utf-8")
        say(f"\nwrote {out} and {out.with_suffix('.md')}")

    def _markdown(self, about: dict[str, Any]) -> str:
        host = about["machine"]
        before, after = (values[0] for values in about["load_average"].values())
        commit = f"commit {about['commit']}, " if about["commit"] else ""
        lines = [
            f"# {self.title}", "",
            f"`{about['command']}`, {about['date']}, {commit}seed {self.seed}, {about['seconds']:.0f} s in all.", "",
            f"{host['processor']}, {host['cores']} cores, {host['memory_gb']} GB; {host['system']}; "
            f"Python {host['python']}; {', '.join(f'{k} {v}' for k, v in host['versions'].items())}. "
            f"Load average {before:.1f} before and {after:.1f} after.", "",
        ]  # fmt: skip
        if self.checks:
            rows = [[c.claim, c.found, c.target, "met" if c.met else "**missed**"] for c in self.checks]
            lines += [Table("Targets", ["what", "found", "target", ""], rows).markdown(), ""]
        for table in self.tables:
            lines += [table.markdown(), ""]
        return "\n".join(lines)


def _relative(arguments: Sequence[str]) -> list[str]:
    """The command line as one types it in the project's root: paths within it relative, other folders by a name."""
    root = str(ROOT) + os.sep
    shown = [argument.removeprefix(root) for argument in arguments]
    for i, option in enumerate(shown[:-1]):
        if option in (
            "--data", "--cache", "--work", "--encoder", "--teacher", "--vectors", "--model", "--models", "--checkpoint",
            "--crossed",
        ):  # fmt: skip
            shown[i + 1] = option.strip("-").upper()
    return shown


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not for JSON")
