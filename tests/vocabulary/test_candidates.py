"""Candidate search against plain programs that try every name; and what the finder promises."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.errors import ModelError, UsageError
from spanloom.native import Kernel
from spanloom.vocabulary import Concept, Vocabulary
from spanloom.vocabulary.candidates import (
    EDIT,
    EXACT,
    FOLDED,
    LOOSELY,
    MEMORY,
    TRIGRAM,
    CandidateFinder,
    Candidates,
    EditSearch,
    FoundPairs,
    join,
)
from spanloom.vocabulary.cosine import WORD, CosineIndex, TermWeights
from spanloom.vocabulary.folding import CLOSE, LOOSE, fold_text, fold_word, pieces, sums_of_words
from spanloom.vocabulary.lexicon import Lexicon, lexicon_of, runs
from spanloom.vocabulary.memory import Memory

CONCEPTS = [
    Concept("MESH:D007674", "Kidney Diseases", ("Disease, Kidney", "Nephropathy")),
    Concept("MESH:D051437", "Renal Insufficiency", ("Kidney Failure", "Failure, Renal")),
    Concept("MESH:D006333", "Heart Failure", ("Cardiac Failure", "Congestive Heart Failure")),
    Concept("MESH:D003924", "Diabetes Mellitus, Type 2", ("NIDDM",)),
    Concept("MESH:D003922", "Diabetes Mellitus, Type 1", ("IDDM",)),
    Concept("MESH:D001024", "Aortic Valve Stenosis", ("AS",)),
    Concept("MESH:D006973", "Hypertension", ("Blood Pressure, High",)),
]
VOCABULARY = Vocabulary.build(CONCEPTS)
WORDS = [
    "renal",
    "kidneys",
    "heart",
    "failure",
    "of",
    "the",
    "type",
    "II",
    "diabetes",
    "Hypertensive",
    "AS",
    "xyz",
    "Ωmega",
]
texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


def listed(found: Candidates, query: int) -> list[tuple[str, int]]:
    rows = range(found.ptr[query], found.ptr[query + 1])
    return [(VOCABULARY[int(found.concept[row])].id, int(found.source[row])) for row in rows]


# --- the parts, against plain programs


def vector(text: str, kind: str) -> Counter[str]:
    """Trigrams as strings, words with a mark before them."""
    bag: Counter[str] = Counter()
    for word in text.split():
        close, loose = fold_word(word)
        for part in close + (loose if kind == "both" else ()):
            padded = f"  {part} "
            bag.update(padded[i : i + 3] for i in range(len(padded) - 2))
        if kind == "both":
            for part in loose:
                bag[f"#{part}"] += WORD
    return bag


def cosines(text: str, names: list[str], kind: str) -> list[float]:
    """Of a text with all names."""
    bags = [vector(name, kind) for name in names]
    frequency = Counter(feature for bag in bags for feature in bag)

    def weighted(bag: Counter[str]) -> dict[str, float]:
        return {f: n * math.log((len(names) + 1) / max(frequency[f], 1)) for f, n in bag.items()}

    def length(bag: dict[str, float]) -> float:
        return math.sqrt(sum(value * value for value in bag.values()))

    query = weighted(vector(text, kind))
    rows = [weighted(bag) for bag in bags]
    return [
        sum(value * row.get(f, 0) for f, value in query.items()) / max(length(query) * length(row), 1e-30)
        for row in rows
    ]


def best(scores: list[float], concepts: list[int], k: int) -> list[tuple[int, float]]:
    top: dict[int, float] = {}
    for score, concept in zip(scores, concepts, strict=True):
        if score > 0:
            top[concept] = max(top.get(concept, 0), score)
    return sorted(top.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


@pytest.mark.parametrize("kind", ["close", "both"])
@settings(max_examples=30, deadline=None)
@given(text=texts, k=st.integers(1, 8))
def test_cosine_is_that_of_all_names(kind: str, text: str, k: int) -> None:
    words = pieces(VOCABULARY.names)
    index = CosineIndex.build(words, VOCABULARY.name_concept, TermWeights.of(kind, words))
    found = index.find(index.weights.vectors(pieces([text])), k)
    plain = cosines(text, VOCABULARY.names, kind)
    expected = best(plain, VOCABULARY.name_concept.tolist(), k)
    assert found.score.tolist() == pytest.approx([score for _, score in expected], abs=1e-5)
    assert found.score.tolist() == pytest.approx([plain[row] for row in found.name.tolist()], abs=1e-5)
    assert len({int(VOCABULARY.name_concept[row]) for row in found.name}) == len(expected)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=30).map(sorted), st.integers(1, 6))
def test_best_concepts(rows: list[tuple[int, int]], k: int) -> None:
    concepts, scores = [concept for concept, _ in rows], [score / 4 for _, score in rows]
    row, score = np.empty(k, np.int32), np.empty(k, np.float32)
    size = Kernel("best_concepts")(np.array(scores, np.float32), np.array(concepts, np.int32), row, score)
    expected = best(scores, concepts, k)
    assert [(concepts[r], s) for r, s in zip(row[:size].tolist(), score[:size].tolist(), strict=True)] == expected
    firsts = [next(r for r, pair in enumerate(zip(concepts, scores, strict=True)) if pair == one) for one in expected]
    assert row[:size].tolist() == firsts


def levenshtein(one: str, other: str) -> int:
    before = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
        before = row
    return before[-1]


@settings(max_examples=30, deadline=None)
@given(text=texts | st.text(alphabet="abcABC é\U0001f600", max_size=8), k=st.integers(1, 8))
def test_edit_search_is_that_of_all_names(text: str, k: int) -> None:
    low = text.casefold()
    scores = [
        1 - levenshtein(low, name) / max(len(low), len(name)) for name in (n.casefold() for n in VOCABULARY.names)
    ]
    found = EditSearch(VOCABULARY.names, VOCABULARY.name_concept).find([text, text], k)
    expected = best([float(np.float32(score)) for score in scores], VOCABULARY.name_concept.tolist(), k)
    assert found.ptr.tolist() == [0, len(expected), 2 * len(expected)]
    rows = [(int(VOCABULARY.name_concept[r]), s) for r, s in zip(found.name, found.score.tolist(), strict=True)]
    assert rows[: len(expected)] == rows[len(expected) :]
    assert [concept for concept, _ in rows[: len(expected)]] == [concept for concept, _ in expected]
    assert [score for _, score in rows[: len(expected)]] == pytest.approx([score for _, score in expected])


found_rows = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 4), st.integers(-1, 3), st.integers(0, 2)),
    max_size=12,
)


@given(st.lists(found_rows, min_size=1, max_size=3), st.integers(1, 5))
def test_join(ways: list[list[tuple[int, int, int, int, int]]], k: int) -> None:
    """Three texts; query 0 has texts 0 and 1, query 1 has none, query 2 has texts 2, query 3 has text 0."""
    pairs = [(0, 0), (0, 1), (2, 2), (3, 0)]
    found = [
        FoundPairs(
            np.array([r[0] for r in rows], np.int64), np.array([r[1] for r in rows], np.int32),
            np.array([r[2] / 8 for r in rows], np.float64), np.full(len(rows), 1 << way, np.uint8),
            np.array([r[3] for r in rows], np.int32), np.array([r[4] / 2 for r in rows], np.float64),
        )
        for way, rows in enumerate(ways)
    ]  # fmt: skip
    query, text = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    result = join(found, query, text, 4, k)
    for q in range(4):
        score: dict[int, float] = {}
        source, share = Counter[int](), Counter[int]()
        for t in [t for owner, t in pairs if owner == q]:
            for concept in range(4):
                left = 1.0
                hit = False
                for way, rows in enumerate(ways):
                    mine = [r for r in rows if r[:2] == (t, concept)]
                    if mine:
                        hit = True
                        left *= 1 - max(r[2] for r in mine) / 8
                        source[concept] |= 1 << way
                        share[concept] = max(share[concept], max(r[4] for r in mine))
                if hit:
                    score[concept] = max(score.get(concept, 0.0), 1 - left)
        expected = sorted(score, key=lambda c: (-np.float32(score[c]), c))[:k]
        rows = slice(result.ptr[q], result.ptr[q + 1])
        assert result.concept[rows].tolist() == expected
        assert result.score[rows].tolist() == pytest.approx([score[c] for c in expected])
        assert result.source[rows].tolist() == [source[c] for c in expected]
        assert result.share[rows].tolist() == [share[c] / 2 for c in expected]


@pytest.mark.parametrize("degree", [CLOSE, LOOSE])
@settings(max_examples=40, deadline=None)
@given(sentences=st.lists(texts, max_size=4), longest=st.integers(1, 5))
def test_spans_are_all_runs_that_fold_like_names(degree: int, sentences: list[str], longest: int) -> None:
    names = lexicon_of(VOCABULARY)
    words = [sentence.split() for sentence in sentences]
    bounds = np.cumsum([0, *map(len, words)])
    tokens = [word for sentence in words for word in sentence]
    found = names.spans(runs(tokens), bounds, longest, degree)
    expected = []
    for a, b in pairwise(bounds.tolist()):
        for first in range(a, b):
            for end in range(first + 1, min(first + longest, b) + 1):
                run = tokens[first:end]
                folded = [[part for word in run for part in fold_word(word)[degree - CLOSE]]]
                hits = names.find(sums_of_words(folded), degree)
                if len(hits.name) and fold_text(run[0]) and fold_text(run[-1]):
                    expected.append((first, end, hits.name.tolist()))
    rows = zip(found.first.tolist(), found.end.tolist(), found.ptr[:-1], found.ptr[1:], strict=True)
    assert [(first, end, found.name[a:b].tolist()) for first, end, a, b in rows] == expected


def test_an_empty_lexicon_finds_nothing() -> None:
    names = Lexicon.of_names([], np.zeros(0, np.int32))
    assert names.spans(runs([]), np.zeros(1, np.int64)).first.tolist() == []
    assert names.spans(runs(["No", "fever"]), np.array([0, 2])).first.tolist() == []
    assert names.find(np.array([7], np.uint64)).ptr.tolist() == [0, 0]


def test_a_name_of_too_many_concepts_says_nothing() -> None:
    lexicon = Lexicon.of_names(["sign"] * 9 + ["sign", "ache"], np.array([*range(9), 9, 9], np.int32))
    assert lexicon.find(lexicon.keys[CLOSE, :1]).name.tolist() == list(range(10))
    assert lexicon.concepts[CLOSE].find(lexicon.keys[CLOSE, -2:]).tolist() == [-1, 0]
    first, end = lexicon.runs(runs(["ache", "sign"]), np.array([0, 2]))
    assert (first.tolist(), end.tolist()) == ([0], [1])


# --- the finder


def test_ways_of_finding() -> None:
    memory = Memory({"renal disease": {(0,): 3, (1,): 1}, "cardiac decompensation": {(2,): 2}})
    finder = CandidateFinder(VOCABULARY, memory, k=3)
    found = finder.find(["heart FAILURE", "failure of the heart", "cardiac failures", "Renal disease", "AS", "???"])
    assert listed(found, 0)[0] == ("MESH:D006333", EXACT | FOLDED | LOOSELY | TRIGRAM)
    assert listed(found, 1)[0] == ("MESH:D006333", FOLDED | LOOSELY | TRIGRAM)
    assert listed(found, 3)[0] == ("MESH:D007674", LOOSELY | MEMORY | TRIGRAM)
    assert listed(found, 4) == [("MESH:D001024", EXACT)]  # folds to nothing
    assert listed(found, 5) == []
    renal = slice(found.ptr[3], found.ptr[4])
    shares = dict(zip(found.concept[renal].tolist(), found.share[renal].tolist(), strict=True))
    assert (shares[0], shares[1]) == (0.75, 0.25)
    assert [VOCABULARY.names[i] for i in found.name[found.ptr[:3]].tolist()] == [
        "Heart Failure", "Heart Failure", "Cardiac Failure"
    ]  # fmt: skip


def test_a_remembered_mention_beats_a_name_and_has_no_name() -> None:
    finder = CandidateFinder(VOCABULARY, Memory({"sugar": {(3,): 1}, "nephropathy": {(1,): 9}}))
    found = finder.find(["sugar", "Nephropathy"])
    assert found.name[0] == -1
    assert listed(found, 0)[0] == ("MESH:D003924", MEMORY | TRIGRAM)
    assert listed(found, 1)[0][0] == "MESH:D051437"


def test_long_forms() -> None:
    finder = CandidateFinder(VOCABULARY)
    found = finder.find(["CHF", "HF", "CHF"], ["congestive heart failure", None, None])
    assert listed(found, 0)[0] == ("MESH:D006333", EXACT | FOLDED | LOOSELY | TRIGRAM)
    assert all(source == TRIGRAM for q in (1, 2) for _, source in listed(found, q))
    with pytest.raises(ValueError, match="shorter"):
        finder.find(["CHF"], [])


def test_edit_uses_synonyms_of_training() -> None:
    memory = Memory({"breast lump": {(6,): 1}, "hypertensive": {(6,): 2}})
    found = CandidateFinder(VOCABULARY, memory, k=1, method="edit").find(["breast lump", "hypertensoin"])
    assert [listed(found, q) for q in (0, 1)] == [[("MESH:D006973", EDIT)]] * 2
    assert found.score.tolist() == pytest.approx([1 - 2 / 12, 1 - 2 / 12])


@pytest.mark.parametrize("method", ["best", "trigram", "edit"])
def test_saved_and_shared(method: str) -> None:
    memory = Memory({"sugar": {(3,): 1}})
    queries = ["renal failure", "sugar", "type 2 diabetes", "", "heart"]
    built = CandidateFinder(VOCABULARY, memory, k=4, method=method)
    saved = CandidateFinder.from_arrays(VOCABULARY, built.arrays(), memory, k=4, method=method)
    shared = CandidateFinder(VOCABULARY, None, k=4, method=method).with_memory(memory)
    for other in (saved, shared):
        for one, two in zip(built.find(queries), other.find(queries), strict=True):
            assert one.dtype == two.dtype
            assert one.tolist() == two.tolist()
    assert built.find([]).ptr.tolist() == [0]
    assert [c.dtype.name for c in built.find(queries)] == ["int64", "int32", "float32", "uint8", "int32", "float32"]


def test_candidates_do_not_depend_on_the_batch() -> None:
    finder = CandidateFinder(VOCABULARY, Memory({"sugar": {(3,): 1}}))
    queries = ["renal failure", "unknown words", "high sugar", "renal failure"]
    together = finder.find(queries)
    for q, text in enumerate(queries):
        alone = finder.find([text])
        rows = slice(together.ptr[q], together.ptr[q + 1])
        assert alone.concept.tolist() == together.concept[rows].tolist()
        assert alone.score.tolist() == together.score[rows].tolist()


@pytest.mark.parametrize(("options", "message"), [({"k": 0}, "k = 0"), ({"method": "fuzzy"}, "'fuzzy'")])
def test_wrong_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CandidateFinder(VOCABULARY, **options)


# --- damaged and hostile arrays: kernels follow their numbers


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rows", lambda a: a + 100),
        ("rows", lambda a: a[::-1].copy()),
        ("lexicon.close", lambda a: a[:-1]),
        ("lexicon.loose", lambda a: a.astype(np.int64)),
        ("cosine.codes", lambda a: a[:-1]),
        ("cosine.postings", lambda a: a + 50),
        ("cosine.postings", lambda a: a.astype(np.int64)),
        ("cosine.ptr", lambda a: a * 2),
        ("cosine.values", lambda a: a[:-1]),
        ("cosine.values", lambda a: a * np.float32(np.nan)),
        ("cosine.weights", lambda a: a * np.float32(np.inf)),
        ("cosine.other", lambda a: a[:0]),
    ],
)
def test_damaged_arrays_are_refused(name: str, change) -> None:
    arrays = CandidateFinder(VOCABULARY).arrays()
    with pytest.raises(ModelError, match=r"damaged|expected"):
        CandidateFinder.from_arrays(VOCABULARY, {**arrays, name: change(arrays[name])})
    del arrays[name]
    with pytest.raises(ModelError, match="missing"):
        CandidateFinder.from_arrays(VOCABULARY, arrays)


def test_arrays_of_another_vocabulary_are_refused() -> None:
    small = Vocabulary.build(CONCEPTS[:2])
    with pytest.raises(ModelError):
        CandidateFinder.from_arrays(small, CandidateFinder(VOCABULARY).arrays())
