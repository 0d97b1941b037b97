"""What holds for every verb: help, version, exit codes, and how quickly help comes."""

from __future__ import annotations

import re
import subprocess
import sys
from pkgutil import resolve_name

import pytest

from spanloom import __version__
from spanloom.cli import app as app
from spanloom.cli.execute import VERBS


def test_version(process):
    result = process("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"spanloom {__version__}\n", "")


@pytest.mark.parametrize("verb", sorted({*VERBS} - {""}))
def test_every_verb_has_a_module_and_help(command, verb):
    assert callable(resolve_name(VERBS[verb]))
    result = command(*verb.split(), "--help")
    assert result.returncode == 0
    assert f"Usage: spanloom {verb} " in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("verb", ["ambiguity", "compare", "heads"])
def test_names_of_version_0_1_are_understood_and_not_listed(command, verb):
    old, new, listed = (command(*words, "--help") for words in ([verb], ["lab", verb], []))
    assert old.stdout.partition("\n\n")[2] == new.stdout.partition("\n\n")[2]
    assert f" {verb} " not in listed.stdout


@pytest.mark.parametrize("arguments", [["nonsense"], ["predict"], ["view", "x", "--limit", "0"], ["train", "oracle"]])
def test_wrong_usage_exits_2_with_nothing_on_stdout(command, arguments):
    result = command(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Usage: spanloom" in result.stderr


@pytest.mark.parametrize("verb", ["train", "lab"])
def test_an_option_before_the_second_word_says_what_is_missing(command, verb):
    result = command(verb, "--train", "x")
    assert (result.returncode, result.stdout) == (2, "")
    assert re.search(rf"found --train after {verb}, expected first one of: \w+, ", result.stderr)


def test_help_is_quick():
    """Most of the processor time is that of Python and of the library that reads command lines."""
    resource = pytest.importorskip("resource")

    def seconds(*arguments: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    helped = min(seconds("-m", "spanloom.cli", "--help") for _ in range(3))
    assert helped < 4 * min(seconds("-c", "import typer") for _ in range(3))


def test_help_and_version_import_nothing_heavy():
    code = "import sys; import spanloom.cli; print({'numpy', 'pydantic'} & sys.modules.keys())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def test_the_package_is_the_command():
    done = subprocess.run([sys.executable, "-m", "spanloom", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"spanloom {__version__}\n"


def test_help_and_one_sentence_import_few_modules(model):
    """Most of the time of both is that of imports, so their number has a bound; a library counts as its modules."""
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom spanloom.cli import main\ntry:\n    main(sys.argv[1:])\n"
        "except SystemExit:\n    print(*(sys.modules.keys() - before), file=sys.stderr)\n"
    )
    heavy = (
        "asyncio concurrent.futures.process email http importlib.metadata lxml multiprocessing pydantic "
        "rapidfuzz rich simplemma spanloom.learn.checkpoints spanloom.recognize.fitting spanloom.view sqlite3 xml"
    )
    for arguments, most, ours in ((["--help"], 180, 20), (["predict", str(model), "-"], 560, 260)):
        line = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(line, input="no pain\n", capture_output=True, encoding="utf-8", check=True)
        found = set(done.stderr.splitlines()[-1].split())
        assert found & set(heavy.split()) == set()
        assert len(found) <= most
        assert 10 < len([name for name in found if name.startswith("spanloom")]) <= ours
