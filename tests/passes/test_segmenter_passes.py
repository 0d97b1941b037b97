"""Two passes of a segmenter, whose first pass reads characters."""

from __future__ import annotations

from itertools import pairwise

import pytest

from spanloom import Document, Mention, Segmenter, load
from spanloom.errors import ModelError
from spanloom.parallel import SERIAL
from spanloom.segment.characters import split

NAMES = ["甲乙", "丙丁", "戊己", "庚辛", "壬癸", "子丑"]


def document(name):
    """A clear sentence, and an unclear one with the same name."""
    words = ["患者", name, "来", "。", name, "好", "。"]
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    mentions = [Mention("person", [(ends[at], ends[at + 1])]) for at in (1, 4)]
    return Document("".join(words), tokens=list(pairwise(ends)), sentences=[[0, 4], [4, 7]], mentions=mentions)


DATA = [document(name) for name in NAMES * 4]
SETTINGS = {"features": ["bias", "w[-1..0]"], "epochs": 3, "rate": 0.3, "l2": 0.1}


@pytest.fixture(scope="module", params=["exact", "dual", "incremental", "joint_labels"])
def model(request):
    return Segmenter(request.param, **SETTINGS, passes="two").fit(DATA, dev=DATA[:6])


def test_the_second_pass_sees_what_the_first_found_elsewhere(model):
    text = Document("患者卯辰来。卯辰好。")
    seen = model._seen(model.fitted, split([text]), SERIAL)
    shown = [value[:8] for value in seen.batch.column("again")]
    assert shown == ["", "", "B-person", "L-person", "", "", "B-person", "L-person", "", ""]
    assert any("two passes" in line for line in model.report_.lines(()))
    templates = model.describe()["templates"]
    assert "again[-1..1]" in templates


def test_what_is_saved_says_the_same_and_a_missing_pass_is_refused(model, tmp_path):
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    texts = ["患者卯辰来。卯辰好。", "", "患者。", *DATA]
    assert again.predict(texts) == model.predict(texts)
    assert again.report_ == model.report_
    assert again.explain(texts[0]) == model.explain(texts[0])
    part = model.to_part()
    del part.parts["first_pass"]
    with pytest.raises(ModelError):
        Segmenter.from_part(part)


def test_auto_takes_the_better_and_single_sentences_have_one():
    found = {way: Segmenter(**SETTINGS, passes=way).fit(DATA, dev=DATA[:6]) for way in ("one", "auto")}
    told = found["auto"].report_.passes
    assert told.kept == (told.after > told.before) == (found["auto"].pass_ is not None)
    assert found["one"].report_.passes is None
    single = [Document("患者甲乙来", tokens=[[0, 2], [2, 4], [4, 5]], mentions=[Mention("person", [(2, 4)])])] * 30
    alone = Segmenter(**SETTINGS, passes="two").fit(single, dev=single[:3])
    assert alone.pass_ is None
    assert any("one pass over documents" in line for line in alone.report_.lines(()))
