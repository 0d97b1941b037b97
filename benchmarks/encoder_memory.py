"""Memory of prediction with an encoder over many sentences: it is that of the model and of one batch.

    python benchmarks/encoder_memory.py --data DATA [--encoder FOLDER]

A process of its own loads a model and finds mentions in so many sentences: GENIA's training abstracts, over and over,
that come one by one and of which nothing is kept. Its largest resident memory is looked at on the way and at the end.
The tiny encoder has random weights, one layer of width 16, so that 100,000 sentences take a minute; of a real one,
whose folder is given, fewer are read. PyTorch and ONNX Runtime keep what they have prepared for lengths of windows, so
each has a row.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import Clock, Result, corpus, options, peak_memory, say
from spanloom import Document, load
from spanloom.recognize import Recognizer, to_onnx

TINY = "a tiny one of random weights"
COUNTS = {TINY: (10_000, 100_000), "the given one": (3_000, 12_000)}
MOST = 1.1  # peak memory of the larger number, by that of the smaller
TRAINED = 30  # documents; what is learned does not matter


def tiny(documents: list[Document], folder: Path, seed: int) -> Path:
    """Write an encoder of random weights, whose sub-words are words, and return its folder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = sorted({word for document in documents for word in document.text.split()})
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    torch.manual_seed(seed)
    BertModel(config).save_pretrained(folder)
    return folder


def documents_of(chosen: argparse.Namespace, sentences: int) -> Iterator[Document]:
    """Yield documents over and over, until there were so many sentences."""
    seen = 0
    for document in itertools.cycle(corpus(chosen.data, "genia_documents", "train")):
        if seen >= sentences:
            return
        seen += len(document.sentences)
        yield document


def predict(chosen: argparse.Namespace) -> None:
    """Find mentions in this process, and print as JSON what it took after each number of sentences."""
    model, seen, peaks = load(chosen.model), 0, []
    few, many = chosen.sentences
    with Clock() as clock:
        for document in model.stream(documents_of(chosen, many)):
            seen += len(document.sentences)
            if not peaks and seen >= few:
                peaks.append(peak_memory())
    print(json.dumps({"peaks_gb": [*peaks, peak_memory()], "seconds": clock.seconds.cpu}))


def measure(model: Path, sentences: tuple[int, int], chosen: argparse.Namespace) -> list[float]:
    """Find mentions in a process of its own; return the peaks in MB."""
    given = ["--data", chosen.data, "--model", model, "--sentences", *sentences]
    done = subprocess.run([sys.executable, __file__, *map(str, given)], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    say(f"{model.name}, {found['seconds']:.0f} s of the processor")
    return [1024 * peak for peak in found["peaks_gb"]]


def report(chosen: argparse.Namespace) -> None:
    """Measure all, and write the record."""
    result = Result("Peak memory of prediction with an encoder", chosen.seed)
    documents = corpus(chosen.data, "genia_documents", "train", TRAINED)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        encoders = {TINY: tiny(documents, place / "encoder", chosen.seed)}
        if chosen.encoder:
            encoders["the given one"] = chosen.encoder
        for name, folder in encoders.items():
            model = Recognizer(encoder=folder, encoder_epochs=1, random_state=chosen.seed).fit(documents)
            for library, one in (("PyTorch", model), ("ONNX Runtime", to_onnx(model))):
                path = place / f"{library}, {name}"
                one.save(path)
                few, many = COUNTS[name]
                peaks = measure(path, COUNTS[name], chosen)
                rows.append([name, library, few, peaks[0], many, peaks[1]])
                what = f"{name}, {library}: peak memory of {many:,} sentences, by that of {few:,}"
                result.at_most(what, peaks[1] / peaks[0], MOST)
    result.table(
        "Largest resident memory",
        ("encoder", "library", "sentences", "MB (2^20 bytes)", "sentences", "MB (2^20 bytes)"),
        rows,
    )
    result.save(chosen.out)


def main() -> None:
    """Measure, or be measured."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--encoder", type=Path, help="the folder of a real encoder [none]")
        parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
        parser.add_argument("--sentences", type=int, nargs=2, help=argparse.SUPPRESS)

    chosen = options("encoder_memory", __doc__, add)
    if chosen.model:
        predict(chosen)
    else:
        report(chosen)


if __name__ == "__main__":
    main()
