"""The state of the training of an encoder, as a checkpoint stores it: everything that determines later weights.

These are the weights, AdamW's moments and steps, the state of PyTorch's random numbers (of dropout), the best weights
so far, and the position in the training; the order of windows follows from the seed and the pass. A training that
resumes from it gives the same bytes as one that was never interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Final

import torch
from torch import Tensor, nn

from spanloom.errors import ModelError
from spanloom.learn.checkpoints import Checkpoint, Kept, Place
from spanloom.learn.training import BestPass, EarlyStopping, best_pass
from spanloom.modelfile import Array

EVERY: Final = 600.0
"""Seconds from one checkpoint to the next within a pass, at least."""

State = dict[str, Tensor]

_PIECES: Final = ("weights", "optimizer", "random", "best")  # how names of arrays begin
_MOMENTS: Final = ("exp_avg", "exp_avg_sq", "step")  # of AdamW


class Keeper:
    """Keeps the state of a training, if there is a checkpoint to keep it in.

    Args:
        checkpoint: where; ``None`` for nowhere.
        network: that is trained.
        optimizer: that trains it.
        stopping: what judges passes.
    """

    def __init__(
        self, checkpoint: Checkpoint | None, network: nn.Module, optimizer: torch.optim.Optimizer,
        stopping: EarlyStopping[State],
    ) -> None:  # fmt: skip
        self._checkpoint, self._network, self._optimizer = checkpoint, network, optimizer
        self._stopping = stopping
        self._last = monotonic()

    def resume(self, check: Callable[[Place], object]) -> tuple[Place, bool]:
        """Take over what was kept; return where training is, and whether it is at its end.

        Args:
            check: raises a `ModelError` for a place where training cannot be.

        Raises:
            UsageError: the checkpoint is that of another training.
            ModelError: it is damaged.
        """
        found = None if self._checkpoint is None else self._checkpoint.read()
        if self._checkpoint is None or found is None:
            return Place(), False
        kept, arrays = found
        with self._checkpoint.damaged():
            _check_description(kept)
            check(kept.place)
            pieces = _PIECES[: 3 + (kept.best is not None)]
            if odd := sorted(name for name in arrays if name.partition(".")[0] not in pieces):
                raise ModelError(f"its arrays are not those of this encoder: {odd[0]}")
            put(trained(self._network), _under(arrays, "weights"), "weights.")
            _put_moments(self._optimizer, _under(arrays, "optimizer"))
            _put_random(_under(arrays, "random"))
            if kept.best is None:
                return kept.place, False
            best = copied(trained(self._network))
            put(best, _under(arrays, "best"), "best.")
        return kept.place, self._stopping.resume(BestPass(*kept.best, best), kept.entries)

    def keep(self, place: Place, *, always: bool = True) -> None:
        """Keep the state.

        Args:
            place: where training is.
            always: else only if the last time is long ago.
        """
        if self._checkpoint is None or not (always or monotonic() - self._last >= EVERY):
            return
        entries = self._stopping.history.entries
        arrays = {f"weights.{name}": array for name, array in arrays_of(trained(self._network)).items()}
        for number, moments in self._optimizer.state_dict()["state"].items():
            arrays |= {f"optimizer.{number}.{name}": array for name, array in arrays_of(moments).items()}
        arrays |= {f"random.{name}": array for name, array in arrays_of(_random()).items()}
        best = None
        if entries:
            found = self._stopping.best
            best = found.number, found.objective, found.value
            arrays |= {f"best.{name}": array for name, array in arrays_of(found.weights).items()}
        self._checkpoint.write(Kept(place=place, entries=entries, best=best), arrays)
        self._last = monotonic()


def _check_description(kept: Kept) -> None:
    """Check that the description of a state is consistent.

    Raises:
        ModelError: it is not.
    """
    passes, steps, _, objective = kept.place
    if len(kept.entries) != passes or (kept.best is None) != (not kept.entries):
        raise ModelError(f"checkpoint.json: it has {passes} passes, and what was measured of {len(kept.entries)}")
    if objective and not steps:
        raise ModelError(f"checkpoint.json: an objective of {objective:g} before the first step of a pass, expected 0")
    if kept.best is not None:
        number = best_pass([value for _, value in kept.entries])
        expected = (number, *kept.entries[number - 1])
        if kept.best != expected:
            raise ModelError(f"checkpoint.json: the best pass is {kept.best}, expected that of its entries, {expected}")


def trained(network: nn.Module) -> State:
    """Return the arrays that training changes."""
    return {name: array.detach() for name, array in network.named_parameters() if array.requires_grad}


def set_weights(network: nn.Module, state: State) -> None:
    """Write what `trained` gave over the arrays that training changes."""
    with torch.no_grad():
        for name, array in trained(network).items():
            array.copy_(state[name])


def copied(state: State) -> State:
    """Return a copy of weights."""
    return {name: array.detach().clone() for name, array in state.items()}


def arrays_of(state: Mapping[str, Tensor]) -> dict[str, Array]:
    """Return tensors as arrays of the processor's memory."""
    return {name: array.detach().cpu().numpy() for name, array in state.items()}


def put(state: Mapping[str, Tensor], arrays: Mapping[str, Array], prefix: str = "") -> None:
    """Write arrays of a checkpoint over tensors.

    Args:
        state: the tensors.
        arrays: of the same names.
        prefix: of these names, for messages.

    Raises:
        ModelError: the arrays are others, of other shapes or types, or not finite.

    >>> import numpy as np
    >>> weights = {"a": torch.zeros(2)}
    >>> put(weights, {"a": np.ones(2, np.float32)})
    >>> weights["a"].tolist()
    [1.0, 1.0]
    """
    if odd := sorted(state.keys() ^ arrays.keys()):
        raise ModelError(f"its arrays are not those of this encoder: {prefix}{odd[0]}")
    with torch.no_grad():
        for name, tensor in state.items():
            array = torch.tensor(arrays[name])
            if array.shape != tensor.shape or array.dtype != tensor.dtype:
                raise ModelError(f"{prefix}{name} is {array.dtype} of shape {tuple(array.shape)}")
            if not bool(torch.isfinite(array).all()):
                raise ModelError(f"{prefix}{name} holds numbers that are not finite")
            tensor.copy_(array)


def _under(arrays: Mapping[str, Array], name: str) -> dict[str, Array]:
    return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}


def _put_moments(optimizer: torch.optim.Optimizer, arrays: Mapping[str, Array]) -> None:
    there = {name.partition(".")[0] for name in arrays}  # what has never had a gradient has none
    tensors = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    moments = {
        f"{number}.{key}": torch.zeros(() if key == "step" else tensor.shape)
        for number, tensor in enumerate(tensors)
        for key in _MOMENTS
        if str(number) in there
    }
    put(moments, arrays, "optimizer.")
    state: dict[int, State] = {}
    for name, array in moments.items():
        number, _, key = name.partition(".")
        if key != "exp_avg" and bool((array < 0).any()):
            raise ModelError(f"optimizer.{name} holds numbers below 0")
        state.setdefault(int(number), {})[key] = array
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _random() -> State:
    """Return the state of PyTorch's generators: of the processor, and of each graphics card."""
    cards = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return {"cpu": torch.get_rng_state(), **{f"cuda.{number}": state for number, state in enumerate(cards)}}


def _put_random(arrays: Mapping[str, Array]) -> None:
    if odd := sorted(arrays.keys() ^ _random().keys()):
        raise ModelError(f"it has random numbers of {odd[0]}, or lacks them: continue with the same graphics cards")
    torch.set_rng_state(torch.tensor(arrays["cpu"]))
    for number in range(len(arrays) - 1):
        torch.cuda.set_rng_state(torch.tensor(arrays[f"cuda.{number}"]), number)
