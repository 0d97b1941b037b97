"""The folder of an encoder that a model names by digest: it may have moved, but not changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from spanloom.errors import UsageError, clip, reason_of
from spanloom.modelfile import OtherModelError
from spanloom.scoring.encoder.folder import digest_of, weight_files

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
    told = tuple(places)
    passed: list[str] = []  # folders that are not the one, and why
    seen: set[Path] = set()
    for folder in _candidates(name, told, passed):
        try:
            place = folder.resolve()
            if place in seen:
                continue
            seen.add(place)
            if not weight_files(folder):
                passed += [f"{folder} holds none"] if folder in told else []  # others may hold encoders
                continue
            found = digest_of(folder)
        except (OSError, UsageError) as error:
            passed.append(f"{folder} cannot be read ({reason_of(error)})")
            continue
        if found == digest:
            return folder
        passed.append(f"{folder} holds others ({found[:_SHOWN]})")
    beside = f"; {', '.join(passed)}" if passed else ""
    raise OtherModelError(
        f"its adapters need the weights of the encoder {name!r} ({digest[:_SHOWN]}), which are not where they were"
        f"{beside}; copy its folder into the model's as 'encoder', name the folder that holds it in {VARIABLE}, or "
        "give it: load(..., encoder=FOLDER), or --encoder FOLDER"
    )


def _candidates(name: str, places: Iterable[Path], passed: list[str]) -> Iterator[Path]:
    """Yield folders that may be the encoder's: of those of the environment the ones of its name first.

    Args:
        name: of the folder in which it was.
        places: as of `find_encoder`.
        passed: takes a note of folders that the environment names and that cannot be looked through.
    """
    yield from filter(_is_folder, places)
    held: list[Path] = []
    for place in (Path(text) for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text):
        try:
            inner = sorted(filter(_is_folder, place.iterdir()))
        except OSError as error:
            passed.append(f"{clip(str(place))}, which {VARIABLE} names, cannot be looked through ({reason_of(error)})")
        else:
            held += (place, *inner)
    yield from sorted(held, key=lambda folder: folder.name != name)


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder, as far as the system reports."""
    try:
        return path.is_dir()
    except OSError:
        return False
