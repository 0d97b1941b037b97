"""The linking stage beside plain computations of the same, and what it promises."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from spanloom import Document, Mention, Recognizer, load, read
from spanloom.concepts.fitting import assigned, fit_concepts, linked_vocabularies
from spanloom.concepts.forms import NIL, NUMBERS, TEMPLATES, Form, FormTable, Parents, VocabularyForms, compared
from spanloom.concepts.stage import (
    ConceptStage,
    Groups,
    Ranker,
    Vocabularies,
    candidates_of,
    fit_ranker,
    forms_of,
    log_shares,
    with_evidence,
)
from spanloom.data import clinical
from spanloom.errors import DataError, DataWarning, ModelError, UsageError
from spanloom.features.conjunctions import conjoined, conjunctions
from spanloom.hashing import hash_text
from spanloom.modelfile import ModelPart
from spanloom.vocabulary import Concept, Vocabulary
from spanloom.vocabulary.folding import fold_text
from spanloom.vocabulary.memory import Memory

NAMES = Vocabulary.build([
    Concept("D1", "Breast Neoplasms", ("Breast Cancer", "Cancer of Breast"), parents=("D3",)),
    Concept("D2", "Ovarian Neoplasms", ("Ovarian Cancer",), parents=("D3",)),
    Concept("D3", "Neoplasms", ("Cancer", "Tumor")),
    Concept("D4", "Diabetes Mellitus, Type 2", ("NIDDM",)),
    Concept("D5", "Diabetes Mellitus, Type 1", ("IDDM",)),
    Concept("D6", "Hypertension", ("High Blood Pressure",)),
])  # fmt: skip
TRAIN, DEV, TEST = (list(read(clinical() / part)) for part in ("train", "dev", "test"))


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    [found] = linked_vocabularies(clinical() / "vocabulary.tsv")
    return found


@pytest.fixture(scope="module")
def stage(vocabulary: Vocabulary) -> ConceptStage:
    return fit_concepts(TRAIN, DEV, [vocabulary])[0]


def linked(stage: ConceptStage, documents: Sequence[Document]) -> list[list[tuple[Any, ...]]]:
    return [[(m.key, m.concepts, m.concept_scores) for m in document.mentions] for document in stage.run(documents)]


def table_of(forms: Sequence[Form], memory: Memory | None = None) -> FormTable:
    return VocabularyForms(NAMES, memory or Memory({}), 3).table(forms)


def concepts_of(table: FormTable, form: int) -> list[tuple[int, ...]]:
    size = len(NAMES)
    own = table.concept[table.ptr[form] : table.ptr[form + 1]].tolist()
    return [() if c == NIL else (c,) if c < size else table.sets[c - size] for c in own]


def test_candidates_are_names_memory_sets_and_none() -> None:
    memory = Memory({"sugar": {(3,): 2, (4,): 1}, "both": {(0, 1): 1}})
    table = table_of([Form(text, "Disease") for text in ("breast and ovarian cancer", "sugar", "both", "xyz")], memory)
    first, second, third, fourth = (concepts_of(table, form) for form in range(4))
    assert (0, 1) in first and (0,) in first and first[-1] == ()
    assert {(3,), (4,)} <= set(second)
    assert (0, 1) in third
    assert fourth[-1] == ()
    share = table.numbers[table.ptr[1] : table.ptr[2], NUMBERS.index("share")]
    at = second.index((3,)), second.index((4,))
    assert share[list(at)] == pytest.approx([2 / 3, 1 / 3])


def test_each_form_has_the_candidates_that_it_has_alone() -> None:
    memory = Memory({"sugar": {(3,): 2}})
    texts = ["breast cancer", "T2DM", "sugar", "cancer of breast or ovary", "type 1 diabetes", "bp"]
    forms = [Form(text, kind, expanded, gap) for text in texts for kind in ("A", "B")
             for expanded in (None, "high blood pressure") for gap in (False, True)]  # fmt: skip
    together = table_of(forms, memory)
    for number, form in enumerate(forms):
        alone, own = table_of([form], memory), slice(together.ptr[number], together.ptr[number + 1])
        assert concepts_of(alone, 0) == concepts_of(together, number)
        assert (alone.numbers == together.numbers[own]).all()
        assert (alone.values == together.values[:, own]).all()
        assert (alone.likely == together.likely[own]).all()


WORDS = ["T", "cell", "cells", "of", "renal", "tumour", "Tumours", "1", "2", "type-2", "II", "\u03b1", "+"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


def plainly_compared(text: str, name: str) -> tuple[list[float], list[int]]:
    """How a text and a name differ, by definition; see `Compared`."""
    one, other = fold_text(text), fold_text(name)
    left, right = set(one), set(other)
    far, near = set(fold_text(text, loose=True)), set(fold_text(name, loose=True))
    numbers, others = ({word for word in words if word.isdigit()} for words in (left, right))
    digits = (1 + bool(numbers)) if numbers == others else 3 if not others else 4 + bool(numbers)
    lost, more = (sorted(words) for words in (left - right, right - left))
    hashed = [hash_text(words[place]) if place < len(words) else 0 for words in (lost, more) for place in (0, 1)]
    both = len(left & right)
    return [
        both / max(1, len(left | right)), both / max(1, len(left)), both / max(1, len(right)),
        Levenshtein.normalized_similarity(text.casefold(), name.casefold()),
        len(far & near) / max(1, len(far | near)), bool(one and other and one[-1] == other[-1]),
    ], [digits, 1 + min(3, len(lost)), 1 + min(3, len(more)), *hashed]  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=6))
def test_words_are_compared(pairs: list[tuple[str, str]]) -> None:
    for pair in pairs:
        found = compared(*pair)
        values = [*found.values, *(hash_text(word) if word else 0 for word in found.words)]
        assert (list(found.numbers), values) == plainly_compared(*pair)


def evidence(table: FormTable, forms: Sequence[int], documents: Sequence[int]) -> list[list[tuple[float, float]]]:
    """Support and related evidence of each candidate, by definition."""
    size = len(NAMES)

    def likely(form: int) -> dict[int, float]:
        own = slice(table.ptr[form], table.ptr[form + 1])
        pairs = zip(table.concept[own].tolist(), table.likely[own].tolist(), strict=True)
        return {concept: value for concept, value in pairs if 0 <= concept < size}

    found = []
    for form, document in zip(forms, documents, strict=True):
        others = {other for other, own in zip(forms, documents, strict=True) if own == document} - {form}
        rows = []
        for concept in table.concept[table.ptr[form] : table.ptr[form + 1]].tolist():
            near = [NAMES.find(parent) for parent in NAMES[concept].parents] if 0 <= concept < size else []
            support = [likely(other).get(concept, 0.0) for other in others if 0 <= concept < size]
            related = [likely(other).get(parent, 0.0) for other in others for parent in near]
            rows.append((max(support, default=0.0), max(related, default=0.0)))
        found.append(rows)
    return found


def test_evidence_is_what_other_forms_of_the_document_give() -> None:
    texts = ["breast cancer", "cancer", "ovarian tumor", "niddm", "hypertension", "breast and ovarian cancer", "zz"]
    table, chance = table_of([Form(text, "Disease") for text in texts]), random.Random(0)
    for _ in range(60):
        documents = sorted(chance.choices(range(3), k=chance.randrange(1, 9)))
        forms = chance.choices(range(len(texts)), k=len(documents))
        rows, ptr, numbers = with_evidence(table, np.array(forms), np.array(documents), Parents(NAMES))
        expected = evidence(table, forms, documents)
        for number, (first, end) in enumerate(pairwise(ptr.tolist())):
            own = slice(table.ptr[forms[number]], table.ptr[forms[number] + 1])
            assert rows[first:end].tolist() == list(range(own.start, own.stop))
            assert numbers[first:end, -2:].tolist() == [list(pair) for pair in expected[number]]
            assert (numbers[first:end, :-2] == table.numbers[own, :-2]).all()


def test_hyphens_before_a_gap_are_closed() -> None:
    text = "micro- and macrovesicles, T- cells"
    mentions = [Mention("problem", spans) for spans in ([(0, 6), (16, 24)], [(26, 34)])]
    [placed] = forms_of([Document(text, mentions=mentions)], {"problem"})
    found = {form.text: form.expanded for _, form in placed}
    assert found == {"micro- vesicles": "microvesicles", "T- cells": None}


def test_the_last_ancestors_of_concepts() -> None:
    above = {"A": (), "B": ("A",), "C": ("B", "A"), "D": ("C",), "X": ("Y",), "Y": ("X",), "Z": ("none",)}
    vocabulary = Vocabulary.build([Concept(one, one.lower(), parents=several) for one, several in above.items()])
    parents, number = Parents(vocabulary), {one: vocabulary.find(one) for one in above}
    assert [parents.root[number[one]] for one in "ABCDZ"] == [number[one] for one in "AAAAZ"]
    assert [parents.branch[number[one]] for one in "ABCDZ"] == [number[one] for one in "ABBBZ"]
    assert {int(parents.root[number[one]]) for one in "XY"} <= {number["X"], number["Y"]}  # a cycle


def some_groups(seed: int) -> tuple[Groups, np.ndarray]:
    made = np.random.default_rng(seed)
    sizes = made.integers(1, 6, 80)
    ptr = np.append(0, np.cumsum(sizes))
    values = made.integers(0, 4, (len(conjunctions(TEMPLATES).names), ptr[-1])).astype(np.uint64)
    right = np.zeros(ptr[-1], np.bool_)
    right[ptr[:-1] + made.integers(0, sizes)] = True
    right[made.random(ptr[-1]) < 0.1] = True
    numbers = made.random((ptr[-1], len(NUMBERS)))
    numbers[np.repeat(made.random(80) < 0.3, sizes), NUMBERS.index("share")] = 0  # texts that training mentions lack
    return Groups(ptr, numbers, values), right


def test_the_ranker_is_at_the_optimum_of_its_likelihood() -> None:
    groups, right = some_groups(0)
    l2 = 1.0
    found = fit_ranker(groups, right, l2, min_count=1, tolerance=1e-12)
    keys = conjunctions(TEMPLATES).keys(groups.values)

    def objective(weights: np.ndarray) -> float:
        shares = Ranker(found.index, found.sparse, *weights.astype(np.float32)).log_shares(groups)
        gold = sum(
            np.log(np.exp(shares[first:end][right[first:end]]).sum()) for first, end in pairwise(groups.ptr.tolist())
        )
        return float(-gold + 0.1 * np.square(weights).sum())

    best = np.stack([found.dense, found.unseen]).astype(np.float64)
    at = objective(best)
    assert len(keys.ids) and len(found.index) and 0 < groups.unseen.mean() < 1
    for place in np.ndindex(best.shape):
        for step in (-0.05, 0.05):
            moved = best.copy()
            moved[place] += step
            assert objective(moved) >= at - 1e-4


def test_shares_of_a_mention_sum_to_one_and_ties_go_to_the_first() -> None:
    groups, _ = some_groups(1)
    scores = np.round(np.random.default_rng(2).normal(size=groups.ptr[-1]))
    shares = np.exp(log_shares(scores, groups.ptr))
    assert np.add.reduceat(shares, groups.ptr[:-1]) == pytest.approx(np.ones(len(groups.ptr) - 1))
    first = [a + int(np.argmax(scores[a:b])) for a, b in pairwise(groups.ptr.tolist())]
    assert groups.best(scores).tolist() == first
    assert conjoined("type|names_rank", 3, {"type": np.array([1]), "names_rank": np.array([2])})[0] > 0


def test_it_learns(stage: ConceptStage, vocabulary: Vocabulary) -> None:
    _, report = fit_concepts(TRAIN, DEV, [vocabulary])
    assert report.right > report.first + 0.05 and report.right > 0.85
    gold = [m.concepts for d in TEST for m in d.mentions if m.type in stage.types]
    found = [m.concepts for d in stage.run(TEST) for m in d.mentions if m.type in stage.types]
    assert np.mean([a == b for a, b in zip(gold, found, strict=True)]) > 0.8
    crossed, alone = fit_concepts(TRAIN, None, [vocabulary])
    assert alone.measured == alone.mentions and alone.right > alone.first + 0.05
    assert all(m.concept_scores for d in crossed.run(TEST) for m in d.mentions if m.concepts)


def test_documents_do_not_depend_on_others(stage: ConceptStage) -> None:
    whole, chance = linked(stage, TEST), random.Random(1)
    for _ in range(20):
        order = chance.sample(range(len(TEST)), chance.randrange(1, len(TEST) + 1))
        cut = chance.randrange(len(order) + 1)
        found = linked(stage, [TEST[i] for i in order[:cut]]) + linked(stage, [TEST[i] for i in order[cut:]])
        assert found == [whole[i] for i in order]


def test_a_stored_stage_says_the_same(stage: ConceptStage, tmp_path: Path) -> None:
    part = stage.to_part()
    again = ConceptStage.from_part(ModelPart.of(part.json(), part.flat()))
    assert linked(again, TEST) == linked(stage, TEST)
    other = {**part.json(), "templates": ["type"]}
    with pytest.raises(ModelError, match="another version"):
        ConceptStage.from_part(ModelPart.of(other, part.flat()))
    with pytest.raises(ModelError, match="vocabularies beyond the 1 that there are"):
        ConceptStage.from_part(ModelPart.of({**part.json(), "types": {"problem": 1}}, part.flat()))
    older = {name: array for name, array in part.flat().items() if name != "unseen"}
    earlier = ConceptStage.from_part(ModelPart.of({**part.json(), "templates": list(TEMPLATES[:-1])}, older))
    assert not earlier.ranker.unseen.any() and len(linked(earlier, TEST)) == len(TEST)
    with pytest.raises(ModelError, match="dense"):
        ConceptStage.from_part(ModelPart.of(part.json(), {**part.flat(), "dense": np.zeros(2, np.float32)}))


def test_odd_mentions_are_linked(stage: ConceptStage) -> None:
    text = "word " * 600 + "\n(x) — 胸痛"
    mentions = [Mention("problem", [(0, 2999)]), Mention("problem", [(3000, 3001)]), Mention("problem", [(3001, 3004)]),
                Mention("problem", [(3007, 3009)]), Mention("other", [(0, 4)], concepts=["X:1"])]  # fmt: skip
    [found] = stage.run([Document(text, mentions=mentions)])
    assert len(found.mentions) == 5 and found.mentions[4] == mentions[4]
    assert stage.run([]) == [] and stage.run([Document("")]) == [Document("")]


def test_types_take_the_vocabulary_that_knows_them() -> None:
    genes = Vocabulary.build([Concept("G1", "p53"), Concept("G2", "brca1")])
    mentions = [Mention("Gene", [(0, 3)], concepts=["G1"]), Mention("Disease", [(4, 10)], concepts=["D3"])]
    documents = [Document("p53 cancer", mentions=mentions)] * 6
    assert assigned(documents, [NAMES, genes]) == {"Disease": 0, "Gene": 1}
    both = Vocabularies([NAMES, genes])
    assert [both[both.find(name)].id for name in ("D3", "G2")] == ["D3", "G2"] and both.find("none") == -1
    with pytest.raises(DataError, match="no vocabulary has a concept of the training mentions, such as 'Z9'"):
        assigned([Document("p53", mentions=[Mention("Gene", [(0, 3)], concepts=["Z9"])])], [NAMES])
    with pytest.raises(DataError, match="no training mention has a concept"):
        assigned([Document("p53", mentions=[Mention("Gene", [(0, 3)])])], [NAMES])
    unknown = [Document("p53 cancer", mentions=[mentions[0].replace(concepts=["Z9"])])]
    with pytest.warns(DataWarning, match="lacks the concepts of 86 % .* of type Gene, which is not linked"):
        assert assigned([*documents[:1], *unknown * 6], [NAMES, genes]) == {"Disease": 0}
    with pytest.raises(DataError, match="found 2 training documents, expected at least 5"):
        fit_concepts(documents[:2], None, [NAMES, genes])


def test_a_recognizer_links_what_it_finds_and_what_is_given(tmp_path: Path, vocabulary: Vocabulary) -> None:
    model = Recognizer("separators", "small", epochs=3, l2=1.0, attributes="off", link=vocabulary).fit(TRAIN, dev=DEV)
    found = model.predict(TEST)
    assert any(m.concepts and 0 < m.concept_scores[0] <= 1 for d in found for m in d.mentions)
    assert "arrays" not in model.capable and {"mentions", "concepts"} == model.annotates
    given = model.predict(TEST, mentions="given")
    assert [[m.key for m in d.mentions] for d in given] == [[m.key for m in d.mentions] for d in TEST]
    assert any(len(m.spans) > 1 and m.concepts for d in given for m in d.mentions)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(TEST) == found and again.predict(TEST, mentions="given") == given
    assert again.resolver[again.resolver.find(vocabulary[3].id)].id == vocabulary[3].id
    plain = Recognizer("separators", "small", epochs=1, l2=1.0, attributes="off").fit(TRAIN, dev=DEV)
    assert "arrays" in plain.capable and plain.annotates == {"mentions"}
    with pytest.raises(UsageError, match="adds nothing to given mentions"):
        plain.predict(TEST, mentions="given")
    with pytest.raises(UsageError, match="does not link"):
        _ = plain.resolver


def test_small_data_are_cross_validated(vocabulary: Vocabulary) -> None:
    model = Recognizer("shared", ["bias", "low[-1..1]"], epochs=2, l2=1.0, link=vocabulary).fit(TRAIN[:6])
    assert model.report_.folds and model.second_ is not None and model.second_.listed is not None
    assert model.report_.concepts is not None and model.report_.concepts.measured == model.report_.concepts.mentions
    assert any(m.concepts for d in model.predict(TEST) for m in d.mentions)


def test_candidates_of_a_mention_are_ranked_as_it_is_linked(stage: ConceptStage) -> None:
    [document] = TEST[:1]
    found = stage.candidates(document)
    best = [m.concepts for m in stage.run([document])[0].mentions if m.type in stage.types]
    assert [own[0].concepts for own in found if own] == best
    for _, linked in stage._linked([document]):
        shares, ptr = stage.ranker.log_shares(linked.groups), linked.groups.ptr.tolist()
        for place, first, end in zip(linked.places.tolist(), ptr[:-1], ptr[1:], strict=True):
            scores = np.array([one.score for one in found[place]])
            expected = np.sort(shares[first:end])[::-1]
            assert scores - scores[0] == pytest.approx(expected - expected[0], abs=1e-4)
    for own in filter(None, found):
        for one in own[1:]:
            assert sum(part.score for part in one.features) == pytest.approx(one.score - own[0].score)


def test_models_of_any_kind_of_vocabulary_are_saved(vocabulary: Vocabulary, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"epochs": 1, "l2": 1.0, "rescore": False, "attributes": "off"}
    other = Vocabulary.build([Concept("X:1", "aspirin"), Concept("X:2", "metoprolol")])
    path, types = clinical() / "vocabulary.tsv", ("problem", "anatomy")
    for number, link in enumerate((vocabulary, [path], [vocabulary, other])):
        model = Recognizer("shared", ["bias", "low[-1..1]"], types=types, link=link, **settings).fit(TRAIN[:6])
        model.save(tmp_path / str(number))
        assert load(tmp_path / str(number)).predict(TEST[:2]) == model.predict(TEST[:2])


def test_explanations_hold_the_candidates(vocabulary: Vocabulary) -> None:
    model = Recognizer("shared", ["bias", "low[-1..1]"], epochs=2, l2=1.0, rescore=False, link=vocabulary).fit(TRAIN)
    document = TEST[0]
    [predicted] = model.predict([document])
    explanations = model.explain(document)
    assert [one.mention for one in explanations] == list(predicted.mentions)
    linked = [one for one in explanations if one.candidates]
    assert linked and all(one.candidates[0].concepts == one.mention.concepts for one in linked)
    given = Mention("problem", predicted.mentions[0].spans)
    [asked] = model.explain(document, [given])
    assert asked.candidates and "by" not in asked.candidates[0].way


def test_candidates_know_their_mentions(vocabulary: Vocabulary) -> None:
    one = VocabularyForms(vocabulary, Memory.build(TRAIN, vocabulary), 5)
    own = candidates_of(one, forms_of(TEST, {"problem"}), {"problem"})
    pairs = zip(own.documents.tolist(), own.places.tolist(), strict=True)
    expected = [
        (d, p) for d, document in enumerate(TEST) for p, m in enumerate(document.mentions) if m.type == "problem"
    ]
    assert list(pairs) == expected
