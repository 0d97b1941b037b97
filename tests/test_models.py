"""`spanloom.load` opens whatever was saved as a folder, and says so where it cannot."""

from __future__ import annotations

import copy
import json
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import joblib
import pytest

import spanloom
from spanloom.document import Document, Mention
from spanloom.errors import ModelError, UsageError
from spanloom.formats import to_record
from spanloom.link import Linker
from spanloom.models import KINDS, load
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.tag.pos_tagger import PosTagger
from spanloom.vocabulary import Concept, Vocabulary
from spanloom_lab import Cascade
from spanloom_lab.lm.language_model import LanguageModel

NOTE = Document("no pain", tokens=[(0, 2), (3, 7)], columns={"pos": ["DT", "NN"]}, mentions=[Mention("x", [(3, 7)])])
VOCABULARY = Vocabulary.build([Concept("1", "pain")])
SMALL = {"features": ["w[0]"], "epochs": 1}
MAKE = {
    "recognizer": lambda: Recognizer(**SMALL).fit([NOTE] * 20),
    "cascade": lambda: Cascade(**SMALL).fit([NOTE] * 20),
    "linker": lambda: Linker(["w[0]"], iterations=1, folds=2).fit([NOTE] * 20, vocabulary=VOCABULARY),
    "segmenter": lambda: Segmenter(**SMALL).fit([NOTE] * 20),
    "tagger": lambda: PosTagger(**SMALL).fit([NOTE] * 20),
    "language-model": lambda: LanguageModel.train([NOTE]),
    "vocabulary": lambda: VOCABULARY,
}


def test_every_kind_is_made_here():
    assert sorted(MAKE) == sorted([*KINDS, "cascade", "language-model"])


@pytest.mark.parametrize("kind", MAKE)
def test_what_is_saved_is_loaded(kind, tmp_path):
    model = MAKE[kind]()
    model.save(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "model.json").read_text())["kind"] == kind
    again = spanloom.load(tmp_path / "model")
    assert type(again) is type(model)
    assert again.kind == kind
    again.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


@pytest.mark.parametrize("kind", MAKE)
def test_what_is_pickled_or_copied_is_the_same(kind, tmp_path):
    model = MAKE[kind]()
    model.save(tmp_path / "model")
    joblib.dump(model, tmp_path / "model.joblib")
    for number, again in enumerate(
        (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(tmp_path / "model.joblib"))
    ):
        again.save(tmp_path / f"again{number}")
        for name in ("model.json", "weights.safetensors"):
            assert (tmp_path / f"again{number}" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()
        if hasattr(model, "predict"):
            assert [to_record(d) for d in again.predict([NOTE])] == [to_record(d) for d in model.predict([NOTE])]


def test_a_model_is_an_argument_of_a_process():
    model = MAKE["recognizer"]()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = pool.submit(_predicted, model, "no pain").result()
    assert found == to_record(model.predict("no pain"))


def _predicted(model, text):
    return to_record(model.predict(text))


def test_models_say_what_they_are():
    assert repr(Recognizer("shared", epochs=3)) == "Recognizer(structure='shared', epochs=3)"
    assert repr(Recognizer(pos=PosTagger(rate=0.5))) == "Recognizer(pos=PosTagger(rate=0.5))"
    model = MAKE["recognizer"]()
    assert repr(model) == "<Recognizer(features=['w[0]'], epochs=1), trained on 20 documents: x>"
    assert repr(MAKE["tagger"]()) == "<PosTagger(features=['w[0]'], epochs=1), trained on 18 documents: DT, NN>"
    assert repr(MAKE["language-model"]()) == "<LanguageModel of order 3: 5 words>"
    html = model._repr_html_()
    assert html.startswith("<table><caption>Recognizer, trained on 20 documents: x</caption>")
    assert "<td>dev f1</td>" in html
    odd = Recognizer(features=["<b>"])._repr_html_()
    assert "<b>" not in odd
    assert "&lt;b&gt;" in odd
    assert "not trained" in odd


def test_loaded_models_show_what_was_chosen_alone(tmp_path):
    for kind, shown in (("segmenter", "Segmenter"), ("tagger", "PosTagger")):
        MAKE[kind]().save(tmp_path / kind)
        assert repr(load(tmp_path / kind)).startswith(f"<{shown}(features=['w[0]'], epochs=1), trained on ")


def test_explanations_are_tables_in_notebooks():
    [found] = MAKE["recognizer"]().explain("pain", [Mention("x", [(0, 4)])])
    html = found._repr_html_()
    assert re.match(r"<table><caption>x 0-4, [0-9.]+ %: (not )?found, [^<]*“pain”", html)
    assert "<th>features</th>" in html
    assert "w[0]=pain +" in html
    linked = MAKE["linker"]().explain("no pain", [Mention("x", [(3, 7)])])[0]._repr_html_()
    assert "<caption>candidates</caption>" in linked


def test_explanations_are_printed_in_lines():
    [found] = MAKE["recognizer"]().explain("pain", [Mention("x", [(0, 4)])])
    first, *lines = str(found).splitlines()
    assert re.match(r"x 0-4, [0-9.]+ %: (not )?found, .*“pain”", first)
    assert any(re.fullmatch(r"  [+-][0-9.]+  \S+  pain  w\[0\]=pain .*", line) for line in lines)
    [linked] = MAKE["linker"]().explain("no pain", [Mention("x", [(3, 7)])])
    assert len(str(linked).splitlines()) == 1 + len(linked.candidates)


@pytest.mark.parametrize("kind", ["recognizer", "cascade", "linker", "segmenter"])
def test_what_is_no_mention_is_not_explained(kind):
    model = MAKE[kind]()
    for asked, message in (
        ("x", "mentions is the str 'x', expected a list of Mention"),
        (["x"], "item 0 of mentions is the str 'x', expected a Mention"),
        (Mention("x", [(0, 4)]), "mentions is .*expected a list of Mention"),
    ):
        with pytest.raises(UsageError, match=message):
            model.explain("pain", asked)


def test_unknown_kinds_and_no_model(tmp_path):
    MAKE["vocabulary"]().save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    file.write_text(file.read_text().replace('"vocabulary"', '"fortune-teller"'))
    with pytest.raises(ModelError, match="a model of kind 'fortune-teller', expected one of recognizer, linker, seg"):
        spanloom.load(tmp_path / "model")
    with pytest.raises(ModelError, match="no model here"):
        spanloom.load(tmp_path)
