"""Completion: what shells offer, asked for as their scripts do, and by bash itself."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from spanloom.cli.train import _METHODS
from spanloom.cli.verbs import SHELLS
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
    """`complete("predict", "m", "--on-error", "s")`: what bash offers for the last word, with two files beside it."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    folder = tmp_path_factory.mktemp("completion")
    (folder / "spanloom").write_text(f'#!{bash}\nexec {shlex.quote(sys.executable)} -m spanloom "$@"\n')
    (folder / "spanloom").chmod(0o755)
    script = subprocess.run([folder / "spanloom", "completion", "bash"], capture_output=True, check=True).stdout
    (folder / "script").write_bytes(script)

    def run(*words: str) -> list[str]:
        code = (
            f"source ./script; COMP_WORDS=({shlex.join(['spanloom', *words])}); COMP_CWORD={len(words)}\n"
            '_spanloom_completion ./spanloom; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            [bash, "--norc", "-c", code], cwd=folder, capture_output=True, encoding="utf-8", check=True
        )
        assert not done.stderr
        return done.stdout.split("\n")[:-1]

    return run


def test_verbs(complete: Complete) -> None:
    assert complete("pre") == ["predict"]
    assert complete("train", "") == ["recognizer", "linker", "segmenter", "tagger", "clusters"]
    assert {"demo", "train", "lab", "completion"} <= {*complete("")}
    assert "heads" not in complete("")  # an old name
    assert complete("completion", "") == [*SHELLS]


def test_options_of_the_verb_alone(complete: Complete) -> None:
    assert complete("predict", "model", "--th") == ["--threshold"]
    assert complete("--log", "json", "serve", "model", "--max-t") == ["--max-text"]
    assert complete("train", "linker", "--train", "a", "--voc") == ["--vocabulary", "--vocabulary-columns"]
    assert complete("train", "recognizer", "--no-re") == ["--no-rescore", "--no-rescore-all", "--no-recompute"]
    assert {*complete("--")} == {"--version", "--log", "--help"}


def test_a_wrong_command_line_is_completed_without_an_error(complete: Complete) -> None:
    assert complete("predict", "m", "--threshold", "1", "--threshold", "2", "--jo") == ["--jobs"]
    assert complete("train", "--structure", "x", "seg") == ["segmenter"]


def test_values(complete: Complete) -> None:
    assert complete("predict", "m", "--on-error", "") == ["stop", "skip"]
    assert complete("predict", "m", "--on-error", "=", "sk") == ["skip"]  # --on-error=sk, as bash cuts it
    assert complete("train", "recognizer", "--structure", "sep") == ["separators", "separator_states"]
    assert complete("train", "recognizer", "--pos", "") == ["auto", "none"]
    assert complete("train", "segmenter", "--method", "jo") == ["joint_labels"]
    assert complete("train", "recognizer", "--features", "f") == ["fast"]
    assert complete("convert", "a", "b", "--input-format", "web") == ["webanno"]
    assert complete("convert", "a", "b", "--format", "web") == [""]  # left to bash, as are all files
    assert complete("view", "x", "--limit", "") == [""]
    assert complete("predict", "m", "genre") == [""]


def test_models(complete: Complete) -> None:
    assert complete("predict", "gen") == [name for name in installed() if name.startswith("gen")]


def test_names_are_those_that_verbs_take(complete: Complete) -> None:
    assert {*complete("convert", "a", "b", "--input-format", "")} == {*FORMATS}
    assert {*complete("convert", "a", "b", "--ambiguous", "")} == {*AMBIGUOUS}
    assert {*complete("convert", "a", "b", "--scheme", "")} == {*_SCHEMES}
    assert {*complete("train", "clusters", "--method", "")} == {*_METHODS}
    assert {*complete("vocabulary", "v", "--format", "")} == {*VOCABULARY_FORMATS}
    assert {*complete("lab", "features", "--direction", "")} == {*get_args(Direction)}
    assert {*complete("lab", "compare", "--counting", "")} == {*COUNTINGS}
    assert {*HEAD_RULES} == {*complete("lab", "heads", "")}


def test_another_shell_is_wrong_usage(command: Callable[..., Any]) -> None:
    result = command("completion", "tcsh")
    assert (result.returncode, result.stdout) == (2, "")
    assert "expected one of: bash, zsh, fish" in result.stderr


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_shells_read_their_scripts(shell: str, check: str, tmp_path: Path, command: Callable[..., Any]) -> None:
    there = shutil.which(shell)
    if there is None:
        pytest.skip(f"there is no {shell} here")
    script = tmp_path / "script"
    script.write_text(command("completion", shell).stdout, encoding="utf-8")
    subprocess.run([there, check, str(script)], check=True)
