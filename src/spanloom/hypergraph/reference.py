"""Reference implementation of the engine in plain Python: short and slow, the oracle of the kernels.

Everything here is for one sentence and one copy of a template. ``scores[t][e]`` is the score of hyperedge e at token t.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from spanloom.hypergraph.template import Hyperedge, Template

Scores = Sequence[Sequence[float]]
Choice = tuple[int, int]  # token, hyperedge


class TokenNode(NamedTuple):
    """A node: a kind at a token."""

    token: int
    kind: str


def edge_scores(
    template: Template, roles: Sequence[Mapping[str, float]], constants: Mapping[str, float] | None = None,
    allowed: Sequence[Sequence[object]] = (),
) -> list[list[float]]:  # fmt: skip
    """Return the score of each hyperedge at each token: the sum of its roles' scores and its constant.

    Args:
        template: with E hyperedges.
        roles: for each token, role -> score.
        constants: constant -> score.
        allowed: (T, E) false where a hyperedge is forbidden, or nothing where none is.

    Returns:
        (T, E) scores, -inf where forbidden; a role past the last token scores 0.
    """

    def score(edge: Hyperedge, token: int) -> float:
        own = (constants or {}).get(edge.constant, 0.0) if edge.constant else 0.0
        return own + sum(roles[token + role.step][role.name] for role in edge.roles if token + role.step < len(roles))

    scores = [[score(edge, token) for edge in template.edges] for token in range(len(roles))]
    for row, mask in zip(scores, allowed, strict=False):
        row[:] = [value if free else -math.inf for value, free in zip(row, mask, strict=True)]
    return scores


def children(template: Template, choice: Choice, length: int) -> list[TokenNode] | None:
    """Return the nodes that a choice reaches; past the end final kinds are leaves, others forbid it (``None``)."""
    token, edge = choice
    nodes = []
    for child in template.edges[edge].children:
        if token + child.step < length:
            nodes.append(TokenNode(token + child.step, child.kind))
        elif child.kind not in template.final:
            return None
    return nodes


def subgraphs(template: Template, length: int) -> Iterator[tuple[Choice, ...]]:
    """Yield every sub-hypergraph of a sentence of ``length`` tokens, each once, as its sorted choices.

    >>> from spanloom.hypergraph import Child, Hyperedge
    >>> coin = Template(("A",), "A", frozenset({"A"}), (
    ...     Hyperedge("heads", "A", (Child("A", 1),)), Hyperedge("tails", "A", (Child("A", 1),))))
    >>> len(list(subgraphs(coin, 5)))
    32
    """
    rank = {kind: i for i, kind in enumerate(template.kinds)}

    def expand(pending: frozenset[TokenNode], chosen: tuple[Choice, ...]) -> Iterator[tuple[Choice, ...]]:
        if not pending:
            yield tuple(sorted(chosen))
            return
        node = min(pending, key=lambda node: (node.token, rank[node.kind]))
        for edge in template.edges_of(node.kind):
            reached = children(template, (node.token, edge), length)
            if reached is not None:
                yield from expand((pending - {node}) | set(reached), (*chosen, (node.token, edge)))

    yield from expand(frozenset({TokenNode(0, template.root)}), ())


def derivations(template: Template, length: int) -> Iterator[tuple[Choice, ...]]:
    """Yield every derivation: the tree that unfolds a sub-hypergraph, where each copy of a node chooses by itself.

    Choices come sorted, with repetition. Distinct trees may have the same choices, and each is yielded.
    """

    def expand(node: TokenNode) -> Iterator[tuple[Choice, ...]]:
        for edge in template.edges_of(node.kind):
            choice = (node.token, edge)
            reached = children(template, choice, length)
            if reached is not None:
                for rest in product(reached):
                    yield (choice, *rest)

    def product(nodes: list[TokenNode]) -> Iterator[tuple[Choice, ...]]:
        if not nodes:
            yield ()
            return
        for first in expand(nodes[0]):
            for rest in product(nodes[1:]):
                yield (*first, *rest)

    for choices in expand(TokenNode(0, template.root)):
        yield tuple(sorted(choices))


def multiplicity(template: Template, choices: Sequence[Choice], length: int) -> Counter[Choice]:
    """Count each choice of one sub-hypergraph in the derivation that unfolds it."""
    edge_at = {(token, template.edges[edge].head): (token, edge) for token, edge in choices}
    counts: Counter[Choice] = Counter()
    reached = Counter({TokenNode(0, template.root): 1})
    for token in range(length):
        for kind in template.kinds:
            times = reached[TokenNode(token, kind)]
            if times:
                choice = edge_at[token, kind]
                counts[choice] += times
                for node in children(template, choice, length) or ():
                    reached[node] += times
    return counts


def inside(template: Template, scores: Scores, total: Callable[[list[float]], float]) -> dict[TokenNode, float]:
    """Return the inside score of each node, over derivations.

    ``total`` is `log_sum` for the sum over derivations, or ``max`` for the best one. Lu and Roth (2015), section 3.4.
    """
    length = len(scores)
    values: dict[TokenNode, float] = {}
    for token in reversed(range(length)):
        for kind in reversed(template.kinds):
            terms = []
            for edge in template.edges_of(kind):
                reached = children(template, (token, edge), length)
                if reached is not None:
                    terms.append(scores[token][edge] + sum(values[node] for node in reached))
            values[TokenNode(token, kind)] = total(terms) if terms else -math.inf
    return values


def outside(template: Template, scores: Scores, values: Mapping[TokenNode, float]) -> dict[TokenNode, float]:
    """Return the outside score of each node; inside (``values``) + outside - log_partition is log expected visits."""
    length = len(scores)
    terms: dict[TokenNode, list[float]] = {TokenNode(0, template.root): [0.0]}
    result: dict[TokenNode, float] = {}
    for token in range(length):
        for kind in template.kinds:
            node = TokenNode(token, kind)
            result[node] = above = log_sum(terms.get(node, []))
            for edge in template.edges_of(kind):
                reached = children(template, (token, edge), length) or []
                for i, child in enumerate(reached):
                    beside = sum(values[other] for j, other in enumerate(reached) if j != i)
                    terms.setdefault(child, []).append(above + scores[token][edge] + beside)
    return result


def kbest(template: Template, scores: Scores, count: int) -> list[tuple[float, tuple[Choice, ...]]]:
    """Return the ``count`` best derivations, best first, as scores and sorted choices."""
    length = len(scores)
    ranked: dict[TokenNode, list[tuple[float, tuple[Choice, ...]]]] = {}
    for token in reversed(range(length)):
        for kind in reversed(template.kinds):
            candidates: list[tuple[float, tuple[Choice, ...]]] = []
            for edge in template.edges_of(kind):
                reached = children(template, (token, edge), length)
                if reached is None or scores[token][edge] == -math.inf:
                    continue
                partial: list[tuple[float, tuple[Choice, ...]]] = [(scores[token][edge], ((token, edge),))]
                for node in reached:
                    pairs = ((a + b, (*left, *right)) for a, left in partial for b, right in ranked[node])
                    partial = heapq.nlargest(count, pairs, key=lambda pair: pair[0])
                candidates += partial
            ranked[TokenNode(token, kind)] = heapq.nlargest(count, candidates, key=lambda pair: pair[0])
    return [(score, tuple(sorted(choices))) for score, choices in ranked[TokenNode(0, template.root)]]


def sample(template: Template, scores: Scores, count: int, random: Callable[[], float]) -> Iterator[tuple[Choice, ...]]:
    """Yield derivations drawn with their probabilities, as sorted choices; none where all are forbidden."""
    length = len(scores)
    values = inside(template, scores, log_sum)
    while values[TokenNode(0, template.root)] > -math.inf and count > 0:
        count -= 1
        chosen, waiting = [], [TokenNode(0, template.root)]
        while waiting:
            node = waiting.pop()
            left = random()
            for edge in template.edges_of(node.kind):
                reached = children(template, (node.token, edge), length)
                if reached is None or scores[node.token][edge] == -math.inf:
                    continue
                picked, below = edge, reached
                left -= math.exp(scores[node.token][edge] + sum(values[child] for child in reached) - values[node])
                if left < 0:
                    break
            chosen.append((node.token, picked))
            waiting += below
        yield tuple(sorted(chosen))


def listable(template: Template, most: int = 600) -> int:
    """Return the largest length, at most five, of a text whose derivations are few enough to list.

    >>> from spanloom.structures import STRUCTURES
    >>> [listable(STRUCTURES[name].template(["x"])) for name in ("bio", "heads")]
    [5, 2]
    """
    found = 1
    for length in range(2, 6):
        scores = [[0.0] * len(template.edges)] * length
        if inside(template, scores, log_sum)[TokenNode(0, template.root)] > math.log(most) + 1e-9:
            break
        found = length
    return found


def log_sum(terms: Sequence[float]) -> float:
    """Return the logarithm of the sum of exponentials; -inf for no terms.

    >>> round(log_sum([math.log(2), math.log(3)]), 12) == round(math.log(5), 12)
    True
    """
    top = max(terms, default=-math.inf)
    if top == -math.inf:
        return -math.inf
    return top + math.log(math.fsum(math.exp(term - top) for term in terms))
