"""`spanloom train tagger`, and what `predict` and `evaluate` do with a tagger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from spanloom.cli.config import ALL_CORES, checked
from spanloom.cli.messages import Messages, lost, plural
from spanloom.cli.progress import Reporter
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.formats import read, write
from spanloom.formats.output import output_folder
from spanloom.modelfile import read_description
from spanloom.recognize.pos_tagger import KIND, PosTagger, load_tagger

MODEL_FILES = frozenset(("model.json", "weights.safetensors"))
_NAMES = {"jobs": "n_jobs", "seed": "random_state"}  # ours -> the tagger's, where they differ


class TaggerOptions(BaseModel):
    """What `train tagger` was asked for; ``None`` leaves the choice to the tagger."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    train: str
    output: str
    dev: str | None = None
    input_format: str | None = None
    column: str | None = None
    features: list[str] | None = None
    l2: float | None = None
    epochs: int | None = Field(default=None, ge=1)
    rate: float | None = None
    min_count: int | None = Field(default=None, ge=1)
    seed: int | None = None
    jobs: int | None = Field(default=None, ge=1)
    force: bool = False
    quiet: bool = False


def run(config: str | None, **flags: Any) -> None:
    """Train and save a tagger."""
    options = checked(TaggerOptions, flags, config)
    given = options.model_dump(exclude={"train", "dev", "output", "input_format", "force", "quiet"}, exclude_none=True)
    tagger = PosTagger(**{"n_jobs": ALL_CORES, **{_NAMES.get(name, name): value for name, value in given.items()}})
    tagger.check()
    say = Messages(options.quiet)
    began = monotonic()
    with output_folder(
        options.output, force=options.force, may_replace=lambda file: file.name in MODEL_FILES
    ) as folder:
        train = read(options.train, format=options.input_format)
        dev = None if options.dev is None else read(options.dev, format=options.input_format)
        with Reporter(options.quiet) as reporter:
            tagger.fit(train, dev=dev, progress=reporter)
        tagger.save(folder)
    report = tagger.report_
    seen = f"{plural(report.sentences, 'sentence')}, {plural(report.tokens, 'token')}"
    say(f"trained on {seen}, {plural(len(tagger.tags_), 'tag')}")
    say(f"{plural(report.rows, 'row')} of weights, {plural(report.steps, 'step')}")
    say(
        f"development accuracy {100 * report.accuracy:.2f} on {plural(report.development, 'token')}, "
        f"in {monotonic() - began:.1f} s"
    )
    say(f"saved as {options.output}")


def is_tagger(model: str | None) -> bool:
    """Whether the folder holds a tagger."""
    return model is not None and bool(read_description(model)["kind"] == KIND)


def predict(
    model: str, source: str, output: str, output_format: str | None, input_format: str | None, force: bool,
    jobs: int | None, say: Messages,
) -> None:  # fmt: skip
    """Write the documents with the tagger's column; all else that they have is kept."""
    tagger = load_tagger(model).set_params(n_jobs=jobs or ALL_CORES)
    count = 0

    def counted() -> Iterator[Document]:
        nonlocal count
        for document in tagger.tag(read(source, format=input_format)):
            count += 0 if document.tokens is None else len(document.tokens)
            yield document

    losses = write(counted(), output, format=output_format, force=force)
    if losses:
        say(f"spanloom: {lost(losses)}")
    say(f"{plural(count, 'tag')} in column {tagger.column!r}")


def tagged(
    model: str, documents: Sequence[Document], column: str | None, jobs: int | None
) -> tuple[str, list[Document]]:
    """The column that a tagger fills, and the documents with it.

    Raises:
        UsageError: another column was asked for.
    """
    tagger = load_tagger(model).set_params(n_jobs=jobs or ALL_CORES)
    if column not in (None, tagger.column):
        raise UsageError(f"--column {column}: the tagger {model} fills the column {tagger.column!r}; leave it out")
    return tagger.column, list(tagger.tag(documents))
