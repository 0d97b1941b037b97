"""The network: an encoder, the vector of each token, and a linear layer that gives roles their scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from spanloom.errors import UsageError
from spanloom.scoring.encoder.packing import Packed


class Network(nn.Module):
    """An encoder with a linear layer on the vectors of tokens.

    Args:
        encoder: a ``transformers.PreTrainedModel``.
        roles: R, of a template.
        types: K.
        constants: C, of the template.
        dropout: share of a vector's numbers that training drops.

    Attributes: ``halved``, whether the encoder multiplies in 16 bits (bfloat16); sums and the linear layer have 32.
    ``adapters``, low-rank changes that were added to its weights, by name; see `spanloom.scoring.encoder.adapters`.
    """

    halved = False
    adapters: Mapping[str, Tensor] = MappingProxyType({})

    def __init__(self, encoder: Any, roles: int, types: int, constants: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(int(encoder.config.hidden_size), roles * types)
        self.constants = nn.Parameter(torch.zeros(constants, types))
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, packed: Packed) -> Tensor:
        """Return the (T, R * K) role scores of the tokens of some windows, in 32 bits."""
        scores: Tensor = self.head(self.dropout(self.vectors(packed)))
        return scores

    def of_subwords(self, packed: Packed) -> Tensor:
        """Return the (W, S, R * K) scores of sub-words, padding among them, in 32 bits.

        Each product has the shape of the pack, regardless of its content. The scores of a window therefore do not
        depend on the other windows, if those of the encoder itself do not.
        """
        hidden = self.hidden(packed)
        with torch.autocast(hidden.device.type, enabled=False):
            scores: Tensor = self.head(hidden)
        return scores

    def hidden(self, packed: Packed) -> Tensor:
        """Return the (W, S, D) outputs of the encoder, in 32 bits."""
        device = self.head.weight.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self.halved):
            found: Tensor = self.encoder(
                input_ids=torch.from_numpy(packed.ids).to(device),
                attention_mask=torch.from_numpy(packed.mask).to(device),
            ).last_hidden_state
        return found.float()

    def vectors(self, packed: Packed) -> Tensor:
        """Return the (T, D) vectors of tokens: of their first or last sub-word, or the mean of all."""
        hidden = self.hidden(packed)
        device, flat = hidden.device, hidden.reshape(-1, hidden.shape[-1])
        found = flat[torch.from_numpy(packed.at).to(device)]
        if len(packed.token) == packed.tokens:
            return found
        token = torch.from_numpy(packed.token).to(device)
        total = torch.zeros(packed.tokens, flat.shape[1], device=device).index_add(0, token, found)
        return total / torch.bincount(token, minlength=packed.tokens)[:, None]


def device_of(name: str) -> torch.device:
    """Return a device by its name, or the best there is.

    Raises:
        UsageError: a graphics card that is not there.
    """
    present = torch.cuda.is_available()
    if name == "cuda" and not present:
        raise UsageError("device is 'cuda', but PyTorch finds no graphics card; take 'cpu', or 'auto'")
    return torch.device("cuda" if present and name != "cpu" else "cpu")


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let PyTorch have so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, count))
    try:
        yield
    finally:
        torch.set_num_threads(before)
