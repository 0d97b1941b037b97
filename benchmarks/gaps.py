"""What gaps cost: SHARED, SPLIT and seven tags beside separators, in training and in tagging, on one core.

    python benchmarks/gaps.py --data DATA

GENIA with resolved conjuncts, preset `biomedical`. (a) A pass of AdaGrad with all five types: the same features and
the same sentences for every structure, which take turns in an order that alternates. (b) Tagging the development data
with one type, from documents with tokens to mentions, without and with their probabilities. Times are medians; kernels
are compiled before the clock runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from common import Result, Seconds, corpus, median, one_core, options, say, timed, token_count
from passes import Text, one_pass, pass_seconds, types_of
from spanloom.document import Batch, Document
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.scoring import LinearScorer
from spanloom.structures import STRUCTURES

BASE = ("separators", "subgraphs")
MODELS = (
    BASE, ("seven_tag", "subgraphs"), ("shared", "derivations"), ("shared", "subgraphs"), ("split", "derivations"),
    ("split", "subgraphs"),
)  # fmt: skip
MOST = {("shared", "derivations"): 4.0, ("shared", "subgraphs"): 12.0}  # times as long as a pass of separators
LEAST = 30_000  # tokens a second in tagging
BATCH_TOKENS = 20_000  # tagged at once, as `Recognizer.predict` does
ONE_TYPE = "term"


def training(result: Result, text: Text, chosen: argparse.Namespace) -> None:
    """(a) A pass of AdaGrad."""
    sets = {model: text.training_set(*model, text.documents) for model in MODELS}
    seconds = pass_seconds(sets, chosen.repeats, chosen.seed)
    base = seconds[BASE]
    result.table(
        f"A pass of AdaGrad on GENIA with gaps ({text.tokens:,} tokens, {len(types_of(text.documents))} types)",
        ("structure", "counting", "wall, s", "CPU, s", "tokens/s", "CPU time over separators'"),
        [[*model, *found, text.tokens / found.cpu, f"{found.cpu / base.cpu:.2f}"] for model, found in seconds.items()],
        f"Medians of {chosen.repeats}. Features are made before; a pass scores them, sums over all structures and "
        "changes the weights. Seven tags have one lattice for all types, in which both countings are the same; "
        "separators leave out the mentions with gaps.",
    )
    for model, target in MOST.items():
        result.at_most(f"a pass of {', '.join(model)}, over separators", seconds[model].cpu / base.cpu, target)
    result.data["passes"] = {", ".join(model): found._asdict() for model, found in seconds.items()}


def one_type(documents: Sequence[Document]) -> list[Document]:
    """The same mentions, all of one type."""
    return [document.copy(mentions=[m.replace(type=ONE_TYPE) for m in document.mentions]) for document in documents]


def batched(documents: Sequence[Document]) -> list[list[Document]]:
    """Documents in batches of about `BATCH_TOKENS` tokens."""
    batches: list[list[Document]] = [[]]
    size = 0
    for document in documents:
        if size >= BATCH_TOKENS:
            batches.append([])
            size = 0
        batches[-1].append(document)
        size += token_count([document])
    return batches


class Tagged(NamedTuple):
    """Seconds of each step, and how many mentions were found."""

    scoring: Seconds
    decoding: Seconds
    probabilities: Seconds
    mentions: int


def tag(tagger: LinearModel, batches: Sequence[Sequence[Document]]) -> Tagged:
    """The time of each step."""
    scoring, scored = timed(lambda: [(tagger.scorer.score(batch), batch.sentences) for batch in map(Batch.of, batches)])
    decoding, found = timed(lambda: [tagger.decode(*one) for one in scored])
    probable, _ = timed(lambda: [tagger.probabilities(*one, table) for one, table in zip(scored, found, strict=True)])
    return Tagged(scoring, decoding, probable, sum(map(len, found)))


def tagging(result: Result, text: Text, documents: Sequence[Document], chosen: argparse.Namespace) -> None:
    """(b) From tokens to mentions."""
    changed, batches, tokens = one_type(text.documents), batched(documents), token_count(documents)
    runs: dict[tuple[str, str], Callable[[], Tagged]] = {}
    times: dict[tuple[str, str], list[Tagged]] = {}
    for structure, counting in MODELS:
        weights = one_pass(text.training_set(structure, counting, changed), chosen.seed)
        scorer = LinearScorer(text.features, text.built.index, weights)
        tagger = StructuredModel.build(STRUCTURES[structure], counting, [ONE_TYPE], scorer)
        runs[structure, counting] = lambda tagger=tagger: tag(tagger, batches)
        times[structure, counting] = []
        say(f"{structure}, {counting}: trained with one type")
        tag(tagger, batches[:1])  # warm-up, not timed
    for repeat in range(chosen.repeats):
        for model in list(runs) if repeat % 2 == 0 else list(runs)[::-1]:
            times[model].append(runs[model]())
    rows: list[list[Any]] = []
    for model, found in times.items():
        steps = {
            "scoring": median(one.scoring for one in found),
            "decoding": median(one.decoding for one in found),
            "probabilities": median(one.probabilities for one in found),
        }
        cpu = [step.cpu for step in steps.values()]
        rows.append([*model, *cpu, tokens / sum(cpu[:2]), tokens / sum(cpu), found[0].mentions])
        result.data.setdefault("tagging", {})[", ".join(model)] = {
            **{name: step._asdict() for name, step in steps.items()}, "tokens": tokens, "mentions": found[0].mentions,
        }  # fmt: skip
    result.table(
        f"Tagging GENIA with gaps, one type ({tokens:,} tokens of the development data)",
        (
            "structure", "counting", "features and scores, s", "best structures and mentions, s", "probabilities, s",
            "tokens/s", "tokens/s with probabilities", "mentions",
        ),
        rows,
        f"Processor time, medians of {chosen.repeats}. Weights after one pass over {text.tokens:,} tokens, all types "
        "made one.",
    )  # fmt: skip
    for structure, counting, *_, plain, whole, _ in rows:
        if structure in ("shared", "split"):
            result.at_least(f"tagging, {structure}, {counting}: tokens a second", plain, LEAST)
            result.at_least(f"tagging with probabilities, {structure}, {counting}: tokens a second", whole, LEAST)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, help="use only so many sentences of each part, to try the script")
    parser.add_argument("--repeats", type=int, default=5, help="of each measurement [5]")


def main() -> None:
    """Measure, write."""
    chosen = options("gaps", __doc__, _more)
    one_core()
    result = Result("What gaps cost on one core", chosen.seed)
    train, dev = (corpus(chosen.data, "genia_discontiguous", part, chosen.limit) for part in ("train", "dev"))
    text = Text.of(train, "biomedical")
    training(result, text, chosen)
    tagging(result, text, dev, chosen)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
