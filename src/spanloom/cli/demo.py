"""`spanloom demo`: the whole way once, on notes that come with Spanloom."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from time import monotonic

from spanloom.cli.config import ALL_CORES
from spanloom.cli.messages import Messages, plural
from spanloom.cli.progress import Reporter
from spanloom.cli.summary import summary
from spanloom.cli.train import MODEL_FILES
from spanloom.cli.view import terminal
from spanloom.data import clinical
from spanloom.document import Document
from spanloom.evaluate import Report, evaluate
from spanloom.formats import read, write
from spanloom.formats.output import output_folder
from spanloom.recognize import Recognizer
from spanloom.view import render

_EPOCHS = 40  # a corpus this small takes more passes than a large one
_MODEL, _PREDICTIONS = "model", "sample.jsonl"
_REPLACEABLE = {*MODEL_FILES, _PREDICTIONS}


def run(output: str | None, force: bool, seed: int | None, jobs: int | None, quiet: bool) -> None:
    """Train, test, mark up the sample, show it, and say what to try next."""
    say = Messages(quiet)
    with ExitStack() as stack:
        # asked for first, so that a taken name is told before the training and not after it
        folder = None
        if output is not None:
            folder = stack.enter_context(
                output_folder(output, force=force, may_replace=lambda file: file.name in _REPLACEABLE)
            )
        recognizer = Recognizer(
            "shared", "clinical", vocabulary=str(clinical() / "vocabulary.tsv"), epochs=_EPOCHS, random_state=seed or 0,
            n_jobs=jobs or ALL_CORES,
        )  # fmt: skip
        _train(recognizer, say, quiet)
        sample = next(recognizer.predict(read(clinical() / "sample.txt")))
        if folder is not None:
            recognizer.save(folder / _MODEL)
            write([sample], folder / _PREDICTIONS)
    _show(sample, say)
    _say_what_next(output, say)


def _train(recognizer: Recognizer, say: Messages, quiet: bool) -> None:
    train, dev, test = ([*read(clinical() / part)] for part in ("train", "dev", "test"))
    mentions = sum(len(document.mentions) for document in train)
    say(f"Training on {plural(len(train), 'invented clinical note')} with {plural(mentions, 'mention')}.")
    start = monotonic()
    with Reporter(quiet) as reporter:
        recognizer.fit(train, dev=dev, progress=reporter)
    for line in summary(recognizer, monotonic() - start):
        say(f"  {line}")
    say(_result(evaluate(test, list(recognizer.predict(test)), bootstrap=0), test))


def _result(report: Report, test: list[Document]) -> str:
    kinds = [f"{name} {100 * report.structures[name].recall:.0f} %" for name in ("nested", "crossing", "discontiguous")]
    return (
        f"On {plural(len(test), 'note')} kept apart: F1 {100 * report.overall.f1:.1f} "
        f"(precision {100 * report.overall.precision:.1f}, recall {100 * report.overall.recall:.1f}; "
        f"recall of {', '.join(kinds)} mentions)."
    )


def _show(sample: Document, say: Messages) -> None:
    say(f"A note that it has never seen, with {plural(len(sample.mentions), 'mention')} and the probability of each:")
    say()
    width, color = terminal()
    print(render(sample, width=width, color=color), end="", flush=True)


def _say_what_next(output: str | None, say: Messages) -> None:
    say()
    say("Try next:")
    if output is None:
        say("  spanloom demo --output demo          keep the model and the predictions")
        output = "demo"
    model, test = Path(output, _MODEL), clinical() / "test"
    say(f"  echo 'No chest pain or dyspnea.' | spanloom predict {model} -")
    say(f"  spanloom evaluate {test} --model {model}")
    say(f"  spanloom inspect {model}")
    say(f"  spanloom view {Path(output, _PREDICTIONS)}")
    say("  spanloom train recognizer --help")
