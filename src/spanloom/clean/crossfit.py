"""Cross-fitting: held-out models judge the gold mentions of documents, and predict their own.

A model fits its training data, errors included. Therefore the documents are split into folds, and each fold is judged
by a model that was trained on the others, tuned and calibrated on a part of these (Wolpert 1992; Klie, Webber and
Gurevych 2023, *Annotation Error Detection*, section 4).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from spanloom.document import Batch, Document, Mention
from spanloom.errors import DataError, LostWarning, UsageError, check_number, clip, plural
from spanloom.hypergraph import Ints
from spanloom.learn import Listener, Progress
from spanloom.learn.folds import deal, out_of_fold
from spanloom.model.corpus import training_types
from spanloom.recognize.choosing import AUTO, choose_structure
from spanloom.recognize.parameters import check_encoder_training
from spanloom.recognize.recognizer import Recognizer
from spanloom.text import prepare

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
    check_documents(documents)
    fold = folds_of_documents(documents, folds, recognizer.random_state)
    check_folds(documents, fold)
    number = iter(range(1, folds + 1))
    params = recognizer.get_params() | {"attributes": "off"}  # of no use here
    if recognizer.structure == AUTO:  # one for all folds, so that all can judge the same mentions
        whole = Batch.of(list(map(prepare, documents)))
        params["structure"] = str(choose_structure(whole, whole, training_types(documents), recognizer.components))

    def fit(rest: list[int]) -> Recognizer:
        own = Recognizer(**params)
        own._crosses = False  # each judges other folds, and there are several
        return _fitted(own, [documents[i] for i in rest], f"fold {next(number)} of {folds}", callback)

    def predict(model: Recognizer, held: list[int]) -> list[JudgedDocument]:
        return _judged(model, [documents[i] for i in held])

    return out_of_fold(fold, fit, predict)


def check_documents(documents: Sequence[Document]) -> None:
    """Check that documents have names of their own, if any, and mentions.

    Raises:
        DataError: one has the id of another, or there are no mentions.
    """
    ids = Counter(document.id for document in documents if document.id)
    for name, count in ids.most_common(1):
        if count > 1:
            raise DataError(
                f"{plural(count, 'document')} have the id {clip(name)}, expected one id for each document; rename or "
                "remove the others"
            )
    if not any(document.mentions for document in documents):
        raise DataError("the documents contain no mentions to check; give annotated documents")


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


def check_folds(documents: Sequence[Document], fold: Ints) -> None:
    """Check that the documents outside each fold have mentions to learn from.

    Raises:
        DataError: those of one have none.
    """
    with_mentions = {number for number, document in zip(fold.tolist(), documents, strict=True) if document.mentions}
    if len(with_mentions) < 2:
        raise DataError(
            "all mentions are in the documents of one fold, and the others teach nothing; give more annotated "
            "documents, or another seed"
        )


def _fitted(model: Recognizer, documents: list[Document], name: str, callback: Listener | None) -> Recognizer:
    def listener(progress: Progress) -> None:
        if callback is not None:
            callback(replace(progress, stage=f"{name}: {progress.stage}"))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostWarning)  # what cannot be held is counted for all folds together
        return model.fit(documents, progress=listener)


def _judged(model: Recognizer, documents: list[Document]) -> list[JudgedDocument]:
    found = zip(
        documents, model.marginals(documents), model.holds(documents), model.stream(documents),
        model.alternatives(documents), strict=True,
    )  # fmt: skip
    return [
        JudgedDocument(
            document,
            [chance if held else None for chance, held in zip(chances, holds, strict=True)],
            [*predicted.mentions, *considered.mentions],
        )
        for document, chances, holds, predicted, considered in found
    ]
