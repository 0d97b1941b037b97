"""Bits by spelling against the definition in plain words, and clusters that carry them through files and models."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Document, Mention, Recognizer, load
from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.features import FeatureSet
from spanloom.features.clusters import Clusters, induce, induce_from, read_paths, write_paths
from spanloom.features.columns import short_shape
from spanloom.features.letters import WAYS, learn_letters, spelled, spellings
from spanloom.text import prepare, sentence_words

bits = st.text("01", min_size=1, max_size=5)
words = st.text("aAbB1-é漢", min_size=1, max_size=5)


def heaviest(votes: dict[str, int]) -> str:
    """The longest prefix that half of the votes share, the one of zeros where two do; by trying all."""
    prefixes = {path[:size] for path in votes for size in range(1, len(path) + 1)}
    total = sum(votes.values())
    weights = {p: sum(n for path, n in votes.items() if path.startswith(p)) for p in prefixes}
    return min((p for p in prefixes if 2 * weights[p] >= total), key=lambda p: (-weights[p], len(p), p), default="")


@given(st.dictionaries(words, bits, min_size=1, max_size=30), st.data())
def test_every_word_has_bits_and_those_of_a_cluster_are_its_own(paths, data):
    counts = {word: data.draw(st.integers(1, 9)) for word in paths}
    letters = learn_letters(paths, counts)
    word = data.draw(words)
    found = spelled(paths, letters, word)
    assert found == paths[word] if word in paths else any(path.startswith(found) for path in paths.values())
    assert found


@given(st.dictionaries(words, bits, min_size=1, max_size=30))
def test_a_node_holds_half_of_the_words_of_its_class_and_its_children_do_not(paths):
    rare = list(paths)[len(paths) // 2 :]
    node = learn_letters(paths, dict.fromkeys(paths, 1))["any"]["*"]
    half = len(rare) / 2
    assert sum(paths[word].startswith(node) for word in rare) >= half
    assert all(sum(paths[word].startswith(node + digit) for word in rare) < half for digit in "01")
    first = node[:1]
    assert heaviest(Counter(paths[word][0] for word in rare)) == first


def test_ways_are_tried_from_the_closest():
    frequent = {"the": "000", "IL-2": "001", "and": "010", "of": "011", "to": "100", "cat": "101"}
    rare = {f"{stem}ase": "1100" for stem in ("kin", "lip", "lig", "pept", "nucle")} | {"zzz": "1111"}
    paths = frequent | rare
    letters = learn_letters(paths, dict.fromkeys(paths, 1))
    assert spelled(paths, letters, "The") == "000"  # lower case
    assert spelled(paths, letters, "IL-7") == "001"  # digits folded
    assert "x ase" in letters["ending3"] and "x zzz" not in letters["ending3"]  # one word makes no class
    assert spelled(paths, letters, "mutase") == "1100"
    assert spelled(paths, letters, "QQ-99!") == letters["any"]["*"]


def test_the_more_frequent_spelling_names_a_folded_one():
    paths = {"Apple": "0", "APPLE": "1"}
    assert spelled(paths, learn_letters(paths, {"Apple": 5, "APPLE": 2}), "apple") == "0"
    assert spelled(paths, learn_letters(paths, {"Apple": 2, "APPLE": 5}), "apple") == "1"


TEXT = "No chest pain. No acute pain. The Chest is clear. Denies chest pain and fever. The fever is gone. " * 3


def test_streamed_clusters_are_those_of_sentences_however_the_text_is_cut(monkeypatch):
    documents = [Document(TEXT), Document("Fever. The pain is acute."), Document("")]
    expected = induce(sentence_words(map(prepare, documents)), 5, 2)
    for size in (1, 7, 10_000):
        monkeypatch.setattr("spanloom.features.counting._BATCH_TOKENS", size)
        found = induce_from(documents, 5, 2)
        assert (list(found.items()), found.counts) == (list(expected.items()), expected.counts)


@pytest.mark.parametrize("text", ["", " \n", "word", "word word"])
def test_too_little_text_is_told(text):
    with pytest.raises(DataError, match=r"the raw text has \d words?, \d of them different.*expected at least 2"):
        induce_from([Document(text)], 5)


def test_files_hold_letters_and_counts(tmp_path):
    made = induce_from([Document(TEXT)], 5, 2)
    write_paths(tmp_path / "one", made)
    again = read_paths(tmp_path / "one")
    assert (dict(again), again.counts, again.letters) == (
        dict(made),
        made.counts,
        {k: v for k, v in made.letters.items() if v},
    )
    write_paths(tmp_path / "two", again)
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()


@pytest.mark.parametrize(
    "line, message",
    [
        ("0\tx\tcolour", "found the count 'colour', expected a whole number, or one of lower, norm"),
        ("0\tx\t" + "9" * 40, "expected a whole number"),
        ("0\tx\tshape\n1\tx\tshape", "found 'x' twice"),
        ("a\tx\tshape", "found the bit string 'a'"),
        ("0\tshape", "found 2 columns"),
    ],
)
def test_damaged_letters_are_refused(tmp_path, line, message):
    (tmp_path / "paths").write_text(line + "\n")
    with pytest.raises(DataError) as caught:
        read_paths(tmp_path / "paths")
    assert message in str(caught.value)


def test_bands_are_binary_logarithms_of_counts():
    clusters = Clusters({"a": "0", "b": "1", "c": "1"}, {"a": 1, "b": 7, "c": 8})
    note = prepare(Document("a b c d"))
    features = FeatureSet(["band[0]", "cluster[0]"], clusters=clusters)
    assert [features.names(note, at)[0] for at in range(4)] == [f"band[0]={value}" for value in ("0", "2", "3", "none")]


def test_a_band_needs_counts():
    with pytest.raises(UsageError, match=r"'band\[0\]' needs word clusters; those given have no counts"):
        FeatureSet(["band[0]"], clusters={"a": "0"})
    with pytest.raises(UsageError, match="cuts the column"):
        FeatureSet(["band:1[0]"], clusters=Clusters({"a": "0"}, {"a": 1}))


def notes() -> list[Document]:
    return [Document(TEXT, mentions=[Mention("problem", [(3, 13)])], id=str(i)) for i in range(4)]


def test_a_model_keeps_letters_and_bands(tmp_path):
    write_paths(tmp_path / "paths", induce_from([Document(TEXT)], 5, 4))
    templates = ["bias", "cluster[-1..1]", "cluster:2[0]", "band[0]"]
    model = Recognizer("separators", templates, clusters=str(tmp_path / "paths"), epochs=1, l2=1).fit(
        notes(), dev=notes()
    )
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    clusters = model.model_.scorer.features.clusters
    kept = again.model_.scorer.features.clusters
    assert (dict(kept), kept.counts, kept.letters) == (dict(clusters), clusters.counts, clusters.letters)
    new = [Document("No CHEST pains of feverish kind.")]
    assert again.marginals(new) == model.marginals(new)
    assert 0 < model.report_.clustered < 1 and again.report_ == model.report_
    assert any("word clusters hold" in line for line in model.summary())


def test_clusters_of_another_script_are_told(tmp_path):
    write_paths(tmp_path / "paths", induce_from([Document("Боли нет. Жара нет.")], 5))
    with pytest.warns(DataWarning, match=r"^\d\.\d % of the different words of the training text have a cluster"):
        Recognizer("separators", ["cluster[0]"], clusters=str(tmp_path / "paths"), epochs=1, l2=1).fit(notes())


def test_all_ways_spell_any_word():
    for word in ("\U0001f600'é-1", "", "a" * 1000):
        assert tuple(way for way, _ in spellings(word)) == WAYS
    assert dict(spellings("CD28"))["ending2"] == f"{short_shape('CD28')} 00"
