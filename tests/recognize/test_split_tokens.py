"""Models that split tokens where training mentions cut them."""

from __future__ import annotations

import warnings

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import LostWarning
from spanloom.formats import read, write
from spanloom.models import load
from spanloom.recognize import Recognizer
from spanloom_lab import Cascade

WORDS = ("tumor", "viral", "body", "biotic", "freeze", "HIV")


def document(text: str, word: str, pos: bool = False) -> Document:
    bounds = [(i, i + len(part)) for i, part in ((text.index(part), part) for part in text.split())]
    at = text.index(word)
    columns = {"pos": [part[-1] for part in text.split()]} if pos else {}
    mentions = [Mention("target", [(at, at + len(word))])]
    return Document(text, tokens=bounds, sentences=[(0, len(bounds))], columns=columns, mentions=mentions)


DATA = [document(f"the anti{word} drug {i}", word, pos=True) for i in range(10) for word in WORDS]
KINDS = {
    "recognizer": lambda **more: Recognizer(
        features=["bias", "w[-1..1]", "pos[0]"], l2=0.1, epochs=3, pos=None, **more
    ),
    "cascade": lambda **more: Cascade(features=["bias", "w[-1..1]", "pos[0]"], l2=0.1, epochs=3, pos=None, **more),
}


@pytest.mark.parametrize("kind", KINDS)
def test_mentions_inside_tokens_are_learned_found_and_kept(kind, tmp_path):
    model = KINDS[kind]().fit(DATA, dev=DATA[:6])
    assert [str(pattern) for pattern in model.splitter_.patterns] == ["<anti|"]
    assert not model.lost_ and not model.report_.lost and model.report_.dev_f1 == 1
    assert model.report_.splitting.cutting == len(DATA) and model.report_.splitting.still == 0
    [line] = [line for line in model.report_.lines(()) if line.startswith("tokens are split")]
    assert line == (
        "tokens are split at 1 pattern: <anti|; 60 mentions began or ended inside a token, 0 still do; 240 tokens are "
        "300"
    )
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.splitter_ == model.splitter_ and again.report_ == model.report_

    with pytest.warns(UserWarning, match="brings tokens that mentions are found in a part of") as told:
        found = again.predict(DATA)
    assert len(told) == 1
    assert [[m.key for m in d.mentions] for d in found] == [[m.key for m in d.mentions] for d in DATA]
    assert found[0].words == ["the", "anti", "tumor", "drug", "0"]
    assert found[0].columns["pos"] == ["e", "r", "r", "g", "0"]
    assert DATA[0].words == ["the", "antitumor", "drug", "0"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [none] = again.predict(DATA[:1], threshold=1.0)
    assert none.words == DATA[0].words and none.columns == DATA[0].columns
    write(found, tmp_path / "found.jsonl")
    assert list(read(tmp_path / "found.jsonl")) == found


@pytest.mark.parametrize("kind", KINDS)
def test_text_without_tokens_is_split_silently(kind):
    model = KINDS[kind](split_tokens=True).set_params(features=["bias", "w[-1..1]"]).fit(DATA, dev=DATA[:6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.predict("the antitumor drug")
        assert [mention.text(found.text) for mention in found.mentions] == ["tumor"]
        [one] = model.explain("the antitumor drug")
        assert one.mention.spans == found.mentions[0].spans
        assert not model.predict("").mentions


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_are_kept_where_that_is_asked_for(kind):
    with pytest.warns(LostWarning, match="inside a token"):
        model = KINDS[kind](split_tokens=False).fit([*DATA, document("the drug", "drug", pos=True)], dev=DATA[:6])
    assert not model.splitter_.patterns and model.report_.splitting is None
    assert sum(model.report_.lost.values()) == len(model.lost_) == len(DATA)


def test_marginals_and_likelihood_are_of_the_split_tokens():
    model = KINDS["recognizer"]().fit(DATA, dev=DATA[:6])
    [chance] = model.marginals(DATA[0])
    assert chance > 0.5
    assert model.log_likelihood(DATA[0]).sum() > -1
    [more] = model.alternatives([DATA[0]])
    assert more.token_count == 5


def test_few_documents_are_held_out_by_sentence_and_a_model_names_no_word_of_fewer_than_five():
    text = " ".join(f"An anti{word} drug." for word in WORDS)
    places = [(text.index(f"anti{word}") + 4, word) for word in WORDS]
    whole = Document(text, mentions=[Mention("target", [(at, at + len(word))]) for at, word in places])
    held = Document("a tumor", mentions=[Mention("target", [(2, 7)])])
    features = {"features": ["bias", "w[-1..1]"], "l2": 0.1, "epochs": 3}
    model = Recognizer(**features).fit([whole] * 5)
    assert [str(pattern) for pattern in model.splitter_.patterns] == ["<anti|"]
    assert model.report_.splitting.cutting == 5 * len(WORDS)  # what is held out, too
    with pytest.warns(LostWarning, match="inside a token"):
        assert "<anti|" not in map(str, Recognizer(**features).fit([whole] * 4 + [held]).splitter_.patterns)
    one = Recognizer(features=["bias", "w[0]"], l2=0.1, epochs=1)
    with pytest.warns(LostWarning, match="inside a token"):
        one.fit([Document("an antitumor drug", mentions=[Mention("x", [(7, 12)])])] * 9 + [held])  # is no pattern
    assert not one.splitter_.patterns
