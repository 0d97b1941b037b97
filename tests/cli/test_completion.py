"""Scripts of shells: what bash itself completes, and what all scripts hold."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from spanloom.cli import completion
from spanloom.cli.clusters import _METHODS
from spanloom.cli.completion_scripts import SCRIPTS
from spanloom.formats import FORMATS
from spanloom.formats.answers.placing import AMBIGUOUS
from spanloom.formats.columns import _SCHEMES
from spanloom.models import installed
from spanloom.vocabulary import VOCABULARY_FORMATS
from spanloom_lab.comparison import COUNTINGS
from spanloom_lab.feature_search import Direction
from spanloom_lab.head_rules import HEAD_RULES

Complete = Callable[..., list[str]]


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Complete:
    """`complete("predict", "--on-error", "s")`: what bash offers for the last word, in a folder with two files."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    folder = tmp_path_factory.mktemp("completion")
    (folder / "spanloom.bash").write_text(SCRIPTS["bash"](completion.verbs()), encoding="utf-8")
    (folder / "genre notes.txt").touch()

    def run(*words: str) -> list[str]:
        code = (
            f"source ./spanloom.bash; COMP_WORDS=({shlex.join(['spanloom', *words])}); COMP_CWORD={len(words)}\n"
            '_spanloom; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            [bash, "--norc", "-c", code], cwd=folder, capture_output=True, encoding="utf-8", check=True
        )
        assert not done.stderr
        return done.stdout.split("\n")[:-1]

    return run


def test_verbs(complete: Complete) -> None:
    assert complete("pre") == ["predict"]
    assert complete("train", "") == [
        "recognizer", "linker", "segmenter", "tagger", "clusters",
    ]  # fmt: skip
    assert {"demo", "train", "lab", "completion"} <= {*complete("")}
    assert "heads" not in complete("")  # an old name
    assert complete("completion", "") == ["bash", "zsh", "fish"]


def test_options_of_the_verb_alone(complete: Complete) -> None:
    assert complete("predict", "model", "--th") == ["--threshold"]
    assert complete("--log", "json", "serve", "model", "--max-t") == ["--max-text"]
    assert complete("train", "linker", "--train", "a", "--voc") == ["--vocabulary", "--vocabulary-columns"]
    assert complete("train", "recognizer", "--no-re") == ["--no-rescore", "--no-rescore-all", "--no-recompute"]
    assert complete("-") == ["--version", "--log", "-h", "--help"]  # in this order each time


def test_values(complete: Complete) -> None:
    assert complete("predict", "m", "--on-error", "") == ["stop", "skip"]
    assert complete("predict", "m", "--on-error", "=", "sk") == ["skip"]  # --on-error=sk, as bash cuts it
    assert complete("train", "recognizer", "--structure", "sep") == ["separators", "separator_states"]
    assert complete("train", "segmenter", "--method", "jo") == ["joint_labels"]
    assert complete("train", "clusters", "--method", "") == ["vectors", "brown"]
    assert complete("train", "recognizer", "--features", "f") == ["fast"]
    assert complete("convert", "a", "b", "--input-format", "web") == ["webanno"]
    assert complete("convert", "a", "b", "--format", "web") == [""]
    assert complete("view", "x", "--limit", "") == [""]


def test_models_stand_beside_paths(complete: Complete) -> None:
    names = [name for name in installed() if name.startswith("gen")]
    assert complete("predict", "gen") == [*names, "genre notes.txt"]
    assert complete("predict", "m", "--output", "gen") == [""]  # left to bash, which knows files


@pytest.mark.parametrize("shell", SCRIPTS)
def test_scripts_hold_every_verb_and_option(shell: str, command: Callable[..., Any]) -> None:
    script = command("completion", shell).stdout
    for verb in completion.verbs():
        assert verb.name in script
        for name in (name for option in verb.options for name in option.names):
            shown = f" -l {name[2:]} " if name.startswith("--") else f" -s {name[1:]} "
            assert (shown if shell == "fish" else name) in script
    assert all(name in script for name in FORMATS)


def test_names_are_of_options_that_there_are() -> None:
    """A verb that is renamed, or an option that goes, would else leave its names behind."""
    options = {(verb.name, name) for verb in completion.verbs() for one in verb.options for name in one.names}
    for key in completion._NAMES:
        verb, _, name = key.rpartition(" ")
        assert not name.startswith("-") or any(name == other and verb in ("", of) for of, other in options)


def test_names_that_are_typed_again() -> None:
    names = completion._NAMES
    assert {*names["--ambiguous"]} == {*AMBIGUOUS}
    assert {*names["train clusters --method"]} == {*_METHODS}
    assert {*names["vocabulary --format"]} == {*VOCABULARY_FORMATS}
    assert {*names["--scheme"]} == {*_SCHEMES}


def test_names_of_the_lab(complete: Complete) -> None:
    assert {*complete("lab", "features", "--direction", "")} == {*get_args(Direction)}
    assert {*complete("lab", "compare", "--counting", "")} == {*COUNTINGS}
    assert {*HEAD_RULES} <= {*complete("lab", "heads", "")}


def test_another_shell_is_wrong_usage(command: Callable[..., Any]) -> None:
    result = command("completion", "tcsh")
    assert (result.returncode, result.stdout) == (2, "")
    assert "expected one of: bash, zsh, fish" in result.stderr


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_shells_read_their_scripts(shell: str, check: str, tmp_path: Path) -> None:
    there = shutil.which(shell)
    if there is None:
        pytest.skip(f"there is no {shell} here")
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell](completion.verbs()), encoding="utf-8")
    subprocess.run([there, check, str(script)], check=True)
