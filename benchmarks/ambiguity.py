"""How ambiguous seven tags, SHARED and SPLIT are: in theory, and with the gold structures of two corpora.

    python benchmarks/ambiguity.py --data DATA

The paper is Muis and Lu (2016) with its supplement. (a) The supplement's Table 1, its matrix and eigenvalues: the
number of canonical encodings, from transition matrices and, for up to four tokens, by encoding every set of mentions.
(b) Table 3: gold mentions are encoded, the encoding is read, and what comes back is compared with what went in. CRAFT
and GENIA with resolved conjuncts, train and dev together; all sentences (the paper's "Original") and those in which a
discontiguous mention begins ("Discontiguous").

Our reading `all` of seven tags gives every part of a head, since any may be a mention; the supplement combines heads as
wholes. `WholeHeads` reads so, in a row of its own.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from common import Result, corpus, options, say, timed
from spanloom.hypergraph import Edges, Ints
from spanloom.structures import READINGS, MentionTable, Structure, structure_of
from spanloom.structures.base import MOST_MENTIONS
from spanloom.structures.seven_tag import SevenTag
from spanloom.structures.seven_tag_reading import HEAD, find_runs
from spanloom_lab import ReadBack, read_back
from spanloom_lab.canonical import canonical_encodings, possible_mentions
from spanloom_lab.reading_back import SUBSETS
from spanloom_lab.transitions import Transition, multiplied, relative_ambiguity, transitions

COMPONENTS, LONGEST, LISTED = 3, 5, 4  # of a mention; tokens of Table 1; tokens up to which all sets are encoded
CORPORA = ("craft", "genia_discontiguous")
NAMES = ("seven_tag", "shared", "split")
ONE_TYPE = ("mention",)
CHAIN_GROWTH = 7  # at most: the paper bounds the chain's count by 7^n

TABLE_1 = {"seven_tag": [2, 8, 46], "shared": [2, 8, 80, 3584, 533504], "split": [2, 8, 80, 6656, 2367488]}
COMBINATIONS = [2, 8, 128, 32768, 2147483648]
MATRIX = [  # SHARED with two components; sets of B1, O2, B2 as binary numbers, B1 first
    [1, 0, 0, 0, 1, 0, 0, 0],
    [1, 2, 0, 0, 1, 2, 0, 0],
    [0, 1, 1, 1, 0, 1, 1, 1],
    [0, 3, 1, 5, 0, 3, 1, 5],
    [1, 0, 2, 0, 5, 0, 6, 0],
    [1, 2, 2, 4, 5, 10, 6, 12],
    [0, 1, 3, 5, 0, 5, 11, 17],
    [0, 3, 3, 21, 0, 15, 11, 73],
]
GROWTH = {("shared", 2): "80.61", ("shared", 3): "1261.86", ("split", 3): "above 2^15 = 32,768"}
EIGENVALUES = {2: 80.61, 3: 1261.86}  # components -> of SHARED
# (subset, reading) -> precision and recall error in percent
TABLE_3 = {
    ("discontiguous", "all"): {"seven_tag": (63.66, 0.30), "shared": (1.73, 0.30), "split": (1.05, 0.30)},
    ("all", "all"): {"seven_tag": (23.81, 0.17), "shared": (0.35, 0.17), "split": (0.22, 0.17)},
    ("discontiguous", "enough"): {"seven_tag": (2.74, 3.82), "shared": (1.21, 1.46), "split": (0.75, 0.90)},
    ("all", "enough"): {"seven_tag": (0.52, 0.90), "shared": (0.25, 0.38), "split": (0.17, 0.28)},
}
WHOLE = "seven_tag, heads as wholes"
FAR = 5.0  # how many times the precision error of SHARED that of seven tags has to be, reading all


def structure(name: str, components: int = COMPONENTS) -> Structure:
    """A structure for so many components."""
    return structure_of(name, components=components)


class WholeHeads(SevenTag):
    """Seven tags whose reading `all` cuts no head: the mentions of which no component begins or ends inside one."""

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `SevenTag.decode`, but for `all`."""
        table = super().decode(edges, offsets, types, reading)
        if reading != "all":
            return table
        tags = self.read_tags(edges, types)
        kinds = np.where(tags > 0, (tags - 1) // len(self.letters), -1)
        inside = {
            (sentence, kind, token)
            for sentence, kind, runs in find_runs(kinds, (tags - 1) % len(self.letters), offsets).groups()
            for run in runs
            if run.family == HEAD
            for token in range(run.first + 1, run.end)
        }
        whole = [
            not any((sentence, kind, border) in inside for span in spans for border in span)
            for sentence, kind, spans in table.rows()
        ]
        return table.take(np.array(whole, bool))


def parts_of(name: str, components: int = COMPONENTS) -> list[Transition]:
    """The transitions of its independent parts, for one type."""
    return transitions(structure(name, components).template(ONE_TYPE))


def count(result: Result) -> None:
    """Table 1: from the matrices, and by enumeration."""
    matrices = {name: multiplied(parts_of(name), LONGEST) for name in NAMES if structure(name).only_canonical}
    listed = {
        name: [canonical_encodings(structure(name), n, COMPONENTS) for n in range(1, LISTED + 1)] for name in NAMES
    }
    combinations = [2 ** possible_mentions(n, COMPONENTS) for n in range(1, LONGEST + 1)]
    found = [
        (name, how, numbers, TABLE_1[name])
        for name in NAMES
        for how, counted in (("matrix", matrices), ("all sets encoded", listed))
        if (numbers := counted.get(name))
    ]
    found.append(("sets of mentions", "formula", combinations, COMBINATIONS))
    result.table(
        "Canonical encodings of sentences of n tokens, one type, at most three components (supplement, Table 1)",
        ("", "how", *(f"n = {n}" for n in range(1, LONGEST + 1)), "paper"),
        [
            [name, how, *numbers, *[None] * (LONGEST - len(numbers)), "; ".join(f"{number:,}" for number in paper)]
            for name, how, numbers, paper in found
        ],
        f"All sets of mentions are encoded for up to {LISTED} tokens. The paper gives seven tags for up to three "
        "tokens, and the bound 7^n from there on.",
    )
    for name, how, numbers, paper in found:
        wrong = sum(a != b for a, b in zip(numbers, paper, strict=False))
        result.at_most(f"Table 1, {name}, {how}: figures unlike the paper's", wrong, 0)
    result.data["canonical"] = {"matrix": matrices, "listed": listed, "combinations": combinations}


def grow(result: Result) -> None:
    """The matrix, the eigenvalues, the relative ambiguities."""
    [part] = parts_of("shared", 2)
    names = [" ".join(kind for kind in part.kinds if kind in state) or "-" for state in part.states]
    matrix = part.matrix.tolist()
    result.table(
        "Transitions of SHARED with two components (supplement, section 1)",
        ("from, to", *names),
        [[name, *row] for name, row in zip(names, matrix, strict=True)],
    )
    wrong = sum(a != b for row, paper in zip(matrix, MATRIX, strict=True) for a, b in zip(row, paper, strict=True))
    result.at_most("entries of the 8 x 8 matrix unlike the paper's", wrong, 0)
    growth = {}
    rows: list[list[Any]] = []
    for name, components in (("shared", 2), ("shared", 3), ("split", 2), ("split", 3)):
        parts = parts_of(name, components)
        growth[name, components] = value = math.prod(one.growth for one in parts)
        states = " x ".join(str(len(one.states)) for one in parts)
        shown = f"{value:,.2f} = 2^{math.log2(value):.2f}"
        rows.append([name, components, states, shown, GROWTH.get((name, components), "")])
    result.table(
        "Growth: how many times as many canonical encodings one token more gives (largest eigenvalue)",
        ("structure", "components", "states", "growth", "paper"),
        rows,
    )
    for components, paper in EIGENVALUES.items():
        distance = abs(growth["shared", components] - paper)
        result.at_most(f"SHARED, {components} components: eigenvalue less the paper's {paper}", distance, 0.005)
    shared, split = growth["shared", COMPONENTS], growth["split", COMPONENTS]
    relative = {  # of the chain a lower bound
        "seven_tag over shared": relative_ambiguity(CHAIN_GROWTH, shared),
        "shared over split": relative_ambiguity(shared, split),
    }
    result.at_least("SPLIT, 3 components: growth as a power of 2", math.log2(split), 15)
    for (name, value), paper in zip(relative.items(), (10 / 3, 15 / 11), strict=True):
        result.at_least(f"relative ambiguity of {name}", value, paper)
    result.data["growth"] = {f"{name}, {components} components": value for (name, components), value in growth.items()}
    result.data["relative_ambiguity"] = relative


def read_corpus(result: Result, name: str, chosen: argparse.Namespace) -> None:
    """Table 3 on a corpus."""
    documents = [document for part in ("train", "dev") for document in corpus(chosen.data, name, part, chosen.limit)]
    found = {}
    for one in NAMES:
        seconds, found[one] = timed(lambda one=one: read_back(documents, structure(one)))
        say(f"{name}, {one}: encoded and read in {seconds.wall:.1f} s")
    whole = read_back(documents, WholeHeads(COMPONENTS))
    for subset in SUBSETS:
        first = found[NAMES[0]].subsets[subset]
        result.table(
            f"{name}, {subset} sentences: {first.sentences:,}, with {first.gold:,} mentions (Table 3)",
            (
                "structure", "reading", "precision error %", "recall error %", "paper, precision", "paper, recall",
                "decoded", "lost", "misread",
            ),
            [
                *(_errors(found[one], one, subset, reading) for reading in reversed(READINGS) for one in NAMES),
                [WHOLE, *_errors(whole, NAMES[0], subset, "all")[1:]],
            ],
            *_notes(found, subset),
        )  # fmt: skip
    judge(result, name, found)
    result.data.setdefault("read", {})[name] = {one: value.to_dict() for one, value in {**found, WHOLE: whole}.items()}


def _notes(found: Mapping[str, ReadBack], subset: str) -> list[str]:
    notes = []
    for name, value in found.items():
        reasons = "; ".join(f"{number:,}: {reason}" for reason, number in value.subsets[subset].lost.items())
        notes.append(f"Lost by {name}: {reasons or 'none'}.")
    crowded = ", ".join(f"{name} {value.crowded:,}" for name, value in found.items())
    return [
        *notes,
        f"Misread: neither lost nor found. In the whole corpus {found[NAMES[0]].duplicates:,} mentions repeat another "
        "and count once. How often `all` gave only a part of the mentions of a sentence and type, because there are "
        f"more than {MOST_MENTIONS:,}: {crowded}.",
    ]


def _errors(found: ReadBack, name: str, subset: str, reading: str) -> list[Any]:
    values = found.subsets[subset].to_dict()
    row = values["readings"][reading]
    paper = TABLE_3[subset, reading][name]
    return [
        name, reading, *(_percent(row[error]) for error in ("precision_error", "recall_error")),
        *(f"{error:.2f}" for error in paper), row["decoded"], sum(values["lost"].values()), row["misread"],
    ]  # fmt: skip


def _percent(error: float | None) -> str:
    return "" if error is None else f"{100 * error:.2f}"


def judge(result: Result, name: str, found: Mapping[str, ReadBack]) -> None:
    """The targets: no recall error but for lost mentions, and the order of the precision errors."""
    for one in NAMES:
        misread = found[one].subsets["all"].to_dict()["readings"]["all"]["misread"]
        result.at_most(f"{name}, {one}, reading all: mentions neither lost nor found", misread, 0)
    for subset in SUBSETS:
        for reading in READINGS:
            errors = [1 - found[one].subsets[subset].scores[reading].precision for one in NAMES]
            for (a, first), (b, second) in pairwise(zip(NAMES, errors, strict=True)):
                result.at_least(
                    f"{name}, {subset}, reading {reading}: precision error of {a} less that of {b}, points",
                    100 * (first - second), 0.0,
                )  # fmt: skip
        chain, shared = (1 - found[one].subsets[subset].scores["all"].precision for one in NAMES[:2])
        if shared:
            claim = f"{name}, {subset}, reading all: precision error of seven_tag over that of shared"
            result.at_least(claim, chain / shared, FAR)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, help="use only so many documents of each part, to try the script")


def main() -> None:
    """Count, read, write."""
    chosen = options("ambiguity", __doc__, _more)
    result = Result("Ambiguity of seven tags, SHARED and SPLIT", chosen.seed)
    count(result)
    grow(result)
    for name in CORPORA:
        read_corpus(result, name, chosen)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
