"""Constraints on what is predicted."""

from __future__ import annotations

import re

import numpy as np
import pytest
from constraint_cases import NAMES, Case
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import Document, Mention, Recognizer
from spanloom.errors import DataError, SpanloomError, UsageError
from spanloom.recognize import Constraints


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_what_is_found_meets_constraints_and_is_the_best_that_does(name, seed):
    assert Case(name, seed).wrong() is None


@pytest.fixture(scope="module")
def rescored(notes):
    """A recognizer with a second stage."""
    found = Recognizer(features="fast", epochs=8).fit(notes.train, dev=notes.dev)
    assert found.second_ is not None
    return found


def texts(document):
    return [mention.text(document.text) for mention in document.mentions]


@pytest.mark.parametrize("which", ["trained", "rescored"])
def test_constraints_hold_with_either_stage(request, notes, which):
    model = request.getfixturevalue(which)
    plain = model.predict(notes.test)
    random = np.random.default_rng(0)
    every = sorted({(m.type, m.text(d.text)) for d in plain for m in d.mentions})
    forbid = [f"{name}: {text}" for name, text in every if random.random() < 0.3] + ["* inside problem"]
    kept = [
        note.copy(mentions=[m for m in note.mentions if random.random() < 0.3 and may_stay(m, note, forbid)])
        for note in notes.test
    ]
    found = model.predict(kept, constraints={"keep": True, "forbid": forbid})
    for before, after, given_ in zip(plain, found, kept, strict=True):
        assert {m.key for m in given_.mentions} <= {m.key for m in after.mentions}
        assert all(m.score == 1 for m in after.mentions if m.key in {one.key for one in given_.mentions})
        assert not [m for m in after.mentions if forbids(forbid, m, after)]
        for outer in (m for m in after.mentions if m.type == "problem"):
            assert not [m for m in after.mentions if within(m, outer)]
        assert before.text == after.text
    assert [d.mentions for d in found] != [d.mentions for d in plain]
    assert model.predict(notes.test) == plain
    heard = []
    assert model.predict(notes.test, constraints={"forbid": ["problem: no such words"]}, notice=heard.append) == plain
    assert heard == ["forbid 'problem: no such words': no document read has such words"]


def may_stay(mention, note, forbid):
    return not forbids(forbid, mention, note) and not any(
        within(mention, outer) for outer in note.mentions if outer.type == "problem"
    )


def forbids(forbid, mention, document):
    """Patterns are about mentions without gaps."""
    return len(mention.spans) == 1 and f"{mention.type}: {mention.text(document.text)}" in forbid


def within(inner, outer):
    one, other = ({c for a, b in m.spans for c in range(a, b)} for m in (inner, outer))
    return one < other


def test_kept_mentions_have_what_they_had(rescored, notes):
    note = notes.test[0]
    own = note.mentions[0].replace(id="T7", concepts=["C1"], attributes={"negated": True})
    found = rescored.predict(note.copy(mentions=[own]), constraints={"keep": True})
    [kept] = [m for m in found.mentions if m.id == "T7"]
    assert kept == own.replace(score=1.0)
    other = rescored.predict(note.copy(mentions=[]), constraints={"keep": [note.copy(mentions=[own])]})
    assert kept in other.mentions


def test_forbidden_is_the_whole_text_of_a_mention(trained):
    [first, *_] = trained.predict(["He had chest pain and dyspnea."])[0].mentions
    assert first.text("He had chest pain and dyspnea.") == "chest pain"
    found = trained.predict("He had chest pain and dyspnea.", constraints=Constraints(forbid="problem: pain"))
    assert "chest pain" in texts(found)
    for spec in ("problem: chest pain", "*: /chest.*/", "problem: /(?i)CHEST PAIN/"):
        found = trained.predict("He had chest pain and dyspnea.", constraints=Constraints(forbid=[spec]))
        assert "chest pain" not in [m.text(found.text) for m in found.mentions if m.type == "problem"]


def test_types_may_have_colons():
    notes = [Document("b a d", mentions=[Mention("GO:BP", [(0, 1)]), Mention("GO", [(4, 5)])])] * 20
    model = Recognizer("bio", ["bias", "w[0]"], epochs=2).fit(notes)
    found = model.predict("b a d", constraints={"require": ["GO:BP: a", "GO:b"], "forbid": ["GO inside GO:BP"]})
    assert [(m.type, m.start) for m in found.mentions if m.score == 1] == [("GO", 0), ("GO:BP", 2)]


def test_an_expression_that_matches_half_a_million_ranges(trained):
    with pytest.raises(DataError, match=r"'drug: /\.\*/' matches more than 500,000 ranges of tokens; name short"):
        trained.predict("pain " * 1100, constraints={"forbid": ["drug: /.*/"]})
    most = 500_000 // len(trained.types_)
    with pytest.raises(DataError, match=rf"more than {most:,} ranges of tokens; .* one type in place of '\*'"):
        trained.predict("pain " * 900, constraints={"forbid": ["*: /.*/"]})


def test_ranges_that_overlap_in_many_ways_take_few_states(trained):
    text = "mild chest pain and pain of the left arm " * 12
    assert any(len(one.text(text)) >= 5 for one in trained.predict(text).mentions)
    found = trained.predict(text, constraints={"forbid": ["*: /.{5,90}/"]}).mentions
    assert [one.text(text) for one in found if len(one.spans) == 1 and 5 <= len(one.text(text)) <= 90] == []


@pytest.mark.parametrize("expression", ["/(?i)ASPIRIN/", "/(?x)aspirin #c/", "/(?i:A)spirin/"])
def test_required_expressions_may_have_flags(trained, expression):
    found = trained.predict("Aspirins and aspirin.", constraints={"require": [f"drug: {expression}"]})
    assert [m.start for m in found.mentions if m.score == 1] == [13]


def test_required_are_all_whole_words(trained):
    text = "Aspirins and aspirin, aspirin."
    found = trained.predict(text, constraints={"require": ["drug: aspirin"]})
    assert [m.start for m in found.mentions if m.score == 1] == [13, 22]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"keep": True, "forbid": ["problem: chest pain"]}, "characters 3-13 as 'problem' is required, and it"),
        ({"keep": True, "require": ["nothing: chest"]}, "the type 'nothing', expected one of"),
        ({"forbid": ["chest pain"]}, "forbid: 'chest pain', expected a type and words"),
        ({"require": ["drug inside problem"]}, "require: 'drug inside problem', expected a type and words"),
        ({"forbid": ["problem: /(/"]}, "is no regular expression"),
        ({"forbid": ["problem: /a{99999999999}/"]}, "is no regular expression"),
        ({"forbid": [f"problem: /{'(' * 9999}a/"]}, "is no regular expression"),
        ({"forbid": [3]}, "forbid: expected texts such as"),
        ({"never": []}, "expected Constraints, or a mapping with keep, require and forbid"),
        ({"keep": [Document("other", "n")]}, "document 'n': the keep constraints are about another text"),
        ({"require": [Document("no chest pain", "n", mentions=[Mention("problem", [(4, 8)])])]}, "inside a token"),
        (
            {"keep": True, "require": ["anatomy: chest"], "forbid": ["anatomy inside problem"]},
            "characters 3-8 are required to be a mention of type 'anatomy', but it is inside the required mention of "
            "type 'problem' at 3-13",
        ),
    ],
)  # fmt: skip
def test_contradictions_and_errors(trained, constraints, message):
    document = Document("no chest pain", "n", mentions=[Mention("problem", [(3, 13)])])
    with pytest.raises(SpanloomError, match=re.escape(message)):
        trained.predict([document], constraints=constraints)


def test_what_a_structure_cannot_hold(notes):
    chain = Recognizer(structure="bio", features=["bias", "low[0]"], epochs=1, rescore=False).fit(notes.train[:5])
    twice = Document("no chest pain", "n", mentions=[Mention("problem", [(3, 13)]), Mention("anatomy", [(3, 8)])])
    with pytest.raises(DataError, match=r"document 'n': characters 3-.* are required to be a mention of type .*, but"):
        chain.predict([twice], constraints={"keep": True})


def test_a_structure_with_heads_takes_none_even_without_an_occurrence(notes):
    heads = Recognizer(structure="heads", features=["bias"], epochs=1, rescore=False).fit(notes.train[:3])
    with pytest.raises(UsageError, match="the structure heads finds heads, which constraints do not support"):
        heads.predict("No pain.", constraints={"forbid": ["problem: fever"]})


def test_documents_that_are_not_read_are_told(trained):
    heard = []
    rules = Constraints(forbid=[Document("x", "other", mentions=[])])
    trained.predict(["no pain"], constraints=rules, notice=heard.append)
    assert heard == ["constraints of 1 document were not used: no document read has their id"]
    with pytest.raises(UsageError, match="but mentions are given"):
        trained.predict(["no pain"], constraints=rules, mentions="given", attributes="negated")


def test_what_the_second_stage_found_can_be_kept(notes):
    """A chain holds neither gaps nor overlaps; the stage behind it finds both."""
    model = Recognizer(structure="bio", features="fast", epochs=8).fit(notes.train, dev=notes.dev)
    found = model.predict(notes.test)
    assert any(len(m.spans) > 1 for document in found for m in document.mentions)
    again = model.predict([one.copy() for one in found], constraints={"keep": True})
    for before, after in zip(found, again, strict=True):
        kept = {m.key for m in before.mentions}
        assert [m.score for m in after.mentions if m.key in kept] == [1.0] * len(kept)
    flat = [one.copy(mentions=[m for m in one.mentions if len(m.spans) == 1][:1]) for one in found]
    others = model.predict(flat, constraints={"keep": True})
    assert any(len(m.spans) > 1 for document in others for m in document.mentions)


@pytest.mark.parametrize("structure", ["bio", "separators", "shared"])
def test_the_second_stage_proposes_nothing_that_is_forbidden(notes, structure):
    model = Recognizer(features="fast", structure=structure, epochs=4).fit(notes.train, dev=notes.dev)
    assert model.second_ is not None
    gaps = 0
    for note in notes.test[:5]:
        [free], [found] = model.alternatives(note), model.predict([note])
        no = note.copy(mentions=[*free.mentions, *found.mentions])
        rules = {"forbid": [no]}
        [others], [again] = model.alternatives([note], constraints=rules), model.predict([note], constraints=rules)
        assert not {one.key for one in no.mentions} & {one.key for one in (*others.mentions, *again.mentions)}
        gaps += sum(len(one.spans) > 1 for one in no.mentions)
    assert gaps


@pytest.mark.parametrize("which", ["trained", "rescored"])
def test_alternatives_under_constraints(request, notes, which):
    model = request.getfixturevalue(which)
    for note in notes.test[:5]:
        [free] = model.alternatives(note)
        [found] = model.predict([note])
        own = note.copy(mentions=found.mentions[:1])
        no = note.copy(mentions=[*found.mentions[1:2], *free.mentions[:1]])
        rules = {"keep": True, "forbid": [no]}
        [others], [again] = model.alternatives([own], constraints=rules), model.predict([own], constraints=rules)
        keys = {one.key for one in others.mentions}
        assert not keys & {one.key for one in (*no.mentions, *again.mentions)}
        assert all(0.05 <= one.score <= 1 for one in others.mentions)
        [same] = model.alternatives([note.copy(mentions=[])], constraints={"keep": True})
        assert same.mentions == free.mentions


def test_a_document_without_an_id_is_named_by_its_text(trained):
    with pytest.raises(DataError, match=r"^text 'no chest pain': characters 3-13 as 'problem' is required, and it"):
        trained.predict("no chest pain", constraints={"require": ["problem: chest pain"], "forbid": ["* : /chest.*/"]})


def test_contradictions_are_refused_with_either_stage(notes):
    """Separators that hold two crossing mentions hold their union, too."""
    model = Recognizer("separators", features="fast", epochs=4).fit(notes.train, dev=notes.dev)
    assert model.second_ is not None
    tokens = {"tokens": [[0, 4], [5, 11], [12, 16]], "sentences": [[0, 3]]}
    own = Document("mild severe pain", "n", **tokens)
    own.mentions = [Mention("problem", [(0, 11)]), Mention("problem", [(5, 16)])]
    rules = {"keep": True, "forbid": [own.copy(mentions=[Mention("problem", [(0, 16)])])]}
    for second in (model.second_, None):
        model.second_ = second
        with pytest.raises(DataError, match=r"^document 'n', sentence 1: no structure meets the constraints"):
            model.predict([own], constraints=rules)
