"""Lu and Roth (2015): mention hypergraphs, heads, and the models beside them."""

from __future__ import annotations

from typing import Any

from paper_tables import TUNED, Sentence, Table, ours

NOT = "-"  # no penalty
HYPERGRAPH = "mention_hypergraph-derivations"
SPEED = "Words a second on"
MENTIONS, HEADED = "Mentions, test data", "Heads must match, test data"  # of models trained to their optimum
OPTIMAL, JOINT = "mention_hypergraph, derivations", "heads, derivations"
LAST, CHAINED = f"{OPTIMAL}, head: last", f"{OPTIMAL}, head: chain"


def gum(label: str, name: str, penalty: Any = NOT, paper: str = "", paper_2005: str = "") -> list[str]:
    """A row of Table 2."""
    return [label, paper, paper_2005, ours("baselines", "GUM", [name, penalty], "F1")]


def heads(label: str, name: str, penalty: Any, paper: str = "", paper_2005: str = "") -> list[str]:
    """A row of Table 4."""
    return [label, paper, paper_2005, ours("baselines", "GUM, heads must match", [name, penalty], "F1")]


def optimum(label: str, title: str, name: str, tuned: str) -> list[str]:
    """A row of a model that L-BFGS trained to its optimum."""
    return [label, "", "", ours("gum_optimum", title, [name, tuned], "F1")]


def genia(tuned: str) -> str:
    """A figure of Table 5."""
    return ours("genia_plain", "Test data", ["mention_hypergraph, derivations", tuned], "F1")


def speed(label: str, name: str) -> list[str]:
    """A row of Table 3."""
    columns = ("words/s", "features with roles")
    return [label, *(ours("type_split", SPEED, [name, types], columns) for types in ("7", "14", "28"))]


TABLES = {
    "lu-2015-2": Table(
        ("model", "paper, ACE 2004", "paper, ACE 2005", "ours, GUM"),
        [
            gum("BIO chain", "bio"),
            gum("BILOU chain", "bilou", NOT, "52.6", "54.3"),
            gum("semi-Markov, at most 6 words", "semi_markov-6"),
            gum("semi-Markov, any length", "semi_markov"),
            gum("cascaded chains", "cascade"),
            gum("mention hypergraph (MH)", HYPERGRAPH, NOT, "58.7", "58.8"),
            gum("the same, tuned (MH F)", HYPERGRAPH, TUNED, "62.2", "61.7"),
            gum("the same, tuned, with `subgraphs`", "mention_hypergraph-subgraphs", TUNED),
            optimum("MH, L-BFGS", MENTIONS, OPTIMAL, "no"),
            optimum("MH F, L-BFGS", MENTIONS, OPTIMAL, "yes"),
        ],
    ),
    "lu-2015-3": Table(
        ("model", "ours: words a second / features, 7 types", "ours, 14 types", "ours, 28 types"),
        [speed("BILOU chain", "bilou"), speed("mention hypergraph", "mention_hypergraph")],
    ),
    "lu-2015-4": Table(
        ("model", "paper, ACE 2004", "paper, ACE 2005", "ours, GUM"),
        [
            heads("cascade, head is the whole mention (CC-S)", "cascade, head: whole", NOT,
                  "39.2", "42.9"),
            heads("cascade, first word (CC-F)", "cascade, head: first", NOT,
                  "35.2", "40.6"),
            heads("cascade, last word (CC-L)", "cascade, head: last", NOT, "45.8", "51.7"),
            heads("cascade, chain for heads (CC-CC)", "cascade, head: chain", NOT,
                  "45.3", "50.7"),
            heads("mention hypergraph, last word (MH L)", f"{HYPERGRAPH}, head: last", NOT,
                  "48.1", "53.0"),
            heads("joint heads", "heads-derivations", NOT, "56.6", "54.8"),
            heads("joint heads, tuned", "heads-derivations", TUNED, "59.8", "58.3"),
            heads("joint heads, tuned, with `subgraphs`", "heads-subgraphs", TUNED),
            optimum("MH L, L-BFGS", HEADED, LAST, "no"),
            optimum("mention hypergraph, chain for heads, L-BFGS", HEADED, CHAINED, "no"),
            optimum("joint heads, L-BFGS", HEADED, JOINT, "no"),
            optimum("MH L, tuned, L-BFGS", HEADED, LAST, "yes"),
            optimum("mention hypergraph, chain for heads, tuned, L-BFGS", HEADED, CHAINED, "yes"),
            optimum("joint heads, tuned, L-BFGS", HEADED, JOINT, "yes"),
        ],
    ),
    "lu-2015-5": Table(
        ("model", "ours, GENIA"),
        [
            ["mention hypergraph (MH)", genia("no")],
            ["the same, tuned (MH F)", genia("yes")],
        ],
    ),
}  # fmt: skip
ORDER = "gum, tuned: neighbours"
SENTENCES = [
    Sentence(
        "not behind BILOU (+{:.1f}, p = {:.2f}; tuned)",
        [-float(ours("baselines", ORDER, ["bilou", "bio"], "difference of F1")),
         float(ours("baselines", ORDER, ["bilou", "bio"], "p"))],
    ),
    Sentence(
        "heads behind tuned cascades ({}) or behind the tuned hypergraph ({})",
        [ours("baselines", "GUM, heads must match", [f"{name}, head: chain", TUNED], "F1")
         for name in ("cascade", HYPERGRAPH)],
    ),
    Sentence(
        "ahead of the last word by {:.1f} and of a chain for heads by {:.1f} (p = {:.3f}), "
        "tuned by {:.1f} and {:.1f} (p = {:.3f})",
        [float(ours("gum_optimum", f"{HEADED}: paired tests", [JOINT, other, tuned], column))
         for tuned in ("no", "yes")
         for other, column in ((LAST, "difference of F1"), (CHAINED, "difference of F1"), (CHAINED, "p"))],
    ),
]  # fmt: skip
CITED: set[str] = {"0.01"}
