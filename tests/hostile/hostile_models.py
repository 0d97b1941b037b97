"""Loads models of which one number of one array is changed, and predicts with those that are not refused.

    python hostile_models.py CHANGES [KIND ...]

A change that makes a kernel read or write outside its arrays ends the process, in a build with sanitizers always; the
last line of the output then names the model, the array and the change. At the end the kernels that ran are printed.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from staged import as_tree

from spanloom import Linker, Recognizer, Segmenter, modelfile, native, read
from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document, Mention
from spanloom.errors import SpanloomError
from spanloom.models import load
from spanloom.recognize import compact
from spanloom.tag.pos_tagger import PosTagger
from spanloom.text import prepare
from spanloom_lab import Cascade
from spanloom_lab.lm.language_model import LanguageModel

SECONDS = 60  # of a change
TEXTS = ("No chest pain or dyspnea in the left arm. IV aspirin was given.", "无关节疼痛,双肺呼吸音清。")
GIVEN = Document(TEXTS[0], mentions=[Mention("problem", [(3, 13)])])
VOCABULARY = clinical() / "vocabulary.tsv"


def notes(count: int = 6, tagged: bool = False) -> list[Document]:
    """Annotated notes."""
    found = [prepare(document) for document in islice(read(clinical() / "train"), count)]
    if not tagged:
        return found
    return [one.copy(columns={"pos": ["X" if word.isalpha() else "Y" for word in one.words]}) for one in found]


def _vectors(folder: Path) -> str:
    words = sorted({word for note in notes() for word in note.words if word.isalpha()})[:50]
    (folder / "vectors.txt").write_text("".join(f"{word} {len(word)} {n % 7} 0.5\n" for n, word in enumerate(words)))
    return str(folder / "vectors.txt")


def kinds(folder: Path) -> dict[str, Callable[[], Any]]:
    """Small models that together have every kind of part, when they are called for."""
    few: dict[str, Any] = {"features": "small", "epochs": 1, "l2": 1.0, "attributes": "off"}
    rich: dict[str, Any] = {
        **few, "features": "biomedical", "clusters": 8, "vocabulary": str(VOCABULARY), "passes": "two",
        "attributes": "auto", "link": str(VOCABULARY), "vectors": _vectors(folder),
    }  # fmt: skip
    tagged, chinese = notes(25, tagged=True), list(islice(read(chinese_clinical() / "train.jsonl"), 6))

    def fit(model: Any, documents: list[Document], **more: Any) -> Any:
        return model.fit(documents, dev=documents, **more)

    made: dict[str, Callable[[], Any]] = {
        name: lambda name=name: fit(Recognizer(name, **few, headless="whole"), notes())
        for name in ("separators", "heads", "shared", "split", "semi_markov", "seven_tag")
    }
    made["all stages"] = lambda: fit(Recognizer("separators", **rich), tagged)
    made["compact"] = lambda: compact(fit(Recognizer("separators", **few), notes()), dev=notes(), loss=100.0)
    made["derivations"] = lambda: fit(Recognizer("shared", counting="derivations", **few), notes())
    made["cascade"] = lambda: fit(Cascade(**few), notes())
    made["tagger"] = lambda: fit(PosTagger(epochs=1), tagged)
    made["linker"] = lambda: fit(
        Linker(iterations=1, folds=2, language_model=LanguageModel.train(notes()), attributes="off"),
        notes(),
        vocabulary=VOCABULARY,
    )
    for method in ("dual", "exact", "joint_labels", "incremental"):
        made[method] = lambda method=method: fit(Segmenter(method, epochs=1, l2=1.0, attributes="off"), chinese)
    return made


def changes(array: np.ndarray[Any, Any], count: int, random: np.random.Generator) -> Iterator[np.ndarray[Any, Any]]:
    """Yield copies of an array with one number beyond what indices may be, or only another than it was."""
    most = np.iinfo(array.dtype)
    beyond = (most.max, most.min, -1 if most.min else most.max // 2, int(array.max()) + 1, 1 << 20, array.size)
    for value in beyond[:count]:
        changed = array.ravel().copy()
        changed[random.integers(changed.size)] = min(max(value, most.min), most.max)
        yield changed.reshape(array.shape)


def uses(model: Any) -> list[Callable[[], Any]]:
    """What a model is asked for."""
    if isinstance(model, LanguageModel):
        return [lambda: model.perplexity([prepare(Document(TEXTS[0]))])]
    found: list[Callable[[], Any]] = [lambda: model.predict([Document(text) for text in TEXTS])]
    if isinstance(model, Linker | Recognizer):
        found.append(lambda: model.explain(TEXTS[0]))
    if isinstance(model, Recognizer):
        found.append(lambda: model.predict(TEXTS[0], answers=True))
        found.append(lambda: model.predict(TEXTS[0], constraints={"forbid": ["problem: dyspnea"]}))
        found.append(lambda: model.marginals(GIVEN))
        found.append(lambda: list(model.alternatives(TEXTS[0])))
    return found


def use(folder: Path) -> bool:
    """Return whether a model is loaded and predicts."""
    try:
        model = load(folder)
    except (SpanloomError, MemoryError):
        return False
    done = 0
    for one in uses(model):
        with suppress(SpanloomError, MemoryError):
            one()
            done += 1
    return done > 0


def main() -> None:
    """Change them."""
    warnings.simplefilter("ignore")
    count, *chosen = sys.argv[1:]
    ran, call = set[str](), native.Kernel.__call__

    def noted(kernel: native.Kernel, *arguments: Any) -> int:
        ran.add(kernel.name)
        return call(kernel, *arguments)

    place = Path(tempfile.mkdtemp())
    used = refused = 0
    for name, train in kinds(place).items():
        if chosen and name not in chosen:
            continue
        folder = place / "model"
        train().save(folder, force=True)
        description, arrays = (
            as_tree(json.loads((folder / "model.json").read_text())),
            load_file(folder / "weights.safetensors"),
        )
        kind = description.pop("kind")
        for other in ("format", "sha256", "spanloom"):  # which are made right
            description.pop(other, None)
        native.Kernel.__call__ = noted  # type: ignore[method-assign]
        assert use(folder), name
        random = np.random.default_rng(0)
        for key, array in sorted(arrays.items()):
            if array.dtype.kind not in "iu" or not array.size:
                continue
            for number, changed in enumerate(changes(array, int(count), random)):
                print(name, key, number, flush=True)
                signal.alarm(SECONDS)
                part = modelfile.ModelPart.of(description, {**arrays, key: changed})
                modelfile.write(folder, kind, part, force=True)
                if use(folder):
                    used += 1
                else:
                    refused += 1
        signal.alarm(0)
        native.Kernel.__call__ = call  # type: ignore[method-assign]
    shutil.rmtree(place)
    print(f"{used} used, {refused} refused; kernels: {' '.join(sorted(ran))}")


if __name__ == "__main__":
    main()
