"""What a recognizer considers in texts, and what its exact distribution is: entropy, draws of whole answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import overload

import numpy as np

from spanloom.document import Batch, Document
from spanloom.errors import check_number
from spanloom.formats.inputs import Given, One, Several, documents_of, is_one
from spanloom.hypergraph import Floats
from spanloom.model.calibration import held_mentions, probabilities_of
from spanloom.model.choices import Reading
from spanloom.model.corpus import Gold, place
from spanloom.model.drawing import ExpectedF1, agreement, draw_edges, entropies
from spanloom.model.overlaps import OverlapRules
from spanloom.model.parameters import MentionEstimator, checked_penalties
from spanloom.model.structured import AnyModel
from spanloom.recognize.finding import Finder
from spanloom.structures import MentionTable


class Drawing(MentionEstimator[AnyModel]):
    """A recognizer as a distribution of answers.

    Attributes: ``_batches`` gives prepared documents in batches, ``_finder`` what finds mentions, and ``ready``
    documents with what the model needs.
    """

    reading: Reading
    overlaps_: OverlapRules | None
    _batches: Callable[..., Iterator[Batch]]
    _finder: Callable[[], Finder]
    ready: Callable[[Iterable[Document]], list[Document]]

    @property
    def _headless(self) -> str | None:
        """As for `Gold`."""
        raise NotImplementedError

    @property
    def structured(self) -> tuple[AnyModel, ...]:
        """The trained models that it is made of."""
        return (self.fitted,)

    def sweep(self, X: Given, penalties: Sequence[float]) -> list[list[Document]]:
        """The documents with what is found with each of some mention penalties, in place of the tuned one.

        Mentions have the score 1: their probabilities are not computed.
        """
        return self._finder().sweep(self._batches(documents_of(X)), checked_penalties(penalties))

    def log_likelihood(self, X: Given) -> Floats:
        """The log-probability of each sentence's own mentions, (N, K) by type; (N, 1) where types share a lattice.

        It is that of the trained model, without the mention penalty. Mentions that the structure cannot hold are left
        out. It is the probability that `sample` draws these mentions and no others, except with ``seven_tag``: there it
        is that of the one sequence of tags which training takes for them. Other sequences may be read as the same
        mentions, and of some mentions that overlap this one is read as others.
        """
        tagger = self.fitted
        batch = Batch.of(self.ready(documents_of(X)))
        potentials, offsets = tagger.scorer.score(batch), batch.sentences
        edges = tagger.structure.encode(Gold(batch, tagger.types, self._headless).table, offsets, tagger.types).edges
        return tagger.log_likelihood(potentials, offsets, edges)

    @overload
    def marginals(self, X: One, *, calibrated: bool = ...) -> list[float]: ...  # type: ignore[overload-overlap]

    @overload
    def marginals(self, X: Several, *, calibrated: bool = ...) -> list[list[float]]: ...

    def marginals(self, X: Given, *, calibrated: bool = True) -> list[float] | list[list[float]]:
        """The probability of each of the documents' own mentions, in their order, predicted or not.

        A mention that the model cannot hold, such as one that begins inside a token, has probability 0. One document
        gives one list, several give a list for each.

        Args:
            X: with mentions.
            calibrated: as the scores of `predict`, else the exact marginals of the trained model, which know nothing
                of a second stage.
        """
        batch = Batch.of(self.ready(documents_of(X)))
        tagger, way = self.fitted, self._finder()
        potentials = tagger.scorer.score(batch, way.run)
        exact = partial(tagger.probabilities, potentials, batch.sentences, calibrated=False)
        chances = partial(way.probabilities, batch, potentials) if calibrated else exact
        own = probabilities_of(tagger, batch, self._headless, chances)
        return own[0] if is_one(X) else own

    @overload
    def holds(self, X: One) -> list[bool]: ...  # type: ignore[overload-overlap]

    @overload
    def holds(self, X: Several) -> list[list[bool]]: ...

    def holds(self, X: Given) -> list[bool] | list[list[bool]]:
        """Whether the model can hold each of the documents' own mentions, by itself, in their order.

        It cannot hold those that begin or end inside a token or lie in two sentences, whose type it does not know, or
        that its structure has no place for, such as gaps. One document gives one list, several give a list for each.

        >>> from spanloom import Document, Mention, Recognizer
        >>> documents = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 50
        >>> recognizer = Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(documents)
        >>> pain = Document("chest pain", mentions=[Mention("problem", [(0, 10)]), Mention("sign", [(6, 10)])])
        >>> recognizer.holds(pain)
        [True, False]
        """
        own = held_mentions(self.fitted, Batch.of(self.ready(documents_of(X))), self._headless)
        return own[0] if is_one(X) else own

    def entropy(self, X: Given) -> Floats:
        """Return the entropy (N,) of each sentence's mentions in nats, of all texts together.

        It is 0 where there is no doubt. It is that of the trained model, without the mention penalty, calibration or a
        second stage; with ``seven_tag``, which may write the same mentions in several ways, it is the entropy of these
        ways, and larger.
        """
        found = [np.zeros(0)]
        for batch in self._batches(documents_of(X)):
            found.append(entropies(self.fitted, self.fitted.scorer.score(batch), batch))
        return np.concatenate(found)

    def sample(self, X: Given, count: int = 10, *, seed: int = 0) -> list[list[Document]]:
        """Draw whole answers from the exact distribution of the trained model.

        A structure is drawn, and its mentions are read. So the probability of an answer is the sum over all structures
        that are read as it: ``exp`` of `log_likelihood`, except with ``seven_tag``, whose sequences of tags may be read
        as the same mentions by the dozen: there `log_likelihood` is that of the one which training takes for them.

        Args:
            X: as of `predict`.
            count: how often.
            seed: of the draws.

        Returns:
            For each draw the documents with its mentions.

        Raises:
            UsageError: a model that counts derivations, or a count below 1.
        """
        check_number("count", count, 1, whole=True)
        check_number("seed", seed, 0, whole=True)
        drawn: list[list[Document]] = [[] for _ in range(count)]
        for number, batch in enumerate(self._batches(documents_of(X))):
            for one, found in zip(drawn, self._drawn(batch, count, (seed, number)), strict=True):
                one += place(batch, found, self.fitted.types)
        return drawn

    def expected_f1(self, X: Given, draws: int = 100, *, seed: int = 0) -> ExpectedF1:
        """Return the F1 that is to be expected of `predict` on texts, by draws from the trained model.

        It needs no gold mentions, and is as good as the model is calibrated: the text must be of the kind that it was
        trained on, and with a second stage the draws are of the first alone.

        Args:
            X: as of `predict`.
            draws: how many; the mean is within a tenth of its spread with 100.
            seed: of the draws.

        Raises:
            UsageError: a model that counts derivations, or draws below 1.
        """
        check_number("draws", draws, 1, whole=True)
        check_number("seed", seed, 0, whole=True)
        sums = np.zeros((draws, 2), np.int64)
        way = self._finder()
        for number, batch in enumerate(self._batches(documents_of(X))):
            answer = way.find(batch, way.model.scorer.score(batch, way.run), lambda _: None).table
            for row, found in zip(sums, self._drawn(batch, draws, (seed, number)), strict=True):
                row += agreement(answer, found)
        return ExpectedF1.of([1.0 if not both else 2 * shared / both for shared, both in sums.tolist()])

    def _drawn(self, batch: Batch, count: int, seed: tuple[int, ...]) -> Iterator[MentionTable]:
        model = self.fitted
        for edges in draw_edges(model, model.scorer.score(batch), batch.sentences, count, seed):
            yield model.structure.decode(edges, batch.sentences, model.types, self.reading)
