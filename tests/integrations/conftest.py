"""A linker that is trained once, on a few notes with concepts."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from spanloom.data import clinical
from spanloom.formats import read
from spanloom.link import Linker
from spanloom.vocabulary import read_vocabulary


@pytest.fixture(scope="session")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a linker."""
    path = tmp_path_factory.mktemp("linker") / "linker"
    notes = list(islice(read(clinical() / "train"), 4))
    vocabulary = read_vocabulary(clinical() / "vocabulary.tsv")
    Linker("small", iterations=2, evidence=False).fit(notes[:3], dev=notes[3:], vocabulary=vocabulary).save(path)
    return path
