"""The second stage on the bundled corpus: what it finds, what it keeps, what it says, what it refuses."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, load
from spanloom.document import Batch
from spanloom.errors import ModelError
from spanloom.learn.platt import Platt
from spanloom.model.overlaps import OverlapRules
from spanloom.recognize import compact
from spanloom.rescoring import Rescorer, fitting, propose
from spanloom.rescoring.candidates import ELSEWHERE, GIVEN
from spanloom.rescoring.fitting import EXITS
from spanloom.rescoring.rescorer import EarlyExit
from spanloom.rescoring.values import TokenColumns
from spanloom.structures.base import identities
from spanloom.text import prepare

TEMPLATES = ["bias", "low[-1..1]", "suffix(2..3)"]
SETTINGS = {"features": TEMPLATES, "rate": 0.3, "epochs": 3, "l2": 0.1}


def found(recognizer, documents, **options):
    return [document.mentions for document in recognizer.predict(documents, **options)]


@pytest.fixture(scope="module")
def gapped(notes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "_FEWEST_GAPS", 20)
        return Recognizer("shared", **SETTINGS).fit(notes.train, dev=notes.dev)


@pytest.fixture(params=["separators", "shared"])
def recognizer(request, trained, gapped):
    chosen = trained if request.param == "separators" else gapped
    assert chosen.second_ is not None
    return chosen


def test_it_is_used_because_development_data_are_better_with_it(recognizer, notes):
    report = recognizer.report_.rescoring
    assert report.kept
    assert recognizer.report_.dev_f1 == report.after > report.before
    assert recognizer.score(notes.dev) == pytest.approx(report.after)
    first = Recognizer(**{**recognizer.get_params(), "rescore": False}).fit(notes.train, dev=notes.dev)
    assert first.second_ is None
    assert first.report_.rescoring is None
    assert first.report_.dev_f1 == report.before
    assert any("second stage" in line for line in recognizer.summary())


def test_mentions_are_candidates_and_their_scores_are_those_of_marginals(recognizer, notes):
    predicted = recognizer.predict(notes.test)
    scores = [[mention.score for mention in document.mentions] for document in predicted]
    assert all(0 < score < 1 for own in scores for score in own)
    for own, asked in zip(scores, recognizer.marginals(predicted), strict=True):
        assert asked == pytest.approx(own, abs=1e-9)


def test_candidates_are_those_of_all_penalties(recognizer, notes):
    model = recognizer.fitted
    batch = Batch.of(recognizer.ready(notes.test[:4]))
    potentials = model.scorer.score(batch)
    words = TokenColumns(batch, (), model.scorer.features).words
    tables = [model.with_penalty(penalty).decode(potentials, batch.sentences) for penalty in (0.0, 2.0, 4.0)]
    expected = [set(table.headed()) for table in tables]
    candidates = propose(model, potentials, words)
    elsewhere = candidates.level == ELSEWHERE
    assert set(candidates.table.take(~elsewhere).headed()) == set.union(*expected)
    assert len(candidates) == len(set(candidates.table.headed()))
    for row, level in zip(candidates.table.headed(), candidates.level.tolist(), strict=True):
        assert level == min((i for i, own in enumerate(expected) if row in own), default=ELSEWHERE)
    marginals = model.probabilities(potentials, batch.sentences, candidates.table, calibrated=False)
    np.testing.assert_allclose(1 / (1 + np.exp(-candidates.odds)), marginals, atol=1e-6)
    again = propose(model, potentials, words, given=candidates.table)
    assert np.array_equal(identities(again.table), identities(candidates.table)), "what is proposed is not given twice"
    assert (again.level < GIVEN).all()


def test_bytes_and_predictions_do_not_depend_on_threads(notes, tmp_path):
    for name, threads in (("one", 1), ("two", 2)):
        made = Recognizer(**SETTINGS, n_jobs=threads).fit(notes.train[:20], dev=notes.dev)
        made.save(tmp_path / name)
    for file in ("model.json", "weights.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert found(load(tmp_path / "one"), notes.test) == found(made, notes.test)


def test_what_is_saved_says_the_same(recognizer, notes, tmp_path):
    recognizer.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert found(again, notes.test) == found(recognizer, notes.test)
    assert again.report_ == recognizer.report_
    assert again.explain(notes.test[0]) == recognizer.explain(notes.test[0])


def test_candidates_that_the_first_stage_is_sure_of_are_not_looked_at(recognizer, notes):
    second = recognizer.second_
    if second.early_exit is None:  # it would cost too much here
        second = replace(second, early_exit=EarlyExit(3.0, Platt(0.9, 0.1)))
    batch = recognizer.fitted.scorer.prepare(Batch.of(list(map(prepare, notes.test))))
    scored = second.scored(recognizer.fitted, batch, recognizer.fitted.scorer.score(batch))
    odds = scored.candidates.odds
    skipped = (np.abs(odds) > second.early_exit.threshold) & scored.candidates.table.contiguous
    assert 0.1 < skipped.mean() < 0.9
    scaling = second.early_exit.scaling
    assert second.early_exit.threshold in EXITS
    np.testing.assert_allclose(scored.odds[skipped], scaling.slope * odds[skipped] + scaling.intercept)
    every = replace(second, early_exit=None).scored(recognizer.fitted, batch, recognizer.fitted.scorer.score(batch))
    np.testing.assert_array_equal(every.odds[~skipped], scored.odds[~skipped])
    assert (second.chosen(every) != second.chosen(scored)).sum() <= 0.01 * len(odds)


def test_it_may_look_at_all_candidates(recognizer, notes, tmp_path, monkeypatch):
    if recognizer.second_.gapped is not None:
        monkeypatch.setattr(fitting, "_FEWEST_GAPS", 20)
    every = Recognizer(**{**recognizer.get_params(), "rescore_all": True}).fit(notes.train, dev=notes.dev)
    assert every.second_.early_exit is None
    assert every.second_.weights.sparse.tobytes() == recognizer.second_.weights.sparse.tobytes()
    every.save(tmp_path / "model")
    assert load(tmp_path / "model").second_.early_exit is None


def test_an_explanation_adds_up_to_the_odds_that_decide(recognizer, notes):
    document = notes.test[0]
    explained = recognizer.explain(document)
    assert [item.mention for item in explained] == recognizer.predict(document).mentions
    assert all(item.predicted for item in explained)
    platt = recognizer.second_.scalings.mentions
    known = {" ".join(_words(one, mention)).lower() for one in notes.train for mention in one.mentions}
    seen = set[str]()
    for item in explained:
        told = {part.name for part in item.whole if part.name.startswith("seen=")}
        assert not told or (told == {"seen=never"}) != (" ".join(_words(document, item.mention)).lower() in known)
        seen |= told
        odds = sum(part.score for part in item.whole)
        assert item.probability == pytest.approx(
            float(platt.of_log(np.array([-math.log1p(math.exp(-odds))]))[0]), rel=1e-3
        )
        if len(item.whole) == 2:  # the first stage is sure of it
            assert {part.name for part in item.whole} == {"bias", "log-odds of the marginal"}
            continue
        assert sum(part.name.startswith("text=") for part in item.whole) <= 1
        shown = next((part.name for part in item.whole if part.name.startswith("text=")), None)
        assert shown in (None, f"text={' '.join(_words(document, item.mention))}")
    assert "seen=as this type" in seen
    names = {part.name.partition("=")[0] for item in explained for part in item.whole}
    assert {"bias", "text", "low[last]|type", "odds|type"} <= names
    json.dumps([item.record() for item in explained])


def _words(document, mention):
    ready = prepare(document)
    return [
        word
        for word, (start, end) in zip(ready.words, ready.tokens.tolist(), strict=True)
        if any(a <= start and end <= b for a, b in mention.spans)
    ]


def test_a_mention_that_nothing_proposes_is_explained_and_scored(recognizer):
    document = Document("The patient has left and right lower lobe infiltrates without chest pain.")
    odd = Mention(recognizer.types_[0], [(4, 11)])
    [asked] = recognizer.explain(document, [odd])
    assert not asked.predicted
    assert 0 < asked.probability < 0.5
    assert recognizer.marginals(document.copy(mentions=[odd])) == [pytest.approx(asked.probability)]


def test_alternatives_are_candidates_that_are_not_found(recognizer, notes):
    for predicted, other in zip(recognizer.predict(notes.test), recognizer.alternatives(notes.test), strict=True):
        assert not {m.key for m in predicted.mentions} & {m.key for m in other.mentions}
        assert all(mention.score >= 0.05 for mention in other.mentions)


def test_a_larger_penalty_finds_more(recognizer, notes):
    own = recognizer.fitted.penalty
    counts = [sum(len(d.mentions) for d in run) for run in recognizer.sweep(notes.test, [own - 2, own, own + 2])]
    assert counts == sorted(counts)
    assert counts[1] == sum(map(len, found(recognizer, notes.test)))
    assert sum(map(len, found(recognizer.with_penalty(own + 2), notes.test))) == counts[2]


def test_answers_are_probabilities_of_sentences(recognizer, notes):
    for document in recognizer.predict(notes.test, answers=True):
        own = document.meta["answer"]["sentences"]
        assert len(own) == document.sentence_count
        assert all(0 <= chance <= 1 for chance in own)


def test_types_that_never_share_their_words_do_not(recognizer, notes):
    rules, types = recognizer.overlaps_, recognizer.types_
    for document in recognizer.predict(notes.test):
        for i, one in enumerate(document.mentions):
            for other in document.mentions[i + 1 :]:
                if one.spans == other.spans:
                    assert rules.allowed[0, types.index(one.type), types.index(other.type)]


def test_overlap_may_be_left_free(notes):
    free = Recognizer(**SETTINGS, overlap="free").fit(notes.train, dev=notes.dev)
    assert not free.overlaps_.forbid


@pytest.mark.parametrize("text", ["", " ", "pain", "疼痛", "\N{GRINNING FACE}" * 50, "pain " * 3000])
def test_odd_texts(recognizer, text):
    predicted = recognizer.predict(text)
    assert all(0 <= mention.start < mention.end <= len(text) for mention in predicted.mentions)


def test_few_mentions_have_no_second_stage(notes):
    few = Recognizer(**SETTINGS).fit(notes.train[:1], dev=notes.dev)
    assert few.report_.mentions < 100
    assert few.second_ is None
    assert few.report_.rescoring is None


def test_candidates_with_gaps_have_weights_and_a_threshold_of_their_own(gapped, notes):
    second, [batch] = gapped.second_, [Batch.of([prepare(document) for document in notes.dev])]
    assert second.gapped is not None
    scored = second.scored(gapped.fitted, batch, gapped.fitted.scorer.score(batch))
    candidates, _, values = scored
    with_gaps = ~scored.candidates.table.contiguous
    assert with_gaps.any()
    swapped = replace(second, weights=second.gapped, gapped=second.weights, early_exit=None)
    other = swapped.odds(candidates, values)
    kept = replace(second, gapped=second.weights, early_exit=None)
    same = kept.odds(candidates, values)
    assert np.array_equal(other[with_gaps], same[with_gaps])
    assert not np.allclose(scored.odds[with_gaps], same[with_gaps])
    never = replace(second, gap_threshold=50.0).chosen(scored)
    always = replace(second, gap_threshold=-50.0).chosen(scored)
    assert not never[with_gaps].any() and always[with_gaps].sum() > second.chosen(scored)[with_gaps].sum()


def test_weights_of_gaps_are_made_compact_and_stored(gapped, notes, tmp_path):
    small = compact(gapped, dev=notes.dev)
    assert small.second_.gapped is not None
    small.save(tmp_path / "model")
    assert found(load(tmp_path / "model"), notes.test) == found(small, notes.test)


@pytest.mark.parametrize("name", ["odds", "weights", "gap_odds", "gap_weights"])
def test_damaged_weights_are_refused(gapped, name):
    part = gapped.second_.to_part()
    arrays = {**part.arrays, name: part.arrays[name][:-1]}
    with pytest.raises(ModelError, match=name):
        Rescorer.from_part(replace(part, arrays=arrays), gapped.fitted.scorer.features, gapped.overlaps_)


def test_damaged_parts_are_refused(trained):
    part, features = trained.second_.to_part(), trained.fitted.scorer.features
    rules = trained.overlaps_
    whole = Rescorer.from_part(part, features, rules)
    assert whole.threshold == trained.second_.threshold
    for name, array in part.arrays.items():
        for changed in (array[:-1], array.astype(np.float64)):
            with pytest.raises(ModelError, match=name):
                Rescorer.from_part(replace(part, arrays={**part.arrays, name: changed}), features, rules)
    for key, value in (("templates", ["nothing"]), ("threshold", "x"), ("threshold", 1e300), ("templates", 3)):
        with pytest.raises(ModelError):
            Rescorer.from_part(replace(part, values={**part.values, key: value}), features, rules)
    for name in part.parts:
        parts = {key: own for key, own in part.parts.items() if key != name}
        with pytest.raises(ModelError, match=name):
            Rescorer.from_part(replace(part, parts=parts), features, rules)
    with pytest.raises(ModelError):
        Rescorer.from_part(part, features, OverlapRules.free(len(trained.types_) + 1))
