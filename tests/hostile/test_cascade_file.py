"""Folders of cascades that are damaged or made to harm: one line that names the path."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save
from staged import as_stages, as_tree, refused

from spanloom import modelfile
from spanloom.document import Document, Mention
from spanloom.errors import ModelError
from spanloom.recognize import Recognizer, load
from spanloom_lab import Cascade

DOCUMENTS = [Document("No chest pain today", mentions=[Mention("x", [(3, 13)]), Mention("y", [(3, 8)])])] * 12


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    cascade = Cascade(["x", "y"], ["bias", "w[0]", "cluster[0]"], clusters=3, epochs=1, tune_penalty=False)
    cascade.fit(DOCUMENTS).save(folder / "cascade")
    return folder / "cascade"


@pytest.fixture
def model(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "model"))


def describe(path, change):
    description = as_tree(json.loads((path / "model.json").read_text()))
    change(description)
    (path / "model.json").write_text(json.dumps(as_stages(description)))


def chain(description, number):
    return description["parts"][f"structure{number}"]


def weigh(path, arrays):
    data = save(arrays)
    (path / "weights.safetensors").write_bytes(data)
    describe(path, lambda description: description.update(sha256=hashlib.sha256(data).hexdigest()))


def test_the_untouched_model_loads(model):
    [found] = load(model).predict(DOCUMENTS[:1])
    assert found.text == DOCUMENTS[0].text


@pytest.mark.parametrize("name", ["format", "sha256", "kind", "params", "report", "strongest", "parts"])
def test_a_description_without_a_key(model, name):
    describe(model, lambda description: description.pop(name))
    refused(model)


def test_a_kind_is_not_another(model, tmp_path):
    describe(model, lambda description: description.update(kind="recognizer"))
    refused(model, "damaged")
    describe(model, lambda description: description.update(kind="linker"))
    refused(model, "damaged")
    Recognizer("bio", ["w[0]"], epochs=1).fit(DOCUMENTS).save(tmp_path / "other")
    with pytest.raises(ModelError, match="of kind 'recognizer', expected a cascade"):
        modelfile.load(Cascade, tmp_path / "other")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["strongest"].clear(), "expected one chain for each type"),
        (lambda d: d["strongest"].append(d["strongest"][0]), "the part 'structure2' is missing"),
        (lambda d: d["strongest"].pop(), "'y'"),
        (lambda d: d.update(strongest=[{}, None]), "strongest.1"),
        (lambda d: d["parts"].pop("structure0"), "the part 'structure0' is missing"),
        (lambda d: d["parts"].update(structure1=d["parts"]["structure0"]), "expected one chain for each type"),
        (lambda d: chain(d, 0).update(types=["x", "z"]), "expected float32"),
        (lambda d: chain(d, 0).update(types=[]), "types []"),
        (lambda d: chain(d, 1).update(types=["w"]), "w"),
        (lambda d: chain(d, 0).update(templates=["cascade_0_x[0]"]), "which no earlier chain gives"),
        (lambda d: chain(d, 1).update(templates=["cascade_1_y[0]"]), "which no earlier chain gives"),
        (lambda d: chain(d, 0).update(templates=["w[0"]), "w[0"),
        (lambda d: chain(d, 0).update(penalty=None), "structure0.penalty"),
        (lambda d: chain(d, 0).update(structure="separators"), "a model of structure 'separators', expected bilou"),
        (lambda d: chain(d, 1).update(structure="tree"), "structure"),
        (lambda d: chain(d, 1).update(counting="twice"), "counting 'twice'"),
        (lambda d: d["report"]["chains"].pop("y"), "y"),
        (lambda d: d["report"].update(documents="many"), "documents"),
        (lambda d: d["params"].update(order="alphabet"), "order"),
        (lambda d: d["params"].update(structure="bio"), "structure"),
        (lambda d: d.update(params=[]), "params"),
        (lambda d: d.update(parts=[7]), "stages.0"),
        (lambda d: d["parts"].update(structure0=7), "stages."),
    ],
)
def test_wrong_values_in_the_description(model, change, words):
    describe(model, change)
    refused(model, "damaged", words)


@pytest.mark.parametrize("name", ["weights", "constants", "index.words", "index.slots", "index.group_sizes"])
@pytest.mark.parametrize("chain", ["structure0.", "structure1."])
def test_an_array_of_a_chain_that_is_missing_or_of_another_kind(model, chain, name):
    arrays = load_file(model / "weights.safetensors")
    for change in (None, np.zeros(0, arrays[chain + name].dtype), np.array(1, arrays[chain + name].dtype)):
        weigh(model, {k: v for k, v in {**arrays, chain + name: change}.items() if v is not None})
        refused(model)


def test_rows_beyond_the_weights(model):
    arrays = load_file(model / "weights.safetensors")
    arrays["structure1.index.words"] |= np.uint64(0xFFFFFFFF)
    weigh(model, arrays)
    refused(model, "rows beyond")


def test_numbers_that_are_not_finite(model):
    arrays = load_file(model / "weights.safetensors")
    arrays["structure1.weights"].flat[-1] = np.nan
    weigh(model, arrays)
    refused(model, "structure1.weights", "not finite")


def test_clusters_that_cannot_be_read(model):
    arrays = load_file(model / "weights.safetensors")
    weigh(model, {**arrays, "columns.clusters": np.frombuffer(b'{"a": 7}', np.uint8)})
    refused(model, "damaged")
