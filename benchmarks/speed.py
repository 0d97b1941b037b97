"""Speed on one core, side by side with python-crfsuite.

    pip install ".[bench]"
    python benchmarks/speed.py --data DATA

(a) Linear chains trained to the same objective, -log-likelihood + c2 ||w||^2, on the same features: CRFsuite until it
stops by itself, Spanloom until it is at or below that value. (b) From tokens to tags, features included, and beside it
how fast a bare kernel adds up the same rows of weights, which is the limit of the machine's memory. (c) The
multigraph on GENIA: features and dictionary, a pass of AdaGrad, tagging. The process keeps to one core; the two sides
take turns, and the order alternates; times are medians.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pycrfsuite

import chains
import peer
from bare import read_rows
from common import Clock, Result, Seconds, corpus, median, one_core, options, save_clusters, say, timed, token_count
from spanloom.document import Batch, Document
from spanloom.document.align import from_tags
from spanloom.evaluate import score
from spanloom.features import FeatureSet, available_columns, build_index
from spanloom.features.clusters import read_paths
from spanloom.hypergraph import ENGINES
from spanloom.learn import EdgeTarget, TrainingSet, adagrad
from spanloom.model.corpus import Gold
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.recognize import Recognizer
from spanloom.scoring import LinearScorer, role_scores
from spanloom.structures import STRUCTURES, MentionTable

C2 = 1.0
EPOCHS = 5  # of our AdaGrad in part (b)
PEER_ITERATIONS = 50  # of CRFsuite in part (b): its speed of tagging hardly depends on them
CHECKED = 50  # sentences whose features are compared with those of the other side, name by name
BATCH_TOKENS = 20_000  # tagged at once, as `Recognizer.predict` does


def training(result: Result, chosen: argparse.Namespace) -> None:
    """(a) Training to the same objective."""
    genia, gum = corpus(chosen.data, "genia", "train"), corpus(chosen.data, "gum", "train")
    few_genia, few_gum = genia[: chosen.sentences], gum[: chosen.documents]
    complete = {"c1": 0.0, "c2": C2, **chains.ALL_PAIRS}
    cases = [
        chains.Case("GENIA", "bio", few_genia, complete, "all features with all tags", chosen.repeats),
        chains.Case("GUM", "bio", few_gum, complete, "all features with all tags", chosen.repeats),
        chains.Case("GENIA", "bio", few_genia, {"c1": 0.0, "c2": C2}, "default: seen pairs only", 1),
    ]
    if not chosen.quick:
        short = {**complete, "max_iterations": 100}
        cases.append(chains.Case("GENIA, all", "bio", genia, short, "all with all, 100 iterations", 1))
    outcomes = []
    for case in cases:
        say(f"training a {case.chain} chain on {case.corpus}, {case.note}")
        outcomes.append(chains.compare(case))
    result.table(
        "Training a BIO chain to the same objective, one core", chains.COLUMNS, map(chains.cells, outcomes),
        f"Preset `small`, c1 = 0, c2 = {C2:g}. L-BFGS: from zero weights for CRFsuite, from one pass of AdaGrad (its "
        f"time included) for Spanloom, with {chains.MEMORY} past steps (CRFsuite: 6, its default). Seconds are "
        "processor time, which is what CRFsuite measures of itself. `All`: from words to weights, feature strings and "
        "our columns, dictionary and gold structures included.",
        "Last column: our objective at the weights read from CRFsuite's model file; where both have the same "
        "parameters it must be CRFsuite's own.",
    )  # fmt: skip
    for outcome in outcomes:
        label = f"{outcome.case.corpus}, {outcome.case.note}"
        result.at_least(f"training, {label}: CRFsuite's time over ours", outcome.ratio, 2.0)
        if outcome.verified is not None:
            gap = abs(outcome.verified - outcome.peer.objective) / outcome.peer.objective
            result.at_most(f"training, {label}: relative difference of objectives at equal weights", gap, 1e-4)
    result.data["training"] = [
        {
            **dict(zip(chains.COLUMNS[:10], chains.cells(outcome)[:10], strict=True)),
            "peer_optimizing": outcome.peer_optimizing, "our_optimizing": outcome.optimizing._asdict(),
            "peer_all": outcome.peer_whole._asdict(), "our_all": outcome.whole._asdict(),
            "ratio": outcome.ratio, "ratio_all": outcome.whole_ratio, "options": dict(outcome.case.options),
            "verified": outcome.verified, "peer_history": outcome.peer.history,
        }
        for outcome in outcomes
    ]  # fmt: skip


class Theirs:
    """CRFsuite with features made in Python."""

    def __init__(self, train: Sequence[Document], tagged: Sequence[list[str]], make: peer.SentenceFeatures) -> None:
        self.make = make
        items = peer.itemsets([make(s.words, s.pos) for s in peer.sentences(train)])
        self.trained, _ = peer.train(items, tagged, {"c1": 0.0, "c2": C2, "max_iterations": PEER_ITERATIONS})
        self.tagger = pycrfsuite.Tagger()
        self.tagger.open(self.trained.path)

    def tag(self, sentences: Sequence[peer.Sentence]) -> list[list[str]]:
        """Words to tags."""
        return [self.tagger.tag(self.make(s.words, s.pos)) for s in sentences]

    def tag_made(self, made: Sequence[peer.Strings]) -> list[list[str]]:
        """Feature strings, made before, to tags."""
        return [self.tagger.tag(rows) for rows in made]


def batched(documents: Sequence[Document]) -> list[list[Document]]:
    """Documents in batches of about `BATCH_TOKENS` tokens."""
    batches: list[list[Document]] = [[]]
    for document in documents:
        if token_count(batches[-1]) >= BATCH_TOKENS:
            batches.append([])
        batches[-1].append(document)
    return batches


def tag_ours(tagger: LinearModel, batches: Sequence[Sequence[Document]]) -> list[MentionTable]:
    """Documents with tokens to mentions."""
    made = map(Batch.of, batches)
    return [tagger.decode(tagger.scorer.score(batch), batch.sentences) for batch in made]


def f1_of_tags(documents: Sequence[Document], tags: Sequence[list[str]]) -> float:
    """F1 of tags, a list for each sentence, against all mentions."""
    gold = Gold(Batch.of(documents), tuple(sorted({m.type for document in documents for m in document.mentions})))
    names = sorted({m.type for document in documents for m in document.mentions})
    found = {(n, names.index(kind), ((a, b),)) for n, row in enumerate(tags) for a, b, kind in from_tags(row)}
    return 2 * len(found & set(gold.table.rows())) / (len(found) + gold.total)


def tagging(result: Result, chosen: argparse.Namespace, paths: str) -> None:
    """(b) From tokens to tags."""
    train = corpus(chosen.data, "genia", "train", chosen.sentences)
    dev = corpus(chosen.data, "genia", "dev")
    documents = dev + corpus(chosen.data, "genia", "test")
    sentences, batches, tokens = peer.sentences(documents), batched(documents), token_count(documents)
    table, ratios, clusters, gathered = [], {}, read_paths(paths), []
    for preset, target in (("small", 2.0), ("genia", 3.0)):
        make = peer.small_features if preset == "small" else peer.GeniaFeatures(clusters)
        known = clusters if preset == "genia" else None
        features = FeatureSet.preset(preset, available=available_columns(documents), clusters=known)
        compared = peer.check_names(make, features, documents[:CHECKED])
        say(f"{preset}: {compared} features of the two sides are the same")
        theirs = Theirs(train, chains.prepare(train, STRUCTURES["bio"]).tagged, make)
        recognizer = Recognizer(
            "bio", preset, clusters=paths if known else None, epochs=EPOCHS, l2=C2, tune_penalty=False,
            random_state=chosen.seed, pos=None, rescore=False, overlap="free",
        )  # fmt: skip
        tagger = recognizer.fit(train, dev=dev).model_
        tag_ours(tagger, batches[:1])  # warm-up, not timed
        made = [make(s.words, s.pos) for s in sentences]
        times: dict[str, list[Seconds]] = {"CRFsuite": [], "CRFsuite, strings made before": [], "Spanloom": []}
        tags: list[list[str]] = []
        runs: dict[str, Any] = {
            "CRFsuite": lambda theirs=theirs, tags=tags: tags.extend(theirs.tag(sentences)),
            "CRFsuite, strings made before": lambda theirs=theirs, made=made: theirs.tag_made(made),
            "Spanloom": lambda tagger=tagger: tag_ours(tagger, batches),
        }
        for repeat in range(max(chosen.repeats, 3)):
            tags.clear()
            for name in list(runs) if repeat % 2 == 0 else list(runs)[::-1]:
                times[name].append(timed(runs[name])[0])
        accuracy = {
            "CRFsuite": f1_of_tags(documents, tags),
            "Spanloom": score(documents, list(recognizer.predict(documents))).f1,
        }
        seconds = {name: median(values) for name, values in times.items()}
        limit = gathering(tagger, batches, seconds["Spanloom"], max(chosen.repeats, 3))
        gathered.append([preset, *limit, limit.scores / limit.alone, limit.tagging / limit.alone])
        result.at_least(f"scores, {preset}: share of the memory's limit", limit.scores / limit.alone, 0.6)
        result.at_least(f"tagging, {preset}: share of the memory's limit", limit.tagging / limit.alone, 0.6)
        result.at_least(
            f"tagging, {preset}, tokens a second", tokens / seconds["Spanloom"].cpu,
            1_000_000 if preset == "small" else 700_000,
        )  # fmt: skip
        for name, (wall, cpu) in seconds.items():
            f1 = accuracy.get(name)
            ratio = cpu / seconds["Spanloom"].cpu
            table.append(
                [preset, compared / token_count(documents[:CHECKED]), name, wall, cpu, tokens / cpu, f"{ratio:.2f}",
                 "" if f1 is None else f"{100 * f1:.1f}"]
            )  # fmt: skip
            ratios[f"{preset}, {name}"] = ratio
        result.at_least(
            f"tagging, {preset}: our rate over CRFsuite's", seconds["CRFsuite"].cpu / seconds["Spanloom"].cpu, target
        )
    result.table(
        f"From tokens to tags on GENIA (dev and test, {tokens:,} tokens), features included, one core",
        ("features", "features a token", "system", "wall, s", "CPU, s", "tokens/s", "time over ours", "F1"),
        table,
        f"BIO chains trained on {chosen.sentences:,} sentences: CRFsuite {PEER_ITERATIONS} iterations of L-BFGS, "
        f"Spanloom {EPOCHS} passes of AdaGrad. CRFsuite starts from lists of words and tags, Spanloom from documents.",
    )
    result.data["tagging"] = ratios
    result.table(
        "The limit of the machine's memory",
        ("features", "rows a token", "alone, rows/s", "scores, rows/s", "tagging, rows/s", "scores", "tagging"),
        gathered,
        "Alone: a kernel that only adds up the rows of weights of each token's features, which were looked up before. "
        "Scores: as many rows in the time that the scorer takes for the same tokens. It takes fewer, since it adds up "
        "those of a distinct word once; a share above 1 says so. Tagging: in the time from tokens to tags, most of "
        "which goes into finding features, looking them up, and decoding. The last two columns are shares of the first "
        "rate.",
    )
    result.data["memory"] = {row[0]: row[1:] for row in gathered}


class Gathered(NamedTuple):
    """Rows of weights: how many a token has, and how many are added up in a second.

    Args:
        a_token: rows of features that the model knows.
        alone: a second, by a kernel that does nothing else.
        scores: a second, by the scorer, whose features have been looked up.
        tagging: a second, from tokens to tags.
    """

    a_token: float
    alone: float
    scores: float
    tagging: float


def gathering(tagger: LinearModel, batches: Sequence[Sequence[Document]], tagged: Seconds, repeats: int) -> Gathered:
    """The limit of the machine's memory, and what is reached of it; tagging took so many seconds."""
    scorer, made = tagger.scorer, list(map(Batch.of, batches))
    plain = [scorer.index.lookup(scorer.features.keys(batch)) for batch in made]
    shared = [scorer.matrix(batch) for batch in made]
    weights = scorer.weights.features.reshape(len(scorer.index), -1)

    def gather() -> None:
        for matrix in plain:
            read_rows(matrix.indices, weights)

    def add_up() -> None:
        for matrix in shared:
            role_scores(matrix, scorer.weights)

    gather()  # warm-up, not timed
    times = [(timed(gather)[0], timed(add_up)[0]) for _ in range(repeats)]
    rows = sum(len(matrix.indices) for matrix in plain)
    alone, scores = median(a for a, _ in times).cpu, median(b for _, b in times).cpu
    return Gathered(rows / token_count(chain.from_iterable(batches)), rows / alone, rows / scores, rows / tagged.cpu)


def multigraph(result: Result, chosen: argparse.Namespace, paths: str) -> None:
    """(c) Separators on GENIA."""
    train = corpus(chosen.data, "genia", "train", chosen.sentences if chosen.quick else None)
    documents = corpus(chosen.data, "genia", "dev") + corpus(chosen.data, "genia", "test")
    types = tuple(sorted({mention.type for document in train for mention in document.mentions}))
    features = FeatureSet.preset("genia", available=available_columns(train), clusters=read_paths(paths))
    build_index(features.keys(Batch.of(train[:10])))
    built_in: list[tuple[Seconds, Seconds]] = []
    for _ in range(3):
        keys_seconds, keys = timed(lambda: features.keys(Batch.of(train)))
        index_seconds, built = timed(lambda keys=keys: build_index(keys))
        built_in.append((keys_seconds, index_seconds))
        entries = len(keys.ids)
        del keys
    keys_seconds, index_seconds = median(a for a, _ in built_in), median(b for _, b in built_in)

    structure, offsets = STRUCTURES["separators"], Batch.of(train).sentences
    engine = ENGINES["subgraphs"](structure.template(types))
    gold_seconds, encoded = timed(lambda: structure.encode(Gold(Batch.of(train), types).table, offsets, types))
    data = TrainingSet(
        engine, built.matrix, offsets, EdgeTarget(engine, offsets, encoded.edges), built.index.group_sizes, built.counts
    )
    passes: list[Seconds] = []
    with Clock() as clock:
        adagrad(data, l2=C2, epochs=1, rate=0.05, batch=32, seed=chosen.seed)  # warm-up, not timed

        def after(_: object) -> bool:
            passes.append(clock.elapsed)
            return False

        passes.append(clock.elapsed)
        weights = adagrad(data, l2=C2, epochs=4, rate=0.05, batch=32, seed=chosen.seed, callback=after)
    steps = [Seconds(b.wall - a.wall, b.cpu - a.cpu) for a, b in pairwise(passes)]
    one_pass = median(steps)
    single = data.single(weights)
    tagger = StructuredModel.build(structure, "subgraphs", types, LinearScorer(features, built.index, single))
    batches, tokens = batched(documents), token_count(documents)
    tag_ours(tagger, batches[:1])
    parts: list[tuple[Seconds, Seconds]] = []
    for _ in range(max(chosen.repeats, 3)):
        scoring, scored = timed(
            lambda: [(tagger.scorer.score(batch), batch.sentences) for batch in map(Batch.of, batches)]
        )
        decoding, _ = timed(lambda scored=scored: [tagger.decode(*one) for one in scored])
        parts.append((scoring, decoding))
    scoring, decoding = median(a for a, _ in parts), median(b for _, b in parts)
    tagged = Seconds(scoring.wall + decoding.wall, scoring.cpu + decoding.cpu)

    result.table(
        f"Separators on GENIA, preset `genia` with Brown clusters, one core ({token_count(train):,} training tokens)",
        ("step", "wall, s", "CPU, s", "tokens/s"),
        [
            ["features of the training text", *keys_seconds, token_count(train) / keys_seconds.wall],
            ["dictionary and matrix", *index_seconds, token_count(train) / index_seconds.wall],
            ["gold structures", *gold_seconds, token_count(train) / gold_seconds.wall],
            ["a pass of AdaGrad", *one_pass, token_count(train) / one_pass.wall],
            [f"tagging {tokens:,} tokens: features and scores", *scoring, tokens / scoring.wall],
            ["tagging: best structures and mentions", *decoding, tokens / decoding.wall],
            ["tagging, all", *tagged, tokens / tagged.wall],
        ],
        f"{entries:,} features of the training text, {int(built.index.group_sizes.sum()):,} distinct ones, "
        f"{len(built.index):,} rows of weights. The authors' Java: 42,000 tokens/s a pass and 2,500 words/s in tagging "
        "(mention hypergraph, measured on another day); paper 003 reports more than 5,000 words/s.",
    )
    result.at_most("features and dictionary, seconds", keys_seconds.wall + index_seconds.wall, 8.0)
    result.at_most("a pass of AdaGrad, seconds", one_pass.wall, 2.5)
    result.at_least("tagging, tokens a second", tokens / tagged.wall, 150_000)
    result.data["multigraph"] = {
        "features": keys_seconds._asdict(), "dictionary": index_seconds._asdict(), "gold": gold_seconds._asdict(),
        "passes": [step._asdict() for step in steps], "scoring": scoring._asdict(), "decoding": decoding._asdict(),
        "tokens": tokens,
    }  # fmt: skip


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sentences", type=int, default=1500, help="of GENIA, in parts (a) and (b) [1500]")
    parser.add_argument("--documents", type=int, default=25, help="of GUM, in part (a) [25]")
    parser.add_argument("--repeats", type=int, default=3, help="of each measurement [3]")
    parser.add_argument("--clusters", type=int, default=1000, help="Brown clusters of the preset genia [1000]")
    parser.add_argument("--parts", default="abc", help="which of a, b and c [abc]")
    parser.add_argument("--quick", action="store_true", help="small data only, to try the script")


def main() -> None:
    """Measure, write."""
    chosen = options("speed", __doc__, _more)
    one_core()
    result = Result("Speed on one core", chosen.seed)
    if "a" in chosen.parts:
        training(result, chosen)
    if set(chosen.parts) & set("bc"):
        size = 100 if chosen.quick else chosen.clusters
        with tempfile.TemporaryDirectory() as folder:
            paths = save_clusters(corpus(chosen.data, "genia", "train"), size, Path(folder))
            if "b" in chosen.parts:
                tagging(result, chosen, paths)
            if "c" in chosen.parts:
                multigraph(result, chosen, paths)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
