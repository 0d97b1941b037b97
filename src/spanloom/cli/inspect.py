"""`spanloom inspect`: what a model is and what it learned."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spanloom.errors import UsageError, meant, plural
from spanloom.model.calibration import Check
from spanloom.model.overlaps import OverlapReport
from spanloom.model.report import (
    CompactReport,
    CompletionReport,
    EncoderReport,
    PassReport,
    Quality,
    RescoringReport,
    StructureReport,
    TeachingReport,
)
from spanloom.model.splitting import SplittingReport
from spanloom.models import load

Strongest = Mapping[str, list[tuple[str, float]]]
# of a training, what is not one figure a line
_SEVERAL = ("history", "lost", "dropped", "chains", "calibration", "annotators")
_REPORTS: Final[dict[str, Any]] = {
    "splitting": SplittingReport, "encoder": EncoderReport, "teaching": TeachingReport, "completion": CompletionReport,
    "passes": PassReport, "overlaps": OverlapReport, "rescoring": RescoringReport, "compact": CompactReport,
    "structure": StructureReport,
}  # fmt: skip
"""Of the same, what training tells in lines of its own."""


def run(model: str, top: int, role: str | None, encoder: str | None, as_json: bool) -> None:
    """Describe a model."""
    described = load(model, encoder=encoder).describe()
    if "strongest" in described:
        strongest = _chosen(described["strongest"], role)
        described["strongest"] = {name: _top(features, top) for name, features in strongest.items()}
    elif role is not None:
        raise UsageError("a model of this kind shows no roles; leave out --role")
    print(json.dumps(described, indent=2) if as_json else "\n".join(lines(described)))


def _chosen(strongest: Strongest, role: str | None) -> Strongest:
    if role is None:
        return strongest
    chosen = {name: features for name, features in strongest.items() if role in (name, name.split()[0])}
    if not chosen:
        raise UsageError(f"no role {role!r}; there are {', '.join(strongest)}{meant(role, strongest)}")
    return chosen


def _top(features: list[tuple[str, float]], count: int) -> list[tuple[str, float]]:
    strongest = sorted(features, key=lambda feature: -abs(feature[1]))[:count]
    return sorted(strongest, key=lambda feature: -feature[1])


def lines(described: Mapping[str, Any]) -> Iterator[str]:
    """Yield the description of a model as lines for a terminal."""
    for name, value in described.items():
        if name in ("parameters", "counts"):
            # a parameter may leave to training what stands below
            yield from (_row(key, of_key) for key, of_key in value.items() if key not in described)
        elif name == "training":
            yield from ("", name, *_training(value))
        elif name == "strongest":
            yield from _roles(value)
        elif name == "notes":
            yield from value
        elif isinstance(value, list):
            yield _row(name, (" " if name == "templates" else ", ").join(value))
        else:
            yield _row(name, value)


def _training(training: Mapping[str, Any]) -> Iterator[str]:
    reports = {name for name in _REPORTS if isinstance(training.get(name), Mapping)}  # a linker's passes are a number
    hidden = {*_SEVERAL, *reports, *(name for name in _REPORTS if training.get(name) is None)}
    yield from (_row(f"  {name}", value) for name, value in training.items() if name not in hidden)
    if training.get("dropped"):
        yield _row("  left out", " ".join(training["dropped"]))
    for reason, count in training.get("lost", {}).items():
        yield _row("  lost", f"{count:,}: {reason}")
    for name, report in _REPORTS.items():
        if name in reports:
            yield from (_row(f"  {name}", line) for line in report(**training[name]).lines())
    yield from _calibration(training)
    for name, one in ((training.get("annotators") or {}).get("annotators") or {}).items():
        yield _row("  annotator", f"{name}: {_quality(one['overall'])}, agreement {100 * one['agreement']:.0f} %")
        yield from (_row(f"    {kind}", _quality(each)) for kind, each in one["types"].items())
    for number, (name, chain) in enumerate(training.get("chains", {}).items(), 1):
        figures = f"lambda {chain['l2']:g}, penalty {chain['penalty']:.2f}"
        figures = f"{chain['mentions']:,} mentions, {figures}" if "mentions" in chain else figures
        yield _row(f"  chain {number}", f"{name}: {figures}, dev F1 {100 * chain['dev_f1']:.1f}")
        yield from _calibration(chain)


def _quality(told: Sequence[Any] | Mapping[str, Any]) -> str:
    quality = Quality(**told) if isinstance(told, Mapping) else Quality(*told)
    return f"{plural(quality.mentions, 'mention')}, {quality}"


def _calibration(training: Mapping[str, Any]) -> Iterator[str]:
    for name, check in (training.get("calibration") or {}).items():
        yield _row("  calibration", f"of {name}: dev error {Check(**check)}")


def _roles(strongest: Strongest) -> Iterator[str]:
    for name, features in strongest.items():
        yield ""
        yield f"role {name}"
        yield from (f"{weight:+9.3f}  {feature}" for feature, weight in features)


def _row(name: str, value: object) -> str:
    if isinstance(value, float):
        return f"{name:<14} {value:g}"
    return f"{name:<14} {value:,}" if type(value) is int else f"{name:<14} {'-' if value is None else value}"
