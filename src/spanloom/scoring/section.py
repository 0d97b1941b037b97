"""Some of the roles of another scorer, which has the scores of several structures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.hypergraph import Potentials, Template
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring.base import Named, Part, Scorer


class Section(NamedTuple):
    """The place of a structure's scores among those of several.

    Args:
        roles: of its roles.
        constants: of its constants.
    """

    roles: slice
    constants: slice

    def of(self, potentials: Potentials) -> Potentials:
        """Return the structure's own potentials."""
        return Potentials(np.ascontiguousarray(potentials.roles[:, self.roles]), potentials.constants[self.constants])


class SideBySide(NamedTuple):
    """The roles and constants of several structures, one structure after the other.

    Args:
        roles: the R axis.
        constants: the C axis.
    """

    roles: tuple[str, ...]
    constants: tuple[str, ...]

    @classmethod
    def of(cls, templates: Sequence[Template]) -> SideBySide:
        """From the structures' templates."""
        return cls(
            tuple(role for template in templates for role in template.roles),
            tuple(name for template in templates for name in template.constants),
        )


def sections_of(templates: Sequence[Template]) -> list[Section]:
    """Return the places of the scores of each of some structures.

    >>> from spanloom.structures import STRUCTURES
    >>> chain = STRUCTURES["bio"].template(["x"])
    >>> one, two = sections_of([chain, chain])
    >>> len(SideBySide.of([chain, chain]).roles) == two.roles.stop == 2 * one.roles.stop
    True
    """
    found, r, c = [], 0, 0
    for template in templates:
        roles, constants = len(template.roles), len(template.constants)
        found.append(Section(slice(r, r + roles), slice(c, c + constants)))
        r, c = r + roles, c + constants
    return found


@dataclass(frozen=True)
class SectionScorer:
    """A scorer of one structure that is a section of a scorer of several.

    Args:
        whole: of all of them.
        section: of this one.
    """

    whole: Scorer
    section: Section

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that documents must bring."""
        return self.whole.needs

    def prepare(self, batch: Batch) -> Batch:
        """Return the batch with all columns that can be computed."""
        return self.whole.prepare(batch)

    def score(self, batch: Batch, run: Executor = SERIAL) -> Potentials:
        """Return the potentials of a batch."""
        return self.section.of(self.whole.score(batch, run))

    def describe(self) -> dict[str, Any]:
        """Describe the scorer that it is a section of."""
        return self.whole.describe()

    def named(self, document: Document, token: int) -> Named:
        """Return what is seen of a token."""
        return _NamedSection(self.whole.named(document, token), self.section.roles.start)


class _NamedSection(NamedTuple):
    whole: Named
    first: int

    def parts(self, role: int, kind: int, factor: float = 1.0) -> list[Part]:
        """See `spanloom.scoring.base.Named`."""
        return self.whole.parts(self.first + role, kind, factor)
