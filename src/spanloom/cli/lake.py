"""`spanloom predict MODEL LAKE/ --output OUT/`: a folder of fragments, each annotated whole or not at all."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

from spanloom.cli.app import Predict
from spanloom.cli.execute import FAILED, INTERRUPTED
from spanloom.cli.messages import EVERY, Line, Messages, duration
from spanloom.cli.options import ALL_CORES
from spanloom.cli.predict import add_expansions, load_model, predict, tallied
from spanloom.cli.reading import Reading
from spanloom.errors import DataError, UsageError, as_json, log_line, plural
from spanloom.files import STDIO
from spanloom.files.output import output_folder
from spanloom.files.staging import leftover, leftovers
from spanloom.files.walk import everything, is_closed_link
from spanloom.formats import FORMATS, write
from spanloom.formats.base import DEFAULTS
from spanloom.formats.file_names import files_of
from spanloom.formats.source import is_packed
from spanloom.lake.annotator import Annotator
from spanloom.lake.job import Job, Pace, Worker
from spanloom.lake.ledger import SUFFIXES, Ledger, fragments_of, output_of, schema_of
from spanloom.model.protocol import finds_mentions
from spanloom.parallel import worker_count

_EVERY = 10.0  # seconds between two lines of a log
# options of `predict` that have no meaning for a lake
_WITHOUT_USE = (
    "input_format", "answers", "reading", "mentions", "keep", "require", "forbid", "rely", "rely_data", "dictionary",
    "attributes", "language", "cues", "sections", "document_concepts", "force",
)  # fmt: skip


def is_lake(source: Sequence[str], output: str, output_format: str | None) -> bool:
    """Return whether the output is a folder of as many files as the input has.

    It is, if it ends with ``/`` or is a folder; and also where the input is a folder of tables, unless its name ends as
    that of a file does.

    Raises:
        UsageError: so it is, but there are several inputs, or a format that is written as a file.
    """
    folder = output.endswith(("/", os.sep)) or Path(output).is_dir()
    named = is_packed(output) or any(kind.named(Path(output)) for kind in FORMATS.values())
    if not folder and len(source) == 1 and output_format is None and output != STDIO and not named:
        kinds = {kind.name for kind, _ in files_of(Path(source[0]), None, FORMATS.values())[0]}
        folder = kinds <= {"parquet", "arrow", "jsonl"} and kinds != {"jsonl"}
    whole = output_format in FORMATS and FORMATS[output_format].folders  # documents, and no fragments
    if not folder or whole or not all(Path(path).is_dir() for path in source):
        return False
    if len(source) > 1:
        raise UsageError(
            f"the output {output} is a folder, and there are {len(source)} inputs; annotate one folder of fragments at "
            "a time, or name a file as output"
        )
    if output_format:
        raise UsageError(
            f"the output {output} is a folder, where fragments are written as Parquet; leave out --format, or name a "
            "file as output"
        )
    return True


def run(args: Predict, output: str) -> int | None:
    """Annotate the documents of a lake that are not annotated yet, and write fragments to the folder ``output``."""
    others = [f"--{name.replace('_', '-')}" for name in _WITHOUT_USE if getattr(args, name)]
    others += [f"--{name}" for name in DEFAULTS.get()]  # fragments are in UTF-8, and are read in other processes
    if others:
        raise UsageError(f"fragments of a folder are written as Parquet, with no use for {' and '.join(others)}")
    log = Messages(args.quiet)
    reading = Reading(log, columns=args.columns, on_error=args.on_error)
    source, target = Path(args.source[0]).resolve(), Path(output).resolve()
    if source == target or source in target.parents or target in source.parents:
        raise UsageError(
            f"the output {output} and the input {args.source[0]} lie in each other; name a folder beside the input"
        )
    fragments = fragments_of(source)
    for part in leftovers(source):
        log.notice(f"{part}: {leftover(part)}")
    for link in filter(is_closed_link, everything(source)):
        log.notice(f"not read: {link.relative_to(source)}, a link to a folder or to nothing; put files there")
    if not fragments:
        known = ", ".join(SUFFIXES)
        raise UsageError(f"{args.source[0]} holds no fragment ({known}); to mark up other files, name a file as output")
    arrow = find_spec("pyarrow") is not None
    if not arrow and all(fragment.lines for fragment in fragments):
        # a file of JSON lines for each: all of them, or nothing
        model = load_model(args.model, args.jobs, args.encoder)
        log(f"writing {output}: JSON lines for each of {plural(len(fragments), 'fragment')}; Parquet needs pyarrow")
        count: Counter[str] = Counter()
        with output_folder(output) as folder:
            for fragment in fragments:
                file = folder / fragment.name
                file.parent.mkdir(parents=True, exist_ok=True)
                documents = reading(str(fragment.path), mentions=not finds_mentions(model))
                found = predict(model, documents, log, threshold=args.threshold)
                write(tallied(add_expansions(model, found) if args.expand else found, count), file, format="jsonl")
        log(f"{plural(count['mentions'], 'mention')} in {plural(count['documents'], 'document')}, written to {output}")
        return reading.finish()
    workers, line = worker_count(args.jobs or ALL_CORES), Line(args.quiet)

    def warn(message: str) -> None:
        line.clear()
        log(f"spanloom: {message}")

    def show(pace: Pace) -> None:
        if line.shown and line.due(EVERY):
            line.show(paced(pace))
        elif as_json() and not args.quiet and line.due(_EVERY):
            print(log_line("progress", **pace._asdict()), file=sys.stderr, flush=True)

    with ExitStack() as stack:
        stack.callback(line.clear)
        # Where all is to be done, the processes start while the model is loaded and checked here.
        ready = [Worker() for _ in fragments[:workers]] if arrow and not target.exists() else []
        for worker in ready:
            stack.callback(worker.kill)
        annotator = Annotator(
            args.model, threshold=args.threshold, encoder=args.encoder, expand=args.expand, **_columns(args.columns)
        )
        ledger = Ledger.open(target, annotator, _schema(annotator, fragments))
        log(
            f"writing {output}: a Parquet file for each of {plural(len(fragments), 'fragment')}, in "
            f"{plural(workers, 'process', 'processes')}"
        )
        job = Job(annotator, fragments, ledger, workers, args.on_error == "stop", warn, show, ready)
        began, interrupted = monotonic(), False
        try:
            job.run()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            manifest = ledger.write_manifest(fragments, job.failed)
    seconds = monotonic() - began
    done, own = manifest["fragments"], job.counts["rows"]
    rate = f", {own / seconds:,.0f} texts a second" if own else ""
    log(
        f"{plural(manifest['mentions'], 'mention')} in {plural(manifest['rows'], 'text')} of "
        f"{plural(len(done), 'fragment')}, {plural(manifest['problems'], 'text')} with a problem; {own:,} of the texts "
        f"now, in {duration(seconds)}{rate}"
    )
    if gone := manifest["gone"]:
        log.notice(
            f"no longer in the lake: {plural(len(gone), 'fragment')} whose output stays, such as {output_of(gone[0])}; "
            "the manifest lists all under 'gone'"
        )
    if interrupted:
        Messages()("spanloom: interrupted; what is finished stays, and the same command resumes")
        return INTERRUPTED
    if job.failed:
        Messages()(
            f"spanloom: {plural(len(job.failed), 'fragment')} left out, because of errors; {output} has the others, "
            "and the same command tries again"
        )
        return FAILED
    return None


def _columns(columns: str | None) -> dict[str, Any]:
    """Return the arguments of an annotator for ``--columns``.

    >>> _columns("text=note,id=,keep=ward,keep=site")
    {'text': 'note', 'id': None, 'keep': ['ward', 'site']}
    """
    options: dict[str, Any] = {"keep": []}
    for pair in (columns or "").split(",") if columns else ():
        key, equals, name = (part.strip() for part in pair.partition("="))
        if not equals or key not in ("text", "id", "keep") or (not name and key != "id"):
            raise UsageError(f"--columns is {columns!r}, expected such as text=note,id=key,keep=ward,keep=site")
        if key == "keep":
            options["keep"].append(name)
        elif key in options:
            raise UsageError(f"--columns is {columns!r}, where {key} occurs twice; leave one out")
        else:
            options[key] = name or None
    return {key: options[key] for key in ("text", "id", "keep") if key in options}


def _schema(annotator: Annotator, fragments: Sequence[Any]) -> Any:
    """Return the schema of the output: that of the first fragment which can be read and has the columns."""
    names = [name for name in (annotator.text, annotator.id, *annotator.keep) if name is not None]
    first: Exception | None = None
    for fragment in fragments:
        try:
            return annotator.schema(schema_of(fragment, names))
        except DataError as error:
            first = first or error
        except UsageError as error:
            first = first or UsageError(f"fragment {fragment.name}: {error}")
    assert first is not None
    raise first


def paced(pace: Pace) -> str:
    """The line.

    >>> paced(Pace(fragments=3, all_fragments=10, rows=45000, share=0.25, seconds=60.0))
    'predicting 3 of 10 fragments · 45,000 texts · 750 a second · 3 min 0 s left'
    """
    figures = [f"{pace.fragments:,} of {plural(pace.all_fragments, 'fragment')}", plural(pace.rows, "text")]
    if pace.rows and pace.seconds:
        figures.append(f"{pace.rows / pace.seconds:,.0f} a second")
    if pace.share:
        figures.append(f"{duration(pace.seconds / pace.share * (1 - pace.share))} left")
    return f"predicting {' · '.join(figures)}"
