"""A document alone and in company: what is predicted for it is the same, to the byte.

A case draws a model, options, a way in (a list, a stream, the server, a table, the command line), documents that keep
each other company, and how many are worked on at once. Each document's record must be the one that it has alone.
"""

from __future__ import annotations

import io
import json
import random
import runpy
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import numpy as np

import spanloom
from campaign.frame import Record, generator
from spanloom import Document, Linker, Recognizer, Segmenter, read
from spanloom.data import chinese_clinical, clinical
from spanloom.formats import to_record
from spanloom.recognize import compact, to_onnx
from spanloom.structures import STRUCTURES
from spanloom.tag.pos_tagger import PosTagger
from spanloom.text import prepare
from spanloom_lab import Cascade
from spanloom_lab.lm.language_model import LanguageModel

FEATURES = ["bias", "low[-1..1]", "suffix(2..3)"]
QUICK: dict[str, Any] = {"features": FEATURES, "rate": 0.3, "l2": 0.1, "epochs": 2}
TUNED: dict[str, Any] = {"encoder_epochs": 2, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 256}
MOST = 9  # documents in company


class Kind(NamedTuple):
    """A kind of model.

    Args:
        make: trains it.
        chinese: whether it is for text without spaces.
        options: of `stream`, of which each case takes one.
        slow: whether it is left out of short campaigns.
    """

    make: Callable[[], Any]
    chinese: bool = False
    options: tuple[Mapping[str, Any], ...] = ({},)
    slow: bool = False


@cache
def notes() -> tuple[list[Document], list[Document]]:
    """Training and development data: notes of several sentences, which define short forms and repeat themselves."""
    found = [prepare(document) for document in read(clinical() / "train")]
    return found[:8], [prepare(document) for document in read(clinical() / "dev")][:4]


def tagged(documents: Iterable[Document]) -> list[Document]:
    """Documents with a column `pos` that depends on the word."""
    return [one.copy(columns={"pos": [f"T{len(word) % 4}" for word in one.words]}) for one in documents]


@cache
def chinese() -> tuple[list[Document], list[Document]]:
    """Training and development data of segmenters."""
    return tuple(list(read(chinese_clinical() / f"{part}.jsonl"))[:size] for part, size in (("train", 40), ("dev", 12)))


@cache
def encoder() -> Path:
    """The folder of a small encoder with random weights."""
    shared = runpy.run_path(str(Path(__file__).parents[2] / "encoder" / "conftest.py"))
    found: Path = shared["write_encoder"](Path(mkdtemp()) / "tiny", width=48)
    return found


@cache
def vectors() -> Path:
    """A file of word vectors."""
    words = sorted({word.lower() for note in notes()[0] for word in note.words})
    numbers = np.random.default_rng(0).normal(size=(len(words), 7)).round(3)
    path = Path(mkdtemp()) / "vectors.txt"
    lines = (" ".join([word, *map(str, row)]) for word, row in zip(words, numbers.tolist(), strict=True))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def recognizer(structure: Any = "separators", *, data: Callable[..., Any] = list, **changed: Any) -> Any:
    """A recognizer of a structure, trained on notes."""
    train, dev = notes()
    return Recognizer(structure, **{**QUICK, "attributes": "off", **changed}).fit(data(train), dev=data(dev))


def encoded(structure: str, **changed: Any) -> Any:
    """A recognizer with an encoder."""
    return recognizer(structure, encoder=encoder(), **{**TUNED, **changed})


def cascade(**changed: Any) -> Any:
    """A cascade."""
    train, dev = notes()
    return Cascade(**{**QUICK, "epochs": 1, **changed}).fit(train, dev=dev)


def linker(**changed: Any) -> Any:
    """A linker."""
    train, dev = notes()
    settings = {"features": "small", "iterations": 2, "folds": 2, **changed}
    return Linker(**settings).fit(train, dev=dev, vocabulary=clinical() / "vocabulary.tsv")


def segmenter(**changed: Any) -> Any:
    """A segmenter."""
    train, dev = chinese()
    return Segmenter(**{"features": ["bias", "w[-1..1]"], "epochs": 2, **changed}).fit(train, dev=dev)


def tagger() -> Any:
    """A tagger."""
    return PosTagger(epochs=1).fit(tagged(notes()[0]))


@cache
def graph() -> Any:
    """A recognizer whose encoder is an ONNX graph of eight bits."""
    folder = Path(mkdtemp())
    encoded("shared").save(folder / "model")
    return to_onnx(spanloom.load(folder / "model"), "int8")


def smaller(make: Callable[[], Any]) -> Any:
    """A compact model."""
    return compact(make(), threshold=0.01)


SCORED: tuple[Mapping[str, Any], ...] = ({}, {"threshold": 0.4}, {"answers": True}, {"others": True})
READ = (*SCORED, {"reading": "all"})
SAID = ({}, {"mentions": "given"})
LATIN: dict[str, Kind] = {
    **{
        f"{name}{', one stage' if not rescore else ''}": Kind(
            partial(recognizer, name, rescore=rescore, headless="whole"), options=READ, slow=slow
        )
        for name in STRUCTURES
        for rescore, slow in ((True, name not in ("split", "heads")), (False, name != "seven_tag"))
    },
    "derivations": Kind(partial(recognizer, "shared", counting="derivations"), options=READ),
    **{
        f"overlap {rule}": Kind(partial(recognizer, "shared", overlap=rule), options=SCORED, slow=rule != "nested")
        for rule in ("free", "nested", "none")
    },
    "concepts and attributes": Kind(
        partial(recognizer, "shared", link=str(clinical() / "vocabulary.tsv"), attributes="auto"), options=SCORED
    ),
    "two passes": Kind(partial(recognizer, passes="two"), options=SCORED),
    "two passes, gaps": Kind(partial(recognizer, "split", passes="two", rescore=False), options=SCORED, slow=True),
    "split tokens": Kind(partial(recognizer, split_tokens=True), options=SCORED),
    "names, vocabulary, clusters": Kind(
        partial(
            recognizer,
            "shared",
            features="clinical",
            names=True,
            clusters=10,
            vocabulary=str(clinical() / "vocabulary.tsv"),
        ),
        options=SCORED,
    ),
    "vectors": Kind(lambda: recognizer(vectors=str(vectors()), features=[*FEATURES, "vector[-1..1]"]), options=SCORED),
    "hashed": Kind(partial(recognizer, hash_bits=10), options=SCORED, slow=True),
    "its own tagger": Kind(partial(recognizer, data=tagged, features="small", pos="auto"), options=SCORED),
    "compact": Kind(partial(smaller, partial(recognizer, "shared")), options=SCORED),
    "cascade": Kind(cascade, options=SCORED[:3]),
    "cascade, two passes": Kind(partial(cascade, passes="two"), options=SCORED[:3], slow=True),
    "linker": Kind(linker, options=SAID),
    "linker, edit distance": Kind(partial(linker, method="edit"), options=SAID, slow=True),
    "linker, no evidence": Kind(partial(linker, evidence=False, types=["problem"]), options=SAID, slow=True),
    "linker, language model": Kind(lambda: linker(language_model=LanguageModel.train(notes()[0])), options=SAID),
    "normalizer": Kind(partial(linker, task="normalize"), options=SAID, slow=True),
    "tagger": Kind(tagger),
    "encoder": Kind(partial(encoded, "shared"), options=SCORED),
    "encoder, features": Kind(partial(encoded, "separators", with_features=True), options=SCORED, slow=True),
    "encoder, no context": Kind(partial(encoded, "bilou", context=False, pooling="mean"), options=SCORED, slow=True),
    "encoder's outputs": Kind(
        lambda: recognizer(vectors=str(encoder()), features=[*FEATURES, "vector[0]"], rescore=False), options=SCORED
    ),
    "encoder as a graph": Kind(graph, options=SCORED),
}
HAN: dict[str, Kind] = {
    **{
        f"segmenter, {method}": Kind(
            partial(segmenter, method=method),
            True,
            ({}, {"threshold": 0.3}, {"scores": False}, {"answers": True}),
            method not in ("dual", "incremental"),
        )
        for method in ("independent", "joint_labels", "dual", "exact", "incremental")
    },
    "segmenter, two passes": Kind(partial(segmenter, passes="two"), True, slow=True),
    "segmenter, encoder": Kind(lambda: segmenter(encoder=encoder(), **TUNED), True, slow=True),
    "segmenter, compact": Kind(partial(smaller, segmenter), True, slow=True),
}
KINDS = LATIN | HAN
ENCODERS = tuple(name for name in KINDS if "encoder" in name)


TEXTS = (
    "Chest pain (CP). CP was severe. RA dilated. Chest pain (CP). CP was severe. RA dilated. ",
    "Dystrophin (DMD) and heart attack (HA) in DMD, no HA. RA dilated.",
    "Left arm pain, and his left leg was weak. The arm improved.",
    "Right arm. No aortic stenosis or regurgitation, and no mitral stenosis or prolapse.",
    "SEVERE CHEST PAIN. NO ARM PAIN. LEFT ATRIUM IS DILATED.",
    "",
    " \n\n ",
    "arm",
    "😀 No chest pain, left\u0301 atrium 🇩🇪 is dilated; Schmerz im linken Arm. 无胸痛。",
    "No pain in the left, right or lower " + "and upper " * 150 + "lobe.",
    "Mild mitral, aortic and tricuspid regurgitation.\nMild mitral, aortic and tricuspid regurgitation.\n" * 4,
)


@cache
def documents(han: bool) -> list[Document]:
    """Return the documents that cases draw from: notes, single lines, and some that bring tokens and columns."""
    if han:
        found = list(read(chinese_clinical() / "test.jsonl"))[:20]
        found += [Document(one.text) for one in found[:10]]
        return [one.copy(id=f"d{n}") for n, one in enumerate([*found, *map(Document, TEXTS[3:9])])]
    found = [*notes()[0], *map(prepare, read(clinical() / "test"))]
    lines = [Document(line) for one in found[-4:] for line in one.text.split(". ")[:4]]
    brought = [one.copy(mentions=[]) for one in tagged(map(prepare, [*lines[:4], Document(TEXTS[0])]))]
    own = [Document(one.text, mentions=one.mentions) for one in found]
    return [one.copy(id=f"d{n}") for n, one in enumerate([*own, *lines, *brought, *map(Document, TEXTS)])]


@cache
def model(name: str) -> Any:
    """A trained model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KINDS[name].make()


@cache
def folder(name: str) -> Path:
    """The folder of a model that was saved."""
    path, own = Path(mkdtemp()) / "model", model(name)
    own.set_params(**({"reading": "enough"} if "readings" in own.capable else {})).save(path)
    return path


BATCHES = (
    "spanloom.recognize.recognizer:BATCH_TOKENS", "spanloom_lab.cascade:BATCH_TOKENS",
    "spanloom.link.linker:BATCH_TOKENS", "spanloom.segment.segmenter:BATCH_TOKENS",
    "spanloom.tag.pos_tagger:_BATCH_TOKENS",
)  # fmt: skip


@contextmanager
def at_once(tokens: int) -> Iterator[None]:
    """Work on so many tokens at once."""
    places = [(sys.modules[name.partition(":")[0]], name.partition(":")[2]) for name in BATCHES]
    before = [getattr(module, name) for module, name in places]
    try:
        for module, name in places:
            setattr(module, name, tokens)
        yield
    finally:
        for (module, name), value in zip(places, before, strict=True):
            setattr(module, name, value)


def line(document: Document) -> str:
    """A document's record, as it is written."""
    return json.dumps(to_record(document), ensure_ascii=False, separators=(",", ":"))


def predicted(name: str, option: Mapping[str, Any], given: Iterable[Document], jobs: int = 1) -> list[str]:
    """What a model predicts."""
    own, rest = model(name), dict(option)
    own.set_params(n_jobs=jobs, **({"reading": rest.pop("reading", "enough")} if "readings" in own.capable else {}))
    if rest.pop("others", False):
        return list(map(line, own.alternatives(given)))
    quiet = {"notice": lambda _: None} if "readings" in own.capable else {}
    return list(map(line, own.stream(given, **rest, **quiet)))


def by_list(name: str, option: Mapping[str, Any], given: list[Document], jobs: int, _: Path) -> list[str]:
    """In one list."""
    return predicted(name, option, given, jobs)


def by_stream(name: str, option: Mapping[str, Any], given: list[Document], jobs: int, _: Path) -> list[str]:
    """One after the other."""
    return predicted(name, option, iter(given), jobs)


def by_server(name: str, option: Mapping[str, Any], given: list[Document], *_: Any) -> list[str] | None:
    """In one request, as a process of the server answers it."""
    from spanloom.serve.answers import Job
    from spanloom.serve.limits import Limits
    from spanloom.serve.served import Served
    from spanloom.serve.worker import answer

    own = model(name)
    if not (option.keys() <= {"threshold"} and "mentions" in own.annotates) or name == "normalizer":
        return None
    own.set_params(n_jobs=1, **({"reading": "enough"} if "readings" in own.capable else {}))
    job = Job("predict", "m", option.get("threshold", 0.0))
    body = json.dumps(list(map(to_record, given))).encode()
    status, found = answer({"m": Served("m", own)}, job, body, Limits())
    assert status == 200, found
    return [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in json.loads(found)]


def by_command(name: str, option: Mapping[str, Any], given: list[Document], jobs: int, work: Path) -> list[str] | None:
    """From a file to a file."""
    from spanloom.cli import main

    if not option.keys() <= {"threshold", "answers", "reading", "mentions"} or name == "encoder as a graph":
        return None
    source, target = work / "given.jsonl", work / "found.jsonl"
    spanloom.write(given, source, force=True)
    switches = {"answers": ["--answers"], "mentions": ["--mentions", "given"], "reading": ["--reading", "all"]}
    more = [text for key in option for text in switches.get(key, ["--threshold", str(option.get("threshold"))])]
    words = ["predict", folder(name), source, "-o", target, "--force", "--jobs", jobs, "--quiet", *more]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            main(list(map(str, words)))
        except SystemExit as end:
            assert not end.code, end.code
    return target.read_text(encoding="utf-8").splitlines()


def by_table(name: str, option: Mapping[str, Any], given: list[Document], *_: Any) -> list[str] | None:
    """As rows of a table, which have text alone; mentions as a table has them."""
    import pyarrow as pa

    from spanloom.lake import Annotator

    if option or "mentions" not in model(name).annotates:
        return None
    annotate = Annotator(folder(name), id=None)
    rows = [pa.record_batch({"text": [one.text for one in given]})]
    return [json.dumps(row, ensure_ascii=False) for batch in annotate(rows) for row in batch["mentions"].to_pylist()]


WAYS: tuple[Callable[..., list[str] | None], ...] = (by_list, by_list, by_stream, by_server, by_command, by_table)


@cache
def alone(name: str, option: int, number: int, table: bool) -> str:
    """What is predicted for a document by itself."""
    one = documents(KINDS[name].chinese)[number]
    if table:
        found = by_table(name, {}, [one])
        assert found is not None
        return found[0]
    return predicted(name, KINDS[name].options[option], [one])[0]


def run(cases: Iterable[int], seed: int, work: Path, names: Iterable[str] = tuple(KINDS)) -> Record:
    """The section ``independence``."""
    record, chosen = Record("independence", seed), tuple(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases:
            draw = generator("independence", seed, case)
            name = chosen[case % len(chosen)]
            found = _difference(name, draw, work)
            if found is None:
                record.add(name, "same")
            else:
                record.fail(name, "different", case, found)
    return record


def _difference(name: str, draw: random.Random, work: Path) -> str | None:
    """What differs in one case, if anything does."""
    kind = KINDS[name]
    pool = documents(kind.chinese)
    option = draw.randrange(len(kind.options))
    numbers = [draw.randrange(len(pool)) for _ in range(draw.randint(2, MOST))]
    numbers += draw.sample(numbers, draw.choice((0, 0, 1, len(numbers))))  # some twice
    jobs, tokens = draw.choice((1, 1, 2, 3)), draw.choice((1, 60, 400, 20_000, 20_000))
    for way in draw.sample(WAYS, len(WAYS)):
        with at_once(tokens):
            found = way(name, kind.options[option], [pool[n] for n in numbers], jobs, work)
        if found is None:  # not a way for this model, or these options
            continue
        expected = [alone(name, option, n, way is by_table) for n in numbers]
        for n, own, there in zip(numbers, expected, found, strict=True):
            if own != there:
                at = next((i for i, pair in enumerate(zip(own, there, strict=False)) if pair[0] != pair[1]), -1)
                near = slice(max(0, at - 30), at + 30)
                said = f"{way.__name__} {dict(kind.options[option])} jobs {jobs} tokens {tokens} documents {numbers}"
                return f"{said}: document {n}: {own[near]!r} alone, {there[near]!r}"
        return None
    raise AssertionError(f"no way for {name}")
