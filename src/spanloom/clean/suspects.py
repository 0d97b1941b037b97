"""Suspects: gold mentions that are probably wrong, missing, of another extent or type, found by cross-fitting.

An annotation is a noisy channel: what is true reaches the page, or an error in its place. Of two readings, the one
that is annotated, of probability p, and another, of probability q, the other is the true one with the odds

    q / p times the rate of the error that leads from it to what is annotated.

So a hard mention, which models find improbable, is no suspect as long as they know nothing better, and one is that they
would clearly mark otherwise. The rates are those of `RATES`, for each place where such an error could be made: of what
could be invented there is so much more than of what could be forgotten that each single invention is rare.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from spanloom.document import Batch, Document, Mention, Span
from spanloom.document.span import join_spans
from spanloom.errors import DataError, DataWarning, LostWarning, UsageError, check_number, clip, plural
from spanloom.formats.inputs import Several, documents_of
from spanloom.formats.record import mention_record
from spanloom.hypergraph import Ints
from spanloom.learn import Listener, Progress
from spanloom.learn.folds import deal, out_of_fold
from spanloom.model.corpus import training_types
from spanloom.recognize.choosing import AUTO, choose_structure
from spanloom.recognize.parameters import check_encoder_training
from spanloom.recognize.recognizer import Recognizer
from spanloom.text import prepare

# Cross-fitting: held-out models judge the gold mentions of documents, and predict their own.
#
# A model fits its training data, errors included. Therefore the documents are split into folds, and each fold is judged
# by a model that was trained on the others, tuned and calibrated on a part of these (Wolpert 1992; Klie, Webber and
# Gurevych 2023, *Annotation Error Detection*, section 4).

FOLDS: Final = 5


class JudgedDocument(NamedTuple):
    """A document as a model sees it that was trained on others.

    Args:
        document: with its gold mentions.
        probabilities: of each gold mention, in their order; ``None`` for one that the model cannot hold.
        proposed: mentions that the model finds or considers, each with its probability as its score.
    """

    document: Document
    probabilities: list[float | None]
    proposed: list[Mention]

    @property
    def scored(self) -> Document:
        """The document; its gold mentions have their probabilities as scores, or none."""
        pairs = zip(self.document.mentions, self.probabilities, strict=True)
        return self.document.copy(mentions=[mention.replace(score=chance) for mention, chance in pairs])


def judge(
    documents: Sequence[Document], recognizer: Recognizer, folds: int = FOLDS, callback: Listener | None = None
) -> list[JudgedDocument]:
    """Return the judgement of held-out models for each document, in the order of the documents.

    Args:
        documents: with gold mentions.
        recognizer: gives the parameters of the models; it is not trained itself. Its seed draws the folds.
        folds: the number of trained models.
        callback: called at each step.

    Raises:
        DataError: two documents have one id; no mentions, in all or outside a fold.
        UsageError: a parameter that is not valid; fewer documents than folds.

    >>> notes = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])]) for _ in range(40)]
    >>> notes = [note.copy(text=f"no chest pain {number}") for number, note in enumerate(notes)]
    >>> judged = judge(notes, Recognizer(features=["bias", "w[0]", "w[-1]"]), folds=2)
    >>> judged[0].probabilities[0] > 0.5
    True
    """
    recognizer.check()
    check_encoder_training(recognizer, several=True)
    for name, count in Counter(document.id for document in documents if document.id).most_common(1):
        if count > 1:
            raise DataError(
                f"{plural(count, 'document')} have the id {clip(name)}, expected one id for each document; rename or "
                "remove the others"
            )
    if not any(document.mentions for document in documents):
        raise DataError("the documents contain no mentions to check; give annotated documents")
    fold = folds_of_documents(documents, folds, recognizer.random_state)
    with_mentions = {number for number, document in zip(fold.tolist(), documents, strict=True) if document.mentions}
    if len(with_mentions) < 2:
        raise DataError(
            "all mentions are in the documents of one fold, and the others teach nothing; give more annotated "
            "documents, or another seed"
        )
    number = iter(range(1, folds + 1))
    params = recognizer.get_params() | {"attributes": "off"}  # of no use here
    if recognizer.structure == AUTO:  # one for all folds, so that all can judge the same mentions
        whole = Batch.of(list(map(prepare, documents)))
        params["structure"] = str(choose_structure(whole, whole, training_types(documents), recognizer.components))

    def fit(rest: list[int]) -> Recognizer:
        own = Recognizer(**params)
        own._crosses = False  # each judges other folds, and there are several
        name = f"fold {next(number)} of {folds}"

        def listener(progress: Progress) -> None:
            if callback is not None:
                callback(replace(progress, stage=f"{name}: {progress.stage}"))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LostWarning)  # what cannot be held is counted for all folds together
            return own.fit([documents[i] for i in rest], progress=listener)

    def predict(model: Recognizer, held: list[int]) -> list[JudgedDocument]:
        own = [documents[i] for i in held]
        kept = [
            [chance if held else None for chance, held in zip(chances, holds, strict=True)]
            for chances, holds in zip(model.marginals(own), model.holds(own), strict=True)
        ]
        found = zip(own, kept, model.stream(own), model.alternatives(own), strict=True)
        return [JudgedDocument(one, chances, a.mentions + b.mentions) for one, chances, a, b in found]

    return out_of_fold(fold, fit, predict)


def folds_of_documents(documents: Sequence[Document], folds: int, seed: int) -> Ints:
    """Return the fold of each document, (N,), drawn by the seed; documents of one text are in the same fold.

    A model would memorize a copy in another fold, with its errors.

    Raises:
        UsageError: fewer than 2 folds, or fewer different texts than folds.

    >>> folds_of_documents([Document("a"), Document("b"), Document("a")], 2, seed=0).tolist()
    [0, 1, 0]
    """
    check_number("folds", folds, 2, whole=True)
    texts = {document.text: None for document in documents}
    number = {text: i for i, text in enumerate(texts)}
    if len(texts) < folds:
        raise UsageError(
            f"found {plural(len(texts), 'different text')}, expected one for each of {folds} folds; give more "
            "documents, or fewer folds"
        )
    return deal(len(texts), folds, seed)[[number[document.text] for document in documents]]


Kind: TypeAlias = Literal["wrong", "missing", "boundary", "type"]
KINDS: Final = get_args(Kind)
LEAST: Final = 0.05
"""The certainty below which a place is not worth a look."""
RATES: Final[Mapping[Kind, float]] = MappingProxyType(
    {"wrong": 0.0015, "missing": 0.03, "boundary": 0.01, "type": 0.01}
)
"""How often each error is made where it could be, of each kind; chosen by benchmarks/clean.py."""
_TINY: Final = 1e-9  # a probability is at least this, and at most 1 less this


@dataclass(frozen=True, slots=True)
class Suspect:
    """A place where the annotation is probably wrong.

    Args:
        document: the number of the document, from 0.
        kind: ``wrong``, a gold mention that should not be there; ``missing``, a mention that should; ``boundary`` and
            ``type``, a gold mention that should have other spans, or another type.
        certainty: how probable an error is there, 0 to 1.
        mention: the gold mention, with its probability by held-out models as its score; ``None`` if one is missing.
        other: the expected mention, with its probability; ``None`` if the mention is wrong altogether.

    >>> suspect = Suspect(0, "missing", 0.9, None, Mention("problem", [(3, 7)], score=0.9))
    >>> suspect.start, suspect.name_in([Document("no pain")])
    (3, 'document 1')
    """

    document: int
    kind: Kind
    certainty: float
    mention: Mention | None
    other: Mention | None

    @property
    def mentions(self) -> list[Mention]:
        """The gold mention and the other one, those that there are."""
        return [mention for mention in (self.mention, self.other) if mention is not None]

    @property
    def start(self) -> int:
        """The first character of its mentions."""
        return min(mention.start for mention in self.mentions)

    @property
    def end(self) -> int:
        """The end of its mentions."""
        return max(mention.end for mention in self.mentions)

    def name_in(self, documents: Sequence[Document]) -> str:
        """Return the id of its document; its number, from 1, if it has none.

        Args:
            documents: all.
        """
        return documents[self.document].id or f"document {self.document + 1}"

    def to_dict(self, text: str) -> dict[str, Any]:
        """Return the suspect as JSON values, but for its document.

        Args:
            text: of the document.
        """
        sides = {"mention": self.mention, "other": self.other}
        suspected = {
            name: None if mention is None else mention_record(mention) | {"text": mention.text(text)}
            for name, mention in sides.items()
        }
        return {"kind": self.kind, "certainty": self.certainty, **suspected}


def suspects_of(judged: Sequence[JudgedDocument], least: float = LEAST) -> list[Suspect]:
    """Return what is probably wrong, the most certain first; of equally certain ones the first in the text.

    Args:
        judged: documents as held-out models see them.
        least: leave out what is less certain.

    >>> document = Document("no chest pain", mentions=[Mention("problem", [(9, 13)])])
    >>> whole = Mention("problem", [(3, 13)], score=0.99)
    >>> [suspect] = suspects_of([JudgedDocument(document, [0.005], [whole])])
    >>> suspect.kind, round(suspect.certainty, 2), suspect.other.text(document.text)
    ('boundary', 0.66, 'chest pain')
    """
    found = chain.from_iterable(_Document.of(one).suspects(number) for number, one in enumerate(judged))
    return sorted(
        (suspect for suspect in found if suspect.certainty >= least),
        key=lambda suspect: (-suspect.certainty, suspect.document, suspect.start, suspect.end, suspect.kind),
    )


class _Candidate(NamedTuple):
    """A mention with its joined spans; gold, or proposed."""

    mention: Mention
    spans: tuple[Span, ...]
    probability: float

    @classmethod
    def of(cls, text: str, mention: Mention, probability: float) -> _Candidate:
        """A mention of a text; its score becomes the probability."""
        return cls(mention.replace(score=probability), join_spans(text, mention.spans), probability)

    @property
    def key(self) -> tuple[str, tuple[Span, ...]]:
        """What makes two the same mention."""
        return self.mention.type, self.spans

    def meets(self, other: _Candidate) -> bool:
        """Whether they have a character in common."""
        return any(a.start < b.end and b.start < a.end for a in self.spans for b in other.spans)

    def rivals(self, other: _Candidate) -> Kind | None:
        """The kind of error that has one in place of the other, if one has."""
        if self.mention.type == other.mention.type:
            return "boundary" if self.meets(other) else None
        return "type" if self.spans == other.spans else None


class _Reading(NamedTuple):
    """An error that may have been made: a gold mention, what is true in its place, and the odds of that."""

    odds: float
    kind: Kind
    gold: int
    other: int


class _Neighbours:
    """Mentions by their place, so that in a long document only those nearby are compared.

    Args:
        mentions: in any order.
    """

    def __init__(self, mentions: Sequence[_Candidate]) -> None:
        self._numbers = sorted(range(len(mentions)), key=lambda i: mentions[i].mention.start)
        self._starts = [mentions[i].mention.start for i in self._numbers]
        self._longest = max((one.mention.end - one.mention.start for one in mentions), default=0)

    def near(self, one: _Candidate) -> Sequence[int]:
        """Return the numbers of mentions that may share a character with one: all that do, and some others."""
        low = bisect_right(self._starts, one.mention.start - self._longest)
        return self._numbers[low : bisect_left(self._starts, one.mention.end)]


class _Document(NamedTuple):
    """Judged gold mentions of a document, and proposed mentions that are not gold, the most probable first."""

    gold: list[_Candidate]
    proposed: list[_Candidate]
    near_gold: _Neighbours

    @classmethod
    def of(cls, judged: JudgedDocument) -> _Document:
        """What there is to compare in a document."""
        text, own = judged.document.text, judged.document.mentions
        gold = [
            _Candidate.of(text, mention, chance)
            for mention, chance in zip(own, judged.probabilities, strict=True)
            if chance is not None
        ]
        seen = {(mention.type, join_spans(text, mention.spans)) for mention in own}
        proposed = []
        for mention in sorted(judged.proposed, key=lambda one: -_probability(one)):
            one = _Candidate.of(text, mention, _probability(mention))
            if one.key not in seen:  # with several heads, the likeliest
                seen.add(one.key)
                proposed.append(one)
        return cls(gold, proposed, _Neighbours(gold))

    def suspects(self, number: int) -> Iterator[Suspect]:
        """Yield a suspect for each gold mention, and one for each place where one may be missing.

        Args:
            number: of the document.
        """
        # the likeliest errors that have a gold mention in place of a proposed one; each is in one at most
        replaced, used = dict[int, _Reading](), set[int]()
        for reading in sorted(self._readings(), key=lambda reading: (-reading.odds, reading.gold, reading.other)):
            if reading.gold not in replaced and reading.other not in used:
                replaced[reading.gold] = reading
                used.add(reading.other)
        for i, one in enumerate(self.gold):
            if i in replaced:
                odds, kind, _, j = replaced[i]
                yield Suspect(number, kind, _certainty(odds), one.mention, self.proposed[j].mention)
            else:
                yield Suspect(number, "wrong", _certainty(_wrong(one)), one.mention, None)
        for one, odds in self._missing(used):
            yield Suspect(number, "missing", _certainty(odds), None, one.mention)

    def _readings(self) -> Iterator[_Reading]:
        for j, other in enumerate(self.proposed):
            for i in self.near_gold.near(other):
                gold = self.gold[i]
                kind = other.rivals(gold)
                if kind is not None:
                    # both may be true, as of mentions that nest, but not more than one of them without the other
                    alone = min(other.probability, 1 - gold.probability)
                    odds = RATES[kind] * _ratio(alone, gold.probability)
                    if odds >= max(_wrong(gold), _forgotten(other, _together(other, gold))):
                        yield _Reading(odds, kind, i, j)

    def _missing(self, used: set[int]) -> Iterator[tuple[_Candidate, float]]:
        """Yield mentions that may be missing, and the odds; of those that exclude one another the likeliest.

        Args:
            used: numbers of proposed mentions that replace gold ones.
        """
        near_proposed, suspected = _Neighbours(self.proposed), set[int]()
        for j, one in enumerate(self.proposed):
            if j in used:
                continue
            rivals = (self.proposed[k] for k in near_proposed.near(one) if k in suspected)
            likeliest = all(other.rivals(one) is None or _together(one, other) > 0 for other in rivals)
            near = (self.gold[i] for i in self.near_gold.near(one))
            beside = [_together(one, gold) for gold in near if one.rivals(gold) == "boundary"]
            chance = min(beside, default=one.probability)
            if likeliest and chance > 0:
                suspected.add(j)
                yield one, _forgotten(one, chance)


def _probability(mention: Mention) -> float:
    assert mention.score is not None
    return mention.score


def _together(one: _Candidate, other: _Candidate) -> float:
    """Return how probable it is, at the least, that both are true; 0 for mentions that exclude one another."""
    return max(0.0, one.probability + other.probability - 1)


def _wrong(gold: _Candidate) -> float:
    """Return the odds that a gold mention is wrong."""
    return RATES["wrong"] * _ratio(1 - gold.probability, gold.probability)


def _forgotten(one: _Candidate, chance: float) -> float:
    """Return the odds that a mention is missing, which is true beside the gold mentions with some probability."""
    return RATES["missing"] * _ratio(chance, 1 - one.probability) if chance > 0 else 0.0


def _ratio(one: float, other: float) -> float:
    return max(one, _TINY) / max(other, _TINY)


def _certainty(odds: float) -> float:
    return odds / (1 + odds)


# From documents to suspects, and to documents for correction. Nothing here changes an annotation.

DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType({"features": "fast", "l2": 1.0})
"""Parameters of the recognizers that look for suspects, where they are not those of `Recognizer`: fast to train."""


def find_suspects(
    documents: Several, *, folds: int = FOLDS, least: float = LEAST, progress: Listener | None = None, **parameters: Any
) -> list[Suspect]:
    """Return what is probably wrong in annotated documents, the most certain first.

    The documents are dealt to folds, and those of each are judged by a recognizer that was trained on the others: how
    probable each gold mention is, and which other mentions are. Nothing is corrected.

    Args:
        documents: with gold mentions.
        folds: how many recognizers are trained.
        least: leave out what is less certain.
        progress: called at each step.
        parameters: those of `Recognizer`; by default ``features="fast"`` and ``l2=1``.

    Raises:
        DataError: two documents have one id; no mentions, in all or outside a fold.
        UsageError: a parameter that is not valid; fewer documents than folds.

    Warns:
        DataWarning: gold mentions that the recognizers cannot hold, which are not judged.

    >>> from spanloom import Document, Mention
    >>> notes = [Document(f"{n} has chest pain", mentions=[Mention("problem", [(8, 18)])]) for n in range(100, 140)]
    >>> notes[7] = notes[7].copy(mentions=[Mention("problem", [(14, 18)])])
    >>> first, *others = find_suspects(notes, features=["bias", "w[-1..1]"])
    >>> first.document, first.kind, first.mention.text(notes[7].text), first.other.text(notes[7].text)
    (7, 'boundary', 'pain', 'chest pain')
    """
    check_number("least", least, 0, 1)
    judged = judge(list(documents_of(documents, "documents")), recognizer_of(**parameters), folds, progress)
    unseen = not_judged(judged)
    if unseen:
        warnings.warn(unseen, DataWarning, stacklevel=2)
    return suspects_of(judged, least)


def recognizer_of(**parameters: Any) -> Recognizer:
    """Return the untrained recognizer that looks for suspects; without parameters a fast one.

    Raises:
        UsageError: a parameter that is not valid.

    >>> recognizer_of(structure="split").features
    'fast'
    """
    return Recognizer(**DEFAULTS).set_params(**parameters)


def not_judged(judged: Sequence[JudgedDocument]) -> str:
    """Return a line on gold mentions that no model could hold; nothing if all were judged.

    >>> from spanloom.document import Mention
    >>> not_judged([JudgedDocument(Document("pain", mentions=[Mention("problem", [(0, 2)])]), [None], [])])[:34]
    '1 of 1 gold mention was not judged'
    """
    chances = [chance for one in judged for chance in one.probabilities]
    count = chances.count(None)
    if not count:
        return ""
    return (
        f"{count:,} of {plural(len(chances), 'gold mention')} {'was' if count == 1 else 'were'} not judged: a gap that "
        "the structure does not hold (structure split holds gaps), an end inside a token, two sentences, or a type "
        "that occurs in one fold alone"
    )


def with_suspects(judged: Sequence[JudgedDocument], suspects: Iterable[Suspect]) -> Iterator[Document]:
    """Yield the documents that have suspects, for correction.

    Their mentions are those that are annotated, unchanged, with the probabilities that held-out models give them as
    scores. ``meta["suspects"]`` lists the suspects as `Suspect.to_dict` gives them, the most certain first.

    Args:
        judged: all documents.
        suspects: of them, in any order.

    >>> from spanloom.document import Mention
    >>> note = Document("no pain", mentions=[Mention("test", [(3, 7)])])
    >>> judged = [JudgedDocument(note, [0.001], [Mention("problem", [(3, 7)], score=0.9)])]
    >>> [found] = with_suspects(judged, suspects_of(judged))
    >>> found.mentions[0].type, found.meta["suspects"][0]["other"]["type"]
    ('test', 'problem')
    """
    own: dict[int, list[Suspect]] = {}
    for suspect in suspects:
        own.setdefault(suspect.document, []).append(suspect)
    for number in sorted(own):
        document = judged[number].scored
        ranked = sorted(own[number], key=lambda suspect: -suspect.certainty)
        document.meta["suspects"] = [suspect.to_dict(document.text) for suspect in ranked]
        yield document
