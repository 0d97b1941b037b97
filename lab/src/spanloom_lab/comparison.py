"""Comparison of structures: trained on one corpus, and measured on the same test data, untuned and tuned.

The protocol of Lu and Roth (2015), section 4, and Muis and Lu (2017), section 6: lambda and the mention penalty are
chosen by F1 on development data, and each model is shown without the penalty and with it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.evaluate import KEYS, Report, calibration, evaluate, score
from spanloom.learn import Progress
from spanloom.learn.folds import hold_out
from spanloom.model.corpus import by_sentence
from spanloom.model.report import TrainingReport
from spanloom.recognize.recognizer import Recognizer
from spanloom.structures import structure_of
from spanloom.text import prepare
from spanloom_lab.cascade import Cascade, CascadeReport
from spanloom_lab.head_chain import PLAIN, HeadChain
from spanloom_lab.head_rules import HEAD_RULES, give_heads
from spanloom_lab.sharing import shares_nodes

SAMPLES = 1000  # of the bootstrap
BOTH = "both"
COUNTINGS = (BOTH, "subgraphs", "derivations")
CASCADE = "cascade"  # is among the structures, though it is several chains
_LIMITED = re.compile(r"^(semi_markov):(\w+)$")  # an older way to write a parameter
_VALUE = re.compile(r"=(\w+)")  # of a parameter, in a structure's text
OWN_HEADS, HEAD_CHAIN = "model", "chain"
Model = Recognizer | Cascade
HeadFinder = Callable[[Iterable[Document]], Iterable[Document]]


class Variant(NamedTuple):
    """A structure with a way of counting.

    Args:
        name: name in tables and files; with the counting where that makes a difference.
        structure: of a `Recognizer`, as text, or ``cascade``.
        counting: a key of `spanloom.hypergraph.ENGINES`.
    """

    name: str
    structure: str
    counting: str


def variants(structures: Iterable[str], counting: str = BOTH, components: int = 3) -> list[Variant]:
    """Return the structures to compare, those with shared nodes once for each way of counting.

    Args:
        structures: as `Recognizer` takes them, or ``cascade``; ``semi_markov:6`` is short for
            ``semi_markov(longest=6)``. One that is repeated counts once.
        counting: ``both``, ``subgraphs`` or ``derivations``.
        components: as for `Recognizer`.

    Raises:
        UsageError: an unknown structure or way of counting.

    >>> [variant.name for variant in variants(["bio", "shared", "semi_markov:6"])]
    ['bio', 'shared-subgraphs', 'shared-derivations', 'semi_markov-6']
    """
    if counting not in COUNTINGS:
        raise UsageError(f"counting is {counting!r}, expected one of {', '.join(COUNTINGS)}")
    chosen = COUNTINGS[1:] if counting == BOTH else (counting,)
    found: dict[str, list[Variant]] = {}
    for given in structures:
        text = _LIMITED.sub(r"\1(longest=\2)", given)
        if text == CASCADE:
            found[text] = [Variant(text, text, COUNTINGS[1])]
            continue
        structure = structure_of(text, also=(CASCADE,))
        name = "-".join([structure.name, *_VALUE.findall(str(structure))])
        if shares_nodes(structure_of(text, components=components).template(("mention",))):
            found[name] = [Variant(f"{name}-{way}", str(structure), way) for way in chosen]
        else:
            found[name] = [Variant(name, str(structure), COUNTINGS[1])]
    return [variant for group in found.values() for variant in group]


def build(variant: Variant, params: Mapping[str, Any]) -> Model:
    """Return the untrained model of a variant; a cascade gets only the recognizer's parameters that it has.

    Raises:
        UsageError: an invalid parameter.
    """
    model: Model
    if variant.structure == CASCADE:
        model = Cascade(**{"passes": "one", **_of_chains(params)})
    else:
        own = {"structure": variant.structure, "counting": variant.counting}
        model = Recognizer(**{**own, **PLAIN, **params})
    model.check()
    return model


def _of_chains(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recognizer's parameters that chains have, too."""
    return {name: value for name, value in params.items() if name in Cascade().get_params()}


def head_finders(parts: Parts, params: Mapping[str, Any]) -> dict[str, HeadFinder]:
    """Return functions that add heads to mentions without heads: the baselines of Lu and Roth (2015), Table 4.

    Args:
        parts: documents whose training mentions have heads.
        params: of a recognizer, for the chain that learns heads.

    Returns:
        The rules `HEAD_RULES`, and ``chain``, a trained `HeadChain`.

    Raises:
        DataError: a training mention has no head.
    """
    chosen = {"features": "ace", **_of_chains(params)}
    chosen.pop("order", None)
    chain = HeadChain(**chosen).fit(parts.train, dev=parts.dev)
    return {**{rule: partial(give_heads, rule=rule) for rule in HEAD_RULES}, HEAD_CHAIN: chain.predict}


class Parts(NamedTuple):
    """Prepared documents for training, tuning and test."""

    train: list[Document]
    dev: list[Document]
    test: list[Document]


def divide(
    train: Iterable[Document], dev: Iterable[Document] | None, test: Iterable[Document] | None, seed: int = 0
) -> Parts:
    """Return prepared documents for training, tuning and test.

    Without ``dev`` a tenth of the training data is used for tuning, as in `Recognizer.fit`; without ``test``, the
    development data are used for the test, too.
    """
    ready = [prepare(document) for document in train]
    if dev is None:
        ready, tuning = hold_out(ready, seed, by_sentence)
    else:
        tuning = [prepare(document) for document in dev]
    return Parts(ready, tuning, tuning if test is None else [prepare(document) for document in test])


@dataclass(frozen=True)
class VariantRow:
    """Figures of a trained model on test data, with or without its mention penalty.

    Args:
        name: the model's name.
        heads: source of the heads: ``model`` itself, or a key of `head_finders`; empty where they do not count.
        tuned: whether the penalty is applied.
        penalty: the mention penalty; ``None`` where it is each chain's own.
        dev_f1: on development data, 0 to 1.
        test: on test data, with 95 % bootstrap intervals.
        calibration_error: expected calibration error, 0 to 1.
        tokens_per_second: of prediction with probabilities, on the model's threads.
        seconds: of training: features, all values of lambda, and tuning.
        features: the number of distinct features.
        rows: the number of rows of weights; features that occur at the same tokens share one.
        weights: the number of weights.
        training: the report of training.
        predicted: the test documents.
    """

    name: str
    heads: str
    tuned: bool
    penalty: float | None
    dev_f1: float
    test: Report
    calibration_error: float
    tokens_per_second: float
    seconds: float
    features: int
    rows: int
    weights: int
    training: TrainingReport | CascadeReport = field(repr=False)
    predicted: list[Document] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values; fractions from 0 to 1, without the predictions."""
        plain = (
            "name", "heads", "tuned", "penalty", "dev_f1", "calibration_error", "tokens_per_second", "seconds",
            "features", "rows", "weights",
        )  # fmt: skip
        training = self.training
        return {name: getattr(self, name) for name in plain} | {
            "lambda": training.l2 if isinstance(training, TrainingReport) else None,
            "steps": training.steps,
            "mentions": training.mentions,
            "lost": sum(training.lost.values()),
            "lost_for": dict(training.lost),
            "ambiguous": training.ambiguous,
            "test": self.test.to_dict(),
        }


def measure(
    name: str, model: Model, dev: Sequence[Document], test: Sequence[Document], *, seconds: float = 0.0,
    finders: Mapping[str, HeadFinder] | None = None, seed: int = 0, notice: Callable[[str], object] = warnings.warn,
) -> list[VariantRow]:  # fmt: skip
    """Measure a trained model: without the mention penalty, and with it if it was tuned.

    The weights of both are the same: nothing is trained again. With ``finders`` heads must match, too; a model that
    finds no heads has its rows once for each finder.

    Args:
        name: the name in the rows.
        model: a trained model.
        dev: prepared documents that it was tuned on.
        test: prepared documents.
        seconds: the duration of training.
        finders: the result of `head_finders`; ``None`` where heads do not count.
        seed: the seed of the intervals.
        notice: as for `Recognizer.predict`.
    """
    match = "exact" if finders is None else "heads"
    found = []
    for tuned in (False, True) if model.tune_penalty else (False,):
        used = model if tuned else without_penalty(model)
        on_dev = list(used.stream(dev, notice=notice))
        began = perf_counter()  # kernels are loaded by now
        on_test = list(used.stream(test, notice=notice))
        speed = sum(document.token_count for document in test) / (perf_counter() - began)
        for heads, find in _chosen(model, finders).items():
            predicted = list(find(on_test))
            found.append(
                VariantRow(
                    name=name,
                    heads=heads,
                    tuned=tuned,
                    penalty=_penalty(model) if tuned else 0.0,
                    dev_f1=score(dev, list(find(on_dev)), key=KEYS[match]).f1,
                    test=evaluate(test, predicted, match=match, bootstrap=SAMPLES, seed=seed),
                    calibration_error=calibration(test, predicted).error,
                    tokens_per_second=speed,
                    seconds=seconds,
                    **_sizes(model),
                    training=model.report_,
                    predicted=predicted,
                )
            )
    return found


def _chosen(model: Model, finders: Mapping[str, HeadFinder] | None) -> Mapping[str, HeadFinder]:
    if finders is None:
        return {"": iter}
    return {OWN_HEADS: iter} if finds_heads(model) else finders


def finds_heads(model: Model) -> bool:
    """Return whether a model's mentions have heads."""
    return any(part.structure.heads for part in model.structured)


def _sizes(model: Model) -> dict[str, int]:
    """Return the numbers of features, of rows of weights, and of weights."""
    taggers = model.structured
    return {
        "features": sum(round(float(tagger.scorer.index.group_sizes.sum(dtype=float))) for tagger in taggers),
        "rows": sum(len(tagger.scorer.index) for tagger in taggers),
        "weights": sum(array.size for tagger in taggers for array in tagger.scorer.weights),
    }


def without_penalty(model: Model) -> Model:
    """Return a trained model without its mention penalty, or without those of its chains."""
    return model.with_penalty(0.0)


def _penalty(model: Model) -> float | None:
    """Return the one mention penalty of a model; ``None`` where each chain has its own."""
    return model.structured[0].penalty if len(model.structured) == 1 else None


def compare(
    models: Mapping[str, Model],
    train: Iterable[Document],
    dev: Iterable[Document] | None = None,
    test: Iterable[Document] | None = None,
    *,
    seed: int = 0,
    progress: Callable[[str, Progress], None] | None = None,
) -> Iterator[VariantRow]:
    """Train models on one corpus, one after the other; yield the rows of each as soon as it is measured.

    Args:
        models: name -> untrained model; each is trained in place, and can be saved afterwards.
        train: with mentions.
        dev: development data for lambda, passes and penalty; the same tenth of the training data for all when ``None``.
        test: used once a model; the development data when ``None``, which overestimates F1.
        seed: the seed of that tenth and of the intervals.
        progress: callback with the name and each step.

    Raises:
        DataError, UsageError: as `Recognizer.fit`.

    >>> from spanloom.document import Mention
    >>> texts = [Document("no chest pain", id=str(n), mentions=[Mention("problem", [(3, 13)])]) for n in range(40)]
    >>> models = {name: Recognizer(name, ["bias", "w[0]"], epochs=2) for name in ("bio", "separators")}
    >>> [(row.name, row.tuned, row.test.overall.f1) for row in compare(models, texts, texts, texts)]
    [('bio', False, 1.0), ('bio', True, 1.0), ('separators', False, 1.0), ('separators', True, 1.0)]
    """
    parts = divide(train, dev, test, seed)
    for name, model in models.items():
        seconds = fit(name, model, parts, progress)
        yield from measure(name, model, parts.dev, parts.test, seconds=seconds, seed=seed)


def fit(name: str, model: Model, parts: Parts, progress: Callable[[str, Progress], None] | None = None) -> float:
    """Train one of several models; return the seconds that it took."""
    began = perf_counter()
    listener = None if progress is None else lambda step: progress(name, step)
    model.fit(parts.train, dev=parts.dev, progress=listener)
    return perf_counter() - began
