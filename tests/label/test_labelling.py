"""Votes, documents and the report; planted phrases come back as mentions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanloom
from spanloom.document import Document, Mention
from spanloom.document.annotation import zones_of
from spanloom.document.validate import find_errors
from spanloom.errors import DataError, UsageError
from spanloom.label import LabelReport, label, label_stream, read_label_rules


def phrases(*words, kind="x", **more):
    return {"kind": "phrases", "type": kind, "phrases": list(words), **more}


def test_log_odds_are_summed_one_vote_a_rule():
    rules = [
        phrases("pain", weight=0.9, name="a"),
        phrases("pain", "chest pain", weight=0.8, name="b"),
        phrases("pain", weight=0.75, vote="against", name="c"),
        phrases("leg", vote="against", name="d"),
        phrases("arm", weight=0.6, name="e"),
        phrases("arm", weight=0.6, vote="against", name="f"),
        phrases("arm", kind="y", weight=0.3, name="g"),
    ]
    report = LabelReport()
    [document] = label(["Pain, chest pain, leg, arm."], {"rule": rules}, report=report)
    odds = 9 * 4 / 3
    assert [(one.type, one.text(document.text), one.score) for one in document.mentions] == [
        ("x", "Pain", pytest.approx(odds / (1 + odds))),
        ("x", "chest pain", pytest.approx(0.8)),
        ("x", "pain", pytest.approx(9 / 3 / (1 + 9 / 3))),
    ]
    denied = [{"spans": [[18, 21]], "types": ["x"]}]
    assert document.meta == {
        "annotation": {"default": "at-least", "not": denied},
        "rules": [["a", "b"], ["b"], ["a"]],
    }
    assert (report.documents, report.tokens, report.mentions, report.against, report.outvoted) == (1, 9, 3, 1, 2)
    counts = {one.name: (one.matches, one.documents, one.overlaps, one.conflicts) for one in report.rules}
    assert counts == {
        "a": (2, 1, 2, 2), "b": (2, 1, 2, 1), "c": (2, 1, 2, 2), "d": (1, 1, 0, 0), "e": (1, 1, 1, 1),
        "f": (1, 1, 1, 1), "g": (1, 1, 1, 1),
    }  # fmt: skip


def test_overlapping_mentions_of_a_type_stay_or_do_not():
    rules = [phrases("chest pain"), phrases("pain"), phrases("severe chest", kind="y")]
    report = LabelReport()
    both = [label("Severe chest pain.", {"rule": rules, "overlaps": o}, report=report) for o in ("all", "longest")]
    assert [[one.start for one in document.mentions] for document in both] == [[0, 7, 13], [0, 7]]
    assert report.overlapped == 1 and both[1].meta["rules"] == [["phrases-3"], ["phrases-1"]]
    with pytest.raises(UsageError, match="overlaps: found 'some', expected longest or all"):
        label("Pain.", {"rule": rules, "overlaps": "some"})


def test_labels_are_not_by_the_annotator_of_the_mentions_that_they_replace():
    given = Document("pain", id="1", meta={"annotator": "Ada", "source": "s"})
    found = label(given, {"rule": [phrases("pain")]})
    assert found.meta.keys() == {"annotation", "rules", "source"}


def test_each_rule_or_group_is_an_annotator():
    rules = [
        phrases("pain", name="a", annotator="one"), phrases("fever", name="b"),
        phrases("pain", name="c", annotator="one", vote="against", weight=0.9),
    ]  # fmt: skip
    given = [Document("Pain.", id="1", meta={"source": "s"}), Document("Fever.", id="2")]
    found = label(given, {"rule": rules}, each=True, annotation="unknown")
    assert [(one.id, one.meta["annotator"], [m.start for m in one.mentions]) for one in found] == [
        ("1", "one", []), ("1", "b", []), ("2", "one", []), ("2", "b", [0]),
    ]  # fmt: skip
    assert found[0].meta == {"source": "s", "annotation": "unknown", "rules": [], "annotator": "one"}
    assert given[0].meta == {"source": "s"} and given[0].tokens is None
    assert isinstance(label(given[0], {"rule": rules}, each=True), list)
    against = phrases("pain", vote="against")
    assert label(given, {"rule": [*rules, against]}, each=True, annotation="unknown") == found
    with pytest.raises(UsageError, match="no rule votes for anything"):
        label(given, {"rule": [against]}, each=True)


def test_what_is_voted_against_is_said_to_be_no_mention():
    rules = [
        phrases("pain", "fever", "cold"), phrases("fever", vote="against", weight=0.9),
        phrases("cold", vote="against"), phrases("arm", vote="against", kind="other"),
    ]  # fmt: skip
    text = "Pain and fever, a cold arm."
    document = label(text, {"rule": rules})
    assert document.meta["annotation"] == {"default": "at-least", "not": [{"spans": [[9, 14]], "types": ["x"]}]}
    assert [zone.status for zone in zones_of(document)] == ["at-least"]
    assert label(text, {"rule": rules}, annotation="complete").meta["annotation"] == "complete"
    rules = [{**rule, "annotator": "one"} for rule in rules]
    [found] = label(text, {"rule": rules}, each=True)
    assert found.meta["annotation"] == "at-least" and found.mentions == document.mentions


def test_gaps_are_discontiguous_mentions_and_nested_ones_stay():
    rules = [
        {"kind": "gapped", "type": "x", "phrases": ["pain ... chest"], "gap": 2}, phrases("chest"),
    ]  # fmt: skip
    document = label("Pain in her chest. Pain in chest in the chest. Pain chest.", {"rule": rules})
    assert [one.text(document.text) for one in document.mentions] == [
        "Pain chest", "chest", "Pain chest", "chest", "chest", "Pain chest", "chest",
    ]  # fmt: skip
    assert document.mentions[0].spans == ((0, 4), (12, 17)) and document.mentions[5].spans == ((47, 57),)


WORDS = st.text("abcdefgh", min_size=2, max_size=5)


@given(st.lists(WORDS, min_size=1, max_size=4, unique=True), st.data())
def test_planted_phrases_come_back(words, data):
    """Words that nothing else has, in texts with other characters and odd white space."""
    text, places = "", []
    for _ in range(data.draw(st.integers(0, 5))):
        text += data.draw(st.text("xyz.,; \n\u200bé", max_size=10)) + " "
        start = len(text)
        text += data.draw(st.sampled_from(words)) + data.draw(st.sampled_from(["", " ", "\t"])) + "7"
        places.append((start, len(text)))
        text += " "
    document = label(Document(text), {"rule": [phrases(*(f"{word} 7" for word in words))]})
    apart = [place for place in places if text[place[0] : place[1] - 1].strip() != text[place[0] : place[1] - 1]]
    assert [one.spans for one in document.mentions] == [(place,) for place in apart]
    assert not list(find_errors(document)) and document.text == text


def test_batches_change_nothing(monkeypatch):
    texts = [f"Pain number {i}, leg pain." for i in range(20)]
    rules = read_label_rules({"rule": [phrases("pain", "leg pain", "number"), phrases("pain", vote="against")]})
    whole, one = LabelReport(), LabelReport()
    expected = label(texts, rules, report=whole)
    monkeypatch.setattr("spanloom.label.labelling.TOKENS", 7)
    assert label(texts, rules, report=one) == expected
    assert one == whole
    assert next(label_stream(iter(texts), rules)) == expected[0]


def test_a_rule_that_matches_nearly_everything_is_refused():
    everything = {"rule": [{"kind": "pattern", "type": "x", "name": "all", "pattern": [".*"]}]}
    assert len(label("a b", everything).mentions) == 2  # a short text may be one name
    with pytest.raises(DataError, match=r"rule 'all' matches 1,500 of the first 1,500 tokens.* narrow"):
        label("word " * 1500, everything)
    label("word other " * 1500, {"rule": [phrases("word")]})


def test_a_rule_that_matches_nothing_is_told():
    report = LabelReport()
    rules = {"rule": [phrases("zebra", name="z"), {"kind": "pattern", "type": "x", "pattern": [{"pos": "NN"}]}]}
    label(["a horse", "another"], rules, report=report)
    assert report.warnings() == [
        "rule 'z' matches nothing; look at its words and at how they are compared",
        "rule 'pattern-2': 2 documents without the column 'pos'",
        "rule 'pattern-2' matches nothing; look at its words and at how they are compared",
    ]
    assert report.to_dict()["rules"][1]["lacking"] == {"pos": 2}


def test_own_mentions_are_replaced_and_own_tokens_kept():
    document = Document("T-cell", tokens=[[0, 6]], sentences=[[0, 1]], mentions=[Mention("y", [(0, 1)])])
    exact = label(document, {"rule": [phrases("T-cell")]})
    folded = label(document, {"rule": [phrases("t cells", match="folded")]})
    assert exact.mentions == [] and [one.spans for one in folded.mentions] == [((0, 6),)]
    assert label("T-cell", {"rule": [phrases("t-CELL")]}).mentions[0].spans == ((0, 6),)


def test_what_is_no_input_is_refused():
    rules = {"rule": [phrases("a")]}
    for X in (3, None, {"a": 1}, b"a"):
        with pytest.raises(UsageError):
            label(X, rules)
    with pytest.raises(DataError):
        label(["a", None], rules)
    with pytest.raises(UsageError, match="annotation is 'some'"):
        label("a", rules, annotation="some")
    with pytest.raises(UsageError, match="found no rule"):
        label("a", {"rule": []})


def test_labels_are_what_a_recognizer_learns_from(tmp_path):
    against = [phrases("she", vote="against"), {**phrases("has ... pain", vote="against"), "kind": "gapped"}]
    found = label(["She has pain."] * 30, {"rule": [phrases("pain"), *against]})
    spanloom.write(found, tmp_path / "labels.jsonl")
    again = list(spanloom.read(tmp_path / "labels.jsonl"))
    assert again == found
    settings = {"features": "small", "epochs": 2, "rescore": False, "density": 300}
    model = spanloom.Recognizer(**settings).fit(again)
    assert [one.text("My pain.") for one in model.predict("My pain.").mentions] == ["pain"]
