"""What training saw, chose and could not hold, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spanloom.cli.messages import plural
from spanloom.models import Model
from spanloom.recognize import CascadeReport, Lost, Report
from spanloom.segment import Segmenter, SegmenterReport

_EXAMPLES = 5  # of the mentions that were lost for one reason
_SURFACE = 60  # characters of one
_CUTS = "inside a token"  # another verb lists these in full


def summary(model: Model, seconds: float) -> Iterator[str]:
    """The report of a training, line by line.

    Args:
        model: just trained.
        seconds: that it took.
    """
    report = model.report_
    size = f"{plural(report.documents, 'document')}: {plural(report.sentences, 'sentence')}"
    if isinstance(report, SegmenterReport):
        size += f", {plural(report.characters, 'character')}, {plural(report.words, 'word')}"
    else:
        size += f", {plural(report.tokens, 'token')}"
    mentions, tuned = plural(report.mentions, "mention"), plural(report.development, "sentence")
    yield f"trained on {size}, {mentions}; tuned on {tuned}"
    yield from _weights(report)
    if not isinstance(report, SegmenterReport) and report.dropped:
        yield f"features left out, for want of their columns: {', '.join(report.dropped)}"
    for reason, count in sorted(report.lost.items(), key=lambda item: -item[1]):
        yield f"cannot be represented: {plural(count, 'mention')}: {reason}"
        yield from _examples(
            [item for item in model.lost_ if item.reason == reason], every=isinstance(model, Segmenter)
        )
    if isinstance(report, SegmenterReport):
        figures = f"{100 * report.dev_words_f1:.1f} of words, {100 * report.dev_f1:.1f} of mentions"
        yield f"development F1 {figures}, in {seconds:.1f} s"
        return
    if report.ambiguous:
        yield f"held, but read back otherwise, as overlapping ones may be: {plural(report.ambiguous, 'mention')}"
    yield f"development F1 {100 * report.dev_f1:.1f}, in {seconds:.1f} s"


def _weights(report: Report | CascadeReport | SegmenterReport) -> Iterator[str]:
    rows, steps = plural(report.rows, "row"), plural(report.steps, "step")
    if isinstance(report, Report):
        yield f"{rows} of weights, lambda {report.l2:g}, {steps}, mention penalty {report.penalty:.2f}"
        return
    yield f"{rows} of weights, {plural(len(report.chains), 'chain')}, {steps}"
    for name, chain in report.chains.items():
        counted = f"{plural(chain.mentions, 'mention')}, " if isinstance(chain, Report) else ""
        yield (
            f"  {name}: {counted}lambda {chain.l2:g}, mention penalty {chain.penalty:.2f}, "
            f"development F1 {100 * chain.dev_f1:.1f}"
        )


def _examples(items: Sequence[Lost], *, every: bool) -> Iterator[str]:
    """Some of them, or all where no other verb lists them."""
    shown = items if every else items[:_EXAMPLES]
    yield from (f"  {_named(item)}" for item in shown)
    if len(items) > len(shown):
        where = "; spanloom validate lists all" if _CUTS in items[0].reason else ""
        yield f"  and {len(items) - _EXAMPLES:,} more{where}"


def _named(item: Lost) -> str:
    surface = item.text if len(item.text) <= _SURFACE else item.text[: _SURFACE - 1] + "…"
    spans = " ".join(f"{start}-{end}" for start, end in item.mention.spans)
    return f"{item.document or 'document'} {spans}: {item.mention.type} {surface!r}"
