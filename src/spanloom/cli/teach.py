"""`spanloom teach`: a fast student of a slow teacher, from raw text, beside gold mentions where there are any."""

from __future__ import annotations

from time import monotonic
from typing import Any

from pydantic import Field

from spanloom.cli.config import CommonOptions, Paths, checked, named_path, options_of
from spanloom.cli.messages import Messages
from spanloom.cli.progress import Reporter
from spanloom.cli.train import MODEL_FILES, summary
from spanloom.files.output import output_folder, own_files
from spanloom.models import load
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.recognize.teaching import teach


class TeachOptions(CommonOptions):
    """Options of `teach`, besides parameters of the student."""

    train: Paths | None = None  # type: ignore[assignment]  # a student may do without
    crossed: Paths = Field(default_factory=list)
    weight: float | list[float] | None = None


def run(model: str, source: list[str], teacher: list[str] | None, *, config: str | None, **flags: Any) -> int | None:
    """Train a student and save it.

    Args:
        model: the teacher.
        source: raw text.
        teacher: more teachers.
        config: a TOML file of options.
        flags: from the command line.
    """
    options = checked(options_of(RecognizerParameters, TeachOptions), flags, config)
    paths = [model, *(teacher or ())]
    say = Messages(options.quiet)
    began = monotonic()
    # opened first, so that an output that cannot be replaced is told before the training and not after it
    with output_folder(
        options.output, force=options.force, may_replace=own_files(options.output, MODEL_FILES)
    ) as folder:
        parameters = options.parameters()
        crossed = [named_path("--crossed", text, "MODEL=TEXT, such as fold-2=notes/fold-1") for text in options.crossed]
        models: dict[str, Any] = {path: load(path) for path in dict.fromkeys([*paths, *(name for name, _ in crossed)])}
        teachers = [models[path] for path in paths]
        others = [models[name] for name, _ in crossed]
        for one in models.values():
            if hasattr(one, "set_params"):
                one.set_params(n_jobs=parameters["n_jobs"])
        if crossed and options.train is not None and options.dev is None:
            say.notice(
                "a tenth of --train tunes the student; where --crossed marks up the same text, its F1 is too high: "
                "give --dev"
            )
        reading = options.reader(say)
        with Reporter(options.quiet) as reporter:
            student = teach(
                teachers, reading.raw(source), weight=options.weight, progress=reporter,
                crossed=zip(others, (reading.raw([path]) for _, path in crossed), strict=True),
                train=None if options.train is None else reading.for_training(options.train),
                dev=None if options.dev is None else reading(options.dev), **parameters,
            )  # fmt: skip
        student.save(folder)
    for line in summary(student, monotonic() - began):
        say(line)
    say(f"saved as {options.output}")
    return reading.finish()
