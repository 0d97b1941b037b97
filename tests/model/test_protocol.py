"""A model is what it says of itself: Spanloom's own kinds, and one from outside with the verbs and the server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import spanloom
from gazetteer import Gazetteer
from spanloom.cli import evaluate as evaluate_verb
from spanloom.cli import explain as explain_verb
from spanloom.cli import inspect as inspect_verb
from spanloom.cli import predict as predict_verb
from spanloom.cli.app import Evaluate, Explain, Inspect, Predict
from spanloom.cli.config import CommonOptions
from spanloom.cli.train import fit_and_save
from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.formats import read, write
from spanloom.link import Linker
from spanloom.model import protocol
from spanloom.models import KINDS, explain
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.serve.answers import Job
from spanloom.serve.limits import Limits
from spanloom.serve.served import served
from spanloom.serve.worker import answer
from spanloom.tag.pos_tagger import PosTagger
from spanloom.vocabulary import Vocabulary
from spanloom_lab import Cascade
from spanloom_lab.lm.language_model import LanguageModel

NOTES = [Document("no chest pain", "a", mentions=[Mention("problem", [(3, 13)])])] * 3
OWN = (Recognizer, Cascade, Linker, Segmenter, PosTagger, LanguageModel, Vocabulary)


def model() -> Gazetteer:
    return Gazetteer().fit(NOTES)


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a folder that the verbs' `load` opens as a model of a kind that Spanloom does not know."""
    for verb in (predict_verb, inspect_verb):
        monkeypatch.setattr(verb, "load", lambda _, encoder=None: model())
    monkeypatch.setattr(inspect_verb, "locate", str)
    return "gazetteer"


def test_every_kind_says_what_it_can_do() -> None:
    assert {kind.kind for kind in OWN} == {*KINDS, "cascade", "language-model"}
    methods = {
        "explain": "explain",
        "alternatives": "alternatives",
        "sweep": "sweep",
        "hypergraph": "ready",
        "arrays": "stream_arrays",
    }
    for kind in OWN:
        for capability, method in methods.items():
            assert (capability in kind.capable) <= hasattr(kind, method), (kind, capability)
        assert bool(kind.annotates) == hasattr(kind, "stream")
    assert not protocol.annotates(Vocabulary.build([spanloom.vocabulary.Concept("1", "pain")]))


def test_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(NOTES[:1], tmp_path / "notes.jsonl")
    options = CommonOptions(train=[str(tmp_path / "notes.jsonl")], output=str(tmp_path / "model"))
    assert fit_and_save(Gazetteer(), options) is None
    assert json.loads((tmp_path / "model" / "model.json").read_text()) == {"chest pain": "problem"}
    told = capsys.readouterr().err
    assert "1 texts, in " in told and f"saved as {tmp_path / 'model'}" in told


def test_predict(loaded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write([Document("chest pain today", "b")], tmp_path / "in.jsonl")
    options = {"model": loaded, "source": [str(tmp_path / "in.jsonl")], "on_error": "stop"}
    predict_verb.run(Predict(**options, output=str(tmp_path / "out.jsonl")))
    [found] = read(tmp_path / "out.jsonl")
    assert [mention.spans for mention in found.mentions] == [((0, 10),)]
    assert "1 mention in 1 document, written to " in capsys.readouterr().err
    predict_verb.run(Predict(**options, output=str(tmp_path / "none.jsonl"), threshold=0.9))
    assert not next(iter(read(tmp_path / "none.jsonl"))).mentions
    with pytest.raises(UsageError, match="gazetteer is a gazetteer, which has no use for --reading and --mentions"):
        predict_verb.run(Predict(**options, output="-", reading="all", mentions="given"))


def test_evaluate(loaded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(NOTES[:1], tmp_path / "gold.jsonl")
    gold = str(tmp_path / "gold.jsonl")
    evaluate_verb.run(Evaluate(gold=gold, model=loaded, as_json=True))
    assert json.loads(capsys.readouterr().out)["overall"]["f1"] == 1
    pytest.importorskip("matplotlib")
    evaluate_verb.run(Evaluate(gold=gold, model=loaded, as_json=True, html=str(tmp_path / "e.html")))
    assert "Errors of gazetteer" in (tmp_path / "e.html").read_text(encoding="utf-8")


def test_inspect(loaded: str, capsys: pytest.CaptureFixture[str]) -> None:
    inspect_verb.run(Inspect(model=loaded, top=20, every=True))
    assert capsys.readouterr().out.splitlines() == [
        "kind           gazetteer", "shortest       2", "types          problem",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="shows no roles"):
        inspect_verb.run(Inspect(model=loaded, top=20, role="B", as_json=True))


def test_explain(loaded: str, capsys: pytest.CaptureFixture[str]) -> None:
    [found] = explain(model(), "no chest pain")
    assert found.predicted
    explain_verb.run(Explain(model=loaded, text="chest pain"))
    assert capsys.readouterr().out.startswith("chest pain (problem)  0-10")


def test_served() -> None:
    ours = served("terms", model())
    ours.warm_up()
    assert (ours.kind, ours.scores, ours.considers) == ("gazetteer", True, False)
    models = {"terms": ours}
    status, body = answer(models, Job("predict", "terms", others=True), b'{"text": "chest pain"}', Limits())
    assert (status, json.loads(body)["mentions"][0]["score"], json.loads(body)["meta"]["others"]) == (200, 0.5, [])
    question = {"document": {"text": "chest pain"}, "mention": {"type": "problem", "spans": [[0, 10]]}}
    status, body = answer(models, Job("explain", "terms"), json.dumps(question).encode(), Limits())
    assert (status, json.loads(body)["predicted"]) == (200, True)
    with pytest.raises(UsageError, match="finds no mentions"):
        served("tags", PosTagger())


def test_nothing_was_registered() -> None:
    assert "gazetteer" not in KINDS
    assert Gazetteer.__mro__ == (Gazetteer, object)
    assert "spanloom" not in Gazetteer.__module__ and Gazetteer.__module__ in sys.modules
