"""Answers of language models, aligned with the texts that they are about.

A model that was asked to mark mentions answers with JSON, with the text again and tags in it, or with a list, seldom
with offsets, and never with offsets that can be believed. Here its quotes are found in the text: as they are written,
else folded; whole words before parts of words. What stands in the text more than once, or not at all, is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from spanloom.document import Document
from spanloom.document.annotation import SAYS
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError, clip, plural
from spanloom.formats.answers.finding import Finder
from spanloom.formats.answers.placing import AMBIGUOUS, Ambiguous, Placer
from spanloom.formats.answers.reading import Answer, answers_of, read_answers
from spanloom.formats.answers.report import AnswerReport
from spanloom.formats.answers.shapes import understand

__all__ = ["ANNOTATION", "AnswerReport", "AnswerSettings", "align_answers", "from_answers"]

_NAMES: Final = 3  # of documents in a message
ANNOTATION: Final = SAYS
"""What ``meta["annotation"]`` may say of mentions: all are there; these are right, others may be missing; nothing."""


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How answers are read.

    Args:
        type: the type of mentions that have none, as after ``**..**``.
        ambiguous: which occurrences are marked of a quote that stands in the document more often than the answer gives
            it: ``all``, the ``first`` (as many as the answer gives), or ``none``.
        annotation: what is written as ``meta["annotation"]``.

    Raises:
        UsageError: a value that is invalid.
    """

    type: str | None = None
    ambiguous: Ambiguous = "all"
    annotation: str = "at-least"

    def __post_init__(self) -> None:
        if self.ambiguous not in AMBIGUOUS:
            raise UsageError(f"ambiguous is {self.ambiguous!r}, expected one of: {', '.join(AMBIGUOUS)}")
        if self.annotation not in ANNOTATION:
            raise UsageError(f"annotation is {self.annotation!r}, expected one of: {', '.join(ANNOTATION)}")
        if self.type is not None and not (self.type.strip() and self.type.isprintable()):
            raise UsageError(f"type is {self.type!r}, expected the name of a type")


def from_answers(
    documents: Iterable[Document],
    answers: Mapping[str, object] | str | Path,
    *,
    type: str | None = None,
    ambiguous: Ambiguous = "all",
    annotation: str = "at-least",
) -> tuple[list[Document], AnswerReport]:
    """Return documents with the mentions that a language model's answers quote, and what became of each quote.

    An answer may be JSON (texts with types, in any of the usual forms), the text again with inline tags, or a table or
    list in Markdown; the page *From a language model* has all of them. Mentions that the documents have are replaced;
    documents without an answer that can be read are left out.

    Args:
        documents: the texts, each with the ``id`` by which its answer names it.
        answers: id -> answer, a string or what JSON gives; or a file of JSON lines, or a folder of files.
        type: the type of mentions that have none.
        ambiguous: which occurrences are marked of a quote that stands in the document more often than the answer gives
            it: ``all``, the ``first`` (as many as the answer gives), or ``none``.
        annotation: what is written as ``meta["annotation"]``: ``complete``, ``at-least`` or ``unknown``.

    Raises:
        DataError: no answer can be used: none can be read, none is of a document, or no quote stands in its document.
        UsageError: an option that is invalid.

    >>> from spanloom import Document
    >>> from spanloom.formats import from_answers
    >>> note = Document("Mild or severe pain. No fever,\\nno chest  pain.", id="n1")
    >>> answer = '{"problem": [["Mild", "pain"], "severe pain", "Fever", "chest pain", "headache"]}'
    >>> [marked], report = from_answers([note], {"n1": answer})
    >>> [mention.text(note.text) for mention in marked.mentions], marked.meta
    (['Mild pain', 'severe pain', 'fever', 'chest  pain'], {'annotation': 'at-least'})
    >>> print(report)
    1 document, 4 mentions; 5 quotes: 2 exact, 2 after folding, 1 invented
    >>> print(report.problems[0])
    warning: document 'n1': problem[4]: 'headache' is not in the document; left out
    """
    settings = AnswerSettings(type, ambiguous, annotation)
    report = AnswerReport()
    return list(align_answers(documents, answers, settings, report)), report


def align_answers(
    documents: Iterable[Document],
    answers: Mapping[str, object] | str | Path,
    settings: AnswerSettings,
    report: AnswerReport,
    *,
    stop: bool = False,
) -> Iterator[Document]:
    """Yield the documents that have an answer, with its mentions, one at a time.

    Args:
        documents: as of `from_answers`.
        answers: as of `from_answers`.
        settings: how they are read.
        report: to be filled; complete after the last document.
        stop: raise at the first answer that cannot be read, instead of leaving it out.

    Raises:
        DataError: no answer can be used, or, if ``stop``, one cannot be read.
    """
    aligner = _Aligner(answers, settings, report, stop)
    yield from aligner.align(documents)


class _Aligner:
    """Answers, and what became of them."""

    def __init__(
        self, answers: Mapping[str, object] | str | Path, settings: AnswerSettings, report: AnswerReport, stop: bool
    ) -> None:
        self._settings = settings
        self._report = report
        self._stop = stop
        self._answers = answers_of(answers) if isinstance(answers, Mapping) else read_answers(answers, self._leave_out)
        self._unused = dict(self._answers)
        self._silent = False  # whether an answer says that there is no mention

    def _leave_out(self, problem: Problem) -> None:
        if problem.severity == "error":
            if self._stop:
                raise problem.to_error()
            self._report.unreadable += 1
        self._report.problems.append(problem)

    def align(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents that have an answer."""
        names: list[str] = []
        for document in documents:
            if len(names) < _NAMES:
                names.append(document.id)
            answer = self._answers.get(document.id)
            if answer is None:
                self._report.without_answer += 1
                message = "has no answer; left out" if document.id else "has no id, and so no answer; left out"
                self._report.problems.append(Problem("warning", "no answer", message, _named(document)))
                continue
            self._unused.pop(document.id, None)
            marked = self._marked(document, answer)
            if marked is not None:
                yield marked
        self._finish(names)

    def _marked(self, document: Document, answer: Answer) -> Document | None:
        report, settings = self._report, self._settings
        quotes = report.quotes

        def tell(kind: str, place: str, message: str) -> None:
            where = f"{_named(document)}: {place}".removesuffix(": ")
            report.problems.append(Problem("warning", kind, message, where, path=answer.path, line=answer.line))

        finder = Finder(document.text)
        try:
            said, cut, added = understand(answer.value, finder)
            mentions = Placer(finder, report, tell, type=settings.type, ambiguous=settings.ambiguous).place_all(said)
        except DataError as error:
            place = _named(document)
            self._leave_out(Problem("error", "no answer", error.message, place, path=answer.path, line=answer.line))
            return None
        if cut is not None or answer.cut:
            report.cut_short += 1
            tell("cut short", "", f"the answer is cut short: {cut or 'so the service says'}; what it has was read")
        if added is not None:
            tell("other text", "", f"{added}; they are not used")
        self._silent |= report.quotes == quotes
        report.documents += 1
        report.mentions += len(mentions)
        return document.copy(mentions=mentions, meta={**document.meta, "annotation": settings.annotation})

    def _finish(self, names: list[str]) -> None:
        """Tell answers without a document; nothing at all is an error."""
        report = self._report
        for answer in self._unused.values():
            report.without_document += 1
            message = f"no document has the id {clip(answer.id)}; the answer is not used"
            report.problems.append(Problem("warning", "no document", message, path=answer.path, line=answer.line))
        if self._answers and len(self._unused) == len(self._answers):
            one = clip(next(iter(self._answers)))
            called = f"documents are called {', '.join(map(clip, names))}" if names else "there is no document"
            count = plural(len(self._answers), "answer")
            raise DataError(f"none of {count} is of a document: answers are about {one} and so on, {called}")
        if not report.documents:
            error = next(problem for problem in report.problems if problem.severity == "error")
            raise replace(error, message=f"{error.message}; no other answer could be read").to_error()
        if report.quotes and not report.found and not self._silent:
            first = next(one for one in report.problems if one.kind in ("invented", "unusable"))
            message = f"{first.message}; no quote of any answer is in its document: are these the texts?"
            raise replace(first, message=message).to_error()


def _named(document: Document) -> str:
    return f"document {clip(document.id)}" if document.id else "a document"
