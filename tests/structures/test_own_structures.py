"""Structures of a user's own, which Spanloom does not know: they train, are saved and loaded, predict and explain."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from structure_helpers import TYPES, every_range, laid, lane_scores, offsets_of, picks, random_potentials

from spanloom import Document, Mention, Recognizer, load
from spanloom.errors import ModelError, UsageError
from spanloom.hypergraph import ENGINES, SubgraphEngine, reference
from spanloom.hypergraph.constrain import rivals
from spanloom.models import explain
from spanloom.structures import STRUCTURES, MentionTable, Structure, structure_of
from spanloom.structures.base import drop_gaps
from spanloom.structures.chain import Bio, FlatChain
from spanloom.structures.strands.pieces import ADVANCE, END, STAY, StrandPieces
from spanloom.structures.strands.structure import Shape, Stranded
from spanloom_lab.sharing import shares_nodes
from spanloom_lab.two_layer import TwoLayer


@dataclass(frozen=True)
class Bioes(FlatChain):
    name = "my_bioes"
    letters = "BIES"

    def spell(self, length):
        return "S" if length == 1 else "B" + "I" * (length - 2) + "E"


@dataclass(frozen=True)
class TwoLayers(Stranded):
    """Mentions of few tokens in one layer, longer ones in another: each of the first tokens has a node of its own.

    Args:
        short: tokens of the longest mention of the first layer.
    """

    name = "two_layers"
    short: int = 1

    def shapes(self):
        count = dict.fromkeys(range(self.short), ("C",))
        inner = {(p, ADVANCE): own for p, own in count.items() if p < self.short - 1} | {
            (p, END): ("E",) for p in count
        }
        outer = {(p, ADVANCE): own for p, own in count.items()} | {
            (self.short, STAY): ("C",),
            (self.short, END): ("F",),
        }
        return (
            Shape("/1", tuple(f"I{p}" for p in count), {0: ("S",)}, inner),
            Shape("/2", (*(f"J{p}" for p in count), "J"), {0: ("R",)}, outer),
        )

    def start_roles(self, types):
        return frozenset("SR")

    def refused(self, mentions):
        return drop_gaps(mentions)[1]

    def strand_of(self, mentions):
        return (mentions.end - mentions.first > self.short).astype(int)

    def pieces(self, mentions):
        rows = [
            (i, p, first + p, first + p + 1 if p < self.short else end)
            for i, (first, end) in enumerate(zip(mentions.first.tolist(), mentions.end.tolist(), strict=True))
            for p in range(min(self.short + 1, end - first))
        ]
        return StrandPieces(*np.array(rows, np.int64).reshape(-1, 4).T)

    def mentions(self, found):
        count = len(found.sentence)
        end = found.bounds[np.arange(count), found.size - 1]
        ptr = np.arange(count + 1)
        return MentionTable(found.sentence, found.kind, ptr, found.bounds[:, 0].copy(), end, np.full((count, 2), -1))


@dataclass(frozen=True)
class Hidden(Structure):
    """A BIO chain with two kinds of mentions of each type, which nobody has told apart: each has two paths."""

    name = "hidden"
    joint = True
    only_canonical = False

    def kinds(self, types):
        return [f"{name}{way}" for name in types for way in "12"]

    def template(self, types):
        return Bio().template(self.kinds(types))

    def start_roles(self, types):
        return Bio().start_roles(self.kinds(types))

    def encode(self, mentions, offsets, types):
        return Bio().encode(of_kinds(mentions, 2 * mentions.kind), offsets, self.kinds(types))

    def decode(self, edges, offsets, types, reading="enough"):
        found = Bio().decode(edges, offsets, self.kinds(types), reading)
        return of_kinds(found, found.kind // 2)

    def paths(self, mentions, types):
        twice = MentionTable.build(row for row in mentions.rows() for _ in "12")
        kinds = 2 * twice.kind + np.arange(len(twice)) % 2
        return Bio().paths(of_kinds(twice, kinds), self.kinds(types))


def of_kinds(mentions, kinds):
    return MentionTable(mentions.sentence, kinds, *mentions[2:])


OWN = [Bioes(), TwoLayers(), TwoLayers(2), Hidden(), TwoLayer()]
named = pytest.mark.parametrize("structure", OWN, ids=str)
LENGTH = 3


@cache
def every(structure):
    return list(reference.subgraphs(structure.template(TYPES), LENGTH))


def every_mention(structure):
    """One table of all mentions of a sentence, in the lanes that there are."""
    kinds = range(len(TYPES) if structure.joint else 1)
    return MentionTable.build((0, k, (piece,)) for k in kinds for piece in every_range(LENGTH))


@cache
def mentions_in(structure, choices):
    """What a sub-hypergraph holds, by reading it."""
    edges, offsets = laid(structure.template(TYPES), [choices], LENGTH), offsets_of([LENGTH])
    return structure.decode(edges, offsets, TYPES, "all").rows()


def probabilities(structure, potentials):
    """Of each sub-hypergraph, and of each mention: the sum over those that hold it."""
    scores = lane_scores(structure.template(TYPES), potentials, offsets_of([LENGTH]), 0, 0)
    totals = [sum(scores[t][e] for t, e in choices) for choices in every(structure)]
    shares = [math.exp(total - reference.log_sum(totals)) for total in totals]
    rows = every_mention(structure).rows()
    holding = [mentions_in(structure, choices) for choices in every(structure)]
    found = [sum(share for share, own in zip(shares, holding, strict=True) if row in own) for row in rows]
    return dict(zip(every(structure), totals, strict=True)), found


@named
def test_what_is_encoded_is_read(structure):
    for choices in every(structure):
        mentions = MentionTable.build(mentions_in(structure, choices))
        encoded = structure.encode(mentions, offsets_of([LENGTH]), TYPES)
        assert not encoded.lost
        assert sorted(structure.decode(encoded.edges, offsets_of([LENGTH]), TYPES, "all").rows()) == sorted(
            mentions.rows()
        )
        if structure.only_canonical:
            assert picks(encoded.edges[:, 0]) == choices


@named
def test_paths_have_the_probabilities_of_enumeration(structure):
    template = structure.template(TYPES)
    for seed in range(3):
        potentials = random_potentials(template, LENGTH, 1, seed)
        _, expected = probabilities(structure, potentials)
        paths = structure.paths(every_mention(structure), TYPES)
        for engine in ENGINES.values() if not shares_nodes(template) else [SubgraphEngine]:
            found = engine(template).path_probability(potentials, offsets_of([LENGTH]), paths)
            np.testing.assert_allclose(found.reshape(len(expected), -1).sum(1), expected, atol=1e-6)
            assert len(found) == len(expected) * (2 if structure in (Hidden(), TwoLayer()) else 1)


@named
def test_the_best_with_and_without_a_mention_are_those_of_enumeration(structure):
    template, mentions = structure.template(TYPES), every_mention(structure)
    for seed in range(3):
        potentials = random_potentials(template, LENGTH, 1, seed)
        totals, _ = probabilities(structure, potentials)
        for i, row in enumerate(mentions.rows()):
            paths = structure.paths(mentions.take(np.arange(len(mentions)) == i), TYPES)
            found = rivals(SubgraphEngine(template), potentials, paths)
            for has, score, edges in zip((True, False), found.score, found.edges, strict=True):
                best = max(total for own, total in totals.items() if (row in mentions_in(structure, own)) == has)
                assert score == pytest.approx(best, abs=1e-4)
                assert totals[picks(edges[:, 0])] == pytest.approx(best, abs=1e-4)


TRAIN = [
    Document("mild chest pain", mentions=[Mention("p", [(0, 15)]), Mention("b", [(5, 10)])]),
    Document("no chest pain", mentions=[Mention("p", [(3, 13)])]),
    Document("chest clear", mentions=[Mention("b", [(0, 5)])]),
    Document("no pain", mentions=[Mention("p", [(3, 7)])]),
] * 5
SETTINGS = {"features": ["bias", "low[-1..1]"], "epochs": 4, "rate": 0.5}


@pytest.fixture(scope="module")
def train():
    return cache(lambda structure: Recognizer(structure, **SETTINGS).fit(TRAIN, dev=TRAIN))


@pytest.mark.filterwarnings("ignore::spanloom.errors.LostWarning")
@named
def test_from_training_to_explaining(train, structure, tmp_path):
    model = train(structure)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model", structure=structure)
    assert again.get_params() == model.get_params() | {"n_jobs": 1}
    for other in (again, pickle.loads(pickle.dumps(again))):
        assert other.predict(TRAIN) == model.predict(TRAIN)
        assert other.marginals(TRAIN) == model.marginals(TRAIN)
    document = Document("no mild chest pain", mentions=[Mention("p", [(8, 18)]), Mention("b", [(3, 7)])])
    [predicted] = again.predict([document])
    assert predicted.mentions
    exact = again.marginals(document, calibrated=False)
    for mention, marginal, item in zip(
        document.mentions, exact, explain(again, document, document.mentions), strict=True
    ):
        assert item.marginal == pytest.approx(marginal)
        assert item.log_odds == pytest.approx(sum(part.score for part in item.contributions), abs=1e-4)
        assert mention.key in [own.key for own in item.winner]
        assert mention.key not in [own.key for own in item.runner_up]
    assert str(structure) in (tmp_path / "model" / "model.json").read_text()


@pytest.mark.filterwarnings("ignore::spanloom.errors.LostWarning")
def test_one_alphabet_is_as_good_as_another(train):
    assert train(Bioes()).predict(TRAIN) == train("bilou").predict(TRAIN)
    assert train(Bioes()).marginals(TRAIN) == train("bilou").marginals(TRAIN)


@pytest.mark.filterwarnings("ignore::spanloom.errors.LostWarning")
def test_a_model_file_names_the_structure_and_holds_no_code(train, tmp_path, command):
    train(TwoLayers(2)).save(tmp_path / "model")
    with pytest.raises(ModelError, match=r"a model of structure 'two_layers\(short=2\)', but none was given; use load"):
        load(tmp_path / "model")
    for other in (TwoLayers(), Bioes(), STRUCTURES["bio"]):
        with pytest.raises(ModelError, match=rf"structure 'two_layers\(short=2\)', but {other} was given"):
            load(tmp_path / "model", structure=other)
    told = command("predict", tmp_path / "model", "-", input="no pain")
    assert (told.returncode, told.stdout) == (1, "")
    assert "structure 'two_layers(short=2)'" in told.stderr
    train("bio").save(tmp_path / "bio")
    assert load(tmp_path / "bio", structure=STRUCTURES["bio"]).predict(TRAIN) == train("bio").predict(TRAIN)
    with pytest.raises(ModelError, match="a model of structure 'bio', but my_bioes was given"):
        load(tmp_path / "bio", structure=Bioes())


class Bare(Bioes):
    """Without the decorator its parameters would not be known."""


@dataclass(frozen=True)
class Taken(Bioes):
    name = "bilou"


@dataclass(frozen=True)
class Spelled(FlatChain):
    name = "spelled"
    letters = "BIE"
    words: tuple[str, ...] = ()

    def spell(self, length):
        return self.words[length - 1]


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (Bare(), "structure is a Bare, no dataclass; decorate it"),
        (Taken(), "structure is a Taken named bilou, as one of Spanloom's; rename it"),
        (Spelled(("I", "II", "III", "IIII", "IIIII")), "no first letter elsewhere"),
        (Spelled(("B", "BI", "BIE", "BIEE", "BIEEE")), "all letters between the first and the last to be the same"),
        (Spelled(("B", "BS", "BIS", "BIIS", "BIIIS")), "expected letters of 'BIE'"),
        (SETTINGS, "structure is {"),
    ],
)
def test_structures_that_cannot_be_meant(structure, message):
    with pytest.raises(UsageError) as caught:
        Recognizer(structure, **SETTINGS).fit(TRAIN)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bio", "bio"),
        ("bio()", "bio"),
        ("semi_markov(longest=6)", "semi_markov(longest=6)"),
        ("semi_markov( longest = 6 )", "semi_markov(longest=6)"),
        ("semi_markov(longest=None)", "semi_markov"),
        ("shared(components=3)", "shared"),
        ("seven_tag(components=02)", "seven_tag(components=2)"),
    ],
)
def test_text(text, expected):
    assert str(structure_of(text)) == expected
    assert structure_of(expected) == structure_of(text)
    assert hash(structure_of(expected)) == hash(structure_of(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tree", "structure is 'tree', expected one of bio, bilou, "),
        ("", "structure is '', expected one of bio, "),
        ("bio(", "structure is 'bio(', expected one of bio, "),
        ("bio(longest=6)", "structure is 'bio(longest=6)', with 'longest=6'; expected no parameters"),
        ("shared(2)", "structure is 'shared(2)', with '2'; expected components=NUMBER"),
        ("shared(components=2, components=3)", "with 'components=3'; expected components=NUMBER"),
        ("shared(components=two)", "with 'components=two'; expected components=NUMBER"),
        ("shared(components=0)", "components is 0, expected a whole number from 1 to 20"),
        ("shared(components=-1)", "with 'components=-1'; expected components=NUMBER"),
        ("semi_markov(longest=999999999999)", "with 'longest=999999999999'; expected longest=NUMBER"),
        ("semi_markov(longest=6", "expected one of bio, "),
        ("__import__('os')", "expected one of bio, "),
    ],
)
def test_text_that_cannot_be_meant(text, message):
    with pytest.raises(UsageError) as caught:
        structure_of(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parameters_beside_the_structure():
    assert structure_of("shared", components=2, longest=4) == structure_of("shared(components=2)", components=2)
    assert structure_of("shared(components=2)", components=3) == structure_of("shared", components=2)  # 3 is no choice
    assert structure_of(TwoLayers(2), components=2) is not None
    for given in ("shared(components=2)", structure_of("shared")):
        with pytest.raises(UsageError, match="but components beside it is 4; leave one out"):
            structure_of(given, components=4)


@pytest.mark.filterwarnings("ignore::spanloom.errors.LostWarning")
def test_text_and_parameter_beside_it_are_the_same_model(tmp_path):
    params = {"features": ["bias", "w[0]"], "epochs": 1}
    for name, given in (
        ("one", {"structure": "shared(components=2)"}),
        ("two", {"structure": "shared", "components": 2}),
    ):
        Recognizer(**params, **given).fit(TRAIN, dev=TRAIN).save(tmp_path / name)
        assert load(tmp_path / name).fitted.structure == structure_of("shared(components=2)")
    one, two = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_structure_of_spanloom_may_be_given_as_text(tmp_path):
    notes = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 20
    Recognizer("semi_markov(longest=3)", features=["w[0]"], epochs=1).fit(notes, dev=notes).save(tmp_path / "model")
    found = load(tmp_path / "model", structure="semi_markov(longest=3)").predict("no chest pain")
    assert found.mentions == load(tmp_path / "model").predict("no chest pain").mentions
    with pytest.raises(ModelError, match=r"but semi_markov\(longest=4\) was given; give that of the model"):
        load(tmp_path / "model", structure="semi_markov(longest=4)")
    with pytest.raises(UsageError, match="structure is 'nothing', expected one of bio"):
        load(tmp_path / "model", structure="nothing")
