"""Files that features come from: a model is whole without them."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from spanloom.data import clinical
from spanloom.document import Batch, Document, Mention
from spanloom.errors import ModelError, SpanloomError, UsageError
from spanloom.modelfile import ModelPart, read, write
from spanloom.recognize import Recognizer, load
from spanloom.text import prepare
from spanloom.vocabulary import Concept, Vocabulary

RULES = """
[sections]
findings = 'findings|interpretation'
course = 'hospital course'
[notes]
long = '^hospital course$'
"""
DOCUMENTS = [Document("No chest pain today", mentions=[Mention("x", [(3, 13)])])] * 20
SMALL = {"epochs": 1, "tune_penalty": False}


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    shutil.copy(clinical() / "vocabulary.tsv", folder)
    (folder / "rules.toml").write_text(RULES)
    return folder


def found(recognizer, documents):
    return [document.mentions for document in recognizer.predict(documents)]


def test_a_model_needs_none_of_its_files(notes, files, tmp_path):
    recognizer = Recognizer(
        "separators", "clinical", clusters=20, sections=str(files / "rules.toml"),
        vocabulary=str(files / "vocabulary.tsv"), rate=0.3, epochs=3, names=True,
    ).fit(notes.train, dev=notes.dev)  # fmt: skip
    assert recognizer.report_.dropped == ("pos[0]", "ngrams(pos,2..3)")
    names = {name.split("[0]=")[0] for listed in recognizer.strongest_.values() for name, _ in listed}
    assert {"category", "lemma"} <= names
    expected = found(recognizer, notes.test)
    assert sum(map(len, expected)) > 100
    recognizer.save(tmp_path / "model")
    shutil.rmtree(files)
    again = load(tmp_path / "model")
    assert found(again, notes.test) == expected
    assert again.get_params() == recognizer.get_params()
    again.save(tmp_path / "again")
    assert sorted(file.name for file in (tmp_path / "again").iterdir()) == ["model.json", "weights.safetensors"]
    for file in (tmp_path / "model").iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


def test_rules_are_those_of_the_training_in_their_order(notes, files, tmp_path):
    recognizer = Recognizer(features=["bias", "section[0]", "note[0]"], sections=files / "rules.toml", **SMALL)
    recognizer.fit(notes.train[:9]).save(tmp_path / "model")
    rules = read(tmp_path / "model", "recognizer").part("columns").values["rules"]
    assert list(rules["sections"]) == ["findings", "course"] and list(rules["notes"]) == ["long"]
    features = load(tmp_path / "model").fitted.scorer.features
    assert features.resources.rules == recognizer.fitted.scorer.features.resources.rules
    batch = features.enrich(Batch.of([notes.train[0].copy(tokens=[[0, 9]], sentences=[[0, 1]])]))
    assert batch.columns == {"section": [""], "note": ["long"]}


def test_rules_as_a_mapping(notes, tmp_path):
    recognizer = Recognizer(features=["bias", "section[0]"], sections={"sections": {"a": "findings"}}, **SMALL)
    recognizer.fit(notes.train[:9]).save(tmp_path / "model")
    assert load(tmp_path / "model").fitted.scorer.features.resources.rules.sections == {"a": "findings"}


def test_a_model_without_such_columns_holds_no_rules(notes, tmp_path):
    Recognizer(features=["bias", "w[0]"], **SMALL).fit(DOCUMENTS).save(tmp_path / "model")
    assert list(read(tmp_path / "model", "recognizer").parts) == ["profile", "structure", "overlaps"]


def test_a_preset_does_without_ignored_columns():
    recognizer = Recognizer(features="clinical", ignore=["lemma", "note"], **SMALL).fit(DOCUMENTS)
    assert {"lemma[0]", "note[0]", "category[0]"} <= set(recognizer.report_.dropped)
    assert "section[0]" not in recognizer.report_.dropped


@pytest.mark.parametrize("column", ["lema", "w"])
def test_a_column_that_no_template_could_do_without_cannot_be_ignored(column):
    with pytest.raises(UsageError, match=f"the preset clinical reads no column '{column}' .* it reads .*lemma"):
        Recognizer(features="clinical", ignore=[column], **SMALL).fit(DOCUMENTS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sections": "no.toml"}, "sections 'no.toml' cannot be read: No such file"),
        ({"vocabulary": "no.tsv"}, "no.tsv: cannot be read: No such file"),
        ({"sections": 3}, "sections is 3, expected the path of a file"),
        ({"vocabulary": {}}, "vocabulary is {}, expected the path of a file"),
        ({"sections": {"x": {}}}, "found 'x', expected the tables sections and notes"),
        ({"vocabulary": "{files}/rules.toml"}, 'rules.toml: found "[sections]'),
        ({"sections": "{files}/vocabulary.tsv"}, "vocabulary.tsv: not a TOML file"),
        ({"sections": {}, "features": "small"}, "sections is given, but no template names the column section or note"),
        (
            {"vocabulary": "{files}/vocabulary.tsv", "features": ["w[0]"]},
            "vocabulary is given, but no template names the column category",
        ),
        ({"features": ["category[0]"]}, "names the column 'category'"),
    ],
)
def test_files_that_cannot_be_used(files, settings, message):
    given = {name: value.format(files=files) if isinstance(value, str) else value for name, value in settings.items()}
    with pytest.raises(SpanloomError) as caught:
        Recognizer(**{"features": "clinical", **given}).fit(DOCUMENTS)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["v.tsv", "index"])
def test_a_vocabulary_without_categories_and_one_as_an_index(tmp_path, name):
    (tmp_path / "v.tsv").write_text("id\tname\n1\tpain\n")
    Vocabulary.build([Concept("1", "pain")]).save(tmp_path / "index")
    recognizer = Recognizer(features=["category[0]"], vocabulary=tmp_path / name, **SMALL).fit(DOCUMENTS)
    batch = recognizer.fitted.scorer.features.enrich(Batch.of([prepare(DOCUMENTS[0])]))
    assert batch.columns == {"category": ["", "", "B-concept", ""]}


def test_several_categories_of_a_concept_are_several(tmp_path):
    (tmp_path / "v.tsv").write_text("id\tname\tcategory\n1\tpain\tproblem|T184\n2\tpain\tsign\n3\tchest\t\n")
    recognizer = Recognizer(features=["category[0]"], vocabulary=tmp_path / "v.tsv", **SMALL).fit(DOCUMENTS)
    batch = recognizer.fitted.scorer.features.enrich(Batch.of([prepare(DOCUMENTS[0])]))
    assert batch.columns == {"category": ["", "", "B-T184+problem+sign", ""]}


@pytest.fixture
def damaged(files, tmp_path):
    """Writes a model with a part exchanged."""
    model = tmp_path / "model"
    features = ["bias", "note[0]", "category[0]"]
    Recognizer(features=features, vocabulary=files / "vocabulary.tsv", **SMALL).fit(DOCUMENTS).save(model)

    def change(rules=None, categories=None):
        part = read(model, "recognizer")
        values, arrays = part.json(), part.flat()
        if rules:
            values["parts"]["columns"]["rules"] = rules
        if categories is not None:
            arrays["columns.categories"] = np.frombuffer(categories, np.uint8)
        write(model, "recognizer", ModelPart.of(values, arrays), force=True)
        return model

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": {"sections": {"x": "("}, "notes": {}}}, "not a regular expression"),
        ({"rules": {"sections": {}}}, "rules.notes: is missing"),
        ({"categories": b"{"}, "damaged"),
        ({"categories": b'{"x": "pain"}'}, "damaged"),
        ({"categories": b"\xff"}, "damaged"),
    ],
)
def test_damaged_rules_and_categories(damaged, change, message):
    path = damaged(**change)
    with pytest.raises(ModelError, match=message) as caught:
        load(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_an_undamaged_copy_loads(damaged):
    assert found(load(damaged()), DOCUMENTS[:1])
