"""Layers of an encoder that keep only what they were given, and are computed again for the gradient.

It takes a third more time, and memory for one layer in place of all (Chen et al. 2016, *Training deep nets with
sublinear memory cost*). Some families of transformers have no such switch, so it is set here, for all alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from torch import nn
from torch.utils.checkpoint import checkpoint

__all__ = ["layers_of", "recomputed"]


def layers_of(encoder: nn.Module) -> list[nn.Module]:
    """Return the layers of an encoder: what its outermost lists of modules hold.

    >>> layers = nn.ModuleList([nn.Linear(2, 2), nn.ModuleList([nn.Linear(2, 2)])])
    >>> layers_of(nn.Sequential(nn.Linear(2, 2), layers)) == list(layers)
    True
    """
    found: list[nn.Module] = []
    for module in encoder.children():
        found += list(module) if isinstance(module, nn.ModuleList) else layers_of(module)
    return found


@contextmanager
def recomputed(encoder: nn.Module, wanted: bool = True) -> Iterator[None]:
    """Compute an encoder's layers again for the gradient, with the same random numbers.

    Args:
        encoder: a ``transformers.PreTrainedModel``.
        wanted: else nothing is changed.
    """
    layers = layers_of(encoder) if wanted else []
    for layer in layers:
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward
