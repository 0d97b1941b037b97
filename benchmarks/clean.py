"""Annotation errors that are found again: a twentieth of the mentions of a corpus spoiled, and listed by `clean`.

    python benchmarks/clean.py --data DATA [--only BC5CDR] [--documents 200] [--jobs 1]

Training data of GENIA (abstracts; of one that stands twice the first) and of BC5CDR. Of the mentions 5 % are drawn, and
of these a quarter each gets another type, another first or last token (one more or one less), is deleted, or has a
mention of its type and length invented elsewhere in the document, where none is. `spanloom.clean` then looks at the
documents, by its own parameters.

An error is found by a suspect that names the spoiled mention, or, where one was deleted, that proposes one of its type
which shares a character with it. All suspects are ranked, however uncertain. Shown is which share of the errors stands
in the first tenth of that list, and, which is much shorter, among as many suspects as a tenth of the mentions. A
suspect that is none of these errors need not be a false one: the corpora have errors of their own, which nobody counts.

The rates of `spanloom.clean.suspects` were chosen on the first 200 documents of GENIA, with seed 0.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from common import Clock, Result, commit, corpus, options, run_cases, say
from spanloom.clean import JudgedDocument, Suspect, judge, recognizer_of, suspects_of
from spanloom.clean.suspects import FOLDS
from spanloom.document import Document, Mention
from spanloom.formats import read
from spanloom.learn import Progress
from spanloom.text import prepare

SHARE: Final = 0.05
KINDS: Final = ("type", "boundary", "missing", "wrong")
TARGET: Final = 80.0
BINS: Final = (0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)


class Case(NamedTuple):
    """A corpus."""

    name: str
    load: Callable[[Path], list[Document]]


CASES: Final = (
    Case("GENIA", lambda folder: corpus(folder, "genia_documents", "train")),
    Case("BC5CDR", lambda folder: list(read(folder / "bc5cdr" / "CDR_TrainingSet.BioC.xml"))),
)


class Injected(NamedTuple):
    """An error that was put into a corpus.

    Args:
        document: the number of the document.
        kind: of the error, one of `KINDS`.
        before: the mention as annotated; where one is invented, the one that it was drawn after, which stays.
        after: the mention as it stands now; ``None`` if it is deleted.
    """

    document: int
    kind: str
    before: Mention
    after: Mention | None

    def is_found_by(self, suspect: Suspect) -> bool:
        """Whether a suspect of its document points at it."""
        if self.after is not None:
            return suspect.mention is not None and suspect.mention.key == self.after.key
        other = suspect.other
        if suspect.mention is not None or other is None or other.type != self.before.type:
            return False
        return any(a.start < b.end and b.start < a.end for a in other.spans for b in self.before.spans)


def inject(documents: Sequence[Document], share: float, seed: int) -> tuple[list[Document], list[Injected]]:
    """Return prepared documents with errors in place of a share of their mentions, and these: a quarter of each kind.

    A mention that has no place for an error, such as one whose ends are inside tokens, is left as it is.
    """
    random = np.random.default_rng(seed)
    mentions = [list(document.mentions) for document in documents]
    places = [(i, mention) for i, own in enumerate(mentions) for mention in own]
    order = iter(random.permutation(len(places)).tolist())
    types = sorted({mention.type for _, mention in places})
    errors: list[Injected] = []
    for number in range(round(share * len(places))):
        kind = KINDS[number % len(KINDS)]
        for at in order:
            i, before = places[at]
            drawn = list(_spoiled(kind, documents[i], before, mentions[i], types))
            if drawn:
                after = drawn[random.integers(len(drawn))]
                if kind != "wrong":
                    mentions[i].remove(before)
                if after is not None:
                    mentions[i].append(after)
                errors.append(Injected(i, kind, before, after))
                break
    return [document.copy(mentions=own) for document, own in zip(documents, mentions, strict=True)], errors


def _spoiled(
    kind: str, document: Document, mention: Mention, own: Sequence[Mention], types: Sequence[str]
) -> Iterator[Mention | None]:
    """Yield what an error of a kind may put in place of a mention, or beside it; ``None`` if it is deleted."""
    if kind == "missing":
        yield None
        return
    if kind == "type":
        found: Iterator[Mention] = (mention.replace(type=name) for name in types if name != mention.type)
    else:
        found = _shifted(document, mention) if kind == "boundary" else _elsewhere(document, mention, own)
    there = {one.key for one in own}
    yield from (one for one in found if one.key not in there)


def _shifted(document: Document, mention: Mention) -> Iterator[Mention]:
    """Yield a mention with its first or last token left out, or one more at an end, in its sentence."""
    assert document.tokens is not None and document.sentences is not None
    tokens = document.tokens.tolist()
    starts, ends = {start: i for i, (start, _) in enumerate(tokens)}, {end: i for i, (_, end) in enumerate(tokens)}
    if mention.start not in starts or mention.end not in ends:
        return
    first, last = starts[mention.start], ends[mention.end]
    low, high = next((a, b - 1) for a, b in document.sentences.tolist() if a <= first < b)
    *inner, final = mention.spans
    begin, *rest = mention.spans
    for token in (first - 1, first + 1):
        if low <= token and tokens[token][0] < begin.end:
            yield mention.replace(spans=((tokens[token][0], begin.end), *rest))
    for token in (last - 1, last + 1):
        if token <= high and tokens[token][1] > final.start:
            yield mention.replace(spans=(*inner, (final.start, tokens[token][1])))


def _elsewhere(document: Document, mention: Mention, own: Sequence[Mention]) -> Iterator[Mention]:
    """Yield mentions of the same type and as many tokens, in one sentence, that meet no other mention."""
    assert document.tokens is not None and document.sentences is not None
    tokens = document.tokens.tolist()
    length = sum(mention.start <= start < mention.end for start, _ in tokens)
    taken = [any(m.start < end and start < m.end for m in own) for start, end in tokens]
    for low, high in document.sentences.tolist():
        for first in range(low, high - length + 1):
            if length and not any(taken[i] for i in range(first, first + length)):
                yield Mention(mention.type, ((tokens[first][0], tokens[first + length - 1][1]),))


def ranks(errors: Sequence[Injected], suspects: Sequence[Suspect]) -> list[int | None]:
    """Return the place in the list at which each error is found, from 0; ``None`` for one that is not."""
    places = defaultdict(list)
    for rank, suspect in enumerate(suspects):
        places[suspect.document].append((rank, suspect))
    return [
        next((rank for rank, suspect in places[error.document] if error.is_found_by(suspect)), None) for error in errors
    ]


def measured(case: Case, chosen: argparse.Namespace) -> dict[str, Any]:
    """Spoil a corpus, list its suspects, and look where the errors stand."""
    own = {document.id: document for document in reversed(case.load(chosen.data))}
    documents = [prepare(document) for document in [*reversed(own.values())][: chosen.documents]]
    spoiled, errors = inject(documents, SHARE, chosen.seed)
    recognizer = recognizer_of(n_jobs=chosen.jobs, random_state=chosen.seed)
    with Clock() as clock:
        judged = judge(spoiled, recognizer, FOLDS, _told)
        suspects = suspects_of(judged, 0.0)
    found = ranks(errors, suspects)
    mentions = sum(len(document.mentions) for document in spoiled)
    tops = {"tenth of the list": len(suspects) // 10, "tenth of the mentions": mentions // 10}
    return {
        "commit": commit(), "documents": len(documents), "mentions": mentions, "errors": len(errors),
        "suspects": len(suspects), "seconds": clock.seconds, "not judged": _not_judged(judged),
        "tops": {name: {"suspects": top, **_shares(errors, found, top)} for name, top in tops.items()},
        "certainty": _by_certainty(suspects, {rank for rank in found if rank is not None}),
    }  # fmt: skip


def _told(progress: Progress) -> None:
    if progress.step == 0:
        say(f"{progress.stage}, {progress.seconds:.0f} s")


def _not_judged(judged: Sequence[JudgedDocument]) -> int:
    return sum(one.probabilities.count(None) for one in judged)


def _shares(errors: Sequence[Injected], found: Sequence[int | None], top: int) -> dict[str, float]:
    """Return the share of the errors, in percent, that are among the first suspects: of all, and of each kind."""
    right = [rank is not None and rank < top for rank in found]
    shares = {"all": 100 * float(np.mean(right))}
    for kind in KINDS:
        own = [one for one, error in zip(right, errors, strict=True) if error.kind == kind]
        if own:
            shares[kind] = 100 * float(np.mean(own))
    return shares


def _by_certainty(suspects: Sequence[Suspect], right: set[int]) -> list[list[float]]:
    """Return of each range of certainty its ends, how many suspects it has, and which share are injected errors."""
    certainty = np.array([suspect.certainty for suspect in suspects])
    is_right = np.isin(np.arange(len(suspects)), sorted(right))
    rows = []
    for low, high in pairwise(BINS):
        own = (certainty >= low) & (certainty < high)
        rows.append([low, min(high, 1.0), int(own.sum()), 100 * float(is_right[own].mean()) if own.any() else 0.0])
    return rows


def written(kept: dict[str, Any], chosen: argparse.Namespace) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Annotation errors that are found again", chosen.seed)
    shown = [case.name for case in CASES if case.name in kept]
    columns = ("all", *KINDS)
    rows = [
        [name, top, numbers["suspects"], *(f"{numbers[key]:.1f}" if key in numbers else "" for key in columns)]
        for name in shown
        for top, numbers in kept[name]["tops"].items()
    ]
    result.table(
        "Share of the errors among the first suspects, %",
        ("corpus", "the first", "suspects", "all errors", *KINDS),
        rows,
        *(
            f"{name}: {row['documents']:,} documents, {row['mentions']:,} mentions, {row['errors']:,} of them errors; "
            f"{row['suspects']:,} suspects, {row['not judged']:,} mentions not judged; "
            f"{row['seconds'][1]:.0f} processor seconds, commit {row['commit']}."
            for name, row in kept.items()
        ),
    )
    result.table(
        "Suspects by certainty",
        ("corpus", "from", "to", "suspects", "injected errors, %"),
        [[name, *row] for name in shown for row in kept[name]["certainty"]],
        "The others are errors that the corpora had before, and none.",
    )
    for name in shown:
        for top, numbers in kept[name]["tops"].items():
            result.at_least(f"{name}: errors in the first {top}, %", numbers["all"], TARGET)
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--documents", type=int, help="the first documents of each corpus [all]")
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")

    chosen = options("clean", __doc__, add)
    run_cases(chosen, CASES, lambda case: measured(case, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
