"""Which training a checkpoint belongs to: its settings, its data and its encoder, as digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from spanloom.document import Batch
from spanloom.learn.checkpoints import PREFIX, Checkpoint, Run
from spanloom.model.fields import declared
from spanloom.recognize.parameters import EncoderParameters
from spanloom.scoring.encoder.scorer import EncoderScorer

_FREE: Final = frozenset(("n_jobs", "checkpoint", "encoder", "seeds"))  # an encoder is known by its digest
_PLAIN: Final = (bool, int, float, str, type(None))


def checkpoint_of(
    chosen: EncoderParameters, scorer: EncoderScorer, batches: Iterable[Batch], more: Any, seed: int
) -> Checkpoint | None:
    """Return where the state of a training is kept, or ``None``.

    Args:
        chosen: parameters of the estimator.
        scorer: untrained.
        batches: training and development data.
        more: other properties of the data, as JSON has them, such as the types of mentions.
        seed: of this training, which may be one of several.
    """
    if chosen.checkpoint is None:
        return None
    folder = Path(chosen.checkpoint) / f"{PREFIX}{seed}"
    return Checkpoint(folder, run_of(chosen, scorer, batches, more))


def run_of(chosen: EncoderParameters, scorer: EncoderScorer, batches: Iterable[Batch], more: Any) -> Run:
    """Return what makes a training the one that it is; see `checkpoint_of`."""
    network = scorer.network
    settings: list[Any] = [
        (name, _described(getattr(chosen, name))) for name, *_ in declared(chosen) if name not in _FREE
    ]
    settings += [network.halved, network.head.weight.device.type]
    data = [more, *map(_documents, batches)]
    encoder = [scorer.settings.digest, scorer.tokenizer.json, scorer.config]
    return Run(settings=_digest(settings), data=_digest(data), encoder=_digest(encoder))


def _described(value: Any) -> Any:
    """Return a parameter as JSON has it; of what was trained only what it is."""
    if isinstance(value, _PLAIN):
        return value
    return type(value).__name__ if hasattr(value, "to_part") else str(value)


def _documents(batch: Batch) -> str:
    """Return a digest of documents: their text, mentions, columns, tokens and sentences."""
    total = hashlib.sha256()
    for document in batch.documents:
        mentions = [(mention.type, mention.spans, mention.head) for mention in document.mentions]
        columns = sorted((name, list(values)) for name, values in document.columns.items())
        total.update(_digest([document.text, mentions, columns]).encode())
    for array in (batch.tokens, batch.sentences, batch.firsts):
        total.update(array.astype("<i8").tobytes())
    return total.hexdigest()


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
