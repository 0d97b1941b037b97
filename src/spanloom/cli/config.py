"""The options of training: from a TOML file, from the command line, checked as one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from spanloom.cli.options import ALL_CORES
from spanloom.cli.reading import Reading
from spanloom.document import Document
from spanloom.errors import DataError, UsageError, meant
from spanloom.files.walk import read_toml
from spanloom.model.fields import Whole, declared

# our name -> the estimator's, where they differ: a command line has jobs and a seed, scikit-learn has these
_PARAMETERS = {"jobs": "n_jobs", "seed": "random_state"}


# one path or several
Paths = Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]


class CommonOptions(BaseModel):
    """Options of training that all models share; ``None`` leaves the choice to the model."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    known: ClassVar[frozenset[str]] = frozenset()
    """Names of those options that are parameters of the model's class."""

    train: Paths
    output: str
    dev: Paths | None = None
    input_format: str | None = None
    columns: str | None = None
    on_error: str | None = None
    seed: int | None = None
    jobs: int | None = Field(default=None, ge=1)
    force: bool = False
    quiet: bool = False

    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of the model's class, those that were given; all cores by default."""
        given: dict[str, Any] = {"jobs": ALL_CORES, **self.model_dump(include=set(self.known), exclude_none=True)}
        return {_PARAMETERS.get(name, name): value for name, value in given.items()}

    def training(self, reading: Reading) -> Iterator[Document]:
        """Read the training data."""
        return reading.for_training(self.train)

    def beside_data(self) -> dict[str, Any]:
        """Return the arguments of the model's `fit` besides the data."""
        return self.model_dump(include=set(type(self).model_fields) - self.known - set(CommonOptions.model_fields))


class FolderOptions(CommonOptions):
    """Options of models that train with a folder, besides parameters."""

    work: str | None = None
    executor: str = "threads"


class RecognizerOptions(FolderOptions):
    """Options of `train recognizer`, besides parameters."""

    annotators: bool = Field(default=False, exclude=True)

    def training(self, reading: Reading) -> Iterator[Document]:
        """As of `CommonOptions`; with the names of annotators, where files are those of several."""
        return reading.by_annotators(self.train) if self.annotators else super().training(reading)


Kind = TypeVar("Kind", bound=CommonOptions)


def options_of(parameters: type, base: type[Kind]) -> type[Kind]:
    """Return the class of all options of a training: those of ``base``, and the parameters of a model.

    Args:
        parameters: the dataclass that declares them; ``None`` leaves the choice to the model.
        base: what else was asked for.
    """
    option = {name: option for option, name in _PARAMETERS.items()}
    types: dict[str, Any] = {}
    for name, one, _ in declared(parameters):
        kind = one.toml or one.type  # in a configuration file
        types[option.get(name, name)] = Annotated[kind, Field(ge=one.least)] if isinstance(one, Whole) else kind
    more: dict[str, Any] = {name: (kind | None, None) for name, kind in types.items() if name not in base.model_fields}
    found = create_model(parameters.__name__, __base__=base, **more)
    found.known = frozenset(types)
    return found


def checked(kind: type[Kind], flags: dict[str, Any], config: str | None) -> Kind:
    """The flags over the file.

    Args:
        kind: which options there are.
        flags: from the command line; ``None`` or an empty list was not given.
        config: a TOML file with the same names; hyphens may stand for underscores.

    Raises:
        UsageError: a file that is not TOML, an unknown key, a value that is not valid, or no training data or output.
    """
    given = {name: value for name, value in flags.items() if value is not None and value != []}
    if isinstance(given.get("l2"), list) and len(given["l2"]) == 1:
        given["l2"] = given["l2"][0]
    if str(given.get("clusters", "")).isdecimal():
        given["clusters"] = int(given["clusters"])
    try:
        read = read_toml(config, "options", "lines such as l2 = 0.1") if config else {}
        return kind(**{**{name.replace("-", "_"): value for name, value in read.items()}, **given})
    except DataError as error:
        raise UsageError(f"--config {error}") from None
    except ValidationError as error:
        raise UsageError(_one_line(error, config, kind)) from None


def named_path(option: str, text: str, expected: str) -> tuple[str, str]:
    """Return the two parts of a value such as ``LABEL=FILE``.

    Raises:
        UsageError: one is missing.
    """
    name, _, path = text.partition("=")
    if not name or not path:
        raise UsageError(f"{option}: found {text!r}, expected {expected}")
    return name, path


def _one_line(error: ValidationError, config: str | None, kind: type[CommonOptions]) -> str:
    problems = error.errors()
    # a misspelt key explains a missing one, so it is reported first
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    key = str(problem["loc"][0])
    if problem["type"] == "extra_forbidden":
        known = ", ".join(kind.model_fields)
        return f"--config {config}: unknown key {key!r}; the keys are {known}{meant(key, kind.model_fields)}"
    if problem["type"] == "missing":
        return f"--{key} is missing; give it on the command line or in a --config file"
    place = f"--config {config}: {key}" if config else f"--{key}"
    return f"{place}: found {problem['input']!r}; {problem['msg'][:1].lower()}{problem['msg'][1:]}"
