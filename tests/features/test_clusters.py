"""Brown clustering against a direct implementation that recomputes mutual information for every candidate merge."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.errors import DataError, UsageError
from spanloom.features import clusters as brown
from spanloom.features.clusters import Clusters, induce, read_paths, write_paths
from spanloom.features.columns import cluster_value
from spanloom.features.template import Column
from spanloom.hashing import hash_text

sentences_of_letters = st.lists(st.lists(st.sampled_from("abcdefghijklm"), max_size=12), min_size=1, max_size=25)


def by_frequency(sentences, min_count=1):
    counts = Counter(word for sentence in sentences for word in sentence)
    return [word for word, count in counts.most_common() if count >= min_count], counts


def information(parts, pairs, counts, log):
    """The sum that average mutual information is, times the number of tokens, but for a constant."""
    where = {word: i for i, part in enumerate(parts) for word in part}
    cells = Counter()
    for (a, b), n in pairs.items():
        if a in where and b in where:
            cells[where[a], where[b]] += n
    sizes = [sum(counts[word] for word in part) for part in parts]
    return sum(n * (log(n) - log(sizes[a]) - log(sizes[b])) for (a, b), n in cells.items())


def merge_best(parts, pairs, counts, log):
    """Tries every merge; parts are in the order of their first words, and so are candidates: the first best wins."""
    best, choice = None, None
    for i, j in combinations(range(len(parts)), 2):
        merged = [part for k, part in enumerate(parts) if k not in (i, j)] + [parts[i] + parts[j]]
        value = information(merged, pairs, counts, log)
        if best is None or value > best:
            best, choice = value, (i, j)
    i, j = choice
    return i, j, [*parts[:i], parts[i] + parts[j], *parts[i + 1 : j], *parts[j + 1 :]]


def direct(sentences, size, min_count, log):
    words, counts = by_frequency(sentences, min_count)
    pairs = Counter(pair for sentence in sentences for pair in pairwise(sentence))
    parts = []
    for word in words:
        parts.append([word])
        if len(parts) > size:
            parts = merge_best(parts, pairs, counts, log)[2]
    leaves, tree = parts, [[k] for k in range(len(parts))]
    codes = [""] * len(parts)
    while len(parts) > 1:
        i, j, parts = merge_best(parts, pairs, counts, log)
        codes = [("0" if k in tree[i] else "1" if k in tree[j] else "") + code for k, code in enumerate(codes)]
        tree[i] += tree.pop(j)
    return {word: codes[k] or "0" for k, leaf in enumerate(leaves) for word in leaf}


def whole_logs(sentences, min_count=1):
    """The same whole-number logarithms as the kernel, so that ties are ties on both sides."""
    words, counts = by_frequency(sentences, min_count)
    logs = brown._window(2, np.array([counts[word] for word in words], np.int64)).logs
    return lambda n: int(logs[n])


@settings(deadline=None)
@given(sentences_of_letters, st.integers(2, 7), st.integers(1, 3))
def test_same_as_direct_greedy(sentences, size, min_count):
    expected = direct(sentences, size, min_count, whole_logs(sentences, min_count))
    assert induce(sentences, size, min_count) == expected


def zipf_text(seed, words, tokens):
    draws = np.random.default_rng(seed).zipf(1.4, tokens) % words
    return [[f"w{word}" for word in sentence] for sentence in np.array_split(draws, tokens // 15)]


@pytest.mark.parametrize("seed", range(3))
def test_same_as_direct_greedy_on_larger_text(seed):
    sentences = zipf_text(seed, 40, 1500)
    assert induce(sentences, 9) == direct(sentences, 9, 1, whole_logs(sentences))


def test_whole_logarithms_decide_as_real_ones():
    """Without equal counts there are no ties, and rounding does not matter."""
    sentences = zipf_text(7, 25, 4000)
    assert induce(sentences, 8) == direct(sentences, 8, 1, math.log)


def test_counts_beyond_the_table_of_logarithms(monkeypatch):
    sentences = zipf_text(1, 40, 1500)
    expected = induce(sentences, 9)
    monkeypatch.setattr(brown, "_TABLE", 4)
    assert induce(sentences, 9) == expected


def test_words_in_the_same_place_share_a_cluster():
    frames = ["{} has mild pain today", "no {} was seen", "{} denies fever"]
    nouns, drugs = ["he", "she", "patient"], ["aspirin", "insulin", "warfarin"]
    text = [f.format(n).split() for f in frames for n in nouns] + [f"take {d} twice daily".split() for d in drugs] * 3
    paths = induce(text, 8)
    assert len({paths[word] for word in nouns}) == 1
    assert len({paths[word] for word in drugs}) == 1
    assert paths["he"] != paths["aspirin"]


def test_paths_are_a_prefix_code_with_as_many_leaves_as_clusters():
    paths = induce(zipf_text(3, 200, 5000), 30)
    codes = sorted(set(paths.values()))
    assert len(codes) == 30
    assert sum(2.0 ** -len(code) for code in codes) == 1.0
    assert not any(b.startswith(a) for a, b in pairwise(codes))


def test_rare_words_are_left_out_and_separate():
    assert set(induce([list("abab"), list("axb")], 2, min_count=2)) == {"a", "b"}


@pytest.mark.parametrize(
    "sentences, expected", [([], {}), ([[]], {}), ([["a"]], {"a": "0"}), ([["a", "a"]], {"a": "0"})]
)
def test_hardly_any_text(sentences, expected):
    assert induce(sentences, 5) == expected


@pytest.mark.parametrize("size, min_count", [(1, 1), (0, 1), (5, 0)])
def test_senseless_arguments(size, min_count):
    with pytest.raises(UsageError, match="expected at least 2 and at least 1"):
        induce([["a"]], size, min_count)


def test_paths_file_round_trip(tmp_path):
    paths = {"the": "00", "of": "010", "\u00a0β": "011", "\x85": "1", "#": "00"}
    counts = {"the": 7, "of": 5, "\u00a0β": 2, "\x85": 1, "#": 9}
    write_paths(tmp_path / "paths", paths, counts)
    lines = "00\t#\t9\n00\tthe\t7\n010\tof\t5\n011\t\u00a0β\t2\n1\t\x85\t1\n"
    assert (tmp_path / "paths").read_bytes() == lines.encode()
    assert read_paths(tmp_path / "paths") == paths
    assert [file.name for file in tmp_path.iterdir()] == ["paths"]


def test_induced_clusters_are_written_with_their_counts(tmp_path):
    text = [line.split() for line in ("the old dog sleeps", "the old cat sleeps", "the rare dog eats")]
    paths = induce(text, 4, min_count=2)
    assert paths.counts == {"the": 3, "old": 2, "dog": 2, "sleeps": 2}
    write_paths(tmp_path / "paths", paths)
    assert read_paths(tmp_path / "paths") == paths
    lines = (tmp_path / "paths").read_text(encoding="utf-8").splitlines()
    assert {line.split("\t")[1]: int(line.split("\t")[2]) for line in lines} == paths.counts
    with pytest.raises(UsageError, match="expected a word with a count"):
        write_paths(tmp_path / "others", dict(paths))


def test_paths_file_of_windows_is_read(tmp_path):
    (tmp_path / "paths").write_bytes(b"\xef\xbb\xbf00\tthe\t7\r\n01\tof\t5\r\n")
    assert read_paths(tmp_path / "paths") == {"the": "00", "of": "01"}


@pytest.mark.parametrize(
    "content, message",
    [
        (b"00\tthe\t7\n01\tof\n", ":2: found 2 columns, expected bit string, word and count"),
        (b"00\tthe\t7\n\n", ":2: found 1 columns"),
        (b"0a\tthe\t7\n", ":1: found the bit string '0a'"),
        (b"\tthe\t7\n", ":1: found the bit string ''"),
        (b"0\tthe\tmany\n", ":1: found the count 'many'"),
        (b"0\tthe\t7\n1\tthe\t7\n", ":2: found 'the' twice"),
        (b"0\t\xff\t7\n", "paths: found bytes that are not UTF-8"),
    ],
)
def test_damaged_paths_file(tmp_path, content, message):
    (tmp_path / "paths").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_paths(tmp_path / "paths")
    assert message in str(caught.value)


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "uncounted"])
def test_word_that_cannot_be_written(tmp_path, word):
    with pytest.raises(UsageError, match="expected a word with a count"):
        write_paths(tmp_path / "paths", {word: "0"}, {"a\tb": 1, "a\nb": 1})
    assert not (tmp_path / "paths").exists()


def test_forms_are_the_hashes_of_the_values_of_each_word():
    letters = {"lower": {"upper": "0010"}, "ending2": {"X ab": "1"}}
    clusters = Clusters({"a": "0101", "B": "0101", "": "11", "c": ""}, {"a": 9, "B": 1}, letters)
    columns = [Column("cluster"), Column("cluster", 2), Column("cluster3"), Column("band")]
    words = ["c", "B", "Upper", "unknown", "a", ""]
    for known in (clusters, pickle.loads(pickle.dumps(clusters)), Clusters({}), Clusters({}, None, letters)):
        found = known.forms.of(words.__getitem__, np.array([hash_text(word) for word in words], np.uint64), columns)
        for word, row in zip(words, found.tolist(), strict=True):
            for column, value in zip(columns, row, strict=True):
                said = cluster_value(column, known.band(word) if column.name == "band" else known.bits(word))
                assert value == (hash_text(said) if said else 0), (word, column)
    assert "forms" not in vars(pickle.loads(pickle.dumps(clusters)))
    assert "forms" not in vars(copy.copy(clusters))
