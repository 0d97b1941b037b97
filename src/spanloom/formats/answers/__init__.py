"""Answers of language models, aligned with the texts that they are about.

A model that is asked to mark mentions answers with JSON, with the text again and tags in it, or with a list. It seldom
gives offsets, and those are unreliable. Therefore its quotes are searched for in the text: verbatim, else folded; whole
words before parts of words. Quotes that occur more than once, or not at all, are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from spanloom.document import Document, Mention
from spanloom.document.document import named
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip, plural
from spanloom.files import STDIO
from spanloom.files.walk import meant_path
from spanloom.formats.answers.finding import Finder
from spanloom.formats.answers.parsing import understand
from spanloom.formats.answers.placing import ANNOTATION, Ambiguous, AnswerReport, AnswerSettings, Placer
from spanloom.formats.file_names import stem_in, visible
from spanloom.formats.json_text import loads, some
from spanloom.formats.layouts import at
from spanloom.formats.source import BOM, decode, raw_lines, read_bytes

__all__ = ["ANNOTATION", "AnswerReport", "AnswerSettings", "align_answers", "from_answers"]

_NAMED: Final = 3  # documents that are named in a message
_IDS: Final = ("custom_id", "id", "document_id", "doc_id", "key")
_ANSWERS: Final = ("answer", "response", "output", "completion", "prediction", "generation", "result")
_OWN: Final = ("entities", "mentions", "annotations", "spans")  # fields of a line that is an answer itself
_LAST: Final = ("content", "text", "choices", "message")
_LINES: Final = (".jsonl", ".ndjson")
_FILES: Final = (".txt", ".md", ".json")
# of services: paths of the message, and of the reason to stop; and reasons to stop before the end
_MESSAGES: Final = ("choices.0.message", "choices.0.content", "choices.0.text", "candidates.0.content")
_REASONS: Final = ("choices.0.finish_reason", "candidates.0.finishReason", "stop_reason", "status")
_CUT: Final = frozenset({"length", "max_tokens", "MAX_TOKENS", "incomplete"})
_EXPECTED: Final = '{"id": ..., "answer": ...}'


def from_answers(
    documents: Iterable[Document], answers: Mapping[str, object] | str | Path, *, type: str | None = None,
    ambiguous: Ambiguous = "all", annotation: str = "at-least",
) -> tuple[list[Document], AnswerReport]:  # fmt: skip
    """Return documents with the mentions that a language model's answers quote, and a report on the quotes.

    An answer may be JSON (texts with types, in any of the usual forms), the text again with inline tags, or a table or
    list in Markdown; the page *From a language model* has all of them. Mentions that the documents have are replaced;
    documents without an answer that can be read are left out.

    Args:
        documents: the texts, each with the ``id`` by which its answer names it.
        answers: id -> answer, a string or what JSON gives; or a file of JSON lines, or a folder of files.
        type: the type of mentions that have none.
        ambiguous: which occurrences are marked of a quote that occurs in the document more often than in the answer:
            ``all``, the ``first`` (as many as in the answer), or ``none``.
        annotation: the value of ``meta["annotation"]``: ``complete``, ``at-least`` or ``unknown``.

    Raises:
        DataError: no answer can be used: none can be read, none is about a document, or no quote is in its document.
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
    report = AnswerReport()
    return list(align_answers(documents, answers, AnswerSettings(type, ambiguous, annotation), report)), report


def align_answers(
    documents: Iterable[Document], answers: Mapping[str, object] | str | Path, settings: AnswerSettings,
    report: AnswerReport, *, stop: bool = False,
) -> Iterator[Document]:  # fmt: skip
    """Yield the documents that have an answer, with its mentions, one at a time.

    Args:
        documents: as for `from_answers`.
        answers: as for `from_answers`.
        settings: how they are read.
        report: is filled, and complete after the last document.
        stop: whether to raise an error for an answer that cannot be read, instead of leaving it out.

    Raises:
        DataError: no answer can be used, or, if ``stop``, one cannot be read.
    """

    def leave_out(problem: Problem) -> None:
        if problem.severity == "error":
            if stop:
                raise problem.to_error()
            report.unreadable += 1
        report.problems.append(problem)

    if isinstance(answers, Mapping):
        known = {str(name): Answer(str(name), value) for name, value in answers.items()}
    else:
        known = read_answers(answers, leave_out)
    unused, names, some_empty = dict(known), list[str](), False
    for document in documents:
        if len(names) < _NAMED:
            names.append(document.id)
        if (answer := known.get(document.id)) is None:
            report.without_answer += 1
            message = "has no answer; left out" if document.id else "has no id, and so no answer; left out"
            report.problems.append(Problem("warning", "no answer", message, named(document)))
            continue
        unused.pop(document.id, None)
        quotes = report.quotes
        try:
            mentions = _aligned(document, answer, settings, report)
        except DataError as error:
            leave_out(Problem("error", "no answer", error.message, named(document), path=answer.path, line=answer.line))
            continue
        some_empty |= report.quotes == quotes
        report.documents += 1
        report.mentions += len(mentions)
        yield document.copy(mentions=mentions, meta={**document.meta, "annotation": settings.annotation})
    for answer in unused.values():
        report.without_document += 1
        message = f"no document has the id {clip(answer.id)}; the answer is not used"
        report.problems.append(Problem("warning", "no document", message, path=answer.path, line=answer.line))
    if known and len(unused) == len(known):
        called = f"documents are called {', '.join(map(clip, names))}" if names else "there is no document"
        about = f"answers are about {clip(next(iter(known)))} and so on"
        raise DataError(f"none of {plural(len(known), 'answer')} is of a document: {about}, {called}")
    if not report.documents:
        first = next(problem for problem in report.problems if problem.severity == "error")
        raise replace(first, message=f"{first.message}; no other answer could be read").to_error()
    if report.quotes and not report.found and not some_empty:
        first = next(one for one in report.problems if one.kind in ("invented", "unusable"))
        message = f"{first.message}; no quote of any answer is in its document: are these the texts?"
        raise replace(first, message=message).to_error()


def _aligned(document: Document, answer: Answer, settings: AnswerSettings, report: AnswerReport) -> list[Mention]:
    """Return the mentions that an answer quotes, and report its problems."""

    def report_problem(kind: str, place: str, message: str) -> None:
        where = f"{named(document)}: {place}".removesuffix(": ")
        report.problems.append(Problem("warning", kind, message, where, path=answer.path, line=answer.line))

    finder = Finder(document.text)
    quoted, cut, added = understand(answer.value, finder)
    mentions = Placer(finder, report, report_problem, settings).place_all(quoted)
    if cut is not None or answer.cut:
        report.cut_short += 1
        how = cut or "as the service reports"
        report_problem("cut short", "", f"the answer is cut short: {how}; what it has was read")
    if added is not None:
        report_problem("other text", "", f"{added}; they are not used")
    return mentions


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer about one document.

    Args:
        id: of the document.
        value: a string, or a JSON value.
        path: the file of the answer.
        line: its line in that file; ``None`` if the file is the answer.
        cut: whether the service marked the answer as incomplete.
    """

    id: str
    value: object
    path: str | None = None
    line: int | None = None
    cut: bool = False


def read_answers(path: str | Path, leave_out: Callable[[Problem], None]) -> dict[str, Answer]:
    """Return the answers in a file of lines, in standard input (``-``), or in a folder, by the ids of documents.

    Lines may also be those of batches of the usual services.

    Args:
        path: JSON lines; or a folder of files that are named after the documents (``ID.txt``, ``.md``, ``.json``), or
            that hold JSON lines.
        leave_out: called with the problem of each answer that cannot be used.

    Raises:
        DataError: the file cannot be read, or there is no answer at all.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.jsonl")
    ...     _ = path.write_text('{"id": 1, "answer": "[]"}\\n{"custom_id": "2", "response": {"body": {"choices": '
    ...                         '[{"message": {"content": "None."}}]}}}\\n')
    ...     [(answer.id, answer.value) for answer in read_answers(path, print).values()]
    [('1', '[]'), ('2', 'None.')]
    """
    root = Path(path)
    if str(path) != STDIO and not root.exists():
        raise DataError(f"there is no such file or folder{meant_path(root)}", path=path)
    found: dict[str, Answer] = {}
    empty = True
    for answer in _of_folder(root) if root.is_dir() else _of_lines(path):
        empty = False
        if isinstance(answer, Problem):
            leave_out(answer)
            continue
        first = found.setdefault(answer.id, answer)
        if answer is not first and answer.value != first.value:
            where = ":".join(str(part) for part in (first.path, first.line) if part is not None)
            message = f"the id {clip(answer.id)} has another answer at {where}, which is taken; keep one of them"
            leave_out(Problem("error", "two answers", message, path=answer.path, line=answer.line))
    if empty:
        raise DataError(f"there is no answer; expected lines such as {_EXPECTED}, or files called ID.txt", path=path)
    return found


def _of_lines(path: str | Path) -> Iterator[Answer | Problem]:
    for number, raw in raw_lines(path):
        if not raw.strip():
            continue
        try:
            yield _of_record(loads(raw, path, number), str(path), number)
        except DataError as error:
            yield Problem("error", "no answer", error.message, path=str(path), line=number)


def _of_folder(root: Path) -> Iterator[Answer | Problem]:
    for file in visible(root):
        ending = file.suffix.lower()
        if ending in _LINES:
            yield from _of_lines(file)
        elif ending in _FILES:
            yield _of_file(root, file)
        elif file.is_file():
            message = f"not read; expected files that end in one of: {', '.join((*_FILES, *_LINES))}"
            yield Problem("warning", "files not read", message, path=str(file), altered=True)


def _of_file(root: Path, file: Path) -> Answer | Problem:
    try:
        raw = read_bytes(file).removeprefix(BOM)
        content: object = decode(raw, file)
        if file.suffix.lower() == ".json":
            with suppress(DataError):  # incomplete JSON is found in the text, and reported, as in any other
                content = loads(raw, file)
        value, cut = _opened(content)
    except DataError as error:
        return Problem("error", "no answer", error.message, path=str(file), line=error.line)
    return Answer(stem_in(root, file), value, str(file), cut=cut)


def _of_record(record: object, path: str, line: int) -> Answer:
    if not isinstance(record, dict):
        raise DataError(f"found {clip(str(record)[:200])}, expected an object such as {_EXPECTED}")
    name = next((record[key] for key in _IDS if isinstance(record.get(key), str | int)), None)
    if name is None or isinstance(name, bool):
        raise DataError(f"the line has no id of a document; expected {_EXPECTED}")
    value, cut = _opened(record[_field(record)])
    return Answer(str(name), value, path, line, cut)


def _field(record: Mapping[str, Any]) -> str:
    """Return the name of the field that is the answer."""
    known = [key for key in _ANSWERS if record.get(key) is not None]
    if not known and record.get("error"):
        raise DataError(f"the request failed: {clip(str(record['error'])[:200])}; ask again")
    if len(known) > 1:
        raise DataError(f"the answer could be {known[0]!r} or {known[1]!r}; call it 'answer' and leave out the other")
    if not (found := known or [key for key in (*_ANSWERS, *_OWN, *_LAST) if key in record]):
        raise DataError(f"the line has no answer; expected {_EXPECTED}")
    return found[0]


def _opened(value: Any) -> tuple[Any, bool]:
    """Return the answer in a service's response, and whether it is incomplete; other values as they are."""
    if some(value, dict) and all("message" in one for one in value):
        value = {"choices": value}
    if not isinstance(value, dict):
        return value, False
    status = value.get("status_code")
    if value.get("type") in ("errored", "expired", "canceled") or (isinstance(status, int) and status >= 400):
        raise DataError(f"the request failed: {clip(str(value.get('error') or value)[:200])}; ask again")
    for inner in ("body", "message", "response"):
        if isinstance(value.get(inner), dict):
            return _opened(value[inner])
    found = [message for path in _MESSAGES if (message := at(value, path)) is not None]
    output = value.get("output")
    if isinstance(output, list):
        found += [one for one in output if isinstance(one, dict) and one.get("type") == "message"][-1:]
    if "content" in value and ("role" in value or "stop_reason" in value):
        found.append(value)
    return (_content(found[0]), any(str(at(value, path)) in _CUT for path in _REASONS)) if found else (value, False)


def _content(message: Any) -> Any:
    """Return the content of a message: its text, or the arguments of its tool call."""
    if not isinstance(message, dict):
        return message
    content = message.get("content", message.get("parts"))
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        tools = [part["input"] for part in parts if "input" in part]
        quoted = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        return tools[0] if tools and not quoted.strip() else quoted if parts else content
    if not content and (arguments := at(message, "tool_calls.0.function.arguments")) is not None:
        return arguments
    if content is None and message.get("refusal"):
        raise DataError(f"the model refused: {clip(str(message['refusal'])[:200])}")
    return content
