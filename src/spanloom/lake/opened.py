"""The model of a process: opened once, and known by the digest of its file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from threading import Lock

from spanloom.errors import ModelError, UsageError
from spanloom.model.protocol import MentionModel, finds_mentions
from spanloom.modelfile import read_digest
from spanloom.models import load

__all__ = ["opened"]

_MOST = 4  # models that a process keeps
_one_at_a_time = Lock()  # so that threads of an engine do not load the same model side by side


def opened(path: str, digest: str, encoder: str | None = None) -> MentionModel:
    """Return a model of mentions, in one thread; the same object whenever it is asked for again.

    Args:
        path: its folder.
        digest: of `read_digest`, that it must have.
        encoder: the folder of the encoder that it names, if it names one.

    Raises:
        ModelError: no model, a damaged one, or another than that of the digest.
        UsageError: it finds no mentions.
    """
    with _one_at_a_time:
        return _loaded(path, digest, encoder)


@lru_cache(_MOST)
def _loaded(path: str, digest: str, encoder: str | None) -> MentionModel:
    _check(path, digest)
    model = load(path, encoder=encoder, mapped=True)  # a process for each core has it
    _check(path, digest)  # it may have been replaced while it was read
    if not finds_mentions(model):
        raise UsageError(f"{path} is a {model.kind.replace('-', ' ')}, which finds no mentions; name a model that does")
    return model.set_params(n_jobs=1)


def _check(path: str, digest: str) -> None:
    found = read_digest(path)
    if found != digest:
        raise ModelError(
            f"{Path(path) / 'model.json'}: the model was replaced while the job runs: its digest is {found}, expected "
            f"{digest}; put the old one back, or start again with the new one"
        )
