"""`spanloom.load` opens whatever was saved as a folder, and says so where it cannot."""

from __future__ import annotations

import json

import pytest

import spanloom
from spanloom.document import Document, Mention
from spanloom.errors import ModelError
from spanloom.link import Linker
from spanloom.link.language_model import LanguageModel
from spanloom.models import KINDS
from spanloom.recognize import Cascade, Recognizer
from spanloom.recognize.pos_tagger import PosTagger
from spanloom.segment import Segmenter
from spanloom.vocabulary import Concept, Vocabulary

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
    assert list(MAKE) == list(KINDS)


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


def test_unknown_kinds_and_no_model(tmp_path):
    MAKE["vocabulary"]().save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    file.write_text(file.read_text().replace('"vocabulary"', '"fortune-teller"'))
    with pytest.raises(
        ModelError, match="a model of kind 'fortune-teller', expected one of recognizer, cascade, linker, seg"
    ):
        spanloom.load(tmp_path / "model")
    with pytest.raises(ModelError, match="no model here"):
        spanloom.load(tmp_path)
