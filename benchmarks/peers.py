"""From raw text to mentions beside other libraries, tokens and sentences included, on the same text.

    pip install ".[bench]" spacy jieba "edsnlp[ml]"
    python benchmarks/peers.py --data DATA

One core: Spanloom with the presets `fast` and `genia`; python-crfsuite with the same features, made in Python, on
Spanloom's tokens, as it has none of its own; spaCy's convolutional network (`ner` with its own `tok2vec`, one pass
over the same sentences: how well it is trained hardly changes its speed) through `nlp.pipe`; EDS-NLP's rules, which
look for the names of the training mentions. Two processes, wall clock: `spanloom predict LAKE/`, from Parquet to
Parquet, and EDS-NLP, which needs PyTorch for it, from the difference of two amounts of text, so that their start does
not count. Chinese, one core: Spanloom's
segmenter, which also finds names, beside jieba, and vaporetto where its model is given with --vaporetto (the Python
package holds none, and its trainer is in Rust). The sides take turns, the order alternates, times are medians. What is
not installed is left out, and told. Nothing here says how good what was found is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pycrfsuite

import chains
import peer
from common import Result, Seconds, corpus, median, one_core, options, save_clusters, say, timed
from lake import job
from segmentation import UNER, sentences
from spanloom.document import Document
from spanloom.document.align import from_tags
from spanloom.features import FeatureSet, available_columns
from spanloom.features.clusters import read_paths
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.structures import STRUCTURES
from spanloom.text import prepare

CHECKED = 50  # texts whose features are compared with those of the other side, name by name
EPOCHS = 5  # of Spanloom
ITERATIONS = 50  # of CRFsuite: its speed of tagging hardly depends on them
STEP = 16  # sentences of a step of spaCy's training
TWICE = 2  # training mentions that a name needs, to be among EDS-NLP's
ABSTRACTS, TURNS = 200, 3  # for two processes
FACTOR = 20  # so many times the text is the larger amount for two processes
FRAGMENT = 100  # texts of a file

Side = Callable[[list[str]], int]
"""From texts to how many mentions, or words, were found."""


class Sides:
    """The systems that are compared, by name, and lines for those that are left out."""

    def __init__(self) -> None:
        self.found: dict[str, Side] = {}
        self.missing: list[str] = []

    def add(self, package: str, name: str, make: Callable[[], Side]) -> None:
        """Add a system, if its package is installed."""
        if find_spec(package) is None:
            self.missing.append(f"{name}: left out, as {package} is not installed.")
            say(self.missing[-1])
            return
        say(f"preparing {name}")
        self.found[name if package == "spanloom" else f"{name} ({_version(package)})"] = make()


def _version(package: str) -> str:
    return version({"pycrfsuite": "python-crfsuite"}.get(package, package))


def turns(sides: Mapping[str, Side], texts: list[str], repeats: int) -> dict[str, tuple[Seconds, int]]:
    """Medians of all sides, and what they found."""
    times: dict[str, list[Seconds]] = {name: [] for name in sides}
    counts: dict[str, int] = {}
    for side in sides.values():
        side(texts[:20])  # loaded before the clock runs
    for repeat in range(repeats):
        for name in list(sides) if repeat % 2 == 0 else list(sides)[::-1]:
            seconds, counts[name] = timed(lambda name=name: sides[name](texts))
            times[name].append(seconds)
            say(f"{name}: {seconds.wall:.2f} s")
    return {name: (median(times[name]), counts[name]) for name in sides}


def recognizer(train: list[Document], dev: list[Document], preset: str, paths: str | None, **more: Any) -> Recognizer:
    """A trained recognizer; `bio` without more, which is CRFsuite's model."""
    settings = {"structure": "bio", "rescore": False, "overlap": "free", "tune_penalty": False, **more}
    made = Recognizer(features=preset, clusters=paths, epochs=EPOCHS, l2=1.0, pos=None, n_jobs=1, **settings)
    return made.fit(train, dev=dev)


def ours(model: Recognizer) -> Side:
    """Spanloom, as its users call it: with the probability of each mention."""
    return lambda texts: sum(len(found.mentions) for found in model.predict(texts))


def ours_two(model: Recognizer, folder: Path) -> Side:
    """Spanloom in two processes, as a job over files."""
    model.save(folder / "model")

    def run(texts: list[str]) -> int:
        shutil.rmtree(folder / "lake", ignore_errors=True)
        (folder / "lake").mkdir()
        for first in range(0, len(texts), FRAGMENT):
            some = texts[first : first + FRAGMENT]
            pq.write_table(pa.table({"id": range(len(some)), "text": some}), folder / f"lake/{first:06}.parquet")
        job(folder / "model", folder / "lake", folder / "out", 2)
        found = (pq.read_table(path, columns=["mentions"]) for path in (folder / "out").glob("*.parquet"))
        return sum(pc.sum(pc.list_value_length(table["mentions"])).as_py() for table in found)

    return run


def crfsuite(train: list[Document], make: peer.SentenceFeatures) -> Side:
    """CRFsuite on Spanloom's tokens."""
    items = peer.itemsets([make(s.words, s.pos) for s in peer.sentences(train)])
    tagged = chains.prepare(train, STRUCTURES["bio"]).tagged
    trained, _ = peer.train(items, tagged, {"c1": 0.0, "c2": 1.0, "max_iterations": ITERATIONS})
    tagger = pycrfsuite.Tagger()
    tagger.open(trained.path)

    def run(texts: list[str]) -> int:
        found = []
        for text in texts:
            document = prepare(Document(text))
            assert document.tokens is not None and document.sentences is not None
            offsets, words = document.tokens.tolist(), document.words
            for first, end in document.sentences.tolist():
                tags = tagger.tag(make(words[first:end], []))
                found += [(offsets[first + a][0], offsets[first + b - 1][1], kind) for a, b, kind in from_tags(tags)]
        return len(found)

    return run


def spacy_network(train: list[Document], seed: int) -> Side:
    """spaCy's convolutional network, briefly trained."""
    spacy = import_module("spacy")
    training, doc = import_module("spacy.training"), import_module("spacy.tokens").Doc
    spacy.util.fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    tags = chains.prepare(train, STRUCTURES["bio"]).tagged
    examples = [
        training.Example.from_dict(doc(nlp.vocab, sentence.words), {"entities": training.iob_to_biluo(row)})
        for sentence, row in zip(peer.sentences(train), tags, strict=True)
    ]
    nlp.initialize(lambda: examples)
    for start in range(0, len(examples), STEP):
        nlp.update(examples[start : start + STEP])
    return lambda texts: sum(len(found.ents) for found in nlp.pipe(texts))


def eds_rules(train: list[Document]) -> Any:
    """A pipeline of EDS-NLP that looks for the names of training mentions."""
    edsnlp = import_module("edsnlp")
    seen = Counter((one.type, one.text(document.text)) for document in train for one in document.mentions)
    terms: dict[str, list[str]] = {}
    for (kind, name), count in seen.items():
        if count >= TWICE:
            terms.setdefault(kind, []).append(name)
    nlp = edsnlp.blank("eds")
    for pipe in ("eds.normalizer", "eds.sentences"):
        nlp.add_pipe(pipe)
    nlp.add_pipe("eds.matcher", config={"terms": terms, "attr": "LOWER"})
    return nlp


def eds_one(nlp: Any) -> Side:
    """EDS-NLP in this process."""
    return lambda texts: sum(len(found.ents) for found in nlp.pipe(texts))


def eds_two(nlp: Any) -> Side:
    """EDS-NLP in two processes, which send back mentions and not whole documents."""
    stream = import_module("edsnlp").data.from_iterable

    def mentions(found: Any) -> list[tuple[str, int, int]]:
        return [(one.label_, one.start_char, one.end_char) for one in found.ents]

    def run(texts: list[str]) -> int:
        made = stream(texts).map_pipeline(nlp).map(mentions)
        made = made.set_processing(backend="multiprocessing", num_cpu_workers=2, show_progress=False)
        return sum(map(len, made))

    return run


def same_features(make: peer.SentenceFeatures, preset: str, texts: list[str], clusters: Any = None) -> None:
    """Hold the features of the two sides to be the same."""
    documents = [prepare(Document(text)) for text in texts[:CHECKED]]
    features = FeatureSet.preset(preset, available=available_columns(documents), clusters=clusters)
    say(f"{preset}: {peer.check_names(make, features, documents):,} features of the two sides are the same")


def table(result: Result, title: str, found: Mapping[str, tuple[Seconds, int]], first: str, size: int, unit: str,
          notes: Sequence[str]) -> None:  # fmt: skip
    """A table of one core."""
    base = found[first][0].cpu
    rows = [
        [name, seconds.wall, seconds.cpu, size / seconds.cpu, f"{seconds.cpu / base:.2f}", count]
        for name, (seconds, count) in found.items()
    ]
    columns = ("system", "wall, s", "CPU, s", f"{unit} a second", "time over the first", "found")
    result.table(title, columns, rows, *notes)
    result.data[title] = {name: [*seconds, count] for name, (seconds, count) in found.items()}


def english(result: Result, chosen: argparse.Namespace, cores: set[int]) -> None:
    """Mentions."""
    train = corpus(chosen.data, "genia", "train", chosen.sentences)
    train = [document.copy(columns={}) for document in train]
    dev = [document.copy(columns={}) for document in corpus(chosen.data, "genia", "dev", chosen.sentences)]
    texts = [one.text for part in ("dev", "test") for one in corpus(chosen.data, "genia_documents", part)]
    texts = texts[: chosen.texts]
    tokens = sum(len(prepare(Document(text)).tokens) for text in texts)  # type: ignore[arg-type]
    sides, eds = Sides(), eds_rules(train) if find_spec("edsnlp") else None
    with tempfile.TemporaryDirectory() as folder:
        paths = save_clusters(train, chosen.clusters, Path(folder))
        clusters = read_paths(paths)
        genia = peer.GeniaFeatures(clusters)
        same_features(peer.fast_features, "fast", texts)
        same_features(genia, "genia", texts, clusters)
        default = recognizer(train, dev, "fast", None, structure="separators", rescore=True, overlap="learned")
        sides.add("spanloom", "Spanloom, `fast`", lambda: ours(recognizer(train, dev, "fast", None)))
        sides.add("pycrfsuite", "CRFsuite, features of `fast`", lambda: crfsuite(train, peer.fast_features))
        sides.add("spanloom", "Spanloom, `genia`", lambda: ours(recognizer(train, dev, "genia", paths)))
        sides.add("pycrfsuite", "CRFsuite, features of `genia`", lambda: crfsuite(train, genia))
        sides.add("spanloom", "Spanloom, `fast`, separators, second stage", lambda: ours(default))
        sides.add("spacy", "spaCy, tok2vec and ner", lambda: spacy_network(train, chosen.seed))
        sides.add("edsnlp", "EDS-NLP, rules", lambda: eds_one(eds))
        found = turns(sides.found, texts, chosen.repeats)
    names, two = list(found), eds is not None and find_spec("torch") is not None
    if not two:
        sides.missing.append("Two processes: left out, as edsnlp or torch is not installed.")
    table(
        result, f"From raw text to mentions, one core ({len(texts):,} abstracts of GENIA, {tokens:,} tokens)", found,
        names[0], tokens, "tokens",
        [f"Trained on {len(train):,} sentences of GENIA, without parts of speech; {chosen.clusters} Brown clusters for "
         "`genia`. The first four are chains of BIO tags: the same features, name by name, on the same tokens. Tokens "
         "are Spanloom's, whoever is measured. Spanloom alone gives each mention its probability.", *sides.missing],
    )  # fmt: skip
    cpu = {name: seconds.cpu for name, (seconds, _) in found.items()}
    result.at_least("`fast`: our rate over CRFsuite's with the same features", cpu[names[1]] / cpu[names[0]], 2)
    result.at_least("`genia`: our rate over CRFsuite's with the same features", cpu[names[3]] / cpu[names[2]], 2)
    for name in names[5:]:
        result.at_least(f"separators with the second stage: our rate over that of {name}", cpu[name] / cpu[names[4]], 1)
    if two:
        two_processes(result, chosen, cores, default, eds, texts)


def two_processes(
    result: Result, chosen: argparse.Namespace, cores: set[int], model: Recognizer, nlp: Any, texts: list[str]
) -> None:
    """Spanloom and EDS-NLP with two processes each."""
    own, texts = os.sched_getaffinity(0), texts[:ABSTRACTS]
    os.sched_setaffinity(0, cores)
    with tempfile.TemporaryDirectory() as folder:
        sides = {"Spanloom, `fast`, separators, second stage": ours_two(model, Path(folder)),
                 "EDS-NLP, rules": eds_two(nlp)}  # fmt: skip
        less, more = (turns(sides, texts * times, min(TURNS, chosen.repeats)) for times in (1, FACTOR))
    os.sched_setaffinity(0, own)
    tokens = sum(len(prepare(Document(text)).tokens) for text in texts)  # type: ignore[arg-type]
    rows = []
    for name in sides:
        small, large = less[name][0].wall, more[name][0].wall
        rows.append([name, small, large, (FACTOR - 1) * tokens / (large - small)])
    title = f"Two processes, {len(cores)} cores, wall clock"
    note = f"{len(texts)} abstracts once, and {FACTOR} times; tokens a second of what the second has more: no start."
    result.table(title, ("system", "once, s", f"{FACTOR} times, s", "tokens a second"), rows, note)
    result.data[title] = rows
    result.at_least("two processes: our rate over that of EDS-NLP", rows[0][3] / rows[1][3], 1)


def chinese(result: Result, chosen: argparse.Namespace) -> None:
    """Words."""
    data = sentences(UNER, chosen.data)
    texts = [document.text for part in ("dev", "test") for document in data[part]]
    texts += [document.text for document in data["train"][chosen.sentences :]]
    model = Segmenter(epochs=EPOCHS, l2=1.0, n_jobs=1, random_state=chosen.seed)
    sides = Sides()

    model.fit(data["train"][: chosen.sentences], dev=data["dev"])

    def segmenter(scores: bool) -> Side:
        return lambda texts: sum(len(found.words) for found in model.predict(texts, scores=scores))

    def jieba() -> Side:
        cut = import_module("jieba").lcut
        return lambda texts: sum(len(cut(text)) for text in texts)

    sides.add("spanloom", "Spanloom, words and names", lambda: segmenter(False))
    sides.add("spanloom", "Spanloom, words, names and their probabilities", lambda: segmenter(True))
    sides.add("jieba", "jieba, words", jieba)
    if chosen.vaporetto is None:
        sides.missing.append("vaporetto: left out, as no model of it was given (`--vaporetto`).")
    else:
        read = import_module("vaporetto").Vaporetto(chosen.vaporetto.read_bytes())
        sides.add("vaporetto", "vaporetto, words", lambda: lambda texts: sum(len(read.tokenize(t)) for t in texts))
    found = turns(sides.found, texts, chosen.repeats)
    size, names = sum(map(len, texts)), list(found)
    table(
        result, f"From raw text to words, one core ({len(texts):,} sentences of UNER Chinese, {size:,} characters)",
        found, names[0], size, "characters",
        ["Spanloom decodes words and names together, with features; jieba looks words up in its dictionary.",
         *sides.missing],
    )  # fmt: skip
    for name in names[2:]:
        result.at_least(
            f"words and names: our rate over that of {name}", found[name][0].cpu / found[names[0]][0].cpu, 1
        )


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sentences", type=int, default=1500, help="to train on [1500]")
    parser.add_argument("--texts", type=int, help="use only so many abstracts, to try the script")
    parser.add_argument("--repeats", type=int, default=5, help="of each measurement [5]")
    parser.add_argument("--clusters", type=int, default=256, help="Brown clusters of the preset genia [256]")
    parser.add_argument("--vaporetto", type=Path, help="a model of vaporetto for Chinese text")


def main() -> None:
    """Measure, write."""
    chosen = options("peers", __doc__, _more)
    cores = os.sched_getaffinity(0)
    one_core()
    result = Result("From raw text to mentions beside other libraries", chosen.seed)
    english(result, chosen, cores)
    chinese(result, chosen)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
