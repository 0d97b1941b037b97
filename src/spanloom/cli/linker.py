"""`spanloom train linker`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.cli.messages import plural
from spanloom.cli.summary import lost_lines
from spanloom.cli.train import train_model
from spanloom.link.linker import Linker


class LinkerOptions(CommonOptions):
    """What `train linker` was asked for, beside parameters."""

    beside: ClassVar[frozenset[str]] = CommonOptions.beside | {"vocabulary"}

    vocabulary: str


def run(config: str | None, **flags: Any) -> int | None:
    """Train and save a linker."""
    options = checked(options_of(Linker, LinkerOptions), flags, config)
    linker = Linker(**options.parameters())
    return train_model(linker, options, lambda seconds: summary(linker, seconds), vocabulary=options.vocabulary)


def summary(linker: Linker, seconds: float) -> Iterator[str]:
    """The report of a training, line by line.

    Args:
        linker: just trained.
        seconds: that it took.
    """
    report = linker.report_
    yield (
        f"trained on {plural(report.documents, 'document')}: {plural(report.sentences, 'sentence')}, "
        f"{plural(report.tokens, 'token')}, {plural(report.mentions, 'mention')} of {', '.join(linker.types_)}"
    )
    yield (
        f"{plural(report.concepts, 'mention')} with a concept of the vocabulary; it is among the candidates of "
        f"{plural(report.linked, 'mention')}"
    )
    yield (
        f"{plural(report.features, 'row')} of weights, {plural(report.keys, 'other feature')}, "
        f"{plural(report.passes, 'step')}, bias {report.bias:g}"
    )
    yield from lost_lines(report.lost, linker.lost_)
    linked = f"{100 * report.dev_accuracy:.1f} % of the recognized mentions rightly linked"
    yield (
        f"development F1 of mentions {100 * report.dev_f1:.1f}, of documents' concepts "
        f"{100 * report.dev_concepts:.1f}; {linked}, in {seconds:.1f} s"
    )
