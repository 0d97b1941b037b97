"""Suspects: errors that were put into the bundled notes are found, and what is ranked how."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import NamedTuple

import pytest

from spanloom import DataWarning, Document, Mention, read
from spanloom.clean import (
    JudgedDocument,
    Suspect,
    find_suspects,
    judge,
    not_judged,
    recognizer_of,
    suspects_of,
    with_suspects,
)
from spanloom.clean.suspects import folds_of_documents
from spanloom.data import clinical
from spanloom.errors import DataError, UsageError
from spanloom.text import prepare


class Spoiled(NamedTuple):
    """The bundled notes with errors, and where these are: the document, the kind, the mention before and after."""

    documents: list[Document]
    errors: list[tuple[int, str, Mention, Mention | None]]


def spoil(seed: int) -> Spoiled:
    """One mention in fifteen of all without gaps gets an error, of each kind as often."""
    documents = [prepare(document) for part in ("train", "dev", "test") for document in read(clinical() / part)]
    drawn = random.Random(seed)
    own = [[mention for mention in document.mentions if len(mention.spans) == 1] for document in documents]
    places = [(i, mention) for i, mentions in enumerate(own) for mention in mentions]
    types = sorted({mention.type for _, mention in places})
    errors = []
    for number, (i, before) in enumerate(drawn.sample(places, len(places) // 15)):
        kind = ("wrong", "missing", "boundary", "type")[number % 4]
        after = changed(kind, documents[i], before, own[i], types, drawn)
        if kind != "wrong":
            own[i].remove(before)
        if after is not None:
            own[i].append(after)
        errors.append((i, kind, before, after))
    return Spoiled([document.copy(mentions=mine) for document, mine in zip(documents, own, strict=True)], errors)


def changed(
    kind: str, document: Document, mention: Mention, own: list[Mention], types: list[str], drawn: random.Random
) -> Mention | None:
    """What stands there instead, or beside the mention if one is invented."""
    if kind == "missing":
        return None
    if kind == "type":
        return mention.replace(type=drawn.choice([name for name in types if name != mention.type]))
    assert document.tokens is not None
    tokens = document.tokens.tolist()
    if kind == "boundary":  # one word more on the left, or on the right
        before = [start for start, _ in tokens if start < mention.start]
        after = [end for _, end in tokens if end > mention.end]
        spans = [(start, mention.end) for start in before[-1:]] + [(mention.start, end) for end in after[:1]]
        return mention.replace(spans=[drawn.choice(spans)])
    free = [(start, end) for start, end in tokens if not any(m.start < end and start < m.end for m in own)]
    return Mention(mention.type, [drawn.choice(free)])


def is_found(error: tuple[int, str, Mention, Mention | None], suspect: Suspect) -> bool:
    number, _, before, after = error
    if suspect.document != number:
        return False
    if after is not None:
        return suspect.mention is not None and suspect.mention.key == after.key
    missing = suspect.other if suspect.mention is None else None
    return (
        missing is not None and missing.type == before.type and missing.start < before.end > before.start < missing.end
    )


@pytest.fixture(scope="module")
def spoiled() -> Spoiled:
    return spoil(1)


@pytest.fixture(scope="module")
def judged(spoiled: Spoiled) -> list[JudgedDocument]:
    return judge(spoiled.documents, recognizer_of(rescore=False))


def test_most_errors_stand_in_the_first_tenth_of_the_list(spoiled: Spoiled, judged: list[JudgedDocument]) -> None:
    ranked = suspects_of(judged, least=0.0)
    assert [one.certainty for one in ranked] == sorted((one.certainty for one in ranked), reverse=True)
    found = {
        kind: [
            next((rank for rank, suspect in enumerate(ranked) if is_found(error, suspect)), len(ranked))
            for error in spoiled.errors
            if error[1] == kind
        ]
        for kind in ("wrong", "missing", "boundary", "type")
    }
    ranks = [rank for own in found.values() for rank in own]
    mentions = sum(len(document.mentions) for document in spoiled.documents)
    # by chance it would be a tenth, and less than a twentieth: the list is more than twice as long as the mentions
    assert sum(rank < len(ranked) / 10 for rank in ranks) > 0.6 * len(ranks)
    assert sum(rank < mentions / 10 for rank in ranks) > 0.35 * len(ranks)
    for kind, own in found.items():
        assert sum(rank < len(ranked) / 10 for rank in own) > 0.3 * len(own), kind


def test_a_list_that_begins_later_is_the_beginning_of_the_whole(judged: list[JudgedDocument]) -> None:
    ranked, certain = suspects_of(judged, least=0.0), suspects_of(judged, least=0.2)
    assert certain == ranked[: len(certain)]
    assert certain[-1].certainty >= 0.2 > ranked[len(certain)].certainty


def test_each_gold_mention_is_in_one_suspect_and_nothing_is_changed(
    spoiled: Spoiled, judged: list[JudgedDocument]
) -> None:
    assert [one.document for one in judged] == spoiled.documents
    own = [(suspect.document, suspect.mention.key) for suspect in suspects_of(judged, 0.0) if suspect.mention]
    gold = [
        (number, mention.key)
        for number, one in enumerate(judged)
        for mention, chance in zip(one.document.mentions, one.probabilities, strict=True)
        if chance is not None
    ]
    assert sorted(own) == sorted(gold)
    proposed = [(suspect.document, suspect.other.key) for suspect in suspects_of(judged, 0.0) if suspect.other]
    assert len(proposed) == len(set(proposed)) and not set(proposed) & set(gold)


def test_documents_to_correct_hold_the_annotation_and_the_suspects(
    spoiled: Spoiled, judged: list[JudgedDocument]
) -> None:
    suspects = suspects_of(judged)[:30]
    found = list(with_suspects(judged, reversed(suspects)))
    assert len(found) == len({suspect.document for suspect in suspects})
    assert sum(len(document.meta["suspects"]) for document in found) == 30
    before = {document.id: document for document in spoiled.documents}
    for document in found:
        certainties = [suspect["certainty"] for suspect in document.meta["suspects"]]
        assert certainties == sorted(certainties, reverse=True)
        assert [mention.replace(score=None) for mention in document.mentions] == before[document.id].mentions
        assert "suspects" not in before[document.id].meta
    told = next(document.meta["suspects"][0] for document in found if document.id == before_id(suspects[0], spoiled))
    assert told == suspects[0].to_dict(spoiled.documents[suspects[0].document].text)


def before_id(suspect: Suspect, spoiled: Spoiled) -> str:
    return spoiled.documents[suspect.document].id


TEXT = "No acute chest pain or fever today, and the left arm is fine."


def marked(kind: str, words: str, score: float | None = None) -> Mention:
    start = TEXT.index(words)
    return Mention(kind, [(start, start + len(words))], score=score)


def ranked(gold: list[tuple[Mention, float | None]], proposed: list[Mention]) -> list[tuple[str, str, str]]:
    """Kind, gold and expected words of the suspects of a text, in their order."""
    document = Document(TEXT, mentions=[mention for mention, _ in gold])
    suspects = suspects_of([JudgedDocument(document, [chance for _, chance in gold], proposed)], 0.0)
    return [
        (
            suspect.kind,
            *("" if one is None else f"{one.type}: {one.text(TEXT)}" for one in (suspect.mention, suspect.other)),
        )
        for suspect in suspects
    ]


def test_what_models_would_mark_otherwise_comes_before_what_they_only_doubt() -> None:
    gold = [(marked("problem", "fever"), 0.02), (marked("problem", "pain"), 0.02), (marked("test", "left arm"), 0.02)]
    proposed = [marked("problem", "chest pain", 0.95), marked("anatomy", "left arm", 0.9)]
    assert ranked(gold, proposed) == [
        ("boundary", "problem: pain", "problem: chest pain"),
        ("type", "test: left arm", "anatomy: left arm"),
        ("wrong", "problem: fever", ""),
    ]


def test_of_missing_mentions_that_exclude_one_another_the_likeliest_is_told() -> None:
    proposed = [
        marked("problem", "chest pain", 0.5),
        marked("problem", "acute chest pain", 0.4),
        marked("sign", "chest pain", 0.1),
        marked("anatomy", "arm", 0.3),
    ]
    assert ranked([], proposed) == [
        ("missing", "", "problem: chest pain"),
        ("missing", "", "anatomy: arm"),
    ]


def test_a_mention_within_another_is_missing_if_both_are_probable() -> None:
    inner, outer = marked("anatomy", "arm", 0.9), marked("anatomy", "left arm")
    assert ranked([(outer, 0.95)], [inner])[0] == ("missing", "", "anatomy: arm")
    assert ranked([(outer, 0.05)], [inner]) == [("boundary", "anatomy: left arm", "anatomy: arm")]


def test_a_mention_in_pieces_that_white_space_separates_is_the_same() -> None:
    start = TEXT.index("chest")
    pieces = Mention("problem", [(start, start + 5), (start + 6, start + 10)])
    assert ranked([(pieces, 0.9)], [marked("problem", "chest pain", 0.9)]) == [("wrong", "problem: chest pain", "")]


def test_probabilities_of_0_and_1_are_certain_and_no_error() -> None:
    gold = [(marked("problem", "fever"), 0.0), (marked("anatomy", "left arm"), 1.0)]
    document = Document(TEXT, mentions=[mention for mention, _ in gold])
    found = suspects_of([JudgedDocument(document, [0.0, 1.0], [marked("problem", "chest pain", 1.0)])], 0.0)
    assert [suspect.kind for suspect in found] == ["missing", "wrong", "wrong"]
    assert all(0 <= suspect.certainty <= 1 for suspect in found)
    assert found[1].certainty > 0.99 and found[2].certainty < 1e-9


def test_what_no_model_can_hold_is_not_judged_but_counted_and_not_told_as_missing() -> None:
    gold = [(marked("problem", "chest pain"), None), (marked("problem", "fever"), 0.9)]
    assert ranked(gold, [marked("problem", "chest pain", 0.9)]) == [("wrong", "problem: fever", "")]
    document = Document(TEXT, mentions=[mention for mention, _ in gold])
    judged = JudgedDocument(document, [None, 0.9], [])
    assert not_judged([judged]).startswith("1 of 2 gold mentions was not judged: ")
    assert not_judged([judged._replace(probabilities=[0.5, 0.9])]) == ""
    assert [mention.score for mention in judged.scored.mentions] == [None, 0.9]


def test_a_long_document_takes_linear_time(assert_linear) -> None:
    def crowd(count: int) -> Callable[[], object]:
        gold = [Mention("problem", [(10 * n, 10 * n + 6)]) for n in range(count)]
        proposed = [
            Mention(kind, [(10 * n + low, 10 * n + 6)], score=0.4)
            for n in range(count)
            for kind, low in (("problem", 2), ("test", 0), ("drug", 7 - 10))
            if n
        ]
        judged = JudgedDocument(Document("x" * 10 * count, mentions=gold), [0.2] * count, proposed)
        return lambda: suspects_of([judged], 0.0)

    assert_linear(crowd, 1000)


def notes(count: int) -> list[Document]:
    found = [f"patient {n} has chest pain" for n in range(1000, 1000 + count)]
    return [Document(text, mentions=[Mention("problem", [(17, 27)])]) for text in found]


SMALL = {"features": ["bias", "w[-1..1]"], "epochs": 2, "rescore": False}


def test_gaps_are_not_judged_by_separators_and_judged_by_split() -> None:
    own = notes(12)
    own[3] = own[3].copy(mentions=[*own[3].mentions, Mention("problem", [(0, 7), (13, 16)])])
    with pytest.warns(DataWarning, match="1 of 13 gold mentions was not judged"):
        find_suspects(own, folds=2, structure="separators", **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_suspects(own, folds=2, structure="split", **SMALL)


def test_a_type_of_one_fold_alone_is_not_judged() -> None:
    own = notes(12)
    own[3] = own[3].copy(mentions=[Mention("rare", [(0, 7)])])
    with pytest.warns(DataWarning, match="1 of 12 gold mentions was not judged"):
        assert find_suspects(own, folds=3, **SMALL) is not None


def test_the_seed_decides_and_the_number_of_threads_does_not() -> None:
    own = [*notes(30), Document("no chest pain", mentions=[Mention("problem", [(9, 13)])])]
    first, same, other = (
        find_suspects(own, folds=3, least=0.0, n_jobs=jobs, random_state=seed, **SMALL)
        for jobs, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert first == same != other


def test_copies_of_a_text_stand_in_one_fold() -> None:
    texts = [Document(str(n % 7)) for n in range(50)]
    fold = folds_of_documents(texts, 3, seed=4).tolist()
    assert len(set(fold)) == 3
    assert len({(document.text, number) for document, number in zip(texts, fold, strict=True)}) == 7


@pytest.mark.parametrize(
    "documents, options, error, message",
    [
        ([], {}, DataError, "the documents contain no mentions"),
        ([Document("no pain")] * 9, {}, DataError, "the documents contain no mentions"),
        (notes(4), {}, UsageError, "found 4 different texts, expected one for each of 5 folds"),
        (notes(1) * 9, {}, UsageError, "found 1 different text, expected one for each of 5 folds"),
        (notes(9), {"folds": 1}, UsageError, "folds is 1, expected a whole number from 2"),
        (notes(9), {"least": 1.5}, UsageError, "least is 1.5, expected a number from 0 to 1"),
        (notes(9), {"least": float("nan")}, UsageError, "least is nan, expected"),
        (notes(9), {"colour": 1}, UsageError, "no parameter 'colour'; there are "),
        (notes(9), {"structure": "tree"}, UsageError, "tree"),
        (notes(9), {"checkpoint": "x"}, UsageError, "checkpoint is given without an encoder"),
        (
            [document.copy(id="a" if n in (2, 5) else str(n)) for n, document in enumerate(notes(9))],
            {},
            DataError,
            "2 documents have the id 'a', expected one id for each document",
        ),
        (
            [*notes(1), *(Document(f"fever {n}") for n in range(9))],
            {},
            DataError,
            "all mentions are in the documents of one fold",
        ),
        (7, {}, UsageError, "documents is the int 7"),
    ],
)
def test_what_cannot_be_judged_is_one_line(documents, options, error, message) -> None:
    with pytest.raises(error) as raised:
        find_suspects(documents, **options)
    assert message in str(raised.value) and "\n" not in str(raised.value)
