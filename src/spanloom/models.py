"""Models of every kind, loaded by one function, which imports what that kind needs and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple
from warnings import warn

from spanloom import modelfile
from spanloom.document import Mention
from spanloom.errors import DataWarning, ModelError, UsageError, meant, reason_of
from spanloom.extras import entry_points
from spanloom.files.walk import meant_path
from spanloom.formats.inputs import One
from spanloom.model.kinds import KINDS, class_of, kind_at
from spanloom.model.protocol import Model, Saved, explains
from spanloom.modelfile.folder import is_model

if TYPE_CHECKING:
    from spanloom.scoring.explanation import Explanation
    from spanloom.structures import Structure

__all__ = ["KINDS", "Installed", "Model", "Saved", "class_of", "explain", "installed", "load", "locate"]

_GROUP: Final = "spanloom.models"  # of entry points; each names a module with a FOLDER
_CATALOGUE: Final = "catalogue.json"
_NAME: Final = re.compile(r"\w[\w-]{0,63}")


class Installed(NamedTuple):
    """A model that was installed as a package.

    Args:
        name: that `load` takes.
        folder: where it is.
        package: that brought it.
        finds: what it finds.
        licence: under which it may be used.
        f1: on test data, 0 to 1.
        size: bytes.
    """

    name: str
    folder: Path
    package: str
    finds: str
    licence: str
    f1: float
    size: int


@dataclass(frozen=True)
class _Listed:
    """Fields of a model in a catalogue; other fields are ignored."""

    finds: str
    licence: str
    f1: Annotated[float, modelfile.Within(0, 1)]
    bytes: Annotated[int, modelfile.Within(0)]


def installed() -> dict[str, Installed]:
    """Return the models that were installed as packages, by name; of two of one name that of the first package.

    A package has an entry point of the group ``spanloom.models``, whose value is a module with a path ``FOLDER``. This
    folder contains ``catalogue.json``, which names and describes the models, and a folder for each model.

    Raises:
        ModelError: a package cannot be imported, or its catalogue cannot be read.
    """
    found: dict[str, Installed] = {}
    for entry in sorted(entry_points(_GROUP), key=lambda entry: entry.name):
        try:
            folder = Path(entry.load().FOLDER)
            listed = modelfile.checked(dict[str, _Listed], json.loads((folder / _CATALOGUE).read_bytes()))
        except (ImportError, AttributeError, TypeError, OSError, ValueError, ModelError) as error:
            raise ModelError(
                f"the installed models {entry.name} cannot be read: {reason_of(error)}; install them again"
            ) from None
        for name, card in listed.items():
            if not _NAME.fullmatch(name):
                raise ModelError(f"the catalogue of {entry.name} has the invalid model name {name!r}; install it again")
            one = Installed(name, folder / name, entry.name, card.finds, card.licence, card.f1, card.bytes)
            found.setdefault(name, one)
    return found


def locate(path: str | Path) -> str | Path:
    """Return a path, or the folder of the installed model of this name where there is no model at such a path.

    Of a path that is also the name of an installed model a `DataWarning` reports which is taken.

    Raises:
        ModelError: there is neither.
    """
    if not isinstance(path, str) or not _NAME.fullmatch(path):
        return path
    if Path(path).exists():
        return _here_or_installed(path)
    there = installed()
    if path in there:
        return there[path].folder
    none = "none is installed; in Spanloom's folder: pip install ./models ./models-sa ./models-zh"
    names = f"installed are {', '.join(there)}" if there else none
    close = meant(path, there) or meant_path(Path(path))
    what = "there is no such folder, and no installed model of this name"
    raise ModelError(f"{path}: no model here: {what}; {names}{close}")


def _here_or_installed(path: str) -> str | Path:
    """Return a path that exists, or the folder of the installed model of this name where it is no model."""
    try:
        one = installed().get(path)
    except ModelError:  # of models that are not requested
        one = None
    if one is None:
        return path
    if is_model(path):
        taken: str | Path = path
        warning = f"the model in this folder is taken, not the installed one of this name; that one is in {one.folder}"
    else:
        taken = one.folder
        warning = (
            f"the installed model of this name is taken, as what is called so here is no model; ./{path} names that"
        )
    warn(f"{path}: {warning}", DataWarning, stacklevel=4)
    return taken


def kind_of(path: str | Path) -> str:
    """Return the kind of model that `load` would load, without loading it.

    Raises:
        ModelError: as of `load`.
    """
    return kind_at(locate(path))


def load(
    path: str | Path, *, structure: Structure | str | None = None, encoder: str | Path | None = None,
    mapped: bool = False,
) -> Saved:  # fmt: skip
    """Load what was saved as a folder: a model of any kind, or the index of a vocabulary. Loading runs no code.

    Args:
        path: the folder; or the name of an installed model, such as ``"genia"``, where no model is at such a path.
        structure: of a recognizer with a structure from outside Spanloom: the file keeps its name and parameters only.
            A text or a value, as for `Recognizer`.
        encoder: the folder of the encoder that a model with adapters was trained with, where it is neither in the
            model's folder, nor where it was, nor in a folder that the environment variable SPANLOOM_ENCODERS names.
        mapped: leave weights in the file, so that processes that load the same model have them in memory once. The file
            must not be written over as long as the model is used; it may be deleted or replaced by another one, as
            `save` does, but on Windows, where it then cannot be.

    Raises:
        ModelError: the folder holds no model, or a damaged one, or one of another format, kind or structure.
        UsageError: ``structure`` is not a structure, or the model is not a recognizer.
    """
    path = locate(path)
    kind = kind_of(Path(path))
    if structure is not None and kind != "recognizer":
        raise UsageError(f"{path}: a model of kind {kind!r}, which takes no structure; leave it out")
    given = {} if structure is None else {"structure": resolve_name("spanloom.structures:structure_of")(structure)}
    model: Saved = modelfile.load(class_of(kind), path, encoder=encoder, mapped=mapped, **given)
    return model


def explain(model: Saved, X: One, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
    """Explain why a model finds mentions in a text, or does not; see `Recognizer.explain` and `Linker.explain`.

    Args:
        model: one that is capable of it, such as a recognizer, a linker or a segmenter.
        X: a text or a document, whose own mentions are not looked at.
        mentions: those to explain; what the model predicts when ``None``.

    Raises:
        UsageError: a model that explains nothing, or a mention that it cannot hold.
    """
    if not explains(model):
        expected = "a recognizer, a linker or a segmenter"
        raise UsageError(f"a {type(model).__name__} explains no mentions; give {expected}")
    return model.explain(X, mentions)
