"""What rules find: planted phrases, sequences, gaps, overlaps, context; beside plain loops over tokens."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Batch, Document
from spanloom.label import label, read_label_rules
from spanloom.label.labelling import Finder
from spanloom.label.matches import GappedPhrases, LabelText, contiguous, gapped, longest

WORDS = st.sampled_from(["a", "b", "c", "B", "d"])


def sentences(words: list[list[str]]) -> Document:
    """A document with one blank between words."""
    flat = [word for sentence in words for word in sentence]
    ends = np.cumsum([len(word) + 1 for word in flat], dtype=np.int64) - 1
    starts = ends - np.array([len(word) for word in flat], np.int64)
    bounds = np.append(0, np.cumsum([len(sentence) for sentence in words])).tolist()
    return Document(" ".join(flat), tokens=np.stack([starts, ends], 1), sentences=list(pairwise(bounds)))


def found(documents, **rule):
    """The token ranges that a rule matches."""
    documents = documents if isinstance(documents, list) else [documents]
    [one] = read_label_rules({"rule": [{"type": "x", **rule}]}).rules
    return Finder(one).find(LabelText(Batch.of(documents))).ranges()


TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=3).map(sentences)


@given(TEXTS, st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=3), st.booleans())
def test_phrases_are_where_they_stand(document, phrases, exact):
    fold = str if exact else str.lower
    wanted = {tuple(map(fold, phrase)) for phrase in phrases}
    words = list(map(fold, document.words))
    expected = [
        ((i, j),)
        for first, end in document.sentences.tolist()
        for i in range(first, end)
        for j in range(i + 1, end + 1)
        if tuple(words[i:j]) in wanted
    ]
    match = "exact" if exact else "lower"
    phrases = [" ".join(phrase) for phrase in phrases]
    assert found(document, kind="phrases", phrases=phrases, match=match, overlaps="all") == expected


PARTS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "[ab]", "."]), st.sampled_from(["", "?", "*", "+"])), min_size=1, max_size=4
)


@given(TEXTS, PARTS)
def test_patterns_are_the_longest_matches_at_each_token(document, parts):
    document.columns["word"] = [word.lower() for word in document.words]
    pattern = [{"word": text, **({"repeat": repeat} if repeat else {})} for text, repeat in parts]
    expression = re.compile("".join(text + repeat for text, repeat in parts))
    words = "".join(document.words).lower()
    expected = []
    for first, end in document.sentences.tolist():
        for i in range(first, end):
            ends = [j for j in range(i + 1, end + 1) if expression.fullmatch(words, i, j)]
            expected += [((i, max(ends)),)] if ends else []
    assert found(document, kind="pattern", pattern=pattern, overlaps="all") == expected


@given(TEXTS, st.lists(WORDS, min_size=2, max_size=3), st.integers(0, 4))
def test_gaps_are_the_tightest(document, parts, gap):
    words = document.words
    closest = {}
    for first, end in document.sentences.tolist():
        for start in range(first, end):
            places = [start] if words[start] == parts[0] else []
            for part in parts[1:] if places else []:
                later = [at for at in range(places[-1] + 1, min(end, places[-1] + gap + 2)) if words[at] == part]
                if not later:
                    places = []
                    break
                places.append(later[0])
            if places:
                closest[places[-1]] = places
    expected = sorted(
        tuple(
            (run[0], run[-1] + 1)
            for run in np.split(np.array(places), np.flatnonzero(np.diff(places) > 1) + 1)
        )
        for places in closest.values()
    )  # fmt: skip
    phrases = [" ... ".join(parts)]
    assert found(document, kind="gapped", phrases=phrases, gap=gap, match="exact", overlaps="all") == expected


RANGES = st.lists(
    st.lists(st.integers(0, 15), min_size=2, max_size=4, unique=True).map(
        lambda cuts: tuple(pairwise(sorted(cuts)))[::2]
    ),
    max_size=8,
    unique=True,
)


@given(RANGES)
def test_of_overlapping_matches_the_longest_stays(ranges):
    taken, expected = set(), []
    size = lambda one: sum(end - first for first, end in one)  # noqa: E731
    for one in sorted(ranges, key=lambda one: (-size(one), one[0][0], one[-1][1])):
        tokens = {token for first, end in one for token in range(first, end)}
        if not tokens & taken:
            taken |= tokens
            expected.append(one)
    stays = longest(gapped(ranges)).ranges()
    if len({(size(one), one[0][0], one[-1][1]) for one in ranges}) == len(ranges):
        assert sorted(stays) == sorted(expected)
    tokens = [token for one in stays for first, end in one for token in range(first, end)]
    assert len(tokens) == len(set(tokens))


def test_no_match_at_all():
    assert longest(contiguous(np.zeros(0, np.int64), np.zeros(0, np.int64))).ranges() == []
    assert label([], {"rule": [{"kind": "phrases", "type": "x", "phrases": ["a"]}]}) == []
    assert label("", {"rule": [{"kind": "gapped", "type": "x", "phrases": ["a ... b"]}]}).mentions == []
    assert label("\n", {"rule": [{"kind": "pattern", "type": "x", "pattern": [".*"]}]}).mentions == []
    folded = {"kind": "phrases", "match": "folded", "type": "x", "phrases": ["renal tumour"]}
    assert label(" ", {"rule": [folded]}).mentions == []


def test_folded_phrases_are_found_as_names_of_a_vocabulary_are():
    text = "Tumours of the kidney; renal tumor; Kidneys' tumour. Renal stones."
    rule = {"kind": "phrases", "type": "x", "phrases": ["Renal Tumor"]}
    surfaces = {
        match: [one.text(text) for one in label(text, {"rule": [{**rule, "match": match}]}).mentions]
        for match in ("exact", "lower", "folded", "loose")
    }
    assert surfaces == {
        "exact": [], "lower": ["renal tumor"], "folded": ["renal tumor"],
        "loose": ["Tumours of the kidney", "renal tumor", "Kidneys' tumour"],
    }  # fmt: skip


def test_names_of_a_vocabulary(tmp_path):
    path = tmp_path / "v.tsv"
    path.write_text("id\tname\tsynonyms\tparents\tcategory\n1\theart\tcor|HEA\t\torgan\n2\tacne\tALL|LV\t\tproblem\n")
    rule = {"kind": "vocabulary", "type": "x", "file": str(path)}
    text = "All hearts, all acne: ALL, HEA, hea, LV, cor."

    def surfaces(**more):
        return [one.text(text) for one in label(text, {"rule": [{**rule, **more}]}).mentions]

    assert surfaces() == ["hearts", "acne", "ALL", "HEA", "cor"]
    assert surfaces(categories=["problem"]) == ["acne", "ALL"]
    assert surfaces(shortest=2) == ["hearts", "acne", "ALL", "HEA", "LV", "cor"]
    assert surfaces(match="exact") == ["acne", "ALL", "HEA", "cor"]
    assert surfaces(match="lower", categories=["problem"]) == ["All", "all", "acne", "ALL"]


def test_context_looks_at_both_sides_within_the_sentence():
    text = "No pain here. Pain without end. She says the pain of a day is no more."
    rule = {"kind": "phrases", "type": "x", "phrases": ["pain"]}

    def starts(**more):
        return [one.start for one in label(text, {"rule": [{**rule, **more}]}).mentions]

    assert starts() == [3, 14, 45]
    assert starts(context={"words": ["no"], "before": 2}) == [3]
    assert starts(context={"words": ["NO"], "after": 6}) == [45]
    assert starts(context={"words": ["no"], "before": 5, "after": 5}) == [3, 45]
    assert starts(without={"words": ["no"], "before": 50, "after": 50}) == [14]
    assert starts(without={"words": ["here"]}, context={"words": ["without", "no"]}) == [14, 45]
    assert starts(match="exact", context={"words": ["No"]}) == [3]


def test_patterns_ask_for_columns_and_options():
    document = sentences([["acute", "left", "heart", "failure", "seen"]])
    document.columns["pos"] = ["JJ", "JJ", "NN", "NN", "VBN"]
    noun, adjective = {"pos": "NNS?", "repeat": "+"}, {"pos": "JJ", "repeat": "*"}
    rule = {"kind": "pattern", "type": "x"}
    assert found(document, **rule, pattern=[adjective, noun]) == [((0, 4),)]
    assert found(document, **rule, pattern=[{"pos": "JJ", "text": "l.*"}, noun]) == [((1, 4),)]
    assert found(document, **rule, pattern=[{"any": ["ACUTE", {"pos": "VB.*"}]}]) == [((0, 1),), ((4, 5),)]
    assert found(document, **rule, match="exact", pattern=[{"any": ["ACUTE", {"pos": "VB.*"}]}]) == [((4, 5),)]
    assert found(document, **rule, pattern=[{"pos": "NN|JJ", "not": True}]) == [((4, 5),)]
    several = [["left", "heart"], ["left", "heart", "failure"], [{}, "seen"]]
    assert found(document, **rule, pattern=several) == [((1, 4),)]
    assert found(document, **rule, pattern=several, overlaps="all") == [((1, 4),), ((3, 5),)]
    other = sentences([["failure"]])
    assert found([other, document], **rule, pattern=[noun]) == [((3, 5),)]
    negated = found([other, document], **rule, pattern=[{"pos": "NN", "not": True}])
    assert negated == [((0, 1),), ((1, 2),), ((2, 3),), ((5, 6),)]


def test_a_column_of_another_length_is_an_error():
    document = sentences([["a", "b"]])
    document.columns["pos"] = ["X"]
    with pytest.raises(Exception, match="1 values in column 'pos', expected 2"):
        found(document, kind="pattern", pattern=[{"pos": "X"}])


def test_phrases_of_many_parts_take_linear_time(assert_linear):
    def prepare(parts):
        words = [f"w{number}" for number in range(parts)]
        phrases = GappedPhrases([[[word] for word in words]], 5, "exact")
        return partial(phrases.find, LabelText(Batch.of([sentences([words])])))

    assert_linear(prepare, 500)
