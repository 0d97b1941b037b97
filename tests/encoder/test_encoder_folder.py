"""Folders that are no encoders, and model files that were tampered with: each refused in one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_helpers import write_encoder
from safetensors.torch import load_file, save_file

import spanloom
from spanloom import Document, Recognizer
from spanloom.errors import ModelError, UsageError
from spanloom.modelfile import ModelPart
from spanloom.scoring.encoder.scorer import EncoderScorer
from spanloom.scoring.encoder.subwords import SubwordTokenizer, _blank_before_words


def configured(**changed: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        said = json.loads((folder / "config.json").read_text()) | changed
        (folder / "config.json").write_text(json.dumps({key: value for key, value in said.items() if value != "gone"}))

    return change


def pickled(folder: Path) -> None:
    torch.save({}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def weights(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        save_file(change(load_file(folder / "model.safetensors")), folder / "model.safetensors", {"format": "pt"})

    return apply


def tokenizing(**changed: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        said = json.loads((folder / "tokenizer.json").read_text())
        said["model"] |= changed
        (folder / "tokenizer.json").write_text(json.dumps(said))

    return change


BAD = {
    "no configuration": (lambda folder: (folder / "config.json").unlink(), "config.json is missing"),
    "not JSON": (lambda folder: (folder / "config.json").write_text("{"), "config.json cannot be read"),
    "a list": (lambda folder: (folder / "config.json").write_text("[]"), "names no model_type"),
    "no family": (configured(model_type="gone"), "names no model_type"),
    "another family": (configured(model_type="gpt2"), "is that of a 'gpt2', expected one of albert, bert"),
    "code of its own": (configured(auto_map={"AutoModel": "evil.Model"}), "asks for code of its own"),
    "attention of its own": (configured(attn_implementation="kernels/evil"), "asks for an attention of its own"),
    "attention of its own, hidden": (configured(_attn_implementation={"": "kernels/evil"}), "an attention of its own"),
    "quantized": (configured(quantization_config={"quant_method": "evil"}), "is that of quantized weights"),
    "a decoder": (configured(is_decoder=True), "a model that writes text"),
    "a pickle": (pickled, "its weights are a pickle .pytorch_model.bin."),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors is missing"),
    "cut off": (
        lambda folder: (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-100]),
        "cannot be opened",
    ),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "cannot be opened|no fast tokenizer"),
    "a larger width": (configured(hidden_size=32), r"model\.safetensors has arrays in another shape than config\.json"),
    "fewer layers": (configured(num_hidden_layers=1), "the weights have 2 layers, but config.json has 1"),
    "weights that are no numbers": (
        weights(
            lambda arrays: {name: array * torch.nan if "query" in name else array for name, array in arrays.items()}
        ),
        "the weights of encoder.layer.0.attention.self.query.weight are not all numbers",
    ),
    "no unknown sub-word": (
        tokenizing(unk_token="[NONE]"),
        "the tokenizer reads no text|the tokenizer cannot be opened",
    ),
    "no vocabulary": (
        lambda folder: [(folder / name).unlink() for name in ("tokenizer.json", "tokenizer_config.json")],
        "the tokenizer cannot be opened: it knows no sub-words",
    ),
    "an array less": (
        weights(lambda arrays: {name: array for name, array in arrays.items() if "layer.1.output.dense" not in name}),
        "the weights lack 2 arrays of a bert",
    ),
    "fewer sub-words": (
        lambda folder: (
            shutil.copytree(write_encoder(folder.parent / "wide"), folder, dirs_exist_ok=True)
            and configured(vocab_size=50)(folder)
        ),
        "in another shape|cannot be opened|sub-words",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_folder_is_one_clear_line(case: str, folder: Path, tmp_path: Path, notes: list[Document]) -> None:
    change, words = BAD[case]
    bad = Path(shutil.copytree(folder, tmp_path / "bad"))
    change(bad)
    with pytest.raises(UsageError, match=words) as error:
        Recognizer(encoder=bad).fit(notes)
    assert "\n" not in str(error.value)
    assert str(bad) in str(error.value)


def test_no_folder(tmp_path: Path, notes: list[Document]) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        Recognizer(encoder=tmp_path / "absent").fit(notes)


@pytest.fixture(scope="module")
def part(folder: Path, notes: list[Document]) -> tuple[ModelPart, Recognizer]:
    model = Recognizer(encoder=folder, encoder_epochs=1).fit(notes, dev=notes[:5])
    return model.fitted.scorer.to_part(), model


def arrays(part: ModelPart, **changed: object) -> ModelPart:
    kept = {name: array for name, array in {**part.arrays, **changed}.items() if array is not None}
    return ModelPart(part.values, kept)


def values(part: ModelPart, **changed: object) -> ModelPart:
    return ModelPart({**part.values, **changed}, part.arrays)


TAMPERED: dict[str, tuple[Callable[[ModelPart], ModelPart], str]] = {
    "an array less": (lambda part: arrays(part, **{"head.weight": None}), "head.weight"),
    "an array more": (lambda part: arrays(part, more=np.zeros(3, np.float32)), "more"),
    "another shape": (lambda part: arrays(part, **{"head.bias": np.zeros(3, np.float32)}), "head.bias"),
    "no tokenizer": (lambda part: arrays(part, tokenizer=None), "tokenizer"),
    "a tokenizer that is none": (lambda part: arrays(part, tokenizer=np.zeros(3, np.uint8)), "tokenizer"),
    "code of its own": (
        lambda part: values(part, config={**part.values["config"], "auto_map": {"AutoModel": "evil.Model"}}),
        "code of its own",
    ),
    "attention of its own": (
        lambda part: values(part, config={**part.values["config"], "attn_implementation": "kernels/evil"}),
        "asks for an attention of its own",
    ),
    "quantized": (
        lambda part: values(part, config={**part.values["config"], "quantization_config": {"quant_method": "x"}}),
        "is that of quantized weights",
    ),
    "another family": (lambda part: values(part, config={**part.values["config"], "model_type": "gpt2"}), "gpt2"),
    "a billion layers": (
        lambda part: values(part, config={**part.values["config"], "num_hidden_layers": 10**9}),
        "more layers than there are arrays",
    ),
    "a width of a billion": (
        lambda part: values(part, config={**part.values["config"], "hidden_size": 2**30}),
        "arrays are not those of its configuration|damaged",
    ),
    "a pooling that is none": (lambda part: values(part, pooling="max"), "pooling"),
    "a window of nothing": (lambda part: values(part, window=0), "window"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_a_tampered_part_is_refused(case: str, part: tuple[ModelPart, Recognizer], tmp_path: Path) -> None:
    change, words = TAMPERED[case]
    good, model = part
    structured = model.to_part()
    inner = structured.parts["structure"]
    changed = ModelPart(
        structured.values, structured.arrays,
        {**structured.parts, "structure": ModelPart(inner.values, inner.arrays, {"encoder": change(good)})},
    )  # fmt: skip
    spanloom.modelfile.write(tmp_path / "model", "recognizer", changed)
    with pytest.raises(ModelError, match=words) as error:
        spanloom.load(tmp_path / "model")
    assert "\n" not in str(error.value)


def test_a_part_says_what_it_was(part: tuple[ModelPart, Recognizer], notes: list[Document]) -> None:
    good, model = part
    again = EncoderScorer.from_part(good, model.fitted.engine.template, len(model.types_))
    [ready] = model.ready([notes[0]])
    batch = spanloom.document.Batch.of([ready])
    assert np.array_equal(again.score(batch).roles, model.fitted.scorer.score(batch).roles)


def test_subwords_of_strange_words(folder: Path) -> None:
    tokenizer = SubwordTokenizer((folder / "tokenizer.json").read_text())
    found = tokenizer.subwords(["chest", "\u200b", "\ud7ff", "chest", "b" * 50], 8)
    assert found.ptr.tolist() == [0, 1, 2, 3, 4, 12]
    assert found.ids[0] == found.ids[3]
    assert found.unknown == 2
    assert found.shortened == 1
    assert tokenizer.subwords([], 8).ptr.tolist() == [0]
    assert tokenizer.around == ((2,), (3,))
    with pytest.raises(ModelError, match="tokenizer cannot be read"):
        SubwordTokenizer("{}")


def test_a_word_alone_is_read_as_one_after_a_blank() -> None:
    """As of RoBERTa's tokenizer, whose vocabulary has words with the blank before them."""
    parts = [{"type": "ByteLevel", "add_prefix_space": False}, {"type": "Digits"}, {"type": "ByteLevel"}]
    changed = [{**parts[0], "add_prefix_space": True}, *parts[1:]]
    described = {"pre_tokenizer": {"type": "Sequence", "pretokenizers": parts}, "decoder": parts[0]}
    expected = {**described, "pre_tokenizer": {"type": "Sequence", "pretokenizers": changed}}
    assert json.loads(_blank_before_words(json.dumps(described))) == expected
