"""`spanloom label`: documents marked by rules and dictionaries."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import cast

from spanloom.cli.data_verbs import Label
from spanloom.cli.messages import Messages, counted
from spanloom.cli.reading import Reading, input_format_of, number_of, output_format_of, write_all
from spanloom.errors import UsageError, plural
from spanloom.files import STDIO
from spanloom.files.output import check_free
from spanloom.formats import FORMATS
from spanloom.label import LabelReport, label_stream, read_label_rules
from spanloom.model.choices import Completeness
from spanloom.view.cells import aligned, shorten

_NAME = 40  # cells of a rule's name
_WITH_META = ("jsonl", "json", "parquet", "arrow")  # formats that keep all of meta
_COUNTS = ("matches", "documents", "overlaps", "conflicts")


def run(args: Label) -> int | None:
    """Read rules and documents, mark what rules match, write, and report what each rule did."""
    log = Messages(args.quiet)
    if args.as_json and args.output == STDIO:
        raise UsageError("--json and the documents would both go to standard output; name a file with --output")
    if args.output != STDIO:
        check_free(args.output, force=args.force)  # before vocabularies are read, not after it
    ready = read_label_rules(args.rules)
    output_format = output_format_of(args.output, args.output_format)
    if args.each:
        _check_names_annotators(args.output, output_format)
    reader = Reading.of(args, log, input_format_of(args, args.source))
    given = counted(
        reader(args.source, mentions=False), "labelling", quiet=args.quiet, total=partial(number_of, args.source)
    )
    report = LabelReport()
    found = label_stream(given, ready, each=args.each, annotation=cast(Completeness, args.annotation), report=report)
    write_all(found, args.output, log, output_format, force=args.force)
    if args.as_json:
        print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        rows = [(shorten(one.name, _NAME), *(f"{getattr(one, n):,}" for n in _COUNTS)) for one in report.rules]
        for line in aligned([("rule", *_COUNTS), *rows], numbers=True):
            log(line)
    for warning in report.warnings():
        Messages().notice(str(warning))
    log(_result(report))
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
    left_out = f"; left out: {', '.join(left)}" if left else ""
    return f"{plural(report.mentions, 'mention')} in {plural(report.documents, 'document')}{left_out}"
