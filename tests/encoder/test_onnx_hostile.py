"""Graphs that are damaged, of something else, or made to harm: each refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import spanloom
from spanloom import Document, Recognizer
from spanloom.errors import ModelError
from spanloom.modelfile import ModelPart
from spanloom.recognize import to_onnx
from spanloom.scoring.onnx.graph import check_graph

Graph = onnx.ModelProto
Change = Callable[[Graph], object]


@pytest.fixture(scope="module")
def model(folder: Path, notes: list[Document]) -> Recognizer:
    return to_onnx(Recognizer(encoder=folder, encoder_epochs=1, precision="float32").fit(notes, dev=notes[:5]))


def elsewhere(tensor: TensorProto) -> TensorProto:
    """An array that lies in a file, such as one that is none of the model's business."""
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../etc/passwd")
    return tensor


def some(name: str = "some") -> TensorProto:
    return numpy_helper.from_array(np.zeros(3, np.float32), name)


def added(*nodes: onnx.NodeProto) -> Change:
    return lambda graph: graph.graph.node.extend(nodes)


def constant(tensor: TensorProto) -> onnx.NodeProto:
    return helper.make_node("Constant", [], ["more"], value=tensor)


def inner(node: onnx.NodeProto) -> onnx.NodeProto:
    """A node in a branch of another one."""
    branch = helper.make_graph([node], "branch", [], [helper.make_tensor_value_info("more", 1, [3])])
    return helper.make_node("If", ["input_ids"], ["all"], then_branch=branch, else_branch=branch)


def sparse(tensor: TensorProto) -> Change:
    values = onnx.SparseTensorProto(values=tensor, dims=[3])
    return lambda graph: graph.graph.sparse_initializer.append(values)


def renamed(graph: Graph) -> None:
    graph.graph.input[0].name = "words"
    for node in graph.graph.node:
        node.input[:] = ["words" if name == "input_ids" else name for name in node.input]


def fixed(graph: Graph) -> None:
    graph.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1


def floating(graph: Graph) -> None:
    graph.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT


def wider(graph: Graph) -> None:
    graph.graph.output[0].type.tensor_type.shape.dim[2].dim_value += 1


HOSTILE: dict[str, tuple[Change, str]] = {
    "a file for an array": (lambda graph: elsewhere(graph.graph.initializer[0]), "keeps arrays in files beside it"),
    "a file for a constant": (added(constant(elsewhere(some()))), "keeps arrays in files beside it"),
    "a file in a branch": (added(inner(constant(elsewhere(some())))), "keeps arrays in files beside it"),
    "a file for a sparse array": (sparse(elsewhere(some())), "keeps arrays in files beside it"),
    "a library's operator": (
        added(helper.make_node("Steal", [], ["more"], domain="evil.ops")),
        "has the operator 'Steal' of 'evil.ops'",
    ),
    "a library's operator in a branch": (
        added(inner(helper.make_node("Steal", [], ["more"], domain="evil.ops"))),
        "has the operator 'Steal' of 'evil.ops'",
    ),
    "a file of another kind": (
        added(helper.make_node("EPContext", [], ["more"], domain="com.microsoft")),
        "has the operator 'EPContext' of 'com.microsoft'",
    ),
    "a loop": (added(helper.make_node("Loop", [], ["more"])), "has a Loop, which may not end"),
    "functions": (
        lambda graph: graph.functions.append(
            helper.make_function("evil", "f", [], ["more"], [], [helper.make_opsetid("", 20)])
        ),
        "holds functions of its own",
    ),
    "a training": (lambda graph: graph.training_info.add(), "holds a training"),
    "another input": (renamed, "reads 'words' int64 .any, any. and 'attention_mask'"),
    "one input": (lambda graph: graph.graph.input.pop(), "reads 'input_ids' int64 .any, any., expected 'input_ids'"),
    "one window at a time": (fixed, r"reads 'input_ids' int64 .1, any. and"),
    "an input of another type": (floating, "reads 'input_ids' float32"),
    "more scores": (wider, r"gives 'scores' float32 .any, any, \d+., expected 'scores'"),
    "nothing": (lambda graph: graph.graph.ClearField("output"), "it gives nothing"),
    "an operator that is none": (added(helper.make_node("Steal", [], ["more"])), "cannot be opened"),
    "a product of nothing": (added(helper.make_node("MatMul", ["absent", "a"], ["more"])), "cannot be opened"),
}


def stored(model: Recognizer, path: Path, graph: bytes | None = None, **changed: object) -> Path:
    """Save a model with another graph, or with other values of its part."""
    whole = model.to_part()
    inner, part = whole.parts["structure"], model.fitted.scorer.to_part()
    arrays = dict(part.arrays)
    if graph is not None:
        arrays["graph"] = np.frombuffer(graph, np.uint8)
    values = {key: value for key, value in (part.values | changed).items() if key not in part.arrays}
    arrays |= {key: value for key, value in changed.items() if key in arrays}  # type: ignore[misc]
    parts = {**whole.parts, "structure": ModelPart(inner.values, inner.arrays, {"onnx": ModelPart(values, arrays)})}
    spanloom.modelfile.write(path, "recognizer", ModelPart(whole.values, whole.arrays, parts))
    return path


def refused(path: Path, words: str) -> None:
    with pytest.raises(ModelError, match=words) as error:
        spanloom.load(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_graph_is_refused(case: str, model: Recognizer, tmp_path: Path) -> None:
    change, words = HOSTILE[case]
    graph = onnx.load_from_string(model.fitted.scorer.runtime.graph)
    change(graph)
    refused(stored(model, tmp_path / "model", graph.SerializeToString()), words)


@pytest.mark.parametrize("keep", [0, 1, 10, 1000, -1, -1000])
def test_a_graph_that_is_cut_off(keep: int, model: Recognizer, tmp_path: Path) -> None:
    refused(stored(model, tmp_path / "model", model.fitted.scorer.runtime.graph[:keep]), "damaged|cannot be opened")


@pytest.mark.parametrize(
    "data",
    [
        b"\xff" * 100,  # a number without an end
        b"\x3a\xff\xff\xff\xff\x0f",  # longer than there are bytes
        b"\x38\x01",  # a number in the graph's place
        b"\x3b\x3c",  # a group, which ONNX has none of
        b"\xfa\xff\xff\xff\xff\x01\x00",  # a field whose number has more than 29 bits
        b"\x02\x00",  # field 0
        b"\x3a\x02\x0a\x02",  # a node that is cut off
        b"\x3a\x04\x0a\x02\x22\xff",
        b"\x3a\x05\x0a\x03\x22\x01\xff",  # an operator that is not UTF-8
        b"\x08\x01" * (1 << 20) + b"\x08\x01",  # too many pieces
        b"PK\x03\x04 a zip",
    ],
)  # fmt: skip
def test_bytes_that_are_no_graph(data: bytes) -> None:
    with pytest.raises(ModelError, match="the encoder's graph is damaged"):
        check_graph(data)


def test_graphs_within_graphs_without_an_end() -> None:
    graph = b""
    for _ in range(2000):
        for key in (b"\x32", b"\x2a", b"\x0a"):  # an attribute's graph, a node's attribute, a graph's node
            size, length = len(graph), b""
            while size >= 0x80:
                length += bytes([size & 0x7F | 0x80])
                size >>= 7
            graph = key + length + bytes([size]) + graph
    with pytest.raises(ModelError, match="the encoder's graph"):
        check_graph(graph)


def test_changed_bytes_are_told_or_do_no_harm(model: Recognizer) -> None:
    graph = model.fitted.scorer.runtime.graph
    chance = np.random.default_rng(0)
    for place, value in zip(chance.integers(0, len(graph), 300), chance.integers(0, 256, 300), strict=True):
        changed = bytearray(graph)
        changed[place] = value
        try:
            check_graph(bytes(changed)).check(model.fitted.scorer.bias.size)
        except ModelError as error:
            assert "\n" not in str(error)


OTHER: dict[str, tuple[dict[str, object], str]] = {
    "a pooling that is none": ({"pooling": "max"}, "pooling"),
    "a window of nothing": ({"window": 0}, "window"),
    "a padding below zero": ({"padding": -1}, "padding"),
    "a padding of many digits": ({"padding": 10**30}, "padding"),
    "a padding that the encoder lacks": ({"padding": 93}, "padding is sub-word 93, but the encoder has 93"),
    "a window of a billion": ({"window": 10**9}, "window"),
    "no width": ({"width": 0}, "width"),
    "another precision": ({"precision": "int4"}, "precision"),
    "fewer biases": ({"head.bias": np.zeros(2, np.float32)}, "head.bias"),
    "biases that are not finite": ({"head.bias": np.full(2, np.nan, np.float32)}, "not finite"),
    "a tokenizer that is none": ({"tokenizer": np.zeros(3, np.uint8)}, "tokenizer"),
    "a graph of numbers": ({"graph": np.zeros(3, np.float32)}, "graph"),
}


@pytest.mark.parametrize("case", OTHER)
def test_a_tampered_part_of_a_graph_is_refused(case: str, model: Recognizer, tmp_path: Path) -> None:
    changed, words = OTHER[case]
    refused(stored(model, tmp_path / "model", **changed), words)


def resized(graph: Graph, rows: int) -> bytes:
    """Return a graph whose table of sub-words has fewer rows."""
    for array in graph.graph.initializer:
        if "word_embeddings" in array.name:
            array.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(array)[:rows], array.name))
    return graph.SerializeToString()


def test_a_tokenizer_of_another_encoder(model: Recognizer, tmp_path: Path) -> None:
    graph = onnx.load_from_string(model.fitted.scorer.runtime.graph)
    refused(stored(model, tmp_path / "model", resized(graph, 5)), "the tokenizer knows 93 sub-words, the encoder 5")


def test_what_shows_only_when_it_is_computed(model: Recognizer, tmp_path: Path) -> None:
    graph = onnx.load_from_string(model.fitted.scorer.runtime.graph)
    for array in graph.graph.initializer:
        values = numpy_helper.to_array(array)
        if "LayerNorm.weight" in array.name:
            array.CopyFrom(numpy_helper.from_array(np.full_like(values, np.nan), array.name))
    other = spanloom.load(stored(model, tmp_path / "nan", graph.SerializeToString()))
    with pytest.raises(ModelError, match="the encoder gives scores from nan"):
        other.predict("no chest pain .")
    other = spanloom.load(stored(model, tmp_path / "window", window=1000))
    with pytest.raises(ModelError, match="the encoder's graph cannot be computed"):
        other.predict("chest " * 900)


def test_a_graph_that_says_what_it_does_not_give(model: Recognizer, tmp_path: Path) -> None:
    graph = onnx.load_from_string(model.fitted.scorer.runtime.graph)
    graph.graph.output[0].name = "scores_"
    [last] = (node for node in graph.graph.node if "scores" in node.output)
    last.output[0] = "scores_"
    graph.graph.node.append(helper.make_node("Concat", ["scores_", "scores_"], ["scores"], axis=1))
    graph.graph.output[0].name = "scores"
    other = spanloom.load(stored(model, tmp_path / "model", graph.SerializeToString()))
    with pytest.raises(ModelError, match=r"gives scores of shape .*, expected"):
        other.predict("no chest pain .")
