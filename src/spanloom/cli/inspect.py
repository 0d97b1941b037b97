"""`spanloom inspect`: what a model is and what it learned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from spanloom.errors import UsageError
from spanloom.models import Model, load
from spanloom.recognize import Cascade
from spanloom.recognize.tagger import Tagger
from spanloom.segment import Segmenter

_Features = list[tuple[str, float]]


def run(model: str, top: int, role: str | None, as_json: bool) -> None:
    """Describe a model."""
    recognizer = load(model)
    strongest = {name: _top(features, top) for name, features in _chosen(recognizer.strongest_, role).items()}
    values = _values(recognizer, strongest)
    print(json.dumps(values, indent=2) if as_json else "\n".join(_lines(values)))


def _chosen(strongest: dict[str, _Features], role: str | None) -> dict[str, _Features]:
    if role is None:
        return strongest
    chosen = {name: features for name, features in strongest.items() if role in (name, name.split()[0])}
    if not chosen:
        raise UsageError(f"no role {role!r}; there are {', '.join(strongest)}")
    return chosen


def _top(features: _Features, count: int) -> _Features:
    strongest = sorted(features, key=lambda feature: -abs(feature[1]))[:count]
    return sorted(strongest, key=lambda feature: -feature[1])


def _values(recognizer: Model, strongest: dict[str, _Features]) -> dict[str, Any]:
    taggers = _taggers(recognizer)
    return {
        "kind": type(recognizer).__name__.lower(),
        "parameters": {name: value for name, value in recognizer.get_params().items() if name != "n_jobs"},
        "types": list(recognizer.types_),
        "roles": list(dict.fromkeys(role for tagger in taggers for role in tagger.engine.template.roles)),
        "templates": [str(template) for template in taggers[-1].features.templates],  # the last chain has all
        "training": asdict(recognizer.report_),
        "strongest": {name: [list(feature) for feature in features] for name, features in strongest.items()},
    }


def _taggers(model: Model) -> list[Tagger]:
    if isinstance(model, Cascade):
        return [chain.fitted for chain in model.fitted]
    if isinstance(model, Segmenter):
        return [chain.tagger for part in model.fitted.parts for chain in part.chains.values()]
    return [model.fitted]


def _lines(values: dict[str, Any]) -> Iterator[str]:
    yield _row("kind", values["kind"])
    for name, value in values["parameters"].items():
        yield _row(name, value)
    yield _row("types", ", ".join(values["types"]))
    yield _row("roles", ", ".join(values["roles"]))
    yield _row("templates", " ".join(values["templates"]))
    yield ""
    yield "training"
    training = values["training"]
    for name, value in training.items():
        if name not in ("history", "lost", "dropped", "chains"):
            yield _row(f"  {name}", value)
    if training.get("dropped"):
        yield _row("  left out", " ".join(training["dropped"]))
    for reason, count in training.get("lost", {}).items():
        yield _row("  lost", f"{count:,}: {reason}")
    for number, (name, chain) in enumerate(training.get("chains", {}).items(), 1):
        figures = f"lambda {chain['l2']:g}, penalty {chain['penalty']:.2f}"
        figures = f"{chain['mentions']:,} mentions, {figures}" if "mentions" in chain else figures
        yield _row(f"  chain {number}", f"{name}: {figures}, dev F1 {100 * chain['dev_f1']:.1f}")
    for name, features in values["strongest"].items():
        yield ""
        yield f"role {name}"
        yield from (f"{weight:+9.3f}  {feature}" for feature, weight in features)


def _row(name: str, value: object) -> str:
    if isinstance(value, float):
        return f"{name + ' ':<15}{value:g}"
    return f"{name + ' ':<15}{value:,}" if type(value) is int else f"{name + ' ':<15}{'-' if value is None else value}"
