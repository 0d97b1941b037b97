"""What is held out for tuning, and documents cut into sentences."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom.document import Batch, Document, Mention
from spanloom.learn.folds import hold_out
from spanloom.model.corpus import CROSSES_SENTENCES, CUTS_TOKEN, Gold, by_sentence
from spanloom.recognize import Recognizer
from spanloom.text import prepare


def numbered(count):
    return [prepare(Document(f"Number {i} here.", id=str(i))) for i in range(count)]


@pytest.mark.parametrize("count", [20, 25, 100])
def test_whole_documents_where_there_are_many(count):
    documents = numbered(count)
    train, dev = hold_out(documents, 3, by_sentence)
    assert len(dev) == round(0.1 * count)
    assert sorted(map(int, [d.id for d in train + dev])) == list(range(count))
    assert [int(d.id) for d in train] == sorted(int(d.id) for d in train)
    again = hold_out(documents, 3, by_sentence)
    assert [d.id for d in again[1]] == [d.id for d in dev]
    assert any([d.id for d in hold_out(documents, seed, by_sentence)[1]] != [d.id for d in dev] for seed in range(4, 9))


def test_single_sentences_where_documents_are_few():
    text = "No chest pain. Some fever. All is well."
    document = prepare(Document(text, id="d", mentions=[Mention("x", [(15, 25)]), Mention("x", [(3, 13)])]))
    document = document.copy(columns={"pos": [str(i) for i in range(len(document.tokens))]})
    train, dev = hold_out([document], 0, by_sentence)
    assert (len(train), len(dev)) == (2, 1)
    parts = by_sentence(document)
    assert [part.words for part in parts] == [
        ["No", "chest", "pain", "."],
        ["Some", "fever", "."],
        ["All", "is", "well", "."],
    ]
    assert [[m.text(text) for m in part.mentions] for part in parts] == [["chest pain"], ["Some fever"], []]
    assert [part.text for part in parts] == [text] * 3
    assert [value for part in parts for value in part.columns["pos"]] == document.columns["pos"]
    assert all(part.sentences.tolist() == [[0, len(part.tokens)]] for part in parts)


@pytest.mark.parametrize("count", [0, 1])
def test_a_sentence_or_none(count):
    train, dev = hold_out(numbered(count), 0, by_sentence)
    assert (len(train), len(dev)) == (count, 0)


def test_documents_that_were_cut_count_once():
    documents = [
        Document(f"No pain {i}. Some fever {i}.", id=str(i), mentions=[Mention("x", [(3, 7)])]) for i in range(12)
    ]
    assert len(hold_out([prepare(one) for one in documents], 0, by_sentence)[0]) == 22
    model = Recognizer(features=["w[0]"], epochs=1).fit(documents)
    assert model.report_.documents == 12
    assert next(model.summary()).startswith("trained on 12 documents: 24 sentences")


def test_no_mention_is_lost_without_a_word_when_documents_are_cut():
    """A mention in the white space after the last sentence, one across two sentences, one that cuts a token."""
    text = "No pain. No fever.\n \n"
    spans = [(3, 7), (3, 11), (4, 7), (19, 20)]
    document = prepare(Document(text, mentions=[Mention("x", [span]) for span in spans]))
    expected = {(3, 11): CROSSES_SENTENCES, (4, 7): CUTS_TOKEN, (19, 20): CROSSES_SENTENCES}
    for documents in ([document], by_sentence(document)):
        gold = Gold(Batch.of(documents), ["x"])
        assert gold.total == 4
        assert len(gold.table) == 1
        assert {tuple(lost.mention.spans[0]): lost.reason for lost in gold.lost} == expected


def test_a_model_trained_on_a_single_document_is_cross_validated_by_its_sentences():
    sentence = "No chest pain. "
    mentions = [Mention("x", [(15 * i + 3, 15 * i + 13)]) for i in range(20)]
    document = Document(sentence * 20, mentions=mentions)
    report = Recognizer(features=["bias", "w[0]", "w[-1]"], epochs=3).fit([document]).report_
    assert (report.sentences, report.folds, report.mentions) == (20, 10, 20)
    assert report.dev_f1 == 1
    np.testing.assert_array_equal(document.tokens is None, True)
