"""Mentions that begin or end inside a token: lost before and after tokens are split at learned patterns, and F1.

    python benchmarks/cut_tokens.py --data DATA

CRAFT, GENIA, AnatEM and Cancer Genetics, or those that `--only` names, with the tokens of the corpus where it
has any, and with those that Spanloom makes of the text. Models of separators with the default settings but one
lambda, with and without `split_tokens`; a tenth of the training data tunes them, and the figures are those of
development data. The model that splits is also measured with the other's mention penalty: with small corpora
the tuned one differs from hold-out to hold-out, and moves F1 more than a dozen mentions do. The price of a
needless cut was chosen on the development data of CRAFT, as tokenized.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from common import Result, Seconds, corpus, options, say, timed
from spanloom import Recognizer
from spanloom.document import Document, align
from spanloom.evaluate import evaluate, paired_test
from spanloom.model.corpus import CUTS_TOKEN
from spanloom.text import prepare

CORPORA = (("craft", True), ("craft", False), ("genia", True), ("anatem", False), ("cancer_genetics", False))
TARGETS = {("craft", True): 1.0, ("craft", False): 1.0}  # points of F1 that splitting must bring
SHARES = {("craft", True): 0.5, ("craft", False): 0.5}  # of mentions that stay lost


def raw(documents: Sequence[Document]) -> list[Document]:
    """The documents as text with mentions."""
    return [document.copy(tokens=None, sentences=None, columns={}) for document in documents]


def cutting(documents: Sequence[Document]) -> int:
    """How many mentions begin or end inside a token."""
    return sum(ranges is None for document in documents for _, ranges, _ in align(prepare(document)))


def train(documents: Sequence[Document], split: bool, chosen: argparse.Namespace) -> tuple[Recognizer, Seconds]:
    """A model, and what its training took."""
    model = Recognizer(split_tokens=split, l2=1.0, epochs=chosen.epochs, random_state=chosen.seed, n_jobs=-1)
    seconds, _ = timed(lambda: model.fit(documents))
    return model, seconds


def measure(chosen: argparse.Namespace, result: Result) -> None:
    """Train with and without, count, show."""
    rows = []
    for name, own in CORPORA:
        if chosen.only and name not in chosen.only:
            continue
        parts = (corpus(chosen.data, name, part, chosen.limit) for part in ("train", "dev"))
        given, dev = parts if own else map(raw, parts)
        label = f"{name}, {'its tokens' if own else 'text'}"
        (kept, before), (split, after) = (train(given, way, chosen) for way in (False, True))
        penalty = kept.report_.penalty
        predicted, f1 = {}, {}
        for way, model, seconds in (
            ("kept", kept, before), ("split", split, after), ("split, same penalty", split.with_penalty(penalty), after)
        ):  # fmt: skip
            predicted[way] = model.predict(dev, notice=lambda _: None)
            report = evaluate(dev, predicted[way], bootstrap=100).overall
            f1[way] = 100 * report.f1
            cut = cutting(model.ready(dev))
            patterns = [str(pattern) for pattern in model.splitter_.patterns]
            lost = model.report_.lost.get(CUTS_TOKEN, 0)
            figures = [100 * report.precision, 100 * report.recall, 100 * report.f1]
            rows.append([label, way, len(patterns), model.report_.mentions, lost, cut, *figures, seconds.cpu])
            result.data[f"{label}, {way}"] = {"patterns": patterns, "f1": report.f1, "lost": lost, "lost in dev": cut}
            say(label, way, patterns, f"F1 {figures[-1]:.2f}")
        for way in ("split", "split, same penalty"):
            test = paired_test(dev, predicted["kept"], predicted[way], seed=result.seed)
            result.data[f"{label}, {way}"]["p"] = test.p_value
        result.at_least(
            f"{label}: points of F1 that splitting brings, same penalty", f1["split, same penalty"] - f1["kept"],
            TARGETS.get((name, own), -0.1),
        )  # fmt: skip
        result.at_most(
            f"{label}: mentions of development data that cut tokens, after over before",
            result.data[f"{label}, split"]["lost in dev"] / max(1, result.data[f"{label}, kept"]["lost in dev"]),
            SHARES.get((name, own), 1.0),
        )
    result.table(
        "Mentions that cut tokens, and F1 on development data",
        ("corpus", "tokens", "patterns", "mentions", "lost", "lost in dev", "P", "R", "F1", "seconds of training"),
        rows,
    )
    result.table(
        "Paired tests against tokens as they are, and the patterns",
        ("corpus", "tokens", "p", "patterns"),
        [
            [
                *label.rsplit(", ", 1),
                data["p"],
                " ".join(f"`{pattern}`" for pattern in data["patterns"]).replace("|", "\\|"),
            ]
            for label, data in result.data.items()
            if "p" in data and label.endswith("split")
        ],
        "Approximate randomization over sentences.",
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
