"""Compact segmenters: smaller, almost the same, saved and loaded as any other, whatever chains they have."""

from __future__ import annotations

import json
from copy import copy
from typing import Any

import pytest

from spanloom import modelfile
from spanloom.errors import ModelError
from spanloom.evaluate.compare import exact, score
from spanloom.evaluate.words import words
from spanloom.formats import to_record
from spanloom.models import load
from spanloom.recognize import compact
from spanloom.segment import Segmenter


@pytest.fixture(scope="module", params=["exact", "incremental", "joint_labels"])
def pair(request: pytest.FixtureRequest, chinese: Any) -> tuple[Segmenter, Segmenter]:
    trained = request.getfixturevalue("joint" if request.param == "joint_labels" else "stacked")
    model = copy(trained).set_params(method=request.param)
    return model, compact(model, dev=chinese[1], loss=1.0)


def test_smaller_and_almost_the_same(pair: tuple[Any, Any], chinese: Any, tmp_path: Any) -> None:
    model, small = pair
    report = small.report_.compact
    assert report.bytes_after < 0.5 * report.bytes_before
    assert report.f1_after >= report.f1_before - 0.01
    found = small.predict(chinese[1])
    own = [score(chinese[1], found, key=key).f1 for key in (exact, words)]
    assert report.f1_after == pytest.approx(sum(own) / 2)  # of words and of mentions
    assert any("compact: weights below" in line for line in small.summary())
    assert model.report_.compact is None
    assert model.strongest_
    assert not small.strongest_
    assert small.explain(chinese[2][0])


def test_loaded_it_says_what_it_said_and_is_the_same_bytes(pair: tuple[Any, Any], chinese: Any, tmp_path: Any) -> None:
    _, small = pair
    small.save(tmp_path / "small")
    again = load(tmp_path / "small")
    texts = [document.text for document in chinese[2][:20]]
    assert [to_record(d) for d in again.predict(texts)] == [to_record(d) for d in small.predict(texts)]
    again.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "small" / name).read_bytes()
    assert json.loads((tmp_path / "small" / "model.json").read_text())["format"] == modelfile.FORMAT


def test_weights_of_a_chain_that_is_not_there_are_damage(pair: tuple[Any, Any]) -> None:
    part = pair[1].to_part()
    chains = part.parts["structure0"]
    name = next(name for name in chains.parts if name != "index")
    del chains.parts[name].parts["compact"].arrays["scales"]
    with pytest.raises(ModelError, match="scales"):
        Segmenter.from_part(part)
