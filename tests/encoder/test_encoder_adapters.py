"""Adapters: what they change in each family, what a model file holds, and where the encoder is looked for."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from encoder_helpers import write_encoder
from safetensors.torch import load_file, save_file
from test_encoder_memory import tiny

import spanloom
from spanloom import Document, Recognizer, Segmenter
from spanloom.errors import ModelError, UsageError
from spanloom.formats import write
from spanloom.modelfile import ModelPart
from spanloom.recognize import to_onnx
from spanloom.scoring.encoder.adapters import attach, attention_layers, join, merge, shapes
from spanloom.scoring.encoder.folder import FAMILIES
from spanloom.serve import open_models

SETTINGS: dict[str, Any] = {
    "adapters": 4, "encoder_epochs": 12, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 64,
    "precision": "float32",
}  # fmt: skip


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_has_attention_to_adapt(family: str) -> None:
    encoder = tiny(family).eval()
    ids = torch.arange(20).reshape(1, 20)

    def vectors() -> torch.Tensor:
        with torch.inference_mode():
            return encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.clone()

    names = [name for name, _ in attention_layers(encoder)]
    layers = 1 if family == "albert" else 3
    assert len(names) == layers * (1 if family in ("deberta", "modernbert") else 3)
    before, weights = vectors(), {name: array.clone() for name, array in encoder.state_dict().items()}
    attach(encoder, 2)
    assert torch.equal(vectors(), before)  # B is 0
    with torch.no_grad():
        for name, array in encoder.named_parameters():
            if array.requires_grad and name.endswith(".b"):
                array.normal_(generator=torch.Generator().manual_seed(1))
    changed = vectors()
    assert not torch.allclose(changed, before, atol=1e-3)
    found = merge(encoder)
    assert {name: tuple(array.shape) for name, array in found.items()} == shapes(encoder, 2)
    assert torch.equal(vectors(), changed)
    assert encoder.state_dict().keys() == weights.keys()
    encoder.load_state_dict(weights)
    assert torch.equal(vectors(), before)
    join(encoder, found)
    assert torch.equal(vectors(), changed)


def test_an_encoder_without_known_attention() -> None:
    with pytest.raises(UsageError, match="no attention that is known; train all of it"):
        attach(torch.nn.Linear(2, 2), 3)


@pytest.fixture(scope="module")
def own(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(folder, tmp_path_factory.mktemp("adapters") / "tiny"))


@pytest.fixture(scope="module")
def model(own: Path, notes: list[Document]) -> Recognizer:
    return Recognizer(encoder=own, **SETTINGS).fit(notes, dev=notes[:10])


def test_a_model_holds_what_was_trained_and_says_so(
    model: Recognizer, own: Path, notes: list[Document], tmp_path: Path
) -> None:
    assert model.score(notes) > 0.5
    said = model.describe()["encoder"]
    assert (said["adapters"], said["folder"]) == (4, "tiny")
    assert model.report_.encoder is not None
    assert model.report_.encoder.parameters < said["parameters"] / 2
    model.save(tmp_path / "model")
    arrays = load_file(tmp_path / "model" / "weights.safetensors")
    layers = sum(name.endswith(".a") for name in arrays)
    assert layers == 6
    assert len([name for name in arrays if name.startswith("structure.encoder.")]) == 2 * layers + 4
    again = spanloom.load(tmp_path / "model")
    assert again.predict(notes) == model.predict(notes)
    again.save(tmp_path / "again")
    assert (tmp_path / "again" / "weights.safetensors").read_bytes() == (
        tmp_path / "model" / "weights.safetensors"
    ).read_bytes()
    base, trained = load_file(own / "model.safetensors"), model.fitted.scorer.network.encoder.state_dict()
    changed = {name for name in base if not torch.equal(base[name], trained[name])}
    assert changed == {f"{name}.weight" for name, _ in attention_layers(model.fitted.scorer.network.encoder)}


def test_an_encoder_that_moved_is_found_and_one_that_changed_is_not(
    own: Path, notes: list[Document], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Any
) -> None:
    monkeypatch.delenv("SPANLOOM_ENCODERS", raising=False)
    place = Path(shutil.copytree(own, tmp_path / "here" / "tiny"))
    made = Recognizer(encoder=place, **{**SETTINGS, "encoder_epochs": 1}).fit(notes, dev=notes[:10])
    made.save(tmp_path / "model")
    expected = made.predict(notes)
    shutil.move(tmp_path / "here", tmp_path / "there")
    with pytest.raises(ModelError, match=r"need the weights of the encoder 'tiny' \(\w{12}\), .* SPANLOOM_ENC"):
        spanloom.load(tmp_path / "model")
    assert spanloom.load(tmp_path / "model", encoder=tmp_path / "there" / "tiny").predict(notes) == expected
    moved = ("--encoder", tmp_path / "there" / "tiny")
    assert command("inspect", tmp_path / "model", *moved).returncode == 0
    assert command("export", tmp_path / "model", "--onnx", "--output", tmp_path / "onnx", *moved).returncode == 0
    [served] = open_models([str(tmp_path / "model")], str(moved[1])).values()
    assert pickle.loads(pickle.dumps(served)).encoder == str(moved[1])  # another process opens it likewise
    other = write_encoder(tmp_path / "other", seed=5)
    with pytest.raises(ModelError, match=r"other holds others \(\w{12}\); copy its folder") as error:
        spanloom.load(tmp_path / "model", encoder=other)
    assert "\n" not in str(error.value)
    assert "damaged" not in str(error.value)
    monkeypatch.setenv("SPANLOOM_ENCODERS", os.pathsep.join(("absent", str(other), str(tmp_path / "there"))))
    assert spanloom.load(tmp_path / "model").predict(notes) == expected
    monkeypatch.delenv("SPANLOOM_ENCODERS")
    shutil.copytree(tmp_path / "there" / "tiny", tmp_path / "model" / "encoder")
    assert spanloom.load(tmp_path / "model").predict(notes) == expected
    weights = tmp_path / "model" / "encoder" / "model.safetensors"
    save_file({name: array + 1e-3 for name, array in load_file(weights).items()}, weights, {"format": "pt"})
    with pytest.raises(ModelError, match=r"encoder holds others"):
        spanloom.load(tmp_path / "model")


def test_an_encoder_that_cannot_be_opened_any_more(model: Recognizer, own: Path, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    broken = Path(shutil.copytree(own, tmp_path / "model" / "encoder"))
    said = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps({**said, "hidden_act": "foo"}))
    with pytest.raises(ModelError, match=r"model\.safetensors cannot be opened: .*foo.*; copy the whole folder again"):
        spanloom.load(tmp_path / "model")


def tampered(part: ModelPart, **changed: object) -> ModelPart:
    kept = {name: array for name, array in {**part.arrays, **changed}.items() if array is not None}
    return ModelPart(part.values, kept)


@pytest.mark.parametrize("change", ["missing", "another shape", "one more", "another rank"])
def test_adapters_that_do_not_fit_are_refused(change: str, model: Recognizer, own: Path, tmp_path: Path) -> None:
    whole = model.to_part()
    part = whole.parts["structure"].parts["encoder"]
    name = next(name for name in part.arrays if name.endswith(".a"))
    other = {
        "missing": lambda: tampered(part, **{name: None}),
        "another shape": lambda: tampered(part, **{name: np.zeros((1, 2), np.float32)}),
        "one more": lambda: tampered(part, **{"encoder.more.a": np.zeros((1, 2), np.float32)}),
        "another rank": lambda: ModelPart({**part.values, "adapters": 3}, part.arrays),
    }[change]()
    inner = whole.parts["structure"]
    parts = {**whole.parts, "structure": ModelPart(inner.values, inner.arrays, {"encoder": other})}
    spanloom.modelfile.write(tmp_path / "model", "recognizer", ModelPart(whole.values, whole.arrays, parts))
    with pytest.raises(ModelError, match="the adapters are not those of the encoder"):
        spanloom.load(tmp_path / "model", encoder=own)


def test_a_segmenter_with_adapters(own: Path, tmp_path: Path) -> None:
    words = [Document("no pain", tokens=[[0, 2], [3, 7]], mentions=[spanloom.Mention("problem", [(3, 7)])])] * 20
    made = Segmenter(encoder=own, **{**SETTINGS, "encoder_epochs": 1}).fit(words, dev=words[:5])
    made.save(tmp_path / "model")
    assert spanloom.load(tmp_path / "model").predict("no pain") == made.predict("no pain")
    assert "encoder" in json.loads((tmp_path / "model" / "model.json").read_text())["params"]


def test_checkpoints_hold_adapters_only(own: Path, notes: list[Document], tmp_path: Path) -> None:
    quick = {**SETTINGS, "encoder_epochs": 2, "checkpoint": tmp_path / "kept"}
    made = Recognizer(encoder=own, **quick).fit(notes, dev=notes[:10])
    names = {name for name in load_file(tmp_path / "kept" / "seed-0" / "checkpoint.safetensors") if name[:3] == "wei"}
    assert len(names) == 12 + 3
    again = Recognizer(encoder=own, **quick).fit(notes, dev=notes[:10])
    assert again.report_ == made.report_
    assert again.predict(notes) == made.predict(notes)


def test_a_model_with_adapters_can_be_exported(model: Recognizer, notes: list[Document], tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    to_onnx(model).save(tmp_path / "portable")
    shown = [[mention.spans for mention in found.mentions] for found in model.predict(notes)]
    portable = spanloom.load(tmp_path / "portable")  # holds the encoder, with the adapters in it
    assert [[mention.spans for mention in found.mentions] for found in portable.predict(notes)] == shown


def test_folders_that_cannot_be_looked_at_are_told_with_their_reason(
    own: Path, notes: list[Document], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(shutil.copytree(own, tmp_path / "tiny"))
    made = Recognizer(encoder=place, **{**SETTINGS, "encoder_epochs": 1}).fit(notes, dev=notes[:10])
    made.save(tmp_path / "model")
    expected = made.predict(notes)
    place.rename(tmp_path / "elsewhere")
    (tmp_path / "empty").mkdir()
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "model.safetensors.index.json").write_text("{}")
    named = ("absent", "y" * 5000, str(tmp_path / "model" / "model.json"), str(broken), str(tmp_path / "empty"))
    monkeypatch.setenv("SPANLOOM_ENCODERS", os.pathsep.join(named))
    with pytest.raises(ModelError, match="'absent', which SPANLOOM_ENCODERS names, cannot be looked through") as error:
        spanloom.load(tmp_path / "model", encoder=tmp_path / "empty")
    for words in ("file name too long", "not a directory", "broken cannot be read (", "empty holds none"):
        assert words in str(error.value)
    monkeypatch.setenv("SPANLOOM_ENCODERS", os.pathsep.join((*named, str(tmp_path / "elsewhere"))))
    assert spanloom.load(tmp_path / "model").predict(notes) == expected


def test_only_weights_that_are_loaded_tell_an_encoder_and_a_model_has_its_own_tokenizer(
    own: Path, notes: list[Document], tmp_path: Path
) -> None:
    place = Path(shutil.copytree(own, tmp_path / "tiny"))
    made = Recognizer(encoder=place, **{**SETTINGS, "encoder_epochs": 1}).fit(notes, dev=notes[:10])
    made.save(tmp_path / "model")
    near = place.rename(tmp_path / "near")
    (near / "other.safetensors").write_bytes(b"of something else")
    (near / "tokenizer.json").unlink()
    (near / "tokenizer_config.json").unlink()
    assert spanloom.load(tmp_path / "model", encoder=near).predict(notes) == made.predict(notes)


def test_verbs_that_predict_take_the_encoder(
    own: Path, notes: list[Document], tmp_path: Path, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPANLOOM_ENCODERS", raising=False)
    place = Path(shutil.copytree(own, tmp_path / "tiny"))
    Recognizer(encoder=place, **{**SETTINGS, "encoder_epochs": 1}).fit(notes, dev=notes[:10]).save(tmp_path / "model")
    place.rename(tmp_path / "elsewhere")
    write(notes[:3], tmp_path / "notes.jsonl")
    lines = (
        ("predict", tmp_path / "model", tmp_path / "notes.jsonl"),
        ("evaluate", tmp_path / "notes.jsonl", "--model", tmp_path / "model"),
        ("explain", tmp_path / "model", "--text", "no chest pain ."),
    )
    for line in lines:
        missing = command(*line)
        assert missing.returncode == 1
        assert "load(..., encoder=FOLDER), or --encoder FOLDER" in missing.stderr
        done = command(*line, "--encoder", tmp_path / "elsewhere")
        assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr
        wrong = command(*line, "--encoder", tmp_path / "absent")
        assert wrong.returncode == 2
        assert "is no folder" in wrong.stderr
    useless = command("evaluate", tmp_path / "notes.jsonl", tmp_path / "notes.jsonl", "--encoder", own)
    assert useless.returncode == 2
    assert "--encoder names the encoder of a model" in useless.stderr


@pytest.mark.parametrize(("named", "words"), [("absent", "is no folder"), ("y" * 5000, "cannot be looked at")])
def test_an_encoder_that_is_given_and_is_no_folder(model: Recognizer, tmp_path: Path, named: str, words: str) -> None:
    model.save(tmp_path / "model")
    with pytest.raises(UsageError, match=words):
        spanloom.load(tmp_path / "model", encoder=named)
