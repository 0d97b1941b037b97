"""Training on partial annotation: its completeness, the structures that it allows, and the density of mentions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document
from spanloom.document.annotation import COMPLETE, UNKNOWN, Completeness, Status, claims_of, completeness
from spanloom.errors import DataError, UsageError, clip
from spanloom.hypergraph import Edges, Floats
from spanloom.learn import EdgeTarget, Listener, Progress, TrainingSet
from spanloom.learn.complete import Completion, complete
from spanloom.learn.held_out import HELD_EPOCHS, Held
from spanloom.model.claimed import with_claims
from spanloom.model.corpus import Gold
from spanloom.model.parameters import lambdas
from spanloom.model.partial import allowed_structures, silent_cells
from spanloom.model.report import CompletionReport, Density
from spanloom.model.structured import LinearModel
from spanloom.parallel import Executor
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.scoring import Weights

FEWEST: Final = 20  # mentions of a type in complete parts, from which its density is estimated
_PER = 1000  # tokens, the unit of a density
_REACHED = 0.99  # of the starts that are wanted
_FEWEST_STARTS = 0.5  # in all text, of a type without other evidence: there is no share of none
DensityLike = float | str | Mapping[str, float] | Sequence[str]


def marked(documents: Sequence[Document], status: Completeness) -> list[Document]:
    """Return documents with the completeness of their annotation in their metadata; their own takes precedence."""
    if status == "complete":
        return list(documents)
    return [one if "annotation" in one.meta else one.copy(meta={**one.meta, "annotation": status}) for one in documents]


def partly(documents: Sequence[Document], types: Sequence[str]) -> bool:
    """Return whether the annotation of prepared documents is not complete somewhere."""
    return any("annotation" in one.meta for one in documents) and completeness(Batch.of(documents), types) is not None


def silent_in(batch: Batch, model: LinearModel) -> NDArray[np.bool_] | None:
    """Return (N, K) the sentences whose annotation of a type is unknown, where all others are complete.

    The result is ``None`` if all annotation is complete, if none is, or if a sentence is partly annotated; also for a
    structure that joins types or has constants, whose counts are not of single sentences.
    """
    if model.structure.joint or model.engine.template.constants:
        return None
    if any(claims_of(document, None) for document in batch.documents):
        return None
    return silent_cells(completeness(batch, model.types), batch.sentences)


def found_of(unseen: Batch, known: Batch, gold: Gold, completion: CompletionReport | None) -> float:
    """Return how many mentions there are in other text, by what is known of the training data.

    Args:
        unseen: the other text.
        known, gold: the training data, and their mentions.
        completion: of these, where their annotation is not complete.
    """
    per = gold.total / max(len(known.tokens), 1)
    if completion is not None:
        per = sum(one.mentions for one in completion.densities.values()) / _PER
    return per * len(unseen.tokens)


def densities(given: DensityLike | None, counts: Mapping[str, float]) -> dict[str, float]:
    """Return the mentions per 1,000 tokens of types.

    Args:
        given: a number for all types together, which are as frequent among each other as they are marked; a mapping
            from types to numbers; or texts ``NUMBER`` or ``TYPE=NUMBER``. With both, the number holds those that have
            numbers of their own.
        counts: type -> how many mentions are marked.

    Raises:
        UsageError: no such thing, a number that is not above 0, or a type that training does not have.

    >>> densities(["gene=12", "cell=3.5"], {"cell": 4, "gene": 9})
    {'gene': 12.0, 'cell': 3.5}
    >>> densities(40, {"cell": 5, "gene": 15})
    {'cell': 10.0, 'gene': 30.0}
    """
    if given is None:
        return {}
    pairs: list[tuple[str, object]]
    if isinstance(given, Mapping):
        pairs = [(str(name), value) for name, value in given.items()]
    else:
        several: Sequence[object] = given if isinstance(given, list | tuple) else [given]
        pairs = [_pair(one) for one in several]
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            of = f"type {clip(name)}" if name else "all types"
            raise UsageError(f"density is {given!r}: {names.count(name)} numbers for {of}, expected one")
    found = {name: _number(value) for name, value in pairs}
    for name, number in found.items():
        if not 0 < number <= _PER * (1 if name else len(counts)) or (name and name not in counts):
            raise UsageError(
                f"density is {given!r}, expected mentions per {_PER:,} tokens, above 0: a number for all types "
                f"together, or TYPE=NUMBER; there are {', '.join(counts)}"
            )
    if "" not in found:
        return found
    left = found.pop("") - sum(found.values())
    others = {name: count for name, count in counts.items() if name not in found}
    if others and left <= 0:
        raise UsageError(f"density is {given!r}, which leaves nothing for {', '.join(others)}; give more for all types")
    marked = sum(others.values())
    shares = {name: count / marked if marked else 1 / len(others) for name, count in others.items()}
    return {name: found[name] if name in found else left * shares[name] for name in counts}


def _pair(given: object) -> tuple[str, object]:
    name, equals, value = str(given).rpartition("=")
    return (name or "=", value) if equals else ("", given)  # no type is called =


def _number(value: object) -> float:
    if isinstance(value, bool):
        return -1.0
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return -1.0
    return number if isfinite(number) else -1.0


class Filled(NamedTuple):
    """A corpus whose annotation is completed where it is not complete.

    Args:
        data: the corpus.
        start: weights at which training starts; ``None`` for zero.
        report: ``None`` where annotation is complete.
    """

    data: TrainingSet
    start: Weights | None = None
    report: CompletionReport | None = None


def completed(
    estimator: RecognizerParameters, tagger: LinearModel, known: Batch, unseen: Batch, data: TrainingSet, gold: Gold,
    edges: Edges, run: Executor, callback: Listener,
) -> Filled:  # fmt: skip
    """Return the training data of an estimator with completed annotation, where it is not complete.

    Nothing is filled in if no density is given, and each sentence annotates each type completely or not at all: a type
    is then learned from the sentences that annotate it. Complete development data give the density if nothing else
    does.
    """
    status = completeness(known, tagger.types)
    if status is None:
        return Filled(data)
    silent = silent_in(known, tagger)
    if silent is not None and estimator.density is None:
        for number in np.flatnonzero(silent.all(0)).tolist():
            raise DataError(
                f"the annotation of all training text is unknown of type {tagger.types[number]!r}; annotate the type "
                "in some documents, or leave it out (--types)"
            )
        return Filled(replace(data, silent=silent))
    if not isinstance(data.target, EdgeTarget):
        raise UsageError("annotation of the training data is incomplete; a student learns from complete annotation")
    l2 = lambdas(estimator.l2)[0]
    beside = None if partly(unseen.documents, tagger.types) else unseen
    corpus = Completing(tagger, known, gold, edges, status, beside)
    return corpus.complete(data, estimator.density, l2, estimator.rate, estimator.random_state, run, callback)


class Completing(NamedTuple):
    """A corpus that is partly annotated.

    Args:
        model: not trained yet.
        known: the corpus.
        gold: the mentions that are given.
        edges: (T, K, D) their structures.
        status: (T, K) of each token and type.
        beside: other data, whose annotation is complete.
    """

    model: LinearModel
    known: Batch
    gold: Gold
    edges: Edges
    status: Status
    beside: Batch | None = None

    def complete(
        self, data: TrainingSet, given: DensityLike | None, l2: float, rate: float, seed: int, run: Executor,
        callback: Listener,
    ) -> Filled:  # fmt: skip
        """Return the corpus with completed annotation.

        Args:
            data: the corpus, as if its annotation were complete.
            given: mentions per 1,000 tokens, as of `densities`.
            l2, rate, seed: of the models that complete.
            run: how pieces of the work are run.
            callback: called with it.

        Raises:
            DataError: the density of a type is unknown.
        """
        engine, structure, types = self.model.engine, self.model.structure, self.model.types
        starts = np.array(self.model.start_rows, np.int64)
        marked = np.bincount(self.gold.table.kind, minlength=len(types)).tolist()
        chosen = self._densities(densities(given, dict(zip(types, marked, strict=True))))
        least = (_PER * np.array(marked) / max(len(self.status), 1)).tolist()
        for (name, density), share in zip(chosen.items(), least, strict=True):
            if density.error is None and density.mentions < share:
                raise UsageError(
                    f"density of type {name!r} is {density.mentions:g} mentions per {_PER:,} tokens, but annotation "
                    f"has {share:.3g} already; expected more"
                )
        table = self.gold.table
        begin = self.known.sentences[table.sentence] + table.first[table.ptr[:-1]]
        named = (self.status[begin, table.kind] != UNKNOWN).any() or (self.status == COMPLETE).any()
        if not named and not any(claims_of(document, None) for document in self.known.documents):
            raise DataError(  # a density gives the number of mentions, but not where they are
                "the annotation of all training text is unknown: no mention can be learned; mark some as "
                "at-least, or annotate some text completely"
            )
        begun = engine.role_counts(self.edges, data.offsets)[0][:, starts].sum((0, 1), dtype=float)
        target_counts = self._target_counts(chosen, begun)
        mask = allowed_structures(structure, engine, self.gold.table, self.edges, self.status, data.offsets, types)
        allowed = with_claims(structure, engine, self.known, self.gold, mask.view(np.uint8), self.status, types)
        settings = Completion(starts, target_counts, Held(l2, HELD_EPOCHS, rate, seed))
        callback(Progress("completing the annotation"))
        found = complete(data, self.edges, allowed, settings, run)
        short = np.flatnonzero(found.expected < _REACHED * target_counts).tolist()
        if short:
            names = list(chosen) if len(target_counts) > 1 else [", ".join(chosen)]
            name, share = names[short[0]], found.expected[short[0]] / target_counts[short[0]]
            raise UsageError(
                f"density of type {name!r} is more than fits: the text has room for {100 * share:.0f} % of it; give a "
                "smaller one"
            )
        shown = types if len(begun) > 1 else ("all types",)
        report = CompletionReport(
            densities=dict(chosen), given=float(begun.sum()), expected=float(found.expected.sum()),
            sure=dict(zip(shown, found.sure.tolist(), strict=True)), offsets=tuple(found.offsets.tolist()),
        )  # fmt: skip
        return Filled(replace(data, target=found.target), found.start, report)

    def _densities(self, given: Mapping[str, float]) -> dict[str, Density]:
        """Return the density of each type: what is given, or what parts show whose annotation is complete.

        Where these have few mentions of a type, it is what the other parts give of the type, times what all types have
        more in complete parts than in these.
        """
        if len(self.known.sentences) <= 2:
            raise DataError("annotation is incomplete, and there is one training sentence; give two at least")
        # (2, K) the tokens whose annotation is complete and those where it is not, and the mentions that begin there
        table, whole = self.gold.table, self.status == COMPLETE
        inside = whole[self.known.sentences[table.sentence] + table.first[table.ptr[:-1]], table.kind]
        tokens = np.stack([whole.sum(0), (~whole).sum(0)]).astype(float)
        counts = [np.bincount(table.kind[rows], minlength=whole.shape[1]) for rows in (inside, ~inside)]
        found = np.stack(counts).astype(float)
        if found[0].sum() < FEWEST and self.beside is not None:
            tokens[0] += len(self.beside.tokens)
            found[0] += np.bincount(Gold(self.beside, self.model.types).table.kind, minlength=len(self.model.types))
        rates = _PER * found / np.maximum(tokens, 1)
        lacking = [k for k, name in enumerate(self.model.types) if name not in given and tokens[1, k]]
        if lacking and found[0].sum() < FEWEST:
            name = self.model.types[lacking[0]]
            raise DataError(
                f"annotation is incomplete, and the density of type {name!r} is unknown: parts that "
                f"are complete have {found[0].sum():.0f} of all types, expected {FEWEST} at least; annotate some text "
                f"completely, such as development data (--dev), or give a density (--density NUMBER of all types, or "
                f"{name}=NUMBER, mentions per {_PER:,} tokens)"
            )
        more = rates[0].sum() / max(rates[1].sum(), 1e-12)
        densities = {}
        for k, name in enumerate(self.model.types):
            enough = found[0, k] >= FEWEST or not tokens[1, k]
            rate, count = (rates[0, k], found[0, k]) if enough else (more * rates[1, k], found[0].sum())
            estimate = Density(float(rate), float(rate / sqrt(max(count, 1))))
            densities[name] = Density(given[name], None) if name in given else estimate
        return densities

    def _target_counts(self, chosen: Mapping[str, Density], begun: Floats) -> Floats:
        """Return the starts (K,) that a density of mentions makes: given mentions show how many start together.

        It is no number where annotation is complete.
        """
        mentions = np.bincount(self.gold.table.kind, minlength=len(chosen)).astype(float)
        target_counts = np.array([one.mentions for one in chosen.values()]) * len(self.status) / _PER
        if len(begun) == 1:  # types in one lattice
            mentions, target_counts = mentions.sum(keepdims=True), target_counts.sum(keepdims=True)
        together = np.where(begun > 0, begun / np.maximum(mentions, 1), 1.0)  # a structure may hold none of them
        partly = (self.status != COMPLETE).any(0)
        partly = partly if len(begun) > 1 else partly.any(keepdims=True)
        return np.where(partly, np.maximum(target_counts * together, begun).clip(_FEWEST_STARTS), np.nan)
