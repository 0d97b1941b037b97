"""Xu et al. (2014): words and mentions of Chinese text."""

from __future__ import annotations

from paper_tables import Ours, Sentence, Table, last, ours

UNER, CLINICAL = "segmentation", "segmentation_clinical"
FOLDS = "Table 1 on"
MENTIONS, WORDS = "F1", "F1#2"
METHODS = {
    "independent": "independent", "incremental_own": "incremental, without held-out outputs",
    "incremental": "incremental, with", "joint_labels": "joint labels", "dual": "dual decomposition",
}  # fmt: skip
# mentions and words; what the paper has of incremental models stands beside those that train as it seems to say
PAPER = {
    "set1": {
        "independent": ("86.82", "94.97"),
        "incremental_own": ("87.72", "95.09"),
        "joint_labels": ("88.42", "95.20"),
        "dual": ("88.72", "95.27"),
    },
    "set2": {
        "independent": ("87.28", "95.18"),
        "incremental_own": ("87.77", "95.18"),
        "joint_labels": ("88.45", "95.31"),
        "dual": ("89.03", "95.35"),
    },
    "set3": {
        "independent": ("89.23", "95.34"),
        "incremental_own": ("89.51", "95.55"),
        "joint_labels": ("90.07", "95.59"),
        "dual": ("90.24", "95.55"),
    },
}


def label(features: str) -> str:
    """As the page has it."""
    return features.replace("set", "set ")


def row(features: str, method: str) -> list[str]:
    """A method with a feature set, on UNER."""
    paper = PAPER[features].get(method, ("", ""))
    key, title = [features, method], f"{FOLDS} UNER Chinese, five folds"
    return [
        label(features), METHODS[method], paper[0], ours(UNER, title, key, MENTIONS), paper[1],
        ours(UNER, title, key, WORDS),
    ]  # fmt: skip


def clinical(features: str, method: str, title: str, column: str) -> Ours:
    """A figure of the bundled corpus."""
    return last(ours(CLINICAL, title, [features, method], column))


TABLES = {
    "xu-2014-1": Table(
        ("features", "method", "paper: mentions", "ours", "paper: words", "ours"),
        [
            ["", "MSRSeg", "", "", "82.58", "not run"],
            *(row(features, method) for features in PAPER for method in METHODS),
        ],
    ),
    "xu-2014-1-clinical": Table(
        ("features", "method", "ours: mentions", "ours: words"),
        [
            [
                label(features),
                METHODS[method],
                *(clinical(features, method, "Table 1 on the bundled", column) for column in (MENTIONS, WORDS)),
            ]
            for features in PAPER
            for method in METHODS
        ],
    ),
}
SENTENCES: list[Sentence] = []
CITED = {"0.62", "0.82", "0.02", "0.05"}
