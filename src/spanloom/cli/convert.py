"""`spanloom convert`: from one format to another."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanloom.cli.execute import FAILED
from spanloom.cli.messages import Messages
from spanloom.cli.pace import counted
from spanloom.cli.reading import Reading, number_of, write_all
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.files import STDIO
from spanloom.formats.answers import AnswerReport, AnswerSettings, align_answers
from spanloom.formats.listed import COLUMNS
from spanloom.model.corpus import TypeFilter
from spanloom.text import prepare

if TYPE_CHECKING:
    from spanloom.cli.data_verbs import Convert


def run(args: Convert) -> int | None:
    """Read and write, a document at a time; report the losses."""
    output_format = args.output_format
    say = Messages(args.quiet)
    of_format = {"columns": args.columns, "texts": args.texts, "tag_names": args.tag_names}
    reading = Reading(say, input_format=args.input_format, on_error=args.on_error, **of_format)
    given = {"type": args.mention_type, "ambiguous": args.ambiguous, "annotation": args.annotation}
    settings = _settings(args.from_llm, {name: value for name, value in given.items() if value is not None})
    documents: Iterable[Document] = reading(args.source, mentions=args.from_llm is None)
    documents = counted(documents, "converting", quiet=args.quiet, total=partial(number_of, args.source))
    report = AnswerReport()
    if args.from_llm is not None:
        if STDIO in args.source and args.from_llm == STDIO:
            raise UsageError("standard input (-) can be read only once; give the answers or the texts as a file")
        documents = align_answers(documents, args.from_llm, settings, report, stop=args.on_error == "stop")
    documents = TypeFilter(args.types).checked(documents)
    if output_format == COLUMNS.name or (output_format is None and COLUMNS.named(Path(args.target))):
        documents = map(prepare, documents)  # columns hold tokens, and have no place for a text without
    if output_format is None and args.target == STDIO:
        output_format = "jsonl"  # as of `predict`; a file whose name tells nothing is an error here
    options: dict[str, Any] = {} if args.scheme is None else {"scheme": args.scheme}
    write_all(documents, args.target, say, output_format, force=args.force, **options)
    code = reading.finish()
    return code if args.from_llm is None else _tell(report, say) or code


def _settings(from_llm: str | None, given: dict[str, Any]) -> AnswerSettings:
    """Return the settings for answers; they are refused without answers."""
    if from_llm is None and given:
        name = next(iter(given))
        raise UsageError(f"--{name} is about the answers of a language model; name them with --from-llm")
    try:
        return AnswerSettings(**given)
    except UsageError as error:
        raise UsageError(f"--{error}") from None


def _tell(report: AnswerReport, say: Messages) -> int | None:
    """Report each problem with its place, then the counts; unreadable answers are reported even if quiet."""
    for problem in report.problems:
        is_error = problem.severity == "error"
        (Messages() if is_error else say).notice(f"{'left out: ' * is_error}{problem.to_error()}")
    say(f"spanloom: {report}")
    return FAILED if report.unreadable else None
