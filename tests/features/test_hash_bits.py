"""Features with numbers of few bits: how many there are, and that all ways to a row of weights say the same."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from spanloom import Recognizer, load, read
from spanloom.data import clinical
from spanloom.document import Batch
from spanloom.errors import ModelError, UsageError
from spanloom.features import FeatureSet, index_batch
from spanloom.scoring import LinearScorer, Weights
from spanloom.text import prepare

NOTES = [prepare(document) for document in read(clinical() / "train")][:6]


def keys_of(bits: int | None) -> tuple[FeatureSet, Batch]:
    return FeatureSet.preset("small", hash_bits=bits), Batch.of(NOTES)


@pytest.mark.parametrize("bits", [8, 9])
def test_there_are_as_many_as_the_bits_allow(bits: int) -> None:
    features, batch = keys_of(bits)
    plain, _ = keys_of(None)
    own, all_ = features.keys(batch).ids, plain.keys(batch).ids
    assert len(np.unique(all_)) > 2**bits == len(np.unique(own))
    assert (own != 0).all()
    number = dict(zip(all_.tolist(), own.tolist(), strict=True))  # of a feature, wherever it stands
    assert [number[key] for key in all_.tolist()] == own.tolist()


def test_many_bits_leave_each_feature_its_own() -> None:
    features, batch = keys_of(32)
    plain, _ = keys_of(None)
    assert len(np.unique(features.keys(batch).ids)) == len(np.unique(plain.keys(batch).ids))


def test_names_and_shared_values_have_the_same_numbers() -> None:
    features, batch = keys_of(10)
    keys = features.keys(batch)
    named = [key for _, key in features.named_keys(NOTES[0], [3])[0]]
    assert named == keys.ids[keys.offsets[3] : keys.offsets[4]].tolist()
    shared = features.shared_keys(batch)
    values = [shared.values.ids[a:b] for a, b in zip(shared.values.offsets, shared.values.offsets[1:], strict=False)]
    rows = shared.rows[shared.offsets[3] : shared.offsets[4]]
    own = shared.own.ids[shared.own.offsets[3] : shared.own.offsets[4]]
    assert sorted(np.concatenate([own, *(values[row] for row in rows)]).tolist()) == sorted(named)


def test_scores_are_sums_of_what_named_features_weigh() -> None:
    features, batch = keys_of(14)
    index = index_batch(features, batch).index
    weights = np.random.default_rng(0).normal(size=(len(index), 2, 1)).astype(np.float32)
    scorer = LinearScorer(features, index, Weights(weights, np.zeros((0, 1), np.float32)))
    for token in (0, 5):
        parts = scorer.named(NOTES[0], token).parts(1, 0)
        assert sum(part.score for part in parts) == pytest.approx(scorer.score(batch).roles[token, 1, 0], abs=1e-4)


@pytest.mark.parametrize("bits", [7, 33, 0, -8])
def test_bits_out_of_bounds_are_refused_everywhere(bits: int) -> None:
    with pytest.raises(UsageError, match=f"hash_bits is {bits}, expected a number from 8 to 32"):
        FeatureSet(["w[0]"], hash_bits=bits)
    with pytest.raises(UsageError, match=f"hash_bits is {bits}, expected "):
        Recognizer(hash_bits=bits).fit(NOTES, dev=NOTES[:1])


def trained(path: Path) -> tuple[Recognizer, Path]:
    model = Recognizer(
        features="small", epochs=2, l2=1, rescore=False, split_tokens=False, hash_bits=9, attributes="off"
    )
    model.fit(NOTES, dev=NOTES[:2]).save(path / "model")
    return model, path / "model"


@pytest.mark.filterwarnings("ignore::spanloom.errors.LostWarning")
def test_a_model_has_a_bounded_number_of_rows_and_comes_back(tmp_path: Path) -> None:
    model, path = trained(tmp_path)
    assert model.report_.rows == 2**9
    again = load(path)
    assert again.hash_bits == 9
    assert [one.mentions for one in again.predict(NOTES)] == [one.mentions for one in model.predict(NOTES)]
    with pytest.raises(ModelError, match="hash_bits"):
        load(changed(path, 40))


def changed(path: Path, bits: int) -> Path:
    """Return the model with another number of bits in its description."""
    file = path / "model.json"
    said = json.loads(file.read_text(encoding="utf-8"))

    def set_bits(value: object) -> None:
        if isinstance(value, dict):
            if "hash_bits" in value and "templates" in value:
                value["hash_bits"] = bits
            for one in value.values():
                set_bits(one)

    for stage in said["stages"]:
        set_bits(stage)
    file.write_text(json.dumps(said), encoding="utf-8")
    return path


def test_a_folder_gives_the_same_model(tmp_path: Path) -> None:
    settings = {"features": "small", "epochs": 1, "l2": 1, "rescore": False, "pos": None, "hash_bits": 10}
    settings["attributes"] = "off"
    digests = []
    for name, work in (("memory", None), ("folder", tmp_path / "work")):
        Recognizer(**settings).fit(NOTES, dev=NOTES[:2], work=work).save(tmp_path / name)
        digests.append(sha256((tmp_path / name / "weights.safetensors").read_bytes()).hexdigest())
    assert digests[0] == digests[1]
