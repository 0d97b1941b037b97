"""What the corpora hold that stand in for the papers' own: sentences, mentions, overlaps, parts.

    python benchmarks/corpora.py --data DATA

The rows of three tables of statistics: Lu and Roth (2015), Muis and Lu (2017), and Muis and Lu (2016), each their
Table 1. Mentions belong to the sentence in which they begin. Two mentions overlap if a token is in both; *different*
overlaps are those of two types. Nothing is trained.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from common import Result, corpus, options
from gapped import Data, Task, chosen, hold_out
from spanloom.document import Document
from spanloom.evaluate import join_spans
from spanloom.model.corpus import by_sentence
from spanloom.text import prepare

NESTED = ("gum", "genia")
# the sizes of `discontiguous_paper.py`
GAPPED = {"craft": ("GO_BP", "CL", "UBERON"), "genia_discontiguous": None}
LONG = 6  # words
# Muis and Lu (2017), Table 1: sentences, with overlap, mentions, overlapping
PAPER_2017 = {
    ("ACE2004", "train"): "6,799; 2,685 (39 %); 22,207; 10,170 (46 %)",
    ("ACE2004", "dev"): "829; 293 (35 %); 2,511; 1,091 (43 %)",
    ("ACE2004", "test"): "879; 373 (42 %); 3,031; 1,418 (47 %)",
    ("ACE2005", "train"): "7,336; 2,686 (37 %); 24,687; 9,937 (40 %)",
    ("ACE2005", "dev"): "958; 341 (36 %); 3,217; 1,192 (37 %)",
    ("ACE2005", "test"): "1,047; 330 (32 %); 3,027; 1,184 (39 %)",
    ("GENIA", "train"): "14,836; 3,199 (22 %); 46,473; 8,337 (18 %)",
    ("GENIA", "dev"): "1,855; 366 (20 %); 5,014; 915 (18 %)",
    ("GENIA", "test"): "1,855; 448 (24 %); 5,600; 1,217 (22 %)",
}


class Place:
    """A mention of a sentence: its type, its parts, and the characters that it covers."""

    def __init__(self, document: Document, number: int) -> None:
        mention = document.mentions[number]
        self.kind, self.spans = mention.type, join_spans(document.text, mention.spans)
        self.words = int(
            sum(
                np.sum((document.tokens[:, 0] < end) & (document.tokens[:, 1] > start))
                for start, end in self.spans
                if document.tokens is not None
            )
        )

    def meets(self, other: Place) -> bool:
        """Whether a character is in both."""
        return any(a < d and c < b for a, b in self.spans for c, d in other.spans)


def sentences(documents: Iterable[Document]) -> Iterator[list[Place]]:
    """The different mentions of each sentence."""
    for document in documents:
        for part in by_sentence(prepare(document)):
            places = [Place(part, number) for number in range(len(part.mentions))]
            yield list({(place.kind, place.spans): place for place in places}.values())


def counted(parts: Iterable[list[Place]]) -> Counter[str]:
    """All counts of some sentences."""
    counts: Counter[str] = Counter(sentences=0)
    for places in parts:
        pairs = [(a, b) for a, b in combinations(places, 2) if a.meets(b)]
        overlapping = {id(place) for pair in pairs for place in pair}
        counts.update(
            {
                "sentences": 1, "with overlap": bool(pairs), "mentions": len(places), "overlapping": len(overlapping),
                "overlaps": len(pairs), "of different types": sum(a.kind != b.kind for a, b in pairs),
                f"longer than {LONG} words": sum(place.words > LONG for place in places),
                **{f"{n} parts": sum(len(place.spans) == n for place in places) for n in (1, 2, 3)},
                "more parts": sum(len(place.spans) > 3 for place in places),
            }
        )  # fmt: skip
        counts["longest"] = max([counts["longest"], *(place.words for place in places)])
    return counts


def share(part: int, whole: int) -> str:
    """A count with its percentage."""
    return f"{part:,} ({100 * part / max(1, whole):.0f} %)"


def nested(result: Result, options_: argparse.Namespace) -> None:
    """Sentences with overlap and overlapping mentions."""
    rows = []
    for name in NESTED:
        for part in ("train", "dev", "test"):
            found = counted(sentences(corpus(options_.data, name, part, options_.limit)))
            result.data.setdefault(name, {})[part] = found
            rows.append(
                [
                    name, part, found["sentences"], share(found["with overlap"], found["sentences"]),
                    found["mentions"], share(found["overlapping"], found["mentions"]),
                    share(found[f"longer than {LONG} words"], found["mentions"]), found["longest"],
                ]
            )  # fmt: skip
    result.table(
        "Corpora with nested mentions",
        ("corpus", "part", "sentences", "with overlap", "mentions", "overlapping", f"longer than {LONG} words",
         "words of the longest"), rows,
        "Paper 001, Table 1: " + ". ".join(f"{' '.join(key)}: {value}" for key, value in PAPER_2017.items()) + ".",
    )  # fmt: skip


def gapped(result: Result, options_: argparse.Namespace) -> None:
    """Discontiguous sentences: parts of mentions, and overlaps."""
    rows = []
    for name, types in GAPPED.items():
        data = Data(Task(name, name, types, (), ()), options_.data, options_.limit)
        for label, documents in splits(data, options_.seed).items():
            found = counted(sentences(chosen(documents, "disc")))
            result.data.setdefault(name, {})[label] = found
            numbers = [found[key] for key in ("sentences", "1 parts", "2 parts", "3 parts", "more parts", "mentions")]
            rows.append([name, label, *numbers, found["overlaps"], found["of different types"]])
    result.table(
        "Discontiguous sentences, as `discontiguous_paper.py` splits them",
        ("corpus", "part", "sentences", "1 part", "2 parts", "3 parts", "more", "mentions", "overlaps",
         "of different types"), rows,
    )  # fmt: skip


def splits(data: Data, seed: int) -> dict[str, Sequence[Document]]:
    """The parts of LARGE, and the two of SMALL."""
    if data.task.corpus == "craft":
        train, dev = hold_out(data.train, 0.1, seed)
        test: Sequence[Document] = data.read("dev")
    else:
        train, dev, test = data.train, data.read("dev"), data.read("test")
    most, fifth = hold_out(train, 0.2, seed)
    return {"train": train, "four fifths of it": most, "a fifth of it": fifth, "dev": dev, "test": test}


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, help="use only so many documents of each part, to try the script")


def main() -> None:
    """Count, write."""
    options_: Any = options("corpora", __doc__, _more)
    result = Result("What the corpora hold", options_.seed)
    nested(result, options_)
    gapped(result, options_)
    result.save(options_.out)


if __name__ == "__main__":
    main()
