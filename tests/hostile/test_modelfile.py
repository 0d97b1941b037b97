"""Model folders that are damaged, foreign or made to harm: one line that names the path, and nothing of them is run."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import struct
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from spanloom import modelfile
from spanloom.document import Document, Mention
from spanloom.errors import ModelError
from spanloom.recognize import Recognizer, load

DOCUMENTS = [Document("No chest pain today", mentions=[Mention("x", [(3, 13)]), Mention("y", [(3, 8)])])] * 12


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Folders of two models: with clusters and without."""
    folder = tmp_path_factory.mktemp("models")
    settings = {"epochs": 1, "tune_penalty": False}
    Recognizer(features=["bias", "w[0]", "cluster[0]"], clusters=3, **settings).fit(DOCUMENTS).save(folder / "one")
    Recognizer("bio", ["bias", "low[-1..1]"], **settings).fit(DOCUMENTS).save(folder / "two")
    return folder


@pytest.fixture
def model(originals, tmp_path):
    return Path(shutil.copytree(originals / "one", tmp_path / "model"))


def refused(path, *words):
    for opened in (load, partial(modelfile.load, Recognizer, mapped=True)):
        with pytest.raises(ModelError) as caught:
            opened(path)
        message = str(caught.value)
        assert str(path) in message
        assert "\n" not in message
        assert len(message) < 1000
        for word in words:
            assert word in message


def inside(place, key):
    """What a description has under a name, which may be that of a stage."""
    return place[key] if isinstance(place, dict) else next(stage for stage in place if stage["stage"] == key)


def describe(path, **changes):
    """Changes ``model.json``; dots in a name lead inside."""
    description = json.loads((path / "model.json").read_text())
    for name, value in changes.items():
        *outer, last = name.split("__")
        place = description
        for key in outer:
            place = inside(place, key)
        place[last] = value
    (path / "model.json").write_text(json.dumps(description))


def weigh(path, data):
    """Other weights, with a checksum to match."""
    (path / "weights.safetensors").write_bytes(data)
    describe(path, sha256=hashlib.sha256(data).hexdigest())


def arrays_of(path):
    return load_file(path / "weights.safetensors")


def test_the_untouched_model_loads(model):
    assert load(model).predict(DOCUMENTS[0]).text == "No chest pain today"


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 100, -1, -1000])
def test_truncated_weights(model, keep):
    data = (model / "weights.safetensors").read_bytes()[:keep]
    (model / "weights.safetensors").write_bytes(data)
    refused(model, "weights.safetensors", "checksum")
    weigh(model, data)
    refused(model, "weights.safetensors", "damaged")


@pytest.mark.parametrize("place", [0, 9, -1, -200])
def test_a_changed_byte(model, place):
    data = bytearray((model / "weights.safetensors").read_bytes())
    data[place] ^= 1
    (model / "weights.safetensors").write_bytes(data)
    refused(model, "weights.safetensors", "checksum")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["structure.weights", "structure.index.group_sizes"])
def test_numbers_that_are_not_finite(model, name, value):
    arrays = arrays_of(model)
    arrays[name].flat[-1] = value
    weigh(model, save(arrays))
    refused(model, "weights.safetensors", name, "not finite")


@pytest.mark.parametrize("kind", ["mentions", "answers"])
@pytest.mark.parametrize(
    ("scaling", "word"),
    [
        ('{"slope": NaN, "intercept": 0}', "slope"),
        ('{"slope": 1, "intercept": Infinity}', "intercept"),
        ('{"slope": 0, "intercept": 0}', "slope"),
        ('{"slope": -0.5, "intercept": 0}', "slope"),
        ('{"slope": 1e999, "intercept": 0}', "slope"),
        ('{"slope": "steep", "intercept": 0}', "slope"),
        ("[1, 0]", "scalings"),
        ("null", "scalings"),
    ],
)
def test_a_map_of_probabilities_that_keeps_no_order(model, kind, scaling, word):
    describe(model, stages__structure__scalings={kind: "HERE"})
    text = (model / "model.json").read_text().replace('"HERE"', scaling)
    (model / "model.json").write_text(text)
    refused(model, word)


@pytest.mark.parametrize("penalty", ["NaN", "Infinity", "-Infinity", "1e999", '"much"', "null", "[]"])
def test_a_penalty_that_is_no_number(model, penalty):
    describe(model, stages__structure__penalty="HERE")
    text = (model / "model.json").read_text().replace('"HERE"', penalty)
    (model / "model.json").write_text(text)
    refused(model, "penalty")


@pytest.mark.parametrize("version", [0, 5, True, 999, "1", 1.5, None, [1], {}])
def test_another_format(model, version):
    describe(model, format=version, spanloom="9.9")
    refused(model, "model.json", "format", "9.9")


@pytest.mark.parametrize("kind", ["linker", "", "recognizer\n"])
def test_another_kind(model, kind):
    describe(model, kind=kind)
    refused(model)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"7", b'"text"', b"{}", b'{"kind": 7}', b"\xff\xfe", b"\xef\xbb\xbf{}", b"\x00" * 9,
        b"[" * 100_000, b'{"kind": "recognizer", "format": ' + b"9" * 10_000 + b"}", b'{"kind": "recognizer"}',
    ],
)  # fmt: skip
def test_a_description_that_is_none(model, content):
    (model / "model.json").write_bytes(content)
    refused(model, "model.json")


@pytest.mark.parametrize(
    "change",
    [
        {"params": None},
        {"params": []},
        {"params": {}},
        {"params__structure": "tree"},
        {"params__structure": 7},
        {"params__counting": "twice"},
        {"params__reading": "some"},
        {"params__reading": ["all"]},
        {"params__nonsense": 1},
        {"params__self": 1},
        {"params__epochs": "many"},
        {"params__epochs": 10**30, "params__l2": "x"},
        {"params__n_jobs": "x"},
        {"params__n_jobs": [1]},
        {"params__random_state": -1},
        {"stages__structure__types": []},
        {"stages__structure__types": "xy"},
        {"stages__structure__types": ["x"]},
        {"stages__structure__types": ["x", "y", "z"]},
        {"stages__structure__types": ["x", 7]},
        {"stages__structure__types": ["x", None]},
        {"stages__structure__templates": None},
        {"stages__structure__templates": ["w[0"]},
        {"stages__structure__templates": [["w[0]"]]},
        {"stages__structure__templates": {"w[0]": 1}},
        {"report": None},
        {"report": {}},
        {"report__documents": "x"},
        {"report__history": [[1]]},
        {"strongest": []},
        {"strongest": {"S": [["w", "x"]]}},
        {"strongest": {"S": [[1, 2, 3]]}},
    ],
    ids=str,
)
def test_wrong_values_in_the_description(model, change):
    describe(model, **change)
    refused(model)


@pytest.mark.parametrize("structure", ["shared", "split", "seven_tag"])
@pytest.mark.parametrize("components", [0, -1, 2, 21, 10**9, 2**70, "many", None, 2.5])
def test_components_that_cannot_be_or_do_not_fit(model, structure, components):
    """Refused before a template of a billion nodes is made."""
    params = json.loads((model / "model.json").read_text())["params"]
    describe(model, params={**params, "structure": structure, "components": components})
    refused(model)


@pytest.mark.parametrize(
    "name",
    [
        "kind", "format", "sha256", "params", "stages", "report", "strongest", "stages__structure__stage",
        "stages__structure__types", "stages__structure__templates", "stages__structure__penalty",
        "stages__structure__structure", "stages__structure__counting", "stages__structure__parts",
        "stages__structure__parts__index",
    ],
)  # fmt: skip
def test_a_description_without_a_key(model, name):
    description = json.loads((model / "model.json").read_text())
    *outer, last = name.split("__")
    place = description
    for key in outer:
        place = inside(place, key)
    del place[last]
    (model / "model.json").write_text(json.dumps(description))
    refused(model)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda stages: stages[::-1], "expected each once, in the order profile, tagger"),
        (lambda stages: [stages[0], *stages], "found the stages 'profile, profile, columns, structure, overlaps'"),
        (
            lambda stages: [*stages, {"stage": "epilogue"}],
            "found the stage 'epilogue', which a Recognizer does not have",
        ),
        (lambda stages: [*stages, {"stage": "link"}], "found the stage 'link', which a Recognizer does not have"),
        (lambda stages: [{"stage": "x" * 10_000}], "found the stage 'xxx"),
        (lambda stages: [*stages, {"stage": "../x"}], "found the stage '../x', expected a name such as profile"),
        (lambda stages: [{**stages[0], "stage": 7}, *stages[1:]], "stages.0.stage: found '7', expected text"),
        (lambda stages: [{**stages[0], "stage": ["profile"]}, *stages[1:]], "stages.0.stage"),
        (lambda stages: [*stages, 7], "stages.4: found '7', expected an object"),
        (lambda stages: {stage["stage"]: stage for stage in stages}, "expected a list"),
        (lambda stages: "profile", "stages: found"),
        (lambda stages: [], "the part 'structure' is missing"),
        (lambda stages: [stages[0], stages[1], stages[3]], "the part 'structure' is missing"),
        (lambda stages: [stages[0], stages[2], stages[3]], "needs word clusters"),
    ],
)
def test_stages_that_are_not_those_of_a_model(model, change, words):
    describe(model, stages=change(json.loads((model / "model.json").read_text())["stages"]))
    refused(model, "damaged", words)


@pytest.mark.parametrize("name", ["weights", "constants", "index.words", "index.slots", "index.group_sizes"])
def test_an_array_that_is_missing_or_of_another_kind(model, name):
    name = f"structure.{name}"
    arrays = arrays_of(model)
    changes = [
        None,
        arrays[name].reshape(-1)[:-1] if arrays[name].size else np.zeros((1, 1), np.float32),
        np.zeros(0, arrays[name].dtype),
        arrays[name][None],
        arrays[name].astype(np.float64 if arrays[name].dtype == np.float32 else np.int32),
        np.array(1, arrays[name].dtype),
    ]
    for change in changes:
        if change is not None and (change.shape, change.dtype) == (arrays[name].shape, arrays[name].dtype):
            continue
        weigh(model, save({k: v for k, v in {**arrays, name: change}.items() if v is not None}))
        refused(model)


def test_rows_beyond_the_weights(model):
    """A look-up that trusted these would read memory that is not its own."""
    arrays = arrays_of(model)
    arrays["structure.index.words"] |= np.uint64(0xFFFFFFFF)
    weigh(model, save(arrays))
    refused(model, "rows beyond")


def test_a_table_of_words_without_rows(model):
    arrays = arrays_of(model)
    arrays["structure.index.words"] &= np.uint64(0xFFFFFFFF00000000)
    weigh(model, save(arrays))
    refused(model)


def test_group_sizes_that_are_none(model):
    for value in (0, -3, 0.5):
        arrays = arrays_of(model)
        arrays["structure.index.group_sizes"][:] = value
        weigh(model, save(arrays))
        refused(model, "group sizes")


@pytest.mark.parametrize(
    "clusters",
    [b"", b"\xff", b"{", b"[]", b"null", b'{"a": 7}', b'{"a": null}', b'{"a": ["0"]}', b"word\t01\n"],
)
def test_clusters_that_cannot_be_read(model, clusters):
    weigh(model, save({**arrays_of(model), "columns.clusters": np.frombuffer(clusters, np.uint8).copy()}))
    refused(model)


@pytest.mark.parametrize("counts", [[], [1], [0], [-1]])
def test_counts_of_clusters_that_are_none(model, counts):
    size = len(arrays_of(model)["columns.counts"])
    numbers = np.resize(np.array(counts, np.int64), size if counts and counts[0] < 1 else len(counts))
    weigh(model, save({**arrays_of(model), "columns.counts": numbers}))
    refused(model)


@pytest.mark.parametrize("letters", [b"", b"[]", b'{"shape": 7}', b'{"shape": {"x": 7}}', b'{"colour": {"x": "0"}}'])
def test_letters_that_cannot_be_read(model, letters):
    weigh(model, save({**arrays_of(model), "columns.letters": np.frombuffer(letters, np.uint8).copy()}))
    refused(model)


def test_templates_that_need_what_is_not_there(model):
    arrays = arrays_of(model)
    del arrays["columns.clusters"]
    weigh(model, save(arrays))
    refused(model, "needs word clusters")


def test_weights_of_another_model(model, originals):
    other = (originals / "two" / "weights.safetensors").read_bytes()
    (model / "weights.safetensors").write_bytes(other)
    refused(model, "of another model")
    weigh(model, other)
    refused(model)


@pytest.mark.parametrize("missing", ["model.json", "weights.safetensors"])
@pytest.mark.parametrize("instead", ["nothing", "folder", "broken link"])
def test_a_file_that_is_not_there(model, missing, instead):
    (model / missing).unlink()
    if instead == "folder":
        (model / missing).mkdir()
    elif instead == "broken link":
        (model / missing).symlink_to(model / "nowhere")
    refused(model, missing)


def test_no_folder_at_all(tmp_path):
    refused(tmp_path / "none", "model.json is missing")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "model.json is missing")
    (tmp_path / "file").write_text("{}")
    refused(tmp_path / "file")


class Trap:
    """What a pickle would run."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


@pytest.mark.parametrize("name", ["model.json", "weights.safetensors"])
def test_a_pickle_is_never_opened(model, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(Trap())
    if name == "model.json":
        (model / name).write_bytes(data)
    else:
        weigh(model, data)
    refused(model, name)
    assert not Path("trapped").exists()


def header(entries, body=b""):
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + body


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2**40) + b"{}",
        header({"weights": {"dtype": "F32", "shape": [2**40, 2**20], "data_offsets": [0, 4]}}, b"\0" * 4),
        header({"weights": {"dtype": "F32", "shape": [2**62, 8], "data_offsets": [0, 0]}}),
        header({"weights": {"dtype": "F32", "shape": [1], "data_offsets": [0, 2**50]}}, b"\0" * 4),
        header({"weights": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, b"\0" * 4),
        header({"weights": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, b"\0" * 4),
        header({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                "b": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}, b"\0" * 4),
        header({"weights": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}, b"\0" * 4),
        header({"weights": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}}, b"\0" * 4),
        header({"weights": {"dtype": "OBJECT", "shape": [1], "data_offsets": [0, 8]}}, b"\0" * 8),
        header({}),
        header([]),
    ],
    ids=["endless header", "long header", "huge", "overflow", "beyond the end", "negative", "backwards", "shared bytes",
         "bfloat16", "eight bits", "object", "empty", "a list"],
)  # fmt: skip
def test_headers_made_to_harm(model, data):
    weigh(model, data)
    refused(model)


def test_names_that_are_paths(model):
    weigh(model, save({**arrays_of(model), "../../escape": np.zeros(1, np.float32)}))
    assert load(model).types_ == ("x", "y")  # arrays of other names are not looked at
    assert sorted(path.name for path in model.parent.iterdir()) == ["model"]


@pytest.mark.skipif(os.name != "posix", reason="a read-only folder of Unix")
def test_a_folder_that_may_not_be_read(model):
    (model / "model.json").chmod(0)
    if os.access(model / "model.json", os.R_OK):
        pytest.skip("this user may read everything")
    refused(model, "model.json", "cannot be read")
