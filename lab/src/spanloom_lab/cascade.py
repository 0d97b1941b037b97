"""The cascade: one chain for each type, each of which sees the outputs of the earlier ones."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from spanloom.concepts.report import ConceptReport
from spanloom.document import Batch, Document, Mention, batches
from spanloom.document.annotators import remarked
from spanloom.errors import ModelError, UsageError, check_number, plural
from spanloom.features import FeatureSet
from spanloom.formats.inputs import Dev, Given, One, documents_of, one_of, requested_mentions
from spanloom.learn import Listener, Progress
from spanloom.learn.folds import hold_out
from spanloom.model.attributes import AttributeQuality
from spanloom.model.calibration import answered
from spanloom.model.choices import ExecutorName, WhichMentions
from spanloom.model.corpus import Lost, Notice, by_sentence, number_of_texts
from spanloom.model.parameters import MentionEstimator, renamed
from spanloom.model.protocol import Annotation, Capability
from spanloom.model.report import CompactReport, PassReport, ReportLines, TrainingReport
from spanloom.model.splitting import SplittingReport
from spanloom.model.stages import Linked, Stage, Staged, explained, learn_stages, run_stages
from spanloom.model.store import (
    ColumnResources,
    Estimated,
    features_of,
    model_of,
    model_part,
    near_encoder,
    shared_of,
    shared_part,
)
from spanloom.model.strongest import Strongest, names_from
from spanloom.model.structured import AnyModel, of_structures
from spanloom.model.work import Work, check_executor, check_on_disk
from spanloom.modelfile import ModelPart
from spanloom.parallel import Executor, threads
from spanloom.passes import DocumentPass, PassSettings, choose_passes
from spanloom.recognize.constrained import constrained
from spanloom.recognize.constraints import Constraints, constraints_of
from spanloom.recognize.on_disk import prepared_on_disk
from spanloom.recognize.parameters import check_encoder, check_encoder_training
from spanloom.recognize.preparing import Prepared, prepared
from spanloom.recognize.recognizer import BATCH_TOKENS, Recognizer
from spanloom.scoring.explanation import Explanation
from spanloom.structures import STRUCTURES
from spanloom.tag.filling import (
    Filler,
    check_source,
    fill,
    fill_batch,
    tagger_text,
)
from spanloom.text import prepare, prepare_all
from spanloom.text.splitting import Splitter, SplittingStream
from spanloom_lab.cascade_parameters import CascadeParameters, Order
from spanloom_lab.links import (
    PREFIX,
    STRUCTURE,
    Folders,
    Link,
    Links,
    column_names,
    f1,
    frequency_order,
    search_order,
    tag_column,
)

ORDERS = get_args(Order)
_CHAIN = "structure"  # and a number: a stage of a model file


@dataclass(frozen=True)
class CascadeReport(ReportLines):
    """Report of a cascade's training: data, choices and scores.

    Args:
        documents, sentences, tokens, mentions: of the training data.
        development: sentences of the development data.
        lost: reason -> how many mentions the chains cannot hold for it.
        ambiguous: mentions that are represented, but decoded as others.
        dropped: templates of a preset that the data cannot serve.
        rows: rows of weights, of all chains.
        steps: passes or iterations, of all chains.
        dev_f1: of all types, each chain with its penalty, 0 to 1.
        chains: type -> the report of its chain, in their order.
        splitting, passes, compact, attributes, concepts: as of a recognizer.
    """

    rows: int
    steps: int
    dev_f1: float
    chains: dict[str, TrainingReport]
    splitting: SplittingReport | None = None
    passes: PassReport | None = None
    compact: CompactReport | None = None
    attributes: dict[str, AttributeQuality] | None = None
    concepts: ConceptReport | None = None

    def chosen(self) -> Iterator[str]:
        """Yield lines on what training chose, and for each chain."""
        encoded = next((chain.encoder for chain in self.chains.values() if chain.encoder is not None), None)
        if encoded is None:
            rows, steps = plural(self.rows, "row"), plural(self.steps, "step")
            yield f"{rows} of weights, {plural(len(self.chains), 'chain')}, {steps}"
        else:
            yield f"{plural(len(self.chains), 'chain')}, an encoder of its own for each"
            yield from encoded.lines()
        if self.passes is not None:
            yield from self.passes.lines()
        for name, chain in self.chains.items():
            how = f"lambda {chain.l2:g}"
            if chain.encoder is not None:
                how = f"the best of {len(chain.history)} passes is pass {chain.steps}"
            figures = f"{how}, mention penalty {chain.penalty:.2f}"
            yield f"  {name}: {plural(chain.mentions, 'mention')}, {figures}, development F1 {100 * chain.dev_f1:.1f}"
            yield from (f"    {line}" for line in chain.calibrated())
        if self.concepts is not None:
            yield from self.concepts.lines()
        for name, quality in (self.attributes or {}).items():
            yield f"attribute {name}: cross-validated {quality}"


class _Described(Estimated):
    """Values of a cascade in a model file; the strongest features of each chain."""

    report: CascadeReport
    strongest: list[Strongest]


class Cascade(CascadeParameters, MentionEstimator[tuple[Recognizer, ...]], Staged):
    """A BILOU chain for each type, each of which sees the outputs of the earlier ones (Alex et al. 2007).

    A baseline of Lu and Roth (2015), section 4.1. Mentions of different types may overlap; of two mentions of one type
    that overlap, the shorter is left out of training, as there. A chain learns from the predictions of the earlier ones
    on held-out text, and has a separate mention penalty, tuned for the F1 of all chains together.

    {parameters}

    Attributes after fitting: ``model_``, a `Recognizer` for each type, in their order; ``types_``; ``report_``;
    ``pos_``; ``splitter_``; ``pass_``; ``profile_``; and ``lost_``, the mentions that the model cannot hold; the last
    is not saved.

    >>> from spanloom import Document, Mention
    >>> from spanloom_lab import Cascade
    >>> chest_pain = [Mention("problem", [(3, 13)]), Mention("body", [(3, 8)])]
    >>> documents = [Document("no chest pain today", mentions=chest_pain)] * 50
    >>> cascade = Cascade(features=["bias", "w[0]"]).fit(documents)
    >>> found = cascade.predict("no chest pain today")
    >>> [(mention.type, mention.start, mention.end) for mention in found.mentions]
    [('problem', 3, 13), ('body', 3, 8)]
    """

    kind: ClassVar[Literal["cascade"]] = "cascade"
    annotates: ClassVar = frozenset[Annotation](("mentions",))
    capable: ClassVar = frozenset[Capability](
        ("scores", "explain", "alternatives", "compact", "attributes", "constraints", "guarantees")
    )

    def fit(
        self, X: Given, y: Iterable[Any] | None = None, *, dev: Dev | None = None, progress: Listener | None = None,
        work: str | Path | Work | None = None, executor: ExecutorName | Executor = "threads",
    ) -> Self:  # fmt: skip
        """Train.

        Args:
            X: documents with mentions, or texts; tokens and sentences are made where they are missing.
            y: for texts: the mentions of each, as `Mention` or ``(type, start, end)``, in place of the documents' own.
            dev: tunes each chain: documents, or a pair of X and y; a tenth of the training data, drawn by the
                seed, when ``None``.
            progress: called at each step.
            work, executor: as for `Recognizer.fit`; the tenth is then of documents, and may have all of a type.

        Raises:
            DataError: no tokens, or no mentions.
            UsageError: a parameter whose value is not valid, or an order that is not one of the types.
        """
        self.check()
        check_executor(self, executor, work)
        began = monotonic()
        callback = progress or (lambda _: None)
        check = partial(_check_order, self.order)
        if work is None:
            ready = prepared(self, X, y, dev, callback, check_types=check, held_out=_hold_out)
            return self._fit(ready, callback, began, None)
        check_on_disk(self)
        with Work.opened(work) as folder, ExitStack() as opened:
            ready = prepared_on_disk(self, X, y, dev, callback, folder)
            check(ready.types)
            with folder.worked_on_by(executor, self.n_jobs):
                return self._fit(ready, callback, began, Folders(folder, folder.workers or "threads", opened))

    def _fit(self, ready: Prepared, callback: Listener, began: float, folder: Folders | None) -> Self:
        """Train on prepared data, in memory or in a folder."""
        types, run = ready.types, threads(self.n_jobs)
        linked = Linked.of(self.link, ready.known.documents)
        fitted, first_pass, passes = choose_passes(
            self.passes if self.encoder is None else "one", ready.for_passes,
            PassSettings(rate=self.rate, min_count=self.min_count, seed=self.random_state),
            lambda known, unseen, features: self._links(
                known.views() if folder is None else known.documents, unseen.views(), types, features, callback, folder
            ),
            lambda links: f1(link.counts for link in links), run,
        )  # fmt: skip

        self.types_ = types
        self.model_ = tuple(link.chain for link in fitted)
        self.lost_ = tuple(lost for chain in self.model_ for lost in chain.lost_)
        self.pos_, self.splitter_, self.pass_ = ready.pos, ready.splitter, first_pass
        following, reports = learn_stages(
            ready.known.documents, ready.unseen.documents, linked, self.attributes, len(ready.known.tokens),
            self.random_state, run, lambda name: callback(Progress(name, seconds=monotonic() - began)),
        )  # fmt: skip
        self.report_ = replace(_report(ready, fitted), passes=passes, **reports)
        self._follow(following)
        self._learn_profile(ready.known)
        self._warn_lost(stacklevel=4)
        return self

    def _links(
        self, train: Sequence[Document], dev: Sequence[Document], types: tuple[str, ...], features: FeatureSet,
        callback: Listener, folder: Folders | None,
    ) -> list[Link]:  # fmt: skip
        """Train the chains on some features, in their order."""
        links = Links(self._chain_params, train, dev, types, features, callback, folder)
        if not isinstance(self.order, str):
            return links.finish(list(self.order))
        return links.finish(search_order(links, types) if self.order == "search" else frequency_order(train))

    def stream(
        self, X: Given, *, threshold: float = 0.0, answers: bool = False, notice: Notice = warnings.warn,
        mentions: WhichMentions = "find", attributes: Sequence[str] | str | None = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
    ) -> Iterator[Document]:  # fmt: skip
        """Documents with the mentions that the chains find, in place of their own; lazily, in batches.

        Each mention's score is its calibrated probability in its chain, given the outputs of the earlier ones.

        Args:
            X: a text, a document, several of them, or a column of texts; tokens and sentences are made where they are
                missing.
            threshold: leave out mentions with a lower score; what a chain sees of the others does not depend on it.
            answers: as for `Recognizer.stream`; a sentence's is the product over the chains.
            notice, mentions, attributes: as for `Recognizer.stream`.
            constraints: likewise; they decide among candidates, see `spanloom.recognize.constrained`. Without answers.
        """
        check_number("threshold", threshold, 0, 1)
        documents = self._watched(documents_of(X), notice)
        if mentions == "given":
            return self._of_given(documents, attributes, BATCH_TOKENS)
        stages, marked = self._marking(attributes)
        chains = self.fitted
        if requested := constraints_of(constraints, self.types_, mentions):
            return marked(
                constrained(self, documents, requested, stages, threshold, notice, flat=False, answers=answers)
            )
        return marked(self._stream(chains, documents, threshold, answers, notice, stages))

    def _stream(
        self, chains: Sequence[Recognizer], documents: Iterable[Document], threshold: float, answers: bool,
        notice: Notice, stages: Sequence[Stage],
    ) -> Iterator[Document]:  # fmt: skip
        names = column_names(self.types_)
        splitting = SplittingStream(self.splitter_, notice)
        for given in batches(documents, BATCH_TOKENS):
            whole = splitting.split(fill_batch(Batch.of(prepare_all(given)), self.pos_, self.n_jobs), given)
            batch, seen = whole.documents, self._seen(whole)
            found: list[list[Mention]] = [[] for _ in batch]
            chances: list[list[float]] = []
            for chain in chains:
                marked = chain.set_params(n_jobs=self.n_jobs).predict(seen, answers=answers, notice=notice)
                if answers:
                    chances.append([p for document in marked for p in document.meta["answer"]["sentences"]])
                for mentions, document in zip(found, marked, strict=True):
                    mentions += document.mentions
                name = names[chain.types_[0]]
                seen = [d.copy(columns={**d.columns, name: tag_column(d)}) for d in marked]
            merged = splitting.join(map(partial(_merged, threshold=threshold), batch, found))
            yield from run_stages(stages, answered(merged, np.prod(chances, axis=0)) if answers else merged)

    def _seen(self, batch: Batch) -> list[Document]:
        """Return the documents of a batch with the columns that the first chain reads."""
        passed = batch if self.pass_ is None else self.pass_.fill(batch, threads(self.n_jobs))
        ready: list[Document] = self.fitted[0].fitted.scorer.prepare(passed).views()
        return ready

    @property
    def structured(self) -> tuple[AnyModel, ...]:
        """The trained models of its chains, in their order."""
        return tuple(chain.fitted for chain in self.fitted)

    def with_penalty(self, penalty: float) -> Self:
        """A copy with another mention penalty, the same in all chains."""
        other = copy(self)
        other.model_ = tuple(chain.with_penalty(penalty) for chain in self.fitted)
        return other

    def _description(self) -> dict[str, Any]:
        own = {**of_structures(self.types_, self.structured), "tagger": tagger_text(self.pos_)}
        return {**own, **{one.name: one.describe() for one in self.stages_}}

    def explain(self, X: One, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
        """Explain why mentions are found in a text, or not: each in the chain of its type, given the earlier chains.

        Args:
            X: a text or a document, whose own mentions are not looked at.
            mentions: those to explain; what the model predicts when ``None``.

        Raises:
            UsageError: a mention that the model cannot hold, or of a type that it does not know.
        """
        chains = self.fitted
        [ready] = self.splitter_.split(fill([prepare(one_of(X))], self.pos_, self.n_jobs))
        requested = requested_mentions(ready, mentions)
        unknown = next((mention.type for mention in requested or () if mention.type not in self.types_), None)
        if unknown is not None:
            raise UsageError(f"no type {unknown!r}; the model knows {', '.join(self.types_)}")
        names = column_names(self.types_)
        [seen] = self._seen(Batch.of([ready]))
        found: list[Explanation] = []
        mentions_found: list[Mention] = []
        for chain in chains:
            own = None if requested is None else [mention for mention in requested if mention.type in chain.types_]
            found += chain.explain(seen, own)
            [marked] = chain.predict([seen])
            mentions_found += marked.mentions
            seen = marked.copy(columns={**marked.columns, names[chain.types_[0]]: tag_column(marked)})
        if self.stages_:
            found = list(explained(self.stages_, ready, mentions_found, found))
        if requested is None:
            return sorted(found, key=lambda item: (item.mention.start, -item.mention.end, item.mention.type))
        order = {name: i for i, name in enumerate(chain.types_[0] for chain in chains)}
        ranked = sorted(range(len(requested)), key=lambda i: order[requested[i].type])
        return [explanation for _, explanation in sorted(zip(ranked, found, strict=True), key=lambda pair: pair[0])]

    def to_part(self) -> ModelPart:
        """See `spanloom.modelfile.save`."""
        values = _Described.of(self, strongest=[chain.strongest_ for chain in vars(self).get("model_", ())])
        chains = {f"{_CHAIN}{number}": model_part(chain.fitted) for number, chain in enumerate(self.fitted)}
        return self._as_part(values, {"columns": shared_part(features_of(self.fitted[0].fitted)), **chains})

    @classmethod
    def from_part(cls, part: ModelPart) -> Self:
        """See `spanloom.modelfile.load`."""
        values = part.read(_Described)
        shared = shared_of(part.parts.get("columns"))
        chains = tuple(
            _restored(near_encoder(part.part(f"{_CHAIN}{number}"), values.params), shared)
            for number in range(len(values.strongest))
        )
        types = _types(chains)
        if set(types) != values.report.chains.keys():
            raise ModelError(f"chains of the types {types}, but reports of {list(values.report.chains)}")
        for name, chain, strongest in zip(types, chains, values.strongest, strict=True):
            chain.report_, chain.strongest_ = values.report.chains[name], strongest
        made = values.restored(cls, chains)
        made._restore(part, tuple(sorted(types)), columns=shared)
        made.pos = made.pos or made.pos_  # a tagger that was not given as a path
        return made

    def check(self) -> None:
        """Check that the parameters have valid values.

        Raises:
            UsageError: one has not.
        """
        super().check()
        check_encoder(self)
        check_encoder_training(self, several=True)
        check_source(self.pos)
        names_from(self.names)
        order: Any = self.order
        names = [order] if isinstance(order, str) else list(order) if isinstance(order, Sequence) else []
        if isinstance(order, str) and order not in ORDERS:
            raise UsageError(f"order is {order!r}, expected {', '.join(ORDERS)} or the names of all types")
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise UsageError(f"order is {order!r}, expected the name of each type once")

    @property
    def _chain_params(self) -> dict[str, Any]:
        params = {name: value for name, value in self.get_params().items() if name not in ("order", "features")}
        # documents are ready before a chain sees them, a chain is its tokens' model alone, and mentions do not overlap
        fixed = {
            "pos": None,
            "split_tokens": False,
            "passes": "one",
            "rescore": False,
            "overlap": "free",
            "link": None,
            "attributes": "off",
        }
        return {**params, **fixed}

    @property
    def strongest_(self) -> Strongest:
        """The strongest features of each tag of each chain."""
        return {role: features for chain in self.fitted for role, features in chain.strongest_.items()}

    types_: tuple[str, ...]
    chains_ = renamed("chains_")
    report_: CascadeReport
    lost_: tuple[Lost, ...]
    pos_: Filler | None = None
    splitter_ = Splitter()
    pass_: DocumentPass | None = None


def _restored(part: ModelPart, shared: ColumnResources) -> Recognizer:
    """A chain, without its report and its strongest features."""
    model = model_of(part, shared, STRUCTURES[STRUCTURE])
    features = features_of(model)
    chain = Recognizer(STRUCTURE, pos=None, attributes="off")
    if features is not None:
        chain.features = [str(template) for template in features.templates]
    chain.types_, chain.model_ = model.types, model
    return chain


def _types(chains: Sequence[Recognizer]) -> list[str]:
    """The types of chains that belong together, in their order: each has one, and sees outputs of earlier ones only."""
    types = [name for chain in chains for name in chain.types_]
    if not types or any(len(chain.types_) != 1 for chain in chains) or len(set(types)) < len(types):
        raise ModelError(f"chains of the types {types}, expected one chain for each type")
    columns = column_names(sorted(types))
    for number, chain in enumerate(chains):
        seen = {name for name in chain.fitted.scorer.needs if name.startswith(PREFIX)}
        unknown = seen.difference(columns[name] for name in types[:number])
        if unknown:
            raise ModelError(f"the chain of {types[number]!r} sees {min(unknown)!r}, which no earlier chain gives")
    return types


def _hold_out(documents: Sequence[Document], types: Sequence[str], seed: int) -> tuple[list[Document], list[Document]]:
    """As `hold_out`, but each type stays in the training data: a chain cannot learn from none."""
    train, dev = hold_out(documents, seed, by_sentence)
    for kind in types:
        if not any(mention.type == kind for document in train for mention in document.mentions):
            train += [document for document in dev if any(mention.type == kind for mention in document.mentions)]
            dev = [document for document in dev if all(mention.type != kind for mention in document.mentions)]
    return train, dev


def _merged(document: Document, mentions: Sequence[Mention], threshold: float) -> Document:
    kept = [mention for mention in mentions if mention.score is None or mention.score >= threshold]
    return remarked(document, sorted(kept, key=lambda m: (m.start, -m.end, m.type)))


def _check_order(order: str | Sequence[str], types: Sequence[str]) -> None:
    if not isinstance(order, str) and set(order) != set(types):
        raise UsageError(
            f"order is {', '.join(order)}, expected each of the training data's types once: {', '.join(types)}"
        )


def _report(ready: Prepared, links: Sequence[Link]) -> CascadeReport:
    reports = {link.chain.types_[0]: link.chain.report_ for link in links}
    lost: Counter[str] = Counter()
    for report in reports.values():
        lost.update(report.lost)
    return CascadeReport(
        documents=number_of_texts(ready.train),
        sentences=sum(document.sentence_count for document in ready.train),
        tokens=sum(document.token_count for document in ready.train),
        mentions=sum(report.mentions for report in reports.values()),
        development=sum(document.sentence_count for document in ready.dev),
        lost=dict(sorted(lost.items())),
        ambiguous=sum(report.ambiguous for report in reports.values()),
        dropped=tuple(str(template) for template in ready.features.dropped),
        rows=sum(report.rows for report in reports.values()),
        steps=sum(report.steps for report in reports.values()),
        dev_f1=f1(link.counts for link in links),
        chains=reports,
        splitting=ready.splitting,
    )
