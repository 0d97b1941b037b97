"""L-BFGS (Liu and Nocedal 1989) in single precision.

SciPy's works in double precision with 2 m + 5 vectors in one block: 2.5 GB for the weights of a corpus like GENIA,
where this one needs 0.6. Sums of products are taken in double precision over fixed blocks, so the path does not depend
on the number of threads. Vectors are used again: new pages of memory take as long as what is computed in them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spanloom.hypergraph import Floats, Singles
from spanloom.native import Kernel
from spanloom.parallel import SERIAL, Executor, even_ranges

_SUFFICIENT, _CURVATURE = 1e-4, 0.9  # Wolfe's conditions
_STEPS = 20  # of one line search
_PIECES = 8
_LONG = 1 << 17  # elements: of fewer, handing out the work takes longer than the work
_BLOCK = 4096  # elements of a partial sum, as in `native/learn.c`
_dot, _add_scaled = Kernel("dot"), Kernel("add_scaled")
_BYTES = 600_000_000  # for past steps, unless 6 need more

Function = Callable[[Singles, Singles], float]
_Pair = tuple[Singles, Singles, float, float]
"""Of a past step, the changes of the point and of the gradient, their product, and the square of the latter."""


class Iteration(NamedTuple):
    """State of the search: the number of the iteration, the objective, and the point (used again: copy to keep)."""

    number: int
    objective: float
    point: Singles


def minimize(
    function: Function,
    start: Singles,
    *,
    iterations: int,
    tolerance: float,
    memory: int | None = None,
    run: Executor = SERIAL,
    callback: Callable[[Iteration], bool] | None = None,
) -> Singles:
    """The minimum of a smooth convex function.

    Args:
        function: takes a point and an array for the gradient, and returns the value.
        start: float32.
        iterations: at most so many.
        tolerance: stop when ten iterations lower the value by less than this part of it.
        memory: m, the number of past steps that shape the next; as many as fit, from 6 to 20, when ``None``.
        run: how pieces of the work are run.
        callback: called after each iteration; a true result stops.

    >>> def square(x, gradient):
    ...     gradient[:] = 2 * (x - 3)
    ...     return float(((x - 3) ** 2).sum())
    >>> minimize(square, np.zeros(2, np.float32), iterations=20, tolerance=1e-9).round(3).tolist()
    [3.0, 3.0]
    """
    space = _Space(run, len(start))
    point, gradient, direction = start.astype(np.float32).copy(), space.vector(), space.vector()
    value = function(point, gradient)
    if memory is None:
        memory = min(20, max(6, _BYTES // (8 * max(1, len(start)))))
    pairs: deque[_Pair] = deque()
    history = [value]
    for number in range(1, iterations + 1):
        slope = _aim(space, gradient, pairs, direction)
        if slope >= 0:  # rounding has spoiled the past steps: restart
            space.forget(pairs, len(pairs))
            slope = _aim(space, gradient, pairs, direction)
        if slope == 0:
            break
        first = 1.0 if pairs else min(1.0, 1.0 / float(np.sqrt(-slope)))
        found = _search(space, function, point, value, direction, slope, first)
        if found is None:
            if not pairs:
                break
            space.forget(pairs, len(pairs))
            continue
        change, turn = point, gradient
        point, gradient, value = found
        square = space.add(turn, gradient, -1, turn, turn)
        curvature = space.add(change, point, -1, change, turn)
        if curvature > 1e-10 * square:
            pairs.append((change, turn, curvature, square))
            space.forget(pairs, len(pairs) - memory)
        else:
            space.leave(change, turn)
        history.append(value)
        if callback is not None and callback(Iteration(number, value, point)):
            break
        if len(history) > 10 and history[-11] - value < tolerance * abs(value):
            break
    return point


def _aim(space: _Space, gradient: Singles, pairs: deque[_Pair], direction: Singles) -> float:
    """Write minus the approximate inverse Hessian times the gradient to ``direction``, by the two-loop recursion.

    Each step takes the product that the next one needs, while the numbers are at hand.

    Returns:
        The product of ``direction`` and the gradient.
    """
    changes, turns = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    product = space.add(direction, gradient, 0, gradient, changes[-1] if pairs else gradient, -1)
    factors = []
    for place in reversed(range(len(pairs))):
        factors.append(product / pairs[place][2])
        after, scale = (changes[place - 1], 1.0) if place else (turns[0], pairs[-1][2] / pairs[-1][3])
        product = space.add(direction, direction, -factors[-1], turns[place], after, scale)
    for change, after, pair in zip(changes, [*turns, gradient][1:], pairs, strict=True):
        product = space.add(direction, direction, factors.pop() - product / pair[2], change, after)
    return product


def _search(
    space: _Space, function: Function, point: Singles, value: float, direction: Singles, slope: float, step: float
) -> tuple[Singles, Singles, float] | None:
    """A step that meets Wolfe's weak conditions, by doubling and halving; ``None`` if none does."""
    low, high = 0.0, np.inf
    candidate, gradient = space.vector(), space.vector()
    best: tuple[Singles, Singles, float] | None = None
    for _ in range(_STEPS):
        space.add(candidate, point, step, direction, direction)
        reached = function(candidate, gradient)
        if not np.isfinite(reached) or reached > value + _SUFFICIENT * step * slope:
            high = step
        else:
            worse, best = best, (candidate, gradient, reached)
            if space.dot(gradient, direction) >= _CURVATURE * slope:
                if worse is not None:
                    space.leave(*worse[:2])
                return best
            candidate, gradient = (space.vector(), space.vector()) if worse is None else worse[:2]
            low = step
        step = 2 * step if high == np.inf else (low + high) / 2
    space.leave(candidate, gradient)
    return best


class _Space:
    """Vector operations on several threads, the same for any number of them; and vectors that can be used again."""

    def __init__(self, run: Executor, size: int) -> None:
        self._run, self._size = (run if size >= _LONG else SERIAL), size
        self._spare: list[Singles] = []
        self._partial: Floats = np.zeros(-(-size // _BLOCK))
        self._blocks = even_ranges(len(self._partial), 1 if self._run.workers == 1 else _PIECES)

    def vector(self) -> Singles:
        """Return a vector of any numbers."""
        return self._spare.pop() if self._spare else np.empty(self._size, np.float32)

    def leave(self, *vectors: Singles) -> None:
        """Take vectors that are no longer needed."""
        self._spare += vectors

    def forget(self, pairs: deque[_Pair], count: int) -> None:
        """Leave the oldest pairs."""
        for _ in range(count):
            self.leave(*pairs.popleft()[:2])

    def dot(self, x: Singles, y: Singles) -> float:
        self._run.map(lambda piece: _dot(x, y, self._partial, *piece), self._blocks)
        return float(self._partial.sum())

    def add(self, result: Singles, x: Singles, factor: float, y: Singles, other: Singles, scale: float = 1.0) -> float:
        """Write scale (x + factor y), and return its product with ``other``, which may be ``result``."""
        self._run.map(
            lambda piece: _add_scaled(result, x, factor, y, scale, other, self._partial, *piece), self._blocks
        )
        return float(self._partial.sum())
