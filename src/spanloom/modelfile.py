"""Model files: one folder with ``model.json`` and ``weights.safetensors``. Loading runs no code.

Every kind of model is saved and loaded here, so every kind refuses the same damage: a file that is missing, cut off or
changed, another format, numbers that are not finite.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from spanloom import __version__
from spanloom.errors import ModelError, SpanloomError
from spanloom.files.output import output_folder, writing
from spanloom.files.staging import settle

FORMAT = 1
LARGEST = 1e12
"""No weight or penalty of a model is further from 0: sums of a million of them are numbers that kernels can follow."""
Bounded = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
_DESCRIPTION, _WEIGHTS = "model.json", "weights.safetensors"

Array = NDArray[Any]


def save_model(
    path: str | Path, kind: str, description: Mapping[str, Any], arrays: Mapping[str, Array], *, force: bool = False
) -> None:
    """Write a model; the folder is there in full or not at all. The same model gives the same bytes.

    Args:
        path: the folder.
        kind: such as ``recognizer``.
        description: what is written to ``model.json``, as JSON values.
        arrays: what is written to ``weights.safetensors``.
        force: replace a model that is there.

    Raises:
        UsageError: the folder is there and ``force`` is false, or it holds anything but a model.
        DataError: the system refused to write.
    """
    weights = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    header = {"format": FORMAT, "kind": kind, "spanloom": __version__, "sha256": hashlib.sha256(weights).hexdigest()}
    text = json.dumps({**header, **description}, ensure_ascii=False, indent=1, allow_nan=False)
    # Only the two files of a model may go: a folder of models is none.
    old = [Path(path).resolve() / name for name in (_DESCRIPTION, _WEIGHTS)]
    with output_folder(path, force=force, may_replace=lambda file: file.absolute() in old) as folder:
        for name, data in ((_WEIGHTS, weights), (_DESCRIPTION, text.encode() + b"\n")):
            with writing(path):
                (folder / name).write_bytes(data)


def read_description(path: str | Path) -> dict[str, Any]:
    """What ``model.json`` says.

    Raises:
        ModelError: there is none, it is damaged, or it is of another format.
    """
    file = Path(path) / _DESCRIPTION
    try:
        settle(path)
        description = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(
            f"{path}: no model here: {_DESCRIPTION} is missing; name the folder that training wrote"
        ) from None
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file}: damaged, not JSON ({error}); train or copy the model again") from None
    if not isinstance(description, dict) or not isinstance(description.get("kind"), str):
        raise ModelError(f"{file}: not a model's description: it names no kind; name the folder that training wrote")
    if description.get("format") != FORMAT:
        raise ModelError(
            f"{file}: model format {description.get('format')!r}, written by Spanloom {description.get('spanloom')!r}; "
            f"this is Spanloom {__version__}, which reads format {FORMAT}: train the model again, or use that version"
        )
    return description


def load_arrays(path: str | Path, description: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays of a model.

    Raises:
        ModelError: they are missing, are not those that ``description`` was written with, or hold numbers that are not
            finite.
    """
    file = Path(path) / _WEIGHTS
    try:
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest != description.get("sha256"):
            raise ModelError(f"{file}: damaged or of another model: its checksum is not the one in {_DESCRIPTION}")
        arrays: dict[str, Array] = load_file(file)
    except FileNotFoundError:
        raise ModelError(f"{file}: missing; train or copy the model again") from None
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror}") from None
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:  # the last: a type numpy lacks
        raise ModelError(f"{file}: damaged: {error}; train or copy the model again") from None
    for name, array in arrays.items():
        # NaN is the least and the greatest of whatever it stands among
        if array.dtype.kind == "f" and array.size and not -LARGEST <= array.min() <= array.max() <= LARGEST:
            raise ModelError(
                f"{file}: {name!r} holds numbers from {array.min():g} to {array.max():g} that are not finite or too "
                f"large, expected none beyond {LARGEST:g}; train or copy the model again"
            )
    return arrays


def read_kind(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """The description and the arrays of a model of this kind.

    Raises:
        ModelError: the folder holds no such model, or a damaged one, or one of another format.
    """
    raw = read_description(path)
    if raw["kind"] != kind:
        raise ModelError(f"{path}: a model of kind {raw['kind']!r}, expected a {kind}")
    return raw, load_arrays(path, raw)


@contextmanager
def damaged(path: str | Path) -> Iterator[None]:
    """Whatever is found wrong inside becomes a `ModelError` in one line."""
    try:
        yield
    except (ValidationError, KeyError, TypeError, ValueError, SpanloomError) as error:
        raise ModelError(f"{path}: damaged: {_reason(error)}; train or copy the model again") from None


def _reason(error: Exception) -> str:
    """An error in one line; of many values that cannot be read, the first."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return " ".join(str(error).split())
