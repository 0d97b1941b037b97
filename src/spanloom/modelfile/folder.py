"""The folder of a model file: written in full or not at all, and read with the same checks for every kind of model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from mmap import ACCESS_COPY, mmap
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, ClassVar, Final, Protocol, Self, TypeVar

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file
from safetensors.numpy import save as packed

from spanloom import __version__
from spanloom.errors import ModelError, UsageError, clip, reason_of
from spanloom.files.output import output_folder, own_files, writing
from spanloom.files.staging import leftover, leftovers, warn_of_leftovers
from spanloom.files.walk import meant_path
from spanloom.modelfile.older import from_lists, from_tree
from spanloom.modelfile.part import PARTS, STAGES, Array, ModelPart, damaged, place
from spanloom.modelfile.values import LARGEST, checked

FORMAT: Final = 4
"""The format that is written; 1 to 3 are read, too."""
_STAGES: Final = "stages"
_STAGE: Final = "stage"  # its name, in its description
_DESCRIPTION, _WEIGHTS = "model.json", "weights.safetensors"
_ENCODER = "encoder"  # a folder beside these, where there is one
_HEADER = ("format", "kind", "spanloom", "sha256")
_DTYPES: Final[Mapping[str, type[np.generic]]] = MappingProxyType(
    {
        "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
        "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
    }
)  # fmt: skip
_LENGTH_BYTES: Final = 8  # before the header


class Stored(Protocol):
    """An object that can be saved."""

    kind: ClassVar[Any]

    def to_part(self) -> ModelPart:
        """All that the model is."""

    @classmethod
    def from_part(cls, part: ModelPart) -> Self:
        """The model that `to_part` gave; any exception is reported as a damaged file."""


M = TypeVar("M", bound=Stored)


def save(model: Stored, path: str | Path, *, force: bool = False) -> None:
    """Write a model as a folder of two files. The same model gives the same bytes.

    Args:
        model: trained.
        path: the folder; it is there in full or not at all.
        force: replace a model that is there.

    Raises:
        UsageError: the folder is there and ``force`` is false, it holds anything but a model, or the model is not
            trained.
        DataError: the system refused to write.
    """
    write(path, model.kind, model.to_part(), force=force)


def load(cls: type[M], path: str | Path, *, encoder: str | Path | None = None, mapped: bool = False, **given: Any) -> M:
    """Load the model of a folder.

    Args:
        cls: its class.
        path: the folder.
        encoder: the folder of the encoder, if the model does not contain it.
        mapped: leave arrays in the file where they can be used unchanged.
        given: for ``from_part``.

    Raises:
        ModelError: the folder has no such model, or a damaged one, or one of a newer format.
        UsageError: the encoder is no folder.
    """
    places = [] if encoder is None else [_folder(encoder)]
    part = read(path, cls.kind, mapped=mapped).near(*places, Path(path) / _ENCODER)
    with damaged(path):
        return cls.from_part(part, **given)


def _folder(encoder: str | Path) -> Path:
    """Return the folder of an encoder, if it is one."""
    try:
        there = Path(encoder).is_dir()
    except OSError as error:  # such as a name that is too long
        raise UsageError(f"encoder {clip(str(encoder))} cannot be looked at: {reason_of(error)}") from None
    if not there:
        raise UsageError(f"encoder {clip(str(encoder))} is no folder; name the one that the model was trained with")
    return Path(encoder)


def write(path: str | Path, kind: str, part: ModelPart, *, force: bool = False) -> None:
    """Write a part as a model of some kind; see `save`."""
    weights = packed({name: np.ascontiguousarray(array) for name, array in part.flat().items()})
    header = (FORMAT, kind, __version__, hashlib.sha256(weights).hexdigest())
    stages = [{_STAGE: name, **part.parts[name].json()} for name in sorted(part.parts, key=place)]
    description = {**dict(zip(_HEADER, header, strict=True)), **part.values, _STAGES: stages}
    text = json.dumps(description, ensure_ascii=False, indent=1, allow_nan=False)
    # only the two files of a model may go: a folder of models is no model
    with output_folder(path, force=force, may_replace=own_files(path, (_DESCRIPTION, _WEIGHTS))) as folder:
        for name, data in ((_WEIGHTS, weights), (_DESCRIPTION, text.encode() + b"\n")):
            with writing(path):
                (folder / name).write_bytes(data)


def read(path: str | Path, kind: str, *, mapped: bool = False) -> ModelPart:
    """The part that a model of this kind is; its arrays are ``mapped`` or read.

    Raises:
        ModelError: the folder holds no such model, or a damaged one, or one of a newer format.
    """
    warn_of_leftovers(path)
    description = _description(path)
    if description["kind"] != kind:
        raise ModelError(f"{path}: a model of kind {description['kind']!r}, expected a {kind}")
    arrays = _arrays(path, description, mapped)
    values = {name: value for name, value in description.items() if name not in _HEADER}
    with damaged(path):
        if description["format"] < FORMAT:
            old = from_lists(kind, values, arrays) if description["format"] == 1 else ModelPart.of(values, arrays)
            return from_tree(kind, old)
        stages = checked(list[dict[str, Any]], values.pop(_STAGES, None), _STAGES)
        names = [checked(str, stage.pop(_STAGE, None), f"{_STAGES}.{n}.{_STAGE}") for n, stage in enumerate(stages)]
        if names != sorted(set(names), key=place):
            found = clip(", ".join(names), 200)
            raise ModelError(f"found the stages {found}, expected each once, in the order {', '.join(STAGES)}")
        return ModelPart.of({**values, PARTS: dict(zip(names, stages, strict=True))}, arrays)


def is_model(path: str | Path) -> bool:
    """Return whether a folder has a model's description, valid or not."""
    return (Path(path) / _DESCRIPTION).is_file()


def read_kind(path: str | Path) -> str:
    """Return the kind of model that a folder holds.

    Raises:
        ModelError: it holds none, or a damaged one, or one of a newer format.
    """
    kind: str = _description(path)["kind"]
    return kind


def read_digest(path: str | Path) -> str:
    """Return SHA-256 of a model's description, which holds that of its weights: what else it is, changes it.

    Raises:
        ModelError: the folder holds no model, or a damaged one, or one of a newer format.
    """
    _description(path)
    file = Path(path) / _DESCRIPTION
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror}") from None


def _description(path: str | Path) -> dict[str, Any]:
    """Return the content of ``model.json``."""
    file = Path(path) / _DESCRIPTION
    try:
        description = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        left = "".join(f"; {part} is there, {leftover(part)}" for part in leftovers(Path(path)))
        inside = next((child.parent for child in sorted(Path(path).glob(f"*/{_DESCRIPTION}"))), None)
        close = meant_path(Path(path)) if inside is None else f"; did you mean {inside}?"
        raise ModelError(
            f"{path}: no model here: {_DESCRIPTION} is missing; name the folder that training wrote{left}{close}"
        ) from None
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file}: damaged, not JSON ({error}); train or copy the model again") from None
    if not isinstance(description, dict) or not isinstance(description.get("kind"), str):
        raise ModelError(f"{file}: not a model's description: it names no kind; name the folder that training wrote")
    number = description.get("format")
    if type(number) is not int or not 1 <= number <= FORMAT:
        newer = type(number) is int and number > FORMAT
        remedy = "update Spanloom, or train the model again" if newer else "train or copy the model again"
        raise ModelError(
            f"{file}: model format {number!r}, written by Spanloom {description.get('spanloom')!r}; this is Spanloom "
            f"{__version__}, which reads formats 1 to {FORMAT}: {remedy}"
        )
    return description


def _arrays(path: str | Path, description: Mapping[str, Any], mapped: bool) -> dict[str, Array]:
    """The arrays of a model, if they are those that ``description`` was written with, and finite."""
    file = Path(path) / _WEIGHTS
    try:
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            if digest != description.get("sha256"):
                raise ModelError(f"{file}: damaged or of another model: its checksum is not the one in {_DESCRIPTION}")
            arrays = _read_arrays(file, stream, mapped=mapped)
    except FileNotFoundError:
        raise ModelError(f"{file}: missing; train or copy the model again") from None
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror}") from None
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:  # the last: a type numpy lacks
        raise ModelError(f"{file}: damaged: {error}; train or copy the model again") from None
    for name, array in arrays.items():
        # NaN is the least and the greatest of any values
        if array.dtype.kind != "f" or not array.size:
            continue
        if not -LARGEST <= float(array.min()) <= float(array.max()) <= LARGEST:  # half precision cannot hold the bound
            raise ModelError(
                f"{file}: {name!r} holds numbers from {array.min():g} to {array.max():g} that are not finite or too "
                f"large, expected none beyond {LARGEST:g}; train or copy the model again"
            )
    return arrays


def _read_arrays(file: Path, stream: BinaryIO, *, mapped: bool) -> dict[str, Array]:
    """Return the arrays of a file, in memory or mapped; the caller handles the errors of damaged files.

    Args:
        file: in the format of safetensors.
        stream: the same file, open.
        mapped: map the file. Processes that map the same file share its pages in memory; an array is copied where this
            process writes to it.
    """
    if not mapped:
        return load_file(file)
    with safe_open(file, "numpy"):  # checks the header
        memory = mmap(stream.fileno(), 0, access=ACCESS_COPY)
    begin = _LENGTH_BYTES + int.from_bytes(memory[:_LENGTH_BYTES], "little")
    header = json.loads(memory[_LENGTH_BYTES:begin])
    header.pop("__metadata__", None)
    return {name: _mapped_array(memory, begin, **description) for name, description in header.items()}


def _mapped_array(memory: mmap, begin: int, dtype: str, shape: list[int], data_offsets: list[int]) -> Array:
    if dtype not in _DTYPES:
        raise ValueError(f"data type {dtype!r} not understood")
    array: Array = np.ndarray(shape, _DTYPES[dtype], memory, begin + data_offsets[0])
    return array if array.flags.aligned else array.copy()
