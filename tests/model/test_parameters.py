"""The protocol of scikit-learn's estimators, and parameters with values that are not valid."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.errors import SpanloomError, UsageError
from spanloom.hypergraph import ENGINES
from spanloom.link import Linker
from spanloom.recognize import Cascade, Recognizer, load
from spanloom.structures import READINGS, STRUCTURES

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
    ],
)
def test_parameters_that_cannot_be_meant(name, value, words):
    with pytest.raises(SpanloomError) as caught:
        Recognizer(**{name: value}).fit(DOCUMENTS)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


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
