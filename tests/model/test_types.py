"""Mentions of some types only: in training of every kind of model, conversion and evaluation."""

import json

import pytest

from spanloom import Document, Linker, Mention, Recognizer, Segmenter
from spanloom.data import clinical
from spanloom.errors import UsageError
from spanloom.formats import read
from spanloom_lab import Cascade

SMALL = {"features": ["bias", "w[0]", "w[-1]"], "epochs": 2, "l2": 1.0}
NOTE = Document(
    "no chest pain", mentions=[Mention("problem", [(3, 13)]), Mention("body", [(3, 8)]), Mention("x,y", [(0, 2)])]
)
NOTES = [NOTE.copy(id=str(number)) for number in range(30)]
WORDS = Document("no chest pain", tokens=[(0, 2), (3, 8), (9, 13)], mentions=NOTE.mentions[:2])


@pytest.mark.parametrize(
    ("types", "found"),
    [
        (["problem"], ["problem"]),
        (["problem,body"], ["body", "problem"]),
        (["x,y"], ["x,y"]),
        (("body", "x,y"), ["body", "x,y"]),
    ],
)
def test_a_recognizer_learns_the_types_that_are_asked_for(types, found):
    model = Recognizer(**SMALL, types=types).fit(NOTES, dev=NOTES[:2])
    assert list(model.types_) == found
    assert {mention.type for mention in model.predict("no chest pain").mentions} <= set(found)
    assert model.get_params()["types"] == types


def test_a_folder_gives_the_same_types_as_memory(tmp_path):
    memory = Recognizer(**SMALL, types=["problem"]).fit(NOTES, dev=NOTES[:2])
    disk = Recognizer(**SMALL, types=["problem"]).fit(iter(NOTES), dev=NOTES[:2], work=tmp_path / "work")
    assert memory.types_ == disk.types_ == ("problem",)
    assert memory.predict(NOTE) == disk.predict(NOTE)


def test_other_models_learn_them_too():
    assert Cascade(**SMALL, types=["body"]).fit(NOTES, dev=NOTES[:2]).types_ == ("body",)
    words = [WORDS.copy(id=str(number)) for number in range(8)]
    model = Segmenter("independent", epochs=1, l2=1.0, types=["body"]).fit(words, dev=words)
    assert model.types_ == ("body",)


@pytest.mark.parametrize("name", ["problen", "Problem", "problem,problen"])
def test_an_unknown_type_is_guessed(name, tmp_path):
    for fit in (
        lambda: Recognizer(**SMALL, types=[name]).fit(NOTES),
        lambda: Recognizer(**SMALL, types=[name]).fit(iter(NOTES), dev=NOTES[:2], work=tmp_path / "work"),
        lambda: Cascade(**SMALL, types=[name]).fit(NOTES),
        lambda: Segmenter(types=[name]).fit([WORDS] * 4),
        lambda: Linker("small", types=[name]).fit(NOTES, vocabulary=clinical() / "vocabulary.tsv"),
    ):
        with pytest.raises(UsageError) as error:
            fit()
        wrong = name.rpartition(",")[2]
        message = str(error.value)
        assert message.startswith(f"types: no mention is of type {wrong!r}; found body, problem")
        assert message.endswith("; did you mean problem?")


def test_a_text_is_no_list_of_types():
    with pytest.raises(UsageError, match="types is 'problem', expected a list of texts"):
        Recognizer(types="problem").fit(NOTES)


def test_verbs(command, tmp_path):
    notes = clinical() / "dev"
    result = command("convert", notes, tmp_path / "some.jsonl", "--types", "drug,test")
    assert result.returncode == 0, result.stderr
    kept = list(read(tmp_path / "some.jsonl"))
    assert {mention.type for one in kept for mention in one.mentions} == {"drug", "test"}
    assert sum(len(one.mentions) for one in kept) == sum(
        m.type in ("drug", "test") for one in read(notes) for m in one.mentions
    )
    result = command("convert", notes, tmp_path / "none.jsonl", "--types", "drugs")
    assert result.returncode == 2
    assert "types: no mention is of type 'drugs'; found anatomy, drug, " in result.stderr
    assert not (tmp_path / "none.jsonl").exists()
    line = [
        "train",
        "recognizer",
        "--train",
        notes,
        "--dev",
        notes,
        "--features",
        "small",
        "--epochs",
        "1",
        "--l2",
        "1",
    ]
    result = command(*line, "--types", "drug,test", "--output", tmp_path / "model")
    assert result.returncode == 0, result.stderr
    (tmp_path / "some.toml").write_text('types = ["drug", "test"]\n')
    assert command(*line, "--config", tmp_path / "some.toml", "--output", tmp_path / "other").returncode == 0
    model, other = (spanloom_types(command, tmp_path / name) for name in ("model", "other"))
    assert model == other == ["drug", "test"]
    result = command("evaluate", notes, notes, "--types", "drug,test", "--json")
    assert result.returncode == 0, result.stderr


def spanloom_types(command, model):
    return json.loads(command("inspect", model, "--json").stdout)["types"]
