"""A tagger inside a recognizer: documents without its column get it, wherever they are given."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.errors import ModelError, UsageError
from spanloom.modelfile import ModelPart, read, write
from spanloom.recognize import Recognizer, load
from spanloom.tag.pos_tagger import PosTagger, load_tagger
from spanloom_lab import Cascade

TAGS = {"the": "DT", "a": "DT", "valve": "NN", "atrium": "NN", "leaks": "VB", "is": "VB", "dilated": "JJ"}
TEXTS = ("the valve leaks", "the atrium is dilated", "a valve is dilated", "the atrium leaks")
SETTINGS = {"features": ["bias", "pos[-1..1]"], "epochs": 3, "tune_penalty": False}


def note(text, tagged=True, **more):
    words = text.split()
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    tokens = [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]
    columns = {"pos": [TAGS[word] for word in words]} if tagged else {}
    mentions = [Mention("body", [span]) for span, word in zip(tokens, words, strict=True) if TAGS[word] == "NN"]
    mentions += [Mention("state", [tokens[-1]])]
    return Document(text, tokens=tokens, columns=columns, mentions=mentions, **more)


GIVEN = [note(text, id=f"{n}") for n, text in enumerate(TEXTS * 5)]
BARE = [document.copy(columns={}) for document in GIVEN]


@pytest.fixture(scope="module")
def tagger():
    return PosTagger(epochs=3, min_count=1).fit(GIVEN, dev=GIVEN)


@pytest.fixture(scope="module", params=[Recognizer, Cascade])
def kind(request):
    return request.param


def found(model, documents):
    return [document.mentions for document in model.predict(documents)]


def test_documents_without_the_column_are_as_those_with_it(kind, tagger, tmp_path):
    with_column = kind(**SETTINGS, pos=None).fit(GIVEN)
    expected = found(with_column, GIVEN)
    assert sum(map(len, expected)) > 20
    with pytest.raises(UsageError, match="names the column 'pos'"):
        found(with_column, BARE)
    tagger.save(tmp_path / "tagger")
    for pos in (tagger, tmp_path / "tagger", str(tmp_path / "tagger")):
        model = kind(**SETTINGS, pos=pos).fit(BARE)
        assert found(model, BARE) == found(model, GIVEN) == expected
        assert [document.columns for document in model.predict(BARE[:2])] == [{}, {}]


def test_a_column_of_the_training_data_is_learned_unasked(kind, tmp_path):
    model = kind(**SETTINGS).fit(GIVEN)
    assert isinstance(model.pos_, PosTagger)
    assert found(model, BARE) == found(model, GIVEN)
    assert sum(map(len, found(model, BARE))) > 20
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert found(again, BARE) == found(model, BARE)
    assert again.pos == model.pos == "auto"


def test_development_data_are_seen_with_learned_tags(kind):
    odd = [document.copy(columns={"pos": ["XX"] * len(document.tokens)}) for document in GIVEN[:8]]
    one, two, three = (kind(**SETTINGS).fit(GIVEN[8:], dev=dev) for dev in (GIVEN[:8], odd, BARE[:8]))
    assert one.report_ == two.report_ == three.report_


@pytest.mark.parametrize("settings", [{"pos": None}, {"pos": "none"}, {"features": ["w[0]"]}])
def test_nothing_is_learned_where_it_is_of_no_use(kind, settings):
    assert kind(**{**SETTINGS, **settings}).fit(GIVEN).pos_ is None


@pytest.mark.parametrize("tags", [[""], ["a b"]])
def test_columns_that_no_tagger_can_learn_stay_columns(tags):
    odd = GIVEN[0].copy(columns={"pos": tags * len(GIVEN[0].tokens)})
    model = Recognizer(**SETTINGS).fit([odd, *GIVEN[1:]])
    assert model.pos_ is None


def test_what_the_data_have_is_kept(tagger):
    model = Recognizer(**SETTINGS, pos=tagger).fit(BARE)
    odd = [document.copy(columns={"pos": ["XX"] * len(document.tokens)}) for document in BARE]
    assert found(model, odd) != found(model, BARE)
    assert found(model, [odd[0], BARE[1]]) == [*found(model, odd[:1]), *found(model, BARE[1:2])]


def test_marginals_and_log_likelihood(tagger):
    model = Recognizer(**SETTINGS, pos=tagger).fit(BARE)
    assert model.marginals(BARE) == model.marginals(GIVEN)
    assert np.array_equal(model.log_likelihood(BARE), model.log_likelihood(GIVEN))


def test_development_data_and_threads(tagger):
    one, two = (Recognizer(**SETTINGS, pos=tagger, n_jobs=jobs).fit(BARE, dev=BARE[:4]) for jobs in (1, 2))
    assert found(one, BARE) == found(two, BARE)
    assert tagger.n_jobs == 1


def test_the_model_holds_the_tagger(kind, tagger, tmp_path):
    tagger.save(tmp_path / "tagger")
    by_path = kind(**SETTINGS, pos=str(tmp_path / "tagger")).fit(BARE)
    by_path.save(tmp_path / "by_path")
    kind(**SETTINGS, pos=tagger).fit(BARE).save(tmp_path / "by_object")
    for file in (tmp_path / "tagger").iterdir():
        file.unlink()
    again = load(tmp_path / "by_path")
    assert found(again, BARE) == found(by_path, BARE)
    assert again.get_params() == by_path.get_params()
    again.save(tmp_path / "again")
    other = load(tmp_path / "by_object")
    assert isinstance(other.pos, PosTagger)
    assert found(other.fit(BARE), BARE) == found(by_path, BARE)
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "by_path" / name).read_bytes()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"pos": 3}, UsageError, "pos is 3, expected a tagger, the folder of one, or 'auto'"),
        ({"pos": PosTagger()}, UsageError, "this tagger is not trained"),
        ({"pos": "no-such-folder"}, ModelError, "no-such-folder: no model here"),
        ({"features": ["w[0]"]}, UsageError, "pos is given, but no template names the column 'pos'"),
        ({"features": "biomedical", "ignore": ["pos"]}, UsageError, "pos is given, but no template names"),
    ],
)
def test_taggers_that_cannot_be_used(kind, tagger, settings, error, message):
    with pytest.raises(error, match=message):
        kind(**{**SETTINGS, "pos": tagger, **settings}).fit(BARE)


def test_a_recognizer_is_no_tagger(tmp_path):
    Recognizer(features=["w[0]"], epochs=1).fit(BARE).save(tmp_path / "model")
    with pytest.raises(ModelError, match="of kind 'recognizer', expected a tagger"):
        Recognizer(**SETTINGS, pos=tmp_path / "model").fit(BARE)
    with pytest.raises(ModelError):
        load_tagger(tmp_path / "model")


@pytest.mark.parametrize(
    "change",
    [
        lambda description, arrays: description["parts"]["tagger"]["parts"]["structure"].pop("types"),
        lambda description, arrays: description["parts"]["tagger"]["parts"]["structure"]["types"].append("DT"),
        lambda description, arrays: description["parts"]["tagger"]["params"].update(column=7),
        lambda description, arrays: description["parts"]["tagger"]["params"].update(features=["w[0"]),
        lambda description, arrays: description["parts"]["tagger"]["params"].update(surprise=1),
        lambda description, arrays: description["parts"]["tagger"].update(params=[]),
        lambda description, arrays: arrays.pop("tagger.structure.weights"),
        lambda description, arrays: arrays.update({"tagger.structure.constants": np.zeros((1, 1), np.float32)}),
    ],
)
def test_damaged_taggers(kind, tagger, tmp_path, change):
    kind(**SETTINGS, pos=tagger).fit(BARE).save(tmp_path / "model")
    part = read(tmp_path / "model", kind.kind)
    description, arrays = part.json(), part.flat()
    change(description, arrays)
    write(tmp_path / "model", kind.kind, ModelPart.of(description, arrays), force=True)
    with pytest.raises(ModelError, match="damaged") as caught:
        load(tmp_path / "model")
    assert "\n" not in str(caught.value)
