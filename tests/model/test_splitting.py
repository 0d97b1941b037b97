"""Patterns that are learned where training mentions cut tokens."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.errors import ModelError
from spanloom.model.splitting import learn_splitter
from spanloom.modelfile import ModelPart, damaged
from spanloom.text import tokenize
from spanloom.text.splitting import Splitter


def document(text: str, *surfaces: str, sentences: int = 1) -> Document:
    """A document whose tokens stand between blanks, all of whose places of some surfaces are mentions."""
    bounds = np.cumsum([0] + [len(word) + 1 for word in text.split(" ")])
    tokens = np.stack((bounds[:-1], bounds[1:] - 1), 1)
    edges = np.linspace(0, len(tokens), sentences + 1).astype(int)
    mentions = [Mention("x", [(text.index(surface), text.index(surface) + len(surface))]) for surface in surfaces]
    return Document(text, tokens=tokens, sentences=np.stack((edges[:-1], edges[1:]), 1), mentions=mentions)


def learned(documents: list[Document], seed: int = 0) -> list[str]:
    splitter, report = learn_splitter(documents, seed)
    assert (report is None) == (splitter == Splitter())
    if report is not None:
        assert report.patterns == tuple(map(str, splitter.patterns))
        assert 0 <= report.still < report.cutting and report.tokens < report.parts
    return [str(pattern) for pattern in splitter.patterns]


def test_affixes_and_classes():
    prefixed = [document(f"an anti{word} drug", word) for word in ("tumor", "viral", "body")] * 10
    assert learned(prefixed) == ["<anti|"]
    suffixed = [document(f"mice {word}null here", word) for word in ("Atrx", "Abc", "Wnt")] * 10
    assert learned(suffixed) == ["|null>"]
    greek = [document(f"the {word}Δ{i} mice", word) for i, word in enumerate(("CLN", "CLM", "QR"))] * 10
    assert learned(greek) == ["A|Ω"]


def test_nothing_is_split_where_no_mention_cuts():
    whole = [document("an antitumor drug", "antitumor")] * 30
    assert learn_splitter(whole, 0) == (Splitter(), None)
    assert learn_splitter([Document("", tokens=[], sentences=[])], 0) == (Splitter(), None)
    assert learn_splitter([document("a b")], 0) == (Splitter(), None)


def test_a_single_word_is_no_pattern():
    """One word, however often, says nothing on others; and a model names no word of the training text."""
    assert not learned([document("an antitumor drug", "tumor")] * 100)


def test_the_start_of_a_word_that_few_documents_have_is_none():
    words = ("tumor", "viral", "body", "biotic", "freeze")
    texts = [document(f"an anti{word} drug", word) for word in words[:4]]
    assert "<anti|" not in learned([*texts, *[document("no drug")] * 40])
    texts.append(document(f"an anti{words[4]} drug", words[4]))
    assert "<anti|" in learned([*texts, *[document("no drug")] * 40])


def test_it_must_pay():
    """A pattern that cuts many other tokens is left out."""
    right = [document(f"a re{word} b", word) for word in ("do", "run", "play", "view", "turn")]
    wrong = [document(f"a re{word} b") for word in ("st", "ply", "cord", "gion", "sult")]
    assert "<re|" in learned(right * 4 + wrong * 4)
    assert not learned(right * 4 + wrong * 200)


def test_what_one_document_does_alone_is_not_believed():
    odd = [document(" ".join(f"{a}{b}" for a in "pqr" for b in "XYZ"), *(b for b in "XYZ"))]
    rest = [document("a fineDay b")] * 60
    assert not learned(odd + rest)


def test_every_token_cut():
    random.seed(0)
    letters = "abcdefgh"
    texts = ["".join(random.choices(letters, k=20)) for _ in range(60)]
    data = [document(text, text[8:10]) for text in texts]
    assert not learned(data)  # nothing tells where
    told = [document(f"{text[:9]}-{text[9:]}", text[9:]) for text in texts]
    assert learned(told) == ["-|a"]
    one = [document(" ".join(f"{a}{b}" for a in letters for b in "XYZ"), "X", "Y", "Z", sentences=4)]
    learn_splitter(one, 0)  # one document, many cuts
    learn_splitter([document("aX", "X")], 0)  # one sentence of one token


def test_other_scripts():
    cyrillic = [document(f"уровень анти{word} тел", word) for word in ("вирус", "генных", "тромб")] * 10
    assert learned(cyrillic) == ["<анти|"]
    chinese = [document(f"在 {word}医院 里", word) for word in ("北京", "上海", "广州", "南京", "天津")] * 4
    assert learned(chinese) == ["|医院>"]


def test_mentions_outside_the_tokens_count_for_nothing():
    text = document("ab cd")
    text.mentions = [Mention("x", [(2, 3)]), Mention("x", [(0, 5)])]
    data = [Document(text.text, tokens=[[0, 2]], sentences=[[0, 1]], mentions=text.mentions)] * 30
    assert learn_splitter(data, 0) == (Splitter(), None)


def test_the_same_seed_gives_the_same_patterns():
    texts = [document(f"a {a}{b} b", b) for a in ("anti", "non", "p5") for b in ("viral", "Hodgkin", "XY")] * 7
    assert learned(texts, 3) == learned(list(texts), 3)


def test_patterns_are_a_part_of_a_model_file():
    splitter, _ = learn_splitter([document(f"an anti{w} drug", w) for w in ("tumor", "viral", "body")] * 10, 0)
    part = splitter.to_part()
    assert part is not None and Splitter.from_part(ModelPart.of(json.loads(json.dumps(part.json())), {})) == splitter
    assert Splitter().to_part() is None


@pytest.mark.parametrize(
    "patterns", [["(a+)+|b"], [1], "a|b", ["a|A"] * 65, [["a|A"]], None, ["|" + "a" * 100_000 + ">"]], ids=str
)
def test_damaged_patterns_are_refused(patterns):
    with pytest.raises(ModelError) as error, damaged("model"):
        Splitter.from_part(ModelPart({"patterns": patterns}))
    assert len(str(error.value)) < 300 and "\n" not in str(error.value)


def test_sentences_as_documents_share_a_text():
    """What `fit` holds out of few documents are sentences; they have the text of the whole."""
    text = " ".join(f"an anti{word} drug ." for word in ("tumor", "viral", "body", "HIV", "flu") * 6)
    tokens = tokenize(text)
    parts = []
    for i in range(0, len(tokens), 4):
        start, end = tokens[i + 1].tolist()
        mention = Mention("x", [(start + 4, end)])
        parts.append(Document(text, tokens=tokens[i : i + 4], sentences=[[0, 4]], mentions=[mention]))
    assert learned(parts) == ["<anti|"]
