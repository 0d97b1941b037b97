"""Trials of a feature search: the same as training and evaluating by hand, kept and found again."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from threading import Event
from time import monotonic

import pytest

from spanloom import Recognizer, read
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import evaluate, paired_test
from spanloom.features.clusters import Clusters, write_paths
from spanloom.parallel import Serial, Threads
from spanloom.text import prepare
from spanloom_lab.feature_record import TrialRecord, TrialRunner
from spanloom_lab.feature_search import FeatureSearch, OutOfTime
from spanloom_lab.feature_trials import TrialCorpus, TrialStopped, draw, p_value

GROUPS = {"word": ("w[0]",), "near": ("low[-1]", "low[1]"), "ending": ("suffix(1..3)",), "pos": ("pos[0]",)}
PARAMS = {"epochs": 2}
FIGURES = ("groups", "templates", "f1", "features", "rows", "correct", "predicted")


@pytest.fixture(scope="module")
def documents(corpus):
    return [prepare(document) for document in read(corpus / "train.jsonl")]


@pytest.fixture(scope="module")
def small(documents):
    return TrialCorpus.of(documents[:8], documents[5:], GROUPS, PARAMS)


def figures(trial):
    """All but times."""
    return [getattr(trial, name) for name in FIGURES]


def test_a_trial_is_what_training_by_hand_gives(documents, small):
    trial = small.run(["near", "word"])
    assert trial.templates == ("bias", "w[0]", "low[-1]", "low[1]")
    assert trial.groups == ("word", "near")
    by_hand = Recognizer(features=list(trial.templates), l2=1.0, rescore=False, split_tokens=False, epochs=2)
    by_hand.fit(documents[:8], dev=documents[5:])
    found = evaluate(documents[5:], by_hand.predict(documents[5:])).overall
    assert trial.f1 == pytest.approx(found.f1)
    assert trial.f1 == pytest.approx(by_hand.report_.dev_f1)
    assert trial.features == pytest.approx(4)
    assert trial.rows == by_hand.report_.rows
    assert min(trial.tokens_per_second, trial.seconds) > 0


def test_p_values_are_those_of_the_paired_test(documents, small):
    trials = [small.run(names) for names in (["word"], ["word", "near", "ending"])]
    predicted = []
    for trial in trials:
        model = Recognizer(features=list(trial.templates), l2=1.0, rescore=False, split_tokens=False, epochs=2)
        predicted.append(model.fit(documents[:8], dev=documents[5:]).predict(documents[5:]))
    expected = paired_test(documents[5:], *predicted, samples=2000)
    assert p_value(*trials, small.gold) == pytest.approx(expected.p_value, abs=0.03)
    assert p_value(trials[0], trials[0], small.gold) == 1


def test_without_groups_nothing_is_trained(small):
    trial = small.run([])
    assert (trial.f1, trial.seconds, sum(trial.predicted), trial.templates) == (0, 0, 0, ("bias",))


def test_groups_whose_columns_are_missing_cannot_be_tried(documents, tmp_path):
    groups = {
        **GROUPS, "cluster": ("cluster[0]",), "band": ("band[0]",), "category": ("category[0]",), "lemma": ("lemma[0]",)
    }  # fmt: skip
    found = TrialCorpus.of(documents[:8], documents[5:], groups, {**PARAMS, "ignore": ["lemma"]})
    assert set(found.lacking) == {"pos", "cluster", "band", "category", "lemma"}
    assert found.served(list(groups)) == ("word", "near", "ending")
    assert "column pos" in found.lacking["pos"]
    assert "--clusters" in found.lacking["cluster"]
    assert "ignored" in found.lacking["lemma"]
    write_paths(tmp_path / "raw.paths", Clusters({"pain": "01", "chest": "00"}, {"pain": 3, "chest": 2}))
    clustered = TrialCorpus.of(
        documents[:8], documents[5:], groups, {**PARAMS, "clusters": str(tmp_path / "raw.paths")}
    )
    assert "cluster" not in clustered.lacking
    (tmp_path / "few.vec").write_text("pain 1 0\nchest 0 1\nno 1 1\n")
    dense = {**GROUPS, "vectors": ("vector[0]",)}
    assert "--vectors" in TrialCorpus.of(documents[:8], documents[5:], dense, PARAMS).lacking["vectors"]
    filed = TrialCorpus.of(documents[:8], documents[5:], dense, {**PARAMS, "vectors": str(tmp_path / "few.vec")})
    assert filed.run(["vectors", "word"]).templates == ("bias", "w[0]", "vector[0]")
    assert filed.run(["word"]).templates == ("bias", "w[0]"), "nor are vectors"
    part = TrialCorpus.of(documents[:8], documents[5:], {"mixed": ("w[0]", "pos[0]", "pos[1]")}, PARAMS)
    assert part.groups == {"mixed": ("w[0]",)}
    assert part.lacking == {"mixed": "2 of 3 templates: not all documents have the column pos"}
    assert clustered.run(["cluster", "word"]).features > 2
    assert clustered.run(["word"]).templates == ("bias", "w[0]"), "clusters without use are no error here"


def test_parts_of_speech_come_from_a_tagger_and_their_time_counts(documents):
    tagged = [
        document.copy(columns={"pos": ["V" if word.endswith("s") else "N" for word in document.words]})
        for document in documents
    ]
    found = TrialCorpus.of(tagged[:8], tagged[5:], GROUPS, PARAMS)
    assert found.lacking == {}
    assert found.tagging > 0
    assert found.dev[0].columns["pos"]
    assert found.run(["pos", "word"]).features == pytest.approx(3)
    assert TrialCorpus.of(tagged[:8], tagged[5:], {"word": ("w[0]",)}, PARAMS).tagging == 0


@pytest.mark.parametrize(
    ("train", "dev", "told"),
    [(slice(0, 0), slice(5, 10), "no document"), (slice(0, 8), slice(0, 0), "development data hold no mention")],
)
def test_data_that_say_nothing_are_refused(documents, train, dev, told):
    with pytest.raises(DataError, match=told):
        TrialCorpus.of(documents[train], documents[dev], GROUPS, PARAMS)


def test_a_template_that_nothing_can_mend_is_refused(documents):
    with pytest.raises(UsageError, match="orth"):
        TrialCorpus.of(documents[:8], documents[5:], {"bad": ("orth[0]|w[0]",)}, PARAMS)


def test_a_trial_can_be_stopped(small):
    stop = Event()
    stop.set()
    with pytest.raises(TrialStopped):
        small.run(["word"], stop)


def test_draws_hold_so_many_tokens_and_keep_the_order(documents):
    drawn = draw(documents, 20, seed=1)
    sizes = [document.token_count for document in drawn]
    assert sum(sizes) >= 20 > sum(sizes) - max(sizes)
    places = [documents.index(document) for document in drawn]
    assert places == sorted(places)
    assert draw(documents, 20, seed=2) != drawn
    assert draw(documents, 10**9) == draw(documents, None) == documents


def searched(corpus, record, jobs=1, tell=lambda _: None):
    with Threads(jobs) as executor:
        runner = TrialRunner(corpus, record, executor, callback=tell)
        return list(FeatureSearch(corpus.groups, runner, partial(p_value, gold=corpus.gold)).search())


def test_a_search_is_the_same_with_any_number_of_jobs_and_goes_on_from_its_record(small, tmp_path):
    path = tmp_path / "search.json"
    told = []
    steps = searched(small, TrialRecord(path, {"seed": 0}, small.cut.count), 3, told.append)
    alone = searched(small, TrialRecord(None, {"seed": 0}, small.cut.count))

    def plain(steps):
        tried = [[(one.name, one.p_value, *figures(one.trial)) for one in step.tried] for step in steps]
        return [(step.action, step.group, *figures(step.trial), own) for step, own in zip(steps, tried, strict=True)]

    assert plain(steps) == plain(alone)
    assert len(steps) > 1
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert len(kept["trials"]) == len(told) == len({tuple(trial["templates"]) for trial in kept["trials"]})

    kept["trials"] = kept["trials"][:-2]  # as if it had been interrupted
    path.write_text(json.dumps(kept), encoding="utf-8")
    again = []
    assert plain(searched(small, TrialRecord(path, {"seed": 0}, small.cut.count), 1, again.append)) == plain(steps)
    assert len(again) == 2
    assert searched(small, TrialRecord(path, {"seed": 0}, small.cut.count), 1, again.append)[-1].trial in [
        step.trial for step in searched(small, TrialRecord(path, {"seed": 0}, small.cut.count))
    ]
    assert len(again) == 2, "nothing was left to do"


def test_a_record_knows_trials_by_templates(small):
    record = TrialRecord(None, {}, small.cut.count)
    runner = TrialRunner(small, record)
    [first] = runner([["word", "ending"]])
    other = TrialRunner(replace(small, groups={"all": ("suffix(1..3)", "w[0]")}), record)
    [second] = other([["all"]])
    assert len(record) == 1
    assert second.groups == ("all",)
    assert figures(second)[1:] == figures(first)[1:]


def test_no_trial_begins_when_time_is_over(small):
    record = TrialRecord(None, {}, small.cut.count)
    with pytest.raises(OutOfTime):
        TrialRunner(small, record, Serial(), monotonic())([["word"]])
    assert not len(record)


def test_an_interruption_stops_the_other_threads(small):
    def interrupt(_):
        raise KeyboardInterrupt

    record = TrialRecord(None, {}, small.cut.count)
    runner = TrialRunner(small, record, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        runner([["word"], ["ending"]])
    assert len(record) == 1, "what is done is kept"
    with pytest.raises(TrialStopped):
        runner([["ending"]])


def damaged(kept):
    """Records that are none."""
    one = kept["trials"][0]
    yield "{"
    yield "[]"
    yield json.dumps({"trials": kept["trials"]})
    yield json.dumps({**kept, "trials": [{**one, "f1": 2}]})
    yield json.dumps({**kept, "trials": [{**one, "f1": "0.5"}]})
    yield json.dumps({**kept, "trials": [{**one, "correct": None}]})
    yield json.dumps({**kept, "trials": [{**one, "seconds": float("nan")}]})
    yield json.dumps({**kept, "trials": [{**one, "correct": one["correct"][1:]}]})


def test_records_of_something_else_are_refused_in_a_line(small, tmp_path):
    path = tmp_path / "search.json"
    record = TrialRecord(path, {"data": "a", "seed": 0}, small.cut.count)
    record.add(small.run(["word"]))
    assert len(TrialRecord(path, {"seed": 0, "data": "a"}, small.cut.count)) == 1
    assert len(TrialRecord(path, {"data": "b", "seed": 0}, small.cut.count, force=True)) == 0
    with pytest.raises(UsageError, match=r"of other options or data \(data\); name another file, or give --force"):
        TrialRecord(path, {"data": "b", "seed": 0}, small.cut.count)
    for text in damaged(json.loads(path.read_text(encoding="utf-8"))):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"search\.json is (no record|damaged)") as error:
            TrialRecord(path, {"data": "a", "seed": 0}, small.cut.count)
        assert "\n" not in str(error.value)
    with pytest.raises(UsageError, match="does not exist"):
        TrialRecord(tmp_path / "missing" / "search.json", {}, 1)
    with pytest.raises(UsageError, match="Is a directory"):
        TrialRecord(tmp_path, {}, 1)
