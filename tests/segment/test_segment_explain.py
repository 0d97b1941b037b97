"""Why a segmenter finds a mention."""

from __future__ import annotations

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.models import explain

METHODS = ("independent", "incremental", "dual", "exact", "joint_labels")


@pytest.fixture(params=METHODS)
def model(request, stacked, joint):
    if request.param == "joint_labels":
        yield joint
        return
    before = stacked.method
    stacked.set_params(method=request.param, weight=1.5)
    yield stacked
    stacked.set_params(method=before, weight=1.0)


@pytest.fixture(scope="module")
def text(chinese):
    return "".join(document.text for document in chinese[2])[:150]


def test_what_is_predicted_is_explained(model, text):
    [predicted] = model.predict([Document(text)])
    found = explain(model, Document(text))
    assert [one.mention for one in found] == list(predicted.mentions) and len(found) > 3
    for one in found:
        assert one.predicted and one.log_odds == pytest.approx(sum(part.score for part in one.contributions))
        assert one.mention.key in {mention.key for mention in one.winner}
        assert one.mention.key not in {mention.key for mention in one.runner_up}
        for part in one.contributions:
            if part.token is not None:  # each feature has a name, and they add up
                weights = sum(feature.score for feature in part.features)
                assert part.score == pytest.approx(part.times * weights, abs=1e-3)
        if model.method in ("exact", "joint_labels", "independent"):
            assert one.log_odds >= -1e-4


def test_what_is_not_predicted_is_explained(model, text):
    [predicted] = model.predict([Document(text)])
    first = predicted.mentions[0]
    other = Mention("test" if first.type != "test" else "problem", first.spans)
    [one] = explain(model, Document(text), [other])
    assert not one.predicted and one.mention.score < first.score
    assert other.key in {mention.key for mention in one.winner}
    if model.method in ("exact", "joint_labels", "independent"):
        assert one.log_odds < 0
        assert first.key in {mention.key for mention in one.runner_up}


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        (Mention("nothing", [(0, 2)]), "no type 'nothing'; the model knows "),
        (Mention("problem", [(0, 1), (3, 4)]), "the model cannot hold the mention at characters 0-1, 3-4"),
        (Mention("problem", [(2, 4)]), "the model cannot hold the mention at characters 2-4"),
    ],
)
def test_what_cannot_be_held_is_refused(stacked, mention, message):
    with pytest.raises(UsageError, match=message):
        stacked.explain(Document("头痛 发热。"), [mention])
