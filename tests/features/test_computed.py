"""Computed columns and cluster prefixes: their values, the data's own columns, kernels against the definition."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.document import Batch, Document
from spanloom.errors import UsageError
from spanloom.features import (
    PRESETS,
    FeatureSet,
    Resources,
    available_columns,
    build_index,
    category_phrases,
    name_rows,
)
from spanloom.features.computed import lemma
from spanloom.parallel import Threads
from spanloom.text import Rules, prepare
from spanloom.vocabulary import Concept

CONCEPTS = [
    Concept("1", "left atrium", ("LA",), category="anatomy"),
    Concept("2", "left atrial enlargement", category="problem"),
    Concept("3", "enlarged left atrium", ("cold",), category="problem"),
    Concept("4", "cold", category="finding"),
    Concept("5", "patient"),
]
RESOURCES = Resources(categories=category_phrases(CONCEPTS))
COLUMNS = ("lemma", "section", "note", "category")
PATHS = {"heart": "0", "lungs": "0110", "was": "01", "Lungs": "011"}
TEMPLATES = [f"{name}[-1..1]" for name in COLUMNS] + ["cluster(1..5)", "cluster[0]", "cluster:2[0]", "lemma:3[0]"]


def enriched(text: str, *names: str, resources: Resources = RESOURCES, **fields) -> dict[str, list[str]]:
    features = FeatureSet([f"{name}[0]" for name in names], resources=resources)
    batch = features.enrich(Batch.of([prepare(Document(text, **fields))]))
    return {name: list(batch.column(name)) for name in names}


def test_lemma() -> None:
    assert enriched("No crackles were heard", "lemma") == {"lemma": ["no", "crackle", "be", "hear"]}


@pytest.mark.parametrize("word", ["", "\ud800s", "x" * 100_000 + "s", "中文", "\x00", "—", "İ"])
def test_words_without_a_lemma_are_their_own(word: str) -> None:
    assert lemma(word) == word.lower()


def test_section_and_note() -> None:
    columns = enriched("EXAM: CT.\n\nImpression: well.", "section", "note")
    assert columns["section"] == ["technique"] * 4 + ["impression"] * 4
    assert columns["note"] == ["radiology"] * 8
    columns = enriched("EXAM: CT.", "section", "note", resources=Resources(Rules({"s": "exam"}, {"n": "ct"})))
    assert columns == {"section": ["s"] * 4, "note": ["n"] * 4}
    assert enriched("EXAM: CT.", "note", meta={"note": "scan"}) == {"note": ["scan"] * 4}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left atria", "- -"),  # the plural is not English
        ("The LEFT ATRIUMS and LA", "- B-anatomy I-anatomy - B-anatomy"),
        ("left atrial enlargement", "B-problem I-problem I-problem"),
        ("left atrial and enlarged left atrium", "- - - B-problem I-problem I-problem"),
        ("patient with cold", "- - B-finding+problem"),
        ("enlarged.\n\nLeft atrium", "- - B-anatomy I-anatomy"),
        ("", ""),
    ],
)
def test_category(text: str, expected: str) -> None:
    assert enriched(text, "category") == {"category": ["" if v == "-" else v for v in expected.split()]}


def test_a_column_of_the_data_wins() -> None:
    own = {"lemma": ["Herz", "groß"], "category": ["x", ""]}
    features = FeatureSet([f"{name}[0]" for name in COLUMNS], resources=RESOURCES)
    documents = [prepare(Document("left atrium", columns=own)), prepare(Document("left atria"))]
    batch = features.enrich(Batch.of(documents))
    first, second = batch.views()
    assert {name: first.columns[name] for name in own} == own
    assert second.columns["lemma"] == ["left", "atrium"]
    assert documents[0].columns == own and not documents[1].columns
    assert features.enrich(batch) is batch
    assert "lemma[0]=Herz" in features.names(documents[0], 0)
    assert "lemma[0]=left" in features.names(documents[1], 0)


pieces = st.sampled_from(
    ["heart", "lungs", "Lungs", "was", "left", "atrium", "LA", "cold", "\n\nPlan:", ".", "\nEXAM:", "x"]
)


@given(st.lists(st.lists(pieces, max_size=12).map(" ".join), max_size=3))
@settings(max_examples=60, deadline=None)
def test_keys_are_the_hashes_of_the_names(texts: list[str]) -> None:
    features = FeatureSet(TEMPLATES, clusters=PATHS, resources=RESOURCES)
    documents = [prepare(Document(text)) for text in texts]
    documents += [prepare(Document("own lungs", columns={"lemma": ["", "Lunge"], "note": ["n", "n"]}))]
    keys = features.keys(Batch.of(documents))
    expected = [pairs for d in documents for pairs in features.named_keys(d, range(len(d.words)))]
    assert [key for pairs in expected for _, key in pairs] == keys.ids.tolist()
    assert np.array_equal(features.keys(Batch.of(documents), run=Threads(3)).ids, keys.ids)
    assert np.array_equal(features.keys(features.enrich(Batch.of(documents))).ids, keys.ids)


def test_every_subpath_of_a_cluster() -> None:
    features = FeatureSet(["cluster(1..5)", "cluster:2[0]"], clusters=PATHS)
    document = prepare(Document("lungs heart x"))
    assert features.names(document, 0) == [
        *("cluster1[0]=0", "cluster2[0]=01", "cluster3[0]=011", "cluster4[0]=0110", "cluster:2[0]=01")
    ]
    assert features.names(document, 1) == ["cluster1[0]=0", "cluster:2[0]=0"]
    assert features.names(document, 2) == []


def test_rows_are_named() -> None:
    document = prepare(Document("cold lungs"))
    features = FeatureSet(["lemma[0]", "category[0]"], resources=RESOURCES)
    built = build_index(features.keys(Batch.of([document])))
    names = name_rows(features, Batch.of([document]), built, [0, 1])
    assert names == [("lemma[0]=cold", "category[0]=B-finding+problem"), ("lemma[0]=lung",)]


def test_what_a_preset_can_serve() -> None:
    def dropped(**options) -> set[str]:
        return {
            column.name for template in FeatureSet.preset("clinical", **options).dropped for column in template.columns
        }

    assert {name for name in dropped() if not name.startswith("cluster")} == {"pos", "category"}
    assert dropped(available=["pos"], clusters={}, resources=RESOURCES) == set()
    assert dropped(available=["pos", "category"], clusters={}) == set()
    assert dropped(available=["pos"], clusters={}, resources=RESOURCES, ignore=["lemma", "category", "pos"]) == {
        *("lemma", "category", "pos")
    }
    full = FeatureSet.preset("clinical", available=["pos"], clusters={}, resources=RESOURCES)
    assert (full.needs, full.computed) == (("pos",), ("lemma", "note", "section", "category"))
    assert len(full.features) == 1 + 7 + 6 + 3 + 1 + 5 + 12 + 2 + 3 + 20 + 1  # bigrams are among the pairs


def test_computed_columns_are_no_columns_of_the_data() -> None:
    document = prepare(Document("left atrium"))
    assert (
        available_columns([document])
        == ()
        == available_columns(FeatureSet(["w[0]"]).enrich(Batch.of([document])).views())
    )


def test_a_category_needs_a_vocabulary() -> None:
    document = prepare(Document("left atrium", columns={"pos": ["JJ", "NN"]}))
    with pytest.raises(
        UsageError, match=r"the column 'category', .*; give a vocabulary; .* lemma, section, note, pos$"
    ):
        FeatureSet(["category[0]"]).keys(Batch.of([document]))


@pytest.mark.parametrize(
    ("template", "message"),
    [("cluster4[0]", "needs word clusters"), ("cluster(1..2)", "needs word clusters"), ("lemma:0[0]", "other than 0")],
)
def test_templates_that_cannot_be_served(template: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        FeatureSet([template])
    with pytest.raises(UsageError, match="cuts the column 'cluster4'"):
        FeatureSet(["cluster4:2[0]"], clusters={})


def test_presets_of_before_read_no_computed_column() -> None:
    for name in PRESETS:
        assert bool(FeatureSet.preset(name).computed) == (name == "clinical")


def test_the_dictionary_is_read_when_a_lemma_is_asked_for() -> None:
    code = (
        "from spanloom.features import FeatureSet\n"
        "from simplemma.strategies.dictionaries import dictionary_factory as factory\n"
        "from spanloom.text import prepare\nfrom spanloom.document import Batch, Document\n"
        "loaded = lambda: factory.DEFAULT_DICTIONARY_FACTORY._get_dictionary.cache_info().currsize\n"
        "d = prepare(Document('lungs'))\nFeatureSet(['w[0]', 'note[0]']).keys(Batch.of([d]))\nprint(loaded())\n"
        "FeatureSet(['lemma[0]']).keys(Batch.of([d]))\nprint(loaded())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.split() == ["0", "1"]
