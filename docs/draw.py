"""Draws the figures of docs/figures from tests/cases/discontiguous.toml: ``python docs/draw.py``.

A test draws them again and compares, so that no drawing can be older than the code.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from spanloom.document import Document, Mention
from spanloom.structures import STRUCTURES, MentionTable
from spanloom.view import to_svg
from spanloom.view.hypergraph import draw_hypergraph
from spanloom.view.mentions import draw_mentions

# The beginning of a case's name, and the name of its figures.
NAMES = {
    "EGD showed": "figure-1",
    "blood in his mouth": "figure-4-1",
    "Infarctions": "figure-4-2",
    "blood or dark": "figure-4-3",
}
ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "cases" / "discontiguous.toml"
FIGURES = ROOT / "docs" / "figures"


def figures() -> dict[str, str]:
    """File names, and what stands in the files."""
    cases = tomllib.loads(CASES.read_text(encoding="utf-8"))["case"]
    drawn = {}
    for beginning, name in NAMES.items():
        case = next(case for case in cases if case["name"].startswith(beginning))
        mentions = [tuple((first, end) for first, end in ranges) for ranges in case["mentions"]]
        drawn[f"{name}.svg"] = draw_mentions(
            case["tokens"], [("disorder", ranges) for ranges in mentions], title=f"Mentions: {case['source']}"
        )
        for structure in ("shared", "split"):
            drawn[f"{name}-{structure}.svg"] = _hypergraph(structure, case, mentions)
    return drawn | {"viewing.svg": _viewing()}


def _viewing() -> str:
    """Mentions that skip words and cross, with heads, scores and a concept."""
    text = "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood."

    def find(*words: str) -> list[tuple[int, int]]:
        return [(text.index(word), text.index(word) + len(word)) for word in words]

    hernia, laceration = find("hernia", "laceration")
    mentions = [
        Mention("disorder", find("hiatal hernia"), head=hernia, score=0.97, concepts=("SPL:0042",)),
        Mention("disorder", [hernia, *find("in distal esophagus")], head=hernia, score=0.41),
        Mention("disorder", [laceration, *find("esophagus")], head=laceration, score=0.88),
        Mention("disorder", find("vertical laceration", "distal esophagus"), head=laceration, score=0.63),
        Mention("anatomy", find("distal esophagus"), score=0.99),
    ]
    return to_svg([Document(text, mentions=mentions)], width=108, title="Mentions of a sentence")


def _hypergraph(name: str, case: dict[str, Any], mentions: list[Any]) -> str:
    """The sub-hypergraph of the mentions; in SPLIT only the strands on which one runs."""
    structure, words = STRUCTURES[name], case["tokens"]
    template = structure.template(["disorder"])
    table = MentionTable.build((0, 0, ranges) for ranges in mentions)
    edges = structure.encode(table, np.array([0, len(words)]), ["disorder"]).edges[:, 0]
    picked = {template.edges[e].head for e in edges.ravel().tolist() if e >= 0}
    idle = {kind for kind in picked if kind.startswith("T") and kind.replace("T", "B1") not in picked}
    return draw_hypergraph(
        template,
        words,
        edges,
        leaf_roles={role for role in template.roles if role.startswith("E")},
        leave_out=idle | ({"A"} if name == "split" else set()),
        title=f"{name.upper()}: {case['source']}",
    )


if __name__ == "__main__":
    FIGURES.mkdir(exist_ok=True)
    for file, drawing in figures().items():
        (FIGURES / file).write_text(drawing, encoding="utf-8", newline="\n")
