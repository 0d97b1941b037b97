"""`spanloom train segmenter`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.cli.messages import plural
from spanloom.cli.summary import calibration_lines, lost_lines
from spanloom.cli.train import train_model
from spanloom.errors import UsageError
from spanloom.segment import Segmenter


def run(config: str | None, dictionaries: Sequence[str] | None, **flags: Any) -> int | None:
    """Train and save a segmenter."""
    flags["dictionaries"] = dict(map(_labelled, dictionaries or ())) or None
    options = checked(options_of(Segmenter, CommonOptions), flags, config)
    segmenter = Segmenter(**options.parameters())
    return train_model(segmenter, options, lambda seconds: _summary(segmenter, seconds))


def _labelled(text: str) -> tuple[str, str]:
    label, equals, path = text.partition("=")
    if not label or not equals or not path:
        raise UsageError(f"--dictionary: found {text!r}, expected LABEL=FILE, such as medication=drugs.txt")
    return label, path


def _summary(segmenter: Segmenter, seconds: float) -> Iterator[str]:
    report = segmenter.report_
    counts = (
        (report.sentences, "sentence"), (report.characters, "character"), (report.words, "word"),
        (report.mentions, "mention"),
    )  # fmt: skip
    yield (
        f"trained on {plural(report.documents, 'document')}: {', '.join(plural(*count) for count in counts)}; "
        f"tuned on {plural(report.development, 'sentence')}"
    )
    chains = f"{plural(len(report.chains), 'chain')}, {plural(report.steps, 'step')}"
    yield f"{plural(report.rows, 'row')} of weights, {chains}"
    for name, chain in report.chains.items():
        yield (
            f"  {name}: lambda {chain.l2:g}, mention penalty {chain.penalty:.2f}, "
            f"development F1 {100 * chain.dev_f1:.1f}"
        )
    yield from lost_lines(report.lost, segmenter.lost_, every=True)
    yield from calibration_lines(report.calibration)
    figures = f"{100 * report.dev_words_f1:.1f} of words, {100 * report.dev_f1:.1f} of mentions"
    yield f"development F1 {figures}, in {seconds:.1f} s"
