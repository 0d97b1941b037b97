"""`spanloom train recognizer`, and what all training verbs do."""

from __future__ import annotations

from time import monotonic
from typing import Any

from spanloom.cli.config import CommonOptions, effective
from spanloom.cli.messages import Messages
from spanloom.cli.progress import Reporter
from spanloom.cli.summary import summary
from spanloom.formats import read
from spanloom.formats.output import output_folder
from spanloom.models import Model
from spanloom.recognize import Recognizer

MODEL_FILES = frozenset(("model.json", "weights.safetensors"))


def run(config: str | None, **flags: Any) -> None:
    """Train and save a recognizer."""
    options = effective(flags, config)
    train_model(Recognizer(**options.recognizer_options()), options)


def train_model(model: Model, options: CommonOptions) -> None:
    """Train and save a model, and say how it went."""
    say = Messages(options.quiet)
    model.check()
    began = monotonic()
    # opened first, so that an output that cannot be replaced is told before the training and not after it
    with output_folder(
        options.output, force=options.force, may_replace=lambda file: file.name in MODEL_FILES
    ) as folder:
        train = read(options.train, format=options.input_format)
        dev = None if options.dev is None else read(options.dev, format=options.input_format)
        with Reporter(options.quiet) as reporter:
            model.fit(train, dev=dev, progress=reporter)
        model.save(folder)
    for line in summary(model, monotonic() - began):
        say(line)
    say(f"saved as {options.output}")
