"""`spanloom train`: train a model of any kind; its parameters are options, and the model reports its training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from time import monotonic
from typing import Any, Final

from spanloom.cli.config import CommonOptions, FolderOptions, RecognizerOptions, checked, named_path, options_of
from spanloom.cli.messages import Messages
from spanloom.cli.progress import Reporter
from spanloom.document import Document
from spanloom.errors import UsageError, plural
from spanloom.files.output import output_folder, own_files
from spanloom.models import Model, class_of
from spanloom.structures import structure_of
from spanloom.vocabulary import read_vocabulary

_OPTIMIZED: Final = {"adagrad": ("epochs", "rate", "runs"), "lbfgs": ("iterations",)}
MODEL_FILES = frozenset(("model.json", "weights.safetensors"))


class LinkerOptions(CommonOptions):
    """Options of `train linker`, besides parameters."""

    vocabulary: str
    vocabulary_columns: str | None = None
    work: str | None = None

    def beside_data(self) -> dict[str, Any]:
        """Return the arguments of the model's `fit` besides the data."""
        return {"vocabulary": read_vocabulary(self.vocabulary, columns=self.vocabulary_columns), "work": self.work}


def train(kind: str, asked: type[CommonOptions] = CommonOptions, *, config: str | None, **flags: Any) -> int | None:
    """Train and save a model of a kind.

    Args:
        kind: as a model file names it; its class is imported now, and what other kinds need is not.
        asked: what can be asked for beside its parameters.
        config: a TOML file of options.
        flags: from the command line.
    """
    estimator = class_of(kind)
    options = checked(options_of(estimator, asked), flags, config)
    return fit_and_save(estimator(**options.parameters()), options)


def fit_and_save(model: Model, options: CommonOptions) -> int | None:
    """Train and save a model, and report its training; return the exit code in case of failure.

    Args:
        model: untrained.
        options: the data, the output, and other arguments of its `fit`.
    """
    say = Messages(options.quiet)
    model.check()
    for line in _without_effect(model, options.parameters()):
        say.notice(line)
    began = monotonic()
    # opened first, so that an output that cannot be replaced is told before the training and not after it
    replaced = own_files(options.output, MODEL_FILES)
    with (
        _beside_data(options) as more,
        output_folder(options.output, force=options.force, may_replace=replaced) as folder,
    ):
        reading = options.reader(say)
        seen, tried = _Seen(), _Seen()
        data, dev = seen.of(options.training(reading)), None if options.dev is None else tried.of(reading(options.dev))
        with Reporter(options.quiet) as reporter:
            model.fit(data, dev=dev, progress=reporter, **more)
        model.save(folder)
    for line in _cautions(seen, tried):
        say.notice(line)
    for line in summary(model, monotonic() - began):
        say(line)
    say(f"saved as {options.output}")
    return reading.finish()


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
