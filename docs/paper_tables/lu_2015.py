"""Lu and Roth (2015): mention hypergraphs, heads, and the models beside them."""

from __future__ import annotations

from typing import Any

from paper_tables import TUNED, Sentence, Table, joined, ours

NOT = "-"  # no penalty
HYPERGRAPH = "mention_hypergraph-derivations"
SPEED = "Words a second on"
MENTIONS, HEADED = "Mentions, test data", "Heads must match, test data"  # of models trained to their optimum
OPTIMAL, JOINT = "mention_hypergraph, derivations", "heads, derivations"
NESTED = "Corpora with nested mentions"
LAST, CHAINED = f"{OPTIMAL}, head: last", f"{OPTIMAL}, head: chain"


# documents; sentences; with overlap; mentions; longer than 6 words, of train, dev and test
ACE = {
    "train": ("356; 6,799; 2,683 (39 %); 22,207; 1,439 (6 %)", "370; 7,336; 2,683 (37 %); 24,687; 1,343 (5 %)"),
    "dev": ("41; 829; 293 (35 %); 2,511; 179 (7 %)", "43; 958; 340 (35 %); 3,217; 148 (5 %)"),
    "test": ("46; 879; 373 (42 %); 3,031; 199 (7 %)", "51; 1,047; 330 (32 %); 3,027; 160 (6 %)"),
}
COUNTS = ("sentences", "with overlap", "mentions", "longer than 6 words")
# Table 4, development data: ACE 2004 and ACE 2005
HEADS_DEV = {
    "cascade, head is the whole mention (CC-S)": ("57.0 / 35.9 / 44.1", "56.5 / 38.3 / 45.6"),
    "cascade, first word (CC-F)": ("51.5 / 32.5 / 39.9", "53.3 / 36.1 / 43.1"),
    "cascade, last word (CC-L)": ("64.4 / 40.6 / 49.9", "66.6 / 45.1 / 53.8"),
    "cascade, chain for heads (CC-CC)": ("63.6 / 40.5 / 49.5", "65.9 / 44.8 / 53.3"),
    "mention hypergraph, last word (MH L)": ("66.7 / 41.9 / 51.5", "70.5 / 45.0 / 55.0"),
    "joint heads": ("78.6 / 47.4 / 59.1", "79.2 / 48.7 / 60.3"),
    "joint heads, tuned": ("73.9 / 52.4 / 61.3", "70.2 / 57.4 / 63.2"),
}


def counts(part: str) -> list[str]:
    """A row of Table 1."""
    found = [ours("corpora", NESTED, ["gum", part], column) for column in COUNTS]
    return [part, *ACE[part], joined(found, "; ")]


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
    "lu-2015-1": Table(
        ("part", "paper, ACE 2004", "paper, ACE 2005", "ours, GUM"), [counts(part) for part in ("train", "dev", "test")]
    ),
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
    "lu-2015-4-dev": Table(
        ("model", "paper, ACE 2004, development data", "paper, ACE 2005, development data"),
        [(label, *figures) for label, figures in HEADS_DEV.items()],
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
