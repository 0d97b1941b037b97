"""Recognize, then link: what the joint model is compared with (Lou et al. 2017, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from spanloom.document import Document
from spanloom.link.linker import Linker


class Finds(Protocol):
    """Whatever finds mentions, such as a `Recognizer`, a `Cascade` or a `Linker`."""

    def predict(self, documents: Iterable[Document], /) -> Iterator[Document]:
        """Documents with mentions."""
        ...


class Pipeline:
    """Mentions by one model, their concepts by another.

    Args:
        recognizer: trained.
        linker: trained; it looks for no mentions of its own.
    """

    def __init__(self, recognizer: Finds, linker: Linker) -> None:
        self.recognizer = recognizer
        self.linker = linker

    def predict(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Documents with the recognizer's mentions and the linker's concepts; lazily."""
        return self.linker.predict(self.recognizer.predict(documents), mentions="given")
