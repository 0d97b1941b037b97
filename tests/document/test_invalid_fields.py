"""Fields of documents that are of another type than expected."""

import numpy as np
import pytest

from spanloom import Document, Mention
from spanloom.errors import DataError

MENTION = Mention("a", [(0, 1)])


@pytest.mark.parametrize("name", ["tokens", "sentences"])
@pytest.mark.parametrize("value", ["abc", 5, [(0, 1.5)], [(0, 1, 2)], [("0", "1")], [(0, 10**30)], [None], {1: 2}])
def test_offsets_are_pairs_of_integers(name, value):
    with pytest.raises(
        DataError, match=rf"{name} of a document are .*expected pairs of offsets: \[\(0, 2\), \(3, 8\)\]"
    ):
        Document("abc", **{name: value})


@pytest.mark.parametrize(
    "value", [None, 3, np.array([Mention("a", [(0, 1)])]), (one for one in [Mention("a", [(0, 1)])])]
)
def test_mentions_are_a_list(value):
    with pytest.raises(DataError, match=r"mentions of a document are .*expected a list of Mention objects"):
        Document("abc", mentions=value)


def test_offsets_are_of_any_array_of_integers():
    for kind in (object, np.int8, np.uint64):
        assert Document("abc", tokens=np.array([[0, 1], [2, 3]], kind)).tokens.tolist() == [[0, 1], [2, 3]]


def test_sections_are_a_list():
    with pytest.raises(DataError, match="sections of a document are None"):
        Document("abc", sections=None)
