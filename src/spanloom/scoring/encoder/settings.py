"""How an encoder reads text, as a model file holds it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from spanloom.modelfile import Described, Within

MOST_SUBWORDS: Final = 1 << 20
"""No encoder reads more sub-words at once."""


class WindowSettings(Described):
    """How an encoder reads text, whatever library computes.

    Args:
        pooling: the sub-words that make a token's vector.
        window: sub-words that are read at once, at most.
        context: whether sentences of a document are read together.
        digest: SHA-256 of the weights that training began with.
    """

    pooling: Literal["first", "last", "mean"] = "first"
    window: Annotated[int, Within(16, MOST_SUBWORDS)] = 256
    context: bool = True
    digest: str = ""


class EncoderSettings(WindowSettings):
    """How an encoder reads text, and how PyTorch computes.

    Args:
        precision: of products; ``auto`` for 16 bits where the machine multiplies these faster.
        folder: the name of the folder that the weights came from.
        adapters: rank of the low-rank adapters that were trained; 0 where the encoder itself was.
    """

    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    folder: str = ""
    adapters: Annotated[int, Within(0, 1 << 16)] = 0
