"""Students: what they learn from, whose structure they have, and who cannot teach."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from pathlib import Path

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, load
from spanloom.document import Batch
from spanloom.errors import DataError, DataWarning, NotFittedError, UsageError
from spanloom.evaluate import score
from spanloom.hypergraph import Potentials
from spanloom.learn import CorpusTarget, EdgeTarget, SoftCounts
from spanloom.model.structured import StructuredModel
from spanloom.recognize import teach
from spanloom.tag.pos_tagger import PosTagger
from spanloom.text import prepare
from spanloom_lab import Cascade

SETTINGS = {"features": ["bias", "low[-1..1]", "suffix(2..3)"], "epochs": 5, "l2": 0.1, "rescore": False}
PLACES, SIDES = ("chest", "back", "leg", "neck", "arm", "hip"), ("left", "right", "severe", "mild", "old")


def text(number: int) -> str:
    place, side = PLACES[number % len(PLACES)], SIDES[number % len(SIDES)]
    return [f"no {place} pain today", f"{side} {place} pain and fever", f"seen for {side} {place}", "he went home"][
        number % 4
    ]


def marked(number: int) -> Document:
    whole, mentions = text(number), []
    for place in PLACES:
        if place in whole:
            at = whole.index(place)
            mentions.append(Mention("body", [(at, at + len(place))]))
            if "pain" in whole:
                mentions.append(Mention("problem", [(at, at + len(place) + 5)]))
    return Document(whole, id=str(number), mentions=mentions)


GOLD, DEV = [marked(n) for n in range(40)], [marked(n) for n in range(40, 60)]
RAW = [text(n) for n in range(60, 120)]


@pytest.fixture(scope="module")
def teacher() -> Recognizer:
    return Recognizer("separators", **SETTINGS).fit(GOLD, dev=DEV)


def test_a_student_of_raw_text_alone_does_as_its_teacher_does(teacher):
    student = teach(teacher, RAW, dev=DEV, **SETTINGS)
    assert student.types_ == teacher.types_ and str(student.structure) == "separators"
    assert teacher.score(DEV) > 0.9 and student.score(DEV) > 0.9
    report = student.report_
    assert (report.documents, report.sentences, report.tokens, report.mentions) == (0, 0, 0, 0)
    told = report.teaching
    assert told is not None and (told.teachers, told.documents, told.own, told.agreement) == (1, len(RAW), False, None)
    assert told.expected == pytest.approx(sum(len(document.mentions) for document in teacher.predict(RAW)), rel=0.2)
    assert any("taught by 1 model on 60 raw documents" in line for line in student.summary())


def test_counts_are_the_mean_of_what_the_teachers_expect(teacher, monkeypatch):
    other = Recognizer("separators", **SETTINGS | {"l2": 5.0}).fit(GOLD[:10], dev=DEV)
    seen: list[SoftCounts] = []
    made = SoftCounts.of.__func__
    monkeypatch.setattr(SoftCounts, "of", classmethod(lambda cls, *given: seen.append(made(cls, *given)) or seen[-1]))
    student = teach([teacher, other], RAW, dev=DEV, **SETTINGS)
    [soft] = seen
    batch = Batch.of([prepare(Document(one)) for one in RAW])
    sums = [
        one.fitted.engine.expectations(one.fitted.scorer.score(batch), batch.sentences).roles
        for one in (teacher, other)
    ]
    np.testing.assert_allclose(soft.dense(np.arange(len(batch.tokens))), sum(sums) / 2, rtol=1e-3, atol=1e-6)
    assert student.report_.teaching is not None and 0 < student.report_.teaching.agreement < 1
    same = teach([teacher, copy(teacher)], RAW, dev=DEV, **SETTINGS)
    assert same.report_.teaching is not None and same.report_.teaching.agreement == 1


def test_each_text_is_marked_up_by_its_own_teacher(teacher, monkeypatch):
    """What is learned is what each teacher expects of its own text, one after the other."""
    other = Recognizer("separators", **SETTINGS | {"l2": 5.0}).fit(GOLD[:10], dev=DEV)
    seen: list[SoftCounts] = []
    made = SoftCounts.join.__func__
    monkeypatch.setattr(SoftCounts, "join", classmethod(lambda cls, given: seen.append(made(cls, given)) or seen[-1]))
    student = teach(teacher, RAW[:40], crossed=[(other, RAW[40:50]), ([teacher, other], RAW[50:])], dev=DEV, **SETTINGS)
    soft = seen[-1]
    batch = Batch.of([prepare(Document(one)) for one in RAW])
    one, two = (
        m.fitted.engine.expectations(m.fitted.scorer.score(batch), batch.sentences).roles for m in (teacher, other)
    )
    cuts = batch.firsts[[40, 50]]
    at = [int(batch.sentences[cut]) for cut in cuts]
    expected = np.concatenate([one[: at[0]], two[at[0] : at[1]], (one + two)[at[1] :] / 2])
    np.testing.assert_allclose(soft.dense(np.arange(len(batch.tokens))), expected, rtol=1e-3, atol=1e-6)
    told = student.report_.teaching
    assert told is not None and (told.teachers, told.documents, told.others, told.crossed) == (1, 40, 3, 20)
    assert (told.sentences, told.tokens) == (len(batch.sentences) - 1, len(batch.tokens))
    assert told.expected == pytest.approx(expected[:, teacher.fitted.start_rows].sum(), rel=1e-3)
    assert any("taught by 1 model on 40 raw documents, and by 3 more on 20 others: " in x for x in student.summary())


def test_a_text_of_its_own_for_the_same_teacher_is_raw_text(teacher):
    whole = teach(teacher, RAW, train=GOLD, dev=DEV, weight=0.5, **SETTINGS)
    parted = teach(teacher, RAW[:20], crossed=[(teacher, RAW[20:])], train=GOLD, dev=DEV, weight=0.5, **SETTINGS)
    np.testing.assert_array_equal(whole.fitted.scorer.weights.features, parted.fitted.scorer.weights.features)


def test_crossed_teachers_are_checked_before_anything_is_read(teacher):
    other = Recognizer("bilou", **SETTINGS).fit([d.copy(mentions=d.mentions[:1]) for d in GOLD], dev=DEV)

    def never():
        raise AssertionError("nothing is read")
        yield

    for crossed, message in (
        ([(other, RAW)], "structure: bilou, expected separators"),
        ([teacher], r"crossed\[0\] is .*, expected a pair of a teacher and its texts"),
        ([(teacher, RAW), (teacher,)], r"crossed\[1\] is"),
        (7, "crossed is 7, expected pairs"),
        ({"a": RAW}, "crossed is .*, expected pairs"),
        ([("model", RAW)], "a model of kind 'str' cannot teach"),
        ([(Recognizer(), RAW)], "not trained"),
    ):
        with pytest.raises(UsageError, match=message):
            teach(teacher, never(), crossed=crossed, **SETTINGS)
    with pytest.raises(DataError, match=r"crossed\[1\] has no words"):
        teach(teacher, RAW, crossed=[(teacher, RAW), (teacher, [" "])], **SETTINGS)


class Certain:
    """A scorer that leaves nothing but one structure for each sentence: a teacher that is certain."""

    def __init__(self, model: StructuredModel, documents: Sequence[Document]) -> None:
        self.model, self.found = model, {document.text: document for document in documents}

    def score(self, batch, run=None):
        rows = [[document.text[a:b] for a, b in document.tokens.tolist()] for document in batch.documents]
        assert all(rows)
        gold = Batch.of([prepare(self.found[document.text]) for document in batch.documents])
        potentials = self.model.scorer.score(gold)
        edges = self.model.best(potentials, gold.sentences)
        counts, _ = self.model.engine.role_counts(edges, gold.sentences)
        return Potentials(np.where(counts > 0, 60.0, -60.0).astype(np.float32), potentials.constants)


class Sure:
    """A model of a class of its own, which is no recognizer, and teaches all the same."""

    def __init__(self, teacher: Recognizer, documents: Sequence[Document]) -> None:
        self.fitted = StructuredModel(
            teacher.fitted.structure, teacher.fitted.types, teacher.fitted.engine, Certain(teacher.fitted, documents)
        )

    def ready(self, documents):
        return list(documents)


def test_the_student_of_a_certain_teacher_is_trained_on_its_predictions(teacher):
    """The limit: counts of 0 and 1 are gold, so the weights are those of training on the best structures."""
    raw = [Document(one) for one in dict.fromkeys(RAW)]
    found = []
    for document in raw:
        batch = Batch.of([prepare(document)])
        potentials = teacher.fitted.scorer.score(batch)
        table = teacher.fitted.decode(potentials, batch.sentences)
        spans = batch.tokens
        rows = [(kind, pieces) for (_, kind, pieces), _ in table.headed()]
        mentions = [
            Mention(teacher.types_[kind], [(int(spans[a, 0]), int(spans[b - 1, 1])) for a, b in pieces])
            for kind, pieces in rows
        ]
        found.append(document.copy(mentions=mentions))
    student = teach(Sure(teacher, raw), raw, dev=DEV, **SETTINGS)
    trained = Recognizer("separators", **SETTINGS).fit(found, dev=DEV)
    assert trained.types_ == student.types_
    one, other = (model.fitted.scorer.weights.features for model in (student, trained))
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_the_weight_is_chosen_by_development_data(teacher):
    student = teach(teacher, RAW, train=GOLD, dev=DEV, weight=[0.1, 1, 1], **SETTINGS)
    told = student.report_.teaching
    assert told is not None and [weight for weight, _ in told.tried] == [0.1, 1]
    best = max(told.tried, key=lambda one: one[1])
    assert told.weight == best[0]
    one = teach(teacher, RAW, train=GOLD, dev=DEV, weight=told.weight, **SETTINGS)
    np.testing.assert_array_equal(one.fitted.scorer.weights.features, student.fitted.scorer.weights.features)
    assert student.report_.documents == len(GOLD) and student.report_.mentions == sum(len(d.mentions) for d in GOLD)


def test_raw_text_is_worth_something(teacher):
    """Few gold documents, and what a good teacher says of many raw ones: the student gains."""
    alone = Recognizer("separators", **SETTINGS).fit(GOLD[:4], dev=DEV)
    taught = teach(teacher, RAW, train=GOLD[:4], dev=DEV, weight=1, **SETTINGS)
    gold = [marked(n) for n in range(120, 160)]
    assert score(gold, taught.predict(gold)).f1 > score(gold, alone.predict(gold)).f1


@pytest.mark.parametrize("train", [None, GOLD])
def test_same_seed_same_bytes_for_any_number_of_threads(teacher, tmp_path: Path, train):
    folders = []
    for jobs in (1, 2):
        given = SETTINGS | {"l2": [0.1, 1.0], "rescore": True, "n_jobs": jobs}
        student = teach([teacher, teacher], RAW, train=train, dev=DEV, **given)
        student.save(tmp_path / str(jobs))
        folders.append({file.name: file.read_bytes() for file in (tmp_path / str(jobs)).iterdir()})
    assert folders[0] == folders[1]
    again = load(tmp_path / "1")
    assert again.report_ == student.report_ and again.report_.teaching is not None
    assert [d.mentions for d in again.predict(RAW)] == [d.mentions for d in student.predict(RAW)]


def test_a_second_stage_is_trained_on_gold_mentions_only():
    many = [marked(n) for n in range(90)]
    teacher = Recognizer("separators", **SETTINGS).fit(many, dev=DEV)
    given = SETTINGS | {"rescore": True}
    assert teach(teacher, RAW, dev=DEV, **given).report_.rescoring is None
    found = teach(teacher, RAW, train=many, dev=DEV, **given).report_.rescoring
    assert found is not None and found.candidates >= sum(len(d.mentions) for d in many) // 2


def test_own_mentions_of_raw_text_are_not_looked_at(teacher):
    meta = {"annotation": "at-least", "annotator": "Ada"}
    wrong = [Document(one, mentions=[Mention("other", [(0, 2)])], meta=meta) for one in RAW]
    student, other = (teach(teacher, raw, dev=DEV, **SETTINGS) for raw in (RAW, wrong))
    np.testing.assert_array_equal(student.fitted.scorer.weights.features, other.fitted.scorer.weights.features)


def test_without_gold_the_teacher_marks_development_data(teacher):
    student = teach(teacher, RAW, **SETTINGS)
    assert student.report_.teaching is not None and student.report_.teaching.own
    assert student.report_.dev_f1 > 0.9 and student.score(DEV) > 0.9
    assert np.array_equal(student.overlaps_.allowed, teacher.overlaps_.allowed)


def test_splits_of_tokens_are_those_of_the_teacher():
    words = [f"anti-{word}" for word in ("tumor", "HIV", "CD3", "IgG")] * 10
    documents = [Document(word, tokens=[[0, len(word)]], sentences=[[0, 1]]) for word in words]
    gold = [document.copy(mentions=[Mention("target", [(5, len(document.text))])]) for document in documents]
    teacher = Recognizer("separators", **SETTINGS).fit(gold, dev=gold)
    assert teacher.splitter_.patterns
    student = teach(teacher, documents, dev=gold, **SETTINGS)
    assert student.splitter_ == teacher.splitter_ and student.score(gold) == 1


def test_mentions_of_unknown_types_are_left_out_and_told(teacher):
    more = [*GOLD, Document("fever", mentions=[Mention("sign", [(0, 5)])])]
    with pytest.warns(DataWarning, match="left out of the training data: mentions of types that the teacher does not"):
        student = teach(teacher, RAW, train=more, dev=DEV, weight=1, **SETTINGS)
    assert student.types_ == teacher.types_


def test_who_cannot_teach(teacher):
    cascade = Cascade(features=["bias"], epochs=1, l2=1.0).fit(GOLD, dev=DEV)
    with pytest.raises(UsageError, match="of several teachers the mean is learned, expected recognizers"):
        teach([cascade, cascade], RAW)
    with pytest.raises(UsageError, match="a teacher's way of teaching: the mentions that it finds"):
        teach(teacher, RAW, crossed=[(cascade, RAW)])
    with pytest.raises(UsageError, match="a model of kind 'tagger' cannot teach, expected a trained model that finds"):
        teach(PosTagger(), RAW)
    with pytest.raises(UsageError, match="a model of kind 'str' cannot teach"):
        teach("model", RAW)
    with pytest.raises(UsageError, match="there is no teacher"):
        teach([], RAW)
    with pytest.raises(NotFittedError, match="this recognizer is not trained"):
        teach(Recognizer(), RAW)


def test_teachers_must_agree(teacher):
    for made, message in (
        (
            Recognizer("mention_hypergraph", **SETTINGS).fit(GOLD, dev=DEV),
            "structure: mention_hypergraph, expected sep",
        ),
        (
            Recognizer(counting="derivations", **SETTINGS).fit(GOLD, dev=DEV),
            "counting: derivations, expected subgraphs",
        ),
        (
            Recognizer(**SETTINGS).fit([d.copy(mentions=d.mentions[:1]) for d in GOLD], dev=DEV[:0]),
            "types: body, expected body, problem",
        ),
    ):
        with pytest.raises(UsageError, match=f"a teacher's {message}"):
            teach([teacher, made], RAW)


@pytest.mark.parametrize("weight", [-1, 0, np.nan, np.inf, "much", [], [1, -2], 1e9, None.__class__])
def test_weights_that_are_none(teacher, weight):
    with pytest.raises(UsageError, match=r"weight is .*, expected a number above 0"):
        teach(teacher, RAW, train=GOLD, weight=weight)


@pytest.mark.parametrize(
    "given, error, message",
    [
        ({"structure": "bio"}, UsageError, "structure is given, but a student has that of its teacher"),
        ({"passes": "two"}, UsageError, "passes is given"),
        ({"epochs": 0}, UsageError, "epochs is 0"),
        ({"depth": 3}, UsageError, "no parameter 'depth'; there are features, optimizer"),
        ({"train": []}, DataError, "train holds no mentions"),
        ({"train": RAW}, DataError, "train holds no mentions"),
        ({"weight": 2}, UsageError, "weight is 2, but without train all text is raw"),
        ({"raw": []}, DataError, "raw has no words"),
        ({"raw": ["", " \n"]}, DataError, "raw has no words"),
        ({"raw": ["pain", None]}, DataError, "item 1 of raw is missing"),
    ],
)
def test_what_cannot_be_learned_is_one_line(teacher, given, error, message):
    with pytest.raises(error, match=message) as caught:
        teach(teacher, given.pop("raw", RAW), **given)
    assert "\n" not in str(caught.value)


def test_odd_texts_are_learned_from(teacher):
    odd = ["", "x", "\u0000", "𝒳 pain", " ", "a" * 5000, "pain " * 400]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        student = teach(teacher, odd, dev=DEV, **SETTINGS)
    assert np.isfinite(student.fitted.scorer.weights.features).all()
    one = teach(teacher, "left arm pain", **SETTINGS)  # a single sentence, and nothing to choose by
    assert one.types_ == teacher.types_


def test_the_target_is_gold_beside_counts(teacher, monkeypatch):
    seen = []
    check = CorpusTarget.__post_init__
    monkeypatch.setattr(CorpusTarget, "__post_init__", lambda self: (seen.append(self), check(self))[1])
    teach(teacher, RAW, train=GOLD, dev=DEV, weight=1, **SETTINGS)
    [target] = seen
    assert isinstance(target.gold, EdgeTarget) and target.gold.shape[0] == len(GOLD)
    assert len(target.soft.offsets) - 1 == len(RAW)
