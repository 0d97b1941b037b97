"""ONNX graphs, read as far as must be known before a library opens one that may be hostile.

A graph can name files to be read beside it, operators of libraries to be loaded, and loops without an end. None of them
is in the graph of an encoder, so they are refused, before ONNX Runtime sees the bytes. For this nothing of ONNX's own
libraries is needed: the format is Protocol Buffers, of which these are the few messages that matter (onnx.proto).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from spanloom.errors import ModelError, clip

Shape = tuple[int | None, ...]
"""The length of each axis, ``None`` for one that differs from call to call."""

IDS: Final = "input_ids"
MASK: Final = "attention_mask"
SCORES: Final = "scores"
_INT64: Final = 7  # of TensorProto.DataType
_FLOAT: Final = 1
_FIELDS: Final = 1 << 20  # of all messages; an encoder of 48 layers has a tenth of it
_NUMBERS: Final = 1 << 29  # of fields, in Protocol Buffers
_DEPTH: Final = 8  # of graphs within graphs
_DOMAINS: Final = frozenset(("", "ai.onnx"))
_ENDLESS: Final = frozenset(("Loop", "Scan"))


@dataclass
class GraphFacts:
    """Facts about a graph.

    Args:
        inputs, outputs: name -> type of its numbers, and shape.
        arrays: name of each array in it -> its shape.
        lookups: names of the arrays whose rows the sub-words choose.
    """

    inputs: dict[str, tuple[int, Shape]] = field(default_factory=dict)
    outputs: dict[str, tuple[int, Shape]] = field(default_factory=dict)
    arrays: dict[str, tuple[int, ...]] = field(default_factory=dict)
    lookups: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int | None:
        """How many sub-words have a row in the graph, where that can be seen."""
        found = [self.arrays[name][0] for name in self.lookups if self.arrays.get(name)]
        return min(found, default=None)

    def check(self, outputs: int) -> None:
        """Check that the graph reads sub-words and gives them scores.

        Args:
            outputs: scores of a sub-word, R * K.

        Raises:
            ModelError: it is that of something else.
        """
        free = (None, None)
        expected: dict[str, tuple[int, Shape]] = {IDS: (_INT64, free), MASK: (_INT64, free)}
        if self.inputs != expected:
            raise _wrong(f"reads {_listed(self.inputs)}, expected {_listed(expected)}")
        expected = {SCORES: (_FLOAT, (*free, outputs))}
        if self.outputs != expected:
            raise _wrong(f"gives {_listed(self.outputs)}, expected {_listed(expected)}")


def check_graph(data: bytes) -> GraphFacts:
    """Return facts about a graph, of which nothing is opened.

    Raises:
        ModelError: the bytes are no graph, or ask for files, for operators of other libraries, or for loops.
    """
    walk = _Walk()
    try:
        walk.model(memoryview(data))
    except (IndexError, ValueError, RecursionError) as error:
        raise _wrong(f"is damaged: {error}") from None
    if not walk.facts.outputs:
        raise _wrong("is damaged: it gives nothing")
    return walk.facts


class _Walk:
    """A walk over the messages of a model; the numbers are those of the fields in onnx.proto."""

    def __init__(self) -> None:
        self.facts = GraphFacts()
        self.left = _FIELDS

    def model(self, data: memoryview) -> None:
        for number, value in self.fields(data):
            if number == 7:
                self.graph(_bytes(value), 0)
            elif number == 20:
                raise _wrong("holds a training, expected an encoder alone")
            elif number == 25:
                raise _wrong("holds functions of its own, expected operators alone")

    def graph(self, data: memoryview, depth: int) -> None:
        if depth > _DEPTH:
            raise ValueError("graphs lie within graphs too deep")
        for number, value in self.fields(data):
            if number == 1:
                self.node(_bytes(value), depth)
            elif number == 5:
                self.tensor(_bytes(value))
            elif number == 15:
                self.sparse(_bytes(value))
            elif depth == 0 and number in (11, 12):
                name, found = self.named(_bytes(value))
                (self.facts.inputs if number == 11 else self.facts.outputs)[name] = found

    def node(self, data: memoryview, depth: int) -> None:
        inputs, operator, domain = [], "", ""
        for number, value in self.fields(data):
            if number == 1:
                inputs.append(_text(value))
            elif number == 4:
                operator = _text(value)
            elif number == 7:
                domain = _text(value)
            elif number == 5:
                self.attribute(_bytes(value), depth)
        if domain not in _DOMAINS:
            raise _wrong(f"has the operator {clip(operator)} of {clip(domain)}, expected those of ONNX itself")
        if operator in _ENDLESS:
            raise _wrong(f"has a {operator}, which may not end; expected none")
        if operator == "Gather" and inputs[1:2] == [IDS]:
            self.facts.lookups.append(inputs[0])

    def attribute(self, data: memoryview, depth: int) -> None:
        inner: dict[int, Callable[[memoryview], None]] = {
            5: self.tensor, 10: self.tensor, 22: self.sparse, 23: self.sparse,
            6: lambda found: self.graph(found, depth + 1), 11: lambda found: self.graph(found, depth + 1),
        }  # fmt: skip
        for number, value in self.fields(data):
            if number in inner:
                inner[number](_bytes(value))

    def sparse(self, data: memoryview) -> None:
        for number, value in self.fields(data):
            if number in (1, 2):
                self.tensor(_bytes(value))

    def tensor(self, data: memoryview) -> None:
        name, shape = "", []
        for number, value in self.fields(data):
            if number == 1:
                shape += [value] if isinstance(value, int) else list(_varints(value))
            elif number == 8:
                name = _text(value)
            elif number == 13 or (number == 14 and value):
                raise _wrong("keeps arrays in files beside it, expected all of them within")
        self.facts.arrays[name] = tuple(shape)

    def named(self, data: memoryview) -> tuple[str, tuple[int, Shape]]:
        """Return the name, the type and the shape of an input or an output."""
        name, kind, shape = "", 0, []
        for number, value in self.fields(data):
            if number == 1:
                name = _text(value)
            elif number == 2:
                for of_type, tensor in self.fields(_bytes(value)):
                    if of_type != 1:
                        raise _wrong(f"has {clip(name)}, which is no array")
                    for of_tensor, found in self.fields(_bytes(tensor)):
                        if of_tensor == 1:
                            kind = _number(found)
                        elif of_tensor == 2:
                            shape += [self.length(_bytes(axis)) for at, axis in self.fields(_bytes(found)) if at == 1]
        return name, (kind, tuple(shape))

    def length(self, data: memoryview) -> int | None:
        """Return the length of an axis."""
        known = [_number(value) for number, value in self.fields(data) if number == 1]
        return known[-1] if known else None

    def fields(self, data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
        """Yield the fields of a message: their numbers, and what they hold."""
        at = 0
        while at < len(data):
            self.left -= 1
            if self.left < 0:
                raise ValueError("it has too many pieces")
            key, at = _varint(data, at)
            number, wire = key >> 3, key & 7
            if not 0 < number < _NUMBERS:  # some readers would look at 32 bits of it only
                raise ValueError(f"a field of number {number}")
            if wire == 0:
                value, at = _varint(data, at)
                yield number, value
                continue
            if wire == 2:
                size, at = _varint(data, at)
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
            else:
                raise ValueError(f"a field of kind {wire}")
            if at + size > len(data):
                raise ValueError("it is cut off")
            yield number, data[at : at + size]
            at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and where it ends."""
    total = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        total |= (byte & 0x7F) << shift
        if byte < 0x80:
            return total, at
    raise ValueError("a number without an end")


def _varints(data: memoryview) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number where a message was expected")
    return value


def _number(value: int | memoryview) -> int:
    if not isinstance(value, int):
        raise ValueError("a message where a number was expected")
    return value


def _text(value: int | memoryview) -> str:
    return str(_bytes(value), "utf-8")


def _listed(named: dict[str, tuple[int, Shape]]) -> str:
    """Return inputs or outputs for a message."""
    kinds = {_INT64: "int64", _FLOAT: "float32"}
    listed = []
    for name, (kind, shape) in named.items():
        lengths = ", ".join("any" if length is None else str(length) for length in shape)
        listed.append(f"{clip(name)} {kinds.get(kind, f'of type {kind}')} ({lengths})")
    return " and ".join(listed) or "nothing"


def _wrong(problem: str) -> ModelError:
    return ModelError(f"the encoder's graph {problem}")
