"""What every estimator of mentions does, by what it has in common with the others; models are those of the table."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from spanloom import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats.record import record_lines, record_text
from spanloom.model.arrays import arrays_of
from spanloom.model.parameters import FLOOR, LEAST
from spanloom.model.protocol import gives_arrays
from spanloom.recognize import teach
from spanloom.recognize.constrained import _chosen

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import capabilities

NAMES = ("recognizer", "cascade", "segmenter", "joint linker")
TEXTS = 12


@pytest.fixture(scope="module", params=NAMES)
def kind(request, tmp_path_factory):
    [kind] = [one for one in capabilities.kinds(tmp_path_factory.mktemp("kinds")) if one.name == request.param]
    return kind


def mentions_of(arrays):
    """The mentions of documents, each as type, spans, head and score."""
    found = []
    for one in arrays:
        for first, end in pairwise(one.ptr.tolist()):
            rows = []
            for row in range(first, end):
                spans = [tuple(span) for span in one.spans[one.bounds[row] : one.bounds[row + 1]].tolist()]
                head = one.heads[row].tolist()
                rows.append((one.types[one.kind[row]], spans, None if head[0] < 0 else tuple(head), one.scores[row]))
            found.append(rows)
    return found


@pytest.mark.parametrize("threshold", [0.0, 0.6])
def test_arrays_are_the_documents(kind, threshold: float) -> None:
    texts = [Document(one.text) for one in kind.data[:TEXTS]]
    found = list(kind.model.stream(texts, threshold=threshold))
    expected = [
        [(m.type, [tuple(span) for span in m.spans], m.head and tuple(m.head), m.score) for m in one.mentions]
        for one in found
    ]
    assert any(expected)
    for arrays in (kind.model.stream_arrays(texts, threshold=threshold), arrays_of(found, kind.model.types_)):
        assert mentions_of(arrays) == expected


def test_records_of_arrays_are_those_of_the_documents(kind) -> None:
    if not gives_arrays(kind.model):
        pytest.skip("its arrays are made of documents")
    texts = [Document(one.text, id=one.id, meta={"a": 1, "annotator": "b"}) for one in kind.data[:TEXTS]]
    texts += [one.copy(columns={"own": ["v"] * one.token_count}, sections=[("all", (0, 1))]) for one in kind.data[:2]]
    expected = "".join(f"{record_text(one)}\n" for one in kind.model.stream(texts))
    assert "".join(map(record_lines, kind.model.stream_arrays(texts))) == expected


def test_arrays_of_no_documents(kind) -> None:
    assert list(kind.model.stream_arrays([])) == []
    [none] = kind.model.stream_arrays([Document("x")], threshold=1)
    assert (none.ptr.tolist(), none.bounds.tolist(), none.spans.shape, none.heads.shape) == (
        [0, 0],
        [0],
        (0, 2),
        (0, 2),
    )


def test_a_larger_penalty_finds_more(kind) -> None:
    texts = [one.text for one in kind.data[:TEXTS]]
    counts = [sum(len(one.mentions) for one in run) for run in kind.model.sweep(texts, [-100.0, 0.0, 100.0])]
    assert counts[0] == 0 < counts[1] < counts[2]
    before = [one.mentions for one in kind.model.predict(texts)]
    assert before == [one.mentions for one in kind.model.predict(texts)]  # the model itself is as it was


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, True, "1", None], ids=str)
def test_penalties_and_thresholds_are_finite_numbers(kind, wrong) -> None:
    with pytest.raises(UsageError, match=r"^penalties\[1\] is .*, expected a finite number$"):
        kind.model.sweep(["no pain"], [0.0, wrong])
    with pytest.raises(UsageError, match=r"^penalties\[0\] is .*, expected a finite number$"):
        kind.model.sweep(["no pain"], wrong)
    with pytest.raises(UsageError, match=r"^penalty is .*, expected a finite number$"):
        kind.model.with_penalty(wrong)
    with pytest.raises(UsageError, match=r"^threshold is .*, expected a number from 0 to 1$"):
        kind.model.predict(["no pain"], threshold=wrong)


@pytest.mark.parametrize("option", ["keep", "require", "forbid"])
def test_constraints_about_texts_that_are_not_read_are_reported(kind, option) -> None:
    mention = Mention(kind.model.types_[0], [(0, 5)])
    for given in (Document("Fever", "other", mentions=[mention]), Document("Fever", mentions=[mention])):
        heard: list[str] = []
        kind.model.predict(kind.data[0].text, constraints={option: [given]}, notice=heard.append)
        assert "constraints of 1 document were not used: no document read has their id" in heard
    with pytest.raises(UsageError, match="constraints name the type 'zzz', expected one of"):
        kind.model.predict("Fever", constraints={option: [Document("Fever", mentions=[mention.replace(type="zzz")])]})
    twice = [Document("Fever", "n", mentions=[mention]), Document("Cough", "n", mentions=[mention])]
    with pytest.raises(UsageError, match="two documents with other texts have the id 'n'"):
        kind.model.predict("Fever", constraints={option: twice})
    with pytest.raises(DataError, match="the model has other types"):
        kind.model.predict(twice[0].copy(mentions=[mention.replace(type="zzz")]), constraints={"keep": True})


def test_candidates_are_what_is_found_and_more(kind) -> None:
    texts = [one.text for one in kind.data[:TEXTS]]
    found, plausible = kind.model.predict(texts), list(kind.model.plausible(texts))
    others = list(kind.model.alternatives(texts))
    more = 0
    for own, every, other in zip(found, plausible, others, strict=True):
        assert {one.key for one in own.mentions} <= {one.key for one in every.mentions}
        assert len({one.key for one in every.mentions}) == len(every.mentions)
        assert all(one.score >= FLOOR for one in every.mentions) and all(one.score >= LEAST for one in other.mentions)
        assert {one.key for one in other.mentions}.isdisjoint(one.key for one in own.mentions)
        more += len(every.mentions) - len(own.mentions)
    assert more > 0


def test_candidates_have_the_probabilities_of_the_model(kind) -> None:
    """A penalty changes what is found, and no probability; only chains that see each other's output see another."""
    if kind.name == "cascade":
        pytest.skip("its chains see what the earlier ones find under the same penalty")
    [text] = [one.text for one in kind.data[:1]]
    scores = {one.key: one.score for one in kind.model.predict(text).mentions}
    [more] = kind.model.with_penalty(3.0).predict([text])
    same = [(one.score, scores[one.key]) for one in more.mentions if one.key in scores]
    assert same and np.allclose(*zip(*same, strict=True))


def test_a_student_finds_what_its_teacher_finds(kind) -> None:
    texts = [one.text for one in kind.data]
    student = teach(kind.model, texts, features=capabilities._TEMPLATES, epochs=3, l2=0.1, rescore=False)
    expected = [{m.key for m in one.mentions} for one in kind.model.predict(texts)]
    assert any(expected) and [{m.key for m in one.mentions} for one in student.predict(texts)] == expected
    assert student.report_.documents == 0 and student.report_.teaching.documents > 0
    gold = teach(kind.model, texts, train=kind.data, dev=kind.data[:10], weight=1, features=["bias", "w[0]"], l2=1)
    assert gold.report_.mentions == sum(len(one.mentions) for one in kind.data) + len(gold.report_.lost)
    assert gold.report_.documents == len(kind.data)


def test_constraints_decide_among_candidates(kind) -> None:
    texts = [one.copy(mentions=[], meta={}) for one in kind.data[:TEXTS]]
    plain = kind.model.predict(texts)
    [unwanted, *_] = plain[0].mentions
    other = unwanted.replace(spans=[(unwanted.start, unwanted.start + 1)])
    words = unwanted.text(texts[0].text)
    found = kind.model.predict(texts, constraints={"forbid": [f"{unwanted.type}: {words}"]})
    for before, after in zip(plain, found, strict=True):
        named = {m.key for m in before.mentions if (m.type, m.text(before.text)) == (unwanted.type, words)}
        assert named.isdisjoint(m.key for m in after.mentions)
        if not named:
            assert (after.mentions, after.words) == (before.mentions, before.words)
    wanted = Document(texts[0].text, texts[0].id, mentions=[unwanted])
    [kept, *_] = kind.model.predict(texts, constraints={"require": [wanted]})
    assert [m.score for m in kept.mentions if m.key == unwanted.key] == [1.0]
    [kept] = kind.model.predict([wanted.copy(tokens=kind.data[0].tokens)], constraints={"keep": True})
    assert unwanted.key in {m.key for m in kept.mentions}
    with pytest.raises(DataError, match="forbidden"):
        kind.model.predict(texts, constraints={"require": [wanted], "forbid": [wanted]})
    if kind.name != "recognizer":
        with pytest.raises(DataError, match="it overlaps another that is required"):
            kind.model.predict(texts, constraints={"require": [wanted.copy(mentions=[unwanted, other])]})
        with pytest.raises(UsageError, match="answers under constraints have no probability"):
            kind.model.predict(texts, constraints={"require": [wanted]}, answers=True)


def test_what_a_forbidden_mention_excluded_takes_its_place() -> None:
    long, short, far = Mention("x", [(0, 9)], score=0.7), Mention("x", [(0, 4)], score=0.2), Mention("x", [(12, 14)])
    found, others = [long, far.replace(score=0.9)], [short, Mention("x", [(20, 22)], score=0.4)]

    def overlap(one: Mention, other: Mention) -> bool:
        return one.start < other.end and other.start < one.end

    chosen = _chosen(found, others, [], {long.key}, overlap)
    assert [(one.spans[0], round(one.score, 3)) for one in chosen] == [((0, 4), 0.667), ((12, 14), 0.9)]
    chosen = _chosen(found, [short.replace(score=0.1)], [], {long.key}, overlap)  # 0.1 of 0.3: no mention is likelier
    assert [one.spans[0] for one in chosen] == [(12, 14)]
    chosen = _chosen(found, others, [Mention("x", [(10, 14)])], set(), overlap)
    assert [(one.spans[0], one.score) for one in chosen] == [((0, 9), 0.7), ((10, 14), 1.0)]
