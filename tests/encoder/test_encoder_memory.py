"""Steps in several parts, and layers that are computed again: the same gradient, for less memory."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.optim.optimizer import register_optimizer_step_pre_hook

from spanloom import Document, Recognizer
from spanloom.learn.finetuning import layers_of, recomputed
from spanloom.learn.memory import needed_memory
from spanloom.scoring.encoder.folder import FAMILIES

SMALL = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32,
    "embedding_size": 16, "max_position_embeddings": 64, "dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32,
    "pad_token_id": 0,
}  # fmt: skip


def tiny(family: str) -> transformers.PreTrainedModel:
    """An encoder of a family, of random weights."""
    config = transformers.AutoConfig.for_model(family)
    for name, value in SMALL.items():
        if hasattr(config, name):
            setattr(config, name, value)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return transformers.AutoModel.from_config(config).train()


def gradients(encoder: torch.nn.Module, again: bool) -> tuple[dict[str, Tensor], int]:
    """The gradient of something, with dropout, and how many numbers were kept for it."""
    kept = 0

    def keep(tensor: Tensor) -> Tensor:
        nonlocal kept
        kept += tensor.numel()
        return tensor

    ids = torch.arange(40).reshape(2, 20)
    with torch.random.fork_rng(devices=[]), recomputed(encoder, again):
        torch.manual_seed(3)
        encoder.zero_grad()
        with saved_tensors_hooks(keep, lambda tensor: tensor):
            hidden = encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        hidden.square().sum().backward()
    return {name: array.grad for name, array in encoder.named_parameters() if array.grad is not None}, kept


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_layers_that_are_computed_again_have_the_same_gradient(family: str) -> None:
    encoder = tiny(family)
    assert len(layers_of(encoder)) == (1 if family == "albert" else 3)  # whose layers share their weights
    (plain, much), (other, little) = gradients(encoder, False), gradients(encoder, True)
    assert plain.keys() == other.keys()
    assert len(plain) > 10
    for name, gradient in plain.items():
        assert torch.allclose(gradient, other[name], atol=1e-5), name
    assert little < much / 2
    assert "forward" not in vars(layers_of(encoder)[0])


class EnoughError(Exception):
    """The first step is all that is wanted."""


def first(folder: Path, notes: list[Document], **settings: object) -> list[Tensor]:
    """The gradient of the first step, as the optimizer is given it."""
    found: list[Tensor] = []

    def look(optimizer: torch.optim.Optimizer, *_: object) -> None:
        found.extend(array.grad.clone() for group in optimizer.param_groups for array in group["params"])
        raise EnoughError

    hook = register_optimizer_step_pre_hook(look)
    with pytest.raises(EnoughError):
        Recognizer(encoder=folder, step_subwords=512, precision="float32", **settings).fit(notes * 40, dev=notes[:5])
    hook.remove()
    return found


@pytest.fixture(scope="module")
def still(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same encoder without dropout."""
    encoder = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False)
    encoder.config.hidden_dropout_prob = encoder.config.attention_probs_dropout_prob = 0.0
    place = tmp_path_factory.mktemp("encoder") / "still"
    encoder.save_pretrained(place)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (place / name).write_bytes((folder / name).read_bytes())
    return place


def test_a_step_in_parts_is_the_same_step(still: Path, notes: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.nn.Dropout, "forward", lambda _, array: array)
    whole, parts, again = (first(still, notes, **more) for more in ({}, {"accumulate": 3}, {"recompute": True}))
    assert any(not torch.equal(a, b) for a, b in zip(whole, parts, strict=True))  # they add up in another order
    for one, two, three in zip(whole, parts, again, strict=True):
        assert torch.allclose(one, two, atol=1e-5)
        assert torch.allclose(one, three, atol=1e-6)


def test_the_estimate_knows_of_both() -> None:
    base = (109_000_000, 768, 12, 12, 4096, 256)
    assert needed_memory(*base, recompute=True) < needed_memory(*base) / 3
    assert needed_memory(*base, checkpoint=True) > needed_memory(*base)
