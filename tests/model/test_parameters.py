"""The protocol of scikit-learn's estimators, and parameters with values that are not valid."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.errors import SpanloomError, UsageError
from spanloom.hypergraph import ENGINES
from spanloom.link import Linker
from spanloom.recognize import Recognizer, load
from spanloom.recognize.parameters import EncoderParameters
from spanloom.segment import Segmenter
from spanloom.structures import READINGS, STRUCTURES
from spanloom_lab import Cascade

DOCUMENTS = [Document("No chest pain today", mentions=[Mention("x", [(3, 13)])])] * 30


def clone(estimator):
    """As `sklearn.base.clone` does, with its check that the constructor changes nothing."""
    parameters = estimator.get_params(deep=False)
    copy = type(estimator)(**parameters)
    for name, value in copy.get_params(deep=False).items():
        assert value is parameters[name]
    return copy


def test_clone_copies_parameters_but_nothing_learned():
    recognizer = Recognizer("bio", ["bias", "w[0]"], l2=[0.1, 1.0], epochs=3, n_jobs=-1).fit(DOCUMENTS)
    copy = clone(recognizer)
    assert copy.get_params() == recognizer.get_params()
    assert not hasattr(copy, "model_")
    assert recognizer.fitted


def test_parameters_are_those_of_the_constructor():
    names = list(inspect.signature(Recognizer).parameters)
    assert list(Recognizer().get_params()) == names
    recognizer = Recognizer()
    assert recognizer.set_params(l2=0.5, structure="bio") is recognizer
    assert (recognizer.l2, recognizer.structure) == (0.5, "bio")
    assert recognizer.set_params() is recognizer
    with pytest.raises(UsageError, match=r"no parameter 'lambda'; there are structure, features, "):
        recognizer.set_params(**{"lambda": 1})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("structure", "tree", [*STRUCTURES]),
        ("counting", "twice", [*ENGINES]),
        ("optimizer", "sgd", ["adagrad", "lbfgs"]),
        ("reading", "some", [*READINGS]),
        ("features", "everything", ["biomedical", "small"]),
        ("l2", -1.0, ["l2"]),
        ("l2", [], ["l2"]),
        ("l2", [1.0, -2.0], ["l2"]),
        ("l2", float("nan"), ["l2"]),
        ("l2", [1.0, float("inf")], ["l2"]),
        ("l2", "much", ["l2"]),
        ("l2", 10**400, ["l2"]),
        ("epochs", 0, ["epochs"]),
        ("epochs", 1.5, ["epochs"]),
        ("iterations", 0, ["iterations"]),
        ("min_count", 0, ["min_count"]),
        ("rate", 0.0, ["rate"]),
        ("rate", float("nan"), ["rate"]),
        ("rate", float("inf"), ["rate"]),
        ("rate", 10**400, ["rate"]),
        ("n_jobs", "all", ["n_jobs"]),
        ("random_state", -1, ["random_state"]),
        ("features", [], ["template"]),
        ("features", ["w[0"], ["w[0"]),
        ("clusters", 1, ["clusters"]),
        ("clusters", "no-such-file", ["no-such-file"]),
        ("random_state", 2**70, ["random_state", "from 0 to 9223372036854775807"]),
        ("epochs", 2**70, ["epochs", "from 1 to 9223372036854775807"]),
        ("adapters", 2**16 + 1, ["adapters is 65537", "from 0 to 65536"]),
        ("checkpoint", 7, ["checkpoint is 7", "path of a folder, or None"]),
        ("checkpoint", "", ["checkpoint is ''", "path of a folder, or None"]),
        ("encoder", 7, ["encoder is 7", "path of a folder, or None"]),
        ("encoder", " ", ["encoder is ' '", "path of a folder, or None"]),
        ("context", "no", ["context is 'no'", "True or False"]),
        ("with_features", "no", ["with_features is 'no'", "True or False"]),
        ("recompute", None, ["recompute is None", "True or False"]),
        ("rescore", 2, ["rescore is 2", "True or False"]),
        ("names", "no", ["names is 'no'"]),
    ],
)
def test_parameters_that_cannot_be_meant(name, value, words):
    with pytest.raises(SpanloomError) as caught:
        Recognizer(**{name: value}).fit(DOCUMENTS)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


OF_ENCODERS = {
    "encoder_epochs": 3, "encoder_rate": 1e-3, "head_rate": 0.5, "adapters": 4, "layer_decay": 0.5, "seeds": 2,
    "step_subwords": 64, "accumulate": 2, "recompute": True, "window": 64, "context": False, "pooling": "mean",
    "precision": "float32", "device": "cpu",
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ENCODERS)
@pytest.mark.parametrize("kind", [Recognizer, Cascade, Segmenter])
def test_what_only_an_encoder_reads_needs_one(kind, name):
    estimator = kind(**{name: OF_ENCODERS[name]})  # which tools such as scikit-learn's must be able to make and copy
    assert clone(estimator).get_params()[name] == OF_ENCODERS[name]
    with pytest.raises(UsageError, match=f"{name} is .*, of which only an encoder makes use, and none is given; name"):
        estimator.fit(DOCUMENTS)
    default = kind().get_params()[name]
    estimator.set_params(**{name: default}).check()
    assert set(OF_ENCODERS) == {one.name for one in fields(EncoderParameters)} - {
        "encoder", "checkpoint", "n_jobs", "random_state"
    }  # fmt: skip


@pytest.mark.parametrize("estimator", [Recognizer(), Cascade(), Segmenter("incremental"), Segmenter()])
def test_a_checkpoint_needs_an_encoder(estimator, tmp_path):
    with pytest.raises(UsageError, match="checkpoint is given without an encoder, whose training it keeps; leave it"):
        clone(estimator).set_params(checkpoint=tmp_path / "kept").fit(DOCUMENTS)


def test_numbers_of_numpy_are_numbers(tmp_path):
    """As a search over a grid gives them."""
    recognizer = Recognizer(
        features=("bias", "w[0]"), l2=np.float32(0.5), epochs=np.int64(2), rate=np.float64(0.1),
        tune_penalty=np.bool_(True), random_state=np.int64(3), min_count=np.int32(1),
    ).fit(DOCUMENTS)  # fmt: skip
    assert recognizer.report_.l2 == 0.5
    recognizer.save(tmp_path / "model")
    assert load(tmp_path / "model").get_params()["epochs"] == 2


@pytest.mark.parametrize(("kind", "old"), [(Recognizer, "tagger_"), (Cascade, "chains_"), (Linker, "system_")])
def test_what_was_learned_is_known_by_its_old_name_too(kind, old):
    model = kind()
    assert not hasattr(model, old)
    model.model_ = object()
    with pytest.warns(DeprecationWarning, match=rf"{old} is now model_, and goes with version 0\.3"):
        assert getattr(model, old) is model.model_
