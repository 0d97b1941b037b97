"""Folders of segmenters that are damaged or made to harm: one line that names the path."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save
from staged import as_stages, as_tree, refused

from spanloom.document import Document, Mention
from spanloom.models import load
from spanloom.segment import Segmenter

TOKENS = [[0, 2], [2, 3], [3, 5], [5, 7]]
DOCUMENTS = [Document("患者无关节疼痛", tokens=TOKENS, sentences=[[0, 4]], mentions=[Mention("x", [(3, 7)])])] * 12
FEATURES = ["bias", "w[0]", "dictionary[0]"]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for method in ("incremental", "joint_labels"):
        segmenter = Segmenter(method, FEATURES, dictionaries={"body": ["关节"]}, epochs=1, tune_penalty=False)
        segmenter.fit(DOCUMENTS).save(folder / method)
    return folder


@pytest.fixture
def model(originals, tmp_path):
    return Path(shutil.copytree(originals / "incremental", tmp_path / "model"))


def describe(path, change):
    description = as_tree(json.loads((path / "model.json").read_text()))
    change(description)
    (path / "model.json").write_text(json.dumps(as_stages(description)))


def weigh(path, arrays):
    data = save(arrays)
    (path / "weights.safetensors").write_bytes(data)
    describe(path, lambda description: description.update(sha256=hashlib.sha256(data).hexdigest()))


def test_the_untouched_models_load(model, originals):
    for path in (model, originals / "joint_labels"):
        [found] = load(path).predict(DOCUMENTS[:1])
        assert found.text == DOCUMENTS[0].text


@pytest.mark.parametrize("name", ["format", "sha256", "kind", "params", "types", "parts", "report", "joint_penalty"])
def test_a_description_without_a_key(model, name):
    describe(model, lambda description: description.pop(name))
    refused(model)


def test_a_kind_is_not_another(model):
    describe(model, lambda description: description.update(kind="cascade"))
    refused(model, "damaged")
    describe(model, lambda description: description.update(kind="x"))
    refused(model, "kind 'x', expected one of recognizer, linker, segmenter")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["parts"].clear(), "chains of 0 parts"),
        (lambda d: d["parts"].pop("structure2"), "chains of 2 parts"),
        (lambda d: d["parts"].pop("structure0"), "the part 'structure0' is missing"),
        (
            lambda d: d["parts"].update(structure1=d["parts"]["structure2"], structure2=d["parts"]["structure1"]),
            "chains of 3 parts",
        ),
        (lambda d: d["parts"]["structure0"]["parts"].pop("words"), "chains of 3 parts"),
        (lambda d: d["parts"]["structure0"]["parts"].pop("index"), "the part 'structure0.index' is missing"),
        (lambda d: d["parts"]["structure0"].update(templates=["w[0"]), "w[0"),
        (lambda d: d["parts"]["structure0"].update(templates=["pos[0]"]), "the column 'pos'"),
        (lambda d: d["parts"]["structure0"].update(templates=["word_tag[0]"]), "the column 'word_tag'"),
        (lambda d: d["parts"]["structure1"].update(templates=["word_tag[0]"]), "the column 'word_tag'"),
        (lambda d: d["parts"]["structure0"]["parts"]["words"].update(penalty=None), "penalty"),
        (lambda d: d.update(types=[]), "for types ()"),
        (lambda d: d.update(types=["x", "x"]), "damaged"),
        (lambda d: d.update(types=["x", "y"]), "expected float32 ("),
        (lambda d: d.update(types=[f"t{i}" for i in range(10_000)]), "damaged"),
        (lambda d: d.update(joint_penalty="x"), "joint_penalty"),
        (lambda d: d["params"].update(single_word=["z"]), "no mention type 'z'"),
        (lambda d: d["params"].update(constraints=["z"]), "constraint 'z'"),
        (lambda d: d["params"].update(method="joint_labels"), "not those of the method 'joint_labels'"),
        (lambda d: d["params"].update(method="all"), "method is 'all'"),
        (lambda d: d["params"].update(more=1), "more"),
        (lambda d: d["report"].update(characters="many"), "characters"),
        (lambda d: d.update(params=[]), "params"),
    ],
)
def test_wrong_values_in_the_description(model, change, words):
    describe(model, change)
    refused(model, "damaged", words)


@pytest.mark.parametrize(
    "name",
    ["words.weights", "mentions.constants", "index.words", "index.slots", "index.group_sizes"],
)
def test_an_array_that_is_missing_or_of_another_kind(model, name):
    name = f"structure0.{name}"
    arrays = load_file(model / "weights.safetensors")
    for change in (None, np.zeros(0, arrays[name].dtype), np.array(1, arrays[name].dtype)):
        weigh(model, {k: v for k, v in {**arrays, name: change}.items() if v is not None})
        refused(model)


def test_numbers_that_are_not_finite(model):
    arrays = load_file(model / "weights.safetensors")
    arrays["structure2.mentions.weights"].flat[-1] = np.inf
    weigh(model, arrays)
    refused(model, "structure2.mentions.weights", "not finite")


def test_dictionaries_that_are_missing_or_cannot_be_read(model):
    arrays = load_file(model / "weights.safetensors")
    weigh(model, {**arrays, "dictionaries.phrases": np.frombuffer(b'{"a": 7}', np.uint8)})
    refused(model, "damaged")
    weigh(model, {name: array for name, array in arrays.items() if name != "dictionaries.phrases"})
    refused(model, "'dictionaries.phrases' is missing")
    describe(model, lambda description: description["parts"].pop("dictionaries"))
    refused(model, "the column 'dictionary'")
