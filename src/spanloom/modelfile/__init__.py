"""Model files: one folder with ``model.json`` and ``weights.safetensors``. Loading runs no code.

A model file is a `ModelPart`, and so is each component of a model. A class that is saved has ``to_part`` and
``from_part`` for its own data; `save` and `load` do the rest, and refuse the same damage for every kind: a file that
is missing, cut off or changed, a newer format, numbers that are not finite.
"""

from spanloom.modelfile.folder import FORMAT, load, read, read_digest, read_kind, save, write
from spanloom.modelfile.part import COMPACT, Array, Described, ModelPart, OtherModelError, damaged
from spanloom.modelfile.values import LARGEST, Bounded, Within, checked

__all__ = [
    "COMPACT",
    "FORMAT",
    "LARGEST",
    "Array",
    "Bounded",
    "Described",
    "ModelPart",
    "OtherModelError",
    "Within",
    "checked",
    "damaged",
    "load",
    "read",
    "read_digest",
    "read_kind",
    "save",
    "write",
]
