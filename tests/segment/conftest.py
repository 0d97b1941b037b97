"""Segmenters trained on a part of the bundled corpus: one for the methods that share chains, one for pairs."""

from __future__ import annotations

import pytest

import spanloom
from spanloom.data import chinese_clinical
from spanloom.segment import Segmenter


@pytest.fixture(scope="session")
def chinese():
    """Training, development and test documents of the bundled corpus."""
    return tuple(list(spanloom.read(chinese_clinical() / f"{part}.jsonl")) for part in ("train", "dev", "test"))


@pytest.fixture(scope="session")
def stacked(chinese):
    """Trained as incremental, which serves independent, dual and exact, too; ask for a copy with `of`."""
    train, dev, _ = chinese
    return Segmenter("incremental", single_word=["medication"], epochs=6).fit(train, dev=dev)


@pytest.fixture(scope="session")
def joint(chinese):
    """Trained on pairs of tags."""
    train, dev, _ = chinese
    return Segmenter("joint_labels", "set1", single_word=["medication"], epochs=4).fit(train, dev=dev)
