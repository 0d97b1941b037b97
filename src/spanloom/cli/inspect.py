"""`spanloom inspect`: what a model is and what it learned."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime
from pathlib import Path
from string import digits
from time import process_time
from typing import Any, Final

from spanloom import modelfile
from spanloom.cli.app import Inspect
from spanloom.cli.messages import Messages
from spanloom.cli.reading import Reading
from spanloom.concepts.report import ConceptReport
from spanloom.document import Document
from spanloom.errors import UsageError, meant, plural
from spanloom.model.attributes import AttributeQuality
from spanloom.model.calibration import Check
from spanloom.model.fields import declared
from spanloom.model.overlaps import OverlapReport
from spanloom.model.parameters import Parameters
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
from spanloom.model.stages import run_stages
from spanloom.models import Saved, load, locate

_TOP: Final = 20  # features of a role, by default
_COUNTED: Final = ("documents", "tokens", "mentions")
_SCORED: Final = "dev_f1"
_MEGABYTE: Final = 1_000_000
_PARTS: Final = ("parameters", "counts", "stages", "training", "strongest", "notes")
_LONG: Final = ("roles", "templates", "attributes", "concepts")  # the last two are among the stages
# of a training, what is not one figure a line
_SEVERAL = ("history", "lost", "dropped", "chains", "calibration", "annotators", "attributes")
_REPORTS: Final[dict[str, Any]] = {
    "splitting": SplittingReport, "encoder": EncoderReport, "teaching": TeachingReport, "completion": CompletionReport,
    "passes": PassReport, "overlaps": OverlapReport, "rescoring": RescoringReport, "compact": CompactReport,
    "structure": StructureReport, "concepts": ConceptReport,
}  # fmt: skip
"""Of the same, what training reports in lines of its own."""
_OF_STAGES: Final = {"first_pass": "passes", "second_stage": "rescoring"}  # those with another name than the stage
_BEFORE: Final = {"tagger": "pos_", "split": "splitter_", "first_pass": "pass_"}
"""Stages before the structure of a recognizer, with its attributes."""


def run(args: Inspect) -> None:
    """Describe a model: the essentials, and all of it as JSON or with ``every``."""
    folder = Path(locate(args.model))
    found = load(folder, encoder=args.encoder)
    described = found.describe()
    stages = list(modelfile.read(folder, found.kind, mapped=True).parts) if isinstance(found, Parameters) else []
    if stages:
        described["stages"] = _stages(stages, described["training"])
    if args.time is not None:
        if not stages:
            raise UsageError(f"a {found.kind} has no stages; leave out --time")
        _measure(found, described["stages"], Reading(Messages())(args.time, mentions=False))
    if "strongest" in described:
        strongest, role, count = described["strongest"], args.role, _TOP if args.top is None else args.top
        chosen = {name: own for name, own in strongest.items() if role is None or role in (name, name.split()[0])}
        if role is not None and not chosen:
            raise UsageError(f"no role {role!r}; there are {', '.join(strongest)}{meant(role, strongest)}")
        for name, features in chosen.items():
            top = sorted(features, key=lambda feature: -abs(feature[1]))[:count]
            chosen[name] = sorted(top, key=lambda feature: -feature[1])
        described["strongest"] = chosen
    elif args.role is not None:
        raise UsageError("a model of this kind shows no roles; leave out --role")
    if args.as_json:
        print(json.dumps(described, indent=2))
        return
    if not args.every:
        described = _essentials(described, found, folder)
        if args.top is None and args.role is None:
            described.pop("strongest", None)
    print("\n".join(lines(described, args.every)))


def _stages(stages: Sequence[str], training: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the stages of a model file, with the development F1 after each, 0 to 1, and how much it gains."""
    rows: list[dict[str, Any]] = [{"stage": name} for name in stages]
    _main(rows)["dev_f1"] = training.get("dev_f1")
    for row in rows:
        report = training.get(_OF_STAGES.get(row["stage"], row["stage"])) or {}
        if row["stage"] == "attributes":
            row["f1"] = {name: AttributeQuality(**one).f1 for name, one in report.items()}
        elif row["stage"] == "concepts" and report:
            row["right"] = report["right"]
        elif report.get("before") is not None:
            row |= {"dev_f1": report["after"], "gain": report["after"] - report["before"]}
            if row["stage"] == "second_stage":
                _main(rows)["dev_f1"] = report["before"]
    return rows


def _main(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the stage that finds what the model is for; of several the last."""
    return [row for row in rows if row["stage"].rstrip(digits) in ("structure", "link")][-1]


def _measure(model: Any, rows: Sequence[dict[str, Any]], documents: Iterable[Document]) -> None:
    """Add the microseconds of processor time that stages take a token.

    1. What comes before the structure is added to the model one by one, and prepares the text.
    2. The model without later stages finds mentions, which takes the structure and its columns the rest of the time.
    3. The second stage takes what the model takes longer with it.
    4. The stages that follow it are run on these mentions, one after the other.

    Everything is done twice; the second time counts, when all is loaded.
    """

    def timed(function: Callable[..., Iterable[Document]], *given: Any) -> tuple[float, list[Document]]:
        list(function(*given))
        began = process_time()
        found = list(function(*given))
        return process_time() - began, found

    texts, bare, spent = list(documents), copy(model), dict[str, float]()
    before = _BEFORE if hasattr(model, "ready") else {}
    vars(bare).update({name: getattr(type(model), name) for name in before.values()}, stages_=(), second_=None)
    whole = timed(bare.ready, texts)[0] if before else 0.0
    for name, attribute in before.items():
        setattr(bare, attribute, getattr(model, attribute))
        seconds, _ = timed(bare.ready, texts)
        spent[name], whole = seconds - whole, seconds
    seconds, found = timed(bare.stream, texts)
    spent[_main(rows)["stage"]] = seconds - whole
    if (second := getattr(model, "second_", None)) is not None:
        bare.second_, whole = second, seconds
        seconds, found = timed(bare.stream, texts)
        spent["second_stage"] = seconds - whole
    for stage in getattr(model, "stages_", ()):
        spent[stage.name], found = timed(run_stages, [stage], found)
    tokens = sum(len(document.tokens) for document in found if document.tokens is not None)
    if not tokens:
        raise UsageError("--time has no text; name a file or a folder with some, a few hundred sentences")
    for row in rows:
        if row["stage"] in spent:
            row["microseconds_per_token"] = round(1e6 * max(0.0, spent[row["stage"]]) / tokens, 2)


def _stage_rows(stages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in stages:
        words = []
        if "f1" in row:
            words.append("F1 of " + ", ".join(f"{name} {100 * f1:.1f}" for name, f1 in row["f1"].items()))
        if "right" in row:
            words.append(f"{100 * row['right']:.1f} % of concepts right")
        if isinstance(row.get("dev_f1"), float):
            words.append(f"development F1 {100 * row['dev_f1']:.1f}")
        if "gain" in row:
            words.append(f"{100 * row['gain']:+.1f}")
        if "microseconds_per_token" in row:
            words.append(f"{row['microseconds_per_token']:.1f} microseconds a token")
        yield _row(f"  {row['stage'].replace('_', ' ')}", ", ".join(words)).rstrip()


def _essentials(described: Mapping[str, Any], model: Saved, folder: Path) -> dict[str, Any]:
    """Return what a model is, what it was trained on, and which of its parameters are not the defaults."""
    training = dict(described.get("training", {}))
    own = {name: value for name, value in described.items() if name not in (*_PARTS, *_LONG) and value is not None}
    given = described.get("parameters", {})
    own |= {name: given[name] for name in ("column", "features") if name in given}
    if isinstance(training.get(_SCORED), float):
        own["dev F1"] = f"{100 * training.pop(_SCORED):.1f}"
    if interval := training.pop("interval", None):
        own["dev F1"] += ", 95 % interval {:.0f} to {:.0f}".format(*(100 * end for end in interval))
    counts = [plural(training.pop(name), name[:-1]) for name in _COUNTED if type(training.get(name)) is int]
    if counts:
        own["trained on"] = [", ".join(counts)]
    files = [file for file in folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    own["size"] = f"{size / 1e6:.1f} MB" if size >= _MEGABYTE else f"{size / 1e3:.1f} kB"
    own["date"] = datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC).strftime("%Y-%m-%d")
    rest = {name: described[name] for name in _PARTS if name in described}
    if given:
        values = {one.name: one.default for one in declared(type(model))}
        defaults = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        if given.get("vectors") is None:  # the default of models made before there was a choice
            defaults["vectors"] = None
        chosen = {name: value for name, value in given.items() if name not in own and value != defaults.get(name)}
        rest |= {"parameters": chosen, "training": training}
    return own | rest


def lines(described: Mapping[str, Any], every: bool = True) -> Iterator[str]:
    """Yield the description of a model as lines for a terminal.

    Args:
        described: of the model.
        every: whether all parameters are among it, and not only some.
    """
    for name, value in described.items():
        if name == "parameters" and not every:
            if value:
                yield from ("", "parameters; all others have their defaults, and --all lists them")
                yield from (_row(f"  {key}", of_key) for key, of_key in value.items())
        elif name in ("parameters", "counts"):
            # a parameter may leave these to training
            yield from (_row(key, of_key) for key, of_key in value.items() if key not in described)
        elif name == "training":
            yield from ("", name, *_training(value, every))
        elif name == "stages":
            yield from ("", name, *_stage_rows(value))
        elif name == "strongest":
            for role, features in value.items():
                yield from ("", f"role {role}", *(f"{weight:+9.3f}  {feature}" for feature, weight in features))
        elif name == "notes":
            yield from value
        elif isinstance(value, list):
            yield _row(name, (" " if name in ("templates", "features") else ", ").join(value))
        else:
            yield _row(name, value)


def _training(training: Mapping[str, Any], every: bool) -> Iterator[str]:
    reports = {name for name in _REPORTS if isinstance(training.get(name), Mapping)}  # a linker's passes are a number
    hidden = {*_SEVERAL, *reports, *(name for name in _REPORTS if training.get(name) is None)}
    shown = {name: value for name, value in training.items() if name not in hidden and (every or value is not None)}
    yield from (_row(f"  {name}", value) for name, value in shown.items())
    if training.get("dropped"):
        yield _row("  left out", " ".join(training["dropped"]))
    for reason, count in training.get("lost", {}).items():
        yield _row("  lost", f"{count:,}: {reason}")
    for name, report in _REPORTS.items():
        if name in reports:
            yield from (_row(f"  {name}", line) for line in report(**training[name]).lines())
    for name, row in (training.get("attributes") or {}).items():
        yield _row("  attribute", f"{name}: {AttributeQuality(**row)}")
    yield from _calibration(training)
    for name, one in ((training.get("annotators") or {}).get("annotators") or {}).items():
        yield _row("  annotator", f"{name}: {_quality(one['overall'])}, agreement {100 * one['agreement']:.0f} %")
        yield from (_row(f"    {kind}", _quality(each)) for kind, each in one["types"].items())
    for number, (name, chain) in enumerate(training.get("chains", {}).items(), 1):
        figures = f"lambda {chain['l2']:g}, penalty {chain['penalty']:.2f}"
        figures = f"{chain['mentions']:,} mentions, {figures}" if "mentions" in chain else figures
        yield _row(f"  chain {number}", f"{name}: {figures}, dev F1 {100 * chain['dev_f1']:.1f}")
        yield from _calibration(chain)


def _quality(row: Sequence[Any] | Mapping[str, Any]) -> str:
    quality = Quality(**row) if isinstance(row, Mapping) else Quality(*row)
    return f"{plural(quality.mentions, 'mention')}, {quality}"


def _calibration(training: Mapping[str, Any]) -> Iterator[str]:
    for name, check in (training.get("calibration") or {}).items():
        yield _row("  calibration", f"of {name}: dev error {Check(**check)}")


def _row(name: str, value: object) -> str:
    if isinstance(value, float):
        return f"{name:<14} {value:g}"
    if isinstance(value, list):
        value = " ".join(map(str, value)) or None
    return f"{name:<14} {value:,}" if type(value) is int else f"{name:<14} {'-' if value is None else value}"
