"""python-crfsuite as its users run it: feature strings made in Python, token by token, then its C library.

The functions give the features of the presets `small`, `genia` and `fast` under the names that Spanloom gives them, so
that `check_names` can hold the two to be the same.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pycrfsuite

from common import Clock, Seconds
from spanloom.document import Batch, Document
from spanloom.features import FeatureSet
from spanloom.features.columns import normal, shape
from spanloom.features.letter_case import feature_tokens

Strings = list[list[str]]  # of one sentence: the feature strings of each token
SentenceFeatures = Callable[[list[str], list[str]], Strings]  # words and parts of speech


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a user of CRFsuite starts from; without parts of speech where the text has none."""

    words: list[str]
    pos: list[str]


def sentences(documents: Sequence[Document]) -> list[Sentence]:
    """Words, in sentences in capitals those in lower case that features read, and parts of speech of each sentence."""
    found = []
    for document in documents:
        tokens, pos = feature_tokens(Batch.of([document])), document.columns.get("pos", [])
        words = [tokens.text[first:end] for first, end in zip(tokens.starts, tokens.ends, strict=True)]
        for first, end in [] if document.sentences is None else document.sentences.tolist():
            found.append(Sentence(words[first:end], pos[first:end]))
    return found


def small_features(words: list[str], pos: list[str]) -> Strings:
    """The 23 features a token of the usual tutorial: 9 of the word, 7 of each neighbour."""
    rows = []
    last = len(words) - 1
    for i, word in enumerate(words):
        row = [
            "bias",
            "low[0]=" + word.lower(),
            "w:-3[0]=" + word[-3:],
            "w:-2[0]=" + word[-2:],
            f"upper[0]={word.isupper()}",
            f"title[0]={word.istitle()}",
            f"digit[0]={word.isdigit()}",
            "pos[0]=" + pos[i],
            "pos:2[0]=" + pos[i][:2],
        ]
        row += _neighbour(words[i - 1], pos[i - 1], "-1") if i else _SMALL_BEFORE
        row += _neighbour(words[i + 1], pos[i + 1], "1") if i < last else _SMALL_AFTER
        rows.append(row)
    return rows


def _neighbour(word: str, tag: str, at: str) -> list[str]:
    return [
        f"low[{at}]={word.lower()}",
        f"w:-3[{at}]={word[-3:]}",
        f"upper[{at}]={word.isupper()}",
        f"title[{at}]={word.istitle()}",
        f"digit[{at}]={word.isdigit()}",
        f"pos[{at}]={tag}",
        f"pos:2[{at}]={tag[:2]}",
    ]


_COLUMNS = ("low", "w:-3", "upper", "title", "digit", "pos", "pos:2")
_SMALL_BEFORE = [f"{name}[-1]=<s-1>" for name in _COLUMNS]
_SMALL_AFTER = [f"{name}[1]=<s+1>" for name in _COLUMNS]
_REACH = 5


class GeniaFeatures:
    """The preset `genia`: words, tags, n-grams, a bag of words, clusters, shape, prefixes and suffixes.

    Args:
        clusters: word -> bits.
    """

    def __init__(self, clusters: Mapping[str, str]) -> None:
        self.clusters = clusters

    def __call__(self, words: list[str], pos: list[str]) -> Strings:
        """The features of one sentence."""
        size = len(words)
        before = [f"<s-{i}>" for i in range(_REACH, 0, -1)]
        after = [f"<s+{i}>" for i in range(1, _REACH + 1)]
        w, p = [*before, *words, *after], [*before, *pos, *after]
        c = [*before, *(self.clusters.get(word, "") for word in words), *after]
        rows = []
        for i in range(size):
            j = i + _REACH
            row = ["bias"]
            for name, column in (("w", w), ("pos", p)) if pos else (("w", w),):
                row += [f"{name}[{k}]={column[j + k]}" for k in range(-2, 3)]
                row += [pattern + "|".join(column[j + first : j + end]) for pattern, first, end in _NGRAMS[name]]
            bag = words[max(0, i - _REACH) : i] + words[i + 1 : i + 1 + _REACH]
            row += ["bag(w,-5,5)=" + other for other in dict.fromkeys(bag)]
            row += [f"cluster[{k}]={c[j + k]}" for k in (-1, 0, 1) if c[j + k]]
            word = words[i]
            row.append("shape[0]=" + shape(word))
            longest = min(6, len(word))
            row += [f"prefix{n}[0]={word[:n]}" for n in range(1, longest + 1)]
            row += [f"suffix{n}[0]={word[-n:]}" for n in range(1, longest + 1)]
            rows.append(row)
        return rows


_NGRAMS = {
    name: [
        ("|".join(f"{name}[{first + k}]" for k in range(size)) + "=", first, first + size)
        for size in (2, 3, 4)
        for first in range(1 - size, 1)
    ]
    for name in ("w", "pos")
}


def fast_features(words: list[str], pos: list[str]) -> Strings:
    """The preset `fast` without clusters: words, normal forms, prefixes, suffixes, shapes; no parts of speech."""
    size = len(words)
    w = ["<s-2>", "<s-1>", *words, "<s+1>", "<s+2>"]
    low = ["<s-2>", "<s-1>", *map(str.lower, words), "<s+1>", "<s+2>"]
    ends = ["<s-2>", "<s-1>", *(word[-3:] for word in words), "<s+1>", "<s+2>"]
    shapes = ["<s-2>", "<s-1>", *map(shape, words), "<s+1>", "<s+2>"]
    rows = []
    for i in range(size):
        j, word = i + 2, words[i]
        row = ["bias", "norm[0]=" + normal(word)]
        row += [f"w[{k}]={w[j + k]}" for k in (-1, 0, 1)]
        row += [f"low[{k}]={low[j + k]}" for k in (-1, 0, 1)]
        row += [f"w:-3[{k}]={ends[j + k]}" for k in (-2, -1, 1, 2)]
        longest = min(4, len(word))
        row += [f"prefix{n}[0]={word[:n]}" for n in range(1, longest + 1)]
        row += [f"suffix{n}[0]={word[-n:]}" for n in range(1, longest + 1)]
        before, here, after = shapes[j - 1 : j + 2]
        row.append(f"shape[-1]|shape[0]={before}|{here}")
        row.append(f"shape[0]|shape[1]={here}|{after}")
        row.append(f"shape[-1]|shape[0]|shape[1]={before}|{here}|{after}")
        rows.append(row)
    return rows


def check_names(features: SentenceFeatures, ours: FeatureSet, documents: Sequence[Document]) -> int:
    """Whether a function gives each token the features that Spanloom gives it; returns how many were compared."""
    compared = 0
    for document in documents:
        rows = [row for s in sentences([document]) for row in features(s.words, s.pos)]
        for token, row in enumerate(rows):
            if sorted(row) != sorted(ours.names(document, token)):
                raise SystemExit(f"features differ at token {token} of {document.id}")
            compared += len(row)
    return compared


@dataclass(frozen=True, slots=True)
class Trained:
    """A model of CRFsuite and what its log says.

    Args:
        path: the model file; in a folder that ``keep`` holds.
        objective: -log-likelihood + c2 ||w||^2 at the end.
        iterations: of L-BFGS.
        optimizing: seconds of L-BFGS alone, by CRFsuite's own clock.
        training: of the call to train: indexing the features, L-BFGS, writing the model.
        history: objective after each iteration.
    """

    path: str
    objective: float
    iterations: int
    optimizing: float
    training: Seconds
    history: tuple[float, ...]
    keep: Any


def itemsets(rows: Sequence[Strings]) -> list[Any]:
    """Feature strings in CRFsuite's own form, made once, so that they can be used again."""
    return [pycrfsuite.ItemSequence(row) for row in rows]


def train(items: Sequence[Any], tags: Sequence[list[str]], options: Mapping[str, Any]) -> tuple[Trained, Seconds]:
    """Train a chain by L-BFGS; returns it, and the seconds of handing the data over."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=True)
    trainer.set_params(dict(options))
    with Clock() as handing:
        for item, tag in zip(items, tags, strict=True):
            trainer.append(item, tag)
    folder = tempfile.TemporaryDirectory()
    path = str(Path(folder.name) / "model.crfsuite")
    with redirect_stdout(StringIO()), Clock() as training:
        trainer.train(path)
    log = "".join(trainer.logparser.log)
    history = tuple(row["loss"] for row in trainer.logparser.iterations)
    found = re.search(r"Total seconds required for training: ([\d.]+)", log)
    if found is None or not history:
        raise SystemExit(f"CRFsuite's log is not as expected:\n{log[-2000:]}")
    done = Trained(path, history[-1], len(history), float(found[1]), training.seconds, history, folder)
    return done, handing.seconds
