"""Mentions that begin or end inside a token: lost before and after tokens are split at learned patterns, and F1.

    python benchmarks/cut_tokens.py --data DATA

CRAFT, GENIA, AnatEM and Cancer Genetics, with the tokens of the corpus where it has any, and with those that Spanloom
makes of the text. Models of separators with the default settings but one lambda, with and without `split_tokens`; a
tenth of the training data tunes them, and the figures are those of development data. Prices of needless cuts were
chosen on CRAFT's development data, with its own tokens.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from common import Result, corpus, options, say, timed
from spanloom import Recognizer
from spanloom.document import Document, align
from spanloom.evaluate import evaluate, paired_test

CORPORA = (("craft", True), ("craft", False), ("genia", True), ("anatem", False), ("cancer_genetics", False))
WAYS = {"kept": False, "split": True}
TARGETS = {("craft", True): 1.0}  # points of F1 that splitting must bring


def raw(documents: Sequence[Document]) -> list[Document]:
    """The documents as text with mentions."""
    return [document.copy(tokens=None, sentences=None, columns={}) for document in documents]


def cutting(documents: Sequence[Document]) -> int:
    """How many mentions begin or end inside a token."""
    return sum(ranges is None for document in documents for _, ranges, _ in align(document))


def measure(chosen: argparse.Namespace, result: Result) -> None:
    """Train with and without, count, show."""
    rows = []
    for name, own in CORPORA:
        if chosen.only and name not in chosen.only:
            continue
        parts = (corpus(chosen.data, name, part, chosen.limit) for part in ("train", "dev"))
        train, dev = parts if own else map(raw, parts)
        label = f"{name}, {'its tokens' if own else 'text'}"
        predicted, reports = {}, {}
        for way, split in WAYS.items():
            model = Recognizer(split_tokens=split, l2=1.0, epochs=chosen.epochs, random_state=chosen.seed, n_jobs=-1)
            seconds, _ = timed(lambda model=model, train=train: model.fit(train))
            found = model.predict(dev, notice=lambda _: None)
            gold = [document.copy(mentions=own.mentions) for document, own in zip(found, dev, strict=True)]
            predicted[way], report = found, evaluate(dev, found, bootstrap=100).overall
            reports[way] = report
            patterns = [str(pattern) for pattern in model.splitter_.patterns]
            lost = model.report_.lost.get("it begins or ends inside a token", 0)
            figures = [100 * value for value in (report.precision, report.recall, report.f1)]
            rows.append([label, way, len(patterns), model.report_.mentions, lost, cutting(gold), *figures, seconds.cpu])
            result.data[f"{label}, {way}"] = {"patterns": patterns, "f1": report.f1, "cut": cutting(gold)}
            say(label, way, patterns, f"F1 {figures[-1]:.2f}")
        test = paired_test(dev, predicted["kept"], predicted["split"], seed=result.seed)
        gain = 100 * (reports["split"].f1 - reports["kept"].f1)
        result.data[f"{label}, gain"] = {"f1": gain, "p": test.p_value}
        rows.append([label, "p", "", "", "", "", "", "", test.p_value, ""])
        result.at_least(f"{label}: points of F1 that splitting brings", gain, TARGETS.get((name, own), -0.2))
    result.table(
        "Mentions that cut tokens, and F1 on development data",
        (
            "corpus",
            "tokens",
            "patterns",
            "training mentions",
            "lost",
            "lost in dev",
            "P",
            "R",
            "F1",
            "seconds of training",
        ),
        rows,
        "Rows p: of the difference of F1, by approximate randomization over sentences.",
    )


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epochs", type=int, default=10, help="of training, at most [10]")
    parser.add_argument("--limit", type=int, help="documents of each part, to try it")
    parser.add_argument("--only", action="append", help="a corpus; several times for more")


def main() -> None:
    """Measure, write."""
    chosen = options("cut_tokens", __doc__, _more)
    result = Result("Tokens are split where mentions cut them", chosen.seed)
    measure(chosen, result)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
