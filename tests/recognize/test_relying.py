"""Candidates labelled yes, ask and no at promised rates."""

from __future__ import annotations

from math import comb, inf

import numpy as np
import pytest

import spanloom
from spanloom import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.model.parameters import FLOOR
from spanloom.recognize import Reliance
from spanloom.recognize.relying import DOUBT, chance, fewest

TEXT = "a " * 400


def corpus(random, documents, each, types=("x",), spread=3.0, unseen=0.0):
    """Documents with gold mentions and the same with candidates, whose scores are their true probabilities."""
    gold, found = [], []
    for number in range(documents):
        scores = 1 / (1 + np.exp(-random.normal(0, spread, each)))
        kinds = random.choice(types, each)
        marked = [Mention(str(k), [(2 * i, 2 * i + 1)]) for i, k in enumerate(kinds)]
        right = random.random(each) < scores
        seen = random.random(each) >= unseen
        gold.append(Document(TEXT, str(number), mentions=[m for m, r in zip(marked, right, strict=True) if r]))
        own = [m.replace(score=float(s)) for m, s, there in zip(marked, scores, seen, strict=True) if there]
        found.append(Document(TEXT, str(number), mentions=own))
    return gold, found


def rates(gold, found, reliance):
    """The share of yes that is right, and that of gold mentions that are no."""
    labels = [{m.key: reliance.label(m) for m in document.mentions} for document in found]
    keys = [{m.key for m in document.mentions} for document in gold]
    right = [key in there for there, own in zip(keys, labels, strict=True) for key in own if own[key] == "yes"]
    missed = [own.get(m.key, "no") == "no" for g, own in zip(gold, labels, strict=True) for m in g.mentions]
    return float(np.mean(right)) if right else np.nan, float(np.mean(missed))


@pytest.mark.parametrize(("errors", "count", "rate"), [(0, 10, 0.05), (3, 40, 0.1), (40, 40, 0.3), (7, 500, 0.02)])
def test_the_chance_of_so_few_errors_is_the_binomial_one(errors, count, rate):
    exact = sum(comb(count, i) * rate**i * (1 - rate) ** (count - i) for i in range(errors + 1))
    assert chance(errors, count, rate) == pytest.approx(exact)
    assert chance(0, fewest(rate), rate) <= DOUBT < chance(0, fewest(rate) - 1, rate)


def test_rates_are_kept_in_new_documents():
    random = np.random.default_rng(0)
    new = corpus(random, 200, 200)
    kept, useful = [], []
    for _ in range(40):
        reliance = Reliance.of(*corpus(random, 30, 100), 0.95)
        assert 0 < reliance.groups["all"].no < 0.5 < reliance.groups["all"].yes
        right, missed = rates(*new, reliance)
        kept.append((not right < 0.95, missed <= 0.05))
        useful.append((right < 0.99, missed > 0.01))  # and not by asking always
    assert np.mean(kept, 0).min() >= 0.95
    assert np.mean(useful, 0).min() >= 0.9


def test_a_rate_that_cannot_be_kept_is_not_promised():
    random = np.random.default_rng(1)
    reliance = Reliance.of(*corpus(random, 50, 100, unseen=0.2), 0.95)
    assert reliance.groups["all"].no == 0
    assert "none is no: more than 5.0% of gold may be no candidates" in next(reliance.lines())
    gold, found = corpus(random, 50, 100)
    wrong = [document.copy(mentions=[]) for document in gold[1:]]
    assert Reliance.of([gold[0], *wrong], found, 0.95).groups["all"].yes == inf


def test_types_with_few_mentions_have_the_thresholds_of_all():
    random = np.random.default_rng(2)
    gold, found = corpus(random, 30, 100, types=("x",))
    more = [Mention("rare", [(700, 701)], score=0.9), Mention("x", [(702, 703), (704, 705)], score=0.9)]
    found[0] = found[0].copy(mentions=[*found[0].mentions, *more])
    reliance = Reliance.of(gold, found, 0.95)
    for name in ("type rare", "gaps"):
        own = reliance.groups[name]
        assert (own.yes, own.no, own.own_yes, own.own_no) == (*reliance.groups["all"][:2], False, False)
    assert reliance.groups["type x"].own_yes
    assert "yes and no by all types together, as there are few" in " ".join(reliance.lines())


def test_errors_that_come_by_documents_count_as_fewer():
    """The same shares of errors, dealt evenly or all in a few documents."""
    marked = [Mention("x", [(2 * i, 2 * i + 1)], score=0.9) for i in range(50)]
    found = [Document(TEXT, str(i), mentions=marked) for i in range(40)]
    evenly = [document.copy(mentions=marked[1:]) for document in found]
    clustered = [document.copy(mentions=marked[20:] if i < 2 else marked) for i, document in enumerate(found)]
    assert Reliance.of(evenly, found, 0.95).groups["all"].yes == 0.9
    assert Reliance.of(clustered, found, 0.95).groups["all"].yes == inf


@pytest.mark.parametrize("which", ["model", "trained"])
def test_candidates_are_all_that_have_a_chance(request, notes, which, model):
    one = spanloom.load(model) if which == "model" else request.getfixturevalue("trained")
    found, plain = list(one.plausible(notes.test)), one.predict(notes.test)
    for more, own in zip(found, plain, strict=True):
        assert {m.key for m in own.mentions} <= {m.key for m in more.mentions}
        assert min((m.score for m in more.mentions), default=1.0) >= FLOOR
    assert sum(len(d.mentions) for d in found) > 3 * sum(len(d.mentions) for d in plain)


def test_what_is_refused(trained):
    with pytest.raises(UsageError, match=r"rely is 1\.5, expected a rate"):
        Reliance.fit(trained, [], 1.5)
    with pytest.raises(DataError, match="hold no mention"):
        Reliance.fit(trained, ["no pain"], 0.95)


def test_the_option_writes_labels_and_counts_them(command, model, corpus):
    given = corpus / "train.jsonl"
    result = command("predict", model, corpus / "dev.jsonl", "--rely", "0.6", "--rely-data", given)
    assert (result.returncode, '"rely":"' in result.stdout) == (0, True)
    assert "candidates in 4 documents: " in result.stderr
    assert " ask, " in result.stderr
    half = command("predict", model, given, "--rely", "0.6")
    assert (half.returncode, "--rely needs --rely-data" in half.stderr) == (2, True)
    both = command("predict", model, given, "--rely", "0.6", "--rely-data", given, "--keep", "own")
    assert (both.returncode, "takes no --keep" in both.stderr) == (2, True)
