"""Words and mentions of Chinese text: the four methods of Xu et al. (2014), their Table 1, on UNER Chinese.

    python benchmarks/segmentation.py --data DATA --cache CACHE
    python benchmarks/segmentation.py --data DATA --cache CACHE --corpus chinese_clinical --out FILE.json

Five folds over all 4,997 sentences, and the corpus' own split; the three feature sets; the methods independent,
incremental, joint_labels and dual, and exact decoding of what dual decodes. The words and mentions of the corpus are
gold on all sides; no method sees gold words of the text that it is measured on. Each fold is tuned on a tenth of its
training data, the own split on its own development data. Lambda and passes were chosen on the own split's training and
development data, for the chains of words and mentions and for that of pairs.

One row more than the paper has: `incremental_own`, whose chains see of the training text what chains trained on this
very text say of it. That is the plain reading of the paper; `incremental` takes outputs on held-out text.

Each pair of a split and a feature set is one part of the work, kept in CACHE once it is done: what was interrupted
goes on where it was. ``--only own`` or ``--only fold0,fold1`` does some of the splits.

Feature set 3 takes its dictionaries from `gazetteer/`: lists of surnames, places and words that end names of
organizations, written for this script from general knowledge. None was made from the corpus.

The paper's figures are of 336 discharge summaries; they show the order and the distances. UNER has other text and other
types. The corpus that comes with Spanloom has the paper's kind of text and its four types, but 399 invented sentences;
nothing was chosen on it, lambda and passes are those of UNER.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from common import Result, options, say, timed
from kept import Kept, Key, Store
from spanloom.data import chinese_clinical
from spanloom.document import Document
from spanloom.evaluate import exact, paired_test, score
from spanloom.evaluate.words import evaluate_words
from spanloom.formats import read
from spanloom.segment import Segmenter
from spanloom.segment.chains import Tagging
from spanloom.segment.corpus import Corpus, sentences_of
from spanloom.segment.model import SegmenterModel
from spanloom.segment.training import Trained

UNER, BUNDLED = "uner_zh", "chinese_clinical"
TITLES = {UNER: "UNER Chinese", BUNDLED: "the bundled clinical corpus"}
FILES = ("train", "dev", "test")
FOLDS = 5
SETS = ("set1", "set2", "set3")
OWN = "incremental_own"
METHODS = ("independent", OWN, "incremental", "joint_labels", "dual", "exact")
EXAMPLES = 3  # of sentences, for each order that is not the paper's
GAZETTEER = Path(__file__).parent / "gazetteer"
# Table 1: P, R, F1 of mentions and of words
PAPER = {
    ("set1", "independent"): ((89.61, 84.19, 86.82), (95.20, 94.75, 94.97)),
    ("set1", "incremental"): ((89.84, 85.69, 87.72), (95.25, 94.92, 95.09)),
    ("set1", "joint_labels"): ((90.26, 86.66, 88.42), (95.27, 95.13, 95.20)),
    ("set1", "dual"): ((91.50, 86.11, 88.72), (95.30, 95.25, 95.27)),
    ("set2", "independent"): ((89.48, 85.18, 87.28), (95.31, 95.05, 95.18)),
    ("set2", "incremental"): ((89.59, 86.03, 87.77), (95.26, 95.10, 95.18)),
    ("set2", "joint_labels"): ((89.84, 87.11, 88.45), (95.31, 95.31, 95.31)),
    ("set2", "dual"): ((91.25, 86.92, 89.03), (95.31, 95.38, 95.35)),
    ("set3", "independent"): ((91.03, 87.50, 89.23), (95.38, 95.30, 95.34)),
    ("set3", "incremental"): ((90.96, 88.10, 89.51), (95.48, 95.56, 95.55)),
    ("set3", "joint_labels"): ((91.52, 88.67, 90.07), (95.52, 95.57, 95.59)),
    ("set3", "dual"): ((92.15, 88.41, 90.24), (95.64, 95.53, 95.55)),
}
COUNTS = ("correct", "predicted", "gold")
ORDER = (
    ("incremental", "independent"),
    ("joint_labels", "incremental"),
    ("dual", "incremental"),
    ("dual", "joint_labels"),
    (OWN, "independent"),
    ("joint_labels", OWN),
    ("dual", OWN),
)
WHY = ("its words cut it", "found with another type", "found with other borders", "nothing found there")


def sentences(corpus: str, folder: Path) -> dict[str, list[Document]]:
    """The sentences of each file, each as a document with an identifier of its own."""
    found = {}
    for name in FILES:
        path = folder / "uner_zh" / f"zh_gsdsimp-ud-{name}.iob2"
        if corpus == BUNDLED:
            path = chinese_clinical() / f"{name}.jsonl"
        parts = [part for document in read(path) for part in sentences_of(document)]
        found[name] = [part.copy(id=f"{name}-{number}", columns={}, meta={}) for number, part in enumerate(parts)]
    return found


def splits(data: dict[str, list[Document]], seed: int) -> Iterator[tuple[str, list[Document], list[Document] | None]]:
    """Name, training data and development data of each split; the rest is its test data."""
    yield "own", data["train"], data["dev"]
    every = [document for part in data.values() for document in part]
    fold = np.random.default_rng(seed).permutation(len(every)) % FOLDS
    for number in range(FOLDS):
        yield f"fold{number}", [every[i] for i in np.flatnonzero(fold != number).tolist()], None


def test_of(name: str, data: dict[str, list[Document]], seed: int) -> list[Document]:
    """The test data of a split."""
    if name == "own":
        return data["test"]
    every = [document for part in data.values() for document in part]
    fold = np.random.default_rng(seed).permutation(len(every)) % FOLDS
    return [every[i] for i in np.flatnonzero(fold == int(name[4:])).tolist()]


def parameters(features: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """Of all segmenters of one part."""
    lists = {path.stem: str(path) for path in sorted(GAZETTEER.glob("*.txt"))}
    return {
        "features": features, "l2": chosen.l2, "epochs": chosen.epochs, "random_state": chosen.seed,
        "dictionaries": lists if features == "set3" else None,
    }  # fmt: skip


def run_part(
    train: list[Document], dev: list[Document] | None, test: list[Document], features: str, chosen: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, list[Document]]]:
    """Train for all methods, predict with each; the figures and the predictions."""
    given = parameters(features, chosen)
    Segmenter("incremental", **{**given, "epochs": 1}).fit(train[:300])  # loads kernels, which no training should bear
    stack = Segmenter("incremental", **given)
    spent, _ = timed(lambda: stack.fit(train, dev=dev))
    with patch("spanloom.segment.training.held_out_models", own_models):
        own = Segmenter("incremental", **given).fit(train, dev=dev)
    joint = Segmenter("joint_labels", **{**given, "l2": chosen.joint_l2, "epochs": chosen.joint_epochs})
    spent_joint, _ = timed(lambda: joint.fit(train, dev=dev))
    known = {word for document in train for word in document.words}
    figures: dict[str, Any] = {"methods": {}, "train_seconds": training_seconds(stack, joint)}
    figures["train_seconds"] |= {"incremental": spent.cpu, "joint_labels, all": spent_joint.cpu}
    figures["chains"] = {name: vars(chain) for s in (stack, joint) for name, chain in s.report_.chains.items()}
    predicted = {}
    characters = sum(len("".join(document.text.split())) for document in test)
    for method in METHODS:
        trained = {"joint_labels": joint, OWN: own}
        segmenter = trained[method] if method in trained else stack.set_params(method=method)
        list(segmenter.predict(test[:20], scores=False))
        seconds, found = timed(lambda segmenter=segmenter: list(segmenter.predict(test, scores=False)))
        predicted[method] = found
        figures["methods"][method] = {**counted(test, found, known), "characters_a_second": characters / seconds.cpu}
    figures["dual"] = certificates(predicted["dual"], predicted["exact"])
    both = [side for pair in ORDER for side in (pair, pair[::-1])]
    figures["why"] = {f"{one}/{other}": why(test, predicted[one], predicted[other]) for one, other in both}
    return figures, {name: [d.copy(meta={}) for d in documents] for name, documents in predicted.items()}


def own_models(
    alone: Trained, model: SegmenterModel, tagged: Mapping[str, Tagging], train: Corpus, *_: object
) -> list[tuple[SegmenterModel, list[int]]]:
    """The model that was trained on all documents, in place of those of folds; see `training.held_out_models`."""
    return [(model, list(range(len(train.text.batch.documents))))]


def why(gold: Sequence[Document], one: Sequence[Document], other: Sequence[Document]) -> list[int]:
    """Of the mentions that only the other has right: how many the one misses for each of `WHY`."""
    counts = [0] * len(WHY)
    for true, left, right in zip(gold, one, other, strict=True):
        keys = {mention.key for mention in left.mentions}
        ends = set(np.asarray(left.tokens).ravel().tolist())
        for mention in true.mentions:
            if mention.key in keys or mention.key not in {found.key for found in right.mentions}:
                continue
            near = [m for m in left.mentions if m.start < mention.end and mention.start < m.end]
            reasons = (
                not {mention.start, mention.end} <= ends,
                any(m.spans == mention.spans for m in near),
                bool(near),
                True,
            )
            counts[reasons.index(True)] += 1
    return counts


def training_seconds(stack: Segmenter, joint: Segmenter) -> dict[str, float]:
    """Processor seconds of training: features and chains."""
    own, pairs = stack.seconds_, joint.seconds_
    return {
        "dual": sum(own[name] for name in ("features of words and mentions", "words and mentions", "joint penalty")),
        "joint_labels": pairs["features of pairs"] + pairs["pairs"],
        "words and mentions": own["words and mentions"], "pairs": pairs["pairs"],
    }  # fmt: skip


def counted(gold: Sequence[Document], found: Sequence[Document], known: set[str]) -> dict[str, Any]:
    """Counts of mentions, by type and in all, of words and of unseen words."""
    words = evaluate_words(gold, found, known=known, bootstrap=0)
    types = {}
    for kind in sorted({mention.type for document in gold for mention in document.mentions}):
        sides = [[d.copy(mentions=[m for m in d.mentions if m.type == kind]) for d in side] for side in (gold, found)]
        types[kind] = numbers(score(*sides, key=exact))
    unseen = words.unseen
    return {
        "mentions": numbers(score(gold, found, key=exact)), "types": types, "words": numbers(words.words),
        "unseen": [0, 0] if unseen is None else [unseen.found, unseen.gold], "cuts": words.cuts["predicted"],
    }  # fmt: skip


def numbers(found: Any) -> list[float]:
    """Correct, predicted, gold."""
    return [getattr(found, name) for name in COUNTS]


def certificates(dual: Sequence[Document], exact_: Sequence[Document]) -> dict[str, Any]:
    """What dual decomposition says of each sentence, and whether certified answers are those of exact decoding."""
    counts: Counter[str] = Counter()
    iterations: list[int] = []
    for one, other in zip(dual, exact_, strict=True):
        [optimal], [steps] = one.meta["dual"]["optimal"], one.meta["dual"]["iterations"]
        same = one.words == other.words and [m.key for m in one.mentions] == [m.key for m in other.mentions]
        iterations.append(steps)
        counts["sentences"] += 1
        counts["certified"] += optimal
        counts["certified, but not exact"] += optimal and not same
        counts["not certified, but exact"] += same and not optimal
        counts["agreed at once"] += steps == 1
    return {**counts, "iterations": iterations}


def prf(counts: Sequence[float]) -> tuple[float, float, float]:
    """Percent."""
    correct, predicted, gold = counts
    return tuple(
        100 * value
        for value in (correct / max(1, predicted), correct / max(1, gold), 2 * correct / max(1, predicted + gold))
    )  # type: ignore[return-value]


def total(parts: Sequence[Kept], method: str, name: str) -> list[float]:
    """Counts of several splits, added."""
    return np.sum([kept.facts["methods"][method][name] for kept in parts], axis=0).tolist()


def report(
    kept: dict[str, dict[str, list[Kept]]], gold: dict[str, list[Document]], chosen: argparse.Namespace
) -> Result:
    """Tables and targets."""
    result = Result("Words and mentions of Chinese text", chosen.seed)
    for kind, sets in kept.items():
        if not sets:
            continue
        title = "five folds" if kind == "folds" else "own split, test data"
        result.table(
            f"Table 1 on {TITLES[chosen.corpus]}, {title}",
            ("features", "method", "mentions P", "R", "F1", "over independent", "words P", "R", "F1",
             "over independent", "unseen words R", "mentions that cut words", "paper: mentions F1", "words F1"),
            table_1(sets),
            "Counts of all folds added." if kind == "folds" else "",
        )  # fmt: skip
        by_type(result, title, sets)
        for features, parts in sets.items():
            check_order(result, f"{title}, {features}", parts)
    everything = [part for sets in kept.values() for parts in sets.values() for part in parts]
    solver(result, everything)
    training(result, kept)
    speeds(result, everything)
    differences(result, kept, gold, chosen)
    causes(result, kept)
    examples(result, kept, gold)
    result.data["parts"] = [{"key": str(part.key), **part.facts} for part in everything]
    return result


def table_1(sets: dict[str, list[Kept]]) -> list[list[Any]]:
    """Rows as in the paper, and exact decoding."""
    rows = []
    for features, parts in sets.items():
        base = [prf(total(parts, "independent", name))[2] for name in ("mentions", "words")]
        for method in METHODS:
            mentions, words = (prf(total(parts, method, name)) for name in ("mentions", "words"))
            found, unseen = total(parts, method, "unseen")
            cuts = int(np.sum([part.facts["methods"][method]["cuts"] for part in parts]))
            paper = PAPER.get((features, method))
            rows.append([
                features, method, *mentions, mentions[2] - base[0], *words, words[2] - base[1],
                100 * found / max(1, unseen), cuts, *("" if paper is None else side[2] for side in paper or ((), ())),
            ])  # fmt: skip
    return rows


def by_type(result: Result, title: str, sets: dict[str, list[Kept]]) -> None:
    """The half of the paper's Table 1 that counts each type by itself."""
    kinds = sorted({kind for parts in sets.values() for part in parts for kind in types_of(part)})
    result.table(
        f"Each type, {title}: P / R / F1",
        ("features", "method", *kinds),
        [
            [features, method, *(triple(parts, method, kind) for kind in kinds)]
            for features, parts in sets.items()
            for method in METHODS
        ],
        "Counts of all splits added.",
    )


def types_of(part: Kept) -> dict[str, list[float]]:
    """The types that a part's test data have."""
    found: dict[str, list[float]] = part.facts["methods"][METHODS[0]]["types"]
    return found


def triple(parts: Sequence[Kept], method: str, kind: str) -> str:
    """Precision, recall and F1 of a type; a split whose test data lack it has none."""
    counts = [part.facts["methods"][method]["types"].get(kind, [0, 0, 0]) for part in parts]
    return " / ".join(f"{value:.1f}" for value in prf(np.sum(counts, axis=0).tolist()))


def check_order(result: Result, title: str, parts: list[Kept]) -> None:
    """The order of the methods that the paper reports, on mentions."""
    f1 = {method: prf(total(parts, method, "mentions"))[2] for method in METHODS}
    for better, worse in ORDER:
        result.at_least(f"{title}: F1 of mentions, {better} over {worse}", f1[better] - f1[worse], 0.0)


def solver(result: Result, parts: list[Kept]) -> None:
    """Certificates and iterations."""
    rows = []
    sums: Counter[str] = Counter()
    for part in parts:
        dual = part.facts["dual"]
        steps = np.array(dual["iterations"])
        sums.update({name: count for name, count in dual.items() if name != "iterations"})
        again = steps[steps > 1]
        rows.append([
            str(part.key), dual["sentences"], 100 * dual["certified"] / dual["sentences"],
            100 * dual["agreed at once"] / dual["sentences"], float(steps.mean()),
            float(again.mean()) if len(again) else 0.0, dual["certified, but not exact"],
        ])  # fmt: skip
    result.table(
        "Dual decomposition, at most 50 iterations",
        ("part", "sentences", "certified, %", "agreed at once, %", "iterations, mean", "mean of the others",
         "certified, but not the exact optimum"), rows,
    )  # fmt: skip
    result.at_least("sentences certified within 50 iterations, %", 100 * sums["certified"] / sums["sentences"], 99)
    result.at_most("certified answers that are not the exact optimum", sums["certified, but not exact"], 0)


def training(result: Result, kept: dict[str, dict[str, list[Kept]]]) -> None:
    """Training times."""
    rows, shares = [], []
    for kind, sets in kept.items():
        for features, parts in sets.items():
            spent = {
                name: float(np.mean([p.facts["train_seconds"][name] for p in parts]))
                for name in parts[0].facts["train_seconds"]
            }
            shares.append(spent["dual"] / spent["joint_labels"])
            rows.append(
                [
                    kind,
                    features,
                    *(spent[name] for name in ("words and mentions", "dual", "pairs", "joint_labels", "incremental")),
                    shares[-1],
                ]
            )
    result.table(
        "Training, processor seconds a split",
        ("splits", "features", "chains of words and of mentions", "dual", "chain of pairs", "joint_labels",
         "incremental", "dual over joint_labels"), rows,
        "dual and joint_labels with their features. The paper: 2 h against more than 10 h.",
    )  # fmt: skip
    result.at_most("training time of dual over that of joint_labels, mean", float(np.mean(shares)), 1 / 3)


def speeds(result: Result, parts: list[Kept]) -> None:
    """Characters a second, from documents to documents, features included, one core."""
    sets: dict[str, list[Kept]] = {}
    for part in parts:
        sets.setdefault(part.key.model, []).append(part)
    rates = {
        (features, method): float(np.median([p.facts["methods"][method]["characters_a_second"] for p in some]))
        for features, some in sets.items() for method in METHODS
    }  # fmt: skip
    result.table(
        "Characters a second of one core, median of the splits",
        ("features", *METHODS), [[features, *(rates[features, m] for m in METHODS)] for features in sets],
        "From documents without words to documents with words and mentions, features included; without scores.",
    )  # fmt: skip
    slowest = {method: min(rates[features, method] for features in sets) for method in METHODS}
    result.at_least("characters a second, independent", slowest["independent"], 200_000)
    result.at_least("characters a second, dual", slowest["dual"], 60_000)
    result.at_least("speed of exact over dual", min(rates[f, "exact"] / rates[f, "dual"] for f in sets), 1.0)


def differences(
    result: Result, kept: dict[str, dict[str, list[Kept]]], gold: dict[str, list[Document]], chosen: argparse.Namespace
) -> None:
    """Which sentences the methods differ on: for each pair the mentions that only one has right, and a paired test."""
    rows = []
    for kind, sets in kept.items():
        for features, parts in sets.items():
            expected = [document for part in parts for document in gold[part.key.training]]
            for better, worse in ORDER:
                sides = [[d for part in parts for d in part.predicted[method]] for method in (better, worse)]
                test = paired_test(expected, *sides, seed=chosen.seed)
                rows.append([kind, features, better, worse, *only(expected, *sides), test.p_value])
    result.table(
        "Mentions that only one of two methods has right, or wrong",
        ("splits", "features", "method", "other", "only it right", "only the other right", "only it wrong",
         "only the other wrong", "p of the difference in F1"), rows,
    )  # fmt: skip


def causes(result: Result, kept: dict[str, dict[str, list[Kept]]]) -> None:
    """Why a method misses mentions that another one has right."""
    rows = []
    for kind, sets in kept.items():
        for features, parts in sets.items():
            for key in parts[0].facts["why"]:
                counts = np.sum([part.facts["why"][key] for part in parts], axis=0).tolist()
                rows.append([kind, features, *key.split("/"), sum(counts), *counts])
    result.table(
        "Mentions that one method misses and another one has right",
        ("splits", "features", "missed by", "right in", "mentions", *WHY), rows,
    )  # fmt: skip


def examples(result: Result, kept: dict[str, dict[str, list[Kept]]], gold: dict[str, list[Document]]) -> None:
    """Sentences behind an order that is not the paper's: mentions that only the worse-ranked method has right."""
    rows = []
    for kind, sets in kept.items():
        for features, parts in sets.items():
            f1 = {method: prf(total(parts, method, "mentions"))[2] for method in METHODS}
            for better, worse in ORDER:
                if f1[better] >= f1[worse]:
                    continue
                found = 0
                for part in parts:
                    sides = (gold[part.key.training], part.predicted[better], part.predicted[worse])
                    for true, left, right in zip(*sides, strict=True):
                        keys = [{mention.key for mention in document.mentions} for document in (true, left, right)]
                        if found < EXAMPLES and keys[0] & keys[2] - keys[1]:
                            found += 1
                            named = [
                                "; ".join(f"{m.type} {m.text(d.text)}" for m in d.mentions) for d in (true, left, right)
                            ]
                            rows.append([kind, features, better, worse, true.text.strip().replace("|", "¦"), *named])
    if rows:
        result.table(
            "Sentences where the method that the paper ranks higher misses what the other one has right",
            ("splits", "features", "method", "other", "sentence", "gold", "it finds", "the other finds"), rows,
        )  # fmt: skip


def only(gold: Sequence[Document], one: Sequence[Document], other: Sequence[Document]) -> tuple[int, int, int, int]:
    """Right mentions of one side only, of the other only; wrong ones likewise."""
    counts = [0, 0, 0, 0]
    for g, a, b in zip(gold, one, other, strict=True):
        true, left, right = ({mention.key for mention in document.mentions} for document in (g, a, b))
        for i, found in enumerate(
            ((left - right) & true, (right - left) & true, left - right - true, right - left - true)
        ):
            counts[i] += len(found)
    return counts[0], counts[1], counts[2], counts[3]


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cache", type=Path, required=True, help="the folder where what is done is kept")
    parser.add_argument("--corpus", choices=tuple(TITLES), default=UNER, help="[uner_zh]")
    parser.add_argument("--only", help="splits to do, such as own,fold0; the report is of all that is done")
    parser.add_argument("--sets", default=",".join(SETS), help="feature sets [set1,set2,set3]")
    parser.add_argument("--l2", type=float, default=0.02, help="lambda [0.02]")
    parser.add_argument("--joint-l2", type=float, default=0.05, help="lambda of joint_labels [0.05]")
    parser.add_argument("--epochs", type=int, default=10, help="passes of AdaGrad, at most [10]")
    parser.add_argument("--joint-epochs", type=int, default=30, help="of joint_labels, whose steps are shorter [30]")
    parser.add_argument("--limit", type=int, help="use only so many sentences of each file, to try the script")


def main() -> None:
    """Train what is not kept, then report on all that is."""
    chosen = options("segmentation", __doc__, _more)
    data = {name: part[: chosen.limit] for name, part in sentences(chosen.corpus, chosen.data).items()}
    store = Store(chosen.cache)
    wanted = chosen.only.split(",") if chosen.only else None
    kept: dict[str, dict[str, list[Kept]]] = {"folds": {}, "own": {}}
    gold = {}
    for name, train, dev in splits(data, chosen.seed):
        gold[name] = test_of(name, data, chosen.seed)
        for features in chosen.sets.split(","):
            key = Key(chosen.corpus, name, features)
            record = {**parameters(features, chosen), "sentences": len(train)}
            record |= {"joint_l2": chosen.joint_l2, "joint_epochs": chosen.joint_epochs}
            record["dictionaries"] = bool(record["dictionaries"])
            if not store.has(key, record):
                if wanted is not None and name not in wanted:
                    continue
                seconds, (figures, predicted) = timed(
                    lambda train=train, dev=dev, name=name, features=features: run_part(
                        train, dev, gold[name], features, chosen
                    )
                )
                say(f"{key}: {seconds.cpu:.0f} s of the processor, {seconds.wall:.0f} s")
                store.keep(key, record, figures, predicted)
            own = store.load(key, METHODS, gold[name])
            kept["own" if name == "own" else "folds"].setdefault(features, []).append(own)
    if any(kept.values()):
        report(kept, gold, chosen).save(chosen.out)


if __name__ == "__main__":
    main()
