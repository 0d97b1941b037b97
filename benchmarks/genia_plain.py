"""GENIA with the features and the split of Lu and Roth (2015), their Table 5.

    python benchmarks/genia_plain.py --data DATA

The last tenth of the corpus to test on, as everywhere; of the rest the first nine tenths to train on, and the last to
choose lambda, the pass and the mention penalty by. No parts of speech, no bag of words, no clusters: words in a window
of three, word n-grams and word patterns are left of the paper's features. The mention hypergraph, counted by
`derivations`. AdaGrad, where the paper has L-BFGS.
"""

from __future__ import annotations

import argparse

from accuracy import COLUMNS, Parts, cells, fit, record, rows
from common import Result, corpus, options

FEATURES = ("bias", "w[-3..3]", "ngrams(w,2..4)", "orth[0]")
GRID = (1.0, 5.0)
NAME = "mention_hypergraph, derivations"
TRAINED = 0.9  # of what is not for the test


def parts_of(chosen: argparse.Namespace) -> Parts:
    """The split of the paper."""
    train, dev, test = (corpus(chosen.data, "genia", part, chosen.limit) for part in ("train", "dev", "test"))
    rest = [*train, *dev]
    cut = round(TRAINED * len(rest))
    return Parts(rest[:cut], rest[cut:], test)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epochs", type=int, default=10, help="of AdaGrad, at most [10]")
    parser.add_argument("--limit", type=int, help="use only so many sentences of each part, to try the script")


def main() -> None:
    """Train, choose, evaluate, write."""
    chosen = options("genia_plain", __doc__, _more)
    parts = parts_of(chosen)
    fitted = fit(
        NAME, parts, features=list(FEATURES), structure="mention_hypergraph", counting="derivations", l2=list(GRID),
        epochs=chosen.epochs, n_jobs=-1, random_state=chosen.seed,
    )  # fmt: skip
    found = rows(fitted, parts, chosen.seed)
    result = Result("GENIA without parts of speech and bags of words", chosen.seed)
    result.table(
        "Test data", COLUMNS, [cells(row) for row in found],
        f"Features: {', '.join(FEATURES)}. Trained on {len(parts.train):,} sentences, tuned on {len(parts.dev):,}. "
        f"Lambda chosen from {', '.join(f'{l2:g}' for l2 in GRID)}. The paper's figures are not legible in our copy.",
    )  # fmt: skip
    record(result, found)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
