"""The stage that learns attributes: what it learns, its probabilities, its file, and that documents are independent."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import DataWarning, Document, Mention, Recognizer, load, read
from spanloom.attributes import AttributeModel, attributing, fit_attributes, fitting
from spanloom.attributes.fitting import MOST_ATTRIBUTES, MOST_VALUES
from spanloom.data import clinical
from spanloom.errors import ModelError, UsageError
from spanloom.evaluate import evaluate_attributes
from spanloom.modelfile import ModelPart


def note(text: str, *marked: tuple[str, dict[str, object]], kind: str = "problem") -> Document:
    """Return a document with a mention of each surface, with attributes."""
    mentions = []
    for surface, attributes in marked:
        at = text.index(surface)
        mentions.append(Mention(kind, [(at, at + len(surface))], attributes=attributes))
    return Document(text, mentions=mentions)


def taught() -> list[Document]:
    """Return notes in which the word before a mention gives its course, and no cue of the lexicon does."""
    random.seed(1)
    found = []
    for _ in range(40):
        for word, course in (("brisk", "acute"), ("lasting", "chronic"), ("some", None)):
            surface = random.choice(["pain", "cough", "rash", "edema"])
            attributes: dict[str, object] = {} if course is None else {"course": course}
            found.append(note(f"She has {word} {surface} today.", (surface, attributes)))
    return found


@cache
def stage() -> AttributeModel:
    """Return a stage of the bundled notes."""
    found = fit_attributes([one for part in ("train", "dev") for one in read(clinical() / part)])
    assert found is not None
    return found


def blank(documents: Sequence[Document]) -> list[Document]:
    return [one.copy(mentions=[mention.replace(attributes={}) for mention in one.mentions]) for one in documents]


def test_what_no_rule_knows_is_learned() -> None:
    model = fit_attributes(taught())
    assert model is not None
    given = [note(f"He had {word} weakness.", ("weakness", {})) for word in ("brisk", "lasting", "some")]
    courses = [one.mentions[0].attributes.get("course") for one in model.run(given)]
    assert courses == ["acute", "chronic", None]
    assert model.describe()["course"]["values"] == ["acute", "chronic"]
    assert model.describe()["course"]["F1"] > 0.95


def test_learned_attributes_are_better_than_chance_on_notes_that_were_not_seen() -> None:
    gold = list(read(clinical() / "test"))
    report = evaluate_attributes(gold, list(stage().run(blank(gold))))
    assert report.attributes["negated"].values["true"].f1 > 0.9


def test_every_value_has_its_probability() -> None:
    [marked] = stage().run([note("No rash.", ("rash", {}))])
    [mention] = marked.mentions
    assert mention.attributes == {"negated": True, "uncertain": False, "historical": False}
    assert mention.attribute_scores.keys() == mention.attributes.keys()
    assert all(0.5 <= score <= 1 for score in mention.attribute_scores.values())
    told = stage().explain(marked, mention)
    assert told["negated"]["true"] == pytest.approx(mention.attribute_scores["negated"])
    assert sum(told["negated"].values()) == pytest.approx(1)


def test_types_without_an_attribute_in_training_get_none() -> None:
    [marked] = stage().run([note("No rash.", ("rash", {}), kind="anatomy")])
    assert marked.mentions[0].attributes == {}


def test_true_alone_and_false_and_texts() -> None:
    both = [note("No rash.", ("rash", {"negated": True}))] * 10 + [note("A rash.", ("rash", {"negated": False}))] * 10
    model = fit_attributes(both)
    assert model is not None and model.classifiers[0].values == (True, False)
    texts = [note("No rash.", ("rash", {"seen": "no"}))] * 10 + [note("A rash.", ("rash", {"seen": "yes"}))] * 10
    model = fit_attributes(texts)
    assert model is not None and model.classifiers[0].values == ("no", "yes")
    [marked] = model.run([texts[0]])
    assert marked.mentions[0].attributes == {"seen": "no"}


def test_too_few_mentions_teach_nothing() -> None:
    assert fit_attributes([]) is None
    assert fit_attributes([note("A rash.", ("rash", {}))] * 9) is None
    assert fit_attributes([note("No rash.", ("rash", {"negated": True}))] * 4) is None
    assert fit_attributes([note("No rash.", ("rash", {"negated": True}))] * 40) is None  # always true


def test_a_thousand_values_and_many_attributes_are_bounded_with_a_warning(monkeypatch) -> None:
    assert MOST_VALUES <= 50 and MOST_ATTRIBUTES <= 50
    monkeypatch.setattr(fitting, "MOST_VALUES", 4)
    monkeypatch.setattr(fitting, "MOST_ATTRIBUTES", 3)
    documents = [note("A rash.", ("rash", {"code": str(i % 1000)})) for i in range(1500)]
    with pytest.warns(DataWarning, match="'code' has 1,000 values; the 4 most frequent are learned"):
        model = fit_attributes(documents)
    assert model is not None and len(model.classifiers[0].values) == 4
    many = [note("A rash.", ("rash", {f"a{i}": True for i in range(200)}))] * 5 + [note("No rash.", ("rash", {}))] * 5
    with pytest.warns(DataWarning, match="have 200 attributes; the 3 most frequent"):
        model = fit_attributes(many)
    assert model is not None and model.attributes == ("a0", "a1", "a10")


def test_the_stage_is_stored_and_the_same_again() -> None:
    part = ModelPart.of(stage().to_part().json(), stage().to_part().flat())
    again = AttributeModel.from_part(part)
    documents = blank(list(read(clinical() / "test")))
    assert list(again.run(documents)) == list(stage().run(documents))
    assert again.describe() == stage().describe()


def test_a_damaged_stage_is_refused() -> None:
    part = stage().to_part()
    with pytest.raises(ModelError, match="weights"):
        AttributeModel.from_part(
            ModelPart(part.values, {**part.arrays, "weights": part.arrays["weights"][:1]}, part.parts)
        )
    with pytest.raises(ModelError, match="not finite"):
        spoilt = {**part.arrays, "numbers": np.full_like(part.arrays["numbers"], np.nan)}
        AttributeModel.from_part(ModelPart(part.values, spoilt, part.parts))
    values = {**part.values, "attributes": [{**one, "scalings": []} for one in part.values["attributes"]]}
    with pytest.raises(ModelError, match="do not belong together"):
        AttributeModel.from_part(ModelPart(values, part.arrays, part.parts))


@cache
def given_and_alone() -> tuple[list[Document], list[Document]]:
    """Return documents, and as they are marked each by itself."""
    given = [*blank(list(read(clinical() / "test"))), Document(""), note("患者无发热。", ("发热", {}))]
    given += [note("Niega fiebre.", ("fiebre", {})), Document("No mention."), note("PMH: gout", ("gout", {}))]
    given += [
        Document("  ", mentions=[Mention("problem", [(0, 1)])]),
        note("Ill.  ", ("  ", {})),
        note("No", ("No", {})),
    ]
    return given, [stage().run([one])[0] for one in given]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 13), max_size=9))
def test_attributes_do_not_depend_on_company_or_order(numbers: list[int]) -> None:
    given, alone = given_and_alone()
    assert stage().run([given[i % len(given)] for i in numbers]) == [alone[i % len(given)] for i in numbers]


def test_a_long_text_and_a_long_mention_take_linear_time(assert_linear) -> None:
    def work(count: int):
        text = "no fever but cough or chills with pain in the arm of " * count
        step = len(text) // count
        mentions = [Mention("problem", [(step * i + 3, step * i + 8)]) for i in range(count)]
        document = Document(text, mentions=[*mentions, Mention("problem", [(0, len(text) - 1)])])
        return lambda: list(stage().run([document]))

    assert_linear(work, 300)


def test_rules_mark_what_was_not_learned() -> None:
    text = "Her mother had no gout."
    given = [note(text, ("gout", {}))]
    [every] = attributing([stage()], "all")(given)
    assert every.mentions[0].attributes["experiencer"] == "family" and every.mentions[0].attributes["negated"] is True
    [one] = attributing([stage()], ["experiencer"])(given)
    assert one.mentions[0].attributes == {"experiencer": "family"}
    [none] = attributing([stage()], "none")(given)
    assert none.mentions[0].attributes == {}
    with pytest.raises(UsageError, match="no cues mark the attribute 'negate'"):
        attributing([stage()], ["negate"])
    with pytest.raises(UsageError, match="'experiencer' was not learned; there are negated, uncertain, historical"):
        list(stage().run(given, ["experiencer"]))


def test_a_recognizer_learns_stores_and_predicts_attributes(tmp_path) -> None:
    documents = [note("No chest pain.", ("chest pain", {"negated": True})), note("A rash.", ("rash", {}))] * 30
    recognizer = Recognizer("bio", features=["bias", "w[-1..1]"], epochs=5).fit(documents)
    [mention] = recognizer.predict("No chest pain.").mentions
    assert mention.attributes == {"negated": True} and mention.attribute_scores["negated"] > 0.8
    assert recognizer.predict("No chest pain.", attributes=()).mentions[0].attributes == {}
    assert recognizer.report_.attributes is not None and recognizer.report_.attributes["negated"].marked == 30
    assert "attribute negated: cross-validated F1 100.0 (30 of 60 mentions)" in list(recognizer.summary())
    assert recognizer.describe()["attributes"]["negated"]["marked"] == 30
    recognizer.save(tmp_path / "model")
    assert load(tmp_path / "model").predict("No chest pain.") == recognizer.predict("No chest pain.")
    off = Recognizer("bio", features=["bias", "w[-1..1]"], epochs=5, attributes="off").fit(documents)
    assert off.stages_ == () and off.predict("No chest pain.").mentions[0].attributes == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = recognizer.fit([note("A rash.", ("rash", {}))] * 30)
    assert again.stages_ == ()


def test_given_mentions_get_attributes_by_rules_or_by_what_was_learned() -> None:
    documents = [note("No chest pain.", ("chest pain", {"negated": True})), note("A rash.", ("rash", {}))] * 30
    recognizer = Recognizer("bio", features=["bias", "w[-1..1]"], epochs=5).fit(documents)
    given = note("Her mother had no gout.", ("gout", {}))
    [learned] = recognizer.predict(given, mentions="given").mentions
    assert learned.attributes == {"negated": True}
    [both] = recognizer.predict(given, mentions="given", attributes="negated,experiencer").mentions
    assert both.attributes == {"negated": True, "experiencer": "family"}
    off = Recognizer("bio", features=["bias", "w[-1..1]"], epochs=5, attributes="off").fit(documents)
    [by_rules] = off.predict(given, mentions="given", attributes=["negated"]).mentions
    assert by_rules.attributes == {"negated": True} and by_rules.attribute_scores == {}
    with pytest.raises(UsageError, match="adds nothing to given mentions"):
        off.predict(given, mentions="given")
