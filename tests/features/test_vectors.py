"""Word vectors and their clusters against counts in plain Python and dense linear algebra of NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom import Document
from spanloom.errors import DataError, UsageError
from spanloom.features import counting, vectors
from spanloom.features.clusters import read_paths, write_paths
from spanloom.features.counting import count_words, frequent_words
from spanloom.features.vectors import induce_vectors, split_vectors, word_vectors
from spanloom.text import prepare, sentence_words

texts = st.lists(st.text("abc ABC.\n", max_size=40), min_size=1, max_size=6)


def words_of(documents, min_count):
    return frequent_words(count_words(documents), min_count)


def zipf_text(seed, words=60, tokens=3000):
    draws = np.random.default_rng(seed).zipf(1.3, tokens) % words
    return [Document(" ".join(f"w{word}" for word in line) + ".") for line in np.array_split(draws, tokens // 15)]


def information_of(sentences, words, contexts):
    """The matrix by its definition, with counters; C contexts behind a word stand before the C before it."""
    near = Counter()
    for sentence in sentences:
        for a, b in pairwise(sentence):
            if a in words and b in words:
                if b in words[:contexts]:
                    near[a, "behind", b] += 1
                if a in words[:contexts]:
                    near[b, "before", a] += 1
    rows, columns = Counter(), Counter()
    for (word, *context), n in near.items():
        rows[word] += n
        columns[tuple(context)] += n
    total = sum(n**0.75 for n in columns.values())
    matrix = np.zeros((len(words), 2 * contexts))
    for (word, *context), n in near.items():
        value = log(n * total / (rows[word] * columns[tuple(context)] ** 0.75))
        side, other = context
        matrix[words.index(word), words.index(other) + (contexts if side == "before" else 0)] = max(value, 0)
    return matrix


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts, st.integers(1, 3), st.integers(1, 5))
def test_information_is_that_of_counters(monkeypatch, texts, min_count, contexts):
    monkeypatch.setattr(vectors, "_CONTEXTS", contexts)
    documents = [Document(text) for text in texts]
    try:
        found = words_of(documents, min_count)
    except DataError:
        return
    sentences = list(sentence_words(map(prepare, documents)))
    expected = information_of(sentences, found.words, min(contexts, len(found.words)))
    np.testing.assert_allclose(vectors._information(found).dense(), expected, atol=1e-12)


@pytest.mark.parametrize("dimensions", [3, 12, 200])
def test_vectors_are_those_of_the_singular_value_decomposition(dimensions):
    words = words_of(zipf_text(1), 2)
    u, s, _ = np.linalg.svd(vectors._information(words).dense(), full_matrices=False)
    expected = (u * np.sqrt(s))[:, :dimensions]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = word_vectors(words, dimensions, passes=300)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-3)  # the same, but for signs


def test_columns_that_add_nothing_are_zero():
    columns = np.array([[1.0, 2, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
    np.testing.assert_allclose(vectors._orthonormal(columns), [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=20), st.integers(1, 25))
def test_paths_are_a_prefix_code_of_the_different_vectors(points, clusters):
    rows = np.array(points, float)
    paths = split_vectors(rows, np.ones(len(rows)), clusters)
    codes = set(paths)
    assert len(codes) == min(clusters, len(set(points)))
    assert len(codes) == 1 or sum(2.0 ** -len(code) for code in codes) == 1.0
    assert all(a == b or not b.startswith(a) for a in codes for b in codes)
    assert len({*zip(points, paths, strict=True)}) == len(set(points))  # equal vectors share a path
    assert not paths[0].strip("0")


def test_a_split_is_one_that_two_means_keep():
    rows = np.random.default_rng(3).standard_normal((200, 5))
    weights = np.random.default_rng(4).random(200)
    second = vectors._second_side(rows, weights)
    centres = [np.average(rows[side], axis=0, weights=weights[side]) for side in (~second, second)]
    nearer = np.linalg.norm(rows - centres[1], axis=1) < np.linalg.norm(rows - centres[0], axis=1)
    assert (nearer == second).mean() > 0.99


def test_words_in_the_same_place_share_bits_and_unknown_ones_take_them_by_letters():
    drugs, illnesses = ["aspirin", "insulin", "warfarin", "heparin"], ["asthma", "fever", "cough", "anemia"]
    lines = [f"She took {drug} twice daily. We gave {drug} by mouth." for drug in drugs]
    lines += [f"He has severe {illness} again. Signs of {illness} were found." for illness in illnesses]
    found = induce_vectors([Document(line) for line in lines * 3], 8)
    assert len({found[word] for word in drugs}) == len({found[word] for word in illnesses}) == 1
    assert found["aspirin"] != found["asthma"]
    assert found.bits("Aspirin") == found["aspirin"] and found.bits("xylophone")
    assert found.counts["fever"] == 6


@pytest.mark.parametrize("size", [1, 50, 10**6])
def test_batches_do_not_matter(monkeypatch, size):
    documents = zipf_text(5)
    expected = induce_vectors(documents, 20, 2)
    monkeypatch.setattr(counting, "_BATCH_TOKENS", size)
    found = induce_vectors(documents, 20, 2)
    assert (list(found.items()), found.counts, found.letters) == (
        list(expected.items()), expected.counts, expected.letters,
    )  # fmt: skip


def test_threads_of_libraries_do_not_matter(tmp_path):
    code = (
        "import sys; from spanloom import Document; import numpy as np\n"
        "from spanloom.features.vectors import induce_vectors, word_vectors\n"
        "from spanloom.features.counting import count_words, frequent_words\n"
        "draws = np.random.default_rng(0).zipf(1.3, 20_000) % 900\n"
        "documents = [Document(' '.join(f'w{w}' for w in draws))]\n"
        "found = word_vectors(frequent_words(count_words(documents), 1))\n"
        "sys.stdout.buffer.write(found.tobytes() + repr(induce_vectors(documents, 100)).encode())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True,
            env={**os.environ, "OMP_NUM_THREADS": n, "OPENBLAS_NUM_THREADS": n},
        ).stdout
        for n in ("1", "2", "5")
    }  # fmt: skip
    assert len(runs) == 1 and len(runs.pop()) > 1000


@pytest.mark.parametrize(
    "text",
    ["", "word", "word word", " \n\t", "\x00\x00", "\ufeff"],
    ids=["empty", "one", "same", "blank", "zero", "mark"],
)
def test_too_little_text_is_told(text):
    with pytest.raises(DataError, match=r"the raw text has \d words?, \d of them different.*expected at least 2"):
        induce_vectors([Document(text)], 5)


@pytest.mark.parametrize("clusters, min_count", [(1, 1), (5, 0)])
def test_senseless_arguments(clusters, min_count):
    with pytest.raises(UsageError, match="expected at least 2 and at least 1"):
        induce_vectors([Document("a b")], clusters, min_count)


def test_words_without_neighbours_and_one_line_of_a_book():
    alone = induce_vectors([Document("pain"), Document("fever"), Document("pain")], 5)
    assert dict(alone) == {"pain": "0", "fever": "0"}
    line = " ".join(f"w{i % 700}" for i in range(50_000))
    assert len(set(induce_vectors([Document(line)], 10).values())) == 10


def test_any_script_goes_through_a_file(tmp_path):
    text = "Боли нет. Жара нет. 痛みはない。熱はない。 \x01\x02 \ufffd\ufffd e\u0301 \U0001f600 \u200f שלום"
    made = induce_vectors([Document(text)], 5)
    write_paths(tmp_path / "paths", made)
    again = read_paths(tmp_path / "paths")
    assert (dict(again), again.counts) == (dict(made), made.counts)
    assert again.bits("unbekannt")
