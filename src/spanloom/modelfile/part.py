"""A part of a model file: values as JSON has them, arrays, and smaller parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import digits
from typing import Any, Final, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spanloom.errors import ModelError, SpanloomError, clip
from spanloom.modelfile.values import fields_of, plain

Array = NDArray[Any]
COMPACT: Final = "compact"
"""The name of a part that holds weights in eight bits."""
PARTS: Final = "parts"
_LONGEST_NAME: Final = 60
STAGES: Final = (
    "profile", "tagger", "split", "dictionaries", "columns", "first_pass", "structure", "overlaps", "second_stage",
    "link", "concepts", "attributes",
)  # fmt: skip
"""The parts of a whole model, in the order in which they run; one that there are several of has a number, from 0 on.

Stages with other names follow these.
"""


@dataclass_transform(kw_only_default=True)
class Described:
    """The values of a part; each kind of part names its own, as annotations, perhaps with defaults.

    Raises:
        ModelError: one is missing, or is not of its type.

    >>> class Chain(Described):
    ...     types: list[str]
    ...     penalty: float = 0.0
    >>> vars(Chain(types=["x"]))
    {'types': ['x'], 'penalty': 0.0}
    >>> Chain(types=["x"], penalty="high")
    Traceback (most recent call last):
    spanloom.errors.ModelError: penalty: found 'high', expected a finite number
    """

    def __init__(self, **given: Any) -> None:
        vars(self).update(fields_of(type(self), given))

    def part(
        self, arrays: Mapping[str, Array] | None = None, parts: Mapping[str, ModelPart | None] | None = None
    ) -> ModelPart:
        """Return the part with these values; parts that are ``None`` are left out."""
        held = {name: part for name, part in (parts or {}).items() if part is not None}
        return ModelPart(plain(vars(self)), arrays or {}, held)


D = TypeVar("D", bound=Described)


class OtherModelError(Exception):
    """A model that is sound, but not the one that was asked for."""


@dataclass(frozen=True)
class ModelPart:
    """A piece of a model: its description, its arrays, and its own pieces, to any depth.

    Args:
        values: JSON values, the description in ``model.json``.
        arrays: by name.
        parts: by name, which has no dot.
        name: of the part itself, from the outermost one on, with a dot at the end; for messages.
        places: folders with data that the part refers to but does not contain.

    >>> chain = ModelPart({"types": ["x"]}, {"weights": np.zeros((2, 3), np.float32)})
    >>> whole = ModelPart(parts={"chain": chain})
    >>> whole.json(), list(whole.flat())
    ({'parts': {'chain': {'types': ['x']}}}, ['chain.weights'])
    >>> again = ModelPart.of(whole.json(), whole.flat())
    >>> again.part("chain").array("weights", np.float32, 2, None).shape
    (2, 3)
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    parts: Mapping[str, ModelPart] = field(default_factory=dict)
    name: str = ""
    places: tuple[Path, ...] = field(default=(), compare=False)

    def near(self, *places: Path) -> ModelPart:
        """Return the part with further places, and those within it."""
        parts = {name: part.near(*places) for name, part in self.parts.items()}
        return replace(self, parts=parts, places=(*self.places, *places))

    def json(self) -> dict[str, Any]:
        """Return the values of the part and of all within it, as ``model.json`` holds them."""
        inner = {name: part.json() for name, part in self.parts.items()}
        return {**self.values, **({PARTS: inner} if inner else {})}

    def flat(self) -> dict[str, Array]:
        """All arrays, under names such as ``part.sub.array``."""
        inner = {f"{name}.{key}": array for name, part in self.parts.items() for key, array in part.flat().items()}
        return {**self.arrays, **inner}

    @classmethod
    def of(cls, values: Any, arrays: Mapping[str, Array], name: str = "") -> ModelPart:
        """The part whose `json` and `flat` are given.

        Raises:
            ModelError: the values are those of no part.
        """
        inner = values.get(PARTS, {}) if isinstance(values, dict) else None
        if not isinstance(inner, dict):
            raise ModelError(f"{name + PARTS!r} is no object with parts")
        own: dict[str, Array] = {}
        theirs: dict[str, dict[str, Array]] = {key: {} for key in inner}
        for key, array in arrays.items():
            first, _, rest = key.partition(".")
            if rest and first in theirs:
                theirs[first][rest] = array
            else:
                own[key] = array
        parts = {key: cls.of(inner[key], theirs[key], f"{name}{key}.") for key in inner}
        return cls({key: value for key, value in values.items() if key != PARTS}, own, parts, name)

    def read(self, schema: type[D]) -> D:
        """The values, checked.

        Raises:
            ModelError: they are not of this schema; names the first that is not.
        """
        try:
            return schema(**self.values)
        except (ModelError, ValueError) as error:
            raise ModelError(f"{self.name}{error}") from None

    def array(self, name: str, dtype: DTypeLike, *shape: int | None) -> Array:
        """An array of the part.

        Args:
            name: its name.
            dtype: of its numbers.
            shape: the length of each axis, ``None`` for any.

        Raises:
            ModelError: it is missing, or of another type or shape.
        """
        array = self.arrays.get(name)
        if array is None:
            raise ModelError(f"{self.name + name!r} is missing")
        fits = len(shape) == array.ndim and all(
            one is None or size == one for size, one in zip(array.shape, shape, strict=True)
        )
        if array.dtype != dtype or not fits:
            expected = ", ".join("any" if length is None else str(length) for length in shape)
            found = f"{array.dtype} of shape {array.shape}"
            raise ModelError(f"{self.name + name!r} is {found}, expected {np.dtype(dtype)} ({expected})")
        return array

    def part(self, name: str) -> ModelPart:
        """A part of the part.

        Raises:
            ModelError: it is missing.
        """
        if name not in self.parts:
            raise ModelError(f"the part {self.name + name!r} is missing")
        return self.parts[name]


def place(stage: str) -> tuple[int, int, str]:
    """Return what stages are sorted by.

    Raises:
        ModelError: it is no name.
    """
    bare = stage.rstrip(digits)
    if not bare.isidentifier() or len(stage) > _LONGEST_NAME:
        raise ModelError(f"found the stage {clip(stage)}, expected a name such as {', '.join(STAGES)}")
    return STAGES.index(bare) if bare in STAGES else len(STAGES), len(stage), stage


@contextmanager
def damaged(path: str | Path) -> Iterator[None]:
    """Whatever is found wrong inside becomes a `ModelError` in one line."""
    try:
        yield
    except OtherModelError as error:
        raise ModelError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, RecursionError, SpanloomError) as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"{path}: damaged: {reason}; train or copy the model again") from None
