"""Training the chains of a cascade: each sees the predictions of the earlier ones on held-out text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, replace
from hashlib import blake2b
from time import monotonic
from typing import Any, Final, NamedTuple

from spanloom.document import Batch, Document, align, to_bilou
from spanloom.document.batch import Picked
from spanloom.features import FeatureSet
from spanloom.learn import Listener, Progress, search_step
from spanloom.learn.folds import FEW, deal, out_of_fold, units
from spanloom.model.calibration import calibrate
from spanloom.model.corpus import Gold, by_sentence
from spanloom.model.overlaps import OverlapRules, best_consistent
from spanloom.model.work import Work
from spanloom.parallel import SERIAL, Executor, threads
from spanloom.recognize.recognizer import Recognizer

STRUCTURE: Final = "bilou"
FOLDS = 2
PREFIX = "cascade_"  # of the columns; not for those of the data
_OUTSIDE = ""  # a column without a value gives no feature, and most tokens are outside

_Outputs = Callable[[tuple[str, ...]], list[list[str]]]  # place -> a column for each document


class MentionCounts(NamedTuple):
    """Numbers of mentions that are right, that were found, and that should have been."""

    correct: int
    found: int
    gold: int


@dataclass(frozen=True)
class Link:
    """A chain in its place, and its output on the development data.

    Args:
        chain: trained.
        outputs: a column for each development document.
        counts: of its mentions there.
    """

    chain: Recognizer
    outputs: list[list[str]]
    counts: MentionCounts


class CascadeChain(Recognizer):
    """A recognizer of one type whose feature set is made already, so that a cascade makes clusters once."""

    made: FeatureSet

    def _columns(self) -> FeatureSet | None:
        """The outputs of earlier chains, where there are any."""
        return self.made if self.made.templates else None

    def _warn_lost(self, stacklevel: int = 3) -> None:
        """Nothing: the cascade reports, once, all its chains."""


class Links:
    """Chains for any type after any others, each trained when it is first asked for.

    Args:
        params: of each chain, but its structure and features.
        train: prepared, with mentions.
        dev: prepared; tunes each chain.
        types: K names; their numbers name the columns.
        features: what every chain sees, besides the outputs of others.
        listener: called at each step.
        folder: where the chains' trainings are, each in a folder of its own; ``None`` for memory.
    """

    def __init__(
        self, params: Mapping[str, Any], train: Sequence[Document], dev: Sequence[Document], types: Sequence[str],
        features: FeatureSet, listener: Listener, folder: Folders | None = None,
    ) -> None:  # fmt: skip
        self._params = params
        self._features = features
        self._listener = listener
        self._began = monotonic()
        self._folder = folder
        if folder is None:
            train = features.enrich(Batch.of(train)).views()
        self._train = train if len(train) >= FEW else units(train, by_sentence)
        self._dev = features.enrich(Batch.of(dev)).views()
        self._names = column_names(types)
        self._fold = deal(len(self._train), FOLDS, params["random_state"])
        self._links: dict[tuple[str, ...], Link] = {}
        self._columns: dict[tuple[str, ...], list[list[str]]] = {}

    def link(self, place: tuple[str, ...]) -> Link:
        """The chain of the last type of ``place`` after those of the others, in their order."""
        if place not in self._links:
            *before, kind = place
            stage = f"{kind} after {', '.join(before)}" if before else kind
            chain = self._fit(place, self._seen(self._train, place, self.held_out), self._params, stage)
            dev = self._seen(self._dev, place, lambda earlier: self.link(earlier).outputs)
            self._links[place] = _measured(chain, dev)
        return self._links[place]

    def finish(self, order: Sequence[str]) -> list[Link]:
        """The chains in their order, tuned again now that all others are known, if that is better.

        It matters where a rare type comes early, when too few others are known.
        """
        places = [tuple(order[: n + 1]) for n in range(len(order))]
        before = [self.link(place) for place in places]
        after = list(before)
        self._listener(Progress("tuning the chains together", seconds=monotonic() - self._began))
        for n, place in enumerate(places):
            if len(places) > 1 and before[n].chain.tune_penalty:
                dev = self._seen(self._dev, place, lambda earlier: after[len(earlier) - 1].outputs)
                others = [link.counts for link in after[:n] + after[n + 1 :]]
                after[n] = _measured(_tuned(before[n].chain, dev, others), dev)
        return max(before, after, key=lambda links: f1(link.counts for link in links))

    def forget(self, order: Sequence[str], count: int) -> None:
        """Free the chains that do not come after the first ``count`` types in their order."""
        kept = tuple(order[:count])
        for store in (self._links, self._columns):
            for place in [place for place in store if place[:count] != kept[: len(place)]]:
                del store[place]

    def held_out(self, place: tuple[str, ...]) -> list[list[str]]:
        """A column for each training document, of chains that were not trained on it (Wolpert 1992)."""
        if place not in self._columns:
            l2 = self.link(place).chain.report_.l2
            self._listener(Progress(f"{place[-1]}: outputs on held-out text", seconds=monotonic() - self._began))
            documents = self._seen(self._train, place, self.held_out)
            executor: Executor = threads(self._params["n_jobs"])
            params = {**self._params, "l2": l2, "n_jobs": max(1, executor.workers // FOLDS)}
            if self._folder is not None:
                executor = SERIAL
            if self._params["encoder"] is not None:  # PyTorch's threads and random numbers are of the whole process
                executor, params = SERIAL, {**self._params, "l2": None}

            def fit(rest: list[int]) -> Recognizer | None:
                others = Picked(documents, rest)
                learnable = any(document.mentions for document in others)
                return self._fit(place, others, params, None, rest[:1]) if learnable else None

            def outputs(chain: Recognizer | None, rows: list[int]) -> list[list[str]]:
                held = Picked(documents, rows)
                if chain is None:  # there was nothing to learn from, so nothing is found
                    return [[_OUTSIDE] * document.token_count for document in held]
                return [tag_column(document) for document in chain.stream(held)]

            self._columns[place] = out_of_fold(self._fold, fit, outputs, executor)
        return self._columns[place]

    def _fit(
        self, place: tuple[str, ...], documents: Sequence[Document], params: Mapping[str, Any], stage: str | None,
        fold: Sequence[int] = (),
    ) -> Recognizer:  # fmt: skip
        names = [self._names[kind] for kind in place[:-1]]
        templates = [*map(str, self._features.templates), *output_templates(names)]
        own = {**params, "features": templates} if templates else params
        chain = CascadeChain(STRUCTURE, **own)
        chain.made = FeatureSet(templates, clusters=self._features.clusters, resources=self._features.resources)
        dev = self._seen(self._dev, place, lambda earlier: self.link(earlier).outputs)

        def pass_on(progress: Progress) -> None:
            seconds = monotonic() - self._began
            self._listener(replace(progress, stage=f"{stage}: {progress.stage}", seconds=seconds))

        more = {} if self._folder is None else self._folder.of([*place, *map(str, fold)])
        chain.fit(documents, dev=dev, progress=pass_on if stage else None, **more)
        if place[:-1] and chain.tune_penalty:
            return _tuned(chain, dev, [self.link(place[:n]).counts for n in range(1, len(place))])
        return chain

    def _seen(self, documents: Sequence[Document], place: tuple[str, ...], outputs: _Outputs) -> Sequence[Document]:
        """Documents with the mentions of the last type and the outputs of the others."""
        *before, kind = place
        return Seen(documents, kind, {self._names[name]: outputs(place[: i + 1]) for i, name in enumerate(before)})


class Seen(Sequence[Document]):
    """Documents with the mentions of one type and some more columns; made when they are looked at.

    Args:
        documents: D documents.
        kind: the type.
        columns: name -> D columns.
    """

    def __init__(self, documents: Sequence[Document], kind: str, columns: Mapping[str, Sequence[list[str]]]) -> None:
        self._documents, self._kind, self._columns = documents, kind, columns

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        return (self._one(number, document) for number, document in enumerate(self._documents))

    def __getitem__(self, number: Any) -> Any:
        return self._one(number, self._documents[number])

    def _one(self, number: int, document: Document) -> Document:
        columns = {**document.columns, **{name: column[number] for name, column in self._columns.items()}}
        return document.copy(
            columns=columns, mentions=[mention for mention in document.mentions if mention.type == self._kind]
        )


class Folders(NamedTuple):
    """Folders of the chains' trainings, which stay until all chains are trained.

    Args:
        work: what they are in.
        executor: what L-BFGS's objective is summed by.
        opened: closes them.
    """

    work: Work
    executor: Any
    opened: ExitStack

    def of(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of the `fit` of a chain."""
        folder = self.work.folder / ("chain-" + blake2b("\0".join(names).encode(), digest_size=8).hexdigest())
        return {"work": self.opened.enter_context(Work(folder)), "executor": self.executor}


def column_names(types: Sequence[str]) -> dict[str, str]:
    """Type -> the column of its chain's output; a type's name may hold what a column's name may not.

    >>> column_names(["cell line", "DNA"])
    {'cell line': 'cascade_0_cell_line', 'DNA': 'cascade_1_DNA'}
    """
    return {
        name: f"{PREFIX}{number}_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        for number, name in enumerate(types)
    }


def output_templates(names: Iterable[str]) -> list[str]:
    """Return templates for the outputs of other chains: each tag nearby, and neighbours together.

    >>> output_templates(["cascade_1_DNA"])
    ['cascade_1_DNA[-1..1]', 'cascade_1_DNA[-1]|cascade_1_DNA[0]', 'cascade_1_DNA[0]|cascade_1_DNA[1]']
    """
    return [
        template for name in names for template in (f"{name}[-1..1]", f"{name}[-1]|{name}[0]", f"{name}[0]|{name}[1]")
    ]


def tag_column(document: Document) -> list[str]:
    """The letter of each token's BILOU tag; nothing for O.

    Args:
        document: prepared; its mentions are of one type and do not overlap.

    >>> from spanloom.document import Mention
    >>> tag_column(Document("no chest pain", tokens=[[0, 2], [3, 8], [9, 13]], mentions=[Mention("x", [(3, 13)])]))
    ['', 'B', 'L']
    """
    ranges = [(first, end, "") for _, pieces, _ in align(document) for first, end in pieces or ()]
    return [tag[0].replace("O", _OUTSIDE) for tag in to_bilou(ranges, document.token_count)]


def frequency_order(documents: Iterable[Document]) -> list[str]:
    """The types from the most to the least frequent."""
    counts = Counter(mention.type for document in documents for mention in document.mentions)
    return sorted(counts, key=lambda kind: (-counts[kind], kind))


def search_order(links: Links, types: Iterable[str]) -> list[str]:
    """An order of types: by development F1 of their chains alone, then neighbours swapped where that is better.

    One pass over the neighbours: a pair is swapped if its two chains, after those before them, then have the higher F1
    together. Chains after the pair are not looked at, or the cost would grow with the cube of the number of types.
    """
    order = sorted(types, key=lambda kind: -f1([links.link((kind,)).counts]))
    for i in range(len(order) - 1):
        swapped = [*order[:i], order[i + 1], order[i], *order[i + 2 :]]
        order = max(order, swapped, key=lambda each: f1(links.link(tuple(each[: n + 1])).counts for n in (i, i + 1)))
        links.forget(order, i + 1)
    return order


def f1(counts: Iterable[MentionCounts]) -> float:
    """F1 of several chains together.

    >>> f1([MentionCounts(1, 1, 1), MentionCounts(0, 1, 1)])
    0.5
    """
    correct, found, gold = (sum(column) for column in zip(*counts, strict=True))
    return float(2 * correct / max(1, found + gold))


def _measured(chain: Recognizer, dev: Sequence[Document]) -> Link:
    """The chain in its place, calibrated, and its development F1 counted again."""
    batch = Batch.of(dev)
    potentials = chain.fitted.scorer.score(batch)
    best = best_consistent(chain.fitted, OverlapRules.free(1), potentials, batch.sentences, chain.reading)
    tagger, checked = calibrate(chain.fitted, batch, potentials, best)
    chain.model_, chain.report_ = tagger, replace(chain.report_, calibration=checked)
    found = chain.predict(dev)
    gold, seen = (Gold(Batch.of(documents), chain.types_) for documents in (dev, found))
    correct = len(set(gold.table.rows()) & set(seen.table.rows()))
    counts = MentionCounts(correct, seen.total, gold.total)
    chain.report_ = replace(chain.report_, dev_f1=f1([counts]))
    return Link(chain, [tag_column(document) for document in found], counts)


def _tuned(chain: Recognizer, dev: Sequence[Document], others: Sequence[MentionCounts]) -> Recognizer:
    """The chain with the penalty that is best for the F1 of it and others together.

    Its own F1 would have the chain of a rare type find hundreds of wrong mentions for the sake of a right one.
    """
    tagger = chain.fitted
    batch = Batch.of(dev)
    gold = Gold(batch, tagger.types)
    rows = set(gold.table.rows())
    potentials, offsets = tagger.scorer.score(batch), batch.sentences

    def counts(penalty: float) -> MentionCounts:
        found = set(tagger.with_penalty(penalty).decode(potentials, offsets).rows())
        return MentionCounts(len(found & rows), len(found), gold.total)

    penalty = search_step(lambda value: f1([*others, counts(value)]))
    result = copy(chain)
    result.model_ = tagger.with_penalty(penalty)
    result.report_ = replace(chain.report_, penalty=penalty)
    return result
