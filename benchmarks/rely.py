"""Guarantees: whether the promised rates are kept, and how many candidates must be looked at.

    python benchmarks/rely.py --data DATA --only bc5cdr

For each corpus a recognizer of the preset fast is trained on its training data, a tenth of which it is tuned on. Its
development data, which it has not seen, are dealt to two halves, by documents, 20 times: one half gives the thresholds,
the other is labelled. Two rates are counted there: the share of the candidates labelled *yes* that is right, and the
share of gold mentions that are labelled *no*, or are no candidates, among those of types for which a *no* is promised.
A split keeps a rate where the share is not worse than promised; a split whose thresholds promise nothing (no *yes*, or
no *no*) is counted as kept, and shown apart. Test data are not read.
"""

from __future__ import annotations

import argparse

import numpy as np

from common import Result, check_only, options, say
from spanloom import Recognizer, read
from spanloom.recognize.relying import Reliance

CORPORA = {
    "bc5cdr": ("bc5cdr/CDR_TrainingSet.BioC.xml", "bc5cdr/CDR_DevelopmentSet.BioC.xml"),
    "ncbi_disease": ("ncbi_disease/NCBItrainset_corpus.txt", "ncbi_disease/NCBIdevelopset_corpus.txt"),
    "genia_documents": ("genia_documents/train.jsonl", "genia_documents/dev.jsonl"),
    "anatem": ("anatem/train.jsonl", "anatem/dev.jsonl"),
    "cancer_genetics": ("cancer_genetics/train.jsonl", "cancer_genetics/dev.jsonl"),
}
"""Corpus -> training and development data."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--only", nargs="*", choices=CORPORA, help="some of the corpora [all]")
    parser.add_argument("--rate", type=float, default=0.95, help="promised [0.95]")
    parser.add_argument("--splits", type=int, default=20, help="of each corpus [20]")
    parser.add_argument("--limit", type=int, help="of training documents")


def rates(gold, found, reliance):
    """Return candidates by label, right ones of *yes*, gold mentions, those with a promised *no*, and missed ones."""
    counts, right, total, promised, missed = {"yes": 0, "ask": 0, "no": 0}, 0, 0, 0, 0
    for expected, given in zip(gold, found, strict=True):
        wanted = {mention.key: mention for mention in expected.mentions}
        labels = {mention.key: reliance.label(mention) for mention in given.mentions}
        for key, label in labels.items():
            counts[label] += 1
            right += label == "yes" and key in wanted
        total += len(wanted)
        under = [key for key, mention in wanted.items() if reliance.limits_of(mention).no > 0]
        promised += len(under)
        missed += sum(labels.get(key, "no") == "no" for key in under)
    return counts, right, total, promised, missed


def main() -> None:
    """Run all."""
    chosen = options("rely", __doc__, add)
    check_only(chosen.only, list(CORPORA))
    result = Result("Promised rates of yes and no are kept", chosen.seed)
    rows = []
    for name in chosen.only or CORPORA:
        train, gold = (list(read(chosen.data / path)) for path in CORPORA[name])
        model = Recognizer(features="fast").fit(train[: chosen.limit])
        found = list(model.plausible(gold))
        splits = []
        for split in range(chosen.splits):
            order = np.random.default_rng((chosen.seed, split)).permutation(len(gold)).tolist()
            half, rest = order[: len(order) // 2], order[len(order) // 2 :]
            reliance = Reliance.of([gold[i] for i in half], [found[i] for i in half], chosen.rate)
            counts, right, total, under, missed = rates([gold[i] for i in rest], [found[i] for i in rest], reliance)
            splits.append(
                [right / max(1, counts["yes"]) if counts["yes"] else 1.0, missed / max(1, under), counts, total, under]
            )
        yes, no = np.array([one[0] for one in splits]), np.array([one[1] for one in splits])
        promised = np.array([one[4] > 0 for one in splits])
        mean = {label: float(np.mean([one[2][label] for one in splits])) for label in ("yes", "ask", "no")}
        total = float(np.mean([one[3] for one in splits]))
        kept_no = (no <= 1 - chosen.rate) | ~promised
        rows.append([
            name, len(gold), 100 * yes.mean(), 100 * (yes >= chosen.rate).mean(),
            100 * no[promised].mean() if promised.any() else "-", 100 * kept_no.mean(),
            100 * promised.mean(), 100 * mean["yes"] / total, 100 * mean["ask"] / total,
        ])  # fmt: skip
        say(*rows[-1])
    result.table(
        f"{chosen.splits} splits, promised {chosen.rate:.0%}",
        ("corpus", "documents", "right of yes, %", "splits kept, %", "missed, %", "splits kept, % ", "with a no, %",
         "yes per gold, %", "ask per gold, %"), rows,
    )  # fmt: skip
    for name, _, _, yes_kept, _, no_kept, *_ in rows:
        result.at_least(f"{name}: splits in which yes keeps its rate, %", yes_kept, 95)
        result.at_least(f"{name}: splits in which no keeps its rate, %", no_kept, 95)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
