"""The bundled corpus, and one recognizer trained on it; tests share them and change neither."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from spanloom.data import clinical
from spanloom.document import Document
from spanloom.formats import read
from spanloom.recognize import Recognizer

TEMPLATES = ["bias", "low[-1..1]", "suffix(2..3)"]


class Notes(NamedTuple):
    train: list[Document]
    dev: list[Document]
    test: list[Document]


@pytest.fixture(scope="session")
def notes() -> Notes:
    return Notes(*(list(read(clinical() / part)) for part in ("train", "dev", "test")))


@pytest.fixture(scope="session")
def trained(notes: Notes) -> Recognizer:
    return Recognizer(features=TEMPLATES, rate=0.3, l2=0.1, epochs=3).fit(notes.train, dev=notes.dev)
