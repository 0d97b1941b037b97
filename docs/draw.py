"""Draws the figures of docs/figures: ``python docs/draw.py``.

Those of mentions with gaps are drawn from tests/cases/discontiguous.toml, one of each other model from `EXAMPLES`.

A test draws them again and compares, so that no drawing can be older than the code.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.evaluate import evaluate
from spanloom.formats import read
from spanloom.hypergraph import Child, Hyperedge, Template
from spanloom.structures import STRUCTURES, MentionTable, Structure, Words
from spanloom.structures.chain import Chain
from spanloom.view import svg, to_svg
from spanloom.view.hypergraph import draw_hypergraph
from spanloom.view.svg import number

# The beginning of a case's name, and the name of its figures.
NAMES = {
    "EGD showed": "figure-1",
    "blood in his mouth": "figure-4-1",
    "Infarctions": "figure-4-2",
    "blood or dark": "figure-4-3",
}


class Example(NamedTuple):
    """What is drawn for a model.

    Args:
        structure: which.
        words: of the sentence.
        types: of mentions.
        mentions: the number of the type, first and end of the words, and of the head where the structure has heads.
    """

    structure: Structure
    words: tuple[str, ...]
    types: tuple[str, ...]
    mentions: tuple[tuple[int, ...], ...]


_PROTEIN = ("the", "human", "TCF", "-", "1", "protein", "binds")
_NESTED = ((0, 1, 6), (0, 2, 5))  # human TCF-1 protein; TCF-1
_VISIT = ("the", "new", "head", "of", "Acme", "spoke")
_NAMES = ((0, 0, 3), (1, 4, 5))  # the new head; Acme
# roles that say that a mention ends, in templates whose papers draw a leaf for that
_ENDS = {"mention_hypergraph": ("E",), "heads": ("EW", "EA")}
_LIVER = ("予", "谷", "胱", "甘", "肽", "保", "肝")
# The name of a figure, and what is drawn.
EXAMPLES = {
    "separators": Example(STRUCTURES["separators"], _PROTEIN, ("protein",), _NESTED),
    "separator_states": Example(STRUCTURES["separator_states"], _PROTEIN, ("protein",), _NESTED),
    "mention_hypergraph": Example(STRUCTURES["mention_hypergraph"], _PROTEIN, ("protein",), _NESTED),
    "heads": Example(
        STRUCTURES["heads"],
        ("the", "old", "house", "of", "the", "mayor"),
        ("place",),
        ((0, 0, 6, 2, 3), (0, 0, 3, 2, 3)),  # the old house of the mayor; the old house; both with house as their head
    ),
    "bio": Example(STRUCTURES["bio"], _VISIT, ("PER", "ORG"), _NAMES),
    "bilou": Example(STRUCTURES["bilou"], _VISIT, ("PER", "ORG"), _NAMES),
    "semi_markov": Example(STRUCTURES["semi_markov"], _VISIT, ("PER", "ORG"), _NAMES),
    "segmenter-words": Example(Words(), _LIVER, ("word",), ((0, 0, 1), (0, 1, 5), (0, 5, 7))),
    "segmenter-mentions": Example(STRUCTURES["bilou"], _LIVER, ("medication", "treatment"), ((0, 1, 5), (1, 5, 7))),
}
Ranges = tuple[tuple[int, int], ...]

_SPACE = 10.0  # between words
_TRACK = 22.0  # from track to track
_FIRST = 40.0  # the middle of the first track
_MARGIN = 16.0
_TICK = 5.0  # height of the ends of a component

_MENTION_STYLE = """
.spanloom .mention path { stroke-width: 2; }
.spanloom .mention .gap { stroke-width: 1.4; stroke-dasharray: 3 4; }
.spanloom .type text { text-anchor: start; }
"""
ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "cases" / "discontiguous.toml"
FIGURES = ROOT / "docs" / "figures"


def figures() -> dict[str, str]:
    """File names, and what stands in the files."""
    cases = tomllib.loads(CASES.read_text(encoding="utf-8"))["case"]
    drawn = {}
    for beginning, name in NAMES.items():
        case = next(case for case in cases if case["name"].startswith(beginning))
        mentions = [tuple((first, end) for first, end in ranges) for ranges in case["mentions"]]
        drawn[f"{name}.svg"] = draw_mentions(
            case["tokens"], [("disorder", ranges) for ranges in mentions], title=f"Mentions: {case['source']}"
        )
        for structure in ("shared", "split"):
            drawn[f"{name}-{structure}.svg"] = _hypergraph(structure, case, mentions)
    drawn |= {f"{name}.svg": _example(name, example) for name, example in EXAMPLES.items()}
    return drawn | {"viewing.svg": _viewing(), "crossing.svg": _crossing(), "report.svg": _report()}


def draw_mentions(
    words: Sequence[str], mentions: Sequence[tuple[str, Ranges]], *, title: str = "Mentions of a sentence"
) -> str:
    """Draw the mentions of one sentence, in their order in the list.

    Args:
        words: T.
        mentions: type, and ranges of tokens, half-open and in text order.
        title: a description of the drawing for screen readers.

    Returns:
        One SVG element, the same for the same arguments, for light and dark pages and for print. Each mention is a
        group of class ``mention`` whose title is its type and its words.

    Raises:
        UsageError: a range is empty, outside the sentence, or not after the one before.
    """
    for kind, ranges in mentions:
        _check(kind, ranges, len(words))
    left = _MARGIN + max((svg.width(kind) + 2 * _SPACE for kind, _ in mentions), default=0.0)
    bounds, right = [], left
    for text in words:
        bounds.append((right, right + svg.width(text)))
        right += svg.width(text) + _SPACE
    texts = (" ... ".join(" ".join(words[first:end]) for first, end in ranges) for _, ranges in mentions)
    names = [f"{kind}: {text}" for (kind, _), text in zip(mentions, texts, strict=True)]
    height = _FIRST + _TRACK * max(len(mentions) - 1, 0) + _MARGIN
    root = svg.canvas(
        right - _SPACE + _MARGIN if words else right + _MARGIN, height, title, "; ".join(names), _MENTION_STYLE
    )
    for text, (low, high) in zip(words, bounds, strict=True):
        svg.word(root, text, (low + high) / 2, _MARGIN, **{"class": "word"})
    for i, ((kind, ranges), name) in enumerate(zip(mentions, names, strict=True)):
        pieces = [(bounds[first][0], bounds[end - 1][1]) for first, end in ranges]
        _track(root, kind, name, pieces, _FIRST + i * _TRACK)
    return svg.render(root)


def _check(kind: str, ranges: Ranges, length: int) -> None:
    borders = [border for piece in ranges for border in piece]
    ordered = all(low < high for low, high in ranges) and all(low <= high for low, high in pairwise(borders))
    if not ranges or not ordered or borders[0] < 0 or borders[-1] > length:
        raise UsageError(
            f"found a mention {kind!r} with ranges {ranges}, expected ranges in order, not empty, of {length} tokens"
        )


def _track(root: svg.Element, kind: str, name: str, pieces: Sequence[tuple[float, float]], y: float) -> None:
    group = ElementTree.SubElement(root, "g", {"class": "mention"})
    svg.write(group, "title", name)
    svg.word(group, kind, _MARGIN, y + 4, **{"class": "type"})
    for low, high in pieces:
        top = number(y - _TICK)
        way = f"M {number(low)} {top} V {number(y)} H {number(high)} V {top}"
        ElementTree.SubElement(group, "path", {"d": way})
    for (_, end), (first, _) in pairwise(pieces):
        ElementTree.SubElement(group, "path", {"d": f"M {number(end)} {number(y)} H {number(first)}", "class": "gap"})


def _example(name: str, example: Example) -> str:
    """The sub-hypergraph of an example's mentions."""
    structure, words, types, mentions = example
    table = MentionTable.build(
        [(0, kind, ((first, end),)) for kind, first, end, *_ in mentions],
        heads=[(head[0], head[1]) for _, _, _, *head in mentions] if name == "heads" else None,
    )
    template = structure.template(types)
    edges = structure.encode(table, np.array([0, len(words)]), types).edges
    if isinstance(structure, Chain):
        template, picked = _lattice(structure.tags(types), structure.read_tags(edges, types).tolist())
    else:
        picked = edges[:, 0]
    return draw_hypergraph(
        template,
        words,
        picked,
        leaf_roles={role for role in template.roles if role in _ENDS.get(name, ())},
        labels=name.startswith("separator"),
        title=f"{name.replace('_', ' ').replace('-', ', ')}: {' '.join(words)}",
    )


def _lattice(names: Sequence[str], tags: list[int]) -> tuple[Template, Any]:
    """A chain as books draw it: a node for each tag. The engine has two, which say no more."""
    pairs = list(pairwise([*tags, tags[-1]]))
    distinct = sorted(set(pairs))
    edges = (Hyperedge(f"{names[a]}, {names[b]}", names[a], (Child(names[b], 1),)) for a, b in distinct)
    template = Template(tuple(names), names[tags[0]], frozenset(names), tuple(edges))
    return template, np.array([[distinct.index(pair)] for pair in pairs])


def _crossing() -> str:
    """Three mentions that skip words, two of which cross: the picture of the README."""
    text = "Infarctions either water shed or embolic, laceration of the mid and distal esophagus."

    def find(*words: str) -> list[tuple[int, int]]:
        return [(text.index(word), text.index(word) + len(word)) for word in words]

    spans = [
        find("Infarctions", "water shed"), find("Infarctions", "embolic"), find("laceration", "mid", "esophagus"),
        find("laceration", "distal esophagus"),
    ]  # fmt: skip
    mentions = [*(Mention("problem", one) for one in spans), Mention("anatomy", find("distal esophagus"))]
    return to_svg([Document(text, mentions=mentions)], width=108, title="Mentions that nest, cross and skip words")


def _viewing() -> str:
    """Mentions that skip words and cross, with heads, scores and a concept."""
    text = "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood."

    def find(*words: str) -> list[tuple[int, int]]:
        return [(text.index(word), text.index(word) + len(word)) for word in words]

    hernia, laceration = find("hernia", "laceration")
    mentions = [
        Mention("disorder", find("hiatal hernia"), head=hernia, score=0.97, concepts=("SPL:0042",)),
        Mention("disorder", [hernia, *find("in distal esophagus")], head=hernia, score=0.41),
        Mention("disorder", [laceration, *find("esophagus")], head=laceration, score=0.88),
        Mention("disorder", find("vertical laceration", "distal esophagus"), head=laceration, score=0.63),
        Mention("anatomy", find("distal esophagus"), score=0.99),
    ]
    return to_svg([Document(text, mentions=mentions)], width=108, title="Mentions of a sentence")


def _report() -> str:
    """A report of the bundled notes against themselves, with mentions left out and gaps lost."""
    gold = list(read(clinical() / "dev"))
    predicted = [document.copy(mentions=_worse(document.mentions)) for document in gold]
    return evaluate(gold, predicted, bootstrap=200).plot().svg


def _worse(mentions: Sequence[Mention]) -> list[Mention]:
    kept = [mention for i, mention in enumerate(mentions) if i % 6]
    return [mention.replace(spans=mention.spans[: 1 + i % 2]) for i, mention in enumerate(kept)]


def _hypergraph(name: str, case: dict[str, Any], mentions: list[Any]) -> str:
    """The sub-hypergraph of the mentions; in SPLIT only the strands on which one runs."""
    structure, words = STRUCTURES[name], case["tokens"]
    template = structure.template(["disorder"])
    table = MentionTable.build((0, 0, ranges) for ranges in mentions)
    edges = structure.encode(table, np.array([0, len(words)]), ["disorder"]).edges[:, 0]
    picked = {template.edges[e].head for e in edges.ravel().tolist() if e >= 0}
    idle = {kind for kind in picked if kind.startswith("T") and kind.replace("T", "B1") not in picked}
    return draw_hypergraph(
        template,
        words,
        edges,
        leaf_roles={role for role in template.roles if role.startswith("E")},
        leave_out=idle | ({"A"} if name == "split" else set()),
        title=f"{name.upper()}: {case['source']}",
    )


if __name__ == "__main__":
    FIGURES.mkdir(exist_ok=True)
    for file, drawing in figures().items():
        (FIGURES / file).write_text(drawing, encoding="utf-8", newline="\n")
