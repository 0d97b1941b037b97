"""Conjunctions of named values: templates of features of whatever is no token, such as mentions and candidates.

A template is a conjunction of *atoms*, values that are known of what is looked at, in a notation like that of the
templates of tokens (`spanloom.features.template`)::

    template = atom { "|" atom }
    atom     = name [ ":" int ]        the value; of a number at most so much
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features.featureset import Keys
from spanloom.hashing import START, UInt64, hash_text, mix, mixed
from spanloom.native import Kernel

_MOST = (1 << 64) - 1
_conjoin = Kernel("conjoin")
Values = Mapping[str, NDArray[np.generic]]
"""Name -> a number or hash for each of N things."""


class ConjunctionProgram(NamedTuple):
    """F compiled templates.

    Args:
        seeds: (F,) the hash of each template.
        ptr: (F + 1,) where the atoms of each begin.
        row: the row of each atom's values.
        most: what each atom's value counts at most.
    """

    seeds: NDArray[np.uint64]
    ptr: NDArray[np.int64]
    row: NDArray[np.int64]
    most: NDArray[np.uint64]


class Atom(NamedTuple):
    """A value that a template reads.

    Args:
        name: of the value.
        most: what it counts at most, if it is a number that is cut.
    """

    name: str
    most: int | None


@lru_cache(maxsize=1024)
def atoms(template: str) -> tuple[Atom, ...]:
    """Return the atoms of a template.

    >>> atoms("word[last]|len:5")
    (Atom(name='word[last]', most=None), Atom(name='len', most=5))
    """
    split = ((atom, *atom.rpartition(":")) for atom in template.split("|"))
    return tuple(Atom(name, int(most)) if most.isdigit() else Atom(atom, None) for atom, name, _, most in split)


def conjoined(template: str, seed: int, values: Values) -> UInt64:
    """Return the key of a template at each of N things, (N,); never 0.

    >>> own = conjoined("a|b:2", 7, {"a": np.array([1, 1]), "b": np.array([2, 9])})
    >>> bool(own[0] == own[1])
    True
    """

    def column(atom: Atom) -> NDArray[np.generic]:
        return values[atom.name] if atom.most is None else np.minimum(values[atom.name], atom.most)

    return mixed(seed, *map(column, atoms(template)))


@dataclass(frozen=True)
class Conjunctions:
    """Templates that are evaluated at once, each with the hash of its own text as seed.

    Args:
        names: of the values that they read.
        program: the templates, compiled.
    """

    names: tuple[str, ...]
    program: ConjunctionProgram

    def keys(self, table: UInt64) -> Keys:
        """Return the keys of the features of N things, in the order of the templates.

        A thing that lacks a value, which is then 0, lacks the features that read it; other keys are those of
        `conjoined`.

        Args:
            table: (V, N) the values, in the order of `names`.
        """
        ids = np.empty(len(self.program.seeds) * table.shape[1], np.uint64)
        offsets = np.empty(table.shape[1] + 1, np.int64)
        return Keys(ids[: _conjoin(self.program, table, ids, offsets)], offsets)


@lru_cache(maxsize=64)
def conjunctions(templates: tuple[str, ...]) -> Conjunctions:
    """Compile templates.

    >>> made, values = conjunctions(("a", "b:2", "a|b")), np.array([[1, 0], [2, 9]], np.uint64)
    >>> keys = made.keys(values)
    >>> by_name = dict(zip(made.names, values))
    >>> keys.offsets.tolist(), keys.ids[2] == conjoined("a|b", hash_text("a|b"), by_name)[0]
    ([0, 3, 4], np.True_)
    """
    parts = [atoms(template) for template in templates]
    names = tuple(dict.fromkeys(atom.name for part in parts for atom in part))
    number = {name: row for row, name in enumerate(names)}
    return Conjunctions(
        names,
        ConjunctionProgram(
            np.array([mix(START, hash_text(template)) for template in templates], np.uint64),
            np.cumsum([0, *map(len, parts)]),
            np.array([number[atom.name] for part in parts for atom in part], np.int64),
            np.array([_MOST if atom.most is None else atom.most for part in parts for atom in part], np.uint64),
        ),
    )
