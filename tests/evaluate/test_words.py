"""The evaluation of words: counted by hand, and with what it cannot compare."""

from __future__ import annotations

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.evaluate.words import evaluate_words

GOLD = Document("无胸痛。查体", tokens=[[0, 1], [1, 3], [3, 4], [4, 6]], sentences=[[0, 3], [3, 4]])
FOUND = GOLD.copy(tokens=[[0, 1], [1, 2], [2, 3], [3, 4], [4, 6]], sentences=[[0, 4], [4, 5]])


def test_counts_by_hand():
    report = evaluate_words([GOLD], [FOUND], known={"无", "。", "胸"}, bootstrap=20)
    words = report.words
    assert (words.correct, words.predicted, words.found, words.gold) == (3, 5, 3, 4)
    assert report.unseen is not None
    assert (report.unseen.found, report.unseen.gold) == (1, 2)  # 胸痛 and 查体, of which 查体 is found
    assert words.intervals is not None
    text = report.to_text()
    assert "words           60.00   75.00   66.67        4       5" in text
    assert "unseen words            50.00                2" in text
    assert report.to_dict()["unseen"]["recall"] == 0.5


def test_mentions_that_cut_words_are_counted():
    cut = FOUND.copy(mentions=[Mention("a", [(1, 3)]), Mention("a", [(4, 5)])])
    report = evaluate_words([GOLD.copy(mentions=[Mention("a", [(1, 2)])])], [cut], bootstrap=0)
    assert report.cuts == {"gold": 1, "predicted": 1}
    assert "mentions that cut words: 1 in gold, 1 in predicted" in report.to_text()
    assert report.unseen is None


def test_without_words_or_with_another_text():
    with pytest.raises(DataError, match="has no tokens"):
        evaluate_words([GOLD], [Document(GOLD.text)], bootstrap=0)
    with pytest.raises(DataError, match="differs from the gold text"):
        evaluate_words([GOLD], [GOLD.copy(text="无胸痛。查房")], bootstrap=0)
    empty = Document("", tokens=[], sentences=[])
    assert evaluate_words([empty], [empty], known=set(), bootstrap=0).words.f1 == 0
