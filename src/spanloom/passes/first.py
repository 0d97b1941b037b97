"""The first pass: a small model that reads a document, and what it found as columns for the second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.errors import ModelError
from spanloom.features import FeatureSet, index_batch
from spanloom.hashing import RangeHashes, UInt64, mixed
from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.learn import TrainingSet, adagrad
from spanloom.learn.folds import deal
from spanloom.learn.held_out import Held, HeldOut, of_folds
from spanloom.model.store import ColumnResources, model_of, model_part
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.modelfile import Described, ModelPart
from spanloom.parallel import SERIAL, Executor
from spanloom.passes.columns import (
    EDGES,
    LONGEST,
    PLACES,
    DocumentText,
    Ranges,
    again,
    again_word,
    named,
    one_word,
    paint,
)
from spanloom.scoring import Weights
from spanloom.structures import STRUCTURES, MentionTable
from spanloom.structures.base import contiguous_table

BINS: Final = ("seldom", "at times", "mostly", "always", "once")
"""How often a phrase of the training text is a mention of its usual type; ``once`` if it occurs only once."""
_SHARES: Final = (0.25, 0.5, 1.0)


@dataclass(frozen=True, eq=False, slots=True)
class KnownNames:
    """Texts of training mentions of at most `LONGEST` tokens, M of them.

    Args:
        keys: (M,) ascending hashes of words in lower case.
        kind: (M,) int16, the most frequent type of each.
        share: (M,) int8, a number of `BINS`.
        sizes: lengths in tokens that occur.
    """

    keys: UInt64
    kind: NDArray[np.int16]
    share: NDArray[np.int8]
    sizes: Ints

    @classmethod
    def learn(cls, text: DocumentText, gold: Ranges, kinds: int, counted: NDArray[np.bool_]) -> KnownNames:
        """Learn from the mentions of some of the documents of a text.

        Args:
            text: T tokens.
            gold: mentions of all its documents.
            kinds: K types.
            counted: (D,) which documents count.
        """
        hashes = RangeHashes(text.words)
        gold = gold.take(counted[text.document[gold.first]] & (gold.end - gold.first <= LONGEST))
        sizes = gold.end - gold.first
        keys, member = np.unique(mixed(0, hashes.of(gold.first, gold.end), sizes), return_inverse=True)
        pairs, times = np.unique(member * kinds + gold.kind, return_counts=True)
        order = np.lexsort((pairs, -times, pairs // kinds))
        first = order[np.unique(pairs[order] // kinds, return_index=True)[1]]
        present = np.unique(sizes)
        begins = np.flatnonzero(counted[text.document])
        _, _, found = hashes.find(keys, present.tolist(), begins, text.limit)
        all_times = np.bincount(found, minlength=len(keys))
        bins = np.digitize(times[first] / np.maximum(1, all_times), _SHARES)
        share = np.where(all_times <= 1, BINS.index("once"), bins)
        return cls(keys, (pairs[first] % kinds).astype(np.int16), share.astype(np.int8), present)

    def find(self, text: DocumentText, considered: NDArray[np.bool_] | None = None) -> tuple[Ranges, Ints]:
        """Return the places of names in a text, and the number of `BINS` of each.

        Args:
            text: T tokens.
            considered: (D,) in which documents; in all when ``None``.
        """
        begins = np.arange(len(text.words)) if considered is None else np.flatnonzero(considered[text.document])
        first, end, row = RangeHashes(text.words).find(self.keys, self.sizes.tolist(), begins, text.limit)
        share = self.share[row].astype(int)
        return Ranges(first, end, self.kind[row].astype(np.int64), share.astype(np.float64)), share

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        return ModelPart(arrays={"keys": self.keys, "kind": self.kind, "share": self.share, "sizes": self.sizes})

    @classmethod
    def from_part(cls, part: ModelPart, kinds: int) -> KnownNames:
        """Return what `to_part` gave.

        Args:
            part: that one.
            kinds: K types.

        Raises:
            ModelError: there are types, shares or lengths that cannot be, or keys that are not in order.
        """
        keys = part.array("keys", np.uint64, None)
        kind, share = part.array("kind", np.int16, len(keys)), part.array("share", np.int8, len(keys))
        sizes = part.array("sizes", np.int64, None)
        for values, least, end in ((kind, 0, kinds), (share, 0, len(BINS)), (sizes, 1, LONGEST + 1)):
            if ((values < least) | (values >= end)).any():
                raise ModelError("names of training mentions with types, shares or lengths that there are not")
        if len(sizes) > LONGEST or (keys[1:] <= keys[:-1]).any():
            raise ModelError("names of training mentions that are not in order")
        return cls(keys, kind, share, sizes)


def held_out_names(text: DocumentText, gold: Ranges, kinds: int, fold: Ints) -> tuple[Ranges, Ints]:
    """Return the places of names in training text, those of each fold by what the other folds have.

    Args:
        text: T tokens.
        gold: their mentions.
        kinds: K types.
        fold: (D,) of each document.
    """
    parts = [
        KnownNames.learn(text, gold, kinds, fold != number).find(text, fold == number)
        for number in np.unique(fold).tolist()
    ]
    ranges, bins = zip(*parts, strict=True)
    return Ranges.join(ranges), np.concatenate(bins)


FOLDS: Final = 3
STRUCTURE: Final = "separators"
"""Of the first pass, whatever the second has: mentions nest, each type alone."""
PENALTY: Final = 2.0
"""The mention penalty under which it proposes, so that what is seen at odds of one to seven counts, too."""
COLUMNS: Final = ("again", "again_word", "known")
TEMPLATES: Final = tuple(f"{column}[-1..1]" for column in COLUMNS)
_NOWHERE: Final = "O"


class PassSettings(NamedTuple):
    """Settings of the training of a first pass.

    Args:
        l2: lambda.
        epochs: passes of AdaGrad.
        rate: its first step.
        min_count: features of fewer tokens are left out.
        seed: of all random choices.
    """

    l2: float = 1.0
    epochs: int = 8
    rate: float = 0.1
    min_count: int = 1
    seed: int = 0


class _DocumentPass(Described):
    """The description of a first pass."""

    short_forms: bool = False  # of models that were saved before there were any


@dataclass(frozen=True)
class DocumentPass:
    """A first pass. Using it changes nothing, so threads may share it.

    Args:
        model: of mentions without a gap.
        names: of training mentions.
        short_forms: whether short forms are read as the long forms that the document gives them.
    """

    model: LinearModel
    names: KnownNames
    short_forms: bool = True

    def fill(self, batch: Batch, run: Executor = SERIAL) -> Batch:
        """Return the batch with `COLUMNS`.

        ``again``: type and place of the token in the likeliest mention elsewhere in the document that has the words of
        a phrase here, with its probability in bins; the longest phrase counts. ``again_word``: the type that the word
        has elsewhere in the document, and its mean probability there; ``O`` for none. ``known``: type and place in the
        longest name of the training data, and how often it is a mention there. Each is empty without such data.

        Args:
            batch: with the columns that the model reads.
            run: executor of the pieces of work; the result does not depend on it.
        """
        text = DocumentText.of(batch, self.short_forms)
        found = Ranges.of(
            *_candidates(self.model, self.model.scorer.score(batch, run), batch.sentences, run), batch.sentences
        )
        return batch.with_columns(_columns(text, found, self.names.find(text), self.model.types))

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        values = _DocumentPass(short_forms=self.short_forms)
        return values.part(parts={"model": model_part(self.model), "names": self.names.to_part()})

    @classmethod
    def from_part(cls, part: ModelPart, shared: ColumnResources, types: tuple[str, ...]) -> DocumentPass:
        """Return what `to_part` gave.

        Args:
            part: that one.
            shared: what fills columns of features.
            types: of the second pass.

        Raises:
            ModelError: its types are others.
        """
        model = model_of(part.part("model"), shared, STRUCTURES[STRUCTURE])
        if model.types != types:
            raise ModelError(f"a first pass of the types {model.types}, a second of {types}")
        return cls(model, KnownNames.from_part(part.part("names"), len(types)), part.read(_DocumentPass).short_forms)


def is_worth_two_passes(batch: Batch) -> bool:
    """Return whether there are documents of several sentences, at least one for each fold."""
    return int((np.diff(batch.firsts) > 1).sum()) >= FOLDS


def fit_pass(
    train: Batch, gold: MentionTable, types: tuple[str, ...], features: FeatureSet, settings: PassSettings,
    run: Executor = SERIAL,
) -> tuple[DocumentPass, Batch]:  # fmt: skip
    """Train a first pass.

    Args:
        train: with the columns that the features read.
        gold: its mentions; those with a gap are left out.
        types: K names.
        features: of the first pass.
        settings: of the training.
        run: how pieces of the work are run; the result does not depend on it.

    Returns:
        It, and the training data with its columns: of each document by a model that was trained on others.
    """
    structure = STRUCTURES[STRUCTURE]
    built = index_batch(features, train, min_count=settings.min_count, run=run)
    model = StructuredModel.untrained(structure, "subgraphs", types, features, built.index)
    table = gold.take(gold.contiguous)
    offsets = train.sentences
    table = contiguous_table(table.sentence, table.kind, table.first, table.end)  # no heads
    edges = structure.encode(table, offsets, types).edges
    data = TrainingSet.of_edges(model.engine, built, offsets, edges)

    def proposed(weights: Weights, part: HeldOut) -> tuple[MentionTable, Floats]:
        first = replace(model, scorer=model.scorer.with_weights(weights))  # of rows: the corpus has all of one, or none
        found, chances = _candidates(first, part.potentials, part.offsets)
        return MentionTable(part.sentences[found.sentence], *found[1:]), chances

    fold = deal(len(train.documents), FOLDS, settings.seed)
    by_sentence = np.repeat(fold, np.diff(train.firsts))
    text, names = DocumentText.of(train, forms=True), Ranges.of(table, np.ones(len(table)), offsets)
    training = Held(settings.l2, settings.epochs, settings.rate, settings.seed)
    parts = of_folds(data, edges, by_sentence, training, 2, proposed, run)
    found = Ranges.join([Ranges.of(table, chances, offsets) for table, chances in parts])
    columns = _columns(text, found, held_out_names(text, names, len(types), fold), types)
    last = adagrad(data, l2=settings.l2, epochs=settings.epochs, rate=settings.rate, seed=(settings.seed, 2), run=run)
    trained = replace(model, scorer=model.scorer.with_weights(data.single(last)))
    every = np.ones(len(train.documents), bool)
    return DocumentPass(trained, KnownNames.learn(text, names, len(types), every)), train.with_columns(columns)


def _candidates(
    model: LinearModel, potentials: Potentials, offsets: Ints, run: Executor = SERIAL
) -> tuple[MentionTable, Floats]:
    """Return what a first pass proposes, and its exact marginals."""
    table = model.with_penalty(PENALTY).decode(potentials, offsets, run=run)
    return table, model.probabilities(potentials, offsets, table, run, calibrated=False)


def _columns(
    text: DocumentText, found: Ranges, names: tuple[Ranges, Ints], types: tuple[str, ...]
) -> dict[str, list[str]]:
    """Return `COLUMNS`, T values each."""
    size, bins = len(text.words), [f"{edge:g}" for edge in EDGES]
    likely = found.take(found.strength >= EDGES[0])
    places = again(text, likely)
    shown, place = paint(places, size)
    code = (places.kind * len(bins) + np.digitize(places.strength, EDGES) - 1)[shown] if len(places.kind) else shown
    phrases = [f"{place}-{name}>{low}" for name in types for low in bins for place in PLACES]
    kind, mean = (values[:size] for values in again_word(*one_word(text, likely), len(types)))
    level = np.digitize(mean, EDGES)
    word = np.where(kind < 0, -1, np.where(level == 0, len(types) * len(bins), kind * len(bins) + level - 1))
    known, share = names
    seen, inside = paint(known, size)
    name = (known.kind * len(BINS) + share)[seen] if len(known.kind) else seen
    texts = [f"{place}-{name} {often}" for name in types for often in BINS for place in PLACES]
    return {
        "again": named(np.where(shown < 0, -1, code * len(PLACES) + place), phrases),
        "again_word": named(word, [*(f"{name}>{low}" for name in types for low in bins), _NOWHERE]),
        "known": named(np.where(seen < 0, -1, name * len(PLACES) + inside), texts),
    }
