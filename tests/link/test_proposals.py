"""What proposes spans and candidates, each against its plain definition."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom.document import Batch, Document, Mention
from spanloom.features import FeatureSet
from spanloom.link.chain import fit_chain
from spanloom.link.columns import with_columns
from spanloom.link.evidence import Evidence, find_evidence
from spanloom.link.names import NIL, Concepts, NameMemory, find_combinations
from spanloom.link.proposals import MEMORY_EXACT, NAME_CLOSE, SIMILAR, Proposer, find_short_forms
from spanloom.link.span_features import elsewhere, levels, rivals, supporters
from spanloom.parallel import SERIAL
from spanloom.structures import MentionTable
from spanloom.text import prepare
from spanloom.vocabulary import Concept
from spanloom.vocabulary import memory as remembered
from spanloom.vocabulary.candidates import CandidateFinder
from spanloom.vocabulary.folding import CLOSE, EXACT
from spanloom.vocabulary.lexicon import all_runs, lexicon_of, text_runs
from spanloom.vocabulary.store import Vocabulary
from spanloom_lab.lm.language_model import LanguageModel


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.build(
        [
            Concept("C:1", "Kidney Diseases", ("nephropathy",)),
            Concept("C:2", "Myocardial Infarction", ("heart attack",)),
            Concept("C:3", "Nausea"),
            Concept("C:4", "Heart Diseases"),
        ]
    )


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    one = Document(
        "Nausea and nephropathy. No nausea.",
        mentions=[Mention("D", [(0, 22)], concepts=["C:3", "C:1"]), Mention("D", [(27, 33)], concepts=["C:3"])],
    )
    two = Document("The heart attack was a heart attack.", mentions=[Mention("D", [(4, 16)]), Mention("X", [(23, 28)])])
    return [prepare(one), prepare(two)]


def test_evidence_is_every_span_with_enough_probability(documents: list[Document]) -> None:
    features = FeatureSet(["bias", "low[0]", "low[-1]"])
    tagger, _ = fit_chain(Batch.of(documents), ("D", "X"), features, 0, SERIAL)
    batch = Batch.of(documents)
    potentials, offsets = tagger.scorer.score(batch), batch.sentences
    rows = [
        (n, kind, ((a, b),))
        for n, length in enumerate(np.diff(offsets).tolist())
        for a in range(length)
        for b in range(a + 1, min(length, a + 3) + 1)
        for kind in range(2)
    ]
    exact = tagger.probabilities(potentials, offsets, MentionTable.build(rows))
    wanted = {(row[0], *row[2][0], row[1]): p for row, p in zip(rows, exact.tolist(), strict=True) if p >= 0.02}
    found = find_evidence(tagger, potentials, offsets, 0.02, 3)
    own = dict(zip(zip(*(c.tolist() for c in found[:4]), strict=True), found.probability.tolist(), strict=True))
    assert own.keys() == wanted.keys() and len(own) > 3
    assert all(own[key] == pytest.approx(wanted[key]) for key in own)


def test_all_runs(documents: list[Document]) -> None:
    first, end = all_runs(Batch.of(documents), 2)
    sizes = [[sentence[1] - sentence[0] for sentence in document.sentences.tolist()] for document in documents]
    assert len(first) == sum(2 * size - 1 for own in sizes for size in own)
    assert list(zip(first.tolist(), end.tolist(), strict=True))[:3] == [(0, 1), (0, 2), (1, 2)]


def test_memory_counts_mentions_and_occurrences(documents: list[Document], vocabulary: Vocabulary) -> None:
    concepts = Concepts(vocabulary, find_combinations(documents, ["D"], vocabulary))
    assert concepts.combinations == ((2, 0),) and concepts.identifiers(4) == ("C:3", "C:1")
    assert [concepts.number(ids) for ids in (["C:3", "C:1"], ["C:1", "C:2"], ["C:9"], [])] == [4, 0, NIL, NIL]
    memory = NameMemory.build(Batch.of(documents), ["D"], concepts)
    runs, first, end = text_runs(["nausea", "Heart attacks", "nausea and nephropathy", "heart"])
    close, table = runs.keys(CLOSE, first, end), memory.lexicon.concepts[CLOSE]
    place = table.find(close)
    assert [table.values[table.ptr[p]] for p in place[:3]] == [2, NIL, 4] and place[3] < 0
    mentions, occurrences = memory.counts_of(CLOSE, close)
    assert mentions.tolist() == [1, 1, 1, 0] and occurrences.tolist() == [2, 2, 1, 0]
    assert memory.nil_share(close).tolist() == [0, 1, 0, 0]
    exact = memory.lexicon.concepts[EXACT].find(runs.keys(EXACT, first, end))
    assert (exact >= 0).tolist() == [True, False, False, False]  # as written, but at the sentence's beginning
    assert memory.prior.tolist() == [0, 0, 1, 0, 1]


def test_dictionary_column_takes_the_longest_name(vocabulary: Vocabulary) -> None:
    document = prepare(Document("Severe heart disease and a heart attack: nauseas."))
    own = with_columns(Batch.of([document]), lexicon_of(vocabulary), None)
    assert own.columns["dictionary"] == ["O", "B", "I", "O", "O", "B", "I", "O", "B", "O"]
    model = LanguageModel.train([document])
    own = with_columns(Batch.of([document]), lexicon_of(vocabulary), model)
    assert set(own.columns) == {"dictionary", "bigram", "trigram"} and len(own.columns["bigram"]) == 10


def test_common_words_end_many_names() -> None:
    names = ["Kidney Diseases", "Heart Diseases", "Diseases, Rare", "Fragile X", "Turner X", "Nausea"]
    concepts = Concepts(Vocabulary.build([Concept(f"C:{n}", name) for n, name in enumerate(names)]))
    assert concepts.common_words == {"diseases"}  # a letter is no word, and a single name makes nothing common
    document = prepare(Document("Rare diseases. Nausea"))
    own = with_columns(Batch.of([document]), lexicon_of(concepts.vocabulary), None, concepts.common_words)
    assert own.columns["common"] == ["no", "yes", "no", "no"]


@pytest.mark.parametrize("method", ["best", "edit"])
def test_training_may_add_the_concept_of_a_mention(
    documents: list[Document], vocabulary: Vocabulary, method: str
) -> None:
    concepts = Concepts(vocabulary)
    finder = CandidateFinder(vocabulary, remembered.Memory.build([], vocabulary), k=1, method=method)
    proposer = Proposer(NameMemory.build(Batch.of([]), ["D"], concepts), finder, 1, 5, 1)
    tagger, _ = fit_chain(Batch.of(documents), ("D",), FeatureSet(["bias"]), 0, SERIAL)
    batch = Batch.of(documents)
    potentials, offsets = tagger.scorer.score(batch), batch.sentences
    nothing = find_evidence(tagger, potentials, offsets, 0.999, 3)
    # "Nausea", "nephropathy", "No": their own concept, one that is far from their words, none
    given = np.array([0, 2, 4]), np.array([1, 3, 5])
    plain = proposer.propose(batch, nothing, given)
    gold = proposer.propose(batch, nothing, given, np.array([2, 3, NIL]))
    spans = list(zip(plain.first.tolist(), plain.end.tolist(), strict=True))
    for n, span in enumerate(spans):
        before, after = (p.found.concept[p.cand_ptr[n] : p.cand_ptr[n + 1]].tolist() for p in (plain, gold))
        assert after == ([*before, 3] if span == (2, 3) else before)
    added = int(gold.cand_ptr[spans.index((2, 3)) + 1]) - 1
    assert gold.found.way[added] == SIMILAR and not gold.found.preferred[added]
    assert gold.found.similarity[added] == gold.found.similarity[added - 1]
    assert len(gold.found.concept) == len(gold.found.share) == int(gold.cand_ptr[-1]) == len(plain.found.concept) + 1


def test_a_name_of_many_concepts_that_one_prefers(documents: list[Document]) -> None:
    """A name of more concepts than count is no name; that one of them is called so first says nothing then."""
    named = [Concept("C:0", "Nausea"), *(Concept(f"C:{n}", f"Feeling {n}", ["Nausea"]) for n in range(1, 12))]
    vocabulary = Vocabulary.build(named)
    concepts = Concepts(vocabulary)
    finder = CandidateFinder(vocabulary, remembered.Memory.build([], vocabulary), k=1, method="edit")
    proposer = Proposer(NameMemory.build(Batch.of([]), ["D"], concepts), finder, 1, 5, 1)
    tagger, _ = fit_chain(Batch.of(documents), ("D",), FeatureSet(["bias"]), 0, SERIAL)
    batch = Batch.of(documents)
    potentials, offsets = tagger.scorer.score(batch), batch.sentences
    nothing = find_evidence(tagger, potentials, offsets, 0.999, 3)
    proposals = proposer.propose(batch, nothing, (np.array([0]), np.array([1])))
    assert len(proposals.cand_ptr) > 1


def test_candidates_and_how_they_were_found(documents: list[Document], vocabulary: Vocabulary) -> None:
    concepts = Concepts(vocabulary, find_combinations(documents, ["D"], vocabulary))
    finder = CandidateFinder(vocabulary, remembered.Memory.build(documents, vocabulary, ["D"]), k=3)
    proposer = Proposer(NameMemory.build(Batch.of(documents), ["D"], concepts), finder, 3, 5, 1)
    text = "Myocardial infarction (MI) is no nausea. MI and kidney diseasess."
    document = prepare(Document(text))
    tagger, _ = fit_chain(Batch.of(documents), ("D",), FeatureSet(["bias"]), 0, SERIAL)
    batch = Batch.of([document])
    potentials, offsets = tagger.scorer.score(batch), batch.sentences
    nothing = find_evidence(tagger, potentials, offsets, 0.999, 3)
    words = document.words
    wanted = [words.index("MI"), words.index("kidney")]
    given = np.array(wanted), np.array([wanted[0] + 1, wanted[1] + 2])
    found = proposer.propose(batch, nothing, given)
    spans = {" ".join(words[a:b]): n for n, (a, b) in enumerate(zip(found.first, found.end, strict=True))}
    assert {"Myocardial infarction", "nausea", "MI", "kidney diseasess"} <= set(spans)

    def best(name: str) -> tuple[int, int]:
        at = found.cand_ptr[spans[name]]
        return int(found.found.concept[at]), int(found.found.way[at])

    assert best("Myocardial infarction") == (1, NAME_CLOSE)
    assert best("nausea") == (2, MEMORY_EXACT)
    assert best("MI")[0] == 1 and found.expanded[spans["MI"]]
    assert best("kidney diseasess") == (0, SIMILAR)
    assert np.diff(found.cand_ptr).max() <= 3


def test_candidates_of_a_document_do_not_depend_on_others(documents: list[Document], vocabulary: Vocabulary) -> None:
    """Similar names are searched for where a text is likely: in the first document, and not in the second."""
    finder = CandidateFinder(vocabulary, remembered.Memory.build([], vocabulary), k=3)
    proposer = Proposer(NameMemory.build(Batch.of([]), ["D"], Concepts(vocabulary)), finder, 3, 5, 1)
    tagger, _ = fit_chain(Batch.of(documents), ("D",), FeatureSet(["bias"]), 0, SERIAL)

    def candidates(texts: list[str], likely: int) -> list[tuple[int, int]]:
        """Of the last document; the first two tokens of so many documents are likely."""
        batch = Batch.of([prepare(Document(text)) for text in texts])
        nothing = find_evidence(tagger, tagger.scorer.score(batch), batch.sentences, 0.999, 3)
        first = batch.starts[:likely]
        found = proposer.propose(batch, nothing, (first, first + 2))
        own = slice(int(found.cand_ptr[np.searchsorted(found.first, batch.starts[-2])]), None)
        return list(zip(found.found.concept[own].tolist(), found.found.way[own].tolist(), strict=True))

    text = "Kidney diseases."
    assert candidates([text], 0) == candidates([text, text], 1) == [(0, NAME_CLOSE)]
    assert candidates([text], 1) == candidates([text, text], 2) != [(0, NAME_CLOSE)]


def test_short_forms_take_the_probability_of_their_long_form() -> None:
    document = prepare(Document("The overactive bladder (OAB) and a magnetic field (MF). OABs in MF, no oab."))
    words = document.words
    end = words.index("bladder") + 1
    evidence = Evidence(*(np.array([value]) for value in (0, end - 2, end, 0, 0.75)))
    found = find_short_forms(Batch.of([document]), evidence, 1)
    rows = {(words[a], p) for a, p in zip(found.first.tolist(), found.probability[:, 0].tolist(), strict=True)}
    assert rows == {("OAB", 0.75), ("OABs", 0.75), ("MF", 0.0)} and len(found.first) == 4


def test_what_spans_say_of_one_another() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        size = int(random.integers(1, 12))
        document = np.sort(random.integers(0, 3, size))
        key, p = random.integers(0, 3, size), random.random(size).round(1)
        first = np.arange(size)
        for i, value in enumerate(elsewhere(document, key, p).tolist()):
            others = [p[j] for j in range(size) if j != i and (document[j], key[j]) == (document[i], key[i])]
            assert value == max(others, default=0.0)
        sure = random.random(size) < 0.5
        counts = supporters(document, key.astype(np.int32), sure, p, first)
        for i, value in enumerate(counts.tolist()):
            same = [j for j in range(size) if j != i and (document[j], key[j]) == (document[i], key[i])]
            assert value == sum(sure[j] and p[j] >= 0.3 for j in same)
        spans = sorted({(int(a), int(a + random.integers(1, 4))) for a in random.integers(0, 6, size)})
        a, b = (np.array(column, np.int64) for column in zip(*spans, strict=True))
        q = random.random(len(a))
        own = rivals(np.array([0, len(a)]), a, b, q)
        for i, value in enumerate(own.tolist()):
            overlapping = [q[j] for j in range(len(a)) if j != i and a[j] < b[i] and a[i] < b[j]]
            assert value == max(overlapping, default=0.0)


def test_levels_rise_with_probability() -> None:
    assert levels(np.array([0.0, 0.01, 0.5, 0.99, 1.0])).tolist() == sorted(
        {0, *levels(np.array([0.01, 0.5, 0.99, 1]))}
    )
