"""`spanloom warm`: compile all kernels beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from spanloom.cli.messages import Messages
from spanloom.cli.pace import duration
from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document
from spanloom.features import kernels_keys
from spanloom.formats import read
from spanloom.hypergraph import ENGINES
from spanloom.link import Linker
from spanloom.lm.language_model import LanguageModel
from spanloom.models import explain, load
from spanloom.recognize import Cascade, Recognizer
from spanloom.segment import METHODS, Segmenter
from spanloom.structures import STRUCTURES
from spanloom.tag.pos_tagger import PosTagger
from spanloom.text import prepare

_FEW = 6  # documents: kernels are compiled for kinds of arrays, whatever their size


def run(quiet: bool) -> None:
    """Train and use a small model of each kind, so that every kernel is in the cache."""
    say = Messages(quiet)
    began = monotonic()
    steps = list(_steps())
    for number, (name, step) in enumerate(steps, 1):
        say(f"{number}/{len(steps)} {name}")
        step()
    path = kernels_keys.evaluate.stats.cache_path
    say(f"all kernels are compiled, in {duration(monotonic() - began)}; the cache is {path}")


def _steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield each step with its name."""
    notes = [prepare(document) for document in islice(read(clinical() / "train"), _FEW)]
    for structure, counting in product(STRUCTURES, ENGINES):
        yield f"{structure}, {counting}", partial(_recognizer, notes, structure, counting)
    yield "lbfgs", partial(_recognizer, notes, "separators", "subgraphs", optimizer="lbfgs", iterations=2)
    yield "clusters", partial(_recognizer, notes, "separators", "subgraphs", clusters=8)
    yield "cascade", partial(_used, Cascade(features="small", epochs=1, l2=1), notes)
    yield "tagger", partial(_tagger, notes)
    yield "linker", partial(_linker, notes)
    chinese = list(islice(read(chinese_clinical() / "train.jsonl"), _FEW))
    for method in METHODS:
        yield f"segmenter, {method}", partial(_used, Segmenter(method, epochs=1, l2=1), chinese)


def _recognizer(notes: list[Document], structure: Any, counting: Any, **params: Any) -> None:
    params = {"features": "small", "epochs": 1, "l2": 1, "headless": "whole", **params}
    model = Recognizer(structure, counting=counting, **params)
    _used(model, notes)
    model.marginals(notes[:1])


def _tagger(notes: list[Document]) -> None:
    tagged = [
        document.copy(columns={"pos": ["X" if word.isalpha() else "Y" for word in document.words]})
        for document in notes
    ]
    PosTagger(epochs=1).fit(tagged, dev=tagged).predict(notes)


def _linker(notes: list[Document]) -> None:
    with TemporaryDirectory() as folder:
        LanguageModel.train(notes).save(Path(folder, "lm"))
        linker = Linker(iterations=1, language_model=str(Path(folder, "lm")))
        _used(linker, notes, vocabulary=clinical() / "vocabulary.tsv")


def _used(model: Any, documents: list[Document], **more: Any) -> None:
    """Train a model, save it, load it, and have it mark up and explain."""
    model.fit(documents, dev=documents, **more)
    with TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        again = load(Path(folder, "model"))
    model.predict(documents[:2])
    explain(again, documents[0])
