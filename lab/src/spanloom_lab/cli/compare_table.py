"""The table of `spanloom lab compare`: text, Markdown, and values for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from spanloom import __version__
from spanloom.evaluate import PairedTest
from spanloom.recognize.parameters import RecognizerParameters
from spanloom_lab.cli.compare_records import CompareOptions, Row
from spanloom_lab.comparison import OWN_HEADS

_ACCURACY = ("model", "penalty", "P", "R", "F1", "95 % interval", "dev F1", "lambda", "steps")
_COST = ("train s", "tokens/s", "peak GB", "features", "rows", "weights", "lost")
_TESTS = ("best", "other", "difference of F1", "95 % interval", "p")


class Failure(NamedTuple):
    """A model that could not be trained."""

    name: str
    structure: str
    counting: str
    error: str


class Tested(NamedTuple):
    """A paired test of two models."""

    first: str
    second: str
    test: PairedTest


class RowOutcome(NamedTuple):
    """Everything in the table.

    Args:
        options: of the verb.
        rows: of the models that were trained.
        failures: the others.
        tests: of the best model against each other one.
    """

    options: CompareOptions
    rows: Sequence[Row]
    failures: Sequence[Failure]
    tests: Sequence[Tested]


def label(row: Row) -> str:
    """The model of a row, and what found the heads if not the model."""
    return row.name if row.heads in ("", OWN_HEADS) else f"{row.name}, head: {row.heads}"


def values(outcome: RowOutcome) -> dict[str, Any]:
    """Everything, ready for JSON; fractions from 0 to 1, memory in bytes."""
    options = outcome.options
    return {
        "version": __version__,
        "features": options.features or RecognizerParameters.features,
        "seed": options.seed or 0,
        "train": _named(options.train),
        "dev": _named(options.dev),
        "test": _named(options.test),
        "rows": [row.model_dump(mode="json", by_alias=True) for row in outcome.rows],
        "failed": [failure._asdict() for failure in outcome.failures],
        "tests": [{"first": first, "second": second, **test.to_dict()} for first, second, test in outcome.tests],
    }


def text(outcome: RowOutcome) -> str:
    """For a terminal: accuracy, then cost, then the tests."""
    rows = outcome.rows
    blocks = [_data(outcome.options)]
    if rows:
        costs = {row.name: [row.name, *_cost(row)] for row in rows}
        blocks += [aligned(_ACCURACY, map(_accuracy, rows)), aligned((_ACCURACY[0], *_COST), costs.values())]
    if outcome.failures:
        blocks.append("".join(f"{failure.name}: failed: {failure.error}\n" for failure in outcome.failures))
    if outcome.tests:
        blocks.append(aligned(_TESTS, map(_test, outcome.tests), left=2))
    blocks.append("".join(f"{note}\n" for note in _notes(outcome)))
    return "\n".join(blocks)


def markdown(outcome: RowOutcome) -> str:
    """One table, and one of the tests."""
    rows = [[*_accuracy(row), *_cost(row)] for row in outcome.rows]
    rows += [[failure.name, f"failed: {failure.error}"] + [""] * (len(_ACCURACY + _COST) - 2)
             for failure in outcome.failures]  # fmt: skip
    blocks = [_data(outcome.options), _piped(_ACCURACY + _COST, rows)]
    if outcome.tests:
        blocks.append(_piped(_TESTS, map(_test, outcome.tests)))
    blocks.append("".join(f"- {note}\n" for note in _notes(outcome)))
    return "\n".join(blocks)


def _named(paths: Sequence[str] | None) -> str | None:
    """Paths as one text."""
    return None if paths is None else ", ".join(paths)


def _data(options: CompareOptions) -> str:
    preset = options.features or RecognizerParameters.features
    named = preset if isinstance(preset, str) else "templates of a configuration file"
    tuned = _named(options.dev) or "a tenth of the training data"
    tested = _named(options.test) or "what it was tuned on"
    return f"trained on {_named(options.train)}, tuned on {tuned}, measured on {tested}; features: {named}\n"


def _notes(outcome: RowOutcome) -> Iterator[str]:
    if outcome.options.test is None:
        yield "Measured on the data that tuning saw, as there is no --test: the figures are too high."
    what = "exact type, boundaries and head" if outcome.options.heads else "exact type and boundaries"
    yield f"P, R, F1: percent, {what}; intervals by the bootstrap over sentences."
    if any(row.heads not in ("", OWN_HEADS) for row in outcome.rows):
        yield "head: the whole mention, its first or last word, or what a chain found that learned on gold mentions."
    yield "penalty: the mention penalty, tuned for dev F1; - without it, with the same weights."
    yield "lambda: of the best dev F1; steps: passes of adagrad, or iterations of lbfgs, behind the weights."
    yield "train s: features, all lambdas and tuning. GB: 2^30 bytes, of the training's own process."
    yield "rows: of weights; features at the same tokens share one. lost: training mentions that the model cannot hold."
    if any(row.l2 is None for row in outcome.rows):
        yield "each: each chain of the cascade has its own."
    if outcome.tests:
        first = outcome.tests[0].test
        how = "exact randomization" if all(tested.test.enumerated for tested in outcome.tests) else (
            f"approximate randomization, {first.samples:,} samples")  # fmt: skip
        yield f"p: {how} over {first.units:,} {first.unit}(s); interval of the difference by the paired bootstrap."


def _accuracy(row: Row) -> list[str]:
    found = row.test.overall
    ends = "" if found.intervals is None else " to ".join(f"{100 * end:.1f}" for end in found.intervals.f1)
    measures = [f"{100 * value:.1f}" for value in (found.precision, found.recall, found.f1)]
    penalty = "-" if not row.tuned else "each" if row.penalty is None else f"{row.penalty:.2f}"
    chosen = "each" if row.l2 is None else f"{row.l2:g}"
    return [label(row), penalty, *measures, ends, f"{100 * row.dev_f1:.1f}", chosen, f"{row.steps:,}"]


def _cost(row: Row) -> list[str]:
    memory = "-" if row.peak_memory is None else f"{row.peak_memory / 2**30:.2f}"
    counts = (row.features, row.rows, row.weights, row.lost)
    return [f"{row.seconds:,.1f}", f"{row.tokens_per_second:,.0f}", memory, *(f"{count:,}" for count in counts)]


def _test(tested: Tested) -> list[str]:
    low, high = tested.test.interval
    return [
        tested.first, tested.second, f"{100 * tested.test.difference:+.2f}",
        f"{100 * low:+.2f} to {100 * high:+.2f}", f"{tested.test.p_value:.4f}",
    ]  # fmt: skip


def aligned(names: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table for a terminal; the first columns are flush left, the others right."""
    lines = [names, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(f"{cell:<{width}}" if i < left else f"{cell:>{width}}" for i, (cell, width) in pairs).rstrip() + "\n"
        for pairs in (enumerate(zip(line, widths, strict=True)) for line in lines)
    )


def _piped(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [names, ["---"] * len(names), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
