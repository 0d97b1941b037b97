"""Saved models with one or two values changed and the checksum made right: refused, or used without harm."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from staged import as_tree

from campaign.frame import Record, generator
from campaign.mutate import VALUES
from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document
from spanloom.errors import SpanloomError
from spanloom.formats import read
from spanloom.link import Linker
from spanloom.modelfile import ModelPart, write
from spanloom.models import installed, load
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.tag.pos_tagger import PosTagger
from spanloom.text import prepare
from spanloom.vocabulary import Vocabulary
from spanloom_lab import Cascade
from spanloom_lab.lm.language_model import LanguageModel

_PATIENCE = 300  # seconds after which a case is a crash, by SIGALRM
FEW = 6  # documents; the models are small, since every case writes one
EXTREMES = (0, 1, -1, 2**31 - 1, -(2**31), 2**62, 1e38, -3e38, 1e300, np.nan, np.inf, -np.inf)
TEXTS = ("No chest pain or dyspnea in the left arm.", "无关节疼痛,双肺呼吸音清。")


def notes() -> list[Document]:
    """Annotated notes with a column."""
    found = [prepare(document) for document in islice(read(clinical() / "train"), FEW)]
    return [
        document.copy(columns={"pos": ["X" if word.isalpha() else "Y" for word in document.words]})
        for document in found
    ]


def trained() -> dict[str, Callable[[], Any]]:
    """A small model of each kind, when it is called for."""
    few: dict[str, Any] = {"features": "small", "epochs": 1, "l2": 1.0}
    tagged = notes()
    given = [document.copy(columns={}) for document in tagged]
    chinese = list(islice(read(chinese_clinical() / "train.jsonl"), FEW))

    def fit(model: Any, documents: list[Document], **more: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(documents, dev=documents, **more)

    plain = {**few, "attributes": "off"}  # which take longer to learn than all else
    structures = ("separators", "bio", "heads", "shared", "split", "semi_markov", "seven_tag")
    kinds: dict[str, Callable[[], Any]] = {
        f"recognizer {name}": partial(
            fit, Recognizer(name, **(few if name == "separators" else plain), headless="whole"), given
        )  # type: ignore
        for name in structures
    }
    kinds["recognizer with tagger"] = partial(fit, Recognizer(**plain), tagged)
    kinds["cascade"] = partial(fit, Cascade(**few), given)
    kinds["tagger"] = partial(fit, PosTagger(epochs=1), tagged)
    kinds["linker"] = partial(fit, Linker(iterations=1), given, vocabulary=clinical() / "vocabulary.tsv")
    for method in ("dual", "exact", "joint_labels"):
        kinds[f"segmenter {method}"] = partial(fit, Segmenter(method, epochs=1, l2=1.0), chinese)  # type: ignore
    kinds["language-model"] = partial(LanguageModel.train, given)
    return kinds


def with_encoders() -> dict[str, Callable[[], Any]]:
    """Small models with an encoder, with adapters, and as a graph of ONNX, when they are called for."""
    import torch

    torch.set_num_threads(1)  # before processes are copied
    place = Path(__file__).parents[2] / "encoder" / "encoder_helpers.py"
    described = spec_from_file_location("tiny_encoder", place)
    assert described is not None and described.loader is not None
    tiny = module_from_spec(described)
    described.loader.exec_module(tiny)
    folder = tiny.write_encoder(Path(tempfile.mkdtemp()) / "tiny")
    few: dict[str, Any] = {"encoder": folder, "encoder_epochs": 1, "precision": "float32", "attributes": "off"}
    tagged = [document.copy(columns={}) for document in notes()]
    chinese = list(islice(read(chinese_clinical() / "train.jsonl"), FEW))

    @cache
    def recognizer() -> Recognizer:
        return Recognizer("shared", **few).fit(tagged, dev=tagged)

    def graph() -> Any:
        from spanloom.recognize import to_onnx

        return to_onnx(recognizer())

    return {
        "recognizer with encoder": recognizer,
        "cascade with encoder": lambda: Cascade(**few).fit(tagged, dev=tagged),
        "segmenter with encoder": lambda: Segmenter(**few).fit(chinese, dev=chinese),
        "recognizer as ONNX": graph,
    }


def run(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Each case is one changed model of each kind, loaded and used in a process of its own."""
    return _run(trained(), cases, Record("models", seed), folder)


def run_encoders(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """As `run`, of models with encoders."""
    with warnings.catch_warnings(action="ignore"):
        return _run(with_encoders(), cases, Record("encoders", seed), folder)


def run_ready(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """As `run`, of the models that are installed as packages."""
    ready = {name: partial(load, one.folder) for name, one in installed().items()}
    return _run(ready, cases, Record("ready-models", seed), folder)


def _run(kinds: dict[str, Callable[[], Any]], cases: Iterable[int], record: Record, folder: Path) -> Record:
    numbers = list(cases)
    for name, train in kinds.items():
        place = folder / name.replace(" ", "-")
        train().save(place)
        description = as_tree(json.loads((place / "model.json").read_text()))
        arrays = load_file(place / "weights.safetensors")
        load(place)  # what is compiled, is compiled before the forks
        _use(load(place))
        for case in numbers:
            outcome, found = _forked(name, description, arrays, generator(f"models {name}", record.seed, case), place)
            if outcome in ("refused", "used"):
                record.add(name, outcome)
            else:
                record.fail(name, outcome, case, found)
    return record


def _forked(
    name: str, description: dict[str, Any], arrays: dict[str, Any], draw: random.Random, place: Path
) -> tuple[str, str]:
    """What came of one case: its outcome, and what was found."""
    said = place.with_suffix(".said")
    said.write_text("")
    child = os.fork()
    if not child:
        outcome = "foreign exception"
        signal.alarm(_PATIENCE)
        try:
            outcome = _case(json.loads(json.dumps(description)), dict(arrays), draw, place.with_suffix(".case"))
        except BaseException:
            outcome += "\n" + traceback.format_exc()
        said.write_text(outcome)
        sys.stdout.flush()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "crash", f"signal {os.WTERMSIG(status)}"
    outcome, _, trace = said.read_text().partition("\n")
    return outcome, trace.strip().rpartition("\n")[2][:200]


def _case(description: dict[str, Any], arrays: dict[str, Any], draw: random.Random, place: Path) -> str:
    for _ in range(draw.choice((1, 1, 2))):
        if draw.random() < 0.35:
            _change_value(description, draw)
        else:
            _change_array(arrays, draw)
    kind = description.pop("kind", "recognizer")
    for name in ("format", "sha256", "spanloom"):
        description.pop(name, None)  # made right
    warnings.simplefilter("ignore")
    try:
        part = ModelPart.of(description, arrays)
        write(place, kind if isinstance(kind, str) else "recognizer", part, force=True)
    except (SpanloomError, TypeError, ValueError, OverflowError, RecursionError):
        return "refused"  # a value that no file can hold
    try:
        model = load(place)
        bad = _use(model)
    except SpanloomError:
        return "refused"
    return f"foreign exception\n{bad}" if bad else "used"


def _use(model: Any) -> str:
    """Mark up two texts; what is wrong with the answer, if anything."""
    if isinstance(model, LanguageModel):
        return "" if model.perplexity([prepare(Document(TEXTS[0]))]) >= 0 else "a perplexity that is none"
    if isinstance(model, Vocabulary):
        return ""
    for document in model.predict([Document(text) for text in TEXTS]):
        for mention in document.mentions:
            if mention.score is not None and not 0 <= mention.score <= 1:
                return f"a score of {mention.score}"
    return ""


def _change_value(description: dict[str, Any], draw: random.Random) -> None:
    """Replace a value somewhere inside."""
    at: Any = description
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = draw.choice(keys)
        inner = at[key]
        if not isinstance(inner, dict | list) or not inner or draw.random() < 0.1:
            break
        at = inner
    if draw.random() < 0.15:
        del at[key]
    else:
        at[key] = draw.choice((*VALUES, *EXTREMES[:6]))


def _change_array(arrays: dict[str, Any], draw: random.Random) -> None:
    """Change numbers of an array, its length, its type, its shape, or take another in its place."""
    name = draw.choice(sorted(arrays))
    array = arrays[name].copy()
    kind = draw.random()
    if kind < 0.6 and array.size:
        flat = array.reshape(-1)
        with np.errstate(all="ignore"):
            for _ in range(draw.choice((1, 3, 50))):
                value = draw.choice((*EXTREMES, flat[draw.randrange(flat.size)].item()))
                try:
                    flat[draw.randrange(flat.size)] = value
                except (OverflowError, ValueError):
                    flat[draw.randrange(flat.size)] = np.array(draw.choice((0, 1, 127))).astype(flat.dtype)
    elif kind < 0.7:
        array = array[: draw.randrange(len(array) + 1)] if array.ndim else array
    elif kind < 0.8:
        with np.errstate(all="ignore"):
            array = array.astype(draw.choice((np.int32, np.int64, np.float32, np.float64, np.uint8)))
    elif kind < 0.9:
        array = array.reshape(-1)[None]
    else:
        array = arrays[draw.choice(sorted(arrays))]
    arrays[name] = np.ascontiguousarray(array)
