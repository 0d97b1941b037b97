"""Verbs of other distributions, by the entry point ``spanloom.verbs``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from spanloom.extras import _entries

PLUGIN = '''
import typer
from spanloom.cli.verbs import app, verb

@verb("greet", place="plugin_of_others:greet", examples="spanloom greet")
def _greet(name: str = "you") -> None:
    """Say hello."""

def greet(name: str) -> None:
    print("hello", name)
'''


def run(folder: Path, plugin: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The command with a distribution beside it."""
    (folder / "plugin_of_others.py").write_text(plugin, encoding="utf-8")
    info = folder / "plugin_of_others-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin-of-others\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[spanloom.verbs]\nothers = plugin_of_others\n", encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); from spanloom.cli import main; main({list(words)!r})"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)


def test_another_distribution_has_verbs(tmp_path: Path) -> None:
    done = run(tmp_path, PLUGIN, "greet", "--name", "Ada")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello Ada\n", "")
    assert "Say hello." in run(tmp_path, PLUGIN, "greet", "--help").stdout


def test_one_that_fails_is_told_and_ours_still_work(tmp_path: Path) -> None:
    done = run(tmp_path, "import nothing_of_this_name", "--help")
    assert done.returncode == 0
    assert "predict" in done.stdout
    assert done.stderr.startswith("spanloom: the verbs others of plugin_of_others are left out: ")
    assert run(tmp_path, "import nothing_of_this_name", "--version").returncode == 0


def test_a_verb_of_ours_loads_none(tmp_path: Path) -> None:
    done = run(tmp_path, "raise SystemExit('loaded')", "predict", "--help")
    assert (done.returncode, done.stderr) == (0, "")


def test_entry_points_of_any_spelling(tmp_path: Path) -> None:
    for distribution, data in (
        ("a-1.0.dist-info", b"# an = example\n[one]\n; off = not_this\nname = json:dumps [fast]\n"),
        ("b-1.0.dist-info", b"[one]\n\xff = damaged\n"),
        ("c.egg-info", b"[one]\nc = json\n"),
        ("c-2.0.dist-info", b"[one]\nc = other\n"),
        ("d-1.0.dist-info", b""),
    ):
        (tmp_path / distribution).mkdir()
        (tmp_path / distribution / "entry_points.txt").write_bytes(data)
    found = [entry for entry in _entries((str(tmp_path), str(tmp_path / "missing.zip"))) if entry.group == "one"]
    assert [(entry.name, entry.value) for entry in found] == [
        ("name", "json:dumps [fast]"),
        ("\N{REPLACEMENT CHARACTER}", "damaged"),
        ("c", "other"),
    ]
    assert found[0].load() is json.dumps
