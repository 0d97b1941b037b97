"""Random constraints on sentences of two to four words, and all structures that meet them."""

from __future__ import annotations

from functools import cache, cached_property
from typing import NamedTuple

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


class Structures(NamedTuple):
    """All S structures of a copy of the template, those with the same mentions side by side.

    Args:
        uses: (S, T * R + C) how often each adds the score of each role at each token, and each constant.
        begins: (U,) the first structure of each set of mentions.
        kept: (U, M) the mentions of each set, which are those that have a path in the structure.
    """

    uses: np.ndarray
    begins: np.ndarray
    kept: np.ndarray


@cache
def all_structures(name, length):
    """List all structures, each of which is looked at by itself."""
    structure, mentions = STRUCTURES[name], all_mentions(name, length)
    template = structure.template(TYPES)
    paths = structure.paths(mentions, TYPES)
    ways = len(paths.sentence) // len(mentions)
    spread = [(first, paths.spread(q) > 0) for q, first in enumerate(paths.first.tolist())]
    every = list(reference.subgraphs(template, length))
    kept = np.zeros((len(every), len(mentions)), bool)
    picked = np.zeros((len(every), length, len(template.edges)))
    for i, choices in enumerate(every):
        keeps = [all(rows[t - a, e] for t, e in choices if a <= t < a + len(rows)) for a, rows in spread]
        kept[i] = np.array(keeps).reshape(-1, ways).any(1)
        for choice in choices:
            picked[i][choice] += 1
    # the scores of hyperedges if one score is 1 and all others are 0
    ones = np.eye(length * len(template.roles) + len(template.constants))
    scores = np.array([edge_scores(template, length, one) for one in ones]).reshape(len(ones), -1)
    sets, number = np.unique(kept, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    begins = np.searchsorted(number.ravel()[order], np.arange(len(sets)))
    return Structures(picked.reshape(len(every), -1)[order] @ scores.T, begins, sets)


def edge_scores(template, length, values):
    """The scores of hyperedges, from those of roles at each token and of constants."""
    rows = values[: length * len(template.roles)].reshape(length, -1).tolist()
    roles = [dict(zip(template.roles, row, strict=True)) for row in rows]
    constants = dict(zip(template.constants, values[length * len(template.roles) :].tolist(), strict=True))
    return reference.edge_scores(template, roles, constants)


@cache
def model_of(name, penalty):
    """A model without features."""
    return StructuredModel.build(STRUCTURES[name], "subgraphs", TYPES, None, penalty)


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
        surface = [" ".join(words[slice(*row[2][0])]) if len(row[2]) == 1 else None for row in rows]
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
        self.model = model_of(name, float(random.choice([0.0, 1.0])))
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
            laid = self.constraints.lay(self.batch, way)
            return (
                way.find(self.batch, self.potentials, print) if laid is None else laid.find(way, self.potentials, print)
            )
        except DataError:
            return None

    def violations(self, table):
        """What of a table of mentions violates the constraints."""
        rows, every = set(table.rows()), self.mentions.rows()
        missing = [every[i] for i in np.flatnonzero(self.there) if every[i] not in rows]
        wrong = [every[i] for i in np.flatnonzero(self.absent) if every[i] in rows]
        table = table.take(table.order())
        overlaps, _ = overlapping(table, np.zeros((4, len(TYPES), len(TYPES)), bool))
        nests = [
            (table.rows()[one], table.rows()[other])
            for one, other, way in zip(*overlaps, strict=True)
            if way == NESTED and (table.kind[other], table.kind[one]) in self.pairs
        ]
        return missing, wrong, nests

    def lanes(self):
        """For each copy of the template the sets of mentions that meet what is demanded of mentions: (U, M) mentions,
        (U,) the score of the best structure of each without forbidden pairs, and (U,) their probabilities."""
        uses, begins, every = all_structures(self.name, self.length)
        number = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(uses))))
        for lane in range(self.structure.lanes(TYPES)):
            own = np.ones(len(self.mentions), bool) if self.structure.joint else self.mentions.kind == lane
            meets = (every | ~self.there)[:, own].all(1) & ~(every & self.absent)[:, own].any(1)
            given = (self.potentials, self.model.penalized(self.potentials))
            values = [np.append(one.roles[:, :, lane], one.constants[:, lane]) for one in given]
            plain, scores = np.where(meets[number], (uses @ np.array(values, float).T).T, -np.inf)
            weights = np.add.reduceat(np.exp(plain - plain.max(initial=-1e9)), begins)
            kept = every & own
            best = np.where(self.ruled(kept), np.maximum.reduceat(scores, begins), -np.inf)
            yield kept[meets], best[meets], weights[meets] / weights.sum()

    def ruled(self, kept):
        """(U,) which sets of mentions have no two of which one may not be inside the other."""
        return ~((kept.astype(np.float32) @ self.clashing > 0) & kept).any(1)

    @cached_property
    def clashing(self):
        """(M, M) whether a mention may not be inside another, or may not hold it."""
        kind = self.mentions.kind
        found = np.zeros((len(kind), len(kind)), np.float32)
        for inner, outer in self.pairs:
            found += nested(self.name, self.length) & (kind[:, None] == outer) & (kind == inner)
        return found + found.T

    def best(self, lanes, numbers=()):
        """The score of the best structures of all copies that have some mentions and no forbidden pair."""
        kept, scores = [], []
        for one, best, _ in lanes:
            own = [i for i in numbers if self.structure.joint or self.mentions.kind[i] == len(kept)]
            kept.append(one.astype(np.float32))
            scores.append(np.where(one[:, own].all(1), best, -np.inf))
        if len(lanes) == 1:
            return scores[0].max(initial=-np.inf)
        if not self.clashing.any():
            return sum(one.max(initial=-np.inf) for one in scores)
        together = kept[0] @ self.clashing @ kept[1].T == 0
        return np.where(together, scores[0][:, None] + scores[1], -np.inf).max(initial=-np.inf)

    def wrong(self):
        """What is wrong about what is found; ``None`` if it meets the constraints, is the best that does, and has its
        probabilities."""
        found = self.found()
        self.refused = found is None
        lanes = list(self.lanes())
        best = self.best(lanes)
        if found is None:
            return None if np.isneginf(best) else "refused, but there are structures"
        violated = [what for what in self.violations(found.table) if what]
        if violated:
            return f"violated: {violated}"
        if np.isneginf(best):
            return "found, but there is no structure"
        rows = {row: i for i, row in enumerate(self.mentions.rows())}
        numbers = np.array([rows[row] for row in found.table.rows()], np.int64)
        if self.best(lanes, numbers) < best - 1e-3:
            return "not the best"
        shares = sum(chance @ kept for kept, _, chance in lanes)
        expected = np.where(self.there[numbers], 1.0, shares[numbers])
        return None if np.allclose(found.scores, expected, atol=1e-4) else f"probabilities {found.scores} {expected}"
