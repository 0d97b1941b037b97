"""Training on several annotators, end to end, and what is refused of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, load
from spanloom.cli.inspect import lines
from spanloom.document.annotators import key_of, merged, versions_of
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import score
from spanloom.recognize.source import is_whole, whole_annotation
from spanloom_lab import Cascade

SETTINGS: dict[str, Any] = {
    "features": ["bias", "low[-1..1]"], "epochs": 8, "l2": 0.1, "rescore": False, "split_tokens": False
}  # fmt: skip
THINGS = {"drug": ["aspirin", "insulin", "heparin", "morphine"], "sign": ["fever", "chest pain", "cough", "nausea"]}
REST = ["and", "today", "no", "given", "with", "then", "rest", "later", "again", "mild"]


def texts(number: int, seed: int) -> list[Document]:
    """Texts with two types of mentions that words tell."""
    draw, found = random.Random(seed), []
    for i in range(number):
        text, mentions = "", []
        for _ in range(12):
            name = draw.choice(["drug", "sign", "", "", ""])
            word = draw.choice(THINGS.get(name, REST))
            if name:
                mentions.append(Mention(name, [(len(text), len(text) + len(word))]))
            text += word + " "
        found.append(Document(text, id=str(i), mentions=mentions))
    return found


def marked(documents: Sequence[Document], name: str, missed: float, mistyped: float) -> list[Document]:
    """Documents of an annotator who misses some mentions, and takes some of the others for another type."""
    draw, found = random.Random(name), []
    for one in documents:
        kept = [mention for mention in one.mentions if draw.random() >= missed]
        other = {"drug": "sign", "sign": "drug"}
        kept = [m.replace(type=other[m.type]) if draw.random() < mistyped else m for m in kept]
        found.append(one.copy(mentions=kept, meta={"annotator": name}))
    return found


def alone(documents: Sequence[Document]) -> list[Document]:
    return [one.copy(meta={}) for one in documents]


KNOWN, DEV, TEST = texts(150, 1), texts(20, 2), texts(20, 3)
VOICES = {"Ada": (0.1, 0.02), "Eve": (0.3, 0.05), "Max": (0.55, 0.3)}
ALL = [one for name, (missed, mistyped) in VOICES.items() for one in marked(KNOWN, name, missed, mistyped)]


@pytest.fixture(scope="module")
def model() -> Recognizer:
    return Recognizer(**SETTINGS).fit(ALL, dev=DEV)


def test_rates_that_annotators_were_drawn_with(model: Recognizer) -> None:
    told = model.report_.annotators
    assert told is not None
    assert (told.documents, told.shared) == (150, 150)
    for name, (missed, mistyped) in VOICES.items():
        one = told.annotators[name]
        assert one.documents == 150
        assert one.overall.found == pytest.approx((1 - missed) * (1 - mistyped), abs=0.05)
        assert one.overall.right == pytest.approx(1 - mistyped, abs=0.05)
        assert one.overall.mentions == sum(quality.mentions for quality in one.types.values())
    agreements = [told.annotators[name].agreement for name in VOICES]
    assert agreements == sorted(agreements, reverse=True)
    assert told.mentions == pytest.approx(sum(len(one.mentions) for one in KNOWN), rel=0.05)


def test_more_than_the_worst_and_than_all_pooled(model: Recognizer) -> None:
    ours = score(TEST, model.predict(TEST)).f1
    pooled = [one.copy(id=f"{one.id} {one.meta['annotator']}", meta={}) for one in ALL]
    assert ours > 0.98
    assert ours >= score(TEST, Recognizer(**SETTINGS).fit(pooled, dev=DEV).predict(TEST)).f1
    worst = Recognizer(**SETTINGS).fit(alone(ALL[-150:]), dev=DEV)
    assert ours > score(TEST, worst.predict(TEST)).f1


def test_two_good_annotators_outvote_a_bad_one() -> None:
    """One who takes every type for the other."""
    good = [*marked(KNOWN, "Ada", 0.05, 0), *marked(KNOWN, "Eve", 0.05, 0)]
    model = Recognizer(**SETTINGS, tune_penalty=False).fit([*good, *marked(KNOWN, "Max", 0.05, 1.0)], dev=DEV)
    assert score(TEST, model.predict(TEST)).f1 > 0.98
    told = model.report_.annotators
    assert told is not None
    assert told.annotators["Max"].overall.right < 0.1
    assert min(told.annotators[name].overall.right for name in ("Ada", "Eve")) > 0.95


@pytest.mark.parametrize("structure", ["bio", "shared", "semi_markov", "separator_states"])
def test_every_structure_learns(structure: str) -> None:
    few = [one for one in ALL if int(one.id) < 50]
    model = Recognizer(structure, **SETTINGS).fit(few, dev=DEV)
    assert score(TEST, model.predict(TEST)).f1 > 0.95


def test_same_bytes_for_any_number_of_threads(model: Recognizer) -> None:
    other = Recognizer(**SETTINGS, n_jobs=2).fit(ALL, dev=DEV)
    for a, b in zip(model.fitted.scorer.weights, other.fitted.scorer.weights, strict=True):
        np.testing.assert_array_equal(a, b)
    assert model.report_.annotators == other.report_.annotators


def test_model_is_saved_with_its_report(model: Recognizer, tmp_path: Any) -> None:
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, Recognizer)
    assert loaded.report_ == model.report_
    assert any("annotator Max" in line for line in model.summary())
    shown = [line for line in lines(loaded.describe()) if "annotator" in line]
    assert len(shown) == 3
    assert "% right, agreement" in shown[0]


def test_texts_of_one_annotator_beside_shared_ones() -> None:
    """Nobody covers all; one is sure of a part alone, and unknown text says nothing."""
    ada = [one for one in ALL if one.meta["annotator"] == "Ada"][:100]
    eve = [one for one in ALL if one.meta["annotator"] == "Eve"][50:]
    for one in eve[-10:]:
        one.meta = {**one.meta, "annotation": "unknown"}
    least = [one.copy(mentions=one.mentions[:1], meta={"annotator": "Max", "annotation": "at-least"}) for one in KNOWN]
    model = Recognizer(**SETTINGS).fit([*ada, *eve, *least], dev=DEV)
    told = model.report_.annotators
    assert told is not None
    assert [told.annotators[name].documents for name in ("Ada", "Eve", "Max")] == [100, 100, 150]
    assert told.annotators["Max"].overall.right > 0.9
    assert score(TEST, model.predict(TEST)).f1 > 0.95
    for one in eve[-10:]:
        del one.meta["annotation"]


def test_without_development_data_nothing_is_tuned_on_votes() -> None:
    model = Recognizer(**SETTINGS).fit(ALL)
    assert (model.report_.penalty, model.report_.calibration) == (0, None)
    assert score(TEST, model.predict(TEST)).f1 > 0.9


def test_two_annotators_of_different_texts_are_no_several() -> None:
    given = [one.copy(meta={"annotator": "Ada" if i % 2 else "Eve"}) for i, one in enumerate(KNOWN)]
    assert Recognizer(**SETTINGS).fit(given, dev=DEV).report_.annotators is None


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"passes": "two"}, "with several annotators there is one pass over documents, passes is 'two'"),
        ({"density": 30}, "density is 30, but several annotators determine"),
        ({"annotation": "at-least"}, "no annotator's annotation of type 'drug' is complete anywhere"),
    ],
)
def test_what_is_refused(parameters: dict[str, Any], told: str) -> None:
    with pytest.raises((UsageError, DataError)) as error:
        Recognizer(**(SETTINGS | parameters)).fit(ALL, dev=DEV)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_development_data_of_several_annotators() -> None:
    with pytest.raises(UsageError, match="tuning on development data takes one annotation of each"):
        Recognizer(**SETTINGS).fit(KNOWN, dev=ALL)


def test_one_sentence() -> None:
    one = Document("no fever", id="1", mentions=[Mention("sign", [(3, 8)])], meta={"annotator": "Ada"})
    with pytest.raises(DataError, match="have marked one training sentence"):
        Recognizer(**SETTINGS).fit([one, one.copy(meta={"annotator": "Eve"})], dev=DEV)


def test_cascades_learn_from_what_annotators_agree_on() -> None:
    settings = {name: value for name, value in SETTINGS.items() if name != "rescore"}
    assert score(TEST, Cascade(**settings).fit(ALL, dev=DEV).predict(TEST)).f1 > 0.9


def test_agreed_mentions_are_marked_by_all_or_found() -> None:
    whole = whole_annotation(ALL, DEV, **SETTINGS)
    assert is_whole(whole)
    assert len(whole) == len(merged(ALL))
    for one, versions in zip(whole, map(versions_of, merged(ALL)), strict=True):
        marks = [version.mentions for version in versions.values()]
        keys = {key_of(mention) for mention in one.mentions}
        assert frozenset.intersection(*marks) <= keys <= frozenset.union(*marks)
    assert score(KNOWN, [whole[i] for i in range(len(KNOWN))]).f1 > 0.9
