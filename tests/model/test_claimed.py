"""Claims of annotation, against all structures of short sentences."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import Document, Mention
from spanloom.document import Batch
from spanloom.document.annotation import COMPLETE, claims_of, completeness
from spanloom.errors import DataError, UsageError
from spanloom.hypergraph import ENGINES, Potentials, reference
from spanloom.learn.readings import ReadingsTarget
from spanloom.model.claimed import with_claims
from spanloom.model.corpus import Gold
from spanloom.model.partial import allowed_structures, given_mentions
from spanloom.structures import STRUCTURES, MentionTable
from spanloom.text import prepare

TYPES = ("x", "y")
WORDS = "a b c d e"


class Case:
    """A document as training has it, and its readings."""

    def __init__(self, name, document, types=TYPES):
        self.structure = STRUCTURES[name]
        self.types = types
        self.batch = Batch.of([prepare(document)])
        self.engine = ENGINES["subgraphs"](self.structure.template(types))
        said = completeness(self.batch, types)
        self.said = np.zeros((len(self.batch.tokens), len(types)), np.uint8) if said is None else said
        self.gold = Gold(self.batch, types)
        self.gold.keep(given_mentions(self.gold.table, self.said, self.batch.sentences))
        encoded = self.structure.encode(self.gold.table, self.batch.sentences, types)
        self.gold.lose(encoded.lost)
        mask = allowed_structures(
            self.structure, self.engine, self.gold.table, encoded.edges, self.said, self.batch.sentences, types
        )
        self.readings = with_claims(
            self.structure, self.engine, self.batch, self.gold, mask.view(np.uint8), self.said, types
        )

    @property
    def lanes(self):
        return self.structure.lanes(self.types)

    def potentials(self, seed=0):
        random = np.random.default_rng(seed)
        template = self.engine.template
        return Potentials(
            random.normal(size=(len(self.batch.tokens), len(template.roles), self.lanes)).astype(np.float32),
            random.normal(size=(len(template.constants), self.lanes)).astype(np.float32),
        )

    def expectations(self, seed=0):
        return self.readings.expectations(self.engine, self.potentials(seed), self.batch.sentences)

    def ways(self, length):
        """All structures of a type, and the mentions that have a path in each."""
        return _ways(self.structure.name, self.types, length)


@cache
def _ways(name, types, length):
    structure = STRUCTURES[name]
    engine = ENGINES["subgraphs"](structure.template(types))
    found = []
    for picks in reference.subgraphs(engine.template, length):
        edges = np.full((length, structure.lanes(types), engine.depth), -1, np.int16)
        for token, edge in picks:
            edges[token, 0, (edges[token, 0] >= 0).sum()] = edge
        read = structure.decode(edges, np.array([0, length]), types, "all").rows()
        found.append((picks, frozenset((kind, ranges) for _, kind, ranges in read if structure.joint or kind == 0)))
    return found


def in_tokens(case, mention):
    starts, ends = (case.batch.tokens[:, side].tolist() for side in (0, 1))
    return case.types.index(mention.type), tuple((starts.index(a), ends.index(b) + 1) for a, b in mention.spans)


def said_of_paths(case, mention):
    """What annotation says of the tokens of each path of a mention, or of the mention's own if there is none."""
    kind, ranges = mention
    table = MentionTable.build([(0, kind, ranges)])
    if not case.structure.holds(table).all():
        return [case.said[ranges[0][0] : ranges[-1][1], kind]]
    paths = case.structure.paths(table, case.types)
    begins = [int(first) for first in paths.first]
    return [case.said[a : a + len(paths.spread(path)), kind] for path, a in enumerate(begins)]


def brute(case, seed):
    """The expected counts over all structures that the annotation of one sentence allows, one by one."""
    length, template = len(case.batch.tokens), case.engine.template
    [document] = case.batch.documents
    claims = [
        (claim.kind, [frozenset(in_tokens(case, m) for m in reading) for reading in claim.readings])
        for claim in claims_of(document, case.types)
    ]
    wanted = {(kind, ranges) for _, kind, ranges in case.gold.table.rows()}
    claims = [
        (kind, readings)
        for kind, readings in claims
        if kind != "some" or not wanted.intersection(*[frozenset().union(*readings)])
    ]
    asked = {m for _, readings in claims for reading in readings for m in reading} - wanted
    complete = {m: case.said[m[1][0][0] : m[1][-1][1], m[0]] == COMPLETE for m in asked}
    closed = {m for m in asked if complete[m].any()}
    partly = {m for m in closed if not all((said == COMPLETE).all() for said in said_of_paths(case, m))}
    extra = [frozenset(some) for size in range(len(closed) + 1) for some in combinations(sorted(closed), size)]
    scores = case.potentials(seed)
    offsets = np.array([0, length])
    worlds = []
    for more in extra:
        table = MentionTable.build([(0, kind, ranges) for kind, ranges in sorted(wanted | more)])
        encoded = case.structure.encode(table, offsets, case.types)
        if not encoded.lost:
            own = [
                {(t, e) for t, row in enumerate(encoded.edges[:, lane].tolist()) for e in row if e >= 0}
                for lane in range(case.lanes)
            ]
            worlds.append((more, own))
    every = []
    for lane in range(case.lanes):
        roles = [dict(zip(template.roles, row[:, lane].tolist(), strict=True)) for row in scores.roles]
        constants = dict(zip(template.constants, scores.constants[:, lane].tolist(), strict=True))
        of_edges = reference.edge_scores(template, roles, constants)
        every.append(
            [
                (
                    picks,
                    sum(of_edges[token][edge] for token, edge in picks),
                    read if case.structure.joint else frozenset((lane, ranges) for _, ranges in read),
                )
                for picks, read in case.ways(length)
            ]
        )
    total, counts = 0.0, np.zeros(scores.roles.shape)
    for chosen in product(*every):
        there = frozenset().union(*(mentions for _, _, mentions in chosen))
        if not any(_fits(case, chosen, there, more, own, wanted, closed, partly, claims) for more, own in worlds):
            continue
        weight = np.exp(sum(weight for _, weight, _ in chosen))
        total += weight
        for lane, (picks, _, _) in enumerate(chosen):
            for token, edge in picks:
                for role in template.edges[edge].roles:
                    if token + role.step < length:
                        counts[token + role.step, template.roles.index(role.name), lane] += weight
    return total, counts / max(total, 1e-300)


def _fits(case, chosen, there, more, own, wanted, closed, partly, claims):
    if not wanted | more <= there or there & partly - more:
        return False
    for lane, (picks, _, _) in enumerate(chosen):
        said = case.said[:, 0 if case.structure.joint else lane]
        if not {pick for pick in picks if said[pick[0]] == COMPLETE} <= own[lane]:
            return False
    real = (there - closed) | more
    for kind, readings in claims:
        union = frozenset().union(*readings)
        fits = {
            "not": not union & real,
            "some": any(reading <= real for reading in readings),
            "either": any(union & real == reading for reading in readings),
        }
        if not fits[kind]:
            return False
    return True


def claim_lists(length, gaps):
    ends = st.integers(0, length - 1).flatmap(lambda a: st.integers(a + 1, length).map(lambda b: (a, b)))
    spans = ends.map(lambda one: [[2 * one[0], 2 * one[1] - 1]])
    if gaps and length > 2:
        spans = spans | st.just([[0, 1], [4, 5]])
    typed = st.fixed_dictionaries({"spans": spans}, optional={"types": st.sampled_from([["x"], ["y"], ["x", "y"]])})
    mention = st.fixed_dictionaries({"spans": spans, "type": st.sampled_from(TYPES)})
    reading = st.lists(mention, max_size=2)
    return st.fixed_dictionaries(
        {
            "not": st.lists(typed, max_size=2),
            "some": st.lists(typed, max_size=1),
            "either": st.lists(st.lists(reading, min_size=2, max_size=2), max_size=1),
        }
    )


@pytest.mark.parametrize("name", [name for name, structure in STRUCTURES.items() if not structure.heads])
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_expected_counts_are_those_of_all_structures_that_are_allowed(name, data):
    structure = STRUCTURES[name]
    template = structure.template(list(TYPES))
    length = 3
    while sum(1 for _ in reference.subgraphs(template, length)) > (600 if structure.joint else 130) and length > 1:
        length -= 1
    claims = data.draw(claim_lists(length, structure.holds(MentionTable.build([(0, 0, ((0, 1), (2, 3)))])).all()))
    several = structure.paths(MentionTable.build([(0, 0, ((0, 1),))]), list(TYPES))
    default = "at-least" if len(several.sentence) > 1 else data.draw(st.sampled_from(["complete", "at-least"]))
    zone = {"start": 0, "end": 1, "annotation": data.draw(st.sampled_from(["at-least", default]))}
    mentions = [] if len(several.sentence) > 1 else data.draw(st.sampled_from([[], [Mention("x", [(0, 1)])]]))
    text = WORDS[: 2 * length - 1]
    document = Document(text, tokens=[[2 * i, 2 * i + 1] for i in range(length)], sentences=[[0, length]], id="d")
    document = document.copy(mentions=mentions, meta={"annotation": {"default": default, "zones": [zone], **claims}})
    try:
        case = Case(name, document)
    except DataError as error:
        if "differ" in str(error) or "annotated as a mention" in str(error):
            return
        assert "contradict" in str(error)
        return
    total, counts = brute(case, 1)
    if case.gold.lost:  # a claim that the structure cannot hold is told, and not looked at
        return
    assert total > 0
    found = case.expectations(1)
    np.testing.assert_allclose(found.roles, counts, atol=2e-4)
    assert found.log_partition.sum() == pytest.approx(np.log(total), abs=1e-3)


def test_sets_of_mentions_that_are_one_structure_are_counted_once():
    """The mention hypergraph writes crossing mentions as it writes them with their union."""
    crossing = [{"spans": [[0, 3]], "type": "x"}, {"spans": [[2, 5]], "type": "x"}]
    case = Case("mention_hypergraph", one({"some": [{"spans": [[0, 5]]}], "either": [[[], crossing]]}, words=3))
    total, counts = brute(case, 1)
    found = case.expectations(1)
    np.testing.assert_allclose(found.roles, counts, atol=2e-4)
    assert found.log_partition.sum() == pytest.approx(np.log(total), abs=1e-3)


def test_the_start_of_a_mention_may_be_written_at_the_token_before():
    """Separators write the start of the second word's mention at the first word, where annotation is not complete."""
    zone = {"start": 0, "end": 1, "annotation": "at-least"}
    claims = {"some": [{"spans": [[0, 3]]}], "either": [[[], [{"spans": [[2, 3]], "type": "x"}]]]}
    case = Case("separators", one({"default": "complete", "zones": [zone], **claims}, words=3))
    total, counts = brute(case, 1)
    found = case.expectations(1)
    np.testing.assert_allclose(found.roles, counts, atol=2e-4)
    assert found.log_partition.sum() == pytest.approx(np.log(total), abs=1e-3)


def one(annotation, mentions=(), words=4):
    text = " ".join("abcdefgh"[:words])
    return Document(text, id="d", mentions=list(mentions), meta={"annotation": annotation})


def test_a_mention_of_unknown_type_in_complete_annotation():
    case = Case("separators", one({"some": [{"spans": [[2, 5]]}]}))
    counts = case.expectations().roles
    row = [case.engine.template.roles.index(role) for role in sorted(case.structure.start_roles(TYPES))]
    there = counts[1, row].sum(0)  # the token where it starts
    assert there.sum() >= 1 - 1e-5
    assert (there > 0.01).all()
    assert (np.abs(counts[0, row]) < 1e-6).all()


@pytest.mark.parametrize(
    ("annotation", "mentions"),
    [
        ({"not": [{"spans": [[2, 3]]}], "some": [{"spans": [[2, 3]]}]}, ()),
        ({"default": "at-least", "not": [{"spans": [[2, 3]], "types": ["x"]}],
          "some": [{"spans": [[2, 3]], "types": ["x"]}]}, ()),
    ],
)  # fmt: skip
def test_contradictions_name_document_and_sentence(annotation, mentions):
    with pytest.raises(DataError, match=r"document 'd', sentence 1: the claims about its mentions contradict"):
        Case("separators", one(annotation, mentions))


def test_crossing_mentions_contradict_each_other_where_a_chain_holds_one():
    claims = [{"spans": [[0, 3]], "types": ["x"]}, {"spans": [[2, 5]], "types": ["x"]}]
    with pytest.raises(DataError, match="contradict"):
        Case("bio", one({"default": "at-least", "some": claims}))


def test_too_many_claims_are_refused():
    claims = [{"spans": [[2 * i, 2 * i + 2 * j + 1]]} for i in range(8) for j in range(8 - i)]
    with pytest.raises(DataError, match="more than 512 ways"):
        Case("separators", one({"default": "at-least", "some": claims}, words=8))


@pytest.mark.parametrize("count", [8, 36])
def test_claims_that_too_many_mentions_are_not_there_are_told(count):
    spans = [[2 * i, 2 * i + 2 * j + 1] for i in range(8) for j in range(8 - i)][:count]
    claims = [{"spans": [span], "types": ["x"]} for span in spans]
    case = Case("separators", one({"default": "at-least", "not": claims}, words=8))
    kept = count - len(case.gold.lost)
    assert kept == 6
    assert len(case.readings.owner) == 64
    assert all("too many" in lost.reason for lost in case.gold.lost)
    assert sorted(lost.mention.spans for lost in case.gold.lost) == sorted((tuple(s),) for s in spans[kept:])
    fewer = Case("separators", one({"default": "at-least", "not": claims[:kept]}, words=8))
    np.testing.assert_array_equal(case.expectations().roles, fewer.expectations().roles)


def test_no_claim_about_complete_text_is_dropped():
    claims = [{"spans": [[2 * i, 2 * i + 1]], "types": ["x"]} for i in range(40)]
    text = " ".join("abcdefgh"[i % 8] for i in range(40))
    for default, lost in (("complete", 0), ("at-least", 34)):
        document = Document(text, id="d", meta={"annotation": {"default": default, "not": claims}})
        assert len(Case("separators", document).gold.lost) == lost


def test_claims_that_a_structure_cannot_hold_are_told():
    case = Case("separators", one({"some": [{"spans": [[0, 1], [4, 5]]}], "not": [{"spans": [[0, 1], [4, 5]]}]}))
    [lost] = case.gold.lost
    assert "gap" in lost.reason
    assert not len(case.readings.owner)


def test_heads_are_refused():
    with pytest.raises(UsageError, match="heads"):
        Case("heads", one({"some": [{"spans": [[0, 1]]}]}))


def test_choices_in_several_sentences_are_refused():
    document = Document(
        "a b c d", id="d", tokens=[[0, 1], [2, 3], [4, 5], [6, 7]], sentences=[[0, 2], [2, 4]],
        meta={"annotation": {"either": [[[{"type": "x", "spans": [[0, 1]]}], [{"type": "x", "spans": [[4, 5]]}]]]}},
    )  # fmt: skip
    with pytest.raises(DataError, match="several sentences"):
        Case("separators", document)


@given(st.permutations(range(4)), st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_some_sentences_are_as_they_are_among_all(order, count):
    claims = [{"spans": [[0, 3]], "types": ["x"]}, {"spans": [[8, 11]], "types": ["y"]}]
    document = Document(
        "a b c d e f g h", id="d", tokens=[[2 * i, 2 * i + 1] for i in range(8)],
        sentences=[[0, 2], [2, 4], [4, 6], [6, 8]],
        meta={"annotation": {"default": "at-least", "not": claims, "some": [{"spans": [[12, 15]]}]}},
    )  # fmt: skip
    case = Case("separators", document)
    found, potentials = case.expectations(), case.potentials()
    sentences = np.array(order[:count], np.int64)
    tokens = np.concatenate([np.arange(2 * n, 2 * n + 2) for n in sentences])
    part = case.readings.take(sentences, tokens)
    own = Potentials(potentials.roles[tokens], potentials.constants)
    again = part.expectations(case.engine, own, np.arange(count + 1) * 2)
    np.testing.assert_allclose(again.roles, found.roles[tokens], atol=1e-6)
    np.testing.assert_allclose(again.log_partition, found.log_partition[sentences], atol=1e-6)


@pytest.mark.parametrize("order", [[3, 0], [2], [1, 2, 0, 3]])
def test_a_target_wants_what_the_readings_of_its_sentences_expect(order):
    document = Document(
        "a b c d e f g h", id="d", tokens=[[2 * i, 2 * i + 1] for i in range(8)],
        sentences=[[0, 2], [2, 4], [4, 6], [6, 8]], mentions=[Mention("x", [(4, 7)])],
        meta={"annotation": {"default": "at-least", "not": [{"spans": [[0, 3]]}], "some": [{"spans": [[12, 15]]}]}},
    )  # fmt: skip
    case = Case("separators", document)
    target = ReadingsTarget(case.engine, case.batch.sentences, case.readings)
    found, potentials = case.expectations(), case.potentials()
    assert target.shape == (4, *potentials.roles.shape[:2], *potentials.constants.shape)
    every = target.target_counts(potentials)
    np.testing.assert_array_equal(every.roles, found.roles)
    assert sum(every.score) == pytest.approx(found.log_partition.sum())
    sentences = np.array(order)
    tokens = np.concatenate([np.arange(2 * n, 2 * n + 2) for n in order])
    own = Potentials(potentials.roles[tokens], potentials.constants)
    for some in (target.target_counts(own, sentences, tokens), target.take(sentences).target_counts(own)):
        np.testing.assert_allclose(some.roles, found.roles[tokens], atol=1e-6)
        assert sum(some.score) == pytest.approx(found.log_partition[sentences].sum(), abs=1e-5)
