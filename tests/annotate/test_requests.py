"""The requests that the page of the documentation lists are each tested by what it names."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_each_request_names_tests_that_there_are() -> None:
    page = (HERE.parents[1] / "docs" / "annotate.md").read_text(encoding="utf-8")
    part = page.partition("## Requests from other tools\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| ")][1:]
    there = {
        name
        for file in HERE.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", file.read_text("utf-8"), re.M)
    }
    assert len(rows) == 12
    for request, here, tests in rows:
        assert re.search(r"[a-z0-9]#\d+", request) and here
        named = re.findall(r"`(test_\w+)`", tests)
        assert named and set(named) <= there, request
