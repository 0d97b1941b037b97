"""Candidate search in MEDIC: recall at 1, 5, 10 and 20 on development data, and what a search costs on one core.

A mention counts if it is linked to any concept at all; mentions without one (-1 in BC5CDR) do not. A composite mention
is found if one of its concepts is; the last column asks for all of them. Concepts that MEDIC lacks cannot be found, and
count. The memory is that of the training mentions alone; abbreviations are those that the document itself defines.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import Result, Seconds, median, one_core, options, say, timed
from spanloom.document import Batch, Document
from spanloom.formats import read
from spanloom.text import prepare
from spanloom.text.abbreviations import abbreviations, expand
from spanloom.vocabulary import Vocabulary, read_vocabulary
from spanloom.vocabulary.candidates import CandidateFinder, Candidates
from spanloom.vocabulary.folding import CLOSE, LOOSE
from spanloom.vocabulary.lexicon import runs
from spanloom.vocabulary.memory import Memory

AT = (1, 5, 10, 20)
RECALL, MILLISECONDS, OPEN = 90.0, 1.0, 1.0  # targets
LONGEST = 8  # tokens of a span
CORPORA = {
    "BC5CDR": ("bc5cdr/CDR_TrainingSet.BioC.xml", "bc5cdr/CDR_DevelopmentSet.BioC.xml", "bioc", {"Disease"}),
    "NCBI": ("ncbi_disease/NCBItrainset_corpus.txt", "ncbi_disease/NCBIdevelopset_corpus.txt", "pubtator", None),
}
ROWS = (  # method, with memory, with long forms of abbreviations
    ("edit", False, False),
    ("edit", False, True),
    ("edit", True, True),
    ("trigram", False, False),
    ("trigram", False, True),
    ("best", False, False),
    ("best", False, True),
    ("best", True, False),
    ("best", True, True),
)


class Query(NamedTuple):
    """A mention, its long form if it has one, and the numbers of its concepts; -1 for what the vocabulary lacks."""

    text: str
    long: str | None
    gold: tuple[int, ...]


def queries(documents: Iterable[Document], vocabulary: Vocabulary, types: set[str] | None) -> list[Query]:
    """The mentions that have a concept."""
    found = []
    for document in documents:
        defined = abbreviations(document)
        for mention in document.mentions:
            if mention.concepts and (types is None or mention.type in types):
                text = mention.text(document.text)
                gold = tuple(vocabulary.find(concept) for concept in mention.concepts)
                found.append(Query(text, expand(text, defined), gold))
    return found


def recall(found: Candidates, asked: Sequence[Query]) -> tuple[list[float], float]:
    """Percent of mentions with a gold concept among the first 1, 5, 10, 20; and with all of them among the first 10."""
    hits, whole = [0] * len(AT), 0
    for q, query in enumerate(asked):
        listed = found.concept[found.ptr[q] : found.ptr[q + 1]].tolist()
        ranks = [listed.index(concept) if concept in listed else len(listed) + max(AT) for concept in query.gold]
        hits = [hit + (min(ranks) < k) for hit, k in zip(hits, AT, strict=True)]
        whole += max(ranks) < 10
    return [100 * hit / len(asked) for hit in hits], 100 * whole / len(asked)


def search(result: Result, finders: dict[str, CandidateFinder], folder: Path, chosen: argparse.Namespace) -> None:
    """Recall and time of each method."""
    vocabulary = finders["best"].vocabulary
    for name, (train, dev, format, types) in CORPORA.items():
        memory = Memory.build(read(folder / train, format=format), vocabulary, types)
        asked = queries(read(folder / dev, format=format), vocabulary, types)
        distinct = list(dict.fromkeys((query.text, query.long) for query in asked))
        rows: list[list[Any]] = []
        for method, remember, long in ROWS:
            finder = finders[method].with_memory(memory if remember else None)
            texts, longs = [query.text for query in asked], [query.long if long else None for query in asked]
            figures, whole = recall(finder.find(texts, longs), asked)
            once = [text for text, _ in distinct], [form if long else None for _, form in distinct]
            seconds = median(
                timed(lambda finder=finder, once=once: finder.find(*once))[0] for _ in range(chosen.repeats)
            )
            each = 1000 * seconds.cpu / len(distinct)
            rows.append([method, "yes" if remember else "", "yes" if long else "", *figures, whole, each])
        found = rows[-1]
        result.table(
            f"{name}: recall of candidates on development data ({len(asked):,} mentions, {len(distinct):,} distinct)",
            ("method", "memory", "abbreviations", *(f"at {k}" for k in AT), "all concepts at 10", "ms a mention"),
            rows,
            f"Percent. Memory of {len(memory):,} texts. Processor time of one core for each distinct mention.",
        )
        result.at_least(f"{name}: recall at 10 with memory and abbreviations", found[3 + AT.index(10)], RECALL)
        result.at_most(f"{name}: milliseconds a mention", found[-1], MILLISECONDS)
        result.data[name] = {"mentions": len(asked), "distinct": len(distinct), "rows": rows}


def costs(result: Result, vocabulary: Vocabulary, folder: Path, chosen: argparse.Namespace) -> None:
    """Building, opening, and the dictionary of all spans."""
    finder = CandidateFinder(vocabulary)
    arrays = finder.arrays()
    build = median(timed(lambda: CandidateFinder(vocabulary))[0] for _ in range(chosen.repeats))
    opened = median(timed(lambda: CandidateFinder.from_arrays(vocabulary, arrays))[0] for _ in range(chosen.repeats))
    batch = Batch.of([prepare(document) for document in read(folder / CORPORA["BC5CDR"][1], format="bioc")])
    tokens = len(batch.tokens)
    spans = finder.lexicon.spans
    rows = [["build the index", build.wall, ""], ["from saved arrays", opened.wall, ""]]
    for label, degree in (("closely", CLOSE), ("loosely", LOOSE)):
        spans(runs(batch.words), batch.sentences, LONGEST, degree)
        took: Seconds = median(
            timed(lambda degree=degree: spans(runs(batch.words), batch.sentences, LONGEST, degree))[0]
            for _ in range(chosen.repeats)
        )
        rows.append([f"all spans of up to {LONGEST} tokens, folded {label}", took.wall, tokens / took.cpu])
    result.table(
        f"Costs ({len(vocabulary.names):,} names; {tokens:,} tokens)", ("what", "seconds", "tokens a second"), rows
    )
    result.at_most("seconds from saved arrays", opened.wall, OPEN)
    result.data["index_bytes"] = sum(array.nbytes for array in arrays.values())


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=int, default=3, help="of each measurement [3]")


def main() -> None:
    """Measure, write."""
    chosen = options("candidates", __doc__, _more)
    one_core()
    result = Result("Candidate search in MEDIC", chosen.seed)
    vocabulary = read_vocabulary(chosen.data / "bc5cdr" / "CTD_diseases.xml")
    finders = {method: CandidateFinder(vocabulary, k=max(AT), method=method) for method in ("best", "trigram", "edit")}
    say(f"{len(vocabulary):,} concepts, {len(vocabulary.names):,} names")
    for finder in finders.values():
        finder.find(["fever"])  # warm-up, not timed
    search(result, finders, chosen.data, chosen)
    costs(result, vocabulary, chosen.data, chosen)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
