"""Word n-gram language models of order 1 to 3: trained on text, or read from an ARPA file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from spanloom import modelfile
from spanloom.document import Batch, Document, batches
from spanloom.errors import DataError, ModelError, UsageError
from spanloom.features.tokens import StreamedWords, flatten
from spanloom.hashing import hash_values, intern
from spanloom.model.protocol import Annotation, Capability
from spanloom.modelfile import Array, ModelPart
from spanloom.native import Kernel
from spanloom.text import prepare, prepare_all
from spanloom_lab.lm import arpa
from spanloom_lab.lm.kneser_ney import estimate
from spanloom_lab.lm.ngrams import END, HIGHEST, MARKERS, START, UNKNOWN, Ints, Level, Singles, childless

RANGES = 10
_score_words = Kernel("score_words_of")
_BATCH_TOKENS = 200_000  # flattened at once
_LN10 = np.float32(np.log(10))
_EVEN = (np.arange(-9, 0) / 2).astype(np.float32) * _LN10


class LanguageModel:
    """A word n-gram language model: probabilities of words after the one or two before them.

    Unknown words are ``<unk>``; a sentence begins after ``<s>`` and ends with ``</s>``. The model
    is never changed, so threads may share it.

    Args:
        words: V words, `MARKERS` first.
        levels: the n-grams of each order (see `spanloom_lab.lm.ngrams.Level`), at most 3.
        bounds: (2, 9) float32, ascending: the natural logarithms that separate the ten ranges of bigrams and trigrams;
            steps of half a power of ten when ``None``.

    >>> notes = [Document("no chest pain."), Document("no acute pain."), Document("chest pain.")]
    >>> model = LanguageModel.train(notes)
    >>> [f"{p:.2f}" for p in np.exp(model.bigram(notes[:1]))]
    ['0.40', '0.35', '0.60', '0.57']
    """

    kind: ClassVar[Literal["language-model"]] = "language-model"
    annotates: ClassVar[frozenset[Annotation]] = frozenset()
    capable: ClassVar[frozenset[Capability]] = frozenset()

    def __init__(self, words: Sequence[str], levels: Sequence[Level], bounds: Singles | None = None) -> None:
        self.words = list(words)
        self.levels = tuple(levels)
        self.bounds = np.tile(_EVEN, (2, 1)) if bounds is None else bounds
        sizes = [len(level.words) for level in self.levels]
        self._levels = [*self.levels, *(childless(sizes[-1] if k == 0 else 0) for k in range(HIGHEST - len(sizes)))]
        hashes = hash_values(self.words)
        self._order = np.argsort(hashes).astype(np.int32)
        self._hashes = hashes[self._order]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of order {self.order}: {len(self.words):,} words>"

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return len(self.levels)

    @classmethod
    def train(cls, documents: Iterable[Document], order: int = HIGHEST) -> Self:
        """Train a model on the documents' sentences, with the smoothing of `spanloom_lab.lm.kneser_ney`.

        A token that an ARPA file cannot hold counts as ``<unk>``.

        Args:
            documents: read once; tokens and sentences are made where they are missing.
            order: the order of the longest n-grams, 1 to 3.

        Raises:
            DataError: there is no word.
            UsageError: ``order`` is not 1 to 3.
        """
        if order not in range(1, HIGHEST + 1):
            raise UsageError(f"order is {order}, expected 1, 2 or 3")
        seen, streams = StreamedWords(MARKERS), []
        for batch in map(Batch.of, batches(documents, _BATCH_TOKENS, prepare_all)):
            streams.append(_stream(seen.numbers(batch).astype(np.int32), batch.sentences))
        kept = np.array([*map(arpa.writable, seen.words)])
        kept[: len(MARKERS)] = True
        words = [word for word, keep in zip(seen.words, kept.tolist(), strict=True) if keep]
        numbers = np.where(kept, kept.cumsum(dtype=np.int32) - 1, np.int32(UNKNOWN))
        stream = numbers[np.concatenate([np.zeros(0, np.int32), *streams])]
        if not len(stream):
            raise DataError("the text for the language model holds no word; give documents with text")
        return cls(words, estimate(stream, len(words), order))

    @classmethod
    def read_arpa(cls, path: str | Path) -> Self:
        """Read a model of KenLM, SRILM or `write_arpa`; see `spanloom_lab.lm.arpa`.

        Raises:
            DataError: the file cannot be read, or is no ARPA file; names the line.
        """
        return cls(*arpa.read_arpa(path))

    def write_arpa(self, path: str | Path, *, force: bool = False) -> None:
        """Write an ARPA file, which holds all but the ranges; see `spanloom_lab.lm.arpa`."""
        arpa.write_arpa(self.words, self.levels, path, force=force)

    def bigram(self, documents: Sequence[Document]) -> Singles:
        """Return (T,) the natural logarithm of the probability of each token after the one before it, or ``<s>``."""
        return self.log_probabilities(documents)[:, 1]

    def trigram(self, documents: Sequence[Document]) -> Singles:
        """Return (T,) the natural logarithm of the probability of each token after the two, or fewer, before it."""
        return self.log_probabilities(documents)[:, 2]

    def log_probabilities(self, documents: Sequence[Document]) -> Singles:
        """Return (T, 3) natural logarithms of the probability of each token after none, one and two words before it.

        Columns beyond the model's order repeat the last one within it.

        Args:
            documents: tokens and sentences are made where they are missing.
        """
        stream = self._encode(documents)
        scores: Singles = self._score(stream)[(stream != START) & (stream != END)]
        return scores

    def ranges(self, documents: Sequence[Document]) -> NDArray[np.uint8]:
        """Return (T, 2) the range, 0 to 9, of each token's bigram and trigram; 9 is the most probable.

        Template 15 of Lou et al. (2017), section 2.5: ten even ranges. Ranges of the probability itself would be
        uninformative: of the bigrams of GENIA 80 % lie in the lowest. So these are even ranges of its logarithm, half a
        power of ten each; the lowest is all below 10^-4.5.
        """
        columns = zip(self.bounds, self.log_probabilities(documents).T[1:], strict=True)
        return np.stack([np.searchsorted(bounds, column, "right") for bounds, column in columns], 1).astype(np.uint8)

    def with_ranges(self, documents: Iterable[Document]) -> Self:
        """Return the model with the deciles of these documents' tokens as its ten ranges.

        Give text that the model was not trained on: in its own text it knows every n-gram, and new text would fall into
        the lowest ranges.

        Raises:
            DataError: there is no word.
        """
        found = [self.log_probabilities(batch)[:, 1:] for batch in batches(documents, _BATCH_TOKENS, prepare_all)]
        scores = np.concatenate([np.zeros((0, 2), np.float32), *found])
        if not len(scores):
            raise DataError("the text for the ranges holds no word; give documents with text")
        bounds = np.quantile(scores, np.arange(1, RANGES) / RANGES, axis=0).T.astype(np.float32)
        return type(self)(self.words, self.levels, np.ascontiguousarray(bounds))

    def perplexity(self, documents: Sequence[Document]) -> float:
        """Return the perplexity of the documents' words and ends of sentences: less is better.

        Raises:
            DataError: there is no word.
        """
        stream = self._encode(documents)
        if not len(stream):
            raise DataError("the text holds no word, so it has no perplexity; give documents with text")
        return float(np.exp(-self._score(stream)[stream != START, 2].mean(dtype=np.float64)))

    def _encode(self, documents: Sequence[Document]) -> NDArray[np.int32]:
        """Return the words of the documents as a stream, as `_stream` makes it."""
        batch = Batch.of([prepare(document) for document in documents])
        tokens = flatten(batch)
        ids, hashes, _ = intern(tokens.codes, tokens.starts, tokens.ends)
        place = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        numbers = np.where(self._hashes[place] == hashes, self._order[place], np.int32(UNKNOWN))
        return _stream(numbers[ids], batch.sentences)

    def _score(self, stream: NDArray[np.int32]) -> Singles:
        scores = np.empty((len(stream), HIGHEST), np.float32)
        unigrams, bigrams, trigrams = self._levels
        _score_words(stream, unigrams, bigrams, trigrams, scores)
        scores *= _LN10
        return scores

    def describe(self) -> dict[str, Any]:
        """Return the order and the numbers of words and n-grams as JSON values."""
        sizes = {f"{order}-grams": len(level.words) for order, level in enumerate(self.levels, 1)}
        return {"kind": self.kind, "order": self.order, "counts": {"words": len(self.words), **sizes}}

    def to_part(self) -> ModelPart:
        """See `spanloom.modelfile.save`."""
        raw = [word.encode("utf-8", "surrogatepass") for word in self.words]
        arrays: dict[str, Array] = {
            "text": np.frombuffer(b"".join(raw), np.uint8),
            "lengths": np.array([len(word) for word in raw], np.int32),
            "bounds": self.bounds,
        }
        for order, level in enumerate(self.levels, 1):
            arrays |= {f"{name}{order}": array for name, array in level._asdict().items()}
        return ModelPart({"order": self.order, "words": len(self.words)}, arrays)

    @classmethod
    def from_part(cls, part: ModelPart) -> Self:
        """See `spanloom.modelfile.load`."""
        ends = np.cumsum(part.array("lengths", np.int32, None), dtype=np.int64).tolist()
        raw = part.array("text", np.uint8, sum(ends[-1:])).tobytes()
        words = [raw[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *ends], ends, strict=False)]
        bounds = part.array("bounds", np.float32, 2, RANGES - 1)
        levels: list[Level] = []
        above = 1
        for order in [order for order in range(1, HIGHEST + 1) if f"ptr{order}" in part.arrays]:
            ptr, last, scores, backoff = (f"{name}{order}" for name in Level._fields)
            ends, numbers = part.array(ptr, np.int64, above + 1), part.array(last, np.int32, None)
            above = len(numbers)
            floats = (part.array(name, np.float32, above) for name in (scores, backoff))
            levels.append(Level(ends, numbers, *floats))
        _check(words, levels, bounds)
        return cls(words, levels, bounds)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model as a folder; see `spanloom.modelfile.save`."""
        modelfile.save(self, path, force=force)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load a saved model, or an ARPA file.

        Raises:
            ModelError: the folder holds no language model, or a damaged one.
            DataError: the file is no ARPA file.
        """
        if Path(path).is_file():
            return cls.read_arpa(path)
        return modelfile.load(cls, path)


def _stream(words: NDArray[np.int32], sentences: Ints) -> NDArray[np.int32]:
    """Return the stream of sentences, each between `START` and `END`; those without words are left out.

    A token that looks like one of the two is an unknown word.

    Args:
        words: (T,).
        sentences: (N + 1,) first token of each sentence.

    >>> _stream(np.array([7, 8, 9], np.int32), np.array([0, 1, 1, 3])).tolist()
    [1, 7, 2, 1, 8, 9, 2]
    """
    lengths = np.diff(sentences)
    lengths = lengths[lengths > 0]
    ends = np.cumsum(lengths + 2)
    stream = np.full(len(words) + 2 * len(lengths), -1, np.int32)
    stream[ends - 1] = END
    stream[ends - lengths - 2] = START
    stream[stream < 0] = np.where((words == START) | (words == END), np.int32(UNKNOWN), words)
    return stream


def _check(words: Sequence[str], levels: Sequence[Level], bounds: Singles) -> None:
    """Validate the arrays of a file, so that no look-up is out of bounds."""
    fits = tuple(words[:3]) == MARKERS and len(set(words)) == len(words) and len(levels) > 0
    fits &= bool((np.diff(bounds) >= 0).all())
    for ptr, last, _, _ in levels:
        fits &= bool(ptr[0] == 0 and ptr[-1] == len(last) and (np.diff(ptr) >= 0).all())
        fits &= bool(((last >= 0) & (last < len(words))).all())
    if not fits or len(levels[0].words) != len(words) or (levels[0].words != np.arange(len(words))).any():
        raise ModelError("the arrays of the language model do not belong together")
