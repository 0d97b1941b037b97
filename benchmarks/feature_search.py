"""The presets `fast` and `best`: groups of templates, searched on the development data of several corpora at once.

    python benchmarks/feature_search.py --data DATA --cache CACHE [--check gum,bc5cdr:40000:15000]

A trial trains a recognizer (`separators`, without the second stage) on a part of each corpus and tags a part of its
development data. What is searched for is the mean of the F1 of all corpora, so that one path is found for all and none
counts more for its many mentions; its differences are tested by exchanging sentences within each corpus. It starts from
the word itself, adds and removes; the presets are the best points of its path at two prices. No test data are read.

CACHE keeps each trial, so that the same command goes on after an interruption. `--check` trains what was found on
larger parts and tests it against the default.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from choices import Parts, parts
from common import Result, options, say, token_count
from spanloom import read
from spanloom.document import Document
from spanloom.features.clusters import induce_from, write_paths
from spanloom.parallel import threads
from spanloom.text import prepare
from spanloom_lab.feature_groups import GROUPS, groups_of, templates_of
from spanloom_lab.feature_record import TrialRecord, TrialRunner
from spanloom_lab.feature_search import FeatureSearch, SearchRules, SearchStep, all_trials, pareto_front
from spanloom_lab.feature_trials import Trial, TrialCorpus, draw, p_value

CORPORA = ("genia_documents", "gum", "bc5cdr", "ncbi_disease", "anatem", "uner_zh")
RULES = SearchRules(0.0, 0.5)  # of the path, whose best point at each price is a preset
PRICES = {"best": 0.0, "fast": 0.4}
JOBS = 2
EPOCHS, MORE_EPOCHS = 5, 12
SAMPLES = 2000
PARAMS: dict[str, Any] = {"split_tokens": False}
LONGEST = 1000  # tokens of a document
CLUSTERS, MIN_COUNT = 256, 5
UNER = {"train": "zh_gsdsimp-ud-train.iob2", "dev": "zh_gsdsimp-ud-dev.iob2"}
# that need further files; `rawtext.py` measures what clusters bring. A bag of the sentence takes longest.
LEFT_OUT = ("clusters", "cluster-pairs", "band", "category", "document", "sentence")
SEARCHED = {name: own for name, own in GROUPS.items() if name not in LEFT_OUT}
START = ("word",)


class Sample(NamedTuple):
    """Sizes of what is drawn from each corpus, in tokens."""

    train: int
    dev: int


def cut(document: Document, tokens: int = LONGEST) -> Document:
    """The sentences at the beginning of a prepared document, of so many tokens at most, so that no article is all."""
    assert document.tokens is not None
    assert document.sentences is not None
    last = max([1, *document.sentences[document.sentences[:, 1] <= tokens, 1].tolist()])
    if last >= len(document.tokens):
        return document
    end = int(document.tokens[last - 1, 1])
    return Document(
        document.text[:end], id=document.id, tokens=document.tokens[:last],
        sentences=document.sentences[document.sentences[:, 1] <= last],
        columns={name: values[:last] for name, values in document.columns.items()},
        mentions=[mention for mention in document.mentions if mention.end <= end],
    )  # fmt: skip


def drawn(documents: Sequence[Document], tokens: int, seed: int) -> list[Document]:
    """Documents drawn by the seed, until they have so many tokens; the beginnings of long ones."""
    return draw([cut(prepare(document)) for document in documents], tokens, seed)


def whole(data: Path, name: str) -> Parts:
    """Training and development data of a corpus."""
    if name != "uner_zh":
        return parts(data, name)
    return Parts(*(list(read(data / name / UNER[part], format="conll")) for part in ("train", "dev")))


def clusters_of(data: Path, names: Sequence[str], cache: Path) -> Path:
    """Word clusters of the training text of the corpora, made once."""
    path = cache / "training.paths"
    if not path.exists():
        text = (document for name in names for document in whole(data, name).train)
        write_paths(path, induce_from(text, CLUSTERS, MIN_COUNT))
    return path


class Joint:
    """Trials on all corpora at once: counts of their sentences one after the other, times and features averaged."""

    def __init__(
        self, data: Path, names: Sequence[str], sample: Sample, cache: Path, seed: int, epochs: int = EPOCHS
    ) -> None:
        self.runners: dict[str, TrialRunner] = {}
        self.sizes: dict[str, tuple[int, int, int]] = {}
        paths = str(clusters_of(data, names, cache))
        for name in names:
            own = whole(data, name)
            train, dev = drawn(own.train, sample.train, seed), drawn(own.dev, sample.dev, seed)
            params = {**PARAMS, "epochs": epochs, "random_state": seed, "clusters": paths}
            corpus = TrialCorpus.of(train, dev, SEARCHED, params)
            self.sizes[name] = token_count(corpus.train), token_count(corpus.dev), int(corpus.gold.sum())
            kept = sorted({**corpus.params, "clusters": CLUSTERS}.items())
            asked = {
                "corpus": name,
                "sample": list(sample),
                "params": str(kept),
                "seed": seed,
            }
            record = TrialRecord(cache / f"{name}-{sample.train}.json", asked, corpus.cut.count)
            self.runners[name] = TrialRunner(corpus, record, threads(JOBS))
            say(name, self.sizes[name], dict(corpus.lacking))
        self.seed = seed
        self.each: dict[tuple[str, ...], dict[str, Trial]] = {}

    def limit(self, minutes: float) -> None:
        """Begin no trial after so many minutes."""
        for runner in self.runners.values():
            runner.until = monotonic() + 60 * minutes

    def __call__(self, choices: Sequence[Sequence[str]]) -> list[Trial]:
        """The trials of some choices of groups."""
        for runner in self.runners.values():
            runner([runner.corpus.served(choice) for choice in choices])  # several at once; kept
        return [self.one(tuple(choice)) for choice in choices]

    def one(self, choice: tuple[str, ...]) -> Trial:
        """One trial."""
        own = {name: runner([runner.corpus.served(choice)])[0] for name, runner in self.runners.items()}
        self.each[choice] = own
        trials = list(own.values())
        correct = [count for trial in trials for count in trial.correct]
        predicted = [count for trial in trials for count in trial.predicted]
        dev = sum(size for _, size, _ in self.sizes.values())
        tagging = sum(self.sizes[name][1] / trial.tokens_per_second for name, trial in own.items())
        found = Trial(
            choice, templates_of(choice, SEARCHED), sum(trial.f1 for trial in trials) / len(trials),
            sum(self.sizes[name][1] * trial.features for name, trial in own.items()) / dev, dev / tagging,
            sum(trial.seconds for trial in trials), sum(trial.rows for trial in trials), correct, predicted,
        )  # fmt: skip
        say(f"{100 * found.f1:.2f} {found.features:.1f} {found.seconds:.1f} s  {' '.join(choice)}")
        return found

    def compare(self, first: Trial, second: Trial) -> float:
        """The p value of a difference of the means: in each sentence of each corpus the two are exchanged, or not."""
        random, moved = np.random.default_rng(self.seed), np.zeros(SAMPLES)
        for name, runner in self.runners.items():
            gold = runner.corpus.gold
            a, b = (self.each[trial.groups][name] for trial in (first, second))
            counts = [np.array([one.correct, one.predicted], np.float64).T for one in (a, b)]
            change = (counts[1] - counts[0])[np.any(counts[0] != counts[1], axis=1)]
            flips = random.integers(0, 2, (SAMPLES, len(change))) @ change
            sides = [2 * side[:, 0] / np.maximum(1, side[:, 1] + gold.sum())
                     for side in (counts[0].sum(0) + flips, counts[1].sum(0) - flips)]  # fmt: skip
            moved += sides[0] - sides[1]
        observed = len(self.runners) * abs(first.f1 - second.f1)
        return float((np.sum(np.abs(moved) >= observed - 1e-12) + 1) / (SAMPLES + 1))


def steps_table(result: Result, steps: Sequence[SearchStep], complete: bool) -> None:
    """What each step of the search tried, and what it took."""
    rows: list[list[Any]] = []
    before = steps[0].trial
    for number, step in enumerate(steps):
        for one in sorted(step.tried, key=lambda one: -RULES.value(one.trial)):
            gain = 100 * (one.trial.f1 - before.f1)
            mark = "**" if one.name == step.group else ""
            rows.append(
                [str(number), f"{mark}{step.action} {one.name}{mark}", f"{100 * one.trial.f1:.2f}", f"{gain:+.2f}",
                 f"{one.p_value:.4f}", f"{one.trial.features:.1f}", f"{one.trial.seconds:.1f}"]
            )  # fmt: skip
        before = step.trial
    result.table(
        "The search", ["step", "group", "F1", "gain", "p", "features a token", "training, s"], rows,
        f"Mean F1 of the corpora; p up to {RULES.level} counts. In bold what was taken. "
        + ("It ended by itself." if complete else "Time was over in the next step, so that nothing was removed.")
        + " Of its path `best` is the last point, and `fast` the best at "
        + f"{PRICES['fast']} points of F1 for each feature a token. All trials together trained for "
        + f"{sum(trial.seconds for trial in all_trials(steps)):,.0f} s of processor time; they are kept, so that the "
        + "seconds of the last command say little.",
    )  # fmt: skip
    result.data["search"] = {
        "level": RULES.level, "prices": PRICES, "complete": complete,
        "steps": [
            {"action": step.action, "group": step.group, **_figures(step.trial), "tried": [
                {"group": one.name, "p": one.p_value, **_figures(one.trial)} for one in step.tried]}
            for step in steps
        ],
    }  # fmt: skip


def _figures(trial: Trial) -> dict[str, Any]:
    names = ("f1", "features", "tokens_per_second", "seconds", "rows")
    return {name: getattr(trial, name) for name in names} | {"groups": list(trial.groups)}


def sets_table(result: Result, joint: Joint, sets: dict[str, tuple[str, ...]], title: str, default: str) -> None:
    """Sets of groups beside each other, on each corpus."""
    trials = {name: joint.one(groups) for name, groups in sets.items()}
    base = joint.each[trials[default].groups]
    rows: list[list[Any]] = []
    for corpus, (train, dev, mentions) in joint.sizes.items():
        gold = joint.runners[corpus].corpus.gold
        cells = []
        for trial in trials.values():
            own = joint.each[trial.groups][corpus]
            p = p_value(own, base[corpus], gold, result.seed)
            cells.append(f"{100 * own.f1:.1f}" + ("" if own.groups == base[corpus].groups else f" (p {p:.3f})"))
        rows.append([corpus, train, dev, mentions, *cells])
    rows.append(["mean", "", "", "", *(f"{100 * trial.f1:.2f}" for trial in trials.values())])
    rows.append(["features a token", "", "", "", *(f"{trial.features:.1f}" for trial in trials.values())])
    rows.append(["tokens a second", "", "", "", *(f"{trial.tokens_per_second:,.0f}" for trial in trials.values())])
    rows.append(["training, s", "", "", "", *(f"{trial.seconds:.0f}" for trial in trials.values())])
    result.table(
        title, ["corpus", "tokens of training", "of development", "mentions", *sets], rows,
        f"F1 on development data; p against `{default}`, by paired randomization over sentences.",
    )  # fmt: skip
    result.data[title] = {
        name: {corpus: _figures(own) for corpus, own in joint.each[trial.groups].items()}
        for name, trial in trials.items()
    }


def front_table(result: Result, trials: Sequence[Trial]) -> None:
    """The Pareto front of all trials."""
    rows = [
        [f"{100 * one.f1:.2f}", f"{one.features:.1f}", f"{one.tokens_per_second:,.0f}", " ".join(one.groups)]
        for one in pareto_front(trials)
    ]
    result.table(
        "Pareto front", ["F1", "features a token", "tokens a second", "groups"], rows,
        f"Of {len(trials)} sets of groups. Seconds of tagging are of a busy machine; features are counted.",
    )  # fmt: skip


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cache", type=Path, required=True, help="a folder for trials that are kept")
    parser.add_argument("--corpora", default=",".join(CORPORA), help="which, with commas between [all]")
    parser.add_argument("--train-tokens", type=int, default=8_000, help="of each corpus [8000]")
    parser.add_argument("--dev-tokens", type=int, default=5_000, help="of each corpus [5000]")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="for the search [no limit]")
    parser.add_argument(
        "--check", action="append", default=[], metavar="CORPORA:TOKENS:DEV",
        help="compare what was found on such parts, such as gum,bc5cdr:40000:15000; several times for more",
    )  # fmt: skip


def main() -> None:
    """Search at each price, compare, write."""
    chosen = options("feature_search", __doc__, _more)
    chosen.cache.mkdir(parents=True, exist_ok=True)
    sample = Sample(chosen.train_tokens, chosen.dev_tokens)
    joint = Joint(chosen.data, chosen.corpora.split(","), sample, chosen.cache, chosen.seed)
    result = Result("Presets by a search over groups of templates", chosen.seed)
    sets = {"biomedical": groups_of("biomedical", SEARCHED)[0]}
    search, steps = FeatureSearch(SEARCHED, joint, joint.compare, RULES), []
    joint.limit(chosen.minutes)
    for step in search.search(START):
        steps.append(step)
        say(f"{step.action} {step.group}: {100 * step.trial.f1:.2f}")
    joint.limit(float("inf"))
    steps_table(result, steps, search.complete)
    for preset, price in PRICES.items():
        worth = SearchRules(price).value
        sets[preset] = max((step.trial for step in steps), key=worth).groups
    sets_table(result, joint, sets, "What the searches found", "biomedical")
    front_table(result, all_trials(steps))
    for check in chosen.check:
        corpora, train, dev = check.split(":")
        larger = Joint(
            chosen.data, corpora.split(","), Sample(int(train), int(dev)), chosen.cache, chosen.seed, MORE_EPOCHS
        )
        sets_table(result, larger, sets, f"On larger parts: {corpora.replace(',', ', ')}", "biomedical")
    result.save(chosen.out)


if __name__ == "__main__":
    main()
