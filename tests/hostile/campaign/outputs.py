"""What writes: the verbs with their outputs, their data, and what is whole.

Every verb is run twice at first, on old and on new data. After anything that happens to a run on the new data, where
the old output stands already or where nothing does, exactly what was there before or exactly the new output may be
there.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple

import typer.main

from spanloom.cli import main
from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document, Mention
from spanloom.errors import SpanloomError
from spanloom.files.staging import is_part, recover
from spanloom.formats import FORMATS, read, write
from spanloom.models import load
from spanloom.text import prepare

typer.main.get_command = cache(typer.main.get_command)  # which takes longer than most runs

Tree = Mapping[str, bytes]
"""The files of a folder by their relative paths; a folder's own path ends in a slash."""

_DISEASES = ("chest pain", "migraine", "headaches", "knee fracture")
_FRAMES = ("Severe {} was seen.", "No {} today.", "She has {} since May.", "History of {} and fever.")
_SMALL = ("--features", "small", "--epochs", "1", "--jobs", "1", "--seed", "0", "--quiet", "--force")
_QUICK = ("--force", "--quiet")


class Output(NamedTuple):
    """A verb and what it writes.

    Args:
        name: shown in the record.
        line: the command line; ``{data}`` is the folder of the data, ``{out}`` the output.
        out: name of the output.
        beside: names of other files that belong to it.
        folder: whether it is a folder.
    """

    name: str
    line: tuple[str, ...]
    out: str
    beside: tuple[str, ...] = ()
    folder: bool = False


def converted() -> Iterator[Output]:
    """``convert`` to every format."""
    for kind in FORMATS.values():
        name, suffix = kind.name, kind.suffixes[0]
        if kind.write is None:
            continue
        one = "one" if name in ("text", "xmi", "brat") else "notes"
        beside = {"brat": ("out.txt",), "xmi": ("out.TypeSystem.xml",)}.get(name, ())
        line = ("convert", f"{{data}}/{one}.jsonl", "{out}", "--format", name, *_QUICK)
        yield Output(f"convert, {name}", line, f"out{suffix}", beside)
        if name in ("brat", "xmi"):
            line = ("convert", "{data}/few.jsonl", "{out}", "--format", name, *_QUICK)
            yield Output(f"convert, {name} folder", line, "out", folder=True)


QUICK = (
    *converted(),
    Output("heads", ("heads", "last", "{data}/notes.jsonl", "-o", "{out}", *_QUICK), "out.jsonl"),
    Output("view, html", ("view", "{data}/notes.jsonl", "-o", "{out}", "--force"), "out.html"),
    Output("view, svg", ("view", "{data}/notes.jsonl", "-o", "{out}", "--force"), "out.svg"),
    Output("vocabulary", ("vocabulary", "{data}/vocabulary.tsv", "-o", "{out}", *_QUICK), "out", folder=True),
    Output(
        "lab language-model", ("lab", "language-model", "--train", "{data}/notes.jsonl", "-o", "{out}", *_QUICK),
        "out", folder=True,
    ),
    Output(
        "lab language-model, arpa",
        ("lab", "language-model", "--train", "{data}/notes.jsonl", "-o", "{out}", *_QUICK), "out.arpa.gz",
    ),
)  # fmt: skip
"""Verbs that take no time."""

_DATA = ("--train", "{data}/notes.jsonl", "--dev", "{data}/notes.jsonl", "-o", "{out}")
_TAGGER = tuple(part for part in _SMALL if part not in ("--features", "small"))
_LINKER = ("--features", "small", "--iterations", "1", "--folds", "2", "--jobs", "1", *_QUICK)
_CLEAN = ("--folds", "2", "--least", "0.0")
_CHINESE = ("--train", "{data}/chinese.jsonl", "--dev", "{data}/chinese.jsonl", "-o", "{out}", "--epochs", "1")
MODELS = (
    Output("train recognizer", ("train", "recognizer", *_DATA, *_SMALL), "out", folder=True),
    Output("lab cascade", ("lab", "cascade", *_DATA, *_SMALL), "out", folder=True),
    Output("train tagger", ("train", "tagger", *_DATA, *_TAGGER), "out", folder=True),
    Output("train segmenter", ("train", "segmenter", *_CHINESE, "--jobs", "1", *_QUICK), "out", folder=True),
    Output(
        "train linker", ("train", "linker", "--vocabulary", "{data}/vocabulary.tsv", *_DATA, *_LINKER), "out",
        folder=True,
    ),
    Output("predict", ("predict", "{data}/model", "{data}/notes.jsonl", "-o", "{out}", *_QUICK), "out.jsonl"),
    Output(
        "predict, brat folder",
        ("predict", "{data}/model", "{data}/notes.jsonl", "-o", "{out}", "--format", "brat", *_QUICK), "out",
        folder=True,
    ),
    Output(
        "evaluate --html",
        ("evaluate", "{data}/notes.jsonl", "--model", "{data}/model", "--html", "{out}", *_QUICK), "out.html",
    ),
    Output(
        "teach", ("teach", "{data}/model", "{data}/notes.jsonl", "--dev", "{data}/notes.jsonl", "-o", "{out}", *_SMALL),
        "out", folder=True,
    ),
    Output("clean", ("clean", "{data}/notes.jsonl", *_CLEAN, "-o", "{out}", *_SMALL), "out.jsonl"),
    Output("clean --html", ("clean", "{data}/notes.jsonl", *_CLEAN, "--html", "{out}", *_SMALL), "out.html"),
)  # fmt: skip
"""Verbs that train, or need a model."""


def make_data(folder: Path, models: bool) -> None:
    """Two folders of data, ``old`` and ``new``.

    Args:
        folder: where they go.
        models: with a model in each.
    """
    chinese = list(read(chinese_clinical() / "dev.jsonl"))
    for part, first in (("old", 0), ("new", 1)):
        here = folder / part
        here.mkdir()
        notes = [_note(n, n + first) for n in range(8)]
        write(notes, here / "notes.jsonl")
        write(notes[:1], here / "one.jsonl")
        write(notes[:3], here / "few.jsonl")
        write(chinese[first : first + 2], here / "chinese.jsonl")
        lines = (clinical() / "vocabulary.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
        mine = [f"X:{i}\t{name}\t\t\t\n" for i, name in enumerate(_DISEASES)]
        (here / "vocabulary.tsv").write_text("".join([lines[0], *lines[1 + first : 40], *mine]), encoding="utf-8")
        if models:
            code, said = run_here(_filled(MODELS[0], here, here / "model"))
            assert code == 0, said


def _note(number: int, choice: int) -> Document:
    name = _DISEASES[choice % 4]
    text = _FRAMES[choice // 2 % 4].format(name)
    start = text.index(name)
    mentions = [Mention("disease", [(start, start + len(name))], concepts=(f"X:{choice % 4}",))]
    note = prepare(Document(text, f"n{number}", mentions=mentions))
    return note.copy(columns={"pos": [word[-2:].upper() for word in note.words]})


@dataclass
class Prepared:
    """An output with its data, and both of its states.

    Args:
        output: which.
        data: the folder of `make_data`.
        states: ``old`` and ``new`` -> a folder that holds that state.
        trees: the same, as they are compared; ``none`` is empty.
    """

    output: Output
    data: Path
    states: dict[str, Path]
    trees: dict[str, Tree]

    @classmethod
    def make(cls, output: Output, data: Path, folder: Path) -> Prepared:
        """Run the verb on both, in this process, which has then loaded all that it needs."""
        folder.mkdir()
        states = {}
        for part in ("old", "new"):
            states[part] = folder / part
            states[part].mkdir()
            code, said = run_here(_filled(output, data / part, states[part] / output.out))
            assert code == 0, f"{output.name}: {said}"
        trees: dict[str, Tree] = {part: tree(state) for part, state in states.items()}
        assert trees["old"] != trees["new"], output.name
        return cls(output, data, states, trees | {"none": {}})

    def start(self, place: Path, before: str) -> None:
        """Make a folder in which the verb will be run, with what stood there before: ``old`` or ``none``."""
        shutil.rmtree(place, ignore_errors=True)
        if before == "none":
            place.mkdir()
        else:
            shutil.copytree(self.states[before], place)

    def command(self, place: Path) -> list[str]:
        """The command line that makes the new output of the old one."""
        return _filled(self.output, self.data / "new", place / self.output.out)

    def read(self, place: Path) -> None:
        """Read what is there, as a user does; what is not there is no error."""
        path = place / self.output.out
        with suppress(SpanloomError):
            if self.output.name.startswith(("train", "vocabulary")):
                load(path)
            elif not self.output.name.startswith(("view", "evaluate")):
                list(read(path))

    def recover(self, place: Path) -> None:
        """Do what the next write of the same output does first."""
        recover(place / self.output.out, *(place / name for name in self.output.beside))

    def state(self, place: Path) -> str:
        """``old``, ``new``, ``none``, or ``torn``; staging folders are not looked at."""
        found = {name: data for name, data in tree(place).items() if not is_part(name)}
        return next((name for name, wanted in self.trees.items() if wanted == found), "torn")


def leftovers(place: Path) -> list[str]:
    """The staging folders in a place."""
    return sorted(str(path.relative_to(place)) for path in place.rglob("*") if is_part(path.name))


def tree(folder: Path) -> Tree:
    """What is in a folder."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        found.update({f"{name}/": b""} if path.is_dir() else {name: path.read_bytes()})
    return found


def _filled(output: Output, data: Path, out: Path) -> list[str]:
    return [part.replace("{data}", str(data)).replace("{out}", str(out)) for part in output.line]


def run_here(line: list[str]) -> tuple[int, str]:
    """Run a command line in this process: its exit code, and what it said on standard error."""
    before = sys.stdin, sys.stdout, sys.stderr
    said = TextIOWrapper(BytesIO(), encoding="utf-8")
    sys.stdin, sys.stdout, sys.stderr = (TextIOWrapper(BytesIO()), TextIOWrapper(BytesIO()), said)
    try:
        code = _run(line)
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    said.flush()
    return code, said.buffer.getvalue().decode()  # type: ignore[attr-defined]


_SENT = (signal.SIGINT, signal.SIGTERM)


def start(line: list[str], said: Path, before: Callable[[], None] = lambda: None) -> int:
    """Start a command line in a fork of this process; its number.

    Args:
        line: the command line.
        said: a file for what it says on standard error.
        before: called in the fork, when all is set up.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SENT)  # until the fork is set up
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return child
    code = 70
    try:
        null = os.open(os.devnull, os.O_RDWR)
        handles = null, null, os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for i, handle in enumerate(handles):
            os.dup2(handle, i)
        sys.stdin, sys.stdout, sys.stderr = (open(i, mode) for i, mode in enumerate("rww"))  # noqa: PTH123, SIM115
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        before()
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        except KeyboardInterrupt:  # before the verb began
            os._exit(130)
        code = _run(line)
    except BaseException:
        traceback.print_exc()
    finally:
        while True:  # a signal that comes even now must not lead this process into its parent's work
            try:
                sys.stderr.flush()
                os._exit(code)
            except BaseException:
                continue


def ended(child: int) -> int:
    """Wait for it; the exit code, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run(line: list[str]) -> int:
    try:
        main(line)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
