"""Every example is run: the doctests of the package, the Python sessions and the command lines of the documents.

In README.md and docs/, a block that opens with ```` ```pycon ```` is a Python session, and one that opens with
```` ```console ```` holds command lines after ``$``. The blocks of a page are run in their order, in one empty folder.
What stands below a command is its standard output, with ``...`` for any text; a command without output is only run. A
command line of Spanloom runs in this process, which saves its start, also behind ``echo ... |`` and before ``> FILE``;
whatever else a shell has to read, in a shell.
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

import spanloom
import spanloom_lab
from spanloom.cli.app import app
from spanloom.cli.verbs import load_plugins

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = [
    name
    for package in (spanloom, spanloom_lab)
    for name in [
        package.__name__,
        *(module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")),
    ]
]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# What a block of ``sh`` may hold, which is not run here: installation and the demo, which `.ci/run` runs, and a server,
# which tests/serve starts and asks.
ELSEWHERE = ("pip install ", "python3 -m venv ", ". ", "cd ", "mkdir ", "spanloom demo", "spanloom serve ", "curl ")
# A command line of Spanloom, perhaps with an input and a file for its output, and nothing else that a shell reads.
HERE = re.compile(r"(?:((?:echo|cat|printf) [^|;&]*) \| )?spanloom ([^|<>&;$`*?\n]*?)(?: > ([\w.-]+))?")
Command = Callable[..., Any]
_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    """A block of a page."""

    language: str
    source: str
    line: int


def steps(page: Path) -> list[Step]:
    text = page.read_text(encoding="utf-8")
    found = [Step(match[1], match[2], text.count("\n", 0, match.start(2)) + 1) for match in _BLOCK.finditer(text)]
    return [step for step in found if step.language in ("console", "pycon")]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_module(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("page", [p for p in PAGES if steps(p)], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    names: dict[str, object] = {}
    for step in steps(page):
        if step.language == "pycon":
            test = doctest.DocTestParser().get_doctest(step.source, names, page.name, str(page), step.line)
            runner = doctest.DocTestRunner(optionflags=OPTIONS)
            runner.run(test, clear_globs=False)
            names = test.globs
            assert runner.failures == 0, f"{page.name}, the session at line {step.line}"
        else:
            for line, expected in commands(step.source):
                check(line, expected, command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_is_not_run_is_run_elsewhere(page: Path) -> None:
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    kinds = {"bash", "py", "shell"} if page.parent.name == "extending" else {"bash", "py", "python", "shell"}
    assert not kinds & {language for language, _ in blocks}, (
        "write console or pycon"
    )  # test_extending.py runs the others
    lines = [line for language, source in blocks if language == "sh" for line in source.splitlines()]
    assert [line for line in lines if not line.startswith(ELSEWHERE)] == []


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a block, with the output that stands below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command = f"{command[:-1]}{more}"
        yield command, output


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell."""
    line = ["bash", "-o", "pipefail", "-c", command]
    return subprocess.run(line, capture_output=True, encoding="utf-8", check=False)


def check(command: str, expected: str, run: Command) -> None:
    if here := HERE.fullmatch(command):
        given, line, output = here.groups()
        code, found, more = run(*shlex.split(line), input=shell(given).stdout if given else "")
        if output:
            Path(output).write_text(found, encoding="utf-8", newline="")
            found = ""
    else:
        done = shell(command)
        code, found, more = done.returncode, done.stdout, done.stderr
    assert code == 0, f"$ {command}\n{found}{more}"
    assert not expected or doctest.OutputChecker().check_output(expected, found, OPTIONS), (
        f"$ {command}\nfound\n{found}expected\n{expected}"
    )


def test_every_verb_and_option_is_documented() -> None:
    load_plugins()
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    verbs = {name: verb for name, verb in get_command(app).commands.items() if not verb.hidden}  # type: ignore[attr-defined]
    for group in ("train", "lab"):
        verbs |= {f"{group} {name}": verb for name, verb in verbs.pop(group).commands.items()}
    for name, verb in verbs.items():
        assert f"## `spanloom {name}" in page
        options = [option for parameter in verb.params for option in parameter.opts if option.startswith("--")]
        assert [option for option in options if f"`{option}" not in page] == []
