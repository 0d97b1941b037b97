"""Muis and Lu (2017): mention separators."""

from __future__ import annotations

from collections.abc import Sequence

from paper_tables import Sentence, Table, beside, ours

CHAIN, HYPERGRAPH, MULTIGRAPH = "bilou", "mention_hypergraph, derivations", "separators"
BIOMEDICAL = ", features biomedical"
OVERLAP = "Sentences with and without overlapping mentions"
OPTIMAL = f"{OVERLAP}, tuned (paper 001, Table 4: ACE2004; ACE2005)"


def gum(label: str, name: str, tuned: str, *paper: str) -> list[str]:
    """A row of Table 2."""
    return [label, *paper, ours("gum_optimum", "Mentions, test data", [name, tuned], "F1")]


def genia(label: str, name: str, tuned: str, paper: str) -> list[str]:
    """A row of Table 3."""
    found = [ours("genia", "Test data", [name + more, tuned]) for more in ("", BIOMEDICAL)]
    return [label, paper, beside(paper, found[0]), found[1]]


def overlap(label: str, name: str, sentences: str, ace: str, ace_2005: str, paper: str) -> Sequence[str]:
    """A row of Table 4."""
    row = [name, f"{sentences} overlap"]
    figure = beside(paper, ours("genia", OVERLAP, row, "F1"))
    return [label, f"{sentences} overlap", ace, ace_2005, ours("gum_optimum", OPTIMAL, row, "F1"), paper, figure]


TABLES = {
    "muis-2017-2": Table(
        ("model", "paper, ACE 2004", "paper, ACE 2005", "ours, GUM"),
        [
            gum("chain", CHAIN, "no", "52.6", "54.3"),
            gum("mention hypergraph", HYPERGRAPH, "no", "58.7", "58.8"),
            gum("mention hypergraph, tuned", HYPERGRAPH, "yes", "62.2", "61.7"),
            gum("multigraph (`separators`)", MULTIGRAPH, "no", "61.9", "60.6"),
            gum("multigraph, tuned", MULTIGRAPH, "yes", "64.3", "63.0"),
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
        ("model", "sentences", "paper, ACE 2004", "paper, ACE 2005", "ours, GUM", "paper, GENIA", "ours, GENIA"),
        [
            overlap("mention hypergraph, `derivations`", HYPERGRAPH, "with", "60.0", "59.7",
                    "67.7"),
            overlap("mention hypergraph, `derivations`", HYPERGRAPH, "without", "67.5",
                    "64.8", "71.9"),
            overlap("multigraph", MULTIGRAPH, "with", "62.8", "61.4", "67.3"),
            overlap("multigraph", MULTIGRAPH, "without", "68.1", "65.4",
                    "72.9"),
        ],
    ),
}  # fmt: skip
TO = "Iterations until the objective is no more than so much above its own minimum"


def to(corpus: str, structure: str) -> str:
    """Iterations to within 1 % of the minimum."""
    return ours("convergence", TO, [corpus, structure], "1 %")


def evaluation(corpus: str, structure: str) -> float:
    """Seconds of an evaluation of the objective."""
    return float(ours("convergence", TO, [corpus, structure], "CPU seconds an evaluation"))


SENTENCES = [
    Sentence(
        "The order is the paper's: untuned the multigraph is ahead by {:.1f} (p = {:.4f}), "
        "tuned by {:.1f} (p = {:.2f})",
        [float(ours("gum_optimum", "Mentions, test data: paired tests", [MULTIGRAPH, HYPERGRAPH, tuned], column))
         for tuned in ("no", "yes") for column in ("difference of F1", "p")],
    ),
    Sentence(
        "{} iterations of the chain, {} of the multigraph and {} of the hypergraph",
        [ours("gum_optimum", "Every lambda", [name, "1"], "iterations") for name in (CHAIN, MULTIGRAPH, HYPERGRAPH)],
    ),
    Sentence(
        "the multigraph needs {} where the hypergraph needs {} to come within 1 % of its minimum on GENIA, "
        "{} and {} on GUM",
        [to(corpus, name) for corpus in ("GENIA", "GUM") for name in (MULTIGRAPH, "mention_hypergraph")],
    ),
    Sentence(
        "An evaluation takes ours {:.0f} % less time than the hypergraph's on GENIA, {:.0f} % less on GUM",
        [100 * (1 - evaluation(corpus, MULTIGRAPH) / evaluation(corpus, "mention_hypergraph"))
         for corpus in ("GENIA", "GUM")],
    ),
]  # fmt: skip
CITED = {
    "64.3", "63.0", "70.7", "64.5", "63.1", "70.8", "12 %", "1,500", "72.5", "0.1", "0.3", "0.001", "0.01", "80 %",
    "10 %", "81 %", "9 %",
}  # fmt: skip
