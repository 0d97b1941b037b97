"""A tiny encoder and notes to train it on."""

from __future__ import annotations

from pathlib import Path

import pytest
from encoder_helpers import write_encoder

from spanloom import Document, Mention


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="session")
def notes() -> list[Document]:
    """Notes in which every word of a pair is a mention, and the pair is one too."""
    texts = ("no chest pain .", "chest pain today", "she has no pain", "the pain is gone", "chest clear")
    found = []
    for number in range(30):
        text = texts[number % len(texts)]
        mentions = [
            Mention(kind, [(at, at + len(word))])
            for kind, word in (("site", "chest"), ("problem", "pain"), ("problem", "chest pain"))
            if (at := text.find(word)) >= 0
        ]
        found.append(Document(text, id=str(number), mentions=mentions))
    return found
