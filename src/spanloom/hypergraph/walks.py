"""Path probabilities, in either way of counting: see `native/walks.c`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.engine import PIECES, Floats, Ints, Masked
from spanloom.hypergraph.tables import Automaton, Paths
from spanloom.native import Kernel
from spanloom.parallel import Executor, even_ranges
from spanloom.sparse import ascending

_path_probability = Kernel("path_probability")


def path_probabilities(
    automaton: Automaton, scores: Masked, offsets: Ints, paths: Paths, usable: NDArray[np.bool_],
    starts: NDArray[np.bool_], queries: Ints, run: Executor, *, late: bool,
) -> Floats:  # fmt: skip
    """Compute the probability of some paths or their expected number in a derivation, 1 at most; 1 for the others.

    Args:
        automaton: the tables, without bundles.
        scores: potentials, and what is allowed.
        offsets: (N + 1,) first token of each sentence.
        paths: Q of them, with M rows.
        usable: (M, C) the choices that each row allows.
        starts: (M, X) the entries at which a path may begin.
        queries: the numbers of these paths.
        run: how pieces of the work are run; the result does not depend on it.
        late: whether a path also begins with the flow to an entry from its own token, as where nodes are entries.
    """
    chances = np.ones(len(paths.sentence))
    questions = paths._replace(allowed=usable.astype(np.uint8))
    begins = starts.astype(np.uint8)
    # A piece has all paths of its sentences, by type and first token.
    sentence = paths.sentence[queries]
    order = ascending(sentence, paths.kind[queries], paths.first[queries])
    queries, sentence = queries[order], sentence[order]
    cuts = np.flatnonzero(np.diff(sentence, prepend=-1))
    bounds = [*(int(cuts[a]) for a, _ in even_ranges(len(cuts), PIECES if run.workers > 1 else 1)), len(queries)]
    run.map(
        lambda piece: _path_probability(scores, offsets, questions, begins, piece, late, automaton, chances),
        [queries[a:b] for a, b in pairwise(bounds)],
    )
    return chances
