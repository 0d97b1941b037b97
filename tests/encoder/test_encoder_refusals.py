"""What no encoder can be made of, or trained on: one line each, before anything is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

import spanloom
from spanloom import Document, Recognizer
from spanloom.errors import ModelError, UsageError
from spanloom.scoring.encoder.folder import config_of, longest_of
from spanloom.scoring.encoder.subwords import SubwordTokenizer

QUICK: dict[str, Any] = {"encoder_epochs": 1, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 64}


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copied"))


@pytest.fixture(scope="module")
def model(folder: Path, notes: list[Document]) -> Recognizer:
    return Recognizer(encoder=folder, **QUICK).fit(notes, dev=notes[:10])


def changed(file: Path, **values: object) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


@pytest.mark.parametrize("named", ["evil.bin", "../folder/model.safetensors"])
def test_an_index_of_weights_names_only_safetensors_of_the_folder(
    copied: Path, notes: list[Document], named: str
) -> None:
    weights = load_file(copied / "model.safetensors")
    torch.save(weights, copied / "evil.bin")
    (copied / "model.safetensors").unlink()
    (copied / "model.safetensors.index.json").write_text(json.dumps({"weight_map": dict.fromkeys(weights, named)}))
    with pytest.raises(UsageError, match=r"expected files of the folder that end in \.safetensors"):
        Recognizer(encoder=copied, **QUICK).fit(notes)


@pytest.mark.parametrize(
    "change",
    [
        {"chunk_size_feed_forward": 7}, {"chunk_size_feed_forward": "seven"}, {"return_dict": False}, {"dtype": "foo"},
        {"id2label": 3}, {"output_hidden_states": True}, {"transformers_weights": "other.safetensors"},
    ],
)  # fmt: skip
def test_what_a_folder_says_for_other_programs_does_no_harm(
    copied: Path, notes: list[Document], change: dict[str, Any], model: Recognizer
) -> None:
    changed(copied / "config.json", **change)
    found = Recognizer(encoder=copied, **QUICK).fit(notes, dev=notes[:10])
    assert found.predict(notes) == model.predict(notes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pad_token_id": -1}, "pad_token_id is -1, expected one of the 93 sub-words"),
        ({"pad_token_id": 10**9}, "pad_token_id is 1000000000, expected one of the 93 sub-words"),
        ({"pad_token_id": "[PAD]"}, "pad_token_id"),
        ({"pad_token_id": True}, "pad_token_id"),
        ({"num_attention_heads": 0}, "2 layers with 0 heads of attention are impossible"),
        ({"num_hidden_layers": 10**9}, "1000000000 layers with 2 heads of attention are impossible"),
        ({"layer_norm_eps": "small"}, "layer_norm_eps"),
    ],
)
def test_a_folder_whose_configuration_builds_none(
    copied: Path, notes: list[Document], change: dict[str, Any], words: str
) -> None:
    changed(copied / "config.json", **change)
    with pytest.raises(UsageError, match=r"config\.json cannot be opened: .*; is it that of an encoder") as error:
        Recognizer(encoder=copied, **QUICK).fit(notes)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_adapters_of_another_library_are_none_of_ours(copied: Path, notes: list[Document]) -> None:
    (copied / "adapter_config.json").write_text("{}")
    with pytest.raises(UsageError, match="adapters of the library PEFT, whose weights lie elsewhere; merge them"):
        Recognizer(encoder=copied, **QUICK).fit(notes)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("model.safetensors", "no", r"model\.safetensors cannot be opened: .*header.*; copy the whole folder again"),
        ("tokenizer.json", "{}", r"the tokenizer cannot be opened: KeyError: 'added_tokens'; is its tokenizer\.json"),
        ("tokenizer_config.json", "[]", "the tokenizer cannot be opened: AttributeError: 'list' object"),
    ],
)
def test_what_libraries_say_comes_with_the_file_and_what_to_do(
    copied: Path, notes: list[Document], file: str, content: str, words: str
) -> None:
    (copied / file).write_text(content)
    with pytest.raises(UsageError, match=words) as error:
        Recognizer(encoder=copied, **QUICK).fit(notes)
    assert str(error.value).startswith(f"encoder {copied}: ")


def test_positions_behind_padding() -> None:
    for family, padding, longest in (("bert", 1, 64), ("roberta", 1, 62), ("roberta", 5, 58), ("mpnet", 0, 62)):
        config = config_of({"model_type": family, "pad_token_id": padding, "max_position_embeddings": 64})
        assert longest_of(config) == longest


def test_an_encoder_that_reads_too_little(copied: Path, notes: list[Document]) -> None:
    changed(copied / "tokenizer_config.json", model_max_length=3)
    with pytest.raises(UsageError, match="reads 3 sub-words at once, expected 16 or more"):
        Recognizer(encoder=copied, **QUICK).fit(notes)


def test_a_number_of_the_tokenizer_beyond_the_weights(copied: Path, notes: list[Document]) -> None:
    said = json.loads((copied / "tokenizer.json").read_text())
    said["model"]["vocab"]["chest"] = 5000
    (copied / "tokenizer.json").write_text(json.dumps(said))
    with pytest.raises(UsageError, match="its tokenizer knows 5,001 sub-words"):
        Recognizer(encoder=copied, **QUICK).fit(notes)


@pytest.mark.parametrize("passes", [0, -1])
def test_passes_are_from_one_on(folder: Path, notes: list[Document], passes: int) -> None:
    with pytest.raises(UsageError, match=r"encoder_epochs is .*, expected a whole number from 1, or None"):
        Recognizer(encoder=folder, encoder_epochs=passes).fit(notes)


def test_half_of_a_surrogate_pair_is_a_letter_that_is_not_known(model: Recognizer) -> None:
    assert model.predict("\ud800 pain").text == "\ud800 pain"


def test_a_save_leaves_the_checkpoints_of_other_seeds(folder: Path, notes: list[Document], tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    other = kept / "seed-1"
    other.mkdir(parents=True)
    (other / "checkpoint.json").write_text("{}")
    Recognizer(encoder=folder, checkpoint=kept, **QUICK).fit(notes, dev=notes[:10]).save(tmp_path / "model")
    assert [path.name for path in kept.iterdir()] == ["seed-1"]


@pytest.mark.parametrize(
    "change",
    [
        {"num_attention_heads": 0}, {"hidden_size": 0}, {"hidden_size": -16}, {"hidden_size": 10**12},
        {"vocab_size": 0}, {"num_hidden_layers": "7"}, {"hidden_act": 3}, {"layer_norm_eps": None},
        {"pad_token_id": 10**9}, {"pad_token_id": -5}, {"num_attention_heads": -2}, {"hidden_act": "foo"},
    ],
)  # fmt: skip
def test_configurations_of_no_encoder(model: Recognizer, tmp_path: Path, change: dict[str, Any]) -> None:
    edited(model, tmp_path, **change)
    with pytest.raises(ModelError):
        spanloom.load(tmp_path / "model")


def test_what_is_not_of_the_encoder_does_no_harm(model: Recognizer, tmp_path: Path, notes: list[Document]) -> None:
    edited(model, tmp_path, num_labels=10**9, id2label=3, return_dict=False, chunk_size_feed_forward=7, dtype="foo")
    assert spanloom.load(tmp_path / "model").predict(notes) == model.predict(notes)


def edited(model: Recognizer, folder: Path, **change: Any) -> None:
    """Save a model, and change the configuration of its encoder."""
    model.save(folder / "model")
    file = folder / "model" / "model.json"
    said = json.loads(file.read_text())
    said["stages"][-2]["parts"]["encoder"]["config"] |= change  # before the rules of overlap
    file.write_text(json.dumps(said))


def test_a_window_that_the_encoder_cannot_read(model: Recognizer, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    said = json.loads(file.read_text())
    said["stages"][-2]["parts"]["encoder"]["window"] = 100_000
    file.write_text(json.dumps(said))
    with pytest.raises(ModelError, match="can read 64"):
        spanloom.load(tmp_path / "model")


def test_an_encoder_that_computes_in_32_bits_alone(copied: Path, notes: list[Document]) -> None:
    """DeBERTa of the first edition fills what has 16 bits with a number that needs 32."""
    config = transformers.DebertaConfig(
        vocab_size=SubwordTokenizer((copied / "tokenizer.json").read_text()).size, hidden_size=16, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=32, max_position_embeddings=64,
    )  # fmt: skip
    transformers.DebertaModel(config).save_pretrained(copied)
    with pytest.raises(UsageError, match="precision is 'bfloat16', but a deberta computes in 32 bits alone"):
        Recognizer(encoder=copied, precision="bfloat16", **QUICK).fit(notes)
    model = Recognizer(encoder=copied, **QUICK).fit(notes, dev=notes[:5])
    assert not model.fitted.scorer.network.halved
