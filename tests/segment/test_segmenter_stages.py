"""What follows a segmenter's chains: the second stage, concepts and attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spanloom import Document, Mention, load
from spanloom.segment import Segmenter
from spanloom.segment.model import METHODS
from spanloom.structures.product import allowed_pairs

NAMES = ("恶心", "头痛", "腹痛", "呕吐", "关节痛", "痛")


def chinese(count: int, seed: int = 0) -> list[Document]:
    """Sentences with a symptom that is annotated in most of them, so that there is something to rescore."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        name = NAMES[random.integers(len(NAMES))]
        words = ["患者", ("有", "无", "诉")[random.integers(3)], name, ("。", "，")[random.integers(2)], "今日"]
        ends = np.cumsum([len(word) for word in words]).tolist()
        tokens = [(end - len(word), end) for word, end in zip(words, ends, strict=True)]
        known = random.random() < (0.9 if words[1] != "诉" else 0.2)
        mention = Mention(
            "symptom", [tokens[2]], concepts=[f"D{NAMES.index(name)}"], attributes={"no": words[1] == "无"}
        )
        found.append(Document("".join(words), id=str(number), tokens=tokens, mentions=[mention] if known else []))
    return found


def fitted(held: int = 120, **params: Any) -> Segmenter:
    settings: dict[str, Any] = {
        "features": ["bias", "w[0]"],
        "epochs": 2,
        "l2": 5.0,
        "rescore": True,
        "attributes": "off",
    }
    return Segmenter(**settings | params).fit(chinese(220), dev=chinese(held, 1))


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    return fitted()


def test_a_second_stage_is_kept_where_it_is_better(segmenter: Segmenter, tmp_path: Path) -> None:
    report = segmenter.report_.rescoring
    assert report is not None and report.kept and report.before < report.after == segmenter.report_.dev_f1
    documents = chinese(20, 2)
    found = segmenter.predict(documents, answers=True)
    assert all(0 < one.score < 1 for document in found for one in document.mentions if one.score is not None)
    assert all(0 <= one.meta["answer"]["probability"] <= 1 for one in found)
    segmenter.save(tmp_path / "model")
    again = load(tmp_path / "model").predict(documents, answers=True)
    assert [(one.mentions, one.words, one.meta) for one in again] == [
        (one.mentions, one.words, one.meta) for one in found
    ]


def test_words_keep_to_the_mentions_of_the_second_stage(segmenter: Segmenter) -> None:
    model = segmenter.fitted
    allowed = allowed_pairs(model.constraints, model.types)
    for document in segmenter.predict([Document(one.text) for one in chinese(60, 3)]):
        starts, ends = ({int(edge) for edge in column} for column in document.tokens.T)  # type: ignore[union-attr]
        assert all(one.start in starts and one.end in ends for one in document.mentions)
    assert not allowed.all()


def test_scores_explanations_and_marginals_agree(segmenter: Segmenter) -> None:
    for document in segmenter.predict([Document(one.text) for one in chinese(8, 4)]):
        [chances] = segmenter.marginals([document])
        assert chances.mentions == pytest.approx([one.score for one in document.mentions])
        for mention, item in zip(document.mentions, segmenter.explain(document), strict=True):
            assert item.mention.score == pytest.approx(mention.score) and item.whole and item.predicted


def test_alternatives_are_other_candidates(segmenter: Segmenter) -> None:
    documents = [Document(one.text) for one in chinese(60, 5)]
    found, others = segmenter.predict(documents), list(segmenter.alternatives(documents))
    assert any(document.mentions for document in others)
    for own, more in zip(found, others, strict=True):
        assert not {one.key for one in own.mentions} & {one.key for one in more.mentions}
        assert all(one.score is not None and one.score >= 0.05 for one in more.mentions)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method(method: str) -> None:
    segmenter = fitted(300, method=method)  # the incremental method's second stage learns from development data
    assert segmenter.report_.rescoring is not None
    assert len(segmenter.predict(chinese(5, 6), answers=True)) == 5


def test_concepts_and_attributes_follow(tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text("id\tname\n" + "".join(f"D{n}\t{name}\n" for n, name in enumerate(NAMES)))
    segmenter = fitted(rescore=False, link=str(tmp_path / "names.tsv"), attributes="auto")
    assert {"concepts", "attributes", "words"} <= segmenter.annotates
    segmenter.save(tmp_path / "model")
    for model in (segmenter, load(tmp_path / "model")):
        [found] = model.predict("患者无头痛。今日").mentions
        assert found.concepts == ("D1",) and found.attributes == {"no": True}
    given = Document(
        "患者无腹痛。今日", tokens=[(0, 2), (2, 3), (3, 5), (5, 6), (6, 8)], mentions=[Mention("symptom", [(3, 5)])]
    )
    [linked] = segmenter.predict(given, mentions="given").mentions
    assert linked.concepts == ("D2",)
