"""The feature index: exact merging, counts, look-ups, and what a model file holds."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.document import Batch, Document
from spanloom.errors import ModelError, UsageError
from spanloom.features import Built, FeatureIndex, FeatureSet, Keys, Sparse, build_index, index_batch, name_rows
from spanloom.files.scratch import MEMORY, FolderScratch, Scratch
from spanloom.hashing import hash_text
from spanloom.modelfile import ModelPart
from spanloom.parallel import Threads

rows_of_keys = st.lists(st.sets(st.integers(0, 30), max_size=12), max_size=25)


def as_keys(rows: list[set[int]], same_slot: bool = False) -> Keys:
    """Keys of small numbers; all in one slot of any table if ``same_slot``."""
    high = 0 if same_slot else 1 << 59
    lists = [[number * high + number + 1 for number in sorted(row)] for row in rows]
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Keys(np.array([key for row in lists for key in row], np.uint64), offsets)


def dense(matrix: Sparse, columns: int) -> np.ndarray:
    result = np.zeros((len(matrix.offsets) - 1, columns))
    values = np.ones(len(matrix.indices)) if matrix.values is None else matrix.values
    np.add.at(result, (np.repeat(np.arange(len(result)), np.diff(matrix.offsets)), matrix.indices), values)
    return result


def expected_groups(rows: list[set[int]], min_count: int) -> list[tuple[tuple[int, ...], set[int]]]:
    """Tokens and keys of each set of identical columns: by falling count, then first token, then first key."""
    tokens = defaultdict(list)
    for t, row in enumerate(rows):
        for number in sorted(row):
            tokens[number].append(t)
    groups: dict[tuple[int, ...], set[int]] = {}
    for number, at in tokens.items():
        if len(at) >= min_count:
            groups.setdefault(tuple(at), set()).add(number)
    return sorted(groups.items(), key=lambda group: -len(group[0]))


@given(rows_of_keys, st.integers(1, 3), st.booleans())
@settings(max_examples=200, deadline=None)
def test_groups_are_exactly_the_identical_columns(rows: list[set[int]], min_count: int, same_slot: bool) -> None:
    keys = as_keys(rows, same_slot)
    built = build_index(keys, min_count=min_count)
    groups = expected_groups(rows, min_count)
    assert len(built.index) == len(groups)
    assert built.counts.tolist() == [len(tokens) for tokens, _ in groups]
    assert built.first.tolist() == [tokens[0] for tokens, _ in groups]
    assert built.index.group_sizes.tolist() == [len(members) for _, members in groups]
    matrix = dense(built.matrix, len(groups))
    for row, (tokens, members) in enumerate(groups):
        assert np.flatnonzero(matrix[:, row]).tolist() == list(tokens)
        ids = as_keys([members], same_slot).ids
        assert built.index.rows(ids).tolist() == [row] * len(members)
    assert matrix.max(initial=0) <= 1
    for threads in (1, 2, 3):
        found = dense(built.index.lookup(keys, run=Threads(threads)), len(groups))
        np.testing.assert_allclose(found, matrix, rtol=1e-6)


@given(rows_of_keys, rows_of_keys)
@settings(max_examples=50, deadline=None)
def test_new_text_gets_a_share_for_each_known_key(train: list[set[int]], new: list[set[int]]) -> None:
    built = build_index(as_keys(train))
    groups = expected_groups(train, 1)
    found = dense(built.index.lookup(as_keys(new)), len(groups))
    for t, row in enumerate(new):
        for g, (_, members) in enumerate(groups):
            assert found[t, g] == pytest.approx(len(row & members) / len(members), rel=1e-6)


def corpus(seed: int, size: int) -> list[Document]:
    random = np.random.default_rng(seed)
    documents = []
    for _ in range(size):
        words = [f"w{int(number)}" for number in random.zipf(1.4, 30) % 5000]
        ends = np.cumsum([len(word) + 1 for word in words]) - 1
        tokens = np.stack([ends - [len(word) for word in words], ends], axis=1)
        documents.append(Document(" ".join(words), tokens=tokens, sentences=[[0, 10], [10, 30]]))
    return documents


def build(seed: int = 0, size: int = 300) -> tuple[FeatureSet, list[Document], Built]:
    features = FeatureSet.preset("genia")
    documents = corpus(seed, size)
    return features, documents, build_index(features.keys(Batch.of(documents)))


def test_tables_grow_and_nothing_is_lost() -> None:
    features, documents, built = build()
    keys = features.keys(Batch.of(documents))
    distinct, counts = np.unique(keys.ids, return_counts=True)
    rows = built.index.rows(distinct)
    assert (rows >= 0).all() and len(distinct) > 20_000
    assert np.array_equal(built.counts[rows], counts)
    assert np.array_equal(np.bincount(rows), built.index.group_sizes)
    assert (np.diff(built.counts) <= 0).all()
    found = built.index.lookup(keys)
    sums = np.zeros(len(built.index))
    np.add.at(sums, found.indices, found.values)
    np.testing.assert_allclose(sums, np.bincount(built.matrix.indices), rtol=1e-4)
    other = features.keys(Batch.of(corpus(1, 50)))
    assert (built.index.rows(other.ids) >= 0).tolist() == np.isin(other.ids, distinct).tolist()


def test_names_of_rows() -> None:
    features, documents, built = build(size=20)
    names = name_rows(features, Batch.of(documents), built, range(0, len(built.index), 97))
    assert [len(members) for members in names] == built.index.group_sizes[::97].tolist()
    assert name_rows(features, Batch.of(documents), built, [0]) == [("bias", "prefix1[0]=w")]
    for row, members in zip(range(0, len(built.index), 97), names, strict=True):
        for name in members:
            seed, _, values = name.partition("=")
            if values and "|" not in seed:
                single = FeatureSet([seed])
                keys = single.keys(Batch.of(documents))
                assert built.index.rows(keys.ids).tolist().count(row) == built.counts[row]
    assert hash_text("bias") == FeatureSet(["bias"]).keys(Batch.of(documents[:1])).ids[0]


def test_state_survives_and_is_the_same_every_time() -> None:
    features, documents, built = build()
    state = built.index.to_part().arrays
    again = build_index(features.keys(Batch.of(documents), run=Threads(2))).index.to_part().arrays
    assert all(np.array_equal(state[name], again[name]) for name in state)
    loaded = FeatureIndex.from_part(ModelPart(arrays=state))
    keys = features.keys(Batch.of(corpus(2, 30)))
    for one, other in zip(built.index.lookup(keys)[:3], loaded.lookup(keys, run=Threads(2))[:3], strict=True):
        assert one is not None and other is not None and np.array_equal(one, other)


def arrays_of(built: Built) -> dict[str, bytes]:
    matrix = built.matrix
    parts = {"indices": matrix.indices, "offsets": matrix.offsets, "counts": built.counts, "first": built.first}
    return {name: array.tobytes() for name, array in {**parts, **built.index.to_part().arrays}.items()}


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("block", [1, 70, 1000])
def test_blocks_of_documents_give_the_index_of_all(block: int, on_disk: bool, tmp_path: Path) -> None:
    features, documents, built = build(size=60)
    batch = features.enrich(Batch.of([*documents[:30], Document("", tokens=[], sentences=[]), *documents[30:]]))
    scratch: Scratch = FolderScratch(tmp_path) if on_disk else MEMORY
    found = index_batch(features, batch, block=block, scratch=scratch)
    scratch.release()
    assert arrays_of(found) == arrays_of(built)
    assert name_rows(features, batch, found, [5, 600]) == name_rows(features, Batch.of(documents), built, [5, 600])


def test_damaged_states_are_refused() -> None:
    state = build(size=20)[2].index.to_part().arrays
    sizes = state["group_sizes"]
    damages = [
        {"words": state["words"][:-1]},
        {"words": state["words"].astype(np.int64)},
        {"slots": state["slots"][:-3]},
        {"slots": state["slots"].astype(np.float64)},
        {"slots": np.full_like(state["slots"], 255), "words": np.ones(8 * len(state["slots"]), np.uint64)},
        {"group_sizes": sizes[:-1]},
        {"group_sizes": np.zeros_like(sizes)},
        {"group_sizes": np.full_like(sizes, np.nan)},
        {"group_sizes": sizes.reshape(1, -1)},
        {"slots": state["slots"][:0], "words": state["words"][:0]},
    ]
    for damage in damages:
        with pytest.raises(ModelError):
            FeatureIndex.from_part(ModelPart(arrays={**state, **damage}))
    state = {name: array for name, array in state.items() if name != "slots"}
    with pytest.raises(ModelError, match="slots"):
        FeatureIndex.from_part(ModelPart(arrays=state))


def test_nothing_and_wrong_use() -> None:
    built = build_index(as_keys([]))
    assert len(built.index) == 0 and built.matrix.offsets.tolist() == [0]
    assert built.index.lookup(as_keys([{1, 2}])).offsets.tolist() == [0, 0]
    with pytest.raises(UsageError, match="min_count is 0"):
        build_index(as_keys([]), min_count=0)


@given(st.integers(0, 2**32), st.integers(1, 3000), st.integers(0, 3000))
@settings(max_examples=50, deadline=None)
def test_only_known_keys_are_found(seed: int, known: int, unknown: int) -> None:
    """Keys of 64 random bits, as hashes are, between unknown ones; half of these differ in their upper halves alone."""
    keys = np.unique(np.random.default_rng(seed).integers(1, 2**64, known + unknown, np.uint64))
    random = np.random.default_rng(seed + 1)
    random.shuffle(keys)
    index = build_index(Keys(keys[:known], np.arange(len(keys[:known]) + 1))).index
    near = keys[: unknown // 2] ^ np.uint64(1 << 63)
    asked = random.permutation(np.concatenate([keys, near]))
    rows = index.rows(asked)
    of_key = dict(zip(keys[:known].tolist(), index.rows(keys[:known]).tolist(), strict=True))
    assert sorted(of_key.values()) == list(range(len(index)))
    assert rows.tolist() == [of_key.get(key, -1) for key in asked.tolist()]
