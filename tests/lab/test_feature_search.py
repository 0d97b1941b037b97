"""The steps of a search, over made-up trials: held to the rules in plain Python, and to what they are there for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.errors import UsageError
from spanloom_lab.feature_search import FeatureSearch, OutOfTime, SearchRules, all_trials, pareto_front
from spanloom_lab.feature_trials import Trial

NAMES = ("a", "b", "c", "d")


def made(points: float, features: float, groups=("a",)) -> Trial:
    return Trial(tuple(groups), (), points / 100, features, 0.0, 0.0, 0, [], [])


class World:
    """Points of F1 and features of each set of groups; differences of less than a point are noise."""

    def __init__(self, points, costs=None):
        self.points, self.costs, self.asked = points, costs or dict.fromkeys(NAMES, 1.0), []

    def run(self, choices):
        self.asked += choices
        return [
            made(self.points(frozenset(choice)), sum(self.costs[name] for name in choice), choice) for choice in choices
        ]

    def compare(self, first, second):
        return 0.01 if 100 * abs(first.f1 - second.f1) >= 1 else 0.5

    def search(self, start=(), direction="both", **rules):
        search = FeatureSearch(dict.fromkeys(NAMES, ()), self.run, self.compare, SearchRules(**rules))
        return search, list(search.search(start, direction))


def added(points):
    return lambda groups: sum(points.get(name, 0) for name in groups)


def path(steps):
    return [(step.action, step.group) for step in steps[1:]]


def test_forward_adds_the_best_until_what_is_left_is_noise():
    _, steps = World(added({"a": 5, "b": 20, "c": 0.5})).search(direction="forward")
    assert path(steps) == [("add", "b"), ("add", "a"), ("add", None)]
    assert [one.name for one in steps[2].tried] == ["a", "c", "d"]
    assert steps[-1].trial.groups == ("a", "b")


def test_a_group_must_bring_its_price():
    world = World(added({"a": 5, "b": 5, "c": 5}), {"a": 10, "b": 3, "c": 100, "d": 1})
    assert path(world.search(direction="forward", price=0.1)[1]) == [("add", "b"), ("add", "a"), ("add", None)]
    assert path(world.search(direction="forward", price=0)[1])[0] == ("add", "b"), "of equals the cheaper"


def test_backward_removes_noise_and_what_is_too_dear():
    world = World(added({"a": 5, "b": 20, "c": 0.5, "d": -3}), {"a": 80, "b": 5, "c": 1, "d": 1})
    search, steps = world.search(NAMES, "backward", price=0.0)
    assert path(steps) == [("remove", "d"), ("remove", "c"), ("remove", None)]
    assert search.complete
    _, steps = world.search(NAMES, "backward", price=0.1)
    assert steps[-1].trial.groups == ("b",)


def test_small_losses_do_not_add_up():
    """Each of four groups is worth 0.6 points, which is noise alone; two of them are not."""
    _, steps = World(added(dict.fromkeys(NAMES, 0.6))).search(NAMES, "backward", price=0.0)
    assert len(steps[-1].trial.groups) == 3


def test_both_removes_what_later_groups_make_useless():
    def points(groups):
        return 30 if {"b", "c"} <= groups else 20 if "a" in groups else 15 if groups & {"b", "c"} else 0

    def two_steps(groups):  # "a" is best alone, "b" helps it, and then "c" replaces it
        return points(groups) + (5 if {"a", "b"} <= groups and "c" not in groups else 0)

    _, steps = World(two_steps).search()
    assert path(steps) == [
        ("add", "a"), ("add", "b"), ("add", "c"), ("add", None), ("remove", "a"), ("remove", None),
    ]  # fmt: skip


def test_steps_are_limited_and_out_of_time_keeps_what_there_is():
    world = World(added({"a": 5, "b": 20, "c": 9}))
    search, steps = world.search(steps=2)
    assert path(steps) == [("add", "b"), ("add", "c")]
    assert search.complete

    def run(choices):
        if len(choices[0]) == 2:
            raise OutOfTime
        return world.run(choices)

    search = FeatureSearch(dict.fromkeys(NAMES, ()), run, world.compare)
    assert path(list(search.search())) == [("add", "b")]
    assert not search.complete


def test_nothing_is_left_to_add():
    _, steps = World(added(dict.fromkeys(NAMES, 9))).search(NAMES, "forward")
    assert path(steps) == []


TABLE = st.dictionaries(
    st.frozensets(st.sampled_from(NAMES)),
    st.integers(0, 1000).map(lambda points: points / 10),
    min_size=16,
    max_size=16,
)


@given(TABLE, st.sampled_from([0.0, 0.5, 3.0]), st.lists(st.integers(1, 20), min_size=4, max_size=4))
def test_each_step_is_the_best_that_the_rules_allow(table, price, costs):
    world = World(lambda groups: table[groups], dict(zip(NAMES, costs, strict=True)))
    _, steps = world.search(price=price)

    def trial(groups):
        [found] = world.run([sorted(groups)])
        return found

    def value(groups):
        return SearchRules(price).value(trial(groups))

    def told(groups, others):
        return world.compare(trial(groups), trial(others)) <= 0.1

    current = best = frozenset[str]()
    for step in steps[1:]:
        values = {}
        for name in NAMES:
            if (name in current) != (step.action == "remove"):
                continue
            other = current ^ {name}
            if step.action == "add":
                allowed = table[other] > table[current] and told(other, current) and value(other) > value(current)
            else:
                allowed = value(other) >= value(current) or table[other] >= table[best] or not told(other, best)
            if allowed:
                values[name] = value(other)
        assert (step.group is None) == (not values)
        if step.group is None:
            continue
        assert values[step.group] == max(values.values())
        current ^= {step.group}
        assert set(step.trial.groups) == current
        if table[current] >= table[best] or told(current, best):
            best = current
    assert len(steps) <= 2 * len(NAMES) + 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"direction": "sideways"}, "direction is 'sideways', expected one of forward, backward, both"),
        ({"start": ["z"]}, "no group 'z'; there are a, b, c, d"),
        ({"direction": "backward"}, "there is nothing; name a preset to start from"),
        ({"price": -1.0}, "price is -1.0, expected points of F1, 0 or more"),
        ({"price": float("nan")}, "price is nan"),
        ({"level": 0.0}, "level is 0.0, expected a probability"),
        ({"steps": 0}, "steps is 0, expected 1 or more"),
    ],
)
def test_what_is_wrong_is_told(arguments, told):
    with pytest.raises(UsageError, match=told):
        World(added({})).search(**arguments)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_the_front_is_what_nothing_dominates(pairs):
    front = {(one.f1 * 100, one.features) for one in pareto_front([made(*pair) for pair in pairs])}
    expected = {
        (f1, features)
        for f1, features in pairs
        if not any((a >= f1 and b <= features and (a, b) != (f1, features)) for a, b in pairs)
    }
    assert {(round(f1), features) for f1, features in front} == expected


def test_every_trial_stands_once():
    _, steps = World(added({"a": 5, "b": 20})).search()
    trials = all_trials(steps)
    assert len({trial.groups for trial in trials}) == len(trials)
    assert {trial.groups for trial in trials} == {("a",), ("b",), ("c",), ("d",), ("a", "b"), (), *(
        one.trial.groups for step in steps for one in step.tried)}  # fmt: skip
