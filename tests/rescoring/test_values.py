"""Named values of candidates, against what plain Python says of each."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom.document import Batch, Document
from spanloom.errors import ModelError
from spanloom.features import FeatureSet
from spanloom.features.conjunctions import conjunctions
from spanloom.hashing import hash_text
from spanloom.rescoring.candidates import GIVEN, CandidateMentions, merge
from spanloom.rescoring.seen import SEEN, HeldOutNames, SeenNames
from spanloom.rescoring.values import TEMPLATES, CandidateValues, TokenColumns, check_templates, served
from spanloom.structures import MentionTable
from spanloom.structures.base import identities
from spanloom.text import prepare

TEXTS = ("Chest pain ( mild and left arm pain. No chest pain.", "Pain in the arm.")
FEATURES = FeatureSet(["low[0]"])


def values(*rows, odds=None, level=None, names=None):
    """The values of candidates of both documents; words are those of the tokenizer."""
    batch = Batch.of([prepare(Document(text)) for text in TEXTS])
    count = len(rows)
    found = CandidateMentions(
        MentionTable.build(rows), np.array(level or [0] * count), np.array(odds or [0.0] * count, float)
    )
    return CandidateValues(
        found, TokenColumns(batch, served(TEMPLATES, FEATURES), FEATURES), names or SeenNames.of(*NOTHING)
    )


NOTHING = np.zeros(0, np.uint64), np.zeros(0, np.int64)
CHEST_PAIN = (0, 0, ((0, 2),))
GAPPED = (0, 1, ((3, 4), (7, 8)))


def test_columns_are_read_at_their_places() -> None:
    found = values(CHEST_PAIN, GAPPED)
    expected = {
        "low[first]": ("chest", "mild"), "low[last]": ("pain", "pain"), "low[last+1]": ("(", "."),
        "low[gap]": (None, "and"), "low[join-1]": (None, "arm"), "low[join]": (None, "pain"),
        "low[gap-1]": (None, "mild"),
    }  # fmt: skip
    for name, words in expected.items():
        assert found[name].tolist() == [hash_text(word) if word else 0 for word in words], name
    assert found["low[first-1]"].tolist() == [1, hash_text("(")], "before the sentence there is no word"


def test_numbers_of_a_candidate() -> None:
    found = values(CHEST_PAIN, (0, 0, ((0, 4),)), GAPPED, odds=[0.2, -3.0, 9.0], level=[0, 2, 1])
    assert found["len"].tolist() == [2, 4, 2]
    assert found["parts"].tolist() == [1, 1, 2]
    assert found["gap.len"].tolist() == [0, 0, 3]
    assert found["level"].tolist() == [1, 3, 2]
    assert found["type"].tolist() == [1, 1, 2]
    assert found["brackets"].tolist() == [1, 3, 1], "one is not closed"
    assert found["odds"].tolist() == [17, 11, 32], "bins of half a unit, from 1 to 32"


def test_the_same_text_elsewhere_in_the_document() -> None:
    again = (1, 0, ((1, 3),))  # the second sentence of the first document
    found = values(CHEST_PAIN, again, (1, 1, ((1, 3),)), (2, 0, ((0, 1),)), odds=[1.0, 2.0, -1.0, 5.0])
    assert found["again"].tolist() == [18, 17, 0, 0], "each type has its own; another document does not count"
    assert found["again.other"].tolist() == [16, 16, 18, 0]


def test_what_is_only_given_says_nothing_to_others() -> None:
    again = (1, 0, ((1, 3),))
    found = values(CHEST_PAIN, again, odds=[1.0, 2.0], level=[0, GIVEN])
    assert found["again"].tolist() == [0, 17]


def test_names_of_training_are_held_out() -> None:
    text, kind = np.array([7, 7, 8], np.uint64), np.array([0, 0, 1])
    whole = SeenNames.of(text, kind)
    assert [SEEN[i] for i in whole.recall(np.array([7, 8, 8, 9], np.uint64), np.array([0, 0, 1, 0]))] == [
        "as this type", "as others", "as this type, once", "never",
    ]  # fmt: skip
    held = HeldOutNames(text, kind, fold=np.array([0, 1, 1]), queried=np.array([0, 1, 1]))
    found = held.recall(np.array([7, 7, 8], np.uint64), np.array([0, 0, 1]))
    assert [SEEN[i] for i in found] == ["as this type, once", "as this type, once", "never"]


def test_some_candidates_have_the_values_that_they_have_among_all() -> None:
    found = values(CHEST_PAIN, (0, 0, ((0, 4),)), GAPPED, odds=[0.2, -3.0, 9.0], level=[0, 2, 1])
    names = conjunctions(served(TEMPLATES, FEATURES)).names
    rows = np.array([2, 0])
    np.testing.assert_array_equal(found.table(names, rows), found.table(names)[:, rows])
    np.testing.assert_array_equal(found.table(names), [found[name] for name in names])


def test_keys_leave_out_what_a_candidate_lacks() -> None:
    found = values(CHEST_PAIN, GAPPED)
    made = conjunctions(("low[gap]", "type", "low[gap]|type"))
    keys = made.keys(found.table(made.names))
    assert np.diff(keys.offsets).tolist() == [1, 3]
    assert len(set(keys.ids.tolist())) == 4


def test_templates_are_those_whose_columns_are_there() -> None:
    templates = served(TEMPLATES, FEATURES)
    assert not any("pos[" in template or "cluster" in template for template in templates)
    assert any("pos[" in template for template in served(TEMPLATES, FeatureSet(["pos[0]"])))


@pytest.mark.parametrize("template", ["nothing", "low[nowhere]", "pos[first]", "w[first", "", "low[first]|", "odds:x"])
def test_templates_of_a_file_are_checked(template: str) -> None:
    check_templates(TEMPLATES[:3], FEATURES)
    with pytest.raises(ModelError, match="template"):
        check_templates((template,), FEATURES)


def test_identities_tell_mentions_apart() -> None:
    rows = [(n, k, ((a, b),)) for n in range(3) for k in range(2) for a in range(3) for b in range(a + 1, 4)]
    rows += [(0, 0, ((0, 1), (2, 3))), (0, 0, ((0, 3),))]
    heads = [(0, 1)] * len(rows)
    table, headed = MentionTable.build(rows), MentionTable.build(rows, heads)
    assert len(set(identities(table).tolist())) == len(set(rows))
    assert not np.isin(identities(table), identities(headed)).any()


def test_parts_of_a_corpus_become_one() -> None:
    one, two = (
        CandidateMentions(MentionTable.build(rows), np.array([0]), np.array([odds]))
        for rows, odds in (([(3, 0, ((0, 1),))], 1.0), ([(1, 0, ((2, 3), (4, 5)))], 2.0))
    )
    both = merge([one, two])
    assert both.table.rows() == [(1, 0, ((2, 3), (4, 5))), (3, 0, ((0, 1),))]
    assert both.odds.tolist() == [2.0, 1.0]
