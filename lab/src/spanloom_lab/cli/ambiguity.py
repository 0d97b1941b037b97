"""`spanloom lab ambiguity`: how many encodings a structure has, and what is lost when gold structures are read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spanloom.cli.messages import Messages
from spanloom.errors import UsageError, plural
from spanloom.formats import read
from spanloom.structures import READINGS, Structure, structure_of
from spanloom_lab import ReadBack, read_back
from spanloom_lab.canonical import components_held, count_canonical, possible_mentions
from spanloom_lab.reading_back import SUBSETS
from spanloom_lab.transitions import Transition, multiplied, relative_ambiguity, transitions

_COMPONENTS, _LENGTH = 3, 5
_COUNTED = "shared"
_COMPARED = ("seven_tag", "shared", "split")
_SMALL = 16  # states of a matrix that is printed
_LONG = 10**15  # a number from which on its logarithm is clearer
_MOST_BITS = 1024  # of the number of sets of mentions, which is 2 to the power of thousands for a dozen tokens


def run(
    data: str | None,
    structure: list[str] | None,
    components: int | None,
    length: int | None,
    against: str | None,
    input_format: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Count encodings, or read back the mentions of data."""
    most = _COMPONENTS if components is None else components
    if data is not None:
        if length is not None or against is not None:
            raise UsageError("--length and --against count encodings of any text; leave them out, or leave out DATA")
        chosen = {text: structure_of(text, components=most) for text in structure or _COMPARED}
        _compare(data, chosen, most, input_format, as_json, quiet)
        return
    if input_format is not None:
        raise UsageError("--input-format describes DATA, and there is no DATA")
    names = structure or [_COUNTED]
    if len(names) > 1:
        raise UsageError(f"found {len(names)} structures; without DATA give one --structure, and another as --against")
    counted = _Counted.of(structure_of(names[0], components=most), most)
    other = None if against is None else _Counted.of(structure_of(against, components=most), most)
    values = _values(counted, other, _LENGTH if length is None else length)
    print(json.dumps(values) if as_json else "\n".join(_lines(values)))


@dataclass(frozen=True)
class _Counted:
    """A structure with its transitions, for one type."""

    structure: Structure
    components: int
    parts: list[Transition]

    @classmethod
    def of(cls, structure: Structure, components: int) -> _Counted:
        held = components_held(structure, components)
        return cls(structure, held, transitions(structure.template(("mention",))))

    @property
    def exact(self) -> bool:
        """True if sub-hypergraphs are exactly the canonical encodings, False if they are only at least as many."""
        return self.structure.only_canonical

    @property
    def growth(self) -> float:
        return math.prod(part.growth for part in self.parts)


def _values(counted: _Counted, other: _Counted | None, length: int) -> dict[str, Any]:
    bits = [possible_mentions(n, counted.components, counted.structure.heads) for n in range(1, length + 1)]
    found = multiplied(counted.parts, length)
    return {
        "canonical": found if counted.exact else count_canonical(counted.structure, length, counted.components),
        "bound": None if counted.exact else found,
        "combinations": [2**number if number <= _MOST_BITS else None for number in bits],
        "combinations_log2": bits,
        "structure": counted.structure.name,
        "components": counted.components,
        "growth": counted.growth,
        "growth_is": "exact" if counted.exact else "an upper bound",
        "parts": [_part(part) for part in counted.parts],
        "against": None if other is None else _against(counted, other),
    }


def _part(part: Transition) -> dict[str, Any]:
    small = len(part.states) <= _SMALL
    return {
        "states": len(part.states),
        "growth": part.growth,
        "names": [_name(part, state) for state in part.states] if small else None,
        "matrix": part.matrix.tolist() if small else None,
    }


def _name(part: Transition, state: frozenset[str]) -> str:
    return " ".join(kind.strip() for kind in part.kinds if kind in state) or "-"


def _against(counted: _Counted, other: _Counted) -> dict[str, Any]:
    """Of two upper bounds nothing follows, but where it is the same structure."""
    same = counted.structure == other.structure
    known = same or counted.exact or other.exact
    relation = "=" if same or (counted.exact and other.exact) else "at most" if counted.exact else "at least"
    return {
        "structure": other.structure.name,
        "components": other.components,
        "growth": other.growth,
        "growth_is": "exact" if other.exact else "an upper bound",
        "relative_ambiguity": relative_ambiguity(counted.growth, other.growth) if known else None,
        "relation": relation if known else None,
    }


def _lines(values: dict[str, Any]) -> Iterator[str]:
    yield f"{'structure':<22}{values['structure']}"
    yield f"{'components, at most':<22}{values['components']}"
    bound = "" if values["growth_is"] == "exact" else "at most "
    power = f"2^{math.log2(values['growth']):.2f}"
    yield f"{'growth a token':<22}{bound}{values['growth']:,.2f} = {power}"
    other = values["against"]
    if other is not None:
        yield f"{'relative ambiguity':<22}{_relative(other)}"
    yield ""
    yield from _table(values)
    for number, part in enumerate(values["parts"], 1):
        yield ""
        which = f" of part {number}" if len(values["parts"]) > 1 else ""
        yield f"matrix{which}: {plural(part['states'], 'state')}, largest eigenvalue {part['growth']:,.2f}"
        if part["matrix"] is not None:
            yield from _matrix(part["names"], part["matrix"])


def _relative(other: dict[str, Any]) -> str:
    if other["relative_ambiguity"] is None:
        return f"unknown against {other['structure']}: of both only an upper bound of the growth is known"
    return f"{other['relation']} {other['relative_ambiguity']:.3f} against {other['structure']}".removeprefix("= ")


def _table(values: dict[str, Any]) -> Iterator[str]:
    columns = [("tokens", [f"{n:,}" for n in range(1, len(values["canonical"]) + 1)])]
    columns += [("canonical encodings", [_number(n) for n in values["canonical"]])]
    if values["bound"] is not None:
        columns += [("at most", [_number(n) for n in values["bound"]])]
    columns += [("sets of mentions", [f"2^{n:,}" for n in values["combinations_log2"]])]
    yield from _aligned([[title, *cells] for title, cells in columns])


def _number(number: int | None) -> str:
    if number is None:
        return "-"
    return f"{number:,}" if number < _LONG else f"2^{math.log2(number):,.2f}"


def _matrix(names: Sequence[str], matrix: Sequence[Sequence[int]]) -> Iterator[str]:
    width = max(map(len, names)) + 2
    cell = max(len(f"{number:,}") for row in matrix for number in row) + 2
    for name, row in zip(names, matrix, strict=True):
        yield f"{name:<{width}}" + "".join(f"{number:>{cell},}" for number in row)


def _aligned(columns: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        yield "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))


def _compare(
    data: str, structures: Mapping[str, Structure], components: int, input_format: str | None, as_json: bool,
    quiet: bool,
) -> None:  # fmt: skip
    documents = list(read(data, format=input_format))
    results = {text: read_back(documents, structure) for text, structure in structures.items()}
    if as_json:
        found = {name: result.to_dict() for name, result in results.items()}
        print(json.dumps({"components": components, "structures": found}, indent=2))
        return
    log = Messages(quiet)
    print("\n".join(_comparison(results)))
    duplicates = max(result.duplicates for result in results.values())
    if duplicates:
        log(f"repeated mentions counted once: {duplicates:,}")
    for name, result in results.items():
        if result.crowded:
            log(f"{name}: the reading all was cut short {plural(result.crowded, 'time')}: too many mentions")


def _comparison(results: dict[str, ReadBack]) -> Iterator[str]:
    for i, subset in enumerate(SUBSETS):
        if i:
            yield ""
        first = next(iter(results.values())).subsets[subset]
        yield f"{subset} sentences: {first.sentences:,}, with {plural(first.gold, 'mention')}"
        rows = [["", "reading", "precision error", "recall error", "decoded", "lost", "misread"]]
        for reading in reversed(READINGS):
            rows += [_row(name, reading, result, subset) for name, result in results.items()]
        names, readings, *numbers = zip(*rows, strict=True)
        widths = [max(map(len, column)) for column in (names, readings)]
        for name, reading, cells in zip(names, readings, _aligned(numbers), strict=True):
            yield f"{name:<{widths[0]}}  {reading:<{widths[1]}}  {cells}"
        for name, result in results.items():
            for reason, number in result.subsets[subset].lost.items():
                yield f"lost by {name}: {number:,}: {reason}"


def _row(name: str, reading: str, result: ReadBack, subset: str) -> list[str]:
    chosen = result.subsets[subset].to_dict()
    values = chosen["readings"][reading]
    errors = [values["precision_error"], values["recall_error"]]
    return [
        name,
        reading,
        *("-" if error is None else f"{100 * error:.2f} %" for error in errors),
        *(f"{number:,}" for number in (values["decoded"], sum(chosen["lost"].values()), values["misread"])),
    ]
