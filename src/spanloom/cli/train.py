"""`spanloom train recognizer`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spanloom.cli.config import effective
from spanloom.cli.messages import Messages
from spanloom.cli.progress import Reporter
from spanloom.cli.summary import summary
from spanloom.formats import read
from spanloom.formats.output import check_free
from spanloom.recognize import Recognizer


def run(config: str | None, **flags: Any) -> None:
    """Train and save; refuse a taken output before the work and not after it."""
    options = effective(flags, config)
    say = Messages(options.quiet)
    check_free(options.output, force=options.force)
    recognizer = Recognizer(**options.recognizer_options())
    train = list(read(options.train, format=options.input_format))
    dev = None if options.dev is None else list(read(options.dev, format=options.input_format))
    with Reporter(options.quiet) as reporter:
        recognizer.fit(train, dev=dev, progress=reporter)
    recognizer.save(Path(options.output), force=options.force)
    for line in summary(recognizer):
        say(line)
    say(f"saved as {options.output}")
