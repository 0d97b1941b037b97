"""Search for features: groups of templates that are added and removed one at a time, by F1 on development data.

Wrapper selection (Kohavi and John 1997), forward and backward. Two rules keep it from following noise:

- A group is added only if a paired test finds a difference from what is there: p at most `SearchRules.level`.
- A group must bring its price: so many points of F1 for each feature a token that it adds. What a feature costs is
  counted and not timed, so that the path does not depend on what else the machine does; times are reported.

A group is removed if it does not bring its price, or if without it F1 does not differ significantly from
the best so far: the reference stays the best, so that many small losses do not add up unseen. Only a loss that was
significant and worth its price moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from spanloom.errors import UsageError
from spanloom_lab.feature_groups import Groups
from spanloom_lab.feature_trials import Trial

Direction: TypeAlias = Literal["forward", "backward", "both"]
Action: TypeAlias = Literal["start", "add", "remove"]
PRICE: Final = 0.01
LEVEL: Final = 0.1


class OutOfTime(Exception):  # noqa: N818  # what is there already is a result
    """There is no time for the trials of another step."""


@dataclass(frozen=True, slots=True)
class SearchRules:
    """Rules by which a group is kept.

    Args:
        price: points of F1 that each feature a token must bring.
        level: the largest p value at which a difference counts.
        steps: groups to add and remove, at most; ``None`` for no limit.

    Raises:
        UsageError: a negative price, a level that is no probability, or less than one step.
    """

    price: float = PRICE
    level: float = LEVEL
    steps: int | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        if not 0 <= self.price < float("inf"):
            raise UsageError(f"price is {self.price}, expected points of F1, 0 or more")
        if not 0 < self.level <= 1:
            raise UsageError(f"level is {self.level}, expected a probability above 0, such as {LEVEL}")
        if self.steps is not None and self.steps < 1:
            raise UsageError(f"steps is {self.steps}, expected 1 or more")

    def value(self, trial: Trial) -> float:
        """Return the points of F1 of a trial less the price of its features."""
        return 100 * trial.f1 - self.price * trial.features


class TriedGroup(NamedTuple):
    """A group that was tried in a step.

    Args:
        name: of the group.
        trial: with the group, or without it.
        p_value: of the difference from the trial that it is compared with.
    """

    name: str
    trial: Trial
    p_value: float


class SearchStep(NamedTuple):
    """A step of a search.

    Args:
        action: ``start``, ``add`` or ``remove``.
        group: what was added or removed; ``None`` at the start, and where nothing was worth it.
        trial: what is there afterwards.
        tried: all groups that were tried.
    """

    action: Action
    group: str | None
    trial: Trial
    tried: tuple[TriedGroup, ...] = ()


Run: TypeAlias = Callable[[Sequence[Sequence[str]]], Sequence[Trial]]
"""Runs a trial for each choice of groups, in any order; raises `OutOfTime`."""


@dataclass
class FeatureSearch:
    """A search over groups of templates.

    Args:
        groups: the table; only its order counts here.
        run: trains and measures.
        compare: returns the p value of the difference of two trials.
        rules: when a group is kept.

    Attributes: ``complete``, whether the last search came to its end.
    """

    groups: Groups
    run: Run
    compare: Callable[[Trial, Trial], float]
    rules: SearchRules = SearchRules()  # it cannot be changed
    complete: bool = field(default=False, init=False)

    def search(self, start: Sequence[str] = (), direction: Direction = "both") -> Iterator[SearchStep]:
        """Search; yield each step when it is done, until no group is worth adding or removing, or there is no time.

        Args:
            start: groups to begin with.
            direction: ``forward`` adds, ``backward`` removes, ``both`` adds and then removes.

        Raises:
            UsageError: an unknown direction or group, or nothing to remove.
        """
        check_direction(direction, start)
        if unknown := sorted({*start}.difference(self.groups)):
            raise UsageError(f"no group {unknown[0]!r}; there are {', '.join(self.groups)}")
        return self._steps(self._ordered(start), direction)

    def _steps(self, start: tuple[str, ...], direction: Direction) -> Iterator[SearchStep]:
        ways = [self._add] * (direction != "backward") + [self._remove] * (direction != "forward")
        self.complete = False
        try:
            [trial] = self.run([start])
            yield SearchStep("start", None, trial)
            current = best = trial
            done = 0
            for way in ways:
                while self.rules.steps is None or done < self.rules.steps:
                    step = way(current, best)
                    if step is None:
                        break
                    yield step
                    if step.group is None:
                        break
                    current = step.trial
                    lost = current.f1 < best.f1 and self.compare(current, best) <= self.rules.level
                    best = current if lost else max(best, current, key=lambda trial: trial.f1)
                    done += 1
        except OutOfTime:
            return
        self.complete = True

    def _add(self, current: Trial, _: Trial) -> SearchStep | None:
        tried = self._tried(
            {name: {*current.groups, name} for name in self.groups if name not in current.groups}, current
        )
        worth = [
            one
            for one in tried
            if one.trial.f1 > current.f1
            and one.p_value <= self.rules.level
            and self.rules.value(one.trial) > self.rules.value(current)
        ]
        return self._step("add", tried, worth, current)

    def _remove(self, current: Trial, best: Trial) -> SearchStep | None:
        tried = self._tried({name: {*current.groups} - {name} for name in current.groups}, best)
        worth = [
            one
            for one in tried
            if self.rules.value(one.trial) >= self.rules.value(current)
            or one.trial.f1 >= best.f1
            or one.p_value > self.rules.level
        ]
        return self._step("remove", tried, worth, current)

    def _tried(self, choices: Mapping[str, set[str]], other: Trial) -> tuple[TriedGroup, ...]:
        trials = self.run([self._ordered(choice) for choice in choices.values()])
        return tuple(
            TriedGroup(name, trial, self.compare(trial, other)) for name, trial in zip(choices, trials, strict=True)
        )

    def _step(
        self, action: Action, tried: tuple[TriedGroup, ...], worth: Sequence[TriedGroup], current: Trial
    ) -> SearchStep | None:
        """The best of what is worth it; of equals the cheaper, then the first; ``None`` if nothing was tried."""
        if not tried:
            return None
        best = max(worth, key=lambda one: (self.rules.value(one.trial), -one.trial.features), default=None)
        return SearchStep(action, None if best is None else best.name, current if best is None else best.trial, tried)

    def _ordered(self, names: Sequence[str] | set[str]) -> tuple[str, ...]:
        return tuple(name for name in self.groups if name in names)


def check_direction(direction: str, start: Sequence[str]) -> None:
    """Check that a search can go in a direction from some groups.

    Raises:
        UsageError: an unknown direction, or nothing to remove.
    """
    if direction not in get_args(Direction):
        raise UsageError(f"direction is {direction!r}, expected one of {', '.join(get_args(Direction))}")
    if direction == "backward" and not start:
        raise UsageError("backward removes from what is there, and there is nothing; name a preset to start from")


def pareto_front(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that no other one beats in F1 with as few features or fewer, the cheapest first.

    That of no group at all, which trained nothing, is left out.

    >>> def trial(f1, features):
    ...     return Trial(("word",), (), f1, features, 0.0, 0.0, 0, [], [])
    >>> [one.f1 for one in pareto_front([trial(0.5, 9), trial(0.4, 3), trial(0.4, 5), trial(0.6, 12)])]
    [0.4, 0.5, 0.6]
    """
    front: list[Trial] = []
    for trial in sorted(filter(lambda trial: trial.groups, trials), key=lambda trial: (trial.features, -trial.f1)):
        if not front or trial.f1 > front[-1].f1:
            front.append(trial)
    return front


def all_trials(steps: Sequence[SearchStep]) -> list[Trial]:
    """Return every trial of some steps once, in the order in which they were made."""
    trials = [trial for step in steps for trial in (step.trial, *(one.trial for one in step.tried))]
    return list({trial.groups: trial for trial in trials}.values())
