"""Segmenters with an encoder: every method, the loss beside an enumeration, files, and what is told."""

from __future__ import annotations

import json
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel

import spanloom
from spanloom import Document, Mention, Segmenter
from spanloom.data import chinese_clinical
from spanloom.errors import DataWarning, UsageError
from spanloom.formats import write
from spanloom.learn import EdgeTarget
from spanloom.learn.joint_loss import Task, joint_loss
from spanloom.model.structured import StructuredModel
from spanloom.parallel import SERIAL
from spanloom.recognize import to_onnx
from spanloom.scoring.encoder.network import Network
from spanloom.scoring.encoder.packing import Packed
from spanloom.scoring.onnx import OnnxScorer
from spanloom.scoring.section import SideBySide, sections_of
from spanloom.segment.chains import taggings, write_labels
from spanloom.segment.gold import gold_labels

QUICK: dict[str, Any] = {
    "encoder_epochs": 2, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 128, "precision": "float32",
}  # fmt: skip
MISSING = "肝"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


@pytest.fixture(scope="module")
def corpus() -> tuple[list[Document], list[Document]]:
    train, dev = (list(spanloom.read(chinese_clinical() / f"{part}.jsonl")) for part in ("train", "dev"))
    return train, dev


@pytest.fixture(scope="module")
def characters(tmp_path_factory: pytest.TempPathFactory, corpus: tuple[list[Document], list[Document]]) -> Path:
    """A BERT of random weights whose sub-words are the characters of the bundled corpus, but for one."""
    every = sorted({character for document in corpus[0] for character in document.text if not character.isspace()})
    pieces = [*SPECIAL, *(character for character in every if character != MISSING)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    folder = tmp_path_factory.mktemp("characters")
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 128, "unk_token": "[UNK]"})
    )
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=128,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(characters: Path, corpus: tuple[list[Document], list[Document]]) -> Segmenter:
    train, dev = corpus
    settings = {**QUICK, "encoder_epochs": 12, "encoder_rate": 3e-3}
    return Segmenter(encoder=characters, single_word=["medication"], **settings).fit(train[:60], dev=dev[:20])


def test_it_learns_words_and_mentions(model: Segmenter, corpus: tuple[list[Document], list[Document]]) -> None:
    assert model.report_.dev_words_f1 > 0.6
    assert model.report_.dev_f1 > 0.2
    assert set(model.report_.chains) == {"words", "mentions"}
    seen = model.predict(corpus[0][:20])
    assert any(document.mentions for document in seen)
    for document in seen:
        starts = {start for start, _ in document.tokens.tolist()}
        for mention in document.mentions:
            assert 0 <= mention.score <= 1
            assert mention.start in starts
            assert mention.type != "medication" or not starts & set(range(mention.start + 1, mention.end))


@pytest.mark.parametrize("method", ["independent", "dual", "exact"])
def test_methods_share_an_encoder(
    method: str, model: Segmenter, corpus: tuple[list[Document], list[Document]], tmp_path: Path
) -> None:
    model.save(tmp_path / "model")
    other = spanloom.load(tmp_path / "model").set_params(method=method)
    assert other.predict(corpus[1][:5])
    words, mentions = other.marginals(corpus[1][0], calibrated=False)
    assert all(0 <= value <= 1 for value in (*words, *mentions))


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_segmenter_without_pytorch(
    precision: str, model: Segmenter, corpus: tuple[list[Document], list[Document]], tmp_path: Path
) -> None:
    to_onnx(model, precision).save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    chains = again.fitted.parts[0]
    assert isinstance(chains.scorer, OnnxScorer)
    assert all(chain.scorer.whole is chains.scorer for chain in chains.models.values())
    expected, found = model.predict(corpus[1][:10]), again.predict(corpus[1][:10])
    if precision == "float32":
        for one, other in zip(expected, found, strict=True):
            assert other.tokens.tolist() == one.tokens.tolist()
            assert [mention.key for mention in other.mentions] == [mention.key for mention in one.mentions]
    marginals = [each.marginals(corpus[1][0], calibrated=False)[0] for each in (model, again)]
    assert np.allclose(*marginals, atol=1e-4 if precision == "float32" else 0.2)


def test_pairs_of_tags(characters: Path, corpus: tuple[list[Document], list[Document]], tmp_path: Path) -> None:
    train, dev = corpus
    model = Segmenter("joint_labels", encoder=characters, **QUICK).fit(train[:20], dev=dev[:5])
    model.save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    assert again.predict(dev[:5]) == model.predict(dev[:5])
    assert set(again.report_.chains) == {"pairs"}


def test_chains_that_see_each_other(
    characters: Path, corpus: tuple[list[Document], list[Document]], tmp_path: Path
) -> None:
    train, dev = corpus
    model = Segmenter("incremental", encoder=characters, **QUICK).fit(train[:20], dev=dev[:5])
    alone, words, mentions = model.model_.parts
    assert (alone.scorer.needs, words.scorer.needs, mentions.scorer.needs) == ((), ("mention_tag",), ("word_tag",))
    model.save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    assert again.predict(dev[:5]) == model.predict(dev[:5])
    assert again.set_params(method="exact").predict(dev[:5])
    [explanation, *_] = model.explain(dev[0], dev[0].mentions[:1])
    names = {part.name for contribution in explanation.contributions for part in contribution.features}
    assert any(name.startswith("word_tag[") for name in names)
    assert "encoder" in names


def test_the_same_seed_gives_the_same_bytes_and_files_say_the_same(
    characters: Path, corpus: tuple[list[Document], list[Document]], tmp_path: Path
) -> None:
    train, dev = corpus
    found = []
    for name in ("one", "two"):
        model = Segmenter(encoder=characters, **QUICK).fit(train[:20], dev=dev[:5])
        model.save(tmp_path / name)
        found.append(model)
    for file in ("model.json", "weights.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    again = spanloom.load(tmp_path / "one")
    assert again.predict(dev) == found[0].predict(dev)
    assert again.report_ == found[0].report_
    assert again.describe()["encoder"]["family"] == "bert"
    assert again.marginals(dev[0]) == found[0].marginals(dev[0])


def test_a_mention_is_explained(model: Segmenter, corpus: tuple[list[Document], list[Document]]) -> None:
    document = next(d for d in model.predict(corpus[0][:20]) if d.mentions)
    asked = document.mentions[0]
    [explanation] = model.explain(document.text, [asked])
    names = {part.name for contribution in explanation.contributions for part in contribution.features}
    assert "encoder" in names
    difference = sum(contribution.score for contribution in explanation.contributions)
    assert difference == pytest.approx(explanation.log_odds, abs=1e-3)
    for contribution in explanation.contributions:
        if contribution.features:
            each = contribution.times * sum(part.score for part in contribution.features)
            assert each == pytest.approx(contribution.score, abs=1e-3)


def test_characters_that_the_vocabulary_lacks_are_counted(
    characters: Path, corpus: tuple[list[Document], list[Document]]
) -> None:
    train = [document for document in corpus[0] if MISSING in document.text][:8]
    missing = sum(document.text.count(MISSING) for document in train)
    model = Segmenter(encoder=characters, **{**QUICK, "encoder_epochs": 1}).fit(train, dev=corpus[1][:5])
    told = model.report_.encoder
    assert told is not None
    assert (told.unknown, told.shortened) == (missing, 0)
    assert told.subwords == model.report_.characters
    assert f"{missing} characters that its vocabulary lacks" in "\n".join(model.summary())
    strange = model.predict("\u0001 \u2003患者 \U0001f600 ok\u200b。")
    assert "".join(strange.words) == "".join(strange.text.split())
    assert model.predict("").words == []


def test_another_script_is_told(folder: Path, corpus: tuple[list[Document], list[Document]]) -> None:
    with pytest.warns(DataWarning, match="vocabulary lacks; is it for this language and script"):
        Segmenter(encoder=folder, **{**QUICK, "encoder_epochs": 1}).fit(corpus[0][:5], dev=corpus[1][:3])


def test_what_has_no_use_is_refused(characters: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one pass over documents"):
        Segmenter(encoder=characters, passes="two").check()
    with pytest.raises(UsageError, match="dictionaries beside an encoder"):
        Segmenter(encoder=characters, dictionaries={"drug": ["甲"]}).check()
    with pytest.raises(UsageError, match="is no folder"):
        Segmenter(encoder=tmp_path / "absent").fit([Document("痛", tokens=[[0, 1]], mentions=[Mention("x", [(0, 1)])])])


def test_the_loss_is_that_of_all_words_and_all_mentions() -> None:
    """Two chains over three characters, beside a sum over every sequence of tags of each."""
    document = Document("无疼痛", tokens=[[0, 1], [1, 3]], mentions=[Mention("x", [(1, 3)])])
    gold = gold_labels([spanloom.text.prepare(document)], ["x"])
    tagged, offsets = taggings(["x"], (), pairs=False), gold.batch.offsets
    templates = [tagging.structure.template(tagging.types) for tagging in tagged.values()]
    outputs = SideBySide.of(templates)
    tasks = []
    for tagging, section in zip(tagged.values(), sections_of(templates), strict=True):
        chain: Any = StructuredModel.build(tagging.structure, "subgraphs", tagging.types, None)
        target = EdgeTarget(chain.engine, offsets, write_labels(tagging, gold.labels, offsets))
        tasks.append(Task(chain.engine, target, section))
    network = _Given(len(outputs.roles), len(outputs.constants))
    nothing: Any = torch.zeros(0)
    packed = Packed(nothing, nothing, nothing, nothing, 3, np.arange(3))
    found = joint_loss(tasks, offsets, SERIAL)(network, packed, np.array([0]))
    found.backward()
    expected = torch.zeros(())
    for tagging, labels, task in zip(tagged.values(), gold.labels, tasks, strict=True):
        names = tagging.structure.tags(tagging.types)
        scores = network.roles[:, task.section.roles]
        number = {name: i for i, name in enumerate(task.engine.template.constants)}
        constants = network.constants[task.section.constants, 0]

        def total(tags: tuple[int, ...], names: Any = names, scores: Any = scores, number: Any = number,
                  constants: Any = constants) -> torch.Tensor:  # fmt: skip
            parts = [scores[at, tag] for at, tag in enumerate(tags)]
            return torch.stack(
                [*parts, *(constants[number[f"{names[a]} {names[b]}"]] for a, b in pairwise(tags))]
            ).sum()

        every = [
            total(tags)
            for tags in product(range(len(names)), repeat=3)
            if all(tagging.structure.follows(a, b) for a, b in pairwise(["O", *(names[tag] for tag in tags), "O"]))
        ]
        expected = expected + torch.logsumexp(torch.stack(every), 0) - total(tuple(labels.tolist()))
    assert found.item() == pytest.approx(expected.item(), abs=1e-4)
    grads = torch.autograd.grad(expected, [network.roles, network.constants])
    assert torch.allclose(network.roles.grad, grads[0], atol=1e-4)
    assert torch.allclose(network.constants.grad, grads[1], atol=1e-4)


class _Given(Network):
    """A network that reads nothing, and gives the scores that it holds."""

    def __init__(self, roles: int, constants: int) -> None:
        torch.nn.Module.__init__(self)
        random = torch.Generator().manual_seed(1)
        self.roles = torch.nn.Parameter(torch.randn(3, roles, generator=random))
        self.constants = torch.nn.Parameter(torch.randn(constants, 1, generator=random))

    def forward(self, packed: Packed) -> torch.Tensor:
        return self.roles


def test_on_the_command_line(
    characters: Path, corpus: tuple[list[Document], list[Document]], tmp_path: Path, command: Any
) -> None:
    write(corpus[0][:15], tmp_path / "train.jsonl")
    trained = command(
        "train", "segmenter", "--encoder", characters, "--train", tmp_path / "train.jsonl", "--dev",
        tmp_path / "train.jsonl", "--output", tmp_path / "model", "--encoder-epochs", "1", "--step-subwords", "128",
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    assert "encoder: bert" in trained.stderr
    assert "the best of 1 passes is pass 1" in trained.stderr
    said = json.loads(command("inspect", tmp_path / "model", "--json").stdout)
    assert said["encoder"]["pooling"] == "first"
    assert command("predict", tmp_path / "model", tmp_path / "train.jsonl").returncode == 0
    absent = command(
        "train", "segmenter", "--encoder", tmp_path, "--train", tmp_path / "train.jsonl", "--output", tmp_path / "x"
    )
    assert absent.returncode == 2
    assert "config.json is missing" in absent.stderr
