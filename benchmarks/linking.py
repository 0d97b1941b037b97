"""Recognition and linking of diseases beside Lou et al. (2017): BC5CDR and NCBI Disease, linked to MEDIC.

    python benchmarks/linking.py --data DATA --cache CACHE

Ours have all that `Linker` does by default. With ``--paper`` the paper's rows are trained beside ours: Tables
3 to 7 and Figure 4; Figures 1 and 2 are of `linking_curves.py`. The paper's rows have its candidates (equation 2,
synonyms from the training data), its features, its plain perceptron and its 36 passes, of which the best on development
data is kept; while training, a mention's concept is added to its candidates, as the authors' program does. Other rows
lead from the one to the other: one thing after another is changed, or one thing in the paper's row; these take as many
passes as ours.

Mentions are right if type and boundaries are; concepts are counted as a set for each document, as the shared task did.
Further columns count as the authors' program does, by sentence: a predicted mention is right if any gold mention of the
sentence has its string, its concept if any gold mention of the sentence has that. The row that knows all answers is the
paper's with the candidates of a table of all gold mentions, of training, development and test data: what its model does
where a span has hardly any wrong candidate.
Every choice is made on development data; test data are looked at once for a model. Parts of speech come from a tagger
of our own, trained on GENIA and CRAFT; the language model is trained on the text of GENIA, CRAFT and the other disease
corpus, and not on all of PubMed as the paper's. The row with clusters sees the same text, and that of the training
data, as Brown clusters.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from common import Result, corpus, options, peak_memory, save_clusters, say, timed, token_count
from kept import Kept, Key, Store
from linking_tables import (
    ERRORS,
    FIGURE_4,
    ORACLE,
    SETTINGS,
    STATISTICS,
    as_authors,
    by_length,
    error_row,
    errors,
    oracle,
    right,
    settings,
    statistics,
)  # fmt: skip
from spanloom import read
from spanloom.document import Document, Mention
from spanloom.evaluate import calibration, concept_test, evaluate, evaluate_concepts, paired_test
from spanloom.link.linker import PAPER_FEATURES, Linker
from spanloom.tag.pos_tagger import PosTagger, load_tagger
from spanloom.text import prepare
from spanloom.vocabulary import Vocabulary, read_vocabulary
from spanloom_lab.lm.language_model import LanguageModel

DISEASE = "Disease"
LM = "language model"  # stands for the path of the one that suits the corpus
CLUSTERS = 500  # Brown clusters, induced from the text of all training data that there are
COUNTED = "normalization, as the authors count"
PASSES = 36  # of the paper
JOINT = "joint"  # its model
PAPER: dict[str, Any] = {
    "features": PAPER_FEATURES, "method": "edit", "gold_candidates": True, "own_memory": True, "iterations": PASSES,
    "patience": PASSES, "margin": 0.0, "word_rate": 1.0, "tune_bias": False, "state_features": True,
    "nonlocal_features": True, "segments": False, "evidence": False, "history": False, "dictionary": False,
    "language_words": False, "composites": False,
}  # fmt: skip
OF_SPANS: dict[str, Any] = {"segments": True, "evidence": True, "gold_candidates": False, "own_memory": False}
STEPS: tuple[tuple[str, dict[str, Any]], ...] = (  # from the paper's row to ours, one after the other
    ("+ our candidates", {"method": "best"}),
    ("+ tuned bias", {"tune_bias": True}),
    ("+ features of spans and candidates", OF_SPANS),
    ("+ margin", {"margin": 50.0}),
    ("+ our features of words", {"features": "biomedical", "dictionary": True}),
    ("+ short steps for words", {"word_rate": 0.1}),
)  # then come history and composites, which is "ours, the paper's templates too", and without these templates ours
SINGLE: dict[str, dict[str, Any]] = {  # one thing changed in the paper's row
    "joint, concepts not added": {"gold_candidates": False},
    "joint, trigrams": {"method": "trigram"},
    "joint, tuned bias": {"tune_bias": True},
    "joint, margin": {"margin": 50.0},
    "joint, our features of words": {"features": "biomedical", "dictionary": True},
    "joint, features of spans and candidates": OF_SPANS,
}
MODELS: dict[str, tuple[dict[str, Any], ...]] = {  # one linker, or a recognizer and what links its mentions
    "pipeline": ({**PAPER, "task": "recognize"}, {**PAPER, "task": "normalize"}),
    "joint, local features": ({**PAPER, "nonlocal_features": False},),
    "joint": (PAPER,),
    "joint, language model": ({**PAPER, "language_model": LM},),
    "joint, one candidate": ({**PAPER, "candidates": 1},),
    "joint, all answers known": ({**PAPER, ORACLE: True},),
    "ours, pipeline": ({"task": "recognize"}, {"task": "normalize"}),
    "ours": ({},),
    "ours, language model": ({"language_model": LM},),
    "ours, clusters": ({"clusters": CLUSTERS},),
    "ours, without history": ({"history": False},),
    "ours, without NIL": ({"nil": False},),
    "ours, without composites": ({"composites": False},),
    "ours, concepts added": ({"gold_candidates": True},),
    "ours, the paper's templates too": ({"state_features": True, "nonlocal_features": True},),
}


def stepped() -> dict[str, tuple[dict[str, Any]]]:
    """The models between the paper's and ours; they take as many passes as ours."""
    shared = {name: value for name, value in PAPER.items() if name not in ("iterations", "patience")}
    found: dict[str, tuple[dict[str, Any]]] = {name: ({**shared, **change},) for name, change in SINGLE.items()}
    for name, change in STEPS:
        shared = {**shared, **change}
        found[name] = (shared,)
    return found


BETWEEN = stepped()
MODELS |= BETWEEN
# P / R / F1 of recognition; of normalization
TABLE_4 = {
    "pipeline": ("84.6 / 67.5 / 75.1", "65.3 / 58.6 / 61.8"),
    "joint, local features": ("86.3 / 71.2 / 78.0", "85.8 / 76.4 / 80.8"),
    "joint": ("87.8 / 74.8 / 80.8", "86.8 / 77.1 / 81.7"),
    "joint, language model": ("88.9 / 78.7 / 83.5", "88.8 / 81.5 / 85.0"),
}
TABLE_5 = {
    "pipeline": ("83.0 / 68.5 / 75.0", "73.3 / 65.5 / 69.2"),
    "joint": ("87.9 / 78.0 / 82.6", "86.5 / 80.5 / 83.4"),
    "joint, language model": ("89.0 / 79.2 / 83.8", "88.6 / 82.8 / 85.6"),
}
TABLE_5_BOTH = {"joint, language model": ("89.6 / 83.1 / 86.2", "89.6 / 85.7 / 87.6")}
TABLE_6 = {"joint, language model": ("90.7 / 74.9 / 82.1", "88.7 / 77.3 / 82.6")}
TARGETS = {  # corpus, training, model: recognition, normalization
    ("bc5cdr", "train", "ours"): (82.6, 83.4),
    ("bc5cdr", "train", "ours, language model"): (83.8, 85.6),
    ("bc5cdr", "train", "ours, clusters"): (83.8, 85.6),
    ("bc5cdr", "both", "ours, clusters"): (86.2, 87.6),
    ("ncbi", "train", "ours"): (82.9, 82.6),
    ("ncbi", "train", "ours, clusters"): (82.9, 82.6),
}
FILES = {
    "bc5cdr": ["bc5cdr/CDR_TrainingSet.BioC.xml", "bc5cdr/CDR_DevelopmentSet.BioC.xml", "bc5cdr/CDR_TestSet.BioC.xml"],
    "ncbi": [f"ncbi_disease/NCBI{part}set_corpus.txt" for part in ("train", "develop", "test")],
}
PAIRS = (
    ("joint", "pipeline"), ("joint", "joint, local features"), ("joint, language model", "joint"), ("ours", "joint"),
    ("ours", "ours, pipeline"), ("ours, language model", "ours"), ("ours, clusters", "ours"),
)  # fmt: skip
PAPERS = {("bc5cdr", "train"): TABLE_5, ("bc5cdr", "both"): TABLE_5_BOTH, ("ncbi", "train"): TABLE_6}
OWN = [model for model in MODELS if model.startswith("ours")]
TASKS = {
    ("bc5cdr", "train"): OWN,
    ("bc5cdr", "both"): ["ours, clusters"],
    ("ncbi", "train"): ["ours, pipeline", "ours", "ours, clusters", "ours, concepts added"],
}
PAPER_TASKS = {  # ours are beside them
    ("bc5cdr", "train"): [
        *(model for model in MODELS if model not in OWN), "ours, pipeline", "ours, concepts added",
        "ours, the paper's templates too", "ours",
    ],
    ("ncbi", "train"): ["joint, language model", "ours, concepts added", "ours"],
}  # fmt: skip


class Corpus(NamedTuple):
    """Diseases of one corpus, with parts of speech."""

    train: list[Document]
    dev: list[Document]
    test: list[Document]


@dataclass(frozen=True)
class Setting:
    """What all trainings share."""

    data: Path
    store: Store
    vocabulary: Vocabulary
    tagger: PosTagger
    seed: int
    iterations: int

    def read(self, name: str, tagged: bool = True) -> Corpus:
        """A corpus; all mentions are diseases, of chemicals there are none."""
        parts = (self._part(name, file) for file in FILES[name])
        return Corpus(*(self._tagged(part) if tagged else part for part in parts))

    def _tagged(self, documents: Sequence[Document]) -> list[Document]:
        return list(self.tagger.predict(documents, keep=True))

    def _part(self, name: str, file: str) -> list[Document]:
        found = []
        for document in read(self.data / file, format="pubtator" if name == "ncbi" else None):
            own = [m for m in document.mentions if name == "ncbi" or m.type == DISEASE]
            found.append(prepare(document.copy(mentions=[mention.replace(type=DISEASE) for mention in own])))
        return unique(found)

    def clusters(self) -> str:
        """The path of Brown clusters of all text that is there to train on."""
        place = self.store.folder / f"{CLUSTERS}.paths"
        if not place.exists():
            text = [*corpus(self.data, "genia", "train"), *corpus(self.data, "craft", "train")]
            for name, [file, *_] in FILES.items():
                text += map(prepare, read(self.data / file, format="pubtator" if name == "ncbi" else None))
            save_clusters(text, CLUSTERS, self.store.folder)
        return str(place)

    def language_model(self, name: str) -> str:
        """The path of a model of text that the corpus does not hold."""
        place = self.store.folder / f"language-model-{name}"
        if not place.exists():
            other = next(file for corpus_name, [file, *_] in FILES.items() if corpus_name != name)
            text = [*corpus(self.data, "genia", "train"), *corpus(self.data, "craft", "train")]
            text += read(self.data / other, format="pubtator" if name != "ncbi" else None)
            LanguageModel.train([prepare(document) for document in text]).save(place)
        return str(place)


def unique(documents: Iterable[Document]) -> list[Document]:
    """Without a document that stands there a second time, as PMID 8528200 of NCBI does."""
    return list({document.id: document for document in documents}.values())


def tagger(data: Path, folder: Path, seed: int) -> PosTagger:
    """A part-of-speech tagger of treebank tags, trained once."""
    place = folder / "tagger"
    if not place.exists():
        train = [*corpus(data, "genia", "train"), *corpus(data, "craft", "train")]
        found = PosTagger(epochs=4, n_jobs=-1, random_state=seed).fit(train, dev=corpus(data, "genia", "dev"))
        found.save(place)
    return load_tagger(place)


def train(key: Key, setting: Setting) -> None:
    """Train a model, and keep its predictions of development and test data."""
    data = setting.read(key.corpus)
    both = key.training == "both"
    documents, dev = ([*data.train, *data.dev], None) if both else (data.train, data.dev)
    steps = []
    table = oracle([*data.train, *data.dev, *data.test], setting.vocabulary)
    known = any(params.get(ORACLE) for params in MODELS[key.model])
    for params in MODELS[key.model]:
        chosen = {name: value for name, value in params.items() if name != ORACLE}
        if "clusters" in chosen:
            chosen["clusters"] = setting.clusters()
        if chosen.get("language_model") == LM:
            chosen["language_model"] = setting.language_model(key.corpus)
        steps.append(
            Linker(**{"iterations": setting.iterations, "pos": None, **chosen}, n_jobs=-1, random_state=setting.seed)
        )
    with table if known else nullcontext():
        seconds = [
            timed(lambda step=step: step.fit(documents, dev=dev, vocabulary=setting.vocabulary, progress=tell))[0]
            for step in steps
        ]
        predict(steps, data.dev[:50])  # read before the clock runs
        took, on_dev = timed(lambda: predict(steps, data.dev))
        on_test = predict(steps, data.test)
        given = list(steps[-1].predict(map(unlinked, data.test), mentions="given"))
    report = steps[0].report_
    facts = {
        "seconds": [one.wall for one in seconds], "cpu": [one.cpu for one in seconds], "peak_gb": peak_memory(),
        "passes": [step.report_.passes for step in steps], "tokens_per_second": token_count(data.dev) / took.cpu,
        "dev_f1": report.dev_f1, "dev_concepts": steps[-1].report_.dev_concepts, "history": report.history,
        "proposed": report.proposed, "linked": report.linked, "mentions": report.mentions,
        "features": report.features, "keys": report.keys, "bias": report.bias, "concepts": report.concepts,
    }  # fmt: skip
    setting.store.keep(key, parameters(key, setting), facts, {"dev": on_dev, "test": on_test, "given": given})


def tell(step: Any) -> None:
    """Progress, where there is something to see."""
    if step.dev_f1 is not None:
        say(f"  {step.seconds:6.0f} s {step.stage} {step.step}: dev F1 {100 * step.dev_f1:.2f}")


def predict(steps: Sequence[Linker], documents: Iterable[Document]) -> list[Document]:
    """One linker's mentions; or those of the first, linked by the second."""
    found = list(steps[0].predict(documents))
    return found if len(steps) == 1 else list(steps[1].predict(found, mentions="given"))


def unlinked(document: Document) -> Document:
    """The document without the concepts of its mentions, which are gold."""
    return document.copy(mentions=[mention.replace(concepts=()) for mention in document.mentions])


def parameters(key: Key, setting: Setting) -> dict[str, Any]:
    """What the predictions depend on."""
    return {"steps": MODELS[key.model], "seed": setting.seed, "iterations": setting.iterations}


COLUMNS = (
    "model", "P", "R", "F1", "95 % interval", "paper", "concepts P", "R", "F1", "95 % interval", "paper",
    "accuracy of concepts", "passes", "minutes", "tokens/s", "GB",
    *(f"as the authors count: {what}, {rate}" for what in ("mentions", "concepts") for rate in ("P", "R", "F1")),
    "calibration error of mentions, %",
)  # fmt: skip


def cells(kept: Kept, gold: Sequence[Document], part: str, setting: Setting, paper: Mapping[str, Any]) -> list[Any]:
    """A row of a table."""
    predicted = kept.predicted[part]
    mentions = evaluate(gold, predicted, seed=setting.seed).overall
    concepts = evaluate_concepts(gold, predicted, vocabulary=setting.vocabulary, seed=setting.seed)
    cited = paper.get(kept.key.model, ("", ""))
    facts = kept.facts
    return [
        kept.key.model, *measures(mentions), cited[0], *measures(concepts.documents), cited[1],
        f"{100 * concepts.accuracy['linked'].precision:.1f}", " + ".join(map(str, facts["passes"])),
        f"{sum(facts['seconds']) / 60:.1f}", f"{facts['tokens_per_second']:,.0f}", f"{facts['peak_gb']:.2f}",
        *as_authors(gold, predicted, setting.vocabulary), f"{100 * calibration(gold, predicted).error:.2f}",
    ]  # fmt: skip


def linked(kept: Kept, gold: Sequence[Document], setting: Setting) -> list[Any]:
    """A row of how given mentions are linked."""
    found = evaluate_concepts(gold, kept.predicted["given"], vocabulary=setting.vocabulary, seed=setting.seed)
    return [kept.key.model, f"{100 * found.accuracy['linked'].precision:.1f}", *measures(found.documents)]


def measures(score: Any) -> list[str]:
    """Precision, recall, F1 and its interval, in percent."""
    low, high = score.intervals.f1
    return [
        *(f"{100 * value:.1f}" for value in (score.precision, score.recall, score.f1)),
        f"{100 * low:.1f} to {100 * high:.1f}",
    ]


def tests(pairs: Sequence[tuple[Kept, Kept]], gold: Sequence[Document], setting: Setting) -> list[list[Any]]:
    """Rows of paired tests on test data."""
    rows = []
    for a, b in pairs:
        mentions = paired_test(gold, a.predicted["test"], b.predicted["test"], seed=setting.seed)
        concepts = concept_test(
            gold, a.predicted["test"], b.predicted["test"], vocabulary=setting.vocabulary, seed=setting.seed
        )
        rows.append(
            [a.key.model, b.key.model, f"{100 * mentions.difference:+.2f}", f"{mentions.p_value:.4f}",
             f"{100 * concepts.documents.difference:+.2f}", f"{concepts.documents.p_value:.4f}",
             f"{concepts.documents_t:.4f}"]
        )  # fmt: skip
    return rows


def crossed(worse: Kept, better: Kept, gold: Sequence[Document], vocabulary: Vocabulary) -> list[list[Any]]:
    """Gold mentions by whether each of two models is right about them: Table 7 of the paper."""
    rows = []
    documents = list(zip(gold, worse.predicted["test"], better.predicted["test"], strict=True))
    for name, linked in (("recognition", False), (COUNTED, None), ("recognition and concept", True)):
        counts: Counter[tuple[bool, bool]] = Counter()
        for truth, a, b in documents:
            if linked is None:
                both = (right(truth, side, vocabulary) for side in (a, b))
                counts.update((first[1], second[1]) for first, second in zip(*both, strict=True))
                continue
            found = [{place(mention, linked, vocabulary) for mention in side.mentions} for side in (a, b)]
            for mention in truth.mentions:
                item = place(mention, linked, vocabulary)
                counts[item in found[0], item in found[1]] += 1
        total = sum(counts.values())
        for outcome in ((True, True), (True, False), (False, True), (False, False)):
            words = ["correct" if right else "wrong" for right in outcome]
            rows.append([name, *words, counts[outcome], f"{100 * counts[outcome] / total:.1f} %"])
    return rows


def place(mention: Mention, linked: bool, vocabulary: Vocabulary) -> Hashable:
    """What must be equal: the spans, and the concepts if they count."""
    concepts = frozenset(vocabulary.find(concept) for concept in mention.concepts) if linked else None
    return mention.spans, concepts


def report(result: Result, setting: Setting, keys: Sequence[Key]) -> None:
    """Tables and targets of all models that are kept."""
    for (name, training), paper in PAPERS.items():
        chosen = [key for key in keys if (key.corpus, key.training) == (name, training)]
        if not chosen:
            continue
        data = setting.read(name, tagged=False)
        every = {key.model: load(key, setting, data) for key in chosen}
        kept = {model: one for model, one in every.items() if model not in BETWEEN}
        where = "train" if training == "train" else "train and development data"
        result.table(
            f"{name}, {where}: what each row ran", SETTINGS,
            [settings(model, MODELS[model], setting.iterations, [one.facts["bias"]]) for model, one in every.items()],
            "Where a pipeline's two parts differ, both are named; the second has no bias.",
        )  # fmt: skip
        if training == "train":
            result.table(f"{name}: the corpus (Table 3)", STATISTICS, [statistics(name, data)])
            table_4 = TABLE_4 if name == "bc5cdr" else {}
            on_dev = {model: cells(one, data.dev, "dev", setting, table_4) for model, one in every.items()}
            result.table(
                f"{name}: development data" + " (Table 4)" * (name == "bc5cdr"), COLUMNS, [on_dev[m] for m in kept]
            )
            between(result, name, every, on_dev, data, setting)
        rows = [cells(one, data.test, "test", setting, paper) for one in kept.values()]
        result.table(f"{name}: test data, trained on {where}", COLUMNS, rows)
        result.table(
            f"{name}: given mentions of test data, trained on {where}",
            ("model", "accuracy of concepts", "concepts P", "R", "F1", "95 % interval"),
            [linked(one, data.test, setting) for one in kept.values()],
            "The linker gets the gold mentions and links them; of a pipeline, its second part does.",
        )
        result.table(
            f"{name}: kinds of errors on test data, trained on {where}" + " (Figure 4)" * (name == "bc5cdr"),
            ERRORS,
            [
                *([list(FIGURE_4)] if (name, training) == ("bc5cdr", "train") else []),
                *(
                    error_row(model, errors(data.test, one.predicted["test"], setting.vocabulary))
                    for model, one in kept.items()
                ),
            ],
            "All errors of ours, each counted once; the paper's are 100 drawn at random.",
        )
        for row in rows:
            wanted = TARGETS.get((name, training, row[0]), ())
            found = {"recognition": row[3], "concepts of documents": row[8]}
            for (what, value), target in zip(found.items(), wanted, strict=bool(wanted)):
                result.at_least(f"{name}, {where}, {row[0]}: F1 of {what}", float(value), target)
            if wanted:
                result.at_most(f"{name}, {where}, {row[0]}: calibration error of mentions, %", float(row[-1]), 3)
        compared(result, f"{name}, trained on {where}", kept, data.test, setting)
        result.data[f"{name}, {training}"] = {model: dict(one.facts) for model, one in every.items()}


def between(
    result: Result, name: str, every: Mapping[str, Kept], on_dev: Mapping[str, Sequence[Any]], data: Corpus,
    setting: Setting,
) -> None:  # fmt: skip
    """Tables of what lies between the paper's joint model and ours."""
    order = [JOINT, *(model for model, _ in STEPS), "ours, the paper's templates too", "ours"]
    for title, models in (
        ("from the paper's joint model to ours, one thing after another", order),
        ("one thing changed in the paper's joint model", [JOINT, *SINGLE]),
    ):
        rows = []
        for model in models:
            if model in every and (model in BETWEEN or JOINT in every):
                on_test = cells(every[model], data.test, "test", setting, {})
                rows.append([model, *(row[i] for row in (on_dev[model], on_test) for i in (3, 8, 11)), on_test[12]])
        if len(rows) > 2:
            result.table(
                f"{name}: {title}", (
                    "model", "development: F1 of mentions", "F1 of concepts", "accuracy of concepts",
                    "test: F1 of mentions", "F1 of concepts", "accuracy of concepts", "passes",
                ), rows,
                "The paper's row takes 36 passes, all others at most as many as ours.",
            )  # fmt: skip


def compared(result: Result, title: str, kept: Mapping[str, Kept], gold: Sequence[Document], setting: Setting) -> None:
    """Tables of two models against each other."""
    pairs = [(kept[a], kept[b]) for a, b in PAIRS if a in kept and b in kept]
    if pairs:
        result.table(
            f"{title}: paired tests on test data",
            ("first", "second", "difference of F1, mentions", "p", "difference of F1, concepts", "p", "p, t-test"),
            tests(pairs, gold, setting),
            "Approximate randomization over sentences, for concepts over documents; the t-test as in the paper.",
        )
    for worse, better in (("pipeline", "joint"), ("ours, pipeline", "ours")):
        if worse in kept and better in kept:
            result.table(
                f"{title}: {worse} against {better}, gold mentions of test data (Table 7)",
                ("task", worse, better, "mentions", "share"),
                crossed(kept[worse], kept[better], gold, setting.vocabulary),
            )
            result.table(
                f"{title}: {worse} against {better}, precision of mentions of test data by their words (Figure 3)",
                ("words", *(f"{side}: {what}" for side in (worse, better) for what in ("predicted", "precision"))),
                by_length(gold, [kept[side].predicted["test"] for side in (worse, better)]),
            )


def load(key: Key, setting: Setting, data: Corpus) -> Kept:
    """The predictions of both parts."""
    dev = setting.store.load(key, ("dev",), data.dev)
    test = setting.store.load(key, ("test", "given"), data.test)
    return Kept(key, dev.parameters, dev.facts, {**dev.predicted, **test.predicted})


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cache", type=Path, required=True, help="a folder for predictions; goes on where it was")
    parser.add_argument("--iterations", type=int, default=10, help="passes of all rows but the paper's [10]")
    parser.add_argument("--task", action="append", help="corpus/training, such as bc5cdr/train; several times [all]")
    parser.add_argument("--model", action="append", choices=MODELS, help="several times, trained in this order [all]")
    parser.add_argument("--paper", action="store_true", help="the paper's rows; their results get a name of their own")
    parser.add_argument("--report", action="store_true", help="train nothing, only write the tables")
    parser.add_argument("--train", action="store_true", help="only train, write no tables")


def main() -> None:
    """Train what is missing, write."""
    chosen = options("linking", __doc__, _more)
    chosen.cache.mkdir(parents=True, exist_ok=True)
    store = Store(chosen.cache)
    vocabulary = read_vocabulary(chosen.data / "bc5cdr" / "CTD_diseases.xml")
    tags = tagger(chosen.data, chosen.cache, chosen.seed)
    setting = Setting(chosen.data, store, vocabulary, tags, chosen.seed, chosen.iterations)
    tasks = PAPER_TASKS if chosen.paper else TASKS
    keys = [Key(name, training, model) for (name, training), models in tasks.items() for model in models]
    if chosen.model:  # in this order
        keys.sort(key=lambda key: chosen.model.index(key.model) if key.model in chosen.model else len(chosen.model))
    for key in keys:
        wanted = (not chosen.task or f"{key.corpus}/{key.training}" in chosen.task) and (
            not chosen.model or key.model in chosen.model
        )
        if wanted and not chosen.report and not store.has(key, parameters(key, setting)):
            say(f"{key}")
            train(key, setting)
    if chosen.train:
        return
    more = ", as in the paper and on the way to ours" * chosen.paper
    result = Result("Recognition and linking of diseases" + more, chosen.seed)
    report(result, setting, [key for key in keys if store.has(key, parameters(key, setting))])
    result.save(chosen.out.with_stem(chosen.out.stem + "_paper" * chosen.paper))


if __name__ == "__main__":
    main()
