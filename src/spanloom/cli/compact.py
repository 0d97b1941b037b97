"""`spanloom compact`: a smaller model that predicts almost the same."""

from __future__ import annotations

from typing import Any

from spanloom.cli.messages import Messages
from spanloom.cli.options import ALL_CORES
from spanloom.cli.progress import Reporter
from spanloom.cli.reading import Reading
from spanloom.cli.train import MODEL_FILES
from spanloom.errors import UsageError
from spanloom.files.output import output_folder, own_files
from spanloom.models import load
from spanloom.recognize.compacting import compact


def run(
    model: str,
    output: str,
    dev: list[str] | None,
    loss: float | None,
    threshold: float | None,
    input_format: str | None,
    columns: str | None,
    on_error: str | None,
    force: bool,
    jobs: int | None,
    quiet: bool,
) -> int | None:
    """Make a model compact."""
    say = Messages(quiet)
    reading = Reading(say, input_format=input_format, columns=columns, on_error=on_error or "stop")
    with output_folder(output, force=force, may_replace=own_files(output, MODEL_FILES)) as folder:
        given: Any = load(model)
        if "compact" not in given.capable:
            kind = given.kind.replace("-", " ")
            raise UsageError(f"{model} is a {kind}; only models of features can be made compact")
        given.set_params(n_jobs=jobs or ALL_CORES)
        with Reporter(quiet) as reporter:
            data = None if dev is None else reading(dev)
            made = compact(given, dev=data, loss=loss, threshold=threshold, progress=reporter)
        made.save(folder)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    for line in made.report_.compact.lines():
        say(line)
    say(f"saved as {output}, {size:,.2f} MB")
    return reading.finish()
