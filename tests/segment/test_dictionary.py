"""A dictionary at prediction: its words stay whole, and all else is the best that agrees with them."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from segment_helpers import TYPES, enumerate_joint, joined, scored_at_random, untrained

from spanloom.document import Document
from spanloom.errors import DataError, UsageError
from spanloom.segment import Segmenter
from spanloom.segment.characters import KeptWord, split
from spanloom.segment.constraints import constraints_of
from spanloom.segment.dictionary import Dictionary
from spanloom.segment.model import _masked
from spanloom.structures.product import MENTION_CHAIN, WORD_TAGS

KEPT = {
    "a word": (KeptWord(1, 3, None),),
    "a mention": (KeptWord(1, 4, "drug"),),
    "one of each": (KeptWord(0, 1, "long name"), KeptWord(2, 4, None)),
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_that_have_the_words(name: str, seed: int) -> None:
    kept, constraints = KEPT[name], constraints_of(TYPES)
    chains, text = untrained(), split([Document("甲乙丙丁")])._replace(kept=KEPT[name])
    sides = scored_at_random(chains, 4, np.random.default_rng(seed))
    masked: Any = [side._replace(potentials=_masked(side.model, side.potentials, text)) for side in sides]
    labels = joined(chains, masked, constraints).best(text.offsets)

    def has(words: tuple[int, ...], mentions: tuple[int, ...]) -> bool:
        letters = "".join(WORD_TAGS[tag] for tag in words) + "B"
        tags = MENTION_CHAIN.tags(TYPES)
        return all(
            letters[first] in "BS" and letters[end - 1] in "ES" and not set(letters[first + 1 : end]) & set("BS")
            and (kind is None or [tags[tag] for tag in mentions[first:end]] == spelled(end - first, kind))
            for first, end, kind in kept
        )  # fmt: skip

    every = [one for one in enumerate_joint(*sides, constraints, (0, 4)) if has(one.words, one.mentions)]
    best = max(every)
    assert (tuple(labels.words.tolist()), tuple(labels.mentions.tolist())) == (best.words, best.mentions)


def spelled(length: int, kind: str) -> list[str]:
    return [f"{letter}-{kind}" for letter in MENTION_CHAIN.spell(length)]


@pytest.mark.parametrize("method", ["exact", "dual", "independent", "incremental"])
def test_every_method_keeps_words(stacked: Segmenter, method: str) -> None:
    segmenter = copy(stacked).set_params(method=method)
    text = "患者夜间无关节疼痛，予青霉素。"
    dictionary = {"word": ["夜间无"], "medication": ["青霉素"]}
    found = segmenter.predict(text, dictionary=dictionary)
    assert {"夜间无", "青霉素"} <= {*found.words}
    assert ("medication", "青霉素", 1.0) in [(one.type, one.text(text), one.score) for one in found.mentions]
    assert "".join(found.words) == text
    alone = segmenter.predict(text)
    assert "夜间无" not in alone.words
    assert segmenter.predict(text, dictionary=["无处可寻"]) == alone


def test_pairs_of_tags_keep_words(joint: Segmenter) -> None:
    found = joint.predict("患者夜间无关节疼痛", dictionary={"word": ["夜间无"], "problem": ["关节疼痛"]})
    assert {"夜间无", "关节疼痛"} <= {*found.words}
    assert [(one.type, one.text(found.text)) for one in found.mentions] == [("problem", "关节疼痛")]


@pytest.mark.parametrize(
    ("words", "text", "kept"),
    [
        (["关节", "关节疼"], "无关节疼痛", ["关节疼"]),  # the longest
        (["无关", "关节"], "无关节疼痛", ["无关"]),  # from the left
        (["Ｂ超"], "行b超", ["b超"]),  # case and width
        (["AB"], "服ABC片", []),  # within a run of letters
        (["关节"], "关 节痛", []),  # across white space
        (["疼痛"], "疼痛疼痛", ["疼痛", "疼痛"]),
        (["痛"], "疼痛\u0301。", []),  # a mark belongs to the word
    ],
)
def test_where_words_occur(words: list[str], text: str, kept: list[str]) -> None:
    dictionary = Dictionary(words, (), np.ones((len(WORD_TAGS), 1), bool))
    found = dictionary.within(split([Document(text)]))
    places = found.batch.tokens
    assert [text[places[first, 0] : places[end - 1, 1]] for first, end, _ in found.kept] == kept


def test_a_document_is_marked_alike_in_any_company(stacked: Segmenter) -> None:
    segmenter = copy(stacked).set_params(method="exact")
    texts = ["患者夜间无关节疼痛", "", " 无 夜间无", "予夜间无。夜间无"]
    together = segmenter.predict(texts, dictionary=["夜间无"])
    assert together == [segmenter.predict(text, dictionary=["夜间无"]) for text in texts]
    assert [document.words.count("夜间无") for document in together] == [1, 0, 1, 2]


def test_files(stacked: Segmenter, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("夜间无\n\n 青霉素 \n", encoding="utf-8")
    found = stacked.predict("夜间无青霉素", dictionary=file)
    assert found.words == ["夜间无", "青霉素"]
    assert stacked.predict("夜间无青霉素", dictionary={"word": str(file)}) == found
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(DataError, match="found no phrase"):
        stacked.predict("痛", dictionary=tmp_path / "empty.txt")
    with pytest.raises(UsageError, match=r"dictionary 'word': .*missing\.txt' cannot be read"):
        stacked.predict("痛", dictionary=tmp_path / "missing.txt")


@pytest.mark.parametrize(
    ("dictionary", "message"),
    [
        ({"drug": ["痛"]}, "found the label 'drug', expected one of word, "),
        ({"problem": ["Ａ"], "treatment": ["a"]}, "'a' is problem and treatment; leave one out"),
        ([1], "the words of 'word' are not all texts"),
    ],
)
def test_what_is_no_dictionary(stacked: Segmenter, dictionary: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stacked.predict("痛", dictionary=dictionary)


def test_types_whose_mentions_are_never_one_word(chinese: Any) -> None:
    train, dev, _ = chinese
    never = ["problem continues -> not word continues"]
    segmenter = Segmenter("independent", constraints=never, epochs=1).fit(train[:8], dev=dev[:3])
    assert segmenter.predict("疼痛", dictionary={"problem": ["疼痛"]}).words == ["疼痛"]
    segmenter.set_params(method="exact")
    with pytest.raises(UsageError, match="of the type 'problem', which is never one word by the constraints"):
        segmenter.predict("疼痛", dictionary={"problem": ["疼痛"]})
    assert segmenter.predict("疼痛", dictionary=["疼痛"]).words == ["疼痛"]
