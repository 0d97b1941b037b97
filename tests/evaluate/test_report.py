"""Reports: cases counted by hand, and laws that hold for any documents."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import Score, evaluate, evaluate_concepts, findings, paired_test, score
from spanloom.formats import read, write

TEXT = "no chest pain . pain in left and right arm"
TOKENS = [[0, 2], [3, 8], [9, 13], [14, 15], [16, 20], [21, 23], [24, 28], [29, 32], [33, 38], [39, 42]]


def document(*mentions: Mention, **fields: object) -> Document:
    return Document(TEXT, mentions=list(mentions), **{"id": "d", **fields})


def mention(kind: str, *spans: tuple[int, int], **fields: object) -> Mention:
    return Mention(kind, spans, **fields)


CHEST_PAIN = mention("problem", (3, 13))
CHEST = mention("part", (3, 8))
LEFT_ARM = mention("part", (24, 28), (39, 42))
RIGHT_ARM = mention("part", (33, 42))
PAIN = mention("problem", (16, 20))


@pytest.fixture
def gold() -> Document:
    return document(CHEST_PAIN, CHEST, PAIN, LEFT_ARM, RIGHT_ARM, tokens=TOKENS, sentences=[[0, 4], [4, 10]])


def test_counts_by_hand(gold: Document) -> None:
    predicted = document(
        CHEST_PAIN, mention("test", (3, 8)), RIGHT_ARM, mention("part", (24, 28)), mention("part", (0, 2))
    )
    report = evaluate([gold], [predicted], bootstrap=0)
    assert report.overall == Score(2, 5, 2, 5)
    assert report.types == {"part": Score(1, 3, 1, 3), "problem": Score(1, 1, 1, 2), "test": Score(0, 1, 0, 0)}
    assert report.partial == Score(2.5, 5, 2.5, 5)
    assert report.keys == {"boundaries": Score(3, 5, 3, 5)}
    assert report.errors == {"boundary": 1, "type": 1, "missed": 1, "spurious": 1}


def test_structures_are_those_of_each_side(gold: Document) -> None:
    report = evaluate([gold], [document(CHEST_PAIN, RIGHT_ARM, LEFT_ARM)], bootstrap=0)
    assert report.structures == {
        "flat": Score(1, 1, 0, 1),  # predicted: chest pain, whose part was not predicted; gold: pain
        "nested": Score(0, 0, 1, 2),  # gold: chest, chest pain
        "crossing": Score(2, 2, 2, 2),
        "discontiguous": Score(1, 1, 1, 1),
    }


def test_sentences_with_overlap_are_those_of_gold(gold: Document) -> None:
    gold = gold.copy(mentions=[CHEST_PAIN, CHEST, PAIN])
    predicted = document(CHEST_PAIN, PAIN, LEFT_ARM, RIGHT_ARM)
    report = evaluate([gold], [predicted], bootstrap=0)
    assert (report.unit, report.units) == ("sentence", 2)
    assert report.sentences == {"with overlap": Score(1, 1, 1, 2), "without overlap": Score(1, 3, 1, 1)}


def test_a_mention_over_a_boundary_joins_the_sentences(gold: Document) -> None:
    report = evaluate([gold], [document(mention("problem", (9, 20)))], bootstrap=10)
    assert (report.unit, report.units) == ("sentence", 1)
    end_to_end = evaluate([gold], [document(mention("problem", (9, 16)))], bootstrap=10)
    assert end_to_end.units == 2


def test_white_space_does_not_split_a_mention(gold: Document) -> None:
    predicted = document(mention("problem", (3, 8), (9, 13)), mention("part", (33, 38), (38, 42)))
    report = evaluate([gold], [predicted], bootstrap=0)
    assert report.overall == Score(2, 2, 2, 5)
    assert report.structures["discontiguous"].predicted == 0


def test_repeated_mentions_count_once(gold: Document) -> None:
    twice = mention("problem", (3, 13), id="T2")
    report = evaluate([gold.copy(mentions=[CHEST_PAIN, twice])], [document(CHEST_PAIN, twice, twice)], bootstrap=0)
    assert report.overall == Score(1, 1, 1, 1)
    assert report.duplicates == {"gold": 1, "predicted": 2}
    assert "repeated mentions counted once: 1 in gold, 2 in predicted" in report.to_text()


def test_boundary_errors_are_a_maximum_matching() -> None:
    """A greedy pairing by size of the shared part would pair the two long ones and leave two over."""
    gold = document(mention("a", (0, 8)), mention("a", (8, 13)))
    predicted = document(mention("a", (3, 12)), mention("a", (0, 2)))
    assert evaluate([gold], [predicted], bootstrap=0).errors == {"boundary": 2, "type": 0, "missed": 0, "spurious": 0}


def test_nothing_below_the_line() -> None:
    report = evaluate([document()], [document()], bootstrap=10)
    assert (report.overall.precision, report.overall.recall, report.overall.f1) == (0.0, 0.0, 0.0)
    assert [line.split()[:6] for line in report.to_text().splitlines()][1] == ["exact", "-", "-", "-", "0", "0"]
    assert evaluate([], []).documents == 0
    assert evaluate([], []).to_text()


def test_text(gold: Document) -> None:
    predicted = document(CHEST_PAIN, LEFT_ARM, mention("part", (39, 42)))
    assert evaluate([gold], [predicted], bootstrap=0).to_text() == (
        "                         P       R      F1     gold   pred.\n"
        "exact                66.67   40.00   50.00        5       3\n"
        "partial              83.33   50.00   62.50        5       3\n"
        "boundaries           66.67   40.00   50.00        5       3\n"
        "\n"
        "type\n"
        "  part               50.00   33.33   40.00        3       2\n"
        "  problem           100.00   50.00   66.67        2       1\n"
        "\n"
        "structure\n"
        "  flat              100.00    0.00    0.00        1       1\n"
        "  nested             50.00   50.00   50.00        2       2\n"
        "  crossing               -   50.00    0.00        2       0\n"
        "  discontiguous     100.00  100.00  100.00        1       1\n"
        "\n"
        "sentences\n"
        "  with overlap       66.67   40.00   50.00        5       3\n"
        "  without overlap        -       -       -        0       0\n"
        "\n"
        "errors: 1 boundary, 0 type, 2 missed, 0 spurious\n"
        "1 document, 2 sentences\n"
    )


def test_dictionary_is_json(gold: Document) -> None:
    report = evaluate([gold], [document(CHEST_PAIN)], bootstrap=20)
    values = json.loads(json.dumps(report.to_dict()))
    assert list(values) == [
        *("match", "overall", "types", "structures", "sentences", "keys"),
        *("partial", "errors", "boundaries", "duplicates", "documents", "units", "unit"),
    ]
    assert values["overall"]["correct"] == 1
    assert values["overall"]["recall"] == 0.2
    assert len(values["overall"]["intervals"]["f1"]) == 2


def test_documents_are_matched_by_id() -> None:
    gold = [document(PAIN, id="a"), document(id="b")]
    assert score(gold, [document(id="b"), document(PAIN, id="a")]) == Score(1, 1, 1, 1)


def test_documents_without_unique_ids_are_matched_by_order() -> None:
    gold = [document(PAIN, id="a"), document(id="a")]
    assert score(gold, [document(PAIN, id="a"), document(id="a")]) == Score(1, 1, 1, 1)
    assert score(gold, [document(PAIN, id=""), document(id="")]) == Score(1, 1, 1, 1)


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (
            [document(id="a"), document(id="b")],
            [document(id="a")],
            "1 gold document has no prediction, the first is 'b'",
        ),
        (
            [document(id="a")],
            [document(id="a"), document(id="b")],
            "1 predicted document is not in gold, the first is 'b'",
        ),
        ([document(id="")], [document(id=""), document(id="")], "document number 2 is in the prediction only"),
        ([document(id="a")], [document(id="a"), document(id="a")], "the prediction has two documents called 'a'"),
        (
            [document(id="a"), document(id="a")],
            [document(id="a"), document(id="c")],
            "document 2 is 'c' in the prediction",
        ),
        (
            [document(id="a")],
            [Document("no chest paim", id="a")],
            "document 'a': the predicted text differs from the gold",
        ),
        (
            [Document("pain")],
            [Document("pains")],
            "document number 1: the predicted text differs from the gold text at character 4",
        ),
    ],
)
def test_wrong_documents_are_named(gold: list[Document], predicted: list[Document], message: str) -> None:
    for compare in (evaluate, score):
        with pytest.raises(DataError) as caught:
            compare(gold, predicted)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_wrong_arguments() -> None:
    with pytest.raises(UsageError, match="found the comparison 'shoes', expected one of exact, boundaries"):
        evaluate([], [], keys=["shoes"])
    gold = [document(CHEST_PAIN)]
    for sides, message in (
        ((iter(gold), gold), "gold is of type list_iterator, expected a list of documents"),
        ((gold, gold[0]), "the prediction is of type Document, expected a list"),
        ((gold, [TEXT]), "item 0 of the prediction is 'no chest pain .* expected a Document"),
    ):
        with pytest.raises(UsageError, match=message):
            evaluate(*sides)
    with pytest.raises(UsageError, match="bootstrap is -1, expected a whole number from 0"):
        evaluate([], [], bootstrap=-1)


# Laws

LENGTH = 14


@st.composite
def mentions(draw: st.DrawFn) -> Mention:
    cuts = sorted(draw(st.sets(st.integers(0, LENGTH), min_size=2, max_size=6)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    return Mention(draw(st.sampled_from("ab")), spans)


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[Document], list[Document]]:
    sides: tuple[list[Document], list[Document]] = ([], [])
    for i in range(draw(st.integers(1, 3))):
        text = draw(st.text("x ", min_size=LENGTH, max_size=LENGTH))
        tokens = [[k, k + 1] for k in range(LENGTH)]
        sentences = draw(st.sampled_from([None, [[0, LENGTH]], [[0, 5], [5, 5], [5, LENGTH]]]))
        for side in sides:
            found = draw(st.lists(mentions(), max_size=6))
            side.append(Document(text, id=str(i), tokens=tokens, sentences=sentences, mentions=found))
    return sides


@given(documents())
def test_swapping_the_sides_swaps_precision_and_recall(sides: tuple[list[Document], list[Document]]) -> None:
    one, other = evaluate(*sides, bootstrap=0), evaluate(*sides[::-1], bootstrap=0)
    for name in ("overall", "partial"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a.correct, a.predicted, a.found, a.gold) == (b.found, b.gold, b.correct, b.predicted)
        assert a.f1 == b.f1
    assert one.errors["boundary"] == other.errors["boundary"]
    for name, row in one.structures.items():
        assert row.precision == other.structures[name].recall


@given(documents())
def test_a_perfect_prediction(sides: tuple[list[Document], list[Document]]) -> None:
    report = evaluate(sides[0], sides[0], bootstrap=5)
    for row in (report.overall, report.partial, *report.types.values(), *report.structures.values()):
        assert row.precision == row.recall == row.f1 == float(row.gold > 0)
    assert not any(report.errors.values())


@given(documents(), st.randoms(use_true_random=False))
def test_order_does_not_matter(sides: tuple[list[Document], list[Document]], chance: random.Random) -> None:
    shuffled = [
        [document.copy(mentions=chance.sample(document.mentions, len(document.mentions))) for document in side]
        for side in sides
    ]
    chance.shuffle(shuffled[1])
    assert evaluate(*sides, bootstrap=5) == evaluate(*shuffled, bootstrap=5)


@given(documents())
def test_the_counts_add_up(sides: tuple[list[Document], list[Document]]) -> None:
    report = evaluate(*sides, bootstrap=0)
    overall, errors = report.overall, report.errors
    assert overall == score(*sides)
    for rows in (report.types, report.sentences):
        for name in ("correct", "predicted", "found", "gold"):
            assert sum(getattr(row, name) for row in rows.values()) == getattr(overall, name)
    assert overall.gold == overall.found + errors["boundary"] + errors["type"] + errors["missed"]
    assert overall.predicted == overall.correct + errors["boundary"] + errors["type"] + errors["spurious"]
    assert report.partial.found == overall.found + errors["boundary"] / 2
    assert report.to_text()
    json.dumps(report.to_dict())


def test_texts_without_sentences_are_split_as_on_the_command_line(command, tmp_path) -> None:
    gold = list(read(clinical() / "dev"))
    predicted = [document.copy(mentions=document.mentions[::2]) for document in gold]
    assert {document.sentences is None for document in gold} == {True}
    write(gold, tmp_path / "gold", format="brat")
    write(predicted, tmp_path / "predicted", format="brat")
    report = evaluate(list(read(tmp_path / "gold")), list(read(tmp_path / "predicted")))
    done = command("evaluate", tmp_path / "gold", tmp_path / "predicted", "--json")
    told = json.loads(done.stdout)
    assert {name: told[name] for name in report.to_dict()} == json.loads(json.dumps(report.to_dict()))
    assert (report.unit, report.units > len(gold)) == ("sentence", True)


def test_samples_without_the_mentions_of_a_row_say_nothing_of_it() -> None:
    rare = Mention("rare", [(0, 4)])
    gold = [Document("pain", id=str(i), mentions=[rare] if not i else []) for i in range(30)]
    score = evaluate(gold, gold).types["rare"]
    assert score.intervals is not None
    assert score.intervals.f1 == score.intervals.recall == score.intervals.precision == (1.0, 1.0)


def test_a_report_is_printed_as_its_table() -> None:
    report = evaluate([Document("pain", mentions=[Mention("<b>", [(0, 4)])])], [Document("pain")], bootstrap=0)
    assert str(report) == report.to_text()
    assert report._repr_html_().startswith("<pre>")
    assert "&lt;b&gt;" in report._repr_html_()
    assert "<b>" not in report._repr_html_()


ZONES = {"default": "complete", "zones": [{"start": 0, "end": 5, "annotation": "unknown", "types": ["problem"]}]}
SOME = {"some": [{"spans": [[0, 2]]}]}


@pytest.mark.parametrize("annotation", ["at-least", "unknown", ZONES, SOME, {"types": {"other": "at-least"}}])
def test_gold_that_is_not_complete_is_refused(annotation: object) -> None:
    gold = document(CHEST_PAIN, meta={"annotation": annotation})
    found = document(mention("other", (0, 2)), CHEST_PAIN.replace(score=0.5))
    for judge in (evaluate, findings, paired, evaluate_concepts):
        with pytest.raises(DataError, match=r"^document 'd': its annotation is .*evaluate on complete annotation"):
            judge([gold], [found])


@pytest.mark.parametrize(
    "annotation",
    [
        "complete",
        {"default": "at-least", "types": {"problem": "complete"}},
        {"not": [{"spans": [[0, 2]]}]},
        {"by": "Ada"},
    ],
)
def test_gold_that_is_complete_for_what_is_compared_is_taken(annotation: object) -> None:
    gold = document(CHEST_PAIN, meta={"annotation": annotation})
    assert evaluate([gold], [document(CHEST_PAIN, meta={"annotation": "at-least"})], bootstrap=0).overall.f1 == 1


def paired(gold: list[Document], found: list[Document]) -> object:
    return paired_test(gold, found, found, samples=10)


def test_kinds_of_boundary_errors_are_those_of_the_page():
    text = "left and right knee pain"
    gold = Document(text, mentions=[Mention("x", [(0, 4), (15, 19)]), Mention("x", [(20, 24)])])
    predicted = Document(text, mentions=[Mention("x", [(15, 19)]), Mention("x", [(20, 23)])])
    report = evaluate([gold], [predicted], bootstrap=0)
    assert report.errors["boundary"] == 2
    assert report.to_dict()["boundaries"] == {"boundary": 1, "gap missed": 0, "gap invented": 0, "fragment wrong": 1}
    assert "errors: 1 boundary, 1 fragment wrong, 0 type, 0 missed, 0 spurious\n" in report.to_text()
    kinds = Counter(finding.kind for finding in findings([gold], [predicted]))
    assert kinds == {"boundary": 1, "fragment wrong": 1}
