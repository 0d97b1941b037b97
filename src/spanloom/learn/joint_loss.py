"""The exact losses of several structures whose scores one network gives, added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from spanloom.hypergraph import Engine, Ints
from spanloom.learn.exact_loss import ExactLoss, Step
from spanloom.learn.finetuning import Loss
from spanloom.learn.target import Target
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring.encoder.network import Network
from spanloom.scoring.encoder.packing import Packed
from spanloom.scoring.section import Section


class Task(NamedTuple):
    """A structure whose scores are a section of a network's.

    Args:
        engine: of the structure.
        target: what is wanted of the corpus.
        section: of the scores, on the R axis and the C axis.
    """

    engine: Engine
    target: Target
    section: Section


def joint_loss(
    tasks: Sequence[Task], sentences: Ints, run: Executor = SERIAL, added: Callable[[Ints], Tensor] | None = None
) -> Loss:
    """Return the sum of the structures' exact losses: see `spanloom.learn.exact_loss`.

    Args:
        tasks: structures over the same tokens.
        sentences: (N + 1,) first token of each.
        run: how pieces of the engine's work are run.
        added: (T,) numbers of tokens -> scores that are added to the network's, and may have weights of their own.
    """
    lengths = np.diff(sentences)

    def loss(network: Network, packed: Packed, chosen: Ints) -> Tensor:
        bounds = np.append(0, lengths[chosen].cumsum())
        scores = network(packed)
        if added is not None:
            scores = scores + added(packed.rows)
        by_role = scores.reshape(len(scores), -1, network.constants.shape[1])
        losses = []
        for engine, target, section in tasks:
            step = Step(engine, target, bounds, chosen, packed.rows, run)
            roles, constants = by_role[:, section.roles].flatten(1), network.constants[section.constants]
            losses.append(ExactLoss.apply(roles, constants, step))
        return torch.stack(losses).sum()

    return loss
