"""Concepts of candidates as values of the second stage."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, load
from spanloom.concepts.forms import VocabularyForms
from spanloom.document import Batch
from spanloom.errors import ModelError
from spanloom.rescoring.candidates import CandidateMentions
from spanloom.rescoring.concept_lookup import LEAST, ConceptLookup, _again, _within
from spanloom.rescoring.values import CONCEPTS
from spanloom.structures import MentionTable
from spanloom.text import prepare
from spanloom.vocabulary import Concept, Vocabulary
from spanloom.vocabulary.memory import Memory

DISEASES = Vocabulary.build([Concept("D1", "renal failure", ("kidney failure",)), Concept("D2", "fever")])
GENES = Vocabulary.build([Concept("G1", "fever"), Concept("G2", "insulin receptor")])
KINDS, TYPES = ("Disease", "Gene", "Other"), {"Disease": 0, "Gene": 1}
TEXT = "Renal failure (RF) and a fever. RF was seen. Kidney failure and sugar disease."


def meant(documents: list[Document] | None = None) -> ConceptLookup:
    forms = (
        VocabularyForms(own, Memory.build(documents or [], own, {kind for kind, at in TYPES.items() if at == number}))
        for number, own in enumerate((DISEASES, GENES))
    )
    return ConceptLookup(tuple(forms), TYPES, KINDS)


def candidates(batch: Batch, *mentions: tuple[str, str, float]) -> CandidateMentions:
    """Candidates, each of a type, with the words of a text and log-odds; in the order of the text."""
    rows, odds = [], []
    for kind, text, own in mentions:
        words = text.split()
        at = next(i for i in range(len(batch.words)) if list(batch.words[i : i + len(words)]) == words)
        sentence = int(np.searchsorted(batch.sentences, at, "right")) - 1
        first = at - int(batch.sentences[sentence])
        rows.append((sentence, KINDS.index(kind), ((first, first + len(words)),)))
        odds.append(own)
    return CandidateMentions(MentionTable.build(rows), np.zeros(len(rows), np.int64), np.array(odds))


def test_values_show_names_memory_and_the_rest_of_the_document() -> None:
    batch = Batch.of([prepare(Document(TEXT))])
    remembered = Document("sugar disease", mentions=[Mention("Disease", [(0, 13)], concepts=["D2"])])
    own = candidates(
        batch, ("Disease", "Renal failure", 2.0), ("Disease", "RF", -1.0), ("Gene", "fever", 0.0),
        ("Other", "seen", 1.0), ("Disease", "Kidney failure", LEAST - 0.1), ("Disease", "sugar disease", 0.0),
    )  # fmt: skip
    looked_up = meant([remembered])
    table = dict(zip(CONCEPTS, looked_up.values(batch, own).tolist(), strict=True))
    identifiers = [looked_up.identifier(number) for number in table["concept"]]
    assert identifiers == ["D1", "D1", "G1", "", "", "D2"]  # of another type, and unlikely: not looked up
    assert table["concept.name"][0] == table["concept.name"][1] == max(table["concept.name"])
    assert table["concept.expanded"] == [1, 2, 1, 0, 0, 1]
    assert table["concept.share"][5] > table["concept.share"][0] == 1
    # the odds of the one are a value of the other
    assert table["concept.again"][1] > table["concept.again"][0] > table["concept.again"][2] == 1


def test_concepts_elsewhere_agree_with_a_search_of_all_pairs() -> None:
    draw = random.Random(3)
    for _ in range(50):
        size = draw.randint(1, 12)
        first = np.array([draw.randint(0, 20) for _ in range(size)])
        end = first + np.array([draw.randint(1, 3) for _ in range(size)])
        concept = np.array([draw.randint(-1, 2) for _ in range(size)])
        document, odds = first // 11, np.array([draw.uniform(-5, 9) for _ in range(size)])
        expected = []
        for i in range(size):
            others = [
                odds[j]
                for j in range(size)
                if (document[i], concept[i]) == (document[j], concept[j]) and (end[i] <= first[j] or end[j] <= first[i])
            ]
            bins = np.arange(-3.0, 7.0, 1.5)
            expected.append(0 if concept[i] < 0 else 2 + int((bins <= max(others)).sum()) if others else 1)
        assert _again(concept, document, odds, first, end).tolist() == expected


def test_held_out_candidates_do_not_see_mentions_of_their_own_fold() -> None:
    text = "He had sugar disease. She had sugar disease."
    mentions = [Mention("Disease", [(7, 20)], concepts=["D2"]), Mention("Disease", [(30, 43)], concepts=["D1"])]
    batch = Batch.of([prepare(Document(text, mentions=mentions)), prepare(Document("No more."))])
    fold = np.array([0, 1, 0])
    assert [[one.concepts for one in own.mentions] for own in _within(batch, fold == 1)] == [[("D1",)], []]
    rows = MentionTable.build([(0, 0, ((2, 4),)), (1, 0, ((2, 4),))])
    own = CandidateMentions(rows, np.zeros(2, np.int64), np.zeros(2))
    looked_up = meant(batch.documents)
    found = looked_up.held_out(batch, own, fold)[0].tolist()
    assert [looked_up.identifier(number) for number in found] == ["D1", "D2"]


@pytest.fixture(scope="module")
def trained() -> Recognizer:
    draw = random.Random(0)
    documents = []
    for _ in range(120):
        names = draw.choices(("renal failure", "kidney failure", "fever", "chest wall", "left arm"), k=3)
        text, mentions = "", []
        for name in names:
            text += draw.choice(("with ", "has ", "no "))
            if name[-1] in "er" and name != "chest wall":
                at = (len(text), len(text) + len(name))
                mentions.append(Mention("Disease", [at], concepts=["D2" if name == "fever" else "D1"]))
            text += name + " . "
        documents.append(Document(text, mentions=mentions))
    # a first stage that knows next to nothing, so that the second is kept
    return Recognizer("separators", ["bias", "w[-1]"], epochs=3, l2=1.0, link=DISEASES).fit(documents, dev=documents)


def test_a_model_that_links_looks_concepts_up(trained: Recognizer, tmp_path) -> None:
    assert trained.second_ is not None
    assert any("concept" in template for template in trained.second_.templates)
    text = "with kidney failure . no chest wall . "
    found = trained.predict(text)
    assert [mention.text(text) for mention in found.mentions] == ["kidney failure"]
    trained.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(text) == found
    [why] = trained.explain(text)
    assert "concept=D1" in [part.name for part in why.whole]


def test_a_second_stage_without_the_linking_stage_is_refused(trained: Recognizer) -> None:
    part = trained.to_part()
    broken = replace(part, parts={name: own for name, own in part.parts.items() if name != "concepts"})
    with pytest.raises(ModelError, match="looks up concepts, but there is no linking stage"):
        Recognizer.from_part(broken)
