"""`spanloom train tagger`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.cli.messages import plural
from spanloom.cli.train import train_model
from spanloom.tag.pos_tagger import PosTagger


def run(config: str | None, **flags: Any) -> int | None:
    """Train and save a tagger."""
    options = checked(options_of(PosTagger, CommonOptions), flags, config)
    tagger = PosTagger(**options.parameters())
    return train_model(tagger, options, lambda seconds: _summary(tagger, seconds))


def _summary(tagger: PosTagger, seconds: float) -> Iterator[str]:
    report = tagger.report_
    seen = f"{plural(report.sentences, 'sentence')}, {plural(report.tokens, 'token')}"
    yield f"trained on {seen}, {plural(len(tagger.tags_), 'tag')}"
    yield f"{plural(report.rows, 'row')} of weights, {plural(report.steps, 'step')}"
    accuracy = f"development accuracy {100 * report.accuracy:.2f} on {plural(report.development, 'token')}"
    yield f"{accuracy}, in {seconds:.1f} s"
