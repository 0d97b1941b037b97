"""The scorer whose role scores come from an encoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import transformers

from spanloom.errors import ModelError, UsageError, reason_of
from spanloom.hypergraph import Singles
from spanloom.modelfile import Array, ModelPart, OtherModelError
from spanloom.scoring.base import Outputs
from spanloom.scoring.encoder.adapters import attach, join, merge, shapes
from spanloom.scoring.encoder.folder import (
    UNWANTED,
    check_computes,
    check_config,
    config_of,
    find_encoder,
    longest_of,
    open_encoder,
    open_model,
)
from spanloom.scoring.encoder.network import Network, device_of, torch_threads
from spanloom.scoring.encoder.packing import Packed, Reading, by_width, pooled
from spanloom.scoring.encoder.reader import Compute, WindowScorer
from spanloom.scoring.encoder.settings import EncoderSettings
from spanloom.scoring.encoder.subwords import SubwordTokenizer

_OF_ENCODER: Final = "encoder."  # in the names of the network's arrays
_WHOLE: Final = frozenset(("deberta",))  # families that fill 16 bits with a number of 32
_ON_CARDS: Final = 1 << 13  # sub-words that a graphics card reads at once


class _Stored(EncoderSettings):
    """Values of an encoder in a model file."""

    config: dict[str, Any]


@dataclass(frozen=True)
class EncoderScorer(WindowScorer):
    """Gives tokens the scores that an encoder with a linear layer computes.

    Args:
        network: trained, or about to be.
        tokenizer: of the encoder.
        settings: how it reads.
        roles: R, of the template.
        types: K.
    """

    network: Network
    tokenizer: SubwordTokenizer
    settings: EncoderSettings
    roles: int
    types: int

    @classmethod
    def open(
        cls, path: str, outputs: Outputs, types: int, settings: EncoderSettings, seed: int = 0, device: str = "auto"
    ) -> EncoderScorer:
        """Open the folder of an encoder, and put an untrained linear layer on it.

        Args:
            path: the folder.
            outputs: roles and constants that are to have scores, such as a template's.
            types: K.
            settings: how the encoder reads; a window longer than the encoder can read is cut to that.
            seed: of the linear layer.
            device: where it computes: ``cpu``, ``cuda``, or ``auto``.

        Raises:
            UsageError: see `spanloom.scoring.encoder.folder.open_encoder`.
        """
        place = device_of(device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            opened = open_encoder(path)
            network = Network(opened.model, len(outputs.roles), types, len(outputs.constants))
            if settings.adapters:
                attach(network.encoder, settings.adapters)
        window = min(settings.window, opened.longest)
        own = {"digest": opened.digest, "window": window, "folder": Path(path).name}
        kept = EncoderSettings(**vars(settings) | own)
        return cls(network.to(place), opened.tokenizer, kept, len(outputs.roles), types).ready()

    def ready(self) -> EncoderScorer:
        """Return it, set to predict.

        Raises:
            UsageError: products of 16 bits, of an encoder that has none.
        """
        self.network.eval()
        family = self.network.encoder.config.model_type
        self.network.halved = _halved(self.settings.precision, self.network.head.weight.device, family)
        return self

    @property
    def config(self) -> dict[str, Any]:
        """What the encoder is built by."""
        config = self.network.encoder.config.to_dict()
        return {name: value for name, value in config.items() if name not in UNWANTED and not name.startswith("_")}

    def merge(self) -> None:
        """Add what adapters have learned to the weights of the encoder, so that they cost nothing any more."""
        if self.settings.adapters and not self.network.adapters:
            self.network.adapters = merge(self.network.encoder)

    def scale(self, factor: float) -> None:
        """Multiply all scores that it gives from now on."""
        with torch.no_grad():
            for array in (self.network.head.weight, self.network.head.bias, self.network.constants):
                array.mul_(factor)

    def with_settings(self, **changed: Any) -> EncoderScorer:
        """Return the same network, which reads text in another way."""
        return replace(self, settings=EncoderSettings(**vars(self.settings) | changed)).ready()

    @cached_property
    def padding(self) -> int:
        """The sub-word for empty places."""
        found = getattr(self.network.encoder.config, "pad_token_id", None)
        return 0 if found is None else int(found)

    def describe(self) -> dict[str, Any]:
        """Describe the encoder for `spanloom inspect`."""
        config = self.network.encoder.config
        own = {"family": config.model_type, "width": int(config.hidden_size), "parameters": self.parameters}
        return {"encoder": {**own, **vars(self.settings)}}

    @property
    def parameters(self) -> int:
        """How many weights there are, without adapters."""
        return sum(array.numel() for name, array in self.network.named_parameters() if ".parametrizations." not in name)

    @property
    def trained(self) -> int:
        """How many numbers training changes."""
        own = [array for array in self.network.parameters() if array.requires_grad]
        return sum(array.numel() for array in (*own, *self.network.adapters.values()))

    @property
    def constants(self) -> Singles:
        """(C, K) scores of the template's constants."""
        found: Singles = self.network.constants.detach().cpu().numpy()
        return found

    def packs(self, reading: Reading) -> list[tuple[list[int], tuple[int, int] | None]]:
        """See `WindowScorer.packs`."""
        if self.network.head.weight.device.type == "cpu":
            return super().packs(reading)
        before, after = self.tokenizer.around
        return [*by_width(reading, len(before) + len(after), self.settings.window, _ON_CARDS)]

    @contextmanager
    def computing(self) -> Iterator[Compute]:
        """See `WindowScorer.computing`."""
        network = self.network
        device = network.head.weight.device.type

        def compute(packs: Iterable[Packed]) -> Iterator[Singles]:
            # the outer cast keeps the weights of 16 bits from one pack to the next, which it does not in inference mode
            with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=network.halved):
                for packed in packs:
                    yield pooled(network.of_subwords(packed).cpu().numpy(), packed)

        with torch_threads(1):
            yield compute

    def to_part(self) -> ModelPart:
        """Return the encoder, or its adapters, its tokenizer and the linear layer as a part of a model file."""
        held = self.network.state_dict()
        if self.settings.adapters:  # of the encoder itself the digest is enough
            held = {name: array for name, array in held.items() if not name.startswith(_OF_ENCODER)}
            held |= {f"{_OF_ENCODER}{name}": array for name, array in self.network.adapters.items()}
        arrays: dict[str, Array] = {name: array.detach().cpu().numpy() for name, array in held.items()}
        arrays["tokenizer"] = np.frombuffer(self.tokenizer.json.encode(), np.uint8)
        return _Stored(config=self.config, **vars(self.settings)).part(arrays)

    @classmethod
    def from_part(cls, part: ModelPart, outputs: Outputs, types: int) -> EncoderScorer:
        """Return the scorer that `to_part` gave.

        Args:
            part: that one.
            outputs: roles and constants that have scores.
            types: K.

        Raises:
            ModelError: a configuration that does not fit the arrays, or a tokenizer that does not fit the encoder.
            OtherModelError: the encoder that adapters belong to is nowhere.
        """
        stored = part.read(_Stored)
        if problem := check_config(stored.config):
            raise ModelError(f"the encoder's configuration {problem}")
        tokenizer = SubwordTokenizer(bytes(part.array("tokenizer", np.uint8, None)).decode())
        arrays = {name: array for name, array in part.arrays.items() if name != "tokenizer"}
        roles, constants = len(outputs.roles), len(outputs.constants)
        adapters: dict[str, Array] = {}
        if stored.adapters:
            of_encoder = [name for name in arrays if name.startswith(_OF_ENCODER)]
            adapters = {name.removeprefix(_OF_ENCODER): arrays.pop(name) for name in of_encoder}
            folder = find_encoder(stored.digest, stored.folder, part.places)
            try:
                encoder = open_model(folder)  # the model has a tokenizer of its own
            except UsageError as error:
                raise OtherModelError(str(error)) from None
            arrays |= {f"{_OF_ENCODER}{name}": array.numpy() for name, array in encoder.state_dict().items()}
        if len(arrays) < int(stored.config.get("num_hidden_layers", 0) or 0):
            raise ModelError(f"the encoder's configuration names more layers than there are arrays, {len(arrays):,}")
        with torch.device("meta"):  # takes no memory: shapes are compared before anything is made
            expected = _built(stored.config, roles, types, constants).state_dict()
        _check_shapes(
            arrays,
            {name: tuple(array.shape) for name, array in expected.items()},
            "encoder's arrays",
            "its configuration",
        )
        network = _built(stored.config, roles, types, constants)
        network.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in arrays.items()})
        if stored.adapters:
            _check_shapes(adapters, shapes(network.encoder, stored.adapters), "adapters", "the encoder")
            network.adapters = {name: torch.from_numpy(array.copy()) for name, array in adapters.items()}
            join(network.encoder, network.adapters)
        if tokenizer.size > network.encoder.get_input_embeddings().num_embeddings:
            raise ModelError(f"the tokenizer knows {tokenizer.size:,} sub-words, more than the encoder")
        if stored.window > (longest := longest_of(network.encoder.config)):
            raise ModelError(f"the encoder is to read {stored.window:,} sub-words at once, but can read {longest:,}")
        check_computes(network.encoder)
        settings = EncoderSettings(**vars(stored))
        return cls(network.to(device_of("auto")), tokenizer, settings, roles, types).ready()


def _built(config: dict[str, Any], roles: int, types: int, constants: int) -> Network:
    """Return a network of a configuration, with any weights.

    Raises:
        ModelError: no encoder can be built from it; libraries raise many kinds of errors.
    """
    try:
        made = config_of(config)
        with torch.random.fork_rng(devices=[]):
            encoder = transformers.AutoModel.from_config(made, trust_remote_code=False)
            if hasattr(encoder, "pooler"):
                encoder.pooler = None
            return Network(encoder, roles, types, constants)
    except Exception as error:
        raise ModelError(f"no encoder can be built from the stored configuration: {reason_of(error)}") from None


def _check_shapes(arrays: Mapping[str, Array], expected: Mapping[str, tuple[int, ...]], what: str, whose: str) -> None:
    """Check that arrays have the names and the shapes of something."""
    given = {name: array.shape for name, array in arrays.items()}
    if given != expected:
        odd = sorted(given.keys() ^ expected.keys()) or [name for name in given if given[name] != expected[name]]
        raise ModelError(f"the {what} are not those of {whose}: {odd[0]}")


def _halved(precision: str, device: torch.device, family: str) -> bool:
    """Return whether products have 16 bits."""
    if family in _WHOLE:
        if precision == "bfloat16":
            raise UsageError(f"precision is 'bfloat16', but a {family} computes in 32 bits alone; take 'float32'")
        return False
    if precision != "auto":
        return precision == "bfloat16"
    if device.type == "cpu":
        able: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # of newer versions
        return bool(able.get("avx512_bf16") or able.get("amx_bf16"))
    return bool(device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False))
