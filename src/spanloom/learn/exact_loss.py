"""The exact loss of an engine as a function of PyTorch.

The gradient of the loss by role scores is what the engine expects minus what the target wants, for any source of
scores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from spanloom.hypergraph import Engine, Ints, Potentials
from spanloom.learn.target import Target
from spanloom.parallel import SERIAL, Executor


class ExactLoss(torch.autograd.Function):
    """Minus the log-likelihood of a target: log Z - <wanted, scores>, summed over sentences and types.

    >>> import numpy as np, torch
    >>> from spanloom.hypergraph import SubgraphEngine
    >>> from spanloom.learn import EdgeTarget
    >>> from spanloom.structures import STRUCTURES, MentionTable
    >>> structure, offsets = STRUCTURES["separators"], np.array([0, 2])
    >>> engine = SubgraphEngine(structure.template(["x"]))
    >>> edges = structure.encode(MentionTable.build([(0, 0, ((0, 1),))]), offsets, ["x"]).edges
    >>> scores = torch.zeros(2, len(engine.template.roles), requires_grad=True)
    >>> loss = ExactLoss.apply(scores, torch.zeros(0, 1), Step(engine, EdgeTarget(engine, offsets, edges), offsets))
    >>> loss.backward()
    >>> loss.item() > 0, tuple(scores.grad.shape) == tuple(scores.shape)
    (True, True)
    """

    @staticmethod
    def forward(ctx: Any, roles: Tensor, constants: Tensor, step: Step) -> Tensor:
        """Compute it; the gradient is found on the way, and kept."""
        types = constants.shape[1]
        scores = roles.detach().cpu().numpy().reshape(len(roles), -1, types)
        potentials = Potentials(scores, constants.detach().cpu().numpy())
        expected = step.engine.expectations(potentials, step.offsets, step.run)
        target_counts = step.target.target_counts(potentials, step.sentences, step.tokens)
        ctx.save_for_backward(
            torch.from_numpy(expected.roles - target_counts.roles).reshape(roles.shape).to(roles.device),
            torch.from_numpy(expected.constants - target_counts.constants).to(constants),
        )
        return roles.new_tensor(expected.log_partition.sum() - sum(target_counts.score))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        """Return the gradient by the role scores and the constants."""
        by_roles, by_constants = ctx.saved_tensors
        return grads[0] * by_roles, grads[0] * by_constants, None


class Step(NamedTuple):
    """The sentences whose loss is wanted.

    Args:
        engine: of the structure.
        target: what is wanted of the corpus.
        offsets: (N + 1,) first token of each of the sentences, counted among their tokens.
        sentences, tokens: (N,) and (T,) their numbers in the corpus; all when ``None``.
        run: how pieces of the engine's work are run.
    """

    engine: Engine
    target: Target
    offsets: Ints
    sentences: Ints | None = None
    tokens: Ints | None = None
    run: Executor = SERIAL
