"""Outputs of an encoder that is not trained, as dense columns of features.

The encoder's output for a token is used as a word vector, but depends on the sentence. Weights of these columns are
those of the linear scorer, so training is convex, and needs PyTorch only to read the text once. PyTorch has one thread
here: the same text has the same columns with any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import nn

from spanloom.document import Batch
from spanloom.features.word_vectors import LENGTH, Dense, around
from spanloom.hypergraph import Singles
from spanloom.modelfile import ModelPart
from spanloom.scoring.encoder.network import torch_threads
from spanloom.scoring.encoder.packing import by_width
from spanloom.scoring.encoder.scorer import EncoderScorer
from spanloom.scoring.encoder.settings import EncoderSettings

_SAMPLE: Final = 50_000  # tokens whose outputs show what is usual


class _Numbers(NamedTuple):
    """The numbers of a vector, as what has scores."""

    roles: tuple[str, ...]
    constants: tuple[str, ...] = ()

    @classmethod
    def of(cls, size: int) -> _Numbers:
        return cls(tuple(map(str, range(size))))


@dataclass(frozen=True)
class FrozenEncoder:
    """Outputs of an encoder, moved and scaled as `spanloom.features.WordVectors.standardized` does.

    Args:
        scorer: whose linear layer does that: its scores are the vectors.
    """

    scorer: EncoderScorer

    @classmethod
    def open(cls, path: str | Path, batch: Batch) -> FrozenEncoder:
        """Open the folder of an encoder.

        Args:
            path: of the folder.
            batch: whose first documents show what is usual; without any, outputs stay as they are.

        Raises:
            UsageError: see `spanloom.scoring.encoder.folder.open_encoder`.
        """
        settings = EncoderSettings(window=256, precision="float32", adapters=0)
        opened = EncoderScorer.open(str(path), _Numbers.of(1), 1, settings, 0, "cpu")
        width = opened.network.head.in_features
        opened.network.head = _layer(np.zeros(width), 1.0)
        plain = cls(replace(opened, roles=width).ready())
        some = int(np.searchsorted(batch.starts, _SAMPLE, side="left"))
        sample = batch.take(range(min(some, len(batch.documents))))
        opened.read(sample).subwords.warn_unknown("the first tokens")
        found = plain.outputs(sample).astype(np.float64)
        if len(found):
            mean = found.mean(0)
            spread = float(np.sqrt(np.square(found - mean).sum(1).mean()))
            opened.network.head = _layer(mean, LENGTH / (spread or 1.0))
        return cls(plain.scorer.ready())

    @property
    def size(self) -> int:
        """The numbers of a vector, D."""
        return self.scorer.roles

    def outputs(self, batch: Batch) -> Singles:
        """Return the (T, D) outputs of the tokens of a batch, moved and scaled."""
        return self.scorer.score(batch).roles[:, :, 0]

    def means(self, batch: Batch) -> Singles:
        """Return the mean output for each of N documents, (N, D), neither moved nor scaled; 0 for one without tokens.

        Special sub-words count, as they do where encoders of sentences are trained. Documents share packs of one shape,
        so what one gets depends on no other.

        Args:
            batch: short documents; a window is read as a document of its own, and counts by its length.
        """
        scorer, reading = self.scorer, self.scorer.read(batch)
        reading.subwords.warn_unknown("the words of names and mentions", -1)
        found, lengths = np.zeros((len(batch.documents), self.size), np.float32), np.zeros(len(batch.documents))
        special = sum(map(len, scorer.tokenizer.around))
        with torch.no_grad(), torch_threads(1):
            for chosen, shape in by_width(reading, special, scorer.settings.window, scorer.at_once):
                packed = scorer.pack(reading, chosen, shape)
                totals = np.einsum("wsd,ws->wd", scorer.network.hidden(packed).cpu().numpy(), packed.mask)
                own = reading.windows.document[chosen]
                np.add.at(found, own, totals[: len(chosen)])
                np.add.at(lengths, own, packed.mask.sum(1)[: len(chosen)])
        found /= np.maximum(1, lengths)[:, None]
        return found

    def columns(self, batch: Batch, positions: Sequence[int]) -> Dense:
        """Return the outputs at some positions around each token; all tokens have one.

        Args:
            batch: T tokens.
            positions: P distances to the right of the token; outside the sentence all columns are 0.
        """
        tokens = len(batch.tokens)
        table = np.zeros((tokens + 1, self.size + 1), np.float32)  # one more column, as for words without a vector
        table[:tokens, :-1] = self.outputs(batch)
        return Dense(table, around(np.arange(tokens, dtype=np.int32), batch.sentences, positions, tokens))

    def share(self, words: Iterable[str]) -> None:
        """Return nothing: words are not looked up."""

    def describe(self) -> str:
        """Describe it for `spanloom inspect`."""
        family = self.scorer.network.encoder.config.model_type
        return f"outputs of a {family} encoder, {self.size} numbers each"

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        return self.scorer.to_part()

    @classmethod
    def from_part(cls, part: ModelPart) -> FrozenEncoder:
        """Return what `to_part` gave.

        Raises:
            ModelError: see `EncoderScorer.from_part`.
        """
        size = len(part.array("head.bias", np.float32, None))
        scorer = EncoderScorer.from_part(part, _Numbers.of(size), 1)
        return cls(replace(scorer, network=scorer.network.to("cpu")))  # as it was when weights were learned


def _layer(mean: np.ndarray, scale: float) -> nn.Linear:
    """Return a linear layer that takes a mean from vectors, (D,), and multiplies what is left."""
    layer = nn.Linear(len(mean), len(mean))
    with torch.no_grad():
        layer.weight.copy_(torch.eye(len(mean)) * scale)
        layer.bias.copy_(torch.from_numpy(-scale * mean))
    return layer
