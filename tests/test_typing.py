"""What type checkers see of the public names: types, literals and errors in a script of a user's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from spanloom.document.annotation import STATUSES
from spanloom.features import PRESETS
from spanloom.hypergraph import ENGINES
from spanloom.model import choices
from spanloom.segment import METHODS, SETS
from spanloom.structures import READINGS, STRUCTURES
from spanloom.vocabulary.candidates import METHODS as SEARCHES

ROOT = Path(__file__).parents[1]
SCRIPT = """\
from collections.abc import Iterator

from spanloom import Document, Linker, Mention, Recognizer, Segmenter, load, read

recognizer = Recognizer(structure="shared", features="small", l2=[0.1, 1.0])
reveal_type(recognizer)
notes = [Document("no chest pain", tokens=[(0, 2), (3, 8), (9, 13)], mentions=[Mention("problem", [(3, 13)])])]
reveal_type(recognizer.fit(notes, dev=notes))
recognizer.fit(["no chest pain"], [[("problem", 3, 13)]], dev=(["no chest pain"], [[("problem", 3, 13)]]))
reveal_type(recognizer.predict("no chest pain"))
reveal_type(recognizer.predict(notes[0], threshold=0.5))
reveal_type(recognizer.predict(["no chest pain"]))
reveal_type(recognizer.predict(read("notes")))
reveal_type(recognizer.stream(notes))
reveal_type(recognizer.marginals(notes[0]))
reveal_type(recognizer.marginals(notes))
reveal_type(Segmenter().predict("无疼痛").words)
reveal_type(Linker().predict(["pain"], mentions="given"))
reveal_type(recognizer.predict("no chest pain").mentions[0].score)
"""
REVEALED = """\
spanloom.recognize.recognizer.Recognizer
spanloom.recognize.recognizer.Recognizer
spanloom.document.document.Document
spanloom.document.document.Document
list[spanloom.document.document.Document]
list[spanloom.document.document.Document]
Iterator[spanloom.document.document.Document]
list[float]
list[list[float]]
list[str]
list[spanloom.document.document.Document]
float | None
"""
KINDS = """\
from gazetteer import Gazetteer

from spanloom import Linker, Recognizer, Segmenter
from spanloom_lab import Cascade
from spanloom_lab.lm.language_model import LanguageModel
from spanloom.models import Model, Saved
from spanloom.tag.pos_tagger import PosTagger
from spanloom.vocabulary import Vocabulary


def models() -> list[Model]:
    return [Recognizer(), Cascade(), Linker(), Segmenter(), PosTagger(), Gazetteer()]


def saved(language: LanguageModel, vocabulary: Vocabulary) -> list[Saved]:
    return [*models(), language, vocabulary]


def wrong(language: LanguageModel) -> Model:
    return language
"""
WRONG = """\
from spanloom import Document, Mention, Recognizer, Recogniser

Recognizer(structure="seperators")
Recognizer().predict("no chest pain").mention
Recognizer().fit(["no chest pain"], epochs=3)
Mention("problem", "0-3")
"""


def checked(folder: Path, code: str) -> list[str]:
    """Return what mypy prints, with the cache of its runs on the package, which has the same settings."""
    (folder / "script.py").write_text(code, encoding="utf-8")
    command = [
        *(sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", "--no-pretty"),
        *("--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"), "script.py"),
    ]
    sources = os.pathsep.join([str(ROOT / "src"), str(ROOT / "lab" / "src")])
    done = subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", env={**os.environ, "MYPYPATH": sources}
    )
    assert not done.stderr
    return done.stdout.splitlines()


def test_a_script_is_checked_against_our_types(tmp_path: Path) -> None:
    lines = checked(tmp_path, SCRIPT)
    assert not [line for line in lines if "error:" in line]
    found = [line.split('"')[1] for line in lines]
    short = [kind.replace("builtins.", "").replace("typing.", "").replace("collections.abc.", "") for kind in found]
    assert short == REVEALED.splitlines()


def test_every_kind_is_a_model_and_so_is_one_from_outside(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "model" / "gazetteer.py", tmp_path)
    [error] = [line for line in checked(tmp_path, KINDS) if "error:" in line]
    assert KINDS.splitlines()[int(error.split(":")[1]) - 1] == "    return language"


def test_mistakes_are_found(tmp_path: Path) -> None:
    errors = [line for line in checked(tmp_path, WRONG) if "error:" in line]
    assert [int(line.split(":")[1]) for line in errors] == [1, 3, 4, 5, 6]
    assert '"Recogniser"' in errors[0]
    assert "'separators'" in errors[1]


@pytest.mark.parametrize(
    ("names", "known"),
    [
        (choices.StructureName, STRUCTURES),
        (choices.Preset, PRESETS),
        (choices.Counting, ENGINES),
        (choices.Completeness, STATUSES),
        (choices.Reading, READINGS),
        (choices.SearchMethod, SEARCHES),
        (choices.SegmentMethod, METHODS),
        (choices.CharacterSet, SETS),
    ],
)
def test_literals_are_the_names_that_there_are(names: object, known: object) -> None:
    assert sorted(get_args(names)) == sorted(known)  # type: ignore[call-overload]
