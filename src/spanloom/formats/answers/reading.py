"""Answers from files: JSON lines of one answer each, also as batches of services have them, or a folder of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.files import STDIO
from spanloom.files.walk import meant_path
from spanloom.formats.file_names import visible
from spanloom.formats.folder import stem_in
from spanloom.formats.json_text import loads
from spanloom.formats.source import BOM, decode, raw_lines, read_bytes

_IDS: Final = ("custom_id", "id", "document_id", "doc_id", "key")
_ANSWERS: Final = ("answer", "response", "output", "completion", "prediction", "generation", "result")
_OWN: Final = ("entities", "mentions", "annotations", "spans")  # a line that is an answer itself
_LAST: Final = ("content", "text", "choices", "message")
_LINES: Final = (".jsonl", ".ndjson")
_FILES: Final = (".txt", ".md", ".json")
_CUT: Final = frozenset({"length", "max_tokens", "MAX_TOKENS"})  # reasons to stop before the end
_EXPECTED: Final = '{"id": ..., "answer": ...}'


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer about one document.

    Args:
        id: the document's.
        value: a string, or what JSON gives.
        path: its file.
        line: its line there; ``None`` where the file is the answer.
        cut: whether the service says that it is cut short.
    """

    id: str
    value: object
    path: str | None = None
    line: int | None = None
    cut: bool = False


LeaveOut = Callable[[Problem], None]


def read_answers(path: str | Path, leave_out: LeaveOut) -> dict[str, Answer]:
    """Return the answers of a file of lines, of standard input (``-``), or of a folder, by the ids of documents.

    Args:
        path: JSON lines; or a folder of files that are called after the documents (``ID.txt``, ``.md``, ``.json``), or
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
    return _collected(_of_folder(root) if root.is_dir() else _of_lines(path), path, leave_out)


def answers_of(values: Mapping[str, object]) -> dict[str, Answer]:
    """Return answers that are at hand, by the ids of documents."""
    return {str(name): Answer(str(name), value) for name, value in values.items()}


def _collected(answers: Iterable[Answer | Problem], path: str | Path, leave_out: LeaveOut) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    empty = True
    for answer in answers:
        empty = False
        if isinstance(answer, Problem):
            leave_out(answer)
        elif answer.id not in found:
            found[answer.id] = answer
        elif answer.value != found[answer.id].value:
            first = found[answer.id]
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
        value, cut = _opened(_content(file))
    except DataError as error:
        return Problem("error", "no answer", error.message, path=str(file), line=error.line)
    return Answer(stem_in(root, file), value, str(file), cut=cut)


def _content(file: Path) -> object:
    raw = read_bytes(file).removeprefix(BOM)
    text = decode(raw, file)
    if file.suffix.lower() != ".json":
        return text
    try:
        return loads(raw, file)
    except DataError:
        return text  # what JSON is in it is found as in any text, and told where it breaks off


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
    failure = record.get("error")
    known = [key for key in _ANSWERS if record.get(key) is not None]
    if not known and failure:
        raise DataError(f"the request failed: {clip(str(failure)[:200])}; ask again")
    if len(known) > 1:
        raise DataError(f"the answer could be {known[0]!r} or {known[1]!r}; call it 'answer' and leave out the other")
    rest = (*(key for key in _ANSWERS if key in record), *_OWN, *_LAST)
    found = known or [key for key in rest if key in record]
    if not found:
        raise DataError(f"the line has no answer; expected {_EXPECTED}")
    return found[0]


def _opened(value: Any) -> tuple[Any, bool]:
    """Return the answer in what a service sends, and whether it was cut short; anything else as it is."""
    if isinstance(value, list) and value and all(isinstance(one, dict) and "message" in one for one in value):
        value = {"choices": value}
    if not isinstance(value, dict):
        return value, False
    if value.get("type") in ("errored", "expired", "canceled") or _failed(value):
        raise DataError(f"the request failed: {clip(str(value.get('error') or value)[:200])}; ask again")
    for inner in ("body", "message", "response"):
        if isinstance(value.get(inner), dict):
            return _opened(value[inner])
    for several in ("choices", "candidates"):
        choices = value.get(several)
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            choice = choices[0]
            cut = str(choice.get("finish_reason", choice.get("finishReason"))) in _CUT
            return _said(choice.get("message") or choice.get("content") or choice.get("text")), cut
    if isinstance(value.get("output"), list):  # messages of OpenAI's Responses
        messages = [one for one in value["output"] if isinstance(one, dict) and one.get("type") == "message"]
        if messages:
            return _said(messages[-1]), value.get("status") == "incomplete"
    if "content" in value and ("role" in value or "stop_reason" in value):
        return _said(value), value.get("stop_reason") in _CUT
    return value, False


def _failed(value: Mapping[str, Any]) -> bool:
    status = value.get("status_code")
    return isinstance(status, int) and status >= 400


def _said(message: Any) -> Any:
    """Return what a message says: its text, or the arguments of the tool that it calls."""
    if not isinstance(message, dict):
        return message
    content = message.get("content", message.get("parts"))
    if isinstance(content, list):
        tools = [part["input"] for part in content if isinstance(part, dict) and "input" in part]
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        said = "".join(text for text in texts if isinstance(text, str))
        return tools[0] if tools and not said.strip() else said if texts else content
    calls = message.get("tool_calls")
    if not content and isinstance(calls, list) and calls and isinstance(calls[0], dict):
        function = calls[0].get("function")
        return function.get("arguments") if isinstance(function, dict) else None
    if content is None and message.get("refusal"):
        raise DataError(f"the model refused: {clip(str(message['refusal'])[:200])}")
    return content
