"""Several seeds of one encoder: the mean of the weights of the best."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import spanloom
from spanloom import Document, Recognizer, Segmenter
from spanloom.learn import Chosen
from spanloom.learn.keeping import trained
from spanloom.learn.souping import mean, train_seeds
from spanloom.scoring.encoder.scorer import EncoderScorer, EncoderSettings
from spanloom.structures import STRUCTURES

QUICK: dict[str, Any] = {
    "encoder_epochs": 3, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 64, "precision": "float32",
}  # fmt: skip


def test_greedy_means(folder: Path) -> None:
    """Seeds set all weights to a number; the metric likes a mean of 2 best."""
    template = STRUCTURES["bio"].template(["x"])
    scorer = EncoderScorer.open(str(folder), template, 1, EncoderSettings())
    values = {0: 1.0, 1: 9.0, 2: 2.6, 3: 1.5}
    begins = []

    def metric(scorer: EncoderScorer) -> float:
        return 1 / (1 + abs(float(scorer.network.head.bias[0].detach()) - 2))

    def train(seed: int) -> Chosen:
        begins.append(scorer.network.head.weight.detach().clone())
        with torch.no_grad():
            for array in scorer.network.parameters():
                array.fill_(values[seed])
        return Chosen(0.0, seed, 0.0, (), metric(scorer), 0.0)

    fit, soup = train_seeds(scorer, range(4), train, metric)
    assert all(torch.equal(begin, begins[0]) for begin in begins)
    assert soup.averaged == (3, 2)  # (1.5 + 2.6) / 2 is nearer to 2 than 1.5; with 1 it is 1.7
    assert soup.f1 == pytest.approx((1 / 2, 1 / 8, 1 / 1.6, 1 / 1.5))
    assert (fit.steps, fit.dev_f1) == (3, soup.best)
    assert soup.best == pytest.approx(1 / 1.05)
    assert all(torch.allclose(array, torch.tensor(2.05)) for array in trained(scorer.network).values())


def test_the_mean_of_one_is_itself() -> None:
    state = {"w": torch.randn(5, generator=torch.Generator().manual_seed(0))}
    assert torch.equal(mean([state])["w"], state["w"])


@pytest.mark.parametrize("adapters", [0, 4])
def test_several_seeds_give_the_same_bytes_also_from_a_checkpoint(
    adapters: int, folder: Path, notes: list[Document], tmp_path: Path
) -> None:
    models = []
    for name, more in (("one", {}), ("two", {"checkpoint": tmp_path / "kept"})):
        model = Recognizer(encoder=str(folder), seeds=2, adapters=adapters, **QUICK, **more).fit(notes, dev=notes[:10])
        if name == "two":  # all seeds are there, and are averaged again
            assert {file.name for file in (tmp_path / "kept").iterdir()} == {"seed-0", "seed-1"}
            model = model.fit(notes, dev=notes[:10])
        model.save(tmp_path / name)
        models.append(model)
    for file in ("model.json", "weights.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert not (tmp_path / "kept").exists()
    report = models[0].report_.encoder
    assert report is not None
    assert len(report.seeds) == 2
    assert report.mean >= max(report.seeds)
    assert any(line.startswith("development F1 of 2 seeds: ") for line in models[0].summary())
    assert spanloom.load(tmp_path / "one").report_ == models[0].report_


def test_a_segmenter_has_seeds_too(folder: Path) -> None:
    words = [Document("no pain", tokens=[[0, 2], [3, 7]], mentions=[spanloom.Mention("problem", [(3, 7)])])] * 20
    model = Segmenter(encoder=folder, seeds=2, **{**QUICK, "encoder_epochs": 1}).fit(words, dev=words[:5])
    assert model.report_.encoder is not None
    assert len(model.report_.encoder.seeds) == 2
