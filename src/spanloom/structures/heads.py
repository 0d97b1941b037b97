"""The mention hypergraph with heads of Lu and Roth (2015), section 3.6.

The mention hypergraph's node I becomes three: ``IB`` for mentions that have this token before their head, ``IW``
within it, ``IA`` after it. A mention enters at IB, or at IW if it begins with its head; it ends at IW or at IA. The
paper names the nodes but not the hyperedges; here there is one for each combination of possible events.

A hyperedge's roles are its events: ``S`` a mention starts at this token, ``H`` with its head. ``CB`` it continues
before its head, ``HB`` its head begins at the next token; ``CW`` the head continues, ``HA`` the head ends here and the
mention continues, ``EW`` both end here; ``CA`` the mention continues after its head, ``EA`` it ends. Roles that the
parts share, such as one for every end, changed F1 on parts of GUM by 0.5 at most, in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spanloom.hypergraph import Ints
from spanloom.structures.base import GAP, MentionTable
from spanloom.structures.strands.pieces import ADVANCE, END, STAY, StrandPieces
from spanloom.structures.strands.reading import FoundPaths
from spanloom.structures.strands.structure import Shape, Stranded

NO_HEAD_GIVEN = "it has no head"
OUTSIDE = "its head is not within it"

_BEFORE, _WITHIN, _AFTER = range(3)
_SHAPE = Shape(
    suffix="",
    nodes=("IB", "IW", "IA"),
    enters={_BEFORE: ("S",), _WITHIN: ("S", "H")},
    roles={
        (_BEFORE, STAY): ("CB",),
        (_BEFORE, ADVANCE): ("HB",),
        (_WITHIN, STAY): ("CW",),
        (_WITHIN, ADVANCE): ("HA",),
        (_WITHIN, END): ("EW",),
        (_AFTER, STAY): ("CA",),
        (_AFTER, END): ("EA",),
    },
    heads=True,
)


@dataclass(frozen=True)
class Heads(Stranded):
    """Mentions with heads, which are tokens of the mention without a gap (Lu and Roth 2015, section 3.6).

    - Finds: nested and overlapping mentions of any length, and the head of each.
    - Cannot: hold gaps, or learn from mentions without a head, unless ``headless`` is ``whole``.
    - Use: it for training data with heads; for mentions alone `Separators`.

    >>> Heads().template(()).kinds
    ('A', 'T', 'IB', 'IW', 'IA')
    """

    name = "heads"
    heads = True

    def shapes(self) -> tuple[Shape, ...]:
        """One strand of three nodes."""
        return (_SHAPE,)

    def refused(self, mentions: MentionTable) -> dict[int, str]:
        """Mentions with gaps, without a head, or whose head is not within them."""
        first, end = mentions.first[mentions.ptr[:-1]], mentions.end[mentions.ptr[1:] - 1]
        head, head_end = mentions.heads.T
        why = np.full(len(mentions), "", object)
        why[(head < first) | (head >= head_end) | (head_end > end)] = OUTSIDE
        why[head < 0] = NO_HEAD_GIVEN
        why[~mentions.contiguous] = GAP
        return {i: str(why[i]) for i in np.flatnonzero(why != "").tolist()}

    def pieces(self, mentions: MentionTable) -> StrandPieces:
        """Return the pieces of mentions: the part before the head, the head, and the part after it."""
        bounds = np.stack([mentions.first, *mentions.heads.T, mentions.end], 1)
        first, end = bounds[:, :-1].ravel(), bounds[:, 1:].ravel()
        mention, position = np.divmod(np.arange(len(first)), len(_SHAPE.nodes))
        kept = first < end
        return StrandPieces(mention[kept], position[kept], first[kept], end[kept])

    def strand_of(self, mentions: MentionTable) -> Ints:
        """(M,) zeros."""
        return np.zeros(len(mentions), np.int64)

    def mentions(self, found: FoundPaths) -> MentionTable:
        """The second bound and the third are the head's, the last is the mention's end."""
        count = len(found.sentence)
        end = found.bounds[np.arange(count), found.size - 1]
        heads = found.bounds[:, 1:3].copy() if count else np.full((0, 2), -1)
        return MentionTable(found.sentence, found.kind, np.arange(count + 1), found.bounds[:, 0].copy(), end, heads)
