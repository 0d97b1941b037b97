"""Muis and Lu (2016): discontiguous mentions."""

from __future__ import annotations

from paper_tables import Ours, Sentence, Table, joined, ours

MODELS = {
    "seven_tag": "seven tags", "shared_derivations": "SHARED, `derivations`", "shared_subgraphs": "SHARED, `subgraphs`",
    "split_derivations": "SPLIT, `derivations`", "split_subgraphs": "SPLIT, `subgraphs`",
}  # fmt: skip
STRUCTURES = {"seven_tag": "seven tags", "shared": "SHARED", "split": "SPLIT"}
TRAININGS = {"discontiguous": "such sentences", "all": "all"}
# Table 2, ENOUGH, LARGE, of the models that the paper has
LARGE = {
    ("discontiguous", "seven_tag"): "54.7 / 41.2 / 47.0",
    ("discontiguous", "shared_derivations"): "76.9 / 40.1 / 52.7",
    ("discontiguous", "split_derivations"): "79.4 / 38.6 / 52.0",
    ("all", "seven_tag"): "64.1 / 46.5 / 53.9",
    ("all", "shared_derivations"): "73.9 / 49.1 / 59.0",
    ("all", "split_derivations"): "75.3 / 48.8 / 59.2",
}
READ = {
    ("seven_tag", "all"): "63.66, 0.30", ("shared", "all"): "1.73, 0.30", ("split", "all"): "1.05, 0.30",
    ("seven_tag", "enough"): "2.74, 3.82", ("shared", "enough"): "1.21, 1.46", ("split", "enough"): "0.75, 0.90",
}  # fmt: skip
ERRORS = ("precision error %", "recall error %")
ENCODINGS = "Canonical encodings"
ELEVEN = "craft_all_types, trained on all sentences"
MANY = "A pass of AdaGrad"


def gaps(corpus: str, training: str, model: str) -> Ours:
    """A figure of Table 2."""
    return ours("discontiguous", f"{corpus}, trained on {training} sentences", [model, "enough"])


def read(corpus: str, structure: str, reading: str) -> Ours:
    """A figure of Table 3."""
    title = f"{corpus}, discontiguous sentences"
    return joined([ours("ambiguity", title, [structure, reading], column) for column in ERRORS], ", ")


def encodings(structure: str, how: str, lengths: int = 5) -> Ours:
    """A figure of the supplement's Table 1."""
    columns = [f"n = {n}" for n in range(1, lengths + 1)]
    return joined([ours("ambiguity", ENCODINGS, [structure, how], column) for column in columns], "; ")


def times(structure: str, counting: str) -> Ours:
    """A figure of the supplement's Table 3, to a tenth."""
    columns = [f"n = {n}" for n in (2, 4, 8, 16)]
    found = [ours("many_types", MANY, [structure, counting, "relative"], column) for column in columns]
    return joined(["1", *(f"{float(figure):.1f}" for figure in found)], "; ")


TABLES = {
    "muis-2016-2": Table(
        ("model", "trained on", "paper", "ours, CRAFT", "ours, GENIA"),
        [
            [MODELS[model], label, LARGE.get((training, model), ""), gaps("craft", training, model),
             gaps("genia_discontiguous", training, model)]
            for training, label in TRAININGS.items()
            for model in MODELS
        ],
    ),
    "muis-2016-3": Table(
        ("model, reading", "paper: precision, recall error", "ours, CRAFT", "ours, GENIA"),
        [
            [f"{STRUCTURES[structure]}, {reading.upper()}", paper, read("craft", structure, reading),
             read("genia_discontiguous", structure, reading)]
            for (structure, reading), paper in READ.items()
        ],
    ),
    "muis-2016-4": Table(
        ("model", "paper, three types", "ours, eleven types"),
        [
            [MODELS[model], paper, ours("discontiguous", ELEVEN, [model, "enough"])]
            for model, paper in (
                ("seven_tag", "60.3 / 41.7 / 49.3"), ("shared_subgraphs", "74.3 / 41.4 / 53.2"),
                ("split_subgraphs", "75.5 / 40.7 / 52.9"),
            )
        ],
    ),
    "muis-2016-supplement-1": Table(
        ("model", "paper, n = 1 to 5", "ours"),
        [
            ["seven tags", "2; 8; 46; fewer than 2,401; fewer than 16,807",
             joined([encodings("seven_tag", "all sets encoded", 4), "too many to list"], "; ")],
            ["SHARED", "2; 8; 80; 3,584; 533,504", encodings("shared", "matrix")],
            ["SPLIT", "2; 8; 80; 6,656; 2,367,488", encodings("split", "matrix")],
            ["sets of mentions", "2; 8; 128; 32,768; 2,147,483,648", encodings("sets of mentions", "formula")],
        ],
    ),
    "muis-2016-supplement-3": Table(
        ("model", "paper", "ours"),
        [
            ["seven tags", "1; 2.0; 5.0; 12.2; 35.3", times("seven_tag", "subgraphs")],
            ["SHARED, `derivations`", "1; 2.1; 4.6; 9.5; 19.3", times("shared", "derivations")],
            ["SHARED, `subgraphs`", "", times("shared", "subgraphs")],
        ],
    ),
}  # fmt: skip
SENTENCES = [
    Sentence(
        "seven tags on CRAFT trained on such sentences ({} against {})",
        [gaps("craft", "discontiguous", model).split(" / ")[2] for model in ("shared_derivations", "seven_tag")],
    ),
    Sentence(
        "the eigenvalues, {} and {}",
        [ours("ambiguity", "Growth", ["shared", n], "growth").split(" = ")[0] for n in ("2", "3")],
    ),
]
CITED: set[str] = set()
