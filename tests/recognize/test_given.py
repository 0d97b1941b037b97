"""Estimators take what people hold: texts with lists of mentions, columns of tables, one text, many, or a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from spanloom import Document, Mention, Recognizer, Segmenter
from spanloom.errors import LostWarning, UsageError
from spanloom.formats import to_record, write
from spanloom.tag.pos_tagger import PosTagger
from spanloom_lab import Cascade, HeadChain

TEXTS = ["no chest pain today", "mild chest pain"] * 10
MENTIONS = [[("problem", 3, 13)], [Mention("problem", [(5, 15)])]] * 10  # type: ignore[list-item]
NOTES = [
    Document(text, mentions=[Mention("problem", [(text.index("chest"), text.index("pain") + 4)])])  # type: ignore[list-item]
    for text in TEXTS
]
SMALL: dict[str, Any] = {"features": ["bias", "w[-1..1]"], "epochs": 2}
MODELS: dict[str, Callable[[], Any]] = {
    "recognizer": lambda: Recognizer(**SMALL, rate=0.3),
    "cascade": lambda: Cascade(**SMALL, rate=0.3),
}


def records(documents: list[Document]) -> list[dict[str, Any]]:
    return [to_record(document) for document in documents]


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    return MODELS[request.param]().fit(NOTES, dev=NOTES[:4])


@pytest.mark.parametrize("name", MODELS)
def test_texts_with_mentions_are_documents_with_mentions(name: str) -> None:
    model = MODELS[name]().fit(NOTES, dev=NOTES[:4])
    columns = MODELS[name]().fit(pd.Series(TEXTS), pd.Series(MENTIONS), dev=(TEXTS[:4], MENTIONS[:4]))
    assert records(model.predict(TEXTS)) == records(columns.predict(TEXTS))
    assert model.score(NOTES) == columns.score(TEXTS, MENTIONS) == 1.0


def test_a_list_gives_a_list_and_one_gives_one(model: Any) -> None:
    found = model.predict(TEXTS[:2])
    assert [mention.type for document in found for mention in document.mentions] == ["problem"] * 2
    for given in (NOTES[:2], pd.Series(TEXTS[:2], index=[5, 6]), pa.chunked_array([TEXTS[:2]]), iter(TEXTS[:2])):
        assert records(model.predict(given)) == records(found)
    for one in (TEXTS[0], NOTES[0]):
        assert records([model.predict(one)]) == records(found[:1])
    assert model.predict([]) == []


def test_a_stream_is_lazy(model: Any) -> None:
    def endless() -> Iterator[str]:
        while True:
            yield TEXTS[0]

    stream = model.stream(endless())
    assert next(stream).mentions[0].spans == ((3, 13),)
    assert isinstance(stream, Iterator)
    assert records(list(model.stream(TEXTS[0]))) == records([model.predict(TEXTS[0])])


def test_what_is_explained_is_one_text(model: Any) -> None:
    [explanation] = model.explain(TEXTS[0])
    assert explanation.mention.spans == ((3, 13),)
    with pytest.raises(UsageError, match="X is a list, expected one text or one Document"):
        model.explain(TEXTS)


def test_predictions_are_not_by_the_annotator_of_the_input(model: Any) -> None:
    meta = {"annotator": "Ada", "annotation": {"default": "complete", "not": [{"spans": [[0, 2]]}]}, "ward": "A"}
    given = NOTES[0].copy(meta=meta)
    assert model.predict(given).meta == {"ward": "A"}
    assert given.meta == meta


def test_marginals_of_one_and_of_several() -> None:
    model = MODELS["recognizer"]().fit(NOTES, dev=NOTES[:4])
    assert model.marginals(NOTES[0]) == model.marginals(NOTES[:1])[0]
    assert [len(own) for own in model.marginals([NOTES[0], "fever"])] == [1, 0]


@pytest.mark.parametrize("estimator", [Recognizer, Cascade, Segmenter, PosTagger, HeadChain])
def test_development_data_have_a_name(estimator: Callable[[], Any]) -> None:
    with pytest.raises(UsageError, match=r"item 0 of y is a Document, .*; development data are given as dev="):
        estimator().fit(NOTES, NOTES[:2])


def test_segmenter() -> None:
    words = Document("患者无关节疼痛", tokens=[[0, 2], [2, 3], [3, 5], [5, 7]])  # type: ignore[arg-type]
    segmenter = Segmenter(features=["bias", "w[-1..1]"]).fit([words] * 50, [[("problem", 3, 7)]] * 50)
    assert segmenter.predict("无疼痛").words == ["无", "疼痛"]
    assert [document.words for document in segmenter.predict(pd.Series(["无疼痛"]))] == [["无", "疼痛"]]
    assert segmenter.marginals([words])[0] == segmenter.marginals(words)
    assert segmenter.explain("无疼痛")


def test_tagger() -> None:
    tags = [["DT", "NN", "NN", "RB"], ["JJ", "NN", "NN"]] * 10
    tagger = PosTagger(min_count=1).fit(TEXTS, tags, dev=(TEXTS[:2], tags[:2]))
    assert tagger.predict("no chest pain today").columns == {"pos": tags[0]}
    assert [document.columns["pos"] for document in tagger.predict(TEXTS)] == tags
    assert tagger.score(TEXTS, tags) == 1.0
    with pytest.raises(Exception, match="item 0 of y has 3 tags for 4 tokens"):
        tagger.fit(TEXTS[:1], tags[1:2])


def test_heads_of_one_document() -> None:
    house = Document("the old house", mentions=[Mention("place", [(0, 13)], head=(8, 13))])  # type: ignore[list-item, arg-type]
    chain = HeadChain(["w[0]"], rate=0.5).fit([house.text] * 20, [house.mentions] * 20)
    assert chain.predict(house).mentions[0].head == (8, 13)
    assert [document.mentions[0].head for document in chain.predict([house])] == [(8, 13)]


GAPPED = Document("mild or severe pain", mentions=[Mention("problem", [(0, 4), (15, 19)])])
CUT = Document("mild pain", mentions=[Mention("problem", [(0, 3)])])


def test_lost_mentions_are_told_once() -> None:
    message = (
        "2 of 22 training mentions cannot be held and are left out: 1 (it begins or ends inside a token), "
        "1 (it has a gap; the structures shared, split and seven_tag hold gaps); the model's attribute lost_ lists them"
    )
    for model in (Recognizer("separators", **SMALL), Cascade(**SMALL)):
        with pytest.warns(LostWarning) as told:
            model.fit([*NOTES, CUT, GAPPED], dev=NOTES[:2])
        assert [str(one.message) for one in told if one.category is LostWarning] == [message]
        assert told[0].filename == __file__
        assert len(model.lost_) == 2


def test_nothing_is_told_where_nothing_is_lost(recwarn: pytest.WarningsRecorder) -> None:
    Recognizer(**SMALL).fit(NOTES, dev=NOTES[:2])
    assert not recwarn.list


def test_the_command_line_tells_them_in_its_summary(process: Any, tmp_path: Path) -> None:
    write([*NOTES, GAPPED], tmp_path / "train.jsonl")
    given = ["--train", "train.jsonl", "--structure", "separators", "--output", "m", "--epochs", "1"]
    done = process("train", "recognizer", *given, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("it has a gap") == 1
    assert "lost_" not in done.stderr
