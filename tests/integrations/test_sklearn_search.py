"""scikit-learn: searches, cross-validation and clones work on documents, and so do those of its checks that apply."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.validation import check_is_fitted

import spanloom.errors
from spanloom import Linker, Recognizer, Segmenter, evaluate
from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document
from spanloom.errors import SpanloomError, UsageError, not_fitted
from spanloom.formats import read, to_record
from spanloom.link import load as load_linker
from spanloom.recognize import load
from spanloom.tag.pos_tagger import PosTagger
from spanloom.text import prepare
from spanloom_lab import Cascade

ESTIMATORS: list[Callable[[], Any]] = [Recognizer, Cascade, Linker, Segmenter, PosTagger]
# scikit-learn's own runner leaves out every check of an estimator that takes no arrays; these need no data
CHECKS = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_valid_tag_types,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_mixin_order,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
]


@pytest.fixture(scope="module")
def notes(notes: Any) -> list[Document]:
    documents: list[Document] = notes.dev
    return documents


def small(**params: Any) -> Recognizer:
    return Recognizer(features="small", epochs=5, tune_penalty=False, rescore=False, **params)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_checks_that_need_no_data(estimator: Callable[[], Any], check: Callable[[str, Any], None]) -> None:
    check(estimator.__name__, estimator())


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_the_runner_of_scikit_learn_finds_nothing_wrong() -> None:
    found = estimator_checks.check_estimator(Recognizer(), on_fail=None)
    assert [result["status"] for result in found] == ["passed"] * len(found)
    tags = get_tags(Recognizer())
    assert (tags.input_tags.two_d_array, tags.target_tags.required, tags.requires_fit) == (False, False, True)


def test_a_grid_search_over_lambda(notes: list[Document]) -> None:
    search = GridSearchCV(small(), {"l2": [0.01, 1000.0]}, cv=3).fit(notes)
    assert search.best_params_ == {"l2": 0.01}
    assert search.cv_results_["mean_test_score"][0] > search.cv_results_["mean_test_score"][1]
    assert isinstance(search.best_estimator_, Recognizer)
    assert search.best_estimator_.report_.l2 == 0.01
    again = small(l2=0.01).fit(notes)
    assert [to_record(document) for document in search.predict(notes)] == [
        to_record(document) for document in again.predict(notes)
    ]
    assert search.score(notes) == again.score(notes)


def test_a_search_by_a_measure_of_ones_own(notes: list[Document]) -> None:
    def recall(model: Recognizer, documents: list[Document]) -> float:
        return evaluate.score(documents, list(model.predict(documents))).recall

    search = GridSearchCV(small(), {"structure": ["separators", "bio"]}, scoring=recall, cv=2, refit=False).fit(notes)
    assert len(search.cv_results_["mean_test_score"]) == 2
    assert all(0 < value < 1 for value in search.cv_results_["mean_test_score"])


def test_cross_validation_by_groups(notes: list[Document]) -> None:
    groups = ["a", "b", "a", "b", "a", "b"][: len(notes)]
    scores = cross_val_score(small(), notes, groups=groups, cv=GroupKFold(2))
    assert len(scores) == 2
    train, test = train_test_split(notes, random_state=0)
    assert len(train) + len(test) == len(notes)


KINDS = {"chest pain": "problem", "cough": "problem", "fever": "sign"}
TEXTS = ["no chest pain today", "mild chest pain", "chest pain again", "he has chest pain"] * 3
MENTIONS = [[("problem", text.index("chest"), text.index("pain") + 4)] for text in TEXTS]


def test_texts_and_mentions_as_any_other_data() -> None:
    model = Recognizer(features=["bias", "w[0]"], rate=0.3, epochs=3)
    assert list(cross_val_score(model, TEXTS, MENTIONS, cv=3)) == [1.0] * 3
    found = cross_val_predict(model, TEXTS, MENTIONS, cv=3)
    assert [document.text for document in found] == TEXTS
    assert [[(m.type, m.start, m.end) for m in document.mentions] for document in found] == MENTIONS
    search = GridSearchCV(model, {"epochs": [1, 3]}, cv=2, n_jobs=2).fit(TEXTS, MENTIONS)
    assert search.predict(["mild chest pain"])[0].mentions
    shorter = FunctionTransformer(lambda texts: [text.strip() for text in texts])
    pipeline = Pipeline([("strip", shorter), ("model", model)]).fit(TEXTS, MENTIONS)
    assert pipeline.score(TEXTS, MENTIONS) == 1.0
    assert pipeline.predict([" mild chest pain "])[0].mentions[0].spans == ((5, 15),)


def test_scorers_by_name_compare_mentions() -> None:
    texts = ["no chest pain today", "mild cough and fever", "chest pain again", "he has cough"] * 3
    y = [
        [(text.index(word), text.index(word) + len(word), kind) for word, kind in KINDS.items() if word in text]
        for text in texts
    ]
    model = Recognizer(features=["bias", "w[0]"], rate=0.3, epochs=3, types=["problem"])  # not the rare type
    found = cross_validate(model, texts, y, cv=3, scoring=["f1_macro", "f1_micro", "precision", "recall_weighted"])
    expected = {"f1_macro": 0.5, "f1_micro": 8 / 9, "precision": 1.0, "recall_weighted": 0.8}
    assert {name: list(found[f"test_{name}"]) for name in expected} == {
        name: pytest.approx([value] * 3) for name, value in expected.items()
    }
    search = GridSearchCV(model, {"epochs": [1, 3]}, cv=2, scoring="f1_macro").fit(texts, y)
    assert list(search.cv_results_["mean_test_score"]) == [
        cross_val_score(clone(model).set_params(epochs=epochs), texts, y, cv=2, scoring=evaluate.f1_macro).mean()
        for epochs in (1, 3)
    ]
    model = clone(model).set_params(epochs=20, types=None)
    fitted = model.fit(texts, y)
    pairs = zip(texts, y, strict=True)
    only = [[mention for mention in mentions if mention[2] == "problem"] for _, mentions in pairs]
    assert evaluate.f1_macro(fitted, texts, only) == 0.5 == get_scorer("f1_macro")(fitted, texts, only)
    assert evaluate.f1_micro(fitted, texts, only) == pytest.approx(fitted.score(texts, only))
    assert get_scorer("precision_macro")(fitted, texts, only) == 0.5
    assert evaluate.f1_macro(fitted, texts, [[]] * 12) == 0.0


def test_scorers_by_name_are_those_of_scikit_learn_for_other_estimators() -> None:
    numbers, classes = [[0.0], [1.0], [0.0], [1.0]], ["a", "b", "a", "b"]
    Recognizer()
    assert list(cross_val_score(DecisionTreeClassifier(), numbers, classes, cv=2, scoring="f1_macro")) == [1.0, 1.0]


def test_a_pipeline_is_cloned_set_and_searched_as_a_whole(notes: list[Document]) -> None:
    pipeline = Pipeline([("find", small())]).fit(notes)
    alone = small().fit(notes)
    assert [to_record(found) for found in pipeline.predict(notes)] == [
        to_record(found) for found in alone.predict(notes)
    ]
    assert pipeline.score(notes) == alone.score(notes)
    copy = clone(pipeline).set_params(find__epochs=2)
    assert (copy.get_params()["find__epochs"], pipeline.get_params()["find__epochs"]) == (2, 5)
    with pytest.raises(NotFittedError):
        copy.predict(notes)
    with pytest.raises(UsageError, match="no parameter 'epoch'"):
        copy.set_params(find__epoch=2)
    search = GridSearchCV(pipeline, {"find__l2": [0.01, 1000.0]}, cv=2).fit(notes)
    assert search.best_params_ == {"find__l2": 0.01}
    assert search.best_estimator_["find"].report_.l2 == 0.01


@pytest.mark.parametrize("estimator", [Recognizer, Cascade, Linker, Segmenter, PosTagger])
def test_a_model_that_is_not_trained(estimator: Callable[[], Any]) -> None:
    for kind in (NotFittedError, SpanloomError, ValueError):
        with pytest.raises(kind, match="is not trained; call fit, or load a model"):
            estimator().predict("a")
    error = not_fitted("recognizer")
    assert isinstance(error, NotFittedError)
    assert isinstance(pickle.loads(pickle.dumps(error)), spanloom.errors.NotFittedError)


def test_the_score_is_the_f1_of_evaluation(corpus: Path, model: Path) -> None:
    recognizer = load(model)
    notes = list(read(corpus / "train.jsonl"))
    assert 0 < recognizer.score(iter(notes)) < 1
    assert recognizer.score(notes) == evaluate.score(notes, list(recognizer.predict(notes))).f1
    assert recognizer.score([document for found in [recognizer.predict(notes)] for document in found]) == 1.0


def test_the_score_of_a_linker_compares_concepts(linker: Path) -> None:
    model = load_linker(linker)
    notes = list(read(clinical() / "train"))[:2]
    found = list(model.predict(notes))
    assert 0 < model.score(notes) <= evaluate.score(notes, found).f1
    assert model.score(found) == 1.0
    assert any(mention.concepts for document in found for mention in document.mentions)
    without = [one.copy(mentions=[m.replace(concepts=()) for m in one.mentions]) for one in found]
    assert model.score(without) < 1.0


def test_the_score_of_a_segmenter_and_of_a_tagger() -> None:
    notes = list(read(chinese_clinical() / "dev.jsonl"))
    segmenter = Segmenter(epochs=1).fit(notes)
    assert segmenter.score(notes) == evaluate.score(notes, list(segmenter.predict(notes))).f1 > 0
    tagged = [prepare(Document(f"no {word} pain")) for word in ("chest", "back", "neck") for _ in range(9)]
    for document in tagged:
        document.columns["pos"] = ["DT", "NN", "NN"]
    assert GridSearchCV(PosTagger(min_count=1), {"l2": [0.1, 1.0]}, cv=2).fit(tagged).score(tagged) == 1.0


def test_clones_have_the_parameters_and_nothing_else(model: Path) -> None:
    fitted = load(model)
    copy = clone(fitted.set_params(l2=[0.1, 1.0]))
    assert type(copy) is Recognizer
    assert copy.get_params() == fitted.get_params()
    check_is_fitted(fitted)
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)
    with pytest.raises(UsageError, match="not trained; call fit"):
        copy.score([Document("a")])


def test_a_trained_tagger_stays_trained_in_clones_of_what_uses_it() -> None:
    words = prepare(Document("no chest pain"))
    words.columns["pos"] = ["DT", "NN", "NN"]
    tagger = PosTagger(min_count=1).fit([words] * 20)
    copy = clone(Recognizer(pos=tagger))
    assert copy.pos is tagger
    assert not hasattr(clone(tagger), "model_")


def test_fitting_and_predicting_change_no_parameter(notes: list[Document]) -> None:
    recognizer = small(l2=[0.1, 1.0])
    before = {name: repr(value) for name, value in recognizer.get_params().items()}
    assert recognizer.fit(notes[:3]) is recognizer
    fitted = {name: id(value) for name, value in vars(recognizer).items()}
    first = [to_record(document) for document in recognizer.predict(notes)]
    assert {name: id(value) for name, value in vars(recognizer).items()} == fitted
    assert {name: repr(value) for name, value in recognizer.get_params().items()} == before
    one_by_one = [to_record(found) for document in notes for found in recognizer.predict([document])]
    assert one_by_one == first
    assert [to_record(document) for document in recognizer.fit(notes[:3]).predict(notes)] == first


def test_searches_may_run_in_processes(notes: list[Document]) -> None:
    """What joblib sends to its workers goes there and comes back."""
    recognizer, documents = pickle.loads(pickle.dumps((small(l2=0.5), notes)))
    assert recognizer.get_params() == small(l2=0.5).get_params()
    assert [to_record(document) for document in documents] == [to_record(document) for document in notes]
