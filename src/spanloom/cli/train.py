"""`spanloom train`, `teach`, `compact` and `export`: models are made; parameters of a model are options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from time import monotonic
from typing import Any, Final

from pydantic import Field

from spanloom.cli.app import Compact, Export, TrainClusters
from spanloom.cli.config import CommonOptions, FolderOptions, Paths, RecognizerOptions, checked, named_path, options_of
from spanloom.cli.messages import Messages, duration
from spanloom.cli.options import ALL_CORES
from spanloom.cli.progress import Reporter
from spanloom.cli.reading import Reading
from spanloom.document import Document
from spanloom.errors import UsageError, clip, plural
from spanloom.features.clusters import induce_from, write_paths
from spanloom.features.vectors import induce_vectors
from spanloom.files.output import check_free, output_folder, own_files
from spanloom.learn import Progress
from spanloom.models import Model, class_of, load
from spanloom.recognize.compacting import compact
from spanloom.recognize.exporting import to_onnx
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.recognize.teaching import teach
from spanloom.structures import structure_of
from spanloom.vocabulary import read_vocabulary

_OPTIMIZED: Final = {"adagrad": ("epochs", "rate", "runs"), "lbfgs": ("iterations",)}
_METHODS = {"vectors": induce_vectors, "brown": induce_from}


def clusters(args: TrainClusters) -> int | None:
    """Count, cluster and write; report the number of words, and return the exit code if records were skipped."""
    if not args.source or not args.output:
        raise UsageError(f"--{'output' if args.source else 'input'} is missing; give it on the command line")
    if args.method not in _METHODS:
        raise UsageError(f"--method is {clip(args.method)}, expected {' or '.join(_METHODS)}")
    check_free(args.output, force=args.force)
    log = Messages(args.quiet)
    began = monotonic()
    reading = Reading.of(args, log)
    with Reporter(args.quiet) as reporter:

        def report(stage: str, done: int, of: int | None = None) -> None:
            reporter(Progress(stage, done, of, seconds=monotonic() - began))

        def counted(documents: Iterable[Document]) -> Iterator[Document]:
            for number, document in enumerate(documents, 1):
                yield document
                report("reading", number)

        documents = counted(reading.raw(args.source))
        found = _METHODS[args.method](documents, args.size, args.min_count, progress=partial(report, "clustering"))
    write_paths(args.output, found, force=args.force)
    size = len(set(found.values()))
    spellings = sum(map(len, found.letters.values()))
    fewer = f", as no more can be distinguished, in place of {args.size}" if size < args.size else ""
    log(
        f"{plural(len(found), 'word')} that occur {plural(args.min_count, 'time')} or more, in "
        f"{plural(size, 'cluster')}{fewer}; {plural(spellings, 'spelling')} for others; "
        f"in {duration(monotonic() - began)}",
        f"saved as {args.output}",
    )
    return reading.finish()


MODEL_FILES = frozenset(("model.json", "weights.safetensors"))


class LinkerOptions(CommonOptions):
    """Options of `train linker`, besides parameters."""

    vocabulary: str
    vocabulary_columns: str | None = None
    work: str | None = None

    def beside_data(self) -> dict[str, Any]:
        """Return the arguments of the model's `fit` besides the data."""
        return {"vocabulary": read_vocabulary(self.vocabulary, columns=self.vocabulary_columns), "work": self.work}


def train(
    kind: str, declaration: type[CommonOptions] = CommonOptions, *, config: str | None, **flags: Any
) -> int | None:
    """Train and save a model of a kind.

    Args:
        kind: as a model file names it; its class is imported now, and what other kinds need is not.
        declaration: what can be asked for beside its parameters.
        config: a TOML file of options.
        flags: from the command line.
    """
    estimator = class_of(kind)
    options = checked(options_of(estimator, declaration), flags, config)
    return fit_and_save(estimator(**options.parameters()), options)


def fit_and_save(model: Model, options: CommonOptions) -> int | None:
    """Train and save a model, and report its training; return the exit code in case of failure.

    Args:
        model: untrained.
        options: the data, the output, and other arguments of its `fit`.
    """
    log = Messages(options.quiet)
    model.check()
    log.notice(*_without_effect(model, options.parameters()))
    began = monotonic()
    with _beside_data(options) as more, _model_folder(options.output, options.force) as folder:
        reading = Reading.of(options, log)
        seen, tried = _Seen(), _Seen()
        data, dev = seen.of(options.training(reading)), None if options.dev is None else tried.of(reading(options.dev))
        with Reporter(options.quiet) as reporter:
            model.fit(data, dev=dev, progress=reporter, **more)
        model.save(folder)
    log.notice(*_cautions(seen, tried))
    log(*summary(model, monotonic() - began), f"saved as {options.output}")
    return reading.finish()


def _model_folder(output: str, force: bool) -> AbstractContextManager[Path]:
    """Open the folder of a new model: before its training, so that what cannot be replaced is reported then."""
    return output_folder(output, force=force, may_replace=own_files(output, MODEL_FILES))


def _without_effect(model: Any, given: Collection[str]) -> Iterator[str]:
    """Yield which of the parameters that were given the training of a model does not read, and why."""
    reasons: dict[str, str] = {}
    if not getattr(model, "featured", True):
        reasons |= dict.fromkeys((*_OPTIMIZED["adagrad"], *_OPTIMIZED["lbfgs"], "min_count"), "an encoder alone")
    elif optimizer := getattr(model, "optimizer", None):
        [other] = _OPTIMIZED.keys() - {optimizer}
        reasons |= dict.fromkeys(_OPTIMIZED[other], f"the optimizer {optimizer}")
    if structure := getattr(model, "structure", None):
        chosen = structure_of("shared" if structure == "auto" else structure)  # auto chooses none with other parameters
        read = {one.name for one in fields(chosen)} | ({"headless"} if chosen.heads else set())
        reasons |= dict.fromkeys({"components", "longest", "headless"} - read, f"the structure {structure}")
    yield from (f"{name} has no effect with {why}" for name, why in sorted(reasons.items()) if name in given)


@dataclass
class _Seen:
    """Counts documents that pass by: their texts, as hashes, and their mentions."""

    texts: Counter[int] = field(default_factory=Counter)
    mentions: int = 0

    def of(self, documents: Iterator[Document]) -> Iterator[Document]:
        for document in documents:
            self.texts[hash(document.text)] += 1
            self.mentions += len(document.mentions)
            yield document


def _cautions(train: _Seen, dev: _Seen) -> Iterator[str]:
    """Yield what makes a score on development data meaningless."""
    count = dev.texts.total()
    known = sum(times for text, times in dev.texts.items() if text in train.texts)
    if 2 * known > count:
        yield (
            f"{known:,} of {plural(count, 'development document')} have the text of a training document, so the score "
            "is no estimate for other text; give other documents as --dev, or none"
        )
    if count and train.mentions and not dev.mentions:
        yield "no development document has a mention, so the score is 0 for every model; give annotated text as --dev"


@contextmanager
def _beside_data(options: CommonOptions) -> Iterator[dict[str, Any]]:
    """Give the arguments of `fit` besides the data; what training holds in a folder stays until the model is saved."""
    more = options.beside_data()
    if more.get("work") is None:
        yield more
        return
    with resolve_name("spanloom.model.work:Work")(more["work"]) as work:
        if Path(options.output).resolve().is_relative_to(work.folder.resolve()):
            raise UsageError(f"--output {options.output} lies in {work.folder}, which is removed; name another folder")
        yield {**more, "work": work}


def summary(model: Model, seconds: float) -> Iterator[str]:
    """Yield a model's summary of its training, and how long that took."""
    *lines, last = model.summary()
    yield from lines
    yield f"{last}, in {seconds:.1f} s"


recognizer = partial(train, "recognizer", RecognizerOptions)
linker = partial(train, "linker", LinkerOptions)
tagger = partial(train, "tagger", FolderOptions)


def segmenter(dictionaries: Sequence[str] | None, **flags: Any) -> int | None:
    """Train and save a segmenter."""
    expected = "LABEL=FILE, such as medication=drugs.txt"
    labelled = dict(named_path("--dictionary", text, expected) for text in dictionaries or ()) or None
    return train("segmenter", FolderOptions, dictionaries=labelled, **flags)


class TeachOptions(CommonOptions):
    """Options of `teach`, besides parameters of the student."""

    train: Paths | None = None  # type: ignore[assignment]  # a student may do without
    crossed: Paths = Field(default_factory=list)
    weight: float | list[float] | None = None


def teach_run(
    model: str, source: list[str], teacher: list[str] | None, *, config: str | None, **flags: Any
) -> int | None:
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
    log = Messages(options.quiet)
    began = monotonic()
    with _model_folder(options.output, options.force) as folder:
        parameters = options.parameters()
        crossed = [named_path("--crossed", text, "MODEL=TEXT, such as fold-2=notes/fold-1") for text in options.crossed]
        models: dict[str, Any] = {path: load(path) for path in dict.fromkeys([*paths, *(name for name, _ in crossed)])}
        for one in models.values():
            if hasattr(one, "set_params"):
                one.set_params(n_jobs=parameters["n_jobs"])
        if crossed and options.train is not None and options.dev is None:
            log.notice(
                "a tenth of --train tunes the student; where --crossed marks up the same text, its F1 is too high: "
                "give --dev"
            )
        reading = Reading.of(options, log)
        with Reporter(options.quiet) as reporter:
            student = teach(
                [models[path] for path in paths], reading.raw(source), weight=options.weight, progress=reporter,
                crossed=((models[name], reading.raw([path])) for name, path in crossed),
                train=None if options.train is None else reading.for_training(options.train),
                dev=None if options.dev is None else reading(options.dev), **parameters,
            )  # fmt: skip
        student.save(folder)
    log(*summary(student, monotonic() - began), f"saved as {options.output}")
    return reading.finish()


def export_run(args: Export) -> None:
    """Export a model."""
    if not args.onnx:
        raise UsageError("no form to export to; there is one: --onnx")
    with _model_folder(args.output, args.force) as folder:
        to_onnx(load(args.model, encoder=args.encoder), args.precision, args.window).save(folder)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    what = f"the encoder is an ONNX graph with products of {args.precision}; the model has {size:,.1f} MB"
    Messages(args.quiet)(what, f"saved as {args.output}")


def compact_run(args: Compact) -> int | None:
    """Make a model compact."""
    log = Messages(args.quiet)
    reading = Reading.of(args, log)
    with _model_folder(args.output, args.force) as folder:
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
    log(*made.report_.compact.lines(), f"saved as {args.output}, {size:,.2f} MB")
    return reading.finish()
