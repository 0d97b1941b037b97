"""An encoder beside features: what it is trained on, and what their sum says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spanloom
from spanloom import Document, Mention, Recognizer
from spanloom.document import Batch
from spanloom.errors import UsageError
from spanloom.hypergraph import Potentials
from spanloom.model.development import HeldOut
from spanloom.parallel import SERIAL
from spanloom.recognize import to_onnx
from spanloom.recognize.encoding.learning import best_share
from spanloom.scoring.onnx import OnnxScorer
from spanloom.scoring.sum import SumScorer, averaged
from spanloom.text import prepare

QUICK = {"encoder_epochs": 3, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 64, "precision": "float32"}


@pytest.fixture(scope="module")
def both(folder: Path, notes: list[Document]) -> Recognizer:
    return Recognizer(encoder=folder, with_features=True, **QUICK).fit(notes, dev=notes[:10])


def test_scores_are_the_sum(both: Recognizer, notes: list[Document]) -> None:
    scorer = both.fitted.scorer
    assert isinstance(scorer, SumScorer)
    batch = Batch.of(both.ready(notes[:3]))
    linear, encoder, found = scorer.linear.score(batch), scorer.encoder.score(batch), scorer.score(batch)
    assert np.allclose(found.roles, linear.roles + encoder.roles)
    assert np.allclose(found.constants, linear.constants + encoder.constants)
    assert np.abs(linear.roles).max() > 0.1
    assert np.abs(encoder.roles).max() > 0.1


def test_the_sum_is_saved_and_described(both: Recognizer, notes: list[Document], tmp_path: Path) -> None:
    both.save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    assert again.predict(notes) == both.predict(notes)
    described = again.describe()
    assert described["encoder"]["family"] == "bert"
    assert described["templates"]
    assert both.score(notes) > 0.7


def test_the_sum_without_pytorch(both: Recognizer, notes: list[Document], tmp_path: Path) -> None:
    to_onnx(both).save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    batch = Batch.of(both.ready(notes))
    assert isinstance(again.fitted.scorer.encoder, OnnxScorer)
    assert np.allclose(again.fitted.scorer.score(batch).roles, both.fitted.scorer.score(batch).roles, atol=1e-4)
    for one, other in zip(both.predict(notes), again.predict(notes), strict=True):
        assert [mention.key for mention in other.mentions] == [mention.key for mention in one.mentions]


def test_both_explain(both: Recognizer) -> None:
    [explanation] = both.explain("no chest pain .", [Mention("problem", [(9, 13)])])
    names = {part.name for contribution in explanation.contributions for part in contribution.features}
    assert {"encoder", "w[0]=pain"} <= names
    difference = sum(contribution.score for contribution in explanation.contributions)
    assert difference == pytest.approx(explanation.log_odds, abs=1e-3)


def test_gaps_and_clusters(folder: Path, notes: list[Document]) -> None:
    gapped = [note.copy(mentions=[m for m in note.mentions if m.type == "site"]) for note in notes]
    gapped[0] = gapped[0].copy(mentions=[Mention("site", [(0, 2), (9, 13)])])
    model = Recognizer("shared", encoder=folder, with_features=True, clusters=4, **QUICK).fit(gapped, dev=gapped[:9])
    assert all(0 <= m.score <= 1 for document in model.predict(gapped) for m in document.mentions)


def test_the_same_seed_learns_the_same(both: Recognizer, folder: Path, notes: list[Document], tmp_path: Path) -> None:
    other = Recognizer(encoder=folder, with_features=True, **QUICK).fit(notes, dev=notes[:10])
    both.save(tmp_path / "one")
    other.save(tmp_path / "other")
    for file in ("model.json", "weights.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


def test_the_mean_is_no_worse_than_either(both: Recognizer, notes: list[Document]) -> None:
    """Of scores that are noise, too, since each alone is among the means that are tried."""
    batch, draw = Batch.of([prepare(note) for note in notes[:10]]), np.random.default_rng(0)
    held = HeldOut(batch, both.fitted, "all", tunes=True)
    encoder = both.fitted.scorer.score(batch)
    for size in (0.0, 1.0, 3.0, 100.0):
        noise = draw.normal(size=encoder.roles.shape).astype(np.float32)
        features = Potentials(size * noise, encoder.constants)
        share, mean = best_share(features, encoder, held, SERIAL)
        f1 = [held.best_penalty(each, SERIAL)[1] for each in (mean, features, encoder)]
        assert f1[0] == max(f1)
        assert np.allclose(mean.roles, share * features.roles + (1 - share) * encoder.roles, atol=1e-5)


def test_each_is_trained_by_itself(both: Recognizer, folder: Path, notes: list[Document]) -> None:
    alone = Recognizer(encoder=folder, **QUICK).fit(notes, dev=notes[:10])
    features = Recognizer(rescore=False).fit(notes, dev=notes[:10])
    told = both.report_.encoder
    assert told is not None
    assert told.share is not None
    batch = Batch.of(both.ready(notes))
    mean = averaged(features.fitted.scorer.score(batch), alone.fitted.scorer.score(batch), told.share)
    assert np.allclose(both.fitted.scorer.score(batch).roles, mean.roles, atol=1e-4)
    assert f"scores: {100 * told.share:.0f} % features" in list(told.lines())[-1]


def test_an_encoder_is_needed(notes: list[Document]) -> None:
    with pytest.raises(UsageError, match="no encoder is given; name its folder"):
        Recognizer(with_features=True).fit(notes)


def test_resources_of_features_need_features(folder: Path, notes: list[Document]) -> None:
    with pytest.raises(UsageError, match="add features to it"):
        Recognizer(encoder=folder, clusters=4).fit(notes)


@pytest.mark.slow
def test_the_encoder_learns_what_features_fill_in(folder: Path, notes: list[Document]) -> None:
    some = [note.copy(meta={"annotation": "at-least"} if number % 2 else {}) for number, note in enumerate(notes)]
    model = Recognizer(encoder=folder, with_features=True, **QUICK).fit(some, dev=notes[:10])
    assert model.report_.completion is not None and model.report_.encoder is not None
    alone = Recognizer(encoder=folder, **QUICK).fit(some, dev=notes[:10])
    assert alone.report_.completion is None and alone.report_.encoder is not None


@pytest.mark.slow
def test_features_beside_an_encoder_may_have_two_passes(folder: Path, notes: list[Document]) -> None:
    model = Recognizer(encoder=folder, with_features=True, passes="two", **QUICK).fit(notes, dev=notes[:10])
    assert model.report_.passes is not None and len(model.predict(notes[:3])) == 3
