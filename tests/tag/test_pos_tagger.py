"""The tagger: its decoder against all sequences and against the engine, its training, its file."""

from __future__ import annotations

import json
from itertools import pairwise, product

import numpy as np
import pytest

from spanloom.document import Document
from spanloom.errors import DataError, ModelError, UsageError
from spanloom.hypergraph import ENGINES, Potentials, SubgraphEngine
from spanloom.modelfile import ModelPart
from spanloom.parallel import SERIAL, Threads
from spanloom.tag.pos_tagger import TAGS, PosTagger, load_tagger

TYPES = ("stages", 0, "types")
LENGTHS = ([0], [1], [2, 0, 4], [3, 1, 5], [0, 6, 0])


def random_scores(lengths, tags, seed, spread=2.0):
    random = np.random.default_rng(seed)
    scores = random.normal(0, spread, (sum(lengths), tags)).astype(np.float32)
    return scores, random.normal(0, 1, (tags * tags, 1)).astype(np.float32), np.cumsum([0, *lengths])


def names_of(size):
    return tuple(f"T{i}" for i in range(size))


def best_tags(scores, transitions, offsets):
    names = names_of(scores.shape[1])
    edges = SubgraphEngine(TAGS.template(names)).viterbi(Potentials(scores[:, :, None], transitions), offsets).edges
    return TAGS.read_tags(edges, names)


def total(scores, transitions, row):
    size = scores.shape[1]
    own = sum(float(scores[t, tag]) for t, tag in enumerate(row))
    return own + sum(float(transitions[i * size + j, 0]) for i, j in pairwise(row))


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("tags", [1, 2, 4])
def test_best_tags_are_the_best_of_all_sequences(lengths, tags):
    scores, transitions, offsets = random_scores(lengths, tags, seed=sum(lengths) + tags)
    found = best_tags(scores, transitions, offsets).tolist()
    for first, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        rows = product(range(tags), repeat=end - first)
        assert tuple(found[first:end]) == max(rows, key=lambda row: total(scores[first:end], transitions, row))


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("spread", [2.0, 0.0])
def test_best_tags_with_names_that_a_chain_has_for_itself(counting, spread):
    names = ["START", "END", "O", "NN", "A", "B"]
    lengths = [7, 0, 1, 30, 2]
    scores, transitions, offsets = random_scores(lengths, len(names), seed=3, spread=spread)
    engine = ENGINES[counting](TAGS.template(names))
    for executor in (SERIAL, Threads(3)):
        best = engine.viterbi(Potentials(scores[:, :, None], transitions), offsets, executor)
        found = TAGS.read_tags(best.edges, names)
        assert np.array_equal(found, best_tags(scores, transitions, offsets))
        assert np.array_equal(TAGS.write_tags(found, offsets, names), best.edges)


@pytest.mark.parametrize("tags", [3, 4, 9, 14])
@pytest.mark.parametrize("seed", range(3))
def test_sums_over_many_tags_do_not_depend_on_company(tags, seed):
    lengths = np.random.default_rng(seed).permutation([3, 12, 0, 1, 7, 7, 2, 9, 30, 1, 4])
    scores, transitions, offsets = random_scores(lengths.tolist(), tags, seed)
    scores[offsets[4] : offsets[5]] *= 1e4  # too large for sums of exponentials
    template = TAGS.template(names_of(tags))
    found = SubgraphEngine(template).expectations(Potentials(scores[:, :, None], transitions), offsets)
    other = ENGINES["derivations"](template).expectations(Potentials(scores[:, :, None], transitions), offsets)
    np.testing.assert_allclose(found.log_partition, other.log_partition, rtol=1e-9)
    np.testing.assert_allclose(found.roles, other.roles, atol=1e-5)
    np.testing.assert_allclose(found.each, other.each, atol=1e-5)
    for n, (first, end) in enumerate(pairwise(offsets.tolist())):
        own = Potentials(scores[first:end, :, None], transitions)
        alone = SubgraphEngine(template).expectations(own, np.array([0, end - first]))
        assert np.array_equal(alone.log_partition[0], found.log_partition[n])
        assert np.array_equal(alone.roles, found.roles[first:end])
        assert np.array_equal(alone.each[0], found.each[n])


def test_more_tags_than_a_template_holds_are_refused():
    with pytest.raises(UsageError, match="has 40,600 hyperedges, expected 32,767 at most; take fewer types, tags"):
        TAGS.template(names_of(200))


def test_where_all_is_equal_the_first_tag_wins():
    assert (
        best_tags(np.zeros((5, 3), np.float32), np.zeros((9, 1), np.float32), np.array([0, 2, 5])).tolist() == [0] * 5
    )


WORDS = {
    "the": "DT",
    "a": "DT",
    "valve": "NN",
    "atrium": "NN",
    "is": "VBZ",
    "was": "VBD",
    "dilated": "JJ",
    "leaks": "VBZ",
}
TEXTS = [
    "the valve leaks",
    "the atrium is dilated",
    "a valve was dilated",
    "a dilated atrium leaks",
    "the valve is a valve",
]


def tagged(text, number=0):
    starts = np.cumsum([0, *(len(word) + 1 for word in text.split())])[:-1]
    tokens = [(start, start + len(word)) for start, word in zip(starts.tolist(), text.split(), strict=True)]
    return Document(text, id=f"d{number}", tokens=tokens, columns={"pos": [WORDS[word] for word in text.split()]})


@pytest.fixture(scope="module")
def documents():
    return [tagged(text, number) for number, text in enumerate(TEXTS * 6)]


@pytest.fixture(scope="module")
def tagger(documents):
    return PosTagger(epochs=5).fit(documents, dev=documents)


def bare(document):
    return document.copy(columns={})


def test_it_learns(tagger, documents):
    assert tagger.tags_ == ("DT", "JJ", "NN", "VBD", "VBZ")
    found = list(tagger.predict(bare(document) for document in documents))
    assert [document.columns for document in found] == [document.columns for document in documents]
    assert tagger.accuracy(documents) == tagger.report_.accuracy == 1
    assert (tagger.report_.documents, tagger.report_.tokens) == (30, sum(len(d.tokens) for d in documents))
    assert tagger.report_.development == tagger.report_.tokens


def test_what_a_document_has_is_kept(tagger, documents):
    given = documents[0].copy(columns={"pos": ["X", "Y", "Z"], "lemma": ["a", "b", "c"]})
    [kept, new] = tagger.predict([given, bare(documents[1])], keep=True)
    assert kept.columns == given.columns
    assert new.columns["pos"] == documents[1].columns["pos"]
    [again] = tagger.predict([given])
    assert again.columns == {"pos": documents[0].columns["pos"], "lemma": ["a", "b", "c"]}
    assert given.columns["pos"] == ["X", "Y", "Z"]


def test_texts_without_tokens_and_without_words(tagger):
    plain, empty = tagger.predict([Document("the valve leaks"), Document("")])
    assert plain.columns["pos"] == ["DT", "NN", "VBZ"]
    assert empty.columns["pos"] == []
    assert list(tagger.predict([])) == []


def test_the_same_bytes_for_any_number_of_threads(tagger, documents, tmp_path):
    tagger.save(tmp_path / "one")
    PosTagger(epochs=5, n_jobs=3).fit(documents, dev=documents).save(tmp_path / "three")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "three" / name).read_bytes()


def test_saved_and_loaded(tagger, documents, tmp_path):
    tagger.save(tmp_path / "model")
    loaded = load_tagger(tmp_path / "model")
    assert loaded.get_params() == {**tagger.get_params(), "features": list(tagger.features)}
    assert loaded.report_ == tagger.report_
    assert [d.columns for d in loaded.predict(documents)] == [d.columns for d in tagger.predict(documents)]
    with pytest.raises(UsageError):
        tagger.save(tmp_path / "model")


def test_inside_another_model(tagger, documents):
    outer = ModelPart(arrays={"weights": np.zeros(1)}, parts={"tagger": tagger.to_part()})
    inner = ModelPart.of(json.loads(json.dumps(outer.json())), outer.flat()).part("tagger")
    assert PosTagger.from_part(inner).accuracy(documents) == 1


def test_another_column_and_no_development_data(documents):
    renamed = [document.copy(columns={"upos": document.columns["pos"]}) for document in documents]
    tagger = PosTagger(column="upos", features=["bias", "w[0]"], epochs=2, min_count=1).fit(renamed)
    [found] = tagger.predict([Document("the valve leaks")])
    assert found.columns == {"upos": ["DT", "NN", "VBZ"]}
    assert tagger.report_.documents + 3 == len(documents)
    one = PosTagger(epochs=1, min_count=1).fit(documents[:1])  # nothing is left to hold out
    assert (one.report_.development, one.report_.accuracy) == (0, 0)


@pytest.mark.parametrize(
    "change", [None, ["DT", "NN"], ["DT", "", "NN"], ["DT", "N N", "VBZ"], ["DT", "N\u2028N", "VBZ"]]
)
def test_data_without_tags_are_refused(documents, change):
    odd = documents[0].copy(columns={} if change is None else {"pos": change})
    with pytest.raises(DataError, match="'d0'"):
        PosTagger().fit([*documents[1:], odd], dev=documents)
    with pytest.raises(DataError, match="'d0'"):
        PosTagger().fit(documents[1:], dev=[odd])


def test_what_cannot_be_meant_is_refused(documents, tmp_path):
    for params in (
        {"epochs": 0}, {"l2": -1.0}, {"l2": float("nan")}, {"rate": 0.0}, {"min_count": 0.5}, {"features": "bias"},
        {"features": []}, {"features": ["pos[-1]"]}, {"random_state": -1},
    ):  # fmt: skip
        with pytest.raises(UsageError):
            PosTagger(**params).fit(documents)
    with pytest.raises(DataError, match="no tokens"):
        PosTagger().fit([])
    with pytest.raises(UsageError, match="not trained"):
        PosTagger().predict(documents)
    with pytest.raises(ModelError, match="no model here"):
        load_tagger(tmp_path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((*TYPES,), ["DT", "JJ"]), ((*TYPES,), []), ((*TYPES,), ["DT"] * 5),
        (("stages", 0, "structure"), "bio"), (("params", "l2"), "x"),
        (("params", "features"), ["bias", "pos[0]"]), (("params", "features"), ["cluster[0]"]),
        (("params",), {"no": 1}), (("report",), {}),
    ],
)  # fmt: skip
def test_damaged_descriptions_are_refused(tagger, tmp_path, place, value):
    tagger.save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    description = json.loads(file.read_text())
    inner = description
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    file.write_text(json.dumps(description))
    with pytest.raises(ModelError, match="damaged") as caught:
        load_tagger(tmp_path / "model")
    assert "\n" not in str(caught.value)
