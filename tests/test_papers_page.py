"""The tables of docs/papers.md hold what the records of the benchmarks hold."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# figures of the papers that no record repeats beside ours
OF_THE_PAPERS = {"89.6 / 83.1 / 86.2", "89.6 / 85.7 / 87.6", "90.7 / 74.9 / 82.1", "88.7 / 77.3 / 82.6"}
OF_THE_PAPERS |= {"2,401", "16,807", "2,970", "2,800", "19.3"}


def test_each_figure_stands_in_a_record() -> None:
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    records = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks" / "results").glob("*.md"))
    records = re.sub(r" \([\d.]+ to [\d.]+\)", "", records).replace(" | ", " / ")
    triples = set(re.findall(r"\d+\.\d+ / \d+\.\d+ / \d+\.\d+", page))
    assert len(triples) > 100
    numbers = set(re.findall(r"\d[\d,]*\.\d+|\d{1,3}(?:,\d{3})+", re.sub(r"\d+\.\d+ / \d+\.\d+ / \d+\.\d+", "", page)))
    assert {figure for figure in triples | numbers if figure not in records} <= OF_THE_PAPERS
