"""Where a prediction is right and wrong: confusions of types, and scores by length, novelty and section."""

from __future__ import annotations

from collections import Counter

from spanloom.document import Document, Mention
from spanloom.evaluate import breakdown, evaluate
from spanloom.text import prepare


def find(text: str, *words: str) -> list[tuple[int, int]]:
    return [(text.index(word), text.index(word) + len(word)) for word in words]


TEXT = "HISTORY: Chest pain, left and right arm pain.\n\nPLAN: No aspirin, check the IL-2 gene."
GOLD = Document(
    TEXT,
    mentions=[
        Mention("problem", find(TEXT, "Chest pain")),
        Mention("problem", find(TEXT, "left", "arm pain")),
        Mention("drug", find(TEXT, "aspirin")),
        Mention("DNA", find(TEXT, "IL-2 gene")),
        Mention("DNA", find(TEXT, "IL-2 gene")),  # repeated: counts once
    ],
)
FOUND = Document(
    TEXT,
    mentions=[
        Mention("problem", find(TEXT, "Chest pain")),
        Mention("problem", find(TEXT, "left and right arm pain")),
        Mention("protein", find(TEXT, "IL-2 gene")),
        Mention("sign", find(TEXT, "check")),
    ],
)


def test_confusions_count_each_mention_once() -> None:
    found = breakdown([GOLD], [FOUND])
    assert found.confusions == {
        ("problem", "problem"): 2,
        ("DNA", "protein"): 1,
        ("drug", None): 1,
        (None, "sign"): 1,
    }
    assert found.borders == {"problem": 1}
    report = evaluate([GOLD], [FOUND], bootstrap=0)
    for side, number in (("gold", 0), ("predicted", 1)):
        sums = Counter[str | None]()
        for pair, count in found.confusions.items():
            sums[pair[number]] += count
        expected = {name: getattr(score, side) for name, score in report.types.items() if getattr(score, side)}
        assert {name: count for name, count in sums.items() if name is not None} == expected


def test_lengths_are_counted_in_words_without_those_of_gaps() -> None:
    found = breakdown([GOLD], [FOUND])
    counts = {name: (score.found, score.gold, score.correct, score.predicted) for name, score in found.lengths.items()}
    words = len(prepare(Document("IL-2 gene")).words)
    assert counts["1 word"] == (0, 1, 0, 1)
    assert counts["2 words"] == (1, 1 + (words == 2), 1, 1 + (words == 2))
    assert counts["3 words"][:2] == (0, 1 + (words == 3))
    assert counts["4 to 5 words"] == (0, int(words > 3), 0, 1 + int(words > 3))


def test_a_mention_is_seen_if_its_words_and_type_stand_in_training() -> None:
    assert breakdown([GOLD], [FOUND]).seen == {}
    training = "chest\n pain, aspirin and left arm pain"
    mentions = [
        Mention("problem", find(training, "chest\n pain")),
        Mention("food", find(training, "aspirin")),
        Mention("problem", find(training, "left arm pain")),
    ]
    seen = breakdown([GOLD], [FOUND], known=[Document(training, mentions=mentions)]).seen
    assert {name: (score.gold, score.predicted) for name, score in seen.items()} == {
        "seen in training": (2, 1),
        "not seen in training": (2, 3),
    }


def test_sections_are_those_of_the_headings() -> None:
    sections = breakdown([GOLD], [FOUND]).sections
    assert {name: (score.gold, score.predicted) for name, score in sections.items()} == {
        "history": (2, 2),
        "plan": (2, 2),
    }
    plain = Document("no pain", mentions=[Mention("problem", [(3, 7)])])
    assert breakdown([plain], [plain]).sections == {}


def test_nothing_to_compare() -> None:
    empty = [Document(""), Document(" \n", mentions=[])]
    assert breakdown(empty, empty, known=[]) == ({}, {}, {}, {}, {})
    bare = [Document("no pain", sentences=[(0, 1)], mentions=[Mention("problem", [(3, 7)])])]  # sentences of no tokens
    assert breakdown(bare, bare).confusions == {("problem", "problem"): 1}
