"""Xu et al. (2014): words and mentions of Chinese text."""

from __future__ import annotations

from collections.abc import Sequence

from paper_tables import Ours, Sentence, Table, ours, record

UNER, CLINICAL = "segmentation", "segmentation_clinical"
FOLDS = "Table 1 on"
MENTIONS, WORDS = ("mentions P", "R", "F1"), ("words P", "R#2", "F1#2")
METHODS = {
    "independent": "independent", "incremental_own": "incremental, without held-out outputs",
    "incremental": "incremental, with", "joint_labels": "joint labels", "dual": "dual decomposition",
}  # fmt: skip
# mentions and words; what the paper has of incremental models stands beside those that train as it seems to say
PAPER = {
    "set1": {
        "independent": ("89.61 / 84.19 / 86.82", "95.20 / 94.75 / 94.97"),
        "incremental_own": ("89.84 / 85.69 / 87.72", "95.25 / 94.92 / 95.09"),
        "joint_labels": ("90.26 / 86.66 / 88.42", "95.27 / 95.13 / 95.20"),
        "dual": ("91.50 / 86.11 / 88.72", "95.30 / 95.25 / 95.27"),
    },
    "set2": {
        "independent": ("89.48 / 85.18 / 87.28", "95.31 / 95.05 / 95.18"),
        "incremental_own": ("89.59 / 86.03 / 87.77", "95.26 / 95.10 / 95.18"),
        "joint_labels": ("89.84 / 87.11 / 88.45", "95.31 / 95.31 / 95.31"),
        "dual": ("91.25 / 86.92 / 89.03", "95.31 / 95.38 / 95.35"),
    },
    "set3": {
        "independent": ("91.03 / 87.50 / 89.23", "95.38 / 95.30 / 95.34"),
        "incremental_own": ("90.96 / 88.10 / 89.51", "95.48 / 95.56 / 95.55"),
        "joint_labels": ("91.52 / 88.67 / 90.07", "95.52 / 95.57 / 95.59"),
        "dual": ("92.15 / 88.41 / 90.24", "95.64 / 95.53 / 95.55"),
    },
}
# problem, test, treatment, medication
PAPER_TYPES = {
    "set1": {
        "independent": ("90.4 / 87.9 / 89.1", "90.5 / 82.8 / 86.5", "79.9 / 66.0 / 72.3", "91.2 / 71.1 / 79.9"),
        "incremental_own": ("90.6 / 89.1 / 89.9", "90.3 / 84.7 / 87.4", "79.3 / 66.8 / 72.5", "93.8 / 75.5 / 83.7"),
        "joint_labels": ("91.2 / 89.8 / 90.5", "90.9 / 85.6 / 88.1", "81.0 / 67.9 / 73.9", "89.9 / 80.4 / 84.9"),
        "dual": ("92.3 / 89.8 / 91.0", "92.4 / 84.1 / 88.0", "81.9 / 69.3 / 75.1", "93.7 / 72.5 / 81.8"),
    },
    "set2": {
        "independent": ("90.4 / 88.7 / 89.5", "89.0 / 82.6 / 85.7", "79.9 / 67.1 / 72.9", "92.5 / 75.9 / 83.4"),
        "incremental_own": ("90.4 / 89.3 / 89.9", "89.3 / 84.4 / 86.8", "79.8 / 68.0 / 73.5", "93.8 / 77.2 / 84.7"),
        "joint_labels": ("90.8 / 90.0 / 90.4", "89.6 / 85.6 / 87.6", "81.2 / 69.3 / 74.8", "89.5 / 82.8 / 86.0"),
        "dual": ("92.0 / 90.5 / 91.3", "92.1 / 84.1 / 87.9", "81.5 / 69.7 / 75.1", "94.0 / 75.9 / 84.0"),
    },
    "set3": {
        "independent": ("92.0 / 90.5 / 91.2", "91.1 / 85.5 / 88.2", "80.0 / 67.1 / 73.0", "93.6 / 86.4 / 89.9"),
        "incremental_own": ("92.0 / 91.0 / 91.5", "91.0 / 86.0 / 88.5", "79.7 / 68.3 / 73.6", "92.8 / 86.8 / 89.7"),
        "joint_labels": ("92.6 / 91.3 / 91.9", "91.5 / 87.0 / 89.2", "81.3 / 70.1 / 75.3", "92.6 / 88.7 / 90.6"),
        "dual": ("93.1 / 91.2 / 92.1", "92.2 / 86.3 / 89.2", "82.4 / 69.7 / 75.5", "93.7 / 87.6 / 90.6"),
    },
}
UNER_TYPES = ("LOC", "ORG", "PER")
TYPES = ("problem", "test", "treatment", "medication")


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


def clinical(features: str, method: str, title: str, columns: Sequence[str]) -> Ours:
    """A figure of the bundled corpus."""
    return ours(CLINICAL, title, [features, method], columns)


def of_type(name: str, features: str, method: str, kind: str) -> Ours:
    """Precision, recall and F1 of a type: the counts of five folds, added."""
    parts = [part for part in record(name)["data"]["parts"] if ", trained on fold" in part["key"]]
    parts = [part for part in parts if part["key"].endswith(f", {features}")]
    if len(parts) != 5:
        raise LookupError(f"{name}, {features}: {len(parts)} folds, expected 5")
    counts = [part["methods"][method]["types"].get(kind, [0, 0, 0]) for part in parts]
    correct, predicted, gold = (sum(column) for column in zip(*counts, strict=True))
    rates = correct / max(1, predicted), correct / max(1, gold), 2 * correct / max(1, predicted + gold)
    return Ours(" / ".join(f"{100 * rate:.1f}" for rate in rates))


TABLES = {
    "xu-2014-1": Table(
        ("features", "method", "paper: mentions", "ours", "paper: words", "ours"),
        [
            ["", "MSRSeg", "", "", "79.42 / 86.00 / 82.58", "not run"],
            *(row(features, method) for features in PAPER for method in METHODS),
        ],
    ),
    "xu-2014-1-clinical": Table(
        ("features", "method", "ours: mentions", "ours: words"),
        [
            [
                label(features),
                METHODS[method],
                *(clinical(features, method, "Table 1 on the bundled", columns) for columns in (MENTIONS, WORDS)),
            ]
            for features in PAPER
            for method in METHODS
        ],
    ),
    "xu-2014-1-types": Table(
        ("features", "method", *(column for kind in TYPES for column in (f"paper: {kind}", f"ours: {kind}"))),
        [
            [
                label(features),
                METHODS[method],
                *(
                    cell
                    for pair in zip(
                        PAPER_TYPES[features].get(method, ("", "", "", "")),
                        (clinical(features, method, "Each type, own split", [kind]) for kind in TYPES),
                        strict=True,
                    )
                    for cell in pair
                ),
            ]
            for features in PAPER
            for method in METHODS
        ],
    ),
    "xu-2014-1-uner-types": Table(
        ("features", "method", "ours: places", "ours: organizations", "ours: persons"),
        [
            [
                label(features),
                METHODS[method],
                *(of_type(UNER, features, method, kind) for kind in ("LOC", "ORG", "PER")),
            ]
            for features in PAPER
            for method in METHODS
        ],
    ),
}
SENTENCES: list[Sentence] = []
CITED = {"0.62", "0.82", "0.02", "0.05"}
