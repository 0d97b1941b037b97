"""The cascade: orders, what a chain sees of the others, overlaps, determinism, saving."""

from __future__ import annotations

import numpy as np
import pytest

import spanloom
from spanloom.document import Document, Mention
from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.evaluate import evaluate
from spanloom.recognize import Progress, Recognizer, load
from spanloom.recognize.preparing import sources_of
from spanloom.structures.chain import OVERLAP
from spanloom.text import prepare
from spanloom_lab import Cascade
from spanloom_lab.links import Links, frequency_order, output_templates, search_order, tag_column

TEMPLATES = ["bias", "low[-1..1]", "suffix(2..3)"]
FILES = ("model.json", "weights.safetensors")


def marked(text, **surfaces):
    """A document whose mentions are the given words, by type."""
    mentions = [
        Mention(kind, [(text.index(surface), text.index(surface) + len(surface))])
        for kind, found in surfaces.items()
        for surface in found
    ]
    return prepare(Document(text, mentions=mentions))


def some(documents):
    """The first documents, with mentions of three types."""
    return [
        document.copy(mentions=[m for m in document.mentions if m.type in ("anatomy", "problem", "test")])
        for document in documents[:12]
    ]


@pytest.fixture(scope="module")
def notes(notes):
    return type(notes)(*map(some, notes))


@pytest.fixture(scope="module")
def cascade(notes):
    return Cascade(features=TEMPLATES, rate=0.3, l2=0.1, epochs=2, passes="one").fit(notes.train[:12], dev=notes.dev)


def found(model, documents, **options):
    return [document.mentions for document in model.predict(documents, **options)]


def saved(model, path):
    model.save(path)
    assert sorted(file.name for file in path.iterdir()) == sorted(FILES)
    return [(path / name).read_bytes() for name in FILES]


def test_there_is_a_chain_for_each_type_from_the_most_frequent_on(cascade, notes):
    counts = [report.mentions for report in cascade.report_.chains.values()]
    assert counts == sorted(counts, reverse=True)
    assert list(cascade.report_.chains) == frequency_order(notes.train)
    assert [chain.types_ for chain in cascade.fitted] == [(name,) for name in cascade.report_.chains]
    assert sorted(cascade.report_.chains) == list(cascade.types_)
    report = cascade.report_
    assert report.mentions == sum(len(document.mentions) for document in notes.train) == sum(counts)
    assert report.documents == len(notes.train)
    assert sum(report.lost.values()) == len(cascade.lost_)


def test_development_f1_is_that_of_its_predictions(cascade, notes):
    f1 = evaluate(notes.dev, list(cascade.predict(notes.dev)), bootstrap=0).overall.f1
    assert f1 == pytest.approx(cascade.report_.dev_f1)
    assert f1 > 0.3


def test_a_chain_sees_the_outputs_of_the_earlier_ones_only(cascade):
    names: list[str] = []
    for chain in cascade.fitted:
        assert [name for name in chain.fitted.scorer.needs if name.startswith("cascade_")] == names
        names.append(f"cascade_{cascade.types_.index(chain.types_[0])}_{chain.types_[0]}")


def before_a_name():
    """*the* is a ``y`` where an ``x`` follows; which words are an ``x`` the words alone say."""
    names, others = ["Ann", "Bob", "Cyd", "Dee"], ["cat", "dog", "eel", "fox"]
    return [
        marked(f"so the {name} saw a {other} .", x=[name], y=["the"])
        if first
        else marked(f"so the {other} saw a {name} .", x=[name])
        for name in names
        for other in others
        for first in (True, False)
    ]


@pytest.mark.parametrize(("order", "seen"), [(["x", "y"], True), (["y", "x"], False)])
def test_the_order_decides_who_may_see_whom(order, seen):
    documents = before_a_name()
    model = Cascade(order, ["w[0]"], optimizer="lbfgs", l2=0.01, tune_penalty=False).fit(documents, dev=documents)
    assert list(model.report_.chains) == order
    scores = evaluate(documents, list(model.predict(documents)), bootstrap=0).types
    assert scores["x"].f1 == 1
    assert (scores["y"].f1 == 1) == seen


def test_the_searched_order_puts_first_what_others_need():
    documents = before_a_name()
    model = Cascade("search", ["w[0]"], optimizer="lbfgs", l2=0.01, tune_penalty=False).fit(documents, dev=documents)
    assert list(model.report_.chains) == ["x", "y"]
    assert model.report_.dev_f1 == 1


def links(documents, types, features=("w[0]",), **more):
    recognizer = Recognizer("bilou", list(features), optimizer="lbfgs", l2=0.001, tune_penalty=False, **more)
    names = ("structure", "features", "components", "counting", "reading")
    params = {name: value for name, value in recognizer.get_params().items() if name not in names}
    return Links(params, documents, documents, types, sources_of(recognizer).feature_set(documents), lambda _: None)


@pytest.mark.parametrize("cut", [False, True], ids=["documents", "sentences of one document"])
def test_no_output_comes_from_a_chain_that_saw_the_sentence(cut):
    """Every word stands once. A chain knows each sentence that it saw by heart, and nothing of any other."""
    rng = np.random.default_rng(5)
    texts, spans = [], []
    for number in range(40):
        texts.append(" ".join(f"Q{number}{letter}" for letter in "abcde") + " .")
        start = texts[-1].index(f"Q{number}{'abcde'[rng.integers(5)]}")
        spans.append((start, start + len(f"Q{number}a")))
    documents = [
        prepare(Document(text, mentions=[Mention("x", [span])])) for text, span in zip(texts, spans, strict=True)
    ]
    if cut:
        starts = np.cumsum([0, *(len(text) + 1 for text in texts)]).tolist()
        mentions = [Mention("x", [(a + s, b + s)]) for (a, b), s in zip(spans, starts, strict=False)]
        tokens = np.concatenate([d.tokens + s for d, s in zip(documents, starts, strict=False)])
        sentences = [[6 * i, 6 * i + 6] for i in range(40)]
        documents = [Document(" ".join(texts), tokens=tokens, sentences=sentences, mentions=mentions)]
    made = links(documents, ["x"])
    known = [[m.key for m in mentions] for mentions in found(made.link(("x",)).chain, documents)]
    assert known == [[m.key for m in document.mentions] for document in documents]
    outputs = made.held_out(("x",))
    assert len(outputs) == 40
    assert len({tuple(column) for column in outputs}) <= 2  # one for each chain: its guess about unknown words


def test_a_type_that_one_fold_alone_has_is_found_nowhere_in_it():
    documents = [marked(f"a b{i} .", x=["a"], **({"y": [f"b{i}"]} if i == 7 else {})) for i in range(30)]
    made = links(documents, ["x", "y"])
    outputs = made.held_out(("x", "y"))
    assert outputs[7] == ["", "", ""]
    model = Cascade(features=["w[0]"], epochs=1).fit(documents)
    assert model.report_.chains["y"].mentions == 1  # it is never held out for tuning


def test_of_overlapping_mentions_of_a_type_the_shorter_is_left_out():
    text = "severe chest pain ."
    long, short = Mention("x", [(0, 17)]), Mention("x", [(7, 12)])
    other, inner = Mention("y", [(7, 17)]), Mention("z", [(7, 12)])
    documents = [Document(text, mentions=[short, long, other, inner])] * 30
    model = Cascade(features=["w[0]"], rate=0.3, l2=0.1, tune_penalty=False).fit(documents, dev=documents)
    assert model.report_.lost == {OVERLAP: 30}
    assert {lost.mention for lost in model.lost_} == {short}
    [mentions] = found(model, [Document(text)])
    assert [mention.key for mention in mentions] == [long.key, other.key, inner.key]


def test_scores_are_the_marginals_of_each_chain(cascade, notes):
    first = cascade.fitted[0]
    for mentions, own in zip(found(cascade, notes.test), found(first, notes.test), strict=True):
        assert [m for m in mentions if m.type == first.types_[0]] == own
    assert all(0 < mention.score <= 1 for mentions in found(cascade, notes.test) for mention in mentions)


def test_a_threshold_leaves_mentions_out_and_changes_no_other(cascade, notes):
    everything = found(cascade, notes.test)
    probable = found(cascade, notes.test, threshold=0.7)
    assert probable == [[mention for mention in mentions if mention.score >= 0.7] for mentions in everything]
    assert 0 < sum(map(len, probable)) < sum(map(len, everything))
    for threshold in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="threshold"):
            cascade.predict(notes.test, threshold=threshold)


def test_prediction_keeps_the_document(cascade, notes):
    document = prepare(notes.test[0]).copy(columns={}, meta={"source": "here"}, id="name")
    [same] = cascade.predict([document])
    assert (same.text, same.id, same.columns, same.meta) == (document.text, "name", {}, {"source": "here"})
    assert list(cascade.predict([])) == []
    [empty, one] = cascade.predict([Document(""), document])
    assert (empty.mentions, one.mentions) == ([], same.mentions)


@pytest.mark.parametrize("settings", [{}, {"order": "search", "clusters": 6}, {"l2": [0.1, 1.0], "runs": 2}], ids=str)
def test_same_seed_same_bytes_for_any_number_of_threads(settings, notes, tmp_path):
    documents = [
        document.copy(mentions=[m for m in document.mentions if m.type != "test"]) for document in notes.train[:3]
    ]

    def bytes_of(name, **more):
        options = {"features": [*TEMPLATES, *(["cluster[0]"] if "clusters" in settings else [])], "epochs": 1}
        return saved(Cascade(**{**options, **settings, **more}).fit(documents), tmp_path / name)

    first = bytes_of("first")
    assert bytes_of("threads", n_jobs=3) == first
    assert bytes_of("seed", random_state=8)[1] != first[1]


@pytest.mark.parametrize("features", [TEMPLATES, "clinical"], ids=["templates", "preset"])
def test_saved_and_loaded(features, notes, tmp_path):
    clusters = 6 if features == "clinical" else None
    model = Cascade(features=features, clusters=clusters, epochs=1).fit(notes.train[:3], dev=notes.dev)
    first = saved(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again, Cascade)
    assert found(again, notes.test) == found(model, notes.test)
    assert (again.types_, again.report_, again.strongest_) == (model.types_, model.report_, model.strongest_)
    assert again.get_params() == model.get_params()
    assert saved(again, tmp_path / "again") == first
    with pytest.raises(UsageError, match="force"):
        model.save(tmp_path / "model")


def test_parameters_are_those_of_the_constructor(cascade):
    copy = Cascade(**cascade.get_params())
    assert copy.get_params() == cascade.get_params()
    assert not hasattr(copy, "model_")
    own = {"structure", "components", "longest", "counting", "reading", "headless", "rescore", "rescore_all", "overlap"}
    own |= {"with_features", "annotation", "density", "hash_bits", "link_encoder"}
    shared = set(Recognizer().get_params()) - own
    assert set(copy.get_params()) - {"order"} == shared
    # chains have no second stage, which looks elsewhere, too; they are trained one by one, and none chooses vectors
    defaults = Recognizer().get_params() | {"passes": "auto", "vectors": None}
    assert {
        name: value for name, value in Cascade().get_params().items() if name != "order"
    }.items() <= defaults.items()
    with pytest.raises(UsageError, match="not trained"):
        copy.predict([])
    with pytest.raises(UsageError, match="no parameter 'structure'"):
        copy.set_params(structure="bio")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"order": "alphabet"}, "frequency, search or the names of all types"),
        ({"order": []}, "the name of each type once"),
        ({"order": 7}, "the name of each type once"),
        ({"order": ["x", "x"]}, "the name of each type once"),
        ({"order": ["x", 7]}, "the name of each type once"),
        ({"order": ["x"]}, "order is x, expected each of the training data's types once: x, y"),
        ({"order": ["x", "y", "z"]}, "order is x, y, z, expected"),
        ({"features": "everything"}, "features"),
        ({"l2": -1.0}, "l2"),
        ({"n_jobs": "all"}, "n_jobs"),
    ],
)
def test_parameters_that_cannot_be_meant(settings, words):
    documents = [marked("a b .", x=["a"], y=["b"])] * 5
    with pytest.raises(UsageError) as caught:
        Cascade(**{"features": ["w[0]"], **settings}).fit(documents)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_data_that_cannot_be_learned_from():
    with pytest.raises(DataError, match="no document"):
        Cascade().fit([])
    with pytest.raises(DataError, match="has a mention"):
        Cascade().fit([Document("nothing here")])


def test_types_that_only_development_data_have_are_told_and_left_out():
    train, dev = [marked("a b .", x=["a"])] * 5, [marked("a b .", x=["a"], y=["b"])]
    with pytest.warns(DataWarning, match=r"no training document has: 1 of type 'y'; training has x"):
        model = Cascade(features=["w[0]"]).fit(train, dev=dev)
    assert model.types_ == ("x",)
    assert model.report_ == Cascade(features=["w[0]"]).fit(train, dev=[marked("a b .", x=["a"])]).report_


def test_chains_have_no_second_stage_so_that_a_saved_cascade_predicts_as_before(notes, tmp_path):
    marked_up = [one.copy(mentions=[m for m in one.mentions if m.type == "problem"]) for one in notes.train]
    model = Cascade(features=TEMPLATES, rate=0.3, l2=0.1, epochs=2).fit(marked_up, dev=notes.dev)
    assert model.report_.mentions >= 100, "enough for a second stage"
    assert all(chain.second_ is None for chain in model.fitted)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(notes.test) == model.predict(notes.test)


def test_progress_names_the_chain():
    told: list[Progress] = []
    documents = [marked("a b .", x=["a"], y=["b"])] * 5
    Cascade(["y", "x"], ["w[0]"], epochs=1).fit(documents, progress=told.append)
    stages = list(dict.fromkeys(progress.stage for progress in told))
    assert stages[:2] == ["reading", "features"]
    assert "y: training, lambda 1" in stages
    assert "y: outputs on held-out text" in stages
    assert "x after y: training, lambda 1" in stages
    seconds = [progress.seconds for progress in told[2:]]
    assert seconds == sorted(seconds)


def test_columns_of_tags():
    document = marked("a b c d e .", x=["a", "b c d"])
    assert tag_column(document) == ["U", "B", "I", "L", "", ""]
    assert tag_column(prepare(Document(""))) == []


def test_search_forgets_no_chain_that_it_needs():
    documents = [marked(f"a{i} b{i % 2} c{i % 3} .", x=[f"a{i}"], y=[f"b{i % 2}"], z=[f"c{i % 3}"]) for i in range(24)]
    made = links(documents, ["x", "y", "z"])
    order = search_order(made, ["x", "y", "z"])
    assert sorted(order) == ["x", "y", "z"]
    assert output_templates([]) == []


def test_its_old_place_is_deprecated():
    with pytest.warns(DeprecationWarning, match="from spanloom_lab import Cascade"):
        assert spanloom.Cascade is Cascade
