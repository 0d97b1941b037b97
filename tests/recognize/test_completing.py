"""Training on partial annotation, end to end, and what is refused of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, load
from spanloom.document import Batch
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import score
from spanloom.learn.complete import complete
from spanloom.recognize import completing
from spanloom.recognize.completing import densities
from spanloom.recognize.source import is_whole, whole_annotation
from spanloom.scoring import role_scores
from spanloom.text import prepare
from spanloom_lab import Cascade

SETTINGS: dict[str, Any] = {
    "features": ["bias", "low[-1..1]", "suffix(2..3)"], "epochs": 8, "l2": 0.1, "rescore": False, "tune_penalty": False,
    "split_tokens": False,
}  # fmt: skip


def partly(documents: Sequence[Document], share: float, whole: int = 0, says: Any = "at-least") -> list[Document]:
    """Documents without a share of their mentions, but for the first ones."""
    draw = random.Random(3)
    return [
        one
        if i < whole
        else one.copy(
            mentions=[mention for mention in one.mentions if draw.random() >= share],
            meta={**one.meta, "annotation": says},
        )
        for i, one in enumerate(documents)
    ]


def f1(model: Recognizer, documents: Sequence[Document]) -> float:
    return score(documents, model.predict(documents)).f1


@pytest.mark.parametrize("structure", ["separators", "shared", "bio"])
def test_half_of_the_mentions_make_more_than_if_they_were_all(notes: Any, structure: str) -> None:
    unseen, settings = [*notes.dev, *notes.test], SETTINGS | {"epochs": 20}
    given = partly(notes.train, 0.5, whole=5)
    naive = f1(Recognizer(structure, **settings).fit([one.copy(meta={}) for one in given], dev=notes.dev), unseen)
    model = Recognizer(structure, **settings).fit(given, dev=notes.dev)
    assert f1(model, unseen) > 1.15 * naive
    told = model.report_.completion
    assert told is not None
    assert set(told.densities) == {mention.type for one in notes.train for mention in one.mentions}
    assert told.given < told.expected


def test_same_bytes_for_any_number_of_threads(notes: Any) -> None:
    given = partly(notes.train, 0.5, whole=5)
    one, other = (Recognizer(**SETTINGS, n_jobs=jobs).fit(given, dev=notes.dev) for jobs in (1, 2))
    for a, b in zip(one.fitted.scorer.weights, other.fitted.scorer.weights, strict=True):
        np.testing.assert_array_equal(a, b)


def test_annotation_that_says_it_is_complete_changes_nothing(notes: Any) -> None:
    said = [one.copy(meta={"annotation": {"default": "complete"}}) for one in notes.train]
    one, other = (Recognizer(**SETTINGS).fit(given, dev=notes.dev) for given in (notes.train, said))
    np.testing.assert_array_equal(one.fitted.scorer.weights.features, other.fitted.scorer.weights.features)
    assert other.report_.completion is None


def test_complete_sentences_keep_their_counts(notes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is complete is learned as it is, whatever is filled in elsewhere; given mentions are sure."""
    seen = []

    def watched(data: Any, edges: Any, allowed: Any, settings: Any, *rest: Any) -> Any:
        found = complete(data, edges, allowed, settings, *rest)
        seen.append((data, settings, found))
        return found

    monkeypatch.setattr(completing, "complete", watched)
    Recognizer(**SETTINGS).fit(partly(notes.train, 0.5, whole=5), dev=notes.dev)
    [(data, settings, found)] = seen
    first = int(Batch.of([prepare(one) for one in notes.train[:5]]).sentences[-1])
    np.testing.assert_allclose(found.expected, settings.target_counts, rtol=0.01)
    np.testing.assert_allclose(found.target.density * data.offsets[-1], settings.target_counts)
    allowed = found.target.target.target_counts(role_scores(data.matrix, found.start)).roles
    np.testing.assert_allclose(allowed[:first], data.target.roles[:first], atol=1e-3)
    given = data.target.roles[:, settings.starts].sum(1)
    assert (allowed[:, settings.starts].sum(1) >= given - 1e-3).all()
    assert found.expected.sum() > 1.3 * given.sum()


def test_model_is_saved_with_its_report(notes: Any, tmp_path: Any) -> None:
    given = partly(notes.train, 0.5)
    density = {"problem": 150, "test": 150.0, "drug": 120, "anatomy": 150, "treatment": 120}
    model = Recognizer(**SETTINGS, annotation="at-least", density=density).fit(given, dev=notes.dev)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, Recognizer)
    assert loaded.report_ == model.report_
    assert loaded.density == model.density
    assert model.report_.completion is not None
    assert any("more were filled in" in line for line in model.report_.completion.lines())


@pytest.mark.parametrize("said", ["half of it", "the density"])
def test_held_out_text_that_is_partly_annotated_tunes_by_the_density(notes: Any, said: str) -> None:
    """F1 cannot tell a penalty where mentions are missing, but how many there are can."""
    given, dev = partly(notes.train, 0.5, whole=5), partly(notes.dev, 0.5)
    settings: dict[str, Any] = SETTINGS | {"tune_penalty": True}
    if said == "the density":
        given, settings = partly(notes.train, 0.5), settings | {"density": 240}
    model = Recognizer(**settings).fit(given, dev=dev)
    told = model.report_.completion
    assert told is not None
    wanted = sum(one.mentions for one in told.densities.values()) * len(Batch.of(model.ready(dev)).tokens) / 1000
    assert sum(len(one.mentions) for one in model.predict(dev)) == pytest.approx(wanted, rel=0.2)
    assert model.report_.penalty != 0
    assert model.report_.calibration is None


def test_complete_training_data_tell_what_the_penalty_is(notes: Any) -> None:
    settings = SETTINGS | {"tune_penalty": True}
    dev = [one.copy(mentions=[], meta={"annotation": "unknown"}) for one in notes.dev]
    model = Recognizer(**settings).fit(notes.train, dev=dev)
    per = sum(len(one.mentions) for one in notes.train) / len(Batch.of(model.ready(notes.train)).tokens)
    found = sum(len(one.mentions) for one in model.predict(dev))
    assert found == pytest.approx(per * len(Batch.of(model.ready(dev)).tokens), rel=0.1)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"density": 0}, "density is 0, expected mentions per 1,000 tokens, above 0"),
        ({"density": "many"}, "density is 'many', expected"),
        ({"density": float("nan")}, "density is nan, expected"),
        ({"density": True}, "density is True, expected"),
        ({"density": object()}, "density is <object"),
        ({"density": ["drug=3", "drug=4"]}, "2 numbers for type 'drug', expected one"),
        ({"density": ["30", "40"]}, "2 numbers for all types, expected one"),
        ({"density": ["=30"]}, "density is ['=30'], expected"),
        ({"density": {"disease": 3}}, "there are anatomy, drug, problem, test, treatment"),
        ({"density": 1}, "mentions per 1,000 tokens, but annotation has"),
        ({"density": ["drug=30", "30"]}, "which leaves nothing for anatomy, problem, test, treatment"),
        ({"density": 4500, "structure": "bio"}, "is more than fits"),
        ({"density": 5001}, "density is 5001, expected mentions per 1,000 tokens"),
        ({"density": 30, "passes": "two"}, "there is one pass over documents"),
        ({"density": 30, "annotation": "perhaps"}, "annotation is 'perhaps', expected one of"),
    ],
)
def test_what_is_refused(notes: Any, parameters: dict[str, Any], told: str) -> None:
    with pytest.raises((UsageError, DataError)) as error:
        Recognizer(**(SETTINGS | parameters)).fit(partly(notes.train[:8], 0.5), dev=notes.dev)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_complete_development_data_give_the_density(notes: Any) -> None:
    given = partly(notes.train, 0.5)
    with pytest.raises(DataError, match="and the density of type 'anatomy' is unknown: parts that are "):
        Recognizer(**SETTINGS).fit(given, dev=partly(notes.dev, 0.5))
    model = Recognizer(**SETTINGS).fit(given, dev=notes.dev)
    told = model.report_.completion
    assert told is not None
    tokens = sum(one.token_count for one in model.ready(notes.dev))
    wanted = 1000 * sum(len(one.mentions) for one in notes.dev) / tokens
    assert sum(one.mentions for one in told.densities.values()) == pytest.approx(wanted, rel=0.1)


def test_a_number_is_that_of_all_types_together(notes: Any) -> None:
    told = Recognizer(**SETTINGS, density=240).fit(partly(notes.train, 0.5), dev=notes.dev).report_.completion
    assert told is not None
    assert sum(one.mentions for one in told.densities.values()) == pytest.approx(240)
    assert told.expected == pytest.approx(0.240 * sum(one.token_count for one in map(prepare, notes.train)), rel=0.2)


def test_density_of_complete_annotation(notes: Any) -> None:
    with pytest.raises(UsageError, match="but the annotation of the training data is complete"):
        Recognizer(**SETTINGS, density=30).fit(notes.train, dev=notes.dev)


def test_cascades_learn_from_what_a_recognizer_completes(notes: Any) -> None:
    unseen = [*notes.dev, *notes.test]
    given = partly(notes.train, 0.5, whole=5)
    settings = {name: value for name, value in SETTINGS.items() if name != "rescore"}
    naive = f1(Cascade(**settings).fit([one.copy(meta={}) for one in given], dev=notes.dev), unseen)
    assert f1(Cascade(**settings).fit(given, dev=notes.dev), unseen) > 1.1 * naive


def test_whole_annotation_stays_as_it_is(notes: Any) -> None:
    whole = whole_annotation(notes.train)
    assert all(one is other for one, other in zip(whole, notes.train, strict=True))


def test_what_is_found_where_annotation_is_open(notes: Any) -> None:
    """Marked mentions stay, complete zones and denied spans stay empty, what is unknown is found again."""
    given = partly(notes.train, 0.5, whole=10)
    denied = {"not": [{"spans": [[span.start, span.end] for span in notes.train[-2].mentions[0].spans]}]}
    given[-1] = notes.train[-1].copy(mentions=[], meta={"annotation": "complete", **notes.train[-1].meta})
    given[-2] = notes.train[-2].copy(mentions=[], meta={"annotation": {"default": "at-least", **denied}})
    given[-3] = notes.train[-3].copy(mentions=[Mention("problem", [(0, 1)])], meta={"annotation": "unknown"})
    whole = whole_annotation(given, notes.dev, **SETTINGS)
    assert is_whole(whole)
    open_ = slice(10, -3)
    assert score(notes.train[open_], whole[open_]).f1 > 0.02 + score(notes.train[open_], given[open_]).f1
    for before, after in zip(given[:-3], whole[:-3], strict=True):
        assert {one.key for one in before.mentions} <= {one.key for one in after.mentions}
    assert not whole[-1].mentions
    assert notes.train[-2].mentions[0].spans not in {one.spans for one in whole[-2].mentions}
    assert whole[-2].mentions
    assert given[-3].mentions[0] not in whole[-3].mentions


def test_few_sentences() -> None:
    note = Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])
    settings = SETTINGS | {"annotation": "at-least", "density": 500}
    with pytest.raises(DataError, match="there is one training sentence"):
        Recognizer(**settings).fit([note], dev=[note])
    assert Recognizer(**settings).fit([note] * 2, dev=[note]).report_.completion is not None


def test_densities() -> None:
    two = {"a": 6.0, "b": 2.0}
    assert densities(8, two) == densities("8", two) == {"a": 6.0, "b": 2.0}
    assert densities(["a=1", "3"], two) == {"a": 1.0, "b": 2.0}
    assert densities(["a=1", "b=3", "2"], two) == {"a": 1.0, "b": 3.0}
    assert densities(8, {"a": 0, "b": 0}) == {"a": 4.0, "b": 4.0}
    assert densities("a=1", two) == {"a": 1.0}
    assert densities({"a=b": 1}, {"a=b": 1}) == {"a=b": 1.0}
    assert densities("a=b=1", {"a=b": 1}) == {"a=b": 1.0}
    assert densities(None, two) == {}


def claims(note: Document, number: int) -> dict[str, Any]:
    """Every third mention of which nothing but the span is known, and two readings of every fourth."""
    known = [mention for i, mention in enumerate(note.mentions) if i % 4]
    some = [{"spans": [list(span) for span in mention.spans]} for mention in known[number % 3 :: 3]]
    either = [
        [[{"type": mention.type, "spans": [list(span) for span in mention.spans]}], []]
        for i, mention in enumerate(note.mentions)
        if not i % 4
    ]
    return {"default": "complete", "some": some, "either": either}


def test_mentions_of_unknown_type_are_learned(notes: Any) -> None:
    """Of complete notes, without a density: what is claimed is worth more than what is left without it."""
    said, without = [], []
    for number, note in enumerate(notes.train):
        given = claims(note, number)
        spans = {tuple(map(tuple, one["spans"])) for one in given["some"]}
        left = [m for i, m in enumerate(note.mentions) if i % 4 and tuple(map(tuple, m.spans)) not in spans]
        said.append(note.copy(mentions=left, meta={"annotation": given}))
        without.append(note.copy(mentions=left))
    unseen = [*notes.dev, *notes.test]
    model = Recognizer("shared", **SETTINGS).fit(said, dev=notes.dev)
    naive = Recognizer("shared", **SETTINGS).fit(without, dev=notes.dev)
    assert f1(model, unseen) > f1(naive, unseen)
    told = model.report_.completion
    assert told is not None
    assert told.expected > told.given
    again = Recognizer("shared", **SETTINGS, n_jobs=2).fit(said, dev=notes.dev)
    np.testing.assert_array_equal(model.fitted.scorer.weights.features, again.fitted.scorer.weights.features)


@pytest.mark.filterwarnings("ignore::spanloom.errors.LostWarning")
def test_a_type_whose_mentions_the_structure_cannot_hold_has_its_density_all_the_same(notes: Any) -> None:
    """Its mentions have gaps here, so nothing shows how many start together."""

    def gapped(one: Document) -> Document:
        kept = [mention for mention in one.mentions if mention.type != "test" or len(mention.spans) > 1]
        first, second = one.tokens[2].tolist(), one.tokens[5].tolist()
        return one.copy(mentions=[*kept, Mention("test", [first, second])], meta={"annotation": "at-least"})

    given = [gapped(prepare(one)) for one in notes.train]
    density = {"problem": 150, "test": 20.0, "drug": 120, "anatomy": 150, "treatment": 120}
    model = Recognizer(**SETTINGS, density=density).fit(given, dev=notes.dev)
    assert model.report_.completion is not None
    assert model.report_.completion.expected > 0


def test_text_of_which_nothing_is_said_is_refused(notes: Any) -> None:
    """A density says how many mentions there are, and nothing where: training made noise of it."""
    given = [one.copy(meta={"annotation": "unknown"}) for one in notes.train]
    with pytest.raises(DataError, match="the annotation of all training text is unknown: no mention can be learned"):
        Recognizer(**SETTINGS, density=200).fit(given, dev=notes.dev)


def of_types(documents: Sequence[Document], *kept: Sequence[str]) -> list[Document]:
    """Documents that say all of some types and nothing of others, the first ones of the first types and so on."""
    return [
        one.copy(
            mentions=[mention for mention in one.mentions if mention.type in types],
            meta={"annotation": {"default": "unknown", "types": dict.fromkeys(types, "complete")}},
        )
        for i, one in enumerate(documents)
        for types in [kept[i % len(kept)]]
    ]


def test_a_type_is_learned_from_the_documents_that_say_something_of_it(notes: Any) -> None:
    """Types do not interact, so at the optimum each has the probabilities of a model of its own documents alone."""
    first, other = ["drug", "test"], ["anatomy", "problem"]
    settings = SETTINGS | {"optimizer": "lbfgs", "iterations": 400}
    given = of_types(notes.train, first, other)
    joint = Recognizer(**settings).fit(given, dev=notes.dev)
    assert joint.report_.completion is None
    for n, types in enumerate((first, other)):
        own = Recognizer(**settings).fit([one.copy(meta={}) for one in given[n::2]], dev=notes.dev)
        dev = [one.copy(mentions=[m for m in one.mentions if m.type in types]) for one in notes.dev]
        of_joint, of_own = (np.concatenate(model.marginals(dev, calibrated=False)) for model in (joint, own))
        np.testing.assert_allclose(of_joint, of_own, atol=2e-3)


def test_what_is_found_where_nothing_is_said_is_not_counted(notes: Any) -> None:
    """Development data that say nothing of some types tune the others, and calibrate them, with a second stage, too."""
    first, other = ["drug", "test"], ["anatomy", "problem", "treatment"]
    settings: dict[str, Any] = SETTINGS | {"tune_penalty": True, "rescore": True}
    given = of_types(notes.train, first, other)
    model = Recognizer(**settings).fit(given, dev=of_types(notes.dev, first, other))
    report = model.report_
    assert report.rescoring is not None
    assert report.calibration is not None
    assert report.dev_f1 == max(report.rescoring.before, report.rescoring.after)
    silent = [one.copy(mentions=[], meta={"annotation": "unknown"}) for one in notes.dev]
    more = Recognizer(**settings).fit(given, dev=of_types(notes.dev, first, other) + silent)
    assert more.report_.dev_f1 == report.dev_f1
    assert more.report_.penalty == report.penalty


def test_a_type_of_which_nothing_is_said_anywhere_is_refused(notes: Any) -> None:
    given = [one.copy(meta={"annotation": {"types": {"drug": "unknown"}}}) for one in notes.train]
    with pytest.raises(DataError, match="the annotation of all training text is unknown of type 'drug'; annotate"):
        Recognizer(**SETTINGS).fit(given, dev=notes.dev)


def test_types_that_no_document_has_together_may_overlap(notes: Any) -> None:
    first, other = ["drug", "test"], ["anatomy", "problem", "treatment"]
    model = Recognizer(**SETTINGS).fit(of_types(notes.train, first, other), dev=notes.dev)
    assert model.overlaps_ is not None
    row, column = (model.types_.index(name) for name in ("drug", "problem"))
    assert model.overlaps_.allowed[:, row, column].all()
