"""Low-rank adapters: training changes the attention of an encoder by products of two thin matrices, and nothing else.

LoRA (Hu et al. 2022): in place of W there is W + s B A, with A (rank, inputs) drawn at random, B (outputs, rank) 0 at
first, and W as it was. A model file then holds A and B. After training, and when a model is loaded, the product is
added to W once, so that prediction costs what it costs without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from spanloom.errors import UsageError

_ALPHA: Final = 32.0  # s is this by the rank; the best rate then depends little on the rank
_WEIGHT: Final = "weight"
_QUERIES_KEYS_VALUES: Final = frozenset(
    (
        "query", "key", "value",  # ALBERT, BERT, CamemBERT, ConvBERT, ELECTRA, ERNIE, Megatron, RoBERTa and its kin
        "q_lin", "k_lin", "v_lin",  # DistilBERT
        "q", "k", "v",  # MPNet
        "query_proj", "key_proj", "value_proj",  # DeBERTa, its second and third edition
        "in_proj",  # DeBERTa: all three
        "Wqkv",  # ModernBERT: all three
    )
)  # fmt: skip


class _LowRank(nn.Module):
    """W -> W + s B A, in 32 bits."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        outputs, inputs = weight.shape
        self.a = nn.Parameter(torch.empty(rank, inputs).uniform_(-(inputs**-0.5), inputs**-0.5))
        self.b = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, weight: Tensor) -> Tensor:
        with torch.autocast(weight.device.type, enabled=False):
            return _sum(weight, self.a, self.b)


def attention_layers(encoder: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    """Yield the linear layers that make queries, keys and values, with their names."""
    for name, module in encoder.named_modules():
        if isinstance(module, nn.Linear) and name.rpartition(".")[2] in _QUERIES_KEYS_VALUES:
            yield name, module


def attach(encoder: nn.Module, rank: int) -> None:
    """Put adapters on the attention of an encoder, all whose own weights stay as they are.

    Raises:
        UsageError: it has no attention that is known.

    >>> layer = nn.ModuleDict({"query": nn.Linear(4, 3)})
    >>> attach(layer, 2)
    >>> [name for name, array in layer.named_parameters() if array.requires_grad]
    ['query.parametrizations.weight.0.a', 'query.parametrizations.weight.0.b']
    >>> found = merge(layer)
    >>> {name: tuple(array.shape) for name, array in found.items()}
    {'query.a': (2, 4), 'query.b': (3, 2)}
    """
    encoder.requires_grad_(False)
    layers = list(attention_layers(encoder))
    if not layers:
        raise UsageError("adapters: the encoder has no attention that is known; train all of it (adapters=0)")
    for _, layer in layers:
        own = layer.get_parameter(_WEIGHT)
        parametrize.register_parametrization(layer, _WEIGHT, _LowRank(own, rank).to(own.device))


def merge(encoder: nn.Module) -> dict[str, Tensor]:
    """Add the adapters' products to the weights; return the adapters, by the name of their layer."""
    found: dict[str, Tensor] = {}
    for name, module in list(encoder.named_modules()):
        if parametrize.is_parametrized(module, _WEIGHT):
            own = module.parametrizations[_WEIGHT][0]
            found |= {f"{name}.{which}": array.detach().clone() for which, array in own.named_parameters()}
            parametrize.remove_parametrizations(module, _WEIGHT, leave_parametrized=True)
    return found


def join(encoder: nn.Module, adapters: Mapping[str, Tensor]) -> None:
    """Add the products of adapters that `merge` gave to the weights of the encoder that they were trained with."""
    with torch.no_grad():
        for name, layer in attention_layers(encoder):
            layer.weight.copy_(_sum(layer.weight, adapters[f"{name}.a"], adapters[f"{name}.b"]))


def shapes(encoder: nn.Module, rank: int) -> dict[str, tuple[int, int]]:
    """Return the shapes of an encoder's adapters, by the names that `merge` gives."""
    found: dict[str, tuple[int, int]] = {}
    for name, layer in attention_layers(encoder):
        found |= {f"{name}.a": (rank, layer.in_features), f"{name}.b": (layer.out_features, rank)}
    return found


def _sum(weight: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return weight + (_ALPHA / len(a)) * (b @ a)
