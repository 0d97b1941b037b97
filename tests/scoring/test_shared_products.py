"""Scores with features that tokens share: the same sums as without, to the bit whatever a token comes with."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from spanloom.document import Batch, Document
from spanloom.features import PRESETS, FeatureSet, Resources, WordVectors, index_batch
from spanloom.parallel import Threads
from spanloom.scoring import LinearScorer, Weights, role_scores

WORDS = ["the", "IL-2", "gene", "of", "B-cells", ",", "NF-kappaB", "p65", "binds", "The", "Gene", "2", "and"]
TEMPLATES = {
    **{name: PRESETS[name] for name in ("small", "genia", "fast", "best")},
    "one value": ("bias", "w[0]"),
    "pairs": ("w[-1]|w[0]", "shape[0]|pos[0]"),
    "bags": ("bag(low,-3,3)", "bag(pos,1,4)", "orth[-1..1]"),
    "none": (),
    "vectors": ("w[-1..0]", "vector[-1..1]"),
}


def texts(number: int, seed: int, words: list[str] = WORDS) -> list[Document]:
    """Documents of one to three sentences of any length, 0 too."""
    rng = np.random.default_rng(seed)
    made = []
    for n in range(number):
        sizes = rng.integers(0, 9, rng.integers(1, 4)).tolist()
        own = [words[i] for i in rng.integers(0, len(words), sum(sizes))]
        ends = np.cumsum([0, *(len(word) + 1 for word in own)])
        tokens = [[a, a + len(word)] for a, word in zip(ends.tolist(), own, strict=False)]
        cuts = np.cumsum([0, *sizes]).tolist()
        tags = [["NN", "DT", "IN", ""][i] for i in rng.integers(0, 4, len(own))]
        arrays = {"tokens": np.array(tokens).reshape(-1, 2), "sentences": list(pairwise(cuts))}
        made.append(Document(" ".join(own), f"d{n}", columns={"pos": tags}, **arrays))
    return made


def scorer_of(name: str) -> LinearScorer:
    """A scorer with random weights, whose index knows some texts."""
    vectors = WordVectors.of(WORDS[:7], np.random.default_rng(3).normal(size=(7, 4)))
    clusters = {word: format(i, "04b") for i, word in enumerate(WORDS[:9])}
    features = FeatureSet(TEMPLATES[name], clusters=clusters, resources=Resources(vectors=vectors))
    index = index_batch(features, Batch.of(texts(30, 1, WORDS[:10]))).index
    rng = np.random.default_rng(2)
    weights = rng.normal(size=(len(index), 5, 2)).astype(np.float32), rng.normal(size=(3, 2)).astype(np.float32)
    return LinearScorer(features, index, Weights(*weights))


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("compact", [False, True])
def test_scores_are_the_sums_of_all_features(name: str, compact: bool) -> None:
    scorer = scorer_of(name)
    scorer = scorer.compacted(0.5) if compact else scorer
    for batch in map(Batch.of, (texts(40, 5), texts(3, 6, ["unseen", "words"]), [], texts(1, 7)[:0])):
        plain = scorer.index.lookup(scorer.features.keys(batch))
        expected = role_scores(plain, scorer.weights)
        found = scorer.score(batch)
        assert found.roles.shape == expected.roles.shape and found.roles.dtype == np.float32
        np.testing.assert_allclose(found.roles, expected.roles, rtol=1e-5, atol=1e-5)
        assert found.constants is scorer.weights.constants


@pytest.mark.parametrize("name", TEMPLATES)
def test_scores_do_not_depend_on_what_else_is_scored(name: str) -> None:
    scorer, documents = scorer_of(name), texts(40, 5)
    batch = Batch.of(documents)
    whole = scorer.score(batch).roles
    alone = [scorer.score(Batch.of([one])).roles for one in documents]
    np.testing.assert_array_equal(np.concatenate(alone), whole)
    backwards = scorer.score(Batch.of(documents[::-1])).roles
    np.testing.assert_array_equal(np.concatenate(alone[::-1]), backwards)
    np.testing.assert_array_equal(scorer.score(batch).roles, whole)
    for workers in (2, 7):
        with Threads(workers) as run:
            np.testing.assert_array_equal(scorer.score(batch, run).roles, whole)


def test_some_rows_of_a_matrix_with_shared_ones() -> None:
    scorer, batch = scorer_of("genia"), Batch.of(texts(20, 5))
    matrix = scorer.matrix(batch)
    every = role_scores(matrix, scorer.weights).roles
    rows = np.random.default_rng(0).integers(0, len(every), 30)
    np.testing.assert_array_equal(role_scores(matrix, scorer.weights, rows).roles, every[rows])
    assert matrix.shared is not None and len(matrix.shared.rows) > 0
