"""The language model against its formulas in plain Python, against files, and against itself when saved."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.document import Document
from spanloom.errors import DataError, ModelError, UsageError
from spanloom.modelfile import ModelPart, write
from spanloom_lab.lm.language_model import LanguageModel
from spanloom_lab.lm.ngrams import MARKERS

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
TEXT = [
    "the left atrium is dilated",
    "the left ventricle is dilated",
    "the right atrium is normal in size",
    "left ventricle normal",
    "the mitral valve is normal",
    "no mitral valve prolapse",
    "the aortic valve is normal in structure",
]
sentences = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=7), min_size=1, max_size=12)


def document(*rows):
    """Sentences of words as one document."""
    text, tokens, bounds = "", [], []
    for row in rows:
        bounds.append((len(tokens), len(tokens) + len(row)))
        for word in row:
            tokens.append((len(text), len(text) + len(word)))
            text += word + " "
    return Document(text, tokens=tokens, sentences=bounds)


def documents(rows):
    return [document(row.split() if isinstance(row, str) else row) for row in rows]


class Naive:
    """Chen and Goodman (1999), with n-grams as tuples, from the definition of each count."""

    def __init__(self, rows, order):
        texts = [(START, *row, END) for row in rows]
        self.words = [*sorted({word for text in texts for word in text} - {START}), UNKNOWN]
        plain = {
            n: Counter(text[i : i + n] for text in texts for i in range(len(text) - n + 1)) for n in range(1, order + 1)
        }
        self.counts = {order: plain[order]}
        for n in range(1, order):
            before = defaultdict(set)
            for ngram in plain[n + 1]:
                before[ngram[1:]].add(ngram[0])
            self.counts[n] = {g: plain[n][g] if g[0] == START else len(before[g]) for g in plain[n]}
        self.counts[1] = {g: count for g, count in self.counts[1].items() if g != (START,)}
        self.discounts = {n: self.discount(self.counts[n].values()) for n in self.counts}

    @staticmethod
    def discount(counts):
        t = {k: sum(count == k for count in counts) for k in (1, 2, 3, 4)}
        if t[1] and t[2] and t[3]:
            y = t[1] / (t[1] + 2 * t[2])
            d = [1 - 2 * y * t[2] / t[1], 2 - 3 * y * t[3] / t[2], 3 - 4 * y * t[4] / t[3]]
            if all(0 < d[k] <= k + 1 for k in range(3)):
                return d
        return [0.5, 1.0, 1.5]

    def probability(self, word, history):
        """p(word | history), by the recursion itself."""
        n = len(history) + 1
        shorter = self.probability(word, history[1:]) if history else 1 / len(self.words)
        children = {g: count for g, count in self.counts[n].items() if g[:-1] == history}
        if not children:
            return shorter
        taken = {g: self.discounts[n][min(count, 3) - 1] for g, count in children.items()}
        own = children.get((*history, word), 0) - taken.get((*history, word), 0)
        return (own + sum(taken.values()) * shorter) / sum(children.values())


def histories(rows, order):
    yield ()
    for n in range(1, order):
        for row in rows:
            text = (START, *row)
            yield from (text[i : i + n] for i in range(len(text) - n + 1))


def probability(model, word, history):
    """What the model says, through its documents' interface where it can, else through its stream."""
    number = {text: i for i, text in enumerate(model.words)}
    stream = np.array([number.get(text, 0) for text in (*history, word)], np.int32)
    return math.exp(model._score(stream)[-1, len(history)])


@settings(max_examples=40, deadline=None)
@given(sentences, st.integers(1, 3))
def test_probabilities_are_those_of_the_formulas(rows, order):
    model, naive = LanguageModel.train(documents(rows), order), Naive(rows, order)
    for history in set(histories(rows, order)):
        if history[:1] == (START,) or len(history) < 2:  # the stream that the model scores begins a sentence
            for word in naive.words:
                assert probability(model, word, history) == pytest.approx(naive.probability(word, history), rel=1e-5)


@settings(max_examples=40, deadline=None)
@given(sentences, st.integers(1, 3))
def test_documents_are_scored_as_the_formulas_say(rows, order):
    model, naive = LanguageModel.train(documents(rows), order), Naive(rows, order)
    new = [[*row[::-1], "z"] for row in rows]
    expected = []
    for row in new:
        known = [word if word in naive.words else UNKNOWN for word in row]
        text = (START, *known)
        for i, word in enumerate(known, 1):
            expected.append([naive.probability(word, text[max(0, i - n) : i][-(order - 1) or i :]) for n in range(3)])
    assert np.exp(model.log_probabilities([document(*new)])) == pytest.approx(np.array(expected), rel=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_sum_to_one_after_every_history(order):
    rows = [row.split() for row in TEXT]
    model = LanguageModel.train(documents(TEXT), order)
    words = [word for word in model.words if word != START]
    for history in {*histories(rows, order), ("never",), ("the", "never"), ("never", "the"), ("normal", "left")}:
        if len(history) < order:
            assert sum(probability(model, word, history) for word in words) == pytest.approx(1, abs=1e-5)


def test_discounts_of_a_text_that_has_them():
    rows = [("a",) * n for n in (1, 1, 1, 2, 2, 3, 4)] + [tuple("abcdefgh"), tuple("bcdeh"), tuple("cdeg"), tuple("de")]
    naive = Naive(rows, 2)
    assert naive.discounts[2] != [0.5, 1.0, 1.5]
    model = LanguageModel.train(documents(rows), 2)
    for history in set(histories(rows, 2)):
        for word in naive.words:
            assert probability(model, word, history) == pytest.approx(naive.probability(word, history), rel=1e-5)


def test_a_bigram_by_hand():
    """Two sentences, "a b" and "a": after "a" come b and </s>, once each; D(1) = 1/2, as the text is small."""
    model = LanguageModel.train([document(["a", "b"]), document(["a"])], 2)
    # of words: a follows one word, b one, </s> two; D(1) = 1/2, D(2) = 1, so g = 2/4, spread over four words
    b = 0.5 / 4 + 0.5 / 4
    assert np.exp(model.bigram([document(["a", "b"])])[1]) == pytest.approx((1 - 0.5) / 2 + 0.5 * b)


def test_columns_beyond_the_order_are_those_of_the_order():
    model = LanguageModel.train(documents(TEXT), 2)
    assert np.array_equal(model.bigram(documents(TEXT)), model.trigram(documents(TEXT)))


def test_sentences_and_documents_do_not_touch():
    model = LanguageModel.train(documents(TEXT))
    rows = [row.split() for row in TEXT]
    apart = np.concatenate([model.log_probabilities([document(row)]) for row in rows])
    assert np.array_equal(model.log_probabilities([document(*rows)]), apart)
    assert np.array_equal(model.log_probabilities(documents(TEXT)), apart)
    assert model.log_probabilities([Document(""), document([], ["left"], [])]).shape == (1, 3)
    assert model.log_probabilities([]).shape == (0, 3)


def test_markers_and_white_space_in_the_text_are_unknown_words():
    odd = document(["left", "<s>", "</s>", "6 1/2", "valve"])
    model = LanguageModel.train([odd, *documents(TEXT)])
    assert model.words[:3] == list(MARKERS)
    assert "6 1/2" not in model.words
    plain = document(["left", "q", "q", "q", "valve"])
    assert np.array_equal(model.log_probabilities([odd]), model.log_probabilities([plain]))


def test_perplexity_is_the_inverse_geometric_mean():
    model = LanguageModel.train(documents(TEXT), 1)
    words = [*TEXT[0].split(), END]
    mean = np.mean([math.log(probability(model, word, ())) for word in words])
    assert model.perplexity(documents(TEXT[:1])) == pytest.approx(math.exp(-mean), rel=1e-5)


def test_ranges():
    model = LanguageModel.train(documents(TEXT))
    new = documents(["the left valve is normal", "zzz is dilated"])
    scores = model.log_probabilities(new)[:, 1:] / math.log(10)
    assert np.array_equal(model.ranges(new), np.clip(np.floor(2 * scores) + 10, 0, 9))
    spread = model.with_ranges(documents(TEXT))
    counts = np.bincount(spread.ranges(documents(TEXT))[:, 0], minlength=10)
    assert counts.sum() == sum(len(row.split()) for row in TEXT)
    assert counts.max() < 10  # of 36 tokens, even where many share a probability
    assert np.array_equal(model.bigram(new), spread.bigram(new))


def same(one, other):
    assert one.words == other.words
    for level, twin in zip(one.levels, other.levels, strict=True):
        for array, copy in zip(level, twin, strict=True):
            assert array.dtype == copy.dtype
            assert np.array_equal(array, copy)


@pytest.mark.parametrize("name", ["lm.arpa", "lm.arpa.gz"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_arpa_files_hold_every_number(order, name, tmp_path):
    model = LanguageModel.train(
        [*documents(TEXT), document(["non\u00a0breaking", "line\u2028end", "naïve", "𝛼"])], order
    )
    model.write_arpa(tmp_path / name)
    same(LanguageModel.read_arpa(tmp_path / name), model)
    same(LanguageModel.load(tmp_path / name), model)
    with pytest.raises(UsageError):
        model.write_arpa(tmp_path / name)
    before = (tmp_path / name).read_bytes()
    model.write_arpa(tmp_path / name, force=True)
    assert (tmp_path / name).read_bytes() == before


def test_a_word_with_white_space_cannot_be_written(tmp_path):
    model = LanguageModel.train(documents(TEXT))
    with pytest.raises(DataError, match="'6 1/2'"):
        LanguageModel([*model.words[:-1], "6 1/2"], model.levels).write_arpa(tmp_path / "lm.arpa")


def test_models_are_saved_and_loaded(tmp_path):
    model = LanguageModel.train([*documents(TEXT), document(["half\ud800"])]).with_ranges(documents(TEXT))
    model.save(tmp_path / "lm")
    loaded = LanguageModel.load(tmp_path / "lm")
    same(loaded, model)
    assert np.array_equal(loaded.ranges(documents(TEXT)), model.ranges(documents(TEXT)))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("ptr3", lambda a: a[:-1]),
        ("ptr2", lambda a: a[::-1].copy()),
        ("ptr2", lambda a: a.astype(np.int32)),
        ("words2", lambda a: a + 1000),
        ("words1", lambda a: a[::-1].copy()),
        ("words3", lambda a: -1 - a),
        ("scores3", lambda a: a[1:]),
        ("backoff2", lambda a: a.astype(np.float64)),
        ("text", lambda a: a[:-3]),
        ("text", lambda a: a * 0 + 255),
        ("lengths", lambda a: a * 0),
        ("bounds", lambda a: a[:, 1:]),
        ("bounds", lambda a: -a),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, change, tmp_path):
    part = LanguageModel.train(documents(TEXT)).to_part()
    changes = [{**part.arrays, name: change(part.arrays[name])}]
    if name != "ptr3":  # without it the model is a whole one of order 2
        changes.append({key: array for key, array in part.arrays.items() if key != name})
    for arrays in changes:
        write(tmp_path / "lm", "language-model", ModelPart(part.values, arrays), force=True)
        with pytest.raises(ModelError, match="damaged"):
            LanguageModel.load(tmp_path / "lm")


def test_what_cannot_be_meant_is_refused(tmp_path):
    with pytest.raises(DataError, match="no word"):
        LanguageModel.train([Document("")])
    with pytest.raises(UsageError, match="order is 4"):
        LanguageModel.train(documents(TEXT), 4)
    model = LanguageModel.train(documents(TEXT))
    with pytest.raises(DataError, match="no word"):
        model.with_ranges([])
    with pytest.raises(DataError, match="no word"):
        model.perplexity([])
    with pytest.raises(ModelError, match="no model here"):
        LanguageModel.load(tmp_path)
