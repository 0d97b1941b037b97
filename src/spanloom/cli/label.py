"""`spanloom label`: documents marked by rules and dictionaries."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from spanloom.cli.messages import Messages
from spanloom.cli.pace import counted
from spanloom.cli.reading import Reading, lost, number_of, output_format_of
from spanloom.document.annotation import Completeness
from spanloom.errors import UsageError, plural
from spanloom.files import STDIO
from spanloom.files.output import check_free
from spanloom.formats import FORMATS, write
from spanloom.formats.scanning import format_of_input
from spanloom.label import LabelReport, label_stream, read_label_rules

_NAME = 40  # characters of a rule's name
_WITH_META = ("jsonl", "json", "parquet", "arrow")  # formats that keep all of meta
_COUNTS = ("matches", "documents", "overlaps", "conflicts")


def run(
    rules: str,
    source: list[str],
    output: str,
    output_format: str | None,
    input_format: str | None,
    columns: str | None,
    on_error: str,
    each: bool,
    annotation: Completeness,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> int | None:
    """Read rules and documents, mark what rules match, write, and report what each rule did."""
    say = Messages(quiet)
    if as_json and output == STDIO:
        raise UsageError("--json and the documents would both go to standard output; name a file with --output")
    if output != STDIO:
        check_free(output, force=force)  # before vocabularies are read, not after it
    ready = read_label_rules(rules)
    # where neither a name nor the content tells the format: text in, native records out
    if input_format is None and source == [STDIO]:
        input_format = format_of_input() or "text"
    output_format = output_format_of(output, output_format)
    if each:
        _check_names_annotators(output, output_format)
    reader = Reading(say, input_format=input_format, columns=columns, on_error=on_error)
    given = counted(reader(source, mentions=False), "labelling", quiet=quiet, total=partial(number_of, source))
    report = LabelReport()
    found = label_stream(given, ready, each=each, annotation=annotation, report=report)
    losses = write(found, output, format=output_format, force=force)
    if losses:
        say.notice(lost(losses))
    if as_json:
        print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        for line in _table(report):
            say(line)
    for warning in report.warnings():
        Messages().notice(str(warning))
    say(_result(report))
    return reader.finish()


def _check_names_annotators(output: str, given: str | None) -> None:
    """Check that the format of an output has a place for the names of annotators, and for a text several times.

    Raises:
        UsageError: it has not.
    """
    kind = given or next(one.name for one in FORMATS.values() if one.named(Path(output)))
    if kind in FORMATS and kind not in _WITH_META:
        raise UsageError(
            f"--each names the annotator of each document in meta.annotator, which the format {kind} has no place for; "
            f"write {', '.join(_WITH_META[:-1])} or {_WITH_META[-1]}"
        )


def _table(report: LabelReport) -> list[str]:
    names = [one.name if len(one.name) <= _NAME else one.name[: _NAME - 1] + "…" for one in report.rules]
    width = max(map(len, [*names, "rule"]))
    rows = [[f"{getattr(one, name):,}" for name in _COUNTS] for one in report.rules]
    head = "  ".join(["rule".ljust(width), *_COUNTS])
    return [head] + [
        "  ".join([name.ljust(width), *(cell.rjust(len(count)) for cell, count in zip(row, _COUNTS, strict=True))])
        for name, row in zip(names, rows, strict=True)
    ]


def _result(report: LabelReport) -> str:
    left = [
        f"{plural(count, 'span')} {what}"
        for count, what in (
            (report.against, "with votes against alone"),
            (report.outvoted, "outvoted"),
            (report.overlapped, "within or beside longer ones"),
        )
        if count
    ]
    told = f"; left out: {', '.join(left)}" if left else ""
    return f"{plural(report.mentions, 'mention')} in {plural(report.documents, 'document')}{told}"
