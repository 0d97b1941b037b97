"""ONNX Runtime gives what PyTorch gives: every pooling, windows that overlap, gaps, packs of one and of many."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spanloom
from spanloom import Document, Mention, Recognizer
from spanloom.document import Batch
from spanloom.errors import UsageError
from spanloom.parallel import Threads
from spanloom.recognize import to_onnx
from spanloom.scoring.encoder.scorer import EncoderScorer
from spanloom.scoring.onnx import OnnxScorer, exported
from spanloom.text import prepare
from spanloom_lab import Cascade

QUICK: dict[str, Any] = {"encoder_epochs": 2, "encoder_rate": 1e-3, "head_rate": 1e-2, "precision": "float32"}
NEAR = 1e-4
LONG = Document("She has " + " ".join(["no", "chest", "pain", "in", "months"] * 40) + ". No pain.")


@pytest.fixture(scope="module")
def model(folder: Path, notes: list[Document]) -> Recognizer:
    chosen = {**QUICK, "encoder_epochs": 8, "step_subwords": 64}
    return Recognizer(encoder=folder, **chosen).fit(notes, dev=notes[:10])


def batch_of(documents: list[Document]) -> Batch:
    return Batch.of([prepare(document) for document in documents])


def same(one: EncoderScorer, other: OnnxScorer, batch: Batch, *, near: float = NEAR) -> None:
    expected, found = one.score(batch), other.score(batch)
    assert found.roles.dtype == expected.roles.dtype
    assert found.roles.shape == expected.roles.shape
    assert np.abs(found.roles - expected.roles).max(initial=0.0) < near
    assert np.array_equal(found.constants, expected.constants)


@pytest.mark.parametrize("pooling", ["first", "last", "mean"])
@pytest.mark.parametrize("window", [16, 64])
@pytest.mark.parametrize("context", [False, True])
def test_scores_are_those_of_pytorch(
    pooling: str, window: int, context: bool, model: Recognizer, notes: list[Document]
) -> None:
    scorer = model.fitted.scorer.with_settings(pooling=pooling, window=window, context=context)
    graph = exported(scorer)
    for documents in (notes, notes[:1], [LONG], [*notes[:3], LONG, *notes[3:]], [Document("")]):
        same(scorer, graph, batch_of(documents))


@pytest.mark.parametrize("structure", ["bilou", "shared", "split", "seven_tag"])
def test_mentions_are_those_of_pytorch(structure: str, folder: Path, notes: list[Document], tmp_path: Path) -> None:
    gapped = [
        note.copy(mentions=[Mention("site", [(0, 2), (9, 13)])] if note.text.startswith("no chest") else [])
        for note in notes
    ]
    taught = [note.copy(mentions=note.mentions[:1]) for note in notes] if structure == "bilou" else gapped
    model = Recognizer(structure, encoder=folder, **QUICK).fit(taught, dev=taught[:10])
    to_onnx(model).save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    expected, found = model.predict([*notes, LONG]), again.predict([*notes, LONG])
    for one, other in zip(expected, found, strict=True):
        assert [mention.key for mention in other.mentions] == [mention.key for mention in one.mentions]
        scores = [[mention.score for mention in document.mentions] for document in (one, other)]
        assert np.allclose(*scores, atol=NEAR)


def test_an_exported_model_is_whole(model: Recognizer, notes: list[Document], tmp_path: Path) -> None:
    to_onnx(model).save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    assert again.report_ == model.report_
    assert again.get_params() == model.get_params() | {"encoder": str(model.encoder)}
    assert again.fitted.penalty == model.fitted.penalty
    assert again.fitted.scalings == model.fitted.scalings
    assert again.describe()["encoder"] | {"form": "onnx", "precision": "float32"} == again.describe()["encoder"]
    again.save(tmp_path / "twice")
    for file in ("model.json", "weights.safetensors"):
        assert (tmp_path / "model" / file).read_bytes() == (tmp_path / "twice" / file).read_bytes()
    [explanation] = again.explain("no chest pain .", [Mention("problem", [(9, 13)])])
    difference = sum(contribution.score for contribution in explanation.contributions)
    assert difference == pytest.approx(explanation.log_odds, abs=1e-3)
    assert pickle.loads(pickle.dumps(again)).predict(notes) == again.predict(notes)


def test_eight_bits_are_near(model: Recognizer, notes: list[Document], tmp_path: Path) -> None:
    small = to_onnx(model, "int8")
    batch = batch_of([*notes, LONG])
    same(
        model.fitted.scorer,
        small.fitted.scorer,
        batch,
        near=0.2 * float(np.ptp(model.fitted.scorer.score(batch).roles)),
    )
    small.save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    assert again.predict(notes) == small.predict(notes)
    assert again.describe()["encoder"]["precision"] == "int8"


def test_windows_can_be_shorter_than_in_training(model: Recognizer, notes: list[Document], tmp_path: Path) -> None:
    to_onnx(model, window=24).save(tmp_path / "model")
    short, batch = spanloom.load(tmp_path / "model").fitted.scorer, batch_of([*notes, LONG])
    reading = short.read(batch)
    assert {short.pack(reading, [w]).ids.shape[1] for w in range(len(reading.windows.first))} <= {*range(25)}
    same(model.fitted.scorer.with_settings(window=24), short, batch)
    for window in (15, 10_000, 0, True, "24"):
        with pytest.raises(UsageError, match="expected a whole number from 16 to 64, that of training"):
            to_onnx(model, window=window)  # type: ignore[arg-type]


def test_a_window_alone_is_read_without_padding(model: Recognizer, notes: list[Document]) -> None:
    scorer = exported(model.fitted.scorer)
    reading = scorer.read(batch_of([*notes[:5], LONG]))
    sizes = reading.subwords.ptr[reading.windows.end] - reading.subwords.ptr[reading.windows.first]
    for window, size in enumerate(sizes.tolist()):
        packed = scorer.pack(reading, [window])
        assert packed.ids.shape == (1, size + 2)
        assert packed.mask.all()


def test_scores_do_not_depend_on_what_is_read_beside(model: Recognizer, notes: list[Document]) -> None:
    scorer = exported(model.fitted.scorer)
    documents = [*notes[:7], LONG, *notes[7:12]]
    together = scorer.score(batch_of(documents)).roles
    alone = np.concatenate([scorer.score(batch_of([document])).roles for document in documents])
    assert np.abs(together - alone).max() < NEAR


def test_threads_do_not_change_what_is_found(model: Recognizer) -> None:
    scorer = exported(model.fitted.scorer)
    batch = batch_of([LONG] * 3)
    once = scorer.score(batch).roles
    assert np.array_equal(scorer.score(batch).roles, once)
    with Threads(2) as run:
        assert np.allclose(scorer.score(batch, run).roles, once, atol=NEAR)
    assert np.array_equal(scorer.score(batch).roles, once)


def test_warnings_are_those_of_pytorch(model: Recognizer) -> None:
    told = []
    for one in (model, to_onnx(model)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            one.predict("b" * 90 + " pain")
        told.append([str(warning.message) for warning in caught])
    assert told[0] == told[1]
    assert any("1 token of more than 31 sub-words" in line for line in told[0])


def test_what_cannot_be_exported(model: Recognizer, notes: list[Document]) -> None:
    with pytest.raises(UsageError, match="this recognizer has no encoder"):
        to_onnx(Recognizer(features=["w[0]"], epochs=1).fit(notes))
    with pytest.raises(UsageError, match="this recognizer is not trained"):
        to_onnx(Recognizer())
    with pytest.raises(UsageError, match="this cascade has no encoder"):
        to_onnx(Cascade(features=["w[0]"], epochs=1, passes="one").fit(notes))
    with pytest.raises(UsageError, match="is an ONNX graph already"):
        to_onnx(to_onnx(model))
    with pytest.raises(UsageError, match="precision is 'int4', expected float32 or int8"):
        to_onnx(model, "int4")


def test_an_untrained_model_says_so_beside_scikit_learn() -> None:
    """There its error is an `AttributeError`, too, which `getattr` with a default and `hasattr` swallow."""
    pytest.importorskip("sklearn.exceptions")
    with pytest.raises(UsageError, match="this recognizer is not trained"):
        to_onnx(Recognizer())


def test_prediction_needs_no_pytorch(model: Recognizer, tmp_path: Path) -> None:
    to_onnx(model).save(tmp_path / "model")
    code = (
        "import sys\nfor name in ('torch', 'transformers', 'onnx'):\n    sys.modules[name] = None\n"
        "import spanloom\n"
        f"model = spanloom.load({str(tmp_path / 'model')!r})\n"
        "found = model.predict('no chest pain .')\nmodel.explain('no chest pain .')\nmodel.describe()\n"
        "print([mention.type for mention in found.mentions])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([mention.type for mention in model.predict("no chest pain .").mentions])
    assert not done.stderr


def test_a_library_that_is_missing_is_told(model: Recognizer, tmp_path: Path) -> None:
    to_onnx(model).save(tmp_path / "model")
    for missing in ("onnxruntime", "tokenizers"):
        code = (
            f"import sys\nsys.modules[{missing!r}] = None\nimport spanloom\n"
            f"try:\n    spanloom.load({str(tmp_path / 'model')!r})\n"
            "except spanloom.SpanloomError as error:\n    print(error)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
        assert f'needs {missing}; install it with: pip install "spanloom[onnx]"' in done.stdout
        assert len(done.stdout.splitlines()) == 1
