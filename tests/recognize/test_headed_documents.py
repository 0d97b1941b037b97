"""Heads from documents to models and back: alignment, hostile heads, development F1, head rules, the head chain."""

from __future__ import annotations

import pytest

from spanloom.document import Batch, Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import heads, score
from spanloom.model.corpus import HEAD_CUTS_TOKEN, Gold
from spanloom.recognize import Recognizer, load
from spanloom.structures import STRUCTURES
from spanloom.structures.heads import OUTSIDE
from spanloom.text import prepare
from spanloom_lab import HEAD_RULES, HeadChain, give_heads
from spanloom_lab.reading_back import read_back

TEMPLATES = ["bias", "low[-2..2]"]
TEXT = "the old house of the mayor was sold"
HOUSE = Mention("place", [(0, 26)], head=(8, 13))  # the old house of the mayor
MAYOR = Mention("person", [(17, 26)], head=(21, 26))
DOCUMENTS = [
    Document(TEXT, id="a", mentions=[HOUSE, MAYOR]),
    Document("the house's owner left", id="b", mentions=[
        Mention("person", [(0, 17)], head=(12, 17)), Mention("place", [(0, 9)], head=(4, 9)),
    ]),
    Document("rain fell", id="c"),
] * 20  # fmt: skip


def fitted(structure="heads", **options):
    settings = {"l2": 0.01, "rate": 0.5, "epochs": 8, **options}
    return Recognizer(structure, TEMPLATES, **settings).fit(DOCUMENTS, dev=DOCUMENTS[:3])


@pytest.mark.parametrize("counting", ["subgraphs", "derivations"])
def test_heads_are_learned_predicted_saved_and_loaded(counting, tmp_path):
    recognizer = fitted(counting=counting)
    assert recognizer.report_.dev_f1 == 1
    found = list(recognizer.predict(document.copy(mentions=[]) for document in DOCUMENTS[:3]))
    assert score(DOCUMENTS[:3], found, key=heads).f1 == 1
    assert all(0 < mention.score <= 1 for document in found for mention in document.mentions)
    recognizer.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert [document.mentions for document in again.predict(DOCUMENTS[:3])] == [d.mentions for d in found]
    assert again.get_params()["headless"] == "error"


def test_development_counts_heads():
    wrong = [d.copy(mentions=[m.replace(head=(m.start, m.start + 3)) for m in d.mentions]) for d in DOCUMENTS[:3]]
    options = {"l2": 0.01, "rate": 0.5, "epochs": 8, "tune_penalty": False}
    found = {
        name: Recognizer(name, TEMPLATES, **options).fit(DOCUMENTS, dev=wrong).report_.dev_f1
        for name in ("heads", "mention_hypergraph")
    }
    assert found == {"heads": 0, "mention_hypergraph": 1}


def test_a_mention_without_a_head_is_an_error_or_its_own_head():
    bare = [document.copy(mentions=[m.replace(head=None) for m in document.mentions]) for document in DOCUMENTS]
    with pytest.raises(DataError) as caught:
        Recognizer("heads", TEMPLATES).fit(bare)
    message = str(caught.value)
    assert "\n" not in message
    assert "document 'a', characters 0-26: the mention of type 'place' has no head" in message
    assert "--headless whole" in message
    with pytest.raises(DataError, match="document 'a'"):  # development data, too
        Recognizer("heads", TEMPLATES).fit(DOCUMENTS, dev=bare)
    recognizer = Recognizer("heads", TEMPLATES, headless="whole", l2=0.01, rate=0.5, epochs=8).fit(bare)
    [found] = recognizer.predict([Document(TEXT)])
    assert [(m.type, m.head) for m in found.mentions] == [("place", (0, 26)), ("person", (17, 26))]
    with pytest.raises(UsageError, match="headless is 'drop', expected one of error, whole"):
        Recognizer("heads", headless="drop").check()


@pytest.mark.parametrize("structure", ["mention_hypergraph", "bilou"])
def test_other_structures_do_not_look_at_heads(structure):
    [found] = fitted(structure).predict([Document(TEXT)])
    assert {mention.head for mention in found.mentions} == {None}


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ((9, 13), HEAD_CUTS_TOKEN), ((8, 12), HEAD_CUTS_TOKEN), ((3, 8), HEAD_CUTS_TOKEN), ((8, 8), OUTSIDE),
        ((13, 8), OUTSIDE), ((21, 30), OUTSIDE), ((27, 30), OUTSIDE), ((0, 10**9), OUTSIDE), ((-5, 3), OUTSIDE),
    ],
)  # fmt: skip
def test_hostile_heads_are_lost_with_a_reason(head, reason):
    document = prepare(Document(TEXT, mentions=[MAYOR, HOUSE.replace(head=head)]))
    gold = Gold(Batch.of([document]), ["person", "place"], "error")
    assert [item.reason for item in gold.lost] == [reason]
    assert gold.table.heads.tolist() == [[5, 6]]
    assert Gold(Batch.of([document]), ["person", "place"]).table.heads.tolist() == [[-1, -1]] * 2


def test_mentions_of_other_types_need_no_head():
    document = prepare(Document(TEXT, mentions=[MAYOR, HOUSE.replace(head=None)]))
    gold = Gold(Batch.of([document]), ["person"], "error")
    assert (gold.total, gold.lost, gold.table.heads.tolist()) == (1, [], [[5, 6]])


def test_heads_count_from_the_sentence():
    text = "Rain fell. The house stood."
    document = prepare(Document(text, mentions=[Mention("place", [(11, 20)], head=(15, 20))]))
    table = Gold(Batch.of([document]), ["place"], "error").table
    assert (table.rows(), table.heads.tolist()) == ([(1, 0, ((0, 2),))], [[1, 2]])
    outside = Document(text, mentions=[Mention("place", [(11, 20)], head=(0, 4))])  # in the sentence before
    assert [item.reason for item in Gold(Batch.of([prepare(outside)]), ["place"], "error").lost] == [OUTSIDE]


def test_mentions_with_gaps_need_no_head_and_are_lost():
    gap = Mention("place", [(0, 3), (8, 13)])
    touching = Mention("place", [(0, 3), (4, 13)], head=(8, 13))  # only white space between its spans
    documents = [Document(TEXT, mentions=[HOUSE, MAYOR, gap, touching])] * 20
    recognizer = Recognizer("heads", TEMPLATES, epochs=2).fit(documents)
    assert {item.mention for item in recognizer.lost_} == {gap}
    assert "gap" in recognizer.lost_[0].reason


def test_what_is_read_back_counts_heads():
    found = read_back(DOCUMENTS[:2], STRUCTURES["heads"]).subsets["all"]
    assert found.scores["enough"].f1 == 1
    two = [Document(TEXT, mentions=[HOUSE, HOUSE.replace(head=(4, 13))])]
    assert read_back(two, STRUCTURES["heads"]).subsets["all"].gold == 2
    assert read_back(two, STRUCTURES["separators"]).subsets["all"].gold == 1
    with pytest.raises(DataError, match="no head"):
        read_back([Document(TEXT, mentions=[HOUSE.replace(head=None)])], STRUCTURES["heads"])


@pytest.mark.parametrize(("rule", "surface"), [("whole", TEXT[:26]), ("first", "the"), ("last", "mayor")])
def test_rules(rule, surface):
    document = prepare(Document(TEXT, mentions=[HOUSE]))
    [found] = give_heads([document], rule)
    assert TEXT[slice(*found.mentions[0].head)] == surface
    assert document.mentions == [HOUSE]


def test_rules_for_odd_mentions():
    document = prepare(Document(TEXT, mentions=[
        Mention("x", [(5, 10)]), Mention("x", [(9, 11)]), Mention("x", [(3, 4)]), Mention("x", [(0, 3), (8, 13)]),
    ]))  # fmt: skip
    found = {rule: [mention.head for mention in next(give_heads([document], rule)).mentions] for rule in HEAD_RULES}
    assert found["whole"] == [(5, 10), (9, 11), (3, 4), (0, 13)]
    assert found["first"] == [(5, 7), (9, 11), (3, 4), (0, 3)]  # cut tokens, white space
    assert found["last"] == [(8, 10), (9, 11), (3, 4), (8, 13)]
    with pytest.raises(UsageError, match="no rule 'middle'; there are whole, first, last"):
        give_heads([document], "middle")
    with pytest.raises(DataError, match="has no tokens"):
        list(give_heads([Document("pain", mentions=[Mention("x", [(0, 4)])])], "last"))


def test_the_chain_gives_each_mention_one_head_within_it():
    chain = HeadChain(TEMPLATES, l2=0.01, rate=0.5, epochs=8).fit(DOCUMENTS, dev=DOCUMENTS[:3])
    bare = [document.copy(mentions=[m.replace(head=None) for m in document.mentions]) for document in DOCUMENTS[:3]]
    assert score(DOCUMENTS[:3], list(chain.predict(bare)), key=heads).f1 == 1
    odd = [Mention("x", [(0, 3), (8, 13)]), Mention("x", [(5, 10)]), Mention("place", [(4, 13)], score=0.5)]
    [found] = chain.predict([Document(TEXT, mentions=odd)])
    assert [m.replace(head=None) for m in found.mentions] == odd
    gap, cut, plain = (mention.head for mention in found.mentions)
    assert gap in [(0, 3), (8, 13)]
    assert cut == (8, 10)
    assert plain == (8, 13)
    assert chain.predict(Document("")).mentions == []


def test_the_chain_needs_heads():
    with pytest.raises(DataError, match="has no head"):
        HeadChain(TEMPLATES).fit([Document(TEXT, mentions=[HOUSE.replace(head=None)])])
