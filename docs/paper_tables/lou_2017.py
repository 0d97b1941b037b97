"""Lou et al. (2017): recognition and normalization of diseases."""

from __future__ import annotations

from paper_tables import ANY, Ours, Sentence, Table, beside, joined, ours

MENTIONS, CONCEPTS = ("P", "R", "F1"), ("concepts P", "R#2", "F1#2")
DEV, TEST = "bc5cdr: development data", "bc5cdr: test data, trained on train"
BOTH, NCBI = "bc5cdr: test data, trained on train and development data", "ncbi: test data, trained on train"
COLUMNS = ("model", "paper: mentions", "ours", "paper: concepts", "ours")


def row(label: str, name: str, title: str, mentions: str = "", concepts: str = "") -> list[str]:
    """A model beside the paper's."""
    found = [ours("linking", title, [name], columns) for columns in (MENTIONS, CONCEPTS)]
    return [label, mentions, beside(mentions, found[0]), concepts, beside(concepts, found[1])]


def pairs(title: str, task: str) -> Ours:
    """Mentions that both find, only the pipeline, only the joint model, neither."""
    found = [ours("linking", title, [task, a, b, ANY, ANY], "mentions") for a, b in FOUND]
    return joined(found, "; ")


FOUND = (("correct", "correct"), ("correct", "wrong"), ("wrong", "correct"), ("wrong", "wrong"))
AS_PAPER = "bc5cdr, trained on train: pipeline against joint"
AS_OURS = "bc5cdr, trained on train: ours, pipeline against ours"
OURS = (
    ("*ours*, the default", "ours"), ("*ours*, language model", "ours, language model"),
    ("*ours*, clusters", "ours, clusters"),
)  # fmt: skip

TABLES = {
    "lou-2017-4": Table(
        COLUMNS,
        [
            row("pipeline", "pipeline", DEV, "84.6 / 67.5 / 75.1", "65.3 / 58.6 / 61.8"),
            row("joint, local features", "joint, local features", DEV, "86.3 / 71.2 / 78.0", "85.8 / 76.4 / 80.8"),
            row("joint", "joint", DEV, "87.8 / 74.8 / 80.8", "86.8 / 77.1 / 81.7"),
            row("joint, language model", "joint, language model", DEV, "88.9 / 78.7 / 83.5", "88.8 / 81.5 / 85.0"),
            *(row(label, name, DEV) for label, name in OURS),
        ],
    ),
    "lou-2017-5": Table(
        COLUMNS,
        [
            row("pipeline", "pipeline", TEST, "83.0 / 68.5 / 75.0", "73.3 / 65.5 / 69.2"),
            row("joint", "joint", TEST, "87.9 / 78.0 / 82.6", "86.5 / 80.5 / 83.4"),
            row("joint, language model", "joint, language model", TEST, "89.0 / 79.2 / 83.8", "88.6 / 82.8 / 85.6"),
            *(row(label, name, TEST) for label, name in OURS),
            ["joint, language model", "89.6 / 83.1 / 86.2", "", "89.6 / 85.7 / 87.6", ""],
            ["*ours*, clusters", "", ours("linking", BOTH, ["ours, clusters"], MENTIONS), "",
             beside("89.6 / 85.7 / 87.6", ours("linking", BOTH, ["ours, clusters"], CONCEPTS))],
        ],
    ),
    "lou-2017-6": Table(
        COLUMNS,
        [
            row("joint, language model", "joint, language model", NCBI, "90.7 / 74.9 / 82.1", "88.7 / 77.3 / 82.6"),
            row("*ours*, the default", "ours", NCBI),
            row("*ours*, as a pipeline", "ours, pipeline", NCBI),
            row("*ours*, clusters", "ours, clusters", NCBI),
        ],
    ),
    "lou-2017-7": Table(
        ("task", "paper", "ours, as the paper", "ours, the default"),
        [
            ["recognition", "2,970; 59; 481; 914", pairs(AS_PAPER, "recognition"), pairs(AS_OURS, "recognition")],
            ["recognition and concept", "2,800; 97; 762; 862", pairs(AS_PAPER, "recognition and concept"),
             pairs(AS_OURS, "recognition and concept")],
        ],
    ),
}  # fmt: skip


def f1(title: str, name: str, column: str) -> str:
    """F1 of mentions, or with ``F1#2`` of concepts."""
    return ours("linking", title, [name], column)


SENTENCES = [
    Sentence(
        "links worse than our pipeline does ({} against {})",
        [f1(DEV, "joint, local features", "F1#2"), f1(DEV, "pipeline", "F1#2")],
    ),
    Sentence(
        "({} / {} against 83.8 / 85.6)", [f1(TEST, "ours", "F1"), f1(TEST, "ours", "F1#2")],
    ),
    Sentence("Our pipeline has {} / {},", [f1(TEST, "ours, pipeline", "F1"), f1(TEST, "ours, pipeline", "F1#2")]),
]  # fmt: skip
# figures that the papers say, and differences of two figures of a table
CITED = {"0.5", "2.3", "0.7", "0.0001", "0.02"}
