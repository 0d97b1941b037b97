"""`spanloom compact`: a smaller model that predicts almost the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanloom.cli.messages import Messages
from spanloom.cli.options import ALL_CORES
from spanloom.cli.progress import Reporter
from spanloom.cli.reading import Reading
from spanloom.cli.train import MODEL_FILES
from spanloom.errors import UsageError
from spanloom.files.output import output_folder, own_files
from spanloom.models import load
from spanloom.recognize.compacting import compact

if TYPE_CHECKING:
    from spanloom.cli.app import Compact


def run(args: Compact) -> int | None:
    """Make a model compact."""
    say = Messages(args.quiet)
    reading = Reading.of(args, say)
    with output_folder(args.output, force=args.force, may_replace=own_files(args.output, MODEL_FILES)) as folder:
        given: Any = load(args.model)
        if "compact" not in given.capable:
            kind = given.kind.replace("-", " ")
            raise UsageError(f"{args.model} is a {kind}; only models of features can be made compact")
        given.set_params(n_jobs=args.jobs or ALL_CORES)
        with Reporter(args.quiet) as reporter:
            data = None if args.dev is None else reading(args.dev)
            made = compact(given, dev=data, loss=args.loss, threshold=args.threshold, progress=reporter)
        made.save(folder)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    for line in made.report_.compact.lines():
        say(line)
    say(f"saved as {args.output}, {size:,.2f} MB")
    return reading.finish()
