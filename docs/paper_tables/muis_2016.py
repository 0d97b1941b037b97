"""Muis and Lu (2016): discontiguous mentions."""

from __future__ import annotations

from collections.abc import Sequence

from paper_tables import Ours, Sentence, Table, joined, ours, record

MODELS = {
    "seven_tag": "seven tags", "shared_derivations": "SHARED, `derivations`", "shared_subgraphs": "SHARED, `subgraphs`",
    "split_derivations": "SPLIT, `derivations`", "split_subgraphs": "SPLIT, `subgraphs`",
}  # fmt: skip
WHOLE = "seven_tag, heads as wholes"  # its ALL is nearer to the supplement's
STRUCTURES = {
    "seven_tag": "seven tags", WHOLE: "seven tags with heads as wholes", "shared": "SHARED", "split": "SPLIT",
}  # fmt: skip
TRAININGS = {"discontiguous": "such sentences", "all": "all"}
# Table 2: (trained on, model, reading) -> SMALL and LARGE
TABLE_2 = {
    ("discontiguous", "seven_tag", "enough"): ("59.7 / 39.8 / 47.8", "54.7 / 41.2 / 47.0"),
    ("discontiguous", "seven_tag", "all"): ("16.6 / 43.5 / 24.1", "15.2 / 44.9 / 22.7"),
    ("discontiguous", "shared_derivations", "enough"): ("85.9 / 39.7 / 54.3", "76.9 / 40.1 / 52.7"),
    ("discontiguous", "split_derivations", "enough"): ("86.7 / 37.8 / 52.7", "79.4 / 38.6 / 52.0"),
}
RUN = {
    (row["size"], {"disc": "discontiguous", "all": "all"}[row["training"]], row["model"])
    for row in record("discontiguous_paper")["data"]["rows"]
    if row["corpus"] == "craft"
}
READ = {
    ("seven_tag", "all"): "63.66, 0.30", (WHOLE, "all"): "63.66, 0.30",
    ("shared", "all"): "1.73, 0.30", ("split", "all"): "1.05, 0.30",
    ("seven_tag", "enough"): "2.74, 3.82", ("shared", "enough"): "1.21, 1.46", ("split", "enough"): "0.75, 0.90",
}  # fmt: skip
READ_ORIGINAL = {
    ("seven_tag", "all"): "23.81, 0.17", (WHOLE, "all"): "23.81, 0.17",
    ("shared", "all"): "0.35, 0.17", ("split", "all"): "0.22, 0.17",
    ("seven_tag", "enough"): "0.52, 0.90", ("shared", "enough"): "0.25, 0.38", ("split", "enough"): "0.17, 0.28",
}  # fmt: skip
CORPORA = ("craft", "genia_discontiguous")
ERRORS = ("precision error %", "recall error %")
ENCODINGS = "Canonical encodings"
ELEVEN = "craft_all_types, trained on all sentences"
MANY = "A pass of AdaGrad"


def as_paper(
    training: str, model: str, reading: str, columns: Sequence[str] = ("P", "R", "F1"), size: str = "LARGE"
) -> str:
    """A figure of Table 2, with the paper's settings; what a run lacks is said."""
    if (size, training, model) not in RUN:
        return "not run"
    return ours("discontiguous_paper", f"craft, {size}, trained on {training} sentences", [model, reading], columns)


def gaps(corpus: str, training: str, model: str) -> Ours:
    """A figure with our settings, and a mention penalty."""
    return ours("discontiguous", f"{corpus}, trained on {training} sentences", [model, "enough"], "F1")


def read(corpus: str, structure: str, reading: str, sentences: str = "discontiguous") -> Ours:
    """A figure of Table 3."""
    title = f"{corpus}, {sentences} sentences"
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
        ("model, reading", "trained on", "paper, SMALL", "ours, CRAFT", "paper, LARGE", "ours, CRAFT"),
        [
            [f"{MODELS[model]}, {reading.upper()}", TRAININGS[training], small,
             as_paper(training, model, reading, size="SMALL"), large, as_paper(training, model, reading)]
            for (training, model, reading), (small, large) in TABLE_2.items()
        ],
    ),
    "muis-2016-3": Table(
        ("model, reading", "sentences", "paper: precision, recall error", "ours, CRAFT", "ours, GENIA"),
        [
            [f"{STRUCTURES[structure]}, {reading.upper()}", sentences, paper,
             *(read(corpus, structure, reading, sentences) for corpus in CORPORA)]
            for sentences, figures in (("discontiguous", READ), ("all", READ_ORIGINAL))
            for (structure, reading), paper in figures.items()
        ],
    ),
    "muis-2016-4": Table(
        ("model", "paper, three types", "ours, eleven types"),
        [
            [MODELS[model], paper, ours("discontiguous", ELEVEN, [model, "enough"], "F1")]
            for model, paper in (
                ("seven_tag", "49.3"), ("shared_subgraphs", "53.2"),
                ("split_subgraphs", "52.9"),
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
TESTS = "craft, LARGE, trained on discontiguous sentences: paired tests"


def without_penalty(model: str, column: str) -> str:
    """A figure of CRAFT with the paper's settings."""
    return as_paper("discontiguous", model, "enough", [column])


PENALTIES = [row["penalty"] for row in record("discontiguous")["data"]["rows"] if row["corpus"] in CORPORA]
SENTENCES = [
    Sentence("a mention penalty ({:g} to {:g})", [min(PENALTIES), max(PENALTIES)]),
    Sentence(
        "F1 {} against {}, p = {:.2f}, with {:.1f} points more precision",
        [
            without_penalty("shared_derivations", "F1"),
            without_penalty("seven_tag", "F1"),
            float(ours("discontiguous_paper", TESTS, ["shared_derivations", "seven_tag", "all"], "p")),
            float(without_penalty("shared_derivations", "P")) - float(without_penalty("seven_tag", "P")),
        ],
    ),
    Sentence(
        "SPLIT on SMALL has an F1 of {}, where SHARED has {} and seven tags have {}",
        [
            as_paper("discontiguous", model, "enough", ["F1"], "SMALL")
            for model in ("split_derivations", "shared_derivations", "seven_tag")
        ],
    ),
    Sentence(
        "behind seven tags on CRAFT trained on such sentences ({} against {})",
        [gaps("craft", "discontiguous", model) for model in ("shared_derivations", "seven_tag")],
    ),
    Sentence(
        "the eigenvalues, {} and {}",
        [ours("ambiguity", "Growth", ["shared", n], "growth").split(" = ")[0] for n in ("2", "3")],
    ),
]
CITED = {"0.125", "0.25", "0.5", "5.2", "1,000", "5.7"}
