"""The exact loss as PyTorch sees it, and the training of an encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from spanloom import Document, Recognizer
from spanloom.document import Batch
from spanloom.hypergraph import ENGINES, Potentials
from spanloom.learn import CountTarget, EdgeTarget
from spanloom.learn.exact_loss import ExactLoss, Step
from spanloom.model.corpus import Gold
from spanloom.scoring import Weights, role_gradient, role_scores, transpose
from spanloom.scoring.encoder.network import torch_threads
from spanloom.structures import STRUCTURES
from spanloom.text import prepare

TYPES = ("problem", "site")


@pytest.mark.parametrize("counting", ["subgraphs", "derivations"])
@pytest.mark.parametrize("name", ["separators", "bio", "split", "mention_hypergraph"])
def test_gradient_by_finite_differences(name: str, counting: str, notes: list[Document]) -> None:
    structure = STRUCTURES[name]
    batch = Batch.of([prepare(note) for note in notes[:3]])
    engine = ENGINES[counting](structure.template(TYPES))
    edges = structure.encode(Gold(batch, TYPES).table, batch.sentences, TYPES).edges
    step = Step(engine, EdgeTarget(engine, batch.sentences, edges), batch.sentences)
    lanes = structure.lanes(TYPES)
    draw = torch.Generator().manual_seed(1)
    roles = torch.randn(len(batch.tokens), len(engine.template.roles) * lanes, generator=draw).requires_grad_()
    constants = torch.randn(len(engine.template.constants), lanes, generator=draw).requires_grad_()
    ExactLoss.apply(roles, constants, step).backward()
    for array in (roles, constants):
        flat = array.detach().reshape(-1)
        for at in np.random.default_rng(0).permutation(len(flat))[:12].tolist():
            values = []
            for sign in (1, -1):
                flat[at] += sign * 0.02
                values.append(float(ExactLoss.apply(roles, constants, step).detach()))
                flat[at] -= sign * 0.02
            found = float(array.grad.reshape(-1)[at])  # type: ignore[union-attr]
            assert found == pytest.approx((values[0] - values[1]) / 0.04, abs=2e-3)


def test_the_gradient_is_that_of_the_linear_scorer_given_the_same_vectors(notes: list[Document]) -> None:
    """A linear layer on one-hot vectors is the linear scorer with one feature a token."""
    structure = STRUCTURES["separators"]
    batch = Batch.of([prepare(note) for note in notes[:4]])
    engine = ENGINES["subgraphs"](structure.template(TYPES))
    edges = structure.encode(Gold(batch, TYPES).table, batch.sentences, TYPES).edges
    target = EdgeTarget(engine, batch.sentences, edges)
    recognizer = Recognizer(features=["w[0]"], rescore=False).fit(notes)
    scorer = recognizer.fitted.scorer
    matrix = scorer.matrix(batch)
    rows = len(scorer.index)
    hot = torch.zeros(len(batch.tokens), rows)
    for t in range(len(batch.tokens)):
        hot[t, matrix.indices[matrix.offsets[t] : matrix.offsets[t + 1]]] = 1
    draw = np.random.default_rng(0)
    weights = draw.normal(size=(rows, len(engine.template.roles), len(TYPES))).astype(np.float32)
    layer = torch.from_numpy(weights.reshape(rows, -1).copy()).requires_grad_()
    constants = torch.zeros(len(engine.template.constants), len(TYPES))
    ExactLoss.apply(hot @ layer, constants, Step(engine, target, batch.sentences)).backward()
    potentials = role_scores(matrix, Weights(weights, constants.numpy()))
    residual = engine.expectations(potentials, batch.sentences).roles - target.target_counts(potentials).roles
    out = np.empty_like(weights)
    role_gradient(transpose(matrix, rows), residual, out)
    assert layer.grad is not None
    assert np.allclose(layer.grad.numpy().reshape(out.shape), out, atol=1e-5)


def test_what_a_teacher_expects_has_no_gradient_where_the_student_says_the_same(notes: list[Document]) -> None:
    structure = STRUCTURES["separators"]
    batch = Batch.of([prepare(note) for note in notes[:4]])
    engine = ENGINES["subgraphs"](structure.template(TYPES))
    scores = torch.randn(len(batch.tokens), len(engine.template.roles) * 2, generator=torch.Generator().manual_seed(0))
    scores.requires_grad_()
    constants = torch.zeros(len(engine.template.constants), 2)
    own = scores.detach().numpy().reshape(len(scores), -1, 2)
    target = CountTarget.expected(engine, Potentials(own, constants.numpy()), batch.sentences)
    ExactLoss.apply(scores, constants, Step(engine, target, batch.sentences)).backward()
    assert scores.grad is not None
    assert float(scores.grad.abs().max()) < 1e-5


def fitted(folder: Path, notes: list[Document], **more: object) -> Recognizer:
    settings = {"encoder": folder, "encoder_epochs": 20, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 64}
    return Recognizer(**{**settings, **more}).fit(notes, dev=notes[:10])


def test_an_encoder_learns_and_the_same_seed_learns_the_same(folder: Path, notes: list[Document]) -> None:
    one, other = fitted(folder, notes), fitted(folder, notes)
    assert one.score(notes) > 0.7
    arrays = one.fitted.scorer.network.state_dict(), other.fitted.scorer.network.state_dict()
    assert all(torch.equal(arrays[0][name], arrays[1][name]) for name in arrays[0])
    third = fitted(folder, notes, random_state=1).fitted.scorer.network.state_dict()
    assert not all(torch.equal(arrays[0][name], third[name]) for name in third)


def test_training_leaves_the_random_numbers_and_the_threads_of_others(folder: Path, notes: list[Document]) -> None:
    torch.manual_seed(5)
    before, count = torch.random.get_rng_state(), torch.get_num_threads()
    fitted(folder, notes, encoder_epochs=1)
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.get_num_threads() == count
    with torch_threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == count


def test_little_text_has_more_passes_and_smaller_steps(folder: Path, notes: list[Document]) -> None:
    told: list[str] = []
    model = Recognizer(encoder=folder, encoder_rate=1e-3, head_rate=1e-2).fit(
        notes, dev=notes[:10], progress=lambda step: told.append(step.stage)
    )
    assert 4 < len(model.report_.history) <= 30
    assert model.score(notes) > 0.7
