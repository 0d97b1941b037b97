"""Conjunctions of named values: templates of features of whatever is no token, such as mentions and candidates.

A template is a conjunction of *atoms*, values that are known of what is looked at, in a notation like that of the
templates of tokens (`spanloom.features.template`)::

    template = atom { "|" atom }
    atom     = name [ ":" int ]        the value; of a number at most so much
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hashing import UInt64, mixed

Values = Mapping[str, NDArray[np.generic]]
"""Name -> a number or hash for each of N things."""


class Atom(NamedTuple):
    """A value that a template reads.

    Args:
        name: of the value.
        most: what it counts at most, if it is a number that is cut.
    """

    name: str
    most: int | None


def atoms(template: str) -> list[Atom]:
    """Return the atoms of a template.

    >>> atoms("word[last]|len:5")
    [Atom(name='word[last]', most=None), Atom(name='len', most=5)]
    """
    return [Atom(name, int(most) if most else None) for name, most in map(_split, template.split("|"))]


def _split(atom: str) -> tuple[str, str]:
    name, _, most = atom.rpartition(":")
    return (name, most) if most.isdigit() else (atom, "")


def conjoined(template: str, seed: int, values: Values) -> UInt64:
    """Return the key of a template at each of N things, (N,); never 0.

    >>> own = conjoined("a|b:2", 7, {"a": np.array([1, 1]), "b": np.array([2, 9])})
    >>> bool(own[0] == own[1])
    True
    """

    def column(atom: Atom) -> NDArray[np.generic]:
        return values[atom.name] if atom.most is None else np.minimum(values[atom.name], atom.most)

    return mixed(seed, *map(column, atoms(template)))
