"""From documents to suspects, and to documents for correction. Nothing here changes an annotation."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from spanloom.clean.crossfit import FOLDS, JudgedDocument, judge
from spanloom.clean.suspects import LEAST, Suspect, suspects_of
from spanloom.document import Document
from spanloom.errors import DataWarning, check_number, plural
from spanloom.formats.inputs import Several, documents_of
from spanloom.learn import Listener
from spanloom.recognize.recognizer import Recognizer

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
