"""`spanloom train recognizer`, and what all training verbs do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.cli.messages import Messages
from spanloom.cli.progress import Reporter
from spanloom.cli.reading import Reading
from spanloom.cli.summary import summary
from spanloom.files.output import output_folder
from spanloom.recognize import Recognizer

MODEL_FILES = frozenset(("model.json", "weights.safetensors"))


class Trainable(Protocol):
    """A model of any kind."""

    @property
    def fit(self) -> Callable[..., Any]:
        """Trains it on documents, with ``dev``, ``progress`` and whatever else its kind takes."""

    def check(self) -> None:
        """Whether its parameters can be meant."""

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write it."""


def run(config: str | None, **flags: Any) -> int | None:
    """Train and save a recognizer."""
    options = checked(options_of(Recognizer, CommonOptions), flags, config)
    recognizer = Recognizer(**options.parameters())
    return train_model(recognizer, options, lambda seconds: summary(recognizer, seconds))


def train_model(
    model: Trainable, options: CommonOptions, told: Callable[[float], Iterable[str]], **more: Any
) -> int | None:
    """Train and save a model, and say how it went.

    Args:
        model: untrained.
        options: of the verb.
        told: lines about the trained model, from the seconds that it took.
        more: arguments of its ``fit``, beside the data.
    """
    say = Messages(options.quiet)
    model.check()
    began = monotonic()
    # opened first, so that an output that cannot be replaced is told before the training and not after it
    with output_folder(
        options.output, force=options.force, may_replace=lambda file: file.name in MODEL_FILES
    ) as folder:
        reading = Reading(
            say, input_format=options.input_format, columns=options.columns, on_error=options.on_error or "stop"
        )
        train, dev = reading(options.train), None if options.dev is None else reading(options.dev)
        with Reporter(options.quiet) as reporter:
            model.fit(train, dev=dev, progress=reporter, **more)
        model.save(folder)
    for line in told(monotonic() - began):
        say(line)
    say(f"saved as {options.output}")
    return reading.finish()
