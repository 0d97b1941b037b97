"""Model files: one folder with ``model.json`` and ``weights.safetensors``. Loading runs no code.

A model file is a `ModelPart`, and so is each component of a model. A class that is saved has ``to_part`` and
``from_part`` for its own data; `save` and `load` do the rest, and refuse the same damage for every kind: a file that
is missing, cut off or changed, a newer format, numbers that are not finite.
"""

from spanloom.modelfile.folder import FORMAT as FORMAT
from spanloom.modelfile.folder import load as load
from spanloom.modelfile.folder import read as read
from spanloom.modelfile.folder import read_digest as read_digest
from spanloom.modelfile.folder import read_kind as read_kind
from spanloom.modelfile.folder import save as save
from spanloom.modelfile.folder import write as write
from spanloom.modelfile.part import COMPACT as COMPACT
from spanloom.modelfile.part import Array as Array
from spanloom.modelfile.part import Described as Described
from spanloom.modelfile.part import ModelPart as ModelPart
from spanloom.modelfile.part import OtherModelError as OtherModelError
from spanloom.modelfile.part import damaged as damaged
from spanloom.modelfile.values import LARGEST as LARGEST
from spanloom.modelfile.values import Bounded as Bounded
from spanloom.modelfile.values import Within as Within
from spanloom.modelfile.values import checked as checked
