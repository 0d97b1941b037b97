"""Path probabilities, in either way of counting: see `native/walks.c`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.engine import PIECES, Floats, Ints, Masked
from spanloom.hypergraph.tables import Automaton, Paths
from spanloom.native import Kernel
from spanloom.parallel import Executor

_path_probability = Kernel("path_probability")


@dataclass(frozen=True)
class Walker:
    """Computation of path probabilities on an automaton.

    Args:
        automaton: the tables, without bundles.
        late: whether a path also begins with the flow to an entry from its own token, as where nodes are entries.
    """

    automaton: Automaton
    late: bool

    def probabilities(
        self, scores: Masked, offsets: Ints, paths: Paths, usable: NDArray[np.bool_],
        starts: NDArray[np.bool_], queries: Ints, run: Executor,
    ) -> Floats:  # fmt: skip
        """Compute the probability of some paths or their expected number in a derivation, 1 at most; 1 for the others.

        Args:
            scores: potentials, and what is allowed.
            offsets: (N + 1,) first token of each sentence.
            paths: Q of them, with M rows.
            usable: (M, C) the choices that each row allows.
            starts: (M, X) the entries at which a path may begin.
            queries: the numbers of these paths.
            run: how pieces of the work are run; the result does not depend on it.
        """
        chances = np.ones(len(paths.sentence))
        questions = paths._replace(allowed=usable.astype(np.uint8))
        begins = starts.astype(np.uint8)

        def one(piece: Ints) -> None:
            _path_probability(scores, offsets, questions, begins, piece, self.late, self.automaton, chances)

        run.map(one, _pieces(paths, queries))
        return chances


def _pieces(paths: Paths, queries: Ints) -> list[Ints]:
    """Split paths into pieces, those of one sentence together, by type and first token."""
    sentence = paths.sentence[queries]
    order = np.lexsort((paths.first[queries], paths.kind[queries], sentence))
    cuts = np.searchsorted(sentence[order], np.unique(sentence[order]))
    return [queries[order[piece]] for piece in _cut_at(len(order), cuts)]


def _cut_at(count: int, cuts: Ints) -> list[Ints]:
    """Return ranges of about equal size that begin only at ``cuts``."""
    if not count:
        return []
    wanted = np.linspace(0, count, PIECES, endpoint=False)
    starts = np.unique(cuts[np.searchsorted(cuts, wanted, side="right") - 1])
    return [np.arange(a, b) for a, b in zip(starts, [*starts[1:], count], strict=True)]
