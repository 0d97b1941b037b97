"""Training of encoders: AdamW over windows of text.

Optimizer: Loshchilov and Hutter 2019; rates that fall from layer to layer: Howard and Ruder 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from spanloom.errors import ModelError
from spanloom.hypergraph import Ints
from spanloom.learn.bounds import check_weights
from spanloom.learn.checkpoints import Checkpoint, Place
from spanloom.learn.descent import Epoch
from spanloom.learn.keeping import Keeper, State, copied, set_weights, trained
from spanloom.learn.training import Chosen, EarlyStopping, Listener, Progress, TrainingHistory
from spanloom.parallel import grouped
from spanloom.scoring.encoder import EncoderScorer
from spanloom.scoring.encoder.network import Network
from spanloom.scoring.encoder.packing import Packed, Reading

_WARM: Final = 0.1  # of all steps, in which rates rise
_CLIP: Final = 1.0  # norm of the gradient, at most
_DECAY: Final = 0.01  # of weights, but for biases and norms
_OF_ADAPTERS: Final = 10.0  # their rate, by that of the encoder itself (Schulman et al. 2025, *LoRA without regret*)
_PLAIN: Final = ("bias", "norm", "constants")  # in the names of arrays that do not decay
STEPS: Final = 1500
"""Steps that an encoder of medium size needs to learn what mentions are."""
_A_PASS: Final = 100  # steps of a pass, at least, where the corpus has so many windows
_INTERVAL: Final = 2.0  # seconds from one reported step to the next


@dataclass(frozen=True, kw_only=True)
class Finetuning:
    """Settings of the training of an encoder.

    Args:
        epochs: passes, at most; ``None`` for as many as take about `STEPS` steps, from 4 to 30.
        rate: of the encoder's last layer, at its highest.
        head_rate: of the linear layer.
        layer_decay: the rate of a layer, as a share of that of the layer after it.
        batch: sub-words of a step, about; fewer where a pass would have fewer than 100 steps, but a window at least.
        seed: of the order of windows, of dropout and of the linear layer.
        accumulate: parts that a step is read in, one after the other; the gradient is their sum.
        recompute: whether layers are computed again for the gradient, so that they need not be kept.
    """

    epochs: int | None = None
    rate: float = 1e-4
    head_rate: float = 2e-3
    layer_decay: float = 0.9
    batch: int = 1024
    seed: int = 0
    accumulate: int = 1
    recompute: bool = False


Loss = Callable[[Network, Packed, Ints], Tensor]
"""A network, windows as it reads them, and (N,) the sentences in them -> the loss, summed over the sentences."""


def finetune(
    scorer: EncoderScorer, loss: Loss, reading: Reading, settings: Finetuning,
    metric: Callable[[EncoderScorer], float], callback: Listener, began: float, checkpoint: Checkpoint | None = None,
) -> Chosen:  # fmt: skip
    """Train an encoder and its linear layer.

    The same seed, machine, number of threads and versions of the libraries give the same weights; another number of
    threads changes the order of sums.

    Args:
        scorer: with an untrained linear layer; it is changed, and has the best weights afterwards.
        loss: the loss to minimize, such as from `spanloom.learn.joint_loss.joint_loss`.
        reading: the training data as the scorer reads them.
        settings: of the optimizer.
        metric: of the current scorer, after each pass, such as development F1; the best pass is kept.
        callback: called at each step.
        began: when training began, by `monotonic`.
        checkpoint: storage of the state after each pass, and within long ones; an existing checkpoint is resumed. It is
            kept until the weights are used.

    The caller sets PyTorch's threads: see `spanloom.scoring.encoder.network.torch_threads`.

    Raises:
        UsageError: weights that are not finite, as with too high a rate, or the checkpoint of another training.
        ModelError: a damaged checkpoint.
    """
    passes = _Passes(scorer, loss, settings, reading, callback, began)
    history = TrainingHistory("training the encoder", passes.epochs, callback, began)

    def judge(_: State) -> float:
        scorer.network.eval()
        return metric(scorer)

    stopping: EarlyStopping[State] = EarlyStopping(judge, passes.epochs, history, copied)
    keeper = Keeper(checkpoint, scorer.network, passes.optimizer, stopping)
    with _seeded(settings.seed), recomputed(scorer.network.encoder, settings.recompute):
        place, ended = keeper.resume(passes.check)
        passes.skip(place)
        while not ended:
            objective = passes.run(place, keeper)
            place = Place(place.passes + 1, seen=passes.seen)
            ended = stopping(Epoch(place.passes, objective, trained(scorer.network)))
            keeper.keep(place)
    best = stopping.best
    set_weights(scorer.network, best.weights)
    scorer.ready()
    return Chosen(0.0, best.number, best.objective, tuple(history.entries), best.value, 0.0)


class _Passes:
    """Passes over a corpus: what they share."""

    def __init__(
        self,
        scorer: EncoderScorer,
        loss: Loss,
        settings: Finetuning,
        reading: Reading,
        callback: Listener,
        began: float,
    ) -> None:
        self.scorer, self.loss, self.settings, self.reading = scorer, loss, settings, reading
        self.callback, self.began = callback, began
        self._run_began = self._reported = monotonic()
        windows, ptr = reading.windows, reading.subwords.ptr
        self.units = windows.units()
        lengths = ptr[windows.end] - ptr[windows.first]
        self.sizes = np.array([int(lengths[unit.start : unit.stop].sum()) for unit in self.units], np.int64)
        self.text = int(self.sizes.sum())
        self.batch = step_size(settings.batch, self.text)
        self.epochs = settings.epochs or passes_of(self.sizes, self.batch)
        self.total = max(1, self.epochs * self.text)
        self.seen = self._before = 0
        self.order = np.random.default_rng(settings.seed)
        groups = _groups(scorer, settings)
        self.highest = [group["lr"] for group in groups]
        # one loop over each array takes a seventh of the time on a processor, of which short steps are a good part
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-6, fused=True)

    def check(self, place: Place) -> None:
        """Check that a place is one where training can be.

        Raises:
            ModelError: it is not.
        """
        if place.passes + (place.steps > 0) > self.epochs:
            raise ModelError(f"checkpoint.json: {place.passes} passes and {place.steps} steps, of {self.epochs} passes")
        order = np.random.default_rng(self.settings.seed)
        for _ in range(place.passes):
            order.permutation(len(self.units))
        sizes = [int(self.sizes[step].sum()) for step in self._steps(order)]
        expected = place.passes * self.text + sum(sizes[: place.steps])
        if place.steps > len(sizes) or place.seen != expected:
            raise ModelError(
                f"checkpoint.json: {place.seen:,} sub-words seen after {place.passes} passes and {place.steps} steps "
                f"of {len(sizes)}, expected {expected:,}"
            )

    def skip(self, place: Place) -> None:
        """Leave out what was done in a run that was interrupted."""
        self.seen = self._before = place.seen
        for _ in range(place.passes):
            self.order.permutation(len(self.units))
        if place != Place():
            done = 100 * self.seen / self.total
            self.callback(Progress(f"going on from the checkpoint, pass {place.passes + 1}, {done:.0f} %"))

    def run(self, place: Place, keeper: Keeper) -> float:
        """Make the pass that a place is in, from there; return the loss, summed while the weights changed."""
        total, number = place.objective, place.passes + 1
        for step, units in enumerate(self._steps(self.order), 1):
            if step <= place.steps:
                continue
            self.scorer.network.train()
            total += self._step(units)
            self._progress(number, step)
            keeper.keep(Place(place.passes, step, self.seen, total), always=False)
        arrays = (array.detach().cpu().numpy() for array in self.scorer.network.parameters())
        check_weights(arrays, f"pass {number}", encoder_rate=self.settings.rate, head_rate=self.settings.head_rate)
        return total

    def _steps(self, order: np.random.Generator) -> Iterator[list[int]]:
        """Yield the units of each step of a pass, in an order that is drawn for it."""
        units: list[int] = order.permutation(len(self.units)).tolist()
        return grouped(units, lambda unit: int(self.sizes[unit]), self.batch)

    def _step(self, units: list[int]) -> float:
        """Change the weights once; return the loss of some units, summed."""
        network = self.scorer.network
        sentences = self._sentences(units)
        self.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for part in _parts(units, self.sizes[units], self.settings.accumulate):
            packed = self.scorer.pack(self.reading, [w for u in part for w in self.units[u]])
            loss = self.loss(network, packed, self._sentences(part))
            (loss / len(sentences)).backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(network.parameters(), _CLIP)
        self.seen += int(self.sizes[units].sum())
        done = self.seen / self.total  # the rate rises, then falls to 0
        share = done / _WARM if done < _WARM else max(0.0, (1 - done) / (1 - _WARM))
        for group, highest in zip(self.optimizer.param_groups, self.highest, strict=True):
            group["lr"] = highest * share
        self.optimizer.step()
        return total

    def _sentences(self, units: list[int]) -> Ints:
        """Return the numbers of the sentences that units hold."""
        begins = self.reading.windows.sentences
        return np.concatenate([np.arange(begins[self.units[u].start], begins[self.units[u].stop]) for u in units])

    def _progress(self, number: int, step: int) -> None:
        now = monotonic()
        if now - self._reported < _INTERVAL:
            return
        self._reported = now
        done = self.seen / self.total
        left = (now - self._run_began) * (self.total - self.seen) / (self.seen - self._before)
        stage = f"training the encoder, pass {number} of {self.epochs}, {100 * done:.0f} %"
        self.callback(Progress(stage, step, seconds=now - self.began, seconds_left=left))


def _parts(units: list[int], sizes: Ints, count: int) -> list[list[int]]:
    """Cut the units of a step into parts of about the same size, at most so many.

    >>> _parts([7, 8, 9, 3], np.array([5, 5, 4, 6]), 2), _parts([7, 8], np.array([5, 5]), 3)
    ([[7, 8], [9, 3]], [[7], [8]])
    """
    middles = sizes.cumsum() - sizes / 2
    part = (count * middles / sizes.sum()).astype(np.int64)
    return [
        [unit for unit, own in zip(units, part.tolist(), strict=True) if own == n] for n in np.unique(part).tolist()
    ]


def step_size(most: int, text: int) -> int:
    """Return the sub-words of a step: so many that a pass has 100 steps, and ``most`` at most.

    >>> step_size(1024, 20_000), step_size(1024, 2_000_000)
    (200, 1024)
    """
    return min(most, text // _A_PASS)


def passes_of(sizes: Ints, batch: int) -> int:
    """Return how many passes take about `STEPS` steps, from 4 to 30.

    Args:
        sizes: (U,) sub-words of what is read in one step or not at all.
        batch: sub-words of a step, about.

    >>> passes_of(np.full(2000, 250), 1000), passes_of(np.full(100, 250), 1000), passes_of(np.full(3, 250), 1)
    (4, 30, 30)
    """
    steps = min(len(sizes), int(sizes.sum()) // max(1, batch))
    return int(np.clip(-(-STEPS // max(1, steps)), 4, 30))


def _groups(scorer: EncoderScorer, settings: Finetuning) -> list[dict[str, Any]]:
    """Return the arrays of the network in groups of one rate and one decay."""
    network = scorer.network
    layers = int(getattr(network.encoder.config, "num_hidden_layers", 0) or 0)
    found: dict[tuple[float, float], list[Tensor]] = {}
    for name, array in network.named_parameters():
        if not array.requires_grad:
            continue
        depth = _depth(name, layers)
        highest = settings.rate * (_OF_ADAPTERS if ".parametrizations." in name else 1.0)
        rate = settings.head_rate if depth is None else highest * settings.layer_decay**depth
        decay = 0.0 if any(word in name.lower() for word in _PLAIN) else _DECAY
        found.setdefault((rate, decay), []).append(array)
    return [{"params": arrays, "lr": rate, "weight_decay": decay} for (rate, decay), arrays in found.items()]


def _depth(name: str, layers: int) -> int | None:
    """Return how many layers lie above an array's own; ``None`` for the linear layer, whose rate is its own.

    >>> _depth("encoder.encoder.layer.4.output.dense.weight", 6), _depth("encoder.embeddings.word.weight", 6)
    (1, 6)
    """
    parts = name.split(".")
    if parts[0] != "encoder":
        return None
    if "layer_groups" in name:  # of ALBERT, whose layers are one
        return 0
    numbers = [int(part) for part in parts if part.isdigit()]
    return layers - 1 - numbers[0] if numbers and "layer" in name else layers


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Draw random numbers from a seed, and leave the state of PyTorch's own as it was."""
    devices = list(range(torch.cuda.device_count()))
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def layers_of(encoder: nn.Module) -> list[nn.Module]:
    """Return the layers of an encoder: the modules in its outermost lists.

    >>> layers = nn.ModuleList([nn.Linear(2, 2), nn.ModuleList([nn.Linear(2, 2)])])
    >>> layers_of(nn.Sequential(nn.Linear(2, 2), layers)) == list(layers)
    True
    """
    found: list[nn.Module] = []
    for module in encoder.children():
        found += list(module) if isinstance(module, nn.ModuleList) else layers_of(module)
    return found


@contextmanager
def recomputed(encoder: nn.Module, enabled: bool = True) -> Iterator[None]:
    """Compute an encoder's layers again for the gradient, with the same random numbers, instead of keeping them.

    This takes a third more time, and memory for one layer in place of all (Chen et al. 2016, *Training deep nets with
    sublinear memory cost*). Not all families of transformers have an option for it.

    Args:
        encoder: a ``transformers.PreTrainedModel``.
        enabled: if false, nothing is changed.
    """
    layers = layers_of(encoder) if enabled else []
    for layer in layers:
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward
