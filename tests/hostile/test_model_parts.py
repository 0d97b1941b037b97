"""Parts within parts of a model file: missing, swapped, of another type, or more than there are."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save
from staged import as_stages, as_tree, refused

from spanloom.document import Document, Mention
from spanloom.errors import ModelError
from spanloom.formats import to_record
from spanloom.link import Linker
from spanloom.modelfile import ModelPart
from spanloom.models import load
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.vocabulary import Concept, Vocabulary
from spanloom_lab import Cascade
from spanloom_lab.lm.language_model import LanguageModel

Values = dict[str, Any]
Arrays = dict[str, np.ndarray]
NOTE = Document(
    "no chest pain",
    tokens=[(0, 2), (3, 8), (9, 13)],
    columns={"pos": ["DT", "NN", "NN"]},
    mentions=[Mention("x", [(3, 13)], concepts=["1"]), Mention("y", [(3, 8)], concepts=["2"])],
)
CHINESE = Document("无关节疼痛", tokens=[[0, 1], [1, 3], [3, 5]], mentions=[Mention("x", [(1, 5)])])
NAMES = Vocabulary.build([Concept("1", "chest pain"), Concept("2", "chest")])
FEATURES = ["w[0]", "pos[0]", "cluster[0]"]
SETTINGS: dict[str, Any] = {"features": FEATURES, "clusters": 2, "epochs": 1}
KINDS: dict[str, Callable[[], Any]] = {
    "recognizer": lambda: Recognizer(**SETTINGS).fit([NOTE] * 20),
    "cascade": lambda: Cascade(**SETTINGS).fit([NOTE] * 20),
    "linker": lambda: Linker(
        FEATURES, clusters=2, iterations=1, folds=2, language_model=LanguageModel.train([NOTE])
    ).fit([NOTE] * 20, vocabulary=NAMES),
    "segmenter": lambda: Segmenter("incremental", ["w[0]"], epochs=1).fit([CHINESE] * 20),
}  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / request.param
    KINDS[request.param]().save(folder)
    return folder


def read_model(path: Path) -> tuple[Values, Arrays]:
    return as_tree(json.loads((path / "model.json").read_text())), load_file(path / "weights.safetensors")


def put(original: Path, path: Path, values: Values, arrays: Arrays) -> Path:
    """A model with other values and arrays, and a checksum to match."""
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(original, path)
    data = save(arrays)
    (path / "weights.safetensors").write_bytes(data)
    (path / "model.json").write_text(json.dumps(as_stages({**values, "sha256": hashlib.sha256(data).hexdigest()})))
    return path


def places(values: Values, *outer: str) -> Iterator[tuple[str, ...]]:
    """The names of all parts, of each with those it stands in."""
    for name, inner in values.get("parts", {}).items():
        yield (*outer, name)
        yield from places(inner, *outer, name)


def beside(values: Values, place: tuple[str, ...]) -> Values:
    """The parts among which one stands."""
    for name in place[:-1]:
        values = values["parts"][name]
    parts: Values = values["parts"]
    return parts


def test_all_kinds_have_parts_and_most_have_parts_in_parts(original: Path) -> None:
    depths = [len(place) for place in places(read_model(original)[0])]
    assert max(depths) >= (2 if original.name == "segmenter" else 3)


def test_a_part_that_is_missing_is_named(original: Path, tmp_path: Path) -> None:
    values, arrays = read_model(original)
    for place in places(values):
        changed = copy.deepcopy(values)
        del beside(changed, place)[place[-1]]
        path = put(original, tmp_path / "model", changed, arrays)
        if place in OPTIONAL.get(original.name, ()):  # a sound model, which only says other things
            load(path)
        else:
            assert place[-1] in refused(path) or place[0] in NEEDED


# parts without which there still is a model: a tagger, a language model, rules of overlap, a profile of training text
OPTIONAL: dict[str, tuple[tuple[str, ...], ...]] = {
    "recognizer": (("tagger",), ("overlaps",), ("profile",)),
    "cascade": (("tagger",), ("profile",)),
    "linker": (("tagger",), ("link", "language"), ("profile",)),
    "segmenter": (("profile",),),
}
NEEDED = ("columns", "structure0", "structure1", "structure2")  # a template, or the method, says that it is


@pytest.mark.parametrize("value", [None, 7, "x", [], [[]], True, 1.5])
def test_a_part_of_another_type(original: Path, tmp_path: Path, value: Any) -> None:
    values, arrays = read_model(original)
    for place in places(values):
        changed = copy.deepcopy(values)
        beside(changed, place)[place[-1]] = value
        refused(put(original, tmp_path / "model", changed, arrays))
        changed = copy.deepcopy(values)
        beside(changed, place)[place[-1]]["parts"] = value
        refused(put(original, tmp_path / "model", changed, arrays))


def test_a_part_without_its_values_or_its_arrays(original: Path, tmp_path: Path) -> None:
    values, arrays = read_model(original)
    for place in places(values):
        name, changed = ".".join(place) + ".", copy.deepcopy(values)
        own = beside(changed, place)
        said = {key for key in own[place[-1]] if key != "parts"}
        own[place[-1]] = {key: value for key, value in own[place[-1]].items() if key == "parts"}
        if said and place[-1] not in ("language", "vocabulary"):  # what these say stands in their arrays, too
            refused(put(original, tmp_path / "model", changed, arrays))
        without = {key: array for key, array in arrays.items() if not key.startswith(name)}
        if len(without) < len(arrays) and place != ("link", "finder"):  # an index without arrays is made again
            refused(put(original, tmp_path / "model", values, without))


def test_parts_that_are_swapped(original: Path, tmp_path: Path) -> None:
    """Each with each that stands beside it; what is read all the same predicts."""
    values, arrays = read_model(original)
    outcomes = set()
    for place in places(values):
        for other in beside(values, place):
            if other <= place[-1]:
                continue
            changed = copy.deepcopy(values)
            own = beside(changed, place)
            own[place[-1]], own[other] = own[other], own[place[-1]]
            first, second = (".".join((*place[:-1], name)) + "." for name in (place[-1], other))
            swapped = {_renamed(name, first, second): array for name, array in arrays.items()}
            path = put(original, tmp_path / "model", changed, swapped)
            try:
                model = load(path)
            except ModelError as error:
                assert "\n" not in str(error)
                outcomes.add("refused")
            else:
                model.predict(["no chest pain", "无关节疼痛"])
                outcomes.add("used")
    assert "refused" in outcomes


def _renamed(name: str, first: str, second: str) -> str:
    if name.startswith(first):
        return second + name.removeprefix(first)
    return first + name.removeprefix(second) if name.startswith(second) else name


def test_arrays_of_one_part_in_another(original: Path, tmp_path: Path) -> None:
    values, arrays = read_model(original)
    optional = {"link.language.ptr3"}  # without it there is a whole language model of order 2
    optional |= {name for name in arrays if name.endswith(("columns.counts", "columns.letters"))}  # older files
    for name in sorted(arrays.keys() - optional):
        part, _, last = name.rpartition(".")
        moved = {(last if key == name and part else f"x.{key}" if key == name else key): a for key, a in arrays.items()}
        refused(put(original, tmp_path / "model", values, moved))


def test_more_parts_and_arrays_than_there_are_do_no_harm(original: Path, tmp_path: Path) -> None:
    values, arrays = read_model(original)
    wanted = [to_record(document) for document in load(original).predict(["no chest pain", "无关节疼痛"])]
    for place in places(values):
        changed = copy.deepcopy(values)
        inner = beside(changed, place)[place[-1]]
        inner.setdefault("parts", {})["zz"] = {"parts": {"a.b": {}, "": {}}, "zz": 1}
        name = ".".join(place)
        more = {f"{name}.zz.a.b.c": np.zeros(1), f"{name}.zz..": np.zeros(0), "zz": np.zeros(2, np.int8)}
        try:
            model = load(put(original, tmp_path / "model", changed, {**arrays, **more}))
        except ModelError as error:
            assert original.name == "segmenter" and "chains of" in str(error)  # its chains are what its parts are
        else:
            assert [to_record(document) for document in model.predict(["no chest pain", "无关节疼痛"])] == wanted


def test_parts_without_an_end(original: Path, tmp_path: Path) -> None:
    """Deeper than any stack."""
    values, arrays = read_model(original)
    path = put(original, tmp_path / "model", values, arrays)
    said = (path / "model.json").read_text().rstrip().removesuffix("}").rstrip()
    deep = '{"parts": {"a": ' * 30_000 + "{}" + "}}" * 30_000
    (path / "model.json").write_text(said.replace('"parts": {', f'"parts": {{"deep": {deep}, ', 1) + "}")
    refused(path)


@pytest.mark.parametrize("number", [5, 10**9])
def test_a_newer_format_needs_a_newer_spanloom(original: Path, tmp_path: Path, number: int) -> None:
    values, arrays = read_model(original)
    path = put(original, tmp_path / "model", {**values, "format": number}, arrays)
    assert "reads formats 1 to 4: update Spanloom" in refused(path)


def test_a_part_is_what_its_json_and_its_arrays_say() -> None:
    leaf = ModelPart({"b": [1]}, {"one.two": np.arange(3)})
    whole = ModelPart({"a": "x"}, {"top": np.zeros(1)}, {"inner": ModelPart(parts={"leaf": leaf})})
    assert list(whole.flat()) == ["top", "inner.leaf.one.two"]
    again = ModelPart.of(json.loads(json.dumps(whole.json())), whole.flat())
    assert again.json() == whole.json()
    assert again.part("inner").part("leaf").array("one.two", np.int64, None).tolist() == [0, 1, 2]
    for wrong in ((np.int32, None), (np.int64, 4), (np.int64,), (np.int64, None, None)):
        with pytest.raises(ModelError, match=r"'inner.leaf.one.two' is int64 of shape \(3,\), expected"):
            again.part("inner").part("leaf").array("one.two", *wrong)
    with pytest.raises(ModelError, match=r"'inner\.leaf\.other' is missing"):
        again.part("inner").part("leaf").array("other", np.int64, None)
    with pytest.raises(ModelError, match=r"the part 'inner\.twig' is missing"):
        again.part("inner").part("twig")


def test_more_types_than_weights_are_refused_before_a_template_is_made_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Recognizer("bilou", ["bias"], epochs=1).fit([NOTE] * 20).save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    said = json.loads(file.read_text())
    [structure] = (stage for stage in said["stages"] if stage["stage"] == "structure")
    structure["types"] *= 20
    file.write_text(json.dumps(said))
    monkeypatch.setattr("spanloom.structures.chain.Chain.template", None)
    with pytest.raises(ModelError, match=r"damaged: 40 types, but weights of shape \(9, 1\) for each feature"):
        load(tmp_path / "model")
