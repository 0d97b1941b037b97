"""Recognize, then link: what the joint model is compared with (Lou et al. 2017, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, overload

from spanloom.document import Document
from spanloom.formats.inputs import Given, One, Several, answer
from spanloom.link.linker import Linker


class MentionFinder(Protocol):
    """Whatever finds mentions, such as a `Recognizer` or a `Linker`."""

    def stream(self, X: Given, /) -> Iterator[Document]:
        """Documents with mentions."""
        ...


class Pipeline:
    """Mentions by one model, their concepts by another.

    Args:
        recognizer: trained.
        linker: trained; it looks for no mentions of its own.
    """

    def __init__(self, recognizer: MentionFinder, linker: Linker) -> None:
        self.recognizer = recognizer
        self.linker = linker

    @overload
    def predict(self, X: One) -> Document: ...  # type: ignore[overload-overlap]

    @overload
    def predict(self, X: Several) -> list[Document]: ...

    def predict(self, X: Given) -> Document | list[Document]:
        """Recognize and link in a text or a document, which gives a document, or in several, which gives a list."""
        return answer(X, list(self.stream(X)))

    def stream(self, X: Given) -> Iterator[Document]:
        """Documents with the recognizer's mentions and the linker's concepts; lazily."""
        return self.linker.stream(self.recognizer.stream(X), mentions="given")
