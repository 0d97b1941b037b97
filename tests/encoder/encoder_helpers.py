"""A tiny encoder with random weights, in a real folder."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,()-'"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_encoder(folder: Path, *, width: int = 16, layers: int = 2, seed: int = 0) -> Path:
    """Write a BERT of a few thousand weights, whose sub-words are letters and some words."""
    pieces = [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS), "no", "chest", "pain", "##ing"]
    words = models.WordPiece(vocab={piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]")
    tokenizer = Tokenizer(words)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 64, "unk_token": "[UNK]"})
    )
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=width, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=2 * width, max_position_embeddings=64,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder
