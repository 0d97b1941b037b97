"""The folder of an encoder that a model names by digest: it may have moved, but not changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from spanloom.modelfile import OtherModelError
from spanloom.scoring.encoder.folder import digest_of

__all__ = ["VARIABLE", "find_encoder"]

VARIABLE: Final = "SPANLOOM_ENCODERS"
"""The environment variable that names folders of encoders, or folders that hold such, as PATH names folders."""
_SHOWN: Final = 12  # of a digest's characters


def find_encoder(digest: str, name: str, places: Iterable[Path]) -> Path:
    """Return the folder of the encoder with these weights.

    Args:
        digest: SHA-256 of its weights.
        name: of the folder in which it was.
        places: where to look before the folders that the environment names, and the folders in them, are looked at.

    Raises:
        OtherModelError: it is in none of them.
    """
    others: list[str] = []
    seen: set[Path] = set()
    for folder in _candidates(name, places):
        place = folder.resolve()
        if place in seen or not any(folder.glob("*.safetensors")):
            continue
        seen.add(place)
        if (found := digest_of(folder)) == digest:
            return folder
        others.append(f"{folder} holds others ({found[:_SHOWN]})")
    beside = f"; {', '.join(others)}" if others else ""
    raise OtherModelError(
        f"its adapters need the weights of the encoder {name!r} ({digest[:_SHOWN]}), which are not where they were"
        f"{beside}; copy its folder into the model's as 'encoder', name the folder that holds it in {VARIABLE}, or "
        "give load(..., encoder=FOLDER)"
    )


def _candidates(name: str, places: Iterable[Path]) -> Iterator[Path]:
    """Yield folders that may be the encoder's: of those of the environment the ones of its name first."""
    yield from filter(Path.is_dir, places)
    named = [Path(place) for place in os.environ.get(VARIABLE, "").split(os.pathsep) if place]
    held = [
        folder for place in named if place.is_dir() for folder in (place, *sorted(filter(Path.is_dir, place.iterdir())))
    ]
    yield from sorted(held, key=lambda folder: folder.name != name)
