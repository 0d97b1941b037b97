"""Characters, words that add up, classes, dictionaries: with every kind of text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.document import Document
from spanloom.errors import DataError, UsageError
from spanloom.learn.folds import hold_out
from spanloom.segment.characters import character_class, flags, place_words, positions_of, split, word_starts, words_at
from spanloom.segment.corpus import sentences_of
from spanloom.segment.feature_sets import make_features, read_dictionaries

MIXED = "病人BP１２０/８０mmHg，无無ＣＴ頭痛。\n复查 X线片👨‍👩‍👧\u3000é\u0301好"


def characters(*texts: str) -> list[Document]:
    return [Document(text, id=f"{number}") for number, text in enumerate(texts)]


def test_white_space_is_no_character_and_a_word_begins_behind_it():
    batch, first, *_ = split(characters("痛 痒\u3000。", "", " \n", "好"))
    assert [where.tolist() for where in positions_of(batch)] == [[0, 2, 4], [], [], [0]]
    assert batch.sentences.tolist() == [0, 3, 4]
    assert first.tolist() == [True, True, True, True]
    assert batch.firsts.tolist() == [0, 1, 1, 1, 2]


def test_no_word_begins_at_a_mark_or_behind_a_joiner():
    batch = split(characters("👨\u200d👩好e\u0301", "\u0301a", "a \u0301b"))
    inner = [False, True, True, False, False, True, False, False, False, False, False]
    assert batch.inner.tolist() == inner


@given(st.lists(st.text(alphabet="痛无 \n\u3000a1。\u0301\u200d👩", max_size=12), max_size=4), st.randoms())
@settings(max_examples=60, deadline=None)
def test_words_are_placed_where_they_were_taken_from(texts, random):
    batch = split(characters(*texts))
    begins = batch.first | np.array([random.random() < 0.5 for _ in batch.first], bool)
    documents = [
        Document(text, tokens=tokens, sentences=sentences)
        for text, (tokens, sentences) in zip(
            texts, place_words(batch.batch, words_at(batch.batch, begins)), strict=True
        )
    ]
    for document in documents:
        assert not any(character.isspace() for word in document.words for character in word)
        assert "".join(document.words) == "".join(document.text.split())
    again = split(documents)
    assert again.offsets.tolist() == batch.offsets.tolist()
    assert word_starts(again.batch).tolist() == begins.tolist()


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([[0, 1], [2, 5]], r"document 'x': the words do not add up to the text: '胸痛 明显' at 1 is in no word"),
        ([[0, 1], [1, 6]], r"the word '胸痛 明显' at 1 holds white space; give words that cover the whole text"),
        ([], r"'无胸痛 明显' at 0 is in no word"),
    ],
)
def test_words_must_add_up_to_the_text(tokens, message):
    document = Document("无胸痛 明显", id="x", tokens=np.array(tokens).reshape(-1, 2), sentences=[[0, len(tokens)]])
    with pytest.raises(DataError, match=message):
        word_starts(split([document]).batch)


def test_every_character_has_a_class_and_columns_of_its_own():
    phrases = read_dictionaries({"t": ["x线片", "mm"]}, None)
    text = split(characters(MIXED, "")).with_own_columns(["class", "same", "dictionary"], phrases)
    [document, empty] = text.batch.views()
    assert document.words == list("".join(MIXED.split()))
    found = dict(zip(document.words, document.columns["dictionary"], strict=True))
    assert (found["X"], found["线"], found["片"]) == ("B-t", "I-t", "E-t")
    assert document.columns["dictionary"][document.words.index("m")] == "B-t"
    assert document.columns["same"][document.words.index("m") + 1] == "1"
    assert empty.columns == {"class": [], "same": [], "dictionary": []}
    assert [character_class(c) for c in "Ｃ８。前些+"] == ["letter", "digit", "punctuation", "position", "", "symbol"]
    assert flags()[[ord(" "), 0x3000, 0x200D]].tolist() == [1, 1, 6]


def test_sentences_become_documents_of_their_own():
    tokens = [[0, 1], [1, 2], [3, 5], [5, 6]]
    document = Document("痛。\n无痛。", tokens=tokens, sentences=[[0, 2], [2, 4]], id="x")
    parts = sentences_of(document)
    assert [part.text for part in parts] == ["痛。\n", "无痛。"]
    assert [part.words for part in parts] == [["痛", "。"], ["无痛", "。"]]
    train, dev = hold_out([document] * 5, 1, sentences_of)
    assert (len(train), len(dev)) == (9, 1)
    word_starts(split([*train, *dev]).batch)


def test_dictionaries(tmp_path):
    (tmp_path / "drugs.txt").write_text("阿司匹林\n\n 氯吡格雷 \n", encoding="utf-8")
    (tmp_path / "table.tsv").write_text("id\tname\tsynonyms\tcategory\n1\t血压\tBP\ttest\n", encoding="utf-8")
    phrases = read_dictionaries({"drug": tmp_path / "drugs.txt"}, tmp_path / "table.tsv")
    assert phrases is not None
    assert [found.labels for found in phrases.find(list("查血压ｂｐ服氯吡格雷"))] == [("test",), ("test",), ("drug",)]
    assert read_dictionaries(None, None) is None
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    (tmp_path / "wrong.txt").write_bytes(b"\xff\xfe")
    for path, error in (("empty.txt", DataError), ("wrong.txt", DataError), ("missing.txt", UsageError)):
        with pytest.raises(error):
            read_dictionaries({"drug": tmp_path / path}, None)


def test_dictionaries_and_features_belong_together():
    with pytest.raises(UsageError, match="take the features set3"):
        make_features("set2", True)
    with pytest.raises(UsageError, match="give dictionaries, or take the features set2"):
        make_features("set3", False)
