"""A pipeline of spaCy in a tagger's place: it sees our tokens, and a model keeps nothing of it but the name."""

from __future__ import annotations

import json
import shutil
import sys

import pytest
import spacy
from safetensors.numpy import load_file
from spacy.tokens import Doc
from spacy.training import Example

from spanloom.document import Document, Mention
from spanloom.errors import DataError, ModelError, UsageError
from spanloom.modelfile import ModelPart, read, write
from spanloom.recognize import Recognizer, load
from spanloom.tag.spacy_tagger import SpacyTagger
from spanloom_lab import Cascade

TAGS = {"the": "DT", "a": "DT", "valve": "NN", "atrium": "NN", "leaks": "VBZ", "is": "VBZ", "dilated": "JJ"}
TEXTS = ("the valve leaks", "the atrium is dilated", "a valve is dilated", "the atrium leaks")
SETTINGS = {"features": ["bias", "pos[-1..1]"], "epochs": 3, "tune_penalty": False}


def note(text, **more):
    spans = []
    for word in text.split():
        start = text.index(word, spans[-1][1] if spans else 0)
        spans.append((start, start + len(word)))
    mentions = [Mention("body", [span]) for span in spans if TAGS[text[slice(*span)]] == "NN"]
    return Document(text, tokens=spans, mentions=mentions, **more)


BARE = [note(text, id=f"{n}") for n, text in enumerate(TEXTS * 5)]
TAGGED = [
    document.copy(columns={"pos": [TAGS[word] for word in document.text.split()]}) for document in BARE
]  # what a good tagger says


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pipeline's folder, with a tagger that has learned the four texts."""
    pipeline = spacy.blank("en")
    pipeline.add_pipe("tagger")
    made = [Doc(pipeline.vocab, words=text.split()) for text in TEXTS]
    examples = [Example.from_dict(doc, {"tags": [TAGS[token.text] for token in doc]}) for doc in made]
    pipeline.initialize(lambda: examples)
    for _ in range(15):
        pipeline.update(examples)
    path = tmp_path_factory.mktemp("spacy") / "pipeline"
    pipeline.to_disk(path)
    return path


@pytest.fixture(scope="module", params=[Recognizer, Cascade])
def kind(request):
    return request.param


@pytest.fixture
def no_spacy(monkeypatch):
    """As where spaCy is not installed."""
    for name in [name for name in sys.modules if name.split(".")[0] == "spacy"]:
        monkeypatch.setitem(sys.modules, name, None)


def found(model, documents):
    return [document.mentions for document in model.predict(documents)]


def test_the_documents_tokens_are_tagged(folder):
    tagger = SpacyTagger(str(folder))
    assert [document.columns for document in tagger.stream(BARE)] == [document.columns for document in TAGGED]
    # spaCy would cut these otherwise
    glued = Document("the valve:leaks  the\natrium", tokens=[(0, 3), (4, 15), (17, 20), (21, 27)], sentences=[(0, 4)])
    [own] = tagger.stream([glued])
    assert (len(own.columns["pos"]), own.tokens.tolist()) == (4, glued.tokens.tolist())
    [empty, kept] = tagger.stream([Document(""), BARE[0].copy(columns={"pos": ["X", "Y", "Z"]})], keep=True)
    assert (empty.columns, kept.columns) == ({"pos": []}, {"pos": ["X", "Y", "Z"]})


def test_documents_without_the_column_are_as_those_with_it(kind, folder):
    expected = found(kind(**SETTINGS).fit(TAGGED), TAGGED)
    assert sum(map(len, expected)) == 20
    model = kind(**SETTINGS, pos=f"spacy:{folder}").fit(BARE)
    assert found(model, BARE) == found(model, TAGGED) == expected
    assert [document.columns for document in model.predict(BARE[:2])] == [{}, {}]


def test_a_model_keeps_the_name(kind, folder, tmp_path, command, monkeypatch):
    shutil.copytree(folder, tmp_path / "pipeline")
    monkeypatch.chdir(tmp_path)
    model = kind(**SETTINGS, pos="spacy:pipeline").fit(BARE)
    expected = found(model, BARE)
    model.save("model")
    kind(**SETTINGS, pos=SpacyTagger("pipeline")).fit(BARE).save("by_object")
    for path in ("model", "by_object"):
        assert read(tmp_path / path, kind.kind).part("tagger").values == {"spacy": "pipeline"}
        assert not [name for name in load_file(f"{path}/weights.safetensors") if name.startswith("tagger.")]
        assert found(load(path), BARE) == expected
        assert "fills the column 'pos' with the spaCy pipeline 'pipeline'" in command("inspect", path).stdout
    shutil.rmtree("pipeline")
    again = load("model")
    assert found(again, TAGGED) == expected
    with pytest.raises(
        UsageError, match=r"but it is neither installed \((installed: [^)]+|no pipeline is installed)\)"
    ):
        found(again, BARE)


def test_without_spacy(folder, tmp_path, no_spacy, monkeypatch):
    with pytest.raises(UsageError, match=r"needs spacy; install it with: pip install \"spanloom\[spacy\]\""):
        Recognizer(**SETTINGS, pos=f"spacy:{folder}").fit(BARE)
    monkeypatch.undo()
    Recognizer(**SETTINGS, pos=f"spacy:{folder}").fit(BARE).save(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "spacy", None)
    model = load(tmp_path / "model")
    assert sum(map(len, found(model, TAGGED))) == 20
    with pytest.raises(UsageError, match="needs spacy"):
        found(model, BARE)


def test_an_installed_pipeline(folder, tmp_path, monkeypatch):
    package, facts = tmp_path / "xx_parts", tmp_path / "xx_parts-1.0.dist-info"
    shutil.copytree(folder, package / "xx_parts-1.0")
    shutil.copy(folder / "meta.json", package / "meta.json")
    meta = json.loads((package / "meta.json").read_text()) | {"name": "parts", "lang": "xx", "version": "1.0"}
    (package / "meta.json").write_text(json.dumps(meta))
    code = "from spacy.util import load_model_from_init_py\ndef load(**options):\n"
    (package / "__init__.py").write_text(f"{code}    return load_model_from_init_py(__file__, **options)\n")
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: xx_parts\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[spacy_models]\nxx_parts = xx_parts\n")
    monkeypatch.syspath_prepend(tmp_path)
    [own] = SpacyTagger("xx_parts").stream(BARE[:1])
    assert own.columns == TAGGED[0].columns


@pytest.mark.parametrize(
    ("pos", "message"),
    [
        ("spacy:", "pipeline '', but it is neither installed"),
        ("spacy:json", "pipeline 'json', but it is neither installed"),  # a package, but no pipeline: not imported
        ("spacy:numpy", "pipeline 'numpy', but it is neither installed"),
        ("spacy:no/such", "pipeline 'no/such', but it is neither installed"),
        ("spacy:broken", "pipeline 'broken', but it cannot be loaded: "),
    ],
)
def test_pipelines_that_cannot_be_used(pos, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.cfg").write_text("[nlp]\nlang = 7\n[[")
    with pytest.raises(UsageError, match=message) as caught:
        Recognizer(**SETTINGS, pos=pos).fit(BARE)
    assert "\n" not in str(caught.value)


def test_a_pipeline_without_tags(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(DataError, match="gives the token 'the' of document '0' no part of speech"):
        Recognizer(**SETTINGS, pos=f"spacy:{tmp_path / 'blank'}").fit(BARE)


@pytest.mark.parametrize("damage", [{"spacy": 3}, {"spacy": None}, {"spacy": "x", "more": "y"}])
def test_damaged_names(kind, folder, tmp_path, damage):
    kind(**SETTINGS, pos=f"spacy:{folder}").fit(BARE).save(tmp_path / "model")
    part = read(tmp_path / "model", kind.kind)
    changed = ModelPart(part.values, part.arrays, {**part.parts, "tagger": ModelPart(damage)})
    write(tmp_path / "model", kind.kind, changed, force=True)
    with pytest.raises(ModelError, match="damaged"):
        load(tmp_path / "model")
