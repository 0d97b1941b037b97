"""Two passes over documents: what the second sees is held out, the same after saving, told, and refused where wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, load
from spanloom.document import Batch
from spanloom.errors import ModelError, UsageError
from spanloom.features import FeatureSet
from spanloom.model.corpus import Gold
from spanloom.passes import COLUMNS, PassSettings, fit_pass, is_worth_two_passes
from spanloom.text import prepare
from spanloom_lab import Cascade

NAMES = ["Alma", "Bert", "Cleo", "Dora", "Emil", "Fritz", "Gerd", "Hans", "Inge", "Jupp", "Karl", "Lena"]
TEMPLATES = ["bias", "low[-1]", "suffix(1..2)"]
SETTINGS = {"features": TEMPLATES, "l2": 0.1, "epochs": 3, "rate": 0.3, "rescore": False}
TYPES = ("person", "place")


def document(name, place, number=0):
    """A clear sentence, and an unclear one with the same name."""
    text = f"Mister {name} lives in {place} now. Then {name} came back from there."
    found = [Mention("person", [(at, at + len(name))]) for at in (text.index(name), text.rindex(name))]
    found.append(Mention("place", [(text.index(place), text.index(place) + len(place))]))
    return Document(text, id=f"d{number}", mentions=found)


DATA = [document(name, place, n) for n, (name, place) in enumerate(zip(NAMES * 2, NAMES[5:] * 4, strict=False))]
DEV = [document(name, place) for name, place in (("Otto", "Mali"), ("Rosa", "Bern"))]


def fitted(kind=Recognizer, **options):
    settings = {**SETTINGS, "passes": "two", **options}
    if kind is Cascade:
        settings.pop("rescore")
    return kind(**settings).fit(DATA, dev=DEV)


@pytest.fixture(scope="module", params=["separators", "shared", "bilou", "cascade"])
def model(request):
    return fitted(Cascade) if request.param == "cascade" else fitted(structure=request.param)


def mentions(model, documents):
    return [found.mentions for found in model.predict(documents)]


def columns_of(documents):
    batch = Batch.of([prepare(one) for one in documents])
    _, held_out = fit_pass(batch, Gold(batch, TYPES).table, TYPES, FeatureSet(TEMPLATES), PassSettings(epochs=2))
    return [{name: own.columns[name] for name in COLUMNS} for own in held_out.views()]


def test_columns_of_a_training_document_do_not_know_its_own_mentions():
    changed = [DATA[0].copy(mentions=[]), *DATA[1:]]
    before, after = columns_of(DATA), columns_of(changed)
    assert after[0] == before[0]
    assert after != before, "others have learned from it"


def test_a_name_is_known_from_elsewhere_in_its_document(model):
    text = "Mister Zora lives here. Then Zora came back."
    filled = model.pass_.fill(Batch.of([prepare(Document(text))]))
    words = filled.words
    at = [i for i, word in enumerate(words) if word == "Zora"]
    assert filled.column("again")[at[1]].startswith("U-person>0.")
    assert filled.column("again_word")[at[1]].startswith("person>0.")
    assert filled.column("again_word")[words.index("lives")] == "", "it stands once"
    assert set(filled.column("known")) == {""}
    known = model.pass_.fill(Batch.of([prepare(Document("Mister Alma lives here."))]))
    assert known.column("known")[1].startswith("U-person ")


def test_a_short_form_is_known_by_its_long_form_and_the_other_way_round(model):
    for text, asked in (
        ("Mister Zora Quill (ZQ) lives here. Then ZQ came back.", ["ZQ"]),
        ("Then Zora Quill (ZQ) came back. Mister ZQ lives here.", ["Zora", "Quill"]),
    ):
        batch = Batch.of([prepare(Document(text))])
        filled, plain = (each.fill(batch) for each in (model.pass_, replace(model.pass_, short_forms=False)))
        at = [i for i, word in enumerate(filled.words) if word in asked]
        assert all("person>0." in filled.column("again")[i] for i in at[-len(asked) :])
        assert filled.column("again") != plain.column("again")


def test_models_saved_before_short_forms_do_not_read_them(model):
    part = model.to_part()
    assert part.parts["first_pass"].values == {"short_forms": True}
    part.parts["first_pass"].values.clear()
    old = type(model).from_part(part)
    assert not old.pass_.short_forms
    assert model.pass_.short_forms


def test_the_columns_are_features_and_are_explained(model):
    found = model.predict("Mister Alma lives in Mali now. Then Alma came back.")
    assert [mention.type for mention in found.mentions].count("person") == 2
    shown = json.dumps([item.record() for item in model.explain(found)])
    assert '"known[0]=U-person' in shown


def test_what_is_saved_says_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert mentions(again, [*DATA, *DEV]) == mentions(model, [*DATA, *DEV])
    assert again.report_ == model.report_
    again.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


def test_bytes_do_not_depend_on_threads(tmp_path):
    for threads in (1, 2):
        fitted(n_jobs=threads, rescore=True, passes="auto").save(tmp_path / str(threads))
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_one_pass_is_as_before_and_auto_takes_the_better():
    one, two, auto = (fitted(passes=way) for way in ("one", "two", "auto"))
    assert one.pass_ is None
    assert one.report_.passes is None
    assert two.report_.passes.kept
    told = auto.report_.passes
    assert told.after == two.report_.passes.after
    assert told.kept == (told.after > told.before) == (auto.pass_ is not None)
    assert mentions(auto, DATA) == mentions(two if told.kept else one, DATA)
    assert any("two passes over documents: development F1" in line for line in auto.summary())


@pytest.mark.parametrize("kind", [Recognizer, Cascade])
def test_documents_of_one_sentence_have_one_pass_and_are_told_so(kind):
    text = "Mister Alma lives here."
    single = [Document(text, mentions=[Mention("person", [(7, 11)])])] * 25
    settings = {**SETTINGS, "passes": "two"}
    if kind is Cascade:
        settings.pop("rescore")
    model = kind(**settings).fit(single, dev=single[:2])
    assert model.pass_ is None
    assert any("one pass over documents" in line for line in model.summary())
    assert not is_worth_two_passes(Batch.of([prepare(one) for one in single]))
    assert is_worth_two_passes(Batch.of([prepare(one) for one in DATA]))


def test_nothing_found_in_the_first_pass_is_no_reason_to_fail(model):
    for text in ("", "x", "there there. there there."):
        predicted = model.predict(text)
        among_others = model.predict([DATA[0], Document(text), DATA[1]])[1]
        assert predicted.mentions == among_others.mentions


def test_marginals_and_alternatives_see_both_passes(model):
    predicted = model.predict(DEV)
    if hasattr(model, "marginals"):
        scores = [[mention.score for mention in one.mentions] for one in predicted]
        assert [pytest.approx(own) for own in model.marginals(predicted)] == scores
        assert np.isfinite(model.log_likelihood(DEV)).all()
        assert len(list(model.alternatives(DEV))) == len(DEV)


def test_a_column_of_the_data_is_not_taken_over():
    own = [one.copy() for one in map(prepare, DATA)]
    for one in own:
        one.columns["known"] = ["x"] * one.token_count
    with pytest.raises(UsageError, match="names the column 'known', which the first of two passes fills"):
        Recognizer(**{**SETTINGS, "features": ["bias", "known[0]"], "passes": "auto"}).fit(own, dev=own[:2])
    kept = Recognizer(**{**SETTINGS, "features": ["bias", "known[0]"], "passes": "one"}).fit(own, dev=own[:2])
    assert "known[0]" in kept.describe()["templates"]


def test_a_value_that_is_none_is_refused():
    with pytest.raises(UsageError, match="passes is 'three', expected"):
        Recognizer(passes="three").fit(DATA)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", lambda held: np.full_like(held, 7)),
        ("share", lambda held: np.full_like(held, -1)),
        ("sizes", lambda held: np.array([9], np.int64)),
        ("keys", lambda held: held[::-1].copy()),
        ("keys", lambda held: held[:-1]),
        ("sizes", lambda held: held.astype(np.int32)),
    ],
)
def test_damaged_names_are_refused(model, name, value):
    part = model.to_part()
    arrays = part.parts["first_pass"].parts["names"].arrays
    arrays[name] = value(arrays[name])
    with pytest.raises(ModelError):
        type(model).from_part(part)


def test_a_first_pass_of_other_types_and_a_missing_one_are_refused(model):
    part = model.to_part()
    part.parts["first_pass"].parts["model"].values["types"] = ["person", "thing"]
    with pytest.raises(ModelError, match="a first pass of the types"):
        type(model).from_part(part)
    part = model.to_part()
    del part.parts["first_pass"]
    with pytest.raises(ModelError, match="there is no first pass"):
        type(model).from_part(part)
