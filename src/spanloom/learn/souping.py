"""Trainings of one encoder with several seeds, and the mean of their weights where it is better than any of them.

All begin with the same weights, those of the linear layer included, and differ in the order of windows and in dropout;
so they end in one basin, in which means are good (Wortsman et al. 2022, *Model soups*). Prediction costs what it costs
with one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spanloom.learn.keeping import State, copied, set_weights, trained
from spanloom.learn.training import Chosen
from spanloom.scoring.encoder import EncoderScorer


@dataclass(frozen=True)
class Soup:
    """What became of several seeds.

    Args:
        f1: the measure of each seed's weights, such as development F1.
        averaged: the places of those whose weights are averaged, the best first.
        best: the measure of their mean.
    """

    f1: tuple[float, ...]
    averaged: tuple[int, ...]
    best: float


def train_seeds(
    scorer: EncoderScorer, seeds: Sequence[int], train: Callable[[int], Chosen],
    metric: Callable[[EncoderScorer], float],
) -> tuple[Chosen, Soup]:  # fmt: skip
    """Train an encoder with each seed from the same weights, and average greedily.

    The best seed's weights come first; those of the others, best first, are taken into the mean where it is no worse
    with them. So the mean is never worse, on development data, than the best seed.

    Args:
        scorer: untrained; it holds the mean afterwards.
        seeds: one at least.
        train: trains the scorer with a seed.
        metric: of the scorer as it is.
    """
    start = copied(trained(scorer.network))
    fits: list[Chosen] = []
    ends: list[State] = []
    for seed in seeds:
        set_weights(scorer.network, start)
        fits.append(train(seed))
        ends.append(copied(trained(scorer.network)))
    order = sorted(range(len(seeds)), key=lambda number: -fits[number].dev_f1)
    chosen, best = [order[0]], fits[order[0]].dev_f1
    for number in order[1:]:
        set_weights(scorer.network, mean([ends[one] for one in (*chosen, number)]))
        if (value := metric(scorer)) >= best:
            chosen, best = [*chosen, number], value
    set_weights(scorer.network, mean([ends[one] for one in chosen]))
    return replace(fits[order[0]], dev_f1=best), Soup(tuple(fit.dev_f1 for fit in fits), tuple(chosen), best)


def mean(states: Sequence[State]) -> State:
    """Return the mean of weights; of one the same bytes.

    >>> import torch
    >>> mean([{"w": torch.ones(2)}, {"w": torch.zeros(2)}])["w"].tolist()
    [0.5, 0.5]
    """
    total = copied(states[0])
    for state in states[1:]:
        for name, array in total.items():
            array += state[name]
    return {name: array / len(states) for name, array in total.items()}
