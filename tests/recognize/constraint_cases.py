"""Random constraints on sentences of two to five words, and all structures that meet them."""

from __future__ import annotations

from functools import cache

import numpy as np

from spanloom import Document
from spanloom.document import Batch, Mention
from spanloom.errors import DataError
from spanloom.hypergraph import Potentials, reference
from spanloom.model.overlaps import OverlapRules
from spanloom.model.pairs import NESTED, overlapping
from spanloom.model.structured import StructuredModel
from spanloom.parallel import SERIAL
from spanloom.recognize.constraints import Constraints
from spanloom.recognize.finding import OneStage
from spanloom.structures import STRUCTURES, MentionTable

TYPES = ("x", "y")
NAMES = tuple(name for name, structure in STRUCTURES.items() if not structure.heads)
LONGEST = {"shared": 3, "split": 3, "seven_tag": 3}  # that are listed in no time; 4 of the others
WORDS = ("a", "b", "c")


@cache
def all_mentions(name, length):
    """All mentions that a structure can hold, of up to two components."""
    ranges = [((a, b),) for a in range(length) for b in range(a + 1, length + 1)]
    gapped = [(*one, *two) for one in ranges for two in ranges if one[0][1] < two[0][0]]
    table = MentionTable.build([(0, k, pieces) for k in range(len(TYPES)) for pieces in (*ranges, *gapped)])
    return table.take(STRUCTURES[name].holds(table))


@cache
def all_structures(name, length):
    """All S structures of a copy of the template: tokens and hyperedges picked, where those of each begin, and (S, M)
    which mentions have a path in each."""
    structure = STRUCTURES[name]
    mentions = all_mentions(name, length)
    paths = structure.paths(mentions, TYPES)
    ways = len(paths.sentence) // len(mentions)
    spread = [(first, paths.spread(q) > 0) for q, first in enumerate(paths.first.tolist())]
    every = list(reference.subgraphs(structure.template(TYPES), length))
    found = np.zeros((len(every), len(mentions)), bool)
    for i, choices in enumerate(every):
        kept = [all(rows[t - a, e] for t, e in choices if a <= t < a + len(rows)) for a, rows in spread]
        found[i] = np.array(kept).reshape(-1, ways).any(1)
    token, edge = np.array([choice for choices in every for choice in choices]).T
    return token, edge, np.cumsum([0, *map(len, every[:-1])]), found


@cache
def nested(name, length):
    """(M, M) whether the tokens of one mention hold all of another's and more."""
    mentions = all_mentions(name, length)
    found = np.zeros((len(mentions), len(mentions)), bool)
    tokens = [{t for a, b in pieces for t in range(a, b)} for _, _, pieces in mentions.rows()]
    for i, one in enumerate(tokens):
        for j, other in enumerate(tokens):
            found[i, j] = other < one
    return found


def mention_of(row):
    """A mention of a text of words of one letter, each at an even character."""
    _, kind, pieces = row
    return Mention(TYPES[kind], [(2 * a, 2 * b - 1) for a, b in pieces])


class Case:
    """A sentence with random scores and constraints.

    Attributes: ``there``, those that are required, and ``absent``, those that are forbidden, of all mentions;
    ``pairs``, the types (inner, outer) of a rule; ``constraints``; ``refused``, after `wrong`, whether none was found.
    """

    def __init__(self, name, seed):
        self.name, self.structure = name, STRUCTURES[name]
        random = np.random.default_rng(seed)
        self.length = length = int(random.integers(2, LONGEST.get(name, 4) + 1))
        self.mentions = all_mentions(name, length)
        rows = self.mentions.rows()
        words = random.choice(WORDS, length).tolist()
        self.text = " ".join(words)
        tokens = [[2 * t, 2 * t + 1] for t in range(length)]
        self.there, self.absent = np.zeros((2, len(rows)), bool)
        own, required, forbidden = [], [], []
        for row in random.choice(len(rows), int(random.integers(0, 3)), replace=False).tolist():
            self.there[row] = True
            (own if random.random() < 0.5 else required).append(mention_of(rows[row]))
        for row in random.choice(len(rows), min(len(rows), int(random.integers(0, 5))), replace=False).tolist():
            self.absent[row] = True
            forbidden.append(mention_of(rows[row]))
        require, forbid = [Document(self.text, "1", mentions=required)], [Document(self.text, "1", mentions=forbidden)]
        surface = [mention_of(row).text(self.text) if len(row[2]) == 1 else None for row in rows]
        if random.random() < 0.3:
            word = str(random.choice(WORDS))
            kind = int(random.integers(0, 3))
            named = "*" if kind == 2 else TYPES[kind]
            expression = random.random() < 0.5
            forbid.append(f"{named}: /.*{word}.*/" if expression else f"{named}: {word}")
            for i, text in enumerate(surface):
                if text is not None and rows[i][1] in (kind, kind - 2, kind - 1) and (kind == 2 or rows[i][1] == kind):
                    self.absent[i] |= word in text if expression else word == text
        if random.random() < 0.15:
            word = str(random.choice(WORDS))
            require.append(f"x: {word}")
            for i, text in enumerate(surface):
                self.there[i] |= text == word and rows[i][1] == 0
        self.pairs = []
        if random.random() < 0.3:
            inner, outer = random.integers(0, 2, 2).tolist()
            self.pairs.append((inner, outer))
            forbid.append(f"{TYPES[inner]} inside {TYPES[outer]}")
        self.constraints = Constraints(keep=True, require=require, forbid=forbid)
        document = Document(self.text, "1", tokens=tokens, sentences=[[0, length]], mentions=own)
        self.batch = Batch.of([document])
        self.model = StructuredModel.build(self.structure, "subgraphs", TYPES, None, float(random.choice([0.0, 1.0])))
        template, lanes = self.model.engine.template, self.structure.lanes(TYPES)
        spread = float(random.choice([0.5, 2.0, 8.0]))
        self.potentials = Potentials(
            random.normal(0, spread, (length, len(template.roles), lanes)).astype(np.float32),
            random.normal(0, 1, (len(template.constants), lanes)).astype(np.float32),
        )

    def found(self):
        """What is found: the table and its conditional marginals; ``None`` where nothing meets the constraints."""
        way = OneStage(self.model, "enough", SERIAL, OverlapRules.free(len(TYPES)))
        try:
            return self.constraints.find(way, self.batch, self.potentials, print)
        except DataError:
            return None

    def violations(self, table):
        """What of a table of mentions violates the constraints."""
        rows, every = set(table.rows()), self.mentions.rows()
        missing = [every[i] for i in np.flatnonzero(self.there) if every[i] not in rows]
        wrong = [every[i] for i in np.flatnonzero(self.absent) if every[i] in rows]
        table = table.take(table.order())
        nests = [
            (table.rows()[one], table.rows()[other])
            for pairs in overlapping(table)
            for one, other, way in zip(*pairs, strict=True)
            if way == NESTED and (table.kind[other], table.kind[one]) in self.pairs
        ]
        return missing, wrong, nests

    def scored(self, penalized):
        """(S,) the scores of all structures that meet what is demanded of mentions, and (S, M) the mentions of each."""
        given = self.model.penalized(self.potentials) if penalized else self.potentials
        template, lanes = self.model.engine.template, self.structure.lanes(TYPES)
        every = []
        for lane in range(lanes):
            roles = [dict(zip(template.roles, row[:, lane].tolist(), strict=True)) for row in given.roles]
            constants = dict(zip(template.constants, given.constants[:, lane].tolist(), strict=True))
            scores = np.array(reference.edge_scores(template, roles, constants))
            own = np.ones(len(self.mentions), bool) if self.structure.joint else self.mentions.kind == lane
            token, edge, begins, kept = all_structures(self.name, self.length)
            kept = kept & own
            meets = (kept | ~self.there)[:, own].all(1) & ~(kept & self.absent).any(1)
            every.append((np.add.reduceat(scores[token, edge], begins)[meets], kept[meets]))
        scores, kept = every[0]
        for other, more in every[1:]:
            scores = (scores[:, None] + other).ravel()
            kept = (kept[:, None] | more).reshape(len(scores), len(self.mentions))
        return scores, kept

    def ruled(self, kept):
        """(S,) which structures have no two mentions of which one may not be inside the other."""
        bad = nested(self.name, self.length)
        kind = self.mentions.kind
        forbidden = np.zeros_like(bad)
        for inner, outer in self.pairs:
            forbidden |= bad & (kind[:, None] == outer) & (kind == inner)
        return ~((kept.astype(np.float32) @ forbidden > 0) & kept).any(1)

    def wrong(self):
        """What is wrong about what is found; ``None`` if it meets the constraints, is the best that does, and has its
        probabilities."""
        found = self.found()
        self.refused = found is None
        scores, kept = self.scored(penalized=True)
        ruled = self.ruled(kept)
        if found is None:
            return "refused, but there are structures" if ruled.any() else None
        violated = [what for what in self.violations(found.table) if what]
        if violated:
            return f"violated: {violated}"
        if not ruled.any():
            return "found, but there is no structure"
        rows = {row: i for i, row in enumerate(self.mentions.rows())}
        numbers = np.array([rows[row] for row in found.table.rows()], np.int64)
        near = ruled & (scores >= scores[ruled].max() - 1e-3)
        if not kept[near][:, numbers].all(1).any():
            return "not the best"
        plain, _ = self.scored(penalized=False)
        shares = np.exp(plain - np.logaddexp.reduce(plain)) @ kept
        expected = np.where(self.there[numbers], 1.0, shares[numbers])
        return None if np.allclose(found.scores, expected, atol=1e-4) else f"probabilities {found.scores} {expected}"
