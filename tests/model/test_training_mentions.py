"""Training mentions that are invalid, or that no structure can hold."""

import pytest

from spanloom import Document, Mention, Recognizer
from spanloom.errors import DataError


@pytest.mark.parametrize(
    ("spans", "found"),
    [
        ([(0, 9)], "span 0-9 is outside the text of 7 characters"),
        ([(-1, 2)], "span -1-2 is outside the text of 7 characters"),
        ([(5, 3)], "span 5-3 is empty"),
        ([(4, 7), (0, 3)], "span 0-3 starts before 7"),
        ([(0, 3), (2, 7)], "span 2-7 starts before 3"),
    ],
)
@pytest.mark.parametrize("structure", ["separators", "split"])
def test_invalid_spans_are_refused(spans, found, structure):
    documents = [Document("abc def", mentions=[Mention("a", [(0, 3)])]), Document("abc def", "x")]
    documents[1].mentions = [Mention("a", spans)]
    with pytest.raises(DataError, match=f"document 'x': .*{found}.*run `spanloom validate`"):
        Recognizer(structure=structure).fit(documents * 5)


def test_training_without_a_mention_that_can_be_held_is_refused():
    gapped = Document("left and right atrium", mentions=[Mention("part", [(0, 4), (15, 21)])])
    with pytest.raises(DataError, match=r"none of the 9 training mentions can be held: 9 \(it has a gap;.*choose"):
        Recognizer(structure="separators").fit([gapped] * 9)
    assert Recognizer(structure="split", epochs=2).fit([gapped] * 9).types_ == ("part",)


def test_claims_teach_without_a_mention_that_can_be_held():
    claim = {"some": [{"spans": [[18, 28]], "types": ["problem"]}]}
    text = "Gap a b c. Severe chest pain here."
    gapped = Document(text, mentions=[Mention("problem", [(4, 5), (8, 9)])], meta={"annotation": claim})
    with pytest.warns(match="it has a gap"):
        model = Recognizer(structure="bilou", epochs=2).fit([gapped] * 20)
    assert model.types_ == ("problem",)
