"""Xu et al. (2014): words and mentions of Chinese text."""

from __future__ import annotations

from paper_tables import Sentence, Table, ours

FOLDS = "Table 1 on UNER Chinese, five folds"
METHODS = {
    "independent": "independent", "incremental_own": "incremental, without held-out outputs",
    "incremental": "incremental, with", "joint_labels": "joint labels", "dual": "dual decomposition",
}  # fmt: skip
# F1 of mentions and of words, of the first, third, fourth and fifth method; the second trains as the paper seems to
PAPER = {
    "set1": ("86.82; 94.97", "87.72; 95.09", "", "88.42; 95.20", "88.72; 95.27"),
    "set2": ("87.28; 95.18", "87.77; 95.18", "", "88.45; 95.31", "89.03; 95.35"),
    "set3": ("89.23; 95.34", "89.51; 95.55", "", "90.07; 95.59", "90.24; 95.55"),
}


def row(features: str, method: str, paper: str) -> list[str]:
    """A method with a feature set."""
    mentions, _, words = paper.partition("; ")
    key = [features, method]
    return [
        features.replace("set", "set "), METHODS[method], mentions, ours("segmentation", FOLDS, key, "F1"), words,
        ours("segmentation", FOLDS, key, "F1#2"),
    ]  # fmt: skip


TABLES = {
    "xu-2014-1": Table(
        ("features", "method", "paper: mentions", "ours", "paper: words", "ours"),
        [
            row(features, method, paper)
            for features, figures in PAPER.items()
            for method, paper in zip(METHODS, figures, strict=True)
        ],
    ),
}
SENTENCES: list[Sentence] = []
CITED = {"0.62", "0.82"}
