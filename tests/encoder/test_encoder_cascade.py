"""Cascades with encoders: chains that see the outputs of earlier ones, beside what their encoders read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import spanloom
from spanloom import Document, Mention, Recognizer
from spanloom.document import Batch
from spanloom.errors import UsageError
from spanloom.features import FeatureSet
from spanloom.formats import write
from spanloom.hypergraph import SubgraphEngine
from spanloom.learn import EdgeTarget
from spanloom.learn.joint_loss import Task, joint_loss
from spanloom.model.corpus import Gold
from spanloom.parallel import SERIAL
from spanloom.recognize import to_onnx
from spanloom.recognize.encoding.columns import ColumnWeights
from spanloom.scoring.encoder.scorer import EncoderScorer, EncoderSettings
from spanloom.scoring.section import sections_of
from spanloom.scoring.sum import SumScorer
from spanloom.structures import STRUCTURES
from spanloom.text import prepare
from spanloom_lab import Cascade

QUICK: dict[str, Any] = {
    "encoder_epochs": 6, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 64, "precision": "float32",
}  # fmt: skip


@pytest.fixture(scope="module")
def model(folder: Path, notes: list[Document]) -> Cascade:
    return Cascade(encoder=folder, **QUICK).fit(notes, dev=notes[:10])


def test_later_chains_see_earlier_ones(model: Cascade, notes: list[Document]) -> None:
    first, second = model.model_
    assert isinstance(first.model_.scorer, EncoderScorer)
    scorer = second.model_.scorer
    assert isinstance(scorer, SumScorer)
    assert scorer.needs == ("cascade_0_problem",)
    assert np.abs(scorer.linear.weights.features).max() > 0
    assert not hasattr(scorer.encoder, "columns")
    found = model.predict(notes)
    assert {mention.type for document in found for mention in document.mentions} == {"problem", "site"}
    assert all(0 <= mention.score <= 1 for document in found for mention in document.mentions)


def test_files_say_the_same_and_the_seed_gives_the_same_bytes(
    model: Cascade, folder: Path, notes: list[Document], tmp_path: Path
) -> None:
    model.save(tmp_path / "one")
    again = spanloom.load(tmp_path / "one")
    assert again.predict(notes) == model.predict(notes)
    assert again.report_ == model.report_
    assert again.describe()["encoder"]["family"] == "bert"
    Cascade(encoder=folder, **QUICK).fit(notes, dev=notes[:10]).save(tmp_path / "two")
    for file in ("model.json", "weights.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_mention_is_explained_by_the_encoder_and_the_earlier_chain(model: Cascade) -> None:
    last = model.model_[-1].types_[0]
    explanations = model.explain("no chest pain .", [Mention(last, [(3, 8)])])
    names = {part.name for e in explanations for c in e.contributions for part in c.features}
    assert "encoder" in names
    assert any(name.startswith("cascade_0_problem[") for name in names)


def test_the_report_tells_of_encoders(model: Cascade) -> None:
    told = "\n".join(model.summary())
    assert "2 chains, an encoder of its own for each" in told
    assert "the best of 6 passes is pass" in told or "passes is pass" in told
    assert "lambda" not in told


def test_what_has_no_use_is_refused(folder: Path, tmp_path: Path, notes: list[Document]) -> None:
    with pytest.raises(UsageError, match="one pass over documents"):
        Cascade(encoder=folder, passes="two").check()
    with pytest.raises(UsageError, match="several are trained here"):
        Cascade(encoder=folder, checkpoint=tmp_path).check()
    with pytest.raises(UsageError, match="clusters are given beside an encoder"):
        Cascade(encoder=folder, clusters=10).check()
    with pytest.raises(UsageError, match="is missing; name the folder"):
        Cascade(encoder=tmp_path).fit(notes)


class Hinted(Recognizer):
    """A recognizer whose encoder cannot see where mentions are, but a column says it."""

    def _columns(self) -> FeatureSet:
        return FeatureSet(["hint[0]"])


def hinted(count: int, seed: int) -> list[Document]:
    random = np.random.default_rng(seed)
    documents = []
    for _ in range(count):
        at = int(random.integers(4))
        mention = Mention("problem", [(5 * at, 5 * at + 4)])
        columns = {"hint": ["here" if number == at else "" for number in range(4)]}
        tokens = [[5 * i, 5 * i + 4] for i in range(4)]
        documents.append(Document("pain pain pain pain", tokens=tokens, columns=columns, mentions=[mention]))
    return documents


def test_columns_are_learned_along_with_an_encoder(folder: Path) -> None:
    train, test = hinted(60, 0), hinted(20, 1)
    model = Hinted("bilou", encoder=folder, **QUICK).fit(train, dev=train[:20])
    assert model.score(test) == 1.0
    assert Recognizer("bilou", encoder=folder, **QUICK).fit(train, dev=train[:20]).score(test) < 0.7


def test_columns_without_a_value_add_nothing(folder: Path) -> None:
    train = [document.copy(columns={"hint": [""] * 4}) for document in hinted(20, 0)]
    assert Hinted("bilou", encoder=folder, **{**QUICK, "encoder_epochs": 1}).fit(train, dev=train[:5]).predict(train)


def test_the_gradient_and_the_sum_of_columns(folder: Path) -> None:
    """Beside the residual of role scores, times the matrix of features; and what is kept says what training said."""
    batch = Batch.of([prepare(document) for document in hinted(5, 2)])
    structure, types = STRUCTURES["bilou"], ("problem",)
    template = structure.template(types)
    engine = SubgraphEngine(template)
    scorer = EncoderScorer.open(str(folder), template, 1, EncoderSettings(precision="float32"))
    columns = ColumnWeights(scorer, FeatureSet(["hint[-1..1]"]), batch, batch, SERIAL)
    weights = scorer.network.columns
    with torch.no_grad():
        weights.copy_(torch.randn(weights.shape, generator=torch.Generator().manual_seed(0)))
    edges = structure.encode(Gold(batch, types).table, batch.sentences, types).edges
    target = EdgeTarget(engine, batch.sentences, edges)
    reading = scorer.read(batch)
    packed = scorer.pack(reading, [*range(len(reading.windows.first))])
    loss = joint_loss([Task(engine, target, *sections_of([template]))], batch.sentences, SERIAL, columns.scores)
    loss(scorer.network, packed, np.arange(len(batch.sentences) - 1)).backward()
    potentials = columns.added(scorer.potentials(reading))
    expected = engine.expectations(potentials, batch.sentences)
    residual = expected.roles - target.target_counts(potentials, None, None).roles
    hints = np.array(batch.column("hint")) == "here"
    own = residual[hints][:, :, 0].sum(0)
    gradient = weights.grad.numpy()
    assert np.abs(gradient - own).max(1).min() < 1e-4
    kept = columns.summed()
    assert np.allclose(kept.score(batch).roles, potentials.roles, atol=1e-4)
    assert "columns" not in dict(scorer.network.named_parameters())


def test_on_the_command_line(folder: Path, notes: list[Document], tmp_path: Path, command: Any) -> None:
    write(notes, tmp_path / "notes.jsonl")
    trained = command(
        "lab", "cascade", "--encoder", folder, "--train", tmp_path / "notes.jsonl", "--dev",
        tmp_path / "notes.jsonl", "--output", tmp_path / "model", "--encoder-epochs", "1", "--step-subwords", "64",
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    assert "an encoder of its own for each" in trained.stderr
    said = json.loads(command("inspect", tmp_path / "model", "--json").stdout)
    assert said["encoder"]["family"] == "bert"
    assert command("predict", tmp_path / "model", tmp_path / "notes.jsonl").returncode == 0


def test_as_graphs_it_says_the_same(model: Cascade, notes: list[Document], tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    made = to_onnx(model)
    made.save(tmp_path / "model")
    found, expected = spanloom.load(tmp_path / "model").predict(notes), model.predict(notes)
    assert [[m.key for m in document.mentions] for document in found] == [
        [m.key for m in document.mentions] for document in expected
    ]
