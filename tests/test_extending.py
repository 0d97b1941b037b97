"""The pages on how to add something: their diffs apply to the package, and their programs then say what they show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spanloom

ROOT = Path(__file__).parents[1]
PACKAGE = Path(spanloom.__file__).parent
PAGES = sorted((ROOT / "docs" / "extending").glob("*.md"))
# page -> files that are new, and lines in others
SIZES = {"structure": (1, 1), "stage": (1, 1), "format": (1, 1), "feature": (0, 2)}
HEADER = re.compile(r"^--- (\S+)\n\+\+\+ b/src/spanloom/(\S+)\n", re.MULTILINE)


def blocks(page: Path, language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found, f"{page.name} has no block of {language}"
    return "".join(found)


def test_there_is_a_page_for_each() -> None:
    assert {page.stem for page in PAGES} == SIZES.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_additions_are_a_file_and_a_line(page: Path) -> None:
    _, *parts = HEADER.split(blocks(page, "diff"))
    files = lines = 0
    for old, _, hunks in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        signs = [line[:1] for line in hunks.splitlines()]
        assert "-" not in signs
        files += old == "/dev/null"
        lines += 0 if old == "/dev/null" else signs.count("+")
    assert (files, lines) == SIZES[page.stem]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_diff_applies_and_works(page: Path, tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "src" / "spanloom", ignore=shutil.ignore_patterns("__pycache__"))
    diff = blocks(page, "diff")
    applied = subprocess.run(
        ["git", "apply", "-"], input=diff, cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)},
    )  # fmt: skip
    assert applied.returncode == 0, f"update the diff of {page.name}: {applied.stderr}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", blocks(page, "python")], cwd=tmp_path, capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == blocks(page, "text")
