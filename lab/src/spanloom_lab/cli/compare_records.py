"""Records of `compare`: for each model a folder with the model, its predictions and a record, written as one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spanloom import __version__
from spanloom.cli.config import CommonOptions, Paths
from spanloom.cli.reading import column_options
from spanloom.cli.train import MODEL_FILES
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.files.walk import read_plain
from spanloom.formats import read, to_record

PREDICTIONS, RECORD = "predictions.jsonl", "record.json"
_LARGEST = 1 << 26  # bytes of a record
FILES = MODEL_FILES | {PREDICTIONS, RECORD}
TABLES = ("table.txt", "table.md", "table.json")
_RESOURCES = ("clusters", "sections", "vocabulary", "vectors", "pos")  # options that may name files or folders

GRID = (0.1, 1.0, 5.0)  # lambdas that a comparison chooses from, by default


class CompareOptions(CommonOptions):
    """Options of `compare`, besides parameters of recognizers; without ``l2`` the grid is `GRID`."""

    structure: list[str] = Field(min_length=1)
    test: Paths | None = None
    heads: bool = False
    features: str | list[str] | None = None
    components: int | None = Field(default=None, ge=1)
    counting: str | None = None
    l2: float | list[float] = Field(default_factory=lambda: list(GRID))


class Figures(Protocol):
    """Fields common to rows as they are measured and rows as they are kept."""

    @property
    def tuned(self) -> bool:
        """True for a row with the mention penalty."""

    @property
    def dev_f1(self) -> float:
        """On development data, 0 to 1."""


class _Strict(BaseModel):
    # what is not named here is kept: it goes into the table for programs
    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, frozen=True)


class RowIntervals(_Strict):
    """Ends of 95 % intervals."""

    f1: list[float] = Field(min_length=2, max_length=2)


class Overall(_Strict):
    """The measures of all test mentions."""

    precision: float
    recall: float
    f1: float
    intervals: RowIntervals | None


class Test(_Strict):
    """An evaluation."""

    overall: Overall


class Row(_Strict):
    """A model on test data: what `spanloom_lab.comparison.VariantRow.to_dict` gives, and more."""

    name: str
    heads: str
    structure: str
    counting: str
    tuned: bool
    penalty: float | None
    l2: float | None = Field(alias="lambda")
    steps: int
    dev_f1: float
    seconds: float
    tokens_per_second: float
    peak_memory: int | None
    features: int
    rows: int
    weights: int
    lost: int
    test: Test


class VariantRecord(_Strict):
    """Record in a model's folder, beside the model.

    Args:
        settings: everything that its rows depend on, as `settings_of` gives it.
        rows: untuned, and tuned; where heads count, once for each way to find them.
    """

    settings: dict[str, Any]
    rows: list[Row] = Field(min_length=1)


def best_on_dev(rows: Sequence[Figures]) -> int:
    """Of a model's rows the one whose predictions are kept: the best on development data, tuned if there is such."""
    return max(range(len(rows)), key=lambda i: (rows[i].tuned, rows[i].dev_f1, -i))


def settings_of(options: CompareOptions, data: Mapping[str, str], params: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that a model's rows depend on: options, data, files that options name, and the version.

    Args:
        options: of the verb.
        data: part -> digest.
        params: of the model, all of them.
    """
    given = {**params, **data, "heads": options.heads, "version": __version__}
    for name in _RESOURCES:
        value = getattr(options, name)
        if isinstance(value, str):
            given[name] = file_digest(name, value)
    plain: dict[str, Any] = json.loads(json.dumps(given, sort_keys=True))
    return plain


def digests(options: CompareOptions) -> dict[str, str]:
    """Return a digest of each part of the data, or of what replaces it.

    The digest is of the documents as they are read, so every problem of the data is reported before any training.

    Raises:
        DataError: the first problem, with file and line.
        UsageError: data that cannot be read twice.
    """
    found = {"dev data": "a tenth of the training data", "test data": "the development data"}
    for part in ("train", "dev", "test"):
        path = getattr(options, part)
        if path is not None and "-" in path:
            raise UsageError(f"--{part} is standard input, but each model reads the data again; give a file or folder")
        if path is not None:
            documents = read(path, format=options.input_format, **column_options(options.columns))
            found[f"{'training' if part == 'train' else part} data"] = digest_of(documents)
    return found


def digest_of(documents: Iterable[Document]) -> str:
    """Return the SHA-256 of documents as records, one a line."""
    whole = hashlib.sha256()
    for document in documents:
        whole.update(json.dumps(to_record(document), sort_keys=True).encode() + b"\n")
    return whole.hexdigest()


def file_digest(option: str, path: str) -> str:
    """Of a file, or of all files of a folder, such as a model's."""
    place = Path(path)
    try:
        files = sorted(file for file in place.iterdir() if file.is_file()) if place.is_dir() else [place]
        digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    except OSError as error:
        raise UsageError(f"--{option} {path}: cannot be read: {error.strerror}") from None
    return " ".join(digests)


def kept(folder: Path, settings: Mapping[str, Any]) -> VariantRecord | str | None:
    """Return the record of a model trained with these settings, the reason why it cannot be used, or ``None``.

    Args:
        folder: of the model.
        settings: the settings, from `settings_of`.
    """
    if not folder.exists():
        return None
    try:
        record = VariantRecord.model_validate_json(read_plain(folder / RECORD, _LARGEST))
    except (OSError, ValidationError):
        return f"{RECORD} is missing or damaged"
    if missing := sorted(name for name in FILES if not (folder / name).is_file()):
        return f"{missing[0]} is missing"
    old = record.settings
    if changed := sorted(name for name in {*old, *settings} if old.get(name) != settings.get(name)):
        return f"it is of other options or data ({', '.join(changed)})"
    return record


def check_folder(path: str) -> Path:
    """The output folder, which may be missing, be empty, or hold what an earlier comparison left.

    Raises:
        UsageError: it is something else.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{path} is a file; name a folder")
    if not folder.exists() and not folder.absolute().parent.is_dir():
        raise UsageError(f"the folder {folder.parent} for {folder.name} does not exist; make it first")
    for entry in sorted(folder.iterdir()) if folder.is_dir() else []:
        if entry.is_dir():
            ours = (entry / RECORD).is_file() or {file.name for file in entry.iterdir()} <= FILES
        else:
            ours = entry.name in TABLES
        if not ours and not entry.name.startswith("."):
            raise UsageError(f"{path} holds {entry.name}, which no comparison wrote; name another folder")
    return folder
