"""The tables of `spanloom lab features`: text, and values for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from spanloom import __version__
from spanloom_lab.cli.compare_table import aligned
from spanloom_lab.feature_search import SearchRules, SearchStep, TriedGroup, all_trials, pareto_front
from spanloom_lab.feature_trials import Trial, TrialCorpus

_COLUMNS = ("", "F1", "gain", "p", "features", "tokens/s", "train s")
_PAST = {"add": "added", "remove": "removed"}


class SearchOutcome(NamedTuple):
    """Everything that a search found.

    Args:
        steps: one at least.
        rules: by which groups were kept.
        complete: the search came to its end.
        corpus: of all trials.
    """

    steps: Sequence[SearchStep]
    rules: SearchRules
    complete: bool
    corpus: TrialCorpus


def trial_line(trial: Trial) -> str:
    """A trial in one line."""
    return f"F1 {100 * trial.f1:.2f}, {trial.features:.1f} features a token, {trial.seconds:.1f} s: {_named(trial)}"


def values(outcome: SearchOutcome) -> dict[str, Any]:
    """Everything, ready for JSON; fractions from 0 to 1."""
    last = outcome.steps[-1].trial
    return {
        "version": __version__,
        "price": outcome.rules.price,
        "level": outcome.rules.level,
        "complete": outcome.complete,
        "not_tried": dict(outcome.corpus.lacking),
        "steps": [
            {
                "action": step.action,
                "group": step.group,
                **_figures(step.trial),
                "tried": [{"group": one.name, "p": one.p_value, **_figures(one.trial)} for one in step.tried],
            }
            for step in outcome.steps
        ],
        "front": [_figures(trial) for trial in pareto_front(all_trials(outcome.steps))],
        "groups": list(last.groups),
        "features": list(last.templates),
    }


def _figures(trial: Trial) -> dict[str, Any]:
    figures = trial._asdict()
    return {name: figures[name] for name in ("groups", "f1", "features", "tokens_per_second", "seconds", "rows")}


def tables(outcome: SearchOutcome) -> str:
    """For a terminal: each step, the path, the front, and the features for a configuration file."""
    blocks = [_data(outcome), *_steps(outcome), _path(outcome.steps), _front(outcome.steps)]
    blocks += ["".join(f"{note}\n" for note in _notes(outcome)), _toml(outcome.steps[-1].trial)]
    return "\n".join(blocks)


def _data(outcome: SearchOutcome) -> str:
    corpus = outcome.corpus
    train, dev = (sum(document.token_count for document in part) for part in (corpus.train, corpus.dev))
    return (
        f"trained on {train:,} tokens, measured on {dev:,} tokens of development data with "
        f"{int(corpus.gold.sum()):,} mentions\n"
    )


def _steps(outcome: SearchOutcome) -> Iterator[str]:
    before = outcome.steps[0].trial
    for number, step in enumerate(outcome.steps[1:], 1):
        by_value = sorted(step.tried, key=lambda one: -outcome.rules.value(one.trial))
        done = "nothing is worth it" if step.group is None else f"{step.group} is {_PAST[step.action]}"
        rows = (_row(one, before, one.name == step.group) for one in by_value)
        yield f"step {number}, {step.action}: {done}\n{aligned(_COLUMNS, rows)}"
        before = step.trial


def _row(one: TriedGroup, before: Trial, taken: bool) -> list[str]:
    gain = f"{100 * (one.trial.f1 - before.f1):+.2f}"
    return [f"{'*' if taken else ' '} {one.name}", *_cells(one.trial, gain, f"{one.p_value:.3f}")]


def _cells(trial: Trial, *more: str) -> list[str]:
    cost = f"{trial.features:.1f}", f"{trial.tokens_per_second:,.0f}", f"{trial.seconds:.1f}"
    return [f"{100 * trial.f1:.2f}", *more, *(cost if trial.groups else (cost[0], "", ""))]


def _path(steps: Iterable[SearchStep]) -> str:
    signs = {"add": "+", "remove": "-"}
    rows = [
        [f"{signs[step.action]} {step.group}" if step.group else f"start: {_named(step.trial)}", *_cells(step.trial)]
        for step in steps
        if step.group is not None or step.action == "start"
    ]
    return aligned(("path", "F1", *_COLUMNS[4:]), rows)


def _front(steps: Sequence[SearchStep]) -> str:
    rows = [[_named(trial), *_cells(trial)] for trial in pareto_front(all_trials(steps))]
    return aligned(("better than all that are cheaper", "F1", *_COLUMNS[4:]), rows)


def _named(trial: Trial) -> str:
    return " ".join(trial.groups) or "nothing"


def _notes(outcome: SearchOutcome) -> Iterator[str]:
    rules = outcome.rules
    yield "F1: percent, exact type and boundaries, on the data by which groups are chosen: it flatters."
    unit = outcome.corpus.cut.name
    yield f"p: of the difference, by paired randomization, {unit} by {unit}; at most {rules.level:g} counts."
    yield "   Of what is added from what was there; of what is removed from the best of the path."
    yield f"features: a token of the development data; each must bring {rules.price:g} points of F1."
    yield "tokens/s, train s: by processor time; taken from this machine as it was, and not what groups are chosen by."
    if outcome.corpus.lacking:
        yield f"not tried, or in part, because columns are missing: {', '.join(outcome.corpus.lacking)}."
    if not outcome.complete:
        yield "Time was over before the search came to its end."


def _toml(trial: Trial) -> str:
    lines = "".join(f"    {json.dumps(template, ensure_ascii=False)},\n" for template in trial.templates)
    return f"features = [\n{lines}]\n"
