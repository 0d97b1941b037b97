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
    kind = output_format or next(one.name for one in FORMATS.values() if one.named(Path(args.output)))
    if args.each and kind in FORMATS and kind not in _WITH_META:
        raise UsageError(
            f"--each names the annotator of each document in meta.annotator, which the format {kind} has no place for; "
            f"write {', '.join(_WITH_META[:-1])} or {_WITH_META[-1]}"
        )
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
        log(*aligned([("rule", *_COUNTS), *rows], numbers=True))
    Messages().notice(*report.warnings())
    left = {
        "with votes against alone": report.against,
        "outvoted": report.outvoted,
        "within or beside longer ones": report.overlapped,
    }
    left_out = ", ".join(f"{plural(count, 'span')} {what}" for what, count in left.items() if count)
    counts = f"{plural(report.mentions, 'mention')} in {plural(report.documents, 'document')}"
    log(f"{counts}; left out: {left_out}" if left_out else counts)
    return reader.finish()
