"""Encoders of Hugging Face's form as scorers: a folder, its sub-words, windows of sentences, and role scores.

Nothing here is loaded before it is used: PyTorch and transformers are the extra ``torch``.
"""

from typing import Any

from spanloom.extras import extra
from spanloom.lazy import lazily

_NAMES = {
    "EncoderScorer": "spanloom.scoring.encoder.scorer",
    "EncoderSettings": "spanloom.scoring.encoder.settings",
    "FrozenEncoder": "spanloom.scoring.encoder.frozen",
    "Network": "spanloom.scoring.encoder.network",
    "Subwords": "spanloom.scoring.encoder.subwords",
    "SubwordTokenizer": "spanloom.scoring.encoder.subwords",
    "Windows": "spanloom.scoring.encoder.windows",
    "check_folder": "spanloom.scoring.encoder.folder",
    "cut_windows": "spanloom.scoring.encoder.windows",
    "open_encoder": "spanloom.scoring.encoder.folder",
}
__all__ = list(_NAMES)
_get = lazily(__name__, _NAMES)


def __getattr__(name: str) -> Any:
    with extra("torch", "an encoder"):
        return _get(name)
