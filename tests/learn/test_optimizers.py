"""L-BFGS against SciPy's and against enumeration; AdaGrad against plain numpy; the same bytes for any threads."""

from __future__ import annotations

import numpy as np
import pytest
from learn_helpers import TYPES, Oracle, corpus, oracle_point, random_gold
from scipy.optimize import minimize as scipy_minimize

from spanloom.errors import SpanloomError
from spanloom.hypergraph import ENGINES, Potentials
from spanloom.learn import EdgeTarget, Objective, TrainingSet, adagrad, adagrad_together, minimize
from spanloom.native import Kernel
from spanloom.parallel import SERIAL, Threads
from spanloom.scoring import Weights, role_scores
from spanloom.structures import STRUCTURES


def quadratic(condition: float, size: int = 60, seed: int = 0):
    """A convex function with its minimum 1 at a random point, as `minimize` and as SciPy want it."""
    rng = np.random.default_rng(seed)
    mirror, target = rng.normal(size=(2, size))
    mirror /= np.linalg.norm(mirror)

    def reflect(x: np.ndarray) -> np.ndarray:
        return x - 2 * mirror * (mirror * x).sum()

    def double(x: np.ndarray) -> tuple[float, np.ndarray]:
        slope = reflect(np.geomspace(1, condition, size) * reflect(x - target))
        return 1 + 0.5 * float((x - target) @ slope), slope

    def single(x: np.ndarray, gradient: np.ndarray) -> float:
        value, gradient[:] = double(x.astype(float))
        return value

    return single, double, target


@pytest.mark.parametrize("condition", [1.0, 30.0, 1e3])
def test_lbfgs_on_a_quadratic(condition):
    single, double, target = quadratic(condition)
    found = minimize(single, np.zeros(len(target), np.float32), iterations=500, tolerance=1e-9)
    theirs = scipy_minimize(double, np.zeros(len(target)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    assert found.dtype == np.float32
    assert double(found.astype(float))[0] <= theirs.fun + 1e-4
    np.testing.assert_allclose(found, target, atol=1e-2)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize(("name", "longest"), [("bio", 3), ("separators", 4), ("mention_hypergraph", 3)])
def test_lbfgs_finds_the_optimum_of_a_small_model(name, longest, counting):
    """SciPy minimizes the enumerated objective in double precision; ours ends at the same point."""
    training, _, _ = corpus(name, counting, 6, [longest, 2, longest, 1], vocabulary=4)
    objective, oracle = Objective(training, 0.2), Oracle(training, 0.2)
    theirs = scipy_minimize(
        oracle, np.zeros(oracle.size), jac=True, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-8}
    )
    found = minimize(objective.value_and_gradient, np.zeros(oracle.size, np.float32), iterations=300, tolerance=1e-9)
    assert oracle(oracle_point(objective, found))[0] == pytest.approx(theirs.fun, rel=1e-5)
    np.testing.assert_allclose(oracle_point(objective, found), theirs.x, atol=5e-3)


def test_lbfgs_goes_downhill_at_each_iteration_and_stops_when_told():
    single, _, target = quadratic(1e3)
    seen = []

    def look(iteration):
        seen.append((iteration.number, iteration.objective))
        return iteration.number == 7

    minimize(single, np.zeros(len(target), np.float32), iterations=100, tolerance=1e-9, callback=look)
    assert [number for number, _ in seen] == list(range(1, 8))
    values = [value for _, value in seen]
    assert values == sorted(values, reverse=True)


def test_lbfgs_leaves_its_start_alone_and_stays_at_an_optimum():
    single, _, target = quadratic(1.0)
    start = target.astype(np.float32)
    kept = start.copy()
    np.testing.assert_allclose(minimize(single, start, iterations=50, tolerance=1e-9), target, atol=1e-4)
    np.testing.assert_array_equal(start, kept)


def test_lbfgs_steps_back_from_where_the_function_is_not_finite():
    """x - log x: the first steps may jump below 0, where there is no value."""

    def function(x: np.ndarray, gradient: np.ndarray) -> float:
        gradient[:] = 1 - 1 / x
        return float((x - np.log(x)).sum()) if (x > 0).all() else float("nan")

    found = minimize(function, np.array([9.0, 0.05], np.float32), iterations=100, tolerance=1e-9)
    np.testing.assert_allclose(found, 1, atol=1e-3)


@pytest.mark.parametrize("jobs", [2, 4])
def test_lbfgs_any_number_of_threads_gives_the_same_bytes(jobs):
    single, _, target = quadratic(300.0, size=70)
    wide = 3 * 4096  # several blocks, so that there is something to share out

    def function(x: np.ndarray, gradient: np.ndarray) -> float:
        gradient[:] = 2 * x - 1
        part = gradient[: len(target)].copy()
        value = single(x[: len(target)], part)
        gradient[: len(target)] += part
        return value + float(np.square(x, dtype=float).sum() - x.sum(dtype=float))

    start = np.random.default_rng(0).normal(size=wide).astype(np.float32)
    with Threads(jobs) as run:
        together = minimize(function, start, iterations=25, tolerance=0, run=run)
    assert together.tobytes() == minimize(function, start, iterations=25, tolerance=0).tobytes()


@pytest.mark.parametrize("size", [0, 1, 4096, 9003])
def test_the_kernel_adds_vectors_and_takes_the_product_of_each_block(size):
    x, y, z = np.random.default_rng(size).normal(size=(3, size)).astype(np.float32)
    blocks = -(-size // 4096)
    expected = np.float32(-0.5) * (x + np.float32(0.3) * y)

    def by_blocks(a: np.ndarray, b: np.ndarray) -> list[float]:
        products = a.astype(float) * b
        return [products[4096 * block : 4096 * (block + 1)].sum() for block in range(blocks)]

    for result, other in ((np.empty_like(x), z), (x, z), (y, y)):
        partial, x_before, y_before = np.empty(blocks), x.copy(), y.copy()
        Kernel("add_scaled")(result, x, 0.3, y, -0.5, other, partial, 0, blocks)
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_allclose(partial, by_blocks(expected, other), rtol=1e-12)
        again = np.empty(blocks)
        Kernel("dot")(result, other, again, 0, blocks)
        np.testing.assert_array_equal(partial, again)
        x[:], y[:] = x_before, y_before
    with pytest.raises(SpanloomError):
        Kernel("dot")(x, y, np.empty(blocks + 1), 0, blocks + 1)


def plain_batch(data: TrainingSet, tokens: np.ndarray) -> np.ndarray:
    """(B, F) the batch's dense binary matrix."""
    table = np.zeros((len(tokens), len(data.group_sizes)))
    for place, token in enumerate(tokens.tolist()):
        table[place, data.matrix.indices[data.matrix.offsets[token] : data.matrix.offsets[token + 1]]] = 1
    return table


@pytest.mark.parametrize("width", [1, 3, 7, 8, 11, 16, 20, 46])
def test_the_kernels_list_a_batch_and_take_an_adagrad_step(width):
    """To the byte: each weight by the same operations in single precision, wherever its column lies in a vector."""
    training, _, _ = corpus("separators", "subgraphs", 1, [6, 4, 5] * 5, vocabulary=7)
    rng = np.random.default_rng(2)
    tokens = np.array([3, 4, 5, 72, 73, 0, *range(20, 60)])
    table = plain_batch(training, tokens)
    size, features = int(table.sum()), len(training.group_sizes)
    listed, places, numbers = np.empty(size, np.int32), np.empty(size, np.int32), np.zeros(features, np.int32)
    ptr = np.empty(size + 1, np.int64)
    rows = training.matrix.indices, training.matrix.offsets, tokens
    found = Kernel("list_batch")(*rows, numbers, listed, ptr, places)
    assert not numbers.any()
    order = np.concatenate([training.matrix.indices[slice(*training.matrix.offsets[t : t + 2])] for t in tokens])
    assert listed[:found].tolist() == list(dict.fromkeys(order.tolist()))
    for j, feature in enumerate(listed[:found].tolist()):
        assert places[ptr[j] : ptr[j + 1]].tolist() == np.flatnonzero(table[:, feature]).tolist()

    residual = rng.normal(size=(len(tokens), width)).astype(np.float32)
    weights, squares = rng.random((2, features, width), np.float32)
    scales = rng.random((features, 2), np.float32)
    ours, our_squares = weights.copy(), squares.copy()
    own = listed[:found], ptr[: found + 1], places, residual, scales, 0.1
    for piece in ((0, found // 3), (found // 3, found)):
        Kernel("adagrad")(*own, *piece, ours, our_squares, np.empty(width, np.float32))
    for feature in listed[:found].tolist():
        first, *others = np.flatnonzero(table[:, feature])
        gradient = residual[first].copy()
        for place in others:
            gradient += residual[place]
        gradient += scales[feature, 0] * weights[feature]
        squares[feature] += gradient * gradient
        step = np.float32(0.1 * float(scales[feature, 1]))
        weights[feature] -= step * gradient / (np.sqrt(squares[feature]) + np.float32(1e-8))
    np.testing.assert_array_equal(our_squares, squares)
    np.testing.assert_array_equal(ours, weights)


def plain_adagrad(data: TrainingSet, l2: float, epochs: int, rate: float, batch: int, seed: int) -> Weights:
    """The same algorithm, written with dense matrices in double precision."""
    features, constants = (array.astype(float) for array in data.zeros)
    squares, constant_squares = np.zeros_like(features), np.zeros_like(constants)
    filled = np.flatnonzero(np.diff(data.offsets))
    batches = -(-(len(data.offsets) - 1) // batch)
    shrink = 2 * l2 / data.group_sizes / np.minimum(batches, data.counts)
    stretch = np.sqrt(data.group_sizes)[:, None, None]
    random, ends = np.random.default_rng(seed), []
    for _ in range(epochs):
        order = random.permutation(filled)
        for first in range(0, len(order), batch):
            sentences = order[first : first + batch]
            tokens = np.concatenate([np.arange(data.offsets[n], data.offsets[n + 1]) for n in sentences])
            offsets = np.concatenate([[0], np.cumsum(np.diff(data.offsets)[sentences])])
            current = Weights(features.astype(np.float32), constants.astype(np.float32))
            sums = data.engine.expectations(role_scores(data.matrix, current, tokens), offsets)
            table = plain_batch(data, tokens)
            gradient = np.einsum("bf,brk->frk", table, sums.roles - data.target.roles[tokens].astype(float))
            gradient += shrink[:, None, None] * features
            gradient *= table.any(0)[:, None, None]
            squares += gradient**2
            features -= rate * stretch * gradient / (np.sqrt(squares) + 1e-8)
            if len(constants):
                change = (
                    sums.constants
                    - data.engine.constant_counts(data.target.edges, data.offsets, sentences)
                    + 2 * l2 / batches * constants
                )
                constant_squares += change**2
                constants -= rate * change / (np.sqrt(constant_squares) + 1e-8)
        ends.append((features.copy(), constants.copy()))
    return Weights(*(np.mean(arrays, axis=0) for arrays in zip(*ends, strict=True)))


@pytest.mark.parametrize(("name", "counting"), [("separators", "subgraphs"), ("bio", "derivations")])
@pytest.mark.parametrize("batch", [1, 3])
def test_adagrad_is_plain_adagrad_with_a_mean_over_passes(name, counting, batch):
    training, _, _ = corpus(name, counting, 5, [4, 0, 3, 6, 2, 5], vocabulary=6)
    settings = {"l2": 0.5, "epochs": 3, "rate": 0.1, "batch": batch, "seed": 9}
    ours, plain = adagrad(training, **settings), plain_adagrad(training, **settings)
    # a first step is rate times the sign of the gradient, so a gradient that only rounding keeps from 0 may go astray
    for mine, other in zip(ours, plain, strict=True):
        assert np.sum(np.abs(mine - other) > 1e-3) <= 0.01 * mine.size


def test_adagrad_reaches_the_optimum_with_patience():
    training, _, _ = corpus("separators", "subgraphs", 12, [5, 7, 4, 6], vocabulary=6)
    objective = Objective(training, 0.5)
    gradient = np.empty(objective.size, np.float32)
    best = minimize(objective.value_and_gradient, np.zeros(objective.size, np.float32), iterations=300, tolerance=1e-9)
    optimum = objective.value_and_gradient(best, gradient)
    seen = []
    weights = adagrad(
        training, l2=0.5, epochs=150, rate=0.1, batch=4, seed=0, callback=lambda e: seen.append(e.objective)
    )
    assert optimum <= objective.value_and_gradient(objective.point(weights), gradient) < 1.05 * optimum
    assert seen[-1] == pytest.approx(optimum, rel=0.01)  # the last pass, not the mean
    assert seen[-1] < seen[0]


def test_adagrad_starts_where_it_is_told_and_stops_when_told():
    training, _, _ = corpus("bio", "subgraphs", 5, [4, 3, 6], vocabulary=6)
    settings = {"l2": 0.5, "rate": 0.1, "batch": 2, "seed": 9}
    passes = []
    first = adagrad(training, epochs=9, callback=lambda epoch: passes.append(epoch.number) or True, **settings)
    assert passes == [1]
    once = adagrad(training, epochs=1, **settings)
    for one, other in zip(first, once, strict=True):
        assert one.tobytes() == other.tobytes()
    onward = adagrad(training, epochs=1, start=Weights(*(array.copy() for array in once)), **settings)
    assert not np.array_equal(onward.features, once.features)


def same_text(training: TrainingSet, name: str, counting: str) -> TrainingSet:
    """Another structure of the sentences of a corpus, with other mentions."""
    gold = random_gold(np.random.default_rng(1), np.diff(training.offsets).tolist())
    structure = STRUCTURES[name]
    edges = structure.encode(gold, training.offsets, TYPES).edges
    engine = ENGINES[counting](structure.template(TYPES))
    target = EdgeTarget(engine, training.offsets, edges)
    return TrainingSet(engine, training.matrix, training.offsets, target, training.group_sizes, training.counts)


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("stops", [(5, 5, 5), (2, 4, 5), (5, 1, 3), (1, 1, 1)])
def test_trained_together_is_trained_apart(stops, jobs):
    """Structures of the same text, with and without constants and an axis of types, each with its own last pass."""
    training, _, _ = corpus("bio", "subgraphs", 5, [4, 0, 3, 6, 2, 5] * 3, vocabulary=9)
    others = ("separators", "subgraphs"), ("mention_hypergraph", "derivations")
    corpora = [training, *(same_text(training, *other) for other in others)]
    settings = {"l2": 0.5, "epochs": 5, "rate": 0.1, "batch": 4, "seed": (9, 0)}
    together, apart = [[] for _ in corpora], [[] for _ in corpora]

    def until(last, seen):
        return lambda epoch: seen.append(epoch.objective) or epoch.number == last

    with Threads(jobs) as run:
        ours = adagrad_together(
            corpora, callbacks=[until(*pair) for pair in zip(stops, together, strict=True)], run=run, **settings
        )
    for data, weights, last, seen, expected in zip(corpora, ours, stops, together, apart, strict=True):
        alone = adagrad(data, callback=until(last, expected), **settings)
        assert len(seen) == last
        assert seen == pytest.approx(expected, rel=1e-9)
        for one, other in zip(weights, alone, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("name", "counting"), [("bio", "subgraphs"), ("bio", "derivations"), ("bilou", "subgraphs")])
def test_constants_of_some_sentences_are_counted_as_those_of_all(name, counting):
    training, _, _ = corpus(name, counting, 8, [4, 0, 3, 6, 2])
    target, engine = training.target, training.engine
    scores = Potentials(target.roles, np.zeros(target.constants.shape, np.float32))
    np.testing.assert_array_equal(target.target_counts(scores).constants, target.constants)
    rows, some = np.r_[7:13, 0:4], np.array([3, 0])
    found = target.target_counts(Potentials(target.roles[rows], scores.constants), some, rows)
    roles, expected = engine.role_counts(target.edges[rows], np.array([0, 6, 10]))
    np.testing.assert_array_equal(found.roles, roles)
    np.testing.assert_array_equal(found.constants, expected)
    assert expected.any()


@pytest.mark.parametrize("name", ["separators", "bio"])
def test_adagrad_any_number_of_threads_gives_the_same_bytes(name):
    training, _, _ = corpus(name, "subgraphs", 7, [4, 3, 6, 9, 2, 8] * 5, vocabulary=30)
    results = []
    for jobs in (1, 2, 3):
        with Threads(jobs) as run:
            weights = adagrad(training, l2=0.1, epochs=3, rate=0.1, batch=4, seed=3, run=run)
        results.append(b"".join(array.tobytes() for array in weights))
    assert results[0] == results[1] == results[2]
    again = adagrad(training, l2=0.1, epochs=3, rate=0.1, batch=4, seed=3, run=SERIAL)
    other = adagrad(training, l2=0.1, epochs=3, rate=0.1, batch=4, seed=4)
    assert b"".join(array.tobytes() for array in again) == results[0]
    assert not np.array_equal(other.features, again.features)
