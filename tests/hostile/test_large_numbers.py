"""Numbers too large to learn with, or to read from a model: one line, nothing saved, and no kernel follows them."""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from spanloom.document import Document, Mention
from spanloom.errors import DataWarning, ModelError, UsageError
from spanloom.hypergraph import ENGINES, Potentials, SubgraphEngine
from spanloom.link import Linker
from spanloom.models import load
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.structures import STRUCTURES, Tags
from spanloom.tag.pos_tagger import PosTagger
from spanloom_lab import Cascade

NOTES = [
    Document(
        "No chest pain",
        tokens=[(0, 2), (3, 8), (9, 13)],
        columns={"pos": ["DT", "NN", "NN"]},
        mentions=[Mention("x", [(3, 13)]), Mention("y", [(9, 13)])],
    )
] * 12
CHINESE = [Document("无关节痛", tokens=[(0, 1), (1, 4)], mentions=[Mention("x", [(1, 4)])])] * 12
SMALL = {"features": ["bias", "w[0]", "w[-1]", "w[1]", "w[-1]|w[0]"], "epochs": 3}


@pytest.mark.parametrize(
    ("model", "documents"),
    [
        (Recognizer(**SMALL, rate=1e12, l2=0), NOTES),
        (Recognizer("shared", **SMALL, rate=1e12, l2=0), NOTES),
        (Recognizer("bio", **SMALL, rate=1e12, optimizer="lbfgs", l2=0), NOTES),
        (Recognizer(**SMALL, rate=1e12, l2=[0, 1e-9], n_jobs=2), NOTES),
        (Cascade(**SMALL, rate=1e12, l2=0), NOTES),
        (PosTagger(**SMALL, min_count=1, rate=1e12, l2=0), NOTES),
        (Segmenter(**SMALL, rate=1e12, l2=0), CHINESE),
        (Segmenter("dual", **SMALL, rate=1e12, l2=0), CHINESE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_weights_too_large_are_found_at_the_pass_that_makes_them(model, documents):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(UsageError, match=r"^after pass 1 weights go from .* smaller rate \(it is 1e\+12\)"):
            model.fit(documents, dev=documents)


@pytest.mark.parametrize("value", [1e13, 1e20, 1e30, 1e300])
@pytest.mark.parametrize(
    ("model", "name"),
    [
        (Recognizer, "rate"), (Recognizer, "l2"), (Cascade, "rate"), (Cascade, "l2"), (PosTagger, "rate"),
        (PosTagger, "l2"), (Segmenter, "rate"), (Segmenter, "l2"), (Segmenter, "weight"), (Linker, "margin"),
        (Linker, "word_rate"),
    ],
)  # fmt: skip
def test_parameters_too_large_are_refused_at_once(model, name, value):
    with pytest.raises(UsageError, match=rf"^{name} is 1e\+\d+, expected at most 1e\+1[12]; take a smaller one$"):
        model(**{name: value}).check()


@pytest.mark.parametrize("rate", ["1e12", "1e20"])
def test_nothing_is_saved(command, corpus, tmp_path, rate):
    output = tmp_path / "model"
    result = command(
        "train",
        "recognizer",
        "--train",
        corpus / "train.jsonl",
        "--features",
        "small",
        "--rate",
        rate,
        "-q",
        "-o",
        output,
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "rate" in result.stderr
    assert not output.exists()


@pytest.mark.parametrize("value", [-np.inf, np.nan, -3e38, 3e38, np.inf])
def test_tags_are_tags_whatever_the_scores(value):
    """The choice of a tag was followed where none had been made, out of the array."""
    size, tokens = 5, 40
    scores = np.full((tokens, size), value, np.float32)
    for transitions in (np.full((size * size, 1), value, np.float32), np.zeros((size * size, 1), np.float32)):
        names = [*map(str, range(size))]
        engine = SubgraphEngine(Tags().template(names))
        edges = engine.viterbi(Potentials(scores[:, :, None], transitions), np.array([0, tokens])).edges
        tags = Tags().read_tags(edges, names)
        assert ((tags >= 0) & (tags < size)).all()


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("value", [-np.inf, np.nan, -3e38, 3e38, np.inf])
def test_engines_pick_hyperedges_that_there_are(name, counting, value):
    template = STRUCTURES[name].template(("x",))
    engine = ENGINES[counting](template)
    potentials = Potentials(
        np.full((6, len(template.roles), 1), value, np.float32),
        np.full((len(template.constants), 1), value, np.float32),
    )
    best = engine.viterbi(potentials, np.array([0, 6]))
    assert ((best.edges >= -1) & (best.edges < len(template.edges))).all()


@pytest.fixture(scope="module")
def taggers(tmp_path_factory):
    """A tagger, and a recognizer that holds it."""
    folder = tmp_path_factory.mktemp("models")
    tagger = PosTagger(["bias", "w[0]"], epochs=2).fit(NOTES)
    tagger.save(folder / "tagger")
    bare = [document.copy(columns={}) for document in NOTES]
    Recognizer(features=["bias", "pos[0]"], epochs=1, pos=tagger).fit(bare).save(folder / "with")
    return folder


@pytest.fixture
def copied(taggers, tmp_path):
    return Path(shutil.copytree(taggers, tmp_path / "models"))


def changed(path, name, value):
    """Another weight, with a checksum to match."""
    arrays = load_file(path / "weights.safetensors")
    arrays[name] = np.full_like(arrays[name], value)
    data = save(arrays)
    (path / "weights.safetensors").write_bytes(data)
    description = json.loads((path / "model.json").read_text())
    description["sha256"] = hashlib.sha256(data).hexdigest()
    (path / "model.json").write_text(json.dumps(description))
    return path


@pytest.mark.parametrize("value", [-3e38, 3e38, 2e12, -np.inf, np.nan])
@pytest.mark.parametrize(
    ("model", "name"),
    [("tagger", "structure.weights"), ("tagger", "structure.constants"), ("with", "tagger.structure.weights")],
)
def test_weights_too_large_are_not_loaded(copied, model, name, value):
    with pytest.raises(ModelError, match=f"{name}.* not finite or too large"):
        load(changed(copied / model, name, value))


def test_weights_as_large_as_they_may_be_are_used(copied):
    tagger = load(changed(copied / "tagger", "structure.weights", 1e12))
    assert set(tagger.predict("No chest pain").columns["pos"]) <= {"DT", "NN"}


def rewrite(path, change):
    description = json.loads((path / "model.json").read_text())
    change(description)
    (path / "model.json").write_text(json.dumps(description))


@pytest.mark.parametrize("features", [["bias", 7], [None], 7, [["bias"]], "bias"])
def test_templates_that_are_no_texts(copied, features):
    rewrite(copied / "tagger", lambda description: description["params"].update(features=features))
    with pytest.raises(ModelError) as caught:
        load(copied / "tagger")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("jobs", [1 << 31, 64, -1])
def test_a_model_does_not_decide_how_many_threads_there_are(copied, jobs):
    for name in ("tagger", "with"):
        rewrite(copied / name, lambda description: description["params"].update(n_jobs=jobs))
        assert load(copied / name).n_jobs == 1


@pytest.mark.parametrize("penalty", [1e13, -1e308])
def test_a_penalty_too_large(copied, penalty):
    rewrite(copied / "with", lambda description: description["stages"][-2].update(penalty=penalty))
    with pytest.raises(ModelError, match="penalty"):
        load(copied / "with")


def test_no_feature_is_left(recwarn):
    Recognizer(**SMALL, min_count=1000).fit(NOTES)
    [warning] = [one for one in recwarn if one.category is DataWarning]
    assert "no feature is left" in str(warning.message)
    assert "min_count (1,000)" in str(warning.message)
