"""Kernels against the plain definitions: every column, every template, any Unicode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.document import Batch, Document
from spanloom.errors import DataError, UsageError
from spanloom.features import PRESETS, FeatureSet, available_columns
from spanloom.features.columns import ORTHOGRAPHY, orthography, short_shape, word_column
from spanloom.features.featureset import SharedKeys
from spanloom.features.letter_case import feature_tokens
from spanloom.features.tables import tabulate
from spanloom.features.template import Column
from spanloom.hashing import hash_text, hash_values
from spanloom.parallel import Threads

COLUMNS = [
    *(Column(name) for name in ("w", "low", "norm", "shape", "short_shape", "upper", "title", "digit", "orth")),
    *(Column(f"{kind}{size}") for kind in ("prefix", "suffix") for size in (1, 3, 6)),
    *(Column(name, size) for name in ("w", "low", "norm") for size in (-3, -1, 1, 2)),
]
WORDS = [
    *(
        "IL-2",
        "NF-kappaB",
        "p65",
        "A.",
        "IV",
        "MCMXCIX",
        "IIII",
        "VX",
        "CD",
        "M",
        "http://x.org",
        "WWW.x",
        "www",
        "://",
    ),
    *(
        "...",
        "$",
        "-",
        "3.5",
        "1999",
        "Don't",
        "Dž",
        "ǅ",
        "ß",
        "İstanbul",
        "ΣΑΣ",
        "ª",
        "²",
        "٣",
        "中文",
        "é",
        "e\u0301",
    ),
    *("\x00", "😀", "\ud800", "a" * 300, "", "Ab1Cd-2:3;4", "aB", "AbC", "Ab C", "A1b", "ⅳ", "Ⓐⓑ", "<s-1>", "x*é«ж"),
]
texts = st.text(st.characters(exclude_categories=()), max_size=12)
words = st.one_of(texts, st.text("aAbBIVXLCDM.-:/w019 ", max_size=9), st.sampled_from(WORDS))


def document(sentences: list[list[str]], columns: dict[str, list[str]] | None = None, name: str = "d") -> Document:
    """A document of these words, with one space between them."""
    tokens, bounds, at, count = [], [], 0, 0
    for sentence in sentences:
        for word in sentence:
            tokens.append([at, at + len(word)])
            at += len(word) + 1
        bounds.append([count, count + len(sentence)])
        count += len(sentence)
    text = " ".join(word for sentence in sentences for word in sentence)
    return Document(text, name, tokens=tokens, sentences=bounds, columns=columns or {})


def check_words(some: list[str]) -> None:
    batch = Batch.of([document([some])])
    table = tabulate(batch, COLUMNS, {})
    read = feature_tokens(batch)  # a sentence in capitals is read in lower case
    some = [read.text[a:b] for a, b in zip(read.starts.tolist(), read.ends.tolist(), strict=True)]
    for c, column in enumerate(COLUMNS):
        rule = word_column(column)
        assert rule is not None
        values = table.values[table.base[c] + table.ids[0] * table.stride[c]].tolist()
        for word, value in zip(some, values, strict=True):
            if column.name == "orth":
                assert tuple(name for bit, name in enumerate(ORTHOGRAPHY) if value >> bit & 1) == orthography(word)
            else:
                expected = rule[2](word)
                assert value == (0 if expected is None else hash_text(expected)), (column, word, expected)


def test_word_columns_of_odd_words() -> None:
    check_words(WORDS)


@given(st.lists(words, min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_word_columns_agree_with_their_definitions(some: list[str]) -> None:
    check_words(some)


@pytest.mark.parametrize(
    ("word", "flags"),
    [
        ("IL-2", "contains-digits contains-hyphen initial-caps"),
        ("J.", "contains-dots initial-caps lonely-initial"),
        ("1,5", "contains-digits"),
        ("42", "all-digits all-alphanumeric contains-digits"),
        (";", "punctuation-mark single-character"),
        ("XIV", "all-caps all-alphanumeric initial-caps roman-number"),
        ("https://a.b", "contains-dots URL"),
        ("x", "all-alphanumeric single-character"),
        ("", ""),
    ],
)
def test_orthography(word: str, flags: str) -> None:
    assert " ".join(orthography(word)) == flags


def test_short_shape() -> None:
    assert [short_shape(word) for word in ("IL-2", "a", "", "«中»")] == ["X-d", "x", "", "*o*"]


def test_hashes_of_values() -> None:
    values = ["NN", "", "\ud800", "😀x"]
    assert hash_values(values).tolist() == [hash_text("NN"), 0, hash_text("\ud800"), hash_text("😀x")]
    assert len(hash_values([])) == 0


TEMPLATES = [
    *(
        "bias",
        "w[-3..3]",
        "ngrams(w,1..4)",
        "ngrams(pos,2..3)",
        "bag(low,-5,5)",
        "bag(pos,-2,-1)",
        "bag(cluster:2,0,3)",
    ),
    *("orth[-1..1]", "prefix(1..4)", "suffix3[1]|prefix2[-2]", "pos:1[0]|pos:-1[7]", "cluster[-1..1]", "cluster:1[0]"),
    *("w[-9]|w[9]", "shape[-1]|shape[0]", "w:-3[0]", "w[0]"),
]


@given(
    st.lists(
        st.lists(st.lists(st.tuples(words, st.sampled_from(["N", "V", "NN", ""])), max_size=8), max_size=3), max_size=4
    ),
    st.dictionaries(st.sampled_from(WORDS), st.text("01", max_size=4)),
)
@settings(max_examples=150, deadline=None)
def test_keys_are_the_hashes_of_the_names(batch: list[list[list[tuple[str, str]]]], clusters: dict[str, str]) -> None:
    features = FeatureSet(TEMPLATES, clusters=clusters)
    documents = [
        document([[w for w, _ in s] for s in sentences], {"pos": [p for s in sentences for _, p in s]})
        for sentences in batch
    ]
    keys = features.keys(Batch.of(documents))
    expected = [pairs for d in documents for pairs in features.named_keys(d, range(len(d.words)))]
    assert [len(pairs) for pairs in expected] == np.diff(keys.offsets).tolist()
    assert [key for pairs in expected for _, key in pairs] == keys.ids.tolist()
    for pairs in expected:
        assert len(dict(pairs)) == len(pairs) == len({key for _, key in pairs})
    for threads in (2, 3):
        again = features.keys(Batch.of(documents), run=Threads(threads))
        assert all(np.array_equal(one, other) for one, other in zip(keys, again, strict=True))
    for threads in (1, 3):
        shared = features.shared_keys(Batch.of(documents), run=Threads(threads))
        assert list(map(sorted, together(shared))) == [sorted(key for _, key in pairs) for pairs in expected]


def together(shared: SharedKeys) -> list[list[int]]:
    """The keys of each token: those of its values, and its own."""
    values = np.split(shared.values.ids, shared.values.offsets[1:-1])
    own = np.split(shared.own.ids, shared.own.offsets[1:-1])
    rows = np.split(shared.rows, shared.offsets[1:-1])
    if len(shared.offsets) == 1:
        return []
    return [
        [key for row in some.tolist() for key in values[row].tolist()] + keys.tolist()
        for some, keys in zip(rows, own, strict=True)
    ]


def test_values_that_tokens_share_are_evaluated_once() -> None:
    one = document([["the", "cat", "the", "cat", "The"]] * 40)
    batch = Batch.of([one])
    features = FeatureSet(["bias", "low[-1..1]", "prefix1[0]", "low[0]|w[0]", "bag(low,-2,2)"])
    shared = features.shared_keys(batch)
    # a token refers to three places and the bag's two words; three words have rows in each, and "low" has boundaries
    assert len(shared.own.ids) == 0 and len(shared.values.offsets) - 1 == 4 * 3 + 2
    assert len(shared.values.ids) == 3 * 3 + 3 * 4 + 2
    pair = FeatureSet(["low[-1]|low[0]", "shape[0]|pos[0]"])
    own = pair.shared_keys(Batch.of([one.copy(columns={"pos": ["X"] * 200})]))
    assert len(own.values.ids) == len(own.rows) == 0 and own.own.ids.size == 400


def test_names_at_the_borders() -> None:
    features = FeatureSet(["w[-2..1]", "ngrams(w,2)", "bag(w,-2,2)", "orth[-1]", "pos[1]|w[0]"])
    one = document([["A", "b"], ["b"]], {"pos": ["DT", "", "NN"]})
    assert features.names(one, 0) == [
        *("w[-2]=<s-2>", "w[-1]=<s-1>", "w[0]=A", "w[1]=b", "w[-1]|w[0]=<s-1>|A", "w[0]|w[1]=A|b"),
        *("bag(w,-2,2)=b", "orth[-1]=<s-1>"),
    ]
    assert features.names(one, 2)[-2:] == ["orth[-1]=<s-1>", "pos[1]|w[0]=<s+1>|b"]
    with pytest.raises(DataError, match="no sentence with token 3"):
        features.names(one, 3)


def test_presets_without_their_columns() -> None:
    one = document([["No", "acute", "distress", "."]])
    for name in PRESETS:
        features = FeatureSet.preset(name, available=available_columns([one]))
        dropped = {column.name for template in features.dropped for column in template.columns}
        assert {name.rstrip("0123456789") for name in dropped} <= {"pos", "cluster", "category"}
        assert features.dropped and not features.needs
        assert len(features.keys(Batch.of([one])).offsets) == 5
    full = FeatureSet.preset("genia", available=["pos"], clusters={})
    assert not full.dropped and full.needs == ("pos",)
    with pytest.raises(UsageError, match="no feature preset 'genius'; there are ace, genia"):
        FeatureSet.preset("genius")


def test_small_preset_has_23_features_a_token() -> None:
    one = document([["No", "."], ["x"]], {"pos": ["DT", ".", "NN"]})
    keys = FeatureSet.preset("small", available=["pos"]).keys(Batch.of([one]))
    assert np.diff(keys.offsets).tolist() == [23, 23, 23]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("orth[0]|w[0]", "joins the column 'orth'"),
        ("bag(orth,-1,1)", "joins the column 'orth'"),
        ("shape:3[0]", "cuts the column 'shape'; only w, low, norm, cluster and those of the data can be"),
        ("cluster[0]", "needs word clusters"),
    ],
)
def test_columns_that_cannot_be_used_so(template: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        FeatureSet(["w[0]", template])
    assert repr(template) in str(caught.value)


def test_unknown_column_names_template_and_known_columns() -> None:
    one = document([["a"]], {"lemma": ["a"]})
    with pytest.raises(UsageError, match=r"template 'pos\[-1..1\]' names the column 'pos', .*'d'.* low, .*lemma$"):
        FeatureSet(["pos[-1..1]"]).keys(Batch.of([one]))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Document("a b"), "has no tokens"),
        (Document("a b", tokens=[[0, 1]]), "has no sentences"),
        (Document("a b", tokens=[[0, 1], [2, 9]], sentences=[[0, 2]]), "token 2-9 is outside"),
        (Document("a b", tokens=[[-1, 1], [2, 3]], sentences=[[0, 2]]), "token -1-1 is outside"),
        (Document("a b", tokens=[[0, 1], [2, 3]], sentences=[[0, 1]]), "end at token 1, expected 2"),
        (Document("a b", tokens=[[0, 1], [2, 3]], sentences=[[0, 1], [1, 3]]), "sentence 1-3 is outside the 2 tokens"),
        (Document("a b", tokens=[[0, 1], [2, 3]], sentences=[[1, 2], [0, 1]]), "sentence 1-2 starts behind 0"),
        (Document("a b", tokens=[[0, 1], [2, 3]], sentences=[[-1, 2]]), "sentence -1-2 is outside the 2 tokens"),
        (Document("a b", tokens=[[0, 1], [2, 3]], sentences=[]), "end at token 0, expected 2"),
        (document([["a", "b"]], {"pos": ["DT"]}), "has 1 values in column 'pos', expected 2"),
    ],
)
def test_documents_that_contradict_themselves(bad: Document, message: str) -> None:
    good = document([["a"]], {"pos": ["DT"]}, "good")
    bad = bad.copy(id="bad", columns=bad.columns or {"pos": ["DT", "NN"]})
    for batch in ([bad], [good, bad, good]):
        with pytest.raises(DataError, match=message) as caught:
            FeatureSet(["w[0]", "pos[0]"]).keys(Batch.of(batch))
        assert "document 'bad'" in str(caught.value)


def test_nothing() -> None:
    features = FeatureSet(["w[0]", "pos[0]"])
    for batch in ([], [document([])], [document([[], []])]):
        keys = features.keys(Batch.of(batch), run=Threads(2))
        assert len(keys.ids) == 0 and keys.offsets.tolist() == [0]
        shared = features.shared_keys(Batch.of(batch), run=Threads(2))
        assert together(shared) == []
    keys = FeatureSet([]).keys(Batch.of([document([["a"]])]))
    assert keys.offsets.tolist() == [0, 0]
    assert together(FeatureSet([]).shared_keys(Batch.of([document([["a"]])]))) == [[]]


def test_sentences_in_capitals_are_read_in_small_letters_and_others_are_not() -> None:
    shouted = ["THE", "PATIENT", "HAS", "NO", "CHEST", "PAIN", ",", "pH", "7"]
    others = [
        ["The", "patient", "has", "no", "chest", "pain"],
        ["WBC", ",", "RBC", ",", "HGB", ",", "PLT", ",", "CRP", ",", "ALT", ",", "AST", ",", "LDH"],  # symbols
        ["WBC", "、", "RBC", "、", "HGB", "、", "PLATELETS", "、", "CRP", "、", "ALT", "正常", "范围"],
        ["NO", "PAIN"],
    ]
    batch = Batch.of([document([*others[:2], shouted, *others[2:]]), document([others[0]], name="e")])
    read = feature_tokens(batch)
    words = [read.text[a:b] for a, b in zip(read.starts.tolist(), read.ends.tolist(), strict=True)]
    expected = [
        *others[0],
        *others[1],
        *["the", "patient", "has", "no", "chest", "pain", ",", "ph", "7"],
        *others[2],
        *others[3],
        *others[0],
    ]
    assert words == expected
    quiet = Batch.of([document([others[0]])])
    assert feature_tokens(quiet).text == " ".join(others[0])
    at_the_end = Batch.of([document([[*shouted, ","], [""]])])  # a column file may have an empty word
    assert feature_tokens(at_the_end).text.startswith("the patient")


def test_a_sentence_in_capitals_has_the_keys_of_small_letters() -> None:
    features = FeatureSet(["w[-1..1]", "shape[0]", "suffix(1..3)", "orth[0]", "low[-1]|w[0]"])
    loud, soft = (
        document([text.split()]) for text in ("SHE HAS NO CHEST PAIN OR DYSPNEA", "she has no chest pain or dyspnea")
    )
    assert features.keys(Batch.of([loud])).ids.tolist() == features.keys(Batch.of([soft])).ids.tolist()
    assert features.names(loud, 3) == features.names(soft, 3)
