"""`spanloom lab language-model`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from time import monotonic

from spanloom.cli.messages import Messages
from spanloom.errors import UsageError, plural
from spanloom.formats import read
from spanloom_lab.lm.arpa import SUFFIXES
from spanloom_lab.lm.language_model import LanguageModel
from spanloom_lab.lm.ngrams import HIGHEST


def run(
    train: list[str] | None,
    dev: str | None,
    output: str | None,
    order: int | None,
    input_format: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Train or convert, and save."""
    if not train or not output:
        raise UsageError(f"--{'output' if train else 'train'} is missing; give it on the command line")
    log = Messages(quiet)
    began = monotonic()
    model = _model(train, order, input_format)
    counts = ", ".join(plural(len(level.words), f"{number}-gram") for number, level in enumerate(model.levels, 1))
    log(f"{plural(len(model.words), 'word')}: {counts}, in {monotonic() - began:.1f} s")
    if dev is not None:
        log(f"perplexity of {dev}: {model.perplexity(list(read(dev, format=input_format))):.1f}")
    if output.endswith(SUFFIXES):
        model.write_arpa(output, force=force)
    else:
        model.save(output, force=force)
    log(f"saved as {output}")


def _model(train: Sequence[str], order: int | None, input_format: str | None) -> LanguageModel:
    if not any(path.endswith(SUFFIXES) for path in train):
        documents = chain.from_iterable(read(path, format=input_format) for path in train)
        return LanguageModel.train(documents, HIGHEST if order is None else order)
    if len(train) > 1 or order is not None:
        raise UsageError(f"{train[0]} is a model: give no other --train and no --order with it")
    return LanguageModel.read_arpa(train[0])
