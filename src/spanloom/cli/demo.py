"""`spanloom demo`: the whole way once, on notes that come with Spanloom."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

from spanloom.cli.app import Demo
from spanloom.cli.messages import Messages
from spanloom.cli.options import ALL_CORES
from spanloom.cli.progress import Reporter
from spanloom.cli.train import MODEL_FILES, summary
from spanloom.cli.view import terminal
from spanloom.data import clinical
from spanloom.errors import plural
from spanloom.evaluate import evaluate, evaluate_concepts
from spanloom.files.output import output_folder
from spanloom.formats import read, write
from spanloom.link import Linker
from spanloom.model.corpus import TypeFilter
from spanloom.recognize import Recognizer
from spanloom.view import render
from spanloom.vocabulary import Vocabulary, read_vocabulary

_EPOCHS = 40  # a corpus this small takes more passes than a large one
_LINKED = ("problem", "treatment")  # their concepts are in the vocabulary, and they seldom nest in one another
_MODEL, _PREDICTIONS = "model", "sample.jsonl"
_REPLACEABLE = {*MODEL_FILES, _PREDICTIONS}


def run(args: Demo) -> None:
    """Train, test, annotate the sample, show it, and suggest next steps."""
    log = Messages(args.quiet)
    with ExitStack() as stack:
        # asked for first, so that a taken name is reported before the training and not after it
        folder = None
        if args.output is not None:
            folder = stack.enter_context(
                output_folder(args.output, force=args.force, may_replace=lambda file: file.name in _REPLACEABLE)
            )
        model: Recognizer | Linker
        vocabulary = read_vocabulary(clinical() / "vocabulary.tsv") if args.linker else None
        if vocabulary is not None:
            model = Linker(types=_LINKED, random_state=args.seed or 0, n_jobs=args.jobs or ALL_CORES)
        else:
            model = Recognizer(
                "shared", "clinical", vocabulary=str(clinical() / "vocabulary.tsv"), epochs=_EPOCHS,
                random_state=args.seed or 0, n_jobs=args.jobs or ALL_CORES,
            )  # fmt: skip
        _train(model, vocabulary, log, args.quiet)
        sample = next(model.stream(read(clinical() / "sample.txt")))
        if folder is not None:
            model.save(folder / _MODEL)
            write([sample], folder / _PREDICTIONS)
    shown = plural(len(sample.mentions), "mention")
    beside = "and the concepts of each" if args.linker else "and the probability of each"
    log(f"A note that it has never seen, with {shown} {beside}:", "")
    width, color = terminal()
    print(render(sample, width=width, color=color), end="", flush=True)
    if vocabulary is not None:
        print()
        for identifier in dict.fromkeys(name for mention in sample.mentions for name in mention.concepts):
            print(f"  {identifier}  {vocabulary[vocabulary.find(identifier)].name}", flush=True)
    log("", "Try next:")
    if args.output is None:
        more = "--linker " * args.linker
        log(f"  spanloom demo {more}--output demo          keep the model and the predictions")
    output, kind = args.output or "demo", "linker" if args.linker else "recognizer"
    saved, test = Path(output, _MODEL), clinical() / "test"
    log(f"  echo 'No chest pain or dyspnea.' | spanloom predict {saved} -")
    log(f"  spanloom evaluate {test} --model {saved}{' --concepts' * args.linker}", f"  spanloom inspect {saved}")
    log(f"  spanloom view {Path(output, _PREDICTIONS)}", f"  spanloom train {kind} --help")


def _train(model: Recognizer | Linker, vocabulary: Vocabulary | None, log: Messages, quiet: bool) -> None:
    types = TypeFilter(None if vocabulary is None else _LINKED)
    train, dev, test = (list(types(read(clinical() / part))) for part in ("train", "dev", "test"))
    beside = ""
    more: dict[str, Any] = {}
    if vocabulary is not None:
        concepts = plural(len(vocabulary), "concept")
        beside, more = f" of the types {', '.join(_LINKED)}, and a vocabulary of {concepts}", {"vocabulary": vocabulary}
    mentions = plural(sum(len(document.mentions) for document in train), "mention")
    log(f"Training on {plural(len(train), 'invented clinical note')} with {mentions}{beside}.")
    start = monotonic()
    with Reporter(quiet) as reporter:
        model.fit(train, dev=dev, progress=reporter, **more)
    first, *_, last = summary(model, monotonic() - start)  # the rest is for who knows the model; `inspect` shows it
    log(f"  {first}", f"  {last}")
    found = model.predict(test)
    report = evaluate(test, found, bootstrap=0)
    if vocabulary is None:
        overall, kinds = report.overall, ("nested", "crossing", "discontiguous")
        recall = ", ".join(f"{name} {100 * report.structures[name].recall:.0f} %" for name in kinds)
        log(
            f"On {plural(len(test), 'note')} kept apart: F1 {100 * overall.f1:.1f} (precision "
            f"{100 * overall.precision:.1f}, recall {100 * overall.recall:.1f}; recall of {recall} mentions)."
        )
        return
    linked = evaluate_concepts(test, found, vocabulary=vocabulary, bootstrap=0)
    log(
        f"On {plural(len(test), 'note')} kept apart: F1 of mentions {100 * report.overall.f1:.1f}, of the notes' "
        f"concepts {100 * linked.documents.f1:.1f}. Mentions with gaps, which a linker does not find, count as missed."
    )
