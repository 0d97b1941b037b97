"""The network: an encoder, the vector of each token, and a linear layer that gives roles their scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from spanloom.errors import UsageError
from spanloom.hypergraph import Ints
from spanloom.scoring.encoder.subwords import Subwords
from spanloom.scoring.encoder.windows import Windows

__all__ = ["Network", "Packed", "device_of", "pack", "torch_threads"]

_EVEN: Final = 16


class Packed(NamedTuple):
    """Windows of about one length, as the network reads them.

    Args:
        ids: (W, S) sub-words, special ones and padding among them.
        mask: (W, S) 1 where there is a sub-word.
        at: (P,) sub-words that make up the vectors of tokens, as places in the flattened ``ids``.
        token: (P,) the token that each belongs to, ascending.
        tokens: T, how many there are.
        rows: (T,) the numbers of these tokens in the batch.
    """

    ids: Tensor
    mask: Tensor
    at: Tensor
    token: Tensor
    tokens: int
    rows: Ints


def pack(
    windows: Windows, chosen: list[int], subwords: Subwords, around: tuple[tuple[int, ...], tuple[int, ...]],
    pooling: str, padding: int, longest: int,
) -> Packed:  # fmt: skip
    """Pack some windows of a batch.

    Args:
        windows: of the batch.
        chosen: their numbers.
        subwords: of the batch's tokens.
        around: special sub-words before and after each window.
        pooling: the sub-words of a token that count: ``first``, ``last`` or ``mean``.
        padding: the sub-word that stands where there is none.
        longest: sub-words that the encoder reads at once; fewer are padded to one of few lengths, since libraries keep
            what they have prepared for each.
    """
    before, after = around
    ptr = subwords.ptr
    bodies = [subwords.ids[ptr[windows.first[w]] : ptr[windows.end[w]]] for w in chosen]
    width = max(len(body) for body in bodies) + len(before) + len(after)
    width = min(-(-width // _EVEN) * _EVEN, max(width, longest))
    ids = np.full((len(chosen), width), padding, np.int64)
    mask = np.zeros((len(chosen), width), np.int64)
    at, rows = [], []
    for row, (w, body) in enumerate(zip(chosen, bodies, strict=True)):
        text = np.concatenate([before, body, after]).astype(np.int64)
        ids[row, : len(text)], mask[row, : len(text)] = text, 1
        own = np.arange(windows.own_first[w], windows.own_end[w])
        rows.append(own)
        at.append((row * width + len(before) - ptr[windows.first[w]], own))
    places, token = _places(at, ptr, pooling)
    return Packed(
        torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(places), torch.from_numpy(token),
        sum(map(len, rows)), np.concatenate(rows),
    )  # fmt: skip


def _places(at: list[tuple[int, Ints]], ptr: Ints, pooling: str) -> tuple[Ints, Ints]:
    """Return the places of sub-words that count, and the tokens that they belong to."""
    if pooling != "mean":
        edge = ptr[:-1] if pooling == "first" else ptr[1:] - 1
        places = np.concatenate([base + edge[own] for base, own in at])
        return places, np.arange(len(places))
    sizes = np.diff(ptr)
    places = np.concatenate([base + np.arange(ptr[own[0]], ptr[own[-1] + 1]) for base, own in at if len(own)])
    counts = np.concatenate([sizes[own] for _, own in at])
    return places, np.repeat(np.arange(len(counts)), counts)


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

    def vectors(self, packed: Packed) -> Tensor:
        """Return the (T, D) vectors of tokens: of their first or last sub-word, or the mean of all."""
        device = self.head.weight.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self.halved):
            hidden = self.encoder(
                input_ids=packed.ids.to(device), attention_mask=packed.mask.to(device)
            ).last_hidden_state
        flat = hidden.reshape(-1, hidden.shape[-1]).float()
        found = flat[packed.at.to(device)]
        if len(packed.token) == packed.tokens:
            return found
        token = packed.token.to(device)
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
