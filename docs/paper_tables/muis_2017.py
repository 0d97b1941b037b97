"""Muis and Lu (2017): mention separators."""

from __future__ import annotations

from collections.abc import Sequence

from paper_tables import Sentence, Table, beside, ours

CHAIN, HYPERGRAPH, MULTIGRAPH = "bilou", "mention_hypergraph, derivations", "separators"
PLAIN = "Test data, lbfgs"
BIOMEDICAL = ", features biomedical"
OVERLAP = "Sentences with and without overlapping mentions"


def gum(label: str, name: str, tuned: str, *paper: str) -> list[str]:
    """A row of Table 2."""
    return [label, *paper, ours("gum", PLAIN, [name, tuned])]


def genia(label: str, name: str, tuned: str, paper: str) -> list[str]:
    """A row of Table 3."""
    found = [ours("genia", "Test data", [name + more, tuned]) for more in ("", BIOMEDICAL)]
    return [label, paper, beside(paper, found[0]), found[1]]


def overlap(label: str, name: str, sentences: str, paper: str) -> Sequence[str]:
    """A row of Table 4."""
    figure = ours("genia", OVERLAP, [name, f"{sentences} overlap"])
    return [label, f"{sentences} overlap", paper, beside(paper, figure)]


TABLES = {
    "muis-2017-2": Table(
        ("model", "paper, ACE 2004", "paper, ACE 2005", "ours, GUM"),
        [
            gum("chain", CHAIN, "no", "70.3 / 42.0 / 52.6", "67.0 / 45.6 / 54.3"),
            gum("mention hypergraph", HYPERGRAPH, "no", "80.7 / 46.1 / 58.7", "77.6 / 47.3 / 58.8"),
            gum("mention hypergraph, tuned", HYPERGRAPH, "yes", "71.0 / 55.4 / 62.2", "67.0 / 57.3 / 61.7"),
            gum("multigraph (`separators`)", MULTIGRAPH, "no", "76.3 / 52.0 / 61.9", "73.5 / 51.6 / 60.6"),
            gum("multigraph, tuned", MULTIGRAPH, "yes", "71.6 / 58.3 / 64.3", "67.5 / 59.1 / 63.0"),
        ],
    ),
    "muis-2017-3": Table(
        ("model", "paper", "ours, features of the paper", "ours, `biomedical`"),
        [
            genia("mention hypergraph, `derivations`", HYPERGRAPH, "no", "R 58.6"),
            genia("the same, tuned", HYPERGRAPH, "yes", "75.0 / 66.1 / 70.3"),
            genia("multigraph", MULTIGRAPH, "no", "R 61.6"),
            genia("multigraph, tuned", MULTIGRAPH, "yes", "74.6 / 67.2 / 70.7"),
            [
                "semi-Markov chain (Finkel and Manning 2009)",
                "R 61.7",
                ours("baselines", "GENIA", ["semi_markov", "-"]),
                "",
            ],
        ],
    ),
    "muis-2017-4": Table(
        ("model", "sentences", "paper, GENIA", "ours, GENIA"),
        [
            overlap("mention hypergraph, `derivations`", HYPERGRAPH, "with", "77.1 / 60.3 / 67.7"),
            overlap("mention hypergraph, `derivations`", HYPERGRAPH, "without", "73.9 / 70.1 / 71.9"),
            overlap("multigraph", MULTIGRAPH, "with", "75.6 / 60.7 / 67.3"),
            overlap("multigraph", MULTIGRAPH, "without", "74.1 / 71.6 / 72.9"),
        ],
    ),
}
TO = "Iterations until the objective is no more than so much above its own minimum"


def to(corpus: str, structure: str) -> str:
    """Iterations to within 1 % of the minimum."""
    return ours("convergence", TO, [corpus, structure], "1 %")


SENTENCES = [
    Sentence(
        "it needs {} where the hypergraph needs {} to come within 1 % on GENIA, {} and {} on GUM",
        [to(corpus, name) for corpus in ("GENIA", "GUM") for name in (MULTIGRAPH, "mention_hypergraph")],
    ),
]
CITED = {"12 %", "72.5", "0.1", "0.3"}
