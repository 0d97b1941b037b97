"""`spanloom` without a verb: what the current folder holds, and commands for it."""

from __future__ import annotations

import os
import shlex
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from spanloom.errors import SpanloomError
from spanloom.formats import FORMATS, Format, read
from spanloom.modelfile.folder import is_model
from spanloom.models import installed
from spanloom.view.cells import aligned

_ENTRIES: Final = (100, 10, 10)  # of the folder that are looked at, of each folder in it, of each in these
_DEPTH: Final = 2  # of folders in it
_OPENED: Final = 20_000_000  # bytes of all files that are opened, as some formats read them whole
_DOCUMENTS: Final = 5  # of a file that are read
_CERTAIN: Final = ("jsonl", "brat", "i2b2", "conll", "conllu", "pubtator", "bioc", "xmi", "webanno", "spacy")
_HELD: Final = ("model", "annotated", "text", "annotation store", "not readable")
_NOTE: Final = "echo 'No chest pain or dyspnea.' |"


Found = defaultdict[str, list[str]]
"""The paths that Spanloom can use, by what they hold: one of `_HELD`."""


def run() -> None:
    """Print what is here, and the commands to try next."""
    try:
        found = found_in(Path())
    except OSError:  # the folder cannot be read
        found = Found(list)
    print("Spanloom recognizes mentions that nest, overlap, cross or skip words, with exact probabilities.\n")
    here = ((what, found[what]) for what in _HELD if found[what])
    rows = [(f"{what}:", ", ".join(paths[:4]) + ", ..." * (len(paths) > 4)) for what, paths in here]
    if rows:
        print("In this folder:", *(f"  {line}" for line in aligned(rows)), "", sep="\n")
    print("Try next:", *(f"  {line}" for line in aligned([*suggested(found, list(installed()))])), "", sep="\n")
    print("All commands: spanloom --help", flush=True)


def suggested(found: Found, ready: list[str]) -> Iterator[tuple[str, str]]:
    """Yield commands, each with its result.

    Args:
        found: what the folder holds.
        ready: names of installed models.
    """
    for path in found["not readable"][:1]:
        yield f"spanloom validate {_quoted(path)}", "list problems with file and line"
    train, dev, test = (_parts(found["annotated"], part) for part in ("train", "dev", "test"))
    text = _quoted(found["text"][0]) if found["text"] else ""
    if found["model"]:
        model = _quoted(found["model"][0])
        yield f"spanloom predict {model} {text}" if text else f"{_NOTE} spanloom predict {model} -", "find mentions"
        for path in (*test, *dev)[:1]:
            yield f"spanloom evaluate {_quoted(path)} --model {model}", "precision, recall and F1"
        yield f"spanloom inspect {model}", "structure, types, size"
        yield f"spanloom serve {model}", "a web page and an HTTP API"
    elif train:
        given = f"--train {_quoted(train[0])}" + "".join(
            f" --dev {_quoted(path)}" for path in dev[:1] if path not in train
        )
        yield f"spanloom validate {_quoted(train[0])}", "list problems, count mentions"
        yield f"spanloom train recognizer {given} --output model", "train a model"
        yield f"spanloom view {_quoted(train[0])} --limit 1", "draw the first document"
    for path in found["annotation store"][:1]:
        yield f"spanloom annotate {_quoted(path)}", "annotate in the browser"
        yield f"spanloom annotate {_quoted(path)} --export annotated.jsonl", "write the annotations"
    if text and not found["model"]:
        if ready:
            yield f"spanloom predict {ready[0]} {text}", "find mentions; others: spanloom models"
        yield f"spanloom annotate {text} --output annotations.store", "annotate in the browser"
    if not any(found.values()):
        yield "spanloom demo", "train on bundled notes, and annotate a new one"
        if ready:
            yield f"{_NOTE} spanloom predict {ready[0]} -", "use a ready model; others: spanloom models"
        else:
            yield "spanloom models", "ready models"


def found_in(folder: Path) -> Found:
    """Return what a folder holds, and the folders in it and in these.

    Hidden ones are left out, as are names that a terminal would not print as they are.
    """
    found, left = Found(list), _OPENED
    for path, kind in _look(folder, 0):
        size = path.stat().st_size if path.is_file() else 0
        opens = kind not in ("model", "store", "text") and size <= left
        left -= size if opens else 0
        if (held := _held(path, kind, opens)) is not None:
            found[held].append(str(path))
    return found


def _look(folder: Path, depth: int) -> Iterator[tuple[Path, str]]:
    """Yield the models and the data in a folder and in the folders in it, with their formats."""
    if is_model(folder):
        yield folder, "model"
        return
    with os.scandir(folder) as entries:
        every = [one.name for one in islice(entries, _ENTRIES[depth])]
    names = sorted(name for name in every if not name.startswith(".") and name.isprintable())
    kinds = dict[Path, Format]()
    for path in map(folder.joinpath, names):
        with suppress(OSError, SpanloomError):  # what cannot be opened is left out
            if path.is_file():
                kind = next((one for one in FORMATS.values() if path.suffix != ".py" and one.knows(path)), None)
                kinds |= {} if kind is None else {path: kind}
            elif path.is_dir() and not path.is_symlink() and depth < _DEPTH:
                yield from _look(path, depth + 1)
    if whole := next((kind.name for kind in kinds.values() if kind.folders), None):
        yield folder, whole
        return
    yield from ((path, kind.name) for path, kind in kinds.items())


def _held(path: Path, kind: str, opens: bool) -> str | None:
    """Return what a file or folder holds: by its first documents, or by its format if it is not opened."""
    if not opens:
        return {"model": "model", "store": "annotation store", "text": "text"}.get(kind, "annotated")
    try:
        with warnings.catch_warnings(action="ignore"):  # `validate`, which is suggested, lists them
            mentions = [one.mentions for one in islice(read(path, kind), _DOCUMENTS)]
    except SpanloomError:
        return "not readable" if kind in _CERTAIN else None  # of the others any file may have the name
    return "annotated" if any(mentions) else "text"


def _parts(paths: list[str], part: str) -> list[str]:
    """Return the paths that are named as a part of annotated data; for training any that are no other part.

    >>> _parts(["notes/dev", "notes/train"], "train"), _parts(["notes/dev"], "train"), _parts(["a.jsonl"], "dev")
    (['notes/train'], ['notes/dev'], [])
    """
    named = [path for path in paths if Path(path).name.lower().startswith(part)]
    if part != "train" or named:
        return named
    return [path for path in paths if not Path(path).name.lower().startswith(("dev", "test"))] or paths


def _quoted(path: str) -> str:
    """Return a path as a shell and the command line read it."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)
