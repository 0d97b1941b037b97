"""When the vectors that come with Spanloom are tried, and that the choice is the better of both."""

from __future__ import annotations

import pytest

from spanloom import Recognizer, load, read
from spanloom.data import clinical
from spanloom.errors import UsageError
from spanloom.features import FeatureSet
from spanloom.model.resources import tried_features

SMALL = {"features": "fast", "structure": "separators", "epochs": 2, "rescore": False, "l2": 1.0, "attributes": "off"}


pytestmark = [
    pytest.mark.filterwarnings("ignore::spanloom.errors.LostWarning"),
    pytest.mark.filterwarnings("ignore::spanloom.errors.DataWarning"),
]


@pytest.fixture(scope="module")
def notes():
    own = [one.copy(meta={}) for one in read(clinical() / "train")]
    return [one.copy(id=f"{one.id}-{number}") for number in range(6) for one in own]


def test_they_are_tried_for_english_text_of_some_size_and_own_presets(notes):
    ready = Recognizer(**SMALL).fit(notes[:1])
    features = FeatureSet.preset("fast")
    tokens = sum(one.token_count for one in ready.predict(notes))
    assert 20_000 < tokens < 250_000
    marked = ready.predict(notes)
    tried = tried_features(features, "fast", marked)
    assert [str(one) for one in tried.templates][-1] == "vector[-1..1]"
    assert tried_features(features, "fast", marked[:40]) is None, "little text"
    assert tried_features(features, "fast", marked * 20) is None, "much text"
    assert tried_features(features, "clinical", marked) is None, "the preset of a paper"
    assert tried_features(features, ("w[0]",), marked) is None, "own templates"
    strange = ready.predict([one.text.translate(str.maketrans("aeiou", "äëïöü")) for one in notes])
    assert tried_features(features, "fast", strange) is None, "another language"


def test_the_choice_is_what_was_asked_for_then(notes):
    dev = list(read(clinical() / "dev"))
    auto, english, none = (
        Recognizer(**SMALL, vectors=vectors).fit(notes, dev=dev) for vectors in ("auto", "english", "none")
    )
    better = english if english.report_.dev_f1 > none.report_.dev_f1 else none
    assert auto.report_.dev_f1 == better.report_.dev_f1
    assert auto.predict(dev) == better.predict(dev)
    assert (auto.report_.vectors is None) == (better is none)
    assert none.predict(dev) == Recognizer(**SMALL, vectors=None).fit(notes, dev=dev).predict(dev)


def test_they_are_stored(notes, tmp_path):
    model = Recognizer(**SMALL, vectors="english").fit(notes[:40])
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(notes[:5]) == model.predict(notes[:5])


def test_a_work_folder_refuses_them(notes, tmp_path):
    with pytest.raises(UsageError, match="vectors is 'english'"):
        Recognizer(**SMALL, vectors="english").fit(notes[:40], work=tmp_path / "work")
