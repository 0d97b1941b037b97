"""What training saw, chose and could not hold, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spanloom.cli.messages import plural
from spanloom.model.calibration import CalibrationReport, Check
from spanloom.recognize import Cascade, CascadeReport, Lost, Recognizer, Report

_EXAMPLES = 5  # of the mentions that were lost for one reason
_SURFACE = 60  # characters of one
_CUTS = "inside a token"  # another verb lists these in full


def summary(recognizer: Recognizer | Cascade, seconds: float) -> Iterator[str]:
    """The report of a training, line by line.

    Args:
        recognizer: just trained.
        seconds: that it took.
    """
    report = recognizer.report_
    yield (
        f"trained on {plural(report.documents, 'document')}: {plural(report.sentences, 'sentence')}, "
        f"{plural(report.tokens, 'token')}, {plural(report.mentions, 'mention')}; "
        f"tuned on {plural(report.development, 'sentence')}"
    )
    yield from _weights(report)
    if report.dropped:
        yield f"features left out, for want of their columns: {', '.join(report.dropped)}"
    yield from lost_lines(report.lost, recognizer.lost_)
    if report.ambiguous:
        yield f"held, but read back otherwise, as overlapping ones may be: {plural(report.ambiguous, 'mention')}"
    if isinstance(report, Report):
        yield from calibration_lines(report.calibration)
    yield f"development F1 {100 * report.dev_f1:.1f}, in {seconds:.1f} s"


def calibration_lines(found: CalibrationReport | None) -> Iterator[str]:
    """How far probabilities are from shares on development data, and what calibration makes of it."""
    if found is not None:
        yield f"calibration error: mentions {calibration_error(found.mentions)}"
        yield f"calibration error: whole sentences {calibration_error(found.answers)}"


def calibration_error(found: Check) -> str:
    """Before and after, or why there is one figure only."""
    before = f"{100 * found.before:.1f} %"
    if found.enough:
        return f"{before}, calibrated {100 * found.after:.1f} %"
    return f"{before}, left so: {found.count} in the development data are too few to calibrate with"


def _weights(report: Report | CascadeReport) -> Iterator[str]:
    rows, steps = plural(report.rows, "row"), plural(report.steps, "step")
    if isinstance(report, Report):
        yield f"{rows} of weights, lambda {report.l2:g}, {steps}, mention penalty {report.penalty:.2f}"
        return
    yield f"{rows} of weights, {plural(len(report.chains), 'chain')}, {steps}"
    for name, chain in report.chains.items():
        yield (
            f"  {name}: {plural(chain.mentions, 'mention')}, lambda {chain.l2:g}, mention penalty {chain.penalty:.2f}, "
            f"development F1 {100 * chain.dev_f1:.1f}"
        )
        yield from (f"    {line}" for line in calibration_lines(chain.calibration))


def lost_lines(reasons: Mapping[str, int], lost: Sequence[Lost], *, every: bool = False) -> Iterator[str]:
    """What a model cannot hold, with examples.

    Args:
        reasons: reason -> how many mentions.
        lost: the mentions.
        every: list all of them, where no other verb does.
    """
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        yield f"cannot be represented: {plural(count, 'mention')}: {reason}"
        yield from _examples([item for item in lost if item.reason == reason], every)


def _examples(items: Sequence[Lost], every: bool) -> Iterator[str]:
    yield from (f"  {_named(item)}" for item in (items if every else items[:_EXAMPLES]))
    if len(items) > _EXAMPLES and not every:
        where = "; spanloom validate lists all" if _CUTS in items[0].reason else ""
        yield f"  and {len(items) - _EXAMPLES:,} more{where}"


def _named(item: Lost) -> str:
    surface = item.text if len(item.text) <= _SURFACE else item.text[: _SURFACE - 1] + "…"
    spans = " ".join(f"{start}-{end}" for start, end in item.mention.spans)
    return f"{item.document or 'document'} {spans}: {item.mention.type} {surface!r}"
