"""Reports of training: what it saw and chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from spanloom.concepts.report import ConceptReport
from spanloom.document import Batch
from spanloom.errors import plural
from spanloom.features import FeatureSet
from spanloom.files.scratch import MEMORY, Scratch
from spanloom.hypergraph import Edges
from spanloom.learn import Chosen
from spanloom.model.attributes import AttributeQuality
from spanloom.model.calibration import CalibrationReport
from spanloom.model.corpus import Gold, Lost, number_of_texts
from spanloom.model.overlaps import OverlapReport
from spanloom.model.pieces import count_ambiguous
from spanloom.model.splitting import SplittingReport
from spanloom.model.structured import AnyModel

FEW_MENTIONS = 300
"""Mentions below which F1 on them is uncertain by several points, which is reported as an interval and a caution."""
_EXAMPLES = 5  # of the mentions that were lost for one reason
_SURFACE = 60  # characters of one
_CUTS = "inside a token"  # `spanloom validate` lists these in full


def lost_lines(reasons: Mapping[str, int], lost: Sequence[Lost], *, every: bool = False) -> Iterator[str]:
    """Yield lines on the mentions that a model cannot hold, with examples.

    Args:
        reasons: reason -> how many mentions.
        lost: the mentions.
        every: list all of them, where no verb does.
    """
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        yield f"cannot be represented: {plural(count, 'mention')}: {reason}"
        own = [item for item in lost if item.reason == reason]
        yield from (f"  {_named(item)}" for item in (own if every else own[:_EXAMPLES]))
        if len(own) > _EXAMPLES and not every:
            where = "; spanloom validate lists all" if _CUTS in reason else ""
            yield f"  and {len(own) - _EXAMPLES:,} more{where}"


class Part(Protocol):
    """A part of a report."""

    def lines(self) -> Iterator[str]:
        """Yield it as lines of text."""


def part_lines(*parts: Part | None, attributes: Mapping[str, AttributeQuality] | None = None) -> Iterator[str]:
    """Yield the lines of those parts of a report that there are, and of the attributes that were learned."""
    for part in parts:
        if part is not None:
            yield from part.lines()
    for name, quality in (attributes or {}).items():
        yield f"attribute {name}: cross-validated {quality}"


def _named(item: Lost) -> str:
    surface = item.text if len(item.text) <= _SURFACE else item.text[: _SURFACE - 1] + "…"
    spans = " ".join(f"{start}-{end}" for start, end in item.mention.spans)
    return f"{item.document or 'document'} {spans}: {item.mention.type} {surface!r}"


@dataclass(frozen=True)
class TrainingCounts:
    """Counts of training data that reports on recognizers and on cascades share.

    Args:
        documents, sentences, tokens, mentions: of the training data.
        development: sentences of the development data.
        lost: reason -> how many mentions the model cannot hold for it.
        ambiguous: mentions that are represented, but decoded as others, such as crossing ones as nested.
        dropped: templates of a preset that the data cannot serve.
    """

    documents: int
    sentences: int
    tokens: int
    mentions: int
    development: int
    lost: dict[str, int]
    ambiguous: int
    dropped: tuple[str, ...]


class ReportLines(TrainingCounts):
    """Lines that reports on recognizers and on cascades share; a report has the fields that they name."""

    dev_f1: float
    splitting: SplittingReport | None
    compact: CompactReport | None
    interval: tuple[float, float] | None = None
    folds: int = 0
    attributes: dict[str, AttributeQuality] | None = None
    structure: StructureReport | None = None

    def chosen(self) -> Iterator[str]:
        """Yield lines on what training chose."""
        raise NotImplementedError

    def calibrated(self) -> Iterator[str]:
        """Return lines on what calibration did, where that is not reported of each chain."""
        return iter(())

    def lines(self, lost: Sequence[Lost]) -> Iterator[str]:
        """Yield lines on the training data, the choices of training, and the mentions that the model cannot hold.

        Args:
            lost: the mentions that the model cannot hold.
        """
        held = plural(self.development, "sentence")
        yield (
            f"trained on {plural(self.documents, 'document')}: {plural(self.sentences, 'sentence')}, "
            f"{plural(self.tokens, 'token')}, {plural(self.mentions, 'mention')}; "
            f"tuned {f'by cross-validation, {self.folds} folds' if self.folds else f'on {held}'}"
        )
        yield from part_lines(self.splitting)
        yield from self.chosen()
        if self.dropped:
            yield f"features left out, because their columns are missing: {', '.join(self.dropped)}"
        yield from lost_lines(self.lost, lost)
        if self.ambiguous and self.structure is None:  # else it has them
            yield f"represented, but decoded as others, such as nested ones: {plural(self.ambiguous, 'mention')}"
        yield from self.calibrated()
        yield from part_lines(self.compact)
        if self.mentions < FEW_MENTIONS and self.interval is not None:
            low, high = self.interval
            one = "; it is unreliable for other documents, as there is one" if self.documents == 1 else ""
            yield (
                f"caution: trained on {plural(self.mentions, 'mention')}: expect F1 to vary; the estimate "
                f"{100 * self.dev_f1:.1f} has an interval of {100 * low:.0f} to {100 * high:.0f}{one}"
            )
        last = f"development F1 {100 * self.dev_f1:.1f}"
        if self.interval is not None:
            low, high = self.interval
            last += f", 95 % interval {100 * low:.0f} to {100 * high:.0f}"
        yield f"{last}, by cross-validation" if self.folds else last


@dataclass(frozen=True)
class CompactReport:
    """Report on a model that was made compact.

    Args:
        threshold: weights that were nearer to 0 are left out.
        bytes_before, bytes_after: of the arrays of the model file.
        f1_before, f1_after: on development data, 0 to 1; ``None`` where none were given.
    """

    threshold: float
    bytes_before: int
    bytes_after: int
    f1_before: float | None = None
    f1_after: float | None = None

    def lines(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        f1 = ""
        if self.f1_before is not None and self.f1_after is not None:
            f1 = f"; F1 on the data given {100 * self.f1_before:.1f} before, {100 * self.f1_after:.1f} after"
        yield (
            f"compact: weights below {self.threshold:g} left out, the others in 8 bits; "
            f"{self.bytes_before / 1e6:,.2f} MB before, {self.bytes_after / 1e6:,.2f} MB after{f1}"
        )


@dataclass(frozen=True)
class PassReport:
    """Report on a second pass over documents.

    Args:
        several: whether enough training documents have several sentences.
        before, after: development F1 of tokens alone with one pass, and with two, 0 to 1; ``None`` where not trained.
        kept: whether there are two passes.
    """

    several: bool
    before: float | None = None
    after: float | None = None
    kept: bool = False

    def lines(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        if not self.several:
            yield (
                "one pass over documents: fewer than three training documents have several sentences, so there is "
                "nothing elsewhere in the document to learn from"
            )
        elif self.before is None or self.after is None:
            yield "two passes over documents"
        else:
            yield (
                f"two passes over documents: development F1 {100 * self.before:.1f} to {100 * self.after:.1f}"
                f"{'' if self.kept else ', not used'}"
            )


@dataclass(frozen=True)
class StructureReport:
    """Report on a structure that was chosen by the annotation.

    Args:
        name: of the structure.
        gaps: share of the training mentions that have gaps, 0 to 1.
        mentions: of the training data.
        lost: what mentions are that the model cannot represent -> how many.
    """

    name: str
    gaps: float
    mentions: int
    lost: dict[str, int]

    def lines(self) -> Iterator[str]:
        """Yield the choice, and what it cannot represent."""
        if self.gaps:
            share = f"{100 * self.gaps:.0f} %" if self.gaps >= 0.01 else "less than 1 %"
            why = f"{share} of mentions have gaps"
        else:
            why = "no mention has gaps"
        if self.lost:
            reasons = sorted(self.lost.items(), key=lambda item: -item[1])
            parts = reasons[0][0] if len(reasons) == 1 else ", ".join(f"{count:,} {what}" for what, count in reasons)
            able = f"cannot represent {sum(self.lost.values()):,} of {plural(self.mentions, 'mention')}: {parts}"
        else:
            able = f"represents all {plural(self.mentions, 'mention')}"
        yield f"structure: {self.name} ({why}); {able}"


@dataclass(frozen=True)
class RescoringReport:
    """What training of the second stage saw and chose.

    Args:
        candidates: of the training data, by first stages that did not see them.
        right: how many of them are gold.
        reached: the share of development mentions that are candidates, 0 to 1.
        l2: lambda.
        threshold: probability from which on a candidate is a mention, before calibration.
        before, after: development F1 of the first stage alone, and with the second, 0 to 1.
        kept: whether the second stage is used; it is where it is better.
    """

    candidates: int
    right: int
    reached: float
    l2: float
    threshold: float
    before: float
    after: float
    kept: bool

    def lines(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        yield (
            f"second stage: {plural(self.candidates, 'candidate')}, {self.right:,} of them right, "
            f"{100 * self.reached:.1f} % of development mentions among them, lambda {self.l2:g}; development F1 "
            f"{100 * self.before:.1f} to {100 * self.after:.1f}{'' if self.kept else ', not used'}"
        )


@dataclass(frozen=True)
class EncoderReport:
    """Report on an encoder's training.

    Args:
        family: of the encoder, as its configuration names it.
        parameters: numbers that were trained.
        subwords: of the training data.
        windows: that they were read in.
        overlapping: windows that hold a part of a sentence which is longer than one.
        unknown: training tokens with a sub-word that the encoder's vocabulary lacks.
        shortened: training tokens of which the encoder reads the first sub-words only.
        seeds: of several seeds, the development F1 of each.
        averaged: the places of those whose weights are averaged, the best first.
        mean: development F1 of their mean.
        share: of features in the mean of scores; ``None`` without features.
    """

    family: str
    parameters: int
    subwords: int
    windows: int
    overlapping: int
    unknown: int
    shortened: int
    seeds: tuple[float, ...] = ()
    averaged: tuple[int, ...] = ()
    mean: float = 0.0
    share: float | None = None

    def lines(self, token: str = "token") -> Iterator[str]:
        """Yield the report as lines of text, in which ``token`` is the word for a token, such as *character*."""
        parts = [f"{plural(self.subwords, 'sub-word')} in {plural(self.windows, 'window')}"]
        if self.overlapping:
            parts.append(f"{self.overlapping:,} of them with parts of longer sentences")
        if self.unknown:
            parts.append(f"{plural(self.unknown, token)} that its vocabulary lacks")
        if self.shortened:
            parts.append(f"{plural(self.shortened, token)} read in part")
        yield f"encoder: {self.family}, {self.parameters:,} weights; {', '.join(parts)}"
        if self.seeds:
            each = ", ".join(f"{100 * value:.1f}" for value in self.seeds)
            which = ", ".join(str(number + 1) for number in sorted(self.averaged))
            yield f"development F1 of {len(self.seeds)} seeds: {each}; the mean of {which}: {100 * self.mean:.1f}"
        if self.share is not None:
            yield f"scores: {100 * self.share:.0f} % features, {100 - 100 * self.share:.0f} % the encoder"


@dataclass(frozen=True)
class TeachingReport:
    """Report on what teachers predicted for raw text, and on its weight in training.

    Args:
        teachers: how many.
        documents, sentences, tokens: of raw text.
        expected: how many mentions the teachers expect in it.
        agreement: the share of expected mention starts on which all teachers agree, 0 to 1; ``None`` for one teacher.
        weight: of a raw sentence, where one with gold mentions has 1.
        tried: weights that were tried, and the development F1 of each, 0 to 1.
        own: whether development data were annotated by the teachers, because there were no others.
        others, crossed: teachers that had text of their own, and its documents.

    Sentences, tokens and expected mentions are those of all of it; agreement is that of the first teachers.
    """

    teachers: int
    documents: int
    sentences: int
    tokens: int
    expected: float
    agreement: float | None
    weight: float
    tried: tuple[tuple[float, float], ...]
    own: bool
    others: int = 0
    crossed: int = 0

    @classmethod
    def of(cls, parts: Sequence[TeachingReport]) -> TeachingReport:
        """Return the report on all, of which the first is that of the raw text."""
        sums: dict[str, Any] = {
            name: sum(getattr(part, name) for part in parts) for name in ("sentences", "tokens", "expected")
        }
        others = sum(part.teachers for part in parts[1:])
        return replace(parts[0], **sums, others=others, crossed=sum(part.documents for part in parts[1:]))

    def lines(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        agreement = "" if self.agreement is None else f", who agree on {100 * self.agreement:.1f} % of their starts"
        others = f", and by {self.others} more on {self.crossed:,} others" if self.others else ""
        yield (
            f"taught by {plural(self.teachers, 'model')} on {plural(self.documents, 'raw document')}{others}: "
            f"{plural(self.sentences, 'sentence')}, {plural(self.tokens, 'token')}, {self.expected:,.0f} mentions "
            f"expected{agreement}"
        )
        if len(self.tried) > 1:
            tried = ", ".join(f"{weight:g}: {100 * f1:.1f}" for weight, f1 in self.tried)
            yield f"weight of a raw sentence {self.weight:g}; development F1 by weight {tried}"
        if self.own:
            yield "development data are raw text as the teacher marks it up: figures show how well it is imitated"


class Density(NamedTuple):
    """How many mentions of a type there are.

    Args:
        mentions: per 1,000 tokens.
        error: standard error of an estimate; ``None`` for a number that was given.
    """

    mentions: float
    error: float | None


@dataclass(frozen=True)
class CompletionReport:
    """Report on partial annotation that was completed.

    Args:
        densities: type -> how many mentions there are.
        given: how many mentions start in the annotation.
        expected: how many are expected to start in the text, given ones included.
        sure: of each type, or of all where types are joined, the share of filled-in mentions at places where a mention
            is likelier than no mention.
        offsets: of the same, in this order, what was added to the scores of starts to meet the density.
    """

    densities: dict[str, Density]
    given: float
    expected: float
    sure: dict[str, float]
    offsets: tuple[float, ...]

    def lines(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        rates = ", ".join(
            f"{name} {one.mentions:.3g}" + ("" if one.error is None else f" ± {one.error:.2g}")
            for name, one in self.densities.items()
        )
        total = sum(one.mentions for one in self.densities.values())
        yield f"mentions per 1,000 tokens: {total:.3g} in all: {rates}"
        sure = ", ".join(f"{name} {100 * share:.0f} %" for name, share in self.sure.items())
        yield (
            f"annotation has {self.given:,.0f} starts of mentions, {self.expected - self.given:,.0f} more were filled "
            f"in; where a mention is likelier than none: {sure} of them"
        )


class Quality(NamedTuple):
    """How good an annotator is.

    Args:
        mentions: that are marked.
        found: the share of what is probably there that is marked, of what any annotator marked.
        right: the share of what is marked that is probably there.
    """

    mentions: int
    found: float
    right: float

    def __str__(self) -> str:
        return f"finds {100 * self.found:.0f} %, {100 * self.right:.0f} % right"


@dataclass(frozen=True)
class AnnotatorReport:
    """Report on one of several annotators.

    Args:
        documents: texts that the annotator has marked.
        overall: how good.
        agreement: F1 with the mentions of the others, in the texts that they share.
        types: type -> how good.
    """

    documents: int
    overall: Quality
    agreement: float
    types: dict[str, Quality]


@dataclass(frozen=True)
class AnnotatorsReport:
    """Report on several annotators of the same texts.

    Args:
        annotators: name -> how good.
        documents: texts.
        shared: those that several annotators have marked.
        mentions: of the likeliest structures, given what all marked.
    """

    annotators: dict[str, AnnotatorReport]
    documents: int
    shared: int
    mentions: int

    def lines(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        yield (
            f"{plural(len(self.annotators), 'annotator')} of {plural(self.documents, 'text')}, {self.shared:,} of them "
            f"marked by several: {plural(self.mentions, 'mention')} probably there"
        )
        for name, one in self.annotators.items():
            own = ", ".join(f"{kind} {quality}" for kind, quality in one.types.items())
            agreement = f"agreement with the others {100 * one.agreement:.0f} %"
            yield f"annotator {name}: {plural(one.overall.mentions, 'mention')}, {one.overall}, {agreement}; {own}"


@dataclass(frozen=True)
class TrainingReport(ReportLines):
    """Report of a recognizer's training: data, choices and scores.

    Args:
        documents, sentences, tokens, mentions, development, lost, ambiguous, dropped: see `TrainingCounts`.
        rows: rows of weights.
        l2: lambda.
        penalty: the mention penalty.
        steps: passes or iterations.
        dev_f1: with the penalty, 0 to 1.
        history: objective and development F1 at each step.
        calibration: of the probabilities, on the development data; ``None`` for a model that was not calibrated.
        splitting: what was learned on tokens that mentions cut; ``None`` where nothing was.
        clustered: share of the different words of the training data that have a cluster of their own, 0 to 1; ``None``
            without clusters.
        rescoring: what the second stage did; ``None`` where none was trained.
        overlaps: which mentions may overlap; ``None`` for a model that was trained before this was learned.
        passes: how many passes over documents there are, and why; ``None`` where one was asked for.
        encoder: what an encoder read; ``None`` without an encoder.
        vectors: share of the words of the training data that have a vector, 0 to 1; ``None`` without vectors.
        teaching: what was learned from teachers; ``None`` where there were none.
        completion: of partial annotation; ``None`` where all is complete.
        compact: what became of the weights of a compact model; ``None`` for any other.
        annotators: several of the same texts; ``None`` where there is one.
        structure: how the structure was chosen; ``None`` where one was named.
        interval: 95 % interval of F1 on other documents, 0 to 1; ``None`` where development data have many mentions.
        folds: of cross-validation; 0 where development data were given, or a part of the training data held out.
        attributes: attribute of mentions -> how well it is predicted; ``None`` where none was learned.
        concepts: of mentions; ``None`` where they are not linked.
    """

    rows: int
    l2: float
    penalty: float
    steps: int
    dev_f1: float
    history: tuple[tuple[float, float], ...] = field(repr=False)
    calibration: CalibrationReport | None = None
    splitting: SplittingReport | None = None
    clustered: float | None = None
    rescoring: RescoringReport | None = None
    overlaps: OverlapReport | None = None
    passes: PassReport | None = None
    encoder: EncoderReport | None = None
    vectors: float | None = None
    teaching: TeachingReport | None = None
    completion: CompletionReport | None = None
    compact: CompactReport | None = None
    annotators: AnnotatorsReport | None = None
    structure: StructureReport | None = None
    interval: tuple[float, float] | None = None
    folds: int = 0
    attributes: dict[str, AttributeQuality] | None = None
    concepts: ConceptReport | None = None

    def chosen(self) -> Iterator[str]:
        """Yield lines on what training chose."""
        yield from part_lines(self.structure)
        if self.encoder is None:
            rows, steps = plural(self.rows, "row"), plural(self.steps, "step")
            yield f"{rows} of weights, lambda {self.l2:g}, {steps}, mention penalty {self.penalty:.2f}"
        else:
            yield from self.encoder.lines()
            yield f"the best of {len(self.history)} passes is pass {self.steps}, mention penalty {self.penalty:.2f}"
        if self.clustered is not None:
            yield f"word clusters hold {100 * self.clustered:.1f} % of the different words of the training text"
        if self.vectors is not None:
            yield f"word vectors hold {100 * self.vectors:.1f} % of the words of the training text"
        yield from part_lines(
            self.teaching, self.completion, self.annotators, self.passes, self.overlaps, self.rescoring, self.concepts,
            attributes=self.attributes,
        )  # fmt: skip

    def calibrated(self) -> Iterator[str]:
        """Return lines on what calibration did."""
        return part_lines(self.calibration)


def make_report(
    train: Batch, dev: Batch, gold: Gold, edges: Edges, chosen: Chosen, rows: int, features: FeatureSet | None,
    tagger: AnyModel, checked: CalibrationReport | None, scratch: Scratch = MEMORY,
) -> TrainingReport:  # fmt: skip
    """The report of one training.

    Args:
        train, dev: the data.
        gold: mentions of the training data.
        edges: their structures.
        chosen: by training.
        rows: of weights; with an encoder, numbers that were trained.
        features: templates, where there are any.
        tagger: trained and calibrated.
        checked: its calibration; ``None`` where development data cannot decide.
        scratch: where the structures are.
    """
    held = gold.table.take(gold.holds)
    clusters = None if features is None else features.clusters
    vectors = None if features is None else features.resources.vectors
    return TrainingReport(
        documents=number_of_texts(train.documents),
        sentences=len(train.sentences) - 1,
        tokens=len(train.tokens),
        mentions=gold.total,
        development=len(dev.sentences) - 1,
        lost=dict(sorted(Counter(item.reason for item in gold.lost).items())),
        ambiguous=count_ambiguous(tagger.structure, held, edges, train.sentences, tagger.types, scratch),
        dropped=() if features is None else tuple(str(template) for template in features.dropped),
        rows=rows,
        l2=chosen.l2,
        penalty=chosen.penalty,
        steps=chosen.steps,
        dev_f1=chosen.dev_f1,
        history=chosen.history,
        calibration=checked,
        clustered=None if clusters is None else clusters.share(train.stream_words()),
        vectors=None if vectors is None else vectors.share(train.stream_words()),
    )
