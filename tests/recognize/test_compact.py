"""Compact models: smaller, almost the same, usable wherever the model is, and refused where they are damaged."""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from safetensors.numpy import save as pack

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.errors import DataError, DataWarning, ModelError, UsageError
from spanloom.formats import read, to_record
from spanloom.models import load
from spanloom.recognize import Recognizer, compact, teach
from spanloom.tag.pos_tagger import PosTagger
from spanloom.text import prepare
from spanloom.vocabulary import Concept, Vocabulary
from spanloom_lab import Cascade


def notes() -> list[Document]:
    """The training notes, without attributes, which take time to learn."""
    given = (prepare(document) for document in read(clinical() / "train"))
    return [one.copy(mentions=[mention.replace(attributes={}) for mention in one.mentions]) for one in given]


def tagged(documents: list[Document]) -> list[Document]:
    return [d.copy(columns={"pos": ["X" if word.isalpha() else "Y" for word in d.words]}) for d in documents]


@cache
def trained(name: str) -> Any:
    few: dict[str, Any] = {"epochs": 2, "l2": 0.1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "cascade":
            return Cascade(features="small", **few).fit(tagged(notes()), dev=tagged(notes()[:20]))
        if name == "tagger":
            return Recognizer("shared", "small", rescore=False, **few).fit(tagged(notes()), dev=tagged(notes()[:20]))
        if name == "passes":
            return Recognizer("shared", "fast", passes="two", rescore=False, **few).fit(notes(), dev=notes()[:20])
        model = Recognizer("shared", "fast", names=1, **few).fit(notes(), dev=notes()[:20])
    assert model.second_ is not None
    return model


KINDS = ("stages", "tagger", "passes", "cascade")


@pytest.fixture(scope="module", params=KINDS)
def pair(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    model = trained(request.param)
    return model, compact(model, dev=notes()[:20], loss=1.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compact") / "model"
    compact(trained("stages"), threshold=0.05).save(path)
    return path


def said(model: Any, documents: list[Document]) -> list[Any]:
    return [to_record(document) for document in model.predict([d.copy(columns={}) for d in documents])]


def test_smaller_and_almost_the_same(pair: tuple[Any, Any], tmp_path: Path) -> None:
    model, small = pair
    report = small.report_.compact
    assert report.bytes_after < 0.5 * report.bytes_before
    assert report.f1_after >= report.f1_before - 0.01
    assert any("compact: weights below" in line for line in small.summary())
    model.save(tmp_path / "model")
    small.save(tmp_path / "small")
    sizes = [(tmp_path / name / "weights.safetensors").stat().st_size for name in ("model", "small")]
    assert sizes[1] < 0.5 * sizes[0]


def test_loaded_it_says_what_it_said_and_is_the_same_bytes(pair: tuple[Any, Any], tmp_path: Path) -> None:
    _, small = pair
    small.save(tmp_path / "small")
    again = load(tmp_path / "small")
    assert said(again, notes()[:10]) == said(small, notes()[:10])
    again.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "small" / name).read_bytes()


def test_the_model_itself_is_not_changed(pair: tuple[Any, Any]) -> None:
    model, _ = pair
    before = {name: array.tobytes() for name, array in model.to_part().flat().items()}
    found = said(model, notes()[:5])
    compact(model, threshold=0.5)
    assert {name: array.tobytes() for name, array in model.to_part().flat().items()} == before
    assert said(model, notes()[:5]) == found


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    model = trained("stages")
    for name, jobs in (("one", 1), ("two", 2)):
        compact(model.set_params(n_jobs=jobs), dev=notes()[:20], loss=1.0).save(tmp_path / name)
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_it_does_what_other_models_do(folder: Path) -> None:
    model = load(folder)
    assert isinstance(model, Recognizer)
    document = notes()[0]
    assert all(0 <= chance <= 1 for chance in model.marginals(document))
    assert all(0 <= chance <= 1 for chance in model.marginals(document, calibrated=False))
    shown = [explanation for explanation in model.explain(document) if str(explanation)]
    assert len(shown) == len(model.predict(document).mentions) > 0
    assert list(model.alternatives([document]))
    assert len(model.sweep([document], [-1.0, 1.0])) == 2
    assert model.describe()["training"]["compact"]["threshold"] == 0.05
    assert model.score(notes()[:10]) > 0.3


def test_it_teaches(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        student = teach(load(folder), notes()[:30], features="small", epochs=2, l2=0.1)
    assert student.predict(notes()[0]).tokens is not None


def test_no_readable_names_are_kept(folder: Path) -> None:
    assert load(folder).describe()["strongest"] == {}
    assert "low[-1]=the" in json.dumps(trained("stages").describe()["strongest"])
    assert "low[-1]=the" not in (folder / "model.json").read_text()


def test_a_threshold_with_dev_is_measured() -> None:
    model = trained("stages")
    report = compact(model, threshold=0.3, dev=notes()[:20]).report_.compact
    assert report.threshold == 0.3
    assert report.f1_after < report.f1_before == pytest.approx(model.score(notes()[:20]))


def test_no_loss_allowed_takes_no_larger_threshold_than_any() -> None:
    model = trained("stages")
    made = [compact(model, dev=notes()[:20], loss=loss).report_.compact for loss in (0.5, 5, 50)]
    assert [one.threshold for one in made] == sorted(one.threshold for one in made)
    assert made[0].bytes_after > made[2].bytes_after


def test_dense_columns_stay(tmp_path: Path) -> None:
    words = sorted({word.lower() for document in notes() for word in document.words})
    draw = np.random.default_rng(0)
    lines = [f"{word} {' '.join(f'{x:.3f}' for x in draw.normal(size=4))}" for word in words]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        settings: dict[str, Any] = {"vectors": tmp_path / "vectors.txt", "epochs": 2, "rescore": False}
        model = Recognizer("bilou", ["w[0]", "vector[0]"], **settings).fit(notes(), dev=notes()[:20])
    small = compact(model, threshold=1e5)
    small.save(tmp_path / "model")
    again: Any = load(tmp_path / "model")
    assert len(again.fitted.scorer.index) == again.fitted.scorer.features.width == 5
    assert said(again, notes()[:5]) == said(small, notes()[:5])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"loss": 0.3}, "no dev"),
        ({"loss": -1.0, "dev": []}, "loss is -1.0"),
        ({"loss": float("nan"), "dev": []}, "loss is nan"),
        ({"threshold": -0.1}, "threshold is -0.1"),
        ({"threshold": "x"}, "threshold is 'x'"),
        ({"threshold": 0.1, "loss": 1.0, "dev": [Document("no pain")]}, "give one of them"),
    ],
)
def test_wrong_options(given: dict[str, Any], told: str, folder: Path) -> None:
    model = trained("tagger")
    with pytest.raises(UsageError, match=told):
        compact(model, **given)


def test_what_cannot_be_compact(folder: Path) -> None:
    with pytest.raises(UsageError, match="compact already"):
        compact(load(folder))  # type: ignore[type-var]
    with pytest.raises(UsageError, match="found a vocabulary, which cannot be made compact"):
        compact(Vocabulary.build([Concept("1", "pain")]))
    with pytest.raises(UsageError, match="not trained"):
        compact(Recognizer())
    with pytest.raises(DataError, match="no documents"):
        compact(trained("tagger"), dev=[])


def changed(folder: Path, path: Path, change: Callable[[dict[str, np.ndarray]], object]) -> Path:
    shutil.copytree(folder, path)
    arrays = load_file(path / "weights.safetensors")
    change(arrays)
    data = pack(arrays)
    (path / "weights.safetensors").write_bytes(data)
    values = json.loads((path / "model.json").read_text())
    (path / "model.json").write_text(json.dumps({**values, "sha256": hashlib.sha256(data).hexdigest()}))
    return path


@pytest.mark.parametrize("where", ["structure", "second_stage"])
@pytest.mark.parametrize(
    "change",
    [
        lambda of, arrays: arrays.pop(of("compact.scales")),
        lambda of, arrays: arrays.update({of("compact.scales"): arrays[of("compact.scales")] * np.float32("nan")}),
        lambda of, arrays: arrays.update({of("compact.scales"): arrays[of("compact.scales")][:, :0]}),
        lambda of, arrays: arrays.update({of("compact.scales"): arrays[of("compact.scales")].astype(np.float16)}),
        lambda of, arrays: arrays.update({of("compact.columns"): arrays[of("compact.columns")] + np.uint8(200)}),
        lambda of, arrays: arrays.update({of("compact.counts"): arrays[of("compact.counts")][1:]}),
        lambda of, arrays: arrays.update({of("compact.values"): arrays[of("compact.values")][1:]}),
        lambda of, arrays: arrays.update({of("index.rows"): np.full_like(arrays[of("index.rows")], 255)[:-1]}),
        lambda of, arrays: arrays.update({of("index.group_sizes"): arrays[of("index.group_sizes")][:-1]}),
        lambda of, arrays: arrays.update({of("index.slots"): np.zeros(1, np.uint8)}),
        lambda of, arrays: arrays.update({of("index.slots"): arrays[of("index.slots")][:-1]}),
    ],
)
def test_damaged_files(where: str, change: Any, folder: Path, tmp_path: Path) -> None:
    path = changed(folder, tmp_path / "model", lambda arrays: change(lambda name: f"{where}.{name}", arrays))
    with pytest.raises(ModelError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_structures_of_others_stay(tmp_path: Path) -> None:
    """Types, overlaps and a penalty are those of the model."""
    model = trained("stages").with_penalty(0.7)
    small = compact(model, threshold=0.01)
    assert small.fitted.penalty == 0.7
    assert small.types_ == model.types_
    assert small.get_params() == model.get_params()
    text = Document("Severe chest pain and dyspnea.", mentions=[Mention("problem", [(0, 17)])])
    assert small.holds(text) == model.holds(text)


def test_development_data_without_mentions_tell_nothing() -> None:
    with pytest.raises(DataError, match="dev holds no mentions"):
        compact(trained("tagger"), dev=[Document("No chest pain.")])


def test_a_tagger_by_itself(tmp_path: Path) -> None:
    words = ["no", "chest", "pain", "today"]
    tokens = [(0, 2), (3, 8), (9, 13), (14, 19)]
    notes = [
        Document("no chest pain today", str(i), tokens, columns={"pos": [w[-1] for w in words]}) for i in range(40)
    ]
    tagger = PosTagger(epochs=2, min_count=1).fit(notes)
    small = compact(tagger, dev=notes)
    assert small.predict("no chest pain today").columns == tagger.predict("no chest pain today").columns
    assert (
        small.report_.compact.bytes_after < small.report_.compact.bytes_before and small.report_.compact.f1_after == 1
    )
    small.save(tmp_path / "small")
    other = load(tmp_path / "small")
    assert other.predict("no chest pain today").columns == tagger.predict("no chest pain today").columns
    assert any(line.startswith("compact: ") for line in other.summary())
